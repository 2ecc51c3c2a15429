// SPDX-License-Identifier: MIT
// Stencils: a 1D filter with weights in constant memory, a 2D five-point step, the game of life on bits.

__constant__ int weights[7] = { 1, 6, 15, 20, 15, 6, 1 };

extern "C" __global__ void stencil1d(const int *in, int *out, int n)
{
    __shared__ int line[128 + 6];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    line[t + 3] = i < n ? in[i] : 0;
    if (t < 3) {
        line[t] = i >= 3 ? in[i - 3] : 0;
        line[t + 131] = i + 128 < n ? in[i + 128] : 0;
    }
    __syncthreads();
    if (i >= n)
        return;
    int sum = 0;
    for (int k = 0; k < 7; k++)
        sum += weights[k] * line[t + k];
    out[i] = sum >> 6;
}

// out = in + alpha * (laplacian of in); every operation rounds once, in this order.
extern "C" __global__ void heat2d(const float *in, float *out, int w, int h, float alpha)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float c = in[y * w + x];
    if (x == 0 || y == 0 || x == w - 1 || y == h - 1) {
        out[y * w + x] = c;
        return;
    }
    float s = __fadd_rn(in[y * w + x - 1], in[y * w + x + 1]);
    s = __fadd_rn(s, __fadd_rn(in[(y - 1) * w + x], in[(y + 1) * w + x]));
    out[y * w + x] = __fmaf_rn(alpha, __fmaf_rn(-4.0f, c, s), c);
}

// One generation; a thread owns a row of 32 cells in one word, the world wraps in both directions.
extern "C" __global__ void life32(const unsigned *in, unsigned *out, int rows)
{
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= rows)
        return;
    unsigned up = in[(y + rows - 1) % rows], mid = in[y], down = in[(y + 1) % rows], next = 0;
    for (int x = 0; x < 32; x++) {
        unsigned l = x + 31 & 31, r = x + 1 & 31;
        unsigned mask = 1u << l | 1u << x | 1u << r;
        int alive = __popc(up & mask) + __popc(down & mask) + __popc(mid & mask & ~(1u << x));
        if (alive == 3 || (alive == 2 && mid >> x & 1))
            next |= 1u << x;
    }
    out[y] = next;
}
