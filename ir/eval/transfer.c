// SPDX-License-Identifier: MIT
// Transfer functions compute the range of an instruction's first result from the ranges of its inputs. A table has one
// function for each opcode; range_transfer() corresponds to eval_run(). tests/proofs/ranges.c compares each function
// with the evaluator.
//
// A function reads its inputs through operand(), which returns the range of the bits that the instruction reads. Its
// result has as many bits as the instruction computes. Results that eval_foldable() rejects have the full range.
#include "ir/eval/eval_internal.h"
#include "ir/eval/range.h"

/* -- Operands ------------------------------------------------------------------------------------------- */

// Returns the range of the low `bits` bits; the full range for an operand that has fewer.
static ValueRange low_bits(const ValueRange *in, uint32_t bits)
{
    return in->bits < bits ? range_full(bits) : range_resize(in, bits, false);
}

static ValueRange operand(const Eval *e, const ValueRange *in) { return low_bits(in, e->bits); }

static ValueRange count(const ValueRange *in) { return low_bits(in, 32); }

// Returns the range of an operand of the first type, extended to `bits` bits.
static ValueRange extended(const Eval *e, const ValueRange *in, uint32_t bits)
{
    ValueRange x = operand(e, in);
    return range_resize(&x, bits, e->is_signed);
}

static bool is_single(const ValueRange *r) { return r->umin == r->umax; }

// Returns true and the value if a position or length of a bit field is known.
static bool is_known_byte(const ValueRange *in, uint32_t *byte)
{
    ValueRange low = low_bits(in, 8);
    *byte = (uint32_t)low.umin;
    return is_single(&low);
}

// True if the result for this position and length is defined: 64-bit instructions do not reduce them mod 256.
static bool is_field(const Eval *e, const ValueRange *at, const ValueRange *length)
{
    return e->extra == 0xff || MAX(count(at).umax, count(length).umax) <= 255;
}

static ValueRange shifted_left(const ValueRange *x, uint32_t n)
{
    ValueRange by = range_constant(n, 32);
    return range_shl(x, &by);
}

static ValueRange shifted_right(const ValueRange *x, uint32_t n, bool is_signed)
{
    ValueRange by = range_constant(n, 32);
    return range_shr(x, &by, is_signed);
}

// Returns the range of a value with the bits of `high` above those of `low`.
static ValueRange concatenated(const ValueRange *high, const ValueRange *low)
{
    uint32_t bits = high->bits + low->bits;
    ValueRange upper = range_resize(high, bits, false), lower = range_resize(low, bits, false);
    upper = shifted_left(&upper, low->bits);
    return range_or(&upper, &lower);
}

/* -- Moves ---------------------------------------------------------------------------------------------- */

static ValueRange of_mov(const Eval *e, const ValueRange *in) { return operand(e, &in[0]); }

static ValueRange of_selp(const Eval *e, const ValueRange *in)
{
    ValueRange x = operand(e, &in[0]), y = operand(e, &in[1]);
    if (is_single(&in[2]))
        return in[2].umin & 1 ? x : y;
    return range_join(&x, &y);
}

static ValueRange of_slct(const Eval *e, const ValueRange *in)
{
    ValueRange x = operand(e, &in[0]), y = operand(e, &in[1]), c = low_bits(&in[2], e->from_bits);
    if (!e->g && (c.smin >= 0 || c.smax < 0))
        return c.smin >= 0 ? x : y;
    return range_join(&x, &y);
}

static ValueRange of_pack(const Eval *e, const ValueRange *in)
{
    ValueRange all = low_bits(&in[0], e->part_bits);
    for (uint32_t k = 1; k < e->nin; k++) {
        ValueRange part = low_bits(&in[k], e->part_bits);
        all = concatenated(&part, &all);
    }
    return all;
}

static ValueRange of_cvt(const Eval *e, const ValueRange *in)
{
    ValueRange x = low_bits(&in[0], e->from_bits);
    if (!e->sat)
        return range_resize(&x, e->bits, e->from_signed);
    // Clamps as 64-bit signed numbers, which contain all values of both types except large unsigned ones.
    x = range_resize(&x, 64, e->from_signed);
    if (!e->from_signed && x.smin < 0)
        return range_full(e->bits);
    int64_t most = (int64_t)(low_ones(MIN(e->bits, 63u)) >> (e->is_signed && e->bits < 64));
    int64_t least = e->is_signed ? -most - 1 : 0;
    ValueRange low = range_constant((uint64_t)least, 64), high = range_constant((uint64_t)most, 64);
    x = range_max(&x, &low, true);
    x = range_min(&x, &high, true);
    return range_resize(&x, e->bits, true);
}

