// SPDX-License-Identifier: MIT
// Computes the results of ../run/structs.run.
#include "cuda_shim.h"
#include "launches.h"

#include "structs.cu"

LAUNCHES("structs", KERNEL(transform_points), KERNEL(frame), KERNEL(bitfields))
