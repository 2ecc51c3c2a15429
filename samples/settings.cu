// SPDX-License-Identifier: MIT
// Configuration and tables of constants that no code writes: read at known offsets, at computed ones, or at both.

struct Range { short low, high; };
struct Settings {
    int width, height;
    float gain[3];
    Range range;
    unsigned char rounding, mode;
    unsigned long long seed;
    double scale;
};

// All loads have known offsets.
static __constant__ Settings cfg_filter = { 24, 16, { 0.25f, 0.5f, 0.125f }, { -20, 200 }, 3, 1, 0x9e3779b97f4a7c15ull, 0.375 };
static __constant__ int cfg_cosines[4][4] = { { 64, 64, 64, 64 }, { 83, 36, -36, -83 }, { 64, -64, -64, 64 }, { 36, -83, 83, -36 } };
static __device__ short2 cfg_offsets[5] = { { 0, -1 }, { -1, 0 }, { 0, 0 }, { 1, 0 }, { 0, 1 } };
static __device__ unsigned long long cfg_mask = 0x00ff00ff00ff00ffull;
static __constant__ float4 cfg_border = { 0.5f, -1.0f, 2.0f, 1e-3f };
static __constant__ unsigned cfg_tracing = 4;

// Zero, as all variables without an initial value.
static __constant__ unsigned tracing_stop;

// Some loads have computed offsets.
static __constant__ unsigned char zigzag[16] = { 0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15 };
static __device__ unsigned nibble_crc[16] = { 0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                              0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                              0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c };

__device__ float filter_pixel(const float *image, int x, int y)
{
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < 5; k++) {
        int u = x + cfg_offsets[k].x, v = y + cfg_offsets[k].y;
        bool inside = u >= 0 && u < cfg_filter.width && v >= 0 && v < cfg_filter.height;
        float value = inside ? image[v * cfg_filter.width + u] : (k & 1) ? cfg_border.x : cfg_border.z;
        sum = __fmaf_rn(k == 2 ? cfg_filter.gain[1] : k < 2 ? cfg_filter.gain[0] : cfg_filter.gain[2], value, sum);
    }
    return sum;
}

__device__ __noinline__ int settings_clamp(int v)
{
    return min(max(v, (int)cfg_filter.range.low), (int)cfg_filter.range.high);
}

// A filter of five points whose neighbours, weights and borders are in tables.
extern "C" __global__ void settings_filter(const float *image, int *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= cfg_filter.width || y >= cfg_filter.height)
        return;
    float v = filter_pixel(image, x, y);
    if (cfg_filter.mode == 2)
        v = __fadd_rn(v, cfg_border.w);
    if (cfg_tracing == 3 || tracing_stop)
        v = 0.0f;
    out[y * cfg_filter.width + x] = settings_clamp((int)__fmul_rn(v, 16.0f) + cfg_filter.rounding);
}

// Transform of blocks of 4x4 numbers, one thread each; the results are in zigzag order.
extern "C" __global__ void settings_transform(const short *in, int *out, int blocks)
{
    int b = blockIdx.x * blockDim.x + threadIdx.x, t[4][4];
    if (b >= blocks)
        return;
    in += 16 * b;
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            int sum = 0;
#pragma unroll
            for (int k = 0; k < 4; k++)
                sum += cfg_cosines[i][k] * in[4 * k + j];
            t[i][j] = (sum + cfg_filter.rounding) >> 2;
        }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            int sum = 0;
#pragma unroll
            for (int k = 0; k < 4; k++)
                sum += t[i][k] * cfg_cosines[j][k];
            out[16 * b + 4 * i + j] = sum >> 6;
        }
    int first = out[16 * b + zigzag[b & 15]];
    out[16 * b] = first + zigzag[5];
}

// Checksum of words mixed with the seed: one table is read at computed offsets and at a known one.
extern "C" __global__ void settings_checksum(const unsigned *words, unsigned long long *sums, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned crc = ~nibble_crc[1];
#pragma unroll 1
    for (int k = 0; k < count; k++) {
        crc ^= words[i * count + k];
#pragma unroll 1
        for (int n = 0; n < 8; n++)
            crc = nibble_crc[crc & 15] ^ crc >> 4;
    }
    unsigned long long v = (crc * cfg_filter.seed) & cfg_mask;
    sums[i] = v + (unsigned long long)__dmul_rn((double)(crc >> 8), cfg_filter.scale);
}
