// SPDX-License-Identifier: MIT
// Computes the results of ../run/work_queue.run.
#include "cuda_shim.h"
#include "launches.h"

#include "work_queue.cu"

// The variables are bound for their initial values; .run files expect only buffers, so that variables can go.
LAUNCHES("work_queue", KERNEL(queue_open), KERNEL(queue_add), KERNEL(queue_close), VARIABLE(queue_state),
         VARIABLE(queue_tuning), VARIABLE(queue_sizes))
