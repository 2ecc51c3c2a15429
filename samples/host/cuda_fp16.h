// SPDX-License-Identifier: MIT
// Replaces CUDA's header of this name.
#include "host_half.h"
