// SPDX-License-Identifier: MIT
// Static variables that code of the module sets to one of two values, or to the value that they have.

static __device__ int rounding = 1;          // 1 or 4
static __device__ unsigned short limit = 1000;  // is stored 1000 only
static __device__ float weight = 0.5f;       // 0.5 or 2
static __device__ int generation = 7;        // is never stored

// Sets the modes for the next launch.
extern "C" __global__ void set_modes(int fine, int heavy)
{
    if (threadIdx.x != 0 || blockIdx.x != 0)
        return;
    rounding = fine ? 1 : 4;
    if (heavy)
        weight = 2.0f;
    else
        weight = 0.5f;
    limit = 1000;
}

static __device__ int rounded(int x)
{
    int r = rounding;
    return x / r * r;
}

// Rounds and limits the values of each thread.
extern "C" __global__ void apply_modes(const int *in, int *out, float *weighted, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int x = rounded(in[i]);
    if (x > limit)
        x = limit;
    out[i] = x + generation;
    weighted[i] = __fmul_rn((float)x, weight);
}
