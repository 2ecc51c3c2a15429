// SPDX-License-Identifier: MIT
// Lays out the constants of the user again: the documented pre-pass if their bank overflows, the documented merging,
// and aliases. A section stays as it is if code names it as a whole: places are relative to it then.
//
// Inferred: a constant is used if functions that stay, or data outside of the bank, reach it, or if the host may name
// it.
#include "tools/orilink/user_constants.h"
#include "tools/orilink/dedup.h"
#include "tools/orilink/space.h"

typedef struct Reader {
    UserConstants *u;
    bool *reached;      // by NodeId
    bool *named;        // by section of the file that is read: a relocation names it as a whole
    uint32_t *section;  // by section of the file that is read: its index in u->sections + 1; 0 = none
} Reader;

/* -- Use ------------------------------------------------------------------------------------------------- */

static bool is_user_bank(const ElfSection *s) { return s->type == SHT_NV_CONSTANT0 + USER_BANK; }

// True for a variable in constant memory that the host cannot name.
static bool is_unnamed_constant(const Link *link, const Node *node)
{
    const Cubin *c = &link->inputs.at[node->input].cubin;
    return node->kind == NODE_VARIABLE && !node->root &&
           is_user_bank(cubin_section(c, cubin_symbol(c, node->symbol)->section));
}

// Finds what the rest of the program reaches.
static void find_reached(Reader *r)
{
    const Link *link = r->u->link;
    VEC(NodeId) work = {0};
    r->reached = NEW_ARRAY(&r->u->arena, bool, link->nodes.n);
    for (NodeId n = 1; n < link->nodes.n; n++) {
        r->reached[n] = link->nodes.at[n].live && !is_unnamed_constant(link, &link->nodes.at[n]);
        if (r->reached[n])
            VEC_PUSH(&r->u->arena, &work, n);
    }
    for (uint32_t at = 0; at < work.n; at++) {
        uint32_t count;
        const Edge *edges = node_edges(link, work.at[at], &count);
        for (uint32_t k = 0; k < count; k++) {
            if (!r->reached[edges[k].to])
                VEC_PUSH(&r->u->arena, &work, edges[k].to);
            r->reached[edges[k].to] = true;
        }
    }
}

/* -- Sections -------------------------------------------------------------------------------------------- */

// Adds bytes of a section as a constant, with the symbols of variables.
static void add_constant(Reader *r, UserSection *s, uint64_t offset, uint64_t size, const Place *places, uint32_t n)
{
    UserConstants *u = r->u;
    const Input *in = &u->link->inputs.at[s->input];
    const ElfSection *section = cubin_section(&in->cubin, s->section);
    DataSymbol symbol = {.name = "", .place = offset};
    bool live = !n;
    for (uint32_t k = 0; k < n; k++) {
        NodeId node = in->node[places[k].symbol];
        bool here = !is_replaced(u->link, in, places[k].symbol);
        symbol.is_reached |= here && r->reached[node];
        live |= here && u->link->nodes.at[node].live;
    }
    symbol.is_hidden = !live;
    if (n) {
        symbol.name = cubin_symbol(&in->cubin, places[0].symbol)->text;
        symbol.is_local = symbol_bind(cubin_symbol(&in->cubin, places[0].symbol)) == STB_LOCAL;
    }
    DataRecord record = {section->data + offset, offset, section->align ? alignment_at(section, offset) : 0, size,
                         u->constants.n};
    VEC_PUSH(&u->arena, &s->data.records, record);
    VEC_PUSH(&u->arena, &u->symbols, symbol);
    VEC_PUSH(&u->arena, &u->constants,
             ((UserConstant){u->sections.n, n ? places[0].symbol : 0, n, offset, size, false, 0}));
}

// Adds bytes between variables as a constant if they are not all zero: else they are padding.
static void add_gap(Reader *r, UserSection *s, uint64_t from, uint64_t to)
{
    const uint8_t *bytes = cubin_section(&r->u->link->inputs.at[s->input].cubin, s->section)->data;
    for (uint64_t k = from; k < to; k++)
        if (bytes[k]) {
            add_constant(r, s, from, to - from, NULL, 0);
            return;
        }
}

// Finds the sections of a file that relocations name as a whole, except for those that only debuggers read.
static void find_named(Reader *r, const Cubin *c)
{
    r->named = NEW_ARRAY(&r->u->arena, bool, c->elf.sections.n);
    for (uint32_t k = 1; k < c->elf.sections.n; k++) {
        const ElfSection *s = cubin_section(c, k);
        bool relocs = (s->type == SHT_REL || s->type == SHT_RELA) && !section_is_debug(cubin_section(c, s->info));
        for (uint32_t n = 0; relocs && n < reloc_count(s); n++) {
            const ElfSymbol *symbol = cubin_symbol(c, reloc_at(s, n).symbol);
            if (symbol->section < c->elf.sections.n && !symbol_is_variable(c, symbol))
                r->named[symbol->section] = true;
        }
    }
}

