// SPDX-License-Identifier: MIT
// orirun: runs kernels of a PTX or Ori file, and shows and checks what they leave in memory.
#define _DEFAULT_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/lang.h"
#include "tools/options.h"
#include "tools/run_file.h"

static const Option rows[] = {
#define OPTION(id, name, kind, arg, where, help) {RO_##id, name, ARG_##kind, arg, help},
#include "tools/orirun.def"
#undef OPTION
};

// What an argument of a launch became.
typedef struct Bound {
    const uint8_t *bytes;    // of a value; NULL: an address
    uint64_t size, address;  // of the value; of the buffer
    bool again;              // another argument's buffer
} Bound;
typedef VEC(Bound) Bounds;

// A place in memory that something is asked about.
typedef struct Span {
    const char *name;
    const uint8_t *bytes;
    uint64_t size;
} Span;

typedef struct Ways {
    bool seen;  // there is such an instruction
    uint64_t warps, taken, not_taken;
} Ways;

typedef struct Job {
    const char *input;  // NULL: only help or the version was wanted
    const char *path;   // of the module
    bool digest, trace, count, coverage;
    uint64_t lane, max_memory;
    Lang lang;
    Ctx ctx;
    RunPlan command, file;  // what the command line and the .run file say
    RunPlan *plan;          // whose launches are run
    Source run_source, source;
    Module *module;
    Machine *machine;
    uint32_t number;                   // of the launch, from 1
    Bounds bounds;                     // of its arguments
    uint64_t *initial;                 // by SymId: digest of a variable before the first launch
    uint64_t counts[OPCODE_COUNT][2];  // in warps, in threads
    Ways **ways;                       // by SymId of the function, by InstrId
    Out out, err;
    char out_buf[1 << 14], err_buf[4096];
} Job;

/* -- Command line --------------------------------------------------------------------------------------- */

static bool usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static bool usage(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fputs("orirun: ", stderr);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
    return false;
}

// The rows that are options, or those that are lines of .run files only; returns how many.
static size_t select_rows(bool lines, Option table[static RUN_OPTION_COUNT])
{
    size_t n = 0;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++)
        if ((run_option_where((RunOption)rows[k].id) == WHERE_LINE) == lines)
            table[n++] = rows[k];
    return n;
}

static void print_help(Out *out)
{
    Option table[RUN_OPTION_COUNT];
    size_t n = select_rows(false, table);
    out_z(out, "usage: orirun [options] FILE\n\nRuns kernels of a PTX or Ori file, `-` for standard input, or what a "
               ".run file says.\n\n");
    option_help(out, table, n);
    out_z(
        out,
        "\narguments, in the order of the parameters:\n"
        "  u32:7 s64:-1 f32:1.5 b8:0xff ...  a value of a type; `0x...` are its bits\n"
        "  struct:hex:DIGITS                 an aggregate by value\n"
        "  buf:SIZE                          the address of a buffer of zeroes (K, M and G may follow)\n"
        "  buf:@FILE  buf:hex:DIGITS         of a buffer with a file's bytes, with these bytes\n"
        "  buf:COUNTxTYPE:iota[:START:STEP]  of a buffer of START, START + STEP, ... (0, 1, ...)\n"
        "  buf:COUNTxTYPE:rand:SEED[:LO:HI]  of random values from LO up to, not including, HI (integers: all; 0, 1)\n"
        "  buf:COUNTxTYPE:fill:VALUE         of one value\n"
        "  ref:N                             of the buffer of argument N again (the first is 0)\n"
        "  keep:N                            in a launch that says `keep`: of argument N of the launch before\n"
        "\nexpectations:\n"
        "  N:TYPE VALUE...                   what the buffer of argument N begins with\n"
        "  N:TYPE[INDEX] ~ULPS VALUE...      from a value on; within so many units in the last place\n"
        "  NAME:TYPE VALUE...                the same of a variable of the module\n"
        "  digest HEX...                     the digests of all buffers, and of variables that changed\n"
        "\nA .run file has one option a line, without dashes, `file FILE` first; `---` is between launches, `#`\n"
        "begins a comment, paths are relative to the file. Further lines:\n");
    n = select_rows(true, table);
    for (size_t k = 0; k < n; k++)
        out_fmt(out, "  %-32s  %s\n", table[k].name, table[k].help);
    out_z(out,
          "\nexit status: 0 done, 1 bad input, a fault of a kernel or a missed expectation, 2 usage, 3 internal error, "
          "4 a limit was\nreached, 5 I/O\n");
    out_flush(out);
}

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), k = strlen(end);
    return n > k && strcmp(text + n - k, end) == 0;
}

