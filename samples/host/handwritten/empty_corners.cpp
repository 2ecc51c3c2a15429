// SPDX-License-Identifier: MIT
// Computes the results of handwritten/empty_corners.ptx.
#include "cuda_shim.h"
#include "launches.h"

static void corners(uint32_t *p, uint32_t q) { p[0] = q; }

LAUNCHES("handwritten/empty_corners",
         KERNEL_AS("k_$_0123456789_a_rather_long_name_that_demanglers_do_not_know", corners))
