// SPDX-License-Identifier: MIT
// Gives the sections and symbols of a cubin dense indices after others were removed. As in nvlink, two maps have the
// new indices of the input's symbols and of added ones, and a map back guards against numbers that are no virtual
// index.
#include "tools/orilink/compact.h"

/* -- Index maps ------------------------------------------------------------------------------------------ */

void index_map_init(IndexMap *map, Arena *arena, uint32_t n, const bool *gone, uint32_t nadded)
{
    uint32_t at = 1;
    *map = (IndexMap){.n = n, .nadded = nadded};
    map->forward = NEW_ARRAY(arena, uint32_t, n);
    map->added = NEW_ARRAY(arena, uint32_t, nadded);
    map->back = NEW_ARRAY(arena, uint32_t, n + nadded);
    for (uint32_t k = 1; k < n; k++)
        if (!gone[k]) {
            map->back[at] = k;
            map->forward[k] = at++;
        }
    for (uint32_t k = 0; k < nadded; k++) {
        map->back[at] = added_index(k);
        map->added[k] = at++;
    }
}

IndexState index_map_replace(const IndexMap *map, uint32_t *index)
{
    uint32_t k = added_index(*index), to = 0;
    if (*index < map->n)
        to = map->forward[*index];
    else if (k < map->nadded)
        to = map->added[k];
    else
        return INDEX_NOT_VIRTUAL;
    if (*index && !to)
        return INDEX_DELETED;
    if (map->back[to] != *index)
        return INDEX_NOT_VIRTUAL;
    *index = to;
    return INDEX_OK;
}

/* -- Sections and symbols -------------------------------------------------------------------------------- */

typedef struct Compaction {
    const Cubin *c;
    Tombstones *t;
    Arena *arena;
    IndexMap sections, symbols;
} Compaction;

static uint32_t new_symbol(const Compaction *x, uint32_t symbol)
{
    const char *name = symbol < x->c->elf.symbols.n ? cubin_symbol(x->c, symbol)->text : "";
    if (index_map_replace(&x->symbols, &symbol) != INDEX_OK)
        heap_fail(x->arena->heap, ST_BAD_INPUT, "'%s': reference to deleted symbol %u (%s)", x->c->elf.file, symbol,
                  name);
    return symbol;
}

static uint32_t new_section(const Compaction *x, uint32_t section)
{
    switch (index_map_replace(&x->sections, &section)) {
    case INDEX_OK: break;
    case INDEX_DELETED:
        heap_fail(x->arena->heap, ST_BAD_INPUT, "'%s': reference to deleted section %u (%s)", x->c->elf.file, section,
                  cubin_section(x->c, section)->text);
        break;
    case INDEX_NOT_VIRTUAL:
        heap_fail(x->arena->heap, ST_INTERNAL, "'%s': secidx not virtual: %u", x->c->elf.file, section);
    }
    return section;
}

static void replace_symbol(const Compaction *x, uint8_t *p) { store32(p, new_symbol(x, load32(p))); }

// Replaces the symbols in the records of .nv.info.
static void replace_in_info(const Compaction *x, const ElfSection *s, uint8_t *data)
{
    uint64_t at = 0;
    for (InfoRecord r; info_next(s, &at, &r);) {
        InfoSymbols symbols = info_symbols(&r);
        uint32_t n = symbols == INFO_ALL_SYMBOLS ? r.payload_size / 4 : symbols == INFO_FIRST_SYMBOL;
        for (uint32_t k = 0; k < n; k++)
            replace_symbol(x, data + (r.payload - s->data) + 4 * k);
    }
}

static void replace_in_calls(const Compaction *x, const ElfSection *s, uint8_t *data)
{
    int32_t group = 0;
    for (uint64_t at = 0; at < s->size; at += 8) {
        if (call_is_marker(load32(data + at), load32(data + at + 4))) {
            group = (int32_t)load32(data + at + 4);
            continue;
        }
        replace_symbol(x, data + at);
        if (call_names_function(group))
            replace_symbol(x, data + at + 4);
    }
}

// Replaces symbols at equal distances.
static void replace_each(const Compaction *x, const ElfSection *s, uint8_t *data, uint32_t first, uint32_t distance)
{
    for (uint64_t at = first; at < s->size; at += distance)
        replace_symbol(x, data + at);
}