static bool number(const char *option, const char *text, uint64_t most, uint64_t *n)
{
    return (run_number(text, n) && *n <= most) || usage("--%s: '%s' is not a number", option, text);
}

static bool take_option(Job *job, RunOption o, const char *value)
{
    switch (o) {
    case RO_DIGEST: job->digest = true; return true;
    case RO_COUNT: job->count = true; return true;
    case RO_COVERAGE: job->coverage = true; return true;
    case RO_TRACE: job->trace = true; return !value || number("trace", value, UINT32_MAX, &job->lane);
    case RO_MAX_MEMORY: return number("max-memory", value, SIZE_MAX, &job->max_memory);
    case RO_INPUT_KIND:
        job->lang = strcmp(value, "ori") == 0 ? LANG_ORI : LANG_PTX;
        return job->lang == LANG_ORI || strcmp(value, "ptx") == 0 || usage("-x: '%s' is not ptx or ori", value);
    default: return run_plan_set(&job->command, o, value, NO_PLACE);
    }
}

// Whether the options go with the kind of file.
static bool options_fit(const Job *job, const char *launch_option)
{
    if (!job->input)
        return usage("no input file; --help explains the use");
    bool run_file = ends_in(job->input, ".run");
    if (run_file && launch_option)
        return usage("--%s is about one launch: write it into '%s'", launch_option, job->input);
    if (!run_file && job->command.module)
        return usage("--file replaces the module of a .run file; here it is '%s'", job->input);
    return true;
}

// False: a message was printed.
static bool parse_command_line(Job *job, int argc, char **argv)
{
    Option table[RUN_OPTION_COUNT];
    OptionParser p = {.table = table, .n = select_rows(false, table), .argc = argc, .at = 1, .argv = argv};
    const char *launch_option = NULL;
    for (int id; (id = option_next(&p)) != OPTION_END;) {
        if (id == OPTION_ERROR)
            return usage("%s", p.error);
        if (id == RO_HELP || id == RO_VERSION) {
            if (id == RO_HELP)
                print_help(&job->out);
            else
                puts("orirun " ORI_VERSION);
            job->input = NULL;
            return true;
        }
        if (id == OPTION_OPERAND && job->input)
            return usage("more than one input file");
        if (id == OPTION_OPERAND)
            job->input = p.value;
        else if (!take_option(job, (RunOption)id, p.value))
            return false;
        if (id >= 0 && run_option_where((RunOption)id) == WHERE_LAUNCH)
            launch_option = rows[id].name;
    }
    return options_fit(job, launch_option);
}

/* -- Names ---------------------------------------------------------------------------------------------- */

// What is wrong with what the command line or the .run file says.
#define WRONG(job, place, ...) \
    run_fail((job)->plan, (place) == NO_PLACE ? ST_USAGE : ST_BAD_INPUT, (place), __VA_ARGS__)

static const char *sym_name(Job *job, SymId s)
{
    char buf[4096];  // longer names are cut
    const char *text = name_text(&job->module->tables, job->module->syms.at[s].name, buf, sizeof buf);
    size_t n = strlen(text) + 1;
    return memcpy(arena_alloc(&job->ctx.arena, n), text, n);
}

static bool is_kernel(const Sym *s) { return s->kind == SYM_FUNC && s->flags & SYM_KERNEL && s->flags & SYM_DEFINED; }
static bool is_variable(const Sym *s)
{
    bool defined = s->kind == SYM_VAR && !(s->flags & SYM_EXTERN);
    return defined && (s->space == SP_GLOBAL || s->space == SP_CONST) && s->size;
}

