// SPDX-License-Identifier: MIT
// Computes the results and initializers of handwritten/constants.ptx. The host compiler evaluates the same expressions
// in 64 bits, as PTX does.
#include "cuda_shim.h"
#include "launches.h"

static uint32_t operators[24];
static int64_t casts[3] = {-1, (int64_t)((uint64_t)1 << 40), (int64_t)0x8000000000000000 >> 60};
static uint32_t literals[8] = {10, 0x1F, 0X1f, 017, 0b1011, 0B11U, 4294967295U, 0};
static uint8_t narrow[4] = {(uint8_t)300, (uint8_t)-1, 97 == 0x61 ? 1 : 2, 32};
static float floats[6] = {1.0f, -2.5f, 1e5f, .5f, 1.0f, 1.e-5f};
static double doubles[5] = {0.1, -1e-300, 1.0, 2.0, 3.};
static uint32_t many = 1, comma = 2, list[3];

static void initialize()
{
    const int64_t values[24] = {
        1 + 2, 7 - 9, 3 * 5, 17 / 5, 17 % 5, 1 << 4, -256 >> 4, 6 & 3,  6 | 3,  6 ^ 3,     ~0,
        !5,    3 < 4, 3 > 4, 3 <= 3, 3 >= 4, 3 == 3, 3 != 3,    1 && 0, 1 || 0, 1 ? 2 : 3, (1 + 2) * (3 + 4),
        -(-3), +8};
    for (int k = 0; k < 24; k++)
        operators[k] = (uint32_t)values[k];
}
static const bool initialized = (initialize(), true);

static void constants(uint8_t *out)
{
    uint32_t r1 = (0x10 | 0b1) + ((7 << 2) ^ 32), r7 = 0xABCD >> 4 & 0xff, r8 = r7 | 0xF << 8;
    uint32_t words[] = {1 + 2 * 3,
                        3,
                        r1,
                        0xffffffff,
                        (uint32_t)(!0 ? ~5 : 6),
                        5 - -3,
                        3 * 4 + 5,
                        1,
                        2,
                        r7,
                        r8,
                        1 ^ r8 ^ 0777,
                        0x00010203,
                        2 << 1,
                        (uint32_t)4294967297,
                        16};
    float f[] = {INFINITY, fmaf(2.0f, -1.25e-3f, 1.0f), (float)0.1, -7.0f};
    double d[] = {0.1 + 1.0, DBL_MAX};
    uint64_t w[] = {65536ull * 0x10000, 1 | (uint64_t)(uint32_t)4294967297 << 32};
    float last[] = {-1.0f, sqrtf(2.0f)};
    uint32_t flag = 0x1FF, none = 0;  // -1 is not less than 1 as unsigned
    out[3] = (uint8_t)300;
    memcpy(out + 8, &flag, 4);
    memcpy(out + 16, words, sizeof words);
    memcpy(out + 80, f, sizeof f);
    memcpy(out + 96, d, sizeof d);
    memcpy(out + 112, w, sizeof w);
    memcpy(out + 128, last, sizeof last);
    memcpy(out + 136, &none, 4);
}

LAUNCHES("handwritten/constants", KERNEL(constants), VARIABLE(operators), VARIABLE(casts), VARIABLE(literals),
         VARIABLE(narrow), VARIABLE(floats), VARIABLE(doubles), VARIABLE(many), VARIABLE(comma), VARIABLE(list))
