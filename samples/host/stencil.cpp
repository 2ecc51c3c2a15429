// SPDX-License-Identifier: MIT
// What the launches in ../run/stencil.run give.
#include "stencil.cu"
#include "cuda_shim.h"
#include "launches.h"

LAUNCHES("stencil", KERNEL(stencil1d), KERNEL(heat2d), KERNEL(life32))
