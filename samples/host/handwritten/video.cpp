// SPDX-License-Identifier: MIT
// Computes the results of handwritten/video.ptx, by the pseudocode of the PTX ISA.
#include "cuda_shim.h"
#include "launches.h"

static int byte(uint32_t v, int k) { return (int)(v >> 8 * k & 0xff); }
static int signed_byte(uint32_t v, int k) { return (int8_t)byte(v, k); }
static int half(uint32_t v, int k) { return (int)(v >> 16 * k & 0xffff); }
static int signed_half(uint32_t v, int k) { return (int16_t)half(v, k); }
static int saturate(int64_t v) { return (int)std::min<int64_t>(std::max<int64_t>(v, INT_MIN), INT_MAX); }

static double value(uint32_t h)
{
    int e = h >> 10 & 31, digits = h & 0x3ff;
    if (e == 31 && digits)
        host_fail("a half that is no number");
    if (e == 31)
        return h >> 15 & 1 ? -INFINITY : INFINITY;
    return ldexp(e ? digits | 0x400 : digits, std::max(e, 1) - 25) * (h >> 15 & 1 ? -1 : 1);
}
static uint32_t nearest_half(double v)
{
    _Float16 h = (_Float16)v;
    uint16_t bits;
    memcpy(&bits, &h, 2);
    return bits;
}
static uint32_t max_half(uint32_t a, uint32_t b) { return value(a) > value(b) ? a : b; }

static void video(const uint32_t *in, uint32_t *out)
{
    uint32_t r0 = in[0], r1 = in[1], r2 = in[2];
    int64_t s0 = (int)r0, s1 = (int)r1, s2 = (int)r2;

    out[0] = (uint32_t)(byte(r0, 1) + signed_half(r1, 0));
    out[1] = (r2 & 0xffff) | (uint32_t)(signed_byte(r0, 3) - signed_byte(r1, 0)) << 16;
    out[2] = (uint32_t)llabs(s0 - s1) + r2;
    uint32_t r7 = (uint32_t)saturate(-((int64_t)signed_half(r0, 1) * byte(r1, 2)) + s2);
    out[3] = (uint32_t)(((uint64_t)(byte(r0, 0) * byte(r1, 0)) + r7) >> 7);
    out[4] = signed_byte(r0, 0) < byte(r1, 1);
    out[5] = r0 << 3;
    out[6] = 0;
    for (int k = 0; k < 4; k++)
        out[6] |= (uint32_t)(std::max(signed_byte(r0, k), signed_byte(r1, k)) & 0xff) << 8 * k;
    out[7] = (uint32_t)(abs(byte(r0, 0) - byte(r1, 0)) + abs(byte(r0, 1) - byte(r1, 1))) + r2;
    // .h32 of both sources is the second, .h10 the first: the average is symmetric.
    out[8] = 0;
    for (int k = 0; k < 2; k++) {
        int sum = signed_half(r0, k) + signed_half(r1, k);
        out[8] |= (uint32_t)((sum >= 0 ? sum + 1 : sum) >> 1 & 0xffff) << 16 * k;
    }
    out[9] = (uint32_t)(((uint64_t)r1 << 32 | r0) >> 8 * (r2 & 3));
    out[10] = (uint32_t)half(r0, 1) * 0x10001;
    out[11] = out[12] = r2;
    for (int k = 0; k < 4; k++)
        out[11] += (uint32_t)(signed_byte(r0, k) * byte(r1, k));
    for (int k = 0; k < 2; k++)
        out[12] += (uint32_t)half(r0, k) * (uint32_t)byte(r1, k);
    out[13] = 0x7fu << (r0 & 31);
    out[14] = (uint32_t)((int)(r0 << 20) >> 20);
    out[15] = r1 ? (uint32_t)__builtin_clz(r1) : 0xffffffff;
    out[16] = 0xffffffff;
    for (int k = 0, n = 0; k < 32; k++)
        if (r0 >> k & 1 && ++n == 3)
            out[16] = (uint32_t)k;
    out[17] = (uint32_t)llabs(s0 - s1) + r2;
    out[18] = (uint32_t)((int64_t)((int)(r0 << 8) >> 8) * ((int)(r1 << 8) >> 8) >> 16);
    out[19] = (uint32_t)saturate(s0 + s1);

    // Products of halves, and these plus 1, are exact in double.
    uint32_t low = nearest_half(value((uint32_t)half(r0, 0)) * value((uint32_t)half(r0, 1)) + 1), one = 0x3c00;
    uint32_t square = nearest_half(value(low) * value(low));
    if (value(low) < value(square)) {
        out[20] = (square ^ 0x8000) | (one ^ 0x8000) << 16;
        out[21] = max_half(low, square ^ 0x8000) | one << 16;
    } else {
        out[20] = square | one << 16;
        out[21] = max_half(low, square) | one << 16;
    }
}

LAUNCHES("handwritten/video", KERNEL(video))
