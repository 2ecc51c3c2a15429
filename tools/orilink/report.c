// SPDX-License-Identifier: MIT
// Reports of what is removed, and why the rest stays.
#include "tools/orilink/banks.h"
#include "tools/orilink/demangle.h"
#include "tools/orilink/user_constants.h"

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
    for (uint32_t k = c->owned[code]; k; k = c->next[k]) {
        removed_section(link, c, k);
        if (gc)
            out_fmt(gc, "removing unused section '%s' in file '%s'\n", cubin_section(c, k)->text, c->elf.file);
    }
}

static bool stays(const Link *link, const Input *in, uint32_t symbol)
{
    return link->keeps_all || (link->nodes.at[in->node[symbol]].live && !is_replaced(link, in, symbol));
}

void report_removed(const Link *link, Out *gc)
{
    for (uint32_t k = 0; k < link->inputs.n; k++) {
        const Input *in = &link->inputs.at[k];
        const Cubin *c = &in->cubin;
        for (uint32_t s = 1; s < c->elf.sections.n && !c->fixed; s++)
            if (c->function[s] && !stays(link, in, c->function[s]))
                removed_function(link, c, s, gc);
        for (uint32_t v = 0; v < in->variables.n && !c->fixed && gc; v++)
            if (!stays(link, in, in->variables.at[v].symbol))
                out_fmt(gc, "removing unused variable '%s' in file '%s'\n",
                        cubin_symbol(c, in->variables.at[v].symbol)->text, c->elf.file);
    }
}

typedef struct Totals {
    uint64_t bytes;
    uint32_t functions, variables;
} Totals;

// Counts code and variables that stay, or that are removed. Prints them with their sizes, unless `out` is NULL.
static Totals count_part(const Link *link, bool live, Out *out)
{
    Totals totals = {0};
    for (uint32_t k = 0; k < link->inputs.n; k++) {
        const Input *in = &link->inputs.at[k];
        const Cubin *c = &in->cubin;
        for (uint32_t s = 1; s < c->elf.symbols.n; s++) {
            const ElfSymbol *symbol = cubin_symbol(c, s);
            if (!in->node[s] || symbol->section == SHN_UNDEF || (stays(link, in, s) || c->fixed) != live)
                continue;
            totals.bytes += symbol->size;
            if (link->nodes.at[in->node[s]].kind == NODE_VARIABLE)
                totals.variables++;
            else if (c->function[symbol->section] == s)  // not a second name
                totals.functions++;
            if (out)
                out_fmt(out, "%10llu  %s  %s  %s\n", (unsigned long long)symbol->size,
                        cubin_section(c, symbol->section)->text, symbol->text, c->elf.file);
        }
    }
    return totals;
}

void report_map(const Link *link, Out *out)
{
    out_z(out, "removed\n");
    uint64_t removed = count_part(link, false, out).bytes;
    out_z(out, "kept\n");
    uint64_t kept = count_part(link, true, out).bytes;
    out_fmt(out, "%10llu bytes of code and variables removed, %llu kept\n", (unsigned long long)removed,
            (unsigned long long)kept);
}

/* -- Summary --------------------------------------------------------------------------------------------- */

// Prints a number with commas between groups of three digits.
static void put_grouped(Out *out, uint64_t x)
{
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)x);
    for (int k = 0; k < n; k++) {
        if (k && (n - k) % 3 == 0)
            out_char(out, ',');
        out_char(out, digits[k]);
    }
}

// Prints a number of things.
static void put_count(Out *out, uint64_t n, const char *one, const char *several)
{
    put_grouped(out, n);
    out_fmt(out, " %s", n == 1 ? one : several);
}

