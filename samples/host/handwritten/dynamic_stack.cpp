// SPDX-License-Identifier: MIT
// Computes the results of handwritten/dynamic_stack.ptx.
#include "cuda_shim.h"
#include "launches.h"

static void dynamic_stack(uint32_t *out, uint32_t n)
{
    out[0] = 22;
    out[1] = 11;
    out[2] = 0;
    for (uint32_t k = 0; k < n; k++)
        out[2] += k;
    out[3] = 11 + 22;
    out[4] = 1 | 2;  // local, global, but not shared
}

LAUNCHES("handwritten/dynamic_stack", KERNEL(dynamic_stack))