static void no_such_sym(Job *job, RunPlace place, const char *name, bool (*is)(const Sym *), const char *what)
{
    const Module *m = job->module;
    VEC(const char *) names = {0};
    for (SymId s = 1; s < m->syms.n; s++)
        if (is(&m->syms.at[s]))
            VEC_PUSH(&job->ctx.arena, &names, sym_name(job, s));
    const char *near = name ? run_nearest(name, strlen(name), names.at, names.n) : NULL;
    if (!names.n)
        WRONG(job, place, "'%s' has no %ss", job->source.name, what);
    else if (!name)
        WRONG(job, place, "'%s' has %u %ss, among them '%s': say which one with `entry`", job->source.name, names.n,
              what, names.at[0]);
    else if (near)
        WRONG(job, place, "'%s' has no %s '%s'; did you mean '%s'?", job->source.name, what, name, near);
    else
        WRONG(job, place, "'%s' has no %s '%s'; it has '%s'%s", job->source.name, what, name, names.at[0],
              names.n > 1 ? " and others" : "");
}

// The symbol that `is` what it has to be and has this name; the only such symbol if there is no name. 0: a message was
// written.
static SymId find_sym(Job *job, RunPlace place, const char *name, bool (*is)(const Sym *), const char *what)
{
    const Module *m = job->module;
    char buf[4096];
    SymId found = 0;
    uint32_t n = 0;
    for (SymId s = 1; s < m->syms.n; s++) {
        const Sym *sym = &m->syms.at[s];
        if (!is(sym) || (name && strcmp(name, name_text(&m->tables, sym->name, buf, sizeof buf)) != 0))
            continue;
        found = s;
        n++;
    }
    if (n != 1)
        no_such_sym(job, place, name, is, what);
    return n == 1 ? found : 0;
}

/* -- Arguments ------------------------------------------------------------------------------------------ */

static uint32_t address_bytes(const Job *job) { return job->module->address_size == 32 ? 4 : 8; }

static bool new_buffer(Job *job, const RunArg *a, uint32_t k, Bound *b)
{
    char why[200], *name = arena_alloc(&job->ctx.arena, 40);
    Source file = {0};
    b->size = a->size;
    if (a->fill.kind == FILL_FILE) {
        if (!source_open(&file, a->fill.path, &job->ctx.arena, why))
            return run_fail(job->plan, ST_IO, a->place, "cannot read '%s': %s", a->fill.path, why);
        b->size = file.len;
    }
    snprintf(name, 40, "the buffer of argument %u", k);
    b->address = machine_alloc(job->machine, b->size, name);
    uint64_t have;
    uint8_t *bytes = b->size ? machine_bytes(job->machine, b->address, &have) : NULL;
    if (bytes && a->fill.kind == FILL_FILE)
        memcpy(bytes, file.text, b->size);
    else if (bytes && a->fill.kind == FILL_BYTES)
        memcpy(bytes, a->fill.bytes, b->size);
    else if (bytes)
        fill_write(&a->fill, bytes);
    source_close(&file);
    return true;
}

static bool kept_buffer(Job *job, const RunLaunch *l, const RunArg *a, const Bounds *before, Bound *b)
{
    if (!l->keep)
        return WRONG(job, a->place, "'%s' is for launches that say `keep`", a->text);
    if (a->of >= before->n || before->at[a->of].bytes)
        return WRONG(job, a->place, "argument %u of the launch before has no buffer", a->of);
    *b = before->at[a->of];
    b->again = false;
    return true;
}

static bool bind(Job *job, const RunLaunch *l, uint32_t k, const Bounds *before, Bound *b)
{
    const RunArg *a = &l->args.at[k];
    *b = (Bound){0};
    switch (a->kind) {
    case RA_BUFFER: return new_buffer(job, a, k, b);
    case RA_KEPT: return kept_buffer(job, l, a, before, b);
    case RA_REF:
        *b = job->bounds.at[a->of];
        b->again = true;
        return true;
    default:
        b->bytes = a->bytes;
        b->size = a->size;
        return true;
    }
}

static bool bind_all(Job *job, const RunLaunch *l)
{
    Bounds before = job->bounds;
    if (l->keep && !l->args.n)
        return true;
    job->bounds = (Bounds){0};
    for (uint32_t k = 0; k < l->args.n; k++) {
        Bound b;
        if (!bind(job, l, k, &before, &b))
            return false;
        VEC_PUSH(&job->ctx.arena, &job->bounds, b);
    }
    return true;
}

