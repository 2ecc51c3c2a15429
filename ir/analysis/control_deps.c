// SPDX-License-Identifier: MIT
// Control dependence. A block depends on a branch that it does not post-dominate but one of whose successors it does,
// or is (Ferrante, Ottenstein and Warren, "The program dependence graph and its use in optimization", 1987): what the
// branch decides is whether the block runs.
//
// All pairs may be quadratically many, but who marks what is needed asks for each branch once. An edge out of a branch
// u to v makes those blocks depend on u that are, in the post-dominator tree, v or above it but below the
// post-dominator of u (so Pingali and Bilardi, "Optimal control dependence computation and the Roman chariots problem",
// 1997). In preorder, edges to what is below a block are a range, and those among them that end above it are found by
// the place of their end: a tree of minima over the edges gives out each in logarithmic time.
#include "ir/analysis/analysis.h"

// Places in preorder, from 1; the exit's is 0.
static uint32_t place(const Analyses *a, BlockId b) { return b ? a->pdom.pre[b] + 1 : 0; }

// Successors of branches that do not run in any case. There is no such edge for a block with one successor.
static bool decides(const Analyses *a, BlockId u, BlockId v) { return a->pdom.idom[u] != v; }

static void count_edges(ControlDeps *c, Arena *arena)
{
    const Analyses *a = c->a;
    c->first = NEW_ARRAY(arena, uint32_t, a->nrpo + 2);
    for (uint32_t k = 0; k < a->nrpo; k++) {
        BlockId u = a->rpo[k];
        FOR_SUCCS(a, u, v)
            if (decides(a, u, *v))
                c->first[place(a, *v)]++;
    }
    uint32_t n = rows_start(c->first, a->nrpo + 1);
    c->leaves = 1;
    while (c->leaves < n)
        c->leaves *= 2;
    c->from = arena_alloc(arena, n * sizeof *c->from);
    c->least = arena_alloc(arena, 2 * (size_t)c->leaves * sizeof *c->least);
    memset(c->least, 0xff, 2 * (size_t)c->leaves * sizeof *c->least);
}

static void fill_edges(ControlDeps *c)
{
    const Analyses *a = c->a;
    for (uint32_t k = 0; k < a->nrpo; k++) {
        BlockId u = a->rpo[k];
        FOR_SUCCS(a, u, v) {
            if (!decides(a, u, *v))
                continue;
            uint32_t n = c->first[place(a, *v)]++;
            c->from[n] = u;
            c->least[c->leaves + n] = place(a, a->pdom.idom[u]);
        }
    }
    rows_restore(c->first, a->nrpo + 1);
    for (uint32_t n = c->leaves; --n;)
        c->least[n] = MIN(c->least[2 * n], c->least[2 * n + 1]);
}

void control_deps_init(ControlDeps *c, Arena *arena, const Analyses *a)
{
    *c = (ControlDeps){.a = a};
    count_edges(c, arena);
    fill_edges(c);
}

// A leaf of the range below `limit`; 0 = none. Goes up from both ends to the nodes that make up the range.
static uint32_t find_below(const ControlDeps *c, uint32_t low, uint32_t high, uint32_t limit)
{
    low += c->leaves;
    high += c->leaves;
    uint32_t node = 0;
    for (; low < high && !node; low /= 2, high /= 2) {
        if (low & 1 && c->least[low++] < limit)
            node = low - 1;
        else if (high & 1 && c->least[--high] < limit)
            node = high;
    }
    while (node && node < c->leaves)
        node = c->least[2 * node] < limit ? 2 * node : 2 * node + 1;
    return node;
}

BlockId control_deps_take(ControlDeps *c, BlockId b)
{
    const Analyses *a = c->a;
    if (!is_reachable(a, b))
        return 0;
    uint32_t p = place(a, b), leaf = find_below(c, c->first[p], c->first[p + a->pdom.size[b]], p);
    if (!leaf)
        return 0;
    c->least[leaf] = UINT32_MAX;
    for (uint32_t n = leaf / 2; n; n /= 2) {
        uint32_t least = MIN(c->least[2 * n], c->least[2 * n + 1]);
        if (c->least[n] == least)
            break;
        c->least[n] = least;
    }
    return c->from[leaf - c->leaves];
}
