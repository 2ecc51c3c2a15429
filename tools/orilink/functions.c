// SPDX-License-Identifier: MIT
// Properties of functions that depend on what they call: registers, stack, and recursion. They are found by strongly
// connected components of direct calls, callees first. A component of several functions, or of one that calls itself,
// is recursive, and the stack of what reaches it has no bound.
#include "tools/orilink/components.h"
#include "tools/orilink/demangle.h"

typedef struct Search {
    Link *link;
    Arena scratch;
    FunctionFacts *facts;
    Components components;
    Out *cycles;
} Search;

// Reads registers and stack frames from the records of a file.
static void read_facts(Search *s, const Input *in)
{
    enum { FRAME_SIZE = 0x11 };
    const ElfSection *info = cubin_section(&in->cubin, in->cubin.info);
    uint64_t at = 0;
    for (uint32_t k = 1; k < in->cubin.elf.symbols.n; k++)
        if (in->node[k] && in->registers[k] && !is_replaced(s->link, in, k))
            s->facts[in->node[k]].registers = in->registers[k];
    for (InfoRecord r; in->cubin.info && info_next(info, &at, &r);)
        if (r.attribute == FRAME_SIZE && info_symbols(&r) == INFO_FIRST_SYMBOL && r.payload_size >= 8 &&
            !is_replaced(s->link, in, load32(r.payload)))
            s->facts[in->node[load32(r.payload)]].stack = load32(r.payload + 4);
}

// Returns the function that a live function calls directly by an edge; NODE_SKIPPED: none.
static NodeId callee(const Search *s, const Edge *e)
{
    return e->kind == EDGE_CALL && s->link->nodes.at[e->to].live ? e->to : NODE_SKIPPED;
}

static bool successor(void *user, NodeId n, uint32_t k, NodeId *to)
{
    const Search *s = user;
    uint32_t count;
    const Edge *edges = node_edges(s->link, n, &count);
    *to = k < count ? callee(s, &edges[k]) : NODE_SKIPPED;
    return k < count;
}

static void print_component(Search *s, const NodeId *nodes, uint32_t n)
{
    out_z(s->cycles, "recursion:");
    for (uint32_t k = 0; k < n; k++)
        out_fmt(s->cycles, "%s %s", k ? "," : "", demangle(s->link->nodes.at[nodes[k]].name, &s->scratch));
    out_z(s->cycles, "\n");
}

// Adds what the functions of a component call to their own needs.
static void complete(void *user, const NodeId *nodes, uint32_t n)
{
    Search *s = user;
    uint32_t own = 0, stack = 0, registers = 0;
    bool recursive = n > 1, unbounded = false;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t count;
        const Edge *edges = node_edges(s->link, nodes[k], &count);
        own += s->facts[nodes[k]].stack;
        registers = MAX(registers, s->facts[nodes[k]].registers);
        for (uint32_t e = 0; e < count; e++) {
            NodeId to = callee(s, &edges[e]);
            recursive |= to == nodes[k];
            if (to == NODE_SKIPPED || s->components.open[to])
                continue;
            registers = MAX(registers, s->facts[to].all_registers);
            stack = MAX(stack, s->facts[to].all_stack);
            unbounded |= s->facts[to].unbounded;
        }
    }
    if (recursive && s->cycles)
        print_component(s, nodes, n);
    for (uint32_t k = 0; k < n; k++) {
        FunctionFacts *f = &s->facts[nodes[k]];
        f->recursive = recursive;
        f->all_registers = registers;
        f->all_stack = own + stack;
        f->unbounded = unbounded || recursive;
    }
}

FunctionFacts *function_facts(Link *link, Arena *arena, Out *cycles)
{
    Search s = {.link = link, .cycles = cycles};
    arena_init(&s.scratch, link->heap);
    s.facts = NEW_ARRAY(arena, FunctionFacts, link->nodes.n);
    s.components = (Components){.user = &s, .successor = successor, .component = complete};
    components_init(&s.components, &s.scratch, link->nodes.n);
    for (uint32_t k = 0; k < link->inputs.n; k++)
        read_facts(&s, &link->inputs.at[k]);
    for (NodeId n = 1; n < link->nodes.n; n++)
        if (link->nodes.at[n].kind <= NODE_KERNEL && link->nodes.at[n].live)
            components_search(&s.components, n);
    arena_free(&s.scratch);
    return s.facts;
}
