// SPDX-License-Identifier: MIT
// Removes instructions whose results nobody needs.
//
// Slots: 10 EarlyOriSimpleLiveDead; 16, 33, 61 and 84 OriPerformLiveDead. Needed is what has an effect, and what
// something needed reads; all else goes. It begins with nothing needed, so what only feeds itself round a loop goes
// too. Which definition a use reads is known exactly in both forms (ir/analysis/rdefs.c). A guarded definition that is
// needed needs the value before it. A `.local` variable or a parameter of a call that is named by nothing needed but
// stores makes these stores dead; then its declaration goes. Where some of several definitions are dead and the syntax
// takes it, they become `_`.
//
//     R1 = add.s32 R2, 1                          (nothing)
//     st.local.b32 [@x], R3   ; no load of @x     (nothing)
//     {R1, R2} = ld.global.v2.b32 [R3]       ->   {R1, _} = ld.global.v2.b32 [R3]   ; R2 is dead
//     b1: R4 = add.s32 R4, 1; ...; bra b1         b1: ...; bra b1                   ; nothing else reads R4
//
// Must not fire:
//     R1 = ld.volatile.global.b32 [R3]            volatile and ordered accesses are effects
//     R1 = shfl.sync.idx.b32 R2, 0, 31, -1        lanes meet there; so do all convergent instructions
//     R1 = atom.global.add.u32 [R3], 1            writes memory
//     @P0 R1 = mov.b32 5; st.local.b32 [R2], R1   R1 before it is needed too
//     R1, CC0 = add.cc.u32 R2, R3                 dead sum, live carry
//     R5! = mov.b32 1                             pinned or named registers may be read later by what we do not model
//
// A dead load goes, although it could fault: an access outside of memory is undefined, and ptxas drops such loads too
// (tried).
//
// Does not do: other branches (OriBranchOpt), calls of pure functions, stores that other stores cover.
// Documented: slots and names. Inferred: the rest.
#include "phases/bodies.h"

typedef struct Dead {
    Fn *fn;
    const Analyses *a;
    Arena scratch;
    uint32_t *row;         // by operand: its index in the rows of uses or definitions
    uint8_t *live;         // by InstrId
    uint8_t *needed;       // by ValueId
    uint8_t *sym_live;     // by local symbol
    InstrId *first_store;  // by local symbol: stores to it that wait for it to be needed
    InstrId *next_store;   // by InstrId
    VEC(InstrId) work;     // live, its operands not yet looked at
    VEC(ValueId) values;   // needed, what they come from not yet looked at
} Dead;

enum { ROUNDS = 4 };  // of code and branches; more would find more in chains of dead branches
enum { STAYS = TR_EFFECT | TR_BARRIER | TR_CONV | TR_TERM | TR_ORDERED | TR_ASYNC | TR_MARKER };

static uint32_t local(SymId s) { return s & ~(uint32_t)SYM_LOCAL; }

/* -- What is needed ------------------------------------------------------------------------------------- */

static void need_instr(Dead *d, InstrId id)
{
    if (d->live[id])
        return;
    d->live[id] = 1;
    VEC_PUSH(&d->scratch, &d->work, id);
}

static void need_value(Dead *d, ValueId value)
{
    if (!value || value == VALUE_ANY || d->needed[value])
        return;
    d->needed[value] = 1;
    VEC_PUSH(&d->scratch, &d->values, value);
}

