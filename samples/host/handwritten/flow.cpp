// SPDX-License-Identifier: MIT
// Computes the results of handwritten/flow.ptx; loops with two entries use goto.
#include "cuda_shim.h"
#include "launches.h"

static uint32_t irreducible(uint32_t a)
{
    if (!(a & 1))
        goto right;
left:
    a += 3;
    if (a > 1000)
        return a;
right:
    a += a;
    if (!(a > 900))
        goto left;
    return a;
}

static void flow(uint32_t *out, uint32_t n)
{
    uint32_t s = 0;
    for (uint32_t i = 0; i < n;) {
        s += i * (i + 1) / 2;
        i++;
        if (s > 100000)
            return;
        if ((i & 7) == 5)
            s += 1000;
    }
    s = irreducible(s);
    if (s == 0)
        host_fail("an endless loop");
    *out = s;
}

static void nothing() {}
static void endless_if(uint32_t go)
{
    if (go)
        host_fail("an endless loop");
}

LAUNCHES("handwritten/flow", KERNEL(flow), KERNEL_AS("empty", nothing), KERNEL_AS("no_list", nothing),
         KERNEL(endless_if))
