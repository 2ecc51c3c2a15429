// SPDX-License-Identifier: MIT
// Computes the results of handwritten/debug.ptx.
#include "cuda_shim.h"
#include "launches.h"

static void k(uint32_t *p) { p[threadIdx.x] *= 2; }

LAUNCHES("handwritten/debug", KERNEL(k))
