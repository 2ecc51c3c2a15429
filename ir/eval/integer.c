// SPDX-License-Identifier: MIT
// Integer arithmetic: PTX ISA 9.7.1 (Integer Arithmetic Instructions) and 9.7.2 (Extended-Precision Integer Arithmetic
// Instructions). Widths come from the Eval, so that eval_narrow() works. The code uses unsigned 64-bit arithmetic,
// which wraps; a product of 64-bit factors has two halves.
//
// There is one carry flag, the carry out of a sum. A difference is the sum a + ~b + 1. So `sub.cc` and `subc.cc` write
// 1 if there is no borrow, and `subc` subtracts 1 more if the flag is 0. The ISA describes a borrow flag, but ptxas and
// GPUs implement the carry flag. The difference is visible if additions and subtractions share the flag.
#include "ir/eval/eval_internal.h"

typedef struct Wide {
    uint64_t hi, lo;
} Wide;

/* -- Operands ------------------------------------------------------------------------------------------- */

// Returns an operand of the first type, extended to 64 bits according to its signedness.
static uint64_t operand(const Eval *e, Value v)
{
    return e->is_signed ? (uint64_t)sign_extend(v.lo, e->bits) : v.lo & e->mask;
}

static bool less(const Eval *e, uint64_t a, uint64_t b) { return e->is_signed ? (int64_t)a < (int64_t)b : a < b; }

static Wide multiply_unsigned(uint64_t a, uint64_t b)
{
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t low = a0 * b0, middle = a1 * b0 + (low >> 32), other = a0 * b1 + (uint32_t)middle;
    return (Wide){.hi = a1 * b1 + (middle >> 32) + (other >> 32), .lo = other << 32 | (uint32_t)low};
}

static Wide multiply(const Eval *e, Value a, Value b)
{
    uint64_t x = operand(e, a), y = operand(e, b);
    Wide w = multiply_unsigned(x, y);
    if (e->is_signed)  // each negative factor was 2^64 too large
        w.hi -= ((int64_t)x < 0 ? y : 0) + ((int64_t)y < 0 ? x : 0);
    return w;
}

static uint64_t product_low(const Eval *e, const Value *in) { return operand(e, in[0]) * operand(e, in[1]); }

static uint64_t product_high(const Eval *e, const Value *in)
{
    Wide w = multiply(e, in[0], in[1]);
    return e->bits == 64 ? w.hi : w.lo >> e->bits | w.hi << (64 - e->bits);
}

// Returns the product of 24-bit factors, 48 bits.
static uint64_t product_24(const Eval *e, const Value *in)
{
    if (e->is_signed)
        return (uint64_t)sign_extend(in[0].lo, 24) * (uint64_t)sign_extend(in[1].lo, 24);
    return (in[0].lo & mask_of(24)) * (in[1].lo & mask_of(24));
}

// Clamps to the range of a signed first type, which has at most 32 bits.
static uint64_t saturate(const Eval *e, uint64_t a)
{
    int64_t max = (int64_t)(e->mask >> 1), x = (int64_t)a;
    return (uint64_t)(x > max ? max : x < -max - 1 ? -max - 1 : x);
}

/* -- 9.7.1: add, sub, mul, mad, mul24, mad24 -------------------------------------------------------------- */

static void run_add(const Eval *e, const Value *in, Value *out) { out[0] = integer_result(e, in[0].lo + in[1].lo); }

static void run_sub(const Eval *e, const Value *in, Value *out) { out[0] = integer_result(e, in[0].lo - in[1].lo); }

static void run_add_sat(const Eval *e, const Value *in, Value *out)
{
    out[0] = integer_result(e, saturate(e, operand(e, in[0]) + operand(e, in[1])));
}

static void run_sub_sat(const Eval *e, const Value *in, Value *out)
{
    out[0] = integer_result(e, saturate(e, operand(e, in[0]) - operand(e, in[1])));
}

static void run_mul_lo(const Eval *e, const Value *in, Value *out) { out[0] = integer_result(e, product_low(e, in)); }

static void run_mul_hi(const Eval *e, const Value *in, Value *out) { out[0] = integer_result(e, product_high(e, in)); }

static void run_mad_lo(const Eval *e, const Value *in, Value *out)
{
    out[0] = integer_result(e, product_low(e, in) + in[2].lo);
}

static void run_mad_hi(const Eval *e, const Value *in, Value *out)
{
    out[0] = integer_result(e, product_high(e, in) + in[2].lo);
}

static void run_mad_hi_sat(const Eval *e, const Value *in, Value *out)
{
    uint64_t high = (uint64_t)sign_extend(product_high(e, in), e->bits);
    out[0] = integer_result(e, saturate(e, high + operand(e, in[2])));
}

