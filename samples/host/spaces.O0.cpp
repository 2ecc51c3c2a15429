// SPDX-License-Identifier: MIT
// What the launches in ../run/spaces.O0.run give. The window of kernel parameters is inside the global one.
#define SPACES_RUN "spaces.O0"
#define __isGlobal(p) (which[i] >= 3)
#include "spaces.cpp"
