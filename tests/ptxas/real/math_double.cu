// SPDX-License-Identifier: MIT
// The double and single precision math library: slow paths, tables in .const, calls, local arrays.

extern "C" __global__ void double_math(const double *in, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double x = in[i], y = in[i + n], s, c;
    sincos(x, &s, &c);
    out[i] = exp(s) + log1p(c) * pow(x, y) - cbrt(y) / atan2(x, y);
    out[i + n] = tgamma(x) + lgamma(y) + erfc(x) * j1(y) - fmod(x, y) + remainder(y, x);
    int q;
    double rem = remquo(x, y, &q);
    out[i + 2 * n] = rem + ldexp(x, q) + nextafter(x, y) + ilogb(y) + rint(x) + hypot(x, y) + normcdfinv(x) + __drcp_ru(y) + __ddiv_rd(x, y) + __dsqrt_rz(fabs(x));
}

extern "C" __global__ void float_math(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = in[i], y = in[i + n];
    out[i] = sinf(x) * tanf(y) + powf(x, y) / expf(y) - __sinf(x) * __powf(x, 2.5f) + tanhf(x) + asinhf(y);
    out[i + n] = fmodf(x, y) + lgammaf(x) + erfcinvf(y) + cyl_bessel_i0f(x) + norm3df(x, y, 1.0f) + rsqrtf(x) + scalblnf(y, i) + copysignf(x, y) + nearbyintf(x) + logbf(y) + __fdividef(x, y) + __frcp_rd(x) + __fmaf_ru(x, y, x);
}

extern "C" __global__ void integer_math(const unsigned long long *in, long long *out, unsigned *o32)
{
    unsigned long long a = in[threadIdx.x], b = in[threadIdx.x + 64];
    long long c = (long long)a;
    out[threadIdx.x] = (long long)(a / b) + c % 1000003 + (long long)__umul64hi(a, b) + __mul64hi(c, 77) + __popcll(a) + __clzll(b) + __ffsll(c) + (long long)__brevll(a) + llabs(c);
    unsigned __int128 w = (unsigned __int128)a * b + c;
    out[threadIdx.x + 64] = (long long)(w >> 37) ^ (long long)(w / 10);
    unsigned x = (unsigned)a, y = (unsigned)b;
    o32[threadIdx.x] = __byte_perm(x, y, 0x5410) + __funnelshift_l(x, y, 7) + __vadd4(x, y) + __vabsdiffu2(x, y) + __dp4a(x, y, x) + __dp2a_lo(x, y, y) + __sad((int)x, (int)y, 3u) + __vcmpgts2(x, y) + __viaddmax_u32(x, y, 9) + __uhadd(x, y);
}
