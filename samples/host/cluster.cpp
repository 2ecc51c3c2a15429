// SPDX-License-Identifier: MIT
// What the launches in ../run/cluster.run give.
#include "cuda_shim.h"
#include "launches.h"

#include "cluster.cu"

LAUNCHES("cluster", KERNEL_AS("_Z9neighbourPKiPi", neighbour), KERNEL(bulk_reverse))
