// SPDX-License-Identifier: MIT
// Finds the strongly connected components of a graph.
#include "tools/orilink/components.h"

void components_init(Components *c, Arena *arena, uint32_t n)
{
    c->arena = arena;
    c->number = NEW_ARRAY(arena, uint32_t, n);
    c->low = NEW_ARRAY(arena, uint32_t, n);
    c->next = NEW_ARRAY(arena, uint32_t, n);
    c->open = NEW_ARRAY(arena, bool, n);
}

static void visit(Components *c, NodeId n)
{
    c->number[n] = c->low[n] = ++c->visited;
    c->open[n] = true;
    VEC_PUSH(c->arena, &c->path, n);
    VEC_PUSH(c->arena, &c->incomplete, n);
}

// Follows the next edge of the last node on the path. False: it has no more.
static bool follow(Components *c)
{
    NodeId n = c->path.at[c->path.n - 1], to;
    while (c->successor(c->user, n, c->next[n], &to)) {
        c->next[n]++;
        if (to == NODE_SKIPPED)
            continue;
        if (!c->number[to]) {
            visit(c, to);
            return true;
        }
        if (c->open[to])
            c->low[n] = MIN(c->low[n], c->number[to]);
    }
    return false;
}

static void complete(Components *c, NodeId root)
{
    uint32_t first = c->incomplete.n;
    while (c->incomplete.at[--first] != root)
        continue;
    c->component(c->user, c->incomplete.at + first, c->incomplete.n - first);
    for (uint32_t k = first; k < c->incomplete.n; k++)
        c->open[c->incomplete.at[k]] = false;
    c->incomplete.n = first;
}

void components_search(Components *c, NodeId start)
{
    if (c->number[start])
        return;
    visit(c, start);
    while (c->path.n) {
        if (follow(c))
            continue;
        NodeId done = c->path.at[--c->path.n];
        if (c->low[done] == c->number[done])
            complete(c, done);
        if (c->path.n) {
            NodeId caller = c->path.at[c->path.n - 1];
            c->low[caller] = MIN(c->low[caller], c->low[done]);
        }
    }
}
