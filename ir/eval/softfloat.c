// SPDX-License-Identifier: MIT
// Floating point in integer arithmetic.
//
// Operands are unpacked into Numbers with a significand of 64 bits, the exact result is computed, and encode() rounds
// it once. If a result needs more than 64 bits, its lowest bit is sticky: set if any lost bit was set. Rounding only
// distinguishes four remainders: zero, less than half a unit of the last place, half, or more. No format has more than
// 53 bits, so the sticky bit is always below the half.
//
// Arithmetic is written once, with the format as a value, and compiled three times: for f32, for f64, and for any
// format. For f32 and f64, the most frequent formats, code that depends on the format folds to constants.
#include "ir/eval/softfloat.h"

#define KERNEL static inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))
#define RARELY(condition) __builtin_expect(condition, 0)

__extension__ typedef unsigned __int128 uint128_t;

// PTX does not specify the NaN of f32. For f64 it requires that instructions keep the payload; this code does not keep
// it, and eval_foldable() rejects every NaN of f64. GPUs make 0x7fffffff; tf32 has the upper bits of that.
const Format format_f16 = {5, 10, 0, false, 0x7fff};
const Format format_bf16 = {8, 7, 0, false, 0x7fff};
const Format format_tf32 = {8, 10, 13, false, 0x7fffe000};
const Format format_f32 = {8, 23, 0, false, 0x7fffffff};
const Format format_f64 = {11, 52, 0, false, 0x7ff8000000000000};
const Format format_e4m3 = {4, 3, 0, true, 0x7f};
const Format format_e5m2 = {5, 2, 0, false, 0x7f};

// Makes float_xxx() of the kernel xxx_in(). The three variants are separate functions, so that no variant saves
// registers that only another one needs.
#define COMPILE(type, name, params, ...)                                                           \
    static NOINLINE type name##_f32 params { return (void)f, name##_in(format_f32, __VA_ARGS__); } \
    static NOINLINE type name##_f64 params { return (void)f, name##_in(format_f64, __VA_ARGS__); } \
    static NOINLINE type name##_any params { return name##_in(*f, __VA_ARGS__); }                  \
    type float_##name params                                                                       \
    {                                                                                              \
        return f == &format_f32   ? name##_f32(f, __VA_ARGS__)                                     \
               : f == &format_f64 ? name##_f64(f, __VA_ARGS__)                                     \
                                  : name##_any(f, __VA_ARGS__);                                    \
    }

/* -- Bits ----------------------------------------------------------------------------------------------- */

KERNEL uint64_t ones(uint32_t n) { return ((uint64_t)1 << n) - 1; }  // n < 64

// Returns all bits except the sign, shifted to the low end. Magnitudes have the order of the numbers that they encode.
KERNEL uint64_t magnitude(Format f, uint64_t a) { return a >> f.unused_bits & ones(f.exp_bits + f.frac_bits); }
KERNEL bool is_negative(Format f, uint64_t a) { return a >> (f.unused_bits + f.exp_bits + f.frac_bits) & 1; }
KERNEL uint64_t compose(Format f, bool negative, uint64_t m)
{
    return ((uint64_t)negative << (f.exp_bits + f.frac_bits) | m) << f.unused_bits;
}

// Returns the first magnitude that is not a finite number: infinity, or NaN if the format has no infinity.
KERNEL uint64_t limit(Format f) { return f.no_inf ? ones(f.exp_bits + f.frac_bits) : ones(f.exp_bits) << f.frac_bits; }
KERNEL bool is_nan(Format f, uint64_t m) { return m > limit(f) || (f.no_inf && m == limit(f)); }
KERNEL uint64_t infinity(Format f, bool negative) { return compose(f, negative, limit(f) - f.no_inf); }

KERNEL int32_t bias(Format f) { return (1 << (f.exp_bits - 1)) - 1; }

// Returns s * 2^-n, with the lowest bit set if any bit was lost.
KERNEL uint64_t shift_sticky(uint64_t s, uint32_t n)
{
    n = n < 63 ? n : 63;
    return s >> n | ((s & ones(n)) != 0);
}
KERNEL uint128_t shift_sticky_wide(uint128_t s, uint32_t n)
{
    n = n < 127 ? n : 127;
    return s >> n | ((s & (((uint128_t)1 << n) - 1)) != 0);
}

/* -- Numbers -------------------------------------------------------------------------------------------- */

