// SPDX-License-Identifier: MIT
// Computes the results of ../run/counters.run.
#include "cuda_shim.h"
#include "launches.h"

#include "counters.cu"

LAUNCHES("counters", KERNEL(count_block), KERNEL(elect))
