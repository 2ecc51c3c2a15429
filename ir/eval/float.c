// SPDX-License-Identifier: MIT
// Floating-point arithmetic, approximate functions and comparison: PTX ISA 9.7.3 (Floating-Point Instructions), 9.7.4
// (Half Precision Floating-Point Instructions), 9.7.6 and 9.7.7 (set and setp, of integers, too).
//
// An instruction has a plain function. Other functions wrap it to apply modifiers, so an instruction without modifiers
// runs only the plain function. The ISA does not specify the following: approximate forms give the correctly rounded
// result, unless a table of special values applies; `.sat` and `.relu` turn -0 into +0; abs and neg of a NaN give the
// result that ptxas folds.
#include "ir/eval/approx.h"
#include "ir/eval/eval_internal.h"

// The upper word of an f64: rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 read and write only this word.
static const Format format_upper_f64 = {
    .exp_bits = 11, .frac_bits = 20, .unused_bits = 32, .nan = UINT64_C(0x7fffffff00000000)};

/* -- Numbers -------------------------------------------------------------------------------------------- */

static Value value(uint64_t a) { return (Value){a, 0}; }
static uint64_t operand(const Eval *e, const Value *in, uint32_t k) { return in[k].lo & e->mask; }
static bool is_nan(const Format *f, uint64_t a) { return float_class(f, a) == FLOAT_NAN; }

/* -- 9.7.3, 9.7.4: add, sub, mul, fma, mad, div, rcp, sqrt ------------------------------------------------ */

static void run_add(const Eval *e, const Value *in, Value *out)
{
    out[0] = value(float_add(e->f, operand(e, in, 0), operand(e, in, 1), e->round));
}

static void run_sub(const Eval *e, const Value *in, Value *out)
{
    out[0] = value(float_add(e->f, operand(e, in, 0), operand(e, in, 1) ^ float_sign(e->f), e->round));
}

static void run_mul(const Eval *e, const Value *in, Value *out)
{
    out[0] = value(float_mul(e->f, operand(e, in, 0), operand(e, in, 1), e->round));
}

static void run_fma(const Eval *e, const Value *in, Value *out)
{
    out[0] = value(float_fma(e->f, operand(e, in, 0), operand(e, in, 1), operand(e, in, 2), e->round));
}

static void run_div(const Eval *e, const Value *in, Value *out)
{
    uint64_t a = operand(e, in, 0), b = operand(e, in, 1);
    uint64_t sign = float_sign(e->f), magnitude = b & ~sign;
    // f32: the reciprocal of a divisor beyond 2^126 counts as 0.
    if (e->rnd == MOD_APPROX && magnitude > 0x7e800000 && magnitude < float_inf(e->f, false) && !is_nan(e->f, a))
        out[0] = value((a & ~sign) == float_inf(e->f, false) ? e->f->nan : (a ^ b) & sign);
    else
        out[0] = value(float_div(e->f, a, b, e->round));
}

static void run_rcp(const Eval *e, const Value *in, Value *out)
{
    out[0] = value(float_div(e->f, float_one(e->f), operand(e, in, 0), e->round));
}

static void run_sqrt(const Eval *e, const Value *in, Value *out)
{
    out[0] = value(float_sqrt(e->f, operand(e, in, 0), e->round));
}

/* -- 9.7.3, 9.7.4: abs, neg, copysign, testp ------------------------------------------------------------- */

// Returns a number or NaN after abs or neg has changed its sign. ptxas 13.0 folds a NaN like this: f32 keeps the
// payload and gets the quiet bit; f64 and f16x2 keep all other bits; f16 and bf16 give the canonical NaN. ptxas does
// not fold f16x2.ftz and bf16x2; their result here is the canonical NaN.
static uint64_t with_new_sign(const Eval *e, uint64_t a)
{
    if (!is_nan(e->f, a) || e->f == &format_f64)
        return a;
    if (e->f == &format_f32)
        return float_quiet(e->f, a);
    return e->f == &format_f16 && e->parts > 1 && !e->ftz ? a : e->f->nan;
}

static void run_abs(const Eval *e, const Value *in, Value *out)
{
    out[0] = value(with_new_sign(e, operand(e, in, 0) & ~float_sign(e->f)));
}

static void run_neg(const Eval *e, const Value *in, Value *out)
{
    out[0] = value(with_new_sign(e, operand(e, in, 0) ^ float_sign(e->f)));
}