// Unpacks a finite magnitude that is not 0.
KERNEL Number unpack(Format f, bool negative, uint64_t m)
{
    uint64_t frac = m & ones(f.frac_bits);
    if (RARELY(!(m >> f.frac_bits))) {
        int32_t n = __builtin_clzll(frac);
        return (Number){negative, false, 1 - bias(f) - f.frac_bits - n, frac << n};
    }
    int32_t exp = (int32_t)(m >> f.frac_bits) - bias(f) - 63;
    return (Number){negative, false, exp, (frac | (uint64_t)1 << f.frac_bits) << (63 - f.frac_bits)};
}

// Returns s * 2^-n as an integer, rounded; 0 < n < 64.
KERNEL uint64_t shift_rounding(uint64_t s, uint32_t n, bool negative, Rounding r)
{
    uint64_t half = (uint64_t)1 << (n - 1), up = 0;  // the integer is one more if up + the cut bits reach 2^n
    switch (r) {
    case ROUND_NEAREST_EVEN: up = half - 1 + (s >> n & 1); break;
    case ROUND_NEAREST_AWAY: up = half; break;
    case ROUND_DOWN: up = negative ? ones(n) : 0; break;
    case ROUND_UP: up = negative ? 0 : ones(n); break;
    case ROUND_ZERO: break;
    }
    return (s >> n) + (((s & ones(n)) + up) >> n);
}

// Returns the format's number nearest to (-1)^negative * sig * 2^exp; the top bit of sig is set, the lowest is sticky.
KERNEL uint64_t encode(Format f, bool negative, int32_t exp, uint64_t sig, Rounding r, bool finite)
{
    exp += bias(f) + 63;
    if (RARELY(exp < 1)) {  // subnormal, unless rounding gives a normal number
        sig = shift_sticky(sig, (uint32_t)(1 - exp));
        exp = 1;
    }
    if (exp < 1 << f.exp_bits) {
        // The leading one of a normal number adds 1 to the exponent, and so does a carry.
        uint64_t m = ((uint64_t)(exp - 1) << f.frac_bits) + shift_rounding(sig, 63 - f.frac_bits, negative, r);
        if (m < limit(f))
            return compose(f, negative, m);
    }
    bool nearest = r == ROUND_NEAREST_EVEN || r == ROUND_NEAREST_AWAY;
    if (!finite && (nearest || r == (negative ? ROUND_DOWN : ROUND_UP)))
        return infinity(f, negative);
    return compose(f, negative, limit(f) - 1);
}

// Returns the zero that a sum of nonzero terms gives.
KERNEL uint64_t cancelled(Format f, Rounding r) { return compose(f, r == ROUND_DOWN, 0); }

/* -- Sums ----------------------------------------------------------------------------------------------- */

// Returns the sum of two numbers of at most 53 bits: bits of the smaller one are lost only if the exponents differ by
// more than 10. Then at most one leading bit cancels, and the lost bits stay below the half.
KERNEL uint64_t sum(Format f, Number a, Number b, Rounding r)
{
    bool swap = a.exp != b.exp ? a.exp < b.exp : a.sig < b.sig;
    Number big = swap ? b : a, small = swap ? a : b;
    uint64_t s = shift_sticky(small.sig >> 1, (uint32_t)(big.exp - small.exp));
    s = (big.sig >> 1) + (big.negative == small.negative ? s : 0 - s);
    if (!s)
        return cancelled(f, r);
    int32_t n = __builtin_clzll(s);
    return encode(f, big.negative, big.exp + 1 - n, s << n, r, false);
}

// Returns the sum if one of the terms is infinite or NaN.
KERNEL uint64_t sum_special(Format f, bool neg_a, uint64_t a, bool neg_b, uint64_t b)
{
    if (is_nan(f, a) || is_nan(f, b) || (a == b && neg_a != neg_b))
        return f.nan;
    return infinity(f, a > b ? neg_a : neg_b);
}

// Returns the sum if one of the terms is 0.
KERNEL uint64_t sum_zero(Format f, bool neg_a, uint64_t a, bool neg_b, uint64_t b, Rounding r)
{
    if (a || b)
        return compose(f, a ? neg_a : neg_b, a | b);
    return neg_a == neg_b ? compose(f, neg_a, 0) : cancelled(f, r);
}

