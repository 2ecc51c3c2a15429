// SPDX-License-Identifier: MIT
// Half and bfloat16 on the host: a value is a double, rounded once. Both have the canonical NaN 0x7fff.
#ifndef HOST_HALF_H
#define HOST_HALF_H

#include "cuda_shim.h"

// A format: bits of the mantissa, smallest exponent.
struct HostFormat {
    int mantissa, lowest;
};
constexpr HostFormat HOST_HALF = {10, -14}, HOST_BF16 = {7, -126};

inline double host_small_value(HostFormat f, unsigned bits)
{
    int exponent = (int)(bits & 0x7fff) >> f.mantissa;
    unsigned hidden = 1u << f.mantissa, low = bits & (hidden - 1);
    double v = exponent == 0x7fff >> f.mantissa ? (low ? NAN : INFINITY)
               : exponent                       ? ldexp(hidden | low, f.lowest + exponent - 1 - f.mantissa)
                                                : ldexp(low, f.lowest - f.mantissa);
    return bits & 0x8000 ? -v : v;
}

// Rounds to the nearest value, ties to even, or toward zero.
inline unsigned short host_small_bits(HostFormat f, double v, bool toward_zero = false)
{
    if (std::isnan(v))
        return 0x7fff;
    unsigned sign = std::signbit(v) ? 0x8000 : 0, infinity = (0x7fffu >> f.mantissa) << f.mantissa;
    double a = fabs(v);
    if (std::isinf(a))
        return (unsigned short)(sign | infinity);
    int e = a > 0 ? std::max(ilogb(a), f.lowest) : f.lowest;
    double units = ldexp(a, f.mantissa - e);
    double n = toward_zero ? trunc(units) : nearbyint(units);
    // A carry of the rounding into the next power of two increments the exponent.
    double bits = ldexp(e - f.lowest, f.mantissa) + n;
    if (bits >= infinity)
        bits = toward_zero ? infinity - 1 : infinity;
    return (unsigned short)(sign | (unsigned)bits);
}

// Returns a * b + c rounded to odd (an inexact sum gets an odd last bit), so that a second rounding is correct. The
// product is exact.
inline double host_fma_odd(double a, double b, double c)
{
    volatile double p = a * b, s = p + c, back = s - p, error = (p - (s - back)) + (c - back);
    double r = s;
    if (std::isfinite(r) && error != 0 && !(host_to_bits(r) & 1))
        r = nextafter(r, error > 0 ? INFINITY : -INFINITY);
    return r;
}

struct __half {
    unsigned short bits;
};
struct __nv_bfloat16 {
    unsigned short bits;
};
struct alignas(4) __half2 {
    __half x, y;
};
struct alignas(4) __nv_bfloat162 {
    __nv_bfloat16 x, y;
};
typedef __half half;
typedef __half2 half2;

inline double host_value(__half v) { return host_small_value(HOST_HALF, v.bits); }
inline double host_value(__nv_bfloat16 v) { return host_small_value(HOST_BF16, v.bits); }
inline __half host_half(double v) { return {host_small_bits(HOST_HALF, v)}; }
inline __nv_bfloat16 host_bf16(double v) { return {host_small_bits(HOST_BF16, v)}; }

// Returns the minimum or maximum: -0 is less than +0, and a number wins over a NaN.
inline __half host_extreme(__half a, __half b, bool largest)
{
    double x = host_value(a), y = host_value(b);
    if (std::isnan(x) || std::isnan(y))
        return std::isnan(x) && std::isnan(y) ? __half{0x7fff} : std::isnan(x) ? b : a;
    bool less = x < y || (x == y && std::signbit(x) && !std::signbit(y));
    return less == largest ? b : a;
}

/* -- Half ------------------------------------------------------------------ */

inline float __half2float(__half v) { return (float)host_value(v); }
inline __half __float2half(float v) { return host_half(v); }
inline __half __float2half_rn(float v) { return host_half(v); }
inline __half __float2half_rz(float v) { return {host_small_bits(HOST_HALF, v, true)}; }
inline int __half2int_rd(__half v) { return host_to_integer<int>((float)floor(host_value(v))); }
inline __half __hadd_rn(__half a, __half b) { return host_half(host_value(a) + host_value(b)); }
inline __half __hsub_rn(__half a, __half b) { return host_half(host_value(a) - host_value(b)); }
inline __half __hmul_rn(__half a, __half b) { return host_half(host_value(a) * host_value(b)); }
inline __half __hfma(__half a, __half b, __half c)
{
    return host_half(host_fma_odd(host_value(a), host_value(b), host_value(c)));
}
inline __half __habs(__half v) { return {(unsigned short)(v.bits & 0x7fff)}; }
inline __half __hneg(__half v) { return {(unsigned short)(v.bits ^ 0x8000)}; }
inline __half __hmax(__half a, __half b) { return host_extreme(a, b, true); }
inline __half __hmin(__half a, __half b) { return host_extreme(a, b, false); }
inline bool __hlt(__half a, __half b) { return host_value(a) < host_value(b); }
inline bool __hgt(__half a, __half b) { return host_value(a) > host_value(b); }
inline bool __heq(__half a, __half b) { return host_value(a) == host_value(b); }
inline bool __hgeu(__half a, __half b) { return !(host_value(a) < host_value(b)); }
inline bool __hisnan(__half v) { return std::isnan(host_value(v)); }

inline __half2 __hfma2(__half2 a, __half2 b, __half2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }
inline __half2 __hsub2_rn(__half2 a, __half2 b) { return {__hsub_rn(a.x, b.x), __hsub_rn(a.y, b.y)}; }
inline __half2 __hmin2(__half2 a, __half2 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }
inline __half2 __lowhigh2highlow(__half2 v) { return {v.y, v.x}; }
inline unsigned __hgt2_mask(__half2 a, __half2 b)
{
    return (__hgt(a.x, b.x) ? 0xffffu : 0) | (__hgt(a.y, b.y) ? 0xffff0000u : 0);
}
inline bool __hbeq2(__half2 a, __half2 b) { return __heq(a.x, b.x) && __heq(a.y, b.y); }

/* -- bfloat16 -------------------------------------------------------------- */

inline float __bfloat162float(__nv_bfloat16 v) { return (float)host_value(v); }
inline __nv_bfloat16 __float2bfloat16_rn(float v) { return host_bf16(v); }
inline __nv_bfloat162 __float2bfloat162_rn(float v) { return {host_bf16(v), host_bf16(v)}; }
inline float2 __bfloat1622float2(__nv_bfloat162 v) { return {__bfloat162float(v.x), __bfloat162float(v.y)}; }
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
inline __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c)
{
    return host_bf16(host_fma_odd(host_value(a), host_value(b), host_value(c)));
}
inline __nv_bfloat162 __hfma2(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c)
{
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}

#endif
