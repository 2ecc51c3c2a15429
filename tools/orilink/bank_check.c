// SPDX-License-Identifier: MIT
// Verifies edited banks: decodes the bank and the place that each edited field holds, and compares the bytes there, in
// the bank of each kernel that reaches the code, with those of the symbol that the relocation named. The place must be
// aligned as the original was in its section.
#include "tools/orilink/banks.h"

typedef struct Checker {
    Banks *b;
    const BankKernel *kernel;
    const uint8_t *bank;
    uint64_t size;
} Checker;

// Finds the edited bank of a kernel. False: it has none.
static bool find_bank(Checker *x)
{
    const Link *link = x->b->link;
    const Node *node = &link->nodes.at[x->kernel->node];
    const Input *in = &link->inputs.at[node->input];
    uint32_t code = cubin_symbol(&in->cubin, node->symbol)->section;
    if (x->kernel->added) {
        const AddedBank *added = &in->edits->banks.at[x->kernel->added - 1];
        x->bank = added->bytes;
        x->size = added->size;
        return added->code == code;
    }
    for (uint32_t k = in->cubin.owned[code]; in->edits && k; k = in->cubin.next[k])
        if (cubin_section(&in->cubin, k)->type == SHT_NV_CONSTANT0 + BANK && in->edits->content[k]) {
            x->bank = in->edits->content[k];
            x->size = in->edits->size[k];
            return true;
        }
    return false;
}

// True if the edited code of a function reads the constant of a relocation from the bank.
static bool reads_original(const Checker *x, const BankFunction *f, const BankRead *r)
{
    const Input *in = &x->b->link->inputs.at[f->input];
    ElfReloc reloc = reloc_at(cubin_section(&in->cubin, r->section), r->reloc);
    const ElfSymbol *s = cubin_symbol(&in->cubin, reloc.symbol);
    const uint8_t *original = cubin_section(&in->cubin, f->bank)->data + s->value;
    const uint8_t *code = in->edits->content[f->code];
    Field field;
    if (!field_of(&reloc, &field) || field_bank(code, &field) != BANK)
        return false;
    uint64_t place = field_wrap(&field, field_value(code, &field) - (uint64_t)reloc.addend);
    uint64_t align = alignment_at(cubin_section(&in->cubin, f->bank), s->value);
    return place % align == 0 && place <= x->size && s->size <= x->size - place &&
           memcmp(x->bank + place, original, s->size) == 0;
}

bool banks_check(Banks *b)
{
    for (uint32_t k = 0; k < b->kernels.n; k++) {
        Checker x = {.b = b, .kernel = &b->kernels.at[k]};
        bool bank = x.kernel->planned && find_bank(&x);
        for (uint32_t i = 0; i < x.kernel->functions.n && x.kernel->planned; i++) {
            const BankFunction *f = &b->functions.at[x.kernel->functions.at[i]];
            for (uint32_t n = 0; n < f->reads.n && f->planned; n++) {
                if (!bank || !reads_original(&x, f, &f->reads.at[n])) {
                    diag_plain(b->link->diag, DIAG_ERROR,
                               "internal error: '%s', called by '%s', reads another constant",
                               b->link->nodes.at[f->node].name, b->link->nodes.at[x.kernel->node].name);
                    return false;
                }
                b->verified++;
            }
        }
    }
    return true;
}