KERNEL uint64_t add_in(Format f, uint64_t x, uint64_t y, Rounding r)
{
    uint64_t a = magnitude(f, x), b = magnitude(f, y);
    bool neg_a = is_negative(f, x), neg_b = is_negative(f, y);
    if (RARELY(a >= limit(f) || b >= limit(f)))
        return sum_special(f, neg_a, a, neg_b, b);
    if (RARELY(!a || !b))
        return sum_zero(f, neg_a, a, neg_b, b, r);
    return sum(f, unpack(f, neg_a, a), unpack(f, neg_b, b), r);
}

COMPILE(uint64_t, add, (const Format *f, uint64_t a, uint64_t b, Rounding r), a, b, r)

/* -- Products ------------------------------------------------------------------------------------------- */

// True if a product fits 64 bits; the significands are then in the upper 32.
KERNEL bool is_narrow(Format f) { return f.frac_bits < 32; }

// Returns the product, exact if it fits 64 bits.
KERNEL Number product(Format f, Number a, Number b)
{
    Number p = {a.negative != b.negative, false, a.exp + b.exp + 64, 0};
    if (is_narrow(f)) {
        p.sig = (a.sig >> 32) * (b.sig >> 32);
    } else {
        uint128_t wide = (uint128_t)a.sig * b.sig;
        p.sig = (uint64_t)(wide >> 64) | ((uint64_t)wide != 0);
    }
    uint32_t n = !(p.sig >> 63);
    p.sig <<= n;
    p.exp -= (int32_t)n;
    return p;
}

// Returns the product if an operand is infinite or NaN.
KERNEL uint64_t product_special(Format f, bool negative, uint64_t a, uint64_t b)
{
    return is_nan(f, a) || is_nan(f, b) || !a || !b ? f.nan : infinity(f, negative);
}

KERNEL uint64_t mul_in(Format f, uint64_t x, uint64_t y, Rounding r)
{
    uint64_t a = magnitude(f, x), b = magnitude(f, y);
    bool negative = is_negative(f, x) != is_negative(f, y);
    if (RARELY(a >= limit(f) || b >= limit(f)))
        return product_special(f, negative, a, b);
    if (RARELY(!a || !b))
        return compose(f, negative, 0);
    Number p = product(f, unpack(f, negative, a), unpack(f, false, b));
    return encode(f, negative, p.exp, p.sig, r, false);
}

COMPILE(uint64_t, mul, (const Format *f, uint64_t a, uint64_t b, Rounding r), a, b, r)

// Returns a * b + c for a product of up to 106 bits: like sum() in twice the width.
KERNEL uint64_t fma_wide(Format f, Number a, Number b, Number c, Rounding r)
{
    bool negative = a.negative != b.negative;
    int32_t exp = a.exp + b.exp, exp_c = c.exp - 63;
    uint128_t p = (uint128_t)a.sig * b.sig, q = (uint128_t)c.sig << 63;
    uint32_t top = p >> 127 != 0;
    p >>= top;  // room for a carry; the lowest bits are 0
    exp += (int32_t)top;
    bool subtract = negative != c.negative;
    if (exp != exp_c ? exp < exp_c : p < q) {
        uint128_t t = p;
        int32_t d = exp;
        p = q, q = t;
        exp = exp_c, exp_c = d;
        negative = c.negative;
    }
    q = shift_sticky_wide(q, (uint32_t)(exp - exp_c));
    p = subtract ? p - q : p + q;
    if (!p)
        return cancelled(f, r);
    uint32_t n = p >> 64 ? (uint32_t)__builtin_clzll((uint64_t)(p >> 64)) : 64 + (uint32_t)__builtin_clzll((uint64_t)p);
    p <<= n;
    return encode(f, negative, exp + 64 - (int32_t)n, (uint64_t)(p >> 64) | ((uint64_t)p != 0), r, false);
}

// Returns a * b + c if an operand is infinite or NaN.
KERNEL uint64_t fma_special(Format f, bool neg_p, uint64_t a, uint64_t b, bool neg_c, uint64_t c)
{
    bool infinite = a >= limit(f) || b >= limit(f);
    if (is_nan(f, a) || is_nan(f, b) || (infinite && (!a || !b)))
        return f.nan;
    return sum_special(f, neg_p, infinite ? limit(f) : 0, neg_c, c);
}

