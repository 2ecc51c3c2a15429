// SPDX-License-Identifier: MIT
// Removes instructions whose results nobody needs.
//
// Slots: 10 EarlyOriSimpleLiveDead; 16, 33, 61 and 84 OriPerformLiveDead. Needed is what has an effect, what something
// needed reads, and the branches that decide whether something needed runs; all else goes (Cytron et al., "Efficiently
// computing static single assignment form and the control dependence graph", 1991, section 7.1). It begins with nothing
// needed, so what only feeds itself round a loop goes too, and one walk finds all. Which definition a use reads is
// known exactly in both forms (ir/analysis/rdefs.c). A guarded definition that is needed needs the value before it. A
// phi needs the branches that lead to it. A branch that is not needed goes on to the next block that something needs on
// all its ways. A call of a function that does nothing but to compute its result (ir/core/pure.c) is needed for that
// alone. A `.local` variable or a parameter of a call that is named by nothing needed but stores makes these stores
// dead; then its declaration goes. Where some of several definitions are dead and the syntax takes it, they become `_`.
//
// The function is walked from its end to its start, so that most of what is needed is known to be before the walk comes
// to it; the rest is on a list.
//
//     R1 = add.s32 R2, 1                          (nothing)
//     st.local.b32 [@x], R3   ; no load of @x     (nothing)
//     {R1, R2} = ld.global.v2.b32 [R3]       ->   {R1, _} = ld.global.v2.b32 [R3]   ; R2 is dead
//     b1: R4 = add.s32 R4, 1; ...; bra b1         b1: ...; bra b1                   ; nothing else reads R4
//     b1: @P0 bra b2 else b3                 ->   b1: bra b3
//     b2: R1 = add.s32 R2, 1; bra b3
//
// Must not fire:
//     R1 = ld.volatile.global.b32 [R3]            volatile and ordered accesses are effects
//     R1 = shfl.sync.idx.b32 R2, 0, 31, -1        lanes meet there; so do all convergent instructions
//     R1 = atom.global.add.u32 [R3], 1            writes memory
//     call (@r), @f, (@a)                         unless @f is known to write nothing but @r, and to return
//     @P0 R1 = mov.b32 5; st.local.b32 [R2], R1   R1 before it is needed too
//     R1, CC0 = add.cc.u32 R2, R3                 dead sum, live carry
//     @P0 P1|P2 = setp.lt.s32 R1, R2              ptxas 13.0 crashes on `_|P2` under a guard
//     R5! = mov.b32 1                             pinned or named registers may be read later by what we do not model
//     b1: @P0 bra b1 else b2                      a loop stays, even if it does nothing: it may be endless
//
// A dead load goes, although it could fault: an access outside of memory is undefined, and ptxas drops such loads too
// (tried).
//
// Does not do: calls of functions that are defined further down or have
// loops, stores that other stores cover.
// Documented: slots and names. Inferred: the rest.
#include "ir/rewrite/rewrite.h"
#include "phases/bodies.h"

enum { LIVE = 1, PASSED = 2, FOLLOWS = 4 };

typedef struct Dead {
    Fn *fn;
    const Analyses *a;
    Arena scratch;
    ControlDeps deps;
    uint8_t *state;        // by InstrId: LIVE; PASSED = the walk has been there; FOLLOWS = not dead by itself
    bool in_part;          // there are instructions of which a part may be dead
    uint8_t *runs;         // by BlockId: something in it is live
    uint8_t *joins;        // by BlockId: a phi in it is live
    uint8_t *needed;       // by ValueId
    InstrId *carry;        // by InstrId: the last definition of the carry in front of it; NULL if there is no carry
    uint8_t *sym_live;     // by local symbol
    InstrId *first_store;  // by local symbol: stores to it, and calls, that wait for it to be needed
    InstrId *next_store;   // by InstrId
    InstrId *call;         // by call sequence
    VEC(InstrId) work;     // live and passed, their operands not yet looked at
    VEC(ValueId) values;   // needed, what they come from not yet looked at
} Dead;

enum { STAYS = TR_EFFECT | TR_BARRIER | TR_CONV | TR_TERM | TR_ORDERED | TR_ASYNC | TR_MARKER };

static uint32_t local(SymId s) { return s & ~(uint32_t)SYM_LOCAL; }

