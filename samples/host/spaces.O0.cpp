// SPDX-License-Identifier: MIT
// Computes the results of ../run/spaces.O0.run. There the window of kernel parameters is inside the global one.
#define SPACES_RUN "spaces.O0"
#define __isGlobal(p) (which[i] >= 3)
#include "spaces.cpp"
