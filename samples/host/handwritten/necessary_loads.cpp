// SPDX-License-Identifier: MIT
// Computes what handwritten/necessary_loads.ptx computes.
#include "cuda_shim.h"
#include "launches.h"

static void barrier_between(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    uint32_t *other = in + (threadIdx.x & 1 ? -8 : 8);
    out[0] = other[0];
    out[1] = other[1];
}

static void aliasing_store(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    in[1] = ++in[0];
    (void)out;
}

static void volatile_loads(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    out[0] = in[0];
    out[1] = in[0];
    out[2] = in[0];
    out[3] = in[0];
}

static void atomic_between(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    out[0] = in[0];
    out[1] = in[0];
    out[2] = in[0] + 3;
    out[3] = in[0] + 3;
    in[0] += 3;
}

static void other_guards(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    uint32_t x = in[0], y = in[1], z = in[2];
    out[0] = x > z ? in[3] : 7;
    out[1] = y > z ? in[3] : 7;
    out[2] = y > z ? in[3] : 9;
}

LAUNCHES("handwritten/necessary_loads", KERNEL(barrier_between), KERNEL(aliasing_store), KERNEL(volatile_loads), KERNEL(atomic_between), KERNEL(other_guards))
