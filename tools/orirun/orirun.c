// SPDX-License-Identifier: MIT
// orirun: runs kernels of a PTX or Ori file, and prints and checks the content of memory afterwards.
#define _DEFAULT_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sm/sm.h"
#include "tools/lib/lang.h"
#include "tools/options/option_docs.h"
#include "tools/options/progress.h"
#include "tools/orirun/run_npy.h"
#include "tools/orirun/run_watch.h"

// Rows with LINE are for .run files only; all others are options.
#define AS_OPTION(id, name, kind, arg, help) {RO_##id, name, ARG_##kind, arg, help},
#define AS_LINE(id, name, kind, arg, help) {name, help},
#define NOTHING(...)
static const Option options[] = {
#define IF_COMMAND AS_OPTION
#define IF_LAUNCH AS_OPTION
#define IF_RUN AS_OPTION
#define IF_LINE NOTHING
#define OPTION(id, name, kind, arg, where, help) IF_##where(id, name, kind, arg, help)
#include "tools/orirun/orirun.def"
#undef IF_COMMAND
#undef IF_LAUNCH
#undef IF_RUN
#undef IF_LINE
};
static const DocRow lines[] = {
#define IF_COMMAND NOTHING
#define IF_LAUNCH NOTHING
#define IF_RUN NOTHING
#define IF_LINE AS_LINE
#include "tools/orirun/orirun.def"
#undef OPTION
};

/* -- Documentation -------------------------------------------------------------------------------------- */

static const DocRow arguments[] = {
    {"u32:7 s64:-1 f32:1.5 b8:0xff ...", "a value of a type; `0x...` are its bits"},
    {"struct:hex:DIGITS", "an aggregate by value"},
    {"buf:SIZE", "the address of a buffer of zeroes (K, M and G may follow)"},
    {"buf:@FILE  buf:hex:DIGITS", "the address of a buffer with a file's bytes, with these bytes"},
    {"buf:TYPE:@FILE  buf:COUNTxTYPE:@FILE", "the same for a file with values of this type, and this number of values"},
    {"buf:COUNTxTYPE:iota[:START:STEP]", "the address of a buffer of START, START + STEP, ... (default: 0, 1, ...)"},
    {"buf:COUNTxTYPE:rand:SEED[:LO:HI]",
     "the address of a buffer of random values from LO to HI, excluding HI (default: all integers, 0 to 1)"},
    {"buf:COUNTxTYPE:fill:VALUE", "the address of a buffer with the same value in all elements"},
    {"ref:N", "the address of the buffer of argument N (the first is 0)"},
    {"keep:N", "in a launch with `keep`: the address of the buffer of argument N of the previous launch"},
};

static const DocRow expectations[] = {
    {"N:TYPE VALUE...", "the first values of the buffer of argument N"},
    {"N:TYPE[INDEX] VALUE...", "values from this index on"},
    {"NAME:TYPE VALUE...", "the first values of a variable of the module"},
    {"N:TYPE @FILE", "the values in a file; the path is the rest of the text"},
    {"N:TYPE ~ULPS VALUE...",
     "within this number of units in the last place; `@FILE` may replace the values here, too"},
    {"N:TYPE ~abs:X ~rel:Y VALUE...", "within X + Y * |expected value|, where X or Y is 0 if omitted"},
    {"digest HEX...", "the digests of all buffers, and of variables that changed"},
};

static const DocRow files[] = {
    {".npy",
     "a file with the header of NumPy's .npy has the values of its array, in C order, and --dump-file writes one if "
     "the name ends in .npy; its dtype must be that of the type, if one is given. Fortran order, big endian and "
     "objects are errors"},
    {"others", "raw bytes, the lowest byte of a value first"},
};

static const DocRow races[] = {
    {"--check-races", "the lanes of a warp count as one thread"},
    {"--check-races=warp",
     "each lane is a thread: only barriers and bar.warp.sync order lanes, even where they run together; shfl.sync and "
     "vote.sync order memory only between fences"},
};

