// SPDX-License-Identifier: MIT
// Computes rsqrt, sin, cos, lg2, ex2 and tanh, correctly rounded, in integer arithmetic.
//
// rsqrt is exact: Newton's iteration only estimates the root, and the remainder then corrects it.
//
// The others take operands of up to 24 significant bits (f16, bf16, f32), and compute with fractions of 128 bits:
//
//     ex2       2^(n + y) = 2^n e^(y ln 2), 0 <= y < 1, the exponential by its power series
//     tanh      (1 - e^-2x) / (1 + e^-2x), the power as in ex2
//     lg2       log2(2^n m) = n + 2 / ln 2 artanh((m - 1) / (m + 1)), sqrt(1/2) <= m < sqrt(2), by the power series
//     sin, cos  the operand as a fraction of a turn: times 1 / 2pi, of which only 192 bits matter, since the bits above
//               give whole turns; then reduced to an eighth of a turn, and a power series
//
// Error bound: the error of a step is a few units of 2^-128, and the omitted terms of the series are below 2^-105. No
// leading bits cancel: m - 1 is exact, the angle has 192 bits before its reduction, and 1 - e^-2x is at least 2^-13,
// since x is at least 2^-13. So the relative error of a result is below 2^-90. All operands of f32 were tried: no
// inexact result is within a relative distance of 2^-60 of the midpoint between two numbers of f32. The exact results
// are ex2 of an integer and lg2 of a power of 2. The unit test has the worst operands of f32, and all operands of f16
// and bf16.
//
// Special values are those of the ISA's tables. Cases that the tables leave open follow from the function: a negative
// subnormal has no root and no logarithm, a subnormal is its own sine and hyperbolic tangent, and lg2(1) is +0.
//
// tests/exec/gen_approx.py prints the constants and tables, and --check compares them with this file.
#include "ir/eval/approx.h"

__extension__ typedef unsigned __int128 u128;

#define C128(hi, lo) ((u128)(hi) << 64 | (lo))

static const u128 one = C128(0x8000000000000000, 0);  // with 127 bits of fraction

/* -- Constants ------------------------------------------------------------------------------------------ */

// With 128 bits of fraction; log2(e) with 127, or half of it with 128.
static const u128 pi_4 = C128(0xC90FDAA22168C234, 0xC4C6628B80DC1CD1);
static const u128 ln2 = C128(0xB17217F7D1CF79AB, 0xC9E3B39803F2F6AF);
static const u128 log2_e = C128(0xB8AA3B295C17F0BB, 0xBE87FED0691D3E88);

// 1 / 2pi from the bit of weight 2^-1, after 64 zeros.
static const uint64_t turn[] = {
    0x0000000000000000, 0x28BE60DB9391054A, 0x7F09D5F47D4D3770,
    0x36D8A5664F10E410, 0x7F9458EAF7AEF158, 0x6DC91B8E909374B8,
};

// 1 / n!
static const u128 inverse_factorial[] = {
    C128(0x0000000000000000, 0x0000000000000000), C128(0x0000000000000000, 0x0000000000000000),
    C128(0x8000000000000000, 0x0000000000000000), C128(0x2AAAAAAAAAAAAAAA, 0xAAAAAAAAAAAAAAAA),
    C128(0x0AAAAAAAAAAAAAAA, 0xAAAAAAAAAAAAAAAA), C128(0x0222222222222222, 0x2222222222222222),
    C128(0x005B05B05B05B05B, 0x05B05B05B05B05B0), C128(0x000D00D00D00D00D, 0x00D00D00D00D00D0),
    C128(0x0001A01A01A01A01, 0xA01A01A01A01A01A), C128(0x00002E3BC74AAD8E, 0x671F5583911CA002),
    C128(0x0000049F93EDDE27, 0xD71CBBC05B4FA999), C128(0x0000006B99159FD5, 0x138E3F9D1F92E0DF),
    C128(0x00000008F76C77FC, 0x6C4BDAA26D4C3D67), C128(0x00000000B092309D, 0x43684BE51C198E91),
    C128(0x000000000C9CBA54, 0x603E4E905D6F8A2E), C128(0x0000000000D73F9F, 0x399DC0F88EC32B58),
    C128(0x00000000000D73F9, 0xF399DC0F88EC32B5), C128(0x000000000000CA96, 0x3B81856A53593028),
    C128(0x0000000000000B41, 0x3C31DCBECBBDD802), C128(0x0000000000000097, 0xA4DA340A0AB92650),
    C128(0x0000000000000007, 0x950AE900808941EA), C128(0x0000000000000000, 0x5C6E3BDB73D5C62F),
    C128(0x0000000000000000, 0x04338E5B6DFE14A5), C128(0x0000000000000000, 0x002EC368262C7033),
    C128(0x0000000000000000, 0x0001F2CF01972F57), C128(0x0000000000000000, 0x000013F3CCDD165F),
    C128(0x0000000000000000, 0x000000C4742FE352), C128(0x0000000000000000, 0x0000000746AC70B7),
};

