// SPDX-License-Identifier: MIT
// min-arch: sm_100a
// Tensor memory: allocation, asynchronous matrix multiply, loads and stores, commits.
#include <stdint.h>

__device__ static inline uint32_t shared32(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

__device__ static inline uint64_t descriptor(uint32_t a)
{
    return (a & 0x3ffff) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 46 | 2ull << 61;
}

extern "C" __global__ void __launch_bounds__(128) tcgen05_gemm(const uint4 *ga, const uint4 *gb, float *out, int tiles, uint32_t idesc)
{
    extern __shared__ __align__(1024) uint4 tile[];
    __shared__ uint32_t tmem_base;
    __shared__ __align__(8) uint64_t done;
    if (threadIdx.x < 32) {
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 64;" ::"r"(shared32(&tmem_base)) : "memory");
        asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
    }
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(shared32(&done)) : "memory");
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
    __syncthreads();
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    uint32_t d = tmem_base;
    for (int t = 0; t < tiles; t++) {
        for (int i = threadIdx.x; i < 1024; i += 128) {
            tile[i] = ga[t * 1024 + i];
            tile[1024 + i] = gb[t * 1024 + i];
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int k = 0; k < 4; k++)
                asm volatile("{\n"
                             ".reg .pred p;\n"
                             "setp.ne.b32 p, %4, 0;\n"
                             "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;\n"
                             "}\n" ::"r"(d), "l"(descriptor(shared32(tile) + k * 32)), "l"(descriptor(shared32(tile + 1024) + k * 32)), "r"(idesc), "r"(t | k) : "memory");
            asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(shared32(&done)) : "memory");
        }
        asm volatile("{\n"
                     ".reg .pred p;\n"
                     "again:\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                     "@!p bra again;\n"
                     "}\n" ::"r"(shared32(&done)), "r"(t & 1) : "memory");
        asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
        __syncthreads();
    }
    uint32_t r[16];
    uint32_t lane = d + ((threadIdx.x / 32 * 32) << 16);
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x16.b32 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, [%16];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7]), "=r"(r[8]), "=r"(r[9]), "=r"(r[10]), "=r"(r[11]), "=r"(r[12]), "=r"(r[13]), "=r"(r[14]), "=r"(r[15])
                 : "r"(lane));
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
#pragma unroll
    for (int i = 0; i < 16; i++)
        out[threadIdx.x * 16 + i] = __uint_as_float(r[i]);
    __syncthreads();
    if (threadIdx.x < 32)
        asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 64;" ::"r"(d));
}

extern "C" __global__ void tcgen05_moves(uint32_t *out, uint32_t tmem, uint64_t sdesc)
{
    uint32_t a, b, c, e;
    asm volatile("tcgen05.st.sync.aligned.16x64b.x1.b32 [%0], {%1};" ::"r"(tmem), "r"(threadIdx.x * 3) : "memory");
    asm volatile("tcgen05.st.sync.aligned.32x32b.x2.unpack::16b.b32 [%0 + 4], {%1, %2};" ::"r"(tmem), "r"(1), "r"(2) : "memory");
    asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
    asm volatile("tcgen05.cp.cta_group::1.128x256b [%0], %1;" ::"r"(tmem + 64), "l"(sdesc) : "memory");
    asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(tmem + 64), "l"(sdesc) : "memory");
    asm volatile("tcgen05.shift.cta_group::1.down [%0];" ::"r"(tmem + 64) : "memory");
    asm volatile("tcgen05.ld.sync.aligned.16x128b.x1.b32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(tmem));
    asm volatile("tcgen05.ld.sync.aligned.16x32bx2.x2.pack::16b.b32 {%0, %1}, [%2], 2;" : "=r"(c), "=r"(e) : "r"(tmem));
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
    out[threadIdx.x] = a + b * c - e;
}

extern "C" __global__ void tcgen05_scaled(uint64_t a, uint64_t b, uint32_t d, uint32_t idesc, uint32_t sa, uint32_t sb, uint32_t keep)
{
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "setp.ne.b32 p, %6, 0;\n"
                 "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X [%0], %1, %2, %3, [%4], [%5], p;\n"
                 "tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X [%0], %1, %2, %3, [%4], [%5], p;\n"
                 "tcgen05.mma.cta_group::1.kind::f8f6f4 [%0], [%4], %2, %3, p;\n"
                 "}\n" ::"r"(d), "l"(a), "l"(b), "r"(idesc), "r"(sa), "r"(sb), "r"(keep) : "memory");
}
