// SPDX-License-Identifier: MIT
// Which values are defined: those that something wrote, and that were computed of such ones alone. A register has a
// state for each lane (Frame.defined), memory one for each byte; what begins undefined are registers, shared and local
// memory, parameters of calls, and what malloc gives.
//
// What an instruction gives is undefined if anything is that it reads, its guard too; `selp` reads what it selects.
// Moves, phis and old values of guarded definitions hand states on. Elements of a vector are apart. Memory that is
// loaded is undefined if one of its bytes is; a store hands the state of what it writes to all of its bytes; an atomic
// operation, of which each lane has its turn, does both. What lanes do together is undefined for all of them if it is
// in one. So a value may count as undefined that is not (`and` with 0), but never the other way round.
//
// An undefined value that decides what is done where, and not only what the result is, leaves the launch unspecified:
// conditions of branches, addresses, masks of lanes, numbers of barriers, what is called, the guard of what does more
// than to give a result.
//
// The states serve two masters. With `follow_undef` they are all that happens. With `check_uninit` the first read of
// what is undefined ends the run (check.c), and parameters, registers of the module and guards are taken for defined.
#include <stdio.h>

#include "ir/exec/interp_internal.h"

/* -- States --------------------------------------------------------------------------------------------- */

// Those of a register; NULL = they are not kept.
static Mask *states_of(const Run *r, const Group *g, const OperandRef *o)
{
    if (o->kind == REF_REG)
        return &g->frame->defined[o->at];
    return o->kind == REF_MODULE && r->warp->module_defined ? &r->warp->module_defined[o->at] : NULL;
}

Mask lanes_defined(const Run *r, const Group *g, const OperandRef *o)
{
    const Mask *states = states_of(r, g, o);
    return states ? *states : o->kind == REF_UNDEF ? 0 : UINT32_MAX;
}

void set_defined(Run *r, const Group *g, const OperandRef *o, Mask lanes, Mask defined)
{
    Mask *states = states_of(r, g, o);
    if (states)
        *states = (*states & ~lanes) | (defined & lanes);
}

/* -- What decides --------------------------------------------------------------------------------------- */

void undef_decides(Run *r, const Group *g, const Code *c, Mask lanes)
{
    RunError *e = &r->machine->unspecified;
    if (!lanes || !r->machine->options.follow_undef || e->text[0])
        return;
    snprintf(e->text, sizeof e->text, "what this does depends on a value that nothing wrote");
    locate(r, g, c, (uint32_t)__builtin_ctz(lanes), e);
}

// Whether an input decides what the instruction does, and not only what it gives.
static bool decides(const Code *c, uint32_t k)
{
    switch (c->op) {
    case OP_LD:
    case OP_LDU:
    case OP_ST:
    case OP_ATOM:
    case OP_RED:
    case OP_LDMATRIX:
    case OP_STMATRIX:
    case OP_CALL: return k == 0;                                 // an address
    case OP_WMMA_STORE: return k < 2 || k >= 2u + c->eval.nout;  // address and stride
    case OP_SHFL_SYNC:
    case OP_VOTE_SYNC:
    case OP_MATCH_ANY:
    case OP_MATCH_ALL:
    case OP_REDUX: return k == c->nin - 1;  // a mask
    case OP_BAR_RED: return k != c->nin - 1;
    case OP_WMMA_LOAD:
    case OP_ELECT:
    case OP_BAR_WARP:
    case OP_BAR_SYNC:
    case OP_BAR_ARRIVE:
    case OP_BARRIER_SYNC:
    case OP_BARRIER_ARRIVE:
    case OP_BRX:
    case OP_CP_ASYNC_CA:
    case OP_CP_ASYNC_CG:
    case OP_CP_ASYNC_WAIT:
    case OP_MBAR_INIT:
    case OP_MBAR_INVAL:
    case OP_MBAR_ARRIVE:
    case OP_MBAR_TEST:
    case OP_MBAR_TRY:
    case OP_OPAQUE: return true;
    default: return false;
    }
}

// Whether it does more than to give a result, so that its guard decides, too.
static bool has_effect(const Group *g, const Code *c)
{
    return tab_desc(g->frame->func->fn->tables, c->instr->desc)->traits & (TR_WRITE | TR_CONV | TR_EFFECT);
}