/* -- Sums and products ---------------------------------------------------------------------------------- */

// Returns the range of the signed sum of x and y, or of their difference, clamped to their width.
static ValueRange saturated(const ValueRange *x, const ValueRange *y, bool minus)
{
    int64_t most = (int64_t)low_ones(x->bits - 1), least = -most - 1;
    int64_t low = minus ? x->smin - y->smax : x->smin + y->smin, high = minus ? x->smax - y->smin : x->smax + y->smax;
    return range_signed(MIN(MAX(low, least), most), MIN(MAX(high, least), most), x->bits);
}

static ValueRange of_add(const Eval *e, const ValueRange *in)
{
    ValueRange x = operand(e, &in[0]), y = operand(e, &in[1]);
    return e->sat ? saturated(&x, &y, false) : range_add(&x, &y);
}

static ValueRange of_sub(const Eval *e, const ValueRange *in)
{
    ValueRange x = operand(e, &in[0]), y = operand(e, &in[1]);
    return e->sat ? saturated(&x, &y, true) : range_sub(&x, &y);
}

static ValueRange of_mul_lo(const Eval *e, const ValueRange *in)
{
    ValueRange x = operand(e, &in[0]), y = operand(e, &in[1]);
    return range_mul(&x, &y);
}

static ValueRange of_mul_hi(const Eval *e, const ValueRange *in)
{
    ValueRange x = operand(e, &in[0]), y = operand(e, &in[1]);
    return range_mul_high(&x, &y, e->is_signed);
}

static ValueRange of_mul_wide(const Eval *e, const ValueRange *in)
{
    ValueRange x = extended(e, &in[0], 2 * e->bits), y = extended(e, &in[1], 2 * e->bits);
    return range_mul(&x, &y);
}

static ValueRange of_mad_lo(const Eval *e, const ValueRange *in)
{
    ValueRange product = of_mul_lo(e, in), z = operand(e, &in[2]);
    return range_add(&product, &z);
}

static ValueRange of_mad_hi(const Eval *e, const ValueRange *in)
{
    ValueRange product = of_mul_hi(e, in), z = operand(e, &in[2]);
    return e->sat ? saturated(&product, &z, false) : range_add(&product, &z);
}

static ValueRange of_mad_wide(const Eval *e, const ValueRange *in)
{
    ValueRange product = of_mul_wide(e, in), z = low_bits(&in[2], 2 * e->bits);
    return range_add(&product, &z);
}

// Returns the range of the product of 24-bit factors, 48 bits.
static ValueRange product_24(const Eval *e, const ValueRange *in)
{
    ValueRange x = low_bits(&in[0], 24), y = low_bits(&in[1], 24);
    x = range_resize(&x, 64, e->is_signed);
    y = range_resize(&y, 64, e->is_signed);
    return range_mul(&x, &y);
}

static ValueRange of_mul24_lo(const Eval *e, const ValueRange *in)
{
    ValueRange product = product_24(e, in);
    return range_resize(&product, e->bits, false);
}

static ValueRange of_mul24_hi(const Eval *e, const ValueRange *in)
{
    ValueRange product = product_24(e, in);
    product = shifted_right(&product, 16, e->is_signed);
    return range_resize(&product, e->bits, false);
}

static ValueRange of_mad24_lo(const Eval *e, const ValueRange *in)
{
    ValueRange product = of_mul24_lo(e, in), z = operand(e, &in[2]);
    return range_add(&product, &z);
}

static ValueRange of_mad24_hi(const Eval *e, const ValueRange *in)
{
    ValueRange product = of_mul24_hi(e, in), z = operand(e, &in[2]);
    return e->sat ? saturated(&product, &z, false) : range_add(&product, &z);
}

static ValueRange of_add_carry(const Eval *e, const ValueRange *in)
{
    ValueRange sum = of_add(e, in), carry = range_unsigned(0, e->nin > 2, e->bits);
    return range_add(&sum, &carry);
}

// Returns the range of a + ~b + carry.
static ValueRange of_sub_carry(const Eval *e, const ValueRange *in)
{
    ValueRange difference = of_sub(e, in), borrow = range_unsigned(0, e->nin > 2, e->bits);
    return range_sub(&difference, &borrow);
}

static ValueRange of_mad_lo_carry(const Eval *e, const ValueRange *in)
{
    ValueRange sum = of_mad_lo(e, in), carry = range_unsigned(0, e->nin > 3, e->bits);
    return range_add(&sum, &carry);
}

