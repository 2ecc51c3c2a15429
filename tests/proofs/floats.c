// SPDX-License-Identifier: MIT
// Proves the rule of folding for floating point: division by a power of two equals multiplication by its reciprocal,
// bit for bit, if the reciprocal is a normal number.
//
// In f16 for all operands, with the same arithmetic in another format; in f32 for corners and random operands, with the
// evaluator's results of both instructions.
#include <stdio.h>

#include "ir/eval/eval.h"
#include "tests/proofs/rules.h"

// Returns the power of two with this exponent.
static uint64_t power(const Format *f, uint32_t exponent, bool negative)
{
    return (uint64_t)exponent << f->frac_bits | (uint64_t)negative << (f->frac_bits + f->exp_bits);
}

static uint64_t reciprocal(const Format *f, uint32_t exponent, bool negative)
{
    return power(f, (1u << f->exp_bits) - 2 - exponent, negative);
}

static unsigned long differ(const char *what, uint64_t x, uint64_t y, uint64_t quotient, uint64_t product)
{
    printf("floats: %s: %llx / %llx is %llx, the product %llx\n", what, (unsigned long long)x, (unsigned long long)y,
           (unsigned long long)quotient, (unsigned long long)product);
    return 1;
}

static unsigned long prove_halves(void)
{
    const Format *f = &format_f16;
    uint32_t last = (1u << f->exp_bits) - 3;
    for (uint32_t k = 0; k < 2 * last; k++) {
        uint32_t exponent = 1 + k / 2;
        uint64_t y = power(f, exponent, k % 2), z = reciprocal(f, exponent, k % 2);
        for (uint64_t x = 0; x < 1 << 16; x++) {
            uint64_t quotient = float_div(f, x, y, ROUND_NEAREST_EVEN),
                     product = float_mul(f, x, z, ROUND_NEAREST_EVEN);
            if (quotient != product)
                return differ("f16", x, y, quotient, product);
        }
    }
    return 0;
}

static unsigned long prove_singles(Arena *arena, bool ftz, unsigned long n)
{
    Tables tables;
    Eval div, mul;
    const char *why, *names[] = {ftz ? "div.rn.ftz.f32" : "div.rn.f32", ftz ? "mul.rn.ftz.f32" : "mul.rn.f32"};
    Eval *evals[] = {&div, &mul};
    tables_init(&tables, arena, NULL);
    for (int k = 0; k < 2; k++) {
        DescId id = desc_intern(&tables, mnem_intern(&tables, names[k], strlen(names[k])), "%,%,%", 5, &why);
        if (!eval_decode(&tables, tab_desc(&tables, id), evals[k]))
            return differ("no evaluator", 0, 0, 0, 0);
    }
    for (unsigned long k = 0; k < n; k++) {
        uint64_t bits = draw();
        uint32_t exponent = 1 + (uint32_t)(bits >> 40) % 253;
        bool negative = bits >> 39 & 1;
        // Numbers whose quotients are subnormal or overflow are corners.
        uint64_t x = bits & UINT32_MAX;
        if (bits >> 60 == 0)
            x = (x & 0x807fffff) | (uint64_t)(bits >> 50 & 3) << 23;
        else if (bits >> 60 == 1)
            x = (x & 0x807fffff) | (uint64_t)(0xfc + (bits >> 50 & 3)) << 23;
        Value in[EVAL_IN_MAX] = {{.lo = x}, {.lo = power(&format_f32, exponent, negative)}}, out[2][EVAL_OUT_MAX];
        eval_run(&div, in, out[0]);
        in[1].lo = reciprocal(&format_f32, exponent, negative);
        eval_run(&mul, in, out[1]);
        if (out[0][0].lo != out[1][0].lo)
            return differ(names[0], x, power(&format_f32, exponent, negative), out[0][0].lo, out[1][0].lo);
    }
    return 0;
}

void prove_floats(Heap *heap, bool quick, unsigned long *passed, unsigned long *failed)
{
    Arena arena;
    arena_init(&arena, heap);
    unsigned long wrong[] = {prove_halves(), prove_singles(&arena, false, quick ? 20000 : 10000000),
                             prove_singles(&arena, true, quick ? 20000 : 10000000)};
    for (size_t k = 0; k < ARRAY_LEN(wrong); k++)
        *(wrong[k] ? failed : passed) += 1;
    arena_free(&arena);
}
