// SPDX-License-Identifier: MIT
// Computes what handwritten/redundant_tests.ptx computes.
#include "cuda_shim.h"
#include "launches.h"

static void same_test(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    uint32_t x = in[0], y = in[1], z = in[2];
    out[0] = x < y ? z : x;
}

static void exchanged(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    uint32_t x = in[0], y = in[1], z = in[2];
    out[0] = (int32_t)x < (int32_t)y ? z + x : z;
}

static void implied(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    uint32_t x = in[0], y = in[1], z = in[2];
    out[0] = x > 400 ? z : z + y;
}

LAUNCHES("handwritten/redundant_tests", KERNEL(same_test), KERNEL(exchanged), KERNEL(implied))
