// SPDX-License-Identifier: MIT
// Tests the call graph: edges, callers, addresses that are taken, components, the order of the nodes, its graph.
#include "ir/analysis/call_graph.h"

#include "ir/text/text.h"
#include "tests/unit/unit.h"

typedef struct Built {
    Heap heap;
    Arena arena;
    Module *module;
    CallGraph *g;
} Built;

static void build(Built *b, const char *body)
{
    Sink messages = {0};
    memset(b, 0, sizeof *b);
    unit_heap(&b->heap);
    arena_init(&b->arena, &b->heap);
    TextBuffer text = {.arena = &b->arena};
    const char *const parts[] = {"target sm_80 ptx 8.0 address 64\n", body};
    for (size_t k = 0; k < ARRAY_LEN(parts); k++)
        out_to_text(&text, parts[k], strlen(parts[k]));
    Source source = text_source(&text, "in");
    Diag diag = {.source = &source, .write = sink_append, .user = &messages};
    b->module = text_read(&b->heap, &source, &diag);
    if (!b->module)
        heap_fail(&b->heap, ST_BAD_INPUT, "%.*s", (int)MIN(messages.n, 200), messages.text);
    sink_free(&messages);
    b->g = call_graph(b->module, &b->arena);
}

static void destroy(Built *b)
{
    module_free(b->module);
    arena_free(&b->arena);
    heap_release(&b->heap);
}

static const char *name_of(const Built *b, uint32_t node)
{
    static char name[100];
    const Module *m = b->module;
    return name_text(&m->tables, m->syms.at[m->fns.at[node]->sym].name, name, sizeof name);
}

static uint32_t node_of(const Built *b, const char *name)
{
    for (uint32_t k = 0; k < b->g->n; k++)
        if (b->module->fns.at[k]->flags & FN_DEFINED && strcmp(name_of(b, k), name) == 0)
            return k;
    heap_fail((Heap *)&b->heap, ST_INTERNAL, "there is no function %s", name);
}

static uint32_t flags_of(const Built *b, const char *name) { return b->g->flags[node_of(b, name)]; }

// Writes the defined functions in the order of the graph, those of one component in braces.
static const char *order_of(const Built *b)
{
    static char text[500];
    const CallGraph *g = b->g;
    size_t n = 0;
    uint32_t before = UINT32_MAX;
    text[0] = 0;
    for (uint32_t k = 0; k < g->n; k++) {
        uint32_t node = g->order[k], next = k + 1 < g->n ? g->component[g->order[k + 1]] : UINT32_MAX;
        bool first = g->component[node] != before && g->component[node] == next;
        bool last = g->component[node] == before && g->component[node] != next;
        before = g->component[node];
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s%s%s", k ? " " : "", first ? "{" : "", name_of(b, node),
                              last ? "}" : "");
    }
    return text;
}

// Functions without parameters, whose body is a list of calls.
#define DEVICE(name, calls) "device @" name " form multi {\nb0:\n" calls "  ret\n}\n"
#define KERNEL(name, calls) "kernel @" name " visible form multi {\nb0:\n" calls "  ret\n}\n"
#define CALL(name, number) "  call @" name "  #" number "\n"

TEST(edges)
{
    Built b;
    build(&b, DEVICE("f", "") DEVICE("g", CALL("f", "1") CALL("f", "2"))
                  KERNEL("k", CALL("g", "1") CALL("f", "2") CALL("g", "3")));
    uint32_t f = node_of(&b, "f"), g = node_of(&b, "g"), k = node_of(&b, "k");
    CHECK_EQ(b.g->callers[f], 3);
    CHECK_EQ(b.g->callers[g], 2);
    CHECK_EQ(b.g->callers[k], 0);
    CHECK_EQ(b.g->first[f + 1] - b.g->first[f], 0);
    CHECK_EQ(b.g->first[g + 1] - b.g->first[g], 2);
    CHECK_EQ(b.g->at[b.g->first[g]], f);
    CHECK_EQ(b.g->first[k + 1] - b.g->first[k], 3);
    CHECK_EQ(b.g->at[b.g->first[k] + 1], f);
    CHECK_EQ(b.g->flags[f] | b.g->flags[g] | b.g->flags[k], 0);
    CHECK_Z(order_of(&b), "f g k");
    CHECK(module_has_calls(b.module));
    destroy(&b);
}

