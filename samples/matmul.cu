// SPDX-License-Identifier: MIT
// Tiled matrix product C = A * B, square matrices whose side is a multiple of the tile.

template <class T> __device__ T madd(T a, T b, T c) { return a * b + c; }
template <> __device__ float madd(float a, float b, float c) { return __fmaf_rn(a, b, c); }
template <> __device__ double madd(double a, double b, double c) { return __fma_rn(a, b, c); }

template <class T, int TILE>
__global__ void __launch_bounds__(TILE * TILE) matmul(const T *a, const T *b, T *c, int n)
{
    __shared__ T sa[TILE][TILE + 1];
    __shared__ T sb[TILE][TILE + 1];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * TILE + y, col = blockIdx.x * TILE + x;
    T sum = 0;
    for (int k0 = 0; k0 < n; k0 += TILE) {
        sa[y][x] = a[row * n + k0 + x];
        sb[y][x] = b[(k0 + y) * n + col];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; k++)
            sum = madd(sa[y][k], sb[k][x], sum);
        __syncthreads();
    }
    c[row * n + col] = sum;
}

template __global__ void matmul<int, 8>(const int *, const int *, int *, int);
template __global__ void matmul<float, 16>(const float *, const float *, float *, int);
template __global__ void matmul<double, 4>(const double *, const double *, double *, int);

// One thread computes a 4 x 4 register block from float4 rows; n must be a multiple of 4.
extern "C" __global__ void __launch_bounds__(64, 2) matmul_reg4(const float4 *a, const float4 *b, float4 *c, int n)
{
    int q = n >> 2, bx = blockIdx.x * blockDim.x + threadIdx.x, by = blockIdx.y * blockDim.y + threadIdx.y;
    if (bx >= q || by >= q)
        return;
    float acc[4][4] = {};
    for (int k = 0; k < q; k++) {
        float4 rows[4];
        for (int j = 0; j < 4; j++)
            rows[j] = b[(k * 4 + j) * q + bx];
        for (int i = 0; i < 4; i++) {
            float4 v = a[(by * 4 + i) * q + k];
            const float col[4] = { v.x, v.y, v.z, v.w };
            for (int j = 0; j < 4; j++) {
                acc[i][0] = __fmaf_rn(col[j], rows[j].x, acc[i][0]);
                acc[i][1] = __fmaf_rn(col[j], rows[j].y, acc[i][1]);
                acc[i][2] = __fmaf_rn(col[j], rows[j].z, acc[i][2]);
                acc[i][3] = __fmaf_rn(col[j], rows[j].w, acc[i][3]);
            }
        }
    }
    for (int i = 0; i < 4; i++)
        c[(by * 4 + i) * q + bx] = make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
}