// Replaces the symbols in the content of a section.
static void compact_content(const Compaction *x, ElfSection *s)
{
    enum { SYMBOL_OF_RELOC = 12 };
    bool relocs = s->type == SHT_REL || s->type == SHT_RELA;
    if (!relocs && s->type != SHT_NV_INFO && s->type != SHT_NV_CALLGRAPH && s->type != SHT_NV_PROTOTYPE)
        return;
    uint8_t *data = arena_alloc(x->arena, s->size);
    if (s->size)
        memcpy(data, s->data, s->size);
    switch (s->type) {
    case SHT_REL: replace_each(x, s, data, SYMBOL_OF_RELOC, ELF_REL); break;
    case SHT_RELA: replace_each(x, s, data, SYMBOL_OF_RELOC, ELF_RELA); break;
    case SHT_NV_INFO: replace_in_info(x, s, data); break;
    case SHT_NV_CALLGRAPH: replace_in_calls(x, s, data); break;
    case SHT_NV_PROTOTYPE: replace_each(x, s, data, 0, 8); break;
    }
    s->data = data;
}

// Returns the new sh_info of the symbol table: the number of symbols before that index. In cubins that may be the
// number of local ones, or of all.
static uint32_t symbols_before(const Compaction *x, uint32_t index)
{
    uint32_t all = x->t->elf.symbols.n;
    if (!index || index >= x->symbols.n)
        return index ? all : 0;
    while (index < x->symbols.n && !x->symbols.forward[index])
        index++;
    return index < x->symbols.n ? x->symbols.forward[index] : all - x->t->added.n;
}

static void compact_header(const Compaction *x, uint32_t k, ElfSection *s)
{
    s->link = new_section(x, s->link);
    if (k == x->c->elf.symtab) {
        s->info = symbols_before(x, s->info);
        s->size = (uint64_t)x->t->elf.symbols.n * ELF_SYM;
    } else if (x->c->function[k]) {
        s->info = (s->info & 0xff000000) | new_symbol(x, x->c->function[k]);
    } else if (s->flags & SHF_INFO_LINK || s->type == SHT_REL || s->type == SHT_RELA) {
        s->info = new_section(x, s->info);
    }
}

static void compact_symbols(Compaction *x, const bool *gone)
{
    Elf *elf = &x->t->elf;
    uint32_t n = 0;
    for (uint32_t k = 0; k < x->symbols.n; k++)
        if (!gone[k])
            elf->symbols.at[n++] = elf->symbols.at[k];
    elf->symbols.n = n;
    for (uint32_t k = 0; k < x->t->added.n; k++)
        VEC_PUSH(x->arena, &elf->symbols, x->t->added.at[k]);
    for (uint32_t k = 0; k < elf->symbols.n; k++) {
        ElfSymbol *s = &elf->symbols.at[k];
        if (s->section != SHN_UNDEF && s->section < SHN_RESERVED)
            s->section = (uint16_t)new_section(x, s->section);
    }
}

static void compact_sections(const Compaction *x, const bool *gone)
{
    Elf *elf = &x->t->elf;
    uint32_t n = 0;
    for (uint32_t k = 0; k < x->sections.n; k++) {
        ElfSection s = elf->sections.at[k];
        if (gone[k])
            continue;
        if (k) {
            compact_content(x, &s);
            compact_header(x, k, &s);
        }
        elf->sections.at[n++] = s;
    }
    elf->sections.n = n;
    for (uint32_t k = 0; k < x->t->added_sections.n; k++) {
        ElfSection s = x->t->added_sections.at[k];
        s.info = new_section(x, s.info);
        VEC_PUSH(x->arena, &elf->sections, s);
    }
    elf->symtab = new_section(x, elf->symtab);
    elf->shstrndx = new_section(x, elf->shstrndx);
}

void cubin_compact(const Cubin *c, Tombstones *t, Arena *arena)
{
    Elf *elf = &t->elf;
    Compaction x = {.c = c, .t = t, .arena = arena};
    bool *no_section = NEW_ARRAY(arena, bool, elf->sections.n);
    bool *no_symbol = NEW_ARRAY(arena, bool, elf->symbols.n);
    for (uint32_t k = 1; k < elf->sections.n; k++)
        no_section[k] = elf->sections.at[k].type == SHT_NULL;
    for (uint32_t k = 1; k < elf->symbols.n; k++)
        no_symbol[k] = symbol_is_tombstone(&elf->symbols.at[k]);
    index_map_init(&x.sections, arena, elf->sections.n, no_section, t->added_sections.n);
    t->section_before = x.sections.back;
    index_map_init(&x.symbols, arena, elf->symbols.n, no_symbol, t->added.n);
    compact_symbols(&x, no_symbol);
    compact_sections(&x, no_section);
}