// A function is declared any number of times; its definition is the node.
TEST(declarations)
{
    Built b;
    build(&b,
          "device @f\ndevice @none extern\ndevice @f\n" KERNEL("k", CALL("f", "1") CALL("none", "2")) DEVICE("f", ""));
    CHECK_EQ(b.g->callers[node_of(&b, "f")], 1);
    CHECK_EQ(b.g->first[node_of(&b, "k") + 1] - b.g->first[node_of(&b, "k")], 1);
    CHECK_EQ(flags_of(&b, "k"), CALLS_UNKNOWN);
    CHECK_EQ(b.g->callers[0], 0);
    for (uint32_t k = 0, at = UINT32_MAX; k < b.g->n; k++) {
        if (b.g->order[k] == node_of(&b, "f"))
            at = k;
        if (b.g->order[k] == node_of(&b, "k"))
            CHECK(at < k);
    }
    destroy(&b);
}

TEST(unknown_calls)
{
    Built b;
    build(&b,
          DEVICE("f", "") "kernel @k visible form multi {\n  proto @P\nb0:\n  R0:64 = mov.b64 @f\n  call R0, @P  #1\n"
                          "  ret\n}\n" KERNEL("other", ""));
    CHECK_EQ(flags_of(&b, "k"), CALLS_UNKNOWN);
    CHECK_EQ(flags_of(&b, "f"), ADDRESS_TAKEN);
    CHECK_EQ(flags_of(&b, "other"), 0);
    CHECK_EQ(b.g->callers[node_of(&b, "f")], 0);
    destroy(&b);
}

// A list of targets has an edge to each function, but is no direct call. A function that is only declared is unknown.
TEST(listed_calls)
{
    Built b;
    build(&b, "device @e extern\n" DEVICE("f", "") DEVICE("g", "") DEVICE(
                  "h", "") "device @a form multi {\n  targets @T @g, @f\nb0:\n  R0:64 = mov.b64 @h\n  call R0, @T  #1\n"
                           "  ret\n}\nkernel @k visible form multi {\n  targets @T @a, @e\nb0:\n  R0:64 = mov.b64 @h\n"
                           "  call R0, @T  #1\n  ret\n}\n");
    uint32_t a = node_of(&b, "a"), k = node_of(&b, "k");
    CHECK_EQ(b.g->first[a + 1] - b.g->first[a], 2);
    CHECK_EQ(b.g->at[b.g->first[a]], node_of(&b, "g"));
    CHECK_EQ(b.g->at[b.g->first[a] + 1], node_of(&b, "f"));
    CHECK_EQ(b.g->first[k + 1] - b.g->first[k], 1);
    CHECK_EQ(flags_of(&b, "a"), ADDRESS_TAKEN);
    CHECK_EQ(flags_of(&b, "k"), CALLS_UNKNOWN);
    CHECK_EQ(b.g->callers[node_of(&b, "f")] + b.g->callers[a], 0);
    CHECK_Z(order_of(&b), "e f g h a k");
    destroy(&b);
    build(&b, "device @a form multi {\n  targets @T @a\nb0:\n  R0:64 = mov.b64 @a\n  call R0, @T  #1\n  ret\n}\n");
    CHECK_EQ(flags_of(&b, "a"), ADDRESS_TAKEN | CALLS_ITSELF);
    destroy(&b);
}

// Addresses in tables of the module and of functions, in lists of targets, and in text that is kept verbatim.
TEST(addresses)
{
    Built b;
    build(&b, DEVICE("a", "") DEVICE("b", "") DEVICE("c", "") DEVICE("d", "") DEVICE("d1", "") DEVICE(
                  "free",
                  CALL("a", "1")) "global @table: .u64[2] = { @a, 0 }\n"
                                  "kernel @k visible form multi {\n  global @own: .u64 = @b\n  targets @T @c, @c\nb0:\n"
                                  "  R0:64 = ld.global.b64 [@own]\n  call R0, @T  #1\n  ret\n}\n"
                                  "raw \".section .x { .b64 d1 }\"\n");
    CHECK_EQ(flags_of(&b, "a"), ADDRESS_TAKEN);
    CHECK_EQ(flags_of(&b, "b"), ADDRESS_TAKEN);
    CHECK_EQ(flags_of(&b, "c"), ADDRESS_TAKEN);
    CHECK_EQ(flags_of(&b, "d"), 0);
    CHECK_EQ(flags_of(&b, "d1"), ADDRESS_TAKEN);
    CHECK_EQ(flags_of(&b, "free"), 0);
    destroy(&b);
}

