// SPDX-License-Identifier: MIT
// Functions and kernels in turn, so many that wrong offsets in the unwind data for sm_90 are those of other entries.
#define PAIR(N) \
    __device__ __noinline__ int f##N(int x) { return x * N + 1; } \
    __global__ void k##N(int *p) { p[0] = f##N(p[1]) + N; }
PAIR(1) PAIR(2) PAIR(3) PAIR(4) PAIR(5) PAIR(6) PAIR(7) PAIR(8)
