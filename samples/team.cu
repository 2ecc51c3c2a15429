// SPDX-License-Identifier: MIT
// Device functions that a whole block calls: static shared variables and barriers in the callee, byte and short
// parameters, an object of shared memory for each instance of a template.

enum { MOST = 128 };

template <class T> __device__ __noinline__ T block_sum(T v)
{
    __shared__ T part[MOST];
    int t = threadIdx.x;
    part[t] = v;
    __syncthreads();
    for (int k = MOST / 2; k; k /= 2) {
        if (t < k && t + k < (int)blockDim.x)
            part[t] += part[t + k];
        __syncthreads();
    }
    T sum = part[0];
    __syncthreads();
    return sum;
}

// Returns the sum of the values of the threads before this one.
__device__ unsigned block_scan(unsigned v)
{
    __shared__ unsigned part[2][MOST];
    int t = threadIdx.x, from = 0;
    part[0][t] = v;
    __syncthreads();
    for (int k = 1; k < (int)blockDim.x; k *= 2, from ^= 1) {
        part[from ^ 1][t] = part[from][t] + (t >= k ? part[from][t - k] : 0);
        __syncthreads();
    }
    unsigned sum = part[from][t] - v;
    __syncthreads();
    return sum;
}

// Returns the number of keys that are less, or equal and of an earlier thread.
__device__ short block_rank(unsigned char key, bool descending)
{
    __shared__ unsigned char keys[MOST];
    short rank = 0;
    keys[threadIdx.x] = key;
    __syncthreads();
    for (unsigned k = 0; k < blockDim.x; k++) {
        bool before = descending ? keys[k] > key : keys[k] < key;
        rank += before || (keys[k] == key && k < threadIdx.x);
    }
    __syncthreads();
    return rank;
}

// Returns a cell that all threads of the block share; its value stays until the next call with `reset`.
__device__ int *block_cell(bool reset)
{
    __shared__ int cell;
    if (reset && threadIdx.x == 0)
        cell = 0;
    __syncthreads();
    return &cell;
}

extern "C" __global__ void statistics(const short *in, int *sums, long long *squares)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = blockDim.x;
    int mean = block_sum((int)in[i]) / n, off = in[i] - mean;
    long long spread = block_sum((long long)off * off);
    int above = block_sum(off > 0 ? 1 : 0);
    if (threadIdx.x == 0) {
        sums[2 * blockIdx.x] = mean;
        sums[2 * blockIdx.x + 1] = above;
        squares[blockIdx.x] = spread;
    }
}

// Moves the kept values of a block together.
extern "C" __global__ void compact(const unsigned char *in, unsigned char least, unsigned char *out, unsigned *kept)
{
    int first = blockIdx.x * blockDim.x, t = threadIdx.x;
    unsigned char v = in[first + t];
    bool keep = v >= least;
    unsigned to = block_scan(keep);
    if (keep)
        out[first + to] = v;
    if (t == (int)blockDim.x - 1)
        kept[blockIdx.x] = to + keep;
}

extern "C" __global__ void rank(const unsigned char *in, unsigned char *up, short *down, int *found)
{
    int first = blockIdx.x * blockDim.x, t = threadIdx.x;
    unsigned char v = in[first + t];
    up[first + block_rank(v, false)] = v;
    down[first + t] = block_rank(v, true);
    int *cell = block_cell(true);
    if (block_rank(v, false) == 0)
        *cell = t + 1;
    __syncthreads();
    found[first + t] = *block_cell(false) * 1000 + t;
}
