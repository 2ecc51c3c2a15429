// SPDX-License-Identifier: MIT
// Kernels whose mangled names begin alike. The host launches one of each kind.
#include <cstdio>
__device__ __noinline__ int of_float(int x) { return x * 3; }
__device__ __noinline__ int of_longer_name(int x) { return x * 5; }
__global__ void k(int *p) { p[0] = 1; }
__global__ void k(float *p) { p[0] = of_float((int)p[1]); }
__global__ void k(int *p, float x) { p[0] = (int)x; }
__global__ void kk(int *p) { p[0] = of_longer_name(p[1]); }
template <class T> __global__ void kt(T *p) { p[0] = T(2); }
template __global__ void kt<float>(float *);

int main()
{
    int *p;
    cudaMalloc(&p, 800);
    k<<<1, 1>>>(p);
    kt<<<1, 1>>>(p);
    return cudaDeviceSynchronize();
}
