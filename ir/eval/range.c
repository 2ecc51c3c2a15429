// SPDX-License-Identifier: MIT
// Arithmetic on value ranges. Each operation computes a result in each domain, and tighten() narrows each domain by the
// others. Proven at 4 bits for all ranges (tests/proofs/ranges.c).
#include "ir/eval/range.h"

#include "ir/base/base.h"

__extension__ typedef unsigned __int128 Wide;
__extension__ typedef __int128 SignedWide;

static uint64_t ones_of(const ValueRange *f) { return low_ones(f->bits); }
static uint64_t sign_of(const ValueRange *f) { return (uint64_t)1 << (f->bits - 1); }
static int64_t least(uint32_t bits) { return (int64_t)(UINT64_MAX << (bits - 1)); }
static int64_t greatest(uint32_t bits) { return (int64_t)low_ones(bits - 1); }

ValueRange range_full(uint32_t bits)
{
    return (ValueRange){.bits = bits, .umax = low_ones(bits), .smin = least(bits), .smax = greatest(bits)};
}

static void take_unsigned(ValueRange *f, uint64_t min, uint64_t max)
{
    f->umin = MAX(f->umin, min);
    f->umax = MIN(f->umax, max);
}

static void take_signed(ValueRange *f, int64_t min, int64_t max)
{
    f->smin = MAX(f->smin, min);
    f->smax = MIN(f->smax, max);
}

// Narrows each domain by the others. A contradiction (dead code) gives the full range.
static ValueRange tighten(ValueRange f)
{
    if (range_is_full(&f))
        return f;
    for (;;) {
        ValueRange before = f;
        take_unsigned(&f, f.ones, ~f.zeros & ones_of(&f));
        uint64_t signless = f.zeros | f.ones;
        int64_t low = sign_extended(signless & sign_of(&f) ? f.ones : f.ones | sign_of(&f), f.bits);
        uint64_t high = ~f.zeros & ones_of(&f);
        take_signed(&f, low, sign_extended(signless & sign_of(&f) ? high : high & ~sign_of(&f), f.bits));
        if (f.umin > f.umax || f.smin > f.smax)
            return range_full(f.bits);
        // If all values have one sign, the unsigned and the signed order agree.
        if (f.umax < sign_of(&f) || f.umin >= sign_of(&f))
            take_signed(&f, sign_extended(f.umin, f.bits), sign_extended(f.umax, f.bits));
        if (f.smin >= 0 || f.smax < 0)
            take_unsigned(&f, (uint64_t)f.smin & ones_of(&f), (uint64_t)f.smax & ones_of(&f));
        if (f.umin > f.umax || f.smin > f.smax)
            return range_full(f.bits);
        // All values share the bits above the highest bit in which umin and umax differ.
        uint64_t differ = f.umin ^ f.umax;
        uint64_t same = ones_of(&f) & ~(differ ? low_ones(64 - (uint32_t)__builtin_clzll(differ)) : 0);
        f.ones |= f.umin & same;
        f.zeros |= ~f.umin & same;
        if (f.ones & f.zeros)
            return range_full(f.bits);
        if ((f.zeros | f.ones) == (before.zeros | before.ones) && f.umin == before.umin && f.umax == before.umax &&
            f.smin == before.smin && f.smax == before.smax)
            return f;
    }
}

ValueRange range_constant(uint64_t x, uint32_t bits)
{
    x &= low_ones(bits);
    int64_t number = sign_extended(x, bits);
    return (ValueRange){bits, ~x & low_ones(bits), x, x, x, number, number};
}

// Returns the range of these known bits, not yet tightened.
static ValueRange only_bits(uint64_t zeros, uint64_t ones, uint32_t bits)
{
    ValueRange f = range_full(bits);
    f.zeros = zeros & low_ones(bits);
    f.ones = ones & low_ones(bits);
    return f.zeros & f.ones ? range_full(bits) : f;
}

ValueRange range_of_bits(uint64_t zeros, uint64_t ones, uint32_t bits) { return tighten(only_bits(zeros, ones, bits)); }

ValueRange range_unsigned(uint64_t min, uint64_t max, uint32_t bits)
{
    ValueRange f = range_full(bits);
    take_unsigned(&f, min, max);
    return tighten(f);
}

ValueRange range_signed(int64_t min, int64_t max, uint32_t bits)
{
    ValueRange f = range_full(bits);
    take_signed(&f, min, max);
    return tighten(f);
}

bool range_contains(const ValueRange *f, uint64_t x)
{
    int64_t number = sign_extended(x, f->bits);
    return !(x & ~ones_of(f)) && !(x & f->zeros) && !(~x & f->ones) && x >= f->umin && x <= f->umax &&
           number >= f->smin && number <= f->smax;
}

