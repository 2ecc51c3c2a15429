// SPDX-License-Identifier: MIT
// Compaction of a cubin: tombstones of removed sections and symbols go, and the rest gets dense indices.
//
// Before compaction an index is virtual: one of the input file, or a negative one of a section or symbol that was
// added, counted down from -1. A map has the new index for each; 0 means that it was removed.
#ifndef ORI_COMPACT_H
#define ORI_COMPACT_H

#include "tools/orilink/cubin.h"

// A cubin with the indices of the input. Removed sections have the type SHT_NULL, removed symbols are all zero.
typedef struct Tombstones {
    Elf elf;
    VEC(ElfSymbol) added;            // their indices are added_index(0), added_index(1), ...
    VEC(ElfSection) added_sections;  // the same for sections
    const uint32_t *section_before;  // after compaction, by section: its virtual index
} Tombstones;

static inline uint32_t added_index(uint32_t k) { return UINT32_MAX - k; }

// True for a removed symbol, or one that never had any meaning.
static inline bool symbol_is_tombstone(const ElfSymbol *s)
{
    return !s->name && !s->info && !s->other && !s->section && !s->value && !s->size;
}

typedef struct IndexMap {
    uint32_t n, nadded;
    uint32_t *forward;  // by index
    uint32_t *added;    // by number of an added one
    uint32_t *back;     // by new index: the virtual one
} IndexMap;

typedef enum { INDEX_OK, INDEX_DELETED, INDEX_NOT_VIRTUAL } IndexState;

// Makes a map of `n` indices, and `nadded` negative ones behind them. Those in `gone` are removed; index 0 stays.
void index_map_init(IndexMap *map, Arena *arena, uint32_t n, const bool *gone, uint32_t nadded);
// Replaces a virtual index by the new one, unless it was removed or does not map back.
IndexState index_map_replace(const IndexMap *map, uint32_t *index);

// Removes the tombstones, and gives sections and symbols new indices in the table, in headers, relocations and records.
// A reference to what was removed is an error of the input.
void cubin_compact(const Cubin *cubin, Tombstones *t, Arena *arena);

#endif
