// SPDX-License-Identifier: MIT
// oriopt: PTX or Ori text in, phases, PTX or Ori text out.
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>

#include "tools/lang.h"
#include "tools/options.h"

enum {
#define OPTION(id, ...) OPT_##id,
#include "tools/oriopt.def"
#undef OPTION
};

static const Option options[] = {
#define OPTION(id, name, kind, arg, help) {OPT_##id, name, ARG_##kind, arg, help},
#include "tools/oriopt.def"
#undef OPTION
};

typedef enum { PRINT_NO, PRINT_TEXT, PRINT_JSON } PrintMode;

typedef struct Settings {
    const char *input, *output;
    const char *entries[64];
    size_t nentries;
    Lang input_lang, output_lang;  // LANG_AUTO: by content; what came in
    bool emit, print_pipeline, json_diagnostics, strip_debug;
    PrintMode list_phases, times, stats;
    PhaseOptions phases;
    uint32_t max_errors;
    uint64_t max_memory, max_insns;
} Settings;

/* -- Command line --------------------------------------------------------------------------------------- */

static bool usage(const char *message)
{
    fprintf(stderr, "oriopt: %s\n", message);
    return false;
}

static bool bad_value(const char *option, const char *value, const char *expected)
{
    char message[300];
    snprintf(message, sizeof message, "--%s: '%s' is not %s", option, value, expected);
    return usage(message);
}

static bool number(const char *option, const char *text, uint64_t *n)
{
    char *end;
    *n = strtoull(text, &end, 10);
    if (end == text || *text == '-')
        return bad_value(option, text, "a number");
    uint64_t scale = *end == 'K' ? 1 << 10 : *end == 'M' ? 1 << 20 : *end == 'G' ? 1 << 30 : 1;
    end += scale > 1;
    if (*end || *n > UINT64_MAX / scale)
        return bad_value(option, text, "a number");
    *n *= scale;
    return true;
}

static bool print_mode(const char *option, const char *value, PrintMode *mode)
{
    *mode = value ? PRINT_JSON : PRINT_TEXT;
    return !value || strcmp(value, "json") == 0 || bad_value(option, value, "json");
}

static bool one_of(const char *option, const char *value, const char *const *names, int n, int *which)
{
    for (*which = 0; *which < n; ++*which)
        if (strcmp(value, names[*which]) == 0)
            return true;
    return bad_value(option, value, "one of its values; --help lists them");
}

static void print_help(void)
{
    char buf[8192];
    Out out = {.write = out_to_stdio, .user = stdout, .buf = buf, .cap = sizeof buf};
    out_z(&out,
          "usage: oriopt [options] FILE\n\nReads PTX or Ori text, runs phases over it, writes what computes the same. "
          "FILE may be `-`.\n"
          "A phase is a name (case-insensitive), Name@index, an index or a range A..B; lists take `,` or `+`.\n\n");
    option_help(&out, options, ARRAY_LEN(options));
    out_z(&out, "\nexit status: 0 done, 1 bad input, 2 usage, 3 internal error, 4 a limit was reached, 5 I/O\n");
    out_flush(&out);
}

