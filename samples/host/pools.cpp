// SPDX-License-Identifier: MIT
// Computes the results of ../run/pools.run.
#include "cuda_shim.h"
#include "launches.h"

#include "pools.cu"

LAUNCHES("pools", KERNEL(fill_pool), KERNEL(use_pool))
