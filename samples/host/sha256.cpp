// SPDX-License-Identifier: MIT
// What SHA-256 and FNV-1a of the launches in ../run/sha256.run give.
#include "cuda_shim.h"
#include "launches.h"

#include "sha256.cu"

LAUNCHES("sha256", KERNEL(sha256_block), KERNEL(fnv1a))