// 1 / (2n + 1)
static const u128 inverse_odd[] = {
    C128(0x0000000000000000, 0x0000000000000000), C128(0x5555555555555555, 0x5555555555555555),
    C128(0x3333333333333333, 0x3333333333333333), C128(0x2492492492492492, 0x4924924924924924),
    C128(0x1C71C71C71C71C71, 0xC71C71C71C71C71C), C128(0x1745D1745D1745D1, 0x745D1745D1745D17),
    C128(0x13B13B13B13B13B1, 0x3B13B13B13B13B13), C128(0x1111111111111111, 0x1111111111111111),
    C128(0x0F0F0F0F0F0F0F0F, 0x0F0F0F0F0F0F0F0F), C128(0x0D79435E50D79435, 0xE50D79435E50D794),
    C128(0x0C30C30C30C30C30, 0xC30C30C30C30C30C), C128(0x0B21642C8590B216, 0x42C8590B21642C85),
    C128(0x0A3D70A3D70A3D70, 0xA3D70A3D70A3D70A), C128(0x097B425ED097B425, 0xED097B425ED097B4),
    C128(0x08D3DCB08D3DCB08, 0xD3DCB08D3DCB08D3), C128(0x0842108421084210, 0x8421084210842108),
    C128(0x07C1F07C1F07C1F0, 0x7C1F07C1F07C1F07), C128(0x0750750750750750, 0x7507507507507507),
    C128(0x06EB3E45306EB3E4, 0x5306EB3E45306EB3), C128(0x0690690690690690, 0x6906906906906906),
    C128(0x063E7063E7063E70, 0x63E7063E7063E706),
};

enum {
    FACTORIALS = sizeof inverse_factorial / sizeof *inverse_factorial,
    ODDS = sizeof inverse_odd / sizeof *inverse_odd
};

/* -- Fractions ------------------------------------------------------------------------------------------ */

// Returns the upper half of the product: a * b of two fractions.
static u128 mul(u128 a, u128 b)
{
    uint64_t ah = (uint64_t)(a >> 64), al = (uint64_t)a, bh = (uint64_t)(b >> 64), bl = (uint64_t)b;
    u128 x = (u128)ah * bl, y = (u128)al * bh;
    u128 carry = ((u128)al * bl >> 64) + (uint64_t)x + (uint64_t)y;
    return (u128)ah * bh + (x >> 64) + (y >> 64) + (carry >> 64);
}

// Returns a / b, for a < b and b with its top bit set: a lower estimate of 1 / b in 64 bits, then one step of Newton's
// iteration.
static u128 divide(u128 a, u128 b)
{
    u128 r = one / ((b >> 64) + 1) << 64;  // as below, with 127 bits of fraction
    r += mul(r, one - mul(b, r)) << 1;
    return mul(a, r) << 1;
}

static uint32_t leading_zeros(u128 a)
{
    uint64_t hi = (uint64_t)(a >> 64), lo = (uint64_t)a;
    return hi ? (uint32_t)__builtin_clzll(hi) : 64 + (uint32_t)__builtin_clzll(lo);
}

// Returns (-1)^negative * a * 2^exp in the format; a is not zero.
static uint64_t round_to(const Format *f, bool negative, u128 a, int32_t exp)
{
    uint32_t n = leading_zeros(a);
    a <<= n;
    Number r = {negative, (uint64_t)a != 0, exp + 64 - (int32_t)n, (uint64_t)(a >> 64)};
    return float_pack(f, r, ROUND_NEAREST_EVEN, false);
}

// True if the absolute value of a zero, a number or infinity is below 2^n.
static bool is_below(const Format *f, uint64_t a, int32_t n)
{
    switch (float_class(f, a)) {
    case FLOAT_ZERO: return true;
    case FLOAT_INF: return false;
    default: return float_unpack(f, a).exp + 63 < n;
    }
}

static uint64_t one_of(const Format *f, bool negative) { return round_to(f, negative, one, -127); }

/* -- Power series --------------------------------------------------------------------------------------- */

// Returns e^y - 1 for y below ln 2.
static u128 exp_minus_1(u128 y)
{
    u128 sum = 0;
    for (uint32_t n = FACTORIALS - 1; n >= 2; n--)
        sum = mul(y, inverse_factorial[n] + sum);
    return y + mul(y, sum);
}

