// SPDX-License-Identifier: MIT
// Computes the results of ../run/warp.run.
#include "cuda_shim.h"
#include "launches.h"

// Lanes that tickets() has chosen.
#define __activemask() chosen(in + (i & ~31))
static unsigned chosen(const int *in)
{
    unsigned mask = 0;
    for (int k = 0; k < 32; k++)
        mask |= (unsigned)(in[k] % 3 == 0) << k;
    return mask;
}

#include "warp.cu"

LAUNCHES("warp", KERNEL(compact), KERNEL(group_sizes), KERNEL(warp_redux), KERNEL(tickets),
         KERNEL_AS("_Z12rotate_lanesIdEvPKT_PS0_i", rotate_lanes<double>),
         KERNEL_AS("_Z12rotate_lanesIfEvPKT_PS0_i", rotate_lanes<float>))
