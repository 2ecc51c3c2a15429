// SPDX-License-Identifier: MIT
// Computes the results of ../run/shared_fields.run.
#include "cuda_shim.h"
#include "launches.h"

thread_local long long fields_dynamic[1024];
#include "shared_fields.cu"

LAUNCHES("shared_fields", KERNEL(fields_fold), KERNEL(fields_exchange), KERNEL(fields_pointers))
