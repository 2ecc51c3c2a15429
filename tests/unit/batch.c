// SPDX-License-Identifier: MIT
// Tests batches on several threads: the order in which functions complete, waits between them, and the state after an
// error.
#include <stdio.h>

#include "knobs/knobs.h"
#include "tests/unit/unit.h"
#include "tools/lib/batch.h"

enum { FUNCTIONS = 30 };

typedef struct Trial {
    Ctx ctx;
    Sink text, messages, out;
    Source source;
    Module *module;
    Out sink;
    pthread_t home;
    uint32_t queries;     // calls of is_wanted()
    uint32_t last;        // function of the last call
    uint32_t elsewhere;   // calls on other threads
    uint32_t descending;  // calls out of module order, except the first of a round
    const Fn *excluded;
    unsigned threads;
    bool keep;
    Lang lang;
    void (*beside)(void *);
    uint32_t beside_calls;
} Trial;

static void append(Sink *s, const char *text) { sink_append(s, text, strlen(text)); }

// The size of function k falls with k, so that later functions complete first. Each calls the previous one without a
// use of its result, so the call stays unless the caller's summary of the callee permits its removal.
static void write_functions(Sink *s, const char *form)
{
    char line[200];
    append(s, "target sm_80 ptx 8.0 address 64\n");
    for (int k = 0; k < FUNCTIONS; k++) {
        snprintf(line, sizeof line, "device @f%d() form %s {\nb0:\n  R0:32 = mov.b32 %%tid.x\n", k, form);
        append(s, line);
        for (int j = 1; j < (FUNCTIONS - k) * 40; j++) {
            snprintf(line, sizeof line, "  R%d:32 = add.u32 R%d, %d\n", j, j - 1, j);
            append(s, line);
        }
        if (k)
            snprintf(line, sizeof line, "  call.uni @f%d\n", k - 1);
        append(s, k ? line : "");
        append(s, "  ret\n}\n");
    }
}

static bool is_wanted(void *user, const Fn *fn)
{
    Trial *r = user;
    uint32_t at = 0;
    while (at < r->module->fns.n && r->module->fns.at[at] != fn)
        at++;
    r->elsewhere += !pthread_equal(pthread_self(), r->home);
    r->descending += r->queries % FUNCTIONS && at < r->last;
    r->queries++;
    r->last = at;
    return fn != r->excluded;
}

static void open_run(Trial *r, unsigned threads, const char *form)
{
    static const char slack[SOURCE_SLACK];
    char why[500];
    *r = (Trial){.home = pthread_self(), .threads = threads, .lang = LANG_ORI};
    unit_heap(&r->ctx.heap);
    Ctx *ctx = &r->ctx;
    arena_init(&ctx->arena, &ctx->heap);
    ctx->options = phase_default_options();
    ctx->diag = (Diag){.write = sink_append, .user = &r->messages};
    phase_factory(ctx);
    ctx->settings = knob_store_new(&ctx->arena, &knob_table, phase_find);
    write_functions(&r->text, form);
    sink_append(&r->text, slack, sizeof slack);
    r->source = (Source){.name = "f.ori", .text = r->text.text, .len = r->text.n - sizeof slack};
    r->module = lang_read(ctx, &r->source, (LangOptions){.lang = LANG_ORI});
    if (!CHECK(r->module != NULL) || !CHECK(phase_plan(ctx, r->module, why)))
        heap_fail(&ctx->heap, ST_INTERNAL, "%.300s", r->messages.n ? r->messages.text : why);
    module_freeze(r->module);
    out_init(&r->sink, &ctx->arena, sink_write, &r->out);
}

static void run_batch(void *user)
{
    Trial *r = user;
    batch_run(&(Batch){.ctx = &r->ctx,
                       .module = r->module,
                       .end = r->module->items.n,
                       .threads = r->threads,
                       .wanted = is_wanted,
                       .user = r,
                       .out = &r->sink,
                       .lang = r->lang,
                       .keep = r->keep,
                       .beside = r->beside,
                       .beside_user = r});
}

static void close_run(Trial *r)
{
    knobs_free(&r->ctx.knobs);
    module_free(r->module);
    arena_free(&r->ctx.arena);
    CHECK(r->ctx.heap.lock == NULL);
    heap_release(&r->ctx.heap);
    sink_free(&r->text);
    sink_free(&r->messages);
    sink_free(&r->out);
}

// The bytes do not depend on the number of threads. is_wanted() is called on this thread, in module order, once per
// function at the start and once when each completes; then the functions are dropped or stay.
TEST(batch_order)
{
    Trial one;
    open_run(&one, 1, "multi");
    run_batch(&one);
    out_flush(&one.sink);
    for (unsigned threads = 2; threads <= 2 * FUNCTIONS; threads += 9) {
        Trial r;
        unit_context("%u threads", threads);
        open_run(&r, threads, "multi");
        r.keep = threads % 2;
        run_batch(&r);
        out_flush(&r.sink);
        CHECK(r.out.n == one.out.n && memcmp(r.out.text, one.out.text, r.out.n) == 0);
        CHECK_EQ(r.queries, 2 * FUNCTIONS);
        CHECK_EQ(r.elsewhere, 0);
        CHECK_EQ(r.descending, 0);
        for (uint32_t k = 0; k < FUNCTIONS; k++)
            CHECK((r.module->fns.at[k] != NULL) == r.keep);
        if (!r.keep)
            CHECK(r.ctx.heap.used < one.ctx.heap.peak);
        close_run(&r);
    }
    close_run(&one);
}

