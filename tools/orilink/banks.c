// SPDX-License-Identifier: MIT
// Finds the constants that the compiler made for functions, and the fields that hold their places.
#include <stdlib.h>

#include "tools/orilink/banks.h"

// ptxas adds 0x8000 to an index, and subtracts it from the addend: the field is signed, and reaches all of a bank so.
enum { INDEX_BIAS = 0x8000 };

// The bytes of a constant in its section.
typedef struct Range {
    uint64_t start, end;
} Range;

typedef struct Reader {
    Banks *b;
    Arena scratch;
    IdSet index;        // of values, by their bytes
    bool **relocated;   // by input and section: it has relocations, or those of other code or of data name it
    VEC(Range) ranges;  // of a function: what its relocations name
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

// Marks the sections that relocations name, except for the code's own.
static void read_relocs(Reader *r, uint32_t input, const ElfSection *s)
{
    const Cubin *c = &r->b->link->inputs.at[input].cubin;
    if (section_is_debug(cubin_section(c, s->info)))
        return;
    for (uint32_t k = 0; k < reloc_count(s); k++) {
        uint32_t section = cubin_symbol(c, reloc_at(s, k).symbol)->section;
        if (section < c->elf.sections.n && c->owner[section] != s->info)
            r->relocated[input][section] = true;
    }
}

// Finds the sections of a file that have relocations, and those that relocations name.
static void read_sections(Reader *r, uint32_t input)
{
    const Cubin *c = &r->b->link->inputs.at[input].cubin;
    r->relocated[input] = NEW_ARRAY(&r->scratch, bool, c->elf.sections.n);
    for (uint32_t k = 1; k < c->elf.sections.n; k++) {
        const ElfSection *s = cubin_section(c, k);
        if ((s->type != SHT_REL && s->type != SHT_RELA) || !s->size)
            continue;
        r->relocated[input][s->info] = true;
        read_relocs(r, input, s);
    }
}

// Adds a relocation of the code. Returns the reason why the constant that it names cannot move; NULL: it can.
static const char *add_read(Reader *r, const Input *in, BankFunction *f, uint32_t section, uint32_t k)
{
    const Cubin *c = &in->cubin;
    const ElfSection *code = cubin_section(c, f->code), *bank = cubin_section(c, f->bank);
    ElfReloc reloc = reloc_at(cubin_section(c, section), k);
    const ElfSymbol *s = cubin_symbol(c, reloc.symbol);
    Field field;
    if (s->section != f->bank)
        return NULL;
    if (symbol_type(s) != STT_CUDA_OBJECT || !field_of(&reloc, &field) || !field.has_bank)
        return "its code takes the address of a constant";
    if (s->value > bank->size || s->size > bank->size - s->value)
        return "a constant is outside of its section";
    if (field.at > code->size || code->size - field.at < FIELD_BYTES)
        return "a relocation is outside of its code";
    uint32_t number = field_bank(code->data, &field);  // tables of sm_90 have it
    if (field_value(code->data, &field) || (number && (number != BANK || !field.is_signed)))
        return "a field of its code is not empty";
    int64_t offset = reloc.addend + (field.is_signed && reloc.addend < 0 ? INDEX_BIAS : 0);
    if (offset < 0 || (uint64_t)offset >= s->size || offset % field.unit)
        return "its code reads beside a constant";
    ValueId value = add_value(r, bank->data + s->value, (uint32_t)s->size, (uint32_t)alignment_at(bank, s->value));
    VEC_PUSH(&r->b->arena, &f->reads, ((BankRead){section, k, value, UINT32_MAX, field, reloc.addend}));
    VEC_PUSH(&r->scratch, &r->ranges, ((Range){s->value, s->value + s->size}));
    return NULL;
}

static int by_start(const void *a, const void *b)
{
    const Range *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

// True if the relocations of a function name all of its constants: there is only padding between them. Code that
// nvlink -r wrote has places of constants without relocations.
static bool names_all(Reader *r, const ElfSection *bank)
{
    uint64_t end = 0;
    if (r->ranges.n)
        qsort(r->ranges.at, r->ranges.n, sizeof *r->ranges.at, by_start);
    VEC_PUSH(&r->scratch, &r->ranges, ((Range){bank->size, bank->size}));
    for (uint32_t k = 0; k < r->ranges.n; k++) {
        const Range *range = &r->ranges.at[k];
        if (range->start > end && range->start - end >= bank->align)
            return false;
        for (uint64_t at = end; at < range->start; at++)
            if (bank->data[at])
                return false;
        end = MAX(end, range->end);
    }
    return true;
}

// True for relocations of a section of code.
static bool has_relocs_of(const ElfSection *s, uint32_t code)
{
    return (s->type == SHT_REL || s->type == SHT_RELA) && s->info == code;
}

// Finds the constants that a function reads. Returns the reason why a plan cannot move them; NULL: it can.
static const char *read_code(Reader *r, const Input *in, BankFunction *f)
{
    const Cubin *c = &in->cubin;
    const char *why = c->fixed;
    uint32_t relocs = 0;
    r->ranges.n = 0;
    if (!why && r->relocated[f->input][f->bank])
        why = "its constants have relocations, or other code or data refers to them";
    for (uint32_t k = c->owned[f->code]; k && !why; k = c->next[k])
        relocs += has_relocs_of(cubin_section(c, k), f->code) ? reloc_count(cubin_section(c, k)) : 0;
    VEC_RESERVE(&r->b->arena, &f->reads, relocs);
    for (uint32_t k = c->owned[f->code]; k && !why; k = c->next[k]) {
        const ElfSection *s = cubin_section(c, k);
        if (s->type == SHT_NV_CONSTANT0 + BANK && k != f->bank && s->size)
            why = "it has several sections of constants";
        for (uint32_t i = 0; has_relocs_of(s, f->code) && i < reloc_count(s) && !why; i++)
            why = add_read(r, in, f, k, i);
    }
    return !why && !names_all(r, cubin_section(c, f->bank)) ? "no relocation of its code names a constant" : why;
}

static void read_function(Reader *r, NodeId n, uint32_t code, uint32_t bank)
{
    const Node *node = &r->b->link->nodes.at[n];
    const Input *in = &r->b->link->inputs.at[node->input];
    const Cubin *c = &in->cubin;
    uint64_t size = cubin_section(c, bank)->size;
    BankFunction f = {.node = n, .input = node->input, .code = code, .bank = bank};
    if (!r->relocated[f.input])
        read_sections(r, f.input);
    f.size = (size + BANK_ALIGN - 1) & ~(uint64_t)(BANK_ALIGN - 1);
    f.fixed = read_code(r, in, &f);
    VEC_PUSH(&r->b->arena, &r->b->functions, f);
}

// Returns the section of constants of a function; 0 = none.
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

// Returns the reason why nvlink places the constants of all functions that a kernel reaches; NULL: there is none.
static const char *reason_of_kernel(const Banks *b, const BankKernel *k)
{
    const Input *in = &b->link->inputs.at[b->link->nodes.at[k->node].input];
    if (in->cubin.fixed || in->is_system)
        return "a kernel of a file that stays as it is reaches it";
    for (uint32_t i = 0; i < k->functions.n; i++) {
        const BankFunction *f = &b->functions.at[k->functions.at[i]];
        if (f->node == k->node && f->fixed)  // nvlink cuts off what symbols of the kernel do not have
            return "a kernel reaches it whose own constants cannot move";
    }
    return NULL;
}

// Keeps the constants of what kernels reach that cannot be planned, until no other kernel is one.
static void keep_fixed(Banks *b)
{
    for (bool more = true; more;) {
        more = false;
        for (uint32_t k = 0; k < b->kernels.n; k++) {
            const BankKernel *kernel = &b->kernels.at[k];
            const char *why = reason_of_kernel(b, kernel);
            for (uint32_t i = 0; i < kernel->functions.n && why; i++) {
                BankFunction *f = &b->functions.at[kernel->functions.at[i]];
                more |= !f->fixed;
                f->fixed = f->fixed ? f->fixed : why;
            }
        }
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
