// SPDX-License-Identifier: MIT
// Virtual functions, tables, recursion, printf, managed and static variables, templates. The host launches the kernel
// LAUNCH.
#include <cstdio>
#ifndef LAUNCH
#define LAUNCH k_static
#endif
struct B {
    __device__ virtual int v(int x) { return x + 1; }
};
struct D : B {
    __device__ int v(int x) override { return x * 3; }
};
__device__ __noinline__ int leaf(int x) { return x * 5; }
__device__ int cb1(int x) { return leaf(x) + 1; }
__device__ int cb2(int x) { return x - 2; }
typedef int (*F)(int);
__device__ F live_table[2] = {cb1, cb2};
__device__ __noinline__ int rec(int n) { return n < 2 ? 1 : n * rec(n - 1); }
__device__ int odd(int);
__device__ __noinline__ int even(int n) { return n == 0 ? 1 : odd(n - 1); }
__device__ __noinline__ int odd(int n) { return n == 0 ? 0 : even(n - 1); }
__global__ void k_virt(int *p)
{
    D d;
    B *b = &d;
    if (p[1])
        b = new D;
    p[0] = b->v(p[2]);
}
__global__ void k_tab(int *p) { p[0] = live_table[p[1] & 1](p[2]); }
__global__ void k_rec(int *p) { p[0] = rec(p[1]) + even(p[2]); }
__global__ void k_print(int *p) { printf("hello %d %s\n", p[0], "x"); }
__managed__ int mg = 3;
__constant__ float cf[8] = {1, 2};
__device__ int arr[100];
__global__ void k_m(int *p) { p[0] = mg + (int)cf[p[1]]; }
static __global__ void k_static(int *p) { p[0] = arr[p[1]]; }
template <class T> __device__ __noinline__ T tf(T x) { return x + x; }
__global__ void k_t1(int *p) { p[0] = tf(p[1]); }
__shared__ int of_the_file[16];
__global__ void k_shared(int *p)
{
    of_the_file[threadIdx.x & 15] = p[1];
    __syncthreads();
    p[0] = of_the_file[3];
}
int main()
{
    int *p = 0;
    LAUNCH<<<1, 1>>>(p);
    return 0;
}
