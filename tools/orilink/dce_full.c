// SPDX-License-Identifier: MIT
// Dead code elimination by reachability: what no root reaches over the edges of the graph is dead. Functions that
// nvlink never removes are roots.
#include "tools/orilink/link.h"

typedef VEC(NodeId) Work;

static void make_live(Link *link, Arena *scratch, Work *work, NodeId n, NodeId by, EdgeKind why)
{
    Node *node = &link->nodes.at[n];
    if (node->live)
        return;
    node->live = true;
    node->by = by;
    node->why = why;
    VEC_PUSH(scratch, work, n);
}

static bool is_pinned(const Link *link, const Node *node)
{
    if (node->kind > NODE_KERNEL)
        return false;
    const ElfSymbol *s = cubin_symbol(&link->inputs.at[node->input].cubin, node->symbol);
    return s->section != SHN_UNDEF && symbol_is_pinned(s);
}

void dce_full(Link *link)
{
    Arena scratch;
    Work work = {0};
    arena_init(&scratch, link->heap);
    for (NodeId n = 1; n < link->nodes.n; n++) {
        Node *node = &link->nodes.at[n];
        if (!node->root && is_pinned(link, node))
            node->root = "nvlink never removes it";
        if (node->root)
            make_live(link, &scratch, &work, n, 0, EDGE_ROOT);
    }
    for (uint32_t at = 0; at < work.n; at++) {  // breadth first, so that chains of reasons are short
        uint32_t count;
        const Edge *edges = node_edges(link, work.at[at], &count);
        for (uint32_t k = 0; k < count; k++)
            make_live(link, &scratch, &work, edges[k].to, edges[k].from, edges[k].kind);
    }
    arena_free(&scratch);
}
