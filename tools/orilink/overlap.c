// SPDX-License-Identifier: MIT
// Inserts records of data into sections, and validates their overlaps.
#include "tools/orilink/overlap.h"

const char *overlap_text(Overlap overlap)
{
    return overlap == OVERLAP_SPANS     ? "overlapping data spans too much"
           : overlap == OVERLAP_DIFFERS ? "overlapping non-identical data"
           : overlap == OVERLAP_NO_TAIL ? "tail data node not found"
                                        : "";
}

// Returns the number of records that end at an offset or before it, and begin before it.
static uint32_t records_before(const DataSection *s, uint64_t offset)
{
    uint32_t low = 0, high = s->records.n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const DataRecord *r = &s->records.at[middle];
        if (r->offset < offset && r->offset + r->size <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// True if `inner`, which lies in `outer`, has the bytes of `outer` there.
static bool equal_bytes(const DataRecord *outer, const DataRecord *inner)
{
    for (uint64_t k = 0; k < inner->size; k++) {
        uint8_t a = outer->bytes ? outer->bytes[inner->offset - outer->offset + k] : 0;
        uint8_t b = inner->bytes ? inner->bytes[k] : 0;
        if (a != b)
            return false;
    }
    return true;
}

static bool contains(const DataRecord *outer, const DataRecord *inner)
{
    return outer->offset <= inner->offset && inner->size <= outer->size &&
           inner->offset - outer->offset <= outer->size - inner->size;
}

// Replaces the records from `first` to `end` by one.
static void replace(DataSection *s, Arena *arena, uint32_t first, uint32_t end, const DataRecord *r)
{
    for (uint32_t k = first; k < end; k++)
        VEC_PUSH(arena, &s->merged, ((MergedSymbol){s->records.at[k].symbol, r->symbol}));
    if (first == end) {
        VEC_PUSH(arena, &s->records, *r);
        memmove(s->records.at + first + 1, s->records.at + first, (s->records.n - 1 - first) * sizeof *s->records.at);
    } else {
        memmove(s->records.at + first + 1, s->records.at + end, (s->records.n - end) * sizeof *s->records.at);
        s->records.n -= end - first - 1;
    }
    s->records.at[first] = *r;
}

static void extend(DataSection *s, const DataRecord *r, Out *verbose)
{
    uint64_t end = r->offset + r->size;
    s->align = MAX(s->align, r->align);
    if (end <= s->size)
        return;
    if (verbose && r->offset < s->size)
        out_fmt(verbose, "offset %lld goes past section %u size\n", (long long)r->offset, s->index);
    s->size = end;
}

Overlap data_insert(DataSection *s, Arena *arena, DataRecord r, Out *verbose)
{
    if (r.offset == RECORD_APPEND) {
        uint64_t align = MAX(r.align, 1);
        if (s->size && !s->records.n)
            return OVERLAP_NO_TAIL;
        r.offset = (s->size + align - 1) / align * align;
    }
    uint32_t first = r.offset >= s->size ? s->records.n : records_before(s, r.offset), end = first;
    bool inside = false;
    for (; end < s->records.n && s->records.at[end].offset < r.offset + r.size; end++) {
        const DataRecord *other = &s->records.at[end];
        inside = other->size && contains(other, &r);
        if (verbose && end == first)
            out_fmt(verbose, "offset %lld (sym %u) overlaps in section %u\n", (long long)r.offset, r.symbol, s->index);
        if (!inside && !contains(&r, other))
            return OVERLAP_SPANS;
        if (!(inside ? equal_bytes(other, &r) : equal_bytes(&r, other)))
            return OVERLAP_DIFFERS;
        if (inside)
            break;
    }
    extend(s, &r, verbose);
    if (inside) {
        VEC_PUSH(arena, &s->merged, ((MergedSymbol){r.symbol, s->records.at[end].symbol}));
        return OVERLAP_MERGED;
    }
    replace(s, arena, first, end, &r);
    return first == end ? OVERLAP_NONE : OVERLAP_MERGED;
}

void data_fill(DataRecord *r, Arena *arena)
{
    static const uint8_t pattern[8] = {0x01, 0x2d, 0x00, 0x04, 0xf8};  // 0xF804002D01
    enum { MULTIPLE = 128 };
    uint64_t size = (r->size + MULTIPLE - 1) / MULTIPLE * MULTIPLE;
    uint8_t *bytes = arena_alloc(arena, size);
    memset(bytes, 0, size);
    if (r->bytes)
        memcpy(bytes, r->bytes, r->size);
    for (uint64_t k = r->size; k < size; k++)
        bytes[k] = pattern[(k - r->size) % sizeof pattern];
    r->bytes = bytes;
    r->size = size;
}
