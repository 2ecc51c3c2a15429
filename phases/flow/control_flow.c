// SPDX-License-Identifier: MIT
// Computes the analyses of control flow.
//
// Slot: 3 AnalyzeControlFlow: successors and predecessors, reverse postorder, dominators, post-dominators and the loop
// forest. These stay valid until a phase changes the flow. An invalid analysis is computed again on request, so this
// slot is never required.
// Documented: slot and name. Inferred: the rest.
#include "phases/bodies.h"

bool phase_analyze_control_flow(Ctx *ctx, Fn *fn)
{
    (void)ctx;
    analysis_need(fn, AN_FLOW);
    return false;
}
