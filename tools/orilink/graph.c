// SPDX-License-Identifier: MIT
// Builds the graph of functions and variables from symbols, relocations and callgraph records.
#include <stdlib.h>

#include "tools/orilink/link.h"

/* -- Nodes ----------------------------------------------------------------------------------------------- */

static NodeId node_new(Link *link, Node node)
{
    VEC_PUSH(&link->arena, &link->nodes, node);
    return link->nodes.n - 1;
}

// Returns the place of the node of a name.
static NodeId *named(Link *link, const char *name)
{
    StrId id = str_intern_z(&link->names, name);
    while (link->named.n <= id)
        VEC_PUSH(&link->arena, &link->named, 0);
    return &link->named.at[id];
}

static bool is_defined(const ElfSymbol *s) { return s->section != SHN_UNDEF && s->section < SHN_RESERVED; }

// Reads the numbers of registers of functions.
static void read_registers(Link *link, Input *in)
{
    enum { REGCOUNT = 0x2f };
    const ElfSection *info = cubin_section(&in->cubin, in->cubin.info);
    uint64_t at = 0;
    in->registers = NEW_ARRAY(&link->arena, uint32_t, in->cubin.elf.symbols.n);
    for (InfoRecord r; in->cubin.info && info_next(info, &at, &r);)
        if (r.attribute == REGCOUNT && info_symbols(&r) == INFO_FIRST_SYMBOL && r.payload_size >= 8)
            in->registers[load32(r.payload)] = load32(r.payload + 4);
}

// True if a definition replaces the one of a node.
static bool prevails(const Link *link, const Node *old, const Input *in, uint32_t symbol)
{
    const Input *other = &link->inputs.at[old->input];
    if (symbol_bind(cubin_symbol(&other->cubin, old->symbol)) != STB_WEAK)
        return false;
    return symbol_bind(cubin_symbol(&in->cubin, symbol)) != STB_WEAK ||
           in->registers[symbol] < other->registers[old->symbol];
}

// Makes a node of a symbol that defines a function or variable.
static void define(Link *link, uint32_t input, uint32_t symbol)
{
    Input *in = &link->inputs.at[input];
    const ElfSymbol *s = cubin_symbol(&in->cubin, symbol);
    bool function = symbol_type(s) == STT_FUNC && in->cubin.function[s->section] == symbol;
    if (!function && !symbol_is_variable(&in->cubin, s))
        return;
    NodeKind kind = !function ? NODE_VARIABLE : symbol_is_kernel(s) ? NODE_KERNEL : NODE_FUNCTION;
    Node node = {.name = s->text, .kind = kind, .input = input, .symbol = symbol};
    NodeId *place = symbol_bind(s) == STB_LOCAL ? NULL : named(link, s->text);
    if (!place || !*place) {
        in->node[symbol] = node_new(link, node);
        if (place)
            *place = in->node[symbol];
        return;
    }
    in->node[symbol] = *place;
    if (prevails(link, &link->nodes.at[*place], in, symbol))
        link->nodes.at[*place] = node;
}

bool is_replaced(const Link *link, const Input *in, uint32_t symbol)
{
    const ElfSymbol *s = cubin_symbol(&in->cubin, symbol);
    const Node *node = &link->nodes.at[in->node[symbol]];
    if (link->keeps_all || !in->node[symbol] || !is_defined(s) || symbol_bind(s) != STB_WEAK)
        return false;
    bool alias = node->kind <= NODE_KERNEL && cubin_symbol(&in->cubin, node->symbol)->section == s->section;
    return &link->inputs.at[node->input] != in || (node->symbol != symbol && !alias);
}

