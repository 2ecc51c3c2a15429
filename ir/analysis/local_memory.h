// SPDX-License-Identifier: MIT
// What a function does with its own `.local` variables: which bytes each instruction may access, and what goes
// together. Made anew by whoever asks, from where addresses come from (ir/analysis/origins.h).
#ifndef ORI_LOCAL_MEMORY_H
#define ORI_LOCAL_MEMORY_H

#include "ir/analysis/origins.h"

// The bytes of all variables lie one behind the other in tables.
typedef struct LocalVariable {
    uint32_t first, size;  // size 0: it is not looked at
    uint32_t first_piece, npieces;
    bool exposed;  // there may be accesses to it that are not known
    bool odd;      // there are some beyond its end, unaligned, ordered or of a kind of their own
} LocalVariable;

typedef struct LocalAccess {
    InstrId instr;
    uint32_t variable;    // local symbol
    uint32_t first, end;  // the bytes that it may access, in one piece
    uint32_t bytes, n;    // of how many elements of how many bytes
    Type type;
    bool exact;          // it accesses just these bytes
    bool movable;        // exact, and access_is_movable()
    bool reads, writes;  // both: an atomic
} LocalAccess;

// Bytes of a variable that are connected by accesses. In exposed variables all are.
typedef struct LocalPiece {
    uint32_t first, end;
    uint32_t align;  // that accesses need
} LocalPiece;

typedef struct LocalMemory {
    Fn *fn;
    Arena *arena;
    Origins *origins;
    LocalVariable *variables;  // by local symbol
    uint32_t nbytes;
    VEC(LocalAccess) accesses;  // in layout order, from 1
    uint32_t *access_of;        // by InstrId: its place there, 0 = it is no known access to one of these variables
    VEC(LocalPiece) pieces;     // ascending, from 1
    uint32_t *piece;            // by byte; 0 = nothing accesses it
} LocalMemory;

/* local_memory.c */
// False: there is nothing that anything could be said about. Requests AN_POINTERS. The function must not change while
// this is used.
bool local_memory_find(LocalMemory *m, Fn *fn, Arena *arena);
// The access that an instruction is; NULL: none to these variables that is known.
static inline const LocalAccess *local_access(const LocalMemory *m, InstrId i)
{
    return m->access_of[i] ? &m->accesses.at[m->access_of[i]] : NULL;
}
// Whether an instruction that is no known access may read or write exposed variables.
bool local_may_reach_exposed(const LocalMemory *m, InstrId i);
// The elements of a vector access; 1 of others.
uint32_t access_elements(const Mnem *m);
// True for a load or store of elements of at most 8 bytes that moves or conversions of its registers and constants
// could replace if it accessed a register: neither ordered nor pinned, and in no call sequence.
bool access_is_movable(const Fn *fn, const Instr *i);

#endif
