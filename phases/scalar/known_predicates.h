// SPDX-License-Identifier: MIT
// Predicates whose truth is known in a block, in ssa form: constants, dominating conditions, and comparisons that these
// imply.
#ifndef ORI_KNOWN_PREDICATES_H
#define ORI_KNOWN_PREDICATES_H

#include "phases/scalar/relations.h"

// Requires AN_CFG, AN_DOM and AN_DEF. The function may change as long as registers keep their values and branches stay.
typedef struct KnownPredicates {
    const Fn *fn;
    const Analyses *a;
    ScopedTable facts;  // changes of `known` and of relations
    Relations relations;
    uint32_t *known;  // by RegId below nregs: Truth
    RegId nregs;
} KnownPredicates;

// Starts a walk over the blocks. All memory comes from the arena.
void known_init(KnownPredicates *k, const Fn *fn, const Analyses *a, Arena *arena);
// Moves to a block. The blocks must come in preorder of the dominator tree.
void known_enter(KnownPredicates *k, BlockId b);
// Returns the truth of a predicate operand in the current block. `guard` is the guard of the instruction that reads the
// operand (K_NONE = none): the result need only hold where the guard is true.
Truth known_truth(const KnownPredicates *k, Operand predicate, Operand guard);
// Returns the truth of the first result of a comparison in the current block; UNKNOWN for other instructions.
// `under_guard`: the result need only hold where the guard of the comparison is true.
Truth known_comparison(const KnownPredicates *k, const Instr *setp, bool under_guard);

#endif
