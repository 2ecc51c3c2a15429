// SPDX-License-Identifier: MIT
// Computes what handwritten/redundant_stores.ptx computes.
#include "cuda_shim.h"
#include "launches.h"

static void widths(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    uint32_t v = 0x89ABCDEFu ^ threadIdx.x;
    uint64_t w = v * UINT64_C(0x100000003);
    uint32_t low = (uint32_t)w, high = (uint32_t)(w >> 32);
    in[0] = (in[0] & 0xFF00) | (v & 255) | v << 16;
    in[1] = v, in[2] = low, in[3] = high, in[4] = v, in[5] = v, in[6] = low, in[7] = high;
    out[0] = v & 255;
    out[1] = (uint32_t)(int8_t)v;
    out[2] = v & 0xFFFF;
    out[3] = (uint32_t)(int16_t)v;
    out[4] = v;
    out[5] = v;
    out[6] = low;
    out[7] = high;
    out[8] = low;
    out[9] = high;
    out[10] = v;
}

static void vectors(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    uint32_t t = threadIdx.x, a = t + 5, b = t * a, c = a ^ b;
    in[0] = t, in[1] = a, in[2] = b, in[3] = c;
    out[0] = a;
    out[1] = b;
    out[2] = c;
    out[3] = t;
}

static void generic_addresses(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    in[0] = 77 * threadIdx.x, in[1] = threadIdx.x;
    out[0] = in[0];
    out[1] = in[1];
}

static void shared_slots(uint32_t *in, uint32_t *out, uint32_t n)
{
    in += 8 * threadIdx.x;
    out += 16 * threadIdx.x;
    uint32_t x = in[0], y = in[1];
    out[0] = x;
    out[1] = y;
}

LAUNCHES("handwritten/redundant_stores", KERNEL(widths), KERNEL(vectors), KERNEL(generic_addresses), KERNEL(shared_slots))
