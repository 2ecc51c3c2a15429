// SPDX-License-Identifier: MIT
// Computes the results of ../run/tables.run.
#include "cuda_shim.h"
#include "launches.h"

#include "tables.cu"

// Without the pointers: their values are addresses.
LAUNCHES("tables", KERNEL(read_tables), KERNEL(write_tables), VARIABLE(counter), VARIABLE(bytes), VARIABLE(grid2d),
         VARIABLE(floats), VARIABLE(pi), VARIABLE(wide), VARIABLE(aligned_data), VARIABLE(ready), VARIABLE(quad),
         VARIABLE(second_row), VARIABLE(shared_with_host))
