// SPDX-License-Identifier: MIT
// Computes the results of ../run/filters.run.
#include "cuda_shim.h"
#include "launches.h"

#include "filters.cu"

LAUNCHES("filters", KERNEL(filter_row), KERNEL(dither_row))