KERNEL uint64_t fma_in(Format f, uint64_t x, uint64_t y, uint64_t z, Rounding r)
{
    uint64_t a = magnitude(f, x), b = magnitude(f, y), c = magnitude(f, z);
    bool neg_p = is_negative(f, x) != is_negative(f, y), neg_c = is_negative(f, z);
    if (RARELY(a >= limit(f) || b >= limit(f) || c >= limit(f)))
        return fma_special(f, neg_p, a, b, neg_c, c);
    if (RARELY(!a || !b))
        return sum_zero(f, neg_p, 0, neg_c, c, r);
    Number m = unpack(f, neg_p, a), n = unpack(f, false, b);
    if (!c || is_narrow(f)) {
        Number p = product(f, m, n);
        return c ? sum(f, p, unpack(f, neg_c, c), r) : encode(f, neg_p, p.exp, p.sig, r, false);
    }
    return fma_wide(f, m, n, unpack(f, neg_c, c), r);
}

COMPILE(uint64_t, fma, (const Format *f, uint64_t a, uint64_t b, uint64_t c, Rounding r), a, b, c, r)

/* -- Quotients and roots -------------------------------------------------------------------------------- */

KERNEL uint64_t div_in(Format f, uint64_t x, uint64_t y, Rounding r)
{
    uint64_t a = magnitude(f, x), b = magnitude(f, y);
    bool negative = is_negative(f, x) != is_negative(f, y);
    if (is_nan(f, a) || is_nan(f, b) || (a == b && (!a || a >= limit(f))))
        return f.nan;
    if (a >= limit(f) || !b)
        return infinity(f, negative);
    if (b >= limit(f) || !a)
        return compose(f, negative, 0);
    Number m = unpack(f, negative, a), n = unpack(f, false, b);
    uint64_t q, rest;
    int32_t exp = m.exp - n.exp;
    if (is_narrow(f)) {
        q = m.sig / (n.sig >> 32);
        rest = m.sig % (n.sig >> 32);
        exp -= 32;
    } else {
        uint128_t dividend = (uint128_t)m.sig << 63;  // the quotient is less than 2, so it fits
        q = (uint64_t)(dividend / n.sig);
        rest = (uint64_t)dividend - q * n.sig;
        exp -= 63;
    }
    int32_t top = __builtin_clzll(q);
    return encode(f, negative, exp - top, q << top | (rest != 0), r, false);
}

COMPILE(uint64_t, div, (const Format *f, uint64_t a, uint64_t b, Rounding r), a, b, r)

KERNEL uint64_t sqrt_in(Format f, uint64_t x, Rounding r)
{
    uint64_t a = magnitude(f, x);
    bool negative = is_negative(f, x);
    if (!a)
        return compose(f, negative, 0);
    if (is_nan(f, a) || negative)
        return f.nan;
    if (a >= limit(f))
        return infinity(f, false);
    Number m = unpack(f, false, a);
    // With an even exponent, each two bits of the significand, then of zeros, give a bit of the root; the first bit is
    // 1. One bit more than the format has shows if the remainder is half a unit or more.
    uint32_t odd = m.exp & 1, n = f.frac_bits + 2u;
    int32_t exp = (m.exp + (int32_t)odd) / 2 - 32;
    uint64_t bits = m.sig >> odd, root = 0, rest = 0;
    for (uint32_t k = 0; k < n; k++) {
        rest = rest << 2 | bits >> 62;
        bits <<= 2;
        uint64_t step = root << 2 | 1;  // (2 root + 1)^2 - (2 root)^2
        bool one = rest >= step;
        rest -= one ? step : 0;
        root = root << 1 | one;
    }
    return encode(f, false, exp, root << (64 - n) | (rest != 0), r, false);
}

COMPILE(uint64_t, sqrt, (const Format *f, uint64_t a, Rounding r), a, r)

/* -- Classes and constants ------------------------------------------------------------------------------ */

FloatClass float_class(const Format *f, uint64_t a)
{
    uint64_t m = magnitude(*f, a);
    if (m >= limit(*f))
        return is_nan(*f, m) ? FLOAT_NAN : FLOAT_INF;
    return m >> f->frac_bits ? FLOAT_NORMAL : m ? FLOAT_SUBNORMAL : FLOAT_ZERO;
}

uint64_t float_inf(const Format *f, bool negative) { return infinity(*f, negative); }

uint64_t float_max(const Format *f, bool negative) { return compose(*f, negative, limit(*f) - 1); }

uint64_t float_flush(const Format *f, uint64_t a)
{
    return magnitude(*f, a) >> f->frac_bits ? a : compose(*f, is_negative(*f, a), 0);
}

