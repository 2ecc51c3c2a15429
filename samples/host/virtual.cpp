// SPDX-License-Identifier: MIT
// Computes the results of ../run/virtual.run.
#include "cuda_shim.h"
#include "launches.h"

#include "virtual.cu"

LAUNCHES("virtual", KERNEL(shapes_local), KERNEL(shapes_heap))
