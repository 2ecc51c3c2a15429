// SPDX-License-Identifier: MIT
// Removes what is dead from a cubin, and renumbers sections and symbols.
//
// A section goes with the code to which it belongs, a variable with its part of its section, and an undefined symbol if
// nothing that stays refers to it. Then sections and symbols get new indices, and all records and relocations that
// name them are rewritten. Index 0 of a map means that the section or symbol was removed; its use is an error of the
// file. The string tables stay as they are, since records name signatures by their offsets.
#include <stdlib.h>

#include "tools/orilink/link.h"

// A part of a section that stays, and its new place.
typedef struct Part {
    uint32_t section;
    uint64_t offset, size, to;
} Part;

typedef struct Removal {
    const Link *link;
    const Input *in;
    const Cubin *c;
    Arena *arena;
    bool *section_gone, *symbol_gone;
    bool *in_parts;                      // by section: only its parts stay
    uint64_t *new_size;                  // by section: of those in parts
    VEC(Part) parts;                     // in the order of sections and offsets
    uint32_t *new_section, *new_symbol;  // 0 = removed, or index 0
} Removal;

/* -- Parts of sections ----------------------------------------------------------------------------------- */

static int by_part(const void *a, const void *b)
{
    const Part *x = a, *y = b;
    if (x->section != y->section)
        return x->section < y->section ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

// Finds the new place of an offset in a section. False: it was removed.
static bool move_place(const Removal *r, uint32_t section, uint64_t *offset)
{
    if (!r->in_parts[section])
        return !r->section_gone[section];
    uint32_t low = 0, high = r->parts.n;
    Part key = {.section = section, .offset = *offset};
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (by_part(&r->parts.at[middle], &key) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    const Part *p = low ? &r->parts.at[low - 1] : NULL;
    if (!p || p->section != section || *offset - p->offset >= p->size)
        return false;
    *offset += p->to - p->offset;
    return true;
}

// Adds a part behind those of the section, at an offset that is aligned as its old one was.
static void add_part(Removal *r, uint32_t section, uint64_t offset, uint64_t size)
{
    uint64_t align = cubin_section(r->c, section)->align, low = offset & -offset;
    uint64_t to = r->new_size[section];
    align = MAX(offset && low < align ? low : align, 1);
    to = (to + align - 1) & ~(align - 1);
    VEC_PUSH(r->arena, &r->parts, ((Part){section, offset, size, to}));
    r->new_size[section] = to + size;
}

static bool is_live(const Removal *r, uint32_t symbol)
{
    return r->link->nodes.at[r->in->node[symbol]].live && !is_replaced(r->link, r->in, symbol);
}

// True if a symbol is undefined in the rewritten file unless it is removed: other definitions replace weak ones.
static bool is_undefined(const Removal *r, uint32_t symbol)
{
    const ElfSymbol *s = cubin_symbol(r->c, symbol);
    bool external = symbol_type(s) == STT_FUNC || symbol_type(s) == STT_CUDA_OBJECT;
    return (s->section == SHN_UNDEF && external) ||
           (is_replaced(r->link, r->in, symbol) && r->link->nodes.at[r->in->node[symbol]].live);
}

// True if bytes that no variable has are not zero.
static bool has_other_bytes(const ElfSection *s, uint64_t from, uint64_t to)
{
    for (; s->data && from < to; from++)
        if (s->data[from])
            return true;
    return false;
}

// Divides a section of variables into parts. Variables that overlap stay together. If none is dead, or if there is data
// between them, the section stays whole.
static void divide(Removal *r, uint32_t first, uint32_t end)
{
    const Place *places = r->in->variables.at;
    uint32_t section = places[first].section, parts = r->parts.n;
    const ElfSection *s = cubin_section(r->c, section);
    uint64_t at = 0;
    bool dead = false, other = r->in->section[section] && r->link->nodes.at[r->in->section[section]].live;
    for (uint32_t k = first, next; k < end; k = next) {
        uint64_t start = places[k].offset, stop = start;
        bool live = false;
        for (next = k; next < end && (next == k || places[next].offset < stop); next++) {
            stop = MAX(stop, places[next].offset + MAX(places[next].size, 1));
            live |= is_live(r, places[next].symbol);
        }
        other |= has_other_bytes(s, at, start) || stop > s->size;
        at = stop;
        dead |= !live;
        if (live)
            add_part(r, section, start, stop - start);
    }
    other |= has_other_bytes(s, at, s->size);
    if (dead && !other) {
        r->in_parts[section] = true;
        r->section_gone[section] = r->parts.n == parts;
    } else {
        r->parts.n = parts;
    }
}

static void divide_variables(Removal *r)
{
    const Input *in = r->in;
    for (uint32_t k = 0, next; k < in->variables.n; k = next) {
        for (next = k; next < in->variables.n && in->variables.at[next].section == in->variables.at[k].section;)
            next++;
        divide(r, k, next);
    }
}

// Divides .debug_frame: the entries of removed functions go, and common entries that only those use. The section stays
// even if it is empty, since nvlink requires it for sm_90.
static void divide_frames(Removal *r)
{
    const Cubin *c = r->c;
    bool *used = NEW_ARRAY(r->arena, bool, c->frames.n), dead = false;
    for (uint32_t k = 0; k < c->frames.n; k++) {
        const FrameEntry *e = &c->frames.at[k];
        used[k] |= e->function && !r->symbol_gone[e->function];
        dead |= e->function && !used[k];
        if (e->function && used[k])
            used[e->common] = true;
    }
    if (!dead)
        return;
    r->in_parts[c->frame] = true;
    for (uint32_t k = 0; k < c->frames.n; k++)
        if (used[k]) {
            VEC_PUSH(r->arena, &r->parts,
                     ((Part){c->frame, c->frames.at[k].offset, c->frames.at[k].size, r->new_size[c->frame]}));
            r->new_size[c->frame] += c->frames.at[k].size;
        }
    if (r->parts.n)
        qsort(r->parts.at, r->parts.n, sizeof *r->parts.at, by_part);
}

/* -- What goes ------------------------------------------------------------------------------------------- */

static void find_dead_sections(Removal *r)
{
    const Cubin *c = r->c;
    for (uint32_t k = 1; k < c->elf.sections.n; k++)
        r->section_gone[k] = c->owner[k] && !is_live(r, c->function[c->owner[k]]);
}

static void find_dead_symbols(Removal *r)
{
    const Cubin *c = r->c;
    for (uint32_t k = 1; k < c->elf.symbols.n; k++) {
        const ElfSymbol *s = cubin_symbol(c, k);
        bool here = s->section != SHN_UNDEF && s->section < SHN_RESERVED;
        uint64_t value = s->value;
        if (is_undefined(r, k))
            r->symbol_gone[k] = true;  // until keep_references()
        else if (here && symbol_is_variable(c, s))
            r->symbol_gone[k] = !move_place(r, s->section, &value);
        else if (here)
            r->symbol_gone[k] = r->section_gone[s->section];
    }
}

// Keeps undefined symbols to which something that stays refers.
static void keep_references(Removal *r)
{
    const Cubin *c = r->c;
    for (uint32_t k = 1; k < c->elf.sections.n; k++) {
        const ElfSection *s = cubin_section(c, k);
        bool relocs = s->type == SHT_REL || s->type == SHT_RELA;
        uint64_t at = 0;
        if (relocs && !r->section_gone[s->info] && !section_is_debug(cubin_section(c, s->info)))
            for (uint32_t n = 0; n < reloc_count(s); n++) {
                ElfReloc reloc = reloc_at(s, n);
                if (move_place(r, s->info, &reloc.offset) && is_undefined(r, reloc.symbol))
                    r->symbol_gone[reloc.symbol] = false;
            }
        if (s->type != SHT_NV_INFO || r->section_gone[k] || !c->owner[k])
            continue;
        for (InfoRecord record; info_next(s, &at, &record);)
            for (uint32_t n = 0; info_symbols(&record) == INFO_ALL_SYMBOLS && n < record.payload_size / 4; n++)
                if (is_undefined(r, load32(record.payload + 4 * n)))
                    r->symbol_gone[load32(record.payload + 4 * n)] = false;
    }
    for (uint32_t k = 0; k < c->calls.n; k++) {
        const CallRecord *call = &c->calls.at[k];
        if ((call->group == CALLS || call->group == TAKES_ADDRESS) && !r->symbol_gone[call->a] &&
            !is_undefined(r, call->a) && is_undefined(r, call->b))
            r->symbol_gone[call->b] = false;
    }
}

// Relocations of a section that was removed go with it, and so does its symbol.
static void find_dead_relocs(Removal *r)
{
    const Cubin *c = r->c;
    for (uint32_t k = 1; k < c->elf.symbols.n; k++)
        if (symbol_type(cubin_symbol(c, k)) == STT_SECTION && cubin_symbol(c, k)->section < c->elf.sections.n)
            r->symbol_gone[k] |= r->section_gone[cubin_symbol(c, k)->section];
    for (uint32_t k = 1; k < c->elf.sections.n; k++) {
        const ElfSection *s = cubin_section(c, k);
        if (s->type == SHT_REL || s->type == SHT_RELA)
            r->section_gone[k] |= r->section_gone[s->info];
    }
}

/* -- Rewriting ------------------------------------------------------------------------------------------- */

static uint32_t map_symbol(const Removal *r, uint32_t symbol)
{
    if (symbol && !r->new_symbol[symbol])
        heap_fail(r->link->heap, ST_BAD_INPUT, "'%s': reference to deleted symbol %u (%s)", r->c->elf.file, symbol,
                  cubin_symbol(r->c, symbol)->text);
    return r->new_symbol[symbol];
}

static uint32_t map_section(const Removal *r, uint32_t section)
{
    if (section && !r->new_section[section])
        heap_fail(r->link->heap, ST_BAD_INPUT, "'%s': reference to deleted section %u (%s)", r->c->elf.file, section,
                  cubin_section(r->c, section)->text);
    return r->new_section[section];
}

// Returns the new offset of the common entry that an entry of .debug_frame names at a place. The old one may be wrong.
static uint64_t new_common(const Removal *r, uint64_t place)
{
    uint64_t offset = r->c->frames.at[frame_at(r->c, place)->common].offset;
    move_place(r, r->c->frame, &offset);
    return offset;
}

static void rewrite_relocs(const Removal *r, const ElfSection *s, TextBuffer *text)
{
    const ElfSection *target = cubin_section(r->c, s->info);
    for (uint32_t k = 0; k < reloc_count(s); k++) {
        ElfReloc reloc = reloc_at(s, k);
        const ElfSymbol *symbol = cubin_symbol(r->c, reloc.symbol);
        uint8_t p[ELF_RELA];
        uint64_t to = reloc.offset, addend = (uint64_t)reloc.addend;
        if (!move_place(r, s->info, &to) || (r->symbol_gone[reloc.symbol] && section_is_debug(target)))
            continue;
        if (s->info == r->c->frame && r->in_parts[s->info] && symbol->section == s->info)
            addend = new_common(r, reloc.offset);
        store64(p, to);
        store32(p + 8, reloc.type);
        store32(p + 12, map_symbol(r, reloc.symbol));
        store64(p + 16, addend);
        text_put(text, p, s->type == SHT_RELA ? ELF_RELA : ELF_REL);
    }
}

static void rewrite_info(const Removal *r, const ElfSection *s, TextBuffer *text)
{
    uint64_t at = 0;
    for (InfoRecord record; info_next(s, &at, &record);) {
        InfoSymbols symbols = info_symbols(&record);
        if (symbols == INFO_FIRST_SYMBOL && r->symbol_gone[load32(record.payload)])
            continue;
        size_t start = text->n;
        text_put(text, record.at, record.size);
        uint8_t *p = (uint8_t *)text->at + start + 4;
        if (symbols == INFO_FIRST_SYMBOL)
            store32(p, map_symbol(r, load32(record.payload)));
        uint32_t kept = 0;
        for (uint32_t k = 0; symbols == INFO_ALL_SYMBOLS && k < record.payload_size / 4; k++)
            if (!r->symbol_gone[load32(record.payload + 4 * k)])
                store32(p + 4 * kept++, map_symbol(r, load32(record.payload + 4 * k)));
        if (symbols == INFO_ALL_SYMBOLS) {
            store16(p - 2, (uint16_t)(kept * 4));
            text->n = start + 4 + kept * 4;
        }
    }
}

// Appends a record of a removed function that nvlink requires of every file for sm_90, unless a function stays.
static void keep_abi_record(const Removal *r, TextBuffer *text)
{
    enum { ABI_RECORD = 0x5f };
    for (uint32_t k = 1; k < r->c->elf.sections.n; k++)
        if (r->c->function[k] && !r->section_gone[k])
            return;
    for (uint32_t k = 1; k < r->c->elf.sections.n; k++) {
        const ElfSection *s = cubin_section(r->c, k);
        uint64_t at = 0;
        if (s->type != SHT_NV_INFO || !r->c->owner[k])
            continue;
        for (InfoRecord record; info_next(s, &at, &record);)
            if (record.attribute == ABI_RECORD) {
                text_put(text, record.at, record.size);
                return;
            }
    }
}

static void rewrite_calls(const Removal *r, const ElfSection *s, TextBuffer *text)
{
    int32_t group = 0;
    for (uint64_t at = 0; at < s->size; at += 8) {
        uint32_t a = load32(s->data + at), b = load32(s->data + at + 4);
        uint8_t p[8];
        bool marker = !a && (int32_t)b < 0, function = group == CALLS || group == TAKES_ADDRESS;
        if (marker)
            group = (int32_t)b;
        else if (r->symbol_gone[a] || (function && r->symbol_gone[b]))
            continue;
        store32(p, marker ? 0 : map_symbol(r, a));
        store32(p + 4, marker || !function ? b : map_symbol(r, b));
        text_put(text, p, sizeof p);
    }
}

static void rewrite_prototypes(const Removal *r, const ElfSection *s, TextBuffer *text)
{
    for (uint64_t at = 0; at < s->size; at += 8) {
        uint8_t p[8];
        if (r->symbol_gone[load32(s->data + at)])
            continue;
        store32(p, map_symbol(r, load32(s->data + at)));
        store32(p + 4, load32(s->data + at + 4));
        text_put(text, p, sizeof p);
    }
}

static void rewrite_parts(const Removal *r, uint32_t section, const ElfSection *s, TextBuffer *text)
{
    for (uint32_t k = 0; s->data && k < r->parts.n; k++) {
        const Part *p = &r->parts.at[k];
        if (p->section != section)
            continue;
        while (text->n < p->to)
            text_put(text, "", 1);
        text_put(text, s->data + p->offset, p->size);
    }
}

// Makes the new content of a section. Its size is set too.
static void rewrite_section(const Removal *r, uint32_t k, ElfSection *s)
{
    TextBuffer text = {.arena = r->arena};
    const ElfSection *old = cubin_section(r->c, k);
    switch (s->type) {
    case SHT_REL:
    case SHT_RELA: rewrite_relocs(r, old, &text); break;
    case SHT_NV_INFO:
        rewrite_info(r, old, &text);
        if (k == r->c->info)
            keep_abi_record(r, &text);
        break;
    case SHT_NV_CALLGRAPH: rewrite_calls(r, old, &text); break;
    case SHT_NV_PROTOTYPE: rewrite_prototypes(r, old, &text); break;
    default:
        if (!r->in_parts[k])
            return;
        rewrite_parts(r, k, old, &text);
    }
    s->size = r->in_parts[k] ? r->new_size[k] : text.n;
    s->data = (const uint8_t *)text.at;
}

static void renumber(Removal *r)
{
    const Elf *elf = &r->c->elf;
    uint32_t n = 1;
    for (uint32_t k = 1; k < elf->sections.n; k++)
        r->new_section[k] = r->section_gone[k] ? 0 : n++;
    n = 1;
    for (uint32_t k = 1; k < elf->symbols.n; k++)
        r->new_symbol[k] = r->symbol_gone[k] ? 0 : n++;
}

static void copy_symbols(const Removal *r, Elf *out)
{
    const Elf *elf = &r->c->elf;
    for (uint32_t k = 0; k < elf->symbols.n; k++) {
        ElfSymbol s = elf->symbols.at[k];
        if (r->symbol_gone[k])
            continue;
        if (k && is_undefined(r, k)) {
            s = (ElfSymbol){.name = s.name,
                            .info = (uint8_t)(STB_GLOBAL << 4 | symbol_type(&s)),
                            .other = s.other,
                            .size = symbol_type(&s) == STT_FUNC ? 0 : s.size};
        } else if (s.section != SHN_UNDEF && s.section < SHN_RESERVED) {
            if (symbol_is_variable(r->c, &s))
                move_place(r, s.section, &s.value);
            s.section = (uint16_t)map_section(r, s.section);
        }
        VEC_PUSH(r->arena, &out->symbols, s);
    }
}

// Returns the number of symbols that stay below an index.
static uint32_t kept_below(const Removal *r, uint32_t index)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < MIN(index, r->c->elf.symbols.n); k++)
        n += !r->symbol_gone[k];
    return n;
}

