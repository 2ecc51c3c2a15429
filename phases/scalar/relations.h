// SPDX-License-Identifier: MIT
// Comparisons of two values, and the outcomes that they leave possible.
#ifndef ORI_RELATIONS_H
#define ORI_RELATIONS_H

#include "ir/rewrite/rewrite.h"

typedef enum { UNKNOWN, IS_FALSE, IS_TRUE } Truth;

static inline Truth negated_if(Truth t, bool negate)
{
    return t == UNKNOWN || !negate ? t : t == IS_TRUE ? IS_FALSE : IS_TRUE;
}

// A comparison of the values a and b, which are numbers: equal numbers are equal values. a <= b.
typedef struct Comparison {
    uint32_t a, b;
    uint32_t kinds[2], nkinds;  // equality does not depend on signs, so it has both kinds
    uint32_t holds, all;        // sets of outcomes: those for which it is true, and those that are possible
} Comparison;

// Describes the comparison of a setp of a and b, without its boolean operand. False: the instruction does not make one
// comparison of two values.
bool comparison_describe(const Fn *fn, const Instr *setp, uint32_t a, uint32_t b, Comparison *c);
// Returns the truth of a comparison where `other` is true or false as `holds`.
Truth comparison_given(const Comparison *c, const Comparison *other, bool holds);

// The outcomes that are possible in the current scope of `facts`.
typedef struct Relations {
    Arena *arena;
    ScopedTable *facts;
    struct Relation **table;
    uint32_t mask;  // size of the table - 1
} Relations;

// Makes an empty table for about n comparisons.
void relations_init(Relations *r, ScopedTable *facts, Arena *arena, uint32_t n);
Truth relations_decide(const Relations *r, const Comparison *c);
// Records in the current scope that a comparison is true or false as `holds`.
void relations_restrict(Relations *r, const Comparison *c, bool holds);

#endif
