// SPDX-License-Identifier: MIT
// Simplifies predicates, then cleans up.
//
// Slot: 29 GeneralOptimize. One round of OriSimplifyPredicates, folding, copy propagation and dead code removal
// (bundle.c). Where the first changes nothing, the others do not run: GeneralOptimizeMid runs them, and nothing between
// 23 and 29 leaves work for them. If the phases are named, and no other bundle with these sub-passes is, they run in
// any case.
//
// Must not fire: with GeneralOptimizeEnable (487) = 0, with DisableRedundantBarrierRemoval (231), or with
// MembarFlowControl (461) = 0.
//
// Documented: the gates, the walk of OriSimplifyPredicates. Inferred: the sub-passes after it.
#include "phases/bodies.h"
#include "phases/bundles/bundle.h"
#include "phases/manager/remarks.h"

static bool passes_gates(Ctx *ctx, const Fn *fn)
{
    Knobs *k = &ctx->knobs;
    return gate_is_open(ctx, fn, KNOB_GENERAL_OPTIMIZE, knob_int(k, KNOB_GENERAL_OPTIMIZE)) &&
           gate_is_open(ctx, fn, KNOB_NO_BARRIER_REMOVAL, !knob_is_set(k, KNOB_NO_BARRIER_REMOVAL)) &&
           gate_is_open(ctx, fn, KNOB_MEMBAR_FLOW, !knob_is_set(k, KNOB_MEMBAR_FLOW) || knob_int(k, KNOB_MEMBAR_FLOW));
}

// True if the plan is a list of names without the other bundles that propagate copies.
static bool is_alone(const Plan *plan)
{
    return plan && plan->named && !phase_plan_has(plan, PH_GENERAL_OPTIMIZE_MID) &&
           !phase_plan_has(plan, PH_GENERAL_OPTIMIZE_MID2) && !phase_plan_has(plan, PH_GENERAL_OPTIMIZE_LATE2);
}

bool phase_general_optimize(Ctx *ctx, Fn *fn)
{
    static const uint8_t predicates[] = {PH_SIMPLIFY_PREDICATES};
    static const uint8_t cleanups[] = {PH_FOLD, PH_COPY_PROP, PH_SIMPLE_LIVE_DEAD};
    if (!passes_gates(ctx, fn))
        return false;
    bool progress = bundle_round(ctx, fn, predicates, ARRAY_LEN(predicates));
    if (progress || is_alone(ctx->running))
        progress |= bundle_round(ctx, fn, cleanups, ARRAY_LEN(cleanups));
    return progress;
}
