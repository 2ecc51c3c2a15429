// SPDX-License-Identifier: MIT
// Reports of planned banks, and of constants that nvlink places.
#include "tools/orilink/banks.h"
#include "tools/orilink/demangle.h"

void banks_report(const Banks *b, Out *out)
{
    Arena scratch;
    arena_init(&scratch, b->link->heap);
    for (uint32_t k = 0; k < b->kernels.n; k++) {
        const BankKernel *kernel = &b->kernels.at[k];
        if (kernel->planned)
            out_fmt(out, "constants of kernel %s: %llu bytes, planned in %u\n",
                    demangle(b->link->nodes.at[kernel->node].name, &scratch), (unsigned long long)kernel->before,
                    kernel->size);
    }
    for (uint32_t k = 0; k < b->functions.n && b->kernels.n; k++) {
        const BankFunction *f = &b->functions.at[k];
        if (f->fixed)
            out_fmt(out, "constants of %s: nvlink places %llu bytes: %s\n",
                    demangle(b->link->nodes.at[f->node].name, &scratch), (unsigned long long)f->size, f->fixed);
    }
    if (b->patched)
        out_fmt(out, "constants: %u fields of code patched, %llu reads verified\n", b->patched,
                (unsigned long long)b->verified);
    arena_free(&scratch);
}

void banks_report_json(const Banks *b, Out *out)
{
    bool first = true;
    if (!b->patched)
        return;
    out_z(out, ",\"banks\":[");
    for (uint32_t k = 0; k < b->kernels.n; k++) {
        const BankKernel *kernel = &b->kernels.at[k];
        const char *name = b->link->nodes.at[kernel->node].name;
        if (!kernel->planned)
            continue;
        out_z(out, first ? "\n{\"kernel\":" : ",\n{\"kernel\":");
        out_json(out, name, strlen(name));
        out_fmt(out, ",\"before\":%llu,\"after\":%u,\"values\":%u,\"shared\":%u}", (unsigned long long)kernel->before,
                kernel->size, kernel->places, kernel->shared);
        first = false;
    }
    out_fmt(out, "\n],\"patched\":%u,\"verified\":%llu", b->patched, (unsigned long long)b->verified);
}
