// SPDX-License-Identifier: MIT
// Block-wide reductions: shuffles inside a warp, shared memory between warps, one atomic per block.

struct Sum { template <class T> __device__ T operator()(T a, T b) const { return a + b; } };
struct Max { template <class T> __device__ T operator()(T a, T b) const { return a > b ? a : b; } };
struct Xor { template <class T> __device__ T operator()(T a, T b) const { return a ^ b; } };

template <class T, class Op>
__device__ T warp_reduce(T v, Op op)
{
    for (int d = 16; d > 0; d >>= 1)
        v = op(v, __shfl_xor_sync(0xffffffffu, v, d));
    return v;
}

// Every thread gets a stride of the input; blockDim.x must be a multiple of 32.
template <class T, class Op>
__global__ void reduce(const T *in, int n, T *out, T neutral)
{
    __shared__ T part[32];
    Op op;
    T v = neutral;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        v = op(v, in[i]);
    v = warp_reduce(v, op);
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    if (lane == 0)
        part[warp] = v;
    __syncthreads();
    if (warp == 0) {
        v = lane < (int)(blockDim.x >> 5) ? part[lane] : neutral;
        v = warp_reduce(v, op);
        if (lane == 0)
            out[blockIdx.x] = v;
    }
}

template __global__ void reduce<int, Sum>(const int *, int, int *, int);
template __global__ void reduce<int, Max>(const int *, int, int *, int);
template __global__ void reduce<unsigned long long, Xor>(const unsigned long long *, int, unsigned long long *, unsigned long long);

// Tree reduction in dynamic shared memory (blockDim.x ints), any power of two as block size.
extern "C" __global__ void reduce_tree(const int *in, int n, int *total)
{
    extern __shared__ int tree[];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    tree[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int half = blockDim.x >> 1; half > 0; half >>= 1) {
        if (t < half)
            tree[t] += tree[t + half];
        __syncthreads();
    }
    if (t == 0)
        atomicAdd(total, tree[0]);
}
