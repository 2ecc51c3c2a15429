// SPDX-License-Identifier: MIT
// Register pressure: whether a value may be kept for a reader in another block.
#ifndef ORI_PRESSURE_H
#define ORI_PRESSURE_H

#include "ir/analysis/analysis.h"

// A register that is kept in a block, for a number of instructions that it replaces.
typedef struct KeptIn {
    RegId reg;
    BlockId block;
    uint32_t readers;
} KeptIn;

// An instruction that a kept register replaces, and the number of its readers that are not replaced.
typedef struct KeptFor {
    InstrId instr;
    uint32_t left;
    uint32_t first, n;  // entries of `kept_in`: places[first ...] of Pressure
} KeptFor;

// Pressure in 32-bit registers. Predicates count as one each.
typedef struct Pressure {
    Fn *fn;
    const Analyses *a;  // NULL: not computed yet
    Arena *arena;
    uint32_t *most;       // by BlockId: the highest pressure in the block + 1, 0 = not known yet
    uint32_t *bound;      // by BlockId: a bound of it + 1, 0 = not known yet
    uint32_t *kept;       // by BlockId: pressure of the registers that are kept
    uint32_t *last;       // by BlockId: the last entry of `kept_in` that was found or added, 0 = none
    VEC(KeptIn) kept_in;  // from 1
    VEC(KeptFor) kept_for;
    VEC(uint32_t) places;
    VEC(uint32_t) counted;  // entries of `kept_for` with one reader less, if the current instruction is replaced
    IdSet in_index, for_index;
    uint32_t highest;  // in the function
    bool measured;     // all blocks, and `highest`
    bool known;        // the live sets are not too large
    LiveSet live;
    uint32_t free;      // number of registers below which there is always room
    uint32_t *visited;  // by BlockId: the last search that visited it
    uint32_t searches;
    VEC(BlockId) work, path;
} Pressure;

/* pressure.c */
void pressure_init(Pressure *p, Fn *fn, Arena *arena);
// Returns the highest pressure of the function before the first query, 0 = not known. Measures all blocks. Requests
// AN_LIVE.
uint32_t pressure_highest(Pressure *p);
// True if register r, defined in a block that strictly dominates that of `at`, may be read at `at`: it is live there
// anyway, or keeping it does not raise the highest pressure of the function. The answer true means that it replaces the
// instruction `at`, so it is recorded as kept. Registers that are kept for operands that only `at` reads are released.
// Requests AN_LIVE. The function must not have changed since the first query.
bool pressure_permits(Pressure *p, RegId r, InstrId at);
// The same for register r, whose definition dominates the end of block b, if it is read at that end. `free`: a number
// of registers that may be used even if the highest pressure of the function is lower. All blocks are measured, so that
// the caller may insert code after the first query of this kind or the next one.
bool pressure_permits_at_end(Pressure *p, RegId r, BlockId b, uint32_t free);
// The same for a new register of the width of `like`, from the start of block `from` to the definition of `like` in
// block `to`, which `from` dominates.
bool pressure_permits_new(Pressure *p, RegId like, BlockId from, BlockId to, uint32_t free);

#endif
