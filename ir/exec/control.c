// SPDX-License-Identifier: MIT
// Branches, calls, returns. Lanes that go different ways leave the group; the one that called goes on with the lanes
// that the table of warp.c chooses.
#include "ir/exec/interp_internal.h"

Mask lanes_where(const Run *r, const Group *g, const OperandRef *o)
{
    Mask mask = 0;
    FOR_LANES(g->lanes, lane)
        mask |= (Mask)(read_lane(r, g, o, lane) & 1) << lane;
    return mask;
}

// The group goes to `to` with some of its lanes, the others to `other`.
static void part(Run *r, Group *g, const Code *c, Mask lanes, uint32_t to, uint32_t other)
{
    Warp *w = r->warp;
    if (lanes == g->lanes || !lanes) {
        group_go(w, g, lanes ? to : other);
        return;
    }
    if (c->join != NOWHERE)
        group_join(w, g, c->join);
    Group *rest = group_split(w, g, g->lanes & ~lanes);
    group_go(w, g, to);
    group_go(w, rest, other);
}

bool run_bra(Run *r, Group *g, const Code *c)
{
    Mask taken = c->guarded ? lanes_where(r, g, &c->guard) : g->lanes;
    Code *counted = (Code *)(uintptr_t)c;
    counted->ways[0] += (uint64_t)__builtin_popcount(taken);
    counted->ways[1] += (uint64_t)__builtin_popcount(g->lanes & ~taken);
    part(r, g, c, taken, c->target, c->other);
    return false;
}

// The lanes that go where the lowest goes; the others look again.
static Mask lanes_alike(const Run *r, const Group *g, const OperandRef *o)
{
    uint64_t first = read_lane(r, g, o, (uint32_t)__builtin_ctz(g->lanes));
    Mask mask = 0;
    FOR_LANES(g->lanes, lane)
        mask |= (Mask)(read_lane(r, g, o, lane) == first) << lane;
    return mask;
}

bool run_brx(Run *r, Group *g, const Code *c)
{
    Mask alike;
    if (c->guarded) {
        Mask taken = lanes_where(r, g, &c->guard);
        if (taken != g->lanes) {
            part(r, g, c, taken, g->pc, c->other);
            return false;
        }
    }
    alike = lanes_alike(r, g, &c->in[0]);
    uint64_t index = (uint32_t)read_lane(r, g, &c->in[0], (uint32_t)__builtin_ctz(g->lanes));
    if (index >= c->ntargets)
        return fault(r, g, c, (uint32_t)__builtin_ctz(g->lanes), "brx.idx: index %u, but the table has %u targets",
                     (uint32_t)index, c->ntargets);
    part(r, g, c, alike, c->targets[index], g->pc);
    return false;
}

bool run_exit(Run *r, Group *g, const Code *c)
{
    Mask ends = c->guarded ? lanes_where(r, g, &c->guard) : g->lanes;
    if (ends && ends != g->lanes) {
        group_end(r->warp, group_split(r->warp, g, ends));
        barriers_check(r);
    } else if (ends) {
        group_end(r->warp, g);
        barriers_check(r);
        return false;
    }
    group_go(r->warp, g, c->other);
    return false;
}

bool run_trap(Run *r, Group *g, const Code *c) { return fault(r, g, c, (uint32_t)__builtin_ctz(g->lanes), "trap"); }

/* -- Calls ---------------------------------------------------------------------------------------------- */

static uint32_t local_of(SymId s) { return s & ~(uint32_t)SYM_LOCAL; }

// Where a parameter that a symbol names lies for a lane.
static uint8_t *parameter_at(const Frame *f, SymId s, uint32_t lane)
{
    return f->params + (size_t)lane * f->func->params + f->func->param_at[local_of(s)];
}

// The row of a formal that is a register; NULL = it is memory.
static uint64_t *formal_row(const Frame *f, SymId formal)
{
    const Sym *s = ir_sym(f->func->fn, formal);
    for (RegId r = 1; s->space == SP_REG && r < f->func->fn->regs.n; r++)
        if (ir_reg(f->func->fn, r)->flags & REG_NAMED && name_same(ir_reg(f->func->fn, r)->name, s->name))
            return f->rows[f->func->row[r]];
    return NULL;
}

static uint64_t formal_value(const Frame *f, SymId formal, uint32_t lane)
{
    const uint64_t *row = formal_row(f, formal);
    uint64_t bits = 0;
    if (row)
        return row[lane];
    memcpy(&bits, parameter_at(f, formal, lane), MIN(ir_sym(f->func->fn, formal)->size, 8));
    return bits;
}

