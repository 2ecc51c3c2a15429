// SPDX-License-Identifier: MIT
// Random numbers for tests, the same on every machine (splitmix64).
#ifndef ORI_TEST_RANDOM_H
#define ORI_TEST_RANDOM_H

#include <stdint.h>

typedef struct Random {
    uint64_t state;
} Random;

static inline uint32_t random_next(Random *r)
{
    uint64_t x = r->state += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return (uint32_t)(x >> 32);
}

// Returns a number below n; 0 if n is 0.
static inline uint32_t random_below(Random *r, uint64_t n) { return n ? random_next(r) % (uint32_t)n : 0; }

#endif