static const DocRow signals[] = {
    {"INT",
     "(^C) ends the launch and prints its threads: their positions, and the events for which they wait; a second "
     "one ends the process at once"},
    {"USR1", "prints the threads, and the launch goes on"},
};

static const DocRow line_counts[] = {
    {"LINE FUNCTION LINE WARPS THREADS TAKEN NOT_TAKEN MNEMONIC KERNEL",
     "the word `LINE`, the function, the line of the module's text, the executions by warps and by threads, for a "
     "branch the threads that took it and that did not take it, the opcode, and the kernel of the launch"},
};

static const DocSection sections[] = {
    {"arguments", "In the order of the parameters:", DOC_ROWS(arguments)},
    {"expectations", "Values of --expect:", DOC_ROWS(expectations)},
    {"files", "Files of values:", DOC_ROWS(files)},
    {"races",
     "Two accesses to a byte of shared or global memory race if one of them writes, nothing orders them, and they are "
     "not both atomic, volatile or relaxed with scopes that include each other. It does not matter whether the values "
     "are equal. Order comes from barriers, from fences with flags or atomic operations, from release and acquire, "
     "from mbarriers and from waits for copies, as in the memory model of PTX. The first race ends the run:",
     DOC_ROWS(races)},
    {"counts of lines",
     "`--count=lines` prints, for each kernel, a row for each instruction of each function that ran:",
     DOC_ROWS(line_counts)},
    {"signals", "While a launch runs:", DOC_ROWS(signals)},
    {"run files",
     "A .run file has one option on a line, without dashes, and `file FILE` on the first; `---` separates launches, "
     "`#` begins a comment, and paths are relative to the file. Further lines:",
     DOC_ROWS(lines)},
};

static const DocRow statuses[] = {
    {"0", "done"},
    {"1", "bad input, a fault of a kernel or a failed expectation"},
    {"2", "usage"},
    {"3", "internal error"},
    {"4", "a limit was reached"},
    {"5", "I/O"},
    {"130", "INT (^C) ended a launch; the threads that had not ended are shown"},
};

static const DocRow examples[] = {
    {"orirun k.ptx --entry saxpy --grid 4 --block 64 --arg buf:256xf32:iota --arg buf:256xf32:rand:1 --arg f32:2 "
     "--dump 1:f32",
     "run a kernel with generated arguments and print the second one afterwards"},
    {"orirun k.run", "run the launches of a file and check its expectations"},
    {"orirun k.run --file optimized.ptx", "the same launches on other code"},
    {"orirun k.run --check-races --check-uninit", "report data races and uses of undefined values"},
};

static const DocSection last[] = {{"examples", DOC_ROWS(examples), .man_only = true}};

static const Program program = {
    .name = "orirun",
    .purpose = "run kernels of PTX or Ori text on the CPU",
    .operands = "FILE",
    .about = "Runs kernels of a PTX or Ori file, `-` for standard input, or the launches of a .run file. "
             "--check-races, --check-bounds and --check-uninit find errors that the results may not show.",
    .options = options,
    .noptions = ARRAY_LEN(options),
    .sections = sections,
    .nsections = ARRAY_LEN(sections),
    .statuses = statuses,
    .nstatuses = ARRAY_LEN(statuses),
    .last = last,
    .nlast = ARRAY_LEN(last),
};

/* -- The job -------------------------------------------------------------------------------------------- */

enum { INTERRUPTED = 130 };  // exit status, as of a shell's command that INT ended

typedef struct InstrCounts {
    bool seen;  // the function has such an instruction
    uint64_t warps, threads, taken, not_taken;
} InstrCounts;

