// SPDX-License-Identifier: MIT
// Optimizes a function again after OriBranchOpt at slot 73 has decided branches.
//
// Sub-pass: OriReoptimize, behind slot 73. GeneralOptimizeMid computes the conditions that OriBranchOpt decides outside
// of SSA form. A decided branch merges blocks, which leaves phis with one input, and equal computations in one block.
// So the function goes through SSA form once more: 23, the phases of the window that clean up, 73, 164 and 15, until 15
// decides nothing, TURNS times at most. Without this, a second run of the program on its own output would find more to
// do.
//
//     @P0 bra b2; R2 = add.s32 R1, R0            @P0 bra b2
//     b2: @P0 bra b3; R3 = add.s32 R0, R1   ->   R2 = add.s32 R1, R0
//     b3:                                        b3:
//
// Must not fire: where OriBranchOpt decided nothing at slot 73, unless the sub-pass is named by itself.
//
// Documented: nothing. Inferred: all.
#include "phases/bodies.h"

enum { TURNS = 3 };

// Takes the function through SSA form and back; returns whether OriBranchOpt then decides a branch.
static bool run_window(Ctx *ctx, Fn *fn)
{
    static const int window[] = {PH_GENERAL_OPTIMIZE_MID, PH_EQUAL_PHIS, PH_LIVE_DEAD_THIRD, PH_REDUNDANT_PHIS,
                                 PH_FORM_LOP3};
    phase_subpass(ctx, fn, PH_GENERATE_MOV_PHI);
    for (size_t k = 0; k < ARRAY_LEN(window) && fn->form == FORM_SSA; k++)
        phase_subpass(ctx, fn, window[k]);
    phase_subpass(ctx, fn, PH_CONVERT_MOV_PHI);
    if (fn->form == FORM_SSA)
        return false;  // 73 is disabled
    phase_subpass(ctx, fn, PH_REMOVE_REDUNDANT_MOV);
    phase_subpass(ctx, fn, PH_BRANCH_OPT);
    return fn->properties & PROP_BRANCH_DECIDED;
}

bool phase_reoptimize(Ctx *ctx, Fn *fn)
{
    if (!(fn->properties & PROP_BRANCH_DECIDED) && ctx->run.slot < PHASE_SLOTS)
        return false;
    uint64_t before = ir_hash(fn);
    for (int turn = 0; turn < TURNS && run_window(ctx, fn);)
        turn++;
    return ir_hash(fn) != before;
}
