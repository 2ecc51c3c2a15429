// SPDX-License-Identifier: MIT
// oriopt: reads PTX or Ori text, runs phases over it, and writes PTX or Ori text.
#define _DEFAULT_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ir/analysis/call_graph.h"
#include "tools/lib/batch.h"
#include "tools/options/progress.h"
#include "tools/oriopt/oriopt.h"

static void to_stderr(void *user, const char *text, size_t n)
{
    (void)user;
    out_to_stdio(stderr, text, n);
}

static void discard_message(void *user, const char *text, size_t n) { (void)user, (void)text, (void)n; }

static bool discard_output(void *user, const char *text, size_t n) { return (void)user, (void)text, (void)n, true; }

static bool matches_filter(const Module *m, const Fn *fn, const char *glob)
{
    char buf[4096];  // longer names are cut
    if (!glob)
        return false;
    name_text(&m->tables, m->syms.at[fn->sym].name, buf, sizeof buf);
    return glob_match(glob, buf, strlen(buf), false);
}

// Marks the --entry options and filters that match functions of this piece, and counts its instructions.
static void scan_piece(Job *job, const Module *m, uint32_t first)
{
    const Settings *s = job->settings;
    for (uint32_t k = first; k < m->items.n; k++) {
        const Item *item = &m->items.at[k];
        const Fn *fn = item->kind == ITEM_FN ? m->fns.at[item->index] : NULL;
        job->instrs += fn ? fn->ninstrs : 0;
        job->filter_seen |= fn && matches_filter(m, fn, s->phases.filter_funcs);
        if (fn)
            entries_note(&job->entries, fn);
    }
    if (s->max_insns && job->instrs > s->max_insns)
        heap_fail(&job->ctx.heap, ST_LIMIT, "the module has %llu instructions, more than --max-insns allows",
                  (unsigned long long)job->instrs);
}

// True if every --entry names a function; otherwise a message was printed, with the nearest name.
static bool entries_exist(Job *job, const Module *m)
{
    const char *missing = entries_missing(&job->entries);
    Nearest best = {0};
    char nearest[400], buf[4096];
    for (uint32_t k = 0; missing && k < m->fns.n; k++) {
        if (!m->fns.at[k])
            continue;
        const char *name = name_text(&m->tables, m->syms.at[m->fns.at[k]->sym].name, buf, sizeof buf);
        nearest_offer(&best, missing, strlen(missing), arena_copy(&job->ctx.arena, name, strlen(name) + 1));
    }
    nearest_print(&best, nearest, sizeof nearest);
    return !missing || program_fail(&opt_program, "--entry: '%s' is not a function of this module%s", missing, nearest);
}

// Warns of a glob that matches no phase.
static void check_phase_glob(Job *job, const char *option, const char *glob)
{
    bool any = !glob;
    for (int row = 0; row < PHASE_ROWS && !any; row++)
        any = phase_matches(glob, row);
    if (!any)
        diag_plain(&job->ctx.diag, DIAG_WARNING, "%s: '%s' matches no phase", option, glob);
}

// Prints warnings about options, once the plan for the module's target exists.
static void warn_of_options(Job *job)
{
    const Source *source = job->ctx.diag.source;
    job->ctx.diag.source = NULL;  // the warnings have no position in the input
    phase_warn_idle(&job->ctx);
    check_phase_glob(job, "--filter-phases", job->settings->phases.filter_phases);
    check_phase_glob(job, "--remarks-filter", job->settings->remarks_filter);
    job->ctx.diag.source = source;
}

// Warns of knobs that were set, but not read. A premise may be true of a module in which no phase can use it.
static void warn_of_unread(Job *job)
{
    const Ctx *ctx = &job->ctx;
    for (int row = 0; row < KNOB_COUNT; row++) {
        const KnobSetting *s = knob_unread(ctx->settings, ctx->knobs.read, row);
        if (s && row != KNOB_KERNEL_PARAMS_GLOBAL)
            diag_plain(&job->ctx.diag, DIAG_WARNING, "%s:%u:%u: knob %s was set, but nothing that ran reads it",
                       s->file, s->line, s->col, knob_table.rows[row].name);
    }
}

