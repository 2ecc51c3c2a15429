// SPDX-License-Identifier: MIT
// Functions that call themselves or each other: those of a kernel, and those that only they call.
__device__ __noinline__ int self(int n) { return n < 2 ? 1 : n * self(n - 1) + 1; }
__device__ __noinline__ int dead_self(int n) { return n < 3 ? 1 : n * dead_self(n - 2) + 1; }
__device__ int pong(int);
__device__ int dead_pong(int);
__device__ __noinline__ int ping(int n) { return n == 0 ? 1 : pong(n - 1) * 3; }
__device__ __noinline__ int pong(int n) { return n == 0 ? 0 : ping(n - 1) * 5; }
__device__ __noinline__ int dead_ping(int n) { return n == 0 ? 1 : dead_pong(n - 1) * 7; }
__device__ __noinline__ int dead_pong(int n) { return n == 0 ? 0 : dead_ping(n - 1) + dead_self(n); }

__global__ void k_self(int *p) { p[0] = self(p[1]); }
__global__ void k_mutual(int *p) { p[0] = ping(p[1]); }
