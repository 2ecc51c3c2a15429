// SPDX-License-Identifier: MIT
// Writes the call graph of a module for Graphviz.
//
//     digraph calls {
//         "k" [shape=box, tooltip="12 instructions, visible"];
//         "f" [shape=ellipse, peripheries=2, tooltip="9 instructions, recursive"];
//         "vprintf" [shape=ellipse, style=dashed];
//         "k" -> "f" [label="2"];
//         "f" -> "f";
//         "f" -> "vprintf";
//         "k" -> "(unknown)" [style=dashed];
//         "g" -> "f" [style=dotted, label="alias"];
//     }
//
// Kernels are boxes. Functions that the module only declares are dashed, recursive ones have two lines. An edge stands
// for all calls of one function by another one, and has their number if there are several. A call through a register
// has a dashed edge to each function of its `.calltargets`, or to "(unknown)" if it has a prototype.
#include "ir/analysis/call_graph.h"

// The calls of one function.
typedef struct Calls {
    const CallGraph *g;
    const Fn *fn;
    uint32_t *direct, *indirect;  // by SymId: number of calls that are not written yet; zero between functions
    bool unknown;                 // some call through a register has no list of targets
} Calls;

static void put_symbol(const Module *m, SymId sym, Out *out)
{
    out_char(out, '"');
    name_print(out, &m->tables, m->syms.at[sym].name);
    out_char(out, '"');
}

static void put_node(const CallGraph *g, uint32_t node, Out *out)
{
    const Fn *fn = g->module->fns.at[node];
    const Sym *s = &g->module->syms.at[fn->sym];
    bool defined = fn->flags & FN_DEFINED, recursive = g->flags[node] & CALLS_ITSELF;
    out_z(out, "    ");
    put_symbol(g->module, fn->sym, out);
    out_fmt(out, " [shape=%s%s%s", fn->flags & FN_KERNEL ? "box" : "ellipse", defined ? "" : ", style=dashed",
            recursive ? ", peripheries=2" : "");
    if (defined)
        out_fmt(out, ", tooltip=\"%u instructions%s%s%s%s\"", fn->ninstrs, s->flags & SYM_VISIBLE ? ", visible" : "",
                s->flags & SYM_WEAK ? ", weak" : "", g->flags[node] & ADDRESS_TAKEN ? ", address taken" : "",
                recursive ? ", recursive" : "");
    out_z(out, "];\n");
}

// Writes an edge. `label`: NULL = none.
static void put_edge(const Module *m, SymId from, SymId to, const char *style, const char *label, Out *out)
{
    out_z(out, "    ");
    put_symbol(m, from, out);
    out_z(out, " -> ");
    if (to)
        put_symbol(m, to, out);
    else
        out_z(out, "\"(unknown)\"");
    if (style || label)
        out_fmt(out, " [%s%s%s%s%s%s]", style ? "style=" : "", style ? style : "", style && label ? ", " : "",
                label ? "label=\"" : "", label ? label : "", label ? "\"" : "");
    out_z(out, ";\n");
}

// Writes the edge of all calls of a function, if it was not written.
static void put_calls(const Calls *c, uint32_t *calls, SymId to, const char *style, Out *out)
{
    char number[20];
    if (!calls[to])
        return;
    snprintf(number, sizeof number, "%u", calls[to]);
    put_edge(c->g->module, c->fn->sym, to, style, calls[to] > 1 ? number : NULL, out);
    calls[to] = 0;
}

// Counts the functions that a call may reach; with an output, writes their edges.
static void visit_call(Calls *c, const Instr *call, Out *out)
{
    const Fn *fn = c->fn;
    SymId callee = ir_callee(fn, call);
    const List *list = callee ? NULL : call_targets(fn, call);
    c->direct[callee] += callee && !out;
    if (callee && out)
        put_calls(c, c->direct, callee, NULL, out);
    for (uint32_t k = 0; list && k < list->n; k++) {
        SymId target = op_index(ir_run(fn, list->ops)[k]);
        c->indirect[target] += !out;
        if (out)
            put_calls(c, c->indirect, target, "dashed", out);
    }
    c->unknown |= !callee && !list;
}

static void visit_calls(Calls *c, Out *out)
{
    FOR_BLOCKS(c->fn, b)
        FOR_INSTRS(c->fn, b, id)
            if (ir_desc(c->fn, ir_instr(c->fn, id))->op == OP_CALL)
                visit_call(c, ir_instr(c->fn, id), out);
}

static void put_edges(Calls *c, const Fn *fn, Out *out)
{
    c->fn = fn;
    c->unknown = false;
    visit_calls(c, NULL);
    visit_calls(c, out);
    if (c->unknown)
        put_edge(c->g->module, fn->sym, 0, "dashed", NULL, out);
}

typedef struct LastSymbols {
    SymId at[2];
} LastSymbols;

static void note_symbol(void *user, SymId sym)
{
    LastSymbols *last = user;
    last->at[0] = last->at[1];
    last->at[1] = sym;
}

// Writes the edge of `.alias NAME, FUNCTION;`.
static void put_alias(const Module *m, Str text, Out *out)
{
    LastSymbols last = {{0}};
    if (text.len < 7 || memcmp(text.text, ".alias ", 7) != 0)
        return;
    raw_symbols(m, text, note_symbol, &last);
    if (last.at[0])
        put_edge(m, last.at[0], last.at[1], "dotted", "alias", out);
}

void call_graph_dot(const CallGraph *g, Out *out)
{
    const Module *m = g->module;
    Calls calls = {.g = g};
    calls.direct = NEW_ARRAY(g->arena, uint32_t, m->syms.n);
    calls.indirect = NEW_ARRAY(g->arena, uint32_t, m->syms.n);
    bool *declared = NEW_ARRAY(g->arena, bool, m->syms.n);
    out_z(out, "digraph calls {\n");
    for (uint32_t k = 0; k < g->n; k++) {
        const Fn *fn = m->fns.at[k];
        if (!fn || declared[fn->sym] || (!(fn->flags & FN_DEFINED) && g->node_of[fn->sym]))
            continue;
        declared[fn->sym] = true;
        put_node(g, k, out);
    }
    for (uint32_t k = 0; k < g->n; k++)
        if (m->fns.at[k] && m->fns.at[k]->flags & FN_DEFINED)
            put_edges(&calls, m->fns.at[k], out);
    for (uint32_t k = 0; k < m->items.n; k++)
        if (m->items.at[k].kind == ITEM_RAW)
            put_alias(m, module_item_text(m, &m->items.at[k]), out);
    out_z(out, "}\n");
}