// Adds the relocations of a file that patch constants.
static void read_relocs(Reader *r, const Cubin *c)
{
    UserConstants *u = r->u;
    for (uint32_t k = 1; k < c->elf.sections.n; k++) {
        const ElfSection *section = cubin_section(c, k);
        bool relocs = section->type == SHT_REL || section->type == SHT_RELA;
        UserSection *s = relocs && r->section[section->info] ? &u->sections.at[r->section[section->info] - 1] : NULL;
        for (uint32_t n = 0; s && n < reloc_count(section); n++) {
            uint64_t place = reloc_at(section, n).offset;
            const DataRecord *record = data_record_at(&s->data, place);
            VEC_PUSH(&u->arena, &s->relocs, ((DataReloc){place, false}));
            if (record)
                u->constants.at[record->symbol].has_relocs = true;
            else
                s->fixed = true;
        }
    }
}

// True if the variables of a section have distinct names.
static bool names_are_distinct(UserConstants *u, const Cubin *c, const Place *places, uint32_t n)
{
    StrTable names;
    str_init(&names, &u->arena, NULL);
    uint32_t empty = names.strings.n;
    for (uint32_t k = 0; k < n; k++)
        str_intern_z(&names, cubin_symbol(c, places[k].symbol)->text);
    return names.strings.n - empty == n;
}

// Adds the section of some variables, unless one lies outside of it, or would lose its alignment with one that overlaps
// it.
static void read_section(Reader *r, uint32_t input, const Place *places, uint32_t n)
{
    UserConstants *u = r->u;
    const Cubin *c = &u->link->inputs.at[input].cubin;
    UserSection s = {.input = input, .section = places[0].section};
    const ElfSection *section = cubin_section(c, s.section);
    uint32_t first = u->constants.n;
    uint64_t at = 0;
    s.data = (DataSection){.index = s.section, .size = section->size, .align = section->align};
    for (uint32_t k = 0, next; k < n && section->data; k = next) {
        uint64_t start = places[k].offset, stop = start;
        for (next = k; next < n && (next == k || places[next].offset < stop); next++) {
            bool inside =
                places[next].offset <= section->size && places[next].size <= section->size - places[next].offset;
            bool aligned = alignment_at(section, places[next].offset) <= alignment_at(section, start);
            if (!inside || !aligned) {
                u->constants.n = u->symbols.n = first;
                return;
            }
            stop = MAX(stop, places[next].offset + places[next].size);
        }
        add_gap(r, &s, at, start);
        add_constant(r, &s, start, stop - start, places + k, next - k);
        at = stop;
    }
    add_gap(r, &s, at, section->data ? section->size : 0);
    if (!section->data || r->named[s.section] || !names_are_distinct(u, c, places, n)) {
        u->constants.n = u->symbols.n = first;
        return;
    }
    VEC_PUSH(&u->arena, &u->sections, s);
    r->section[s.section] = u->sections.n;
}

static void read_input(Reader *r, uint32_t input)
{
    const Input *in = &r->u->link->inputs.at[input];
    find_named(r, &in->cubin);
    r->section = NEW_ARRAY(&r->u->arena, uint32_t, in->cubin.elf.sections.n);
    for (uint32_t k = 0, next; k < in->variables.n; k = next) {
        for (next = k; next < in->variables.n && in->variables.at[next].section == in->variables.at[k].section;)
            next++;
        if (is_user_bank(cubin_section(&in->cubin, in->variables.at[k].section)))
            read_section(r, input, in->variables.at + k, next - k);
    }
    read_relocs(r, &in->cubin);
}

static void read_inputs(Reader *r)
{
    UserConstants *u = r->u;
    VEC_PUSH(&u->arena, &u->constants, (UserConstant){0});
    VEC_PUSH(&u->arena, &u->symbols, (DataSymbol){0});
    for (uint32_t i = 0; i < u->link->inputs.n; i++)
        if (!u->link->inputs.at[i].cubin.fixed && !u->link->inputs.at[i].is_system)
            read_input(r, i);
}

