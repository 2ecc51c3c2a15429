// SPDX-License-Identifier: MIT
// Computes the results of ../run/modes.run.
#include "cuda_shim.h"
#include "launches.h"

#include "modes.cu"

LAUNCHES("modes", KERNEL(set_modes), KERNEL(apply_modes))
