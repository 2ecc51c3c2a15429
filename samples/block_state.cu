// SPDX-License-Identifier: MIT
// State of a block in one shared structure that kernels and functions use, with diagnostics that only a debugger reads.

// A step of a block, for a debugger.
struct Checkpoint {
    float4 detail;
    unsigned long long total, owner;
    int value, step;
};

struct BlockState {
    unsigned long long total;  // sum of the squares
    int low, high;             // extreme values
    unsigned above;            // number of values above the limit
    int limit;
    // Diagnostics.
    unsigned magic, kernel;
    unsigned long long first_warp_total;
    int first_value, last_value;
    unsigned done[2];
    unsigned char phase;
    Checkpoint log[16];
    // Warps: results, and what they have seen.
    unsigned long long totals[32];
    int seen[32];
    int2 extremes[32];
};

__shared__ BlockState block_state;

struct Extremes { int low, high; };

__device__ void begin_block(int limit, unsigned kernel)
{
    block_state.magic = 0xb10c57a7u;
    block_state.kernel = kernel;
    block_state.phase = 1;
    block_state.limit = limit;
    block_state.above = 0;
    block_state.done[0] = block_state.done[1] = 0;
    block_state.log[0] = { make_float4(0.0f, 1.0f, 2.0f, 3.0f), 0, kernel * 0x100000001ull, limit, 0 };
}

// Notes what a warp has seen, for a debugger.
__device__ __noinline__ void note_warp(unsigned warp, int seen)
{
    block_state.seen[warp & 31] = seen;
}

__device__ __noinline__ void end_block(int first, int last)
{
    block_state.first_value = first;
    block_state.last_value = last;
    block_state.phase = 3;
    block_state.done[1] = 1;
}

__device__ unsigned long long warp_total(unsigned long long v)
{
    for (int step = 16; step > 0; step /= 2)
        v += __shfl_xor_sync(0xffffffffu, v, step);
    return v;
}

__device__ Extremes warp_extremes(Extremes e)
{
    for (int step = 16; step > 0; step /= 2) {
        e.low = min(e.low, __shfl_xor_sync(0xffffffffu, e.low, step));
        e.high = max(e.high, __shfl_xor_sync(0xffffffffu, e.high, step));
    }
    return e;
}

// Sum of the squares, and the number of values above the limit. The block has whole warps.
extern "C" __global__ void block_squares(const int *in, int n, int limit, unsigned long long *sums, unsigned *counts)
{
    unsigned t = threadIdx.x, warp = t / 32 & 31, i = blockIdx.x * blockDim.x + t;
    if (t == 0)
        begin_block(limit, 1);
    __syncthreads();
    long long v = i < n ? in[i] : 0;
    if (v > block_state.limit)
        atomicAdd(&block_state.above, 1u);
    unsigned long long total = warp_total((unsigned long long)(v * v));
    if (t % 32 == 0) {
        block_state.totals[warp] = total;
        note_warp(warp, (int)v);
    }
    __syncthreads();
    if (warp == 0) {
        unsigned long long part = t < blockDim.x / 32 ? block_state.totals[t & 31] : 0;
        part = warp_total(part);
        if (t == 0) {
            block_state.total = part;
            block_state.first_warp_total = total;
            block_state.phase = 2;
            block_state.log[1].total = part;
            block_state.log[1].step = 1;
            block_state.log[2].detail = make_float4((float)v, (float)total, (float)part, 0.0f);
        }
    }
    __syncthreads();
    if (t == blockDim.x - 1) {
        sums[blockIdx.x] = block_state.total;
        counts[blockIdx.x] = block_state.above;
        end_block((int)v, (int)(v >> 1));
    }
}

// Distance of each value from the middle of the block's extremes, at most the limit.
extern "C" __global__ void block_center(const int *in, int n, int limit, int *out)
{
    unsigned t = threadIdx.x, warp = t / 32 & 31, i = blockIdx.x * blockDim.x + t;
    if (t == 0)
        begin_block(limit, 2);
    int v = in[i < n ? i : n - 1];
    Extremes e = warp_extremes({ v, v });
    if (t % 32 == 0) {
        block_state.extremes[warp] = make_int2(e.low, e.high);
        note_warp(warp, v);
    }
    __syncthreads();
    if (warp == 0) {
        int2 x = block_state.extremes[t < blockDim.x / 32 ? t & 31 : 0];
        e = warp_extremes({ x.x, x.y });
        if (t == 0) {
            block_state.low = e.low;
            block_state.high = e.high;
            block_state.log[3].value = x.x;
            block_state.log[3].step = x.y;
            block_state.log[4].detail = make_float4((float)e.low, (float)e.high, (float)x.x, (float)x.y);
            block_state.log[15].owner = 3;
        }
    }
    __syncthreads();
    int middle = (block_state.low >> 1) + (block_state.high >> 1);
    if (i < n)
        out[i] = max(-block_state.limit, min(v - middle, block_state.limit));
    if (t == 0)
        end_block(v, middle);
}
