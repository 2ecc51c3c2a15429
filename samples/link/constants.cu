// SPDX-License-Identifier: MIT
// Constants, dead ones in front of live ones; code reads them by fields of instructions and by address.
#include <cstdio>
__constant__ int dead_first[9] = {1};
__constant__ int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__constant__ double dead_second[5] = {2};
__constant__ double factor = 2.5;
__constant__ char dead_third = 3;
__constant__ float of_host[4];
__constant__ int last[3] = {7, 8, 9};
__device__ int dead_variable[5];
__device__ int results[4];

__device__ __noinline__ double scaled(int x) { return x * factor + table[x & 7]; }
__global__ void k_fixed(int *p) { p[0] = table[2] + last[1] * table[7]; }
__global__ void k_index(int *p) { p[0] = last[p[1]] + table[p[2]]; }
__global__ void k_call(double *p) { p[0] = scaled(threadIdx.x) + of_host[3]; }
__global__ void k_pointer(int *p)
{
    const int *q = p[1] ? table : last;
    results[1] = q[p[2]];
}
__global__ void k_dead(int *p) { p[0] = dead_first[p[1]] + (int)dead_second[p[2]] + dead_third + dead_variable[p[3]]; }

int main()
{
    double *p;
    float values[4] = {0};
    cudaMalloc(&p, 800);
    cudaMemcpyToSymbol(of_host, values, sizeof values);
    k_call<<<1, 32>>>(p);
    k_pointer<<<1, 1>>>((int *)p);
    return cudaDeviceSynchronize();
}
