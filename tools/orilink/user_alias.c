// SPDX-License-Identifier: MIT
// Finds equal constants of the user that can have one place: in one file two symbols name it, and another file gets an
// undefined symbol of that name.
//
// That is sound only if nobody can tell them apart or write one of them. The host must be known not to name either, so
// all host information is required; code must read them by places in instructions, not by address; and they have no
// relocations. The one that stays has the strictest alignment.
#include "tools/orilink/fields.h"
#include "tools/orilink/user_constants.h"

typedef struct Finder {
    UserConstants *u;
    Arena scratch;
    bool *addressed;   // by NodeId: its address is taken
    bool *elsewhere;   // by NodeId: other files name it
    StrTable locals;   // names of local variables
    VEC(bool) common;  // by StrId of `locals`: several variables have it
    IdSet index;       // of `best`, by bytes
    VEC(uint32_t) best;
} Finder;

// Finds variables of which an address is taken.
static void read_relocs(Finder *f, const Input *in, const ElfSection *s)
{
    for (uint32_t k = 0; k < reloc_count(s); k++) {
        ElfReloc reloc = reloc_at(s, k);
        Field field;
        bool reads = in->cubin.function[s->info] && field_of(&reloc, &field) && field.has_bank;
        f->addressed[in->node[reloc.symbol]] |= !reads;
    }
}

static void read_input(Finder *f, const Input *in)
{
    const Cubin *c = &in->cubin;
    for (uint32_t k = 1; k < c->elf.sections.n; k++) {
        const ElfSection *s = cubin_section(c, k);
        if ((s->type == SHT_REL || s->type == SHT_RELA) && !section_is_debug(cubin_section(c, s->info)))
            read_relocs(f, in, s);
    }
    for (uint32_t k = 1; k < c->elf.symbols.n; k++) {
        const ElfSymbol *s = cubin_symbol(c, k);
        f->elsewhere[in->node[k]] |= s->section == SHN_UNDEF || c->fixed || in->is_system;
        if (symbol_bind(s) != STB_LOCAL)
            continue;
        uint32_t before = f->locals.strings.n;
        StrId id = str_intern_z(&f->locals, s->text);
        while (f->common.n <= id)
            VEC_PUSH(&f->scratch, &f->common, false);
        f->common.at[id] |= f->locals.strings.n == before;
    }
}

// True if nobody can tell a constant from another one with the same bytes.
static bool is_candidate(const Finder *f, uint32_t k)
{
    const UserConstants *u = f->u;
    const UserConstant *x = &u->constants.at[k];
    const UserSection *s = &u->sections.at[x->section];
    const Input *in = &u->link->inputs.at[s->input];
    if (s->fixed || x->nsymbols != 1 || !x->size || x->has_relocs || !u->symbols.at[k].is_reached)
        return false;  // the pre-pass may remove one that is not reached
    NodeId n = in->node[x->symbol];
    const Node *node = &u->link->nodes.at[n];
    return node->live && !node->root && !f->addressed[n] &&
           symbol_bind(cubin_symbol(&in->cubin, x->symbol)) != STB_WEAK;
}

static const ElfSection *bytes_of(const UserConstants *u, const UserConstant *x)
{
    const UserSection *s = &u->sections.at[x->section];
    return cubin_section(&u->link->inputs.at[s->input].cubin, s->section);
}

static uint64_t alignment_of(const UserConstants *u, const UserConstant *x)
{
    return alignment_at(bytes_of(u, x), x->offset);
}

// Returns the class of constants with the bytes of one: its index in `best`.
static uint32_t class_of(Finder *f, uint32_t k)
{
    const UserConstants *u = f->u;
    const UserConstant *x = &u->constants.at[k];
    const uint8_t *bytes = bytes_of(u, x)->data + x->offset;
    uint32_t hash = hash_bytes(bytes, x->size);
    IDSET_EACH(&f->index, hash, id) {
        const UserConstant *y = &u->constants.at[f->best.at[id]];
        if (y->size == x->size && memcmp(bytes_of(u, y)->data + y->offset, bytes, x->size) == 0)
            return id;
    }
    idset_add(&f->index, &f->scratch, hash, f->best.n);
    VEC_PUSH(&f->scratch, &f->best, k);
    return f->best.n - 1;
}

// True if the name of a constant that stays can be that of a global symbol.
static bool can_export(const Finder *f, const UserConstant *x)
{
    const UserConstants *u = f->u;
    const ElfSymbol *s = cubin_symbol(&u->link->inputs.at[u->sections.at[x->section].input].cubin, x->symbol);
    if (symbol_bind(s) != STB_LOCAL)
        return true;
    return !f->common.at[str_find(&f->locals, s->text, strlen(s->text))] &&
           str_find(&u->link->names, s->text, strlen(s->text)) == STR_NONE;
}

// True if a constant can have the place of another one, which has the strictest alignment of all that are equal.
static bool may_replace(const Finder *f, uint32_t k, uint32_t by)
{
    const UserConstants *u = f->u;
    const UserConstant *x = &u->constants.at[k], *y = &u->constants.at[by];
    const Input *in = &u->link->inputs.at[u->sections.at[x->section].input];
    if (k == by)
        return false;
    if (x->section == y->section)
        return true;
    bool one_file = u->sections.at[x->section].input == u->sections.at[y->section].input;
    return !one_file && !f->elsewhere[in->node[x->symbol]] && can_export(f, y);
}

void user_constants_alias(UserConstants *u)
{
    Finder f = {.u = u};
    if (u->link->lacks_host_info) {
        diag_plain(u->link->diag, DIAG_WARNING,
                   "no constants are merged: an input has no host information, so the host may access any variable");
        return;
    }
    arena_init(&f.scratch, u->link->heap);
    f.addressed = NEW_ARRAY(&f.scratch, bool, u->link->nodes.n);
    f.elsewhere = NEW_ARRAY(&f.scratch, bool, u->link->nodes.n);
    str_init(&f.locals, &f.scratch, NULL);
    uint32_t *class = NEW_ARRAY(&f.scratch, uint32_t, u->constants.n);
    for (uint32_t k = 0; k < u->link->inputs.n; k++)
        read_input(&f, &u->link->inputs.at[k]);
    for (uint32_t k = 1; k < u->constants.n; k++) {
        if (!is_candidate(&f, k))
            continue;
        class[k] = class_of(&f, k) + 1;
        uint32_t *best = &f.best.at[class[k] - 1];
        if (alignment_of(u, &u->constants.at[k]) > alignment_of(u, &u->constants.at[*best]))
            *best = k;
    }
    for (uint32_t k = 1; k < u->constants.n; k++) {
        uint32_t by = class[k] ? f.best.at[class[k] - 1] : 0;
        if (!by || !may_replace(&f, k, by))
            continue;
        u->constants.at[k].alias = by;
        u->sections.at[u->constants.at[k].section].edited = true;
        u->sections.at[u->constants.at[by].section].edited = true;
    }
    arena_free(&f.scratch);
}