// Gives other names of the code of a function its node.
static void name_aliases(Link *link, Input *in)
{
    for (uint32_t k = 1; k < in->cubin.elf.symbols.n; k++) {
        const ElfSymbol *s = cubin_symbol(&in->cubin, k);
        uint32_t function = is_defined(s) && symbol_type(s) == STT_FUNC ? in->cubin.function[s->section] : 0;
        if (!function || in->node[k])
            continue;
        in->node[k] = in->node[function];
        NodeId *place = symbol_bind(s) == STB_LOCAL ? NULL : named(link, s->text);
        if (place && !*place)
            *place = in->node[function];
    }
}

static void make_nodes(Link *link)
{
    for (uint32_t k = 0; k < link->inputs.n; k++) {
        Input *in = &link->inputs.at[k];
        in->node = NEW_ARRAY(&link->arena, NodeId, in->cubin.elf.symbols.n);
        in->section = NEW_ARRAY(&link->arena, NodeId, in->cubin.elf.sections.n);
        read_registers(link, in);
        for (uint32_t s = 1; s < in->cubin.elf.symbols.n; s++)
            if (is_defined(cubin_symbol(&in->cubin, s)))
                define(link, k, s);
        name_aliases(link, in);
    }
    for (uint32_t k = 0; k < link->inputs.n; k++) {
        Input *in = &link->inputs.at[k];
        for (uint32_t s = 1; s < in->cubin.elf.symbols.n; s++) {
            const ElfSymbol *symbol = cubin_symbol(&in->cubin, s);
            if (is_defined(symbol) || symbol_bind(symbol) == STB_LOCAL)
                continue;
            NodeId *place = named(link, symbol->text);
            if (!*place && symbol_type(symbol) == STT_FUNC)
                *place = node_new(link, (Node){.name = symbol->text, .kind = NODE_FUNCTION, .input = k, .symbol = s});
            in->node[s] = *place;
        }
    }
}

/* -- Variables ------------------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const Place *x = a, *y = b;
    if (x->section != y->section)
        return x->section < y->section ? -1 : 1;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return (x->symbol > y->symbol) - (x->symbol < y->symbol);
}

static void list_variables(Link *link, Input *in)
{
    for (uint32_t k = 1; k < in->cubin.elf.symbols.n; k++) {
        const ElfSymbol *s = cubin_symbol(&in->cubin, k);
        if (is_defined(s) && symbol_is_variable(&in->cubin, s))
            VEC_PUSH(&link->arena, &in->variables, ((Place){s->section, k, s->value, s->size}));
    }
    if (in->variables.n)
        qsort(in->variables.at, in->variables.n, sizeof *in->variables.at, by_place);
}

// Returns the number of variables that begin at a place or before it.
static uint32_t variables_to(const Input *in, uint32_t section, uint64_t offset)
{
    Place key = {.section = section, .symbol = UINT32_MAX, .offset = offset};
    uint32_t low = 0, high = in->variables.n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (by_place(&in->variables.at[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const Place *variable_at(const Input *in, uint32_t section, uint64_t offset)
{
    uint32_t n = variables_to(in, section, offset);
    const Place *last = n ? &in->variables.at[n - 1] : NULL;
    return last && last->section == section && offset - last->offset < last->size ? last : NULL;
}

/* -- Edges ----------------------------------------------------------------------------------------------- */

typedef struct Graph {
    Link *link;
    Arena scratch;
    bool *named;  // by NodeId: a record or a relocation tells who takes its address
} Graph;

static void add_edge(Graph *g, NodeId from, NodeId to, EdgeKind kind)
{
    if (from && to && (from != to || kind == EDGE_CALL))
        VEC_PUSH(&g->link->arena, &g->link->edges, ((Edge){from, to, kind}));
}

// Returns the node of a whole section of data, which requires all its variables.
static NodeId whole_section(Graph *g, uint32_t input, uint32_t section)
{
    Input *in = &g->link->inputs.at[input];
    if (in->section[section])
        return in->section[section];
    Node node = {
        .name = cubin_section(&in->cubin, section)->text, .kind = NODE_SECTION, .input = input, .symbol = section};
    NodeId whole = in->section[section] = node_new(g->link, node);
    uint32_t k = variables_to(in, section - 1, UINT64_MAX);
    for (; k < in->variables.n && in->variables.at[k].section == section; k++)
        add_edge(g, whole, in->node[in->variables.at[k].symbol], EDGE_PART);
    return whole;
}

