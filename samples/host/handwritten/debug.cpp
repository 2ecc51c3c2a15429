// SPDX-License-Identifier: MIT
// What handwritten/debug.ptx computes.
#include "cuda_shim.h"
#include "launches.h"

static void k(uint32_t *p) { p[threadIdx.x] *= 2; }

LAUNCHES("handwritten/debug", KERNEL(k))
