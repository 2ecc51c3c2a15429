// SPDX-License-Identifier: MIT
// Control flow graphs of functions for Graphviz: a node for each block with its Ori text, an edge for each successor.
//
//     digraph "k After 015.OriBranchOpt" {
//       node [shape=box, fontname=monospace];
//       b0 [label="b0:\l  P0 = setp.eq.s32 R0, 0\l  @P0 bra b2 else b1\l"];
//       b0 -> b2 [label="true"];
//       b0 -> b1 [label="false"];
//     }
#include "ir/text/text.h"
#include "phases/manager/dump.h"

typedef struct Graph {
    const Fn *fn;
    Out *out;
    Out text;  // of the block, into `lines`
    TextBuffer lines;
} Graph;

// Writes a text within a quoted label. Lines are left-justified (\l).
static void put_label(Out *out, const char *text, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        if (text[k] == '\n') {
            out_z(out, "\\l");
            continue;
        }
        if (text[k] == '"' || text[k] == '\\')
            out_char(out, '\\');
        out_char(out, text[k]);
    }
}

static void put_node(void *user, BlockId b, bool begins)
{
    Graph *g = user;
    if (begins) {
        g->lines.n = 0;
        return;
    }
    out_flush(&g->text);
    out_fmt(g->out, "  b%u [label=\"", ir_block(g->fn, b)->ordinal);
    put_label(g->out, g->lines.at, g->lines.n);
    out_z(g->out, "\"];\n");
}

typedef struct GraphEdges {
    const Fn *fn;
    Out *out;
    BlockId from;
    uint32_t n, at;  // number of successors; number of those that are written
    bool guarded;
} GraphEdges;

static void count_edge(void *user, Operand *target)
{
    (void)target;
    ((GraphEdges *)user)->n++;
}

// The successor for a false guard is the last one.
static void put_edge(void *user, Operand *target)
{
    GraphEdges *e = user;
    bool last = ++e->at == e->n;
    out_fmt(e->out, "  b%u -> b%u", ir_block(e->fn, e->from)->ordinal, ir_block(e->fn, op_index(*target))->ordinal);
    if (e->guarded && e->n == 2)
        out_z(e->out, last ? " [label=\"false\"]" : " [label=\"true\"]");
    out_z(e->out, ";\n");
}

static void put_edges(const Fn *fn, BlockId b, Out *out)
{
    InstrId last = ir_block(fn, b)->last;
    if (!last || !(ir_desc(fn, ir_instr(fn, last))->traits & TR_TERM))
        return;
    GraphEdges e = {.fn = fn, .out = out, .from = b, .guarded = ir_guarded(ir_instr(fn, last))};
    ir_successors(fn, last, count_edge, &e);
    ir_successors(fn, last, put_edge, &e);
}

void dump_graph(const Fn *fn, const char *title, Out *out)
{
    Arena arena;
    arena_init(&arena, fn->arena.heap);
    Graph g = {.fn = fn, .out = out, .lines = {.arena = &arena}};
    out_init(&g.text, &arena, out_to_text, &g.lines);
    out_z(out, "digraph \"");
    put_label(out, title, strlen(title));
    out_z(out, "\" {\n  node [shape=box, fontname=monospace];\n");
    text_write_blocks(fn, &g.text, put_node, &g);
    FOR_BLOCKS(fn, b)
        put_edges(fn, b, out);
    out_z(out, "}\n");
    arena_free(&arena);
}
