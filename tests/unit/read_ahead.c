// SPDX-License-Identifier: MIT
// Tests lang_read_ahead(): the module stays as it is until lang_more(), and is then the same as without reading ahead.
#include <stdio.h>

#include "tests/unit/unit.h"
#include "tools/lib/lang.h"

typedef struct Job {
    Ctx ctx;
    Sink text, messages, written;
    Out out;
    Source source;
    LangReader reader;
    bool ahead;
} Job;

static void append(Sink *s, const char *text) { sink_append(s, text, strlen(text)); }

// Each function is declared, then defined with other linkage, then declared again. Later ones have more constants,
// descriptors, symbols and strings.
static void write_ptx(Sink *s, uint32_t functions)
{
    char line[400];
    append(s, ".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"a.cu\"\n");
    for (uint32_t k = 0; k < functions; k++) {
        snprintf(line, sizeof line,
                 ".func (.param .b32 r) f%u(.param .b32 p);\n"
                 ".global .align 4 .u32 v%u[2] = {%u, %u};\n",
                 k, k, k * 5, k * 7);
        append(s, line);
        snprintf(line, sizeof line,
                 ".visible .func (.param .b32 r) f%u(.param .b32 p)\n{\n\t.reg .b32 x%u_<3>;\n"
                 "\tld.param.b32 x%u_1, [p];\n\t%s x%u_2, x%u_1, %u;\n\tst.param.b32 [r], x%u_2;\n\tret;\n}\n",
                 k, k, k, k % 2 ? "add.s32" : "xor.b32", k, k, k * 1000, k);
        append(s, line);
        snprintf(line, sizeof line, ".func (.param .b32 r) f%u(.param .b32 p);\n.pragma \"knob A%u=1\";\n", k, k);
        append(s, line);
    }
}

static void job_open(Job *j, bool ahead, const char *more)
{
    static const char slack[SOURCE_SLACK];
    *j = (Job){.ahead = ahead};
    unit_heap(&j->ctx.heap);
    arena_init(&j->ctx.arena, &j->ctx.heap);
    j->ctx.diag = (Diag){.write = sink_append, .user = &j->messages};
    write_ptx(&j->text, 20);
    append(&j->text, more);
    sink_append(&j->text, slack, sizeof slack);
    j->source = (Source){.name = "f.ptx", .text = j->text.text, .len = j->text.n - sizeof slack};
    out_init(&j->out, &j->ctx.arena, sink_write, &j->written);
    j->reader = lang_open(&j->ctx, &j->source, (LangOptions){.lang = LANG_PTX, .ahead = ahead});
}

static void job_close(Job *j)
{
    lang_close(&j->reader);
    heap_release(&j->ctx.heap);
    sink_free(&j->text);
    sink_free(&j->messages);
    sink_free(&j->written);
}

// The numbers of entries of a module.
typedef struct Size {
    uint32_t strings, mnems, descs, consts, syms, fns, items, knobs;
} Size;

static Size size_of(const Module *m)
{
    const Tables *t = &m->tables;
    return (Size){t->strs.strings.n, t->mnems.n, t->descs.n, t->consts.n, m->syms.n, m->fns.n, m->items.n, m->knobs.n};
}

static void write_items(Job *j, uint32_t first)
{
    Module *m = j->reader.module;
    module_freeze(m);
    for (uint32_t k = first; k < m->items.n; k++) {
        lang_write_item(m, &m->items.at[k], LANG_PTX, &j->out);
        if (m->items.at[k].kind == ITEM_FN)
            module_drop_fn(m, m->items.at[k].index);
    }
    out_flush(&j->out);
}

static void run_job(void *user)
{
    Job *j = user;
    for (bool more = true; more;) {
        uint32_t first = j->reader.module->items.n;
        more = lang_more(&j->reader, 1);
        if (j->ahead && more) {
            Size before = size_of(j->reader.module), after;
            size_t messages = j->messages.n;
            lang_read_ahead(&j->reader, 1);
            after = size_of(j->reader.module);
            CHECK(memcmp(&before, &after, sizeof before) == 0);
            CHECK_EQ(j->messages.n, messages);
        }
        if (!j->ctx.diag.errors)
            write_items(j, first);
    }
}