// Returns the size of the bank with what stays.
static uint64_t bank_size(const UserConstants *u)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < u->link->inputs.n; i++) {
        const Input *in = &u->link->inputs.at[i];
        for (uint32_t k = 0; k < in->variables.n; k++) {
            const Place *p = &in->variables.at[k];
            if (is_user_bank(cubin_section(&in->cubin, p->section)) && !is_replaced(u->link, in, p->symbol) &&
                u->link->nodes.at[in->node[p->symbol]].live)
                size += p->size;
        }
    }
    return size;
}

/* -- Edits ----------------------------------------------------------------------------------------------- */

// True if a constant of a section has no symbol.
static bool has_anonymous(const UserConstants *u, const UserSection *s)
{
    for (uint32_t k = 0; k < s->data.records.n; k++)
        if (!u->constants.at[s->data.records.at[k].symbol].symbol)
            return true;
    return false;
}

static void optimize_space(UserConstants *u, UserSection *s)
{
    const Cubin *c = &u->link->inputs.at[s->input].cubin;
    if (!has_anonymous(u, s))
        s->edited |= data_optimize_space(&s->data, &u->arena, cubin_section(c, s->section)->text, u->symbols.at,
                                         s->relocs.at, s->relocs.n, u->verbose);
}

// Removes the records of constants that go or have a place elsewhere.
static void drop_hidden(UserConstants *u, UserSection *s)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < s->data.records.n; k++) {
        uint32_t constant = s->data.records.at[k].symbol;
        if (!u->symbols.at[constant].is_hidden && !u->constants.at[constant].alias)
            s->data.records.at[n++] = s->data.records.at[k];
    }
    s->data.records.n = n;
}

// Shares constants of a section as nvlink is documented to do it. One that relocations patch has a place of its own.
static void merge_documented(UserConstants *u, UserSection *s)
{
    const Cubin *c = &u->link->inputs.at[s->input].cubin;
    Dedup d;
    if (u->verbose)
        out_fmt(u->verbose, "layout and merge section %s\n", cubin_section(c, s->section)->text);
    for (uint32_t k = 0; k < s->data.records.n; k++) {
        uint32_t constant = s->data.records.at[k].symbol;
        u->symbols.at[constant].is_reached |= u->constants.at[constant].has_relocs;
    }
    dedup_init(&d, &u->arena, u->symbols.at, true, u->verbose);
    dedup_section(&d, &s->data, NULL, 0);
    s->data = d.target;
    s->edited = true;
}

// Places the constants of a section in their order.
static void place_constants(UserConstants *u, UserSection *s)
{
    data_layout(&s->data, &u->arena, true);
    for (uint32_t k = 0; k < s->data.records.n; k++)
        u->symbols.at[s->data.records.at[k].symbol].place = s->data.records.at[k].offset;
}

static void edit_section(UserConstants *u, const UserSection *s)
{
    Edits *e = input_edits(u->link, &u->link->inputs.at[s->input]);
    e->moved[s->section] = true;
    e->size[s->section] = s->data.size;
}

// Writes the place of a constant to the edits of its file, or the name of the one that replaces it.
static void edit_constant(UserConstants *u, uint32_t constant)
{
    const UserConstant *x = &u->constants.at[constant], *other = &u->constants.at[x->alias];
    const UserSection *s = &u->sections.at[x->section];
    Edits *e = u->link->inputs.at[s->input].edits;
    if (!s->edited || (u->symbols.at[constant].is_hidden && !x->alias))
        return;
    if (x->alias && other->section != x->section) {
        Input *of = &u->link->inputs.at[u->sections.at[other->section].input];
        e->alias[x->symbol] = (SymbolRef){u->sections.at[other->section].input, other->symbol};
        of->edits->exported[other->symbol] = u->symbols.at[x->alias].is_local;
        return;
    }
    Part part = {s->section, x->offset, x->size, u->symbols.at[x->alias ? x->alias : constant].place};
    VEC_PUSH(&u->link->arena, &e->parts, part);
}

void user_constants_edit(UserConstants *u)
{
    Reader r = {.u = u};
    arena_init(&u->arena, u->link->heap);
    find_reached(&r);
    read_inputs(&r);
    bool optimizes = u->forced || bank_size(u) > USER_LIMIT;
    if (u->mode == MERGE_ALIAS)
        user_constants_alias(u);
    for (uint32_t k = 0; k < u->sections.n; k++) {
        UserSection *s = &u->sections.at[k];
        if (optimizes)
            optimize_space(u, s);
        drop_hidden(u, s);
        if (u->mode == MERGE_DOCUMENTED && !s->fixed)
            merge_documented(u, s);
        else if (s->edited)
            place_constants(u, s);
        if (s->edited)
            edit_section(u, s);
    }
    for (uint32_t k = 1; k < u->constants.n; k++)
        edit_constant(u, k);
}
