// SPDX-License-Identifier: MIT
// Strongly connected components of a graph, callees first, by Tarjan's algorithm without recursion.
#ifndef ORI_COMPONENTS_H
#define ORI_COMPONENTS_H

#include "tools/orilink/link.h"

#define NODE_SKIPPED UINT32_MAX  // as a successor: the edge does not count

// Finds successor `k` of a node. False: it has fewer.
typedef bool Successor(void *user, NodeId n, uint32_t k, NodeId *to);
// Takes a component. Those that it reaches are complete.
typedef void Component(void *user, const NodeId *nodes, uint32_t n);

typedef struct Components {
    Arena *arena;
    void *user;
    Successor *successor;
    Component *component;
    uint32_t *number;  // by NodeId: in the order of the search, from 1; 0 = not visited
    uint32_t *low;     // by NodeId: the least number that it reaches within its component
    uint32_t *next;    // by NodeId: the next successor to follow
    bool *open;        // by NodeId: it was visited, and its component is not complete
    uint32_t visited;
    VEC(NodeId) path, incomplete;  // incomplete: the open nodes
} Components;

// Makes a search of a graph with `n` nodes. Set `user`, `successor` and `component` before; nothing was visited yet.
void components_init(Components *c, Arena *arena, uint32_t n);
// Finds the components of all that a node reaches, and that were not visited yet.
void components_search(Components *c, NodeId start);

#endif
