// SPDX-License-Identifier: MIT
// Parallel copies: moves that all read before any of them writes.
#ifndef ORI_PARALLEL_COPY_H
#define ORI_PARALLEL_COPY_H

#include "phases/phase.h"

typedef struct Copy {
    RegId to;
    Operand from;  // a register or a constant
} Copy;

typedef struct ParallelCopy {
    Fn *fn;
    Arena *arena;
    VEC(Copy) copies;
    VEC(RegId) ready;
    uint32_t *write_of;  // by RegId: 1 + the copy that writes it and was not made yet, 0 = none
    RegId *held_in;      // by RegId: where its value is now, if a copy reads it; 0 = no copy does
    uint32_t nregs;
} ParallelCopy;

// For the registers that the function has now. Memory comes from the arena.
void parallel_copy_init(ParallelCopy *p, Fn *fn, Arena *arena);
// Adds a copy to the set. Copies to one register must have equal values, and copies of a register to itself do nothing.
void parallel_copy_add(ParallelCopy *p, RegId to, Operand from);
// Inserts moves in front of an instruction that do what the set does, and empties it. A cycle takes a new register.
void parallel_copy_insert(ParallelCopy *p, InstrId before);

#endif
