// SPDX-License-Identifier: MIT
// Removes constants that nothing uses from a section, and lays out the others again.
#include <stdlib.h>

#include "tools/orilink/space.h"

/* -- Layout ---------------------------------------------------------------------------------------------- */

typedef struct Ordered {
    uint64_t align;
    uint32_t record;
} Ordered;

static int by_alignment(const void *a, const void *b)
{
    const Ordered *x = a, *y = b;
    if (x->align != y->align)
        return x->align < y->align ? 1 : -1;
    return (x->record > y->record) - (x->record < y->record);
}

void data_layout(DataSection *s, Arena *arena, bool no_opt)
{
    Ordered *order = arena_alloc(arena, (s->records.n + 1) * sizeof *order);
    DataRecord *sorted = arena_alloc(arena, (s->records.n + 1) * sizeof *sorted);
    uint64_t size = 0;
    for (uint32_t k = 0; k < s->records.n; k++) {
        order[k] = (Ordered){s->records.at[k].align, k};
        if (!order[k].align && !no_opt)
            heap_fail(arena->heap, ST_INTERNAL, "should only reach here with no opt");
    }
    if (s->records.n && !no_opt)
        qsort(order, s->records.n, sizeof *order, by_alignment);
    for (uint32_t k = 0; k < s->records.n; k++) {
        sorted[k] = s->records.at[order[k].record];
        uint64_t align = MAX(sorted[k].align, 1);
        sorted[k].offset = (size + align - 1) / align * align;
        size = sorted[k].offset + sorted[k].size;
    }
    if (s->records.n)
        memcpy(s->records.at, sorted, s->records.n * sizeof *sorted);
    s->size = size;
}

/* -- The pre-pass ---------------------------------------------------------------------------------------- */

// Returns the alignment of a constant that has none: that of its size, at most 8.
static uint64_t default_alignment(uint64_t size)
{
    uint64_t align = 1;
    while (align < 8 && align * 2 <= size)
        align *= 2;
    return align;
}

// Copies the reached constants of one binding to a temporary section, and hides the others.
static void keep_reached(const DataSection *s, bool local, DataSection *kept, Arena *arena, DataSymbol *symbols,
                         Out *verbose)
{
    for (uint32_t k = 0; k < s->records.n; k++) {
        DataRecord r = s->records.at[k];
        DataSymbol *symbol = &symbols[r.symbol];
        if (symbol->is_local != local)
            continue;
        symbol->is_hidden = !symbol->is_reached;
        if (symbol->is_hidden) {
            if (verbose)
                out_fmt(verbose, "remove unused constant %s\n", symbol->name);
            continue;
        }
        if (verbose)
            out_fmt(verbose, "%sconstant %s at offset %lld\n", local ? "local " : "", symbol->name,
                    (long long)r.offset);
        r.offset = RECORD_APPEND;
        r.align = r.align ? r.align : default_alignment(r.size);
        data_insert(kept, arena, r, NULL);
    }
}

// Lays out the constants that are kept by falling alignment, if that saves space, else in the order of the source. An
// alignment may be derived from an offset and be stricter than the one that was required, so that sorting adds gaps.
static void layout_kept(DataSection *kept, const DataSection *source, Arena *arena, const DataSymbol *symbols)
{
    DataSection ordered = {.index = kept->index, .align = kept->align};
    for (uint32_t k = 0; k < source->records.n; k++) {
        DataRecord r = source->records.at[k];
        r.align = r.align ? r.align : default_alignment(r.size);
        if (!symbols[r.symbol].is_hidden)
            VEC_PUSH(arena, &ordered.records, r);
    }
    data_layout(kept, arena, false);
    data_layout(&ordered, arena, true);
    if (ordered.size <= kept->size)
        *kept = ordered;
}

const DataRecord *data_record_at(const DataSection *s, uint64_t offset)
{
    uint32_t low = 0, high = s->records.n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->records.at[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    const DataRecord *r = low ? &s->records.at[low - 1] : NULL;
    return r && offset - r->offset < r->size ? r : NULL;
}

// Moves relocations with the constants that contain them.
static void move_relocs(const DataSection *s, const DataSymbol *symbols, DataReloc *relocs, uint32_t n, Out *verbose)
{
    for (uint32_t k = 0; k < n; k++) {
        const DataRecord *r = data_record_at(s, relocs[k].place);
        uint64_t from = relocs[k].place;
        if (!r || symbols[r->symbol].is_hidden) {
            if (verbose)
                out_fmt(verbose, "no symbol for reloc section %u at offset %lld?\n", s->index, (long long)from);
            continue;
        }
        relocs[k].place = from - r->offset + symbols[r->symbol].place;
        relocs[k].moved = true;
        if (verbose && relocs[k].place != from)
            out_fmt(verbose, "change reloc in section %u, offset from %lld to %lld\n", s->index, (long long)from,
                    (long long)relocs[k].place);
    }
}

bool data_optimize_space(DataSection *s, Arena *arena, const char *name, DataSymbol *symbols, DataReloc *relocs,
                         uint32_t nrelocs, Out *verbose)
{
    DataSection kept = {.index = s->index};
    if (verbose)
        out_fmt(verbose, "optimize space in %s (%u)\n", name, s->index);
    for (uint32_t k = 0; k < nrelocs; k++)
        if (!data_record_at(s, relocs[k].place)) {
            if (verbose)
                out_fmt(verbose, "no symbol for reloc section %u at offset %lld?\n", s->index,
                        (long long)relocs[k].place);
            return false;
        }
    keep_reached(s, true, &kept, arena, symbols, verbose);
    keep_reached(s, false, &kept, arena, symbols, verbose);
    layout_kept(&kept, s, arena, symbols);
    for (uint32_t k = 0; k < kept.records.n; k++)
        symbols[kept.records.at[k].symbol].place = kept.records.at[k].offset;
    move_relocs(s, symbols, relocs, nrelocs, verbose);
    *s = kept;
    return true;
}
