// SPDX-License-Identifier: MIT
// Estimates what inlining a call costs, in instructions.
//
// The size of a callee is its number of instructions after its own optimization. Accesses of its parameters do not
// count, since they become moves. A move of a constant to a register of one definition does not count, since ptxas
// makes it an immediate. Local memory that was not promoted counts, since the caller gets it, too. GlobalOpt is asked
// for the loads that it removes once it knows the addresses that the call passes.
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
    bool constant = d->op == OP_MOV && op_is_const(*ir_use(fn, i, 0)) && op_in_ssa(fn, *ir_def(fn, i, 0));
    return d->traits & TR_MARKER || i->flags & IF_IMPLICIT || (constant && !ir_guarded(i)) ||
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

// The arguments of a call that are visited to find what GlobalOpt may gain.
typedef struct Gain {
    Ctx *ctx;
    const Inliner *in;
    const RegisterSymbols *addresses;
    InstrId call;
    const uint32_t *loads;
    GlobalGain sum;
} Gain;

// Returns the value that a call passes: the operand itself, or the one that the call sequence stores to it.
static Operand passed_value(const Inliner *in, const Instr *call, Operand o)
{
    Operand value = o;
    if (op_kind(o) != K_SYM)
        return o;
    FOR_SEQUENCE(in, call->callseq, access)
    {
        const Instr *i = ir_instr(in->fn, access->id);
        if (ir_desc(in->fn, i)->op == OP_ST && op_same(*ir_use(in->fn, i, 0), o))
            value = *ir_use(in->fn, i, 2);
    }
    return value;
}

static void add_gain(void *user, bool result, uint32_t formal, Operand o)
{
    Gain *g = user;
    Operand value = result ? op_none() : passed_value(g->in, ir_instr(g->in->fn, g->call), o);
    bool known = op_is_reg(value) && op_index(value) < g->addresses->n;
    SymId symbol = known ? g->addresses->at[op_index(value)] : 0;
    if (!symbol || symbol & SYM_LOCAL)
        return;
    GlobalGain gain = globalopt_gain(g->ctx, g->in->fn->module, symbol, g->loads[formal]);
    g->sum.bits += gain.bits;
    g->sum.accesses += gain.accesses;
}

GlobalGain inline_gain(Ctx *ctx, const Inliner *in, const RegisterSymbols *addresses, InstrId call,
                       const uint32_t *loads)
{
    Gain g = {.ctx = ctx, .in = in, .addresses = addresses, .call = call, .loads = loads};
    visit_passed(in->fn, ir_instr(in->fn, call), add_gain, &g);
    return g.sum;
}
