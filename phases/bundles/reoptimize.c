// SPDX-License-Identifier: MIT
// Optimizes a function again if the run of OriBranchOpt after slot 73 has decided branches, or that of GlobalOpt has
// changed the function.
//
// Sub-pass: OriReoptimize, after slot 73. GeneralOptimizeMid finds constant conditions, which OriBranchOpt decides
// outside of SSA form. Then blocks are merged, which leaves phis with one input, and equal computations. So these
// phases run again: 23, the cleanups and value numbering in SSA form, 73, 164 and 15. This repeats until 15 decides no
// branch, TURNS times at most. Otherwise oriopt would change its own output again.
//
//     @P0 bra b2; R2 = add.s32 R1, R0            @P0 bra b2
//     b2: @P0 bra b3; R3 = add.s32 R0, R1   ->   R2 = add.s32 R1, R0
//     b3:                                        b3:
//
// Must not fire: if OriBranchOpt has decided no branch there and GlobalOpt has changed nothing, unless the sub-pass was
// requested by name.
//
// Documented: nothing. Inferred: all.
#include "phases/bodies.h"

enum { TURNS = 3 };

// Converts the function into SSA form, optimizes it, and converts it back. True if OriBranchOpt then decides a branch.
static bool run_window(Ctx *ctx, Fn *fn)
{
    static const int window[] = {PH_GENERAL_OPTIMIZE_MID, PH_GVN_CSE,        PH_REASSOCIATE,
                                 PH_INFER_SPACES,         PH_EQUAL_PHIS,     PH_LIVE_DEAD_THIRD,
                                 PH_REDUNDANT_PHIS,       PH_LATE_COMMONING, PH_GENERAL_OPTIMIZE_LATE2};
    phase_subpass(ctx, fn, PH_GENERATE_MOV_PHI);
    for (size_t k = 0; k < ARRAY_LEN(window) && fn->form == FORM_SSA; k++)
        phase_subpass(ctx, fn, window[k]);
    if (fn->form == FORM_SSA && phase_plan_has(ctx->running, PH_FORM_LOP3))
        phase_subpass(ctx, fn, PH_FORM_LOP3);
    phase_subpass(ctx, fn, PH_CONVERT_MOV_PHI);
    if (fn->form == FORM_SSA)
        return false;  // 73 is disabled
    phase_subpass(ctx, fn, PH_REMOVE_REDUNDANT_MOV);
    phase_subpass(ctx, fn, PH_BRANCH_OPT);
    return fn->properties & PROP_REOPTIMIZE;
}

bool phase_reoptimize(Ctx *ctx, Fn *fn)
{
    if (!(fn->properties & PROP_REOPTIMIZE) && ctx->run.slot < PHASE_SLOTS)
        return false;
    if (ctx->running && ctx->running->off[PH_CONVERT_MOV_PHI])
        return false;  // the function would stay in ssa form
    uint64_t before = ir_hash(fn);
    for (int turn = 0; turn < TURNS && run_window(ctx, fn);)
        turn++;
    return ir_hash(fn) != before;
}