/* -- What is needed ------------------------------------------------------------------------------------- */

static void need_instr(Dead *d, InstrId id)
{
    if (d->state[id] & LIVE)
        return;
    d->state[id] |= LIVE;
    if (d->state[id] & PASSED)
        VEC_PUSH(&d->scratch, &d->work, id);
}

// A block of which something is needed needs the branches that decide whether it runs.
static void need_block(Dead *d, BlockId b)
{
    if (d->runs[b])
        return;
    d->runs[b] = 1;
    for (BlockId from; (from = control_deps_take(&d->deps, b));)
        need_instr(d, ir_terminator(d->fn, from));
}

// Which input a phi takes is decided where its predecessors branch.
static void need_ways_to(Dead *d, BlockId b)
{
    if (d->joins[b])
        return;
    d->joins[b] = 1;
    FOR_PREDS(d->a, b, p) {
        need_instr(d, ir_terminator(d->fn, *p));
        need_block(d, *p);
    }
}

static void need_value(Dead *d, ValueId value)
{
    if (!value || value == VALUE_ANY || d->needed[value])
        return;
    d->needed[value] = 1;
    if (value < d->a->rdefs.first_def && d->fn->form == FORM_MULTI)
        need_instr(d, def_of(d->a, value));
    else
        VEC_PUSH(&d->scratch, &d->values, value);
}

// The old value of what an instruction defines in ssa form.
static void need_tied(Dead *d, InstrId id, RegId def)
{
    const Fn *fn = d->fn;
    const Instr *i = ir_instr(fn, id);
    for (uint32_t k = 0; k < ir_ntied(i); k++) {
        Operand old = *ir_tied(fn, i, k);
        if (op_is_reg(old) && op_index(*ir_def(fn, i, k)) == def)
            need_value(d, op_index(old));
    }
}

// A definition needs its instruction and, under a guard, the value before it; where values meet, those that do.
static void need_sources(Dead *d, ValueId value)
{
    const Analyses *a = d->a;
    const ReachingDefs *rd = &a->rdefs;
    if (!value_is_phi(a, value)) {
        need_instr(d, value_def(a, value));
        if (value < rd->first_def)
            need_tied(d, def_of(a, value), value);
        else
            need_value(d, rd->old[value - rd->first_def]);
        return;
    }
    const ReachingPhi *phi = value_phi(a, value);
    for (uint32_t k = 0; k < pred_count(a, phi->block); k++)
        need_value(d, rd->input[phi->inputs + k]);
}

static void need_symbol(Dead *d, SymId s)
{
    if (!(s & SYM_LOCAL) || d->sym_live[local(s)])
        return;
    d->sym_live[local(s)] = 1;
    for (InstrId id = d->first_store[local(s)]; id; id = d->next_store[id])
        need_instr(d, id);
}

// What wrote the carry last.
static void need_carry(Dead *d, InstrId id)
{
    if (d->carry[id])
        need_instr(d, d->carry[id]);
}

static void need_operands(Dead *d, InstrId id)
{
    const Fn *fn = d->fn;
    const Instr *i = ir_instr(fn, id);
    const Operand *ops = ir_ops(fn, i);
    need_block(d, i->block);
    if (ir_desc(fn, i)->op == OP_PHI)
        need_ways_to(d, i->block);
    const Occurrence *at = reads_begin(d->a, id);
    for (uint32_t k = i->ndef; k < i->nops; k++) {
        bool tied = i->flags & IF_TIED && k + 1 < i->nops && k >= i->ndef + ir_nuse(i);
        if (op_kind(ops[k]) == K_SYM)
            need_symbol(d, op_index(ops[k]));
        else if (op_is_reg(ops[k]) && op_file(ops[k]) == RF_CC)
            need_carry(d, id);
        else if (op_is_reg(ops[k]) && !tied)
            need_value(d, reads_next(d->a, op_index(ops[k]), &at));
    }
    for (uint32_t k = 0; k < i->ndef && ir_guarded(i); k++)
        if (op_is_reg(ops[k]) && op_file(ops[k]) == RF_CC)
            need_carry(d, id);
}

static void need_everything(Dead *d)
{
    while (d->work.n || d->values.n) {
        while (d->values.n)
            need_sources(d, d->values.at[--d->values.n]);
        if (d->work.n)
            need_operands(d, d->work.at[--d->work.n]);
    }
}

