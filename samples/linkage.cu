// SPDX-License-Identifier: MIT
// flags: -rdc=true
// Relocatable code: visible, weak and static functions and variables, templates and inline functions as weak ones.

__device__ int public_total;
extern __device__ int defined_later;
static __constant__ int scale[2] = { 3, 5 };

inline __device__ __noinline__ int inline_step(int x) { return x * scale[x & 1] + 1; }
static __device__ __noinline__ int private_step(int x) { return x ^ defined_later; }
__device__ __noinline__ int public_step(int x) { return inline_step(x) - private_step(x); }

template <class T> __device__ T counted = 10;

template <class T>
__device__ __noinline__ T bump(T by) { return atomicAdd(&counted<T>, by); }

namespace {
__device__ unsigned hidden[4] = { 1, 2, 3, 4 };
}

extern "C" __global__ void linked(const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = public_step(in[i]) + (int)hidden[i & 3];
    bump(in[i]);
    atomicAdd(&public_total, out[i]);
}

template <int N>
__global__ void unrolled(const int *in, int *out)
{
    int sum = 0;
#pragma unroll
    for (int k = 0; k < N; k++)
        sum += in[threadIdx.x * N + k] << k;
    out[threadIdx.x] = sum;
}
template __global__ void unrolled<3>(const int *, int *);

__device__ int defined_later = 0x55;
