// SPDX-License-Identifier: MIT
// Indirect calls by way of a variable of the other file. With -DSECOND, the variable and the functions; both kinds of
// records name the signatures of these.
typedef int (*Op)(int);
typedef float (*Mix)(float, int);
#ifdef SECOND
__device__ __noinline__ int first_op(int x) { return x * 3 + 1; }
__device__ __noinline__ int other_op(int x) { return x * 5 + 1; }
__device__ __noinline__ float mix_op(float a, int b) { return a * b; }
__device__ __noinline__ float dead_mix(float a, int b) { return a + b; }
__device__ Op op = first_op;
__device__ Mix mix = mix_op;
__global__ void k_choose(int *p) { op = p[0] ? other_op : first_op; }
__global__ void k_direct(float *p) { p[0] = dead_mix(p[1], 3) + mix_op(p[2], 4); }
#else
extern __device__ Op op;
extern __device__ Mix mix;
extern __device__ int other_op(int);
__global__ void k_op(int *p) { p[0] = op(p[1]); }
__global__ void k_mix(float *p) { p[0] = mix(p[1], 2); }
__global__ void k_both(int *p) { p[0] = op(p[1]) + other_op(p[2]); }
#endif