// Returns a result of twice the width.
static Value wide_result(const Eval *e, uint64_t a)
{
    return (Value){e->is_signed ? (uint64_t)sign_extend(a, 2 * e->bits) : a & mask_of(2 * e->bits), 0};
}

static void run_mul_wide(const Eval *e, const Value *in, Value *out) { out[0] = wide_result(e, product_low(e, in)); }

static void run_mad_wide(const Eval *e, const Value *in, Value *out)
{
    out[0] = wide_result(e, product_low(e, in) + in[2].lo);
}

static void run_mul24_lo(const Eval *e, const Value *in, Value *out) { out[0] = integer_result(e, product_24(e, in)); }

static void run_mul24_hi(const Eval *e, const Value *in, Value *out)
{
    out[0] = integer_result(e, product_24(e, in) >> 16);
}

static void run_mad24_lo(const Eval *e, const Value *in, Value *out)
{
    out[0] = integer_result(e, product_24(e, in) + in[2].lo);
}

static void run_mad24_hi(const Eval *e, const Value *in, Value *out)
{
    out[0] = integer_result(e, (product_24(e, in) >> 16) + in[2].lo);
}

static void run_mad24_hi_sat(const Eval *e, const Value *in, Value *out)
{
    uint64_t high = (uint64_t)sign_extend(product_24(e, in) >> 16, e->bits);
    out[0] = integer_result(e, saturate(e, high + operand(e, in[2])));
}

/* -- 9.7.1: sad, div, rem, abs, neg, min, max ------------------------------------------------------------- */

static void run_sad(const Eval *e, const Value *in, Value *out)
{
    uint64_t a = operand(e, in[0]), b = operand(e, in[1]);
    out[0] = integer_result(e, in[2].lo + (less(e, a, b) ? b - a : a - b));
}

// Returns all ones for division by zero, and the least number for the least number divided by -1.
static uint64_t quotient(const Eval *e, uint64_t a, uint64_t b)
{
    if (b == 0)
        return UINT64_MAX;
    if (!e->is_signed)
        return a / b;
    return b == UINT64_MAX ? -a : (uint64_t)((int64_t)a / (int64_t)b);
}

static void run_div(const Eval *e, const Value *in, Value *out)
{
    out[0] = integer_result(e, quotient(e, operand(e, in[0]), operand(e, in[1])));
}

static void run_rem(const Eval *e, const Value *in, Value *out)
{
    uint64_t a = operand(e, in[0]), b = operand(e, in[1]);
    out[0] = integer_result(e, a - quotient(e, a, b) * b);
}

static void run_abs(const Eval *e, const Value *in, Value *out)
{
    uint64_t a = operand(e, in[0]);
    out[0] = integer_result(e, (int64_t)a < 0 ? -a : a);
}

static void run_neg(const Eval *e, const Value *in, Value *out) { out[0] = integer_result(e, -in[0].lo); }

static uint64_t at_least_zero(const Eval *e, uint64_t a) { return e->relu && (int64_t)a < 0 ? 0 : a; }

static void run_min(const Eval *e, const Value *in, Value *out)
{
    uint64_t a = operand(e, in[0]), b = operand(e, in[1]);
    out[0] = integer_result(e, at_least_zero(e, less(e, a, b) ? a : b));
}

static void run_max(const Eval *e, const Value *in, Value *out)
{
    uint64_t a = operand(e, in[0]), b = operand(e, in[1]);
    out[0] = integer_result(e, at_least_zero(e, less(e, a, b) ? b : a));
}

/* -- 9.7.1: bits ---------------------------------------------------------------------------------------- */

// Returns the position of the highest one; -1 if there is none.
static int32_t highest(uint64_t a) { return a ? 63 - __builtin_clzll(a) : -1; }

static void run_popc(const Eval *e, const Value *in, Value *out)
{
    out[0] = (Value){(uint64_t)__builtin_popcountll(in[0].lo & e->mask), 0};
}

static void run_clz(const Eval *e, const Value *in, Value *out)
{
    out[0] = (Value){(uint64_t)(e->bits - 1 - highest(in[0].lo & e->mask)), 0};
}

static void run_bfind(const Eval *e, const Value *in, Value *out)
{
    uint64_t a = operand(e, in[0]);
    int32_t place = highest((e->is_signed && (int64_t)a < 0 ? ~a : a) & e->mask);
    if (place >= 0 && e->mode == MOD_SHIFTAMT)
        place = e->bits - 1 - place;
    out[0] = (Value){(uint32_t)place, 0};
}

