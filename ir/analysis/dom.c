// SPDX-License-Identifier: MIT
// Dominators, by the algorithm of Lengauer and Tarjan ("A fast algorithm for finding dominators in a flowgraph", 1979)
// with path compression but without balancing: O(m log n), without recursion.
//
// Reachable blocks get numbers in preorder of a depth-first tree. The semidominator of w is the least number from which
// a path leads to w that has only greater numbers than w between. It is found from the highest number down, since it is
// the least of the predecessors' numbers and of the semidominators above those predecessors that are higher than w: the
// blocks already seen form a forest, in which best_above() looks for them. The immediate dominator of w is that of
// another block on the tree path between, whose semidominator is the least there, or else the semidominator itself.
//
// Semi-NCA, which climbs the dominator tree instead of that last step, is shorter but quadratic where many blocks hang
// on the end of a long chain and are entered from its top, too.
#include <stdio.h>

#include "ir/analysis/analysis_internal.h"

// A reachable block; all fields but the first are numbers in preorder, 0 = none.
typedef struct Node {
    BlockId block;
    uint32_t parent;  // in the depth-first tree
    uint32_t above;   // in the forest: parent, or with compressed paths an ancestor
    uint32_t semi;    // semidominator
    uint32_t best;    // the number with the least semidominator from here up to below `above`
    uint32_t idom;
    uint32_t bucket, next;  // first of those whose semidominator this is; next in the list that this one is in
} Node;

typedef struct Search {
    const Analyses *a;
    Node *node;        // by number: 1 .. n
    uint32_t *number;  // by BlockId, 0 = unreachable
    uint32_t *work;    // an entry for each block, for one thing after the other
} Search;

static uint32_t add_node(Search *s, BlockId b, uint32_t parent, uint32_t n)
{
    s->number[b] = n;
    s->node[n] = (Node){.block = b, .parent = parent, .above = parent, .semi = n, .best = n};
    return n;
}

// Numbers the reachable blocks depth-first. The way back is the parents; `next` is the first edge not yet looked at.
static void number_blocks(Search *s, BlockId entry, uint32_t *next)
{
    const Edges *succs = &s->a->succs;
    uint32_t n = 1;
    for (uint32_t w = add_node(s, entry, 0, n); w;) {
        BlockId b = s->node[w].block;
        if (next[b] == succs->first[b + 1]) {
            w = s->node[w].parent;
            continue;
        }
        BlockId to = succs->at[next[b]++];
        if (!s->number[to])
            w = add_node(s, to, w, ++n);
    }
}

// The number with the least semidominator between v and the root of its tree in the forest, which counts only if v is
// it. Numbers from `linked` on hang below their parents, the others are roots. Every block on the way is then attached
// to the root directly, with the best of what was between.
static uint32_t best_above(Search *s, uint32_t v, uint32_t linked)
{
    Node *node = s->node;
    uint32_t n = 0, x = v;
    for (; node[x].above >= linked; x = node[x].above)
        s->work[n++] = x;
    uint32_t root = node[x].above;
    while (n) {
        uint32_t best = node[x].best;
        x = s->work[--n];
        if (node[best].semi < node[node[x].best].semi)
            node[x].best = best;
        node[x].above = root;
    }
    return node[v].best;
}

static void find_semidominator(Search *s, uint32_t w)
{
    const Edges *preds = &s->a->preds;
    Node *node = &s->node[w];
    for (uint32_t e = preds->first[node->block]; e < preds->first[node->block + 1]; e++) {
        uint32_t v = s->number[preds->at[e]];
        if (v)
            node->semi = MIN(node->semi, s->node[best_above(s, v, w + 1)].semi);
    }
    node->next = s->node[node->semi].bucket;
    s->node[node->semi].bucket = w;
}

// Gives each block whose semidominator is the parent of w a dominator: its immediate one, or one with the same.
static void empty_bucket(Search *s, uint32_t w)
{
    Node *node = s->node, *parent = &node[node[w].parent];
    for (uint32_t v = parent->bucket; v; v = node[v].next) {
        uint32_t u = best_above(s, v, w);
        node[v].idom = node[u].semi < node[v].semi ? u : node[w].parent;
    }
    parent->bucket = 0;
}

static void find_dominators(Search *s, uint32_t n)
{
    for (uint32_t w = n; w > 1; w--) {
        find_semidominator(s, w);
        empty_bucket(s, w);
    }
    for (uint32_t w = 2; w <= n; w++)
        if (s->node[w].idom != s->node[w].semi)
            s->node[w].idom = s->node[s->node[w].idom].idom;
}

// Places for the tree in preorder: subtree sizes from the leaves up, then each block takes the next free place below
// its immediate dominator. In reverse postorder a block comes behind those that dominate it.
static void number_tree(const Analyses *a, DomTree *d, uint32_t *place)
{
    for (uint32_t k = a->nrpo; k--;) {
        BlockId b = a->rpo[k];
        d->size[b]++;
        d->size[d->idom[b]] += d->size[b];
    }
    d->size[0] = place[0] = 0;
    for (uint32_t k = 0; k < a->nrpo; k++) {
        BlockId b = a->rpo[k], parent = d->idom[b];
        d->pre[b] = place[parent];
        place[parent] += d->size[b];
        place[b] = d->pre[b] + 1;
        d->order[d->pre[b]] = b;
    }
}

void dom_build(const Fn *fn, Analyses *a)
{
    Arena *arena = &a->arena[AX_DOM], scratch;
    uint32_t blocks = fn->blocks.n, n = a->nrpo;
    DomTree *d = &a->dom;
    d->idom = NEW_ARRAY(arena, BlockId, blocks);
    d->size = NEW_ARRAY(arena, uint32_t, blocks);
    d->pre = NEW_ARRAY(arena, uint32_t, blocks);
    d->order = NEW_ARRAY(arena, BlockId, n);
    if (!n)
        return;
    arena_init(&scratch, fn->arena.heap);
    Search s = {.a = a, .node = NEW_ARRAY(&scratch, Node, n + 1), .number = NEW_ARRAY(&scratch, uint32_t, blocks)};
    s.work = NEW_ARRAY(&scratch, uint32_t, blocks);
    memcpy(s.work, a->succs.first, blocks * sizeof *s.work);
    number_blocks(&s, fn->first, s.work);
    find_dominators(&s, n);
    for (uint32_t w = 2; w <= n; w++)
        d->idom[s.node[w].block] = s.node[s.node[w].idom].block;
    number_tree(a, d, s.work);
    arena_free(&scratch);
}

// `b3`, or `nothing` for 0.
static const char *block_text(const Fn *fn, BlockId b, char text[static 16])
{
    snprintf(text, 16, b ? "b%u" : "nothing", b ? ir_block(fn, b)->ordinal : 0);
    return text;
}

bool dom_same(const Fn *fn, const Analyses *kept, Analyses *now, char why[static 150])
{
    char was[16], is[16];
    for (BlockId b = 1; b < fn->blocks.n; b++)
        if (kept->dom.idom[b] != now->dom.idom[b]) {
            snprintf(why, 150, "the immediate dominator of b%u is %s, not %s", ir_block(fn, b)->ordinal,
                     block_text(fn, now->dom.idom[b], is), block_text(fn, kept->dom.idom[b], was));
            return false;
        }
    return true;
}
