// SPDX-License-Identifier: MIT
// Dynamic programming: edit distance along diagonals, knapsack, and a minimum path with predicates.

// One block; a[] and b[] have up to 64 bytes; three diagonals live in shared memory. blockDim.x > |b|.
extern "C" __global__ void edit_distance(const char *a, int la, const char *b, int lb, int *out)
{
    __shared__ int diag[3][80];
    int j = threadIdx.x;
    for (int k = 0; k <= la + lb; k++) {
        int i = k - j, *cur = diag[k % 3], *one = diag[(k + 2) % 3], *two = diag[(k + 1) % 3];
        if (j <= lb && i >= 0 && i <= la) {
            int v;
            if (i == 0 || j == 0)
                v = i + j;
            else
                v = min(min(one[j], one[j - 1]) + 1, two[j - 1] + (a[i - 1] != b[j - 1]));
            cur[j] = v;
            if (i == la && j == lb)
                *out = v;
        }
        __syncthreads();
    }
}

// 0/1 knapsack: a thread owns a capacity; two rows in dynamic shared memory.
extern "C" __global__ void knapsack(const int2 *item, int n, int *best)
{
    extern __shared__ int rows[];
    int c = threadIdx.x, width = blockDim.x;
    rows[c] = 0;
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        const int *old = rows + (k & 1) * width;
        int2 it = item[k];
        int v = old[c];
        if (c >= it.x)
            v = max(v, old[c - it.x] + it.y);
        rows[((k + 1) & 1) * width + c] = v;
        __syncthreads();
    }
    best[c] = rows[(n & 1) * width + c];
}

// Floyd-Warshall on up to 16 x 16 vertices in one block, 0xffff = no edge; saturating 16-bit sums.
extern "C" __global__ void shortest_paths(unsigned short *dist, int n)
{
    __shared__ unsigned short d[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    bool inside = x < n && y < n;
    d[y][x] = inside ? dist[y * n + x] : 0xffff;
    __syncthreads();
    for (int k = 0; k < n; k++) {
        unsigned via = (unsigned)d[y][k] + d[k][x], now = d[y][x];
        __syncthreads();
        if (via < now)
            d[y][x] = (unsigned short)via;
        __syncthreads();
    }
    if (inside)
        dist[y * n + x] = d[y][x];
}
