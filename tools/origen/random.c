// SPDX-License-Identifier: MIT
// Random numbers: splitmix64, the same on every machine.
//
// The order of draws is part of the meaning of a seed, so no expression with unspecified order of evaluation has two
// draws.
#include "tools/origen/origen.h"

uint64_t random_next(uint64_t *state)
{
    uint64_t x = *state += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

uint64_t random_start(uint64_t seed, const char *purpose)
{
    uint64_t state = seed;
    for (const char *at = purpose; *at; at++)
        state = random_next(&state) ^ (unsigned char)*at;
    return random_next(&state);
}

uint64_t draw(Gen *g) { return random_next(&g->rng); }

uint32_t roll(Gen *g, uint32_t n) { return (uint32_t)((draw(g) >> 32) * n >> 32); }

uint32_t roll_between(Gen *g, uint32_t least, uint32_t most) { return least + roll(g, most - least + 1); }

bool chance(Gen *g, uint32_t k, uint32_t n) { return roll(g, n) < k; }
