// SPDX-License-Identifier: MIT
// Forwards values that were stored to a local variable, or loaded from it, to later loads; then removes dead stores
// (dead_stores.c).
//
// Sub-pass: OriStoreForwarding, for variables that promotion leaves in `.local`: arrays with dynamic indices, and
// variables whose address escapes. Works on extended basic blocks: a block with a single predecessor begins with the
// predecessor's final state. The state of a byte is the register (or constant) that was last stored there or loaded
// from there. If all bytes of a load from an exact address are low bytes of one value, a move replaces the load, with
// the extension of the load's type. A store of the value that memory already holds is removed. A write to an inexact
// range of more than BYTEWISE bytes makes all bytes of its piece unknown (ir/analysis/local_memory.h). Variables whose
// address escapes become unknown at each instruction that may write them or that orders memory: calls (except those of
// SYM_NOCLOBBER functions), atomics, barriers, stores to unknown addresses. A scoped table restores the state where
// paths branch. The time is linear, with tables indexed by byte of the local variables.
//
//     st.local.b32 [@x+4], R1                     st.local.b32 [@x+4], R1
//     st.local.b32 [R9], R2, R9 = @x + 16 + R8    st.local.b32 [R9], R2           ; R8 is in [0, 15]
//     R3 = ld.local.b32 [@x+4]               ->   R3 = mov.b32 R1
//
//     st.local.u8 [@x], R1                        st.local.u8 [@x], R1
//     @P0 R2 = ld.local.s8 [@x]              ->   @P0 R2 = cvt.s32.s8 R1
//
//     R1 = ld.local.b32 [@x]                      R1 = ld.local.b32 [@x]
//     R2 = ld.local.b32 [@x]                 ->   R2 = mov.b32 R1
//     st.local.b32 [@x], R1                       (nothing)
//
//     @P0 st.local.b32 [@x], R1                   @P0 st.local.b32 [@x], R1
//     @P0 R2 = ld.local.b32 [@x]             ->   @P0 R2 = mov.b32 R1             ; one value of P0, in ssa form
//
// Must not fire:
//     st.local.b32 [@x], R1; st.local.b32 [R9], R2; R3 = ld.local.b32 [@x]      R9 may be the same address
//     @P0 st.local.b32 [@x], R1; R2 = ld.local.b32 [@x]                         the load is not under the guard
//     st.local.b32 [@x], R1; R3 = ld.local.b64 [@x]                             the other half is unknown
//     st.local.b32 [@x], R1; call @f, ...; R2 = ld.local.b32 [@x]               if the address of @x escapes
//     st.local.b32 [@x], R1; ld.volatile.local.b32 [@x]                         volatile accesses stay
//     st.local.b32 [@x], undef; ld; ld                                          each load would have its own value
//     st.local.b32 [@x], R1 on one of two paths to a block that loads it
//
// Does not do: upper parts of a value, values that consist of several stored values, join of the states of several
// predecessors, memory other than the function's own variables; multi form, where registers change.
// Documented: nothing. The technique is in the textbooks (Muchnick, "Advanced Compiler Design and Implementation",
// 1997, section 12.3, on extended basic blocks), and ptxas forwards stores (tried). Inferred: the sub-pass.
#include "ir/analysis/local_memory.h"
#include "ir/rewrite/rewrite.h"
#include "phases/bodies.h"
#include "phases/memory/dead_stores.h"

enum { BYTEWISE = 32 };  // ranges up to this size are made unknown byte by byte

// A value in memory.
typedef struct Held {
    Operand value;
    uint32_t first, bytes;
    Operand guard;  // condition of the value; none = always
} Held;

// An element of a load that a move replaces.
typedef struct Forward {
    const LocalAccess *access;
    uint32_t element, held;
} Forward;

// A loaded register, whose low bytes are equal to those of a value in memory.
typedef struct Copy {
    uint32_t held, bytes;
} Copy;

typedef struct Forwarding {
    Ctx *ctx;
    Fn *fn;
    Arena scratch;
    const Analyses *a;
    LocalMemory memory;
    VEC(Held) values;         // from 1 on; indices ascend along each path
    uint32_t *held;           // by byte: index of the value that it is part of; 0 = unknown
    uint32_t *forgotten;      // by piece: values with a lower index are unknown now
    uint32_t forgot_escaped;  // the same for escaped variables
    ScopedTable known;        // the changes of held, forgotten and forgot_escaped
    VEC(Forward) forwards;
    Copy *copies;            // by RegId
    VEC(InstrId) redundant;  // stores of the value that memory holds
} Forwarding;

/* -- The state ------------------------------------------------------------------------------------------ */