static void copy_sections(const Removal *r, Elf *out)
{
    const Elf *elf = &r->c->elf;
    for (uint32_t k = 0; k < elf->sections.n; k++) {
        ElfSection s = elf->sections.at[k];
        if (r->section_gone[k])
            continue;
        if (k && s.type != SHT_NULL) {
            rewrite_section(r, k, &s);
            s.link = map_section(r, s.link);
            if (k == elf->symtab) {
                s.info = kept_below(r, s.info);
                s.size = (uint64_t)out->symbols.n * ELF_SYM;
            } else if (r->c->function[k]) {
                s.info = (s.info & 0xff000000) | map_symbol(r, r->c->function[k]);
            } else if (s.flags & SHF_INFO_LINK || s.type == SHT_REL || s.type == SHT_RELA) {
                s.info = map_section(r, s.info);
            }
        }
        VEC_PUSH(r->arena, &out->sections, s);
    }
}

bool cubin_changes(const Link *link, const Input *in)
{
    const Cubin *c = &in->cubin;
    for (uint32_t k = 1; k < c->elf.symbols.n && !c->fixed && !link->keeps_all; k++)
        if (in->node[k] && cubin_symbol(c, k)->section != SHN_UNDEF &&
            (!link->nodes.at[in->node[k]].live || is_replaced(link, in, k)))
            return true;
    return false;
}

