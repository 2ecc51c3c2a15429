// SPDX-License-Identifier: MIT
// Half and bfloat16: scalar and packed arithmetic, comparisons, conversions.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void axpy_half2(__half2 a, const __half2 *x, __half2 *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __hfma2(a, x[i], y[i]);
}

extern "C" __global__ void half_scalar(const __half *a, const __half *b, __half *out, int *flags)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __half x = a[i], y = b[i];
    out[4 * i] = __hadd_rn(x, y);
    out[4 * i + 1] = __hmul_rn(x, y);
    out[4 * i + 2] = __hmax(__habs(x), __hneg(y));
    out[4 * i + 3] = __float2half_rz(__half2float(x) * 3.0f);
    flags[i] = __hlt(x, y) | __heq(x, y) << 1 | __hisnan(x) << 2 | __hgeu(x, y) << 3 | (__half2int_rd(x) & 0xff) << 8;
}

extern "C" __global__ void half2_compare(const __half2 *a, const __half2 *b, __half2 *out, unsigned *mask)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = __hmin2(__hsub2_rn(a[i], b[i]), __lowhigh2highlow(a[i]));
    mask[i] = __hgt2_mask(a[i], b[i]) ^ (__hbeq2(a[i], b[i]) ? 1u : 0u);
}

extern "C" __global__ void bf16_dot(const __nv_bfloat162 *a, const __nv_bfloat162 *b, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    __nv_bfloat162 packed = __float2bfloat162_rn(0.0f);
    for (int k = 0; k < n; k++) {
        float2 x = __bfloat1622float2(a[i * n + k]), y = __bfloat1622float2(b[i * n + k]);
        sum = __fmaf_rn(x.x, y.x, __fmaf_rn(x.y, y.y, sum));
        packed = __hfma2(a[i * n + k], b[i * n + k], packed);
    }
    out[2 * i] = sum;
    out[2 * i + 1] = __bfloat162float(__low2bfloat16(packed)) + __bfloat162float(__float2bfloat16_rn(sum));
}
