// SPDX-License-Identifier: MIT
// Assigns a separate register to each value of a register: the renaming step of SSA construction, and SSA repair.
//
// The analysis of reaching definitions (ir/analysis/rdefs.c) computes the definition that each use reads, and the
// positions of pruned phis. The first definition of a register keeps its name. A guarded definition gets its old value
// as a tied use. An undefined value is `undef` if its only use is one phi input or tied use; otherwise one `mov.undef`
// at the entry defines it, so that all uses read the same value.
#include "ir/rewrite/rewrite.h"

#include <stdlib.h>

typedef struct Naming {
    Fn *fn;
    const Analyses *a;
    Arena scratch;
    RegId *name;           // by ValueId from first_def on
    uint32_t *undef_uses;  // by RegId: uses of the value before any definition
    RegId *undef;          // by RegId: the register that holds this value, 0 = none yet
    bool *defined;         // by RegId: a definition has this name
    DescId phi;            // the descriptor for phi_inputs inputs
    uint32_t phi_inputs;
    uint32_t *seen;  // by BlockId: the last phi that has an input from it
    VEC(Operand) ops;
} Naming;

/* -- The entry ------------------------------------------------------------------------------------------ */

bool ssa_split_entry(Fn *fn)
{
    const Analyses *a = analysis_need(fn, AN_CFG);
    BlockId entry = fn->first;
    if (!pred_count(a, entry))
        return false;
    BlockId b = block_new(fn);
    ir_block(fn, b)->source = ir_block(fn, entry)->source;
    block_insert_after(fn, b, 0);
    Operand target = op_block(entry);
    ir_append(fn, b, desc_make(fn->tables, OP_BRA), IF_IMPLICIT, &target, 1);
    analysis_drop(fn, 0);
    return true;
}

/* -- Names ---------------------------------------------------------------------------------------------- */

static RegId *name_of(const Naming *n, ValueId value) { return &n->name[value - n->a->rdefs.first_def]; }

// Chooses the registers of the values of joined registers.
static void name_values(Naming *n)
{
    const ReachingDefs *rd = &n->a->rdefs;
    for (uint32_t k = 0; k < rd->njoined; k++) {
        RegId r = rd->joined[k];
        FOR_OCCURRENCES(rd, k, at) {
            const Occurrence *o = &rd->at[*at];
            if (!o->def)
                continue;
            *name_of(n, o->value) = n->defined[r] ? reg_like(n->fn, r) : r;
            n->defined[r] = true;
        }
    }
    for (uint32_t k = 0; k < rd->nphis; k++)
        *name_of(n, rd->first_phi + k) = reg_like(n->fn, rd->phi[k].reg);
}

static void count_undef(Naming *n)
{
    const Analyses *a = n->a;
    const ReachingDefs *rd = &a->rdefs;
    for (uint32_t k = 0; k < rd->njoined; k++) {
        uint32_t *uses = &n->undef_uses[rd->joined[k]];
        // A use by an instruction counts twice, since it requires a register; a use by a new phi counts once.
        FOR_OCCURRENCES(rd, k, at) {
            const Occurrence *o = &rd->at[*at];
            *uses += o->def ? o->guarded && !rd->old[o->value - rd->first_def] : o->value ? 0 : 2;
        }
    }
    for (uint32_t k = 0; k < rd->nphis; k++) {
        const ReachingPhi *phi = &rd->phi[k];
        for (uint32_t e = 0; e < pred_count(a, phi->block); e++)
            n->undef_uses[phi->reg] += rd->input[phi->inputs + e] == 0;
    }
}

static RegId undef_register(Naming *n, RegId r)
{
    if (n->undef[r])
        return n->undef[r];
    Fn *fn = n->fn;
    RegId id = n->undef[r] = n->defined[r] ? reg_like(fn, r) : r;
    Operand def = op_def(op_reg(fn, id));
    ir_insert_before(fn, ir_block(fn, fn->first)->first, desc_make(fn->tables, OP_UNDEF), 0, &def, 1);
    return id;
}

// Returns the operand for a value of register r.
static Operand value_operand(Naming *n, RegId r, ValueId value)
{
    if (value)
        return op_reg(n->fn, *name_of(n, value));
    return n->undef_uses[r] > 1 ? op_reg(n->fn, undef_register(n, r)) : op_imm(CONST_UNDEF);
}

/* -- Rewriting ------------------------------------------------------------------------------------------ */

static void rename_operands(Naming *n)
{
    const ReachingDefs *rd = &n->a->rdefs;
    for (uint32_t k = 0; k < rd->njoined; k++)
        def_table_set(n->fn, rd->joined[k], 0);
    for (const Occurrence *o = rd->at + 1; o < rd->at + rd->noccurrences; o++) {
        Operand *operand = ir_run(n->fn, o->op);
        ValueId value = o->value;
        RegId to = value ? *name_of(n, value) : undef_register(n, op_index(*operand));
        operand->word = (operand->word & ~(uint32_t)INDEX_MAX) | to;
        if (o->def)
            def_table_set(n->fn, to, o->instr);
    }
}

// Adds tied uses after the uses, each a sink for now.
static void make_tied(Fn *fn, Instr *i)
{
    uint32_t old = i->ops, n = i->nops, run = ops_new(fn, n + i->ndef);
    Operand *to = ir_run(fn, run);
    memcpy(to, ir_run(fn, old), (n - 1) * sizeof *to);
    for (uint32_t k = 0; k < i->ndef; k++)
        to[n - 1 + k] = op_none();
    to[n - 1 + i->ndef] = ir_run(fn, old)[n - 1];  // the guard
    i->ops = run;
    i->nops = n + i->ndef;
    i->flags |= IF_TIED;
}

