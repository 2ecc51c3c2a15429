// SPDX-License-Identifier: MIT
// Kernels that launch kernels; the host launches one of them.
__global__ void child(int *p) { p[threadIdx.x] = 7; }
__global__ void unused_child(int *p) { p[threadIdx.x] = 9; }
__global__ void parent(int *p) { child<<<1, 32>>>(p); }
__global__ void lonely(int *p) { unused_child<<<1, 32>>>(p); }

int main()
{
    int *p;
    cudaMalloc(&p, 32 * sizeof *p);
    parent<<<1, 1>>>(p);
    return cudaDeviceSynchronize();
}
