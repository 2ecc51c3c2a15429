// SPDX-License-Identifier: MIT
// min-arch: sm_90a
// Warpgroup matrix multiply: asynchronous reads and writes of registers, fences and group waits around them.
#include <stdint.h>

__device__ static inline uint64_t descriptor(const void *smem, uint32_t lead, uint32_t stride)
{
    uint64_t a = __cvta_generic_to_shared(smem);
    return ((a & 0x3ffff) >> 4) | (uint64_t)(lead >> 4) << 16 | (uint64_t)(stride >> 4) << 32 | 1ull << 62;
}

#define ACC8(b) "+f"(d[b]), "+f"(d[b + 1]), "+f"(d[b + 2]), "+f"(d[b + 3]), "+f"(d[b + 4]), "+f"(d[b + 5]), "+f"(d[b + 6]), "+f"(d[b + 7])

__device__ static void mma_m64n64k16(float *d, uint64_t a, uint64_t b, int keep)
{
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "setp.ne.b32 p, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
                 "%32, %33, p, 1, 1, 0, 0;\n"
                 "}\n"
                 : ACC8(0), ACC8(8), ACC8(16), ACC8(24)
                 : "l"(a), "l"(b), "r"(keep));
}

/* The accumulator of one warpgroup over k tiles of a and b in shared memory. */
extern "C" __global__ void __launch_bounds__(128) wgmma_tiles(const uint4 *ga, const uint4 *gb, float *out, int tiles)
{
    extern __shared__ __align__(1024) uint4 tile[];
    uint4 *sa = tile, *sb = tile + 512;
    float d[32];
#pragma unroll
    for (int i = 0; i < 32; i++)
        d[i] = 0;
    for (int t = 0; t < tiles; t++) {
        for (int i = threadIdx.x; i < 512; i += 128) {
            sa[i] = ga[t * 512 + i];
            sb[i] = gb[t * 512 + i];
        }
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int k = 0; k < 4; k++)
            mma_m64n64k16(d, descriptor(sa + 2 * k, 16, 1024), descriptor(sb + 2 * k, 16, 1024), t | k);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 32; i++)
        out[(blockIdx.x * 128 + threadIdx.x) * 32 + i] = d[i];
}

/* Two groups in flight, A from registers, int8 and scaled by -1. */
extern "C" __global__ void __launch_bounds__(128) wgmma_registers(const uint32_t *ga, float *out, int *iout, uint64_t b)
{
    float d[4] = {1, 2, 3, 4};
    int e[4] = {0, 0, 0, 0};
    uint32_t a0 = ga[threadIdx.x], a1 = ga[threadIdx.x + 128], a2 = ga[threadIdx.x + 256], a3 = ga[threadIdx.x + 384];
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, 1, -1, 1, 1;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(b));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%0, %1, %2, %3}, %4, %5, 0;"
                 : "+r"(e[0]), "+r"(e[1]), "+r"(e[2]), "+r"(e[3])
                 : "l"(b), "l"(b + 64));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    out[threadIdx.x] = d[0] + d[1] * d[2] - d[3];
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    iout[threadIdx.x] = e[0] + e[1] + e[2] + e[3];
}
