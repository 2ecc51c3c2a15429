// SPDX-License-Identifier: MIT
// Removes what is dead from a cubin. Dead sections and symbols become tombstones: empty entries in the tables, which
// compact.c removes. The indices of the others stay.
//
// A section goes with the code to which it belongs, a variable with its part of its section, and an undefined symbol if
// nothing that stays refers to it. A weak definition that another one replaces becomes a tombstone, too, and an
// undefined symbol is added for it. The string tables stay as they are, since records name signatures by their offsets.
#include <stdlib.h>

#include "tools/orilink/compact.h"
#include "tools/orilink/user_constants.h"

typedef struct Removal {
    const Link *link;
    const Input *in;
    const Cubin *c;
    Arena *arena;
    bool *section_gone, *symbol_gone;
    bool *in_parts;       // by section: only its parts stay
    uint64_t *new_size;   // by section: of those in parts
    VEC(Part) parts;      // in the order of sections and offsets
    uint32_t *reference;  // by symbol: the index by which others refer to it: its own, or that of an added symbol
    TextBuffer strings;   // the names of symbols, if some were added
    Tombstones out;
} Removal;

/* -- Parts of sections ----------------------------------------------------------------------------------- */

static int by_part(const void *a, const void *b)
{
    const Part *x = a, *y = b;
    if (x->section != y->section)
        return x->section < y->section ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

// Returns the number of parts that begin at an offset of a section or before it, or in a section before.
static uint32_t parts_until(const Removal *r, uint32_t section, uint64_t offset)
{
    uint32_t low = 0, high = r->parts.n;
    Part key = {.section = section, .offset = offset};
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (by_part(&r->parts.at[middle], &key) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Finds the new place of an offset in a section. False: it was removed.
static bool move_place(const Removal *r, uint32_t section, uint64_t *offset)
{
    if (!r->in_parts[section])
        return !r->section_gone[section];
    uint32_t n = parts_until(r, section, *offset);
    const Part *p = n ? &r->parts.at[n - 1] : NULL;
    if (!p || p->section != section || *offset - p->offset >= p->size)
        return false;
    *offset += p->to - p->offset;
    return true;
}

// Adds a part behind those of the section, at an offset that is aligned as its old one was.
static void add_part(Removal *r, uint32_t section, uint64_t offset, uint64_t size)
{
    uint64_t align = alignment_at(cubin_section(r->c, section), offset), to = r->new_size[section];
    to = (to + align - 1) & ~(align - 1);
    VEC_PUSH(r->arena, &r->parts, ((Part){section, offset, size, to}));
    r->new_size[section] = to + size;
}

static bool is_live(const Removal *r, uint32_t symbol)
{
    return r->link->nodes.at[r->in->node[symbol]].live && !is_replaced(r->link, r->in, symbol);
}

// True for a definition of a live name that another one replaces.
static bool is_live_elsewhere(const Removal *r, uint32_t symbol)
{
    if (alias_name(r->link, r->in, symbol))
        return true;
    return is_replaced(r->link, r->in, symbol) && r->link->nodes.at[r->in->node[symbol]].live;
}

// True if a symbol is undefined in the rewritten file unless it is removed.
static bool is_undefined(const Removal *r, uint32_t symbol)
{
    const ElfSymbol *s = cubin_symbol(r->c, symbol);
    bool external = symbol_type(s) == STT_FUNC || symbol_type(s) == STT_CUDA_OBJECT;
    return (s->section == SHN_UNDEF && external) || is_live_elsewhere(r, symbol);
}

// True if a symbol stays, and its definition does. Requires find_dead_symbols().
static bool is_defined_here(const Removal *r, uint32_t symbol)
{
    return !r->symbol_gone[symbol] && !is_replaced(r->link, r->in, symbol);
}

// True if bytes that no variable has are not zero.
static bool has_other_bytes(const ElfSection *s, uint64_t from, uint64_t to)
{
    for (; s->data && from < to; from++)
        if (s->data[from])
            return true;
    return false;
}

// Divides a section of variables into parts. Variables that overlap stay together. If none is dead, if there is data
// between them, or if one that overlaps another one would lose its alignment, the section stays whole.
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
            other |= alignment_at(s, places[next].offset) > alignment_at(s, start);
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
        r->new_size[section] = 0;
    }
}

// Divides a section as its edits say, of which `at` counts the parts of the sections before it.
static void divide_edited(Removal *r, uint32_t section, uint32_t *at)
{
    const Edits *e = r->in->edits;
    r->in_parts[section] = true;
    r->new_size[section] = e->size[section];
    r->section_gone[section] = !e->size[section];
    for (; *at < e->parts.n && e->parts.at[*at].section == section; ++*at)
        VEC_PUSH(r->arena, &r->parts, e->parts.at[*at]);
}

static void divide_variables(Removal *r)
{
    const Input *in = r->in;
    uint32_t edited = 0;
    for (uint32_t k = 0, next; k < in->variables.n; k = next) {
        uint32_t section = in->variables.at[k].section;
        for (next = k; next < in->variables.n && in->variables.at[next].section == section;)
            next++;
        if (in->edits && in->edits->moved[section])
            divide_edited(r, section, &edited);
        else
            divide(r, k, next);
    }
}

// Divides .debug_frame: the entries of functions without code go, and common entries that only those use. The section
// stays even if it is empty, since nvlink requires it for sm_90.
static void divide_frames(Removal *r)
{
    const Cubin *c = r->c;
    bool *used = NEW_ARRAY(r->arena, bool, c->frames.n);
    if (!c->frame)
        return;
    for (uint32_t k = 0; k < c->frames.n; k++) {
        const FrameEntry *e = &c->frames.at[k];
        used[k] |= e->function && is_defined_here(r, e->function);
        if (e->function && used[k])
            used[e->common] = true;
    }
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
        r->section_gone[k] =
            (c->owner[k] && !is_live(r, c->function[c->owner[k]])) || (r->in->edits && r->in->edits->section_gone[k]);
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
            r->symbol_gone[k] = r->section_gone[s->section] || (r->in->edits && r->in->edits->symbol_gone[k]);
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
        if (call_names_function(call->group) && !r->symbol_gone[call->a] && !is_undefined(r, call->a) &&
            is_undefined(r, call->b))
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

/* -- Contents of sections -------------------------------------------------------------------------------- */

// Returns the new offset of the common entry that an entry of .debug_frame names at a place. The old one may be wrong.
static uint64_t new_common(const Removal *r, uint64_t place)
{
    uint64_t offset = r->c->frames.at[frame_at(r->c, place)->common].offset;
    move_place(r, r->c->frame, &offset);
    return offset;
}

static void keep_relocs(const Removal *r, uint32_t section, const ElfSection *s, TextBuffer *text)
{
    const ElfSection *target = cubin_section(r->c, s->info);
    const bool *gone = r->in->edits ? r->in->edits->reloc_gone[section] : NULL;
    for (uint32_t k = 0; k < reloc_count(s); k++) {
        if (gone && gone[k])
            continue;
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
        store32(p + 12, r->reference[reloc.symbol]);
        store64(p + 16, addend);
        text_put(text, p, s->type == SHT_RELA ? ELF_RELA : ELF_REL);
    }
}

static void keep_records(const Removal *r, const ElfSection *s, TextBuffer *text)
{
    uint64_t at = 0;
    for (InfoRecord record; info_next(s, &at, &record);) {
        InfoSymbols symbols = info_symbols(&record);
        if (symbols == INFO_FIRST_SYMBOL && !is_defined_here(r, load32(record.payload)))
            continue;
        size_t start = text->n;
        text_put(text, record.at, record.size);
        uint8_t *p = (uint8_t *)text->at + start + 4;
        if (symbols == INFO_FIRST_SYMBOL)
            store32(p, r->reference[load32(record.payload)]);
        uint32_t kept = 0;
        for (uint32_t k = 0; symbols == INFO_ALL_SYMBOLS && k < record.payload_size / 4; k++)
            if (!r->symbol_gone[load32(record.payload + 4 * k)])
                store32(p + 4 * kept++, r->reference[load32(record.payload + 4 * k)]);
        if (symbols == INFO_ALL_SYMBOLS) {
            store16(p - 2, (uint16_t)(kept * 4));
            text->n = start + 4 + kept * 4;
        }
    }
}

// Appends a record of a removed function that nvlink requires of every file for sm_90, unless a function stays.
static void keep_abi_record(const Removal *r, TextBuffer *text)
{
    enum { ABI_RECORD = 0x5f, SM_REQUIRES = 90 };
    if (r->c->sm < SM_REQUIRES)
        return;
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

static void keep_calls(const Removal *r, const ElfSection *s, TextBuffer *text)
{
    int32_t group = 0;
    for (uint64_t at = 0; at < s->size; at += 8) {
        uint32_t a = load32(s->data + at), b = load32(s->data + at + 4);
        uint8_t p[8];
        bool marker = call_is_marker(a, b), function = call_names_function(group);
        if (marker)
            group = (int32_t)b;
        else if (group == HAS_SIGNATURE ? r->symbol_gone[a] : !is_defined_here(r, a) || (function && r->symbol_gone[b]))
            continue;
        store32(p, marker ? a : r->reference[a]);
        store32(p + 4, marker || !function ? b : r->reference[b]);
        text_put(text, p, sizeof p);
    }
}

static void keep_prototypes(const Removal *r, const ElfSection *s, TextBuffer *text)
{
    for (uint64_t at = 0; at < s->size; at += 8) {
        uint8_t p[8];
        if (r->symbol_gone[load32(s->data + at)])
            continue;
        store32(p, r->reference[load32(s->data + at)]);
        store32(p + 4, load32(s->data + at + 4));
        text_put(text, p, sizeof p);
    }
}

static void keep_parts(const Removal *r, uint32_t section, const ElfSection *s, TextBuffer *text)
{
    uint32_t k = parts_until(r, section - 1, UINT64_MAX), end = parts_until(r, section, UINT64_MAX);
    if (!s->data)
        return;
    uint8_t *bytes = arena_alloc(r->arena, r->new_size[section] + 1);
    memset(bytes, 0, r->new_size[section]);
    for (; k < end; k++)
        memcpy(bytes + r->parts.at[k].to, s->data + r->parts.at[k].offset, r->parts.at[k].size);
    text_put(text, bytes, r->new_size[section]);
}

// Moves the offsets of common entries that entries of .debug_frame have in place.
static void move_common(const Removal *r, TextBuffer *text)
{
    for (uint32_t k = 0; k < r->c->frames.n; k++) {
        const FrameEntry *e = &r->c->frames.at[k];
        uint64_t place = e->offset + FRAME_COMMON;
        if (e->function && e->in_place && move_place(r, r->c->frame, &place))
            store64((uint8_t *)text->at + place, new_common(r, e->offset + FRAME_COMMON));
    }
}

// Makes the new content of a section that stays, and sets its size.
static void keep_contents(const Removal *r, uint32_t k, ElfSection *s)
{
    TextBuffer text = {.arena = r->arena};
    const ElfSection *old = cubin_section(r->c, k);
    if (r->in->edits && r->in->edits->content[k]) {
        s->data = r->in->edits->content[k];
        s->size = r->in->edits->size[k];
        return;
    }
    switch (s->type) {
    case SHT_REL:
    case SHT_RELA: keep_relocs(r, k, old, &text); break;
    case SHT_NV_INFO:
        keep_records(r, old, &text);
        if (k == r->c->info)
            keep_abi_record(r, &text);
        break;
    case SHT_NV_CALLGRAPH: keep_calls(r, old, &text); break;
    case SHT_NV_PROTOTYPE: keep_prototypes(r, old, &text); break;
    default:
        if (!r->in_parts[k])
            return;
        keep_parts(r, k, old, &text);
        if (k == r->c->frame)
            move_common(r, &text);
    }
    s->size = r->in_parts[k] ? r->new_size[k] : text.n;
    s->data = (const uint8_t *)text.at;
}

/* -- Tombstones ------------------------------------------------------------------------------------------ */

// Appends a name to those of symbols, and returns its offset.
static uint32_t add_name(Removal *r, const char *name)
{
    const ElfSection *names = cubin_section(r->c, cubin_section(r->c, r->c->elf.symtab)->link);
    if (!r->strings.n)
        text_put(&r->strings, names->data, names->size);
    text_put(&r->strings, name, strlen(name) + 1);
    return (uint32_t)(r->strings.n - strlen(name) - 1);
}

static void add_symbol(Removal *r, uint32_t symbol, ElfSymbol s)
{
    s.info = (uint8_t)(STB_GLOBAL << 4 | symbol_type(&s));
    VEC_PUSH(r->arena, &r->out.added, s);
    r->reference[symbol] = added_index(r->out.added.n - 1);
}

// Adds an undefined symbol for a definition that another one replaces.
static void add_reference(Removal *r, uint32_t symbol)
{
    ElfSymbol s = *cubin_symbol(r->c, symbol);
    const char *alias = alias_name(r->link, r->in, symbol);
    if (alias)
        s.name = add_name(r, alias);
    s.section = SHN_UNDEF;
    s.value = 0;
    s.size = symbol_type(&s) == STT_FUNC ? 0 : s.size;
    add_symbol(r, symbol, s);
}

static void remove_symbols(Removal *r)
{
    const Elf *elf = &r->c->elf;
    VEC_RESERVE(r->arena, &r->out.elf.symbols, elf->symbols.n);
    for (uint32_t k = 0; k < elf->symbols.n; k++) {
        ElfSymbol s = elf->symbols.at[k];
        r->reference[k] = k;
        if (!r->symbol_gone[k] && is_live_elsewhere(r, k)) {
            add_reference(r, k);
        } else if (!r->symbol_gone[k] && s.section != SHN_UNDEF && s.section < SHN_RESERVED &&
                   symbol_is_variable(r->c, &s)) {
            move_place(r, s.section, &s.value);
            if (r->in->edits && r->in->edits->exported[k])
                add_symbol(r, k, s);
        }
        if (r->symbol_gone[k] || r->reference[k] != k)
            s = (ElfSymbol){.text = ""};
        VEC_PUSH(r->arena, &r->out.elf.symbols, s);
    }
}

static void remove_sections(Removal *r)
{
    const Elf *elf = &r->c->elf;
    VEC_RESERVE(r->arena, &r->out.elf.sections, elf->sections.n);
    for (uint32_t k = 0; k < elf->sections.n; k++) {
        ElfSection s = elf->sections.at[k];
        if (r->section_gone[k])
            s = (ElfSection){.text = ""};
        else
            keep_contents(r, k, &s);
        VEC_PUSH(r->arena, &r->out.elf.sections, s);
    }
    if (r->strings.n) {
        ElfSection *names = &r->out.elf.sections.at[cubin_section(r->c, elf->symtab)->link];
        names->data = (const uint8_t *)r->strings.at;
        names->size = r->strings.n;
    }
}

// Adds the sections of constants for kernels that have none.
static void add_banks(Removal *r)
{
    const Edits *edits = r->in->edits;
    ElfSection *names = &r->out.elf.sections.at[r->c->elf.shstrndx];
    TextBuffer text = {.arena = r->arena};
    if (!edits || !edits->banks.n)
        return;
    text_put(&text, names->data, names->size);
    for (uint32_t k = 0; k < edits->banks.n; k++) {
        const AddedBank *b = &edits->banks.at[k];
        const char *kernel = cubin_symbol(r->c, r->c->function[b->code])->text;
        VEC_PUSH(r->arena, &r->out.added_sections,
                 ((ElfSection){.name = (uint32_t)text.n,
                               .type = SHT_NV_CONSTANT0 + 2,
                               .flags = 2 | SHF_INFO_LINK,
                               .info = b->code,
                               .align = 8,
                               .size = b->size,
                               .data = b->bytes,
                               .text = ""}));
        text_put(&text, ".nv.constant2.", strlen(".nv.constant2."));
        text_put(&text, kernel, strlen(kernel) + 1);
    }
    names->data = (const uint8_t *)text.at;
    names->size = text.n;
}

Edits *input_edits(Link *link, Input *in)
{
    Arena *arena = &link->arena;
    uint32_t sections = in->cubin.elf.sections.n, symbols = in->cubin.elf.symbols.n;
    if (in->edits)
        return in->edits;
    Edits *e = in->edits = NEW(arena, Edits);
    e->content = NEW_ARRAY(arena, uint8_t *, sections);
    e->size = NEW_ARRAY(arena, uint64_t, sections);
    e->moved = NEW_ARRAY(arena, bool, sections);
    e->alias = NEW_ARRAY(arena, SymbolRef, symbols);
    e->exported = NEW_ARRAY(arena, bool, symbols);
    e->section_gone = NEW_ARRAY(arena, bool, sections);
    e->symbol_gone = NEW_ARRAY(arena, bool, symbols);
    e->reloc_gone = NEW_ARRAY(arena, bool *, sections);
    return e;
}

const char *alias_name(const Link *link, const Input *in, uint32_t symbol)
{
    SymbolRef by = in->edits ? in->edits->alias[symbol] : (SymbolRef){0};
    return by.symbol ? cubin_symbol(&link->inputs.at[by.input].cubin, by.symbol)->text : NULL;
}

bool cubin_changes(const Link *link, const Input *in)
{
    const Cubin *c = &in->cubin;
    if (in->edits && !c->fixed)
        return true;
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
    Removal r = {.link = link, .in = in, .c = &in->cubin, .arena = &scratch, .out.elf = *elf};
    r.strings.arena = &scratch;
    memset(&r.out.elf.sections, 0, sizeof r.out.elf.sections);
    memset(&r.out.elf.symbols, 0, sizeof r.out.elf.symbols);
    r.section_gone = NEW_ARRAY(&scratch, bool, elf->sections.n);
    r.in_parts = NEW_ARRAY(&scratch, bool, elf->sections.n);
    r.new_size = NEW_ARRAY(&scratch, uint64_t, elf->sections.n);
    r.symbol_gone = NEW_ARRAY(&scratch, bool, elf->symbols.n);
    r.reference = NEW_ARRAY(&scratch, uint32_t, elf->symbols.n);
    find_dead_sections(&r);
    divide_variables(&r);
    find_dead_symbols(&r);
    keep_references(&r);
    divide_frames(&r);
    find_dead_relocs(&r);
    remove_symbols(&r);
    remove_sections(&r);
    add_banks(&r);
    cubin_compact(&in->cubin, &r.out, &scratch);
    size_t start = text->n;
    elf_write(&r.out.elf, text);
    if (in->edits && in->edits->parts.n)
        user_constants_check(link, in, (const uint8_t *)text->at + start, text->n - start, r.out.section_before,
                             &scratch);
    arena_free(&scratch);
}
