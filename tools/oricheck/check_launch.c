// SPDX-License-Identifier: MIT
// Launches of `run:` lines, each of which has the options of orirun for one launch.
#include <ctype.h>
#include <stdio.h>

#include "tools/oricheck/check.h"

/* -- From options to lines of a .run file --------------------------------------------------------------- */

static void put(Test *t, const char *text, size_t n) { out_to_text(&t->launches, text, n); }

// Returns the end of a word, which may contain quotes.
static const char *word_end(const char *p)
{
    for (bool quoted = false; *p && (quoted || !isspace((unsigned char)*p)); p++)
        quoted ^= *p == '"';
    return p;
}

// Converts `--name=value` or `--name` to a line of a .run file. Returns true if a value may follow.
static bool put_option(Test *t, const char *p, const char *end)
{
    const char *name = p + strspn(p, "-"), *equals = memchr(p, '=', (size_t)(end - p));
    put(t, "\n", 1);
    put(t, name, (size_t)((equals ? equals : end) - name));
    if (equals) {
        put(t, " ", 1);
        put(t, equals + 1, (size_t)(end - equals) - 1);
    }
    return !equals;
}

void check_add_launch(Test *t, uint32_t line, const char *text)
{
    bool first = !t->launches.n, value_may_follow = false;
    t->launches.arena = &t->ctx->arena;
    t->launches_line = first ? line : t->launches_line;
    put(t, first ? "file -" : "\n---", first ? 6 : 4);
    for (const char *p = text, *end; *(p += strspn(p, " \t\r")); p = end) {
        size_t dashes = strspn(p, "-");
        end = word_end(p);
        if (dashes && isalpha((unsigned char)p[dashes])) {
            value_may_follow = put_option(t, p, end);
        } else if (value_may_follow) {
            put(t, " ", 1);
            put(t, p, (size_t)(end - p));
            value_may_follow = false;
        } else {
            check_fail(t, line, "expected an option of orirun instead of '%.*s'", (int)(end - p), p);
            return;
        }
    }
}

/* -- Messages ------------------------------------------------------------------------------------------- */

static void append_message(void *user, const char *text, size_t n) { out_to_text(user, text, n); }

// Reports the first message as a failure and returns false.
static bool fail(Test *t, const TextBuffer *messages)
{
    const char *nl = messages->n ? memchr(messages->at, '\n', messages->n) : NULL;
    check_fail(t, t->launches_line, "%.*s", (int)(nl ? (size_t)(nl - messages->at) : messages->n),
               messages->n ? messages->at : "");
    return false;
}

static Source launches_source(Test *t) { return text_source(&t->launches, "run"); }

/* -- Interface ------------------------------------------------------------------------------------------ */

bool check_watch_launches(Test *t, RunEach *each, Module *m)
{
    TextBuffer *messages = NEW(&t->ctx->arena, TextBuffer);
    Source *source = NEW(&t->ctx->arena, Source);
    *source = launches_source(t);
    messages->arena = &t->ctx->arena;
    t->ctx->diag = (Diag){.source = &t->source, .write = append_message, .user = messages};
    if (run_each_read(each, t->ctx, source) == ST_OK && run_each_start(each, m, t->path))
        return true;
    run_each_close(each);
    return fail(t, messages);
}

// Prints the dumps and digests of a launch, or its fault, as part of the result. Returns false if the plan is wrong.
static bool print_launch(RunState *s, const RunLaunch *l, Out *out)
{
    Launch launch;
    if (!run_prepare(s, l, &launch))
        return false;
    out_fmt(out, "launch %u entry %s\n", s->number, run_sym_name(s, launch.entry));
    if (!machine_run(s->machine, &launch)) {
        const RunError *e = machine_error(s->machine);
        out_fmt(out, "block %u,%u,%u, thread %u,%u,%u: %s\n", e->block.x, e->block.y, e->block.z, e->thread.x,
                e->thread.y, e->thread.z, e->text);
        return true;
    }
    for (uint32_t k = 0; k < l->dumps.n; k++)
        run_dump(s, &l->dumps.at[k], out);
    run_print_digests(s, out);
    return run_check(s, l, s->here.at);
}

void check_print_launches(Test *t, const Module *m, Out *out)
{
    RunPlan plan;
    RunState s;
    TextBuffer messages = {.arena = &t->ctx->arena};
    if (!t->launches.n) {
        check_fail(t, t->kind_line, "`test run` requires a line `run:`");
        return;
    }
    Source source = launches_source(t);
    run_plan_init(&plan, "oricheck", &t->ctx->arena, append_message, &messages);
    plan.options.print = out;
    bool ok = run_plan_read(&plan, &source);
    run_state_init(&s, &plan, m, t->path, &t->ctx->heap, &t->ctx->arena);
    for (uint32_t k = 0; k < plan.launches.n && ok; k++) {
        s.number = k + 1;
        ok = print_launch(&s, &plan.launches.at[k], out);
    }
    run_state_end(&s);
    if (!ok)
        fail(t, &messages);
}