static bool take_option(Settings *s, int id, const char *value)
{
    static const char *const emits[] = {"none", "ptx", "ori"}, *const verifies[] = {"none", "final", "each"},
                             *const diags[] = {"text", "json"}, *const changes[] = {"quiet", "diff"};
    int which;
    uint64_t n;
    switch (id) {
    case OPT_OUTPUT: s->output = value; return true;
    case OPT_EMIT:
        if (!one_of("emit", value, emits, 3, &which))
            return false;
        s->emit = which > 0;
        s->output_lang = which == 2 ? LANG_ORI : LANG_PTX;
        return true;
    case OPT_INPUT_KIND:
        if (!one_of("x", value, emits + 1, 2, &which))
            return false;
        s->input_lang = which ? LANG_ORI : LANG_PTX;
        return true;
    case OPT_LEVEL:
        if (value[0] < '0' || value[0] > '4' || value[1])
            return bad_value("O", value, "a level from 0 to 4");
        s->phases.level = value[0] - '0';
        return true;
    case OPT_NAMED: s->phases.named = value; return true;
    case OPT_DISABLE: s->phases.disabled = value; return true;
    case OPT_START: s->phases.start = value; return true;
    case OPT_STOP: s->phases.stop = value; return true;
    case OPT_REPORTS: s->phases.reports = true; return true;
    case OPT_VERIFY:
        if (!one_of("verify", value, verifies, 3, &which))
            return false;
        s->phases.verify = (VerifyMode)which;
        return true;
    case OPT_VERIFY_EACH: s->phases.verify = VM_EACH; return true;
    case OPT_SELF_CHECK:
        return phase_self_checks(&s->phases, value) ||
               bad_value("self-check", value, "a list of clone, roundtrip and contracts");
    case OPT_PRINT_BEFORE: s->phases.print_before = value; return true;
    case OPT_PRINT_AFTER: s->phases.print_after = value; return true;
    case OPT_PRINT_BEFORE_ALL: s->phases.print_before_all = true; return true;
    case OPT_PRINT_AFTER_ALL: s->phases.print_after_all = true; return true;
    case OPT_PRINT_CHANGED:
        if (value && !one_of("print-changed", value, changes, 2, &which))
            return false;
        s->phases.print_changed = !value ? PC_ALL : which ? PC_DIFF : PC_QUIET;
        return true;
    case OPT_FILTER_FUNCS: s->phases.filter_funcs = value; return true;
    case OPT_FILTER_PHASES: s->phases.filter_phases = value; return true;
    case OPT_DUMP_DIR: s->phases.dump_dir = value; return true;
    case OPT_ENTRY:
    case OPT_ENTRY_SHORT:
        if (s->nentries == ARRAY_LEN(s->entries))
            return usage("too many --entry options");
        s->entries[s->nentries++] = value;
        return true;
    case OPT_STRIP_DEBUG: s->strip_debug = true; return true;
    case OPT_TIME_PHASES: s->phases.timing = true; return print_mode("time-phases", value, &s->times);
    case OPT_STATS: s->phases.stats = true; return print_mode("stats", value, &s->stats);
    case OPT_LIST_PHASES: return print_mode("list-phases", value, &s->list_phases);
    case OPT_PRINT_PIPELINE: s->print_pipeline = true; return true;
    case OPT_MAX_ERRORS:
        if (!number("max-errors", value, &n))
            return false;
        s->max_errors = (uint32_t)MIN(n, UINT32_MAX);
        return true;
    case OPT_DIAGNOSTICS:
        if (!one_of("diagnostics", value, diags, 2, &which))
            return false;
        s->json_diagnostics = which;
        return true;
    case OPT_MAX_MEMORY: return number("max-memory", value, &s->max_memory);
    case OPT_MAX_TIME: {
        char *end;
        s->phases.max_seconds = strtod(value, &end);
        return (end != value && !*end && s->phases.max_seconds > 0) ||
               bad_value("max-time", value, "a time in seconds");
    }
    case OPT_MAX_INSNS: return number("max-insns", value, &s->max_insns);
    default: return true;
    }
}

// False: a message was printed. *done: nothing is left to do.
static bool parse_command_line(Settings *s, int argc, char **argv, bool *done)
{
    OptionParser p = {.table = options, .n = ARRAY_LEN(options), .argc = argc, .at = 1, .argv = argv};
    for (int id; (id = option_next(&p)) != OPTION_END;) {
        if (id == OPTION_ERROR)
            return usage(p.error);
        if (id == OPT_HELP || id == OPT_VERSION) {
            if (id == OPT_HELP)
                print_help();
            else
                puts("oriopt " ORI_VERSION);
            *done = true;
            return true;
        }
        if (id == OPTION_OPERAND && s->input)
            return usage("more than one input file");
        if (id == OPTION_OPERAND)
            s->input = p.value;
        else if (!take_option(s, id, p.value))
            return false;
    }
    bool tables = s->list_phases || s->print_pipeline;
    return s->input || tables || usage("no input file; --help explains the use");
}