void report_summary(const Link *link, Out *out)
{
    Totals removed = count_part(link, false, NULL), kept = count_part(link, true, NULL);
    out_z(out, "device code ");
    put_grouped(out, removed.bytes + kept.bytes);
    out_z(out, " -> ");
    put_count(out, kept.bytes, "byte, ", "bytes, ");
    if (removed.functions)
        put_count(out, removed.functions, "function", "functions");
    if (removed.functions && removed.variables)
        out_z(out, " and ");
    if (removed.variables)
        put_count(out, removed.variables, "variable", "variables");
    out_z(out, removed.functions || removed.variables ? " removed" : "nothing removed");
    if (!link->unpacked)
        return;
    out_z(out, "; ");
    put_count(out, link->unpacked, "fat binary is", "fat binaries are");
    out_z(out, " stored uncompressed, ");
    put_count(out, link->unpacked_cost, "byte", "bytes");
    out_z(out, " larger than with --compress");
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

/* -- Callgraph ------------------------------------------------------------------------------------------- */

static void put_quoted(Out *out, const char *name, bool demangled, Arena *scratch)
{
    const char *text = demangled ? demangle(name, scratch) : name;
    out_char(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            out_char(out, '\\');
        out_char(out, *text);
    }
    out_char(out, '"');
}

void report_callgraph(const Link *link, bool demangled, Out *out)
{
    Arena scratch;
    arena_init(&scratch, link->heap);
    NodeId *caller = NEW_ARRAY(&scratch, NodeId, link->nodes.n);  // by NodeId: the last one that was printed
    out_z(out, "digraph callgraph {\n");
    for (uint32_t k = 0; k < link->edges.n; k++) {
        const Edge *e = &link->edges.at[k];
        if (e->kind != EDGE_CALL || caller[e->to] == e->from)
            continue;
        caller[e->to] = e->from;
        out_z(out, "    ");
        put_quoted(out, link->nodes.at[e->from].name, demangled, &scratch);
        out_z(out, " -> ");
        put_quoted(out, link->nodes.at[e->to].name, demangled, &scratch);
        out_z(out, ";\n");
    }
    out_z(out, "}\n");
    arena_free(&scratch);
}

/* -- JSON ------------------------------------------------------------------------------------------------ */

static void put_member(Out *out, const char *key, const char *text)
{
    out_fmt(out, "\"%s\":", key);
    out_json(out, text, strlen(text));
}

static void put_function(const Link *link, NodeId n, const FunctionFacts *f, Arena *scratch, Out *out)
{
    static const char *const kinds[] = {"function", "kernel", "variable"};
    const Node *node = &link->nodes.at[n];
    const char *demangled = demangle(node->name, scratch);
    out_char(out, '{');
    put_member(out, "name", node->name);
    if (demangled != node->name) {
        out_char(out, ',');
        put_member(out, "demangled", demangled);
    }
    out_fmt(out, ",\"kind\":\"%s\",", kinds[node->kind]);
    put_member(out, "file", link->inputs.at[node->input].cubin.elf.file);
    out_fmt(out, ",\"live\":%s", node->live ? "true" : "false");
    if (node->live && node->root) {
        out_char(out, ',');
        put_member(out, "root", node->root);
    }
    if (node->live && node->by) {
        out_char(out, ',');
        put_member(out, "because", link->nodes.at[node->by].name);
    }
    if (node->kind <= NODE_KERNEL && node->live) {
        out_fmt(out, ",\"registers\":%u,\"stack\":%u,\"recursive\":%s", f->registers, f->stack,
                f->recursive ? "true" : "false");
        out_fmt(out, ",\"total\":{\"registers\":%u,\"stack\":", f->all_registers);
        if (f->unbounded)
            out_z(out, "null}");
        else
            out_fmt(out, "%u}", f->all_stack);
    }
    out_char(out, '}');
}

void report_json(Link *link, const struct Banks *banks, const struct UserConstants *user, Out *out)
{
    Arena scratch;
    bool first = true;
    arena_init(&scratch, link->heap);
    const FunctionFacts *facts = function_facts(link, &scratch, NULL);
    out_z(out, "{\"schema\":1,\"symbols\":[");
    for (NodeId n = 1; n < link->nodes.n; n++) {
        if (link->nodes.at[n].kind == NODE_SECTION)
            continue;
        out_z(out, first ? "\n" : ",\n");
        put_function(link, n, &facts[n], &scratch, out);
        first = false;
    }
    out_z(out, "\n]");
    banks_report_json(banks, out);
    user_constants_report_json(user, out);
    out_z(out, "}\n");
    arena_free(&scratch);
}

void report_functions(Link *link, Out *out)
{
    Arena scratch;
    arena_init(&scratch, link->heap);
    const FunctionFacts *facts = function_facts(link, &scratch, out);
    for (NodeId n = 1; n < link->nodes.n; n++) {
        const Node *node = &link->nodes.at[n];
        const FunctionFacts *f = &facts[n];
        if (node->kind != NODE_KERNEL || !node->live)
            continue;
        out_fmt(out, "kernel %s: %u registers, ", demangle(node->name, &scratch), f->all_registers);
        if (f->unbounded)
            out_z(out, "a stack of unknown size\n");
        else
            out_fmt(out, "%u bytes of stack\n", f->all_stack);
    }
    arena_free(&scratch);
}