// The bytes of all parameters, each argument where its parameter lies.
static bool place_params(Job *job, const RunLaunch *l, Launch *launch)
{
    const Module *m = job->module;
    const char *kernel = sym_name(job, launch->entry);
    uint32_t n = machine_params(m, launch->entry), bytes = 0, at = 0;
    if (n != job->bounds.n)
        return WRONG(job, l->place, "'%s' has %u parameter%s, and there %s %u argument%s", kernel, n, n == 1 ? "" : "s",
                     job->bounds.n == 1 ? "is" : "are", job->bounds.n, job->bounds.n == 1 ? "" : "s");
    if (n)
        at = machine_param(m, launch->entry, n - 1, &bytes);
    uint8_t *params = arena_zalloc(&job->ctx.arena, (size_t)at + bytes + 1);
    launch->params = params;
    launch->nparams = at + bytes;
    for (uint32_t k = 0; k < n; k++) {
        const Bound *b = &job->bounds.at[k];
        uint64_t have = b->bytes ? b->size : address_bytes(job);
        at = machine_param(m, launch->entry, k, &bytes);
        if (have != bytes && k < l->args.n)
            return WRONG(job, l->args.at[k].place, "'%s'%s has %" PRIu64 " byte%s, but parameter %u of '%s' has %u",
                         l->args.at[k].text, b->bytes ? "" : ", an address,", have, have == 1 ? "" : "s", k, kernel,
                         bytes);
        if (have != bytes)
            return WRONG(job, l->place,
                         "argument %u of the launch before has %" PRIu64 " bytes, but parameter %u of '%s' has %u", k,
                         have, k, kernel, bytes);
        if (b->bytes)
            memcpy(params + at, b->bytes, bytes);
        for (uint32_t byte = 0; !b->bytes && byte < bytes; byte++)
            params[at + byte] = (uint8_t)(b->address >> 8 * byte);
    }
    return true;
}

/* -- What is asked about memory ------------------------------------------------------------------------- */

static Span span_at(Job *job, uint64_t address, uint64_t size, const char *name)
{
    uint64_t have;
    return (Span){name, size ? machine_bytes(job->machine, address, &have) : NULL, size};
}

static Span span_of_arg(Job *job, uint32_t k)
{
    char *name = arena_alloc(&job->ctx.arena, 16);
    snprintf(name, 16, "arg%u", k);
    return span_at(job, job->bounds.at[k].address, job->bounds.at[k].size, name);
}

static Span span_of_sym(Job *job, SymId s)
{
    return span_at(job, machine_symbol(job->machine, s), job->module->syms.at[s].size, NULL);
}

static bool find_span(Job *job, const RunTarget *t, Span *span)
{
    if (t->symbol) {
        SymId s = find_sym(job, t->place, t->symbol, is_variable, "variable");
        if (!s)
            return false;
        *span = span_of_sym(job, s);
        span->name = t->symbol;
        return true;
    }
    if (t->arg >= job->bounds.n || job->bounds.at[t->arg].bytes)
        return WRONG(job, t->place, t->arg < job->bounds.n ? "argument %u has no buffer" : "there is no argument %u",
                     t->arg);
    *span = span_of_arg(job, t->arg);
    return true;
}

// Before the run, so that a slip in a name does not cost one.
static bool check_targets(Job *job, const RunLaunch *l)
{
    Span span;
    for (uint32_t k = 0; k < l->dumps.n; k++)
        if (!find_span(job, &l->dumps.at[k], &span))
            return false;
    for (uint32_t k = 0; k < l->nondet.n; k++)
        if (!find_span(job, &l->nondet.at[k], &span))
            return false;
    for (uint32_t k = 0; k < l->expects.n; k++) {
        const RunExpect *e = &l->expects.at[k];
        if (e->digest)
            continue;
        if (!find_span(job, &e->target, &span))
            return false;
        uint64_t have = span.size / value_bytes(e->target.type);
        if (e->target.first > have || e->values.n > have - e->target.first)
            return WRONG(job, e->target.place,
                         "%u values are expected from index %" PRIu64 " on, but %s has room for %" PRIu64, e->values.n,
                         e->target.first, span.name, have);
    }
    return true;
}

/* -- After the run -------------------------------------------------------------------------------------- */