static void run_copysign(const Eval *e, const Value *in, Value *out)
{
    uint64_t sign = float_sign(e->f);
    out[0] = value((operand(e, in, 1) & ~sign) | (operand(e, in, 0) & sign));
}

static void run_testp(const Eval *e, const Value *in, Value *out)
{
    out[0] = value(e->extra >> float_class(e->f, operand(e, in, 0)) & 1);
}

// Sets of FloatClass. Zeros count as normal.
static const uint8_t testp_classes[MOD_COUNT] = {
    [MOD_FINITE] = 1 << FLOAT_ZERO | 1 << FLOAT_SUBNORMAL | 1 << FLOAT_NORMAL,
    [MOD_INFINITE] = 1 << FLOAT_INF,
    [MOD_NUMBER] = 1 << FLOAT_ZERO | 1 << FLOAT_SUBNORMAL | 1 << FLOAT_NORMAL | 1 << FLOAT_INF,
    [MOD_NOTANUMBER] = 1 << FLOAT_NAN,
    [MOD_NORMAL] = 1 << FLOAT_ZERO | 1 << FLOAT_NORMAL,
    [MOD_SUBNORMAL] = 1 << FLOAT_SUBNORMAL,
};

/* -- 9.7.3, 9.7.4: min, max ------------------------------------------------------------------------------ */

// Compares numbers; -0 is less than +0.
static bool less(const Format *f, uint64_t a, uint64_t b)
{
    uint64_t sign = float_sign(f);
    if ((a ^ b) & sign)
        return a & sign;
    return a & sign ? a > b : a < b;
}

// Returns the min or max of a NaN and `b`: `b`, or the canonical NaN if `b` is a NaN or the modifier is .NaN.
static uint64_t beside_nan(const Eval *e, uint64_t b) { return e->nan || is_nan(e->f, b) ? e->f->nan : b; }

static uint64_t lesser(const Eval *e, uint64_t a, uint64_t b)
{
    if (is_nan(e->f, a))
        return beside_nan(e, b);
    if (is_nan(e->f, b))
        return beside_nan(e, a);
    return less(e->f, a, b) ? a : b;
}

static uint64_t greater(const Eval *e, uint64_t a, uint64_t b)
{
    if (is_nan(e->f, a))
        return beside_nan(e, b);
    if (is_nan(e->f, b))
        return beside_nan(e, a);
    return less(e->f, a, b) ? b : a;
}

static void run_min(const Eval *e, const Value *in, Value *out)
{
    out[0] = value(lesser(e, operand(e, in, 0), operand(e, in, 1)));
}

static void run_max(const Eval *e, const Value *in, Value *out)
{
    out[0] = value(greater(e, operand(e, in, 0), operand(e, in, 1)));
}

static void run_min3(const Eval *e, const Value *in, Value *out)
{
    out[0] = value(lesser(e, lesser(e, operand(e, in, 0), operand(e, in, 1)), operand(e, in, 2)));
}

static void run_max3(const Eval *e, const Value *in, Value *out)
{
    out[0] = value(greater(e, greater(e, operand(e, in, 0), operand(e, in, 1)), operand(e, in, 2)));
}

/* -- 9.7.3, 9.7.4: rsqrt, sin, cos, lg2, ex2, tanh -------------------------------------------------------- */

static void run_rsqrt(const Eval *e, const Value *in, Value *out)
{
    uint64_t a = operand(e, in, 0);
    if (e->f == &format_upper_f64)
        out[0] = value(float_convert(&format_f64, e->f, approx_rsqrt(&format_f64, a), e->round, false));
    else
        out[0] = value(approx_rsqrt(e->f, a));
}

static void run_sin(const Eval *e, const Value *in, Value *out) { out[0] = value(approx_sin(e->f, operand(e, in, 0))); }
static void run_cos(const Eval *e, const Value *in, Value *out) { out[0] = value(approx_cos(e->f, operand(e, in, 0))); }
static void run_lg2(const Eval *e, const Value *in, Value *out) { out[0] = value(approx_lg2(e->f, operand(e, in, 0))); }
static void run_ex2(const Eval *e, const Value *in, Value *out) { out[0] = value(approx_ex2(e->f, operand(e, in, 0))); }

