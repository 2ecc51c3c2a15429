// SPDX-License-Identifier: MIT
// Properties of functions that depend on what they call: registers, stack, and recursion. One depth-first search over
// direct calls visits callees first; an edge to a function on the path closes a cycle.
#include "tools/orilink/demangle.h"
#include "tools/orilink/link.h"

enum { NEW, ON_PATH, DONE };

typedef struct Search {
    Link *link;
    Arena scratch;
    FunctionFacts *facts;
    uint8_t *state;  // by NodeId
    uint32_t *next;  // by NodeId: the next edge to follow
    VEC(NodeId) path;
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
        if (r.attribute == FRAME_SIZE && r.payload_size >= 8 && !is_replaced(s->link, in, load32(r.payload)))
            s->facts[in->node[load32(r.payload)]].stack = load32(r.payload + 4);
}

static void print_cycle(Search *s, NodeId n)
{
    uint32_t k = s->path.n;
    while (s->path.at[k - 1] != n)
        k--;
    out_z(s->cycles, "recursion:");
    for (; k <= s->path.n; k++)
        out_fmt(s->cycles, " %s ->", demangle(s->link->nodes.at[s->path.at[k - 1]].name, &s->scratch));
    out_fmt(s->cycles, " %s\n", demangle(s->link->nodes.at[n].name, &s->scratch));
}

// Marks the functions on the path from `n` on as recursive.
static void close_cycle(Search *s, NodeId n)
{
    for (uint32_t k = s->path.n; k-- > 0;) {
        s->facts[s->path.at[k]].recursive = true;
        if (s->path.at[k] == n)
            break;
    }
    if (s->cycles)
        print_cycle(s, n);
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
        if (s->state[e->to] == ON_PATH)
            close_cycle(s, e->to);
        if (s->state[e->to] != NEW)
            continue;
        s->state[e->to] = ON_PATH;
        VEC_PUSH(&s->scratch, &s->path, e->to);
        return true;
    }
    return false;
}

// Adds what the callees of a function need to its own needs.
static void add_callees(Search *s, NodeId n)
{
    FunctionFacts *f = &s->facts[n];
    uint32_t count, stack = 0;
    const Edge *edges = node_edges(s->link, n, &count);
    for (uint32_t k = 0; k < count; k++) {
        const FunctionFacts *callee = &s->facts[edges[k].to];
        if (edges[k].kind != EDGE_CALL)
            continue;
        f->all_registers = MAX(f->all_registers, callee->all_registers);
        stack = MAX(stack, callee->all_stack);
        f->unbounded |= callee->unbounded;
    }
    f->all_registers = MAX(f->all_registers, f->registers);
    f->all_stack = f->stack + stack;
    f->unbounded |= f->recursive;
}

FunctionFacts *function_facts(Link *link, Arena *arena, Out *cycles)
{
    Search s = {.link = link, .cycles = cycles};
    arena_init(&s.scratch, link->heap);
    s.facts = NEW_ARRAY(arena, FunctionFacts, link->nodes.n);
    s.state = NEW_ARRAY(&s.scratch, uint8_t, link->nodes.n);
    s.next = NEW_ARRAY(&s.scratch, uint32_t, link->nodes.n);
    for (uint32_t k = 0; k < link->inputs.n; k++)
        read_facts(&s, &link->inputs.at[k]);
    for (NodeId n = 1; n < link->nodes.n; n++) {
        if (s.state[n] != NEW || link->nodes.at[n].kind > NODE_KERNEL || !link->nodes.at[n].live)
            continue;
        s.state[n] = ON_PATH;
        VEC_PUSH(&s.scratch, &s.path, n);
        while (s.path.n) {
            if (follow(&s))
                continue;
            NodeId done = s.path.at[--s.path.n];
            s.state[done] = DONE;
            add_callees(&s, done);
        }
    }
    arena_free(&s.scratch);
    return s.facts;
}
