// SPDX-License-Identifier: MIT
// Copies constants to a section in which equal ones have one place.
#include <stdlib.h>

#include "tools/orilink/bytes.h"
#include "tools/orilink/dedup.h"

enum { TABLE_HINT = 256 };

void dedup_init(Dedup *d, Arena *arena, DataSymbol *symbols, bool merges, Out *verbose)
{
    *d = (Dedup){.arena = arena, .symbols = symbols, .merges = merges, .verbose = verbose};
    value_map_init(&d->by_4, arena, value_hash_mixed, value_equal_8, TABLE_HINT);
    value_map_init(&d->by_8, arena, value_hash_mixed, value_equal_8, TABLE_HINT);
    str_init(&d->entries, arena, NULL);
}

/* -- Places ---------------------------------------------------------------------------------------------- */

// Makes room for `n` more records of the target.
static void make_room(Dedup *d, uint32_t n)
{
    VEC(DataRecord) larger = {0};
    uint32_t old = d->target.records.n;
    if (d->target.records.cap - old >= n)
        return;
    VEC_RESERVE(d->arena, &larger, MAX(old + n, 2 * d->target.records.cap));
    if (old)
        memcpy(larger.at, d->target.records.at, old * sizeof *larger.at);
    d->target.records.at = larger.at;
    d->target.records.cap = larger.cap;
}

// Copies a record to the next aligned place of the target.
static void place(Dedup *d, const DataRecord *r)
{
    DataRecord copy = *r;
    copy.offset = RECORD_APPEND;
    data_insert(&d->target, d->arena, copy, NULL);
    d->symbols[r->symbol].place = d->target.records.at[d->target.records.n - 1].offset;
}

// True if a constant may have the place of another one.
static bool may_alias(const Dedup *d, const DataRecord *r, uint32_t other)
{
    return d->symbols[other].place % MAX(r->align, 1) == 0;
}

static void alias(Dedup *d, const DataRecord *r, uint32_t other)
{
    d->symbols[r->symbol].place = d->symbols[other].place;
}

/* -- Values of 4 and 8 bytes ----------------------------------------------------------------------------- */

// Returns the place of the symbol of an entry's first zero.
static uint32_t *zero_of(Dedup *d, const DataRecord *r)
{
    StrId id = str_intern_z(&d->entries, d->symbols[r->symbol].entry);
    while (d->zero_4.n <= id) {
        VEC_PUSH(d->arena, &d->zero_4, 0);
        VEC_PUSH(d->arena, &d->zero_8, 0);
    }
    return r->size == 4 ? &d->zero_4.at[id] : &d->zero_8.at[id];
}

static void dedup_zero(Dedup *d, const DataRecord *r)
{
    uint32_t *zero = d->merges ? NULL : zero_of(d, r);
    if (zero && *zero && may_alias(d, r, *zero - 1)) {
        alias(d, r, *zero - 1);
        return;
    }
    place(d, r);
    if (zero)
        *zero = r->symbol + 1;
}

static void dedup_value(Dedup *d, const DataRecord *r)
{
    ValueMap *map = r->size == 4 ? &d->by_4 : &d->by_8;
    uint64_t value = r->size == 4 ? load32(r->bytes) : load64(r->bytes);
    uint64_t found = value_map_find(map, value);
    if (!value) {
        dedup_zero(d, r);
        return;
    }
    if (!found || !may_alias(d, r, (uint32_t)found - 1)) {
        place(d, r);
        value_map_insert(map, value, (uint64_t)r->symbol + 1);
        return;
    }
    const char *name = d->symbols[r->symbol].name, *other = d->symbols[found - 1].name;
    if (d->verbose && r->size == 4)
        out_fmt(d->verbose, "found duplicate value 0x%x, alias %s to %s\n", (uint32_t)value, name, other);
    else if (d->verbose)
        out_fmt(d->verbose, "found duplicate 64bit value 0x%llx, alias %s to %s\n", (unsigned long long)value, name,
                other);
    alias(d, r, (uint32_t)found - 1);
}

/* -- Larger values --------------------------------------------------------------------------------------- */

// Returns the class of a size; DEDUP_CLASSES: none.
static uint32_t class_of(uint64_t size)
{
    static const uint8_t sizes[DEDUP_CLASSES] = {12, 16, 20, 24, 32, 48, 64};
    uint32_t k = 0;
    while (k < DEDUP_CLASSES && sizes[k] != size)
        k++;
    return k;
}

static void dedup_bytes(Dedup *d, IdSet *class, const DataRecord *r)
{
    uint32_t hash = hash_bytes(r->bytes, r->size) ^ (uint32_t)r->align;
    IDSET_EACH(class, hash, id) {
        const DataRecord *other = &d->target.records.at[id];
        if (other->align != r->align || memcmp(other->bytes, r->bytes, r->size) != 0)
            continue;
        if (d->verbose)
            out_fmt(d->verbose, "found duplicate %d byte value, alias %s to %s\n", (int)r->size,
                    d->symbols[r->symbol].name, d->symbols[other->symbol].name);
        alias(d, r, other->symbol);
        return;
    }
    place(d, r);
    idset_add(class, d->arena, hash, d->target.records.n - 1);
}

/* -- Sections -------------------------------------------------------------------------------------------- */

static void dedup_record(Dedup *d, const DataRecord *r)
{
    uint32_t class = class_of(r->size);
    if (!r->bytes || (d->merges && r->symbol && d->symbols[r->symbol].is_reached))
        place(d, r);
    else if (r->size == 4 || r->size == 8)
        dedup_value(d, r);
    else if (class < DEDUP_CLASSES)
        dedup_bytes(d, &d->classes[class], r);
    else
        place(d, r);
}

static int by_place(const void *a, const void *b)
{
    const DataReloc *const *x = a, *const *y = b;
    return ((*x)->place > (*y)->place) - ((*x)->place < (*y)->place);
}

void dedup_section(Dedup *d, const DataSection *source, DataReloc *relocs, uint32_t nrelocs)
{
    DataReloc **sorted = arena_alloc(d->arena, nrelocs * sizeof *sorted);
    uint32_t at = 0;
    make_room(d, source->records.n);
    for (uint32_t k = 0; k < nrelocs; k++)
        sorted[k] = &relocs[k];
    if (nrelocs)
        qsort(sorted, nrelocs, sizeof *sorted, by_place);
    for (uint32_t k = 0; k < source->records.n; k++) {
        const DataRecord *r = &source->records.at[k];
        dedup_record(d, r);
        while (at < nrelocs && sorted[at]->place < r->offset)
            at++;
        for (; at < nrelocs && sorted[at]->place - r->offset < r->size; at++) {
            uint64_t to = sorted[at]->place - r->offset + d->symbols[r->symbol].place;
            if (d->verbose)
                out_fmt(d->verbose, "optimize ocg constant reloc offset from %lld to %lld\n",
                        (long long)sorted[at]->place, (long long)to);
            sorted[at]->place = to;
            sorted[at]->moved = true;
        }
    }
}