// Warns of options that had no effect, after the whole module.
static void warn_of_unused(Job *job)
{
    const char *glob = job->settings->phases.filter_funcs;
    const Source *source = job->ctx.diag.source;
    job->ctx.diag.source = NULL;
    if (glob && !job->filter_seen)
        diag_plain(&job->ctx.diag, DIAG_WARNING, "--filter-funcs: '%s' matches no function of this module", glob);
    warn_of_unread(job);
    job->ctx.diag.source = source;
}

static bool cannot_write(Job *job, const char *path, const char *why)
{
    diag_plain(&job->ctx.diag, DIAG_ERROR, "cannot write '%s': %s", path, why);
    return false;
}

static bool open_output(Job *job)
{
    const Settings *s = job->settings;
    char why[200];
    if (s->emit && !(job->file_open = outfile_open(&job->file, s->output, &job->ctx.arena, why)))
        return cannot_write(job, s->output, why);
    if (s->remarks && !(job->remarks_open = outfile_open(&job->remarks_file, s->remarks, &job->ctx.arena, why)))
        return cannot_write(job, s->remarks, why);
    return true;
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

// Returns the .run file of --check-each: the one that was given, or the one beside the input.
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
    if (status == ST_OK)
        crash_prepare(job);
    if (status == ST_OK && !run_each_start(&job->check, m, job->source.name))
        status = job->check.plan.status == ST_OK ? ST_BAD_INPUT : job->check.plan.status;
    return status;
}

// Makes the plan for the module's target; NULL: for the target of the options, or the newest.
static Status make_plan(Job *job, const Module *m)
{
    char why[500];
    if (phase_plan(&job->ctx, m, why))
        return ST_OK;
    settings_usage(why);
    return ST_USAGE;
}

// Opens outputs and writes the header, once the first piece was read, which includes the header.
static Status begin_output(Job *job, Module *m, bool more, bool *whole, Out *out)
{
    const Settings *s = job->settings;
    if (!open_output(job))
        return ST_IO;
    *whole |= more && s->emit && !outfile_hold(&job->file);
    out_init(out, &job->ctx.arena, s->check_each ? out_to_text : outfile_write,
             s->check_each ? (void *)&job->text : &job->file);
    job->text.arena = &job->ctx.arena;
    if (s->check_each) {
        Status status = start_check(job, m);
        if (status != ST_OK)
            return status;
    }
    if (s->emit)
        lang_write_header(m, job->output_lang, out);
    return ST_OK;
}

// Returns the number of bytes of text that are read before their functions are optimized.
static size_t piece_bytes(const Settings *s, bool whole)
{
    uint64_t bytes = s->piece ? s->piece : (uint64_t)PIECE_BYTES * s->threads;
    return whole ? SIZE_MAX : (size_t)bytes;
}

// Shows the phase on the progress line.
static void show_phase(void *user, const Fn *fn, uint32_t number, int row)
{
    const Job *job = user;
    if (!progress_due())
        return;
    if (fn)
        progress_show("oriopt: function %u of %u%s: %s (phase %d)", number, fn->module->fns.n,
                      job->more ? " so far" : "", phase_info[row].name, row);
    else
        progress_show("oriopt: %s (phase %d)", phase_info[row].name, row);
}

// True if the output goes to the terminal that has the progress line.
static bool output_hides_progress(const Settings *s)
{
    return s->emit && strcmp(s->output, "-") == 0 && isatty(STDOUT_FILENO);
}

typedef struct NextPiece {
    LangReader *reader;  // NULL: there is no next piece, or it is read later
    size_t bytes;
} NextPiece;

static void read_next(void *user)
{
    NextPiece *next = user;
    lang_read_ahead(next->reader, next->bytes);
}

// Optimizes and writes the items from `first` on. With several threads, one of them reads the next piece.
static void run_piece(Job *job, Module *m, uint32_t first, bool whole, NextPiece *next, Out *out)
{
    const Settings *s = job->settings;
    Batch batch = {.ctx = &job->ctx,
                   .module = m,
                   .first = first,
                   .end = m->items.n,
                   .whole = whole,
                   .wanted = entries_have,
                   .user = &job->entries,
                   .out = s->emit ? out : NULL,
                   .lang = job->output_lang,
                   .threads = job->alone || phase_may_report(&job->ctx, m) ? 1 : s->threads,
                   // Dumps of later functions may show this one's declaration, and kernels may call it.
                   .keep = job->ctx.dumps.any || s->check_each,
                   .beside = next->reader ? read_next : NULL,
                   .beside_user = next};
    batch_run(&batch);
    job->write_s += batch.write_s;
}

