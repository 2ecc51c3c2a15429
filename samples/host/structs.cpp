// SPDX-License-Identifier: MIT
// What the launches in ../run/structs.run give.
#include "cuda_shim.h"
#include "launches.h"

#include "structs.cu"

LAUNCHES("structs", KERNEL(transform_points), KERNEL(frame), KERNEL(bitfields))
