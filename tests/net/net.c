// SPDX-License-Identifier: MIT
// Runs a module through many plans, and checks it in the interpreter after each phase that made progress.
//
//   net [-t] RUN MODULE PLAN...
//
// The module is read from memory once for each plan. Its launches run once on the original; states that several plans
// share also run only once (tools/orirun/run_each.h). A plan is -O0 to -O4; arch:sm_NN, which is -O3 with that backend;
// text, which is -O3 through Ori text after each phase; internal:LIST, which is -O3 --internalize=LIST; or a list of
// phases. Settings of knobs may follow each, after `~`, with `~` between them. -t: each plan runs on eight threads,
// too, and must write the same bytes. Prints a line `plan PLAN` before each plan, so that a crash has a name, and after
// it
//
//   changed PLAN PHASE     a phase made progress
//   mallocs PLAN N         GlobalOpt replaced memory of malloc
//   passed PLAN            or
//   failed PLAN: MESSAGE
//
// Exit 0 all passed, 1 some failed, 2 usage or no start.
#include <stdio.h>
#include <stdlib.h>

#include "tools/lib/batch.h"
#include "tools/options/files.h"
#include "tools/orirun/run_each.h"

typedef struct Net {
    Source run, source;
    Lang lang;
    Ctx first;  // context of the original
    RunEach each;
    bool threads;  // each plan runs on several threads, too
} Net;

enum { THREADS = 8 };

static void to_stderr(void *user, const char *text, size_t n)
{
    (void)user;
    fwrite(text, 1, n, stderr);
}

// Makes a context without module and plan. Failures go to *unwind.
static void start(Ctx *ctx, jmp_buf *unwind)
{
    *ctx = (Ctx){0};
    ctx->heap = (Heap){.files = &program_files, .unwind = unwind};
    ctx->diag = (Diag){.write = to_stderr, .program = "net"};
    arena_init(&ctx->arena, &ctx->heap);
    phase_factory(ctx);
    ctx->options = phase_default_options();
    ctx->options.positions = true;
    ctx->settings = phase_knobs(&ctx->arena);
}

static void end(Ctx *ctx)
{
    if (ctx->knobs.store)
        knobs_free(&ctx->knobs);
    heap_release(&ctx->heap);
}

static Module *read_module(Net *net, Ctx *ctx)
{
    char why[500];
    Module *m = lang_read(ctx, &net->source, (LangOptions){.lang = net->lang});
    if (!m)
        heap_fail(&ctx->heap, ST_BAD_INPUT, "the module is not accepted");
    module_freeze(m);
    if (!phase_plan(ctx, m, why))
        heap_fail(&ctx->heap, ST_USAGE, "%s", why);
    if (!phase_check_pragmas(ctx, m, 0))
        heap_fail(&ctx->heap, ST_BAD_INPUT, "the pragmas are not accepted");
    return m;
}

// Runs the original.
static void run_first(Net *net, const char *run, const char *module)
{
    Ctx *ctx = &net->first;
    char why[200];
    if (!source_open(&net->run, run, &ctx->arena, why) || !source_open(&net->source, module, &ctx->arena, why))
        heap_fail(&ctx->heap, ST_IO, "cannot read: %s", why);
    net->lang = lang_of(&net->source);
    if (run_each_read(&net->each, ctx, &net->run) != ST_OK)
        heap_fail(&ctx->heap, ST_BAD_INPUT, "%s is not accepted", run);
    if (!run_each_start(&net->each, read_module(net, ctx), module))
        heap_fail(&ctx->heap, ST_BAD_INPUT, "the module does not run");
}

static void set_knobs(Ctx *ctx, const char *text)
{
    KnobStore *settings = phase_knobs(&ctx->arena);
    if (!knob_read_text(settings, KS_COMMAND_LINE, text, strlen(text), KNOB_NO_OFFSET, &ctx->diag))
        heap_fail(&ctx->heap, ST_USAGE, "the knobs are not accepted");
    ctx->settings = settings;
}

