// SPDX-License-Identifier: MIT
// One bank for all kernels, as nvlink is documented to make it if the bank of a kernel overflows (phase 9d): the
// constants of all functions are copied to a temporary section without duplicates, which becomes the bank of each
// kernel. If it is larger than a bank, all stays as it is.
//
// Inferred: the scope of a zero is its function. Not documented: all stays as it is, too, if the own constants of a
// kernel cannot move, or if a bank would not fit with the constants that nvlink places behind it.
#include "tools/orilink/banks.h"
#include "tools/orilink/dedup.h"

typedef struct BankDedup {
    Banks *b;
    Arena scratch;
    uint32_t **function;      // by input and section: the function whose constants it has, by its index + 1; 0 = none
    uint32_t **number;        // by input and symbol: of a constant; 0 = it is none
    VEC(DataSymbol) symbols;  // by number
    DataSection *sections;    // by function
    Dedup dedup;
} BankDedup;

// Returns the function of a constant, by its index + 1; 0: the symbol is no constant that is deduplicated.
static uint32_t function_of(const BankDedup *x, uint32_t input, uint32_t symbol)
{
    const Elf *elf = &x->b->link->inputs.at[input].cubin.elf;
    const ElfSymbol *s = &elf->symbols.at[symbol];
    bool constant = symbol_type(s) == STT_CUDA_OBJECT && s->section < elf->sections.n && x->function[input];
    return constant ? x->function[input][s->section] : 0;
}

// Makes room for the constants of the functions.
static void reserve(BankDedup *x)
{
    const Banks *b = x->b;
    uint32_t *count = NEW_ARRAY(&x->scratch, uint32_t, b->functions.n + 1), all = 1;  // by function + 1
    for (uint32_t i = 0; i < b->link->inputs.n; i++)
        for (uint32_t k = 1; k < b->link->inputs.at[i].cubin.elf.symbols.n; k++)
            count[function_of(x, i, k)]++;
    for (uint32_t k = 0; k < b->functions.n; k++) {
        VEC_RESERVE(&x->scratch, &x->sections[k].records, count[k + 1]);
        all += count[k + 1];
    }
    VEC_RESERVE(&x->scratch, &x->symbols, all);
}

// Lists the constants of the functions as records of sections.
static void read_constants(BankDedup *x)
{
    Banks *b = x->b;
    x->function = NEW_ARRAY(&x->scratch, uint32_t *, b->link->inputs.n);
    x->number = NEW_ARRAY(&x->scratch, uint32_t *, b->link->inputs.n);
    x->sections = NEW_ARRAY(&x->scratch, DataSection, b->functions.n);
    for (uint32_t k = 0; k < b->functions.n; k++) {
        const BankFunction *f = &b->functions.at[k];
        const Elf *elf = &b->link->inputs.at[f->input].cubin.elf;
        if (!x->function[f->input]) {
            x->function[f->input] = NEW_ARRAY(&x->scratch, uint32_t, elf->sections.n);
            x->number[f->input] = NEW_ARRAY(&x->scratch, uint32_t, elf->symbols.n);
        }
        x->function[f->input][f->bank] = f->fixed ? 0 : k + 1;
        x->sections[k].index = f->bank;
    }
    reserve(x);
    VEC_PUSH(&x->scratch, &x->symbols, (DataSymbol){0});
    for (uint32_t i = 0; i < b->link->inputs.n; i++) {
        const Cubin *c = &b->link->inputs.at[i].cubin;
        for (uint32_t k = 1; k < c->elf.symbols.n; k++) {
            const ElfSymbol *s = cubin_symbol(c, k);
            uint32_t f = function_of(x, i, k);
            if (!f)
                continue;
            const ElfSection *bank = cubin_section(c, s->section);
            const char *entry = b->link->nodes.at[b->functions.at[f - 1].node].name;
            DataRecord r = {bank->data + s->value, s->value, alignment_at(bank, s->value), s->size, x->symbols.n};
            x->number[i][k] = x->symbols.n;
            VEC_PUSH(&x->scratch, &x->symbols, ((DataSymbol){.name = s->text, .entry = entry, .place = s->value}));
            if (data_insert(&x->sections[f - 1], &x->scratch, r, NULL) != OVERLAP_NONE)
                b->functions.at[f - 1].fixed = "its constants overlap";
        }
    }
}