static ValueRange of_mad_hi_carry(const Eval *e, const ValueRange *in)
{
    ValueRange sum = of_mad_hi(e, in), carry = range_unsigned(0, e->nin > 3, e->bits);
    return range_add(&sum, &carry);
}

/* -- Other arithmetic ----------------------------------------------------------------------------------- */

static ValueRange of_div(const Eval *e, const ValueRange *in)
{
    ValueRange x = operand(e, &in[0]), y = operand(e, &in[1]);
    return range_div(&x, &y, e->is_signed);
}

static ValueRange of_rem(const Eval *e, const ValueRange *in)
{
    ValueRange x = operand(e, &in[0]), y = operand(e, &in[1]);
    return range_rem(&x, &y, e->is_signed);
}

static ValueRange of_sad(const Eval *e, const ValueRange *in)
{
    ValueRange x = operand(e, &in[0]), y = operand(e, &in[1]), z = operand(e, &in[2]);
    ValueRange distance = range_distance(&x, &y, e->is_signed);
    return range_add(&distance, &z);
}

static ValueRange of_abs(const Eval *e, const ValueRange *in)
{
    ValueRange x = operand(e, &in[0]);
    return range_abs(&x);
}

static ValueRange of_neg(const Eval *e, const ValueRange *in)
{
    ValueRange x = operand(e, &in[0]), zero = range_constant(0, e->bits);
    return range_sub(&zero, &x);
}

static ValueRange at_least_zero(const Eval *e, ValueRange x)
{
    ValueRange zero = range_constant(0, e->bits);
    return e->relu ? range_max(&x, &zero, true) : x;
}

static ValueRange of_min(const Eval *e, const ValueRange *in)
{
    ValueRange x = operand(e, &in[0]), y = operand(e, &in[1]);
    return at_least_zero(e, range_min(&x, &y, e->is_signed));
}

static ValueRange of_max(const Eval *e, const ValueRange *in)
{
    ValueRange x = operand(e, &in[0]), y = operand(e, &in[1]);
    return at_least_zero(e, range_max(&x, &y, e->is_signed));
}

/* -- Bits ----------------------------------------------------------------------------------------------- */

static ValueRange of_popc(const Eval *e, const ValueRange *in)
{
    ValueRange x = operand(e, &in[0]);
    return range_unsigned((uint64_t)__builtin_popcountll(x.ones), e->bits - (uint64_t)__builtin_popcountll(x.zeros),
                          32);
}

// Returns the number of leading zeros of a number of `bits` bits.
static uint64_t leading_zeros(uint64_t x, uint32_t bits)
{
    return x ? (uint64_t)__builtin_clzll(x) - (64 - bits) : bits;
}

static ValueRange of_clz(const Eval *e, const ValueRange *in)
{
    ValueRange x = operand(e, &in[0]);
    return range_unsigned(leading_zeros(x.umax, e->bits), leading_zeros(x.umin, e->bits), 32);
}

// The result is -1 if no bit is found.
static ValueRange of_bfind(const Eval *e, const ValueRange *in)
{
    ValueRange x = operand(e, &in[0]);
    if (e->is_signed && x.smin < 0) {
        if (x.smax >= 0)
            return range_signed(-1, e->bits - 1, 32);
        x = range_not(&x);
    }
    int64_t least = (int64_t)leading_zeros(x.umax, e->bits), most = (int64_t)leading_zeros(x.umin, e->bits);
    if (e->mode != MOD_SHIFTAMT)
        return range_signed(e->bits - 1 - most, e->bits - 1 - least, 32);
    return range_signed(most == e->bits ? -1 : least, least == e->bits ? -1 : MIN(most, e->bits - 1), 32);
}

static uint64_t reversed(uint64_t x, uint32_t bits)
{
    uint64_t result = 0;
    for (uint32_t k = 0; k < bits; k++)
        result |= (x >> k & 1) << (bits - 1 - k);
    return result;
}

static ValueRange of_brev(const Eval *e, const ValueRange *in)
{
    ValueRange x = operand(e, &in[0]);
    return range_of_bits(reversed(x.zeros, e->bits), reversed(x.ones, e->bits), e->bits);
}

// Returns the range of the low `n` bits, extended.
static ValueRange low_field(const Eval *e, const ValueRange *x, uint32_t n)
{
    if (!n)
        return range_constant(0, e->bits);
    ValueRange low = range_resize(x, MIN(n, e->bits), false);
    return range_resize(&low, e->bits, e->is_signed);
}