bool range_is_within(const ValueRange *r, const ValueRange *in)
{
    return !(in->zeros & ~r->zeros) && !(in->ones & ~r->ones) && r->umin >= in->umin && r->umax <= in->umax &&
           r->smin >= in->smin && r->smax <= in->smax;
}

ValueRange range_meet(const ValueRange *a, const ValueRange *b)
{
    ValueRange f = *a;
    f.zeros |= b->zeros;
    f.ones |= b->ones;
    take_unsigned(&f, b->umin, b->umax);
    take_signed(&f, b->smin, b->smax);
    return tighten(f);
}

ValueRange range_join(const ValueRange *a, const ValueRange *b)
{
    ValueRange f = {a->bits, a->zeros & b->zeros, a->ones & b->ones, 0, 0, 0, 0};
    f.umin = MIN(a->umin, b->umin);
    f.umax = MAX(a->umax, b->umax);
    f.smin = MIN(a->smin, b->smin);
    f.smax = MAX(a->smax, b->smax);
    return tighten(f);
}

ValueRange range_of_comparison(RangeCompare cmp, bool is_signed, const ValueRange *y)
{
    uint32_t bits = y->bits;
    bool above = cmp == RC_GT || cmp == RC_GE, other = cmp == RC_LT || cmp == RC_GT;
    if (cmp == RC_EQ)
        return *y;
    if (cmp == RC_NE) {
        ValueRange f = range_full(bits);
        if (y->umin != y->umax)
            return f;
        f.umin += y->umin == f.umin;
        f.umax -= y->umin == f.umax;
        f.smin += y->smin == f.smin;
        f.smax -= y->smin == f.smax;
        return f.umin > f.umax || f.smin > f.smax ? range_full(bits) : tighten(f);
    }
    if (is_signed) {
        // No number is less than the least or greater than the greatest.
        if (other && (above ? y->smin == greatest(bits) : y->smax == least(bits)))
            return range_full(bits);
        return above ? range_signed(y->smin + other, greatest(bits), bits)
                     : range_signed(least(bits), y->smax - other, bits);
    }
    if (other && (above ? y->umin == low_ones(bits) : y->umax == 0))
        return range_full(bits);
    return above ? range_unsigned(y->umin + other, low_ones(bits), bits) : range_unsigned(0, y->umax - other, bits);
}

/* -- Bits ----------------------------------------------------------------------------------------------- */

ValueRange range_not(const ValueRange *a)
{
    ValueRange f = {a->bits, a->ones, a->zeros, ~a->umax & ones_of(a), ~a->umin & ones_of(a), ~a->smax, ~a->smin};
    return f;
}

ValueRange range_and(const ValueRange *a, const ValueRange *b)
{
    ValueRange f = only_bits(a->zeros | b->zeros, a->ones & b->ones, a->bits);
    take_unsigned(&f, 0, MIN(a->umax, b->umax));
    return tighten(f);
}

ValueRange range_or(const ValueRange *a, const ValueRange *b)
{
    ValueRange f = only_bits(a->zeros & b->zeros, a->ones | b->ones, a->bits);
    take_unsigned(&f, MAX(a->umin, b->umin), UINT64_MAX);
    return tighten(f);
}

ValueRange range_xor(const ValueRange *a, const ValueRange *b)
{
    return range_of_bits((a->zeros & b->zeros) | (a->ones & b->ones), (a->zeros & b->ones) | (a->ones & b->zeros),
                         a->bits);
}

/* -- Sums ----------------------------------------------------------------------------------------------- */

// Returns the known bits of a + b + carry. A bit is known if the operands' bits and its carry in are known; the carry
// in lies between the carries of the least and of the greatest operands.
static ValueRange sum_of_bits(const ValueRange *a, const ValueRange *b, uint64_t carry)
{
    uint64_t high = ~a->zeros + ~b->zeros + carry, low = a->ones + b->ones + carry;
    uint64_t not_carried = ~(high ^ a->zeros ^ b->zeros), carried = low ^ a->ones ^ b->ones;
    uint64_t known = (a->zeros | a->ones) & (b->zeros | b->ones) & (not_carried | carried);
    return only_bits(~high & known, low & known, a->bits);
}

static void take_numbers(ValueRange *f, SignedWide umin, SignedWide umax, SignedWide smin, SignedWide smax)
{
    SignedWide all = (SignedWide)1 << f->bits;
    // The unsigned bounds hold only if the least and the greatest sum wrap equally often.
    SignedWide times = umin >> f->bits;
    if (times == umax >> f->bits)
        take_unsigned(f, (uint64_t)(umin - times * all), (uint64_t)(umax - times * all));
    if (smin >= least(f->bits) && smax <= greatest(f->bits))
        take_signed(f, (int64_t)smin, (int64_t)smax);
}

