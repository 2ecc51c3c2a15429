// SPDX-License-Identifier: MIT
// The one kernel of handwritten/directives.ptx that needs no texture and does not race.
#include "cuda_shim.h"
#include "launches.h"

static void fixed() {}

LAUNCHES("handwritten/directives", KERNEL(fixed))
