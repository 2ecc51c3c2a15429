// SPDX-License-Identifier: MIT
// Computes what handwritten/redundant_loads.ptx computes.
#include "cuda_shim.h"
#include "launches.h"

static void global_disjoint(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    uint32_t x = in[0], y = in[1], z = in[2];
    in[4] = x + y;
    in[3] = (in[3] & ~255u) | (x & 255);
    out[0] = x;
    out[1] = x + z;
}

static void shared_disjoint(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    uint32_t x = in[0], y = in[1];
    out[0] = x;
    out[1] = x;
    out[2] = x;
    out[3] = y;
}

static void other_space(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    uint32_t x = in[0], y = in[1];
    out[0] = 2 * x;
    out[1] = y;
}

static void parts_of_vectors(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    out[0] = in[1] + in[0];
    out[1] = in[2] + in[1];
    out[2] = in[3] + in[2];
    out[3] = in[3];
}

static void over_blocks(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    uint32_t x = in[0], y = in[1], z = in[2];
    if (!(x > y))
        in[3] = y;
    out[0] = x;
    out[1] = x + z;
}

LAUNCHES("handwritten/redundant_loads", KERNEL(global_disjoint), KERNEL(shared_disjoint), KERNEL(other_space), KERNEL(parts_of_vectors), KERNEL(over_blocks))