static ValueRange of_bfe(const Eval *e, const ValueRange *in)
{
    ValueRange x = operand(e, &in[0]);
    uint32_t at, length;
    if (!is_field(e, &in[1], &in[2]))
        return range_full(e->bits);
    if (!is_known_byte(&in[2], &length))
        return e->is_signed ? range_full(e->bits) : range_unsigned(0, x.umax, e->bits);
    if (!length)
        return range_constant(0, e->bits);
    if (is_known_byte(&in[1], &at)) {
        x = shifted_right(&x, at, e->is_signed);
        return low_field(e, &x, at < e->bits ? MIN(length, e->bits - at) : e->bits);
    }
    if (e->is_signed)
        return range_full(e->bits);
    return range_unsigned(0, MIN(x.umax, low_ones(length)), e->bits);
}

static ValueRange of_bfi(const Eval *e, const ValueRange *in)
{
    ValueRange x = operand(e, &in[0]), into = operand(e, &in[1]);
    uint32_t at, length;
    if (!is_field(e, &in[2], &in[3]) || !is_known_byte(&in[2], &at) || !is_known_byte(&in[3], &length))
        return range_full(e->bits);
    uint64_t field = at < e->bits ? low_ones(length) << at & low_ones(e->bits) : 0;
    ValueRange mask = range_constant(field, e->bits), rest = range_not(&mask), moved = shifted_left(&x, at);
    ValueRange inside = range_and(&moved, &mask), outside = range_and(&into, &rest);
    return range_or(&inside, &outside);
}

static ValueRange of_szext(const Eval *e, const ValueRange *in)
{
    ValueRange x = operand(e, &in[0]), n = count(&in[1]);
    if (!is_single(&n))
        return range_full(e->bits);
    bool whole = e->mode == MOD_CLAMP && n.umin >= e->bits;
    return low_field(e, &x, whole ? e->bits : (uint32_t)n.umin & (e->bits - 1u));
}

/* -- Logic ---------------------------------------------------------------------------------------------- */

static ValueRange of_and(const Eval *e, const ValueRange *in)
{
    ValueRange x = operand(e, &in[0]), y = operand(e, &in[1]);
    return range_and(&x, &y);
}

static ValueRange of_or(const Eval *e, const ValueRange *in)
{
    ValueRange x = operand(e, &in[0]), y = operand(e, &in[1]);
    return range_or(&x, &y);
}

static ValueRange of_xor(const Eval *e, const ValueRange *in)
{
    ValueRange x = operand(e, &in[0]), y = operand(e, &in[1]);
    return range_xor(&x, &y);
}

static ValueRange of_not(const Eval *e, const ValueRange *in)
{
    ValueRange x = operand(e, &in[0]);
    return range_not(&x);
}

static ValueRange of_cnot(const Eval *e, const ValueRange *in)
{
    ValueRange x = operand(e, &in[0]);
    return range_unsigned(x.umax == 0, x.umin == 0, e->bits);
}

// Combines the table entries that are possible for the known bits of the inputs, bit by bit.
static ValueRange of_lop3(const Eval *e, const ValueRange *in)
{
    ValueRange x = operand(e, &in[0]), y = operand(e, &in[1]), z = operand(e, &in[2]);
    uint64_t may[2] = {0, 0};  // bits of the result that may be 0, bits that may be 1
    if (!is_single(&in[3]))
        return range_full(e->bits);
    for (uint32_t k = 0; k < 8; k++)
        may[in[3].umin >> k & 1] |=
            ~(k & 4 ? x.zeros : x.ones) & ~(k & 2 ? y.zeros : y.ones) & ~(k & 1 ? z.zeros : z.ones);
    return range_of_bits(~may[1] & e->mask, ~may[0] & e->mask, e->bits);
}

static ValueRange of_shl(const Eval *e, const ValueRange *in)
{
    ValueRange x = operand(e, &in[0]), n = count(&in[1]);
    return range_shl(&x, &n);
}

static ValueRange of_shr(const Eval *e, const ValueRange *in)
{
    ValueRange x = operand(e, &in[0]), n = count(&in[1]);
    return range_shr(&x, &n, e->is_signed);
}

static ValueRange of_funnel(const Eval *e, const ValueRange *in)
{
    ValueRange low = operand(e, &in[0]), high = operand(e, &in[1]), n = count(&in[2]);
    if (!is_single(&n))
        return range_full(e->bits);
    uint32_t by = (uint32_t)(e->mode == MOD_CLAMP ? MIN(n.umin, e->bits) : n.umin & (e->bits - 1u));
    ValueRange both = concatenated(&high, &low);
    both = shifted_right(&both, e->op == OP_SHF_R ? by : e->bits - by, false);
    return range_resize(&both, e->bits, false);
}

