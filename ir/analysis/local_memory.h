// SPDX-License-Identifier: MIT
// Accesses of a function to its own `.local` variables: the bytes that each access may reach, and pieces of variables
// (LocalPiece). Each client computes this from the pointer analysis (ir/analysis/pointers.h).
#ifndef ORI_LOCAL_MEMORY_H
#define ORI_LOCAL_MEMORY_H

#include "ir/analysis/pointers.h"

// In tables by byte, the bytes of all variables are numbered consecutively.
typedef struct LocalVariable {
    uint32_t first, size;  // size 0: not analyzed
    uint32_t first_piece, npieces;
    bool escaped;  // there may be unknown accesses: its address escapes, or is used in another space
    bool odd;      // an access is beyond its end, unaligned, ordered, pinned, or neither ld nor st
} LocalVariable;

typedef struct LocalAccess {
    InstrId instr;
    uint32_t variable;    // local symbol
    uint32_t first, end;  // the bytes that it may access are first .. end - 1
    uint32_t bytes, n;    // the size of an element, and their number
    Type type;
    bool exact;          // it accesses just these bytes
    bool movable;        // exact, and access_is_movable()
    bool reads, writes;  // both: atom or red
} LocalAccess;

// A piece: consecutive bytes of a variable, connected by accesses that may reach several of them. If its address
// escapes, the whole variable is one piece.
typedef struct LocalPiece {
    uint32_t first, end;
    uint32_t align;  // the greatest that an access requires
} LocalPiece;

typedef struct LocalMemory {
    Fn *fn;
    Arena *arena;
    Pointers *pointers;
    LocalVariable *variables;  // by local symbol
    uint32_t nbytes;
    VEC(LocalAccess) accesses;  // in layout order, from 1
    uint32_t *access_of;        // by InstrId: index in `accesses`, 0 = no known access to one of these variables
    VEC(LocalPiece) pieces;     // ascending, from 1
    uint32_t *piece;            // by byte: index in `pieces`; 0 = not accessed
} LocalMemory;

/* local_memory.c */
// Finds the accesses. False if there are none, or if an access to local memory has a number as its address. Requests
// AN_POINTERS. The function must not change while the result is used.
bool local_memory_find(LocalMemory *m, Fn *fn, Arena *arena);
// Returns the known access of an instruction to one of these variables; NULL = none.
static inline const LocalAccess *local_access(const LocalMemory *m, InstrId i)
{
    return m->access_of[i] ? &m->accesses.at[m->access_of[i]] : NULL;
}
// True if an instruction without a known access may read or write variables whose address escapes.
bool local_may_reach_escaped(const LocalMemory *m, InstrId i);
// True if moves or conversions could replace a load or store, were its memory a register. The access must have elements
// of at most 8 bytes, be neither ordered nor pinned, and be in no call sequence.
bool access_is_movable(const Fn *fn, const Instr *i);
// The same for an access that may be in a call sequence.
bool access_has_moves(const Fn *fn, const Instr *i);

#endif
