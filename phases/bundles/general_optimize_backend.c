// SPDX-License-Identifier: MIT
// Cleans up after expansion and after predication, on backends that have these passes.
//
// Slots: 46 GeneralOptimizeMid2 (entry 56 of the vtable of a backend) and 65 GeneralOptimizeLate2 (entry 49). Both run
// one round of OriSimplifyPredicates, folding, copy propagation and dead code removal (bundle.c), so they do nothing
// unless a phase has changed the function after GeneralOptimizeMid. 65 also replaces the second result of a comparison
// by the complement of the first (knob LateCopyPropComplPred).
//
//     R2 = mov.b32 R1; R3 = add.s32 R2, 0; st [R0], R3      ->   st [R0], R1
//     P1|P2 = setp.lt.s32 R1, R2; @P2 bra b2 else b3   ->   P1 = setp.lt.s32 R1, R2; @!P1 bra b2 else b3      (65)
//
// Must not fire: 46 on sm_30 and sm_50.
//
// Documented: dispatch by the backend, the sentinel of 46, the level of 65. Inferred: which backends have the sentinel,
// the sub-passes.
#include "phases/bodies.h"
#include "phases/bundles/bundle.h"

static const uint8_t sub_passes[] = {PH_SIMPLIFY_PREDICATES, PH_FOLD, PH_COPY_PROP, PH_SIMPLE_LIVE_DEAD};

bool phase_general_optimize_mid2(Ctx *ctx, Fn *fn) { return bundle_round(ctx, fn, sub_passes, ARRAY_LEN(sub_passes)); }

bool phase_general_optimize_late2(Ctx *ctx, Fn *fn)
{
    // Earlier runs of copy propagation did not replace complements.
    if (fn->classes & IC_COMPARE_PAIR && knob_int(&ctx->knobs, KNOB_COPY_PROP_COMPL))
        bundle_unsettle(fn, PH_COPY_PROP);
    return bundle_round(ctx, fn, sub_passes, ARRAY_LEN(sub_passes));
}
