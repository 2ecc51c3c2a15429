// SPDX-License-Identifier: MIT
// Computes the results and initializers of handwritten/variables.ptx, without addresses.
#include "cuda_shim.h"
#include "launches.h"

static uint32_t seen = 1, weak_word = 2, defined_below = 77, managed_word = 3, managed_too;
// ptxas fills nested braces without gaps (tried).
static int32_t cube[12] = {1, 2, 3, 4, -1, -2, 7, 8, 9};
static uint16_t open_ended[] = {1, 2, 3, 4, 5};
static uint32_t partial[8] = {9, 8};
static uint64_t big[2] = {1};
static uint8_t common_bytes[24], packed[12] = {0, 0, 0, 0, 0, 0, 0, 1, 2, 3};
static float point[2] = {0.5f, -0.5f};
static double third[1] = {0.333333333333333333};
static uint8_t text[6] = "hello";

struct ByValue {
    uint32_t words[6];
};

static void variables(uint32_t *out, ByValue v)
{
    uint32_t values[] = {v.words[5], (uint32_t)cube[3], (uint32_t)cube[2], seen, (uint32_t)cube[3],
                         text[1],    (uint32_t)cube[3]};
    memcpy(out, values, sizeof values);
    out[9] = open_ended[4];
    memcpy(out + 12, big, sizeof big);
}

LAUNCHES("handwritten/variables", KERNEL(variables), VARIABLE(seen), VARIABLE(weak_word), VARIABLE(defined_below),
         VARIABLE(managed_word), VARIABLE(managed_too), VARIABLE(cube), VARIABLE(open_ended), VARIABLE(partial),
         VARIABLE(big), VARIABLE(common_bytes), VARIABLE(packed), VARIABLE(point), VARIABLE(third), VARIABLE(text))
