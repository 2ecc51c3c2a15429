// SPDX-License-Identifier: MIT
// Makes literals, mostly boundary values.
#include <inttypes.h>
#include <stdio.h>

#include "tools/origen/origen.h"

typedef struct FloatShape {
    uint32_t bytes, exponent_bits, fraction_bits;
} FloatShape;

// Returns a small number, a number next to a power of two, or any number.
static uint64_t integer(Gen *g, uint32_t bits)
{
    uint64_t power = UINT64_C(1) << roll(g, bits);
    switch (roll(g, 8)) {
    case 0: return roll(g, 3);
    case 1: return power;
    case 2: return power - 1;
    case 3: return 0 - power;
    case 4: return 0 - (uint64_t)roll_between(g, 1, 16);
    case 5: return roll(g, 1u << 16);
    case 6: return draw(g);
    default: return roll(g, 32);
    }
}

static int64_t sign_extend(uint64_t x, uint32_t bits)
{
    uint64_t sign = UINT64_C(1) << (bits - 1), low = x & (sign | (sign - 1));
    return (int64_t)((low ^ sign) - sign);
}

static void print_integer(Gen *g, uint64_t x, uint32_t bits, Literal *l)
{
    int64_t n = sign_extend(x, bits);
    uint64_t low = bits == 64 ? x : x & ((UINT64_C(1) << bits) - 1);
    switch (roll(g, 12)) {
    case 0: snprintf(l->text, sizeof l->text, "0x%" PRIX64, low); break;
    case 1: snprintf(l->text, sizeof l->text, "0%" PRIo64, low); break;
    case 2: snprintf(l->text, sizeof l->text, "%" PRIu64 "U", low); break;
    default: snprintf(l->text, sizeof l->text, "%" PRId64, n); break;
    }
}

// Returns a zero, one, integer, fraction, subnormal, largest number, infinity, or the NaN.
static uint64_t floating(Gen *g, const FloatShape *s)
{
    uint64_t one = (UINT64_C(1) << (s->exponent_bits - 1)) - 1, top = (UINT64_C(1) << s->exponent_bits) - 1;
    uint64_t fraction = draw(g) & ((UINT64_C(1) << s->fraction_bits) - 1);
    uint64_t sign = (uint64_t)roll(g, 2) << (s->bytes * 8 - 1);
    uint64_t short_fraction = fraction >> (s->fraction_bits - 3) << (s->fraction_bits - 3);
    switch (roll(g, 12)) {
    case 0: return sign;
    case 1: return sign | one << s->fraction_bits;
    case 2: return sign | fraction;
    case 3: return sign | ((top << s->fraction_bits) - 1);
    case 4: return sign | top << s->fraction_bits;
    case 5: return top << s->fraction_bits | UINT64_C(1) << (s->fraction_bits - 1);
    case 6: return sign | 1;
    case 7: return sign | (one - 8 + roll(g, 16)) << s->fraction_bits | fraction;
    case 8: return sign | UINT64_C(1) << s->fraction_bits;
    default: return sign | (one - 2 + roll(g, 8)) << s->fraction_bits | short_fraction;
    }
}

Literal literal(Gen *g, Class c)
{
    static const FloatShape f32 = {4, 8, 23}, f64 = {8, 11, 52};
    const ClassInfo *info = &class_info[c];
    Literal l;
    if (info->literals == LITERALS_INT)
        print_integer(g, integer(g, info->bytes * 8), info->bytes * 8, &l);
    else if (info->bytes == 4)
        snprintf(l.text, sizeof l.text, "0f%08" PRIX64, floating(g, &f32));
    else
        snprintf(l.text, sizeof l.text, "0d%016" PRIX64, floating(g, &f64));
    return l;
}
