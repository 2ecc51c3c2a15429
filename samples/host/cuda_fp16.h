// SPDX-License-Identifier: MIT
// Stands for the header of that name of CUDA.
#include "host_half.h"
