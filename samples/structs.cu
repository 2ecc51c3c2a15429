// SPDX-License-Identifier: MIT
// Structs by value: kernel parameters, arguments and results of calls, unions, bit fields, odd sizes.

struct Vec3 { float x, y, z; };
struct Mat3 { Vec3 row[3]; };
struct Pixel { unsigned char r, g, b; };
struct Flags { unsigned kind : 3, level : 7, id : 22; };
struct __align__(16) Config { int width, height; double gain; char name[5]; Pixel border; unsigned long long seed; };
union Word { float f; unsigned u; unsigned char b[4]; };

__device__ __noinline__ float dot(Vec3 a, Vec3 b)
{
    return __fmaf_rn(a.x, b.x, __fmaf_rn(a.y, b.y, __fmul_rn(a.z, b.z)));
}

__device__ __noinline__ Vec3 transform(Mat3 m, Vec3 v)
{
    Vec3 r = { dot(m.row[0], v), dot(m.row[1], v), dot(m.row[2], v) };
    return r;
}

extern "C" __global__ void transform_points(Mat3 m, const Vec3 *in, Vec3 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = transform(m, in[i]);
}

__device__ __noinline__ Pixel blend(Pixel a, Pixel b, unsigned char t)
{
    Pixel r;
    r.r = (unsigned char)((a.r * (255 - t) + b.r * t + 127) / 255);
    r.g = (unsigned char)((a.g * (255 - t) + b.g * t + 127) / 255);
    r.b = (unsigned char)((a.b * (255 - t) + b.b * t + 127) / 255);
    return r;
}

extern "C" __global__ void frame(const Config cfg, Pixel *image, long long *sum)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= cfg.width || y >= cfg.height)
        return;
    int edge = min(min(x, y), min(cfg.width - 1 - x, cfg.height - 1 - y));
    Pixel *p = &image[y * cfg.width + x];
    if (edge < 4)
        *p = blend(cfg.border, *p, (unsigned char)(edge * 64));
    sum[y * cfg.width + x] = (long long)(cfg.gain * cfg.name[x % 5]) + (long long)(cfg.seed >> 60);
}

__device__ __noinline__ Flags promote(Flags f)
{
    f.level += 3;
    f.kind ^= 5;
    return f;
}

extern "C" __global__ void bitfields(const unsigned *in, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Flags f;
    f.kind = in[i];
    f.level = in[i] >> 8;
    f.id = i;
    f = promote(f);
    Word w;
    w.f = (float)(int)f.level;
    w.b[0] = (unsigned char)f.kind;
    out[2 * i] = f.kind | f.level << 3 | (unsigned)f.id << 10;
    out[2 * i + 1] = w.u;
}