// Returns the node of the code or data at a place of a section; 0: another definition replaces it.
static NodeId node_at(Graph *g, uint32_t input, uint32_t section, uint64_t offset)
{
    const Input *in = &g->link->inputs.at[input];
    uint32_t code = in->cubin.owner[section];
    const Place *place = code ? NULL : variable_at(in, section, offset);
    uint32_t symbol = code ? in->cubin.function[code] : place ? place->symbol : 0;
    if (symbol)
        return is_replaced(g->link, in, symbol) ? 0 : in->node[symbol];
    NodeId whole = whole_section(g, input, section);
    g->link->nodes.at[whole].root = "it has data that no symbol names";
    return whole;
}

// Returns the node that a relocation requires.
static NodeId target_of(Graph *g, uint32_t input, const ElfReloc *reloc)
{
    const Input *in = &g->link->inputs.at[input];
    const ElfSymbol *s = cubin_symbol(&in->cubin, reloc->symbol);
    if (in->node[reloc->symbol] || !is_defined(s))
        return in->node[reloc->symbol];
    uint32_t code = in->cubin.owner[s->section];
    return code ? in->node[in->cubin.function[code]] : whole_section(g, input, s->section);
}

// True for the sections whose contents the program can reach: code, and data that is in memory.
static bool is_loaded(const ElfSection *s)
{
    enum { SHF_ALLOC = 2 };
    return s->flags & SHF_ALLOC && s->type != SHT_NV_INFO;
}

static void add_relocs(Graph *g, uint32_t input, uint32_t section)
{
    const Input *in = &g->link->inputs.at[input];
    const ElfSection *s = cubin_section(&in->cubin, section);
    if ((s->type != SHT_REL && s->type != SHT_RELA) || !is_loaded(cubin_section(&in->cubin, s->info)))
        return;
    for (uint32_t k = 0; k < reloc_count(s); k++) {
        ElfReloc reloc = reloc_at(s, k);
        add_edge(g, node_at(g, input, s->info, reloc.offset), target_of(g, input, &reloc), EDGE_REFERS);
    }
}

static void add_calls(Graph *g, uint32_t input)
{
    const Input *in = &g->link->inputs.at[input];
    for (uint32_t k = 0; k < in->cubin.calls.n; k++) {
        const CallRecord *call = &in->cubin.calls.at[k];
        if (call_names_function(call->group) && !is_replaced(g->link, in, call->a))
            add_edge(g, in->node[call->a], in->node[call->b], call->group == CALLS ? EDGE_CALL : EDGE_ADDRESS);
    }
}

static void add_externs(Graph *g, uint32_t input, uint32_t section)
{
    const Input *in = &g->link->inputs.at[input];
    const ElfSection *s = cubin_section(&in->cubin, section);
    uint32_t code = in->cubin.owner[section];
    uint64_t at = 0;
    if (s->type != SHT_NV_INFO || !code || is_replaced(g->link, in, in->cubin.function[code]))
        return;
    for (InfoRecord record; info_next(s, &at, &record);)
        for (uint32_t k = 0; info_symbols(&record) == INFO_ALL_SYMBOLS && k < record.payload_size / 4; k++)
            add_edge(g, in->node[in->cubin.function[code]], in->node[load32(record.payload + 4 * k)], EDGE_CALL);
}

/* -- Indirect calls -------------------------------------------------------------------------------------- */

static const char *signature(const Input *in, uint32_t offset)
{
    const ElfSection *strings = cubin_section(&in->cubin, cubin_section(&in->cubin, in->cubin.elf.symtab)->link);
    return offset < strings->size ? (const char *)strings->data + offset : "";
}