ValueRange range_add(const ValueRange *a, const ValueRange *b)
{
    ValueRange f = sum_of_bits(a, b, 0);
    take_numbers(&f, (SignedWide)a->umin + b->umin, (SignedWide)a->umax + b->umax, (SignedWide)a->smin + b->smin,
                 (SignedWide)a->smax + b->smax);
    return tighten(f);
}

ValueRange range_sub(const ValueRange *a, const ValueRange *b)
{
    ValueRange other = range_not(b), f = sum_of_bits(a, &other, 1);
    take_numbers(&f, (SignedWide)a->umin - b->umax, (SignedWide)a->umax - b->umin, (SignedWide)a->smin - b->smax,
                 (SignedWide)a->smax - b->smin);
    return tighten(f);
}

/* -- Products ------------------------------------------------------------------------------------------- */

// Returns the number of trailing bits that are known to be 0.
static uint32_t trailing(const ValueRange *a) { return ~a->zeros ? (uint32_t)__builtin_ctzll(~a->zeros) : 64; }

// Finds the bounds of the signed product.
static void find_product(const ValueRange *a, const ValueRange *b, SignedWide *lo, SignedWide *hi)
{
    SignedWide ends[] = {(SignedWide)a->smin * b->smin, (SignedWide)a->smin * b->smax, (SignedWide)a->smax * b->smin,
                         (SignedWide)a->smax * b->smax};
    *lo = *hi = ends[0];
    for (int k = 1; k < 4; k++) {
        *lo = MIN(*lo, ends[k]);
        *hi = MAX(*hi, ends[k]);
    }
}

ValueRange range_mul(const ValueRange *a, const ValueRange *b)
{
    ValueRange f = only_bits(low_ones(MIN(trailing(a) + trailing(b), 64u)), 0, a->bits);
    Wide max = (Wide)a->umax * b->umax;
    if (max <= ones_of(a))
        take_unsigned(&f, a->umin * b->umin, (uint64_t)max);
    SignedWide lo, hi;
    find_product(a, b, &lo, &hi);
    if (lo >= least(a->bits) && hi <= greatest(a->bits))
        take_signed(&f, (int64_t)lo, (int64_t)hi);
    return tighten(f);
}

ValueRange range_mul_high(const ValueRange *a, const ValueRange *b, bool is_signed)
{
    uint32_t bits = a->bits;
    if (!is_signed)
        return range_unsigned((uint64_t)((Wide)a->umin * b->umin >> bits), (uint64_t)((Wide)a->umax * b->umax >> bits),
                              bits);
    SignedWide lo, hi;
    find_product(a, b, &lo, &hi);
    return range_signed((int64_t)(lo >> bits), (int64_t)(hi >> bits), bits);
}

ValueRange range_div(const ValueRange *a, const ValueRange *b, bool is_signed)
{
    if (!is_signed)
        return b->umin ? range_unsigned(a->umin / b->umax, a->umax / b->umin, a->bits) : range_full(a->bits);
    if (b->smin <= 0)
        return range_full(a->bits);
    // Division truncates, so the quotient is nearest to zero for the greatest divisor.
    return range_signed(a->smin / (a->smin < 0 ? b->smin : b->smax), a->smax / (a->smax < 0 ? b->smax : b->smin),
                        a->bits);
}

ValueRange range_rem(const ValueRange *a, const ValueRange *b, bool is_signed)
{
    if (!is_signed)
        return b->umin ? range_unsigned(0, MIN(a->umax, b->umax - 1), a->bits) : range_full(a->bits);
    if (b->smin <= 0)
        return range_full(a->bits);
    // The remainder has the dividend's sign, and its magnitude is at most the dividend's and less than the divisor.
    int64_t most = b->smax - 1;
    return range_signed(a->smin < 0 ? MAX(a->smin, -most) : 0, a->smax > 0 ? MIN(a->smax, most) : 0, a->bits);
}

/* -- Shifts, by a count that clamps --------------------------------------------------------------------- */

ValueRange range_shl(const ValueRange *a, const ValueRange *count)
{
    if (count->umin >= a->bits)
        return range_constant(0, a->bits);
    if (count->umin != count->umax)
        return range_of_bits(low_ones(MIN(trailing(a) + (uint32_t)count->umin, 64u)), 0, a->bits);
    uint32_t n = (uint32_t)count->umin;
    ValueRange f = only_bits(a->zeros << n | low_ones(n), a->ones << n, a->bits);
    if (a->umax <= ones_of(a) >> n)
        take_unsigned(&f, a->umin << n, a->umax << n);
    if (a->smin >= least(a->bits) >> n && a->smax <= greatest(a->bits) >> n)
        take_signed(&f, (int64_t)((uint64_t)a->smin << n), (int64_t)((uint64_t)a->smax << n));
    return tighten(f);
}

