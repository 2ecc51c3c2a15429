// SPDX-License-Identifier: MIT
// What is known of a value from what defines it and from the conditions under which a block runs.
#ifndef ORI_VALUE_RANGES_H
#define ORI_VALUE_RANGES_H

#include "ir/analysis/analysis.h"
#include "ir/eval/range.h"

// What finds the one unguarded definition of a register that dominates all that reads it; 0 = there is none.
typedef InstrId DefinitionOf(const void *user, RegId r);

// Somebody who asks. Needs AN_DOM; branches must stay as they are while it is in use.
typedef struct ValueRanges {
    const Fn *fn;
    const Analyses *a;
    DefinitionOf *definition;
    const void *user;
    EvalCache *evals;
    Arena *arena;
    BlockId *conditional;  // by BlockId: the next block up the dominator tree, or itself, that runs under a condition
    struct Subject *subject;  // by BlockId: what that condition is about
    struct Condition *here;   // the last conditions that block `at` runs under
    uint32_t nhere;
    BlockId at;
    uint64_t about;                 // bits of what these are about
    struct Remembered *remembered;  // of registers, whatever block they are read in
    uint32_t nremembered;           // a power of two; 0 = none yet
    uint32_t threads;               // a block has at most so many; 0 = as many as there can be
    uint32_t size[3];               // .reqntid; 0 = not said
} ValueRanges;

void value_ranges_init(ValueRanges *k, const Fn *fn, const Analyses *a, DefinitionOf *definition, const void *user,
                       EvalCache *evals, Arena *arena);
// Returns the range of an operand, a register or a constant of at most 64 bits, that is read in a block.
ValueRange value_range(ValueRanges *k, Operand o, BlockId at);

#endif
