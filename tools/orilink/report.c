// SPDX-License-Identifier: MIT
// Reports of what is removed, and why the rest stays.
#include "tools/orilink/link.h"

static void removed_section(const Link *link, const Cubin *c, uint32_t section)
{
    if (link->verbose)
        out_fmt(link->verbose, "removed un-used section %s (%u)\n", cubin_section(c, section)->text,
                section_number(c, section));
}

// Prints the sections of a function that is removed, its code first.
static void removed_function(const Link *link, const Cubin *c, uint32_t code, Out *gc)
{
    if (link->verbose)
        out_fmt(link->verbose, "dead function %u(%s)\n", c->function[code], cubin_symbol(c, c->function[code])->text);
    removed_section(link, c, code);
    if (gc)
        out_fmt(gc, "removing unused section '%s' in file '%s'\n", cubin_section(c, code)->text, c->elf.file);
    for (uint32_t k = 1; k < c->elf.sections.n; k++) {
        if (k == code || c->owner[k] != code)
            continue;
        removed_section(link, c, k);
        if (gc)
            out_fmt(gc, "removing unused section '%s' in file '%s'\n", cubin_section(c, k)->text, c->elf.file);
    }
}

void report_removed(const Link *link, Out *gc)
{
    for (uint32_t k = 0; k < link->inputs.n; k++) {
        const Input *in = &link->inputs.at[k];
        const Cubin *c = &in->cubin;
        for (uint32_t s = 1; s < c->elf.sections.n && !c->fixed; s++)
            if (c->function[s] && !link->nodes.at[in->node[c->function[s]]].live)
                removed_function(link, c, s, gc);
        for (uint32_t v = 0; v < in->variables.n && !c->fixed && gc; v++)
            if (!link->nodes.at[in->node[in->variables.at[v].symbol]].live)
                out_fmt(gc, "removing unused variable '%s' in file '%s'\n",
                        cubin_symbol(c, in->variables.at[v].symbol)->text, c->elf.file);
    }
}

/* -- Reasons --------------------------------------------------------------------------------------------- */

static const char *const edge_words[] = {
    [EDGE_CALL] = "calls",       [EDGE_ADDRESS] = "takes the address of",
    [EDGE_REFERS] = "refers to", [EDGE_INDIRECT] = "may call indirectly",
    [EDGE_PART] = "contains",
};

// Prints the references that lead from a root to a node.
static void print_chain(const Link *link, NodeId n, Arena *scratch, Out *out)
{
    const Node *nodes = link->nodes.at;
    VEC(NodeId) chain = {0};
    for (; n; n = nodes[n].by)
        VEC_PUSH(scratch, &chain, n);
    for (uint32_t k = chain.n; k-- > 0;) {
        const Node *node = &nodes[chain.at[k]];
        if (node->by)
            out_fmt(out, "  %s %s\n", edge_words[node->why], node->name);
        else
            out_fmt(out, "  %s: %s\n", node->name, node->root ? node->root : "a caller or its address keeps it");
    }
}

bool report_why_live(const Link *link, const char *name, Nearest *nearest, Out *out)
{
    bool found = false;
    Arena scratch;
    arena_init(&scratch, link->heap);
    for (NodeId n = 1; n < link->nodes.n; n++) {
        const Node *node = &link->nodes.at[n];
        if (node->kind == NODE_SECTION)
            continue;
        nearest_offer(nearest, name, strlen(name), node->name);
        if (strcmp(node->name, name) != 0)
            continue;
        found = true;
        out_fmt(out, "%s is %s\n", name, node->live ? "live:" : "dead: nothing that is live refers to it");
        if (node->live)
            print_chain(link, n, &scratch, out);
    }
    arena_free(&scratch);
    return found;
}