TEST(same_module)
{
    Job plain, ahead;
    job_open(&plain, false, "");
    job_open(&ahead, true, "");
    run_job(&plain);
    run_job(&ahead);
    const Sink *one = &plain.written, *other = &ahead.written;
    CHECK(one->n > 5000 && one->n == other->n && memcmp(one->text, other->text, one->n) == 0);
    Module *m = ahead.reader.module;
    Size a = size_of(plain.reader.module), b = size_of(m);
    CHECK(memcmp(&a, &b, sizeof a) == 0);
    CHECK_EQ(b.knobs, 20);
    // Interning finds what was copied.
    const char *why;
    Tables *t = &m->tables;
    CHECK(const_intern(t, 19000, W32) < b.consts);
    CHECK(desc_intern(t, mnem_intern(t, "st.param.b32", 12), "[&],%", 5, &why) < b.descs);
    b = size_of(m);
    CHECK(memcmp(&a, &b, sizeof a) == 0);
    for (uint32_t id = 1; id < m->syms.n; id++)
        CHECK_EQ(module_find(m, m->syms.at[id].name), id);
    job_close(&plain);
    job_close(&ahead);
}

// A function keeps its properties when it is declared again.
TEST(properties_stay)
{
    Job j;
    job_open(&j, true, "");
    Module *m = j.reader.module;
    SymId id = 0;
    while (!id && lang_more(&j.reader, 1))
        if (m->fns.n)
            id = m->fns.at[0]->sym;
    m->syms.at[id].flags |= SYM_PROPERTIES;
    CHECK(!(m->syms.at[id].flags & SYM_VISIBLE));
    write_items(&j, 0);
    uint32_t first = m->items.n;
    while (lang_more(&j.reader, SIZE_MAX))
        continue;
    CHECK_EQ(m->syms.at[id].flags & SYM_PROPERTIES, SYM_PROPERTIES);
    CHECK(m->syms.at[id].flags & SYM_VISIBLE);
    CHECK(m->syms.at[id].fn == m->fns.at[2]);
    write_items(&j, first);
    CHECK(m->syms.at[id].fn == NULL);
    job_close(&j);
}

TEST(errors_wait)
{
    static const char faulty[] = ".global .u32 v0;\n.visible .entry k()\n{\n\tadd.s32 %x, 1;\n\tret;\n}\n";
    Job plain, ahead;
    job_open(&plain, false, faulty);
    job_open(&ahead, true, faulty);
    run_job(&plain);
    run_job(&ahead);
    CHECK_EQ(ahead.ctx.diag.errors, plain.ctx.diag.errors);
    CHECK(ahead.ctx.diag.errors > 1);
    CHECK_TEXT(ahead.messages.text, ahead.messages.n, (sink_append(&plain.messages, "", 1), plain.messages.text));
    job_close(&plain);
    job_close(&ahead);
}

// True if reading succeeds with a memory limit of so many bytes.
static bool is_enough(size_t bytes)
{
    Job j;
    unit_context("%zu bytes", bytes);
    job_open(&j, true, "");
    j.ctx.heap.limit = bytes;
    jmp_buf here, *outer = j.ctx.heap.unwind;
    j.ctx.heap.unwind = &here;
    if (setjmp(here) == 0)
        run_job(&j);
    bool well = j.ctx.heap.status == ST_OK;
    if (!well)
        CHECK(strstr(j.ctx.heap.message, "memory limit") != NULL);
    j.ctx.heap.unwind = outer;
    job_close(&j);
    return well;
}

// A limit that is reached while a piece is read ahead is reported by lang_more().
TEST(limits)
{
    size_t bytes = 4096;
    while (!is_enough(bytes) && CHECK(bytes < 1 << 20))
        bytes += 4096;
    CHECK(bytes > 1 << 16);
}

void test_read_ahead(void)
{
    RUN(same_module);
    RUN(properties_stay);
    RUN(errors_wait);
    RUN(limits);
}
