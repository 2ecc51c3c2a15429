// SPDX-License-Identifier: MIT
// Computes the results of ../run/stencil.run.
#include "cuda_shim.h"
#include "launches.h"

#include "stencil.cu"

LAUNCHES("stencil", KERNEL(stencil1d), KERNEL(heat2d), KERNEL(life32))