// A definition needs its instruction and, under a guard, the value before it; a phi its inputs.
static void need_sources(Dead *d, ValueId value)
{
    const Analyses *a = d->a;
    const ReachingDefs *rd = &a->rdefs;
    if (value < rd->first_phi) {
        need_instr(d, a->defs.at[value - 1].instr);
        need_value(d, rd->old[value - 1]);
        return;
    }
    const ReachingPhi *phi = &rd->phi[value - rd->first_phi];
    uint32_t n = a->preds.first[phi->block + 1] - a->preds.first[phi->block];
    for (uint32_t k = 0; k < n; k++)
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

// The definitions of the carry that the instruction may read: back to the last one that is not guarded, in its block.
static void need_carry(Dead *d, InstrId user, RegId cc)
{
    const Analyses *a = d->a;
    uint32_t low = a->defs.first[cc], high = a->defs.first[cc + 1];
    while (low < high) {  // the first that does not stand before the user
        uint32_t mid = low + (high - low) / 2;
        if (a->place[a->defs.at[mid].instr] < a->place[user])
            low = mid + 1;
        else
            high = mid;
    }
    while (low-- > a->defs.first[cc]) {
        need_instr(d, a->defs.at[low].instr);
        if (!ir_guarded(ir_instr(d->fn, a->defs.at[low].instr)))
            return;
    }
}

static void need_operands(Dead *d, InstrId id)
{
    const Fn *fn = d->fn;
    const Instr *i = ir_instr(fn, id);
    const Operand *ops = ir_ops(fn, i);
    for (uint32_t k = 0; k < i->nops; k++) {
        if (op_kind(ops[k]) == K_SYM)
            need_symbol(d, op_index(ops[k]));
        if (!op_is_reg(ops[k]))
            continue;
        bool def = k < i->ndef;
        if (op_file(ops[k]) == RF_CC && (!def || ir_guarded(i)))
            need_carry(d, id, op_index(ops[k]));
        else if (!def && reg_in_ssa(ir_reg(fn, op_index(ops[k]))))
            need_value(d, d->a->rdefs.use[d->row[i->ops + k]]);
    }
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

/* -- Roots ---------------------------------------------------------------------------------------------- */

// The local variable or call temporary that a plain store writes by its name; 0 if it is none.
static SymId stored_symbol(const Fn *fn, const Instr *i, const Desc *desc)
{
    if (desc->op != OP_ST)
        return 0;
    Operand base = *ir_use(fn, i, 0);
    if (op_kind(base) != K_SYM || !(op_index(base) & SYM_LOCAL))
        return 0;
    const Sym *s = ir_sym(fn, op_index(base));
    return s->kind == SYM_CALLPARAM || (s->kind == SYM_VAR && s->space == SP_LOCAL) ? op_index(base) : 0;
}

static bool defines_outside_ssa(const Fn *fn, const Instr *i)
{
    for (uint32_t k = 0; k < i->ndef; k++) {
        Operand def = *ir_def(fn, i, k);
        if (op_is_reg(def) && op_file(def) != RF_CC && !reg_in_ssa(ir_reg(fn, op_index(def))))
            return true;
    }
    return false;
}

static void look_for_roots(Dead *d, InstrId id)
{
    const Fn *fn = d->fn;
    const Instr *i = ir_instr(fn, id);
    const Desc *desc = ir_desc(fn, i);
    bool stays = desc->traits & STAYS || i->flags & IF_PINNED;
    SymId stored = stays || !(desc->traits & TR_WRITE) ? 0 : stored_symbol(fn, i, desc);
    if (stored && !d->sym_live[local(stored)]) {
        d->next_store[id] = d->first_store[local(stored)];
        d->first_store[local(stored)] = id;
    } else if (stays || desc->traits & TR_WRITE || defines_outside_ssa(fn, i)) {
        need_instr(d, id);
    }
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

/* -- Sweeping ------------------------------------------------------------------------------------------- */

// Dead ones among several definitions become `_`, where ptxas takes that; one register stays.
static bool drop_definitions(Dead *d, const Instr *i)
{
    Fn *fn = d->fn;
    const Desc *desc = ir_desc(fn, i);
    bool progress = false;
    uint32_t kept = 0;
    if ((desc->op != OP_LD && desc->op != OP_UNPACK && desc->op != OP_SETP) || desc->traits & TR_ORDERED)
        return false;
    for (uint32_t k = 0; k < i->ndef; k++)
        kept += op_is_reg(*ir_def(fn, i, k)) && op_file(*ir_def(fn, i, k)) != RF_CC;
    for (uint32_t k = 0; k < i->ndef && kept > 1; k++) {
        Operand *def = ir_def(fn, i, k);
        bool may = op_is_reg(*def) && desc->slots[k].flags & SL_SINK && reg_in_ssa(ir_reg(fn, op_index(*def)));
        if (!may || d->needed[d->row[i->ops + k] + 1])
            continue;
        *def = op_def(op_none());
        if (i->flags & IF_TIED)
            *ir_tied(fn, i, k) = op_none();
        kept--;
        progress = true;
    }
    return progress;
}

static bool sweep_instrs(Dead *d)
{
    Fn *fn = d->fn;
    bool progress = false;
    FOR_BLOCKS(fn, b) {
        for (InstrId id = ir_block(fn, b)->first, next; id; id = next) {
            const Instr *i = ir_instr(fn, id);
            next = i->next;
            if (!d->live[id])
                ir_remove(fn, id);
            else if (i->ndef > 1)
                progress |= drop_definitions(d, i);
            progress |= !d->live[id];
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

/* -- The phase ------------------------------------------------------------------------------------------ */

static void fill_rows(Dead *d, const Refs *refs)
{
    uint32_t n = refs->first[d->fn->regs.n];
    for (uint32_t k = 0; k < n; k++)
        d->row[ir_instr(d->fn, refs->at[k].instr)->ops + refs->at[k].op] = k;
}

static bool remove_dead(Ctx *ctx, Fn *fn)
{
    const Analyses *a = analysis_need(fn, AN_CFG | AN_DEFUSE | AN_RDEFS);
    Dead d = {.fn = fn, .a = a};
    arena_init(&d.scratch, &ctx->heap);
    d.row = arena_alloc(&d.scratch, (size_t)fn->ops.n * sizeof *d.row);
    d.live = NEW_ARRAY(&d.scratch, uint8_t, fn->instrs.n);
    d.needed = NEW_ARRAY(&d.scratch, uint8_t, a->rdefs.first_phi + a->rdefs.nphis);
    d.sym_live = NEW_ARRAY(&d.scratch, uint8_t, fn->syms.n);
    d.first_store = NEW_ARRAY(&d.scratch, InstrId, fn->syms.n);
    d.next_store = NEW_ARRAY(&d.scratch, InstrId, fn->instrs.n);
    fill_rows(&d, &a->uses);
    fill_rows(&d, &a->defs);
    need_addressed(&d);
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id)
            look_for_roots(&d, id);
    need_everything(&d);
    bool instrs = sweep_instrs(&d), symbols = sweep_symbols(&d);
    arena_free(&d.scratch);
    return instrs || symbols;
}

// A branch round nothing is dead, and may have been the last reader of its condition: *conditions says whether one
// went. With phis it may choose a value.
static bool remove_dead_branches(Ctx *ctx, Fn *fn, bool *conditions)
{
    bool progress = false, more = fn->form == FORM_MULTI;
    *conditions = false;
    for (int k = 0; k < ROUNDS && more; k++) {
        bool empty = skip_empty_blocks(ctx, fn);
        more = drop_conditions(fn);
        *conditions |= more;
        if (!empty && !more)
            break;
        progress = true;
        analysis_drop(fn, 0);
        merge_blocks(fn);
    }
    return progress;
}

bool phase_live_dead(Ctx *ctx, Fn *fn)
{
    if (fn->without_dead == fn->version)
        return false;
    bool progress = false, more = true;
    for (int k = 0; k < ROUNDS && more; k++) {
        bool dead = remove_dead(ctx, fn);
        if (dead)
            analysis_drop(fn, AN_FLOW);
        bool branches = (dead || k == 0) && remove_dead_branches(ctx, fn, &more);
        more &= branches;
        progress |= dead || branches;
    }
    fn->without_dead = fn->version + progress;
    // Values only live shorter.
    if (fn->conventional == fn->version)
        fn->conventional += progress;
    return progress;
}
