// SPDX-License-Identifier: MIT
// Writes and repeats reproducers. If --check-each found a difference after a phase and this phase fails alone, too, the
// reproducer is the module before the phase, with this phase only; otherwise it is the input with all options.
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "tools/oriopt/oriopt.h"
#include "tools/oriopt/reproducer.h"

// True if an option may influence the failure. `alone`: the reproducer runs a single phase on Ori text.
static bool affects_failure(int id, bool alone)
{
    switch (id) {
    case OPT_OUTPUT:
    case OPT_CHECK_EACH:
    case OPT_REPRODUCER:
    case OPT_RUN_REPRODUCER:
    case OPT_CRASH_DIR:
    case OPT_NO_REPRODUCER:
    case OPT_REMARKS:
    case OPT_REMARKS_FILTER:
    case OPT_DUMP_DIR: return false;
    case OPT_INPUT_KIND:
    case OPT_EMIT:
    case OPT_NAMED:
    case OPT_DISABLE:
    case OPT_NO_PHASE:
    case OPT_START:
    case OPT_STOP:
    case OPT_PTX_VERSION:
    case OPT_STRIP_DEBUG: return !alone;
    default: return true;
    }
}

// Prints the knobs of all sources as one option: a reproducer needs neither files nor the environment, and the number
// of settings has no limit.
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
        if (!affects_failure(s->given[k].id, alone))
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

// Prints the module before the phase that failed, with that phase as the only one.
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

void reproducer_header(Job *job, Out *out)
{
    bool ori = job->lang == LANG_ORI;
    print_options(job, ori ? ";" : "//", false, out);
    if (job->check.ctx)
        run_each_print(&job->check, ori ? "; run: " : "// run: ", out);
    out_char(out, '\n');  // the input may begin with comments, which are not part of the header
}

// Prints the input with all options.
static void print_whole(Job *job, const char *error, Out *out)
{
    reproducer_start(out, job->lang == LANG_ORI ? ";" : "//", error);
    reproducer_header(job, out);
    out_bytes(out, job->source.text, job->source.len);
}

// Takes the command line of a reproducer. False: a message was printed.
static bool parse_reproducer(Settings *s, const Source *source, Source *run, Arena *arena)
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
    return settings_parse(s, (int)r.options.n, r.options.at, NULL, &done) == ST_OK;
}

bool wants_reproducer(const Settings *s) { return s->input && !s->no_reproducer && !s->run_text; }

// True if the reproducer fails as the job did.
static bool is_reproduced(Job *job, TextBuffer *text)
{
    Settings s;
    size_t n = text->n;
    Source source = text_source(text, "reproducer.ori"), run;
    text->n = n;
    return parse_reproducer(&s, &source, &run, &job->ctx.arena) && run_job(&s, true) == ST_INTERNAL;
}

// Returns `name` in a folder; NULL: the current one.
static const char *path_in(Arena *arena, const char *folder, const char *name)
{
    size_t n = folder ? strlen(folder) : 0;
    if (!n)
        return name;
    char *path = arena_alloc(arena, n + strlen(name) + 2);
    sprintf(path, "%s%s%s", folder, folder[n - 1] == '/' ? "" : "/", name);
    return path;
}

static void save_reproducer(Job *job, const TextBuffer *text, Lang lang)
{
    const Settings *s = job->settings;
    char name[60], why[200];
    OutFile file;
    snprintf(name, sizeof name, REPRODUCER_NAME "%016llx.%s",
             (unsigned long long)bytes_digest((uint8_t *)text->at, text->n), lang == LANG_ORI ? "ori" : "ptx");
    const char *to = s->reproducer ? s->reproducer : path_in(&job->ctx.arena, s->crash_dir, name);
    if (s->crash_dir && !s->reproducer)
        mkdir(s->crash_dir, 0777);
    bool ok = outfile_open(&file, to, &job->ctx.arena, why);
    if (ok) {
        outfile_write(&file, text->at, text->n);
        ok = outfile_commit(&file, why);
    }
    if (ok)
        fprintf(stderr, "oriopt: %s repeats it: oriopt --run-reproducer %s\n", to, to);
    else
        fprintf(stderr, "oriopt: cannot write '%s': %s\n", to, why);
}

// A failure while the reproducer is made ends this function without one.
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
    if (!job->check.before || !is_reproduced(job, &text)) {
        if (!source_restore(&job->source)) {
            fprintf(stderr, "oriopt: no reproducer: '%s' has changed\n", job->source.name);
            return;
        }
        text.n = 0;
        lang = job->lang;
        print_whole(job, error, &out);
        out_flush(&out);
    }
    save_reproducer(job, &text, lang);
}

Status run_reproducer(const Settings *given, int argc, char **argv, Arena *responses)
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
        } else if (!parse_reproducer(&s, &source, &run, &arena)) {
            status = ST_USAGE;
        } else {
            status = settings_parse(&s, argc, argv, responses, &done);
            if (status == ST_OK)
                status = run_job(&s, false);
        }
    }
    source_close(&source);
    heap_release(&heap);
    return status;
}