static void run_tanh(const Eval *e, const Value *in, Value *out)
{
    out[0] = value(approx_tanh(e->f, operand(e, in, 0)));
}

/* -- Modifiers ------------------------------------------------------------------------------------------ */

// The functions without modifiers.
static EvalRun *const plain[OPCODE_COUNT] = {
    [OP_ADD] = run_add,     [OP_SUB] = run_sub,   [OP_MUL] = run_mul,     [OP_FMA] = run_fma,
    [OP_MAD] = run_fma,     [OP_DIV] = run_div,   [OP_RCP] = run_rcp,     [OP_SQRT] = run_sqrt,
    [OP_ABS] = run_abs,     [OP_NEG] = run_neg,   [OP_MIN] = run_min,     [OP_MAX] = run_max,
    [OP_MIN3] = run_min3,   [OP_MAX3] = run_max3, [OP_TESTP] = run_testp, [OP_COPYSIGN] = run_copysign,
    [OP_RSQRT] = run_rsqrt, [OP_SIN] = run_sin,   [OP_COS] = run_cos,     [OP_LG2] = run_lg2,
    [OP_EX2] = run_ex2,     [OP_TANH] = run_tanh,
};

// Applies .ftz: flushes operands, and the result after rounding as if there were subnormals.
static void run_flushed(const Eval *e, const Value *in, Value *out)
{
    Value flushed[3];
    for (uint32_t k = 0; k < e->nin; k++)
        flushed[k] = value(float_flush(e->f, operand(e, in, k)));
    plain[e->op](e, flushed, out);
    out[0].lo = float_flush(e->f, out[0].lo);
}

static void run_unclamped(const Eval *e, const Value *in, Value *out)
{
    EvalRun *run = e->ftz ? run_flushed : plain[e->op];
    run(e, in, out);
}

// Applies .relu.
static void run_positive(const Eval *e, const Value *in, Value *out)
{
    run_unclamped(e, in, out);
    if (out[0].lo & float_sign(e->f) && !is_nan(e->f, out[0].lo))
        out[0].lo = 0;
}

// Applies .sat: clamps to [0, 1]; the bits of positive numbers are in the order of their values.
static void run_saturated(const Eval *e, const Value *in, Value *out)
{
    run_unclamped(e, in, out);
    if (out[0].lo & float_sign(e->f) || is_nan(e->f, out[0].lo))
        out[0].lo = 0;
    out[0].lo = MIN(out[0].lo, float_one(e->f));
}

// Applies .abs and .xorsign.abs.
static void run_magnitudes(const Eval *e, const Value *in, Value *out)
{
    uint64_t sign = float_sign(e->f), signs = 0;
    Value magnitudes[3];
    for (uint32_t k = 0; k < e->nin; k++) {
        magnitudes[k] = value(operand(e, in, k) & ~sign);
        signs ^= in[k].lo & sign;
    }
    run_unclamped(e, magnitudes, out);
    if (e->xorsign && !is_nan(e->f, out[0].lo))
        out[0].lo |= signs;
}

// True for an instruction without a modifier in PTX before 1.4, where it means .approx.ftz.
static bool is_legacy(const Eval *e)
{
    switch (e->op) {
    case OP_DIV:
    case OP_RCP:
    case OP_SQRT:
    case OP_RSQRT:
    case OP_SIN:
    case OP_COS:
    case OP_LG2:
    case OP_EX2: return !e->rnd && e->f == &format_f32;
    default: return false;
    }
}

bool decode_float(const Tables *t, const Desc *d, Eval *e)
{
    (void)t, (void)d;
    if (!e->f || !plain[e->op])
        return false;
    if (is_legacy(e)) {
        e->rnd = MOD_APPROX;
        e->ftz = e->nofold = true;
    }
    if (e->rnd == MOD_APPROX && e->ftz && e->f == &format_f64) {
        e->f = &format_upper_f64;
        e->mask = UINT64_MAX << 32;
    }
    e->open_nan = e->op == OP_ABS || e->op == OP_NEG;
    e->extra = testp_classes[e->mode];
    if (e->op == OP_TESTP && !e->extra)
        return false;
    EvalRun *run = e->ftz ? run_flushed : plain[e->op];
    if (e->abs)
        run = run_magnitudes;
    if (e->relu)
        run = run_positive;
    if (e->sat)
        run = run_saturated;
    e->run = e->parts > 1 ? eval_run_parts : run;
    e->part = run;
    return true;
}