static bool dump_to_file(Job *job, const RunTarget *t, const Span *span)
{
    char why[200];
    OutFile file;
    if (!outfile_open(&file, t->path, &job->ctx.arena, why))
        return run_fail(job->plan, ST_IO, t->place, "cannot write '%s': %s", t->path, why);
    out_flush(&job->out);  // it may be standard output, too
    fflush(stdout);
    bool ok = outfile_write(&file, (const char *)span->bytes, span->size) && outfile_commit(&file, why);
    if (!ok)
        outfile_abandon(&file);
    return ok || run_fail(job->plan, ST_IO, t->place, "cannot write '%s'", t->path);
}

static bool dump(Job *job, const RunTarget *t)
{
    Span span;
    if (!find_span(job, t, &span))
        return false;
    if (t->path)
        return dump_to_file(job, t, &span);
    bytes_print(&job->out, span.name, t->type, span.bytes, span.size);
    return true;
}

typedef struct Digest {
    Span of;
    uint64_t value;
} Digest;

typedef struct Digests {
    VEC(Digest) list;
    uint32_t nbuffers;  // of them, the first
    VEC(const uint8_t *) nondet;
} Digests;

static bool is_nondet(const Digests *d, const Span *span)
{
    for (uint32_t k = 0; k < d->nondet.n; k++)
        if (span->bytes && d->nondet.at[k] == span->bytes)
            return true;
    return false;
}

// Of the buffers in the order of the arguments, then of the variables that are not what they were at first.
static Digests make_digests(Job *job, const RunLaunch *l)
{
    Arena *arena = &job->ctx.arena;
    Digests d = {0};
    for (uint32_t k = 0; k < l->nondet.n; k++) {
        Span span;
        if (find_span(job, &l->nondet.at[k], &span))
            VEC_PUSH(arena, &d.nondet, span.bytes);
    }
    for (uint32_t k = 0; k < job->bounds.n; k++) {
        Span span = span_of_arg(job, k);
        if (!job->bounds.at[k].bytes && !job->bounds.at[k].again && !is_nondet(&d, &span))
            VEC_PUSH(arena, &d.list, ((Digest){span, bytes_digest(span.bytes, span.size)}));
    }
    d.nbuffers = d.list.n;
    for (SymId s = 1; s < job->module->syms.n; s++) {
        if (!is_variable(&job->module->syms.at[s]))
            continue;
        Span span = span_of_sym(job, s);
        uint64_t value = bytes_digest(span.bytes, span.size);
        if (value == job->initial[s] || is_nondet(&d, &span))
            continue;
        span.name = sym_name(job, s);
        VEC_PUSH(arena, &d.list, ((Digest){span, value}));
    }
    return d;
}

static void print_digests(Job *job, const Digests *d)
{
    for (uint32_t k = 0; k < d->list.n; k++)
        out_fmt(&job->out, "%s %016" PRIx64 "\n", d->list.at[k].of.name, d->list.at[k].value);
}