// True if phases over the module have something to do.
static bool needs_whole(const Job *job)
{
    return phase_plan_has_module(&job->ctx) &&
           (job->ctx.internalized || lang_may_call(&job->source, job->lang) || lang_may_share(&job->source));
}

// True if the input is only read, for a print.
static bool prints_of_input(const Settings *s) { return s->print_pipeline || s->dump_callgraph; }

static void print_of_input(Job *job, const Module *m)
{
    if (job->settings->print_pipeline)
        phase_print_plan(&job->ctx, &job->err);
    if (job->settings->dump_callgraph)
        call_graph_dot(call_graph(m, &job->ctx.arena), &job->err);
}

// Reads, optimizes and writes the module in pieces, so that memory does not grow with it. Each piece has an item, and
// so the first one has the whole header. The module is one piece if phases run over the module, if dumps show
// declarations of other functions, if kernels run, if functions are chosen, whose names must exist before anything is
// written, and if the output cannot be held back until all is read. In the second and third case its functions also
// stay until the end. After an error the rest is only read, to find more.
static Status run_module(Job *job, LangReader *reader, Out *out)
{
    Module *m = reader->module;
    Status status = ST_OK;
    bool begun = false, whole = job->whole || job->entries.n || needs_whole(job);
    for (bool more = true; more && status == ST_OK;) {
        uint32_t first = m->items.n, first_fn = m->fns.n;
        do
            more = lang_more(reader, piece_bytes(job->settings, whole));
        while (more && (job->ctx.diag.errors || m->items.n == first));
        if (job->ctx.diag.errors)
            return ST_BAD_INPUT;
        scan_piece(job, m, first);
        if (!more && !entries_exist(job, m))
            return ST_USAGE;
        module_freeze(m);
        if (!begun)
            status = make_plan(job, m);
        if (!begun && status == ST_OK)
            warn_of_options(job);
        if (status == ST_OK && !phase_check_pragmas(&job->ctx, m, first_fn))
            status = ST_BAD_INPUT;
        if (status == ST_OK && prints_of_input(job->settings)) {
            print_of_input(job, m);
            return ST_OK;
        }
        if (!begun && status == ST_OK)
            status = begin_output(job, m, more, &whole, out);
        begun = true;
        job->more = more;
        lang_drop_text(reader);
        NextPiece next = {more && reader->ahead ? reader : NULL, piece_bytes(job->settings, whole)};
        if (status == ST_OK)
            run_piece(job, m, first, !first && !more, &next, out);
    }
    out_flush(out);
    return status;
}

// Writes all remarks to the file, which appears when it is committed.
static bool write_remarks(Job *job)
{
    Out out;
    if (!job->remarks_open)
        return true;
    out_init(&out, &job->ctx.arena, outfile_write, &job->remarks_file);
    remarks_name_files(&job->remarks, job->module);
    remarks_write(&job->remarks, &out);
    out_flush(&out);
    return !out.failed || cannot_write(job, job->settings->remarks, outfile_error(&job->remarks_file));
}

static bool commit_remarks(Job *job)
{
    char why[200];
    return !job->remarks_open || outfile_commit(&job->remarks_file, why) ||
           cannot_write(job, job->settings->remarks, why);
}

// Writes a report as a JSON document into its own file, which appears when it is whole.
static bool write_report(Job *job, const char *path, void print(Job *, Out *))
{
    OutFile file;
    Out out;
    char why[200];
    if (!outfile_open(&file, path, &job->ctx.arena, why))
        return cannot_write(job, path, why);
    out_init(&out, &job->ctx.arena, outfile_write, &file);
    print(job, &out);
    out_flush(&out);
    return outfile_commit(&file, why) || cannot_write(job, path, why);
}

static void print_times(Job *job, Out *out)
{
    phase_print_times(&job->ctx, out, job->read_s, job->write_s, job->instrs, job->settings->times == PRINT_JSON);
}

static void print_stats(Job *job, Out *out)
{
    if (job->settings->stats == PRINT_TEXT)
        phase_print_summary(&job->ctx, job->module, out);
    else
        phase_print_stats(&job->ctx, job->module, out, job->settings->stats == PRINT_JSON);
}

// Prints a report that was requested, to its file or to standard error.
static bool report(Job *job, bool wanted, const char *path, void print(Job *, Out *))
{
    if (wanted && path)
        return write_report(job, path, print);
    if (wanted)
        print(job, &job->err);
    return true;
}

