// SPDX-License-Identifier: MIT
// Computes what handwritten/redundant_guards.ptx computes.
#include "cuda_shim.h"
#include "launches.h"

static void same_old_value(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    uint32_t x = in[0], y = in[1], z = in[2];
    out[0] = x > z ? x * y : 7;
    out[1] = x > z ? x * y : 7;
}

static void readers_under_guard(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    uint32_t x = in[0], y = in[1], z = in[2];
    if (x > z)
        out[0] = out[1] = x * y;
}

static void guarded_loads(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    uint32_t x = in[0], z = in[2];
    out[0] = x > z ? in[3] : 7;
    out[1] = x > z ? in[3] : 7;
}

LAUNCHES("handwritten/redundant_guards", KERNEL(same_old_value), KERNEL(readers_under_guard), KERNEL(guarded_loads))
