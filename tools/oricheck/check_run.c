// SPDX-License-Identifier: MIT
// Runs a test file: parses it, runs its phases, prints the result, and checks it.
#include <stdio.h>
#include <stdlib.h>

#include "phases/manager/remarks.h"
#include "tools/lib/batch.h"
#include "tools/oricheck/check.h"

/* -- Reading -------------------------------------------------------------------------------------------- */

// line 0 = no position
typedef struct Message {
    uint32_t line, col;
    const char *text;
} Message;

typedef struct Messages {
    Arena *arena;
    VEC(Message) at;
} Messages;

static void record_message(void *user, const DiagMessage *d)
{
    Messages *m = user;
    Message message = {d->line, d->col, arena_text(m->arena, d->text, strlen(d->text))};
    if (d->severity == DIAG_ERROR)
        VEC_PUSH(m->arena, &m->at, message);
}

// Reads a module, with its errors in `messages`.
static Module *read_source(Test *t, const Source *source, Lang lang, Messages *messages)
{
    Ctx *ctx = t->ctx;
    Source *nameless = NEW(&ctx->arena, Source);
    *nameless = *source;
    nameless->name = "";
    *messages = (Messages){.arena = &ctx->arena};
    ctx->diag = (Diag){.source = nameless, .report = record_message, .user = messages};
    Module *m = lang_read(
        ctx, nameless,
        (LangOptions){.lang = lang, .strip_debug = t->strip_debug, .version = lang == LANG_PTX ? t->version : 0});
    if (m)
        module_freeze(m);
    return m && phase_check_pragmas(ctx, m, 0) ? m : NULL;
}

// Reads printed text again. An error is a failure and returns NULL.
static Module *read_back(Test *t, TextBuffer *text, Lang lang)
{
    Messages messages;
    Source source = text_source(text, "");
    Module *m = read_source(t, &source, lang, &messages);
    if (m)
        return m;
    Message first = messages.at.n ? messages.at.at[0] : (Message){.text = "no reason is given"};
    check_fail(t, t->kind_line, "the printed %s cannot be read: line %u, column %u: %s",
               lang == LANG_ORI ? "Ori text" : "PTX", first.line, first.col, first.text);
    Result r = result_lines(&t->ctx->arena, text);
    uint32_t at = 0;
    while (at < r.n && r.lines[at].number < first.line)
        at++;
    check_view(t, &r, at, r.n);
    return NULL;
}

/* -- Expected errors ------------------------------------------------------------------------------------ */

// Marks the first expected error that matches a message. Returns false if none does.
static bool take_error(Test *t, const Message *m)
{
    for (uint32_t k = 0; k < t->errors.n; k++) {
        ErrorCheck *e = &t->errors.at[k];
        if (e->seen || e->line != m->line || !check_holds(t, &e->pattern, m->text))
            continue;
        e->seen = true;
        if (e->col && e->col != m->col)
            check_fail(t, e->at, "the error is in column %u, expected in column %u", m->col, e->col);
        return true;
    }
    return false;
}

static void compare_errors(Test *t, const Messages *messages)
{
    for (uint32_t k = 0; k < messages->at.n; k++) {
        const Message *m = &messages->at.at[k];
        if (m->line == 0)
            check_fail(t, 0, "an error without a position: %s", m->text);
        else if (!take_error(t, m))
            check_fail(t, m->line, "unexpected error in column %u: %s", m->col, m->text);
    }
    for (uint32_t k = 0; k < t->errors.n; k++)
        if (!t->errors.at[k].seen)
            check_fail(t, t->errors.at[k].at, "no such error in line %u: %s", t->errors.at[k].line,
                       t->errors.at[k].pattern.text);
}

/* -- Functions ------------------------------------------------------------------------------------------ */

static bool is_named(const Module *m, const Fn *fn, const char *name)
{
    char buf[4096];
    return strcmp(name, name_text(&m->tables, m->syms.at[fn->sym].name, buf, sizeof buf)) == 0;
}

static bool is_selected(void *user, const Fn *fn)
{
    const Test *t = user;
    for (uint32_t k = 0; k < t->entries.n; k++)
        if (is_named(fn->module, fn, t->entries.at[k].name))
            return true;
    return t->entries.n == 0;
}

// Reports each -e that names no function.
static void check_entries(Test *t, const Module *m)
{
    for (uint32_t k = 0; k < t->entries.n; k++) {
        bool found = false;
        for (uint32_t f = 0; f < m->fns.n; f++)
            found |= is_named(m, m->fns.at[f], t->entries.at[k].name);
        if (!found)
            check_fail(t, t->entries.at[k].line, "-e: '%s' is not a function of this module", t->entries.at[k].name);
    }
}

