// SPDX-License-Identifier: MIT
// Accesses of a function to its own `.local` variables: the bytes that each access may reach, and the pieces of
// variables that accesses connect. Computed anew for each client from the pointer analysis (ir/analysis/pointers.h).
#ifndef ORI_LOCAL_MEMORY_H
#define ORI_LOCAL_MEMORY_H

#include "ir/analysis/pointers.h"

// Tables by byte number the bytes of all variables consecutively.
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

// Bytes of a variable that accesses connect; they are consecutive. If its address escapes, all bytes of a variable are
// connected.
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
// True if an instruction that is no known access may read or write variables whose address escapes (`exposed`).
bool local_may_reach_escaped(const LocalMemory *m, InstrId i);
// Returns the number of elements of a vector access; 1 for other accesses.
uint32_t access_elements(const Mnem *m);
// True for a load or store of elements of at most 8 bytes that is neither ordered nor pinned, and in no call sequence.
// If the access were to a register, moves or conversions of its registers and constants could replace it.
bool access_is_movable(const Fn *fn, const Instr *i);

#endif