ValueRange range_shr(const ValueRange *a, const ValueRange *count, bool is_signed)
{
    // Bounds of the shift count, clamped; a signed shift by `bits` or more leaves only the sign.
    uint32_t least_n = (uint32_t)MIN(count->umin, (uint64_t)a->bits - is_signed);
    uint32_t most_n = (uint32_t)MIN(count->umax, (uint64_t)a->bits - is_signed);
    if (!is_signed && least_n == a->bits)
        return range_constant(0, a->bits);
    ValueRange f = range_full(a->bits);
    if (is_signed)
        take_signed(&f, a->smin >> (a->smin < 0 ? least_n : most_n), a->smax >> (a->smax < 0 ? most_n : least_n));
    else
        take_unsigned(&f, most_n < a->bits ? a->umin >> most_n : 0, a->umax >> least_n);
    if (least_n == most_n && count->umin == count->umax) {
        uint64_t high = ones_of(a) & ~(ones_of(a) >> least_n);
        f.zeros = a->zeros >> least_n | (!is_signed || a->zeros & sign_of(a) ? high : 0);
        f.ones = a->ones >> least_n | (is_signed && a->ones & sign_of(a) ? high : 0);
    }
    return tighten(f);
}

/* -- Others --------------------------------------------------------------------------------------------- */

ValueRange range_min(const ValueRange *a, const ValueRange *b, bool is_signed)
{
    ValueRange f = range_join(a, b);
    if (is_signed)
        take_signed(&f, MIN(a->smin, b->smin), MIN(a->smax, b->smax));
    else
        take_unsigned(&f, MIN(a->umin, b->umin), MIN(a->umax, b->umax));
    return tighten(f);
}

ValueRange range_max(const ValueRange *a, const ValueRange *b, bool is_signed)
{
    ValueRange f = range_join(a, b);
    if (is_signed)
        take_signed(&f, MAX(a->smin, b->smin), MAX(a->smax, b->smax));
    else
        take_unsigned(&f, MAX(a->umin, b->umin), MAX(a->umax, b->umax));
    return tighten(f);
}

ValueRange range_abs(const ValueRange *a)
{
    if (a->smin >= 0)
        return *a;
    // The magnitude of the least number is the least number itself.
    if (a->smin == least(a->bits))
        return range_unsigned(0, sign_of(a), a->bits);
    return range_signed(a->smax < 0 ? -a->smax : 0, MAX(-a->smin, a->smax), a->bits);
}

ValueRange range_distance(const ValueRange *a, const ValueRange *b, bool is_signed)
{
    SignedWide amin = is_signed ? (SignedWide)a->smin : (SignedWide)a->umin;
    SignedWide amax = is_signed ? (SignedWide)a->smax : (SignedWide)a->umax;
    SignedWide bmin = is_signed ? (SignedWide)b->smin : (SignedWide)b->umin;
    SignedWide bmax = is_signed ? (SignedWide)b->smax : (SignedWide)b->umax;
    SignedWide low = MAX(amin - bmax, bmin - amax), high = MAX(amax - bmin, bmax - amin);
    return range_unsigned((uint64_t)MAX(low, 0), (uint64_t)high, a->bits);
}

ValueRange range_resize(const ValueRange *a, uint32_t bits, bool is_signed)
{
    if (bits == a->bits)
        return *a;
    ValueRange f = range_full(bits);
    if (bits < a->bits) {
        f.zeros = a->zeros & low_ones(bits);
        f.ones = a->ones & low_ones(bits);
        if (a->umax <= low_ones(bits))
            take_unsigned(&f, a->umin, a->umax);
        if (a->smin >= least(bits) && a->smax <= greatest(bits))
            take_signed(&f, a->smin, a->smax);
        return tighten(f);
    }
    if (is_signed) {
        take_signed(&f, a->smin, a->smax);
        f.zeros = (uint64_t)sign_extended(a->zeros, a->bits) & low_ones(bits);
        f.ones = (uint64_t)sign_extended(a->ones, a->bits) & low_ones(bits);
    } else {
        take_unsigned(&f, a->umin, a->umax);
        f.zeros = a->zeros | (low_ones(bits) & ~ones_of(a));
        f.ones = a->ones;
    }
    return tighten(f);
}
