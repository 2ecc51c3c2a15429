// SPDX-License-Identifier: MIT
// Removes dead code.
//
// Slots: 10 EarlyOriSimpleLiveDead; 16, 33, 61 and 84 OriPerformLiveDead; sub-pass OriSimpleLiveDead. These
// instructions are live: those with an effect, the definitions that live instructions use, and the branches on which
// live instructions are control dependent. All others are dead (Cytron et al., "Efficiently computing static single
// assignment form and the control dependence graph", 1991, section 7.1). Initially nothing is live, so a value that
// only its own next value in a loop uses is dead, too, and one walk finds all dead code. The analysis of reaching
// definitions (ir/analysis/rdefs.c) gives the exact definitions of each use in both forms.
//
// In multi form slots 10 and 84 mark registers instead of values: all definitions of a register that live code uses are
// live. This needs no reaching definitions, which would have to be computed again for slot 23. Definitions that no use
// reads are removed in SSA form.
//
// A live guarded definition makes its old value live. A live phi makes the branches that lead to it live. A dead branch
// is replaced by a branch to the nearest live block that post-dominates it. A call of a function that only computes its
// result (ir/core/callee_properties.c) is live only if the result is. If a `.local` variable or a parameter of a call
// is only stored to, the stores are dead and the declaration is removed. In an instruction with several definitions,
// dead ones are replaced by `_` if the syntax permits.
//
// The function is walked from its end to its start, so most instructions are marked before the walk visits them. The
// others are on a worklist.
//
//     R1 = add.s32 R2, 1                          (nothing)
//     st.local.b32 [@x], R3   ; no load of @x     (nothing)
//     {R1, R2} = ld.global.v2.b32 [R3]       ->   {R1, _} = ld.global.v2.b32 [R3]   ; R2 is dead
//     b1: R4 = add.s32 R4, 1; ...; bra b1         b1: ...; bra b1                   ; R4 has no other use
//     b1: @P0 bra b2 else b3                 ->   b1: bra b3
//     b2: R1 = add.s32 R2, 1; bra b3
//
// Must not fire:
//     R1 = ld.volatile.global.b32 [R3]            volatile and ordered accesses are effects
//     R1 = shfl.sync.idx.b32 R2, 0, 31, -1        lanes meet there; so do all convergent instructions
//     R1 = atom.global.add.u32 [R3], 1            writes memory
//     call (@r), @f, (@a)                         unless @f is known to write only @r, and to return
//     @P0 R1 = mov.b32 5; st.local.b32 [R2], R1   the old value of R1 is live, too
//     R1, CC0 = add.cc.u32 R2, R3                 dead sum, live carry
//     @P0 P1|P2 = setp.lt.s32 R1, R2              ptxas 13.0 crashes on `_|P2` under a guard
//     R5! = mov.b32 1                             unmodelled or other code may use pinned or named registers
//     b1: @P0 bra b1 else b2                      a loop stays, even if it does nothing: it may be endless
//
// A dead load is removed although it could fault: an access outside of memory is undefined, and ptxas drops such loads
// too (tried).
//
// Does not do: calls of functions that are defined later or have loops; stores that other stores overwrite.
// Documented: slots and names. Inferred: the rest.
#include "ir/rewrite/rewrite.h"
#include "phases/bodies.h"
#include "phases/bundles/bundle.h"
#include "phases/scalar/fold/fold_rules.h"

enum { LIVE = 1, PASSED = 2, FOLLOWS = 4 };

// An instruction that is live if a register is.
typedef struct WaitingDef {
    InstrId instr;
    uint32_t next;
} WaitingDef;

typedef struct Dead {
    Fn *fn;
    const Analyses *a;
    Arena scratch;
    ControlDeps deps;
    uint8_t *state;        // by InstrId: LIVE; PASSED = visited; FOLLOWS = an annotation or a branch
    bool in_part;          // some instruction may have dead definitions or old values
    uint8_t *runs;         // by BlockId: an instruction in it is live
    uint8_t *joins;        // by BlockId: a phi in it is live
    bool by_register;      // a value is a register, with all of its definitions
    uint8_t *marked;       // by ValueId: it is live
    uint32_t *first_def;   // by_register, by RegId: list of visited definitions that are live if it is
    VEC(WaitingDef) defs;  // from 1 on
    InstrId *carry;        // by InstrId: the last definition of the carry before it; NULL if there is no carry
    uint8_t *sym_live;     // by local symbol: it is live
    InstrId *first_store;  // by local symbol: list of stores and calls that are live if it is
    InstrId *next_store;   // by InstrId
    InstrId *call;         // by call sequence
    VEC(InstrId) work;     // worklist of live, visited instructions
    VEC(ValueId) values;   // worklist of live values
    VEC(RegId) single;     // with AN_NUSES: registers that had one use left when a dead one was removed
} Dead;

