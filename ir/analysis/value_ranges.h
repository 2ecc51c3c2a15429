// SPDX-License-Identifier: MIT
// Value ranges of registers: known bits and intervals, from definitions, through phis, and under dominating conditions.
// Computed on demand and memoized; not stored with the function.
#ifndef ORI_VALUE_RANGES_H
#define ORI_VALUE_RANGES_H

#include "ir/analysis/analysis.h"
#include "ir/eval/range.h"

// Requires AN_CFG, AN_RPO, AN_DOM and AN_DEF. The function may change between queries as long as registers keep their
// values and branches stay (the file comment of value_ranges.c has the reason). If `joined` is set, joined registers of
// multi form have ranges, too. Then AN_RDEFS must be valid and the function must not change.
typedef struct ValueRanges {
    const Fn *fn;
    const Analyses *a;
    bool joined;
    EvalCache *evals;
    Arena *arena;
    uint32_t threads;  // maximum number of threads in a CTA; 0 = not declared
    uint32_t size[3];  // .reqntid; 0 = not declared
    // The rest is private to value_ranges.c.
    BlockId *conditional;         // by BlockId: the nearest dominator with a condition, which may be the block itself
    struct Condition *condition;  // by BlockId: the condition of the block
    struct Conditions *here;      // of the last queried block
    uint32_t *place;              // by ValueId: index in `known`, or a code
    uint32_t nplaces;
    VEC(ValueRange) known;
    VEC(ValueId) trail;   // values memoized while phis are iterated
    uint32_t depth;       // nested definitions being computed
    bool apart;           // range_apart() is running; in an irreducible loop its inputs may lead back to it
    uint32_t open, work;  // phis being iterated; definitions visited for them
} ValueRanges;

// Starts an analysis. The caller may share `evals`. All memory comes from the arena.
void value_ranges_init(ValueRanges *k, const Fn *fn, const Analyses *a, bool joined, EvalCache *evals, Arena *arena);
// Returns the range of an operand that a block reads: a register or a constant of at most 64 bits. Joined registers
// have the full range.
ValueRange value_range(ValueRanges *k, Operand o, BlockId at);
// True if an operand has the full range, and a few tests show it. Costs less than its range.
bool value_is_unknown(ValueRanges *k, Operand o, BlockId at);
// Returns the range of operand n of an instruction. For a joined register the function must not have changed.
ValueRange value_range_of_use(ValueRanges *k, InstrId i, uint32_t n);
// Returns the range of a value of AN_RDEFS, which holds at all uses. It is full for 0, VALUE_ANY and values of more
// than 64 bits. The function must not have changed.
ValueRange value_range_of_value(ValueRanges *k, ValueId v);

#endif
