// SPDX-License-Identifier: MIT
// Constants between unused ones, and constants of the compiler in functions that kernels share.
__constant__ int unused_first[7];
__constant__ int table[4] = {1, 2, 3, 4};
__constant__ float unused_between[16];
__constant__ double scale[4] = {1.5};
__device__ __noinline__ double shared_by_two(int x) { return x * 3.14159265358979 + scale[1]; }
__device__ __noinline__ double of_one(int x) { return x * 2.71828182845904 + 1.234567890123; }
__device__ double (*functions[2])(int) = {of_one, of_one};

extern "C" __global__ void near(int *p, double *q)
{
    p[0] = table[p[1]] + table[2];
    q[0] = shared_by_two(p[2]) * 1.2345678901234;
    q[1] = *(&scale[p[3]]);
}
extern "C" __global__ void far(int *p, double *q) { q[0] = of_one(p[2]) + shared_by_two(p[1]) * 9.87654321012345; }
extern "C" __global__ void apart(int *p, double *q) { q[0] = functions[p[0] & 1](p[2]); }
