// SPDX-License-Identifier: MIT
// Shared by the files that inline calls: inline_scan.c, inline_check.c, inline_call.c.
#ifndef ORI_INLINE_INTERNAL_H
#define ORI_INLINE_INTERNAL_H

#include "ir/analysis/analysis.h"
#include "ir/rewrite/inline_call.h"

static inline uint32_t local_index(SymId s) { return s & ~(uint32_t)SYM_LOCAL; }

/* inline_scan.c */
// True for an access of a parameter of the function or of a call; `.param::entry` is a parameter of the kernel.
bool is_param_access(const Fn *fn, const Desc *d);
// True if an instruction stops the grid.
bool stops_grid(const Fn *fn, const Instr *i);
// Returns the formal parameter or result of a function; 0 if it has no such one.
SymId formal_at(const Fn *fn, bool result, uint32_t k);
// Returns the name if it is free, else `name_1`, `name_2` and so on.
Name unique_name(Inliner *in, Name name);
// Returns the uses of a local symbol by calls.
SymbolUses *uses_of(Inliner *in, SymId s);
// Enter the instructions of a block into the tables; then, when all blocks are, judge its calls.
void index_block(Inliner *in, BlockId b);
void judge_calls(Inliner *in, BlockId b);

#endif
