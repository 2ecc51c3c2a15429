// SPDX-License-Identifier: MIT
// Which values are never anything but another one. A value that copies takes that of one of its inputs: a phi, or a
// move, which has one input. Others are what they are. Serves OriRemoveRedundantMultiDefMov and OriRemoveRedundantMov.
//
// A value v leads another one if whatever is copied into that, in however many steps, comes by v: then the two are
// equal wherever the copy is known, since v is defined on every way there and not again since (both are values of ssa
// form). In the graph whose edges go from inputs to copies, with a root in front of what copies nothing, this says that
// v dominates the copy. So the leader of a value is the dominator next to the root. It takes care of cycles of phis
// that feed each other and are fed one value, nested ones too, in one pass; taking strongly connected components apart
// again and again (Braun et al., "Simple and efficient construction of static single assignment form", 2013) finds the
// same in quadratic time where they are nested deeply.
//
//     2 = phi(1, 3)   3 = phi(2, 1)   4 = phi(3, 2)        all three are 1
//     2 = phi(1, 3)   3 = phi(2, 5)   4 = phi(3, 3)        4 is 3, 2 and 3 are themselves
#include "ir/analysis/analysis.h"

// The edges the other way.
static Edges turned(const Edges *inputs, uint32_t n, Arena *arena)
{
    uint32_t edges = inputs->first[n];
    Edges to = {NEW_ARRAY(arena, uint32_t, n + 1), arena_alloc(arena, MAX(edges, 1) * sizeof(uint32_t))};
    for (uint32_t e = 0; e < edges; e++)
        to.first[inputs->at[e]]++;
    rows_start(to.first, n);
    for (uint32_t v = 0; v < n; v++)
        for (uint32_t e = inputs->first[v]; e < inputs->first[v + 1]; e++)
            to.at[to.first[inputs->at[e]]++] = v;
    rows_restore(to.first, n);
    return to;
}

static uint32_t count_reached(const Edges *outputs, uint32_t n, Arena *arena)
{
    bool *seen = NEW_ARRAY(arena, bool, n);
    uint32_t *stack = arena_alloc(arena, n * sizeof *stack), depth = 1, count = 1;
    stack[0] = 0;
    seen[0] = true;
    while (depth) {
        uint32_t v = stack[--depth];
        for (uint32_t e = outputs->first[v]; e < outputs->first[v + 1]; e++) {
            uint32_t to = outputs->at[e];
            if (seen[to])
                continue;
            seen[to] = true;
            stack[depth++] = to;
            count++;
        }
    }
    return count;
}

uint32_t *copy_representatives(const Edges *inputs, uint32_t n, Arena *arena)
{
    Arena scratch;
    uint32_t *leader = NEW_ARRAY(arena, uint32_t, n);
    arena_init(&scratch, arena->heap);
    RootedGraph g = {.succs = turned(inputs, n, &scratch), .preds = *inputs, .root = 0, .ids = n};
    g.n = count_reached(&g.succs, n, &scratch);
    DomTree d;
    dom_tree_build(&g, &d, &scratch);
    for (uint32_t k = 0; k + 1 < g.n; k++) {
        uint32_t v = d.order[k];
        leader[v] = d.idom[v] ? leader[d.idom[v]] : v;
    }
    arena_free(&scratch);
    return leader;
}
