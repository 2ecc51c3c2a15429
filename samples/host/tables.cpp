// SPDX-License-Identifier: MIT
// What the launches in ../run/tables.run give.
#include "cuda_shim.h"
#include "launches.h"

#include "tables.cu"

// Pointers are variables too, but their values are no expectation.
LAUNCHES("tables", KERNEL(read_tables), KERNEL(write_tables), VARIABLE(counter), VARIABLE(bytes), VARIABLE(grid2d),
         VARIABLE(floats), VARIABLE(pi), VARIABLE(wide), VARIABLE(aligned_data), VARIABLE(ready), VARIABLE(quad),
         VARIABLE(second_row), VARIABLE(shared_with_host))
