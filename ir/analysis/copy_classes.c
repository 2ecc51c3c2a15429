// SPDX-License-Identifier: MIT
// Computes copy classes: finds values that are copies of one other value, through moves and phis. Serves
// OriRemoveRedundantMultiDefMov and OriRemoveRedundantMov.
//
// A copy has the value of one of its inputs; a phi has several inputs, a move has one. Value v represents a copy if v
// is on each chain of copies that leads to the copy from a value that is no copy. Then the two are equal wherever the
// copy is available: v is defined on each path to there and not redefined since, as both are values of ssa form. Take
// the graph whose edges lead from inputs to copies, and from a root to each value that is no copy. In this graph v
// represents a copy if v dominates the copy. So the representative of a value is its dominator next to the root.
//
// One pass handles cycles of phis whose only other input is one value, also if the cycles are nested. Repeated
// decomposition into strongly connected components (Braun et al., "Simple and efficient construction of static single
// assignment form", 2013) finds the same, in quadratic time where cycles are deeply nested.
//
//     2 = phi(1, 3)   3 = phi(2, 1)   4 = phi(3, 2)        1 represents all three
//     2 = phi(1, 3)   3 = phi(2, 5)   4 = phi(3, 3)        3 represents 4; 2 and 3 represent themselves
#include "ir/analysis/analysis.h"

// Returns the reversed edges.
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
    uint32_t *representative = NEW_ARRAY(arena, uint32_t, n);
    arena_init(&scratch, arena->heap);
    RootedGraph g = {.succs = turned(inputs, n, &scratch), .preds = *inputs, .root = 0, .ids = n};
    g.n = count_reached(&g.succs, n, &scratch);
    DomTree d;
    dom_tree_build(&g, &d, &scratch);
    for (uint32_t k = 0; k + 1 < g.n; k++) {
        uint32_t v = d.order[k];
        representative[v] = d.idom[v] ? representative[d.idom[v]] : v;
    }
    arena_free(&scratch);
    return representative;
}