// A caller waits for the summary of its callee, however slow that is: no call has an effect, so all are removed.
TEST(batch_waits)
{
    for (unsigned threads = 1; threads <= 8; threads++) {
        Trial r;
        unit_context("%u threads", threads);
        open_run(&r, threads, "multi");
        r.keep = true;
        run_batch(&r);
        out_flush(&r.sink);
        sink_append(&r.out, "", 1);
        CHECK(strstr(r.out.text, "@f29") != NULL);
        CHECK(strstr(r.out.text, "call") == NULL);
        close_run(&r);
    }
}

// A function in the middle cannot be printed as PTX: neither it nor later functions are written, and functions that
// wait for it end.
TEST(batch_error)
{
    for (unsigned threads = 1; threads <= 12; threads++) {
        Trial r;
        unit_context("%u threads", threads);
        open_run(&r, threads, "ssa");
        r.lang = LANG_PTX;
        r.excluded = r.module->fns.at[11];
        CHECK_FAILS(&r.ctx.heap, ST_BAD_INPUT, run_batch, &r);
        CHECK(strncmp(r.ctx.heap.message, "function 12 of the module is in ssa form", 40) == 0);
        out_flush(&r.sink);
        sink_append(&r.out, "", 1);
        CHECK(strstr(r.out.text, "f10(") != NULL || strstr(r.out.text, "f10\n") != NULL);
        CHECK(strstr(r.out.text, "f11\n") == NULL && strstr(r.out.text, "f12\n") == NULL);
        close_run(&r);
    }
}

// After a time-out the message is that of the first function.
TEST(batch_time)
{
    for (unsigned threads = 1; threads <= 4; threads += 3) {
        Trial r;
        open_run(&r, threads, "multi");
        r.ctx.deadline = 1e-9;
        CHECK_FAILS(&r.ctx.heap, ST_LIMIT, run_batch, &r);
        CHECK(strstr(r.ctx.heap.message, "time limit") != NULL);
        out_flush(&r.sink);
        CHECK_EQ(r.out.n, 0);
        close_run(&r);
    }
}

static bool ends_well(Trial *r)
{
    jmp_buf here;
    jmp_buf *const outer = r->ctx.heap.unwind;
    r->ctx.heap.unwind = &here;
    r->ctx.heap.status = ST_OK;
    if (setjmp(here) == 0)
        run_batch(r);
    r->ctx.heap.unwind = outer;
    return r->ctx.heap.status == ST_OK;
}

// True if the batch succeeds with this many bytes beyond those of reading the module.
static bool is_enough(size_t bytes, unsigned threads)
{
    Trial r;
    unit_context("%zu bytes more, %u threads", bytes, threads);
    open_run(&r, threads, "multi");
    r.ctx.heap.limit = r.ctx.heap.used + bytes;
    bool well = ends_well(&r);
    if (!well && CHECK_EQ(r.ctx.heap.status, ST_LIMIT))
        CHECK(strstr(r.ctx.heap.message, "memory limit") != NULL);
    CHECK(r.ctx.heap.peak <= r.ctx.heap.limit);
    close_run(&r);
    return well;
}

static void allocate(void *user)
{
    Trial *r = user;
    Heap heap = {.pool = &r->ctx.heap};
    r->beside_calls += !pthread_equal(pthread_self(), r->home);
    for (int k = 0; k < 2000; k++) {
        Arena arena;
        arena_init(&arena, &heap);
        arena_alloc(&arena, 3000);
        arena_free(&arena);
    }
}

// `beside` runs once on a thread of its own, and has ended when the batch ends or fails. On one thread it does not run.
TEST(batch_beside)
{
    for (unsigned threads = 1; threads <= 4; threads++) {
        Trial r;
        unit_context("%u threads", threads);
        open_run(&r, threads, "multi");
        r.beside = allocate;
        run_batch(&r);
        CHECK_EQ(r.beside_calls, threads > 1);
        close_run(&r);
        open_run(&r, threads, "ssa");
        r.beside = allocate;
        r.lang = LANG_PTX;
        r.excluded = r.module->fns.at[3];
        CHECK_FAILS(&r.ctx.heap, ST_BAD_INPUT, run_batch, &r);
        CHECK_EQ(r.beside_calls, threads > 1);
        close_run(&r);
    }
}

// A batch fails with a message, whichever allocation exceeds the limit.
TEST(batch_limits)
{
    for (unsigned threads = 1; threads <= 4; threads += 3)
        for (size_t bytes = 0; !is_enough(bytes, threads); bytes += bytes < 1 << 16 ? 4096 : 1 << 16)
            if (!CHECK(bytes < 16 << 20))
                break;
}

void test_batch(void)
{
    RUN(batch_order);
    RUN(batch_waits);
    RUN(batch_error);
    RUN(batch_time);
    RUN(batch_beside);
    RUN(batch_limits);
}
