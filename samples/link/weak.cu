// SPDX-License-Identifier: MIT
// A weak function that is larger, and calls another one, with -DSECOND.
#ifdef SECOND
__device__ __noinline__ int only(int x) { return x * 31; }
__global__ void of_only(int *p) { p[0] = only(p[1]); }
#define KERNEL k_second
#define BODY only(x) + x *x
#else
#define KERNEL k_first
#define BODY x + 1
#endif
template <class T> __device__ __noinline__ T weak(T x) { return BODY; }

__global__ void KERNEL(int *p) { p[0] = weak(p[1]); }
