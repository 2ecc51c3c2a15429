// SPDX-License-Identifier: MIT
// Computes the results of ../run/cluster.run.
#include "cuda_shim.h"
#include "launches.h"

#include "cluster.cu"

LAUNCHES("cluster", KERNEL_AS("_Z9neighbourPKiPi", neighbour), KERNEL(bulk_reverse))
