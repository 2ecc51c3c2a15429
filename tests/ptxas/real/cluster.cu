// SPDX-License-Identifier: MIT
// min-arch: sm_90
// Clusters and distributed shared memory, with the toolkit's cooperative groups and by hand.
#include <cooperative_groups.h>
#include <stdint.h>
namespace cg = cooperative_groups;

extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_histogram(const int *in, int *bins, int n)
{
    extern __shared__ int local[];
    cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        local[i] = 0;
    cluster.sync();
    for (int i = cluster.thread_rank() + (blockIdx.x / 4) * 4 * blockDim.x; i < n; i += gridDim.x * blockDim.x) {
        int v = in[i] & 1023;
        int *there = cluster.map_shared_rank(local, v / 256);
        atomicAdd(there + v % 256, 1);
    }
    cluster.sync();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        atomicAdd(&bins[cluster.block_rank() * 256 + i], local[i]);
}

extern "C" __global__ void cluster_by_hand(float *out, int *info)
{
    __shared__ float mine[128];
    __shared__ __align__(8) uint64_t bar;
    uint32_t rank, size, a = (uint32_t)__cvta_generic_to_shared(&mine[threadIdx.x]), there, b = (uint32_t)__cvta_generic_to_shared(&bar);
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    mine[threadIdx.x] = rank * 128 + threadIdx.x;
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(b), "r"(128));
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
    float x;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(a), "r"((rank + 1) % size));
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(x) : "r"(there) : "memory");
    asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;" ::"r"(there), "r"(1) : "memory");
    asm volatile("{ .reg .b32 rb; mapa.shared::cluster.u32 rb, %0, %1; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [rb]; }" ::"r"(b), "r"((rank + 1) % size) : "memory");
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(there), "r"(7), "r"(there + 512) : "memory");
    asm volatile("fence.acq_rel.cluster;" ::: "memory");
    out[blockIdx.x * 128 + threadIdx.x] = x;
    uint32_t cx, nx;
    uint32_t is;
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(cx));
    asm("mov.u32 %0, %%nclusterid.x;" : "=r"(nx));
    asm("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(is));
    info[0] = cx + nx * is;
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