// Compares magnitudes with their signs as signed integers.
KERNEL FloatOrder compare_in(Format f, uint64_t x, uint64_t y)
{
    uint64_t a = magnitude(f, x), b = magnitude(f, y);
    if (is_nan(f, a) || is_nan(f, b))
        return FLOAT_UNORDERED;
    int64_t s = is_negative(f, x) ? -(int64_t)a : (int64_t)a, t = is_negative(f, y) ? -(int64_t)b : (int64_t)b;
    return s < t ? FLOAT_LESS : s > t ? FLOAT_GREATER : FLOAT_EQUAL;
}

COMPILE(FloatOrder, compare, (const Format *f, uint64_t a, uint64_t b), a, b)

/* -- Conversion ----------------------------------------------------------------------------------------- */

uint64_t float_convert(const Format *from, const Format *to, uint64_t a, Rounding r, bool finite)
{
    uint64_t m = magnitude(*from, a);
    bool negative = is_negative(*from, a);
    if (is_nan(*from, m))
        return to->nan;
    if (m >= limit(*from))
        return finite ? float_max(to, negative) : float_inf(to, negative);
    if (!m)
        return compose(*to, negative, 0);
    Number n = unpack(*from, negative, m);
    return encode(*to, negative, n.exp, n.sig, r, finite);
}

// Returns the nearest integer to |n|, which is less than 2^64.
static uint64_t nearest_integer(Number n, Rounding r)
{
    if (n.exp == 0)
        return n.sig;
    uint32_t shift = (uint32_t)-n.exp;
    if (shift > 63) {
        n.sig = shift_sticky(n.sig, shift - 63);  // the number is below 1, and sig has no low bits
        shift = 63;
    }
    return shift_rounding(n.sig, shift, n.negative, r);
}

uint64_t float_integral(const Format *f, uint64_t a, Rounding r)
{
    uint64_t m = magnitude(*f, a);
    bool negative = is_negative(*f, a);
    if (is_nan(*f, m))
        return f->nan;
    if (!m || m >> f->frac_bits >= (uint64_t)(bias(*f) + f->frac_bits))  // an integer already, or infinite
        return compose(*f, negative, m);
    uint64_t whole = nearest_integer(unpack(*f, negative, m), r);
    if (!whole)
        return compose(*f, negative, 0);
    int32_t n = __builtin_clzll(whole);
    return encode(*f, negative, -n, whole << n, ROUND_ZERO, false);
}

uint64_t float_to_integer(const Format *f, uint64_t a, Rounding r, uint32_t bits, bool is_signed, bool *nan)
{
    uint64_t m = magnitude(*f, a);
    bool negative = is_negative(*f, a);
    *nan = is_nan(*f, m);
    if (*nan || !m)
        return 0;
    uint64_t mask = UINT64_MAX >> (64 - bits);
    uint64_t most = is_signed ? (mask >> 1) + negative : negative ? 0 : mask;  // the greatest magnitude of this sign
    uint64_t whole = UINT64_MAX;
    if (m < limit(*f)) {
        Number n = unpack(*f, negative, m);
        if (n.exp <= 0)
            whole = nearest_integer(n, r);
    }
    whole = whole < most ? whole : most;
    return (negative ? 0 - whole : whole) & mask;
}

uint64_t float_from_integer(const Format *to, uint64_t a, uint32_t bits, bool is_signed, Rounding r)
{
    uint64_t mask = UINT64_MAX >> (64 - bits);
    bool negative = is_signed && a >> (bits - 1) & 1;
    uint64_t m = (negative ? 0 - a : a) & mask;
    if (!m)
        return 0;
    int32_t n = __builtin_clzll(m);
    return encode(*to, negative, -n, m << n, r, false);
}

/* -- Building blocks for other functions ---------------------------------------------------------------- */

Number float_unpack(const Format *f, uint64_t a)
{
    uint64_t m = magnitude(*f, a);
    bool negative = is_negative(*f, a);
    return m ? unpack(*f, negative, m) : (Number){negative, false, 0, 0};
}

uint64_t float_pack(const Format *f, Number n, Rounding r, bool finite)
{
    enum { FAR = 1 << 20 };  // beyond all formats, and nothing overflows
    if (!n.sig)
        return compose(*f, n.negative, 0);
    int32_t exp = n.exp < -FAR ? -FAR : n.exp > FAR ? FAR : n.exp;
    return encode(*f, n.negative, exp, n.sig | n.sticky, r, finite);
}
