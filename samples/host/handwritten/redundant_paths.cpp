// SPDX-License-Identifier: MIT
// Computes what handwritten/redundant_paths.ptx computes.
#include "cuda_shim.h"
#include "launches.h"

static void one_arm(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    out[0] = threadIdx.x & 1 ? 2 * in[0] : in[0];
}

static void store_in_one_arm(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    if (threadIdx.x & 1)
        in[0] = threadIdx.x;
    out[0] = in[0];
}

static void stored_in_loop(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        sum += in[0];
        if ((sum & 7) == 3)
            in[0] = sum;
    }
    out[0] = sum;
}

LAUNCHES("handwritten/redundant_paths", KERNEL(one_arm), KERNEL(store_in_one_arm), KERNEL(stored_in_loop))
