// SPDX-License-Identifier: MIT
// Computes the results of ../run/sha256.run.
#include "cuda_shim.h"
#include "launches.h"

#include "sha256.cu"

LAUNCHES("sha256", KERNEL(sha256_block), KERNEL(fnv1a))
