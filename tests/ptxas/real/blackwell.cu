// SPDX-License-Identifier: MIT
// min-arch: sm_100
// Features of every sm_100: packed f32 pairs, 256-bit accesses, cluster launch control, min/max of three.
#include <stdint.h>

extern "C" __global__ void packed_f32(const uint64_t *a, uint64_t *b, float *c)
{
    uint64_t x = a[threadIdx.x], y = a[threadIdx.x + 128], z, w;
    asm("fma.rn.f32x2 %0, %1, %2, %1;" : "=l"(z) : "l"(x), "l"(y));
    asm("add.rn.f32x2 %0, %1, %2;" : "=l"(w) : "l"(z), "l"(y));
    asm("mul.ftz.f32x2 %0, %1, %2;" : "=l"(z) : "l"(z), "l"(w));
    b[threadIdx.x] = z;
    float p = __uint_as_float((uint32_t)x), q = __uint_as_float((uint32_t)y), r = c[threadIdx.x];
    asm("max.f32 %0, %1, %2, %0;" : "+f"(r) : "f"(p), "f"(q));
    asm("min.NaN.abs.f32 %0, %1, %2, %0;" : "+f"(r) : "f"(p), "f"(q));
    c[threadIdx.x] = r;
}

extern "C" __global__ void wide_access(const uint32_t *in, uint32_t *out)
{
    uint32_t r[8];
    asm volatile("ld.global.v8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7]) : "l"(in + threadIdx.x * 8));
    asm volatile("st.global.L2::evict_first.v8.b32 [%8], {%0, %1, %2, %3, %4, %5, %6, %7};" ::"r"(r[7]), "r"(r[6]), "r"(r[5]), "r"(r[4]), "r"(r[3]), "r"(r[2]), "r"(r[1]), "r"(r[0]), "l"(out + threadIdx.x * 8) : "memory");
    uint64_t a, b, c, d;
    asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v4.u64 {%0, %1, %2, %3}, [%4+32];" : "=l"(a), "=l"(b), "=l"(c), "=l"(d) : "l"(in));
    out[4096 + threadIdx.x] = (uint32_t)(a ^ b ^ c ^ d);
}

extern "C" __global__ void work_stealing(float *out, int n)
{
    __shared__ __align__(16) uint4 answer;
    __shared__ __align__(8) uint64_t bar;
    uint32_t a = (uint32_t)__cvta_generic_to_shared(&answer), b = (uint32_t)__cvta_generic_to_shared(&bar), phase = 0;
    int block = blockIdx.x;
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(b) : "memory");
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0) {
            asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1];" ::"r"(a), "r"(b) : "memory");
            asm volatile("mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64 _, [%0], 16;" ::"r"(b) : "memory");
        }
        for (int i = threadIdx.x; i < n; i += blockDim.x)
            out[block * n + i] += 1.0f;
        uint32_t ok;
        do
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(ok) : "r"(b), "r"(phase) : "memory");
        while (!ok);
        phase ^= 1;
        int next, more;
        asm volatile("{\n"
                     ".reg .b128 h;\n"
                     ".reg .pred p;\n"
                     "ld.shared.b128 h, [%2];\n"
                     "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, h;\n"
                     "selp.s32 %0, 1, 0, p;\n"
                     "mov.s32 %1, 0;\n"
                     "@p clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %1, h;\n"
                     "}\n" : "=r"(more), "=r"(next) : "r"(a) : "memory");
        asm volatile("fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;" ::: "memory");
        if (!more)
            break;
        block = next;
    }
}
