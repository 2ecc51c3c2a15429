// SPDX-License-Identifier: MIT
// Edits inputs as planned: writes the places of constants to code, and whole banks to kernels. Relocations, symbols and
// the sections of other functions go.
#include "tools/orilink/banks.h"

static Edits *edits_of(Banks *b, uint32_t input) { return input_edits(b->link, &b->link->inputs.at[input]); }

static void edit_function(Banks *b, const BankFunction *f)
{
    const Cubin *c = &b->link->inputs.at[f->input].cubin;
    const ElfSection *code = cubin_section(c, f->code);
    Edits *e = edits_of(b, f->input);
    uint8_t *bytes = arena_alloc(&b->link->arena, code->size);
    memcpy(bytes, code->data, code->size);
    for (uint32_t k = 0; k < f->reads.n; k++) {
        const BankRead *r = &f->reads.at[k];
        if (!e->reloc_gone[r->section])
            e->reloc_gone[r->section] = NEW_ARRAY(&b->link->arena, bool, reloc_count(cubin_section(c, r->section)));
        e->reloc_gone[r->section][r->reloc] = true;
        field_store(bytes, &r->field, r->place + (uint64_t)r->addend, BANK);
        b->patched++;
    }
    e->content[f->code] = bytes;
    e->size[f->code] = code->size;
    e->section_gone[f->bank] = true;
}

// Writes the bank of a kernel.
static void edit_kernel(Banks *b, BankKernel *k)
{
    const Node *node = &b->link->nodes.at[k->node];
    const Cubin *c = &b->link->inputs.at[node->input].cubin;
    uint32_t code = cubin_symbol(c, node->symbol)->section;
    Edits *e = edits_of(b, node->input);
    const BankFunction *own = NULL;
    for (uint32_t i = 0; i < k->functions.n; i++)
        if (b->functions.at[k->functions.at[i]].node == k->node)
            own = &b->functions.at[k->functions.at[i]];
    if (own) {
        e->content[own->bank] = k->bank;
        e->size[own->bank] = k->size;
        e->section_gone[own->bank] = false;
    } else {
        VEC_PUSH(&b->link->arena, &e->banks, ((AddedBank){code, k->bank, k->size}));
        k->added = e->banks.n;
    }
}

// Removes the symbols of planned constants, for which there are no relocations any more.
static void edit_symbols(Banks *b)
{
    Arena scratch;
    arena_init(&scratch, b->link->heap);
    bool **planned = NEW_ARRAY(&scratch, bool *, b->link->inputs.n);  // by input and section
    for (uint32_t k = 0; k < b->functions.n; k++) {
        const BankFunction *f = &b->functions.at[k];
        if (!f->planned)
            continue;
        if (!planned[f->input])
            planned[f->input] = NEW_ARRAY(&scratch, bool, b->link->inputs.at[f->input].cubin.elf.sections.n);
        planned[f->input][f->bank] = true;
    }
    for (uint32_t i = 0; i < b->link->inputs.n; i++) {
        const Cubin *c = &b->link->inputs.at[i].cubin;
        for (uint32_t k = 1; k < c->elf.symbols.n && planned[i]; k++) {
            const ElfSymbol *s = cubin_symbol(c, k);
            if (s->section < c->elf.sections.n && planned[i][s->section] && symbol_type(s) == STT_CUDA_OBJECT)
                b->link->inputs.at[i].edits->symbol_gone[k] = true;
        }
    }
    arena_free(&scratch);
}

void banks_apply(Banks *b)
{
    for (uint32_t k = 0; k < b->functions.n; k++)
        if (b->functions.at[k].planned)
            edit_function(b, &b->functions.at[k]);
    for (uint32_t k = 0; k < b->kernels.n; k++)
        if (b->kernels.at[k].planned && b->kernels.at[k].size)
            edit_kernel(b, &b->kernels.at[k]);
    edit_symbols(b);
}
