// SPDX-License-Identifier: MIT
// Dominators in any graph, by the algorithm of Lengauer and Tarjan ("A fast algorithm for finding dominators in a
// flowgraph", 1979) with path compression but without balancing: O(m log n), without recursion.
//
// The blocks that the root reaches get numbers in preorder of a depth-first tree. The semidominator of w is the least
// number from which a path leads to w through numbers greater than w only. Semidominators are computed from the highest
// number down. The semidominator of w is the least of two sets: the numbers of its predecessors, and the semidominators
// of its predecessors and their ancestors with numbers above w. The processed blocks form a forest, in which
// best_above() finds the least of the second set. Let u be the block with the least semidominator on the tree path from
// the semidominator of w, excluded, to w. The immediate dominator of w is its semidominator if u is w, else the
// immediate dominator of u.
//
// Semi-NCA replaces the last step by climbing the dominator tree. It is shorter, but quadratic if many blocks are
// successors of the end of a long chain and also of its start.
#include <stdio.h>

#include "ir/analysis/analysis_internal.h"

// A block that the root reaches. All fields except `block` are numbers in preorder, 0 = none.
typedef struct Node {
    BlockId block;
    uint32_t parent;  // in the depth-first tree
    uint32_t above;   // in the forest: parent, or an ancestor after path compression
    uint32_t semi;    // semidominator
    uint32_t best;    // the number with the least semidominator from here up to below `above`
    uint32_t idom;
    uint32_t bucket, next;  // first block with this semidominator; next block in the same bucket
} Node;

typedef struct Search {
    const RootedGraph *g;
    Node *node;        // by number: 1 .. n
    uint32_t *number;  // by BlockId, 0 = unreachable
    uint32_t *work;    // scratch memory of each step, one entry for each block
    BlockId *rpo;      // reverse postorder, without block 0
} Search;

static uint32_t add_node(Search *s, BlockId b, uint32_t parent, uint32_t n)
{
    s->number[b] = n;
    s->node[n] = (Node){.block = b, .parent = parent, .above = parent, .semi = n, .best = n};
    return n;
}

// Numbers the blocks depth-first, and fills `rpo` from its end in postorder. Parent links replace the stack. next[b] is
// the first edge of b that is not yet followed.
static void number_blocks(Search *s, uint32_t *next)
{
    const Edges *succs = &s->g->succs;
    uint32_t n = 1;
    for (uint32_t w = add_node(s, s->g->root, 0, n); w;) {
        BlockId b = s->node[w].block;
        if (next[b] == succs->first[b + 1]) {
            if (b)
                *--s->rpo = b;
            w = s->node[w].parent;
            continue;
        }
        BlockId to = succs->at[next[b]++];
        if (!s->number[to])
            w = add_node(s, to, w, ++n);
    }
}

// Returns the number with the least semidominator on the path from v up to, but without, the root of its tree in the
// forest; v if v is a root. Numbers from `linked` on are linked to their parents; smaller numbers are roots. Compresses
// the path: links each block on it to the root, and stores the best number of the skipped part.
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
    const Edges *preds = &s->g->preds;
    Node *node = &s->node[w];
    FOR_EDGES(preds, node->block, p) {
        uint32_t v = s->number[*p];
        if (v)
            node->semi = MIN(node->semi, s->node[best_above(s, v, w + 1)].semi);
    }
    node->next = s->node[node->semi].bucket;
    s->node[node->semi].bucket = w;
}

// Sets idom of each block whose semidominator is the parent of w to its immediate dominator, or to a block with the
// same immediate dominator.
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

void dom_tree_build(const RootedGraph *g, DomTree *d, Arena *arena)
{
    Arena scratch;
    uint32_t n = g->n, ids = g->ids;
    d->idom = NEW_ARRAY(arena, BlockId, ids);
    d->size = NEW_ARRAY(arena, uint32_t, ids);
    d->pre = NEW_ARRAY(arena, uint32_t, ids);
    d->order = NEW_ARRAY(arena, BlockId, n);
    if (!n)
        return;
    arena_init(&scratch, arena->heap);
    Search s = {.g = g, .node = NEW_ARRAY(&scratch, Node, n + 1), .number = NEW_ARRAY(&scratch, uint32_t, ids)};
    s.work = NEW_ARRAY(&scratch, uint32_t, ids);
    s.rpo = NEW_ARRAY(&scratch, BlockId, n) + n;
    memcpy(s.work, g->succs.first, ids * sizeof *s.work);
    number_blocks(&s, s.work);
    find_dominators(&s, n);
    for (uint32_t w = 2; w <= n; w++)
        d->idom[s.node[w].block] = s.node[s.node[w].idom].block;
    tree_layout(&(Tree){d->idom, d->order, d->pre, d->size}, s.rpo, n - (g->root == 0), s.work);
    arena_free(&scratch);
}

/* -- Comparison ----------------------------------------------------------------------------------------- */

// Returns the immediate dominator of a block as text, such as `b3`. If it has none: `root` for a block in the tree,
// else "nothing".
static const char *idom_text(const Fn *fn, const DomTree *d, BlockId b, const char *root, char text[static 16])
{
    if (!d->idom[b])
        return d->size[b] ? root : "nothing";
    snprintf(text, 16, "b%u", ir_block(fn, d->idom[b])->ordinal);
    return text;
}

bool dom_tree_same(const Fn *fn, const DomTree *kept, const DomTree *now, const char *what, const char *root,
                   char why[static 150])
{
    char was[16], is[16];
    for (BlockId b = 1; b < fn->blocks.n; b++)
        if (kept->idom[b] != now->idom[b] || !kept->size[b] != !now->size[b]) {
            snprintf(why, 150, "the immediate %s of b%u is %s, not %s", what, ir_block(fn, b)->ordinal,
                     idom_text(fn, now, b, root, is), idom_text(fn, kept, b, root, was));
            return false;
        }
    return true;
}
