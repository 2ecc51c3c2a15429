// SPDX-License-Identifier: MIT
// quick: no
// Block-wide reduce, scan, exchange and radix sort of cub.
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>

extern "C" __global__ void block_sum(const int *in, int *out, int n)
{
    using Reduce = cub::BlockReduce<int, 128>;
    __shared__ typename Reduce::TempStorage temp;
    int x = 0;
    for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128)
        x += in[i];
    int sum = Reduce(temp).Sum(x);
    if (threadIdx.x == 0)
        out[blockIdx.x] = sum;
}

struct Longest {
    __device__ double operator()(double a, double b) const { return fabs(a) > fabs(b) ? a : b; }
};

extern "C" __global__ void block_reduce_op(const double *in, double *out, int valid)
{
    using Reduce = cub::BlockReduce<double, 256, cub::BLOCK_REDUCE_RAKING>;
    __shared__ typename Reduce::TempStorage temp;
    double r = Reduce(temp).Reduce(in[threadIdx.x], Longest(), valid);
    if (threadIdx.x == 0)
        out[0] = r;
}

extern "C" __global__ void block_scan(const float *in, float *out, float *total)
{
    using Scan = cub::BlockScan<float, 128>;
    using Load = cub::BlockLoad<float, 128, 4, cub::BLOCK_LOAD_TRANSPOSE>;
    using Store = cub::BlockStore<float, 128, 4, cub::BLOCK_STORE_TRANSPOSE>;
    __shared__ union {
        typename Scan::TempStorage scan;
        typename Load::TempStorage load;
        typename Store::TempStorage store;
    } temp;
    float x[4], sum;
    Load(temp.load).Load(in + blockIdx.x * 512, x);
    __syncthreads();
    Scan(temp.scan).ExclusiveSum(x, x, sum);
    __syncthreads();
    Store(temp.store).Store(out + blockIdx.x * 512, x);
    if (threadIdx.x == 0)
        total[blockIdx.x] = sum;
}

extern "C" __global__ void block_sort(unsigned *keys, int *values)
{
    using Sort = cub::BlockRadixSort<unsigned, 128, 4, int>;
    __shared__ typename Sort::TempStorage temp;
    unsigned k[4];
    int v[4];
    for (int i = 0; i < 4; i++) {
        k[i] = keys[threadIdx.x * 4 + i];
        v[i] = values[threadIdx.x * 4 + i];
    }
    Sort(temp).SortBlockedToStriped(k, v, 3, 27);
    for (int i = 0; i < 4; i++) {
        keys[threadIdx.x + 128 * i] = k[i];
        values[threadIdx.x + 128 * i] = v[i];
    }
}
