// SPDX-License-Identifier: MIT
// Runs branches, calls, returns. A divergent branch splits its group; warp_next() selects the group that runs next.
//
// Arguments and results of a call must have the number and, in memory, the sizes of the callee's parameters. Otherwise
// the call is a fault: an indirect call may reach any function.
#include "ir/machine/machine_internal.h"

Mask lanes_where(const Run *r, const Group *g, const OperandRef *o)
{
    Mask mask = 0;
    FOR_LANES(g->lanes, lane)
        mask |= (Mask)(read_lane(r, g, o, lane) & 1) << lane;
    return mask;
}

// Moves the group along an edge, and runs the phis of the next block, since lanes that join there come from different
// blocks.
static void take_edge(Run *r, Group *g, const CodeEdge *edge)
{
    for (uint32_t k = 0; k < edge->nmoves; k++)
        move_lanes(r, g, &edge->moves[k].to, &edge->moves[k].from, g->lanes);
    group_go(r->warp, g, edge->pc);
}

// Moves some lanes of the group to `to`, and the others to `other`.
static void branch_lanes(Run *r, Group *g, const Code *c, Mask lanes, const CodeEdge *to, const CodeEdge *other)
{
    Warp *w = r->warp;
    if (lanes == g->lanes || !lanes) {
        take_edge(r, g, lanes ? to : other);
        return;
    }
    if (c->join != NO_PC)
        group_join(w, g, c->join);
    Group *rest = group_split(w, g, g->lanes & ~lanes);
    take_edge(r, g, to);
    take_edge(r, rest, other);
}

bool run_bra(Run *r, Group *g, const Code *c)
{
    Mask taken = c->guarded ? lanes_where(r, g, &c->guard) : g->lanes;
    Code *counted = (Code *)(uintptr_t)c;
    counted->outcomes[0] += (uint64_t)__builtin_popcount(taken);
    counted->outcomes[1] += (uint64_t)__builtin_popcount(g->lanes & ~taken);
    branch_lanes(r, g, c, taken, &c->target, &c->other);
    return false;
}

// Returns the lanes whose operand equals that of the lowest lane. The caller splits off the others, which run the
// instruction again.
static Mask lanes_equal(const Run *r, const Group *g, const OperandRef *o)
{
    uint64_t first = read_lane(r, g, o, (uint32_t)__builtin_ctz(g->lanes));
    Mask mask = 0;
    FOR_LANES(g->lanes, lane)
        mask |= (Mask)(read_lane(r, g, o, lane) == first) << lane;
    return mask;
}

bool run_brx(Run *r, Group *g, const Code *c)
{
    const CodeEdge here = {.pc = g->pc};
    if (c->guarded) {
        Mask taken = lanes_where(r, g, &c->guard);
        if (taken != g->lanes) {
            branch_lanes(r, g, c, taken, &here, &c->other);
            return false;
        }
    }
    Mask equal = lanes_equal(r, g, &c->in[0]);
    uint64_t index = (uint32_t)read_lane(r, g, &c->in[0], (uint32_t)__builtin_ctz(g->lanes));
    if (index >= c->ntargets)
        return fault(r, g, c, (uint32_t)__builtin_ctz(g->lanes), "brx.idx: index %u, but the table has %u targets",
                     (uint32_t)index, c->ntargets);
    branch_lanes(r, g, c, equal, &c->targets[index], &here);
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
    take_edge(r, g, &c->other);
    return false;
}

bool run_trap(Run *r, Group *g, const Code *c) { return fault(r, g, c, (uint32_t)__builtin_ctz(g->lanes), "trap"); }

/* -- Calls ---------------------------------------------------------------------------------------------- */

// Returns the register of a formal; REF_NONE if the formal is in memory.
static OperandRef formal_register(const Frame *f, SymId formal)
{
    const Fn *fn = f->func->fn;
    const Sym *s = ir_sym(fn, formal);
    for (RegId r = 1; s->space == SP_REG && r < fn->regs.n; r++)
        if (ir_reg(fn, r)->flags & REG_NAMED && name_same(ir_reg(fn, r)->name, s->name))
            return (OperandRef){.kind = REF_REG, .width = ir_reg(fn, r)->width, .at = f->func->row[r]};
    return (OperandRef){.kind = REF_NONE};
}

