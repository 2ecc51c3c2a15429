// SPDX-License-Identifier: MIT
// Scope trees: sparse sets of block numbers for phase 49, as red-black trees of bitsets (base.h).
//
// Documented: the record of a node, the decomposition of an index, iteration in ascending order, removal of one node at
// a time to a free list. Inferred: only the first node is removed. It is at the left end of the tree, so rebalancing
// needs only the cases of a left subtree.
#include "ir/base/base.h"

enum { LEFT, RIGHT };
#define BLACK 0x80000000u

_Static_assert(sizeof(ScopeNode) == 64 || sizeof(void *) != 8, "a node is a cache line");

static uint32_t key_of(const ScopeNode *n) { return n->key & ~BLACK; }
static bool is_red(const ScopeNode *n) { return n && !(n->key & BLACK); }
static void make_red(ScopeNode *n) { n->key &= ~BLACK; }
static void make_black(ScopeNode *n) { n->key |= BLACK; }

/* -- Balance -------------------------------------------------------------------------------------------- */

// Puts `to`, or nothing, where `from` is below its parent.
static void replace(ScopeTree *t, const ScopeNode *from, ScopeNode *to)
{
    ScopeNode *parent = from->parent;
    if (parent)
        parent->child[from == parent->child[RIGHT]] = to;
    else
        t->root = to;
    if (to)
        to->parent = parent;
}

// Moves a node down to the side `down`. Its child on the other side takes its place.
static void rotate(ScopeTree *t, ScopeNode *n, int down)
{
    ScopeNode *up = n->child[!down], *inner = up->child[down];
    replace(t, n, up);
    n->child[!down] = inner;
    if (inner)
        inner->parent = n;
    up->child[down] = n;
    n->parent = up;
}

// Restores the invariants after a red node was added.
static void balance_added(ScopeTree *t, ScopeNode *n)
{
    while (is_red(n->parent)) {
        ScopeNode *parent = n->parent, *above = parent->parent;
        int side = parent == above->child[RIGHT];
        ScopeNode *uncle = above->child[!side];
        if (is_red(uncle)) {
            make_black(parent);
            make_black(uncle);
            make_red(above);
            n = above;
            continue;
        }
        if (n == parent->child[!side]) {
            rotate(t, parent, side);
            parent = n;
        }
        make_black(parent);
        make_red(above);
        rotate(t, above, !side);
        break;
    }
    make_black(t->root);
}

// Restores the invariants after a black node was removed. The left subtree of `parent`, whose root is `n` or nothing,
// lacks a black node.
static void balance_removed(ScopeTree *t, ScopeNode *parent, ScopeNode *n)
{
    while (parent && !is_red(n)) {
        ScopeNode *sibling = parent->child[RIGHT];
        if (is_red(sibling)) {
            make_black(sibling);
            make_red(parent);
            rotate(t, parent, LEFT);
            sibling = parent->child[RIGHT];
        }
        if (!is_red(sibling->child[LEFT]) && !is_red(sibling->child[RIGHT])) {
            make_red(sibling);
            n = parent;
            parent = n->parent;
            continue;
        }
        if (!is_red(sibling->child[RIGHT])) {
            make_black(sibling->child[LEFT]);
            make_red(sibling);
            rotate(t, sibling, RIGHT);
            sibling = parent->child[RIGHT];
        }
        sibling->key = key_of(sibling) | (parent->key & BLACK);
        make_black(parent);
        make_black(sibling->child[RIGHT]);
        rotate(t, parent, LEFT);
        return;
    }
    if (n)
        make_black(n);
}

/* -- Sets ----------------------------------------------------------------------------------------------- */

void scope_tree_init(ScopeTree *t, Arena *arena) { *t = (ScopeTree){.arena = arena}; }

static ScopeNode *find(const ScopeTree *t, uint32_t key)
{
    ScopeNode *n = t->last && key_of(t->last) == key ? t->last : t->root;
    while (n && key_of(n) != key)
        n = n->child[key > key_of(n)];
    return n;
}

static ScopeNode *new_node(ScopeTree *t, uint32_t key)
{
    ScopeNode *n = t->free;
    if (n)
        t->free = n->child[RIGHT];
    else
        n = arena_alloc(t->arena, sizeof *n);
    *n = (ScopeNode){.key = key};
    t->n++;
    return n;
}

static ScopeNode *add_node(ScopeTree *t, uint32_t key)
{
    ScopeNode *parent = NULL, *n = new_node(t, key);
    for (ScopeNode *at = t->root; at; at = at->child[key > key_of(at)])
        parent = at;
    n->parent = parent;
    if (parent)
        parent->child[key > key_of(parent)] = n;
    else
        t->root = n;
    balance_added(t, n);
    return n;
}

bool scope_tree_add(ScopeTree *t, uint32_t index)
{
    ScopeNode *n = find(t, index >> 8);
    if (!n)
        n = add_node(t, index >> 8);
    t->last = n;
    uint64_t *word = &n->bits[index >> 6 & 3], bit = (uint64_t)1 << (index & 63), before = *word;
    *word |= bit;
    return !(before & bit);
}

bool scope_tree_has(const ScopeTree *t, uint32_t index)
{
    const ScopeNode *n = find(t, index >> 8);
    return n && n->bits[index >> 6 & 3] >> (index & 63) & 1;
}

/* -- Iteration, removal --------------------------------------------------------------------------------- */

static ScopeNode *first_below(ScopeNode *n)
{
    while (n && n->child[LEFT])
        n = n->child[LEFT];
    return n;
}

static const ScopeNode *node_after(const ScopeNode *n)
{
    if (n->child[RIGHT])
        return first_below(n->child[RIGHT]);
    while (n->parent && n == n->parent->child[RIGHT])
        n = n->parent;
    return n->parent;
}

ScopeCursor scope_tree_first(const ScopeTree *t) { return (ScopeCursor){first_below(t->root), 0}; }

// `from` is at most 256, so no shift is by 64: a word that is at its end is skipped.
uint32_t scope_tree_next(ScopeCursor *c)
{
    for (; c->node; *c = (ScopeCursor){node_after(c->node), 0}) {
        while (c->from < 256) {
            uint32_t word = c->from >> 6;
            uint64_t bits = c->node->bits[word] >> (c->from & 63);
            if (bits) {
                uint32_t at = c->from + (uint32_t)__builtin_ctzll(bits);
                c->from = at + 1;
                return at | key_of(c->node) << 8;
            }
            c->from = (word + 1) << 6;
        }
    }
    return SCOPE_END;
}

// Removes the first node of a tree that is not empty.
static void remove_first(ScopeTree *t)
{
    ScopeNode *n = first_below(t->root), *child = n->child[RIGHT];
    replace(t, n, child);
    if (n->key & BLACK)
        balance_removed(t, n->parent, child);
    n->child[RIGHT] = t->free;
    t->free = n;
    t->n--;
}

bool scope_tree_drop(ScopeTree *t)
{
    t->last = NULL;
    if (t->root)
        remove_first(t);
    return t->root;
}
