// SPDX-License-Identifier: MIT
// Control-flow graph and reverse postorder. Linear, without recursion.
#include <stdio.h>

#include "ir/analysis/analysis_internal.h"

/* -- Edges ---------------------------------------------------------------------------------------------- */

typedef struct Edge {
    BlockId from, to;
} Edge;

typedef struct EdgeBuilder {
    Arena scratch;
    BlockId from;
    VEC(Edge) edges;  // in layout order
} EdgeBuilder;

static void add_edge(void *user, Operand *target)
{
    EdgeBuilder *e = user;
    VEC_PUSH(&e->scratch, &e->edges, ((Edge){e->from, op_index(*target)}));
}

// Terminators lie far apart in memory, so the next ones are prefetched.
static void collect_edges(const Fn *fn, EdgeBuilder *e)
{
    enum { AHEAD = 8 };
    BlockId *blocks = arena_alloc(&e->scratch, (fn->nblocks + 2 * AHEAD) * sizeof *blocks);
    uint32_t n = 0;
    FOR_BLOCKS(fn, b)
        blocks[n++] = b;
    for (uint32_t k = 0; k < 2 * AHEAD; k++)
        blocks[n + k] = fn->last;
    for (uint32_t k = 0; k < n; k++) {
        __builtin_prefetch(ir_instr(fn, ir_terminator(fn, blocks[k + 2 * AHEAD])));
        __builtin_prefetch(ir_ops(fn, ir_instr(fn, ir_terminator(fn, blocks[k + AHEAD]))));
        e->from = blocks[k];
        ir_successors(fn, ir_terminator(fn, e->from), add_edge, e);
    }
}

static Edges new_rows(Arena *arena, uint32_t n, uint32_t nedges)
{
    return (Edges){NEW_ARRAY(arena, uint32_t, n + 1), arena_alloc(arena, nedges * sizeof(BlockId))};
}

void cfg_build(const Fn *fn, Analyses *a)
{
    uint32_t n = fn->blocks.n;
    EdgeBuilder e = {.from = 0};
    arena_init(&e.scratch, fn->arena.heap);
    collect_edges(fn, &e);
    a->succs = new_rows(&a->arena[AX_CFG], n, e.edges.n);
    a->preds = new_rows(&a->arena[AX_CFG], n, e.edges.n);
    for (uint32_t k = 0; k < e.edges.n; k++) {
        const Edge *edge = &e.edges.at[k];
        a->succs.first[edge->from]++;
        a->preds.first[edge->to]++;
    }
    rows_start(a->succs.first, n);
    rows_start(a->preds.first, n);
    for (uint32_t k = 0; k < e.edges.n; k++) {
        const Edge *edge = &e.edges.at[k];
        a->succs.at[a->succs.first[edge->from]++] = edge->to;
        a->preds.at[a->preds.first[edge->to]++] = edge->from;
    }
    rows_restore(a->succs.first, n);
    rows_restore(a->preds.first, n);
    arena_free(&e.scratch);
}

// True if row b has the same blocks with the same multiplicities, in any order. count[] must be zero, and is zero
// afterwards if the result is true.
static bool same_blocks(const Edges *kept, const Edges *now, BlockId b, uint32_t *count)
{
    for (uint32_t e = now->first[b]; e < now->first[b + 1]; e++)
        count[now->at[e]]++;
    for (uint32_t e = kept->first[b]; e < kept->first[b + 1]; e++)
        if (!count[kept->at[e]]--)
            return false;
    return kept->first[b + 1] - kept->first[b] == now->first[b + 1] - now->first[b];
}

static bool same_order(const Edges *kept, const Edges *now, BlockId b)
{
    uint32_t n = now->first[b + 1] - now->first[b];
    return kept->first[b + 1] - kept->first[b] == n &&
           memcmp(kept->at + kept->first[b], now->at + now->first[b], n * sizeof(BlockId)) == 0;
}

bool cfg_same(const Fn *fn, const Analyses *kept, Analyses *now, char why[static 150])
{
    uint32_t *count = NEW_ARRAY(&now->arena[AX_CFG], uint32_t, fn->blocks.n);
    for (BlockId b = 1; b < fn->blocks.n; b++) {
        bool succs = same_order(&kept->succs, &now->succs, b);
        if (succs && same_blocks(&kept->preds, &now->preds, b, count))
            continue;
        snprintf(why, 150, "b%u has different %s", ir_block(fn, b)->ordinal, succs ? "predecessors" : "successors");
        return false;
    }
    return true;
}

/* -- Reverse postorder ---------------------------------------------------------------------------------- */

// Runs a depth-first search with an explicit stack. next[b] is the first successor of b that is not yet visited.
void rpo_build(const Fn *fn, Analyses *a)
{
    Arena *arena = &a->arena[AX_RPO];
    uint32_t n = fn->blocks.n, depth = 0, slot = fn->nblocks;
    BlockId *stack = arena_alloc(arena, (size_t)fn->nblocks * sizeof *stack);
    BlockId *order = arena_alloc(arena, (size_t)fn->nblocks * sizeof *order);
    uint32_t *next = arena_alloc(arena, n * sizeof *next);
    a->rpo_index = arena_alloc(arena, n * sizeof(uint32_t));
    memset(a->rpo_index, 0xff, n * sizeof(uint32_t));
    memcpy(next, a->succs.first, n * sizeof *next);
    if (fn->first) {
        stack[depth++] = fn->first;
        a->rpo_index[fn->first] = 0;  // seen
    }
    while (depth) {
        BlockId b = stack[depth - 1];
        if (next[b] == a->succs.first[b + 1]) {
            order[--slot] = b;
            depth--;
            continue;
        }
        BlockId s = a->succs.at[next[b]++];
        if (a->rpo_index[s] == UINT32_MAX) {
            a->rpo_index[s] = 0;
            stack[depth++] = s;
        }
    }
    a->nrpo = fn->nblocks - slot;
    a->rpo = order + slot;
    for (uint32_t k = 0; k < a->nrpo; k++)
        a->rpo_index[a->rpo[k]] = k;
}

bool rpo_same(const Fn *fn, const Analyses *kept, Analyses *now, char why[static 150])
{
    uint32_t k = 0, n = MIN(kept->nrpo, now->nrpo);
    while (k < n && kept->rpo[k] == now->rpo[k])
        k++;
    if (k < n)
        snprintf(why, 150, "the order has b%u in place of b%u", ir_block(fn, kept->rpo[k])->ordinal,
                 ir_block(fn, now->rpo[k])->ordinal);
    else if (kept->nrpo != now->nrpo)
        snprintf(why, 150, "%u blocks are reachable, not %u", now->nrpo, kept->nrpo);
    else
        return true;
    return false;
}