static Status finish_output(Job *job, const Out *out)
{
    const Settings *s = job->settings;
    Ctx *ctx = &job->ctx;
    char why[200];
    if (s->check_each && s->emit) {
        size_t n = job->text.n;
        run_each_output(&job->check, &job->text, job->output_lang);
        if (!outfile_write(&job->file, job->text.at, n))
            return cannot_write(job, s->output, outfile_error(&job->file)), ST_IO;
    }
    if (!report(job, s->times, s->times_file, print_times) || !report(job, s->stats, s->stats_file, print_stats))
        return ST_IO;
    out_flush(&job->err);
    if (out->failed)
        return cannot_write(job, s->output, outfile_error(&job->file)), ST_IO;
    if (!phase_write_index(ctx, why))
        return cannot_write(job, "index.json", why), ST_IO;
    if (job->file_open && !outfile_commit(&job->file, why))
        return cannot_write(job, s->output, why), ST_IO;
    return ST_OK;
}

/* -- Knobs ---------------------------------------------------------------------------------------------- */

// Reads the settings of one text. False: there are errors in it, and messages were written.
static bool read_knobs(Job *job, KnobSource from, const Source *source)
{
    job->ctx.diag.source = source;
    job->ctx.diag.line = 0;
    bool ok = knob_read(job->knobs, from, &job->ctx.diag);
    job->ctx.diag.source = NULL;
    job->ctx.diag.line = 0;
    return ok;
}

static bool read_knobs_text(Job *job, KnobSource from, const char *name, const char *text)
{
    return read_knobs(job, from, &(Source){.name = name, .text = text, .len = strlen(text)});
}

static Status read_knobs_file(Job *job, const char *path)
{
    Source source;
    char why[200];
    if (!source_open(&source, path, &job->ctx.arena, why)) {
        diag_plain(&job->ctx.diag, DIAG_ERROR, "cannot read '%s': %s", path, why);
        return ST_IO;
    }
    bool ok = read_knobs(job, KS_FILE, &source);
    source_close(&source);
    return ok ? ST_OK : ST_USAGE;
}

// Appends a text, quoted as a part of the value of a knob.
static void append_quoted(TextBuffer *to, const char *text, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        if (text[k] == '"' || text[k] == '\\')
            out_to_text(to, "\\", 1);
        out_to_text(to, &text[k], 1);
    }
}

// True if a value of --internalize is a file: it exists, or it has a character that no name of PTX has.
static bool is_file(const char *value)
{
    struct stat file;
    return strpbrk(value, "./") || (stat(value, &file) == 0 && S_ISREG(file.st_mode));
}

// Appends the names and patterns of a file, one a line. Returns false if it cannot be read.
static bool append_file(Job *job, TextBuffer *to, const char *path)
{
    Source source;
    char why[200];
    if (!source_open(&source, path, &job->ctx.arena, why)) {
        diag_plain(&job->ctx.diag, DIAG_ERROR, "--internalize: cannot read '%s': %s", path, why);
        return false;
    }
    for (size_t k = 0, n; k < source.len; k += n + 1) {
        const char *line = source.text + k, *end = memchr(line, '\n', source.len - k);
        n = end ? (size_t)(end - line) : source.len - k;
        const char *comment = memchr(line, '#', n);
        size_t len = comment ? (size_t)(comment - line) : n;
        while (len && strchr(" \t\r", line[len - 1]))
            len--;
        append_quoted(to, line, len);
        out_to_text(to, ",", 1);
    }
    source_close(&source);
    return true;
}

// Reads the setting of a knob by all values of an option, which are lists or files of them.
static Status read_lists(Job *job, int option, const char *knob)
{
    const Settings *s = job->settings;
    TextBuffer text = {.arena = &job->ctx.arena};
    char name[40];
    out_to_text(&text, knob, strlen(knob));
    out_to_text(&text, "=\"", 2);
    for (size_t k = 0; k < s->nknobs; k++) {
        if (s->knob_options[k] != option)
            continue;
        if (option != OPT_INTERNALIZE || !is_file(s->knobs[k]))
            append_quoted(&text, s->knobs[k], strlen(s->knobs[k]));
        else if (!append_file(job, &text, s->knobs[k]))
            return ST_IO;
        out_to_text(&text, ",", 1);
    }
    text.n--;  // the last comma
    out_to_text(&text, "\"", 2);
    snprintf(name, sizeof name, "--%s", opt_options[option].name);
    return read_knobs_text(job, KS_COMMAND_LINE, name, text.at) ? ST_OK : ST_USAGE;
}

