// SPDX-License-Identifier: MIT
// Estimates what inlining a call costs, in instructions.
//
// The size of a callee is its number of instructions after its own optimization. Accesses of its parameters do not
// count, since they become moves. Local memory that was not promoted counts, since the caller gets it, too.
#include "phases/module/module.h"

enum {
    BYTES_PER_INSTR = 8,  // of local memory
    OF_CALL = 3,          // call, return, and moves of the calling convention
    OF_PARAMETER = 2,     // store and load
    OF_CONSTANT = 2,      // instructions that a constant argument removes
};

static bool is_free(const Fn *fn, const Instr *i)
{
    const Desc *d = ir_desc(fn, i);
    bool access = d->op == OP_LD || d->op == OP_ST;
    Operand base = access ? *ir_use(fn, i, 0) : op_none();
    return d->traits & TR_MARKER || i->flags & IF_IMPLICIT ||
           (op_kind(base) == K_SYM && op_index(base) & SYM_LOCAL && ir_sym(fn, op_index(base))->kind == SYM_FORMAL);
}

CalleeCost callee_cost(const Fn *fn)
{
    CalleeCost cost = {0};
    for (uint32_t k = 1; k < fn->syms.n; k++) {
        const Sym *s = ir_sym(fn, k | SYM_LOCAL);
        if (s->kind == SYM_VAR && s->space == SP_LOCAL && !(s->flags & SYM_GONE))
            cost.locals += (uint32_t)MIN(s->size, UINT16_MAX);
    }
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            const Desc *d = ir_desc(fn, i);
            bool stops = d->op == OP_CALL || d->op == OP_TRAP || d->op == OP_BRKPT;
            cost.size += !is_free(fn, i);
            cost.collective |= d->traits & TR_CONV && !(d->traits & TR_BARRIER) && !stops;
        }
    return cost;
}

int64_t inline_growth(const Fn *callee, const CalleeCost *cost, uint32_t constants)
{
    int64_t call = OF_CALL + OF_PARAMETER * (int64_t)(callee->sig.nrets + callee->sig.nparams);
    return (int64_t)cost->size + cost->locals / BYTES_PER_INSTR - call - OF_CONSTANT * (int64_t)constants;
}