// The carry lives inside one block.
static void find_carry(Dead *d)
{
    const Fn *fn = d->fn;
    if (!fn->cc)
        return;
    d->carry = NEW_ARRAY(&d->scratch, InstrId, fn->instrs.n);
    FOR_BLOCKS(fn, b) {
        InstrId last = 0;
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            d->carry[id] = last;
            for (uint32_t k = 0; k < i->ndef; k++)
                if (op_is_reg(*ir_def(fn, i, k)) && op_file(*ir_def(fn, i, k)) == RF_CC)
                    last = id;
        }
    }
}

/* -- Roots ---------------------------------------------------------------------------------------------- */

// The local variable or call temporary that a plain store writes by its name; 0 if it is none.
static SymId stored_symbol(const Fn *fn, const Instr *i)
{
    Operand base = *ir_use(fn, i, 0);
    if (op_kind(base) != K_SYM || !(op_index(base) & SYM_LOCAL))
        return 0;
    const Sym *s = ir_sym(fn, op_index(base));
    return s->kind == SYM_CALLPARAM || (s->kind == SYM_VAR && s->space == SP_LOCAL) ? op_index(base) : 0;
}

// What writes a symbol is needed once that is.
static void wait_for(Dead *d, InstrId id, SymId symbol)
{
    if (d->sym_live[local(symbol)]) {
        need_instr(d, id);
        return;
    }
    d->next_store[id] = d->first_store[local(symbol)];
    d->first_store[local(symbol)] = id;
}

// False: the store may write something else.
static bool is_written_for(Dead *d, InstrId store)
{
    SymId symbol = stored_symbol(d->fn, ir_instr(d->fn, store));
    if (!symbol)
        return false;
    wait_for(d, store, symbol);
    return true;
}

// False: it has several results.
static bool is_called_for(Dead *d, InstrId call)
{
    const Fn *fn = d->fn;
    const Instr *i = ir_instr(fn, call);
    SymId callee = ir_callee(fn, i), result = op_index(*ir_use(fn, i, 0));
    if (result == callee)
        return true;  // for nothing
    if (op_index(*ir_use(fn, i, 1)) != callee)
        return false;
    wait_for(d, call, result);
    return true;
}

static bool defines_outside_ssa(const Dead *d, InstrId id)
{
    const Instr *i = ir_instr(d->fn, id);
    for (uint32_t k = 0; k < i->ndef; k++) {
        Operand def = *ir_def(d->fn, i, k);
        if (op_is_reg(def) && op_file(def) != RF_CC && def_is_outside(d->a, op_index(def)))
            return true;
    }
    return false;
}

// Branches that choose nothing but what runs next.
static bool is_choice(const Instr *i, const Desc *desc)
{
    return (desc->op == OP_BRA && ir_guarded(i)) || desc->op == OP_BRX;
}

static void look_for_root(Dead *d, InstrId id)
{
    const Fn *fn = d->fn;
    const Instr *i = ir_instr(fn, id);
    const Desc *desc = ir_desc(fn, i);
    bool goes_on = desc->op == OP_BRA && !ir_guarded(i);
    d->in_part |= i->ndef > 1 || i->flags & IF_TIED;
    if (goes_on || desc->traits & TR_OF_NEXT || is_choice(i, desc)) {
        d->state[id] |= FOLLOWS;
        return;
    }
    if (desc->op == OP_CALL)
        d->call[i->callseq] = id;
    if (desc->op == OP_ST && !(desc->traits & STAYS) && is_written_for(d, id))
        return;
    if (desc->op == OP_CALL && ir_calls_pure(fn, i) && is_called_for(d, id))
        return;
    if (desc->traits & (STAYS | TR_WRITE) || i->flags & IF_PINNED || defines_outside_ssa(d, id))
        need_instr(d, id);
}

// Variables whose address another one's initial value holds may be reached through it.
static void need_addressed(Dead *d)
{
    for (uint32_t k = 1; k < d->fn->syms.n; k++) {
        const Init *init = ir_sym(d->fn, k | SYM_LOCAL)->init;
        for (uint32_t r = 0; init && r < init->nrelocs; r++)
            need_symbol(d, init->relocs[r].sym);
    }
}

