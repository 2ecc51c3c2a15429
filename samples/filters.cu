// SPDX-License-Identifier: MIT
// Filters whose coefficients are in static constant tables.

static __constant__ float smooth[5] = { 0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f };
static __constant__ float edges[3] = { -0.5f, 0.0f, 0.5f };
static __constant__ struct { int shift, bias; unsigned char steps[4]; } dither = { 2, 3, { 0, 2, 3, 1 } };
static __constant__ short ramp[64] = { 0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, 225 };

template <int N> static __device__ float convolve(const float *in, const float *taps, int at, int n)
{
    float sum = 0.0f;
    for (int k = 0; k < N; k++) {
        int from = at + k - N / 2;
        if (from >= 0 && from < n)
            sum = __fmaf_rn(in[from], taps[k], sum);
    }
    return sum;
}

// Smooths a row and finds its edges.
extern "C" __global__ void filter_row(const float *in, float *smoothed, float *slope, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    smoothed[i] = convolve<5>(in, smooth, i, n);
    slope[i] = convolve<3>(in, edges, i, n);
}

// Dithers values; a table with a computed index stays.
extern "C" __global__ void dither_row(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int x = in[i], step = 0;
    switch (i & 3) {
    case 0: step = dither.steps[0]; break;
    case 1: step = dither.steps[1]; break;
    case 2: step = dither.steps[2]; break;
    default: step = dither.steps[3]; break;
    }
    out[i] = ((x + step + dither.bias) >> dither.shift) + ramp[x & 15];
}
