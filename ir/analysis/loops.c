// SPDX-License-Identifier: MIT
// Computes the loop nesting forest, irreducible loops included, by the algorithm of Tarjan and Havlak ("Nesting of
// reducible and irreducible loops", 1997) with Ramalingam's modification ("Identifying loops in almost linear time",
// 1999). Takes O(m log n), since find() compresses paths without balancing; without recursion.
//
// A loop is a strongly connected region. Its header is the block that a depth-first search reaches first, and its inner
// loops are those of the region without the header. So the loop of header w has the blocks that reach w within the
// subtree of w in the depth-first tree. Blocks are tried as headers from the last reached to the first, so inner loops
// are found before outer loops. Each loop is then collapsed into its header. The loop of w is found by a backward walk
// from the sources of the edges to w, over blocks and collapsed loops.
//
// The walk may only use edges within the subtree of w. Havlak's walk also visits other edges and moves them to w,
// repeatedly if irreducible loops are nested. Here an edge is added when the nearest common ancestor of its ends is
// tried as a header. The target of the edge is then the header into which its target is collapsed. The depth-first
// search finds the nearest common ancestor: for an edge to a visited block, it is the nearest unfinished ancestor of
// that block.
//
// The header is the only entry if it dominates the sources of the back edges. The header of an irreducible loop depends
// on the order of successors, as AN_RPO does, and not on block ids. So a function that is printed and read again has
// the same headers. A phase that swaps the targets of branches may keep AN_LOOPS only if all loops are reducible.
#include <stdio.h>

#include "ir/analysis/analysis_internal.h"

// A reachable block. All fields except `block` are numbers in preorder or of edges, 0 = none.
typedef struct Node {
    BlockId block;
    uint32_t parent;  // in the depth-first tree
    uint32_t up;      // itself, or an ancestor on the path to the result of find()
    uint32_t around;  // the header of the innermost loop that contains it, other than itself
    uint32_t meet;    // list of the edges whose nearest common ancestor this is
    uint32_t in;      // list of the edges into it and into blocks collapsed into it
    bool header;
} Node;

// An edge outside the depth-first tree.
typedef struct Edge {
    uint32_t from, to;
    uint32_t next;  // in the same list
} Edge;

typedef struct Search {
    const Analyses *a;
    Node *node;        // by number: 1 .. n
    uint32_t *number;  // by BlockId, 0 = unreachable
    Edge *edge;        // 1 .. nedges
    uint32_t nedges;
    uint32_t *body;  // collapsed blocks, in the order in which they were found
    uint32_t nbody;
} Search;

// Returns the root of x along `up`, with path halving.
static uint32_t find(Node *node, uint32_t x)
{
    for (; node[x].up != x; x = node[x].up)
        node[x].up = node[node[x].up].up;
    return x;
}

/* -- The search ----------------------------------------------------------------------------------------- */

static uint32_t add_node(Search *s, BlockId b, uint32_t parent, uint32_t n)
{
    s->number[b] = n;
    s->node[n] = (Node){.block = b, .parent = parent, .up = n};
    return n;
}

static void add_edge(Search *s, uint32_t from, uint32_t to)
{
    Node *ancestor = &s->node[find(s->node, to)];
    s->edge[++s->nedges] = (Edge){from, to, ancestor->meet};
    ancestor->meet = s->nedges;
}

// Numbers the reachable blocks depth-first. `up` of a finished block is its parent. next[b] is the first edge of b that
// is not yet followed.
static void search_blocks(Search *s, BlockId entry, uint32_t *next)
{
    const Edges *succs = &s->a->succs;
    uint32_t n = 1;
    for (uint32_t w = add_node(s, entry, 0, n); w;) {
        BlockId b = s->node[w].block;
        if (next[b] == succs->first[b + 1]) {
            w = s->node[w].up = s->node[w].parent;
            continue;
        }
        BlockId to = succs->at[next[b]++];
        if (s->number[to])
            add_edge(s, w, s->number[to]);
        else
            w = add_node(s, to, w, ++n);
    }
}

/* -- Loops, from the inside out ------------------------------------------------------------------------- */

// Adds to the loop of w the block into which y is collapsed, unless it is w.
static void collapse(Search *s, uint32_t y, uint32_t w)
{
    y = find(s->node, y);
    if (y == w)
        return;
    s->node[y].up = s->node[y].around = w;
    s->body[s->nbody++] = y;
}

// Starts the loop of w with the edges to w and to blocks already in its loop. The other edges move to the lists of
// their targets.
static void take_edges(Search *s, uint32_t w)
{
    for (uint32_t e = s->node[w].meet, next; e; e = next) {
        uint32_t to = find(s->node, s->edge[e].to);
        next = s->edge[e].next;
        if (to == w) {
            s->node[w].header = true;
            collapse(s, s->edge[e].from, w);
        } else {
            s->edge[e].next = s->node[to].in;
            s->node[to].in = e;
        }
    }
}

static void find_loop(Search *s, uint32_t w)
{
    uint32_t k = s->nbody;
    for (take_edges(s, w); k < s->nbody; k++) {
        const Node *x = &s->node[s->body[k]];
        collapse(s, x->parent, w);
        for (uint32_t e = x->in; e; e = s->edge[e].next)
            collapse(s, s->edge[e].from, w);
    }
}

static void find_loops(Search *s, uint32_t n)
{
    for (uint32_t w = 1; w <= n; w++)
        s->node[w].up = w;
    for (uint32_t w = n; w; w--)
        find_loop(s, w);
}

