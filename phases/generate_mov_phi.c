// SPDX-License-Identifier: MIT
// Puts a function into ssa form.
//
// Slot: 23 GenerateMovPhi. Which definition a use reads, and where phis stand, says the analysis of reaching
// definitions (ir/analysis/rdefs.c); this phase gives each value a register of its own. The first definition of a
// register keeps it, so a register with one definition stays as it is. Phis are pruned. A guarded definition gets its
// old value as a tied use. Where nothing was written before, the value is an undefined one: `undef` where a phi or a
// tied use alone reads it, otherwise one `mov.undef` at the entry, so that all its readers see the same. An entry that
// something branches to gets an empty block in front of it, since it has no phis.
// Moves of a register to itself go first: they would become real ones.
//
//     b0: R1 = mov.b32 1; bra b1         b0: R1 = mov.b32 1; bra b1
//     b1: R1 = add.s32 R1, 1        ->   b1: R2 = mov.phi b0: R1, b1: R3
//         @P0 bra b1 else b2                 R3 = add.s32 R2, 1; @P0 bra b1 else b2
//
//     @P0 R1 = mov.b32 5            ->   @P0 R2 = mov.b32 5 else R1
//
// Must not fire: on registers that are pinned (an instruction that we do not model may write them later) or named by
// the module, and on the carry. They keep their definitions.
//
// Does not do: critical edges, which are split where leaving ssa form needs it.
// Documented: slot and name. Inferred: the rest.
#include "phases/bodies.h"

typedef struct Naming {
    Fn *fn;
    const Analyses *a;
    Arena scratch;
    RegId *name;           // by ValueId
    uint32_t *undef_uses;  // by RegId: reads of the value before any definition
    RegId *undef;          // by RegId: the register that holds this value, 0 = none yet
    MnemId phi;
    BlockId *seen;  // by BlockId: the last phi that has an input from it
    VEC(Operand) ops;
    VEC(char) shape;
} Naming;

/* -- The entry ------------------------------------------------------------------------------------------ */

static void free_entry(Fn *fn)
{
    const Analyses *a = analysis_need(fn, AN_CFG);
    BlockId entry = fn->first;
    if (a->preds.first[entry] == a->preds.first[entry + 1])
        return;
    BlockId b = block_new(fn);
    ir_block(fn, b)->source = ir_block(fn, entry)->source;
    block_insert_after(fn, b, 0);
    Operand target = op_block(entry);
    ir_append(fn, b, desc_make(fn->tables, "bra", "%"), IF_IMPLICIT, &target, 1);
    analysis_drop(fn, 0);
}

/* -- Names ---------------------------------------------------------------------------------------------- */

// Registers for all values.
static void name_values(Naming *n, RegId nregs)
{
    const Analyses *a = n->a;
    for (RegId r = 1; r < nregs; r++) {
        if (!reg_in_ssa(ir_reg(n->fn, r)))
            continue;
        for (uint32_t k = a->defs.first[r]; k < a->defs.first[r + 1]; k++)
            n->name[k + 1] = k == a->defs.first[r] ? r : reg_like(n->fn, r);
    }
    for (uint32_t k = 0; k < a->rdefs.nphis; k++)
        n->name[a->rdefs.first_phi + k] = reg_like(n->fn, a->rdefs.phi[k].reg);
}

static void count_undef(Naming *n, RegId nregs)
{
    const Analyses *a = n->a;
    const ReachingDefs *rd = &a->rdefs;
    for (RegId r = 1; r < nregs; r++) {
        // A read by an instruction counts twice: it needs a register.
        for (uint32_t k = a->uses.first[r]; k < a->uses.first[r + 1]; k++)
            n->undef_uses[r] += rd->use[k] == 0 ? 2 : 0;
        for (uint32_t k = a->defs.first[r]; k < a->defs.first[r + 1]; k++)
            n->undef_uses[r] += rd->old[k] == 0 && ir_guarded(ir_instr(n->fn, a->defs.at[k].instr));
    }
    for (uint32_t k = 0; k < rd->nphis; k++) {
        const ReachingPhi *phi = &rd->phi[k];
        uint32_t degree = a->preds.first[phi->block + 1] - a->preds.first[phi->block];
        for (uint32_t e = 0; e < degree; e++)
            n->undef_uses[phi->reg] += rd->input[phi->inputs + e] == 0;
    }
}

static RegId undef_register(Naming *n, RegId r)
{
    if (n->undef[r])
        return n->undef[r];
    Fn *fn = n->fn;
    RegId id = n->undef[r] = reg_like(fn, r);
    Operand def = op_def(op_reg(fn, id));
    ir_insert_before(fn, ir_block(fn, fn->first)->first, desc_make(fn->tables, "mov.undef", "%"), 0, &def, 1);
    return id;
}

