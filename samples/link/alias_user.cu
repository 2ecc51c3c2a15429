// SPDX-License-Identifier: MIT
// Calls functions of alias.ptx by their other names.
extern "C" __device__ int other(int);
extern "C" __device__ int dead_other(int);
__global__ void k_user(int *p) { p[0] = other(p[1]); }
__global__ void k_dead(int *p) { p[0] = dead_other(p[1]); }