typedef struct Job {
    const char *input;  // NULL: nothing is run
    const char *path;   // of the module
    bool digest, trace, count, count_lines, coverage;
    uint64_t lane, max_memory;
    Lang lang;
    Ctx ctx;
    RunPlan command, file;  // of the command line and of the .run file
    RunPlan *plan;          // the one of them with the launches
    Source run_source, source;
    Module *module;
    RunState state;
    RunWatch watch;
    bool interrupted;                  // INT ended a launch
    uint64_t counts[OPCODE_COUNT][2];  // in warps, in threads
    InstrCounts **instr_counts;        // by SymId of the function, by InstrId
    InstrCounts ***kernel_counts;      // the same by SymId of the kernel that was launched
    SymId kernel;                      // of the last launch
    Out out, err;
    char out_buf[1 << 14], err_buf[4096];
} Job;

/* -- Command line --------------------------------------------------------------------------------------- */

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), k = strlen(end);
    return n > k && strcmp(text + n - k, end) == 0;
}

static bool number(const OptionParser *p, uint64_t most, uint64_t *n)
{
    return (run_number(p->value, n) && *n <= most) ||
           program_bad_value(&program, p, "a number (K, M and G may follow)");
}

static bool parse_lane(const OptionParser *p, uint64_t *n)
{
    return (run_number(p->value, n) && *n <= 31) || program_bad_value(&program, p, "a lane from 0 to 31");
}

static bool parse_option(Job *job, const OptionParser *p)
{
    RunOption o = (RunOption)p->option->id;
    int which = 0;
    if (p->value && (o == RO_COUNT || o == RO_INPUT_KIND))
        which = option_choice(p->option, p->value);
    if (which < 0)
        return program_bad_value(&program, p, NULL);
    switch (o) {
    case RO_DIGEST: job->digest = true; return true;
    case RO_COUNT: *(p->value ? &job->count_lines : &job->count) = true; return true;
    case RO_COVERAGE: job->coverage = true; return true;
    case RO_TRACE: job->trace = true; return !p->value || parse_lane(p, &job->lane);
    case RO_MAX_MEMORY: return number(p, SIZE_MAX, &job->max_memory);
    case RO_INPUT_KIND: job->lang = which ? LANG_ORI : LANG_PTX; return true;
    default: job->command.place = p->place; return run_plan_set(&job->command, o, p->value, NO_PLACE);
    }
}

// True if the options are valid for the kind of file.
static bool options_fit(const Job *job, const char *launch_option)
{
    if (!job->input)
        return program_fail(&program, "no input file; --help explains the use");
    bool run_file = ends_in(job->input, ".run");
    if (run_file && launch_option)
        return program_fail(&program, "--%s is for one launch: write it into '%s'", launch_option, job->input);
    if (!run_file && job->command.module)
        return program_fail(&program, "--file replaces the module of a .run file; here it is '%s'", job->input);
    return true;
}

// Other results than ST_OK: a message was printed. job->input is NULL if nothing is left to do.
static Status parse_command_line(Job *job, int argc, char **argv)
{
    OptionParser p = program_parser(&program, argc, argv, &job->ctx.arena);
    const char *launch_option = NULL;
    for (int id; (id = program_next(&program, &p, &job->out)) != OPTION_END;) {
        if (id == OPTION_ERROR) {
            program_fail_at(&program, &p, "%s", p.error);
            return p.status;
        }
        if (id == OPTION_DONE) {
            job->input = NULL;
            return ST_OK;
        }
        if (id == OPTION_OPERAND && job->input) {
            bool is_dim = strspn(p.value, "0123456789") == strlen(p.value) ||
                          strspn(job->input, "0123456789") == strlen(job->input);
            program_fail_at(&program, &p, "more than one input file%s",
                            is_dim ? "; commas separate numbers, as in --grid=4,2" : "");
            return ST_USAGE;
        }
        if (id == OPTION_OPERAND)
            job->input = p.value;
        else if (!parse_option(job, &p))
            return ST_USAGE;
        if (id >= 0 && run_option_where((RunOption)id) == WHERE_LAUNCH)
            launch_option = p.option->name;
    }
    job->command.place = NULL;
    return options_fit(job, launch_option) ? ST_OK : ST_USAGE;
}

