// SPDX-License-Identifier: MIT
// quick: no
// The generators of curand's device headers: large states in local memory, tables, many device functions.
#include <curand_kernel.h>

extern "C" __global__ void xorwow(curandStateXORWOW_t *state, float *out, unsigned long long seed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    curandStateXORWOW_t s;
    curand_init(seed, i, 0, &s);
    out[i] = curand_normal(&s) + curand_uniform(&s) * curand_log_normal(&s, 0.5f, 2.0f);
    state[i] = s;
}

extern "C" __global__ void philox(curandStatePhilox4_32_10_t *state, float4 *out, uint4 *bits, unsigned *counts)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    curandStatePhilox4_32_10_t s = state[i];
    out[i] = curand_normal4(&s);
    bits[i] = curand4(&s);
    counts[i] = curand_poisson(&s, 40.0);
    state[i] = s;
}

extern "C" __global__ void mrg(curandStateMRG32k3a_t *state, double *out)
{
    int i = threadIdx.x;
    skipahead_subsequence(i, &state[i]);
    double2 d = curand_normal2_double(&state[i]);
    out[i] = d.x * d.y + curand_uniform_double(&state[i]);
}