// Finds the |offset|-th one from bit `base` on, in the direction of the offset's sign; all ones if there is none.
static void run_fns(const Eval *e, const Value *in, Value *out)
{
    uint32_t mask = (uint32_t)in[0].lo, base = (uint32_t)in[1].lo, place = base;
    int32_t offset = (int32_t)(uint32_t)in[2].lo;
    uint32_t left = offset < 0 ? -(uint32_t)offset : (uint32_t)offset;
    (void)e;
    while (place < 32 && (!(mask >> place & 1) || left > 1)) {
        if (left == 0)
            break;
        left -= mask >> place & 1;
        place += offset < 0 ? UINT32_MAX : 1;
    }
    out[0] = (Value){place < 32 && mask >> place & 1 ? place : UINT32_MAX, 0};
}

static void run_brev(const Eval *e, const Value *in, Value *out)
{
    uint64_t reversed = 0;
    for (uint32_t k = 0; k < e->bits; k++)
        reversed |= (in[0].lo >> k & 1) << (e->bits - 1 - k);
    out[0] = integer_result(e, reversed);
}

static uint64_t shift_left(uint64_t a, uint32_t n) { return n > 63 ? 0 : a << n; }

// Returns the position or the length of a bit field, in the bits that the instruction reads.
static uint32_t in_field(const Eval *e, Value v) { return (uint32_t)v.lo & e->extra; }

static void run_bfe(const Eval *e, const Value *in, Value *out)
{
    uint32_t at = in_field(e, in[1]), length = in_field(e, in[2]);
    uint32_t last = (uint32_t)MIN((uint64_t)at + length - 1, e->bits - 1u);
    uint64_t a = in[0].lo & e->mask, field = at < e->bits ? a >> at & mask_of(length) : 0;
    bool sign = e->is_signed && length && a >> last & 1;
    // The sign fills the bits above the part of the field that lies in the operand.
    uint32_t found = at < e->bits ? MIN(length, e->bits - at) : 0;
    out[0] = integer_result(e, sign ? field | ~mask_of(found) : field);
}

static void run_bfi(const Eval *e, const Value *in, Value *out)
{
    uint32_t at = in_field(e, in[2]), length = in_field(e, in[3]);
    uint64_t field = shift_left(mask_of(length), at);
    out[0] = integer_result(e, (in[1].lo & ~field) | (shift_left(in[0].lo, at) & field));
}

static void run_szext(const Eval *e, const Value *in, Value *out)
{
    uint32_t n = (uint32_t)in[1].lo, kept = n & (e->bits - 1u);
    if (e->mode == MOD_CLAMP && n >= e->bits)
        kept = e->bits;
    uint64_t a = in[0].lo & mask_of(kept);
    out[0] = integer_result(e, e->is_signed && kept ? (uint64_t)sign_extend(a, kept) : a);
}

static void run_bmsk(const Eval *e, const Value *in, Value *out)
{
    uint64_t at = in[0].lo & e->mask, length = in[1].lo & e->mask;
    if (e->mode != MOD_CLAMP) {
        at &= e->bits - 1u;
        length &= e->bits - 1u;
    }
    uint64_t ones = at < e->bits ? mask_of((uint32_t)MIN(length, 64)) << at : 0;
    out[0] = integer_result(e, ones);
}

/* -- 9.7.1: dp4a, dp2a ---------------------------------------------------------------------------------- */

static uint64_t element(uint64_t a, uint32_t k, uint32_t bits, bool is_signed)
{
    uint64_t x = a >> k * bits & mask_of(bits);
    return is_signed ? (uint64_t)sign_extend(x, bits) : x;
}

static void run_dp4a(const Eval *e, const Value *in, Value *out)
{
    uint64_t sum = in[2].lo;
    for (uint32_t k = 0; k < 4; k++)
        sum += element(in[0].lo, k, 8, e->is_signed) * element(in[1].lo, k, 8, e->from_signed);
    out[0] = (Value){(uint32_t)sum, 0};
}

static void run_dp2a(const Eval *e, const Value *in, Value *out)
{
    uint64_t sum = in[2].lo;
    for (uint32_t k = 0, first = e->op == OP_DP2A_HI ? 2 : 0; k < 2; k++)
        sum += element(in[0].lo, k, 16, e->is_signed) * element(in[1].lo, first + k, 8, e->from_signed);
    out[0] = (Value){(uint32_t)sum, 0};
}

/* -- 9.7.2 ---------------------------------------------------------------------------------------------- */

