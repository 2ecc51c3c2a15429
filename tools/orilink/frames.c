// SPDX-License-Identifier: MIT
// Reads the unwind data of functions (.debug_frame). ptxas writes 64-bit DWARF, with a common entry for each function.
// Relocations hold the fields that name a common entry or a function. For sm_90 many offsets of common entries are too
// large; then the entry before that of the function is the common one. nvlink -r writes these offsets in place.
#include <stdlib.h>

#include "tools/orilink/cubin.h"

enum { ENTRY_LENGTH = 12, ENTRY_FUNCTION = 20 };  // the size of the length, and the offset of the function's address

// A relocation of .debug_frame.
typedef struct FrameReloc {
    uint64_t offset;
    uint32_t symbol;
    uint64_t addend;
} FrameReloc;

typedef VEC(FrameReloc) FrameRelocs;

static int by_offset(const void *a, const void *b)
{
    const FrameReloc *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static FrameRelocs relocs_of_frames(const Cubin *c, Arena *arena)
{
    FrameRelocs relocs = {0};
    const ElfSection *frame = cubin_section(c, c->frame);
    for (uint32_t k = 1; k < c->elf.sections.n; k++) {
        const ElfSection *s = cubin_section(c, k);
        if ((s->type != SHT_REL && s->type != SHT_RELA) || s->info != c->frame)
            continue;
        for (uint32_t n = 0; n < reloc_count(s); n++) {
            ElfReloc r = reloc_at(s, n);
            uint64_t addend = (uint64_t)r.addend;
            if (s->type == SHT_REL && r.offset + 8 <= frame->size)
                addend = load64(frame->data + r.offset);
            VEC_PUSH(arena, &relocs, ((FrameReloc){r.offset, r.symbol, addend}));
        }
    }
    if (relocs.n)
        qsort(relocs.at, relocs.n, sizeof *relocs.at, by_offset);
    return relocs;
}

static const FrameReloc *find_reloc(const FrameRelocs *relocs, uint64_t offset)
{
    FrameReloc key = {.offset = offset};
    return relocs->n ? bsearch(&key, relocs->at, relocs->n, sizeof key, by_offset) : NULL;
}

const FrameEntry *frame_at(const Cubin *c, uint64_t offset)
{
    uint32_t low = 0, high = c->frames.n;  // those before `low` begin at the offset or before it
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (c->frames.at[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    const FrameEntry *e = low ? &c->frames.at[low - 1] : NULL;
    return e && offset - e->offset < e->size ? e : NULL;
}

// Finds the common entry of a function's entry, which names it by an offset. False: there is none.
static bool find_common(const Cubin *c, uint64_t offset, FrameEntry *entry)
{
    const FrameEntry *last = c->frames.n ? &c->frames.at[c->frames.n - 1] : NULL, *named = frame_at(c, offset);
    if (!named || !named->is_common || named->offset != offset)
        named = last;
    if (!named || !named->is_common)
        return false;
    entry->common = (uint32_t)(named - c->frames.at);
    return true;
}

// Reads an entry. False: its form is unknown.
static bool read_entry(Cubin *c, const FrameRelocs *relocs, uint64_t at, FrameEntry *entry)
{
    const ElfSection *s = cubin_section(c, c->frame);
    if (s->size - at < ENTRY_FUNCTION + 8 || load32(s->data + at) != UINT32_MAX)
        return false;
    uint64_t length = load64(s->data + at + 4);
    if (length > s->size - at - ENTRY_LENGTH || length < 16)
        return false;
    *entry = (FrameEntry){.offset = at, .size = ENTRY_LENGTH + length};
    const FrameReloc *common = find_reloc(relocs, at + FRAME_COMMON);
    uint64_t offset = load64(s->data + at + FRAME_COMMON);
    entry->in_place = !common;
    entry->is_common = !common && offset == UINT64_MAX;
    if (entry->is_common)
        return true;
    const FrameReloc *function = find_reloc(relocs, at + ENTRY_FUNCTION);
    const ElfSymbol *section = common ? cubin_symbol(c, common->symbol) : NULL;
    bool here = !section || (symbol_type(section) == STT_SECTION && section->section == c->frame);
    if ((!function && common) || !here || !find_common(c, common ? common->addend : offset, entry))
        return false;
    entry->function = function ? function->symbol : 0;
    return !function || function->symbol != 0;
}

void frames_read(Cubin *c, Arena *arena)
{
    if (!c->frame)
        return;
    Arena scratch;
    arena_init(&scratch, arena->heap);
    FrameRelocs relocs = relocs_of_frames(c, &scratch);
    const ElfSection *s = cubin_section(c, c->frame);
    FrameEntry entry;
    for (uint64_t at = 0; at < s->size; at += entry.size) {
        if (!read_entry(c, &relocs, at, &entry)) {
            c->fixed = c->fixed ? c->fixed : "its .debug_frame has an unknown form";
            break;
        }
        VEC_PUSH(arena, &c->frames, entry);
    }
    arena_free(&scratch);
}