static Mask guard_defined(const Run *r, const Group *g, const Code *c)
{
    return c->guarded && r->machine->options.follow_undef ? lanes_defined(r, g, &c->guard) : UINT32_MAX;
}

/* -- Instructions --------------------------------------------------------------------------------------- */

// What `selp` reads: its predicate, and in each lane what this selects.
static Mask selected_defined(const Run *r, const Group *g, const Code *c)
{
    Mask yes = lanes_where(r, g, &c->in[2]);
    return ((yes & lanes_defined(r, g, &c->in[0])) | (~yes & lanes_defined(r, g, &c->in[1]))) &
           lanes_defined(r, g, &c->in[2]);
}

static Mask all_defined(const Run *r, const Group *g, const Code *c)
{
    Mask defined = UINT32_MAX;
    for (uint32_t k = 0; k < c->nin; k++)
        defined &= lanes_defined(r, g, &c->in[k]);
    return defined;
}

// Of what lanes do together, all have a part.
static Mask together(const Group *g, const Code *c, Mask defined)
{
    return !c->converges || !(g->lanes & ~defined) ? defined : 0;
}

Mask undef_inputs(const Run *r, const Group *g, const Code *c, uint32_t element)
{
    Mask defined = guard_defined(r, g, c);
    switch (c->op) {
    case OP_SELP: return defined & selected_defined(r, g, c);
    case OP_MOV_VEC: return defined & lanes_defined(r, g, &c->in[element]);
    case OP_ST: return defined & lanes_defined(r, g, &c->in[0]) & lanes_defined(r, g, &c->in[2 + element]);
    default: return together(g, c, defined & all_defined(r, g, c));
    }
}

static void look_for_decisions(Run *r, const Group *g, const Code *c)
{
    if (has_effect(g, c))
        undef_decides(r, g, c, g->lanes & ~guard_defined(r, g, c));
    for (uint32_t k = 0; k < c->nin; k++)
        if (decides(c, k))
            undef_decides(r, g, c, g->lanes & ~lanes_defined(r, g, &c->in[k]));
}

void undef_begin(Run *r, const Group *g, const Code *c)
{
    if (r->machine->options.follow_undef)
        look_for_decisions(r, g, c);
    for (uint32_t k = 0; k < c->vec; k++)
        r->defined[k] = undef_inputs(r, g, c, k);
}

void undef_end(Run *r, const Group *g, const Code *c)
{
    for (uint32_t k = 0; k < c->nout; k++)
        set_defined(r, g, &c->out[k], g->lanes, together(g, c, r->defined[c->vec > 1 ? k : 0]));
}

void undef_pass_by(Run *r, const Group *g, const Code *c, Mask lanes)
{
    Mask undefined = lanes & ~guard_defined(r, g, c);
    if (has_effect(g, c))
        undef_decides(r, g, c, undefined);
    for (uint32_t k = 0; k < c->nout; k++)
        set_defined(r, g, &c->out[k], undefined, 0);
}

/* -- Memory --------------------------------------------------------------------------------------------- */

static void load_states(Run *r, const Access *a, uint32_t elements)
{
    uint32_t bytes = a->size / elements;
    for (uint32_t k = 0; k < elements; k++)
        if (memchr(a->defined + k * bytes, 0, bytes))
            r->defined[k] &= ~(UINT32_C(1) << a->lane);
}

static void store_states(const Run *r, const Access *a, uint32_t elements)
{
    uint32_t bytes = a->size / elements;
    for (uint32_t k = 0; k < elements; k++)
        memset(a->defined + k * bytes, r->defined[k] >> a->lane & 1, bytes);
}

void undef_access(Run *r, const Access *a)
{
    if (!a->defined)
        return;
    if (a->write)
        store_states(r, a, a->code->vec);
    else
        load_states(r, a, a->code->vec);
}

/* -- Questions ------------------------------------------------------------------------------------------ */

const uint8_t *machine_defined(Machine *m, uint64_t address)
{
    const Allocation *a = allocation_of(m, address);
    return a && a->defined ? a->defined + (address - a->base) : NULL;
}

const RunError *machine_unspecified(const Machine *m) { return m->unspecified.text[0] ? &m->unspecified : NULL; }
