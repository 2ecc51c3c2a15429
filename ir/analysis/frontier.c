// SPDX-License-Identifier: MIT
// Computes dominance frontiers. The frontier of block b is the set of joins that b does not strictly dominate, but of
// which b dominates a predecessor. Climbs the dominator tree from the predecessors of each join (Cooper, Harvey and
// Kennedy, "A simple, fast dominance algorithm", 2001).
//
// The rows may have quadratic size together, as in deeply nested loops: each latch has the headers of all loops around
// it in its frontier. Heaps of the members, by level in the dominator tree, have a size of O(m log m) for m edges,
// since they share nodes. The heap of a block is the union of the heaps of its children in the dominator tree and of
// its edges to joins, without the joins that the block strictly dominates. These have the greatest levels, so they are
// removed from the top. The heaps are skew heaps (Sleator and Tarjan, "Self-adjusting heaps", 1986), whose changes copy
// nodes.
#include "ir/analysis/analysis_internal.h"

// A walk that visits each pair of a block and a member of its frontier once, and fails after `max` pairs.
typedef struct Walk {
    const Analyses *a;
    uint32_t *count;  // by BlockId: members so far, or the next free index in `at`
    BlockId *at;      // NULL: the walk only counts
    BlockId *last;    // by BlockId: the last member found
    uint64_t steps, max;
} Walk;

static bool walk_join(Walk *w, BlockId b)
{
    const Analyses *a = w->a;
    FOR_PREDS(a, b, p) {
        BlockId runner = *p;
        if (!is_reachable(a, runner))
            continue;
        for (; runner != a->dom.idom[b] && w->last[runner] != b; runner = a->dom.idom[runner]) {
            w->last[runner] = b;
            if (++w->steps > w->max)
                return false;
            if (w->at)
                w->at[w->count[runner]] = b;
            w->count[runner]++;
        }
    }
    return true;
}

static bool walk_all(Walk *w, uint32_t blocks)
{
    memset(w->last, 0, blocks * sizeof *w->last);
    w->steps = 0;
    for (uint32_t k = 0; k < w->a->nrpo; k++)
        if (!walk_join(w, w->a->rpo[k]))
            return false;
    return true;
}

bool frontier_build(const Fn *fn, const Analyses *a, Arena *arena, uint64_t max, Edges *frontier)
{
    uint32_t blocks = fn->blocks.n, sum = 0;
    Walk w = {.a = a, .max = max};
    w.count = NEW_ARRAY(arena, uint32_t, blocks + 1);
    w.last = arena_alloc(arena, blocks * sizeof *w.last);
    if (!walk_all(&w, blocks))
        return false;
    for (BlockId b = 0; b <= blocks; b++) {
        uint32_t n = b < blocks ? w.count[b] : 0;
        w.count[b] = sum;
        sum += n;
    }
    w.at = arena_alloc(arena, MAX(sum, 1) * sizeof *w.at);
    walk_all(&w, blocks);
    // Filling moved the start of each row to the start of the next one.
    memmove(w.count + 1, w.count, blocks * sizeof *w.count);
    w.count[0] = 0;
    *frontier = (Edges){w.count, w.at};
    return true;
}

/* -- Heaps ---------------------------------------------------------------------------------------------- */

// Returns the union of two heaps, which stay valid.
static uint32_t merge(FrontierHeaps *h, Arena *arena, const uint32_t *level, uint32_t x, uint32_t y)
{
    uint32_t top = 0, last = 0;
    while (x && y) {
        if (level[h->nodes.at[x].join] < level[h->nodes.at[y].join]) {
            uint32_t other = x;
            x = y;
            y = other;
        }
        FrontierNode n = h->nodes.at[x];
        VEC_PUSH(arena, &h->nodes, ((FrontierNode){n.join, 0, n.left}));
        *(last ? &h->nodes.at[last].left : &top) = h->nodes.n - 1;
        last = h->nodes.n - 1;
        x = n.right;
    }
    *(last ? &h->nodes.at[last].left : &top) = x ? x : y;
    return top;
}

void frontier_build_heaps(const Fn *fn, const Analyses *a, Arena *arena, const uint32_t *level, FrontierHeaps *h)
{
    *h = (FrontierHeaps){.root = NEW_ARRAY(arena, uint32_t, fn->blocks.n)};
    VEC_PUSH(arena, &h->nodes, (FrontierNode){0});
    for (uint32_t k = a->nrpo; k--;) {
        BlockId b = a->dom.order[k], parent = a->dom.idom[b];
        uint32_t heap = h->root[b];
        FOR_SUCCS(a, b, s) {
            bool known = heap && h->nodes.at[heap].join == *s;
            if (a->dom.idom[*s] == b || known)
                continue;
            VEC_PUSH(arena, &h->nodes, ((FrontierNode){.join = *s}));
            heap = merge(h, arena, level, heap, h->nodes.n - 1);
        }
        while (heap && level[h->nodes.at[heap].join] > level[b])
            heap = merge(h, arena, level, h->nodes.at[heap].left, h->nodes.at[heap].right);
        h->root[b] = heap;
        if (parent)
            h->root[parent] = merge(h, arena, level, h->root[parent], heap);
    }
}
