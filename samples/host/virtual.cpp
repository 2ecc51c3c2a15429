// SPDX-License-Identifier: MIT
// What the launches in ../run/virtual.run give.
#include "cuda_shim.h"
#include "launches.h"

#include "virtual.cu"

LAUNCHES("virtual", KERNEL(shapes_local), KERNEL(shapes_heap))
