// SPDX-License-Identifier: MIT
// Computes the results of handwritten/vectors.ptx for one thread.
#include "cuda_shim.h"
#include "launches.h"

static void vectors(const uint32_t *in, uint32_t *out)
{
    float v[4];
    memcpy(v, in, sizeof v);
    const uint8_t *bytes = (const uint8_t *)(in + 6);
    float w[] = {v[0] + v[1], v[2] + v[3], v[1], v[0]};
    memcpy(out, w, sizeof w);
    out[4] = __float_as_uint(1.0f);
    out[7] = 0x40490fdb;
    out[8] = (200u | (uint32_t)bytes[3] << 8) * 0x10001;
    out[12] = in[5];
    out[13] = in[4] << 16 | in[4] >> 16;
    out[14] = 200u | (uint32_t)bytes[3] << 8 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[0] << 24;
    out[15] = threadIdx.x + blockDim.x;
    out[16] = __float_as_uint(4.0f);
}

LAUNCHES("handwritten/vectors", KERNEL(vectors))
