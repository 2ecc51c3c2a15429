// SPDX-License-Identifier: MIT
// Computes the results of handwritten/old_style_23.ptx for whole warps.
#include "cuda_shim.h"
#include "launches.h"

static uint32_t squares[8] = {0, 1, 4, 9, 16, 25, 36, 49};

static void old_votes(uint32_t *out)
{
    uint32_t p = threadIdx.x > 3, uses = 2;
    uint32_t few = __ballot_sync(0xffffffff, !p);
    out[threadIdx.x] = few * 9 * 3 + (uint32_t)__any_sync(0xffffffff, (int)p) + uses;
    squares[1]++;
}

LAUNCHES("handwritten/old_style_23", KERNEL(old_votes), VARIABLE(squares))
