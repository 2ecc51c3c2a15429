// SPDX-License-Identifier: MIT
// Inclusive prefix sums of one block (up to 1024 elements), and a segmented variant.

__device__ unsigned warp_scan(unsigned v, int lane)
{
    for (int d = 1; d < 32; d <<= 1) {
        unsigned up = __shfl_up_sync(0xffffffffu, v, d);
        if (lane >= d)
            v += up;
    }
    return v;
}

extern "C" __global__ void scan_inclusive(const unsigned *in, unsigned *out, int n)
{
    __shared__ unsigned carry[32];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    unsigned v = warp_scan(t < n ? in[t] : 0, lane);
    if (lane == 31)
        carry[warp] = v;
    __syncthreads();
    if (warp == 0) {
        unsigned c = lane < (int)(blockDim.x >> 5) ? carry[lane] : 0;
        carry[lane] = warp_scan(c, lane);
    }
    __syncthreads();
    if (warp > 0)
        v += carry[warp - 1];
    if (t < n)
        out[t] = v;
}

// Hillis-Steele in two halves of dynamic shared memory (2 * blockDim.x elements).
extern __shared__ unsigned long long ping_pong[];

extern "C" __global__ void scan_exclusive64(const unsigned long long *in, unsigned long long *out)
{
    int t = threadIdx.x, n = blockDim.x, from = 0;
    ping_pong[t] = t > 0 ? in[t - 1] : 0;
    __syncthreads();
    for (int d = 1; d < n; d <<= 1) {
        int to = n - from;
        ping_pong[to + t] = ping_pong[from + t] + (t >= d ? ping_pong[from + t - d] : 0);
        from = to;
        __syncthreads();
    }
    out[t] = ping_pong[from + t];
}

// Segmented sum: heads[i] != 0 starts a new segment; one warp.
extern "C" __global__ void scan_segmented(const int *in, const unsigned char *heads, int *out)
{
    int lane = threadIdx.x & 31;
    unsigned starts = __ballot_sync(0xffffffffu, heads[lane] != 0) | 1u;
    int first = 31 - __clz(starts & (0xffffffffu >> (31 - lane)));
    int v = in[lane];
    for (int d = 1; d < 32; d <<= 1) {
        int up = __shfl_up_sync(0xffffffffu, v, d);
        if (lane - d >= first)
            v += up;
    }
    out[lane] = v;
}
