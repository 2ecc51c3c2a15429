// SPDX-License-Identifier: MIT
// Deduplication of constants as nvlink is documented to do it: copies the constants of sections into one target
// section, where equal ones have one place.
//
// Sizes of 4 and 8 bytes are looked up by value, sizes of 12, 16, 20, 24, 32, 48 and 64 by alignment and bytes; all
// others are copied. In merge mode (phase 9c) zeros and named constants that code reaches are copied, too. Else (9d) an
// entry function has one zero of 4 bytes, and one of 8.
//
// Other than documented, a constant is no duplicate if the place of the other one does not have its alignment.
#ifndef ORI_DEDUP_H
#define ORI_DEDUP_H

#include "tools/orilink/overlap.h"
#include "tools/orilink/value_map.h"

enum { DEDUP_CLASSES = 7 };

typedef struct Dedup {
    Arena *arena;
    Out *verbose;  // NULL: no messages
    bool merges;   // phase 9c
    DataSection target;
    DataSymbol *symbols;  // by the symbol of a record
    ValueMap by_4, by_8;  // values: symbol + 1
    StrTable entries;
    VEC(uint32_t) zero_4, zero_8;  // by StrId of `entries`: the symbol of the first zero + 1; 0 = none
    // Indices of records of the target, by alignment and bytes. They differ in these, so the documented order of the
    // lists, the last one first, does not matter.
    IdSet classes[DEDUP_CLASSES];
} Dedup;

void dedup_init(Dedup *d, Arena *arena, DataSymbol *symbols, bool merges, Out *verbose);
// Copies the constants of a section, and moves relocations that name places in it.
void dedup_section(Dedup *d, const DataSection *source, DataReloc *relocs, uint32_t nrelocs);

#endif
