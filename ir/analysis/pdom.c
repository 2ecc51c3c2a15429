// SPDX-License-Identifier: MIT
// Post-dominators: the dominator tree of the reversed control-flow graph, whose root is a virtual exit with number 0.
// Linear except for dom_tree.c, without recursion.
//
// A block leads to the exit if its terminator has no successor, or only a successor for a false guard: `@%p0 ret` leads
// to that successor and to the exit. Calls and traps may also end a thread, but are no terminators and do not count.
// AN_CFG does not distinguish a guarded return from a jump, since both have one edge. So a phase that replaces one by
// the other drops AN_PDOM, even if it keeps AN_CFG.
//
// An endless loop is an outermost loop without an edge that leaves it and without a block that leads to the exit. Its
// latch that is last in reverse postorder gets an edge to the exit. So an endless loop with one latch has the
// post-dominators of a loop with an exit at that latch. An edge from the header was rejected: the header would
// post-dominate the loop, and no other block would post-dominate the header. Every block then has a path to the exit,
// since a block without such a path leads to an endless loop.
//
// This is sound for clients that assume that a loop with an exit terminates, as post-dominance does in any case. Under
// this assumption a thread in an endless loop reaches the connected latch. If a post-dominates b, a is on the path from
// b to the latch. The tree may lack a true post-dominator, but never has a false one. The chosen latch may depend on
// the order of successors. So a phase that swaps the targets of branches may keep AN_PDOM only if all loops are
// reducible and none is endless.
#include "ir/analysis/analysis_internal.h"

static bool is_end(const Fn *fn, const Analyses *a, BlockId b)
{
    return succ_count(a, b) <= ir_guarded(ir_instr(fn, ir_terminator(fn, b)));
}

static bool is_endless(const Analyses *a, uint32_t loop, const bool *exits)
{
    const Loop *l = &a->loops.loop[loop];
    for (uint32_t k = l->first; k < l->first + l->n; k++) {
        BlockId b = a->loops.order[k];
        if (exits[b])
            return false;
        FOR_SUCCS(a, b, s)
            if (!loop_contains(a, loop, *s))
                return false;
    }
    return true;
}

static BlockId last_latch(const Analyses *a, uint32_t loop)
{
    BlockId header = a->loops.loop[loop].header, last = 0;
    FOR_PREDS(a, header, p)
        if (loop_contains(a, loop, *p) && (!last || a->rpo_index[*p] > a->rpo_index[last]))
            last = *p;
    return last;
}

// Returns a table by BlockId: true if the block leads to the exit.
static bool *find_exits(const Fn *fn, const Analyses *a, Arena *scratch)
{
    bool *exits = NEW_ARRAY(scratch, bool, fn->blocks.n);
    for (uint32_t k = 0; k < a->nrpo; k++)
        exits[a->rpo[k]] = is_end(fn, a, a->rpo[k]);
    for (uint32_t l = 1; l <= a->loops.n; l++)
        if (!a->loops.loop[l].parent && is_endless(a, l, exits))
            exits[last_latch(a, l)] = true;
    return exits;
}

/* -- The reversed graph --------------------------------------------------------------------------------- */

// Fills the edges from the exit to the blocks that lead there, and from each block to its reachable predecessors.
static void reverse_successors(RootedGraph *g, const Analyses *a, const bool *exits)
{
    uint32_t n = 0;
    g->succs.first[0] = 0;
    for (uint32_t k = 0; k < a->nrpo; k++)
        if (exits[a->rpo[k]])
            g->succs.at[n++] = a->rpo[k];
    for (BlockId b = 1; b < g->ids; b++) {
        g->succs.first[b] = n;
        FOR_PREDS(a, b, p)
            if (is_reachable(a, *p))
                g->succs.at[n++] = *p;
    }
    g->succs.first[g->ids] = n;
}

static void reverse_predecessors(RootedGraph *g, const Analyses *a, const bool *exits)
{
    uint32_t n = 0;
    for (BlockId b = 0; b < g->ids; b++) {
        g->preds.first[b] = n;
        FOR_SUCCS(a, b, s)
            g->preds.at[n++] = *s;
        if (exits[b])
            g->preds.at[n++] = 0;
    }
    g->preds.first[g->ids] = n;
}

static Edges new_edges(Arena *arena, uint32_t rows, uint32_t n)
{
    return (Edges){arena_alloc(arena, (rows + 1) * sizeof(uint32_t)), arena_alloc(arena, n * sizeof(BlockId))};
}

void pdom_build(const Fn *fn, Analyses *a)
{
    Arena scratch;
    uint32_t ids = fn->blocks.n, edges = a->succs.first[ids] + a->nrpo;  // each block may lead to the exit
    RootedGraph g = {.root = 0, .ids = ids, .n = a->nrpo + 1};
    arena_init(&scratch, fn->arena.heap);
    g.succs = new_edges(&scratch, ids, edges);
    g.preds = new_edges(&scratch, ids, edges);
    const bool *exits = find_exits(fn, a, &scratch);
    reverse_successors(&g, a, exits);
    reverse_predecessors(&g, a, exits);
    dom_tree_build(&g, &a->pdom, &a->arena[AX_PDOM]);
    a->pdom.pre[0] = UINT32_MAX;  // the exit comes before the first block
    a->pdom.size[0] = g.n;
    arena_free(&scratch);
}

bool pdom_same(const Fn *fn, const Analyses *kept, Analyses *now, char why[static 150])
{
    return dom_tree_same(fn, &kept->pdom, &now->pdom, "post-dominator", "the exit", why);
}
