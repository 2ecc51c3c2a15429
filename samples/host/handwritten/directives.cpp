// SPDX-License-Identifier: MIT
// Computes the results of the one kernel of handwritten/directives.ptx that needs no texture and has no race.
#include "cuda_shim.h"
#include "launches.h"

static void fixed() {}

LAUNCHES("handwritten/directives", KERNEL(fixed))
