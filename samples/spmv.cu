// SPDX-License-Identifier: MIT
// Sparse matrix (CSR) times vector: a thread per row, a warp per row, and breadth-first search levels.

extern "C" __global__ void spmv_scalar(const int *row, const int *col, const float *val, const float *x, float *y, int n)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n)
        return;
    float sum = 0.0f;
    for (int k = row[r]; k < row[r + 1]; k++)
        sum = __fmaf_rn(val[k], __ldg(&x[col[k]]), sum);
    y[r] = sum;
}

template <int LANES>
__global__ void spmv_vector(const int *__restrict__ row, const int *__restrict__ col, const int *__restrict__ val,
                            const int *__restrict__ x, long long *__restrict__ y, int n)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x, r = id / LANES, lane = id % LANES;
    long long sum = 0;
    if (r < n)
        for (int k = row[r] + lane; k < row[r + 1]; k += LANES)
            sum += (long long)val[k] * x[col[k]];
    for (int d = LANES / 2; d > 0; d >>= 1)
        sum += __shfl_down_sync(0xffffffffu, sum, d, LANES);
    if (r < n && lane == 0)
        y[r] = sum;
}

template __global__ void spmv_vector<32>(const int *, const int *, const int *, const int *, long long *, int);
template __global__ void spmv_vector<4>(const int *, const int *, const int *, const int *, long long *, int);

// One level: vertices at distance d give their unvisited neighbours d + 1 (-1 = unvisited). Every
// writer stores the same value, the CAS makes the count exact.
extern "C" __global__ void bfs_level(const int *row, const int *col, int *dist, int d, int n, int *found)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || atomicAdd(&dist[v], 0) != d)
        return;
    for (int k = row[v]; k < row[v + 1]; k++)
        if (atomicCAS(&dist[col[k]], -1, d + 1) == -1)
            atomicAdd(found, 1);
}
