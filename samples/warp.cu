// SPDX-License-Identifier: MIT
// Warp-level primitives: ballot, any, all, match, redux, activemask, compaction, named lanes.

// Stable compaction of the non-zero inputs of each warp; counts[warp] is their number.
extern "C" __global__ void compact(const int *in, int *out, int *counts)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    int v = in[i];
    unsigned keep = __ballot_sync(0xffffffffu, v != 0);
    if (v != 0)
        out[(i & ~31) + __popc(keep & ((1u << lane) - 1))] = v;
    if (lane == 0)
        counts[i >> 5] = __popc(keep);
}

// Lanes with equal keys find each other; the lowest lane of each group writes its size.
extern "C" __global__ void group_sizes(const int *key, const long long *key64, int *size, int *uniform)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, same;
    unsigned peers = __match_any_sync(0xffffffffu, key[i]);
    unsigned peers64 = __match_any_sync(0xffffffffu, key64[i]);
    __match_all_sync(0xffffffffu, key[i], &same);
    bool leader = __ffs(peers) - 1 == lane;
    size[i] = (leader ? __popc(peers) : 0) | __popc(peers64) << 8;
    uniform[i] = same;
}

extern "C" __global__ void warp_redux(const unsigned *in, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, warp = i >> 5;
    unsigned v = in[i], all = 0xffffffffu;
    unsigned sum = __reduce_add_sync(all, v), lo = __reduce_min_sync(all, v), hi = __reduce_max_sync(all, v);
    unsigned a = __reduce_and_sync(all, v), o = __reduce_or_sync(all, v), x = __reduce_xor_sync(all, v);
    int smin = __reduce_min_sync(all, (int)v), any = __any_sync(all, v > 1000), every = __all_sync(all, v > 10);
    if ((threadIdx.x & 31) == 0) {
        uint2 *o2 = reinterpret_cast<uint2 *>(out + warp * 10);
        o2[0] = make_uint2(sum, lo);
        o2[1] = make_uint2(hi, a);
        o2[2] = make_uint2(o, x);
        o2[3] = make_uint2((unsigned)smin, (unsigned)any);
        o2[4] = make_uint2((unsigned)every, warp);
    }
}

// Aggregated atomic: the active lanes elect one of them to add for all; tickets are distinct.
extern "C" __global__ void tickets(const int *in, int *counter, int *ticket)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    ticket[i] = -1;
    if (in[i] % 3 == 0) {
        unsigned active = __activemask();
        int leader = __ffs(active) - 1, base = 0;
        if (lane == leader)
            base = atomicAdd(counter, __popc(active));
        base = __shfl_sync(active, base, leader);
        ticket[i] = base + __popc(active & ((1u << lane) - 1));
    }
}

// Warp transpose of 8-byte and float values by rotating shuffles.
template <class T>
__global__ void rotate_lanes(const T *in, T *out, int by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    T v = in[i];
    T w = __shfl_sync(0xffffffffu, v, (threadIdx.x + by) & 31);
    __syncwarp();
    out[i] = __shfl_down_sync(0xffffffffu, w, 3, 8);
}
template __global__ void rotate_lanes<double>(const double *, double *, int);
template __global__ void rotate_lanes<float>(const float *, float *, int);
