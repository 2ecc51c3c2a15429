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

// The group leaves its block. Phis take their values here: lanes that wait for one another at the next block come from
// different ones.
static void leave(Run *r, Group *g, const Way *way)
{
    for (const Move *m = way->moves; m < way->moves + way->nmoves; m++)
        move_lanes(r, g, &m->to, &m->from, g->lanes);
    group_go(r->warp, g, way->pc);
}

// The group goes to `to` with some of its lanes, the others to `other`.
static void part(Run *r, Group *g, const Code *c, Mask lanes, const Way *to, const Way *other)
{
    Warp *w = r->warp;
    if (lanes == g->lanes || !lanes) {
        leave(r, g, lanes ? to : other);
        return;
    }
    if (c->join != NOWHERE)
        group_join(w, g, c->join);
    Group *rest = group_split(w, g, g->lanes & ~lanes);
    leave(r, g, to);
    leave(r, rest, other);
}

bool run_bra(Run *r, Group *g, const Code *c)
{
    Mask taken = c->guarded ? lanes_where(r, g, &c->guard) : g->lanes;
    Code *counted = (Code *)(uintptr_t)c;
    counted->ways[0] += (uint64_t)__builtin_popcount(taken);
    counted->ways[1] += (uint64_t)__builtin_popcount(g->lanes & ~taken);
    part(r, g, c, taken, &c->target, &c->other);
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
    const Way here = {.pc = g->pc};
    if (c->guarded) {
        Mask taken = lanes_where(r, g, &c->guard);
        if (taken != g->lanes) {
            part(r, g, c, taken, &here, &c->other);
            return false;
        }
    }
    Mask alike = lanes_alike(r, g, &c->in[0]);
    uint64_t index = (uint32_t)read_lane(r, g, &c->in[0], (uint32_t)__builtin_ctz(g->lanes));
    if (index >= c->ntargets)
        return fault(r, g, c, (uint32_t)__builtin_ctz(g->lanes), "brx.idx: index %u, but the table has %u targets",
                     (uint32_t)index, c->ntargets);
    part(r, g, c, alike, &c->targets[index], &here);
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
    leave(r, g, &c->other);
    return false;
}

bool run_trap(Run *r, Group *g, const Code *c) { return fault(r, g, c, (uint32_t)__builtin_ctz(g->lanes), "trap"); }

/* -- Calls ---------------------------------------------------------------------------------------------- */

size_t parameter_at(const Frame *f, SymId s, uint32_t lane)
{
    return (size_t)lane * f->func->params + f->func->param_at[s & ~(uint32_t)SYM_LOCAL];
}

// The register that a formal is; REF_NONE: it is memory.
static OperandRef formal_register(const Frame *f, SymId formal)
{
    const Fn *fn = f->func->fn;
    const Sym *s = ir_sym(fn, formal);
    for (RegId r = 1; s->space == SP_REG && r < fn->regs.n; r++)
        if (ir_reg(fn, r)->flags & REG_NAMED && name_same(ir_reg(fn, r)->name, s->name))
            return (OperandRef){.kind = REF_REG, .width = ir_reg(fn, r)->width, .at = f->func->row[r]};
    return (OperandRef){.kind = REF_NONE};
}

// A value that is passed, and which of its bytes are defined.
typedef struct Passed {
    uint64_t bits;
    uint32_t defined;
} Passed;

static Passed pass(const Run *r, const Group *g, const OperandRef *o, uint32_t lane)
{
    return (Passed){read_lane(r, g, o, lane), r->machine->tracks ? bytes_defined(r, g, o, lane) : ALL_BYTES};
}

static Passed formal_value(const Run *r, const Frame *f, SymId formal, uint32_t lane)
{
    OperandRef reg = formal_register(f, formal);
    if (reg.kind != REF_NONE)
        return pass(r, &(Group){.frame = (Frame *)(uintptr_t)f}, &reg, lane);
    size_t at = parameter_at(f, formal, lane), bytes = MIN(ir_sym(f->func->fn, formal)->size, 8);
    Passed p = {.defined = ALL_BYTES};
    memcpy(&p.bits, f->params + at, bytes);
    for (uint32_t b = 0; f->params_defined && b < bytes; b++)
        if (!f->params_defined[at + b])
            p.defined &= ~(UINT32_C(1) << b);
    return p;
}

static void set_formal(Run *r, Frame *f, SymId formal, uint32_t lane, Passed p)
{
    OperandRef reg = formal_register(f, formal);
    if (reg.kind != REF_NONE) {
        f->rows[reg.at][lane] = p.bits;
        set_bytes_defined(r, &(Group){.frame = f}, &reg, lane, p.defined);
        return;
    }
    size_t at = parameter_at(f, formal, lane), bytes = MIN(ir_sym(f->func->fn, formal)->size, 8);
    memcpy(f->params + at, &p.bits, bytes);
    for (uint32_t b = 0; f->params_defined && b < bytes; b++)
        f->params_defined[at + b] = p.defined >> b & 1;
}

static void copy_parameter(const Group *g, const Frame *to, SymId d, const Frame *from, SymId a)
{
    uint64_t bytes = MIN(ir_sym(to->func->fn, d)->size, ir_sym(from->func->fn, a)->size);
    FOR_LANES(g->lanes, lane) {
        size_t there = parameter_at(to, d, lane), here = parameter_at(from, a, lane);
        memcpy(to->params + there, from->params + here, bytes);
        if (to->params_defined)
            memcpy(to->params_defined + there, from->params_defined + here, bytes);
    }
}

// Arguments are parameters of the call sequence, or values.
static void pass_arguments(Run *r, const Group *caller, const Code *call, Frame *to)
{
    const Fn *from = caller->frame->func->fn, *callee = to->func->fn;
    CallOperands ops = call_operands(from, call->instr);
    for (uint32_t k = 0; k < ops.narguments && k < callee->sig.nparams; k++) {
        Operand o = *ir_use(from, call->instr, ops.arguments + k);
        const OperandRef *value = &call->in[ops.arguments + k];
        SymId formal = callee->sig.params[k];
        if (op_kind(o) == K_SYM && formal_register(to, formal).kind == REF_NONE) {
            copy_parameter(caller, to, formal, caller->frame, op_index(o));
            continue;
        }
        FOR_LANES(caller->lanes, lane)
            set_formal(r, to, formal, lane, pass(r, caller, value, lane));
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
        FOR_LANES(g->lanes, lane) {
            Passed p = formal_value(r, from, callee->sig.rets[k], lane);
            write_lane(r, &back, &call->out[k], lane, (Value){p.bits, 0});
            set_bytes_defined(r, &back, &call->out[k], lane, p.defined);
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
    Group caller = *g;
    group_call(r->warp, g, f, c, g->pc + 1);
    pass_arguments(r, &caller, c, g->frame);
    return local_grow(r, g, c, g->frame->locals);
}

bool run_ret(Run *r, Group *g, const Code *c)
{
    Mask returns = c->guarded ? lanes_where(r, g, &c->guard) : g->lanes;
    if (!g->frame->call)
        return run_exit(r, g, c);
    if (returns != g->lanes) {
        Group *rest = group_split(r->warp, g, g->lanes & ~returns);
        leave(r, rest, &c->other);
        if (!returns)
            return false;
    }
    pass_results(r, g);
    group_return(r->warp, g);
    return false;
}
