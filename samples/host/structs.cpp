// SPDX-License-Identifier: MIT
// What the launches in ../run/structs.run give.
#include "structs.cu"
#include "cuda_shim.h"
#include "launches.h"

LAUNCHES("structs", KERNEL(transform_points), KERNEL(frame), KERNEL(bitfields))