enum { STAYS = TR_EFFECT | TR_BARRIER | TR_CONV | TR_TERM | TR_ORDERED | TR_ASYNC | TR_MARKER };

static uint32_t local(SymId s) { return s & ~(uint32_t)SYM_LOCAL; }

/* -- Marking -------------------------------------------------------------------------------------------- */

static void mark_instr(Dead *d, InstrId id)
{
    if (d->state[id] & LIVE)
        return;
    d->state[id] |= LIVE;
    if (d->state[id] & PASSED)
        VEC_PUSH(&d->scratch, &d->work, id);
}

// Marks a block live, and the branches on which it is control dependent.
static void mark_block(Dead *d, BlockId b)
{
    if (d->runs[b])
        return;
    d->runs[b] = 1;
    for (BlockId from; (from = control_deps_take(&d->deps, b));)
        mark_instr(d, ir_terminator(d->fn, from));
}

// Marks the branches to a block with a live phi live: they select the input of the phi.
static void mark_ways_to(Dead *d, BlockId b)
{
    if (d->joins[b])
        return;
    d->joins[b] = 1;
    FOR_PREDS(d->a, b, p) {
        mark_instr(d, ir_terminator(d->fn, *p));
        mark_block(d, *p);
    }
}

static void mark_value(Dead *d, ValueId value)
{
    if (!value || value == VALUE_ANY || d->marked[value])
        return;
    d->marked[value] = 1;
    if (!d->by_register && value < d->a->rdefs.first_def && d->fn->form == FORM_MULTI)
        mark_instr(d, def_of(d->a, value));
    else
        VEC_PUSH(&d->scratch, &d->values, value);
}

// Marks the old value of a definition live, in ssa form.
static void mark_tied(Dead *d, InstrId id, RegId def)
{
    const Fn *fn = d->fn;
    const Instr *i = ir_instr(fn, id);
    for (uint32_t k = 0; k < ir_ntied(i); k++) {
        Operand old = *ir_tied(fn, i, k);
        if (op_is_reg(old) && op_index(*ir_def(fn, i, k)) == def)
            mark_value(d, op_index(old));
    }
}

// Marks the sources of a value live: its instruction and, under a guard, its old value; for a phi, the inputs.
static void mark_sources(Dead *d, ValueId value)
{
    const Analyses *a = d->a;
    const ReachingDefs *rd = &a->rdefs;
    if (d->by_register) {
        for (uint32_t k = d->first_def[value]; k; k = d->defs.at[k].next)
            mark_instr(d, d->defs.at[k].instr);
        return;
    }
    if (!value_is_phi(a, value)) {
        mark_instr(d, value_def(a, value));
        if (value < rd->first_def)
            mark_tied(d, def_of(a, value), value);
        else
            mark_value(d, rd->old[value - rd->first_def]);
        return;
    }
    const ReachingPhi *phi = value_phi(a, value);
    for (uint32_t k = 0; k < pred_count(a, phi->block); k++)
        mark_value(d, rd->input[phi->inputs + k]);
}

static void mark_symbol(Dead *d, SymId s)
{
    if (!(s & SYM_LOCAL) || d->sym_live[local(s)])
        return;
    d->sym_live[local(s)] = 1;
    for (InstrId id = d->first_store[local(s)]; id; id = d->next_store[id])
        mark_instr(d, id);
}

// Marks the last definition of the carry live.
static void mark_carry(Dead *d, InstrId id)
{
    if (d->carry[id])
        mark_instr(d, d->carry[id]);
}

