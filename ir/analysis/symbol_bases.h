// SPDX-License-Identifier: MIT
// Variables from whose addresses the registers of a function in ssa form are computed, and variables whose address
// escapes. One walk without ranges and generic addresses: a fraction of the cost of AN_POINTERS, for clients that need
// no more.
#ifndef ORI_SYMBOL_BASES_H
#define ORI_SYMBOL_BASES_H

#include "ir/analysis/analysis.h"

#define OFFSET_ANY INT32_MIN

// The address of a symbol plus an offset.
typedef struct SymbolBase {
    SymId sym;       // 0 = not computed from the address of a variable, as far as known
    int32_t offset;  // OFFSET_ANY = unknown
} SymbolBase;

typedef struct SymbolBases {
    const Fn *fn;
    SymbolBase *of_reg;  // by RegId; NULL in multi form
    bool *escaped;       // by local symbol
} SymbolBases;

/* symbol_bases.c */
// Finds the bases, in memory of the arena. Requires AN_RPO.
void symbol_bases_find(SymbolBases *s, Arena *arena, const Fn *fn, const Analyses *a);
// Returns the base of the address of an access; its space is the one that the instruction names.
SymbolBase symbol_base_of_access(const SymbolBases *s, const Instr *i);
// True if the function declares the variable, and if accesses whose addresses are computed from it are the only ones
// that may reach it. Then these accesses reach no other variable: code that reaches one variable from the address of
// another one has computed their distance, so both addresses escape.
bool symbol_is_private(const SymbolBases *s, SymId sym);

#endif
