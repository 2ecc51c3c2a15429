// SPDX-License-Identifier: MIT
// Computes the results of handwritten/calls.ptx.
#include "cuda_shim.h"
#include "launches.h"

static uint32_t calls;

static uint32_t square(uint32_t x) { return x * x; }
static uint32_t twice(uint32_t x) { return (int32_t)x < 0 ? 0 : x + x; }

static void calls_kernel(uint32_t *out, uint32_t n)
{
    calls += 3;
    uint32_t four = 4 * (square(n) + 7);
    auto *f = n & 1 ? twice : square;
    uint32_t values[] = {square(n), twice(5), four, f(four), f(f(four)), twice(f(f(four)))};
    if (n == 0x7fffffff)
        host_fail("trap");
    memcpy(out, values, sizeof values);
    out[8] = 1;  // swapped with the address of the buffer
    out[9] = 0;
}

LAUNCHES("handwritten/calls", KERNEL(calls_kernel), VARIABLE(calls))
