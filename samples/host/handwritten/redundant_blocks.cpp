// SPDX-License-Identifier: MIT
// Computes what handwritten/redundant_blocks.ptx computes.
#include "cuda_shim.h"
#include "launches.h"

static void same_block(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    uint32_t x = in[0], y = in[1], z = in[2];
    out[0] = x * y;
    out[1] = x + z;
    out[2] = x * y;
    out[3] = x + z;
    out[4] = (x * y) ^ (x + z);
}

static void dominated(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    uint32_t x = in[0], y = in[1], z = in[2];
    out[0] = x * y;
    out[1] = x > z ? 0 : x * y + z;
    out[2] = x * y;
}

static void arms(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    uint32_t x = in[0], y = in[1], z = in[2];
    out[0] = x * y;
    out[1] = x * y;
    out[2] = x > z ? z + 2 : z + 1;
}

LAUNCHES("handwritten/redundant_blocks", KERNEL(same_block), KERNEL(dominated), KERNEL(arms))
