// SPDX-License-Identifier: MIT
// What repeats a run that went wrong. Where --check-each found a difference behind a phase, that is the module as it
// was before, and this phase alone, if it goes wrong alone, too; otherwise it is the input with all options.
#include <stdio.h>

#include "tools/oriopt/oriopt.h"
#include "tools/oriopt/reproducer.h"

// Whether an option has to do with what goes wrong. `alone`: a phase is run by itself, on Ori text.
static bool option_matters(int id, bool alone)
{
    switch (id) {
    case OPT_OUTPUT:
    case OPT_CHECK_EACH:
    case OPT_REPRODUCER:
    case OPT_RUN_REPRODUCER:
    case OPT_REMARKS:
    case OPT_REMARKS_FILTER:
    case OPT_DUMP_DIR: return false;
    case OPT_INPUT_KIND:
    case OPT_EMIT:
    case OPT_NAMED:
    case OPT_DISABLE:
    case OPT_START:
    case OPT_STOP:
    case OPT_STRIP_DEBUG: return !alone;
    default: return true;
    }
}

// What all sources set, as one option, so that neither files nor the environment are needed, and there may be any
// number of settings.
static void print_knobs(Job *job, const char *comment, Out *out)
{
    TextBuffer text = {.arena = &job->ctx.arena};
    Knobs knobs;
    Out to_text;
    TextLine *lines;
    out_init(&to_text, text.arena, out_to_text, &text);
    knobs_init(&knobs, job->knobs, &job->ctx.heap);
    knob_print(&knobs, &to_text, false);
    out_flush(&to_text);
    knobs_free(&knobs);
    uint32_t n = text_lines(text.at, text.n, text.arena, &lines);
    TextBuffer option = {.arena = text.arena};
    for (uint32_t k = 0; k < n; k++) {
        if (!lines[k].len || strchr(";[", lines[k].text[0]))
            continue;
        out_to_text(&option, option.n ? "~" : "--knob=", option.n ? 1 : 7);
        out_to_text(&option, lines[k].text, lines[k].len);
    }
    if (!option.n)
        return;
    out_to_text(&option, "", 1);
    reproducer_line(out, comment, "option", option.at);
}

static void print_options(Job *job, const char *comment, bool alone, Out *out)
{
    const Settings *s = job->settings;
    char text[100];
    for (size_t k = 0; k < s->ngiven; k++) {
        const Option *o = &opt_options[s->given[k].id];
        const char *value = s->given[k].value, *equals = value && o->kind != ARG_JOINED ? "=" : "";
        size_t n = strlen(o->name) + (value ? strlen(value) : 0) + 8;
        char *line = arena_alloc(&job->ctx.arena, n);
        if (!option_matters(s->given[k].id, alone))
            continue;
        snprintf(line, n, "%s%s%s%s", o->kind == ARG_JOINED ? "-" : "--", o->name, equals, value ? value : "");
        reproducer_line(out, comment, "option", line);
    }
    if (job->knobs)
        print_knobs(job, comment, out);
    if (alone) {
        snprintf(text, sizeof text, "--named-phases=%s@%d", phase_info[job->check.row].name, job->check.row);
        reproducer_line(out, comment, "option", text);
        reproducer_line(out, comment, "option", "--emit=ori");
    }
    if (s->check_each)
        reproducer_line(out, comment, "option", "--check-each");
}

// The module as it was before the phase that went wrong, with that phase alone.
static void print_alone(Job *job, const char *error, Out *out)
{
    Module *m = job->check.module;
    Fn *before = job->check.before;
    reproducer_start(out, ";", error);
    print_options(job, ";", true, out);
    run_each_print(&job->check, "; run: ", out);
    lang_write_header(m, LANG_ORI, out);
    for (uint32_t k = 0; k < m->items.n; k++) {
        const Item *item = &m->items.at[k];
        Fn **fn = item->kind == ITEM_FN ? &m->fns.at[item->index] : NULL, *after = fn ? *fn : NULL;
        bool swap = fn && after->flags & FN_DEFINED && after->sym == before->sym;
        if (swap)
            *fn = before;
        lang_write_item(m, item, LANG_ORI, out);
        if (swap)
            *fn = after;
    }
}

