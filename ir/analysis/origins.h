// SPDX-License-Identifier: MIT
// Where addresses come from: of each value that is computed from the address of a symbol, or by cvta, the state space,
// the symbol, and the range of what is added to it: AN_POINTERS.
#ifndef ORI_ORIGINS_H
#define ORI_ORIGINS_H

#include "ir/analysis/value_ranges.h"

typedef enum { OR_NONE, OR_NUMBER, OR_ADDRESS } OriginKind;

// A number in [lo, hi], or an address: that of a symbol with a number in [lo, hi] added to it. Numbers are read as
// signed ones of the register's width; from INT64_MIN to INT64_MAX is any.
typedef struct Origin {
    uint8_t kind;   // OriginKind; OR_NONE: nothing is known yet
    uint8_t space;  // of an address: the Space; SP_NONE = one or another
    bool generic;   // a generic address of something in the space; otherwise an address in the space
    uint8_t grown;  // how often the range has grown
    SymId sym;      // of an address; 0 = one or another
    int64_t lo, hi;
} Origin;

static inline bool origin_is_exact(const Origin *o) { return o->lo == o->hi; }

// A memory operand whose address is known to come from a symbol or a space. Base and offset are the first two uses of
// the instruction, which is one of ld, ldu, st, atom, red and prefetch.
typedef struct MemAccess {
    InstrId instr;
    Space space;       // that the instruction names; SP_GENERIC = none
    const Origin *at;  // of base and offset together; accesses of the same place may share it
} MemAccess;

#define EXPOSED_BY_DATA UINT32_MAX

typedef struct Origins {
    const Fn *fn;
    Analyses *a;
    Arena *arena;
    InstrId *exposed;         // by local symbol: where its address goes out of sight, EXPOSED_BY_DATA, 0 = nowhere
    VEC(MemAccess) accesses;  // in layout order
    InstrId absolute;         // an access to local memory at an address that is a number; 0 = there is none
    // The rest belongs to origins.c.
    VEC(Origin) known;
    uint32_t *address;  // by ValueId: its place in `known`, 0 = none
    VEC(ValueId) work;
    InstrId at;                            // where a walk is behind which all readers of what it defines stand
    bool meet;                             // some phi or selp is an address
    bool casts;                            // there are any
    bool settled;                          // what is no address by now will not be one
    uint32_t *first_reader, *next_reader;  // of values of joined registers
    EvalCache evals;
    ValueRanges ranges;
} Origins;

/* origins.c */
// Makes AN_POINTERS of a function valid and returns it. It answers as long as the function does not change.
Origins *pointers_of(Fn *fn);
// What is known of operand k of an instruction, a register or a constant.
Origin origin_of(Origins *o, InstrId i, uint32_t k);
// The number of the function's own symbol, for Origins.exposed; 0 = it is another's.
static inline uint32_t local_symbol(SymId s) { return s & SYM_LOCAL ? s & ~(uint32_t)SYM_LOCAL : 0; }

#endif
