// SPDX-License-Identifier: MIT
// What is known of a value from what defines it and from the conditions under which a block runs.
#ifndef ORI_KNOWN_FACTS_H
#define ORI_KNOWN_FACTS_H

#include "ir/analysis/analysis.h"
#include "phases/scalar/fold/facts.h"

// Somebody who asks. Needs AN_DOM and AN_DEF; branches must stay as they are while it is in use.
typedef struct KnownFacts {
    const Fn *fn;
    const Analyses *a;
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
} KnownFacts;

void known_facts_init(KnownFacts *k, const Fn *fn, const Analyses *a, Arena *arena);
// The facts of an operand, a register or a constant of at most 64 bits, that is read in a block.
Facts known_facts(KnownFacts *k, Operand o, BlockId at);

#endif