/* -- After the run -------------------------------------------------------------------------------------- */

static bool dump_to_file(Job *job, const RunTarget *t, const uint8_t *bytes, uint64_t size)
{
    char why[200];
    char header[NPY_HEADER];
    OutFile file;
    bool npy = npy_is_name(t->path);
    uint32_t each = t->type ? value_bytes(t->type) : 1;
    if (npy && size % each)
        return run_fail(job->plan, ST_BAD_INPUT, t->place, "%" PRIu64 " bytes are not a whole number of %s values",
                        size, type_info[t->type].name);
    if (!outfile_open(&file, t->path, &job->ctx.arena, why))
        return run_fail(job->plan, ST_IO, t->place, "cannot write '%s': %s", t->path, why);
    out_flush(&job->out);  // the file may be standard output, too
    fflush(stdout);
    npy_header(header, t->type, size / each);
    if (npy)
        outfile_write(&file, header, sizeof header);
    outfile_write(&file, (const char *)bytes, size);
    return outfile_commit(&file, why) || run_fail(job->plan, ST_IO, t->place, "cannot write '%s': %s", t->path, why);
}

static bool dump(Job *job, const RunTarget *t)
{
    if (!t->path)
        return run_dump(&job->state, t, &job->out);
    const RunRegion *r = run_region(&job->state, t);
    return r && dump_to_file(job, t, job->state.here.at[run_region_number(&job->state, r)].bytes, r->size);
}

static bool show_and_check(Job *job, const RunLaunch *l)
{
    for (uint32_t k = 0; k < l->dumps.n; k++)
        if (!dump(job, &l->dumps.at[k]))
            return false;
    if (job->digest || job->plan == &job->file)
        run_print_digests(&job->state, &job->out);
    out_flush(&job->out);
    fflush(stdout);
    run_check(&job->state, l, job->state.here.at);
    return true;
}

/* -- Counts and coverage -------------------------------------------------------------------------------- */

// Adds to the counts of an instruction; `table` is indexed by the SymId of its function.
static void add_instr_counts(Job *job, InstrCounts **table, const Executed *e)
{
    InstrCounts **of = &table[e->fn->sym];
    if (!*of)
        *of = NEW_ARRAY(&job->ctx.arena, InstrCounts, e->fn->instrs.n);
    InstrCounts *w = &(*of)[e->instr];
    *w = (InstrCounts){true, w->warps + e->warps, w->threads + e->threads, w->taken + e->taken,
                       w->not_taken + e->not_taken};
}

static void add_executed(void *user, const Executed *e)
{
    Job *job = user;
    const Instr *i = ir_instr(e->fn, e->instr);
    const Desc *d = ir_desc(e->fn, i);
    if (d->traits & TR_MARKER || i->flags & IF_IMPLICIT)
        return;
    job->counts[d->op][0] += e->warps;
    job->counts[d->op][1] += e->threads;
    add_instr_counts(job, job->instr_counts, e);
    if (job->count_lines)
        add_instr_counts(job, job->kernel_counts[job->kernel], e);
}

// Adds the counts of a launch to those of the launches before it.
static void add_launch(Job *job, SymId kernel)
{
    if (!job->count && !job->count_lines && !job->coverage)
        return;
    job->kernel = kernel;
    if (!job->kernel_counts[kernel])
        job->kernel_counts[kernel] = NEW_ARRAY(&job->ctx.arena, InstrCounts *, job->module->syms.n);
    machine_executed(job->state.machine, add_executed, job);
}

// Prints the opcodes that ran, the most frequent first.
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