TEST(components)
{
    Built b;
    build(&b, "device @even\ndevice @z\n" DEVICE("self", CALL("self", "1")) DEVICE("leaf", "")
                  DEVICE("odd", CALL("even", "1")) DEVICE("even", CALL("odd", "1") CALL("leaf", "2"))
                      DEVICE("x", CALL("z", "1") CALL("odd", "2")) DEVICE("y", CALL("x", "1"))
                          DEVICE("z", CALL("y", "1") CALL("self", "2")) KERNEL("k", CALL("y", "1")));
    CHECK_EQ(flags_of(&b, "self"), CALLS_ITSELF);
    CHECK_EQ(flags_of(&b, "odd"), CALLS_ITSELF);
    CHECK_EQ(flags_of(&b, "even"), CALLS_ITSELF);
    CHECK_EQ(flags_of(&b, "x") & flags_of(&b, "y") & flags_of(&b, "z"), CALLS_ITSELF);
    CHECK_EQ(flags_of(&b, "leaf") | flags_of(&b, "k"), 0);
    const uint32_t *c = b.g->component;
    CHECK_EQ(c[node_of(&b, "odd")], c[node_of(&b, "even")]);
    CHECK_EQ(c[node_of(&b, "x")], c[node_of(&b, "y")]);
    CHECK_EQ(c[node_of(&b, "x")], c[node_of(&b, "z")]);
    CHECK(c[node_of(&b, "leaf")] < c[node_of(&b, "odd")]);
    CHECK(c[node_of(&b, "odd")] < c[node_of(&b, "x")]);
    CHECK(c[node_of(&b, "self")] < c[node_of(&b, "x")]);
    CHECK(c[node_of(&b, "y")] < c[node_of(&b, "k")]);
    destroy(&b);
}

// Random graphs: callees come first, and components are those of a closure of the edges.
TEST(random_components)
{
    enum { N = 9, ROUNDS = 300 };
    uint64_t state = 7;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        char text[N * 500];
        size_t n = 0;
        bool reaches[N][N] = {0};
        for (uint32_t k = 0; k < N; k++)
            n += (size_t)snprintf(text + n, sizeof text - n, "device @f%u\n", k);
        for (uint32_t k = 0; k < N; k++) {
            n += (size_t)snprintf(text + n, sizeof text - n, "device @f%u form multi {\nb0:\n", k);
            for (uint32_t call = unit_random(&state, 3); call; call--) {
                uint32_t to = unit_random(&state, N);
                reaches[k][to] = true;
                n += (size_t)snprintf(text + n, sizeof text - n, "  call @f%u  #%u\n", to, call);
            }
            n += (size_t)snprintf(text + n, sizeof text - n, "  ret\n}\n");
        }
        for (uint32_t via = 0; via < N; via++)
            for (uint32_t k = 0; k < N; k++)
                for (uint32_t to = 0; to < N; to++)
                    reaches[k][to] |= reaches[k][via] && reaches[via][to];
        Built b;
        unit_context("round %u", round);
        build(&b, text);
        for (uint32_t k = 0; k < N; k++)
            for (uint32_t to = 0; to < N; to++) {
                uint32_t from_at = b.g->component[N + k], to_at = b.g->component[N + to];
                CHECK_EQ(from_at == to_at, k == to || (reaches[k][to] && reaches[to][k]));
                if (reaches[k][to])
                    CHECK(to_at <= from_at);
            }
        for (uint32_t k = 0; k < N; k++)
            CHECK_EQ(b.g->flags[N + k] & CALLS_ITSELF, reaches[k][k] ? CALLS_ITSELF : 0);
        for (uint32_t k = 1; k < b.g->n; k++)
            CHECK(b.g->component[b.g->order[k - 1]] <= b.g->component[b.g->order[k]]);
        destroy(&b);
    }
    unit_context("%s", "");
}