// Deduplicates the constants of a function. Relocations are moved only for messages: the symbols have the places.
static void dedup_function(BankDedup *x, uint32_t k, Out *verbose)
{
    const BankFunction *f = &x->b->functions.at[k];
    const Cubin *c = &x->b->link->inputs.at[f->input].cubin;
    if (!verbose) {
        dedup_section(&x->dedup, &x->sections[k], NULL, 0);
        return;
    }
    DataReloc *relocs = NEW_ARRAY(&x->scratch, DataReloc, f->reads.n);
    out_fmt(verbose, "optimize OCG constants for %s, old size = %lld\n", cubin_section(c, f->bank)->text,
            (long long)cubin_section(c, f->bank)->size);
    for (uint32_t i = 0; i < f->reads.n; i++) {
        ElfReloc reloc = reloc_at(cubin_section(c, f->reads.at[i].section), f->reads.at[i].reloc);
        relocs[i].place = cubin_symbol(c, reloc.symbol)->value;
    }
    dedup_section(&x->dedup, &x->sections[k], relocs, f->reads.n);
}

// True if each kernel can have the bank.
static bool fits(const BankDedup *x)
{
    if (x->dedup.target.size > BANK_LIMIT)
        return false;
    for (uint32_t k = 0; k < x->b->kernels.n; k++)
        if (x->b->kernels.at[k].functions.n && x->dedup.target.size + x->b->kernels.at[k].fixed > BANK_LIMIT)
            return false;
    return true;
}

// Gives the bank to all kernels, and the places to the functions.
static void hand_over(BankDedup *x)
{
    Banks *b = x->b;
    const DataSection *target = &x->dedup.target;
    for (uint32_t k = 0; k < b->functions.n; k++) {
        BankFunction *f = &b->functions.at[k];
        const Cubin *c = &b->link->inputs.at[f->input].cubin;
        f->planned = !f->fixed;
        for (uint32_t i = 0; i < f->reads.n && f->planned; i++) {
            ElfReloc reloc = reloc_at(cubin_section(c, f->reads.at[i].section), f->reads.at[i].reloc);
            f->reads.at[i].place = (uint32_t)x->symbols.at[x->number[f->input][reloc.symbol]].place;
        }
    }
    for (uint32_t k = 0; k < b->kernels.n; k++) {
        BankKernel *kernel = &b->kernels.at[k];
        if (!kernel->functions.n)
            continue;
        kernel->planned = true;
        kernel->size = (uint32_t)target->size;
        kernel->places = target->records.n;
        kernel->shared = x->symbols.n - 1 - target->records.n;
        kernel->bank = arena_alloc(&b->link->arena, target->size);
        memset(kernel->bank, 0, target->size);
        for (uint32_t i = 0; i < target->records.n; i++)
            memcpy(kernel->bank + target->records.at[i].offset, target->records.at[i].bytes,
                   target->records.at[i].size);
    }
}

// True if a kernel's own constants cannot move.
static bool keeps_own(const Banks *b)
{
    for (uint32_t k = 0; k < b->kernels.n; k++)
        for (uint32_t i = 0; i < b->kernels.at[k].functions.n; i++) {
            const BankFunction *f = &b->functions.at[b->kernels.at[k].functions.at[i]];
            if (f->fixed && f->node == b->kernels.at[k].node)
                return true;
        }
    return false;
}

void banks_dedup(Banks *b, bool forced, Out *verbose)
{
    BankDedup x = {.b = b};
    bool needed = forced;
    for (uint32_t k = 0; k < b->kernels.n; k++)
        needed |= b->kernels.at[k].before > BANK_LIMIT;
    if (!needed || keeps_own(b))
        return;
    arena_init(&x.scratch, b->link->heap);
    read_constants(&x);
    dedup_init(&x.dedup, &x.scratch, x.symbols.at, false, verbose);
    for (uint32_t k = 0; k < b->functions.n && (verbose || x.dedup.target.size <= BANK_LIMIT); k++)
        if (!b->functions.at[k].fixed)
            dedup_function(&x, k, verbose);
    if (fits(&x)) {
        hand_over(&x);
        if (verbose)
            out_fmt(verbose, "new OCG constant size = %lld\n", (long long)x.dedup.target.size);
    } else if (verbose) {
        out_z(verbose, "ocg const optimization didn't help so give up\n");
    }
    arena_free(&x.scratch);
}
