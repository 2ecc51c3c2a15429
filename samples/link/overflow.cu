// SPDX-License-Identifier: MIT
// Constants of two files (-DSECOND) that overflow their bank unless those go that nothing uses. Their sizes and
// alignments differ, so that nvcc has no choice of their order. With -DPLAIN there are no static ones, and no unused
// ones with addresses: nvlink 13.0 crashes at the former, and leaves the relocations of the latter.
#ifdef PLAIN
#define STATIC
#else
#define STATIC static
#endif
extern __device__ int variable, other_variable;
#ifndef SECOND

__device__ int variable, other_variable;
__constant__ double factor = 2.5;
__constant__ int of_host[2] = {1, 2};
__constant__ char unused_letter = 3;
STATIC __constant__ short static_short = 0x1234;
__constant__ int unused_large[9000] = {4};
__constant__ int *pointers[3] = {&variable, 0, &other_variable};
__constant__ __align__(16) int strict[3] = {6, 7, 8};
#ifndef PLAIN
static __constant__ int *static_unused[2] = {&other_variable};
__global__ void k_dead(int *p) { *static_unused[p[0]] = 1; }
#endif

extern __global__ void k_second(int *);
__global__ void k_first(int *p, double *q)
{
    p[0] = static_short * 3 + strict[2];
    q[0] = factor;
    *pointers[p[2]] = *pointers[2];
}
int main()
{
    int *p, values[2] = {3, 4};
    cudaMalloc((void **)&p, 800);
    cudaMemcpyToSymbol(of_host, values, sizeof values);
    k_first<<<1, 1>>>(p, (double *)p);
    k_second<<<1, 1>>>(p);
    return cudaDeviceSynchronize();
}

#else

extern __constant__ double factor;
__constant__ int unused_word = 9;
__constant__ float table[5] = {1, 2, 3};
STATIC __constant__ char static_large[30001] = {5};
__global__ void k_second(int *p) { p[0] = static_large[p[1]] + static_large[30000] + table[4] * factor; }

#endif