static void mark_operands(Dead *d, InstrId id)
{
    const Fn *fn = d->fn;
    const Instr *i = ir_instr(fn, id);
    const Operand *ops = ir_ops(fn, i);
    mark_block(d, i->block);
    if (ir_desc(fn, i)->op == OP_PHI)
        mark_ways_to(d, i->block);
    const Occurrence *at = d->by_register ? NULL : reads_begin(d->a, id);
    for (uint32_t k = i->ndef; k < i->nops; k++) {
        bool tied = i->flags & IF_TIED && k + 1 < i->nops && k >= i->ndef + ir_nuse(i);
        if (op_kind(ops[k]) == K_SYM)
            mark_symbol(d, op_index(ops[k]));
        else if (op_is_reg(ops[k]) && op_file(ops[k]) == RF_CC)
            mark_carry(d, id);
        else if (op_is_reg(ops[k]) && !tied)
            mark_value(d, d->by_register ? op_index(ops[k]) : reads_next(d->a, op_index(ops[k]), &at));
    }
    for (uint32_t k = 0; k < i->ndef && ir_guarded(i); k++)
        if (op_is_reg(ops[k]) && op_file(ops[k]) == RF_CC)
            mark_carry(d, id);
}

static void mark_everything(Dead *d)
{
    while (d->work.n || d->values.n) {
        while (d->values.n)
            mark_sources(d, d->values.at[--d->values.n]);
        if (d->work.n)
            mark_operands(d, d->work.at[--d->work.n]);
    }
}

// Finds the last definition of the carry before each instruction. The carry is live in one block only.
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

// Returns the local variable or call parameter that a plain store writes by its name; 0 = none.
static SymId stored_symbol(const Fn *fn, const Instr *i)
{
    Operand base = *ir_use(fn, i, 0);
    if (op_kind(base) != K_SYM || !(op_index(base) & SYM_LOCAL))
        return 0;
    const Sym *s = ir_sym(fn, op_index(base));
    return s->kind == SYM_CALLPARAM || (s->kind == SYM_VAR && s->space == SP_LOCAL) ? op_index(base) : 0;
}

// Makes an instruction live when the symbol that it writes becomes live.
static void wait_for(Dead *d, InstrId id, SymId symbol)
{
    if (d->sym_live[local(symbol)]) {
        mark_instr(d, id);
        return;
    }
    d->next_store[id] = d->first_store[local(symbol)];
    d->first_store[local(symbol)] = id;
}

// Makes a store live only if its symbol is. False: it may write other memory.
static bool is_written_for(Dead *d, InstrId store)
{
    SymId symbol = stored_symbol(d->fn, ir_instr(d->fn, store));
    if (!symbol)
        return false;
    wait_for(d, store, symbol);
    return true;
}

// Makes a pure call live only if its result is. False: it has several results.
static bool is_called_for(Dead *d, InstrId call)
{
    const Fn *fn = d->fn;
    const Instr *i = ir_instr(fn, call);
    SymId callee = ir_callee(fn, i), result = op_index(*ir_use(fn, i, 0));
    if (result == callee)
        return true;  // it has no result, so it is dead
    if (op_index(*ir_use(fn, i, 1)) != callee)
        return false;
    wait_for(d, call, result);
    return true;
}

// True if a register is outside ssa form, so that all of its definitions are live.
static bool is_outside(const Dead *d, RegId r)
{
    return d->by_register ? !reg_in_ssa(ir_reg(d->fn, r)) : def_is_outside(d->a, r);
}

static bool defines_outside_ssa(const Dead *d, InstrId id)
{
    const Instr *i = ir_instr(d->fn, id);
    for (uint32_t k = 0; k < i->ndef; k++) {
        Operand def = *ir_def(d->fn, i, k);
        if (op_is_reg(def) && op_file(def) != RF_CC && is_outside(d, op_index(def)))
            return true;
    }
    return false;
}

// True for a branch that only selects its successor.
static bool is_choice(const Instr *i, const Desc *desc)
{
    return (desc->op == OP_BRA && ir_guarded(i)) || desc->op == OP_BRX;
}

static void mark_root(Dead *d, InstrId id)
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
    if (desc->op == OP_CALL && !i->ndef && ir_call_has(fn, i, SYM_PURE) && is_called_for(d, id))
        return;
    if (desc->traits & (STAYS | TR_WRITE) || i->flags & IF_PINNED || defines_outside_ssa(d, id))
        mark_instr(d, id);
}

// Marks the variables live whose address is in the initializer of another one: their accesses need not name them.
static void mark_addressed(Dead *d)
{
    for (uint32_t k = 1; k < d->fn->syms.n; k++) {
        const Init *init = ir_sym(d->fn, k | SYM_LOCAL)->init;
        for (uint32_t r = 0; init && r < init->nrelocs; r++)
            mark_symbol(d, init->relocs[r].sym);
    }
}

