// SPDX-License-Identifier: MIT
// Puts a function into ssa form.
//
// Slot: 23 GenerateMovPhi. The analysis of reaching definitions (ir/analysis/rdefs.c) computes the definition that each
// use reads and the places of phis; this phase assigns a separate register to each value. The first definition of a
// register keeps the register, so a register with one definition does not change. Phis are pruned. A guarded definition
// gets its old value as a tied use. An undefined value is `undef` if its only use is one phi input or tied use.
// Otherwise one `mov.undef` at the entry defines it, so that all uses read one value. An entry block with predecessors
// gets an empty block before it, since the entry has no phis. Self-moves are removed first, since renaming would turn
// them into real moves.
//
//     b0: R1 = mov.b32 1; bra b1         b0: R1 = mov.b32 1; bra b1
//     b1: R1 = add.s32 R1, 1        ->   b1: R2 = mov.phi b0: R1, b1: R3
//         @P0 bra b1 else b2                 R3 = add.s32 R2, 1; @P0 bra b1 else b2
//
//     @P0 R1 = mov.b32 5            ->   @P0 R2 = mov.b32 5 else R1
//
// Must not fire: on registers that are pinned (an instruction that is not modelled may write them later) or named by
// the module, and on the carry. These keep their definitions. Registers that would have too many phis for the size of
// the function are pinned, too (knob PhiInputLimit, remark TooManyPhis).
//
// Does not do: split critical edges.
// Documented: slot and name. Inferred: the rest.
#include "ir/rewrite/rewrite.h"
#include "phases/bodies.h"
#include "phases/manager/remarks.h"

// True if the function has self-moves. The register of a self-move is joined, since no definition dominates its own
// use. The use is the occurrence directly before the definition.
static bool has_self_moves(const Fn *fn, const Analyses *a)
{
    const ReachingDefs *rd = &a->rdefs;
    for (uint32_t k = 1; k < rd->noccurrences; k++)
        if (rd->at[k].def && rd->at[k - 1].instr == rd->at[k].instr && is_self_move(fn, ir_instr(fn, rd->at[k].instr)))
            return true;
    return false;
}

// True if every definition of a joined register has a use, or an input of a phi. The others become dead registers.
static bool uses_all_values(const Fn *fn, const Analyses *a)
{
    const ReachingDefs *rd = &a->rdefs;
    Arena scratch;
    arena_init(&scratch, fn->arena.heap);
    uint8_t *used = NEW_ARRAY(&scratch, uint8_t, value_count(a));
    for (uint32_t k = 1; k < rd->noccurrences; k++)
        used[rd->at[k].def ? rd->old[rd->at[k].value - rd->first_def] : rd->at[k].value] = 1;
    for (uint32_t k = 0; k < rd->ninputs; k++)
        used[rd->input[k]] = 1;
    bool all = !memchr(used + rd->first_def, 0, value_count(a) - rd->first_def);
    arena_free(&scratch);
    return all;
}

// Pins the registers whose phis would exceed the limit.
static void pin_beyond(Ctx *ctx, Fn *fn, const Analyses *a)
{
    if (!a->rdefs.nbeyond)
        return;
    remark(ctx, fn, 0, RM_MISSED, "TooManyPhis",
           "{Registers:%u} registers stay out of ssa form: the phis would have more than {Limit:%llu} inputs",
           a->rdefs.nbeyond, (unsigned long long)fn->phi_limit);
    for (RegId r = 1; r < fn->regs.n; r++)
        if (def_is_outside(a, r) && reg_in_ssa(ir_reg(fn, r)))
            ir_reg(fn, r)->flags |= REG_PINNED;
}

bool phase_generate_mov_phi(Ctx *ctx, Fn *fn)
{
    if (fn->form == FORM_SSA)
        return false;
    ssa_split_entry(fn);
    if (has_self_moves(fn, analysis_need(fn, AN_RDEFS))) {
        remove_self_moves(fn);
        analysis_drop(fn, AN_FLOW);
    }
    const Analyses *a = analysis_need(fn, AN_CFG | AN_RDEFS);
    pin_beyond(ctx, fn, a);
    // Slot 10 removes registers without live uses only.
    if (uses_all_values(fn, a))
        phase_keeps(ctx, PROP_NO_DEAD);
    if (a->rdefs.njoined)
        ssa_name_values(fn, a);
    fn->form = FORM_SSA;
    // No two values of one register are live at the same point.
    phase_gains(ctx, PROP_CONVENTIONAL);
    return true;
}
