// SPDX-License-Identifier: MIT
// The reader of fold_rules.def.
#ifndef ORI_READ_RULES_H
#define ORI_READ_RULES_H

#include "phases/scalar/fold/fold_rules.h"

// The parts of a RuleSet. Element 0 of `rules` and of `exprs` is unused.
typedef struct RuleTables {
    VEC(Rule) rules;
    uint32_t npatterns;
    VEC(RuleNode) nodes;  // their mnemonics are ids of `tables`
    Tables tables;
    VEC(const char *) exprs;  // in C; RuleValues *v has the values
} RuleTables;

// Reads the rules into memory of the arena. A mistake in a rule is an internal error (heap_fail).
void rules_read(Arena *arena, RuleTables *tables);

#endif
