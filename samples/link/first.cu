// SPDX-License-Identifier: MIT
// Calls into second.cu, a table of functions, templates, shared memory, dead functions and variables.
__constant__ int ca[16];
__device__ int da[4] = {1, 2, 3, 4};
__device__ float unused[64];
extern __device__ int hb(int);
__device__ __noinline__ int dead2(int x) { return x * x + ca[0]; }
__device__ __noinline__ int dead1(int x) { return dead2(x) + 1; }
__device__ __noinline__ double ha(int x) { return hb(x) * 3.14159265358979 + ca[x & 15]; }
__global__ void main_kernel(double *p) { p[threadIdx.x] = ha(threadIdx.x) + da[1]; }
__global__ void other(int *p)
{
    __shared__ int s[32];
    s[threadIdx.x] = dead1(threadIdx.x);
    __syncthreads();
    p[0] = s[1];
}
template <class T> __global__ void tk(T *p) { p[0] = T(1); }
template __global__ void tk<int>(int *);
template __global__ void tk<float>(float *);
typedef int (*fp)(int);
__device__ __noinline__ int t1(int x) { return x + 1; }
__device__ __noinline__ int t2(int x) { return x * 7; }
__device__ fp table[2] = {t1, t2};
__global__ void ind(int *p, int k) { p[0] = table[k & 1](p[1]); }
