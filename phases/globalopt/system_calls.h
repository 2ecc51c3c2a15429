// SPDX-License-Identifier: MIT
// Call sequences of malloc and free.
#ifndef ORI_SYSTEM_CALLS_H
#define ORI_SYSTEM_CALLS_H

#include "phases/globalopt/globalopt.h"

// The alignment of what malloc returns.
enum { MALLOC_ALIGN = 16 };

// A call sequence of a function, with the number of its instructions.
typedef struct Sequence {
    InstrId call, argument, result;  // the last of each
    uint32_t n;
    bool splits;  // the block may be split at the result: no other sequence is open there, and no carry
} Sequence;

// The call sequences of a function.
typedef struct SystemCalls {
    const Fn *fn;
    Sequence *at;     // by call sequence
    uint32_t *calls;  // by local symbol: calls that name it
    bool *repeats;    // by BlockId: the block may be in a cycle
    bool *carries;    // by BlockId: a carry is in the block
} SystemCalls;

// Finds the call sequences of a function. Memory comes from the arena. Requires AN_CFG.
SystemCalls system_calls_find(Arena *arena, const Fn *fn, const Analyses *a);
// True if a sequence only passes a pointer or size to a function of the system, and takes its result if there is one.
bool system_calls(const SystemCalls *calls, const Sequence *s, const char *name, bool result);
// Returns the sequence whose result an instruction is, or NULL.
const Sequence *sequence_of_result(const SystemCalls *calls, InstrId id);
// True if an access is of a variable as a whole, in one element.
bool accesses_whole(const Globals *g, const Global *v, const GlobalAccess *access);
// True if an instruction compares operand k, an integer, with null.
bool compares_with_null(const Fn *fn, const Instr *i, uint32_t k);
// True for a move of null.
bool moves_null(const Fn *fn, const Instr *i);
// Returns, by function, which ones call malloc; NULL: none.
const bool *callers_of_malloc(Globals *g);
// True for a variable that may hold what malloc returns.
bool may_hold_malloc(const Globals *g, const Global *v, const bool *callers);
// True if only one thread of a CTA may run malloc in a function, as its kernel declares or the user says.
bool one_thread_allocates(const Globals *g, const Fn *fn);

#endif
