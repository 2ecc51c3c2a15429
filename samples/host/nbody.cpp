// SPDX-License-Identifier: MIT
// Launches of samples/nbody.cu. nbody_fast has the same explicit fma as its PTX, which the compiler contracted.
#include "cuda_shim.h"

extern "C" {
thread_local float4 tile[64];
}
static float root(float x) { return (float)(1.0 / sqrt((double)x)); }
#define rsqrtf root
#define nbody_fast nbody_fast_as_written
#include "nbody.cu"
#undef nbody_fast

static void nbody_fast(const float4 *body, float *potential, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = body[i];
    float sum = 0.0f;
    for (int j = 0; j < n; j++) {
        float4 o = body[j];
        float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
        sum -= o.w * rsqrtf(fmaf(dz, dz, fmaf(dx, dx, dy * dy)) + 1e-3f);
    }
    potential[i] = sum;
}

// Makes all NaNs canonical, as the device does.
static void one_nan(float *v, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (std::isnan(v[k]))
            v[k] = __uint_as_float(0x7fffffff);
}

static void forces(unsigned grid, unsigned block, float lo, float hi, float soft, uint64_t seed,
                   const char *comment = "")
{
    Run r("nbody_forces", grid, block, 16 * block, comment);
    int n = (int)(grid * block);
    auto body = r.rand<float>(4 * n, seed, lo, hi);
    auto acc = r.zero<float>(3 * n);
    r.scalar(n), r.scalar(soft);
    r.run(nbody_forces, (const float4 *)body, (float3 *)acc, n, soft);
    one_nan(acc, 3 * n);
}

static void fast(unsigned grid, unsigned block, float lo, float hi, uint64_t seed)
{
    Run r("nbody_fast", grid, block, 0,
          "rsqrt.approx may be wrong by 2^-22.9, two units of the result, and each of n sums may round the other way;\n"
          "# all masses are positive, so no terms cancel.");
    int n = (int)(grid * block);
    auto body = r.rand<float>(4 * n, seed, lo, hi);
    auto potential = r.zero<float>(n);
    r.scalar(n);
    r.run(nbody_fast, (const float4 *)body, potential, n);
    r.approximate(1, n + 3);
}

int main()
{
    run_file("nbody", "Explicit rounding, except for the last kernel.");
    forces(2, 32, -1, 1, 0.01f, 1);
    forces(3, 5, -100, 100, 1e-6f, 2);
    forces(1, 2, -4, 4, 0, 3, "Without softening, a body attracts itself by 0 * inf.");
    forces(1, 7, 0, 0x1p-23f, 0x1p-46f, 4, "Distances whose sixth power is subnormal.");
    forces(1, 4, -0x1p23f, 0x1p23f, 0.5f, 5, "Distances whose sixth power overflows.");
    {
        Run r("nbody_forces", 1, 3, 48, "No bodies.");
        auto body = r.fill<float>(12, 1), acc = r.fill<float>(9, 7);
        int n = r.scalar(0);
        float soft = r.scalar(1.0f);
        r.run(nbody_forces, (const float4 *)body, (float3 *)acc, n, soft);
    }
    {
        Run r("nbody_step", 2, 16);
        auto body = r.rand<float>(80, 6, -1, 1), velocity = r.rand<float>(60, 7, -1, 1);
        auto acc = r.rand<float>(60, 8, -10, 10);
        int n = r.scalar(20);
        float dt = r.scalar(0.015625f);
        r.run(nbody_step, (float4 *)body, (float3 *)velocity, (const float3 *)acc, n, dt);
    }
    {
        Run r("nbody_step", 1, 3, 0, "Subnormal numbers, and sums that overflow.");
        auto body = r.rand<float>(12, 9, -1, 1), velocity = r.rand<float>(9, 10, -0x1p-127f, 0x1p-127f);
        auto acc = r.values<float>({1e-45f, -3e-39f, 1e-40f, 3e38f, -3e38f, 1e38f, 0, -0.0f, 1e-37f});
        int n = r.scalar(3);
        float dt = r.scalar(2.0f);
        r.run(nbody_step, (float4 *)body, (float3 *)velocity, (const float3 *)acc, n, dt);
        one_nan(body, 12);
    }
    fast(1, 19, 0.125f, 1, 11);
    fast(2, 4, 1, 50, 12);
    fast(1, 3, 0, 1, 13);
    {
        Run r("nbody_fast", 1, 2, 0, "No bodies.");
        auto body = r.fill<float>(8, 2), potential = r.fill<float>(2, 1);
        int n = r.scalar(0);
        r.run(nbody_fast, (const float4 *)body, potential, n);
    }
}