// A value that a call passes, and a bit for each defined byte.
typedef struct PassedValue {
    uint64_t bits;
    uint32_t defined;
} PassedValue;

static PassedValue passed_value(const Run *r, const Group *g, const OperandRef *o, uint32_t lane)
{
    return (PassedValue){read_lane(r, g, o, lane), r->machine->tracks ? bytes_defined(r, g, o, lane) : ALL_BYTES};
}

// Returns the value in the first bytes of a parameter.
static PassedValue load_passed_value(Span s)
{
    uint32_t bytes = (uint32_t)MIN(s.size, 8);
    PassedValue p = {.bits = span_load(s, 0, bytes), .defined = ALL_BYTES};
    for (uint32_t b = 0; s.defined && b < bytes; b++)
        if (!s.defined[b])
            p.defined &= ~(UINT32_C(1) << b);
    return p;
}

static void store_passed_value(Span s, PassedValue p)
{
    uint32_t bytes = (uint32_t)MIN(s.size, 8);
    span_store(s, 0, p.bits, bytes);
    for (uint32_t b = 0; s.defined && b < bytes; b++)
        s.defined[b] = p.defined >> b & 1;
}

// Source or destination of a value that a call passes in a lane: an operand, or the memory of a parameter.
typedef struct CallSlot {
    OperandRef value;  // REF_NONE = the slot is memory
    const Group *group;
    Span memory;
} CallSlot;

// Copies in a lane from one slot to another. Parameters of different sizes are a fault.
static bool copy_slot(Run *r, const Group *g, const Code *c, uint32_t lane, const CallSlot *to, const CallSlot *from)
{
    if (to->value.kind == REF_NONE && from->value.kind == REF_NONE) {
        if (to->memory.size != from->memory.size)
            return fault(r, g, c, lane, "a call with a parameter of %llu bytes, of which the function expects %llu",
                         (unsigned long long)from->memory.size, (unsigned long long)to->memory.size);
        span_copy(to->memory, from->memory, to->memory.size);
        return true;
    }
    PassedValue p = from->value.kind == REF_NONE ? load_passed_value(from->memory)
                                                 : passed_value(r, from->group, &from->value, lane);
    if (to->value.kind == REF_NONE) {
        store_passed_value(to->memory, p);
    } else {
        write_lane(r, to->group, &to->value, lane, (Value){p.bits, 0});
        set_bytes_defined(r, to->group, &to->value, lane, p.defined);
    }
    return true;
}

// Returns the slot of a formal in a frame; an empty slot after a fault.
static CallSlot formal_slot(Run *r, const Group *g, const Code *c, uint32_t lane, const Group *in, SymId formal)
{
    CallSlot s = {.value = formal_register(in->frame, formal), .group = in};
    if (s.value.kind == REF_NONE)
        s.memory = parameter_at(r, g, c, lane, in->frame, formal);
    return s;
}

// Returns the slot of an operand of the call; an empty slot after a fault.
static CallSlot operand_slot(Run *r, const Group *g, const Code *c, uint32_t lane, Operand o, const OperandRef *value)
{
    CallSlot s = {.group = g};
    if (op_kind(o) == K_SYM)
        s.memory = parameter_at(r, g, c, lane, g->frame, op_index(o));
    else
        s.value = *value;
    return s;
}

static bool is_empty(const CallSlot *s) { return s->value.kind == REF_NONE && !s->memory.bytes; }

// False, after a fault, if the number of operands of a call differs from that of the function.
static bool count_fits(Run *r, const Group *g, const Code *c, const char *what, uint32_t n, uint32_t expected)
{
    return n == expected || fault(r, g, c, (uint32_t)__builtin_ctz(g->lanes),
                                  "a call with %u %s of a function that has %u", n, what, expected);
}

// Returns the number of arguments that are passed, without those of an open formal (`.param .b8 a[]`, the last one).
static uint32_t passed_arguments(const Fn *callee, uint32_t given)
{
    uint32_t n = callee->sig.nparams;
    bool open = n && ir_sym(callee, callee->sig.params[n - 1])->flags & SYM_OPEN;
    return open && given >= n - 1 ? n - 1 : n;
}