static void verify(Test *t, const Module *m)
{
    InstrId at;
    char why[200], name[80];
    for (uint32_t k = 0; k < m->fns.n; k++) {
        const Fn *fn = m->fns.at[k];
        if (!(fn->flags & FN_DEFINED) || fn_verify(fn, VERIFY_FORM, &at, why))
            continue;
        if (t->kind == TEST_VERIFY)
            diag_at(&t->ctx->diag, DIAG_ERROR, fn->offset, "%s", why);
        else
            heap_fail(&t->ctx->heap, ST_INTERNAL, "function %s fails the verifier: %s",
                      name_text(fn->tables, m->syms.at[fn->sym].name, name, sizeof name), why);
    }
}

static void run_phases(Test *t, Module *m)
{
    batch_run(&(Batch){
        .ctx = t->ctx, .module = m, .end = m->items.n, .whole = true, .wanted = is_selected, .user = t, .keep = true});
}

static TextBuffer print(Test *t, const Module *m, Lang lang)
{
    TextBuffer text = {.arena = &t->ctx->arena};
    Out out;
    out_init(&out, text.arena, out_to_text, &text);
    lang_write_header(m, lang, &out);
    for (uint32_t k = 0; k < m->items.n; k++) {
        const Item *item = &m->items.at[k];
        Fn *fn = item->kind == ITEM_FN ? m->fns.at[item->index] : NULL;
        if (fn && t->precise)
            fn_renumber(fn);
        lang_write_item(m, item, lang, &out);
    }
    out_flush(&out);
    return text;
}

/* -- Remarks -------------------------------------------------------------------------------------------- */

// Returns the text of a remark: `Missed IndexUnknown of kern at a.cu:12:3: 2 of 4 accesses ...`.
static const char *remark_line(Test *t, const Remark *r)
{
    TextBuffer text = {.arena = &t->ctx->arena};
    Out out;
    out_init(&out, text.arena, out_to_text, &text);
    out_fmt(&out, "%s %s of %s", remark_kind_name(r->kind), r->name, r->function);
    if (r->path)
        out_fmt(&out, " at %s:%u:%u", r->path, r->line, r->col);
    out_fmt(&out, ": %s", remark_text(r, text.arena));
    out_flush(&out);
    out_to_text(&text, "", 1);
    return text.at;
}

// Reports unexpected remarks, and missing expected remarks.
static void compare_remarks(Test *t, Remarks *emitted, const Module *m)
{
    remarks_name_files(emitted, m);
    for (uint32_t k = 0; k < emitted->at.n; k++) {
        const char *line = remark_line(t, &emitted->at.at[k]);
        uint32_t c = 0;
        while (c < t->remarks.n && (t->remarks.at[c].seen || !check_holds(t, &t->remarks.at[c].pattern, line)))
            c++;
        if (c < t->remarks.n)
            t->remarks.at[c].seen = true;
        else
            check_fail(t, t->remarks.at[0].line, "unexpected remark: %s", line);
    }
    for (uint32_t c = 0; c < t->remarks.n; c++)
        if (!t->remarks.at[c].seen)
            check_fail(t, t->remarks.at[c].line, "no such remark: %s", t->remarks.at[c].pattern.text);
}

/* -- Kinds of tests ------------------------------------------------------------------------------------- */

static void check_equal_texts(Test *t, const char *what, const TextBuffer *old, const TextBuffer *now)
{
    if (old->n == now->n && (!now->n || memcmp(old->at, now->at, now->n) == 0))
        return;
    check_fail(t, t->kind_line, "%s", what);
    check_diff(t, old, now);
}

// Reports a text that changes when it is read and printed again.
static Module *check_fixed_point(Test *t, TextBuffer *text, Lang lang)
{
    Module *m = read_back(t, text, lang);
    if (!m)
        return NULL;
    TextBuffer again = print(t, m, lang);
    check_equal_texts(t,
                      lang == LANG_ORI ? "Ori text (-) changes when it is read and printed again (+)"
                                       : "the printed PTX (-) changes when it is read and printed again (+)",
                      text, &again);
    return m;
}

static void check_roundtrip(Test *t, const Module *m)
{
    TextBuffer ori = print(t, m, LANG_ORI);
    Module *again = check_fixed_point(t, &ori, LANG_ORI);
    if (t->lang == LANG_ORI)
        return;
    TextBuffer direct = print(t, m, LANG_PTX);
    check_fixed_point(t, &direct, LANG_PTX);
    if (!again)
        return;
    TextBuffer by_ori = print(t, again, LANG_PTX);
    check_equal_texts(t, "the printed PTX (-) changes when it is converted to Ori text and back (+)", &direct, &by_ori);
}

// True for conversions between the forms, which change a function in each run.
static bool is_conversion(int row) { return phase_info[row].form == PF_TO_SSA || phase_info[row].form == PF_TO_MULTI; }

