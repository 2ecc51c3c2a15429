// SPDX-License-Identifier: MIT
// Finds the functions with constants that each kernel reaches.
//
// A walk of the graph for each kernel would visit functions without constants over and over. So each function gets a
// set first, in one walk: none, one function with constants, or a union of sets. Functions of one strongly connected
// component have the same set. A function without constants that calls one set takes that set, and unions of the same
// sets are one. Then the walks for kernels visit only sets that differ.
#include <stdlib.h>

#include "tools/orilink/banks.h"
#include "tools/orilink/components.h"

typedef uint32_t SetId;  // 0 = empty; up to the number of functions with constants: one, by its index + 1; else a union

typedef struct Union {
    uint32_t first, n;  // in `parts`
} Union;

typedef struct Search {
    Banks *b;
    Arena scratch;
    bool *calls_anything;  // by NodeId: it calls functions by their addresses
    VEC(NodeId) taken;     // functions whose address is taken: the successors of node 0
    Components components;
    SetId *set;         // by NodeId; before its component is complete: of the node alone
    VEC(Union) unions;  // the SetId of the first one is the number of functions + 1
    VEC(SetId) parts;
    IdSet index;           // of unions, by their parts
    VEC(uint32_t) marked;  // by SetId: number of the component or kernel that has it last
    uint32_t marks;
} Search;

/* -- Edges ----------------------------------------------------------------------------------------------- */

// Finds functions whose address is taken, and those that call functions by address.
static void read_addresses(Search *s)
{
    const Link *link = s->b->link;
    bool *taken = NEW_ARRAY(&s->scratch, bool, link->nodes.n);
    NodeId *caller = NEW_ARRAY(&s->scratch, NodeId, link->nodes.n);  // the last one by a record
    for (NodeId n = 1; n < link->nodes.n; n++) {
        uint32_t count;
        const Edge *edges = node_edges(link, n, &count);
        for (uint32_t k = 0; k < count; k++)
            if (edges[k].kind == EDGE_CALL)
                caller[edges[k].to] = n;
        for (uint32_t k = 0; k < count; k++)  // a relocation for which there is a record of a call is that call
            taken[edges[k].to] |=
                edges[k].kind == EDGE_ADDRESS || (edges[k].kind == EDGE_REFERS && caller[edges[k].to] != n);
    }
    for (uint32_t k = 0; k < link->inputs.n; k++)
        for (uint32_t i = 0; i < link->inputs.at[k].cubin.calls.n; i++) {
            const CallRecord *call = &link->inputs.at[k].cubin.calls.at[i];
            NodeId n = link->inputs.at[k].node[call->a];
            taken[n] |= call->group == HAS_SIGNATURE;
            s->calls_anything[n] |= call->group == CALLS_SIGNATURE;
        }
    s->calls_anything[0] = false;
    for (NodeId n = 1; n < link->nodes.n; n++)
        if (taken[n] && link->nodes.at[n].live && link->nodes.at[n].kind <= NODE_KERNEL)
            VEC_PUSH(&s->scratch, &s->taken, n);
}

// Finds successor `k` of a node. False: it has fewer.
static bool successor(void *user, NodeId n, uint32_t k, NodeId *to)
{
    const Search *s = user;
    uint32_t count;
    const Edge *edges = node_edges(s->b->link, n, &count);
    if (!n && k < s->taken.n)
        return *to = s->taken.at[k], true;
    if (n && k < count)
        return *to = edges[k].to, true;
    *to = 0;
    return n && k == count && s->calls_anything[n];
}

/* -- Sets ------------------------------------------------------------------------------------------------ */

// True if a set is not marked yet.
static bool mark(Search *s, SetId set)
{
    if (!set || s->marked.at[set] == s->marks)
        return false;
    s->marked.at[set] = s->marks;
    return true;
}

static int by_id(const void *a, const void *b)
{
    SetId x = *(const SetId *)a, y = *(const SetId *)b;
    return (x > y) - (x < y);
}

