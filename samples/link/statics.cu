// SPDX-License-Identifier: MIT
// Static functions, variables and kernels. With -DSECOND, those of the same names do something else.
#ifdef SECOND
#define FACTOR 5
#define KERNEL k_statics_two
#else
#define FACTOR 3
#define KERNEL k_statics_one
#endif
static __device__ int total = FACTOR;
static __device__ int dead_total[FACTOR] = {FACTOR};
static __device__ __noinline__ int step(int x) { return x * FACTOR + total; }
static __device__ __noinline__ int dead_step(int x) { return x * FACTOR + dead_total[x & 1]; }
static __global__ void k_own(int *p) { p[0] = step(p[1]) - FACTOR; }
static __global__ void k_lost(int *p) { p[0] = dead_step(p[1]) + total; }

__global__ void KERNEL(int *p) { p[0] = step(p[1]) + total++; }
template <int N> void launch(int *p)
{
    k_own<<<1, 1>>>(p);
    k_lost<<<1, 1>>>(p);
}
template void launch<FACTOR>(int *);
