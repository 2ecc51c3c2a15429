// SPDX-License-Identifier: MIT
// Properties of functions that depend on what they call: registers, stack, and recursion. Tarjan's algorithm finds the
// strongly connected components of direct calls, callees first. A component of several functions, or of one that calls
// itself, is recursive, and the stack of what reaches it has no bound.
#include "tools/orilink/demangle.h"
#include "tools/orilink/link.h"

typedef struct Search {
    Link *link;
    Arena scratch;
    FunctionFacts *facts;
    uint32_t *number;  // by NodeId: in the order of the search, from 1; 0 = not visited
    uint32_t *low;     // by NodeId: the least number that it reaches within its component
    uint32_t *next;    // by NodeId: the next edge to follow
    bool *open;        // by NodeId: its component is not complete
    uint32_t visited;
    VEC(NodeId) path, component;  // component: functions whose components are not complete
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

static void visit(Search *s, NodeId n)
{
    s->number[n] = s->low[n] = ++s->visited;
    s->open[n] = true;
    VEC_PUSH(&s->scratch, &s->path, n);
    VEC_PUSH(&s->scratch, &s->component, n);
}

// Follows the next call of the last function on the path. False: it has no more.
static bool follow(Search *s)
{
    NodeId n = s->path.at[s->path.n - 1];
    uint32_t count;
    const Edge *edges = node_edges(s->link, n, &count);
    while (s->next[n] < count) {
        const Edge *e = &edges[s->next[n]++];
        if (e->kind != EDGE_CALL || !s->link->nodes.at[e->to].live)
            continue;
        if (!s->number[e->to]) {
            visit(s, e->to);
            return true;
        }
        if (s->open[e->to])
            s->low[n] = MIN(s->low[n], s->number[e->to]);
        s->facts[n].recursive |= e->to == n;
    }
    return false;
}

static void print_component(Search *s, uint32_t first)
{
    out_z(s->cycles, "recursion:");
    for (uint32_t k = first; k < s->component.n; k++)
        out_fmt(s->cycles, "%s %s", k > first ? "," : "",
                demangle(s->link->nodes.at[s->component.at[k]].name, &s->scratch));
    out_z(s->cycles, "\n");
}

// Adds what the functions of a component call to their own needs.
static void complete(Search *s, NodeId root)
{
    uint32_t first = s->component.n, own = 0, stack = 0, registers = 0;
    bool unbounded = false;
    while (s->component.at[--first] != root)
        continue;
    bool recursive = s->component.n - first > 1 || s->facts[root].recursive;
    for (uint32_t k = first; k < s->component.n; k++) {
        NodeId n = s->component.at[k];
        uint32_t count;
        const Edge *edges = node_edges(s->link, n, &count);
        own += s->facts[n].stack;
        registers = MAX(registers, s->facts[n].registers);
        for (uint32_t e = 0; e < count; e++) {
            const FunctionFacts *callee = &s->facts[edges[e].to];
            if (edges[e].kind != EDGE_CALL || s->open[edges[e].to])
                continue;
            registers = MAX(registers, callee->all_registers);
            stack = MAX(stack, callee->all_stack);
            unbounded |= callee->unbounded;
        }
    }
    if (recursive && s->cycles)
        print_component(s, first);
    for (uint32_t k = first; k < s->component.n; k++) {
        FunctionFacts *f = &s->facts[s->component.at[k]];
        f->recursive = recursive;
        f->all_registers = registers;
        f->all_stack = own + stack;
        f->unbounded = unbounded || recursive;
        s->open[s->component.at[k]] = false;
    }
    s->component.n = first;
}

FunctionFacts *function_facts(Link *link, Arena *arena, Out *cycles)
{
    Search s = {.link = link, .cycles = cycles};
    arena_init(&s.scratch, link->heap);
    s.facts = NEW_ARRAY(arena, FunctionFacts, link->nodes.n);
    s.number = NEW_ARRAY(&s.scratch, uint32_t, link->nodes.n);
    s.low = NEW_ARRAY(&s.scratch, uint32_t, link->nodes.n);
    s.next = NEW_ARRAY(&s.scratch, uint32_t, link->nodes.n);
    s.open = NEW_ARRAY(&s.scratch, bool, link->nodes.n);
    for (uint32_t k = 0; k < link->inputs.n; k++)
        read_facts(&s, &link->inputs.at[k]);
    for (NodeId n = 1; n < link->nodes.n; n++) {
        if (s.number[n] || link->nodes.at[n].kind > NODE_KERNEL || !link->nodes.at[n].live)
            continue;
        visit(&s, n);
        while (s.path.n) {
            if (follow(&s))
                continue;
            NodeId done = s.path.at[--s.path.n];
            if (s.low[done] == s.number[done])
                complete(&s, done);
            if (s.path.n) {
                NodeId caller = s.path.at[s.path.n - 1];
                s.low[caller] = MIN(s.low[caller], s.low[done]);
            }
        }
    }
    arena_free(&s.scratch);
    return s.facts;
}