// A chain of many functions requires no stack of the host.
TEST(long_chain)
{
    enum { N = 20000 };
    Heap heap;
    Arena arena;
    unit_heap(&heap);
    arena_init(&arena, &heap);
    TextBuffer text = {.arena = &arena};
    char line[200];
    for (uint32_t k = 0; k < N; k++) {
        int n = snprintf(line, sizeof line, "device @f%u\n", k);
        out_to_text(&text, line, (size_t)n);
    }
    for (uint32_t k = 0; k < N; k++) {
        int n = snprintf(line, sizeof line, "device @f%u form multi {\nb0:\n  call @f%u  #1\n  ret\n}\n", k,
                         k + 1 < N ? k + 1 : N / 2);
        out_to_text(&text, line, (size_t)n);
    }
    out_to_text(&text, "", 1);
    Built b;
    build(&b, text.at);
    CHECK_EQ(b.g->flags[N], 0);
    CHECK_EQ(b.g->flags[N + N / 2], CALLS_ITSELF);
    CHECK_EQ(b.g->component[N + N / 2], b.g->component[N + N - 1]);
    CHECK(b.g->component[N] > b.g->component[N + 1]);
    destroy(&b);
    arena_free(&arena);
    heap_release(&heap);
}

TEST(modules_without_calls)
{
    Built b;
    build(&b, DEVICE("f", "") KERNEL("k", ""));
    CHECK(!module_has_calls(b.module));
    CHECK_Z(order_of(&b), "f k");
    destroy(&b);
    build(&b, "device @f extern\n" KERNEL("k", CALL("f", "1")));
    CHECK(!module_has_calls(b.module));
    CHECK_EQ(flags_of(&b, "k"), CALLS_UNKNOWN);
    destroy(&b);
    build(&b, "");
    CHECK(!module_has_calls(b.module));
    CHECK_EQ(b.g->n, 0);
    destroy(&b);
}

TEST(graph_as_text)
{
    Built b;
    Sink sink = {0};
    Out out;
    build(
        &b,
        "device @e extern\ndevice @e extern\ndevice @v\ndevice @u\nalias u, v\n" DEVICE(
            "f",
            CALL("f", "1")) "device @v visible form multi {\nb0:\n  call @e  #1\n  call @e  #2\n  ret\n}\n"
                            "device @w weak form multi {\nb0:\n  ret\n}\n"
                            "global @t: .u64 = @w\n"
                            "kernel @i visible form multi {\n  proto @P\n  targets @T @w, @v\nb0:\n  R0:64 = "
                            "mov.b64 @w\n"
                            "  call R0, @P  #1\n  call R0, @T  #2\n  call R0, @P  #3\n  call @w  #4\n  ret\n}\n" KERNEL(
                                "k", CALL("f", "1") CALL("f", "2") CALL("v", "3")));
    out_init(&out, &b.arena, sink_write, &sink);
    call_graph_dot(b.g, &out);
    out_flush(&out);
    CHECK_TEXT(sink.text, sink.n,
               "digraph calls {\n"
               "    \"e\" [shape=ellipse, style=dashed];\n"
               "    \"u\" [shape=ellipse, style=dashed];\n"
               "    \"f\" [shape=ellipse, peripheries=2, tooltip=\"2 instructions, recursive\"];\n"
               "    \"v\" [shape=ellipse, tooltip=\"3 instructions, visible, address taken\"];\n"
               "    \"w\" [shape=ellipse, tooltip=\"1 instructions, weak, address taken\"];\n"
               "    \"i\" [shape=box, tooltip=\"6 instructions, visible\"];\n"
               "    \"k\" [shape=box, tooltip=\"4 instructions, visible\"];\n"
               "    \"f\" -> \"f\";\n"
               "    \"v\" -> \"e\" [label=\"2\"];\n"
               "    \"i\" -> \"w\" [style=dashed];\n"
               "    \"i\" -> \"v\" [style=dashed];\n"
               "    \"i\" -> \"w\";\n"
               "    \"i\" -> \"(unknown)\" [style=dashed];\n"
               "    \"k\" -> \"f\" [label=\"2\"];\n"
               "    \"k\" -> \"v\";\n"
               "    \"u\" -> \"v\" [style=dotted, label=\"alias\"];\n"
               "}\n");
    sink_free(&sink);
    destroy(&b);
}

void test_call_graph(void)
{
    RUN(edges);
    RUN(declarations);
    RUN(unknown_calls);
    RUN(listed_calls);
    RUN(addresses);
    RUN(components);
    RUN(random_components);
    RUN(long_chain);
    RUN(modules_without_calls);
    RUN(graph_as_text);
}