// Loops stay: what goes back, which is on the way round each, is needed.
static void need_loops(Dead *d)
{
    const Analyses *a = d->a;
    for (uint32_t k = 0; k < a->nrpo; k++) {
        BlockId b = a->rpo[k];
        FOR_SUCCS(a, b, s)
            if (a->rpo_index[*s] <= k)
                need_block(d, b);
    }
}

static void find_needed(Dead *d)
{
    const Fn *fn = d->fn;
    need_addressed(d);
    need_loops(d);
    for (BlockId b = fn->last; b; b = ir_block(fn, b)->prev) {
        FOR_INSTRS_BACK(fn, b, id) {
            look_for_root(d, id);
            d->state[id] |= PASSED;
            if (d->state[id] & LIVE)
                need_operands(d, id);
            if (d->values.n || d->work.n)
                need_everything(d);
        }
    }
}

/* -- Sweeping ------------------------------------------------------------------------------------------- */

// Makes dead ones among several definitions `_`, where ptxas takes that.
static bool drop_definitions(Dead *d, InstrId id)
{
    Fn *fn = d->fn;
    const Instr *i = ir_instr(fn, id);
    const Desc *desc = ir_desc(fn, i);
    bool progress = false;
    if ((desc->op != OP_LD && desc->op != OP_UNPACK && desc->op != OP_SETP) || desc->traits & TR_ORDERED)
        return false;
    for (uint32_t k = 0; k < i->ndef; k++) {
        Operand def = *ir_def(fn, i, k);
        bool may = op_is_reg(def) && sink_fits(fn, i, k) && reg_in_ssa(ir_reg(fn, op_index(def)));
        if (!may || d->needed[value_of(fn, d->a, id, k)])
            continue;
        remove_definition(fn, id, k);
        progress = true;
    }
    return progress;
}

// In ssa form nobody reads the old value of a definition that nobody reads.
static bool drop_old_values(Dead *d, InstrId id)
{
    const Fn *fn = d->fn;
    const Instr *i = ir_instr(fn, id);
    bool progress = false;
    for (uint32_t k = 0; k < ir_ntied(i); k++) {
        Operand def = *ir_def(fn, i, k), *old = ir_tied(fn, i, k);
        if (!op_is_reg(def) || !op_is_reg(*old) || d->needed[op_index(def)])
            continue;
        *old = op_imm(CONST_UNDEF);
        progress = true;
    }
    return progress;
}

// A note goes with the instruction that it is about.
static bool is_dead(const Dead *d, InstrId id)
{
    const Fn *fn = d->fn;
    if (d->state[id] & LIVE)
        return false;
    while (ir_desc(fn, ir_instr(fn, id))->traits & TR_OF_NEXT)
        id = ir_instr(fn, id)->next;
    return ir_instr(fn, id)->next && !(d->state[id] & LIVE);
}

// Where a call went, what stays of its sequence is memory that somebody else reads.
static void leave_sequence(Dead *d, InstrId id)
{
    Instr *i = ir_instr(d->fn, id);
    if (!(d->state[d->call[i->callseq]] & LIVE))
        i->callseq = 0;
}

static bool sweep_instrs(Dead *d)
{
    Fn *fn = d->fn;
    bool progress = false;
    if (!d->in_part && !memchr(d->state, PASSED, fn->instrs.n))
        return false;
    FOR_BLOCKS(fn, b) {
        for (InstrId id = ir_block(fn, b)->first, next; id; id = next) {
            const Instr *i = ir_instr(fn, id);
            next = instr_behind(fn, id);
            bool dead = is_dead(d, id);
            if (!dead && i->callseq)
                leave_sequence(d, id);
            if (dead)
                ir_remove(fn, id);
            else if (i->ndef > 1)
                progress |= drop_definitions(d, id);
            if (!dead && i->flags & IF_TIED)
                progress |= drop_old_values(d, id);
            progress |= dead;
        }
    }
    return progress;
}

// Declarations of variables that nothing names any more.
static bool sweep_symbols(Dead *d)
{
    Fn *fn = d->fn;
    bool progress = false;
    for (uint32_t k = 1; k < fn->syms.n; k++) {
        Sym *s = ir_sym(fn, k | SYM_LOCAL);
        bool goes = s->kind == SYM_CALLPARAM || (s->kind == SYM_VAR && s->space == SP_LOCAL);
        if (!goes || d->sym_live[k] || s->flags & SYM_GONE)
            continue;
        s->flags |= SYM_GONE;
        progress = true;
    }
    return progress;
}

