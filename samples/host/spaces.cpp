// SPDX-License-Identifier: MIT
// Computes the results of ../run/spaces.run. The space of a pointer follows from the value that the kernel selects it
// by.
#include "cuda_shim.h"
#include "launches.h"

#include <alloca.h>

#define __isShared(p) (which[i] == 0)
#define __isLocal(p) (which[i] == 1)
#define __isConstant(p) (which[i] == 2)
#ifndef SPACES_RUN
#define SPACES_RUN "spaces"
#define __isGlobal(p) 1
#endif

#include "spaces.cu"

LAUNCHES(SPACES_RUN, KERNEL(generic_pointers), KERNEL(digits), KERNEL(two_entries))