// Marks the sources of back edges live, so that loops stay.
static void mark_loops(Dead *d)
{
    const Analyses *a = d->a;
    for (uint32_t k = 0; k < a->nrpo; k++) {
        BlockId b = a->rpo[k];
        FOR_SUCCS(a, b, s)
            if (a->rpo_index[*s] <= k)
                mark_block(d, b);
    }
}

// Makes a visited instruction live when a register that it defines becomes live.
static void wait_for_registers(Dead *d, InstrId id)
{
    const Instr *i = ir_instr(d->fn, id);
    for (uint32_t k = 0; k < i->ndef && !(d->state[id] & LIVE); k++) {
        Operand def = *ir_def(d->fn, i, k);
        if (!op_is_reg(def) || op_file(def) == RF_CC)
            continue;
        if (d->marked[op_index(def)]) {
            mark_instr(d, id);
            return;
        }
        VEC_PUSH(&d->scratch, &d->defs, ((WaitingDef){id, d->first_def[op_index(def)]}));
        d->first_def[op_index(def)] = d->defs.n - 1;
    }
}

static void find_marked(Dead *d)
{
    const Fn *fn = d->fn;
    mark_addressed(d);
    mark_loops(d);
    for (BlockId b = fn->last; b; b = ir_block(fn, b)->prev) {
        FOR_INSTRS_BACK(fn, b, id) {
            mark_root(d, id);
            if (d->by_register)
                wait_for_registers(d, id);
            d->state[id] |= PASSED;
            if (d->state[id] & LIVE)
                mark_operands(d, id);
            if (d->values.n || d->work.n)
                mark_everything(d);
        }
    }
}

/* -- Sweeping ------------------------------------------------------------------------------------------- */

// Replaces dead definitions by `_` in an instruction with several definitions, if ptxas accepts that.
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
        if (!may || d->marked[d->by_register ? op_index(def) : value_of(fn, d->a, id, k)])
            continue;
        nuses_count_instr(fn, i, -1);
        remove_definition(fn, id, k);
        nuses_count_instr(fn, i, 1);
        progress = true;
    }
    return progress;
}

// Counts that an operand is gone.
static void drop_use(Dead *d, Operand o)
{
    if (!op_is_reg(o))
        return;
    nuses_count(d->fn, o, -1);
    if (nuses_of(d->a, op_index(o)) == 1)
        VEC_PUSH(&d->scratch, &d->single, op_index(o));
}

static void drop_uses(Dead *d, const Instr *i)
{
    const Operand *ops = ir_ops(d->fn, i);
    for (uint32_t k = i->ndef; d->a->valid & AN_NUSES && k < i->nops; k++)
        drop_use(d, ops[k]);
}

// Replaces the old values of dead definitions by `undef`, in ssa form.
static bool drop_old_values(Dead *d, InstrId id)
{
    Fn *fn = d->fn;
    const Instr *i = ir_instr(fn, id);
    bool progress = false;
    for (uint32_t k = 0; k < ir_ntied(i); k++) {
        Operand def = *ir_def(fn, i, k), *old = ir_tied(fn, i, k);
        if (!op_is_reg(def) || !op_is_reg(*old) || d->marked[op_index(def)])
            continue;
        drop_use(d, *old);
        *old = op_imm(CONST_UNDEF);
        progress = true;
    }
    return progress;
}

// True for an instruction that is not live, and for an annotation of such an instruction.
static bool is_dead(const Dead *d, InstrId id)
{
    const Fn *fn = d->fn;
    if (d->state[id] & LIVE)
        return false;
    while (ir_desc(fn, ir_instr(fn, id))->traits & TR_OF_NEXT)
        id = ir_instr(fn, id)->next;
    return ir_instr(fn, id)->next && !(d->state[id] & LIVE);
}

// Removes an instruction from the sequence of a dead call, if its symbol is also used elsewhere.
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
            next = instr_after(fn, id);
            bool dead = is_dead(d, id);
            if (!dead && i->callseq)
                leave_sequence(d, id);
            if (dead) {
                drop_uses(d, i);
                ir_remove(fn, id);
            } else if (i->ndef > 1)
                progress |= drop_definitions(d, id);
            if (!dead && i->flags & IF_TIED)
                progress |= drop_old_values(d, id);
            progress |= dead;
        }
    }
    return progress;
}

