// SPDX-License-Identifier: MIT
// half, bfloat16, fp8, fp6 and fp4 arithmetic and conversions of the toolkit's headers.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

extern "C" __global__ void half_math(const __half2 *a, __half2 *b, float *f)
{
    int i = threadIdx.x;
    __half2 x = a[i], y = a[i + 128];
    __half2 z = __hfma2(x, y, __float2half2_rn(0.5f));
    z = __hmax2(__hadd2_sat(z, x), __hmul2(y, __hneg2(x)));
    __half h = hexp(__low2half(z)) + hlog2(__high2half(z)) * hrsqrt(__low2half(x)) - hsin(__high2half(y)) / hsqrt(__high2half(x));
    if (__hlt(h, __float2half(2.0f)) && !__hisnan(h))
        h = htrunc(h) + __int2half_rn(i) + __ull2half_rd(7ull * i);
    b[i] = __halves2half2(h, __low2half(z));
    f[i] = __half2float(h) + __half2int_rz(h) + __half2ll_rn(h) + (__hbgt2(z, x) ? 1.0f : 0.0f);
    atomicAdd(b + 512, z);
}

extern "C" __global__ void bfloat_math(const __nv_bfloat162 *a, __nv_bfloat162 *b, __nv_bfloat16 *c)
{
    int i = threadIdx.x;
    __nv_bfloat162 x = a[i], y = b[i];
    __nv_bfloat162 z = __hfma2_relu(x, y, y);
    z = __hmin2_nan(z, __habs2(x));
    __nv_bfloat16 h = __hadd(__low2bfloat16(z), __float2bfloat16(1.25f)) * hcos(__high2bfloat16(y));
    c[i] = __hmul_sat(h, __ushort_as_bfloat16(0x3f80)) + __uint2bfloat16_rn(i) + h2log(x).x;
    b[i] = z;
}

extern "C" __global__ void fp8_math(const __nv_fp8_e4m3 *a, const __nv_fp8x4_e5m2 *b, float4 *out, __nv_fp8x2_storage_t *s, __nv_fp6_e2m3 *f6, __nv_fp4x2_e2m1 *f4)
{
    int i = threadIdx.x;
    float4 v = (float4)b[i];
    float x = (float)a[i];
    v.x *= x;
    v.w += (float)__half(a[i + 1]);
    out[i] = v;
    s[i] = __nv_cvt_float2_to_fp8x2(make_float2(v.x, v.y), __NV_SATFINITE, __NV_E4M3);
    f6[i] = __nv_fp6_e2m3(v.z + (float)f6[i + 1]);
    float2 p = (float2)f4[i];
    f4[i] = __nv_fp4x2_e2m1(make_float2(p.y * v.w, p.x));
}
