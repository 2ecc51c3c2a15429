// SPDX-License-Identifier: MIT
// Fields of variables and of memory of malloc. PTX has no types of structures, so accesses decide: bytes that one of
// them may reach are in one field.
#include <stdlib.h>

#include "phases/globalopt/globalopt.h"

static int by_place(const void *a, const void *b)
{
    const Field *x = a, *y = b;
    return x->first != y->first ? (x->first < y->first ? -1 : 1) : x->end < y->end ? -1 : x->end > y->end;
}

// Merges fields that overlap; returns the number of fields.
static uint32_t merge_overlapping(Field *at, uint32_t count)
{
    uint32_t n = 0;
    qsort(at, count, sizeof *at, by_place);
    for (uint32_t k = 0; k < count; k++) {
        const Field *f = &at[k];
        Field *last = n ? &at[n - 1] : NULL;
        if (!last || f->first >= last->end) {
            at[n++] = *f;
            continue;
        }
        last->end = MAX(last->end, f->end);
        last->align = MAX(last->align, f->align);
        last->read |= f->read;
    }
    return n;
}

// Extends fields that are less aligned than their accesses. True if there are any.
static bool align_fields(Field *at, uint32_t n)
{
    bool any = false;
    for (uint32_t k = 0; k < n; k++) {
        any |= at[k].first % at[k].align != 0;
        at[k].first -= at[k].first % at[k].align;
    }
    return any;
}

uint32_t fields_merge(Field *at, uint32_t n)
{
    do
        n = merge_overlapping(at, n);
    while (align_fields(at, n));
    return n;
}

Field *field_at(Field *at, uint32_t n, uint64_t byte)
{
    uint32_t low = 0, high = n;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (at[middle].first <= byte)
            low = middle;
        else
            high = middle;
    }
    return &at[low];
}
