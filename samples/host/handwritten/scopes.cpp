// SPDX-License-Identifier: MIT
// Computes the results of handwritten/scopes.ptx.
#include "cuda_shim.h"
#include "launches.h"

static void scopes(uint32_t *out, uint32_t n)
{
    uint32_t x = n + 1, doubled = 1, down = 9;
    out[0] = 5;
    out[1] = 0;
    do {
        doubled += doubled;
    } while (doubled < x);
    x += doubled;
    do {
        down -= 2;
    } while ((int32_t)down > 0);
    x += down;
    uint32_t v = (x + 3 + 1) ^ 7;
    out[2] = out[3] = v ? v : 4;
}

LAUNCHES("handwritten/scopes", KERNEL(scopes))
