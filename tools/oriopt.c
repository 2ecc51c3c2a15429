// SPDX-License-Identifier: MIT
// oriopt: PTX or Ori text in, phases, PTX or Ori text out.
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>

#include "tools/oriopt.h"

static void to_stderr(void *user, const char *text, size_t n)
{
    (void)user;
    fwrite(text, 1, n, stderr);
}

static void to_nowhere(void *user, const char *text, size_t n) { (void)user, (void)text, (void)n; }

static bool out_to_nowhere(void *user, const char *text, size_t n) { return (void)user, (void)text, (void)n, true; }

static bool is_named(const Module *m, const Fn *fn, const char *entry)
{
    char buf[4096];  // longer names are cut
    return strcmp(entry, name_text(&m->tables, m->syms.at[fn->sym].name, buf, sizeof buf)) == 0;
}

static bool selected(const Job *job, const Module *m, const Fn *fn)
{
    for (size_t k = 0; k < job->settings->nentries; k++)
        if (is_named(m, fn, job->settings->entries[k]))
            return true;
    return job->settings->nentries == 0;
}

// Every --entry must name a function.
static bool entries_exist(const Job *job, const Module *m)
{
    for (size_t k = 0; k < job->settings->nentries; k++) {
        bool found = false;
        for (uint32_t f = 0; f < m->fns.n && !found; f++)
            found = is_named(m, m->fns.at[f], job->settings->entries[k]);
        if (!found)
            return settings_bad_value("entry", job->settings->entries[k], "a function of this module");
    }
    return true;
}

static bool open_output(Job *job)
{
    char why[200];
    if (!job->settings->emit)
        return true;
    job->file_open = outfile_open(&job->file, job->settings->output, &job->ctx.arena, why);
    if (!job->file_open)
        diag_plain(&job->ctx.diag, DIAG_ERROR, "cannot write '%s': %s", job->settings->output, why);
    return job->file_open;
}

static uint64_t count_instructions(const Module *m)
{
    uint64_t n = 0;
    for (uint32_t k = 0; k < m->fns.n; k++)
        n += m->fns.at[k]->ninstrs;
    return n;
}

static bool open_input(Job *job)
{
    const Settings *s = job->settings;
    char why[200];
    if (s->text) {
        job->source = *s->text;
        return true;
    }
    if (source_open(&job->source, s->input, &job->ctx.arena, why))
        return true;
    diag_plain(&job->ctx.diag, DIAG_ERROR, "cannot read '%s': %s", s->input, why);
    return false;
}

// The .run file of --check-each: the one that is named, or the one beside the input.
static const char *run_path(Job *job)
{
    const Settings *s = job->settings;
    const char *dot = strrchr(s->input, '.');
    size_t n = dot && !strchr(dot, '/') ? (size_t)(dot - s->input) : strlen(s->input);
    if (s->run_file)
        return s->run_file;
    char *path = arena_alloc(&job->ctx.arena, n + 5);
    memcpy(path, s->input, n);
    memcpy(path + n, ".run", 5);
    return path;
}

static Status start_check(Job *job, Module *m)
{
    const Settings *s = job->settings;
    char why[200];
    if (s->run_text) {
        job->run_source = *s->run_text;
    } else if (!source_open(&job->run_source, run_path(job), &job->ctx.arena, why)) {
        diag_plain(&job->ctx.diag, DIAG_ERROR, "--check-each: cannot read '%s': %s", run_path(job), why);
        return ST_IO;
    }
    Status status = run_each_read(&job->check, &job->ctx, &job->run_source);
    if (status == ST_OK && !run_each_start(&job->check, m, job->source.name))
        status = job->check.plan.status == ST_OK ? ST_BAD_INPUT : job->check.plan.status;
    return status;
}

// Function by function through the whole plan, written and dropped as soon as it is done.
static double run_module(Job *job, Module *m, Lang lang, Out *out)
{
    bool emit = job->settings->emit;
    double write_s = 0, start = phase_clock();
    if (emit)
        lang_write_header(m, lang, out);
    for (uint32_t k = 0; k < m->items.n; k++) {
        const Item *item = &m->items.at[k];
        Fn *fn = item->kind == ITEM_FN ? m->fns.at[item->index] : NULL;
        if (fn && fn->flags & FN_DEFINED && selected(job, m, fn)) {
            write_s += phase_clock() - start;
            phase_run(&job->ctx, &m->fns.at[item->index]);
            fn = m->fns.at[item->index];
            start = phase_clock();
        }
        if (fn && emit && lang == LANG_ORI)
            fn_renumber(fn);
        if (fn && emit && lang == LANG_PTX && fn->form == FORM_SSA)
            heap_fail(&job->ctx.heap, ST_BAD_INPUT,
                      "function %u of the module is in ssa form, which PTX does not have; "
                      "--emit=ori writes it",
                      item->index + 1);
        if (emit)
            lang_write_item(m, item, lang, out);
        // Dumps of later functions may show this one's declaration, and kernels may call it.
        if (fn && !job->ctx.dumps.any && !job->settings->check_each)
            module_drop_fn(m, item->index);
    }
    out_flush(out);
    return write_s + phase_clock() - start;
}

