// SPDX-License-Identifier: MIT
// Computes what handwritten/tenths.ptx computes.
#include "cuda_shim.h"
#include "launches.h"

static void tenths(const uint32_t *data, uint32_t *bins)
{
    atomicAdd(&bins[data[blockIdx.x * blockDim.x + threadIdx.x] / 10], 1u);
}

LAUNCHES("handwritten/tenths", KERNEL(tenths))