/* -- The forest ----------------------------------------------------------------------------------------- */

static bool header_dominates(const Analyses *a, uint32_t loop)
{
    BlockId header = a->loops.loop[loop].header;
    FOR_PREDS(a, header, p)
        if (loop_contains(a, loop, *p) && !dominates(a, header, *p))
            return false;
    return true;
}

// Numbers the loops in the order of their headers, and finds the innermost loop of each block.
static void make_forest(const Search *s, LoopForest *f, uint32_t n, const Tree *t)
{
    uint32_t loops = 0;
    for (uint32_t k = 0; k < n; k++) {
        BlockId b = f->order[k];
        uint32_t parent = f->of[t->parent[b]];
        f->of[b] = parent;
        if (!s->node[s->number[b]].header)
            continue;
        f->of[b] = ++loops;
        f->loop[loops] = (Loop){b, parent, f->loop[parent].depth + 1, k, t->size[b], true};
    }
}

static void build_forest(const Search *s, const Fn *fn, Analyses *a, Arena *scratch)
{
    uint32_t ids = fn->blocks.n, n = a->nrpo;
    Arena *arena = &a->arena[AX_LOOPS];
    LoopForest *f = &a->loops;
    BlockId *around = NEW_ARRAY(scratch, BlockId, ids);
    *f = (LoopForest){0};
    for (uint32_t w = 1; w <= n; w++) {
        f->n += s->node[w].header;
        around[s->node[w].block] = s->node[s->node[w].around].block;
    }
    f->loop = NEW_ARRAY(arena, Loop, f->n + 1);
    f->loop[0] = (Loop){.n = n, .reducible = true};
    f->order = NEW_ARRAY(arena, BlockId, n);
    f->of = NEW_ARRAY(arena, uint32_t, ids);
    f->pre = arena_alloc(arena, ids * sizeof *f->pre);
    memset(f->pre, 0xff, ids * sizeof *f->pre);
    Tree t = {around, f->order, f->pre, NEW_ARRAY(scratch, uint32_t, ids)};
    tree_layout(&t, a->rpo, n, NEW_ARRAY(scratch, uint32_t, ids));
    make_forest(s, f, n, &t);
    for (uint32_t l = 1; l <= f->n; l++)
        f->loop[l].reducible = header_dominates(a, l);
}

void loops_build(const Fn *fn, Analyses *a)
{
    uint32_t ids = fn->blocks.n, n = a->nrpo;
    Arena scratch;
    arena_init(&scratch, fn->arena.heap);
    Search s = {.a = a, .node = NEW_ARRAY(&scratch, Node, n + 1), .number = NEW_ARRAY(&scratch, uint32_t, ids)};
    s.edge = arena_alloc(&scratch, (a->succs.first[ids] + 1) * sizeof *s.edge);
    s.body = arena_alloc(&scratch, (n + 1) * sizeof *s.body);
    if (n) {
        uint32_t *next = arena_alloc(&scratch, ids * sizeof *next);
        memcpy(next, a->succs.first, ids * sizeof *next);
        search_blocks(&s, fn->first, next);
        find_loops(&s, n);
    }
    build_forest(&s, fn, a, &scratch);
    arena_free(&scratch);
}

/* -- Comparison ----------------------------------------------------------------------------------------- */

// Returns a loop as text: "the loop of b3", "none" for number 0, or "nothing" if the block is unreachable.
static const char *loop_text(const Fn *fn, const LoopForest *f, uint32_t loop, bool reachable, char text[static 24])
{
    if (!loop)
        return reachable ? "none" : "nothing";
    snprintf(text, 24, "the loop of b%u", ir_block(fn, f->loop[loop].header)->ordinal);
    return text;
}

static bool same_block(const Fn *fn, const LoopForest *kept, const LoopForest *now, BlockId b, char why[static 150])
{
    uint32_t k = kept->of[b], n = now->of[b];
    bool was_reached = kept->pre[b] != UINT32_MAX, is_reached = now->pre[b] != UINT32_MAX;
    char was[24], is[24];
    if (kept->loop[k].header == now->loop[n].header && was_reached == is_reached)
        return true;
    snprintf(why, 150, "the innermost loop of b%u is %s, not %s", ir_block(fn, b)->ordinal,
             loop_text(fn, now, n, is_reached, is), loop_text(fn, kept, k, was_reached, was));
    return false;
}

// Compares two loops of the same header.
static bool same_loop(const Fn *fn, const LoopForest *kept, const LoopForest *now, uint32_t k, uint32_t n,
                      char why[static 150])
{
    const Loop *was = &kept->loop[k], *is = &now->loop[n];
    uint32_t header = n ? ir_block(fn, is->header)->ordinal : 0;
    char outside[24], inside[24];
    if (kept->loop[was->parent].header != now->loop[is->parent].header)
        snprintf(why, 150, "the parent of the loop of b%u is %s, not %s", header,
                 loop_text(fn, now, is->parent, true, inside), loop_text(fn, kept, was->parent, true, outside));
    else if (was->reducible != is->reducible)
        snprintf(why, 150, "the loop of b%u is %s", header, is->reducible ? "reducible" : "irreducible");
    else
        return true;
    return false;
}

bool loops_same(const Fn *fn, const Analyses *kept, Analyses *now, char why[static 150])
{
    const LoopForest *k = &kept->loops, *n = &now->loops;
    for (BlockId b = 1; b < fn->blocks.n; b++)
        if (!same_block(fn, k, n, b, why) || !same_loop(fn, k, n, k->of[b], n->of[b], why))
            return false;
    return true;
}
