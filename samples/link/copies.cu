// SPDX-License-Identifier: MIT
// Weak functions and tables that shapes.cu has, too.
struct B {
    __device__ virtual int v(int x) { return x + 1; }
};
struct D : B {
    __device__ int v(int x) override { return x * 3; }
};
template <class T> __device__ __noinline__ T tf(T x) { return x + x; }

__global__ void k_copies(int *p)
{
    B *b = p[1] ? new D : new B;
    p[0] = b->v(p[2]) + tf(p[3]);
}
