// SPDX-License-Identifier: MIT
// What the launches in ../run/virtual.run give.
#include "virtual.cu"
#include "cuda_shim.h"
#include "launches.h"

LAUNCHES("virtual", KERNEL(shapes_local), KERNEL(shapes_heap))
