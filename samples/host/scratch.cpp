// SPDX-License-Identifier: MIT
// Computes the results of ../run/scratch.run.
#include "cuda_shim.h"
#include "launches.h"

#include "scratch.cu"

LAUNCHES("scratch", KERNEL(postfix), KERNEL(median), KERNEL(team_sums))