/* -- The job -------------------------------------------------------------------------------------------- */

static void to_stderr(void *user, const char *text, size_t n)
{
    (void)user;
    fwrite(text, 1, n, stderr);
}

typedef struct Job {
    const Settings *settings;
    Ctx ctx;
    Source source;
    OutFile file;
    bool file_open;
    Out err;
    char err_buf[4096];
} Job;

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
            return bad_value("entry", job->settings->entries[k], "a function of this module");
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
        // Dumps of later functions may show this one's declaration.
        if (fn && !job->ctx.dumps.any)
            module_drop_fn(m, item->index);
    }
    out_flush(out);
    return write_s + phase_clock() - start;
}

static Status optimize(Job *job)
{
    const Settings *s = job->settings;
    Ctx *ctx = &job->ctx;
    char why[500];
    if (s->input && !source_open(&job->source, s->input, &ctx->arena, why)) {
        diag_plain(&ctx->diag, DIAG_ERROR, "cannot read '%s': %s", s->input, why);
        return ST_IO;
    }
    Lang lang = s->input_lang == LANG_AUTO && s->input ? lang_of(&job->source) : s->input_lang;
    Lang output = s->output_lang == LANG_AUTO ? lang : s->output_lang;
    ctx->options.stay_in_ssa = s->emit && output == LANG_ORI;
    if (!phase_plan(ctx, why)) {
        usage(why);
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
    ctx->diag.source = &job->source;
    Module *m = lang_read(ctx, &job->source, lang, s->strip_debug);
    source_close(&job->source);
    double read_s = phase_clock() - start;
    if (!m)
        return ST_BAD_INPUT;
    if (!entries_exist(job, m))
        return ST_USAGE;
    uint64_t instrs = count_instructions(m);
    if (s->max_insns && instrs > s->max_insns)
        heap_fail(&ctx->heap, ST_LIMIT, "the module has %llu instructions, more than --max-insns allows",
                  (unsigned long long)instrs);
    if (!open_output(job))
        return ST_IO;
    module_freeze(m);
    Out out;
    out_init(&out, &ctx->arena, outfile_write, &job->file);
    double write_s = run_module(job, m, output, &out);
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

int main(int argc, char **argv)
{
    Settings settings = {.output = "-", .emit = true, .max_errors = 20, .phases = phase_default_options()};
    bool done = false;
    if (!parse_command_line(&settings, argc, argv, &done))
        return ST_USAGE;
    if (done)
        return ST_OK;
    static Job job;  // large; there is one
    job.settings = &settings;
    Ctx *ctx = &job.ctx;
    jmp_buf unwind;
    volatile Status status;
    if (setjmp(unwind)) {
        status = ctx->heap.status;
        diag_plain(&ctx->diag, DIAG_ERROR, "%s%s", status == ST_INTERNAL ? "internal error: " : "", ctx->heap.message);
    } else {
        ctx->heap = (Heap){.limit = (size_t)settings.max_memory, .unwind = &unwind};
        ctx->options = settings.phases;
        ctx->deadline = settings.phases.max_seconds > 0 ? phase_clock() + settings.phases.max_seconds : 0;
        ctx->diag = (Diag){.write = to_stderr, .json = settings.json_diagnostics, .max_errors = settings.max_errors};
        bool table = settings.list_phases || settings.print_pipeline;
        job.err = (Out){
            .write = out_to_stdio, .user = table ? stdout : stderr, .buf = job.err_buf, .cap = sizeof job.err_buf};
        ctx->report = ctx->dumps.out = &job.err;
        arena_init(&ctx->arena, &ctx->heap);
        phase_factory(ctx);
        status = optimize(&job);
    }
    out_flush(&job.err);
    if (job.file_open)
        outfile_abandon(&job.file);
    source_close(&job.source);
    heap_release(&ctx->heap);
    return status;
}