// Returns the union of the sets at the end of `parts`, from `first` on, which it removes if they have a set already.
static SetId unite(Search *s, uint32_t first)
{
    uint32_t n = s->parts.n - first;
    if (!n)
        return 0;
    SetId *parts = s->parts.at + first;
    SetId only = parts[0];
    if (n > 1) {
        qsort(parts, n, sizeof *parts, by_id);
        uint32_t hash = hash_bytes(parts, n * sizeof *parts);
        only = s->b->functions.n + 1 + s->unions.n;
        IDSET_EACH(&s->index, hash, id) {
            const Union *u = &s->unions.at[id];
            if (u->n == n && memcmp(s->parts.at + u->first, parts, n * sizeof *parts) == 0)
                only = s->b->functions.n + 1 + id;
        }
        if (only == s->b->functions.n + 1 + s->unions.n) {
            idset_add(&s->index, &s->scratch, hash, s->unions.n);
            VEC_PUSH(&s->scratch, &s->unions, ((Union){first, n}));
            VEC_PUSH(&s->scratch, &s->marked, 0);
            return only;
        }
    }
    s->parts.n = first;
    return only;
}

// Gives the functions of a component their set.
static void complete(void *user, const NodeId *nodes, uint32_t n)
{
    Search *s = user;
    uint32_t parts = s->parts.n;
    s->marks++;
    for (uint32_t k = 0; k < n; k++) {
        NodeId to;
        if (mark(s, s->set[nodes[k]]))
            VEC_PUSH(&s->scratch, &s->parts, s->set[nodes[k]]);
        for (uint32_t e = 0; successor(s, nodes[k], e, &to); e++)
            if (!s->components.open[to] && mark(s, s->set[to]))
                VEC_PUSH(&s->scratch, &s->parts, s->set[to]);
    }
    SetId set = unite(s, parts);
    for (uint32_t k = 0; k < n; k++)
        s->set[nodes[k]] = set;
}

/* -- Kernels --------------------------------------------------------------------------------------------- */

// Adds a kernel with the functions of its set.
static void add_kernel(Search *s, NodeId kernel)
{
    Banks *b = s->b;
    BankKernel k = {.node = kernel};
    VEC(SetId) work = {0};
    Arena scratch;
    arena_init(&scratch, b->link->heap);
    s->marks++;
    if (mark(s, s->set[kernel]))
        VEC_PUSH(&scratch, &work, s->set[kernel]);
    for (uint32_t at = 0; at < work.n; at++) {
        SetId set = work.at[at];
        if (set <= b->functions.n) {
            VEC_PUSH(&b->arena, &k.functions, set - 1);
            k.before += b->functions.at[set - 1].size;
            continue;
        }
        const Union *u = &s->unions.at[set - b->functions.n - 1];
        for (uint32_t i = 0; i < u->n; i++)
            if (mark(s, s->parts.at[u->first + i]))
                VEC_PUSH(&scratch, &work, s->parts.at[u->first + i]);
    }
    VEC_PUSH(&b->arena, &b->kernels, k);
    arena_free(&scratch);
}

void banks_reach(Banks *b)
{
    const Link *link = b->link;
    Search s = {.b = b};
    arena_init(&s.scratch, link->heap);
    s.calls_anything = NEW_ARRAY(&s.scratch, bool, link->nodes.n);
    s.components = (Components){.user = &s, .successor = successor, .component = complete};
    components_init(&s.components, &s.scratch, link->nodes.n);
    s.set = NEW_ARRAY(&s.scratch, SetId, link->nodes.n);
    read_addresses(&s);
    VEC_PUSH(&s.scratch, &s.marked, 0);
    for (uint32_t k = 0; k < b->functions.n; k++) {
        s.set[b->functions.at[k].node] = k + 1;
        VEC_PUSH(&s.scratch, &s.marked, 0);
    }
    for (NodeId n = 1; n < link->nodes.n; n++) {
        if (link->nodes.at[n].kind != NODE_KERNEL || !link->nodes.at[n].live)
            continue;
        components_search(&s.components, n);
        add_kernel(&s, n);
    }
    arena_free(&s.scratch);
}
