// SPDX-License-Identifier: MIT
// Computes dominance frontiers. The frontier of block b is the set of joins that b does not strictly dominate, but of
// which b dominates a predecessor. Climbs the dominator tree from the predecessors of each join (Cooper, Harvey and
// Kennedy, "A simple, fast dominance algorithm", 2001).
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