static ValueRange of_prmt(const Eval *e, const ValueRange *in)
{
    ValueRange low = low_bits(&in[0], 32), high = low_bits(&in[1], 32), selector = low_bits(&in[2], 32), all;
    if (!is_single(&selector))
        return range_full(32);
    ValueRange both = concatenated(&high, &low);
    for (uint32_t k = 0; k < 4; k++) {
        uint32_t chosen = eval_chosen_byte(e, (uint32_t)selector.umin, k);
        ValueRange byte = shifted_right(&both, 8 * (chosen & 7), false);
        byte = range_resize(&byte, 8, false);
        if (chosen & 8)
            byte = shifted_right(&byte, 7, true);
        all = k ? concatenated(&byte, &all) : byte;
    }
    return all;
}

// The result is all ones or 0.
static ValueRange of_set(const Eval *e, const ValueRange *in)
{
    (void)in;
    return range_signed(-1, 0, e->bits);
}

/* -- The table ------------------------------------------------------------------------------------------ */

typedef ValueRange Transfer(const Eval *e, const ValueRange *in);

static Transfer *const transfers[OPCODE_COUNT] = {
    [OP_MOV] = of_mov,
    [OP_SELP] = of_selp,
    [OP_SLCT] = of_slct,
    [OP_PACK] = of_pack,
    [OP_CVT] = of_cvt,
    [OP_ADD] = of_add,
    [OP_SUB] = of_sub,
    [OP_MUL_LO] = of_mul_lo,
    [OP_MUL_HI] = of_mul_hi,
    [OP_MUL_WIDE] = of_mul_wide,
    [OP_MUL24_LO] = of_mul24_lo,
    [OP_MUL24_HI] = of_mul24_hi,
    [OP_MAD_LO] = of_mad_lo,
    [OP_MAD_HI] = of_mad_hi,
    [OP_MAD_WIDE] = of_mad_wide,
    [OP_MAD24_LO] = of_mad24_lo,
    [OP_MAD24_HI] = of_mad24_hi,
    [OP_ADD_CC] = of_add_carry,
    [OP_ADDC] = of_add_carry,
    [OP_ADDC_CC] = of_add_carry,
    [OP_SUB_CC] = of_sub_carry,
    [OP_SUBC] = of_sub_carry,
    [OP_SUBC_CC] = of_sub_carry,
    [OP_MAD_LO_CC] = of_mad_lo_carry,
    [OP_MAD_HI_CC] = of_mad_hi_carry,
    [OP_MADC_LO] = of_mad_lo_carry,
    [OP_MADC_HI] = of_mad_hi_carry,
    [OP_MADC_LO_CC] = of_mad_lo_carry,
    [OP_MADC_HI_CC] = of_mad_hi_carry,
    [OP_DIV] = of_div,
    [OP_REM] = of_rem,
    [OP_SAD] = of_sad,
    [OP_ABS] = of_abs,
    [OP_NEG] = of_neg,
    [OP_MIN] = of_min,
    [OP_MAX] = of_max,
    [OP_POPC] = of_popc,
    [OP_CLZ] = of_clz,
    [OP_BFIND] = of_bfind,
    [OP_BREV] = of_brev,
    [OP_BFE] = of_bfe,
    [OP_BFI] = of_bfi,
    [OP_SZEXT] = of_szext,
    [OP_AND] = of_and,
    [OP_OR] = of_or,
    [OP_XOR] = of_xor,
    [OP_NOT] = of_not,
    [OP_CNOT] = of_cnot,
    [OP_LOP3] = of_lop3,
    [OP_LOP3_BOOL] = of_lop3,
    [OP_SHL] = of_shl,
    [OP_SHR] = of_shr,
    [OP_SHF_L] = of_funnel,
    [OP_SHF_R] = of_funnel,
    [OP_PRMT] = of_prmt,
    [OP_SET] = of_set,
};

bool range_has_transfer(const Eval *e)
{
    if (!transfers[e->op] || e->f || (e->g && e->op != OP_SLCT) || e->parts > 1 || e->bits > 64)
        return false;
    return e->bits > 1 && (!e->sat || e->bits <= 32 || e->op == OP_CVT);
}

uint32_t range_absorbing(const Eval *e)
{
    if (e->sat)
        return 0;
    switch (e->op) {
    case OP_MOV:
    case OP_NOT:
    case OP_NEG: return 1;
    case OP_ADD:
    case OP_SUB:
    case OP_XOR: return 3;
    case OP_MAD_LO: return 4;
    default: return 0;
    }
}

ValueRange range_transfer(const Eval *e, const ValueRange *in) { return transfers[e->op](e, in); }