// Prints the counts of a function's instructions in the launches of a kernel, unless none of them ran.
static void print_fn_lines(Job *job, const Fn *fn, const InstrCounts *instr_counts, SymId kernel)
{
    bool ran = false;
    for (InstrId i = 0; i < fn->instrs.n; i++)
        ran |= instr_counts[i].warps > 0;
    for (InstrId i = 0; i < fn->instrs.n; i++) {
        size_t at = fn_where(fn, i), start;
        uint32_t line = 0, col;
        const InstrCounts *w = &instr_counts[i];
        if (!ran || !w->seen)
            continue;
        if (at != SIZE_MAX)
            diag_locate(&job->ctx.diag, at, &line, &col, &start);
        out_fmt(&job->err, "LINE %s %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %s ",
                run_sym_name(&job->state, fn->sym), line, w->warps, w->threads, w->taken, w->not_taken,
                op_info[ir_desc(fn, ir_instr(fn, i))->op].mnemonic);
        out_fmt(&job->err, "%s\n", run_sym_name(&job->state, kernel));
    }
}

static void print_lines(Job *job)
{
    for (SymId kernel = 0; kernel < job->module->syms.n; kernel++)
        for (uint32_t k = 0; job->kernel_counts[kernel] && k < job->module->fns.n; k++) {
            const Fn *fn = job->module->fns.at[k];
            if (job->kernel_counts[kernel][fn->sym])
                print_fn_lines(job, fn, job->kernel_counts[kernel][fn->sym], kernel);
        }
}

// Prints the source line of an instruction, if .loc gives one, and ends the line.
static void end_with_source(Job *job, const Fn *fn, InstrId i)
{
    char source[200];
    fn_source_position(fn, ir_instr(fn, i)->line, source);
    out_fmt(&job->err, *source ? " (at %s)\n" : "%s\n", source);
}

static void print_where(Job *job, const Fn *fn, InstrId i)
{
    size_t at = fn_where(fn, i), start;
    uint32_t line, col;
    if (at != SIZE_MAX) {
        diag_locate(&job->ctx.diag, at, &line, &col, &start);
        out_fmt(&job->err, "%s:%u: ", job->source.name, line);
    }
    out_fmt(&job->err, "%s: ", run_sym_name(&job->state, fn->sym));
}

// Adds to n: blocks that ran, blocks, edges of branches that were taken, such edges.
static void add_block_coverage(Job *job, const Fn *fn, BlockId b, const InstrCounts *instr_counts, uint32_t n[static 4])
{
    InstrId first = 0;
    bool ran = false;
    FOR_INSTRS(fn, b, i) {
        if (instr_counts[i].seen && !first)
            first = i;
        ran |= instr_counts[i].warps > 0;
    }
    if (!first)
        return;
    n[0] += ran;
    n[1]++;
    if (!ran) {
        char label[300];
        print_where(job, fn, first);
        if (ir_block(fn, b)->label.stem)
            out_fmt(&job->err, "block %s never ran",
                    name_text(fn->tables, ir_block(fn, b)->label, label, sizeof label));
        else
            out_z(&job->err, "the block that begins here never ran");
        end_with_source(job, fn, first);
    }
    FOR_INSTRS(fn, b, i) {
        const Instr *instr = ir_instr(fn, i);
        if (!instr_counts[i].seen || !ir_guarded(instr) || ir_desc(fn, instr)->op != OP_BRA)
            continue;
        n[2] += (instr_counts[i].taken > 0) + (instr_counts[i].not_taken > 0);
        n[3] += 2;
        if (ran && (!instr_counts[i].taken || !instr_counts[i].not_taken)) {
            print_where(job, fn, i);
            out_fmt(&job->err, "the branch was %s taken", instr_counts[i].taken ? "always" : "never");
            end_with_source(job, fn, i);
        }
    }
}

static void print_coverage(Job *job)
{
    for (uint32_t k = 0; k < job->module->fns.n; k++) {
        const Fn *fn = job->module->fns.at[k];
        uint32_t n[4] = {0};
        if (!job->instr_counts[fn->sym])
            continue;
        FOR_BLOCKS(fn, b)
            add_block_coverage(job, fn, b, job->instr_counts[fn->sym], n);
        out_fmt(&job->err, "coverage of %s: %u of %u blocks, %u of %u edges of branches\n",
                run_sym_name(&job->state, fn->sym), n[0], n[1], n[2], n[3]);
    }
}