// Adds edges from functions that call a signature to the functions of that signature for which no record tells who
// takes the address. A function whose address live code or data contains is live for that.
static void add_indirect_calls(Graph *g)
{
    Link *link = g->link;
    g->named = NEW_ARRAY(&g->scratch, bool, link->nodes.n);
    for (uint32_t k = 0; k < link->edges.n; k++)
        if (link->edges.at[k].kind == EDGE_ADDRESS || link->edges.at[k].kind == EDGE_REFERS)
            g->named[link->edges.at[k].to] = true;
    StrTable signatures;
    VEC(NodeId) of = {0};  // by signature: a node for all its functions
    str_init(&signatures, &g->scratch, NULL);
    for (int group = HAS_SIGNATURE; group >= CALLS_SIGNATURE; group--)
        for (uint32_t i = 0; i < link->inputs.n; i++) {
            const Input *in = &link->inputs.at[i];
            for (uint32_t k = 0; k < in->cubin.calls.n; k++) {
                const CallRecord *call = &in->cubin.calls.at[k];
                NodeId n = in->node[call->a];
                if (call->group != group || !n || (group == HAS_SIGNATURE && g->named[n]))
                    continue;
                StrId id = str_intern_z(&signatures, signature(in, call->b));
                while (of.n <= id)
                    VEC_PUSH(&g->scratch, &of, 0);
                if (group == HAS_SIGNATURE && !of.at[id])
                    of.at[id] =
                        node_new(link, (Node){.name = signature(in, call->b), .kind = NODE_SECTION, .input = i});
                if (group == HAS_SIGNATURE)
                    add_edge(g, of.at[id], n, EDGE_INDIRECT);
                else
                    add_edge(g, n, of.at[id], EDGE_INDIRECT);
            }
        }
}

// Adds a root that requires all that a file refers to, if nothing may be removed from the file.
static void add_fixed(Graph *g, uint32_t input)
{
    Input *in = &g->link->inputs.at[input];
    const char *why = in->is_system ? "it is a system library" : "it stays as it is";
    if (!in->cubin.fixed && !in->is_system)
        return;
    NodeId all =
        node_new(g->link, (Node){.name = in->cubin.elf.file, .kind = NODE_SECTION, .input = input, .root = why});
    for (uint32_t k = 1; k < in->cubin.elf.symbols.n; k++)
        add_edge(g, all, in->node[k], EDGE_PART);
}

/* -- The graph ------------------------------------------------------------------------------------------- */

// Sorts the edges by their first nodes, by counting.
static void sort_edges(Graph *g)
{
    Link *link = g->link;
    uint32_t first = 0, n = link->edges.n;
    Edge *sorted = arena_alloc(&link->arena, n * sizeof *sorted);
    uint32_t *at = NEW_ARRAY(&g->scratch, uint32_t, link->nodes.n);
    for (uint32_t k = 0; k < n; k++)
        at[link->edges.at[k].from]++;
    for (NodeId k = 0; k < link->nodes.n; k++) {
        uint32_t count = at[k];
        link->nodes.at[k].first = at[k] = first;
        first += count;
    }
    for (uint32_t k = 0; k < n; k++)
        sorted[at[link->edges.at[k].from]++] = link->edges.at[k];
    link->edges.at = sorted;
}

void graph_build(Link *link)
{
    Graph g = {.link = link};
    arena_init(&g.scratch, link->heap);
    node_new(link, (Node){0});
    for (uint32_t k = 0; k < link->inputs.n; k++)
        list_variables(link, &link->inputs.at[k]);
    make_nodes(link);
    for (uint32_t k = 0; k < link->inputs.n; k++) {
        add_calls(&g, k);
        add_fixed(&g, k);
        for (uint32_t s = 1; s < link->inputs.at[k].cubin.elf.sections.n; s++) {
            add_externs(&g, k, s);
            add_relocs(&g, k, s);
        }
    }
    add_indirect_calls(&g);
    sort_edges(&g);
    arena_free(&g.scratch);
}
