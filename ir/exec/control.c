// SPDX-License-Identifier: MIT
// Branches, calls, returns. Lanes that go different ways leave the group; the one that called goes on with the lanes
// that the table of warp.c chooses.
#include "ir/exec/interp_internal.h"

enum { NOWHERE = UINT32_MAX };

static Mask lanes_where(const Run *r, const Group *g, const OperandRef *o)
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

// Copies the k-th of the symbols' bytes, for all lanes of the group.
static void copy_params(const Group *g, Frame *to, uint32_t to_at, const Frame *from, uint32_t from_at, uint32_t bytes)
{
    FOR_LANES(g->lanes, lane)
        memcpy(to->params + (size_t)lane * to->func->params + to_at,
               from->params + (size_t)lane * from->func->params + from_at, bytes);
}

static uint32_t local_of(SymId s) { return s & ~(uint32_t)SYM_LOCAL; }

static uint32_t bytes_of(const Fn *fn, SymId s) { return (uint32_t)ir_sym(fn, s)->size; }

static void pass_arguments(const Group *g, const Code *call, Frame *to, const Frame *from)
{
    const Fn *caller = from->func->fn, *callee = to->func->fn;
    CallOperands ops = call_operands(caller, call->instr);
    for (uint32_t k = 0; k < ops.narguments && k < callee->sig.nparams; k++) {
        SymId a = op_index(*ir_use(caller, call->instr, ops.arguments + k)), p = callee->sig.params[k];
        copy_params(g, to, to->func->param_at[local_of(p)], from, from->func->param_at[local_of(a)],
                    MIN(bytes_of(caller, a), bytes_of(callee, p)));
    }
}

static void pass_results(const Group *g, const Frame *from)
{
    Frame *to = from->caller;
    const Fn *caller = to->func->fn, *callee = from->func->fn;
    CallOperands ops = call_operands(caller, from->call->instr);
    for (uint32_t k = 0; k < ops.results && k < callee->sig.nrets; k++) {
        SymId a = op_index(*ir_use(caller, from->call->instr, k)), p = callee->sig.rets[k];
        copy_params(g, to, to->func->param_at[local_of(a)], from, from->func->param_at[local_of(p)],
                    MIN(bytes_of(caller, a), bytes_of(callee, p)));
    }
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
    Frame *caller = g->frame;
    group_call(r->warp, g, f, c, g->pc + 1);
    pass_arguments(g, c, g->frame, caller);
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
    pass_results(g, g->frame);
    group_return(r->warp, g);
    return false;
}