/* -- Launches ------------------------------------------------------------------------------------------- */

static Status report_fault(Job *job, SymId entry)
{
    char what[600];
    snprintf(what, sizeof what, "launch %u, %s", job->state.number, run_sym_name(&job->state, entry));
    run_report_fault(&job->state, &job->ctx.diag, what);
    run_print_waits(&job->watch);
    RunStatus status = machine_error(job->state.machine)->status;
    job->interrupted = status == RUN_STOPPED;
    return status == RUN_FAULT ? ST_BAD_INPUT : ST_LIMIT;
}

// Returns the bytes of the shared variables that a kernel names, without those of its callees.
static uint64_t named_shared(Job *job, const Fn *fn)
{
    uint64_t bytes = 0;
    bool *seen[] = {NEW_ARRAY(&job->ctx.arena, bool, job->module->syms.n),
                    NEW_ARRAY(&job->ctx.arena, bool, fn->syms.n)};
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id)
            for (uint32_t k = 0; k < ir_instr(fn, id)->nops; k++) {
                Operand o = ir_ops(fn, ir_instr(fn, id))[k];
                SymId s = op_kind(o) == K_SYM ? op_index(o) : 0;
                bool *known = &seen[(s & SYM_LOCAL) != 0][s & ~(uint32_t)SYM_LOCAL];
                if (s && !*known && ir_sym(fn, s)->space == SP_SHARED)
                    bytes += ir_sym(fn, s)->size;
                *known = true;
            }
    return bytes;
}

// Warns, after a run without a fault, if a block has more shared memory than the target of the module permits.
static void check_shared(Job *job, const Launch *launch)
{
    const Module *m = job->module;
    uint32_t limit = sm_shared_bytes(m);
    uint64_t variables = 0;
    for (uint32_t k = 0; limit && k < m->fns.n; k++)
        if (m->fns.at[k] && m->fns.at[k]->sym == launch->entry)
            variables = named_shared(job, m->fns.at[k]);
    Str sm = tab_str(&m->tables, m->sm);
    if (limit && variables + launch->shared > limit)
        diag_plain(&job->ctx.diag, DIAG_WARNING,
                   "launch %u, %s: %" PRIu64 " bytes of shared variables and --shared=%u, but a block of %.*s has at "
                   "most %u bytes of shared memory",
                   job->state.number, run_sym_name(&job->state, launch->entry), variables, launch->shared,
                   (int)MIN(sm.len, 20), sm.text, limit);
}

static Status run_launch(Job *job, const RunLaunch *l)
{
    RunPlan *p = job->plan;
    Launch launch;
    if (!l->keep)
        run_state_end(&job->state);
    if (!run_prepare(&job->state, l, &launch))
        return p->status;
    if (p == &job->file)
        out_fmt(&job->out, "launch %u entry %s\n", job->state.number, run_sym_name(&job->state, launch.entry));
    bool done = run_watched(&job->watch, &launch);
    add_launch(job, launch.entry);
    if (!done)
        return report_fault(job, launch.entry);
    check_shared(job, &launch);
    return show_and_check(job, l) ? ST_OK : p->status;
}