/* -- 9.7.6, 9.7.7: setp, set ------------------------------------------------------------------------------ */

enum {
    LESS = 1 << FLOAT_LESS,
    EQUAL = 1 << FLOAT_EQUAL,
    GREATER = 1 << FLOAT_GREATER,
    UNORDERED = 1 << FLOAT_UNORDERED,
    COMBINE_SHIFT = 4,  // in Eval.extra, above the orders for which the comparison holds
};

typedef enum { COMPARE_BITS, COMPARE_UNSIGNED, COMPARE_SIGNED, COMPARE_FLOAT, COMPARE_PACKED, COMPARE_NONE } Compare;

enum {
    UNSIGNED = 1 << COMPARE_UNSIGNED,
    FLOATING = 1 << COMPARE_FLOAT | 1 << COMPARE_PACKED,
    NUMBERS = UNSIGNED | 1 << COMPARE_SIGNED | FLOATING,
    ANYTHING = NUMBERS | 1 << COMPARE_BITS,
};

// The orders for which a comparison holds, and the kinds of operands that it compares.
static const struct {
    uint8_t orders, compares;
} comparisons[MOD_COUNT] = {
    [MOD_EQ] = {EQUAL, ANYTHING},
    [MOD_NE] = {LESS | GREATER, ANYTHING},
    [MOD_LT] = {LESS, NUMBERS},
    [MOD_LE] = {LESS | EQUAL, NUMBERS},
    [MOD_GT] = {GREATER, NUMBERS},
    [MOD_GE] = {GREATER | EQUAL, NUMBERS},
    [MOD_LO] = {LESS, UNSIGNED},
    [MOD_LS] = {LESS | EQUAL, UNSIGNED},
    [MOD_HI] = {GREATER, UNSIGNED},
    [MOD_HS] = {GREATER | EQUAL, UNSIGNED},
    [MOD_EQU] = {EQUAL | UNORDERED, FLOATING},
    [MOD_NEU] = {LESS | GREATER | UNORDERED, FLOATING},
    [MOD_LTU] = {LESS | UNORDERED, FLOATING},
    [MOD_LEU] = {LESS | EQUAL | UNORDERED, FLOATING},
    [MOD_GTU] = {GREATER | UNORDERED, FLOATING},
    [MOD_GEU] = {GREATER | EQUAL | UNORDERED, FLOATING},
    [MOD_NUM] = {LESS | EQUAL | GREATER, FLOATING},
    [MOD_NAN_CMP] = {UNORDERED, FLOATING},
};

// Truth tables: the index has the comparison's result in bit 1 and the predicate operand in bit 0.
static const uint8_t combinations[MOD_COUNT] = {
    [MOD_NONE] = 0xc,
    [MOD_BOOL_AND] = 0x8,
    [MOD_BOOL_OR] = 0xe,
    [MOD_BOOL_XOR] = 0x6,
};

static bool holds(const Eval *e, FloatOrder order) { return e->extra >> order & 1; }

static bool combined(const Eval *e, const Value *in, bool result)
{
    bool c = e->nin > 2 && in[2].lo & 1;
    return e->extra >> (COMBINE_SHIFT + 2 * result + c) & 1;
}

static FloatOrder order_unsigned(uint64_t a, uint64_t b)
{
    return a < b ? FLOAT_LESS : a > b ? FLOAT_GREATER : FLOAT_EQUAL;
}

static FloatOrder order_signed(uint64_t a, uint64_t b, uint32_t bits)
{
    int64_t x = sign_extend(a, bits), y = sign_extend(b, bits);
    return x < y ? FLOAT_LESS : x > y ? FLOAT_GREATER : FLOAT_EQUAL;
}

static FloatOrder order_float(const Format *f, uint64_t a, uint64_t b, bool ftz)
{
    return ftz ? float_compare(f, float_flush(f, a), float_flush(f, b)) : float_compare(f, a, b);
}

// Compares the k-th halves.
static FloatOrder order_half(const Format *f, const Value *in, uint32_t k, bool ftz)
{
    return order_float(f, in[0].lo >> 16 * k & 0xffff, in[1].lo >> 16 * k & 0xffff, ftz);
}

