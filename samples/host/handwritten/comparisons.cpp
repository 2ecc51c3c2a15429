// SPDX-License-Identifier: MIT
// Computes the results of handwritten/comparisons.ptx, except its approximate functions.
#include "cuda_shim.h"
#include "launches.h"

// Returns the bits of a result, with a canonical NaN; copies keep their bits.
static uint32_t bits(float v) { return v != v ? 0x7fffffff : __float_as_uint(v); }

// min and max of PTX: the other operand of a NaN, and -0 is less than +0.
static float least(float a, float b)
{
    if (a == 0 && b == 0)
        return std::signbit(a) ? a : b;
    return fminf(a, b);
}
static float greatest_or_nan(float a, float b)
{
    if (a != a || b != b)
        return NAN;
    return -least(-a, -b);
}

// Rounds to nearest even, to a type with these widths of mantissa and exponent.
static uint16_t narrow(float v, int digits, int exponent_bits)
{
    int lowest = 2 - (1 << (exponent_bits - 1)), highest = 1 - lowest;
    uint16_t sign = (uint16_t)(std::signbit(v) << 15);
    if (v != v)
        return 0x7fff;
    if (v == 0)
        return sign;
    int e = std::isinf(v) ? highest + 1 : std::max(ilogb(v), lowest);
    int units = std::isinf(v) ? 1 << digits : (int)nearbyint(ldexp(fabs((double)v), digits - e));
    // A subnormal has no leading one, so its exponent is one too high; a carry corrects it.
    int magnitude = ((e - lowest) << digits) + units, infinite = ((1 << exponent_bits) - 1) << digits;
    return (uint16_t)(sign | std::min(magnitude, infinite));
}
static uint16_t relu_half(float v) { return v < 0 ? 0 : narrow(v, 10, 5); }
static uint16_t bf16(float v) { return narrow(v, 7, 8); }

static float flush(float v) { return fabsf(v) < FLT_MIN ? copysignf(0, v) : v; }

static void comparisons(const float *in, uint32_t *out)
{
    float f0 = in[0], f1 = in[1], f2 = in[2], sum = f0 + f1;
    double d0, d1;
    memcpy(&d0, in + 4, 8);
    memcpy(&d1, in + 6, 8);
    uint32_t r0 = __float_as_uint(f0), r1 = __float_as_uint(f1);
    int s0 = (int)r0;
    uint16_t h1 = (uint16_t)std::max<int16_t>((int16_t)r0, -3), h2 = (uint16_t)std::min(std::max(s0, 0), 255);
    int64_t whole = host_to_integer<int64_t>(nearbyint(d1));

    out[0] = f0 < f1 ? 0xffffffff : 0;
    out[1] = 0;  // 0 if the bits are equal; else it depends on an undefined predicate
    out[2] = f2 >= 0 ? r0 : 5;
    out[3] = std::isinf(d0) || !(r0 >= 7 && r0 < r1) ? 0xA : 0xB;
    out[4] = f0 < f1 ? 0 : bits(1.0f);
    out[5] = s0 >= 0 ? r0 : r1;
    out[6] = bits(least(f0, f1));
    out[7] = bits(greatest_or_nan(f0, f1));
    float smaller = least(fabsf(f0), fabsf(f1));
    out[8] = smaller != smaller ? bits(NAN) : bits(smaller) | ((r0 ^ r1) & 0x80000000);
    out[9] = (r1 & 0x7fffffff) | (r0 & 0x80000000);
    out[10] = bits(ceilf(f1));
    out[11] = bits(f0 > 0 ? std::min(f0, 1.0f) : 0);
    out[12] = (uint32_t)host_to_integer<int>(truncf(f0));
    out[13] = host_to_integer<uint32_t>(floorf(f1));
    out[14] = r0;
    if (r0 & 0x1fff)
        host_fail("not a value of tf32: the low bits of the result are not specified");
    out[15] = (uint32_t)bf16(f0) << 16 | bf16(f1);
    out[16] = bits(sum > 0 ? std::min(sum, 1.0f) : 0);
    out[17] = bits(flush(__fsub_rd(flush(f1), 1.0f)));
    out[19] = (uint32_t)relu_half(f0) << 16 | relu_half(f1);
    memcpy(out + 20, &d0, 8);
    out[24] = h2 | (uint32_t)h1 << 16;
    if (r0 < 7 && r0 < r1)
        out[25] = h1;
    memcpy(out + 26, &whole, 8);
}

LAUNCHES("handwritten/comparisons", KERNEL(comparisons))