// Returns 2^y, with 127 bits of fraction.
static u128 exp2_of(u128 y) { return one + (exp_minus_1(mul(y, ln2)) >> 1); }

// Returns artanh(s) for s below 0.172.
static u128 artanh(u128 s)
{
    u128 square = mul(s, s), sum = 0;
    for (uint32_t n = ODDS - 1; n >= 1; n--)
        sum = mul(square, inverse_odd[n] + sum);
    return s + mul(s, sum);
}

// Returns square / n! - square^2 / (n + 2)! + square^3 / (n + 4)! - ...
// This is 1 - cos(y) for n = 2 and 1 - sin(y) / y for n = 3.
static u128 sine_series(u128 square, uint32_t n)
{
    u128 sum = 0;
    for (uint32_t k = n + (FACTORIALS - 1 - n) / 2 * 2; k >= n; k -= 2)
        sum = inverse_factorial[k] - mul(square, sum);
    return mul(square, sum);
}

/* -- rsqrt ---------------------------------------------------------------------------------------------- */

static uint64_t mul64(uint64_t a, uint64_t b) { return (uint64_t)((u128)a * b >> 64); }

// Estimates 1 / sqrt(m) with 63 bits of fraction, of which the last few may be wrong; 1 <= m < 4, with 62 bits of
// fraction.
static uint64_t guess_rsqrt(uint64_t m)
{
    // The relative error of 1.0663 - 0.1523 m is below 9 %; after the steps it is below 1.2 %, 2^-12, 2^-24, 2^-47,
    // 2^-60.
    uint64_t y = 0x887C840000000000 - mul64(m, 0x4DFA430000000000);
    for (uint32_t k = 0; k < 5; k++)
        y = mul64(y, ((uint64_t)3 << 60) - mul64(m, mul64(y, y))) << 3;
    return y;
}

uint64_t approx_rsqrt(const Format *f, uint64_t a)
{
    FloatClass class = float_class(f, a);
    bool negative = a & float_sign(f);
    if (class == FLOAT_ZERO)
        return float_inf(f, negative);
    if (class == FLOAT_NAN || negative)
        return f->nan;
    if (class == FLOAT_INF)
        return 0;
    // a = m / 2^52 * 2^(2k), and the root is q / 2^56 * 2^-k. The error of q is a few units at most, so the remainder
    // 2^164 - q^2 m is far below 2^128, and its lower bits suffice.
    Number n = float_unpack(f, a);
    uint32_t odd = (uint32_t)(n.exp + 63) & 1;
    int32_t k = (n.exp + 63 - (int32_t)odd) / 2;
    u128 m = (n.sig >> 11) << odd;
    u128 q = guess_rsqrt((uint64_t)m << 10) >> 7;
    u128 rest = 0 - q * q * m;
    while (rest >> 127) {
        q--;
        rest += (2 * q + 1) * m;
    }
    while (rest >= (2 * q + 1) * m) {
        rest -= (2 * q + 1) * m;
        q++;
    }
    return round_to(f, false, q << 64 | (rest != 0), -k - 56 - 64);
}

/* -- sin, cos ------------------------------------------------------------------------------------------- */

// Returns the sine of the operand plus a number of quarter turns; the operand is a number and at least 2^-13.
static uint64_t sine(const Format *f, uint64_t a, uint32_t quarters)
{
    Number x = float_unpack(f, a);
    // |x| = m * 2^e. The bits of 1 / 2pi after the point, when scaled by 2^e, give the fraction; m adds whole turns.
    uint64_t m = x.sig >> 40, word[3];
    uint32_t from = (uint32_t)(x.exp + 40 + 64);
    for (uint32_t k = 0; k < 3; k++) {
        const uint64_t *t = &turn[from / 64 + k];
        word[k] = (uint64_t)(C128(t[0], t[1]) << from % 64 >> 64);
    }
    u128 low = (u128)m * word[2], middle = (u128)m * word[1] + (low >> 64);
    word[0] = m * word[0] + (uint64_t)(middle >> 64);
    word[1] = (uint64_t)middle;
    word[2] = (uint64_t)low;

    // sin(-x) = -sin(x); cos(-x) = cos(x). In odd eighths of a turn the angle is measured from the next eighth.
    uint32_t eighth = (uint32_t)(word[0] >> 61) + 2 * quarters;
    bool negative = (eighth & 4) != 0;
    if (x.negative && !quarters)
        negative = !negative;
    if (eighth & 1)
        for (uint32_t k = 0; k < 3; k++)
            word[k] = ~word[k];
    u128 angle = C128(word[0], word[1]) << 3 | word[2] >> 61;
    uint32_t n = leading_zeros(angle);  // at most 28: no operand is nearer to a whole quarter turn
    angle = mul(angle << n | (u128)(word[2] << 3) << n >> 64, pi_4);  // * 2^-n: the leading bit stays on top
    u128 square = mul(angle, angle) >> 2 * n;
    if ((eighth + 1) & 2)
        return round_to(f, negative, one - (sine_series(square, 2) >> 1), -127);
    return round_to(f, negative, angle - mul(angle, sine_series(square, 3)), -128 - (int32_t)n);
}

