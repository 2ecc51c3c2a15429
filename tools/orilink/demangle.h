// SPDX-License-Identifier: MIT
// Demangling of C++ names as nvcc emits them (Itanium C++ ABI).
#ifndef ORI_DEMANGLE_H
#define ORI_DEMANGLE_H

#include "ir/base/base.h"

// Returns the declaration that a mangled name stands for, in the arena; the name itself if it is none, or has a form
// that is unknown here.
const char *demangle(const char *name, Arena *arena);

#endif
