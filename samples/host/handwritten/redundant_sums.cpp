// SPDX-License-Identifier: MIT
// Computes what handwritten/redundant_sums.ptx computes.
#include "cuda_shim.h"
#include "launches.h"

static void orders(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    uint32_t x = in[0], y = in[1], z = in[2];
    out[0] = x + y + z;
    out[1] = x + y + z;
    out[2] = x ^ y ^ z;
    out[3] = x ^ y ^ z;
    out[4] = x * y * z;
    out[5] = x * y * z;
}

static void differences(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    uint32_t x = in[0], y = in[1], z = in[2];
    out[0] = x - y + z;
    out[1] = x - y + z;
}

static void distributed(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    uint32_t x = in[0], y = in[1], z = in[2];
    out[0] = (x + y) * z;
    out[1] = (x + y) * z;
}

static void addresses(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < std::min(n, 6u); i++)
        sum += in[i] * in[i + 1] + in[i + 2];
    out[0] = sum;
}

static void bounded_by_exit(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    uint32_t sum = 0;
    for (int32_t i = 0; i < (int32_t)n; i++)
        sum += in[i] * in[i + 1];
    out[0] = sum;
}

static void ends_at_bound(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    uint32_t sum = 0;
    for (int32_t i = 0; i < (int32_t)n; i++)
        sum += in[i] * in[i + 1];
    out[0] = sum;
}

LAUNCHES("handwritten/redundant_sums", KERNEL(orders), KERNEL(differences), KERNEL(distributed), KERNEL(addresses), KERNEL(bounded_by_exit), KERNEL(ends_at_bound))
