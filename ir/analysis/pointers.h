// SPDX-License-Identifier: MIT
// Pointer analysis, AN_POINTERS: the symbols that escape, and the state space, underlying object (a symbol) and offset
// range of addresses. Addresses are values that are computed from the address of a symbol, by cvta, or from a kernel
// parameter declared `.ptr .global`.
#ifndef ORI_POINTERS_H
#define ORI_POINTERS_H

#include "ir/analysis/value_ranges.h"

typedef enum { OR_NONE, OR_NUMBER, OR_ADDRESS } PointerKind;

// The abstract value of a register: a number in [lo, hi], or the address of a symbol plus a number in [lo, hi]. Numbers
// are signed, of the register's width; [INT64_MIN, INT64_MAX] is the full range.
typedef struct Pointer {
    uint8_t kind;   // PointerKind; OR_NONE: not computed yet
    uint8_t space;  // of an address: the Space; SP_NONE = unknown
    bool generic;   // a generic address of an object in the space; otherwise an address in the space
    uint8_t grown;  // number of times that the range has grown
    SymId sym;      // of an address: the underlying object; 0 = unknown
    int64_t lo, hi;
} Pointer;

static inline bool pointer_is_exact(const Pointer *o) { return o->lo == o->hi; }

// A memory operand whose address is derived from a symbol or a space. Base and offset are the first two uses of the
// instruction, which is one of ld, ldu, st, atom, red and prefetch.
typedef struct MemAccess {
    InstrId instr;
    Space space;        // named by the instruction; SP_GENERIC = none
    const Pointer *at;  // base plus offset; accesses to the same place may share it
} MemAccess;

#define ESCAPED_BY_DATA UINT32_MAX

typedef struct Pointers {
    const Fn *fn;
    Analyses *a;
    Arena *arena;
    InstrId *escaped;           // by local symbol: where it escapes; ESCAPED_BY_DATA = in an initializer, 0 = nowhere
    VEC(SymId) module_escaped;  // variables of the module that escape in the function, possibly repeated
    VEC(MemAccess) accesses;    // in layout order
    InstrId absolute;           // an access to local memory at an address that is a number; 0 = none
    // The rest is private to pointers.c.
    VEC(Pointer) known;
    uint32_t *address;  // by ValueId: index in `known`, 0 = no address
    VEC(ValueId) work;
    InstrId at;                // the instruction of a walk that visits all uses of its definitions later; 0 = none
    bool meet;                 // some phi or selp has an address as an input
    VEC(InstrId) casts;        // cvta
    const bool *global_loads;  // by InstrId, may be NULL: loads that give addresses of global memory
    bool loads;                // a load gives an address: by global_loads, or of a kernel parameter
    bool settled;              // after the fixed point: values without an abstract value are numbers
    uint32_t *first_user, *next_user;  // by value of a joined register - first_def; by use
    EvalCache evals;
    ValueRanges ranges;
} Pointers;

/* pointers.c */
// Makes AN_POINTERS of a function valid and returns its result. Queries require that the function has not changed.
Pointers *pointers_of(Fn *fn);
// Returns the result for a function in which these loads, true by InstrId, also give addresses of global memory. The
// result lies in the arena.
Pointers *pointers_with_loads(Fn *fn, const bool *global_loads, Arena *arena);
// Returns the result for multi form without AN_RDEFS: joined registers are not tracked, so a symbol whose address one
// of them holds escapes. Allocates from `own`, which analysis_free() frees.
Pointers *pointers_of_single_defs(Fn *fn, Analyses *own);
// Returns the abstract value of operand k of an instruction, a register or a constant.
Pointer pointer_of(Pointers *o, InstrId i, uint32_t k);
// Returns the underlying object of operand k of an instruction; 0 = none or unknown.
SymId pointer_object(const Pointers *o, InstrId i, uint32_t k);
// Returns the index of a symbol of the function in Pointers.escaped; 0 for a symbol of the module.
static inline uint32_t local_symbol(SymId s) { return s & SYM_LOCAL ? s & ~(uint32_t)SYM_LOCAL : 0; }

#endif
