// SPDX-License-Identifier: MIT
// Verifies a rewritten cubin in which constants of the user moved. The file is read again, so this does not depend on
// how it was written: each constant has its size, bytes and alignment, and each relocation that names a constant, or
// patches one, is where it was and names the same, or the constant of another file that replaces it.
#include "tools/orilink/user_constants.h"

typedef struct Checker {
    const Link *link;
    const Input *in;
    Arena *arena;
    Elf elf;                  // the rewritten file
    StrTable names;           // of its constants
    VEC(uint32_t) constants;  // by StrId: symbol
    uint32_t *section;        // by section of the input: that of the rewritten file; 0 = it was removed
} Checker;

static void fail(const Checker *x, const char *what, const char *name)
{
    heap_fail(x->arena->heap, ST_INTERNAL, "'%s': %s '%s' differs from the input", x->in->cubin.elf.file, what, name);
}

static bool is_moved(const Checker *x, const ElfSymbol *s)
{
    return s->section != SHN_UNDEF && s->section < x->in->cubin.elf.sections.n && x->in->edits->moved[s->section];
}

// Returns the name by which the rewritten file refers to a symbol.
static const char *name_of(const Checker *x, uint32_t symbol)
{
    const char *alias = alias_name(x->link, x->in, symbol);
    return alias ? alias : cubin_symbol(&x->in->cubin, symbol)->text;
}

// Returns the constant of a name in the rewritten file; NULL: there is none.
static const ElfSymbol *find_constant(const Checker *x, const char *name)
{
    StrId id = str_find(&x->names, name, strlen(name));
    return id == STR_NONE ? NULL : &x->elf.symbols.at[x->constants.at[id]];
}

/* -- Constants ------------------------------------------------------------------------------------------- */

// Compares a constant with that of another file which replaces it.
static void check_alias(const Checker *x, uint32_t symbol, SymbolRef by)
{
    const Cubin *c = &x->in->cubin, *d = &x->link->inputs.at[by.input].cubin;
    const ElfSymbol *s = cubin_symbol(c, symbol), *t = cubin_symbol(d, by.symbol);
    const ElfSection *a = cubin_section(c, s->section), *b = cubin_section(d, t->section);
    if (s->size != t->size || s->other != t->other || alignment_at(a, s->value) > alignment_at(b, t->value) ||
        memcmp(a->data + s->value, b->data + t->value, s->size) != 0)
        fail(x, "constant", s->text);
}

static void check_constant(const Checker *x, uint32_t symbol)
{
    if (x->in->edits->alias[symbol].symbol) {
        check_alias(x, symbol, x->in->edits->alias[symbol]);
        return;
    }
    const ElfSymbol *s = cubin_symbol(&x->in->cubin, symbol), *t = find_constant(x, s->text);
    const ElfSection *old = cubin_section(&x->in->cubin, s->section), *now = t ? &x->elf.sections.at[t->section] : NULL;
    if (!t && !x->link->nodes.at[x->in->node[symbol]].root)
        return;  // it was removed
    bool inside = now && now->data && t->value <= now->size && t->size <= now->size - t->value;
    if (!inside || t->size != s->size || t->other != s->other || t->value % alignment_at(old, s->value) != 0 ||
        now->align != old->align || memcmp(now->data + t->value, old->data + s->value, s->size) != 0)
        fail(x, "constant", s->text);
}

/* -- Relocations ----------------------------------------------------------------------------------------- */

// Finds the place of a relocation in the rewritten file. False: what it patches was removed.
static bool move_reloc(const Checker *x, uint32_t section, ElfReloc *reloc)
{
    if (!x->in->edits->moved[section])
        return true;
    const Place *p = variable_at(x->in, section, reloc->offset);
    const ElfSymbol *t = p ? find_constant(x, cubin_symbol(&x->in->cubin, p->symbol)->text) : NULL;
    if (t)
        reloc->offset += t->value - p->offset;
    return t;
}

// Compares the relocations of a section that name constants, or patch them. They have the order of the input.
static void check_relocs(const Checker *x, uint32_t section)
{
    const Cubin *c = &x->in->cubin;
    const ElfSection *old = cubin_section(c, section), *new = &x->elf.sections.at[x->section[section]];
    uint32_t at = 0;
    for (uint32_t k = 0; k < reloc_count(old); k++) {
        ElfReloc a = reloc_at(old, k);
        const char *name = name_of(x, a.symbol);
        bool moved = is_moved(x, cubin_symbol(c, a.symbol)) || x->in->edits->moved[old->info];
        if (!moved || !move_reloc(x, old->info, &a))
            continue;
        for (bool equal = false; !equal; at++) {
            if (at == reloc_count(new))
                fail(x, "a relocation that names", name);
            ElfReloc b = reloc_at(new, at);
            equal = a.offset == b.offset && a.type == b.type && a.addend == b.addend &&
                    strcmp(x->elf.symbols.at[b.symbol].text, name) == 0;
        }
    }
}

/* -- The file -------------------------------------------------------------------------------------------- */

void user_constants_check(const Link *link, const Input *in, const uint8_t *bytes, size_t size, const uint32_t *before,
                          Arena *arena)
{
    const Cubin *c = &in->cubin;
    Checker x = {.link = link, .in = in, .arena = arena};
    if (!elf_read(&x.elf, c->elf.file, bytes, size, arena, link->diag) || !elf_read_symbols(&x.elf, arena, link->diag))
        heap_fail(arena->heap, ST_INTERNAL, "'%s': the rewritten file cannot be read", c->elf.file);
    str_init(&x.names, arena, NULL);
    for (uint32_t k = 1; k < x.elf.symbols.n; k++) {
        const ElfSymbol *s = &x.elf.symbols.at[k];
        bool here = s->section != SHN_UNDEF && s->section < x.elf.sections.n;
        if (!here || x.elf.sections.at[s->section].type != SHT_NV_CONSTANT0 + USER_BANK)
            continue;
        StrId id = str_intern_z(&x.names, s->text);
        while (x.constants.n <= id)
            VEC_PUSH(arena, &x.constants, 0);
        x.constants.at[id] = k;
    }
    x.section = NEW_ARRAY(arena, uint32_t, c->elf.sections.n);
    for (uint32_t k = 1; k < x.elf.sections.n; k++)
        if (before[k] < c->elf.sections.n)
            x.section[before[k]] = k;
    for (uint32_t k = 0; k < in->variables.n; k++) {
        uint32_t symbol = in->variables.at[k].symbol;
        bool stays = link->nodes.at[in->node[symbol]].live && !is_replaced(link, in, symbol);
        if (stays && in->edits->moved[in->variables.at[k].section])
            check_constant(&x, symbol);
    }
    for (uint32_t k = 1; k < c->elf.sections.n; k++) {
        const ElfSection *s = cubin_section(c, k);
        if ((s->type == SHT_REL || s->type == SHT_RELA) && x.section[k] && !section_is_debug(cubin_section(c, s->info)))
            check_relocs(&x, k);
    }
}
