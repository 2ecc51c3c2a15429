// SPDX-License-Identifier: MIT
// Computes the result of the first thread of handwritten/odd_spelling.ptx.
#include "cuda_shim.h"
#include "launches.h"

static void odd(uint32_t *out)
{
    uint32_t r2 = 0 + 3, r4 = r2 + 0 + 5;          // 0 + -1 does not carry; p1 and p are false: 0 != 9
    out[0] = __float_as_uint(1.5f * 1.5f + 1.0f);  // the last store
    out[1] = r4 ^ r2;
}

LAUNCHES("handwritten/odd_spelling", KERNEL(odd))
