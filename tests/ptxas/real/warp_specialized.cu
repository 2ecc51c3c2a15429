// SPDX-License-Identifier: MIT
// min-arch: sm_90a
// quick: no
// Producer and consumer warpgroups: setmaxnreg, elect, named barriers, mbarrier rings, griddepcontrol.
#include <stdint.h>

__device__ static inline uint32_t shared32(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

__device__ static inline bool elect()
{
    uint32_t ok;
    asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.b32 %0, 1, 0, p; }" : "=r"(ok));
    return ok;
}

__device__ static inline void acquire(uint32_t bar, uint32_t phase)
{
    uint32_t ok;
    do {
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2, 1000; selp.u32 %0, 1, 0, p; }"
                     : "=r"(ok) : "r"(bar), "r"(phase) : "memory");
    } while (!ok);
}

extern "C" __global__ void __launch_bounds__(384, 1) warp_specialized(const float *in, float *out, int tiles)
{
    __shared__ __align__(128) float ring[4][256];
    __shared__ __align__(8) uint64_t full[4], empty[4];
    int group = threadIdx.x / 128;
    if (threadIdx.x < 4) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared32(&full[threadIdx.x])));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 256;" ::"r"(shared32(&empty[threadIdx.x])));
        asm volatile("fence.mbarrier_init.release.cluster;");
    }
    __syncthreads();
    asm volatile("griddepcontrol.wait;" ::: "memory");
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
        if (threadIdx.x < 32 && elect())
            for (int t = 0; t < tiles; t++) {
                int s = t % 4;
                if (t >= 4)
                    acquire(shared32(&empty[s]), (t / 4 - 1) & 1);
                asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(shared32(&full[s])), "r"(1024) : "memory");
                asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared32(ring[s])), "l"(in + t * 256), "r"(1024), "r"(shared32(&full[s])) : "memory");
            }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
        float acc = 0;
        for (int t = 0; t < tiles; t++) {
            int s = t % 4;
            acquire(shared32(&full[s]), (t / 4) & 1);
            acc += ring[s][threadIdx.x - 128];
            asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared32(&empty[s])) : "memory");
        }
        asm volatile("bar.sync %0, 256;" ::"r"(1));
        asm volatile("bar.arrive %0, %1;" ::"r"(group + 1), "r"(256));
        out[blockIdx.x * 256 + threadIdx.x - 128] = acc;
        asm volatile("griddepcontrol.launch_dependents;");
    }
}
