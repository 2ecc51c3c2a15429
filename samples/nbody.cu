// SPDX-License-Identifier: MIT
// All-pairs gravity with float4 bodies (x, y, z, mass). Every operation has an explicit rounding mode.

__device__ float3 attract(float4 a, float4 b, float3 acc, float soft)
{
    float dx = __fsub_rn(b.x, a.x), dy = __fsub_rn(b.y, a.y), dz = __fsub_rn(b.z, a.z);
    float d2 = __fmaf_rn(dx, dx, __fmaf_rn(dy, dy, __fmaf_rn(dz, dz, soft)));
    float d6 = __fmul_rn(d2, __fmul_rn(d2, d2));
    float s = __fmul_rn(b.w, __fdiv_rn(1.0f, __fsqrt_rn(d6)));
    acc.x = __fmaf_rn(dx, s, acc.x);
    acc.y = __fmaf_rn(dy, s, acc.y);
    acc.z = __fmaf_rn(dz, s, acc.z);
    return acc;
}

// blockDim.x bodies at a time go through dynamic shared memory; n must be a multiple of blockDim.x.
extern "C" __global__ void nbody_forces(const float4 *__restrict__ body, float3 *__restrict__ acc, int n, float soft)
{
    extern __shared__ float4 tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = body[i];
    float3 sum = make_float3(0.0f, 0.0f, 0.0f);
    for (int base = 0; base < n; base += blockDim.x) {
        tile[threadIdx.x] = body[base + threadIdx.x];
        __syncthreads();
        for (unsigned j = 0; j < blockDim.x; j++)
            sum = attract(me, tile[j], sum, soft);
        __syncthreads();
    }
    acc[i] = sum;
}

extern "C" __global__ void nbody_step(float4 *body, float3 *velocity, const float3 *acc, int n, float dt)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 p = body[i];
    float3 v = velocity[i], a = acc[i];
    v.x = __fmaf_rn(a.x, dt, v.x);
    v.y = __fmaf_rn(a.y, dt, v.y);
    v.z = __fmaf_rn(a.z, dt, v.z);
    p.x = __fmaf_rn(v.x, dt, p.x);
    p.y = __fmaf_rn(v.y, dt, p.y);
    p.z = __fmaf_rn(v.z, dt, p.z);
    velocity[i] = v;
    body[i] = p;
}

// The usual fast form: approximate reciprocal square root, contraction left to the compiler.
extern "C" __global__ void nbody_fast(const float4 *body, float *potential, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = body[i];
    float sum = 0.0f;
#pragma unroll 4
    for (int j = 0; j < n; j++) {
        float4 o = __ldg(&body[j]);
        float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
        sum -= o.w * rsqrtf(dx * dx + dy * dy + dz * dz + 1e-3f);
    }
    potential[i] = sum;
}