void cubin_rewrite(Link *link, Input *in, TextBuffer *text)
{
    const Elf *elf = &in->cubin.elf;
    Arena scratch;
    arena_init(&scratch, link->heap);
    Removal r = {.link = link, .in = in, .c = &in->cubin, .arena = &scratch};
    r.section_gone = NEW_ARRAY(&scratch, bool, elf->sections.n);
    r.in_parts = NEW_ARRAY(&scratch, bool, elf->sections.n);
    r.new_size = NEW_ARRAY(&scratch, uint64_t, elf->sections.n);
    r.new_section = NEW_ARRAY(&scratch, uint32_t, elf->sections.n);
    r.symbol_gone = NEW_ARRAY(&scratch, bool, elf->symbols.n);
    r.new_symbol = NEW_ARRAY(&scratch, uint32_t, elf->symbols.n);
    find_dead_sections(&r);
    divide_variables(&r);
    find_dead_symbols(&r);
    keep_references(&r);
    divide_frames(&r);
    find_dead_relocs(&r);
    renumber(&r);
    Elf out = *elf;
    memset(&out.sections, 0, sizeof out.sections);
    memset(&out.symbols, 0, sizeof out.symbols);
    copy_symbols(&r, &out);
    copy_sections(&r, &out);
    out.symtab = r.new_section[elf->symtab];
    out.shstrndx = r.new_section[elf->shstrndx];
    elf_write(&out, text);
    arena_free(&scratch);
}
