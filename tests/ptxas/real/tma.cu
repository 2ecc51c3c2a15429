// SPDX-License-Identifier: MIT
// min-arch: sm_90
// Bulk and tensor copies: tensor maps, mbarriers with transaction counts, multicast, reductions, bulk groups.
#include <stdint.h>

struct __align__(64) TensorMap {
    char opaque[128];
};

__device__ static inline uint32_t shared32(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

__device__ static inline void wait(uint32_t bar, uint32_t phase)
{
    asm volatile("{\n"
                 ".reg .pred P1;\n"
                 "LAB_WAIT:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n"
                 "@P1 bra DONE;\n"
                 "bra LAB_WAIT;\n"
                 "DONE:\n"
                 "}\n" ::"r"(bar), "r"(phase) : "memory");
}

extern "C" __global__ void tma_copy(const __grid_constant__ TensorMap in, const __grid_constant__ TensorMap out, int tiles)
{
    __shared__ __align__(128) float tile[2][64][32];
    __shared__ __align__(8) uint64_t full[2];
    if (threadIdx.x == 0) {
        asm volatile("prefetch.tensormap [%0];" ::"l"(&in) : "memory");
        for (int s = 0; s < 2; s++)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared32(&full[s])) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async;" ::: "memory");
    }
    __syncthreads();
    for (int t = 0; t < tiles; t++) {
        int s = t & 1;
        if (threadIdx.x == 0) {
            asm volatile("{ .reg .b64 state; mbarrier.arrive.expect_tx.shared::cta.b64 state, [%0], %1; }" ::"r"(shared32(&full[s])), "n"(sizeof tile[0]) : "memory");
            asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::
                             "r"(shared32(&tile[s])), "l"(&in), "r"(t * 32), "r"((int)blockIdx.x * 64), "r"(shared32(&full[s])) : "memory");
        }
        wait(shared32(&full[s]), (t >> 1) & 1);
        for (int i = threadIdx.x; i < 64 * 32; i += blockDim.x)
            tile[s][i / 32][i % 32] = tile[s][i / 32][i % 32] * 2.0f + 1.0f;
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (threadIdx.x == 0) {
            asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&out), "r"(t * 32), "r"((int)blockIdx.x * 64), "r"(shared32(&tile[s])) : "memory");
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
            asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) tma_multicast(const __grid_constant__ TensorMap in, float *out, uint64_t policy)
{
    __shared__ __align__(128) float tile[32 * 32];
    __shared__ __align__(8) uint64_t bar;
    uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared32(&bar)) : "memory");
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared32(&bar)), "r"(4096) : "memory");
        if (rank == 0)
            asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%0], [%1, {%2, %3, %4}], [%5], %6, %7;" ::
                             "r"(shared32(tile)), "l"(&in), "r"(0), "r"(1), "r"((int)blockIdx.y), "r"(shared32(&bar)), "h"((uint16_t)3), "l"(policy) : "memory");
    }
    wait(shared32(&bar), 0);
    out[blockIdx.x * 1024 + threadIdx.x] = tile[threadIdx.x];
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;");
}

extern "C" __global__ void bulk_linear(const char *src, char *dst, float *sum, uint32_t bytes)
{
    extern __shared__ __align__(16) char buf[];
    __shared__ __align__(8) uint64_t bar;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared32(&bar)) : "memory");
        asm volatile("fence.proxy.async;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared32(&bar)), "r"(bytes) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared32(buf)), "l"(src), "r"(bytes), "r"(shared32(&bar)) : "memory");
        wait(shared32(&bar), 0);
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(dst), "r"(shared32(buf)), "r"(bytes) : "memory");
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(sum), "r"(shared32(buf)), "r"(bytes) : "memory");
        asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(src + bytes), "r"(bytes) : "memory");
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
    }
}

extern "C" __global__ void tma_reduce(const __grid_constant__ TensorMap out, const __grid_constant__ TensorMap im)
{
    __shared__ __align__(128) float tile[32 * 32];
    __shared__ __align__(8) uint64_t bar;
    tile[threadIdx.x] = threadIdx.x;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%0, {%1}], [%2];" ::"l"(&out), "r"((int)blockIdx.x), "r"(shared32(tile)) : "memory");
        asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};" ::
                         "r"(shared32(tile)), "l"(&im), "r"(0), "r"(1), "r"(2), "r"(3), "r"(shared32(&bar)), "h"((uint16_t)1), "h"((uint16_t)0) : "memory");
        asm volatile("cp.async.bulk.prefetch.tensor.5d.L2.global.tile [%0, {%1, %1, %1, %1, %1}];" ::"l"(&im), "r"(7) : "memory");
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;" ::: "memory");
    }
}
