// SPDX-License-Identifier: MIT
// The one kernel of handwritten/directives.ptx that needs neither a texture nor a cluster.
#include "cuda_shim.h"
#include "launches.h"

static void fixed() {}

LAUNCHES("handwritten/directives", KERNEL(fixed))