static void set_formal(const Frame *f, SymId formal, uint32_t lane, uint64_t bits)
{
    uint64_t *row = formal_row(f, formal);
    if (row)
        row[lane] = bits;
    else
        memcpy(parameter_at(f, formal, lane), &bits, MIN(ir_sym(f->func->fn, formal)->size, 8));
}

static void copy_parameter(const Group *g, const Frame *to, SymId d, const Frame *from, SymId a)
{
    uint64_t bytes = MIN(ir_sym(to->func->fn, d)->size, ir_sym(from->func->fn, a)->size);
    FOR_LANES(g->lanes, lane)
        memcpy(parameter_at(to, d, lane), parameter_at(from, a, lane), bytes);
}

// Arguments are parameters of the call sequence, or values.
static void pass_arguments(Run *r, const Group *caller, const Code *call, const Frame *to)
{
    const Fn *from = caller->frame->func->fn, *callee = to->func->fn;
    CallOperands ops = call_operands(from, call->instr);
    for (uint32_t k = 0; k < ops.narguments && k < callee->sig.nparams; k++) {
        Operand o = *ir_use(from, call->instr, ops.arguments + k);
        SymId formal = callee->sig.params[k];
        if (op_kind(o) == K_SYM && !formal_row(to, formal)) {
            copy_parameter(caller, to, formal, caller->frame, op_index(o));
            continue;
        }
        FOR_LANES(caller->lanes, lane)
            set_formal(to, formal, lane, read_lane(r, caller, &call->in[ops.arguments + k], lane));
    }
}

static void pass_results(Run *r, const Group *g)
{
    const Frame *from = g->frame, *to = from->caller;
    const Code *call = from->call;
    const Fn *caller = to->func->fn, *callee = from->func->fn;
    CallOperands ops = call_operands(caller, call->instr);
    Group back = {.lanes = g->lanes, .frame = from->caller};
    for (uint32_t k = 0; k < ops.results && k < callee->sig.nrets; k++)
        copy_parameter(g, to, op_index(*ir_use(caller, call->instr, k)), from, callee->sig.rets[k]);
    for (uint32_t k = 0; k < call->nout && k < callee->sig.nrets; k++)
        FOR_LANES(g->lanes, lane)
            write_lane(r, &back, &call->out[k], lane, (Value){formal_value(from, callee->sig.rets[k], lane), 0});
}

// What the lowest lane calls; lanes that call something else are split off, and look again.
static SymId callee_of(Run *r, Group *g, const Code *c)
{
    const OperandRef *o = &c->in[0];
    Mask alike = lanes_alike(r, g, o);
    uint64_t address = read_lane(r, g, o, (uint32_t)__builtin_ctz(g->lanes));
    const Module *m = r->machine->module;
    if (alike != g->lanes) {
        group_join(r->warp, g, g->pc + 1);
        group_split(r->warp, g, g->lanes & ~alike);
    }
    uint64_t s = (address - CODE_WINDOW) / 16;
    bool is_function = address >= CODE_WINDOW && address % 16 == 0 && s < m->syms.n && m->syms.at[s].kind == SYM_FUNC;
    return is_function ? (SymId)s : 0;
}

bool run_call(Run *r, Group *g, const Code *c)
{
    uint32_t first = (uint32_t)__builtin_ctz(g->lanes);
    SymId s = callee_of(r, g, c);
    if (!s)
        return fault(r, g, c, first, "a call of something that is no function");
    Func *f = func_of(r->machine, s);
    if (!f)
        return run_builtin(r, g, c, s);
    if (g->frame->depth >= DEPTH_MAX)
        return fault(r, g, c, first, "calls are more than %d deep", DEPTH_MAX);
    Group caller = *g;
    group_call(r->warp, g, f, c, g->pc + 1);
    pass_arguments(r, &caller, c, g->frame);
    return local_grow(r, g, c);
}

bool run_ret(Run *r, Group *g, const Code *c)
{
    Mask returns = c->guarded ? lanes_where(r, g, &c->guard) : g->lanes;
    if (!g->frame->call)
        return run_exit(r, g, c);
    if (returns != g->lanes) {
        Group *rest = group_split(r->warp, g, g->lanes & ~returns);
        group_go(r->warp, rest, c->other);
        if (!returns)
            return false;
    }
    pass_results(r, g);
    group_return(r->warp, g);
    return false;
}
