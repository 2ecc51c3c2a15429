// SPDX-License-Identifier: MIT
// Computes the results of ../run/block_state.run.
#include "cuda_shim.h"
#include "launches.h"

#include "block_state.cu"

LAUNCHES("block_state", KERNEL(block_squares), KERNEL(block_center))