// Computes a + b + carry, and the carry out if the instruction has that result.
static void add_with_carry(const Eval *e, uint64_t a, uint64_t b, uint64_t carry, Value *out)
{
    a &= e->mask;
    b &= e->mask;
    uint64_t sum = a + b, all = sum + carry;
    bool beyond = sum < a || all < sum;  // carry out of 64 bits
    out[0] = integer_result(e, all);
    if (e->nout > 1)
        out[1] = (Value){e->bits == 64 ? beyond : all >> e->bits & 1, 0};
}

static void run_add_carry(const Eval *e, const Value *in, Value *out)
{
    add_with_carry(e, in[0].lo, in[1].lo, e->nin > 2 ? in[2].lo & 1 : 0, out);
}

static void run_mad_lo_carry(const Eval *e, const Value *in, Value *out)
{
    add_with_carry(e, product_low(e, in), in[2].lo, e->nin > 3 ? in[3].lo & 1 : 0, out);
}

static void run_mad_hi_carry(const Eval *e, const Value *in, Value *out)
{
    add_with_carry(e, product_high(e, in), in[2].lo, e->nin > 3 ? in[3].lo & 1 : 0, out);
}

static void run_sub_carry(const Eval *e, const Value *in, Value *out)
{
    add_with_carry(e, in[0].lo, ~in[1].lo, e->nin > 2 ? in[2].lo & 1 : 1, out);
}

/* -- Decoding ------------------------------------------------------------------------------------------- */

bool decode_integer(const Tables *t, const Desc *d, Eval *e)
{
    static const struct {
        EvalRun *run, *saturating;
    } runs[OPCODE_COUNT] = {
        [OP_ADD] = {run_add, run_add_sat},
        [OP_SUB] = {run_sub, run_sub_sat},
        [OP_MUL_LO] = {run_mul_lo, NULL},
        [OP_MUL_HI] = {run_mul_hi, NULL},
        [OP_MUL_WIDE] = {run_mul_wide, NULL},
        [OP_MUL24_LO] = {run_mul24_lo, NULL},
        [OP_MUL24_HI] = {run_mul24_hi, NULL},
        [OP_MAD_LO] = {run_mad_lo, NULL},
        [OP_MAD_HI] = {run_mad_hi, run_mad_hi_sat},
        [OP_MAD_WIDE] = {run_mad_wide, NULL},
        [OP_MAD24_LO] = {run_mad24_lo, NULL},
        [OP_MAD24_HI] = {run_mad24_hi, run_mad24_hi_sat},
        [OP_ADD_CC] = {run_add_carry, NULL},
        [OP_ADDC] = {run_add_carry, NULL},
        [OP_ADDC_CC] = {run_add_carry, NULL},
        [OP_SUB_CC] = {run_sub_carry, NULL},
        [OP_SUBC] = {run_sub_carry, NULL},
        [OP_SUBC_CC] = {run_sub_carry, NULL},
        [OP_MAD_LO_CC] = {run_mad_lo_carry, NULL},
        [OP_MAD_HI_CC] = {run_mad_hi_carry, NULL},
        [OP_MADC_LO] = {run_mad_lo_carry, NULL},
        [OP_MADC_HI] = {run_mad_hi_carry, NULL},
        [OP_MADC_LO_CC] = {run_mad_lo_carry, NULL},
        [OP_MADC_HI_CC] = {run_mad_hi_carry, NULL},
        [OP_DIV] = {run_div, NULL},
        [OP_REM] = {run_rem, NULL},
        [OP_SAD] = {run_sad, NULL},
        [OP_ABS] = {run_abs, NULL},
        [OP_NEG] = {run_neg, NULL},
        [OP_MIN] = {run_min, NULL},
        [OP_MAX] = {run_max, NULL},
        [OP_POPC] = {run_popc, NULL},
        [OP_CLZ] = {run_clz, NULL},
        [OP_BFIND] = {run_bfind, NULL},
        [OP_FNS] = {run_fns, NULL},
        [OP_BREV] = {run_brev, NULL},
        [OP_BFE] = {run_bfe, NULL},
        [OP_BFI] = {run_bfi, NULL},
        [OP_SZEXT] = {run_szext, NULL},
        [OP_BMSK] = {run_bmsk, NULL},
        [OP_DP4A] = {run_dp4a, NULL},
        [OP_DP2A_LO] = {run_dp2a, NULL},
        [OP_DP2A_HI] = {run_dp2a, NULL},
    };
    if (e->f)
        return decode_float(t, d, e);
    e->extra = e->bits == 32 ? 0xff : UINT32_MAX;  // of a position or length, as ptxas folds it
    EvalRun *run = e->sat ? runs[d->op].saturating : runs[d->op].run;
    e->run = e->parts > 1 ? eval_run_parts : run;
    e->part = run;
    return run != NULL;
}
