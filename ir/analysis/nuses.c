// SPDX-License-Identifier: MIT
// Counts the uses of each register, in one walk over the function. Phases that rewrite operands keep the counts.
#include <stdio.h>

#include "ir/analysis/analysis_internal.h"

void nuses_build(const Fn *fn, Analyses *a)
{
    uint32_t *nuses = NEW_ARRAY(&a->arena[AX_NUSES], uint32_t, fn->regs.n);
    a->nuses.at = nuses;
    a->nuses.n = a->nuses.cap = fn->regs.n;
    FOR_BLOCKS(fn, b) {
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            const Operand *ops = ir_ops(fn, i);
            for (uint32_t k = i->ndef; k < i->nops; k++)
                if (op_is_reg(ops[k]))
                    nuses[op_index(ops[k])]++;
        }
    }
}

bool nuses_same(const Fn *fn, const Analyses *kept, Analyses *now, char why[static 150])
{
    for (RegId r = 1; r < fn->regs.n; r++) {
        if (nuses_of(kept, r) == nuses_of(now, r))
            continue;
        const Reg *reg = ir_reg(fn, r);
        uint32_t n = nuses_of(now, r);
        snprintf(why, 150, "%s%u has %u use%s, not %u", reg_file_names[reg->file], reg->ordinal, n, n == 1 ? "" : "s",
                 nuses_of(kept, r));
        return false;
    }
    return true;
}

void nuses_add_new(Analyses *a, RegId r, int more)
{
    while (a->nuses.n <= r)
        VEC_PUSH(&a->arena[AX_NUSES], &a->nuses, 0);
    a->nuses.at[r] += (uint32_t)more;
}

void nuses_count_instr(Fn *fn, const Instr *i, int more)
{
    Analyses *a = fn->analyses;
    if (!a || !(a->valid & AN_NUSES))
        return;
    const Operand *ops = ir_ops(fn, i);
    for (uint32_t k = i->ndef; k < i->nops; k++)
        if (op_is_reg(ops[k]))
            nuses_add(a, op_index(ops[k]), more);
}
