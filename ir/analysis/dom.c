// SPDX-License-Identifier: MIT
// Dominators of the control-flow graph, from the entry.
#include "ir/analysis/analysis_internal.h"

void dom_build(const Fn *fn, Analyses *a)
{
    RootedGraph g = {.succs = a->succs, .preds = a->preds, .root = fn->first, .ids = fn->blocks.n, .n = a->nrpo};
    dom_tree_build(&g, &a->dom, &a->arena[AX_DOM]);
    a->dom.size[0] = 0;  // 0 is no block and dominates nothing
}

bool dom_same(const Fn *fn, const Analyses *kept, Analyses *now, char why[static 150])
{
    return dom_tree_same(fn, &kept->dom, &now->dom, "dominator", "the start", why);
}
