// SPDX-License-Identifier: MIT
// Computes what handwritten/redundant_divisions.ptx computes.
#include "cuda_shim.h"
#include "launches.h"

static void integers(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    uint32_t x = in[0], y = in[1];
    uint64_t w = x * UINT64_C(0x123456789);
    uint32_t high = (uint32_t)(((unsigned __int128)w * (w * w)) >> 64);
    out[0] = x / y;
    out[1] = x % y;
    out[2] = high;
    if (!(x > 500))
        out[3] = x / y ^ 1, out[4] = x % y ^ 1, out[5] = high ^ 1;
}

static void floats(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    float x = (float)in[0], y = (float)in[1];
    double w = in[0], r = 1 / w;
    auto put = [&](int at, auto v) { memcpy(out + at, &v, sizeof v); };
    put(0, x / y), put(1, sqrtf(x)), put(2, r);
    if (!(in[0] > 500))
        put(4, x / y + sqrtf(x)), put(6, r + w);
}

LAUNCHES("handwritten/redundant_divisions", KERNEL(integers), KERNEL(floats))
