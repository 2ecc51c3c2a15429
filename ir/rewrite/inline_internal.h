// SPDX-License-Identifier: MIT
// Shared by the files that inline calls: inline_scan.c, inline_check.c, inline_lines.c, inline_call.c.
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

/* inline_lines.c */
// Copies of the lines of a callee in a caller.
typedef struct LineCopy {
    Arena *arena;
    Fn *fn;
    const Fn *from;
    LineId *copies;  // by the callee's ids; 0 = not copied yet
    LineId call;     // 0: lines of the callee's own code stay as they are
    LineId at;       // a copy of `call`, once a line refers to it
    Name function;   // label of the callee's name
    VEC(LineId) chain;
} LineCopy;

LineCopy line_copy_begin(Arena *arena, Fn *fn, const Fn *callee, LineId call);
LineId line_copy(LineCopy *c, LineId id);

#endif
