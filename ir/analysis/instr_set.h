// SPDX-License-Identifier: MIT
// Sets of instructions by what they compute, for phases that look for redundant ones.
//
// Two instructions are equal if they have the same descriptor and the same operands behind their definitions, guards
// and old values included. The first two uses of a commutative instruction may stand in either order, and so may the
// inputs of a phi. Phis are also compared by block and by the register file and width of the definition. Equal
// instructions compute equal values only if they are pure and none of their operands is undefined or volatile: the
// caller adds no others.
//
// Operands enter a key through a function of the caller, which maps each to its representative: the operand that
// replaces it (replace_find), or its congruence class. A key is made once and kept, so the representative of an
// operand must be final, or that of the caller's current assumption, when its reader is looked up.
//
// Scopes: a walk of the dominator tree in preorder keeps one instruction for each key, the last one. If that does not
// dominate the instruction at hand, then the walk has left the blocks that it dominates for good, and the instruction
// at hand takes its place.
#ifndef ORI_INSTR_SET_H
#define ORI_INSTR_SET_H

#include "ir/analysis/analysis.h"

// Returns the operand that stands for `o` in keys.
typedef Operand OperandKey(const void *user, Operand o);

typedef struct InstrKey {
    InstrId instr;  // the member; 0 = none yet
    DescId desc;
    const Operand *ops;
    uint32_t n;
} InstrKey;

typedef struct InstrSet {
    const Fn *fn;
    Arena *arena;
    OperandKey *representative;
    const void *user;
    IdSet index;  // places in `keys` by hash
    VEC(InstrKey) keys;
    VEC(Operand) ops;  // of the key that is looked up
} InstrSet;

/* instr_set.c */
// Makes an empty set in memory of the arena.
void instr_set_init(InstrSet *set, Arena *arena, const Fn *fn, OperandKey *representative, const void *user);
// Returns the place of the member that is equal to an instruction. If it is 0, the set has none, and the caller may
// store one there; storing another equal instruction replaces the member. Valid until the next call.
InstrId *instr_set_at(InstrSet *set, InstrId id);

#endif
