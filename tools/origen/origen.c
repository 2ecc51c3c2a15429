// SPDX-License-Identifier: MIT
// Makes random, well-defined PTX programs for differential tests.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/options/option_docs.h"
#include "tools/origen/origen.h"

enum {
#define OPTION(id, ...) OPT_##id,
#include "tools/origen/origen.def"
#undef OPTION
};

static const Option table[] = {
#define OPTION(id, name, kind, arg, help) {OPT_##id, name, ARG_##kind, arg, help},
#include "tools/origen/origen.def"
#undef OPTION
};

static const DocRow statuses[] = {{"0", "done"}, {"2", "usage"}, {"3", "internal error"}, {"5", "I/O"}};

static const DocRow examples[] = {
    {"origen --seed 7 -o r.ptx && oriopt --check-each r.ptx -o /dev/null", "a random program, run after each phase"},
    {"origen --size 40 --features none,+loop", "a small program with loops"},
};

static const DocSection last[] = {{"examples", DOC_ROWS(examples), .man_only = true}};

static const Program program = {
    .name = "origen",
    .purpose = "make random PTX programs for differential tests",
    .operands = "",
    .about = "Makes a random PTX program that ends, has no race and no undefined result, for differential "
             "tests. The same options give the same bytes everywhere.",
    .options = table,
    .noptions = ARRAY_LEN(table),
    .statuses = statuses,
    .nstatuses = ARRAY_LEN(statuses),
    .last = last,
    .nlast = ARRAY_LEN(last),
};

enum { SIZE_LEAST = 20, SIZE_MOST = 1000000, KERNELS_MOST = 100 };

typedef struct Job {
    Heap heap;
    Arena arena;
    Gen gen;
    const char *output, *features;
    bool done;  // an option such as --help did all work
    Out out;    // standard output
    char out_buf[1 << 14];
} Job;

/* -- Command line --------------------------------------------------------------------------------------- */

static bool number(const OptionParser *p, uint64_t least, uint64_t most, uint64_t *n)
{
    const char *text = p->value;
    char *end, expected[100];
    errno = 0;
    *n = strtoull(text, &end, 0);
    if (*text >= '0' && *text <= '9' && !*end && !errno && *n >= least && *n <= most)
        return true;
    snprintf(expected, sizeof expected, "a number from %llu to %llu", (unsigned long long)least,
             (unsigned long long)most);
    return program_bad_value(&program, p, expected);
}

static bool take_style(Options *o, const OptionParser *p)
{
    int which = option_choice(p->option, p->value);
    o->style = (Style)(STYLE_NAIVE + which);
    return which >= 0 || program_bad_value(&program, p, NULL);
}

static bool parse_target(Options *o, const OptionParser *p)
{
    const char *value = p->value;
    char *end = NULL;
    unsigned long sm = strncmp(value, "sm_", 3) == 0 ? strtoul(value + 3, &end, 10) : 0;
    if (sm < 30 || sm > 999 || (*end && (strcmp(end, "a") != 0 && strcmp(end, "f") != 0)))
        return program_bad_value(&program, p, "sm_30 or later");
    o->target = value;
    o->sm = (uint32_t)sm;
    return true;
}

static bool parse_option(Job *job, int id, const OptionParser *p)
{
    Options *o = &job->gen.options;
    uint64_t n = 0;
    switch (id) {
    case OPT_OUTPUT: job->output = p->value; return true;
    case OPT_SEED: return number(p, 0, UINT64_MAX, &o->seed);
    case OPT_SIZE: return number(p, SIZE_LEAST, SIZE_MOST, &n) && (o->size = (uint32_t)n);
    case OPT_KERNELS: return number(p, 1, KERNELS_MOST, &n) && (o->kernels = (uint32_t)n);
    case OPT_STYLE: return take_style(o, p);
    case OPT_FEATURES: job->features = p->value; return true;
    case OPT_TARGET: return parse_target(o, p);
    case OPT_LIST_FEATURES: features_list(&job->out); break;
    case OPTION_DONE: break;
    }
    return job->done = true;
}