// Removes the declarations of variables that no live instruction names.
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

// Replaces each dead branch by a branch to the nearest live block that post-dominates it. Such a block exists, since
// returns and loops are live. Other blocks to which only dead branches led become unreachable.
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

// True if a back edge comes from an empty block. Such a block is live as long as it exists, and so are the branches
// that select it.
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

// True at the ends of the pipeline, where the values of ssa form come later or were searched before.
static bool marks_registers(const Ctx *ctx, const Fn *fn)
{
    return fn->form == FORM_MULTI && (ctx->run.row == PH_EARLY_LIVE_DEAD || ctx->run.row == PH_LIVE_DEAD_FOURTH);
}

// Removes dead code; returns progress. Sets *again if more code may be dead after the removal of empty blocks. In multi
// form only back edges make empty blocks live, so *again requires an empty block with a back edge. Sets *edges if it
// removes edges, *patterns if OriFold may match more patterns.
static bool remove_dead(Ctx *ctx, Fn *fn, bool *again, bool *edges, bool *patterns)
{
    bool unreachable = remove_unreachable(fn);
    Dead d = {.fn = fn, .by_register = marks_registers(ctx, fn)};
    arena_init(&d.scratch, &ctx->heap);
    bool tells = ctx->run.row == PH_SIMPLE_LIVE_DEAD && fn->form == FORM_SSA;  // which kinds of change it makes
    d.a =
        analysis_need(fn, AN_CFG | AN_RPO | AN_PDOM | (d.by_register ? 0 : AN_RDEFS) | (tells ? AN_NUSES | AN_DEF : 0));
    control_deps_init(&d.deps, &d.scratch, d.a);
    d.state = NEW_ARRAY(&d.scratch, uint8_t, fn->instrs.n);
    d.runs = NEW_ARRAY(&d.scratch, uint8_t, fn->blocks.n);
    d.joins = NEW_ARRAY(&d.scratch, uint8_t, fn->blocks.n);
    d.marked = NEW_ARRAY(&d.scratch, uint8_t, d.by_register ? fn->regs.n : value_count(d.a));
    d.first_def = NEW_ARRAY(&d.scratch, uint32_t, d.by_register ? fn->regs.n : 0);
    VEC_PUSH(&d.scratch, &d.defs, (WaitingDef){0});
    d.sym_live = NEW_ARRAY(&d.scratch, uint8_t, fn->syms.n);
    d.first_store = NEW_ARRAY(&d.scratch, InstrId, fn->syms.n);
    d.next_store = NEW_ARRAY(&d.scratch, InstrId, fn->syms.n > 1 ? fn->instrs.n : 0);
    d.call = NEW_ARRAY(&d.scratch, InstrId, fn->callseqs + 1);
    find_carry(&d);
    find_marked(&d);
    bool instrs = sweep_instrs(&d), symbols = sweep_symbols(&d), branches = sweep_branches(&d);
    *again = has_empty_latch(fn, d.a);
    *patterns |= !tells || rules_match_single(fn, d.a, &d.scratch, d.single.at, d.single.n);
    arena_free(&d.scratch);
    *edges |= unreachable || branches;
    if (branches) {
        analysis_drop(fn, AN_DEF);
        remove_unreachable(fn);
    }
    return unreachable || instrs || symbols || branches;
}

// Removes empty blocks, since those with back edges keep branches live, and conditions of branches with equal targets.
// In ssa form phis may distinguish the edges of such branches.
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
    bool progress = false, again = true, edges = false, patterns = false;
    while (again && remove_dead(ctx, fn, &again, &edges, &patterns)) {
        progress = true;
        analysis_drop(fn, AN_FLOW | AN_DEF | AN_NUSES);
        again &= remove_empty_ways(fn);
    }
    if (fn->form == FORM_MULTI ? progress : edges)
        merge_blocks(fn);
    if (!edges)
        phase_changes_only(ctx, CHANGE_FEWER_LIVE | (patterns ? CHANGE_FEWER_USES : 0));
    phase_gains(ctx, PROP_NO_DEAD);
    bundle_settle(ctx, fn, PH_SIMPLE_LIVE_DEAD, progress);  // the slots do the same work
    return progress;
}