static Status read_knob_option(Job *job, size_t k)
{
    const Settings *s = job->settings;
    char counter[200];
    bool ok;
    switch (s->knob_options[k]) {
    case OPT_KEEP: return read_lists(job, OPT_KEEP, "KeepSymbols");
    case OPT_INTERNALIZE: return read_lists(job, OPT_INTERNALIZE, "Internalize");
    case OPT_DEBUG_COUNTER:
        settings_counter(s->knobs[k], counter, sizeof counter);
        ok = read_knobs_text(job, KS_COMMAND_LINE, "--debug-counter", counter);
        break;
    case OPT_ASSUME: ok = read_knobs_text(job, KS_COMMAND_LINE, "--assume", s->knobs[k]); break;
    default: ok = read_knobs_text(job, KS_COMMAND_LINE, "--knob", s->knobs[k]);
    }
    return ok ? ST_OK : ST_USAGE;
}

// Reads the settings of the environment, of files and of the command line.
static Status gather_knobs(Job *job)
{
    const Settings *s = job->settings;
    const char *environment = s->ignore_environment ? NULL : getenv("ORI_KNOBS");
    Status status = ST_OK;
    job->ctx.settings = job->knobs = phase_knobs(&job->ctx.arena);
    if (environment && !read_knobs_text(job, KS_ENVIRONMENT, "ORI_KNOBS", environment))
        status = ST_USAGE;
    for (size_t k = 0; k < s->nknobs_files && status != ST_IO; k++) {
        Status file = read_knobs_file(job, s->knobs_files[k]);
        status = file == ST_OK ? status : file;
    }
    for (size_t k = 0; k < s->nknobs && status != ST_IO; k++) {
        Status option = read_knob_option(job, k);
        status = option == ST_OK ? status : option;
    }
    return status;
}

/* -- The whole ------------------------------------------------------------------------------------------ */

// Prints the names that completions offer: phases implemented on some backend, knobs, and targets.
static void list_names(const Settings *s, Out *out)
{
    SmTarget target;
    char name[12], why[400];
    for (int row = 0; s->list_phases == PRINT_NAMES && row < PHASE_ROWS; row++) {
        const char *phase = phase_info[row].name;
        if (!phase_is_implemented(row))
            continue;
        out_z(out, phase);
        if (phase_find(phase, strlen(phase), why) < 0)  // the name has two slots
            out_fmt(out, "@%d", row);
        out_char(out, '\n');
    }
    for (int row = 0; s->list_knobs == PRINT_NAMES && row < KNOB_COUNT; row++)
        out_fmt(out, "%s\n", knob_table.rows[row].name);
    for (size_t k = 0; s->list_sm == PRINT_NAMES && sm_nth_target(k, &target, name); k++)
        out_fmt(out, "%s\n", name);
}

// Prints the tables that options request. True: that was all; the plan for a module waits until the module was read.
static bool print_tables(Job *job)
{
    const Settings *s = job->settings;
    list_names(s, &job->err);
    if (s->list_phases && s->list_phases != PRINT_NAMES)
        phase_list(&job->err, s->list_phases == PRINT_JSON);
    if (s->list_knobs && s->list_knobs != PRINT_NAMES)
        knob_list(&job->err, &knob_table, s->list_knobs == PRINT_JSON);
    if (s->list_sm && s->list_sm != PRINT_NAMES)
        sm_list(&job->err, s->list_sm == PRINT_JSON);
    if (s->print_knobs)
        knob_print(&job->ctx.knobs, &job->err, true);
    if (s->print_pipeline && !s->input) {
        warn_of_options(job);
        phase_print_plan(&job->ctx, &job->err);
    }
    return prints_of_input(s) ? !s->input : settings_tables(s);
}

