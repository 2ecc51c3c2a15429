// SPDX-License-Identifier: MIT
// Tests rereading of one function of a frozen module, and dumps as files.
#include "ir/text/text.h"
#include "tests/unit/unit.h"

static const char module_text[] = "target sm_80 ptx 8.0 address 64\n"
                                  "global @g: 32 = 7\n"
                                  "global @h: 64 = generic(@g)+4\n"
                                  "shared @unused size 16\n"
                                  "device @helper(32) -> 32\n"
                                  "device @other(@a: 32) form multi {\n"
                                  "b0:\n"
                                  "  ret\n"
                                  "}\n"
                                  "kernel @k(@p: 64) form multi {\n"
                                  "  param @x: 32\n"
                                  "b0:\n"
                                  "  R0:64 = mov.b64 @h\n"
                                  "  st.param.b32 [@x], 5  #1\n"
                                  "  call (@x), @helper, (@x)  #1\n"
                                  "  ret\n"
                                  "}\n";

typedef struct Reading {
    Heap heap;
    Arena arena;
    Diag diag;
    Sink messages;
    Module *module;
} Reading;

static Source source_of(Reading *r, const char *text)
{
    TextBuffer buffer = {.arena = &r->arena};
    out_to_text(&buffer, text, strlen(text));
    return text_source(&buffer, "in");
}

static void open_reading(Reading *r)
{
    memset(r, 0, sizeof *r);
    unit_heap(&r->heap);
    arena_init(&r->arena, &r->heap);
    r->diag = (Diag){.write = sink_append, .user = &r->messages};
    Source source = source_of(r, module_text);
    r->diag.source = &source;
    r->module = text_read(&r->heap, &source, &r->diag);
    CHECK_EQ(r->diag.errors, 0);
    if (r->module)
        module_freeze(r->module);
}

static void close_reading(Reading *r)
{
    sink_free(&r->messages);
    module_free(r->module);
    arena_free(&r->arena);
    heap_release(&r->heap);
}

static Fn *read_again(Reading *r, const char *text)
{
    Source source = source_of(r, text);
    r->diag.source = &source;
    return text_read_fn(r->module, &source, &r->diag);
}

// Checks the message for a text that must be rejected.
static void refused(const char *text, const char *expected)
{
    Reading r;
    open_reading(&r);
    Fn *fn = read_again(&r, text);
    CHECK(fn == NULL);
    size_t n = strlen(expected);
    bool found = false;
    for (size_t k = 0; k + n <= r.messages.n && !found; k++)
        found = memcmp(r.messages.text + k, expected, n) == 0;
    unit_context("%.*s", (int)MIN(r.messages.n, 200), r.messages.text ? r.messages.text : "");
    CHECK(found);
    close_reading(&r);
}

TEST(read_fn_leaves_the_module)
{
    Reading r;
    open_reading(&r);
    uint32_t strs = r.module->tables.strs.strings.n, mnems = r.module->tables.mnems.n, syms = r.module->syms.n;
    uint32_t fns = r.module->fns.n, items = r.module->items.n, consts = r.module->tables.consts.n;
    Fn *fn = read_again(&r, "kernel @k(@p: 64, @fresh: 32) maxntid 99 form multi {\nb0:\n"
                            "  R0:32 = mul.lo.s32 123456789, 987654321\n  exit\n}\n");
    CHECK(fn != NULL);
    CHECK_EQ(fn->ninstrs, 2);
    CHECK(fn->tables != &r.module->tables);
    CHECK_EQ(r.module->tables.strs.strings.n, strs);
    CHECK_EQ(r.module->tables.mnems.n, mnems);
    CHECK_EQ(r.module->tables.consts.n, consts);
    CHECK_EQ(r.module->syms.n, syms);
    CHECK_EQ(r.module->fns.n, fns);
    CHECK_EQ(r.module->items.n, items);
    CHECK_EQ(fn->sym, r.module->fns.at[2]->sym);
    fn_free(fn);
    close_reading(&r);
}

TEST(read_fn_refuses)
{
    refused("device @nobody() form multi {\nb0:\n  ret\n}\n", "in:1:8: error: the module has no such function");
    refused("device @g() form multi {\nb0:\n  ret\n}\n", "but not as a function");
    refused("global @z: 32\n", "expected a function");
    refused("", "expected a function");
    refused("kernel @k() form multi {\nb0:\n  R0:64 = mov.b64 @nothing\n  ret\n}\n",
            "in:3:19: error: '@nothing' is not declared");
    refused("kernel @k() form multi {\nb0:\n  ret\n", "expected '}'");
    refused("kernel @k() form multi {\nb0:\n  R0:32 = mov.b64 1\n  ret\n}\n", "in:3:3: error: operand 1");
}

// A dump has exactly the objects that the function refers to, in module order.
TEST(dump_is_a_file)
{
    Reading r;
    open_reading(&r);
    TextBuffer text = {.arena = &r.arena};
    Out out;
    out_init(&out, &r.arena, out_to_text, &text);
    text_write_dump(r.module->fns.at[2], &out);
    out_flush(&out);
    CHECK_TEXT(text.at, text.n,
               "target sm_80 ptx 8.0 address 64\n"
               "global @g: 32 = 7\n"
               "global @h: 64 = generic(@g)+4\n"
               "device @helper(32) -> 32\n"
               "kernel @k(@p: 64) form multi {\n"
               "  param @x: 32\n"
               "b0:\n"
               "  R0:64 = mov.b64 @h\n"
               "  st.param.b32 [@x], 5  #1\n"
               "  call (@x), @helper, (@x)  #1\n"
               "  ret\n"
               "}\n");
    Source source = text_source(&text, "dump");
    r.diag.source = &source;
    Module *again = text_read(&r.heap, &source, &r.diag);
    CHECK(again != NULL);
    if (again)
        module_free(again);
    close_reading(&r);
}

TEST(text_buffer_grows)
{
    Reading r;
    open_reading(&r);
    TextBuffer buffer = {.arena = &r.arena};
    for (int k = 0; k < 1000; k++)
        out_to_text(&buffer, "0123456789", 10);
    Source source = text_source(&buffer, "x");
    CHECK_EQ(source.len, 10000);
    CHECK_TEXT(source.text + 9990, 10, "0123456789");
    for (int k = 0; k < SOURCE_SLACK; k++)
        CHECK_EQ(source.text[source.len + (size_t)k], 0);
    CHECK_EQ(buffer.n, 10000);
    close_reading(&r);
}

void test_text(void)
{
    RUN(read_fn_leaves_the_module);
    RUN(read_fn_refuses);
    RUN(dump_is_a_file);
    RUN(text_buffer_grows);
}