// Writes the module, checked or straight to the file.
static void run_and_write(Job *job, Module *m, Lang output, Out *out, double *write_s)
{
    const Settings *s = job->settings;
    TextBuffer text = {.arena = &job->ctx.arena};
    if (!s->check_each) {
        *write_s = run_module(job, m, output, out);
        return;
    }
    Out kept;
    out_init(&kept, &job->ctx.arena, out_to_text, &text);
    *write_s = run_module(job, m, output, &kept);
    if (!s->emit)
        return;
    size_t n = text.n;
    run_each_output(&job->check, &text, output);
    out_bytes(out, text.at, n);
    out_flush(out);
}

static Status optimize_module(Job *job, Module *m, Lang output, double read_s)
{
    const Settings *s = job->settings;
    Ctx *ctx = &job->ctx;
    char why[500];
    uint64_t instrs = count_instructions(m);
    if (s->max_insns && instrs > s->max_insns)
        heap_fail(&ctx->heap, ST_LIMIT, "the module has %llu instructions, more than --max-insns allows",
                  (unsigned long long)instrs);
    if (!open_output(job))
        return ST_IO;
    module_freeze(m);
    Status status = s->check_each ? start_check(job, m) : ST_OK;
    if (status != ST_OK)
        return status;
    Out out;
    double write_s;
    out_init(&out, &ctx->arena, outfile_write, &job->file);
    run_and_write(job, m, output, &out, &write_s);
    if (s->times)
        phase_print_times(ctx, &job->err, read_s, write_s, instrs, s->times == PRINT_JSON);
    if (s->stats)
        phase_print_stats(ctx, m, &job->err, s->stats == PRINT_JSON);
    out_flush(&job->err);
    bool written = !out.failed && phase_write_index(ctx, why);
    if (job->file_open && written)
        written = outfile_commit(&job->file, why);
    if (!written) {
        diag_plain(&ctx->diag, DIAG_ERROR, "cannot write '%s'", s->output);
        return ST_IO;
    }
    return ST_OK;
}

static Status optimize(Job *job)
{
    const Settings *s = job->settings;
    Ctx *ctx = &job->ctx;
    char why[500];
    if (s->input && !open_input(job))
        return ST_IO;
    job->lang = s->input_lang == LANG_AUTO && s->input ? lang_of(&job->source) : s->input_lang;
    Lang output = s->output_lang == LANG_AUTO ? job->lang : s->output_lang;
    ctx->options.stay_in_ssa = s->emit && output == LANG_ORI;
    if (!phase_plan(ctx, why)) {
        settings_usage(why);
        return ST_USAGE;
    }
    if (s->list_phases)
        phase_list(&job->err, s->list_phases == PRINT_JSON);
    if (s->print_pipeline)
        phase_print_plan(ctx, &job->err);
    if (s->list_phases || s->print_pipeline) {
        out_flush(&job->err);
        return ST_OK;
    }
    double start = phase_clock();
    ctx->options.positions = s->check_each;
    Module *m = lang_read(ctx, &job->source, job->lang, s->strip_debug);
    if (!s->check_each && !s->text)
        source_close(&job->source);
    double read_s = phase_clock() - start;
    if (!m)
        return ST_BAD_INPUT;
    if (!entries_exist(job, m))
        return ST_USAGE;
    return optimize_module(job, m, output, read_s);
}

/* -- The program ---------------------------------------------------------------------------------------- */

static void end_job(Job *job)
{
    out_flush(&job->err);
    run_each_close(&job->check);
    if (job->file_open)
        outfile_abandon(&job->file);
    if (!job->settings->text)
        source_close(&job->source);
    if (!job->settings->run_text)
        source_close(&job->run_source);
    heap_release(&job->ctx.heap);
    free(job);
}

Status run_job(const Settings *s, bool quiet)
{
    Job *job = calloc(1, sizeof *job);
    if (!job)
        return ST_LIMIT;
    job->settings = s;
    Ctx *ctx = &job->ctx;
    jmp_buf unwind;
    volatile Status status;
    char error[sizeof ctx->heap.message] = "";
    if (setjmp(unwind)) {
        status = ctx->heap.status;
        memcpy(error, ctx->heap.message, sizeof error);
        diag_plain(&ctx->diag, DIAG_ERROR, "%s%s", status == ST_INTERNAL ? "internal error: " : "", error);
    } else {
        ctx->heap = (Heap){.limit = (size_t)s->max_memory, .unwind = &unwind};
        ctx->options = s->phases;
        ctx->deadline = s->phases.max_seconds > 0 ? phase_clock() + s->phases.max_seconds : 0;
        ctx->diag =
            (Diag){.write = quiet ? to_nowhere : to_stderr, .json = s->json_diagnostics, .max_errors = s->max_errors};
        bool table = s->list_phases || s->print_pipeline;
        job->err = (Out){.write = quiet ? out_to_nowhere : out_to_stdio,
                         .user = table ? stdout : stderr,
                         .buf = job->err_buf,
                         .cap = sizeof job->err_buf};
        ctx->report = ctx->dumps.out = &job->err;
        arena_init(&ctx->arena, &ctx->heap);
        phase_factory(ctx);
        status = optimize(job);
    }
    out_flush(&job->err);
    if (!quiet && !s->run_text && (status == ST_INTERNAL || (s->reproducer && s->input)))
        write_reproducer(job, *error ? error : NULL);
    Status result = status;
    end_job(job);
    return result;
}

int main(int argc, char **argv)
{
    Settings settings = settings_default();
    bool done = false;
    if (!settings_take(&settings, argc, argv, &done))
        return ST_USAGE;
    if (done)
        return program_written(&opt_program) ? ST_OK : ST_IO;
    return settings.run_reproducer ? run_reproducer(&settings, argc, argv) : run_job(&settings, false);
}