// Branches that are not needed go to the nearest block that runs on all their ways: there is one, since returns and
// loops do. What only they led to is not reachable any more.
static bool sweep_branches(Dead *d)
{
    const DomTree *pdom = &d->a->pdom;
    Fn *fn = d->fn;
    bool progress = false;
    BlockId *onward = NEW_ARRAY(&d->scratch, BlockId, fn->blocks.n);
    for (uint32_t k = 0; k < d->a->nrpo; k++) {
        BlockId b = pdom->order[k], next = pdom->idom[b];
        InstrId id = ir_terminator(fn, b);
        onward[b] = d->runs[next] ? next : onward[next];
        if (d->state[id] & LIVE || !is_choice(ir_instr(fn, id), ir_desc(fn, ir_instr(fn, id))))
            continue;
        instr_replace_by_branch(fn, id, onward[b]);
        progress = true;
    }
    return progress;
}

// A loop needs each block that leads back as long as it is there, and thereby what decides which of them is taken.
static bool has_empty_latch(const Fn *fn, const Analyses *a)
{
    for (uint32_t k = 0; k < a->nrpo; k++) {
        BlockId b = a->rpo[k];
        FOR_SUCCS(a, b, s)
            if (a->rpo_index[*s] <= k && ir_block(fn, b)->first == ir_block(fn, b)->last)
                return true;
    }
    return false;
}

/* -- The phase ------------------------------------------------------------------------------------------ */

// *again: what is needed may be less once empty blocks are gone. Outside of ssa form only loops ask for such blocks, so
// where none leads back nothing else depends on them.
static bool remove_dead(Ctx *ctx, Fn *fn, bool *again)
{
    bool unreachable = remove_unreachable(fn);
    Dead d = {.fn = fn};
    arena_init(&d.scratch, &ctx->heap);
    d.a = analysis_need(fn, AN_CFG | AN_RPO | AN_PDOM | AN_RDEFS);
    control_deps_init(&d.deps, &d.scratch, d.a);
    d.state = NEW_ARRAY(&d.scratch, uint8_t, fn->instrs.n);
    d.runs = NEW_ARRAY(&d.scratch, uint8_t, fn->blocks.n);
    d.joins = NEW_ARRAY(&d.scratch, uint8_t, fn->blocks.n);
    d.needed = NEW_ARRAY(&d.scratch, uint8_t, value_count(d.a));
    d.sym_live = NEW_ARRAY(&d.scratch, uint8_t, fn->syms.n);
    d.first_store = NEW_ARRAY(&d.scratch, InstrId, fn->syms.n);
    d.next_store = NEW_ARRAY(&d.scratch, InstrId, fn->syms.n > 1 ? fn->instrs.n : 0);
    d.call = NEW_ARRAY(&d.scratch, InstrId, fn->callseqs + 1);
    find_carry(&d);
    find_needed(&d);
    bool instrs = sweep_instrs(&d), symbols = sweep_symbols(&d), branches = sweep_branches(&d);
    *again = has_empty_latch(fn, d.a);
    arena_free(&d.scratch);
    if (branches) {
        analysis_drop(fn, AN_DEF);
        remove_unreachable(fn);
    }
    return unreachable || instrs || symbols || branches;
}

// What goes round a loop by empty blocks only chooses nothing, but each way back is needed as long as it is one. In ssa
// form phis may lie on such ways.
static bool remove_empty_ways(Fn *fn)
{
    if (fn->form == FORM_SSA)
        return false;
    bool empty = skip_empty_blocks(fn), conditions = drop_conditions(fn);
    return empty || conditions;
}

bool phase_live_dead(Ctx *ctx, Fn *fn)
{
    if (fn->properties & PROP_NO_DEAD)
        return false;
    bool progress = false, again = true;
    while (again && remove_dead(ctx, fn, &again)) {
        progress = true;
        analysis_drop(fn, AN_FLOW | AN_DEF);
        again &= remove_empty_ways(fn);
    }
    if (progress && fn->form == FORM_MULTI)
        merge_blocks(fn);
    phase_gains(ctx, PROP_NO_DEAD);
    return progress;
}
