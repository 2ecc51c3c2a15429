// SPDX-License-Identifier: MIT
// An estimate of what GlobalOpt removes if a call is inlined.
#ifndef ORI_GLOBALOPT_GAIN_H
#define ORI_GLOBALOPT_GAIN_H

#include "phases/phase.h"

// The symbols whose addresses registers hold, possibly with a constant offset: a variable, or a formal with an address
// as its value. 0 = none, or the register has several definitions.
typedef struct RegisterSymbols {
    const SymId *at;  // by RegId
    RegId n;          // newer registers are not known
} RegisterSymbols;
// Finds them in a function in multi form; none if GlobalOpt has nothing to gain in the module: no variable is
// internalized. Memory comes from the arena.
RegisterSymbols symbols_in_registers(Ctx *ctx, const Fn *fn, Arena *arena);

// Returns, by parameter, the loads of a function in multi form through it; 0 if the function may store through it. NULL
// if GlobalOpt has nothing to gain. Memory comes from the arena.
const uint32_t *loads_through_parameters(Ctx *ctx, const Fn *fn, Arena *arena);

typedef struct GlobalGain {
    uint64_t bits;      // of the variables
    uint32_t accesses;  // loads of them that become constants
} GlobalGain;
// Returns the gain if a callee gets the address of a variable of the module as a parameter through which it has these
// loads.
GlobalGain globalopt_gain(Ctx *ctx, const Module *m, SymId variable, uint32_t loads);

/* variables.c */
// True if a module has variables that GlobalOpt may change: `.shared` ones, or any that the user internalizes.
bool globalopt_has_variables(const Ctx *ctx, const Module *m);

#endif
