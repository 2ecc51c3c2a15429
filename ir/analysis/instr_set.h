// SPDX-License-Identifier: MIT
// Sets of instructions that are compared by descriptor and operands, for phases that find redundant instructions.
//
// Two instructions are equal if they have the same descriptor and the same operands other than definitions; guards and
// old values count. The first two uses of a commutative instruction may be in either order, the inputs of a phi in any
// order. Phis are also compared by block and by the register file and width of the definition. Equal instructions
// compute equal values only if they are pure and no operand is undefined or volatile, so the caller adds only such
// instructions.
//
// A function of the caller maps each operand of a key to its representative: the operand that replaces it
// (replace_find), or its congruence class. A key is computed once, when an instruction is looked up. So the
// representatives of its operands must then be final, or the caller's current assumption.
//
// Scopes: a walk of the dominator tree in preorder keeps one instruction for each key, the last one. If that
// instruction does not dominate the current one, the walk will not return to its subtree. The current instruction then
// replaces it.
#ifndef ORI_INSTR_SET_H
#define ORI_INSTR_SET_H

#include "ir/analysis/analysis.h"

// Returns the representative of `o` in keys.
typedef Operand OperandKey(const void *user, Operand o);

typedef struct InstrKey {
    InstrId instr;  // the member; 0 = none yet
    DescId desc;
    uint32_t hash, next;  // next: the next key of the bucket, 0 = none
    uint32_t ops, n;      // n operands from an index in InstrSet.ops on
} InstrKey;

typedef struct InstrSet {
    const Fn *fn;
    Arena *arena;
    OperandKey *representative;
    const void *user;
    uint32_t *buckets, mask;  // by hash: the newest key, 0 = none
    Seg keys, ops;            // 0 is none
    VEC(Operand) key;         // the key that is being looked up
} InstrSet;

/* instr_set.c */
// Makes an empty set in memory of the arena.
void instr_set_init(InstrSet *set, Arena *arena, const Fn *fn, OperandKey *representative, const void *user);
// Returns the slot of the member that equals an instruction. A slot of 0 means that there is none, and the caller may
// store one. Storing another equal instruction replaces the member. The slot is valid until the next call.
InstrId *instr_set_at(InstrSet *set, InstrId id);

#endif