static Status optimize(Job *job)
{
    const Settings *s = job->settings;
    Ctx *ctx = &job->ctx;
    if (s->input && !open_input(job))
        return ST_IO;
    job->lang = s->input_lang == LANG_AUTO && s->input ? lang_of(&job->source) : s->input_lang;
    job->output_lang = s->output_lang == LANG_AUTO ? job->lang : s->output_lang;
    ctx->options.stay_in_ssa = s->emit && job->output_lang == LANG_ORI;
    Status status = gather_knobs(job);
    if (status == ST_OK)
        status = make_plan(job, NULL);
    if (status != ST_OK)
        return status;
    if (print_tables(job))
        return ST_OK;
    Out out = {0};
    crash_prepare(job);
    ctx->options.positions = s->check_each;
    if (s->remarks) {
        remarks_init(&job->remarks, &ctx->heap, s->remarks_filter);
        ctx->remarks = &job->remarks;
    }
    // Dumps, checks and the like need the functions in order.
    job->whole = s->check_each || ctx->dumps.any || s->dump_callgraph;
    job->alone = job->whole || s->phases.self_roundtrip;
    LangReader reader = lang_open(ctx, &job->source,
                                  (LangOptions){.lang = s->input_lang,
                                                .strip_debug = s->strip_debug,
                                                .version = s->ptx_version,
                                                .ahead = s->threads > 1 && !job->alone});
    job->module = reader.module;
    status = run_module(job, &reader, &out);
    job->read_s = reader.read_s;
    if (status != ST_OK || prints_of_input(s))
        return status;
    warn_of_unused(job);
    if (!write_remarks(job))
        return ST_IO;
    status = finish_output(job, &out);
    return status == ST_OK && !commit_remarks(job) ? ST_IO : status;
}

/* -- The program ---------------------------------------------------------------------------------------- */

static void end_job(Job *job)
{
    crash_clear(job);
    out_flush(&job->err);
    run_each_close(&job->check);
    if (job->file_open)
        outfile_abandon(&job->file);
    if (job->remarks_open)
        outfile_abandon(&job->remarks_file);
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
    job->entries = (Entries){.names = s->entries, .seen = job->entry_seen, .n = s->nentries};
    Ctx *ctx = &job->ctx;
    jmp_buf unwind;
    volatile Status status;
    char error[sizeof ctx->heap.message] = "";
    if (setjmp(unwind)) {
        status = ctx->heap.status;
        memcpy(error, ctx->heap.message, sizeof error);
        diag_plain(&ctx->diag, DIAG_ERROR, "%s%s", status == ST_INTERNAL ? "internal error: " : "", error);
    } else {
        ctx->heap = (Heap){.limit = (size_t)s->max_memory, .files = &program_files, .unwind = &unwind};
        ctx->options = s->phases;
        ctx->deadline = s->phases.max_seconds > 0 ? phase_total_clock() + s->phases.max_seconds : 0;
        ctx->diag = (Diag){
            .write = quiet ? discard_message : to_stderr, .json = s->json_diagnostics, .max_errors = s->max_errors};
        job->err = (Out){.write = quiet ? discard_output : out_to_stdio,
                         .user = settings_tables(s) ? stdout : stderr,
                         .buf = job->err_buf,
                         .cap = sizeof job->err_buf};
        ctx->report = &job->err;
        arena_init(&ctx->arena, &ctx->heap);
        phase_factory(ctx);
        if (!quiet && !output_hides_progress(s)) {
            ctx->begin = show_phase;
            ctx->begin_user = job;
        }
        status = optimize(job);
    }
    out_flush(&job->err);
    progress_clear();
    if (status == ST_OK && !quiet && settings_tables(s) && !program_written(&opt_program))
        status = ST_IO;
    if (!quiet && ((status == ST_INTERNAL && wants_reproducer(s)) || (s->reproducer && s->input && !s->run_text)))
        write_reproducer(job, *error ? error : NULL);
    Status result = status;
    end_job(job);
    return result;
}

static Status run(int argc, char **argv, Arena *arena)
{
    Settings settings = settings_default();
    bool done = false;
    Status status = settings_parse(&settings, argc, argv, arena, &done);
    if (status != ST_OK)
        return status;
    if (done)
        return program_written(&opt_program) ? ST_OK : ST_IO;
    return settings.run_reproducer ? run_reproducer(&settings, argc, argv, arena) : run_job(&settings, false);
}

int main(int argc, char **argv)
{
    Heap heap = {0};
    Arena arena;
    jmp_buf unwind;
    volatile Status status = ST_LIMIT;
    files_watch_signals();
    crash_start();
    progress_start();
    if (setjmp(unwind)) {
        settings_usage(heap.message);
    } else {
        heap.unwind = &unwind;
        arena_init(&arena, &heap);
        status = run(argc, argv, &arena);
    }
    heap_release(&heap);
    return status;
}
