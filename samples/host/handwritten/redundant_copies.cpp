// SPDX-License-Identifier: MIT
// Computes what handwritten/redundant_copies.ptx computes.
#include "cuda_shim.h"
#include "launches.h"

static void chain_in_loop(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    uint32_t x = in[0];
    uint32_t sum = 0, i = 0;
    do
        sum += x ^ i++;
    while (i < n);
    out[0] = sum;
    out[1] = i;
}

static void behind_loop(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    uint32_t x = in[0], y = in[1], z = in[2];
    uint32_t sum = y;
    for (uint32_t i = 0; i < n; i++)
        sum += x;
    out[0] = x > z ? sum : sum + z;
}

LAUNCHES("handwritten/redundant_copies", KERNEL(chain_in_loop), KERNEL(behind_loop))
