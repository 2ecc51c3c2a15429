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
    uint32_t *write_of;  // by RegId: 1 + the pending copy that writes it, 0 = none
    RegId *held_in;      // by RegId that a copy reads: the register that holds its value now; 0 = no copy reads it
    uint32_t nregs;
} ParallelCopy;

// Makes an empty set for the current registers of the function. Memory comes from the arena.
void parallel_copy_init(ParallelCopy *p, Fn *fn, Arena *arena);
// Adds a copy to the set, unless it copies a register to itself. Copies to one register must have equal values.
void parallel_copy_add(ParallelCopy *p, RegId to, Operand from);
// Inserts moves with the effect of the set before an instruction, and empties the set. Each cycle takes a new register.
void parallel_copy_insert(ParallelCopy *p, InstrId before);

#endif
