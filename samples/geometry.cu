// SPDX-License-Identifier: MIT
// flags: -lineinfo
// Ray and box tests with line information: early returns, selects, float comparisons that may meet NaN.

struct Ray { float ox, oy, oz, ix, iy, iz; };

__device__ __forceinline__ void slab(float lo, float hi, float o, float inv, float &t0, float &t1)
{
    float a = __fmul_rn(__fsub_rn(lo, o), inv), b = __fmul_rn(__fsub_rn(hi, o), inv);
    t0 = fmaxf(t0, fminf(a, b));
    t1 = fminf(t1, fmaxf(a, b));
}

// boxes: lo.xyz and hi.xyz as six floats. hit[i] = nearest box or -1.
extern "C" __global__ void nearest_box(const Ray *rays, const float *boxes, int n, int *hit)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, best = -1;
    Ray r = rays[i];
    float nearest = __int_as_float(0x7f800000);
    for (int k = 0; k < n; k++) {
        const float *b = boxes + 6 * k;
        float t0 = 0.0f, t1 = nearest;
        slab(b[0], b[3], r.ox, r.ix, t0, t1);
        slab(b[1], b[4], r.oy, r.iy, t0, t1);
        slab(b[2], b[5], r.oz, r.iz, t0, t1);
        if (t0 <= t1 && t0 < nearest) {
            nearest = t0;
            best = k;
        }
    }
    hit[i] = best;
}

// -1, 0 or 1 for clockwise, straight, counter-clockwise: exact in 64 bits.
__device__ __noinline__ int orientation(int2 a, int2 b, int2 c)
{
    long long d = (long long)(b.x - a.x) * (c.y - a.y) - (long long)(b.y - a.y) * (c.x - a.x);
    return (d > 0) - (d < 0);
}

// Crossing-number test of points against a polygon.
extern "C" __global__ void in_polygon(const int2 *polygon, int n, const int2 *points, unsigned char *inside)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int2 p = points[i];
    bool in = false;
    for (int k = 0, last = n - 1; k < n; last = k++) {
        int2 a = polygon[k], b = polygon[last];
        if (a.y > p.y != b.y > p.y)
            in ^= orientation(a.y < b.y ? a : b, a.y < b.y ? b : a, p) > 0;
    }
    inside[i] = in;
}

extern "C" __global__ void float_order(const float *a, const float *b, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = a[i], y = b[i];
    unsigned r = (x < y) | (x <= y) << 1 | (x == y) << 2 | (x != y) << 3 | !(x > y) << 4 | !(x >= y) << 5;
    r |= (x != x) << 6 | (fabsf(y) == __int_as_float(0x7f800000)) << 7 | (__float_as_int(x) < 0) << 8 | (fmaxf(x, y) == x) << 9;
    out[i] = r | (unsigned)(int)rintf(x) << 16;
}
