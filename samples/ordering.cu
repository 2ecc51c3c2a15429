// SPDX-License-Identifier: MIT
// Memory order: volatile, fences, acquire and release, the last block sums up, read-only and cached loads.

__device__ unsigned blocks_done;

// Each block leaves a partial sum; the block that finishes last adds them all up.
extern "C" __global__ void last_block_sum(const int *in, volatile int *partial, int *total)
{
    __shared__ int s[64];
    __shared__ bool last;
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    for (int h = 32; h > 0; h >>= 1) {
        if (t < h)
            s[t] += s[t + h];
        __syncthreads();
    }
    if (t == 0) {
        partial[blockIdx.x] = s[0];
        __threadfence();
        last = atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        int sum = 0;
        for (unsigned b = 0; b < gridDim.x; b++)
            sum += partial[b];
        *total = sum;
    }
}

// Warp 0 writes and releases a flag in shared memory, warp 1 acquires it.
extern "C" __global__ void message(const int *in, int *out, int *flag)
{
    __shared__ int box[32];
    int t = threadIdx.x & 31, seen = 0;
    if (threadIdx.x < 32) {
        box[t] = in[t] + 1;
        __syncwarp();
        if (t == 0)
            asm volatile("fence.acq_rel.gpu;\n\tst.release.gpu.global.u32 [%0], 1;" :: "l"(flag) : "memory");
    } else {
        do
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        while (seen == 0);
        out[t] = box[31 - t];
    }
}

extern "C" __global__ void cache_modes(const int *__restrict__ a, const double2 *b, int *out, const volatile short *v)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = __ldg(&a[i]) + __ldca(&a[i + 1]) + __ldcg(&a[i + 2]) + __ldcs(&a[i + 3]) + __ldcv(&a[i + 4]) + __ldlu(&a[i + 5]);
    double2 d = __ldg(&b[i]);
    sum += (int)d.x - (int)d.y + v[i] * v[i];
    int relaxed;
    asm volatile("ld.relaxed.sys.global.s32 %0, [%1];" : "=r"(relaxed) : "l"(a + i) : "memory");
    asm volatile("prefetch.global.L2 [%0];" :: "l"(a + i));
    __stcs(&out[2 * i], sum);
    __stwt(&out[2 * i + 1], relaxed);
    __threadfence_block();
    __threadfence_system();
}
