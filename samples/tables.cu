// SPDX-License-Identifier: MIT
// Module data: initializers of every kind, addresses of variables and functions, managed and constant memory.

struct Entry { short key; double weight; const char *label; int pair[2]; };

__device__ int counter = 5;
__device__ unsigned char bytes[] = "ori\001\377";
__device__ int grid2d[3][4] = { { 1, 2, 3, 4 }, { -1, -2 }, { 7 } };
__device__ float floats[4] = { 1.5f, -0.0f, 1e-40f, 3.402823466e38f };
__device__ double pi = 3.14159265358979323846;
__device__ long long wide[2] = { -1, 0x123456789abcdef0ll };
__device__ __align__(32) int aligned_data[8];
__device__ bool ready;
__device__ float4 quad = { 1.0f, 2.0f, 3.0f, 4.0f };

__device__ int twice(int x) { return 2 * x; }
__device__ int square(int x) { return x * x; }

__device__ int *second_row = &grid2d[1][0];
__device__ int **indirect = &second_row;
__device__ int (*unary[3])(int) = { twice, square, twice };

__constant__ int primes[8] = { 2, 3, 5, 7, 11, 13, 17, 19 };
__constant__ double powers[4] = { 1.0, 0.5, 0.25, 1e-300 };
__constant__ Entry entries[2] = { { 3, 0.75, "abc", { 8, 9 } }, { -7, 1e10, "xyz", { 10, 11 } } };
__constant__ int *where = &counter;
__constant__ signed char signs[2][2][3] = { { { 1, -1, 1 }, { 0, 0, 1 } }, { { -1, -1, -1 }, { 5, 6, 7 } } };

__managed__ int shared_with_host = 42;
__device__ const unsigned short lookup[6] = { 1, 10, 100, 1000, 10000, 65535 };

extern "C" __global__ void read_tables(long long *out)
{
    int i = threadIdx.x;
    long long v = grid2d[i % 3][i & 3] + primes[i & 7] + bytes[i % 6] + lookup[i % 6];
    v += (long long)(powers[i & 3] * 1024.0) + (long long)floats[i & 1] + wide[i & 1];
    const Entry *e = &entries[i & 1];
    v += e->key + (long long)e->weight + e->label[i % 3] + e->pair[i >> 1 & 1];
    v += signs[i & 1][i >> 1 & 1][i % 3] + (long long)(pi * 1000) + *where + shared_with_host;
    v += (*indirect)[i & 3] + unary[i % 3](i) + (long long)quad.z + ready;
    out[i] = v;
}

extern "C" __global__ void write_tables(int by)
{
    int i = threadIdx.x;
    if (i < 8)
        aligned_data[i] = i * by;
    __syncthreads();
    if (i == 0) {
        atomicAdd(&counter, by);
        atomicAdd(where, 1);
        second_row = &grid2d[2][0];
        second_row[1] = by;
        shared_with_host += by;
        ready = true;
        quad.w = quad.x + by;
    }
}
