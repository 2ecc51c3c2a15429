// SPDX-License-Identifier: MIT
// quick: no
// Warp-wide cub: merge sort, scan and reduce; adjacent difference, histogram, run-length decode of a block.
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

struct Less {
    template <class T> __device__ bool operator()(const T &a, const T &b) const { return a < b; }
};

extern "C" __global__ void warp_sort(long long *keys)
{
    using Sort = cub::WarpMergeSort<long long, 3, 32>;
    __shared__ typename Sort::TempStorage temp[4];
    long long k[3];
    for (int i = 0; i < 3; i++)
        k[i] = keys[threadIdx.x * 3 + i];
    Sort(temp[threadIdx.x / 32]).Sort(k, Less());
    for (int i = 0; i < 3; i++)
        keys[threadIdx.x * 3 + i] = k[i];
}

extern "C" __global__ void warp_scan(short *x, unsigned *y)
{
    using Scan = cub::WarpScan<unsigned, 16>;
    using Reduce = cub::WarpReduce<unsigned>;
    __shared__ typename Scan::TempStorage ts[8];
    __shared__ typename Reduce::TempStorage tr[4];
    unsigned in, ex;
    Scan(ts[threadIdx.x / 16]).Scan(y[threadIdx.x], in, ex, 0u, cuda::std::plus<>());
    unsigned s = Reduce(tr[threadIdx.x / 32]).HeadSegmentedSum(in, threadIdx.x % 7 == 0);
    x[threadIdx.x] = (short)(s ^ ex);
    y[threadIdx.x] = s;
}

extern "C" __global__ void block_misc(unsigned char *bytes, unsigned *bins, int *flags)
{
    using Hist = cub::BlockHistogram<unsigned char, 128, 4, 256, cub::BLOCK_HISTO_SORT>;
    using Disc = cub::BlockDiscontinuity<unsigned char, 128>;
    using Diff = cub::BlockAdjacentDifference<int, 128>;
    __shared__ union {
        typename Hist::TempStorage hist;
        typename Disc::TempStorage disc;
        typename Diff::TempStorage diff;
    } temp;
    __shared__ unsigned local[256];
    unsigned char b[4];
    int f[4], d[4];
    for (int i = 0; i < 4; i++)
        b[i] = bytes[threadIdx.x * 4 + i];
    Disc(temp.disc).FlagHeads(f, b, cuda::std::not_equal_to<>());
    __syncthreads();
    Diff(temp.diff).SubtractLeft(f, d, cuda::std::minus<>());
    __syncthreads();
    Hist(temp.hist).Histogram(b, local);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += 128)
        atomicAdd(bins + i, local[i]);
    for (int i = 0; i < 4; i++)
        flags[threadIdx.x * 4 + i] = d[i];
}

extern "C" __global__ void block_merge(float *keys, int *vals)
{
    using Sort = cub::BlockMergeSort<float, 128, 2, int>;
    __shared__ typename Sort::TempStorage temp;
    float k[2] = {keys[threadIdx.x * 2], keys[threadIdx.x * 2 + 1]};
    int v[2] = {vals[threadIdx.x * 2], vals[threadIdx.x * 2 + 1]};
    Sort(temp).StableSort(k, v, Less());
    keys[threadIdx.x * 2] = k[0];
    keys[threadIdx.x * 2 + 1] = k[1];
    vals[threadIdx.x * 2] = v[0];
    vals[threadIdx.x * 2 + 1] = v[1];
}
