// SPDX-License-Identifier: MIT
// Asynchronous copies and several barriers: cp.async double buffering, mbarrier, producer and consumer warps.

__device__ unsigned smem(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

// Sums n tiles of 128 int4 each; the next tile is copied while this one is added.
extern "C" __global__ void pipelined_sum(const int4 *in, int tiles, int *out)
{
    __shared__ int4 buf[2][128];
    int t = threadIdx.x, sum = 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(smem(&buf[0][t])), "l"(in + t) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
#pragma unroll 1
    for (int i = 0; i < tiles; i++) {
        if (i + 1 < tiles)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                         :: "r"(smem(&buf[(i + 1) & 1][t])), "l"(in + (i + 1) * 128 + t) : "memory");
        asm volatile("cp.async.commit_group;" ::: "memory");
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        int4 v = buf[i & 1][127 - t];
        sum += v.x - v.y + v.z * 2 - v.w;
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + t] = sum;
}

// Half of the block fills a buffer, the other half empties it; barriers 1 (full) and 2 (empty) pair them.
extern "C" __global__ void __launch_bounds__(128) producer_consumer(const int *in, int *out, int rounds)
{
    __shared__ int slot[64];
    int t = threadIdx.x & 63;
    if (threadIdx.x < 64) {
        for (int r = 0; r < rounds; r++) {
            if (r > 0)
                asm volatile("bar.sync 2, 128;" ::: "memory");
            slot[t] = in[r * 64 + t] * 3;
            asm volatile("bar.arrive 1, 128;" ::: "memory");
        }
    } else {
        int sum = 0;
        for (int r = 0; r < rounds; r++) {
            asm volatile("bar.sync 1, 128;" ::: "memory");
            sum += slot[63 - t] + r;
            if (r + 1 < rounds)
                asm volatile("bar.arrive 2, 128;" ::: "memory");
        }
        out[t] = sum;
    }
}

// Two phases of an mbarrier instead of __syncthreads().
extern "C" __global__ void mbarrier_rotate(const int *in, int *out)
{
    __shared__ unsigned long long bar;
    __shared__ int data[64];
    int t = threadIdx.x;
    if (t == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 64;" :: "r"(smem(&bar)) : "memory");
    __syncthreads();
    int v = in[t];
    for (int phase = 0; phase < 2; phase++) {
        data[t] = v + phase;
        unsigned long long state;
        unsigned done = 0;
        asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(smem(&bar)) : "memory");
        while (!done)
            asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                         : "=r"(done) : "r"(smem(&bar)), "l"(state) : "memory");
        v = data[(t + 1) & 63];
        __syncthreads();
    }
    out[t] = v;
}

// Barrier number in a register: each warp pair has its own, and one reduces a predicate.
extern "C" __global__ void pair_barriers(int *data, unsigned *votes)
{
    __shared__ int s[256];
    int t = threadIdx.x, pair = t >> 6;
    s[t] = data[t];
    asm volatile("barrier.sync %0, 64;" :: "r"(pair + 1) : "memory");
    int v = s[t ^ 32];
    unsigned n;
    asm volatile("{ .reg .pred p; setp.gt.s32 p, %1, 0; bar.red.popc.u32 %0, 0, p; }" : "=r"(n) : "r"(v) : "memory");
    data[t] = v;
    votes[t] = n;
}
