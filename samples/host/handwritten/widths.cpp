// SPDX-License-Identifier: MIT
// Computes the results of handwritten/widths.ptx. A wider register is filled by extension: by the type of a typed
// value, by zeros for untyped values and floats.
#include "cuda_shim.h"
#include "launches.h"

template <class T> void store(uint8_t *at, std::initializer_list<T> values)
{
    memcpy(at, values.begin(), values.size() * sizeof(T));
}

static void widths(const uint8_t *in, uint8_t *out, int8_t small, float real)
{
    int64_t w0 = small, w1 = __float_as_uint(real), w2 = (int16_t)(in[2] | in[3] << 8);
    uint32_t f;
    memcpy(&f, in + 4, 4);
    int64_t w3 = f;
    uint32_t u0 = in[0], u1 = (uint32_t)((int8_t)in[0] + (int)u0);
    int32_t s1 = (int8_t)w2, s2 = (int8_t)u1, s5 = in[1] * -3;
    store<uint8_t>(out, {(uint8_t)w2, in[3]});
    store<int16_t>(out + 2, {(int16_t)s5});
    store<uint32_t>(out + 16, {u1, (uint16_t)s1, (uint32_t)s2, 0x3e00});
    store<uint16_t>(out + 32, {in[1], 255, (uint16_t)(u0 < 16 ? in[1] >> u0 : 0), (uint16_t)70000});
    store<int64_t>(out + 48, {w2, w3, w2, -1, w0, w1, u0 < 64 ? (int64_t)((uint64_t)w2 << u0) : 0, w3});
    store<int32_t>(out + 112, {127, 2, s5, s1});
}

LAUNCHES("handwritten/widths", KERNEL(widths))