static bool pass_arguments(Run *r, const Group *caller, const Code *call, Frame *to)
{
    const Fn *from = caller->frame->func->fn, *callee = to->func->fn;
    CallOperands ops = call_operands(from, call->instr);
    const Group in = {.lanes = caller->lanes, .frame = to};
    uint32_t n = passed_arguments(callee, ops.narguments);
    if ((n == callee->sig.nparams && !count_fits(r, caller, call, "arguments", ops.narguments, n)) ||
        !count_fits(r, caller, call, "results", ops.results + call->nout, callee->sig.nrets))
        return false;
    for (uint32_t k = 0; k < n; k++) {
        Operand o = *ir_use(from, call->instr, ops.arguments + k);
        FOR_LANES(caller->lanes, lane) {
            CallSlot a = operand_slot(r, caller, call, lane, o, &call->in[ops.arguments + k]);
            CallSlot formal = formal_slot(r, caller, call, lane, &in, callee->sig.params[k]);
            if (is_empty(&a) || is_empty(&formal) || !copy_slot(r, caller, call, lane, &formal, &a))
                return false;
        }
    }
    return true;
}

// Passes the results of a function to its caller. Results in memory come before those in registers. False after a
// fault.
static bool pass_results(Run *r, const Group *g)
{
    const Frame *from = g->frame;
    const Code *call = from->call;
    const Fn *caller = from->caller->func->fn, *callee = from->func->fn;
    CallOperands ops = call_operands(caller, call->instr);
    const Group back = {.lanes = g->lanes, .frame = from->caller};
    for (uint32_t k = 0; k < ops.results + call->nout && k < callee->sig.nrets; k++)
        FOR_LANES(g->lanes, lane) {
            CallSlot formal = formal_slot(r, &back, call, lane, g, callee->sig.rets[k]), to = {.group = &back};
            if (k < ops.results)
                to.memory = parameter_at(r, &back, call, lane, back.frame, op_index(*ir_use(caller, call->instr, k)));
            else
                to.value = call->out[k - ops.results];
            bool sink = k >= ops.results && to.value.kind == REF_NONE;
            if (!sink && (is_empty(&formal) || is_empty(&to) || !copy_slot(r, &back, call, lane, &to, &formal)))
                return false;
        }
    return true;
}

// Returns the function that the lowest lane calls, or 0. Splits off the lanes with another callee; they run the call
// again.
static SymId callee_of(Run *r, Group *g, const Code *c)
{
    const OperandRef *o = &c->in[0];
    Mask equal = lanes_equal(r, g, o);
    uint64_t address = read_lane(r, g, o, (uint32_t)__builtin_ctz(g->lanes));
    if (equal != g->lanes) {
        group_join(r->warp, g, g->pc + 1);
        group_split(r->warp, g, g->lanes & ~equal);
    }
    return function_at(r->machine, address);
}

bool run_call(Run *r, Group *g, const Code *c)
{
    uint32_t first = (uint32_t)__builtin_ctz(g->lanes);
    SymId s = callee_of(r, g, c);
    if (!s)
        return fault(r, g, c, first, "a call to an address that is not a function");
    Func *f = func_of(r->machine, s);
    if (!f)
        return run_builtin(r, g, c, s);
    if (!frame_fits(r, g, c, f))
        return false;
    Group caller = *g;
    group_call(r->warp, g, f, c, g->pc + 1);
    return pass_arguments(r, &caller, c, g->frame) && local_grow(r, g, c, g->frame->host);
}

bool run_ret(Run *r, Group *g, const Code *c)
{
    Mask returns = c->guarded ? lanes_where(r, g, &c->guard) : g->lanes;
    if (!g->frame->call)
        return run_exit(r, g, c);
    if (returns != g->lanes) {
        Group *rest = group_split(r->warp, g, g->lanes & ~returns);
        take_edge(r, rest, &c->other);
        if (!returns)
            return false;
    }
    if (pass_results(r, g))
        group_return(r->warp, g);
    return false;
}
