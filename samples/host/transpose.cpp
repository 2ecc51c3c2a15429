// SPDX-License-Identifier: MIT
// Computes the results of ../run/transpose.run.
#include "cuda_shim.h"
#include "launches.h"

#include "transpose.cu"

LAUNCHES("transpose", KERNEL_AS("_Z9transposeIhEvPKT_PS0_ii", transpose<unsigned char>),
         KERNEL_AS("_Z9transposeIfEvPKT_PS0_ii", transpose<float>),
         KERNEL_AS("_Z9transposeI4int4EvPKT_PS1_ii", transpose<int4>), KERNEL(permute3d), KERNEL(planes),
         KERNEL(reverse_pairs))
