// SPDX-License-Identifier: MIT
// Replaces calls by the bodies of their callees.
#ifndef ORI_INLINE_CALL_H
#define ORI_INLINE_CALL_H

#include "ir/analysis/local_memory.h"

// Names in use in a function, by which new symbols get unique ones. Stems are those of the function's tables.
typedef struct UsedName {
    Name name;
    uint32_t next;  // the number that is tried next for a symbol with this name
} UsedName;

// The accesses of one call sequence.
typedef struct CallAccesses {
    uint32_t first, n;  // in Inliner.accesses
    uint32_t calls;     // with this number
} CallAccesses;

// A variable of the caller that holds a variable of each of several inlined callees.
typedef struct SharedSlot {
    SymId sym;
    uint32_t copy;  // the last inlined call that uses it
} SharedSlot;

// A caller whose calls are being inlined. Its calls may be inlined in any order; calls of one block are cheapest from
// the last one to the first.
typedef struct Inliner {
    Fn *fn;
    Arena scratch;
    CallAccesses *sequences;  // by call sequence of the original function
    uint32_t nsequences;
    InstrId *accesses;
    uint32_t *place;      // by InstrId of the original function: its number in layout order
    uint32_t *arguments;  // by local symbol: calls that name it as an argument
    uint32_t *results;    // by local symbol: calls that name it as a result
    bool *loose;          // by local symbol: an operand outside of call sequences names it
    VEC(UsedName) names;
    IdSet name_index;
    VEC(SharedSlot) slots;
    uint32_t inlined;  // calls so far
} Inliner;

// Prepares a function in multi form.
void inline_begin(Inliner *in, Fn *fn);
// Returns the reason why no call of a function can be inlined, or NULL.
const char *inline_callee_obstacle(const Fn *callee);
// Returns the reason why this call cannot be inlined, or NULL. The callee, which is defined, has no obstacle itself.
const char *inline_call_obstacle(const Inliner *in, InstrId call, const Fn *callee);
// Replaces the call by a copy of the callee's body. The callee is in multi form, and is not the caller.
void inline_call(Inliner *in, InstrId call, const Fn *callee);
// Frees memory. After an inlined call, numbers the blocks in layout order and drops the analyses.
void inline_end(Inliner *in);

#endif