uint64_t approx_sin(const Format *f, uint64_t a)
{
    FloatClass class = float_class(f, a);
    if (class == FLOAT_NAN || class == FLOAT_INF)
        return f->nan;
    // x - x^3 / 6 rounds to x in 24 bits.
    return is_below(f, a, -13) ? a : sine(f, a, 0);
}

uint64_t approx_cos(const Format *f, uint64_t a)
{
    FloatClass class = float_class(f, a);
    if (class == FLOAT_NAN || class == FLOAT_INF)
        return f->nan;
    return is_below(f, a, -13) ? one_of(f, false) : sine(f, a, 1);  // 1 - x^2 / 2
}

/* -- lg2 ------------------------------------------------------------------------------------------------ */

uint64_t approx_lg2(const Format *f, uint64_t a)
{
    FloatClass class = float_class(f, a);
    bool negative = a & float_sign(f);
    if (class == FLOAT_ZERO)
        return float_inf(f, true);
    if (class == FLOAT_NAN || negative)
        return f->nan;
    if (class == FLOAT_INF)
        return a;
    // a = m / unit * 2^n, unit a power of 2, m / unit between sqrt(1/2) and sqrt(2).
    Number x = float_unpack(f, a);
    uint32_t m = (uint32_t)(x.sig >> 40), unit = 0x800000;
    int32_t n = x.exp + 63;
    if (m == unit)
        return float_from_integer(f, (uint64_t)n, 32, true, ROUND_NEAREST_EVEN);
    if (m > 0xB504F3) {  // 2^23 sqrt(2)
        unit *= 2;
        n++;
    }
    negative = m < unit;
    uint32_t shift = leading_zeros(m + unit);
    u128 s = divide((u128)(negative ? unit - m : m - unit) << shift, (u128)(m + unit) << shift);
    u128 log = mul(artanh(s), log2_e);  // with 126 bits of fraction
    if (n == 0)
        return round_to(f, negative, log, -126);
    // With 119 bits of fraction. |n| is below 256, and the integer is the larger of the two terms.
    u128 whole = (u128)(n < 0 ? -n : n) << 119;
    return round_to(f, n < 0, negative == (n < 0) ? whole + (log >> 7) : whole - (log >> 7), -119);
}

/* -- ex2, tanh ------------------------------------------------------------------------------------------ */

uint64_t approx_ex2(const Format *f, uint64_t a)
{
    FloatClass class = float_class(f, a);
    bool negative = a & float_sign(f);
    if (class == FLOAT_NAN)
        return f->nan;
    if (is_below(f, a, -30))
        return one_of(f, false);
    if (class == FLOAT_INF || !is_below(f, a, 10))
        return negative ? 0 : float_inf(f, false);
    // x as an integer plus a nonnegative fraction, with 64 bits of fraction, which hold all bits of the operand.
    Number n = float_unpack(f, a);
    u128 x = C128(n.sig, 0) >> -n.exp;
    if (negative)
        x = -x;
    int32_t whole = (int32_t)(uint32_t)(x >> 64);
    return round_to(f, false, exp2_of(x << 64), whole - 127);
}

uint64_t approx_tanh(const Format *f, uint64_t a)
{
    FloatClass class = float_class(f, a);
    bool negative = a & float_sign(f);
    if (class == FLOAT_NAN)
        return f->nan;
    if (is_below(f, a, -13))
        return a;  // x - x^3 / 3
    if (class == FLOAT_INF || !is_below(f, a, 5))
        return one_of(f, negative);  // 1 - 2 e^-2x
    // e^-2x = 2^-z, z = 2 x / ln 2 with 121 bits of fraction: x / 32, times 1 / (2 ln 2), times 128.
    Number n = float_unpack(f, a);
    u128 minus_z = -mul((u128)n.sig << (n.exp + 123), log2_e);
    u128 power = exp2_of(minus_z << 7) >> (128 - (uint32_t)(minus_z >> 121));
    return round_to(f, negative, divide(one - power, one + power), -128);
}
