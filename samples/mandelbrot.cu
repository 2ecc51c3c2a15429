// SPDX-License-Identifier: MIT
// Escape times: fixed point, float and double. Divergent loops with two exits.

extern "C" __global__ void mandel_fixed(unsigned short *out, int w, int h, int limit)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    // 4.28 fixed point, from -2.5 .. 1 and -1.25 .. 1.25
    long long one = 1ll << 28;
    long long cr = -5 * one / 2 + 7 * one / 2 * x / w, ci = -5 * one / 4 + 5 * one / 2 * y / h;
    long long zr = 0, zi = 0;
    int n = 0;
#pragma unroll 1
    while (n < limit) {
        long long r2 = zr * zr >> 28, i2 = zi * zi >> 28;
        if (r2 + i2 > 4 * one)
            break;
        zi = (zr * zi >> 27) + ci;
        zr = r2 - i2 + cr;
        n++;
    }
    out[y * w + x] = (unsigned short)n;
}

template <class T> __device__ T mul(T, T);
template <> __device__ float mul(float a, float b) { return __fmul_rn(a, b); }
template <> __device__ double mul(double a, double b) { return __dmul_rn(a, b); }
template <class T> __device__ T add(T, T);
template <> __device__ float add(float a, float b) { return __fadd_rn(a, b); }
template <> __device__ double add(double a, double b) { return __dadd_rn(a, b); }

template <class T>
__global__ void mandel(unsigned char *out, int w, int h, T x0, T y0, T step)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    T cr = add(x0, mul((T)x, step)), ci = add(y0, mul((T)y, step)), zr = 0, zi = 0;
    unsigned n = 0;
#pragma unroll 1
    for (; n < 255; n++) {
        T r2 = mul(zr, zr), i2 = mul(zi, zi);
        if (!(add(r2, i2) <= (T)4))
            break;
        zi = add(mul(mul((T)2, zr), zi), ci);
        zr = add(add(r2, -i2), cr);
    }
    out[y * w + x] = n;
}

template __global__ void mandel<float>(unsigned char *, int, int, float, float, float);
template __global__ void mandel<double>(unsigned char *, int, int, double, double, double);
