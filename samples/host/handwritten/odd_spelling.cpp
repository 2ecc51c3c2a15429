// SPDX-License-Identifier: MIT
// What handwritten/odd_spelling.ptx computes in its first thread.
#include "cuda_shim.h"
#include "launches.h"

static void odd(uint32_t *out)
{
    uint32_t r2 = 0 + 3, r4 = r2 + 0 + 5;          // 0 + -1 does not carry; p1 is false: 0 != 9, and so is p
    out[0] = __float_as_uint(1.5f * 1.5f + 1.0f);  // written last
    out[1] = r4 ^ r2;
}

LAUNCHES("handwritten/odd_spelling", KERNEL(odd))
