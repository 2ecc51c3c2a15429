// SPDX-License-Identifier: MIT
// Control dependence: enumerates the branches on which a block depends. A block depends on a branch that it does not
// post-dominate if it is, or post-dominates, one of the branch's successors (Ferrante, Ottenstein and Warren, "The
// program dependence graph and its use in optimization", 1987).
//
// There may be quadratically many pairs, but a client that marks live code uses each branch only once. An edge of a
// branch from u to v makes the blocks depend on u that lie on the path in the post-dominator tree from v up to, but
// without, the immediate post-dominator of u (Pingali and Bilardi, "Optimal control dependence computation and the
// Roman chariots problem", 1997). In preorder, the edges to the descendants of a block b are a range. An edge of this
// range makes b dependent if the immediate post-dominator of its source u is above b, that is, has a smaller place. A
// tree of minima over the edges finds and removes each such edge in logarithmic time.
#include "ir/analysis/analysis.h"

// Returns the place of a block in preorder, from 1; the exit has place 0.
static uint32_t place(const Analyses *a, BlockId b) { return b ? a->pdom.pre[b] + 1 : 0; }

// True if the edge from u to v makes blocks depend on u. The edge to an only successor does so only if u also leads to
// the virtual exit.
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

// Returns a leaf of the range with a value below `limit`; 0 = none. Climbs from both ends over the nodes that cover the
// range.
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