// The operand for a value of register r.
static Operand value_operand(Naming *n, RegId r, ValueId value)
{
    if (value)
        return op_reg(n->fn, n->name[value]);
    return n->undef_uses[r] > 1 ? op_reg(n->fn, undef_register(n, r)) : op_imm(CONST_UNDEF);
}

/* -- Rewriting ------------------------------------------------------------------------------------------ */

static void set_register(Fn *fn, Ref ref, RegId r)
{
    Operand *o = ir_ops(fn, ir_instr(fn, ref.instr)) + ref.op;
    o->word = (o->word & ~(uint32_t)INDEX_MAX) | r;
}

static void rename_operands(Naming *n, RegId nregs)
{
    const Analyses *a = n->a;
    for (RegId r = 1; r < nregs; r++) {
        if (!reg_in_ssa(ir_reg(n->fn, r)))
            continue;
        for (uint32_t k = a->defs.first[r]; k < a->defs.first[r + 1]; k++)
            set_register(n->fn, a->defs.at[k], n->name[k + 1]);
        for (uint32_t k = a->uses.first[r]; k < a->uses.first[r + 1]; k++) {
            ValueId value = a->rdefs.use[k];
            set_register(n->fn, a->uses.at[k], value ? n->name[value] : undef_register(n, r));
        }
    }
}

// Room for tied uses behind the uses, each a sink so far.
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

static void tie(Naming *n, RegId nregs)
{
    const Analyses *a = n->a;
    for (RegId r = 1; r < nregs; r++) {
        if (!reg_in_ssa(ir_reg(n->fn, r)))
            continue;
        for (uint32_t k = a->defs.first[r]; k < a->defs.first[r + 1]; k++) {
            Instr *i = ir_instr(n->fn, a->defs.at[k].instr);
            if (!ir_guarded(i))
                continue;
            if (!(i->flags & IF_TIED))
                make_tied(n->fn, i);
            *ir_tied(n->fn, i, a->defs.at[k].op) = value_operand(n, r, a->rdefs.old[k]);
        }
    }
}

static void put_shape(Naming *n, const char *text)
{
    for (; *text; text++)
        VEC_PUSH(&n->scratch, &n->shape, *text);
}

static void insert_phi(Naming *n, uint32_t k)
{
    Fn *fn = n->fn;
    const ReachingPhi *phi = &n->a->rdefs.phi[k];
    const Edges *preds = &n->a->preds;
    n->ops.n = n->shape.n = 0;
    put_shape(n, "%");
    VEC_PUSH(&n->scratch, &n->ops, op_def(op_reg(fn, n->name[n->a->rdefs.first_phi + k])));
    for (uint32_t e = preds->first[phi->block], at = phi->inputs; e < preds->first[phi->block + 1]; e++, at++) {
        BlockId from = preds->at[e];
        if (n->seen[from] == k + 1)
            continue;  // it branches here twice
        n->seen[from] = k + 1;
        put_shape(n, ",%:%");
        VEC_PUSH(&n->scratch, &n->ops, op_block(from));
        VEC_PUSH(&n->scratch, &n->ops, value_operand(n, phi->reg, n->a->rdefs.input[at]));
    }
    const char *why;
    DescId desc = desc_intern(fn->tables, n->phi, n->shape.at, n->shape.n, &why);
    ir_insert_before(fn, ir_block(fn, phi->block)->first, desc, 0, n->ops.at, n->ops.n);
}

bool phase_generate_mov_phi(Ctx *ctx, Fn *fn)
{
    if (fn->form == FORM_SSA)
        return false;
    if (remove_self_moves(fn))
        analysis_drop(fn, AN_FLOW);
    free_entry(fn);
    const Analyses *a = analysis_need(fn, AN_CFG | AN_DEFUSE | AN_RDEFS);
    Naming n = {.fn = fn, .a = a};
    RegId nregs = fn->regs.n;
    arena_init(&n.scratch, &ctx->heap);
    n.name = NEW_ARRAY(&n.scratch, RegId, a->rdefs.first_phi + a->rdefs.nphis);
    n.undef_uses = NEW_ARRAY(&n.scratch, uint32_t, nregs);
    n.undef = NEW_ARRAY(&n.scratch, RegId, nregs);
    n.seen = NEW_ARRAY(&n.scratch, BlockId, fn->blocks.n);
    n.phi = mnem_intern(fn->tables, "mov.phi", 7);
    name_values(&n, nregs);
    count_undef(&n, nregs);
    rename_operands(&n, nregs);
    tie(&n, nregs);
    for (uint32_t k = a->rdefs.nphis; k--;)
        insert_phi(&n, k);
    arena_free(&n.scratch);
    fn->form = FORM_SSA;
    // What was needed is needed still, and nothing was added that is not.
    if (fn->without_dead == fn->version)
        fn->without_dead++;
    // The values of one register are never live at once.
    fn->conventional = fn->version + 1;
    return true;
}