static void tie(Naming *n)
{
    const ReachingDefs *rd = &n->a->rdefs;
    for (uint32_t k = 0; k < rd->njoined; k++) {
        FOR_OCCURRENCES(rd, k, at) {
            const Occurrence *o = &rd->at[*at];
            Instr *i = ir_instr(n->fn, o->instr);
            ValueId value = o->value;
            uint32_t def = 0;
            if (!o->def || !o->guarded)
                continue;
            if (!(i->flags & IF_TIED))
                make_tied(n->fn, i);
            while (op_index(*ir_def(n->fn, i, def)) != *name_of(n, value))
                def++;
            *ir_tied(n->fn, i, def) = value_operand(n, rd->joined[k], rd->old[value - rd->first_def]);
        }
    }
}

static void insert_phi(Naming *n, uint32_t k)
{
    Fn *fn = n->fn;
    const ReachingPhi *phi = &n->a->rdefs.phi[k];
    const ValueId *input = n->a->rdefs.input + phi->inputs;
    n->ops.n = 0;
    VEC_PUSH(&n->scratch, &n->ops, op_def(op_reg(fn, *name_of(n, n->a->rdefs.first_phi + k))));
    FOR_PREDS(n->a, phi->block, from) {
        ValueId value = *input++;
        if (n->seen[*from] == k + 1)
            continue;  // another edge from the same block
        n->seen[*from] = k + 1;
        VEC_PUSH(&n->scratch, &n->ops, op_block(*from));
        VEC_PUSH(&n->scratch, &n->ops, value_operand(n, phi->reg, value));
    }
    if (n->phi_inputs != n->ops.n / 2) {
        n->phi_inputs = n->ops.n / 2;
        n->phi = desc_phi(fn->tables, n->phi_inputs);
    }
    ir_insert_before(fn, ir_block(fn, phi->block)->first, n->phi, 0, n->ops.at, n->ops.n);
}

// A phi, and the first occurrence of its register in the layout.
typedef struct PlacedPhi {
    uint32_t phi, place;
} PlacedPhi;

static int by_place(const void *x, const void *y)
{
    const PlacedPhi *a = x, *b = y;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return (a->phi > b->phi) - (a->phi < b->phi);
}

// Returns the phis in an order that does not depend on the ids of registers.
static const PlacedPhi *order_phis(Naming *n)
{
    const ReachingDefs *rd = &n->a->rdefs;
    PlacedPhi *phis = arena_alloc(&n->scratch, rd->nphis * sizeof *phis);
    bool sorted = true;
    for (uint32_t k = 0, joined = 0; k < rd->nphis; k++) {
        joined = rd->joined[joined] > rd->phi[k].reg ? 0 : joined;  // both are in the order of ids
        while (rd->joined[joined] != rd->phi[k].reg)
            joined++;
        phis[k] = (PlacedPhi){k, rd->row[rd->first[joined]]};
        sorted &= !k || phis[k - 1].place <= phis[k].place;
    }
    if (!sorted)
        qsort(phis, rd->nphis, sizeof *phis, by_place);
    return phis;
}

void ssa_name_values(Fn *fn, const Analyses *a)
{
    Naming n = {.fn = fn, .a = a};
    const ReachingDefs *rd = &n.a->rdefs;
    RegId nregs = fn->regs.n;
    arena_init(&n.scratch, fn->arena.heap);
    n.name = arena_alloc(&n.scratch, (value_count(n.a) - rd->first_def) * sizeof *n.name);
    n.undef_uses = NEW_ARRAY(&n.scratch, uint32_t, nregs);
    n.undef = NEW_ARRAY(&n.scratch, RegId, nregs);
    n.defined = NEW_ARRAY(&n.scratch, bool, nregs);
    n.seen = NEW_ARRAY(&n.scratch, uint32_t, fn->blocks.n);
    name_values(&n);
    count_undef(&n);
    rename_operands(&n);
    tie(&n);
    const PlacedPhi *phis = order_phis(&n);
    for (uint32_t k = rd->nphis; k--;) {
        // Phis in the order of registers are spread over the function, so their blocks are prefetched.
        BlockId ahead = rd->phi[phis[k - MIN(k, 8)].phi].block;
        __builtin_prefetch(ir_instr(fn, ir_block(fn, ahead)->first));
        insert_phi(&n, phis[k].phi);
    }
    arena_free(&n.scratch);
}

// Updates AN_DEF for ssa form, for the registers from `first` on that are not joined in the partial analyses `a`.
static void define_plain(Fn *fn, const Analyses *a, RegId first)
{
    for (RegId r = first; r < fn->regs.n; r++)
        if (!def_is_joined(a, r))
            def_table_set(fn, r, def_entry(a, r));
}

void ssa_repair(Fn *fn, RegId first)
{
    if (fn->form != FORM_SSA)
        return;
    Analyses own;
    Arena scratch;
    arena_init(&scratch, fn->arena.heap);
    bool *about = NEW_ARRAY(&scratch, bool, fn->regs.n);
    memset(about + first, true, fn->regs.n - first);
    analysis_drop(fn, AN_FLOW | AN_DEF);
    const Analyses *a = rdefs_of_part(fn, &own, UINT32_MAX, about);
    if (a->rdefs.njoined) {
        if (ssa_split_entry(fn)) {
            analysis_free(&own);
            a = rdefs_of_part(fn, &own, UINT32_MAX, about);
        }
        define_plain(fn, a, first);
        ssa_name_values(fn, a);
    }
    analysis_free(&own);
    arena_free(&scratch);
}
