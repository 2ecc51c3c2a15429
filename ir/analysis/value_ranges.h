// SPDX-License-Identifier: MIT
// Value ranges of registers: known bits and intervals, by what defines them, through phis, and by the conditions that
// dominate a block. Computed on demand and memoized; not kept with the function.
#ifndef ORI_VALUE_RANGES_H
#define ORI_VALUE_RANGES_H

#include "ir/analysis/analysis.h"
#include "ir/eval/range.h"

// Needs AN_CFG, AN_RPO, AN_DOM and AN_DEF. The function may change between queries as long as registers keep their
// values and branches stay (value_ranges.c says why). With `joined` it stays as it is, and AN_RDEFS is valid: then
// joined registers of multi form have ranges, too.
typedef struct ValueRanges {
    const Fn *fn;
    const Analyses *a;
    bool joined;
    EvalCache *evals;
    Arena *arena;
    uint32_t threads;  // a block has at most so many; 0 = as many as there can be
    uint32_t size[3];  // .reqntid; 0 = not said
    // The rest belongs to value_ranges.c.
    BlockId *conditional;         // by BlockId: the next block up the dominator tree, or itself, that has a condition
    struct Condition *condition;  // by BlockId: what it is
    struct Conditions *here;      // of the block that was asked about last
    uint32_t *place;              // by ValueId: the range in `known`, or a code
    uint32_t nplaces;
    VEC(ValueRange) known;
    VEC(ValueId) trail;   // what was memoized while phis are open
    uint32_t depth;       // definitions that are being looked at
    uint32_t open, work;  // phis that are being iterated; definitions looked at on their behalf
} ValueRanges;

// `evals` may be shared with the caller. All memory is of the arena.
void value_ranges_init(ValueRanges *k, const Fn *fn, const Analyses *a, bool joined, EvalCache *evals, Arena *arena);
// Returns the range of an operand that is read in a block: a register or a constant of at most 64 bits. Joined
// registers have the full range.
ValueRange value_range(ValueRanges *k, Operand o, BlockId at);
// Returns the range of operand n of an instruction. Of a joined register it needs that the function has not changed.
ValueRange value_range_of_use(ValueRanges *k, InstrId i, uint32_t n);
// Returns the range of a value of AN_RDEFS wherever it is read. Of 0, VALUE_ANY and values of more than 64 bits nothing
// is known. It needs that the function has not changed.
ValueRange value_range_of_value(ValueRanges *k, ValueId v);

#endif
