// SPDX-License-Identifier: MIT
// Finds the constants that the compiler made for functions, and the fields that hold their places.
#include "tools/orilink/banks.h"

typedef struct Reader {
    Banks *b;
    Arena scratch;
    IdSet index;         // of values, by their bytes
    uint64_t **covered;  // by input and section: bytes that symbols of constants have; UINT64_MAX: one is outside of it
    bool **relocated;    // by input and section: it has relocations, or those of data name it
} Reader;

/* -- Values ---------------------------------------------------------------------------------------------- */

// Returns the value with these bytes. It has the strictest alignment of all that have them.
static ValueId add_value(Reader *r, const uint8_t *bytes, uint32_t size, uint32_t align)
{
    Banks *b = r->b;
    uint32_t hash = hash_bytes(bytes, size);
    IDSET_EACH(&r->index, hash, id)
        if (b->values.at[id].size == size && memcmp(b->values.at[id].bytes, bytes, size) == 0) {
            b->values.at[id].align = MAX(b->values.at[id].align, align);
            return id;
        }
    idset_add(&r->index, &r->scratch, hash, b->values.n);
    VEC_PUSH(&b->arena, &b->values, ((BankValue){bytes, size, align, UINT32_MAX}));
    return b->values.n - 1;
}

/* -- Functions ------------------------------------------------------------------------------------------- */

// Marks the sections that relocations of data name.
static void read_data_relocs(Reader *r, uint32_t input, const ElfSection *s)
{
    const Cubin *c = &r->b->link->inputs.at[input].cubin;
    if (c->function[s->info] || section_is_debug(cubin_section(c, s->info)))
        return;
    for (uint32_t k = 0; k < reloc_count(s); k++) {
        uint32_t section = cubin_symbol(c, reloc_at(s, k).symbol)->section;
        if (section < c->elf.sections.n)
            r->relocated[input][section] = true;
    }
}

// Finds what symbols cover of the sections of a file, and the sections that have relocations.
static void read_sections(Reader *r, uint32_t input)
{
    const Cubin *c = &r->b->link->inputs.at[input].cubin;
    uint64_t *covered = r->covered[input] = NEW_ARRAY(&r->scratch, uint64_t, c->elf.sections.n);
    r->relocated[input] = NEW_ARRAY(&r->scratch, bool, c->elf.sections.n);
    for (uint32_t k = 1; k < c->elf.sections.n; k++) {
        const ElfSection *s = cubin_section(c, k);
        if ((s->type != SHT_REL && s->type != SHT_RELA) || !s->size)
            continue;
        r->relocated[input][s->info] = true;
        read_data_relocs(r, input, s);
    }
    for (uint32_t k = 1; k < c->elf.symbols.n; k++) {
        const ElfSymbol *s = cubin_symbol(c, k);
        if (s->section == SHN_UNDEF || s->section >= c->elf.sections.n || symbol_type(s) != STT_CUDA_OBJECT)
            continue;
        uint64_t size = cubin_section(c, s->section)->size;
        bool inside = s->value <= size && s->size <= size - s->value && covered[s->section] != UINT64_MAX;
        covered[s->section] = inside ? covered[s->section] + s->size : UINT64_MAX;
    }
}

// Returns the reason why the places of a function's constants cannot be planned; NULL: there is none.
static const char *reason_to_keep(const Reader *r, const BankFunction *f)
{
    const Cubin *c = &r->b->link->inputs.at[f->input].cubin;
    if (c->fixed)
        return c->fixed;
    if (r->relocated[f->input][f->bank])
        return "its constants have relocations";
    if (r->covered[f->input][f->bank] == UINT64_MAX)
        return "a constant is outside of its section";
    return r->covered[f->input][f->bank] < cubin_section(c, f->bank)->size ? "it has constants without a symbol" : NULL;
}

// Adds a relocation of the code. False: it is no plain read of a constant.
static bool add_read(Reader *r, const Input *in, BankFunction *f, uint32_t section, uint32_t k)
{
    const Cubin *c = &in->cubin;
    const ElfSection *code = cubin_section(c, f->code), *bank = cubin_section(c, f->bank);
    ElfReloc reloc = reloc_at(cubin_section(c, section), k);
    const ElfSymbol *s = cubin_symbol(c, reloc.symbol);
    Field field;
    if (s->section != f->bank)
        return true;
    if (symbol_type(s) != STT_CUDA_OBJECT || !field_of(&reloc, &field) || !field.indexes)
        return false;
    if (field.at > code->size || code->size - field.at < FIELD_BYTES)
        return false;
    if (field_value(code->data, &field) || field_bank(code->data, &field) != (field.has_bank ? 0 : BANK))
        return false;
    ValueId value = add_value(r, bank->data + s->value, (uint32_t)s->size, (uint32_t)alignment_at(bank, s->value));
    VEC_PUSH(&r->b->arena, &f->reads, ((BankRead){section, k, value, UINT32_MAX, field, reloc.addend}));
    return true;
}

