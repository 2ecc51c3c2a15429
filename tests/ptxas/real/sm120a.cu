// SPDX-License-Identifier: MIT
// min-arch: sm_120a
// Matrix multiply on narrow floats with block scales, and the conversions to and from them.
#include <stdint.h>

extern "C" __global__ void mma_narrow(const uint32_t *a, const uint32_t *b, float *d, uint32_t sa, uint32_t sb)
{
    uint32_t l = threadIdx.x;
    float c0 = d[l], c1 = d[l + 32], c2 = d[l + 64], c3 = d[l + 96];
    uint32_t a0 = a[l], a1 = a[l + 32], a2 = a[l + 64], a3 = a[l + 96], b0 = b[l], b1 = b[l + 32];
    asm volatile("mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e4m3.e2m1.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
    asm volatile("mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e3m2.e2m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
    asm volatile("mma.sync.aligned.kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e4m3.e5m2.f32.ue8m0 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, {%10}, {0, 1}, {%11}, {0, 1};"
                 : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "r"(sa), "r"(sb));
    asm volatile("mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue4m3 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, %10, {0, 0}, %11, {0, 0};"
                 : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "r"(sa), "r"(sb));
    d[l] = c0;
    d[l + 32] = c1;
    d[l + 64] = c2;
    d[l + 96] = c3;
}

extern "C" __global__ void narrow_conversions(const float *in, uint32_t *out)
{
    uint32_t i = threadIdx.x;
    float x = in[i], y = in[i + 1];
    uint32_t r, s;
    uint16_t h;
    asm("{ .reg .b8 b; cvt.rn.satfinite.e2m1x2.f32 b, %1, %2; cvt.rn.f16x2.e2m1x2 %0, b; }" : "=r"(r) : "f"(x), "f"(y));
    asm("cvt.rn.satfinite.e2m3x2.f32 %0, %1, %2;" : "=h"(h) : "f"(x), "f"(y));
    asm("cvt.rn.f16x2.e2m3x2 %0, %1;" : "=r"(s) : "h"(h));
    out[2 * i] = r + s;
    asm("cvt.rp.satfinite.ue8m0x2.f32 %0, %1, %2;" : "=h"(h) : "f"(x), "f"(y));
    asm("cvt.rn.bf16x2.ue8m0x2 %0, %1;" : "=r"(s) : "h"(h));
    out[2 * i + 1] = s;
}
