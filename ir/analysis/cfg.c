// SPDX-License-Identifier: MIT
// Control-flow graph and reverse postorder, and the bookkeeping of what is valid. Linear, without recursion.
#include "ir/analysis/analysis.h"

/* -- Edges ---------------------------------------------------------------------------------------------- */

typedef struct EdgeBuilder {
    BlockId from;
    uint32_t *out_degree, *in_degree;  // counting pass
    Edges *succs, *preds;              // filling pass: first[] is advanced
} EdgeBuilder;

static void count_edge(void *user, Operand *target)
{
    EdgeBuilder *e = user;
    e->out_degree[e->from]++;
    e->in_degree[op_index(*target)]++;
}

static void fill_edge(void *user, Operand *target)
{
    EdgeBuilder *e = user;
    e->succs->at[e->succs->first[e->from]++] = op_index(*target);
    e->preds->at[e->preds->first[op_index(*target)]++] = e->from;
}

static void each_edge(const Fn *fn, EdgeBuilder *e, SuccVisit *visit)
{
    FOR_BLOCKS(fn, b) {
        e->from = b;
        ir_successors(fn, ir_terminator(fn, b), visit, e);
    }
}

// Turns degrees into row starts.
static void start_rows(Analyses *a, Edges *edges, const uint32_t *degree, uint32_t n)
{
    edges->first = arena_alloc(&a->arena, (n + 1) * sizeof(uint32_t));
    uint32_t sum = 0;
    for (uint32_t b = 0; b < n; b++) {
        edges->first[b] = sum;
        sum += degree[b];
    }
    edges->first[n] = sum;
    edges->at = arena_alloc(&a->arena, MAX(sum, 1) * sizeof(BlockId));
}

// Filling moved each row start to the row's end, which is the next one's start.
static void restore_rows(Edges *edges, uint32_t n)
{
    memmove(edges->first + 1, edges->first, n * sizeof *edges->first);
    edges->first[0] = 0;
}

static void build_cfg(Fn *fn, Analyses *a)
{
    uint32_t n = fn->blocks.n;
    EdgeBuilder e = {.succs = &a->succs, .preds = &a->preds};
    e.out_degree = NEW_ARRAY(&a->arena, uint32_t, n);
    e.in_degree = NEW_ARRAY(&a->arena, uint32_t, n);
    each_edge(fn, &e, count_edge);
    start_rows(a, &a->succs, e.out_degree, n);
    start_rows(a, &a->preds, e.in_degree, n);
    each_edge(fn, &e, fill_edge);
    restore_rows(&a->succs, n);
    restore_rows(&a->preds, n);
}

/* -- Reverse postorder ---------------------------------------------------------------------------------- */

// Depth-first with an explicit stack; `next` is the first successor not yet looked at.
static void build_rpo(Fn *fn, Analyses *a)
{
    uint32_t n = fn->blocks.n, depth = 0, slot = fn->nblocks;
    BlockId *stack = arena_alloc(&a->arena, (size_t)fn->nblocks * sizeof *stack);
    BlockId *order = arena_alloc(&a->arena, (size_t)fn->nblocks * sizeof *order);
    uint32_t *next = arena_alloc(&a->arena, n * sizeof *next);
    a->rpo_index = arena_alloc(&a->arena, n * sizeof(uint32_t));
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

/* -- Validity ------------------------------------------------------------------------------------------- */

const Analyses *analysis_need(Fn *fn, uint32_t mask)
{
    if (!fn->analyses) {
        fn->analyses = NEW(&fn->arena, Analyses);
        arena_init(&fn->analyses->arena, fn->arena.heap);
    }
    Analyses *a = fn->analyses;
    if (mask & AN_RPO)
        mask |= AN_CFG;
    uint32_t missing = mask & ~a->valid;
    if (missing & AN_CFG)
        build_cfg(fn, a);
    if (missing & AN_RPO)
        build_rpo(fn, a);
    a->valid |= mask;
    return a;
}

void analysis_drop(Fn *fn, uint32_t keep)
{
    Analyses *a = fn->analyses;
    if (!a)
        return;
    a->valid &= keep;
    if (!a->valid)
        arena_free(&a->arena);
}
