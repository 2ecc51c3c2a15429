// SPDX-License-Identifier: MIT
// Kernel parameters that hold addresses of global memory, by their declarations or by a premise.
#ifndef ORI_PARAM_POINTERS_H
#define ORI_PARAM_POINTERS_H

#include "ir/analysis/analysis.h"

/* param_pointers.c */
// True if an instruction loads the value of a kernel parameter that is declared `.ptr .global`.
bool loads_global_pointer(const Fn *fn, const Instr *i);
// True if the kernel has such a parameter.
bool has_global_pointer(const Fn *fn);
// Returns the loads of kernel parameters, true by InstrId, that give addresses of global memory under the premise that
// each value in the parameters which the kernel uses as an address is one. NULL: there are none. The result lies in the
// arena. Requires AN_DEFUSE.
const bool *param_pointers(const Fn *fn, const Analyses *a, Arena *arena);

#endif