// Runs the phases again over the functions, which must make no progress. Then runs them over the printed result, which
// must give equal bytes; PTX may have lost a property of the functions (two equal targets of a branch).
static void check_idempotent(Test *t, Module *m, TextBuffer *text)
{
    Ctx *ctx = t->ctx;
    TextBuffer dropped = {.arena = &ctx->arena};
    Out out;
    out_init(&out, dropped.arena, out_to_text, &dropped);
    ctx->report = &out;
    memset(ctx->progress, 0, sizeof ctx->progress);
    run_phases(t, m);
    for (int row = 0; row < PHASE_ROWS; row++)
        if (ctx->progress[row] && !is_conversion(row))
            check_fail(t, t->kind_line, "idempotent: a second run reports progress in %s (%d)", phase_info[row].name,
                       row);
    TextBuffer second = print(t, m, t->emit);
    check_equal_texts(t, "idempotent: the result of the second run (+) differs from that of the first (-)", text,
                      &second);
    Module *again = read_back(t, text, t->emit);
    if (!again)
        return;
    run_phases(t, again);
    TextBuffer third = print(t, again, t->emit);
    check_equal_texts(t, "idempotent: a run over the printed result (-) changes it (+)", text, &third);
}

/* -- The whole ------------------------------------------------------------------------------------------ */

// Skips a test of a phase without a body: it would pass as a test of a phase that must not fire.
static void skip_if_unimplemented(Test *t)
{
    enum { REASON_MAX = 120 };
    for (uint32_t k = 0; k < t->ctx->plan.at.n && !t->skip; k++) {
        int row = t->ctx->plan.at.at[k].row;
        if (phase_is_implemented(row))
            continue;
        char *skip = arena_alloc(&t->ctx->arena, REASON_MAX);
        snprintf(skip, REASON_MAX, "phase %s (%d) is not implemented yet", phase_info[row].name, row);
        t->skip = skip;
    }
}

// Makes the plan for the target of the module. A call with NULL, before the module is read, checks the phases' names.
static bool plan(Test *t, const Module *m)
{
    char why[500];
    PhaseOptions *o = &t->ctx->options;
    bool phases = t->kind == TEST_PHASE || t->kind == TEST_BUNDLE;
    o->verify = VM_EACH;
    o->contracts = true;
    o->stay_in_ssa = t->emit == LANG_ORI;
    o->named = t->kind == TEST_PIPELINE ? NULL : phases ? t->phases : "";
    if (phase_plan(t->ctx, m, why)) {
        skip_if_unimplemented(t);
        return true;
    }
    const char *reason = strncmp(why, "--named-phases: ", 16) == 0 ? why + 16 : why;
    check_fail(t, t->kind_line, "%s", reason);
    return false;
}

// Returns the reports followed by the printed text.
static TextBuffer join(Arena *arena, const TextBuffer *report, const TextBuffer *text)
{
    TextBuffer all = {.arena = arena};
    out_to_text(&all, report->at, report->n);
    out_to_text(&all, text->at, text->n);
    return all;
}

static void run_module(Test *t, Module *m)
{
    Ctx *ctx = t->ctx;
    TextBuffer report = {.arena = &ctx->arena};
    Out out;
    out_init(&out, report.arena, out_to_text, &report);
    RunEach each = {0};
    ctx->report = &out;
    if (t->kind == TEST_RUN)
        check_print_launches(t, m, &out);
    else if (t->launches.n && !check_watch_launches(t, &each, m))
        return;
    Remarks emitted;
    if (t->remarks.n) {
        remarks_init(&emitted, &ctx->heap, NULL);
        ctx->remarks = &emitted;
    }
    run_phases(t, m);
    ctx->remarks = NULL;
    out_flush(&out);
    if (t->remarks.n)
        compare_remarks(t, &emitted, m);
    TextBuffer text = print(t, m, t->emit), all = t->kind == TEST_RUN ? report : join(&ctx->arena, &report, &text);
    if (each.ctx)
        run_each_output(&each, &text, t->emit);
    run_each_close(&each);
    Result r = result_lines(&ctx->arena, &all);
    check_result(t, &r);
    if (t->precise)
        check_precise(t, &all);
    if (t->kind == TEST_ROUNDTRIP)
        check_roundtrip(t, m);
    if (t->idempotent)
        check_idempotent(t, m, &text);
}

void check_run(Test *t)
{
    Messages messages;
    phase_factory(t->ctx);
    t->ctx->options = phase_default_options();
    check_parse(t);
    if (t->emit == LANG_AUTO)
        t->emit = t->lang;
    if (t->failures || !plan(t, NULL) || t->skip)
        return;
    Module *m = read_source(t, &t->source, t->lang, &messages);
    if (m)
        verify(t, m);
    compare_errors(t, &messages);
    if (m && !t->failures)
        check_entries(t, m);
    if (m && !t->failures && plan(t, m))
        run_module(t, m);
}
