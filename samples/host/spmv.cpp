// SPDX-License-Identifier: MIT
// Computes the results of ../run/spmv.run.
#include "cuda_shim.h"
#include "launches.h"

#define __restrict__
#include "spmv.cu"

LAUNCHES("spmv", KERNEL(spmv_scalar), KERNEL_AS("_Z11spmv_vectorILi32EEvPKiS1_S1_S1_Pxi", spmv_vector<32>),
         KERNEL_AS("_Z11spmv_vectorILi4EEvPKiS1_S1_S1_Pxi", spmv_vector<4>), KERNEL(bfs_level))