// The input with all options.
static bool print_whole(Job *job, const char *error, Out *out)
{
    const char *comment = job->lang == LANG_ORI ? ";" : "//", *run = job->lang == LANG_ORI ? "; run: " : "// run: ";
    char why[200];
    Source again = {0};
    if (!job->settings->text && !source_open(&again, job->settings->input, &job->ctx.arena, why))
        return false;
    const Source *source = job->settings->text ? job->settings->text : &again;
    reproducer_start(out, comment, error);
    print_options(job, comment, false, out);
    if (job->check.ctx)
        run_each_print(&job->check, run, out);
    out_bytes(out, source->text, source->len);
    source_close(&again);
    return true;
}

// A command line out of a reproducer. False: a message was printed.
static bool take_reproducer(Settings *s, const Source *source, Source *run, Arena *arena)
{
    Reproducer r;
    bool done = false;
    if (!reproducer_read(&r, source, arena)) {
        fprintf(stderr, "oriopt: '%s' was not written by --reproducer\n", source->name);
        return false;
    }
    *run = text_source(&r.run, source->name);
    *s = settings_default();
    s->input = source->name;
    s->output = "/dev/null";
    s->text = source;
    s->run_text = run;
    s->ignore_environment = true;
    return settings_take(s, (int)r.options.n, r.options.at, &done);
}

static bool repeats(Job *job, TextBuffer *text)
{
    Settings s;
    size_t n = text->n;
    Source source = text_source(text, "reproducer.ori"), run;
    text->n = n;
    return take_reproducer(&s, &source, &run, &job->ctx.arena) && run_job(&s, true) == ST_INTERNAL;
}

static void save_reproducer(Job *job, const TextBuffer *text, Lang lang)
{
    char path[60], why[200];
    OutFile file;
    const char *to = job->settings->reproducer;
    snprintf(path, sizeof path, "oriopt-crash-%016llx.%s",
             (unsigned long long)bytes_digest((uint8_t *)text->at, text->n), lang == LANG_ORI ? "ori" : "ptx");
    to = to ? to : path;
    bool ok = outfile_open(&file, to, &job->ctx.arena, why) && outfile_write(&file, text->at, text->n) &&
              outfile_commit(&file, why);
    if (ok)
        fprintf(stderr, "oriopt: %s repeats it: oriopt --run-reproducer %s\n", to, to);
    else
        fprintf(stderr, "oriopt: cannot write '%s'\n", to);
}

// What goes wrong here may go on going wrong: then there is no reproducer.
void write_reproducer(Job *job, const char *error)
{
    Ctx *ctx = &job->ctx;
    jmp_buf unwind;
    if (setjmp(unwind))
        return;
    ctx->heap.unwind = &unwind;
    TextBuffer text = {.arena = &ctx->arena};
    Lang lang = LANG_ORI;
    Out out;
    out_init(&out, &ctx->arena, out_to_text, &text);
    if (job->check.before) {
        print_alone(job, error, &out);
        out_flush(&out);
    }
    if (!job->check.before || !repeats(job, &text)) {
        text.n = 0;
        lang = job->lang;
        if (!print_whole(job, error, &out))
            return;
        out_flush(&out);
    }
    save_reproducer(job, &text, lang);
}

Status run_reproducer(const Settings *given, int argc, char **argv)
{
    jmp_buf unwind;
    char why[200];
    Heap heap = {.unwind = &unwind};
    Arena arena;
    Settings s;
    Source source = {0}, run;
    bool done = false;
    volatile Status status = ST_LIMIT;
    if (setjmp(unwind)) {
        settings_usage(heap.message);
    } else {
        arena_init(&arena, &heap);
        if (!source_open(&source, given->run_reproducer, &arena, why)) {
            fprintf(stderr, "oriopt: cannot read '%s': %s\n", given->run_reproducer, why);
            status = ST_IO;
        } else if (!take_reproducer(&s, &source, &run, &arena)) {
            status = ST_USAGE;
        } else {
            status = settings_take(&s, argc, argv, &done) ? run_job(&s, false) : ST_USAGE;
        }
    }
    source_close(&source);
    heap_release(&heap);
    return status;
}
