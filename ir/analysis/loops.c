// SPDX-License-Identifier: MIT
// The loop nesting forest, of irreducible flow too, by the algorithm of Tarjan and Havlak ("Nesting of reducible and
// irreducible loops", 1997) as Ramalingam changed it ("Identifying loops in almost linear time", 1999): O(m log n)
// since finding compresses paths but does not balance, without recursion.
//
// A loop is a strongly connected region; its header is the block of it that a depth-first search reaches first, and the
// loops inside are those of the region without its header. So the loop of header w is what reaches w without leaving
// the subtree of w in the depth-first tree. Headers are tried from the last reached to the first, so inner loops are
// found before outer ones, and each is then collapsed into its header: the loop of w is found by walking backward from
// the ends of the edges to w, over blocks and collapsed loops.
//
// The walk may only use edges within the subtree of w. Havlak looks at the others and hands them on to w, over and over
// where irreducible loops are nested. Here an edge is seen first when the nearest common ancestor of its ends is tried,
// and then belongs to what its target is collapsed into. That ancestor is found during the search: an edge to a block
// that was reached before meets at the last ancestor of that block that the search is not done with.
//
// Whether the header is the only entry is left to the dominators: it is, if it dominates the ends of the edges back.
#include <stdio.h>

#include "ir/analysis/analysis_internal.h"

// A reachable block; all fields but the first are numbers in preorder or of edges, 0 = none.
typedef struct Node {
    BlockId block;
    uint32_t parent;  // in the depth-first tree
    uint32_t up;      // itself, or an ancestor on the way to what find() finds
    uint32_t around;  // the header of the innermost loop around it, other than itself
    uint32_t meet;    // edges whose nearest common ancestor this is
    uint32_t in;      // edges into it and what is collapsed into it
    bool header;
} Node;

// An edge outside the depth-first tree.
typedef struct Edge {
    uint32_t from, to;
    uint32_t next;  // in the list that it is in
} Edge;

typedef struct Search {
    const Analyses *a;
    Node *node;        // by number: 1 .. n
    uint32_t *number;  // by BlockId, 0 = unreachable
    Edge *edge;        // 1 .. nedges
    uint32_t nedges;
    uint32_t *body;  // what was collapsed, in the order in which it was found
    uint32_t nbody;
} Search;

// The last on the way up that goes no further.
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

// Numbers the reachable blocks depth-first. From what is done the way leads up to what is not. `next` is the first edge
// not yet looked at.
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

// Adds what y is collapsed into to the loop of w, unless it is there or is w.
static void collapse(Search *s, uint32_t y, uint32_t w)
{
    y = find(s->node, y);
    if (y == w)
        return;
    s->node[y].up = s->node[y].around = w;
    s->body[s->nbody++] = y;
}

// Edges that lead back to w, or into what is in its loop by now, start the loop; the others wait where they lead to.
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

// Puts the blocks in order, each loop behind its header, and numbers the loops in that order.
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

// Where a loop is, or a block that is in no other loop: `that of b3`.
static const char *loop_text(const Fn *fn, const LoopForest *f, uint32_t loop, bool reachable, char text[static 24])
{
    if (!loop)
        return reachable ? "none" : "nothing";
    snprintf(text, 24, "that of b%u", ir_block(fn, f->loop[loop].header)->ordinal);
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

// The loops of the same header.
static bool same_loop(const Fn *fn, const LoopForest *kept, const LoopForest *now, uint32_t k, uint32_t n,
                      char why[static 150])
{
    const Loop *was = &kept->loop[k], *is = &now->loop[n];
    uint32_t header = n ? ir_block(fn, is->header)->ordinal : 0;
    char outside[24], inside[24];
    if (kept->loop[was->parent].header != now->loop[is->parent].header)
        snprintf(why, 150, "the loop around that of b%u is %s, not %s", header,
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
