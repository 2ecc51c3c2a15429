// SPDX-License-Identifier: MIT
// Logic and shifts: PTX ISA 9.7.8 (Logic and Shift Instructions), and prmt of 9.7.9.
#include "ir/eval/eval_internal.h"

/* -- and, or, xor, not, cnot, lop3 ------------------------------------------------------------------------ */

static void run_and(const Eval *e, const Value *in, Value *out) { out[0] = integer_result(e, in[0].lo & in[1].lo); }

static void run_or(const Eval *e, const Value *in, Value *out) { out[0] = integer_result(e, in[0].lo | in[1].lo); }

static void run_xor(const Eval *e, const Value *in, Value *out) { out[0] = integer_result(e, in[0].lo ^ in[1].lo); }

static void run_not(const Eval *e, const Value *in, Value *out) { out[0] = integer_result(e, ~in[0].lo); }

static void run_cnot(const Eval *e, const Value *in, Value *out) { out[0] = (Value){(in[0].lo & e->mask) == 0, 0}; }

uint64_t eval_look_up(uint64_t a, uint64_t b, uint64_t c, uint64_t table)
{
    uint64_t result = 0;
    for (uint32_t k = 0; k < 8; k++)
        if (table >> k & 1)
            result |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
    return result;
}

static void run_lop3(const Eval *e, const Value *in, Value *out)
{
    out[0] = integer_result(e, eval_look_up(in[0].lo, in[1].lo, in[2].lo, in[3].lo));
}

static void run_lop3_bool(const Eval *e, const Value *in, Value *out)
{
    bool some, q = in[4].lo & 1;
    run_lop3(e, in, out);
    some = out[0].lo != 0;
    out[1] = (Value){e->combine == MOD_BOOL_AND ? some && q : e->combine == MOD_BOOL_OR ? some || q : some != q, 0};
}

/* -- Shifts --------------------------------------------------------------------------------------------- */

static void run_shl(const Eval *e, const Value *in, Value *out)
{
    uint32_t n = (uint32_t)in[1].lo;
    out[0] = integer_result(e, n < e->bits ? in[0].lo << n : 0);
}

static void run_shr(const Eval *e, const Value *in, Value *out)
{
    uint32_t n = (uint32_t)in[1].lo;
    if (e->is_signed)
        out[0] = integer_result(e, (uint64_t)(sign_extend(in[0].lo, e->bits) >> MIN(n, e->bits - 1u)));
    else
        out[0] = integer_result(e, n < e->bits ? (in[0].lo & e->mask) >> n : 0);
}

// Returns the distance of a funnel shift: clamped to the width, or wrapped.
static uint32_t funnel(const Eval *e, Value v)
{
    uint32_t n = (uint32_t)v.lo;
    return e->mode == MOD_CLAMP ? MIN(n, e->bits) : n & (e->bits - 1u);
}

// in[0] is the lower half of the shifted value.
static void run_shf_l(const Eval *e, const Value *in, Value *out)
{
    uint32_t n = funnel(e, in[2]);
    uint64_t both = (in[1].lo & e->mask) << e->bits | (in[0].lo & e->mask);
    out[0] = integer_result(e, both << n >> e->bits);
}

static void run_shf_r(const Eval *e, const Value *in, Value *out)
{
    uint32_t n = funnel(e, in[2]);
    uint64_t both = (in[1].lo & e->mask) << e->bits | (in[0].lo & e->mask);
    out[0] = integer_result(e, both >> n);
}

/* -- prmt ----------------------------------------------------------------------------------------------- */

uint32_t eval_chosen_byte(const Eval *e, uint32_t selector, uint32_t k)
{
    uint32_t n = selector & 3;
    switch (e->mode) {
    case MOD_F4E: return n + k;
    case MOD_B4E: return (n - k) & 7;
    case MOD_RC8: return n;
    case MOD_ECL: return MAX(n, k);
    case MOD_ECR: return MIN(n, k);
    case MOD_RC16: return (n & 1) * 2 + (k & 1);
    default: return selector >> 4 * k & 15;
    }
}

static void run_prmt(const Eval *e, const Value *in, Value *out)
{
    uint64_t bytes = (in[1].lo & UINT32_MAX) << 32 | (in[0].lo & UINT32_MAX), result = 0;
    for (uint32_t k = 0; k < 4; k++) {
        uint32_t chosen = eval_chosen_byte(e, (uint32_t)in[2].lo, k);
        uint64_t byte = bytes >> 8 * (chosen & 7) & 0xff;
        result |= (chosen & 8 ? (byte & 0x80 ? 0xff : 0) : byte) << 8 * k;
    }
    out[0] = (Value){result, 0};
}

/* -- Decoding ------------------------------------------------------------------------------------------- */

bool decode_logic(const Tables *t, const Desc *d, Eval *e)
{
    static EvalRun *const runs[OPCODE_COUNT] = {
        [OP_AND] = run_and,
        [OP_OR] = run_or,
        [OP_XOR] = run_xor,
        [OP_NOT] = run_not,
        [OP_CNOT] = run_cnot,
        [OP_LOP3] = run_lop3,
        [OP_LOP3_BOOL] = run_lop3_bool,
        [OP_SHL] = run_shl,
        [OP_SHR] = run_shr,
        [OP_SHF_L] = run_shf_l,
        [OP_SHF_R] = run_shf_r,
        [OP_PRMT] = run_prmt,
    };
    (void)t;
    e->run = runs[d->op];
    return true;
}
