// SPDX-License-Identifier: MIT
// Computes the results of ../run/cursors.run.
#include "cuda_shim.h"
#include "launches.h"

#include "cursors.cu"

LAUNCHES("cursors", KERNEL(cursor_search), KERNEL(cursor_partition), KERNEL(cursor_runs))
