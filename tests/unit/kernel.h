// SPDX-License-Identifier: MIT
// A kernel in Ori text, in a context that can run phases on it.
#ifndef ORI_UNIT_KERNEL_H
#define ORI_UNIT_KERNEL_H

#include "ir/text/text.h"
#include "tests/unit/unit.h"

typedef struct Kernel {
    Ctx ctx;
    Module *module;
    Fn *fn;
    TextBuffer printed;
} Kernel;

// Reads the text of a kernel without parameters: declarations and blocks. `form` is "multi" or "ssa".
void kernel_open(Kernel *k, const char *form, const char *body);
// Checks that the kernel is valid, and frees it.
void kernel_close(Kernel *k);
// Returns the kernel as text, from its first label on.
const char *kernel_body(Kernel *k);

#endif
