// SPDX-License-Identifier: MIT
// Computes what handwritten/redundant_loops.ptx computes.
#include "cuda_shim.h"
#include "launches.h"

static void invariant(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    uint32_t x = in[0], y = in[1];
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += (x * y) ^ i;
    out[0] = x * y;
    out[1] = sum;
}

static void loads_across_loop(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += in[3] ^ i;
    out[0] = in[3];
    out[1] = sum;
    out[2] = in[3];
}

static void stores_beside(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    uint32_t x = in[0];
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += x ^ i;
    out[0] = sum;
    out[1] = x + n - 1;
}

LAUNCHES("handwritten/redundant_loops", KERNEL(invariant), KERNEL(loads_across_loop), KERNEL(stores_beside))