// True for relocations of a section of code.
static bool has_relocs_of(const ElfSection *s, uint32_t code)
{
    return (s->type == SHT_REL || s->type == SHT_RELA) && s->info == code;
}

static void read_function(Reader *r, NodeId n, uint32_t code, uint32_t bank)
{
    const Node *node = &r->b->link->nodes.at[n];
    const Input *in = &r->b->link->inputs.at[node->input];
    const Cubin *c = &in->cubin;
    uint64_t size = cubin_section(c, bank)->size;
    BankFunction f = {.node = n, .input = node->input, .code = code, .bank = bank};
    if (!r->covered[f.input])
        read_sections(r, f.input);
    f.size = (size + BANK_ALIGN - 1) & ~(uint64_t)(BANK_ALIGN - 1);
    f.fixed = reason_to_keep(r, &f);
    uint32_t relocs = 0;
    for (uint32_t k = c->owned[code]; k && !f.fixed; k = c->next[k])
        relocs += has_relocs_of(cubin_section(c, k), code) ? reloc_count(cubin_section(c, k)) : 0;
    VEC_RESERVE(&r->b->arena, &f.reads, relocs);
    for (uint32_t k = c->owned[code]; k && !f.fixed; k = c->next[k]) {
        const ElfSection *s = cubin_section(c, k);
        for (uint32_t i = 0; has_relocs_of(s, code) && i < reloc_count(s) && !f.fixed; i++)
            if (!add_read(r, in, &f, k, i))
                f.fixed = "its code takes the address of a constant";
    }
    VEC_PUSH(&r->b->arena, &r->b->functions, f);
}

// Returns the section of constants of a function; 0 = none, or there are several.
static uint32_t bank_of(const Cubin *c, uint32_t code)
{
    uint32_t bank = 0;
    for (uint32_t k = c->owned[code]; k; k = c->next[k]) {
        const ElfSection *s = cubin_section(c, k);
        if (s->type == SHT_NV_CONSTANT0 + BANK && s->info == code && s->size)
            bank = k;
    }
    return bank;
}

static void read_functions(Reader *r)
{
    const Link *link = r->b->link;
    for (NodeId n = 1; n < link->nodes.n; n++) {
        const Node *node = &link->nodes.at[n];
        const Cubin *c = &link->inputs.at[node->input].cubin;
        uint32_t code = node->kind <= NODE_KERNEL && node->live ? cubin_symbol(c, node->symbol)->section : 0;
        uint32_t bank = code ? bank_of(c, code) : 0;
        if (bank)
            read_function(r, n, code, bank);
    }
}

/* -- Kernels --------------------------------------------------------------------------------------------- */

// A kernel of a file that stays as it is keeps the constants of all that it reaches.
static void keep_fixed(Banks *b)
{
    for (uint32_t k = 0; k < b->kernels.n; k++) {
        const BankKernel *kernel = &b->kernels.at[k];
        const Input *in = &b->link->inputs.at[b->link->nodes.at[kernel->node].input];
        for (uint32_t i = 0; i < kernel->functions.n && (in->cubin.fixed || in->is_system); i++)
            b->functions.at[kernel->functions.at[i]].fixed = "a kernel of a file that stays as it is reaches it";
    }
    for (uint32_t k = 0; k < b->kernels.n; k++) {
        BankKernel *kernel = &b->kernels.at[k];
        for (uint32_t i = 0; i < kernel->functions.n; i++)
            if (b->functions.at[kernel->functions.at[i]].fixed)
                kernel->fixed += b->functions.at[kernel->functions.at[i]].size;
    }
}

void banks_read(Banks *b, Link *link, bool all)
{
    Reader r = {.b = b};
    *b = (Banks){.link = link};
    arena_init(&b->arena, link->heap);
    arena_init(&r.scratch, link->heap);
    r.covered = NEW_ARRAY(&r.scratch, uint64_t *, link->inputs.n);
    r.relocated = NEW_ARRAY(&r.scratch, bool *, link->inputs.n);
    read_functions(&r);
    uint64_t size = 0;
    if (link->opaque)  // its kernels may reach any function
        b->functions.n = 0;
    for (uint32_t k = 0; k < b->functions.n; k++)
        size += b->functions.at[k].size;
    arena_free(&r.scratch);
    if (size > BANK_LIMIT || (all && size))
        banks_reach(b);
    keep_fixed(b);
}