static Status run_launches(Job *job)
{
    RunPlan *p = job->plan;
    job->instr_counts = NEW_ARRAY(&job->ctx.arena, InstrCounts *, job->module->syms.n);
    job->kernel_counts = NEW_ARRAY(&job->ctx.arena, InstrCounts **, job->module->syms.n);
    p->options.count = job->count || job->count_lines;
    p->options.coverage = job->coverage || job->count_lines;
    p->options.trace = job->trace ? &job->err : NULL;
    p->options.lane = (uint32_t)job->lane;
    p->options.print = &job->out;
    job->watch = (RunWatch){
        .state = &job->state, .source = &job->source, .out = &job->out, .err = &job->err, .launches = p->launches.n};
    run_watch_start(&job->watch, &p->options);
    run_state_init(&job->state, p, job->module, job->source.name, &job->ctx.heap, &job->ctx.arena);
    Status status = ST_OK;
    for (uint32_t k = 0; k < p->launches.n && status == ST_OK; k++) {
        job->state.number = k + 1;
        status = run_launch(job, &p->launches.at[k]);
    }
    run_state_end(&job->state);
    if (job->count)
        print_counts(job);
    if (job->count_lines)
        print_lines(job);
    if (job->coverage)
        print_coverage(job);
    return status == ST_OK ? p->status : status;
}

/* -- All of it ------------------------------------------------------------------------------------------ */

// Adds the options of the command line, which override the .run file.
static void merge_plans(Job *job)
{
    const MachineOptions *o = &job->command.options;
    MachineOptions *to = &job->file.options;
    to->check_races = MAX(to->check_races, o->check_races);
    to->race_memory = o->race_memory ? o->race_memory : to->race_memory;
    to->check_bounds |= o->check_bounds;
    to->check_uninit |= o->check_uninit;
    to->max_steps = o->max_steps ? o->max_steps : to->max_steps;
    to->seed = o->seed ? o->seed : to->seed;
    if (job->command.module) {
        job->file.module = job->command.module;
        job->file.module_place = NO_PLACE;
    }
}

// Reads the launches and sets job->path to the path of the module.
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
    Status status = parse_command_line(job, argc, argv);
    if (status != ST_OK || !job->input)
        return status;
    job->ctx.heap.limit = (size_t)job->max_memory;
    status = read_plan(job);
    if (status != ST_OK)
        return status;
    if (!source_open(&job->source, job->path, &job->ctx.arena, why)) {
        run_fail(job->plan, ST_IO, job->plan->module_place, "cannot read '%s': %s", job->path, why);
        return ST_IO;
    }
    job->module = lang_read(&job->ctx, &job->source, (LangOptions){.lang = job->lang});
    if (!job->module)
        return ST_BAD_INPUT;
    module_freeze(job->module);
    return run_launches(job);
}

static void to_stderr(void *user, const char *text, size_t n)
{
    Job *job = user;
    out_flush(&job->out);  // keeps output and messages in order
    fflush(stdout);
    out_flush(&job->err);
    out_to_stdio(stderr, text, n);
}

int main(int argc, char **argv)
{
    static Job job;  // too large for the stack
    jmp_buf unwind;
    volatile Status status;
    Ctx *ctx = &job.ctx;
    files_watch_signals();
    progress_start();
    job.out = (Out){.write = out_to_stdio, .user = stdout, .buf = job.out_buf, .cap = sizeof job.out_buf};
    job.err = (Out){.write = out_to_stdio, .user = stderr, .buf = job.err_buf, .cap = sizeof job.err_buf};
    if (setjmp(unwind)) {
        status = ctx->heap.status;
        program_fail(&program, "%s%s", status == ST_INTERNAL ? "internal error: " : "", ctx->heap.message);
    } else {
        ctx->heap = (Heap){.files = &program_files, .unwind = &unwind};
        ctx->diag = (Diag){.write = to_stderr, .user = &job, .max_errors = 20};
        ctx->options.positions = true;
        arena_init(&ctx->arena, &ctx->heap);
        run_plan_init(&job.command, "orirun", &ctx->arena, to_stderr, &job);
        run_plan_init(&job.file, "orirun", &ctx->arena, to_stderr, &job);
        status = run(&job, argc, argv);
    }
    out_flush(&job.out);
    out_flush(&job.err);
    if (status == ST_OK && !program_written(&program))
        status = ST_IO;
    source_close(&job.source);
    source_close(&job.run_source);
    heap_release(&ctx->heap);
    progress_clear();
    return job.interrupted ? INTERRUPTED : (int)status;
}
