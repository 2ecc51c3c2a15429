// SPDX-License-Identifier: MIT
// Evaluates instructions all of whose operands are constants.
//
// Sub-pass: OriFoldConstants, of the GeneralOptimize bundles. One walk in layout order: where each use of a pure
// instruction is a constant, or a register whose one definition is a move of a constant, the evaluator says what it
// computes, and it becomes a move of that. So a chain of them is one walk. What has no result that is the same on all
// machines is not folded; that the evaluator says, too (division by zero, approximate forms, NaN of f64).
//
//     R1 = mov.b32 3; R2 = shl.b32 R1, 2          R1 = mov.b32 3; R2 = mov.b32 12
//     @P0 R3 = add.s32 5, 6                  ->   @P0 R3 = mov.b32 11
//     P1 = setp.lt.s32 1, 2                       P1 = mov.pred 1
//
// Must not fire:
//     R1 = div.s32 7, 0                           nothing says what that is
//     R1 = rcp.approx.ftz.f32 0f40000000          each machine has its own
//     R1 = add.s32 R2, 0                          not all are constants: the rules of folding are another sub-pass
//     R1 = mov.b32 1; ...; R1 = mov.b32 2; R3 = add.s32 R1, 1     R1 has two definitions
//     R1, CC0 = add.cc.u32 1, 2                   more than one result
//
// Does not do: instructions with some constant operands; branches on constants (15).
// Documented: that GeneralOptimize folds constants; the name is ours.
#include "ir/exec/eval.h"
#include "phases/bodies.h"

typedef struct Folding {
    Fn *fn;
    const Analyses *a;
    Arena scratch;
    EvalCache evals;
} Folding;

// The constant that an operand is.
static bool constant_of(const Folding *f, Operand o, uint64_t *bits)
{
    const Fn *fn = f->fn;
    if (op_is_reg(o) && !o.mods && op_file(o) != RF_CC && reg_in_ssa(ir_reg(fn, op_index(o)))) {
        InstrId def = f->a->rdefs.def[op_index(o)];
        const Instr *i = def && def < DEF_JOINED ? ir_instr(fn, def) : NULL;
        if (!i || ir_desc(fn, i)->op != OP_MOV || ir_guarded(i))
            return false;
        o = *ir_use(fn, i, 0);
    }
    if (op_kind(o) != K_IMM || op_index(o) == CONST_UNDEF || o.mods)
        return false;
    *bits = tab_const(fn->tables, op_index(o)).bits;
    return true;
}

static bool fold(Folding *f, Ctx *ctx, InstrId id)
{
    Fn *fn = f->fn;
    const Instr *i = ir_instr(fn, id);
    const Desc *d = ir_desc(fn, i);
    Value in[EVAL_IN_MAX] = {0}, out[EVAL_OUT_MAX];
    bool may = d->traits & TR_PURE && !(d->traits & (TR_PSEUDO | TR_NOFOLD)) && d->op != OP_MOV && i->ndef == 1 &&
               !(i->flags & IF_PINNED) && ir_nuse(i) && ir_nuse(i) <= EVAL_IN_MAX;
    if (!may || !op_is_reg(*ir_def(fn, i, 0)))
        return false;
    for (uint32_t k = 0; k < ir_nuse(i); k++)
        if (!constant_of(f, *ir_use(fn, i, k), &in[k].lo))
            return false;
    const Eval *e = eval_cached(&f->evals, i->desc);
    if (!e || e->nin != ir_nuse(i) || e->nout != 1)
        return false;
    eval_run(e, in, out);
    Width width = (Width)ir_reg(fn, op_index(*ir_def(fn, i, 0)))->width;
    if (width > W64 || width == W8 || !eval_foldable(e, in, out))
        return false;
    note_cost(ctx, fn, id);
    become_move(fn, id, op_const(fn, out[0].lo, width));
    return true;
}

bool phase_fold_constants(Ctx *ctx, Fn *fn)
{
    bool progress = false;
    Folding f = {.fn = fn, .a = analysis_need(fn, AN_RDEFS)};
    arena_init(&f.scratch, &ctx->heap);
    eval_cache_init(&f.evals, fn->tables, &f.scratch);
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id)
            progress |= fold(&f, ctx, id);
    arena_free(&f.scratch);
    return progress;
}
