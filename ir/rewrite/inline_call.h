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

// A call sequence: the number of calls with this number, and a list of its accesses.
typedef struct CallSequence {
    uint32_t calls;
    uint32_t first;  // in Inliner.accesses; 0 = none
} CallSequence;

typedef struct CallAccess {
    InstrId id;
    uint32_t next;  // 0 = the last one
} CallAccess;

// The uses of a local symbol by calls.
typedef struct SymbolUses {
    uint32_t arguments, results;  // calls that name it as an argument, as a result
    bool loose;                   // an operand outside of call sequences names it
    bool partial;                 // an argument that the sequence of some call does not store whole
    bool maybe;                   // a result of some guarded call
    bool twice;                   // some call names it twice
    InstrId call;                 // the last call that was seen to name it
} SymbolUses;

// A variable of the caller that holds a variable of each of several inlined callees. No two of them run at the same
// time.
typedef struct SharedSlot {
    SymId sym;
    uint32_t copy;  // the last inlined call that uses it
} SharedSlot;

// A caller whose calls are being inlined. Its calls may be inlined in any order; calls of one block are cheapest from
// the last one to the first.
typedef struct Inliner {
    Fn *fn;
    Arena scratch;
    VEC(CallSequence) sequences;  // by call sequence
    VEC(CallAccess) accesses;     // 0 is none
    VEC(uint32_t) place;          // by InstrId: a number that is ascending within a block
    uint32_t places;
    VEC(SymbolUses) uses;  // by local symbol
    VEC(UsedName) names;
    IdSet name_index;
    VEC(SharedSlot) slots;
    uint32_t inlined;  // calls so far
} Inliner;

// Visits the results and arguments of a call in order; `formal` is the index among the results or parameters.
typedef void PassedVisit(void *user, bool result, uint32_t formal, Operand o);
void visit_passed(const Fn *fn, const Instr *call, PassedVisit *visit, void *user);
// Runs its body for each access of a call sequence, a const CallAccess *.
#define FOR_SEQUENCE(in, number, access)                                                              \
    for (const CallAccess *access = &(in)->accesses.at[(in)->sequences.at[number].first]; access->id; \
         access = &(in)->accesses.at[access->next])

// Prepares a function in multi form.
void inline_begin(Inliner *in, Fn *fn);
// Returns the reason why no call of a function can be inlined, or NULL.
const char *inline_callee_obstacle(Fn *callee);
// Returns the reason why this call cannot be inlined, or NULL. The callee, which is defined, has no obstacle itself.
const char *inline_call_obstacle(const Inliner *in, InstrId call, const Fn *callee);
// Replaces the call by a copy of the callee's body. The callee is in multi form, is not the caller, and has
// no variables except in `.local`. `leaf`: no calls
// in the copy will be inlined. Otherwise the blocks of the copy are those behind the block of the call, up to the
// returned one.
BlockId inline_call(Inliner *in, InstrId call, const Fn *callee, bool leaf);
// Frees memory. After an inlined call, numbers the blocks in layout order and drops the analyses.
void inline_end(Inliner *in);

#endif
