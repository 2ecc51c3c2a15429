// SPDX-License-Identifier: MIT
// Launches the kernel LAUNCH of first.cu or second.cu, which has an argument of the type TYPE *.
#include <cstdio>
#ifndef LAUNCH
#define LAUNCH main_kernel
#define TYPE double
#endif
extern __global__ void LAUNCH(TYPE *);
int main()
{
    TYPE *p;
    cudaMalloc(&p, 800);
    LAUNCH<<<1, 32>>>(p);
    return cudaDeviceSynchronize();
}
