// SPDX-License-Identifier: MIT
// Finds conditions of edges and dominating conditions (analysis.h), from terminators and predecessors only.
#include "ir/analysis/analysis.h"

bool branch_is_split(const Fn *fn, const Instr *i)
{
    const Desc *d = ir_desc(fn, i);
    return d->op == OP_BRA && ir_guarded(i) && op_index(*ir_use(fn, i, 0)) != op_index(ir_ops(fn, i)[d->nops - 1]);
}

InstrId edge_condition(const Fn *fn, BlockId from, BlockId to, bool *holds)
{
    InstrId id = ir_terminator(fn, from);
    const Instr *i = ir_instr(fn, id);
    if (!branch_is_split(fn, i))
        return 0;
    bool taken = op_index(*ir_use(fn, i, 0)) == to;
    *holds = taken != ((ir_guard(fn, i)->mods & OPM_NOT) != 0);
    return id;
}

InstrId dominating_condition(const Fn *fn, const Analyses *an, BlockId b, bool *holds)
{
    BlockId pred = b != fn->first ? only_pred(an, b) : 0;  // the entry is also entered from outside
    return pred ? edge_condition(fn, pred, b, holds) : 0;
}