static void choose(Ctx *ctx, const char *plan, Lang *lang)
{
    char why[300];
    PhaseOptions *o = &ctx->options;
    const char *knobs = strchr(plan, '~');
    if (knobs) {
        set_knobs(ctx, knobs + 1);
        plan = arena_text(&ctx->arena, plan, (size_t)(knobs - plan));
    }
    if (strncmp(plan, "-O", 2) == 0) {
        o->level = atoi(plan + 2);
    } else if (strncmp(plan, "arch:", 5) == 0) {
        if (!sm_find(plan + 5, &o->target, why))
            heap_fail(&ctx->heap, ST_USAGE, "%s", why);
    } else if (strcmp(plan, "text") == 0) {
        o->self_roundtrip = true;
        *lang = LANG_ORI;
    } else if (strncmp(plan, "internal:", 9) == 0) {
        char knob[200];
        snprintf(knob, sizeof knob, "Internalize=\"%s\"", plan + 9);
        set_knobs(ctx, knob);
    } else {
        o->named = plan;
    }
    o->stay_in_ssa = *lang == LANG_ORI;
}

static TextBuffer write_module(Ctx *ctx, Module *m, unsigned threads, Lang lang)
{
    TextBuffer text = {.arena = &ctx->arena};
    Out out;
    out_init(&out, &ctx->arena, out_to_text, &text);
    lang_write_header(m, lang, &out);
    batch_run(&(Batch){.ctx = ctx,
                       .module = m,
                       .end = m->items.n,
                       .whole = true,
                       .threads = threads,
                       .out = &out,
                       .lang = lang,
                       .keep = threads == 1});
    out_flush(&out);
    return text;
}

// Checks the output on several threads.
static void run_on_threads(Net *net, Ctx *ctx, const char *plan, const TextBuffer *want)
{
    Lang lang = net->lang;
    choose(ctx, plan, &lang);
    TextBuffer text = write_module(ctx, read_module(net, ctx), THREADS, lang);
    if (text.n != want->n || memcmp(text.at, want->at, text.n) != 0)
        heap_fail(&ctx->heap, ST_INTERNAL, "the output is another one on %d threads", THREADS);
}

static TextBuffer run_plan(Net *net, Ctx *ctx, const char *plan)
{
    Lang lang = net->lang;
    choose(ctx, plan, &lang);
    Module *m = read_module(net, ctx);
    run_each_again(&net->each, ctx, m);
    TextBuffer text = write_module(ctx, m, 1, lang);
    run_each_output(&net->each, &text, lang);
    for (int row = 0; row < PHASE_ROWS; row++)
        if (ctx->progress[row])
            printf("changed %s %s\n", plan, phase_info[row].name);
    if (ctx->module.mallocs_replaced)
        printf("mallocs %s %u\n", plan, ctx->module.mallocs_replaced);
    return text;
}

int main(int argc, char **argv)
{
    static Net net;
    static Ctx ctx, beside;
    static jmp_buf unwind;
    static int k, failed;
    static TextBuffer text;
    static int first;
    net.threads = argc > 1 && strcmp(argv[1], "-t") == 0;
    first = 1 + net.threads;
    if (argc < first + 3) {
        fputs("usage: net [-t] RUN MODULE PLAN...\n", stderr);
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (setjmp(unwind)) {
        printf("failed original: %s\n", net.first.heap.message);
        return 2;
    }
    start(&net.first, &unwind);
    run_first(&net, argv[first], argv[first + 1]);
    for (k = first + 2; k < argc; k++) {
        printf("plan %s\n", argv[k]);
        if (setjmp(unwind)) {
            failed++;
            printf("failed %s: %s\n", argv[k], *ctx.heap.message ? ctx.heap.message : beside.heap.message);
        } else {
            start(&beside, &unwind);
            start(&ctx, &unwind);
            text = run_plan(&net, &ctx, argv[k]);
            if (net.threads)
                run_on_threads(&net, &beside, argv[k], &text);
            printf("passed %s\n", argv[k]);
        }
        run_each_close(&net.each);
        end(&ctx);
        end(&beside);
    }
    end(&net.first);
    return failed > 0;
}