static void set_predicates(const Eval *e, const Value *in, Value *out, FloatOrder order)
{
    out[0] = value(combined(e, in, holds(e, order)));
    if (e->nout > 1)
        out[1] = value(combined(e, in, !holds(e, order)));
}

static void run_setp_unsigned(const Eval *e, const Value *in, Value *out)
{
    set_predicates(e, in, out, order_unsigned(operand(e, in, 0), operand(e, in, 1)));
}

static void run_setp_signed(const Eval *e, const Value *in, Value *out)
{
    set_predicates(e, in, out, order_signed(in[0].lo, in[1].lo, e->bits));
}

static void run_setp_float(const Eval *e, const Value *in, Value *out)
{
    set_predicates(e, in, out, order_float(e->f, operand(e, in, 0), operand(e, in, 1), e->ftz));
}

// Sets a predicate for each half, and none for the complement.
static void run_setp_packed(const Eval *e, const Value *in, Value *out)
{
    for (uint32_t k = 0; k < e->nout; k++)
        out[k] = value(combined(e, in, holds(e, order_half(e->f, in, k, e->ftz))));
}

static void set_number(const Eval *e, const Value *in, Value *out, FloatOrder order)
{
    if (!combined(e, in, holds(e, order)))
        out[0] = value(0);
    else
        out[0] = e->f ? value(float_one(e->f)) : integer_result(e, UINT64_MAX);
}

static void run_set_unsigned(const Eval *e, const Value *in, Value *out)
{
    uint64_t mask = mask_of(e->from_bits);
    set_number(e, in, out, order_unsigned(in[0].lo & mask, in[1].lo & mask));
}

static void run_set_signed(const Eval *e, const Value *in, Value *out)
{
    set_number(e, in, out, order_signed(in[0].lo, in[1].lo, e->from_bits));
}

static void run_set_float(const Eval *e, const Value *in, Value *out)
{
    uint64_t mask = mask_of(e->from_bits);
    set_number(e, in, out, order_float(e->g, in[0].lo & mask, in[1].lo & mask, e->ftz));
}

// Sets halves: all ones in an integer, 1.0 in f16x2 and bf16x2.
static void run_set_packed(const Eval *e, const Value *in, Value *out)
{
    uint64_t result = 0, half = e->f ? float_one(e->f) : 0xffff;
    for (uint32_t k = 0; k < 2; k++)
        if (combined(e, in, holds(e, order_half(e->g, in, k, e->ftz))))
            result |= half << 16 * k;
    out[0] = e->f ? value(result) : integer_result(e, result);
}

static Compare compare_of(Type t)
{
    switch (t) {
    case TY_B16:
    case TY_B32:
    case TY_B64: return COMPARE_BITS;
    case TY_U16:
    case TY_U32:
    case TY_U64: return COMPARE_UNSIGNED;
    case TY_S16:
    case TY_S32:
    case TY_S64: return COMPARE_SIGNED;
    case TY_F16:
    case TY_BF16:
    case TY_F32:
    case TY_F64: return COMPARE_FLOAT;
    case TY_F16X2:
    case TY_BF16X2: return COMPARE_PACKED;
    default: return COMPARE_NONE;
    }
}

bool decode_compare(const Tables *t, const Desc *d, Eval *e)
{
    static EvalRun *const runs[][2] = {
        [COMPARE_BITS] = {run_setp_unsigned, run_set_unsigned},
        [COMPARE_UNSIGNED] = {run_setp_unsigned, run_set_unsigned},
        [COMPARE_SIGNED] = {run_setp_signed, run_set_signed},
        [COMPARE_FLOAT] = {run_setp_float, run_set_float},
        [COMPARE_PACKED] = {run_setp_packed, run_set_packed},
    };
    const Mnem *m = tab_mnem(t, d->mnem);
    bool set = d->op == OP_SET;
    Type type = (Type)m->type[set];
    Compare c = compare_of(type);
    if (c == COMPARE_NONE || !(comparisons[e->cmp].compares & 1 << c))
        return false;
    // Packed results require packed operands of the same type; 32-bit integer results allow packed operands of any
    // type.
    if (set && (e->parts > 1 ? m->type[0] != type : c == COMPARE_PACKED && (e->f || e->bits != 32)))
        return false;
    e->extra = comparisons[e->cmp].orders | (uint32_t)combinations[e->combine] << COMBINE_SHIFT;
    e->run = runs[c][set];
    return true;
}