// Completes the options with choices of the seed.
static bool complete(Job *job)
{
    Options *o = &job->gen.options;
    uint64_t state = random_start(o->seed, "style");
    char why[200];
    if (o->style == STYLE_BY_SEED)
        o->style = (Style)(STYLE_NAIVE + random_next(&state) % 3);
    features_by_seed(o);
    if (job->features && !features_apply(o, job->features, why))
        return program_fail(&program, "--features: %s", why);
    features_for_target(o);
    return true;
}

static Status parse_command_line(Job *job, int argc, char **argv)
{
    OptionParser p = program_parser(&program, argc, argv, &job->arena);
    job->gen.options = (Options){.seed = 1, .size = 200, .target = "sm_80", .sm = 80};
    job->output = "-";
    for (int id; !job->done && (id = program_next(&program, &p, &job->out)) != OPTION_END;) {
        if (id == OPTION_ERROR) {
            program_fail_at(&program, &p, "%s", p.error);
            return p.status;
        }
        if (id == OPTION_OPERAND) {
            program_fail_at(&program, &p, "there are no files to read: '%s'", p.value);
            return ST_USAGE;
        }
        if (!parse_option(job, id, &p))
            return ST_USAGE;
    }
    size_t n = strlen(job->output);
    if (strcmp(job->output, "-") != 0 && (n < 5 || strcmp(job->output + n - 4, ".ptx") != 0)) {
        program_fail(&program, "-o: '%s' does not end in .ptx", job->output);
        return ST_USAGE;
    }
    return job->done || complete(job) ? ST_OK : ST_USAGE;
}

/* -- Output --------------------------------------------------------------------------------------------- */

static Status cannot_write(const char *path, const char *why)
{
    program_fail(&program, "cannot write '%s': %s", path, why);
    return ST_IO;
}

static Status write_file(Job *job, const char *path, const TextBuffer *text)
{
    OutFile file;
    char why[200];
    if (!outfile_open(&file, path, &job->arena, why))
        return cannot_write(path, why);
    outfile_write(&file, text->at, text->n);
    return outfile_commit(&file, why) ? ST_OK : cannot_write(path, why);
}

static Status write_launches(Job *job)
{
    const char *slash = strrchr(job->output, '/');
    size_t n = strlen(job->output);
    char *path = arena_alloc(&job->arena, n + 1);
    TextBuffer text = {.arena = &job->arena};
    Out out;
    memcpy(path, job->output, n + 1);
    memcpy(path + n - 4, ".run", 4);
    out_init(&out, &job->arena, out_to_text, &text);
    launches_print(&job->gen, &out, slash ? slash + 1 : job->output);
    out_flush(&out);
    return write_file(job, path, &text);
}

static Status run(Job *job)
{
    TextBuffer text = {.arena = &job->arena};
    Out out;
    if (job->done)
        return ST_OK;
    job->gen.arena = &job->arena;
    out_init(&out, &job->arena, out_to_text, &text);
    program_make(&job->gen);
    program_print(&job->gen, &out);
    out_flush(&out);
    Status status = write_file(job, job->output, &text);
    return status == ST_OK && strcmp(job->output, "-") != 0 ? write_launches(job) : status;
}

int main(int argc, char **argv)
{
    static Job job;  // too large for the stack
    jmp_buf unwind;
    volatile Status status;
    job.out = (Out){.write = out_to_stdio, .user = stdout, .buf = job.out_buf, .cap = sizeof job.out_buf};
    job.heap = (Heap){.files = &program_files, .unwind = &unwind};
    files_watch_signals();
    if (setjmp(unwind)) {
        status = job.heap.status;
        program_fail(&program, "%s%s", status == ST_INTERNAL ? "internal error: " : "", job.heap.message);
    } else {
        arena_init(&job.arena, &job.heap);
        status = parse_command_line(&job, argc, argv);
        if (status == ST_OK)
            status = run(&job);
    }
    out_flush(&job.out);
    if (status == ST_OK && !program_written(&program))
        status = ST_IO;
    heap_release(&job.heap);
    return status;
}
