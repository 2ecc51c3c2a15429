// SPDX-License-Identifier: MIT
// Numbers the values of a function by the expressions that compute them: equal numbers are equal values.
#ifndef ORI_TERMS_H
#define ORI_TERMS_H

#include "ir/analysis/analysis.h"
#include "ir/analysis/value_table.h"

enum { TERM_LEVELS = 4 };  // depths are below this

// The number of a value at depth d depends on the instructions up to d definitions above it. Below, values are equal
// only if they are the same ValueId. Numbers of different depths must not be compared.
typedef struct Terms {
    const Fn *fn;
    const Analyses *a;
    Arena *arena;
    uint32_t n;        // numbers are 1 .. n
    ValueTable table;  // terms; the value is the number
    uint32_t *known;   // by depth * value_count() + ValueId; 0 = not numbered yet
} Terms;

// Starts numbering. `a` has AN_DEF and AN_RDEFS as in multi form (rdefs_of_part()). The function must not change.
void terms_init(Terms *t, const Fn *fn, const Analyses *a, Arena *arena);
// Returns the number of a value; 0 = the value is unknown (0 or VALUE_ANY).
uint32_t term_of_value(Terms *t, ValueId value, int depth);
// Returns the number of operand k of an instruction; 0 = the value is unknown.
uint32_t term_of_operand(Terms *t, InstrId id, uint32_t k, int depth);

#endif
