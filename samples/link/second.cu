// SPDX-License-Identifier: MIT
// Functions for first.cu, and dead ones.
__device__ __noinline__ int hb(int x) { return x - 5; }
__device__ __noinline__ int lonely(int x) { return x ^ 3; }
__global__ void bk(int *p) { p[0] = hb(p[1]); }