static bool is_stable(const Fn *fn, Operand o)
{
    return op_kind(o) == K_NONE || op_kind(o) == K_IMM || (op_is_reg(o) && reg_in_ssa(ir_reg(fn, op_index(o))));
}

// Returns the value that a byte of an access is part of; 0 = unknown.
static uint32_t held_at(const Forwarding *f, const LocalAccess *access, uint32_t byte)
{
    uint32_t h = f->held[byte];
    bool escaped = f->memory.variables[access->variable].escaped;
    return h >= f->forgotten[f->memory.piece[byte]] && (!escaped || h >= f->forgot_escaped) ? h : 0;
}

// Returns the value whose low bytes equal an element of a movable access, under the guard of the access; 0 = unknown.
static uint32_t find_held(const Forwarding *f, const LocalAccess *access, uint32_t element)
{
    uint32_t first = access->first + element * access->bytes, h = held_at(f, access, first);
    const Held *held = &f->values.at[h];
    Operand guard = ir_condition(f->fn, ir_instr(f->fn, access->instr));
    if (!h || held->first != first || held->bytes < access->bytes ||
        (op_kind(held->guard) != K_NONE && !op_same(held->guard, guard)))
        return 0;
    for (uint32_t k = 1; k < access->bytes; k++)
        if (held_at(f, access, first + k) != h)
            return 0;
    return h;
}

static void forget_bytes(Forwarding *f, uint32_t first, uint32_t end)
{
    for (uint32_t k = first; k < end; k++)
        scoped_set(&f->known, &f->held[k], 0);
}

static void forget(Forwarding *f, const LocalAccess *access)
{
    if (access->end - access->first <= BYTEWISE)
        forget_bytes(f, access->first, access->end);
    else
        scoped_set(&f->known, &f->forgotten[f->memory.piece[access->first]], f->values.n);
}

static Operand *data_of(const Fn *fn, const LocalAccess *access, uint32_t element)
{
    const Instr *i = ir_instr(fn, access->instr);
    return access->writes ? ir_use(fn, i, 2 + element) : ir_def(fn, i, element);
}

static void note_element(Forwarding *f, const LocalAccess *access, uint32_t element)
{
    Operand value = *data_of(f->fn, access, element), guard = ir_condition(f->fn, ir_instr(f->fn, access->instr));
    uint32_t first = access->first + element * access->bytes, h = f->values.n;
    bool known = op_kind(value) != K_NONE && is_stable(f->fn, value) && is_stable(f->fn, guard);
    if (!known) {
        if (access->writes)
            forget_bytes(f, first, first + access->bytes);
        return;
    }
    value.word &= ~(1u << 31);
    VEC_PUSH(&f->scratch, &f->values, ((Held){value, first, access->bytes, guard}));
    for (uint32_t k = 0; k < access->bytes; k++)
        scoped_set(&f->known, &f->held[first + k], h);
}

// True if the value of a loaded element is recorded. A guarded load does not replace known bytes.
static bool is_worth_noting(const Forwarding *f, const LocalAccess *access, uint32_t element)
{
    uint32_t first = access->first + element * access->bytes;
    bool free = true;
    for (uint32_t k = 0; k < access->bytes; k++)
        free &= !held_at(f, access, first + k);
    return free || !ir_guarded(ir_instr(f->fn, access->instr));
}

/* -- The walk ------------------------------------------------------------------------------------------- */

static bool forward_load(Forwarding *f, const LocalAccess *access)
{
    uint32_t before = f->forwards.n;
    if (knob_left(&f->ctx->knobs, KNOB_STORE_FORWARDING_BUDGET) <= 0)
        return false;
    for (uint32_t k = 0; k < access->n; k++) {
        Operand to = *data_of(f->fn, access, k);
        uint32_t h = find_held(f, access, k);
        if (!op_is_reg(to))
            continue;
        if (!h || !is_stable(f->fn, op_reg(f->fn, op_index(to)))) {
            f->forwards.n = before;
            return false;
        }
        VEC_PUSH(&f->scratch, &f->forwards, ((Forward){access, k, h}));
    }
    if (f->forwards.n == before)
        return false;
    knob_spend(&f->ctx->knobs, KNOB_STORE_FORWARDING_BUDGET);
    for (uint32_t k = before; k < f->forwards.n && !ir_guarded(ir_instr(f->fn, access->instr)); k++)
        f->copies[op_index(*data_of(f->fn, access, f->forwards.at[k].element))] =
            (Copy){f->forwards.at[k].held, access->bytes};
    return true;
}

static void visit_load(Forwarding *f, const LocalAccess *access)
{
    if (!access->movable || forward_load(f, access))
        return;
    for (uint32_t k = 0; k < access->n; k++)
        if (!find_held(f, access, k) && is_worth_noting(f, access, k))
            note_element(f, access, k);
}

