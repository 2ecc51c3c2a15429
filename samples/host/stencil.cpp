// SPDX-License-Identifier: MIT
// What the launches in ../run/stencil.run give.
#include "cuda_shim.h"
#include "launches.h"

#include "stencil.cu"

LAUNCHES("stencil", KERNEL(stencil1d), KERNEL(heat2d), KERNEL(life32))
