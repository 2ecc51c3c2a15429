// SPDX-License-Identifier: MIT
// Thread block clusters and bulk copies on sm_90; on older targets the same results by other means.

// Each block publishes blockDim.x values; a block reads those of its neighbour (grid = 2 blocks, a cluster).
#if __CUDA_ARCH__ >= 900
__global__ void __cluster_dims__(2, 1, 1) neighbour(const int *in, int *out)
{
    __shared__ int mine[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t, v;
    mine[t] = in[i] * 5 + 1;
    asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
    unsigned local = (unsigned)__cvta_generic_to_shared(&mine[63 - t]), rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("{ .reg .b32 far; mapa.shared::cluster.u32 far, %1, %2; ld.shared::cluster.u32 %0, [far]; }"
                 : "=r"(v) : "r"(local), "r"(rank ^ 1) : "memory");
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    out[i] = v;
}
#else
__global__ void neighbour(const int *in, int *out)
{
    int t = threadIdx.x;
    out[blockIdx.x * 64 + t] = in[(blockIdx.x ^ 1) * 64 + 63 - t] * 5 + 1;
}
#endif

// Copies 1024 bytes to shared memory, in one bulk copy if the target has it.
extern "C" __global__ void bulk_reverse(const int4 *in, int4 *out)
{
    __shared__ __align__(128) int4 tile[64];
    int t = threadIdx.x;
#if __CUDA_ARCH__ >= 900
    __shared__ unsigned long long bar;
    unsigned b = (unsigned)__cvta_generic_to_shared(&bar), dst = (unsigned)__cvta_generic_to_shared(tile), done = 0;
    if (t == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n\tfence.mbarrier_init.release.cluster;" :: "r"(b) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" :: "r"(b) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];"
                     :: "r"(dst), "l"(in), "r"(b) : "memory");
    }
    __syncthreads();
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(b) : "memory");
#else
    tile[t] = in[t];
    __syncthreads();
#endif
    int4 v = tile[63 - t];
    out[t] = make_int4(v.w, v.z, v.y, v.x);
}
