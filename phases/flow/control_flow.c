// SPDX-License-Identifier: MIT
// Computes what the phases behind it ask of control flow.
//
// Slot: 3 AnalyzeControlFlow: successors and predecessors, reverse postorder, dominators, post-dominators and the loop
// forest. They stay valid until a phase changes the flow; whoever needs them then gets them computed again. So this
// slot says when, not whether. Documented: slot and name. Inferred: the rest.
#include "phases/bodies.h"

bool phase_analyze_control_flow(Ctx *ctx, Fn *fn)
{
    (void)ctx;
    analysis_need(fn, AN_FLOW);
    return false;
}