// A missed expectation; the launches behind it are run all the same.
static void miss(Job *job, RunPlace place, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void miss(Job *job, RunPlace place, const char *fmt, ...)
{
    char text[500];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    run_fail(job->plan, ST_BAD_INPUT, place, "launch %u: %s", job->number, text);
}

// Variables may be left off at the end of the list.
static void check_digests(Job *job, const RunExpect *e, const Digests *d)
{
    uint32_t have = d->list.n;
    if (e->values.n < d->nbuffers || e->values.n > have)
        miss(job, e->target.place, "%u digest%s expected, but there %s %u", e->values.n,
             e->values.n == 1 ? " is" : "s are", have == 1 ? "is" : "are", have);
    for (uint32_t k = 0; k < MIN(e->values.n, have); k++)
        if (d->list.at[k].value != e->values.at[k])
            miss(job, e->target.place, "the digest of %s is %016" PRIx64 ", expected %016" PRIx64,
                 d->list.at[k].of.name, d->list.at[k].value, e->values.at[k]);
}

static void miss_value(Job *job, const RunExpect *e, const Span *span, uint32_t k, uint64_t is)
{
    char text[300];
    Type t = e->target.type;
    Out out = {.write = out_to_stdio, .user = stderr, .buf = text, .cap = sizeof text};
    out_fmt(&out, "%s:%s[%" PRIu64 "] is ", span->name, type_info[t].name, e->target.first + k);
    value_print(&out, t, is);
    out_z(&out, ", expected ");
    value_print(&out, t, e->values.at[k]);
    miss(job, e->target.place, "%.*s", (int)out.n, text);
}

static void check_values(Job *job, const RunExpect *e)
{
    enum { SHOWN = 4 };
    Span span;
    Type t = e->target.type;
    uint32_t wrong = 0;
    if (!find_span(job, &e->target, &span))
        return;
    for (uint32_t k = 0; k < e->values.n; k++) {
        uint64_t is = value_load(span.bytes + (e->target.first + k) * value_bytes(t), t);
        if (is == e->values.at[k] || (e->near && value_near(t, is, e->values.at[k], e->ulps)))
            continue;
        if (wrong++ < SHOWN)
            miss_value(job, e, &span, k, is);
    }
    if (wrong > SHOWN)
        miss(job, e->target.place, "%u of %u values differ", wrong, e->values.n);
}

static bool show_and_check(Job *job, const RunLaunch *l)
{
    bool digests = job->digest || job->plan == &job->file;
    for (uint32_t k = 0; k < l->dumps.n; k++)
        if (!dump(job, &l->dumps.at[k]))
            return false;
    Digests d = make_digests(job, l);
    if (digests)
        print_digests(job, &d);
    out_flush(&job->out);
    fflush(stdout);
    for (uint32_t k = 0; k < l->expects.n; k++) {
        if (l->expects.at[k].digest)
            check_digests(job, &l->expects.at[k], &d);
        else
            check_values(job, &l->expects.at[k]);
    }
    return true;
}

/* -- Counts and coverage -------------------------------------------------------------------------------- */

static void add_executed(void *user, const Executed *e)
{
    Job *job = user;
    const Instr *i = ir_instr(e->fn, e->instr);
    const Desc *d = ir_desc(e->fn, i);
    if (d->traits & TR_MARKER || i->flags & IF_IMPLICIT)
        return;
    job->counts[d->op][0] += e->warps;
    job->counts[d->op][1] += e->threads;
    Ways **of = &job->ways[e->fn->sym];
    if (!*of)
        *of = NEW_ARRAY(&job->ctx.arena, Ways, e->fn->instrs.n);
    Ways *w = &(*of)[e->instr];
    *w = (Ways){true, w->warps + e->warps, w->taken + e->taken, w->not_taken + e->not_taken};
}

static void end_machine(Job *job)
{
    if (!job->machine)
        return;
    if (job->count || job->coverage)
        machine_executed(job->machine, add_executed, job);
    machine_free(job->machine);
    job->machine = NULL;
}

// The opcodes that ran, those that ran most often first.
static void print_counts(Job *job)
{
    uint64_t all[2] = {0};
    bool printed[OPCODE_COUNT] = {0};
    out_fmt(&job->err, "%14s %14s  instruction\n", "warps", "threads");
    for (bool more = true; more;) {
        Opcode most = OPCODE_COUNT;
        for (Opcode o = 0; o < OPCODE_COUNT; o++)
            if (!printed[o] && job->counts[o][0] && (most == OPCODE_COUNT || job->counts[o][0] > job->counts[most][0]))
                most = o;
        more = most != OPCODE_COUNT;
        if (!more)
            break;
        const uint64_t *n = job->counts[most];
        printed[most] = true;
        all[0] += n[0];
        all[1] += n[1];
        out_fmt(&job->err, "%14" PRIu64 " %14" PRIu64 "  %s\n", n[0], n[1], op_info[most].mnemonic);
    }
    out_fmt(&job->err, "%14" PRIu64 " %14" PRIu64 "  all\n", all[0], all[1]);
}

static void print_where(Job *job, const Fn *fn, InstrId i)
{
    size_t at = fn_where(fn, i), start;
    uint32_t line, col;
    if (at != SIZE_MAX) {
        diag_locate(&job->ctx.diag, at, &line, &col, &start);
        out_fmt(&job->err, "%s:%u: ", job->source.name, line);
    }
    out_fmt(&job->err, "%s: ", sym_name(job, fn->sym));
}

// Adds to n: blocks that ran, blocks, ways out of branches that were gone, such ways.
static void cover_block(Job *job, const Fn *fn, BlockId b, const Ways *ways, uint32_t n[static 4])
{
    InstrId first = 0;
    bool ran = false;
    FOR_INSTRS(fn, b, i) {
        if (ways[i].seen && !first)
            first = i;
        ran |= ways[i].warps > 0;
    }
    if (!first)
        return;
    n[0] += ran;
    n[1]++;
    if (!ran) {
        char label[300];
        print_where(job, fn, first);
        if (ir_block(fn, b)->label.stem)
            out_fmt(&job->err, "block %s never ran\n",
                    name_text(fn->tables, ir_block(fn, b)->label, label, sizeof label));
        else
            out_z(&job->err, "from here to the end of the block nothing ever ran\n");
    }
    FOR_INSTRS(fn, b, i) {
        const Instr *instr = ir_instr(fn, i);
        if (!ways[i].seen || !ir_guarded(instr) || ir_desc(fn, instr)->op != OP_BRA)
            continue;
        n[2] += (ways[i].taken > 0) + (ways[i].not_taken > 0);
        n[3] += 2;
        if (ran && (!ways[i].taken || !ways[i].not_taken)) {
            print_where(job, fn, i);
            out_fmt(&job->err, "the branch was %s taken\n", ways[i].taken ? "always" : "never");
        }
    }
}

static void print_coverage(Job *job)
{
    for (uint32_t k = 0; k < job->module->fns.n; k++) {
        const Fn *fn = job->module->fns.at[k];
        uint32_t n[4] = {0};
        if (!job->ways[fn->sym])
            continue;
        FOR_BLOCKS(fn, b)
            cover_block(job, fn, b, job->ways[fn->sym], n);
        out_fmt(&job->err, "coverage of %s: %u of %u blocks, %u of %u ways out of branches\n", sym_name(job, fn->sym),
                n[0], n[1], n[2], n[3]);
    }
}

/* -- Launches ------------------------------------------------------------------------------------------- */

static Status say_fault(Job *job, SymId entry)
{
    const RunError *e = machine_error(job->machine);
    size_t at = e->fn ? fn_where(e->fn, e->instr) : SIZE_MAX;
    const char *kernel = sym_name(job, entry);
    char text[600];
    snprintf(text, sizeof text, "launch %u, %s, block %u,%u,%u, thread %u,%u,%u: %s", job->number, kernel, e->block.x,
             e->block.y, e->block.z, e->thread.x, e->thread.y, e->thread.z, e->text);
    if (at != SIZE_MAX)
        diag_at(&job->ctx.diag, DIAG_ERROR, at, "%s", text);
    else
        diag_plain(&job->ctx.diag, DIAG_ERROR, "%s", text);
    return e->status == RUN_LIMIT ? ST_LIMIT : ST_BAD_INPUT;
}

static void start_machine(Job *job)
{
    end_machine(job);
    job->machine = machine_new(&job->ctx.heap, job->module, job->plan->options);
    for (SymId s = 1; s < job->module->syms.n; s++)
        if (is_variable(&job->module->syms.at[s])) {
            Span span = span_of_sym(job, s);
            job->initial[s] = bytes_digest(span.bytes, span.size);
        }
}

static Status run_launch(Job *job, const RunLaunch *l)
{
    RunPlan *p = job->plan;
    Launch launch = {.grid = l->grid, .block = l->block, .shared = l->shared};
    launch.entry = find_sym(job, l->entry ? l->entry_place : l->place, l->entry, is_kernel, "kernel");
    if (!launch.entry)
        return p->status;
    if (!l->keep)
        start_machine(job);
    if (!bind_all(job, l) || !place_params(job, l, &launch) || !check_targets(job, l))
        return p->status;
    if (p == &job->file)
        out_fmt(&job->out, "launch %u entry %s\n", job->number, sym_name(job, launch.entry));
    if (!machine_run(job->machine, &launch))
        return say_fault(job, launch.entry);
    return show_and_check(job, l) ? ST_OK : p->status;
}

static Status run_launches(Job *job)
{
    RunPlan *p = job->plan;
    job->initial = NEW_ARRAY(&job->ctx.arena, uint64_t, job->module->syms.n);
    job->ways = NEW_ARRAY(&job->ctx.arena, Ways *, job->module->syms.n);
    p->options.count = job->count;
    p->options.coverage = job->coverage;
    p->options.trace = job->trace ? &job->err : NULL;
    p->options.lane = (uint32_t)job->lane;
    p->options.print = &job->out;
    Status status = ST_OK;
    for (uint32_t k = 0; k < p->launches.n && status == ST_OK; k++) {
        job->number = k + 1;
        status = run_launch(job, &p->launches.at[k]);
    }
    end_machine(job);
    if (job->count)
        print_counts(job);
    if (job->coverage)
        print_coverage(job);
    return status == ST_OK ? p->status : status;
}

/* -- The job -------------------------------------------------------------------------------------------- */

// What the command line says goes before what the .run file says.
static void merge_plans(Job *job)
{
    const MachineOptions *o = &job->command.options;
    MachineOptions *to = &job->file.options;
    to->check_races |= o->check_races;
    to->check_uninit |= o->check_uninit;
    to->max_steps = o->max_steps ? o->max_steps : to->max_steps;
    to->seed = o->seed ? o->seed : to->seed;
    if (job->command.module) {
        job->file.module = job->command.module;
        job->file.module_place = NO_PLACE;
    }
}

// Finds out what is to be run, and leaves the module's path in job->path.
static Status read_plan(Job *job)
{
    char why[200];
    job->plan = &job->command;
    job->path = job->input;
    if (!ends_in(job->input, ".run"))
        return ST_OK;
    if (!source_open(&job->run_source, job->input, &job->ctx.arena, why)) {
        run_fail(job->plan, ST_IO, NO_PLACE, "cannot read '%s': %s", job->input, why);
        return ST_IO;
    }
    job->plan = &job->file;
    if (!run_plan_read(&job->file, &job->run_source))
        return job->file.status;
    merge_plans(job);
    job->path = job->file.module;
    return ST_OK;
}

static Status run(Job *job, int argc, char **argv)
{
    char why[200];
    if (!parse_command_line(job, argc, argv))
        return ST_USAGE;
    if (!job->input)
        return ST_OK;
    job->ctx.heap.limit = (size_t)job->max_memory;
    Status status = read_plan(job);
    if (status != ST_OK)
        return status;
    if (!source_open(&job->source, job->path, &job->ctx.arena, why)) {
        run_fail(job->plan, ST_IO, job->plan->module_place, "cannot read '%s': %s", job->path, why);
        return ST_IO;
    }
    job->module = lang_read(&job->ctx, &job->source, job->lang, false);
    if (!job->module)
        return ST_BAD_INPUT;
    module_freeze(job->module);
    return run_launches(job);
}

static void to_stderr(void *user, const char *text, size_t n)
{
    Job *job = user;
    out_flush(&job->out);  // what came before a message is seen before it
    fflush(stdout);
    out_flush(&job->err);
    fwrite(text, 1, n, stderr);
}

int main(int argc, char **argv)
{
    static Job job;  // large; there is one
    jmp_buf unwind;
    volatile Status status;
    Ctx *ctx = &job.ctx;
    job.out = (Out){.write = out_to_stdio, .user = stdout, .buf = job.out_buf, .cap = sizeof job.out_buf};
    job.err = (Out){.write = out_to_stdio, .user = stderr, .buf = job.err_buf, .cap = sizeof job.err_buf};
    if (setjmp(unwind)) {
        status = ctx->heap.status;
        usage("%s%s", status == ST_INTERNAL ? "internal error: " : "", ctx->heap.message);
    } else {
        ctx->heap = (Heap){.unwind = &unwind};
        ctx->diag = (Diag){.write = to_stderr, .user = &job, .max_errors = 20};
        ctx->options.positions = true;
        arena_init(&ctx->arena, &ctx->heap);
        run_plan_init(&job.command, "orirun", &ctx->arena, to_stderr, &job);
        run_plan_init(&job.file, "orirun", &ctx->arena, to_stderr, &job);
        status = run(&job, argc, argv);
    }
    out_flush(&job.out);
    out_flush(&job.err);
    bool written = fflush(stdout) == 0 && !job.out.failed;
    if (!written && status == ST_OK) {
        usage("cannot write to standard output");
        status = ST_IO;
    }
    source_close(&job.source);
    source_close(&job.run_source);
    heap_release(&ctx->heap);
    return status;
}