// True if the low bytes of an operand are equal to those of a value.
static bool is_same(const Forwarding *f, Operand o, Operand value, uint32_t bytes)
{
    if (op_same(o, value))
        return true;
    const Copy *copy = op_is_reg(o) ? &f->copies[op_index(o)] : NULL;
    return copy && copy->bytes >= bytes && op_same(f->values.at[copy->held].value, value);
}

static bool is_redundant(const Forwarding *f, const LocalAccess *access)
{
    for (uint32_t k = 0; k < access->n; k++) {
        uint32_t h = find_held(f, access, k);
        if (!h || !is_same(f, *data_of(f->fn, access, k), f->values.at[h].value, access->bytes))
            return false;
    }
    return true;
}

static void visit_store(Forwarding *f, const LocalAccess *access)
{
    if (!access->movable) {
        forget(f, access);
        return;
    }
    if (is_redundant(f, access) && knob_spend(&f->ctx->knobs, KNOB_STORE_FORWARDING_BUDGET)) {
        VEC_PUSH(&f->scratch, &f->redundant, access->instr);
        return;
    }
    for (uint32_t k = 0; k < access->n; k++)
        note_element(f, access, k);
}

static void visit(Forwarding *f, InstrId id)
{
    const LocalAccess *access = local_access(&f->memory, id);
    const Instr *i = ir_instr(f->fn, id);
    const Desc *d = ir_desc(f->fn, i);
    bool only_reads = d->op == OP_LD && !(d->traits & TR_ORDERED);
    if (access && access->writes)
        visit_store(f, access);
    else if (access)
        visit_load(f, access);
    else if (!only_reads && !ir_call_has(f->fn, i, SYM_NOCLOBBER) && local_may_reach_escaped(&f->memory, id))
        scoped_set(&f->known, &f->forgot_escaped, f->values.n);
}

// True if a block begins with the state of its single predecessor.
static bool goes_on(const Forwarding *f, BlockId b) { return b != f->fn->first && pred_count(f->a, b) == 1; }

static void visit_from(Forwarding *f, BlockId root)
{
    scoped_push(&f->known, root);
    for (BlockId b; (b = scoped_next(&f->known));) {
        FOR_INSTRS(f->fn, b, id)
            visit(f, id);
        FOR_SUCCS(f->a, b, s)
            if (goes_on(f, *s))
                scoped_push(&f->known, *s);
    }
}

/* -- Rewriting ------------------------------------------------------------------------------------------ */

static void rewrite(Forwarding *f)
{
    Fn *fn = f->fn;
    for (uint32_t k = 0; k < f->forwards.n; k++) {
        const LocalAccess *access = f->forwards.at[k].access;
        const Held *held = &f->values.at[f->forwards.at[k].held];
        Operand to = op_reg(fn, op_index(*data_of(fn, access, f->forwards.at[k].element)));
        Tail tail = tail_of(fn, ir_instr(fn, access->instr), f->forwards.at[k].element);
        AccessMove move = {to, held->value, access->bytes, type_info[access->type].class == TC_S, tail};
        bool last = k + 1 == f->forwards.n || f->forwards.at[k + 1].access != access;
        remove_annotations(fn, access->instr);
        (last ? instr_replace_by_access_move : insert_access_move)(fn, access->instr, &move);
    }
    for (uint32_t k = 0; k < f->redundant.n; k++)
        remove_annotated(fn, f->redundant.at[k]);
}

static bool forward_stores(Ctx *ctx, Fn *fn)
{
    Forwarding f = {.ctx = ctx, .fn = fn};
    arena_init(&f.scratch, &ctx->heap);
    if (local_memory_find(&f.memory, fn, &f.scratch)) {
        f.a = analysis_need(fn, AN_CFG | AN_RPO);
        f.held = NEW_ARRAY(&f.scratch, uint32_t, f.memory.nbytes);
        f.forgotten = NEW_ARRAY(&f.scratch, uint32_t, f.memory.pieces.n);
        f.copies = NEW_ARRAY(&f.scratch, Copy, fn->regs.n);
        scoped_init(&f.known, &f.scratch);
        VEC_PUSH(&f.scratch, &f.values, ((Held){0}));
        for (uint32_t k = 0; k < f.a->nrpo; k++)
            if (!goes_on(&f, f.a->rpo[k]))
                visit_from(&f, f.a->rpo[k]);
        rewrite(&f);
    }
    bool progress = f.forwards.n || f.redundant.n;
    arena_free(&f.scratch);
    return progress;
}

bool phase_store_forwarding(Ctx *ctx, Fn *fn)
{
    bool forwarded = forward_stores(ctx, fn);
    if (forwarded)
        analysis_drop(fn, AN_FLOW);
    return remove_dead_stores(ctx, fn) || forwarded;
}
