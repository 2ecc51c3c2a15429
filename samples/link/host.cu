// SPDX-License-Identifier: MIT
// Launches one kernel of first.cu.
#include <cstdio>
extern __global__ void main_kernel(double *);
__global__ void bk(int *);
int main()
{
    double *p;
    cudaMalloc(&p, 800);
    main_kernel<<<1, 32>>>(p);
    return cudaDeviceSynchronize();
}
