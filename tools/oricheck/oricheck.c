// SPDX-License-Identifier: MIT
// Runs test files, each in a context of its own.
#define _DEFAULT_SOURCE
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/options/crash.h"
#include "tools/options/option_docs.h"
#include "tools/oricheck/check.h"

enum { EXIT_PASSED = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_IO = 5, MAX_SECONDS = 60 };
#define MAX_MEMORY ((size_t)2 << 30)  // memory of one test

enum {
#define OPTION(id, ...) OPT_##id,
#include "tools/oricheck/oricheck.def"
#undef OPTION
};

static const Option options[] = {
#define OPTION(id, name, kind, arg, help) {OPT_##id, name, ARG_##kind, arg, help},
#include "tools/oricheck/oricheck.def"
#undef OPTION
};

typedef struct Driver {
    Heap heap;
    Arena arena;
    bool bless, list, verbose;
    const char *filter;
    VEC(const char *) operands, files;
    uint32_t passed, failed, skipped;
    Out out;
    char buf[1 << 14];
    // The current test.
    Ctx ctx;
    Test test;
} Driver;

/* -- Command line --------------------------------------------------------------------------------------- */

static const DocRow statuses[] = {{"0", "all passed"}, {"1", "failed"}, {"2", "usage"}, {"5", "I/O"}};

#define LINE ""
#define WORD ""
#define TEXT ":"
static const DocRow directives[] = {
#define DIRECTIVE(id, word, form, arg, help) {word form arg, help},
#include "tools/oricheck/check.def"
};
#undef LINE
#undef WORD
#undef TEXT

static const DocRow kinds[] = {
#define TEST(id, word, arg, checks, help) {sizeof arg > 1 ? "test " word " " arg : "test " word, help},
#include "tools/oricheck/check.def"
};

static const DocRow settings[] = {
#define SETTING(id, word, arg, help) {"set " word " " arg, help},
#include "tools/oricheck/check.def"
};

static const DocSection sections[] = {
    {"directives", "In comments, `;` in Ori text, `//` in PTX:", DOC_ROWS(directives)},
    {"kinds of tests", DOC_ROWS(kinds)},
    {"settings", DOC_ROWS(settings),
     .close =
         "TEXT is literal, with runs of blanks folded; in it {{regex}} is a POSIX extended regular expression, "
         "[[NAME:regex]] binds a name, and [[NAME]] is the text that it is bound to; names end at the next label."},
};

static const DocRow examples[] = {
    {"oricheck tests/golden/phases/OriRemoveNopCode", "the tests of a phase"},
    {"oricheck --bless tests/golden/phases --filter precise", "rewrite the results of some tests"},
};

static const DocSection last[] = {{"examples", DOC_ROWS(examples), .man_only = true}};

static const Program program = {
    .name = "oricheck",
    .purpose = "run tests of a GPU compiler from the comments of PTX and Ori files",
    .operands = "FILES|DIRS...",
    .about = "Runs test files, .ori and .ptx, whose comments state the expected results. Folders are searched for test "
             "files.",
    .options = options,
    .noptions = ARRAY_LEN(options),
    .sections = sections,
    .nsections = ARRAY_LEN(sections),
    .statuses = statuses,
    .nstatuses = ARRAY_LEN(statuses),
    .last = last,
    .nlast = ARRAY_LEN(last),
};

// Returns EXIT_PASSED, or another status after an error message. Sets *done if no test is to run.
static int parse_command_line(Driver *d, int argc, char **argv, bool *done)
{
    OptionParser p = program_parser(&program, argc, argv, &d->arena);
    for (int id; (id = program_next(&program, &p, &d->out)) != OPTION_END && !*done;) {
        switch (id) {
        case OPTION_ERROR: program_fail_at(&program, &p, "%s", p.error); return (int)p.status;
        case OPTION_OPERAND: VEC_PUSH(&d->arena, &d->operands, p.value); break;
        case OPT_BLESS: d->bless = true; break;
        case OPT_FILTER: d->filter = p.value; break;
        case OPT_LIST: d->list = true; break;
        case OPT_VERBOSE: d->verbose = true; break;
        case OPTION_DONE: *done = true; break;
        }
    }
    if (*done || d->operands.n)
        return EXIT_PASSED;
    program_fail(&program, "no test files; --help explains the use");
    return EXIT_USAGE;
}

/* -- Files ---------------------------------------------------------------------------------------------- */

// Prints why a path cannot be read. Returns false.
static bool cannot_read(const char *path)
{
    return program_fail(&program, "cannot read '%s': %s", path, strerror(errno));
}

static bool has_suffix(const char *path, const char *suffix)
{
    size_t n = strlen(path), k = strlen(suffix);
    return n > k && strcmp(path + n - k, suffix) == 0;
}

static bool add_file(Driver *d, const char *path)
{
    if (d->filter && !strstr(path, d->filter))
        return true;
    if (access(path, R_OK) != 0)
        return cannot_read(path);
    VEC_PUSH(&d->arena, &d->files, path);
    return true;
}

static bool add_folder(Driver *d, const char *path);

static bool add_found(Driver *d, const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return true;  // a broken link
    if (S_ISDIR(st.st_mode))
        return add_folder(d, path);
    return !S_ISREG(st.st_mode) || !(has_suffix(path, ".ori") || has_suffix(path, ".ptx")) || add_file(d, path);
}

static bool add_folder(Driver *d, const char *path)
{
    DIR *dir = opendir(path);
    if (!dir)
        return cannot_read(path);
    size_t n = strlen(path);
    bool ok = true;
    for (struct dirent *e; ok && (e = readdir(dir));) {
        if (e->d_name[0] == '.')
            continue;
        size_t len = strlen(e->d_name);
        char *name = arena_alloc(&d->arena, n + len + 2);
        memcpy(name, path, n);
        name[n] = '/';
        memcpy(name + n + (path[n - 1] != '/'), e->d_name, len + 1);
        ok = add_found(d, name);
    }
    closedir(dir);
    return ok;
}

static int by_path(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static bool add_operand(Driver *d, const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return cannot_read(path);
    uint32_t first = d->files.n;
    if (!(S_ISDIR(st.st_mode) ? add_folder(d, path) : add_file(d, path)))
        return false;
    if (d->files.n > first)
        qsort(d->files.at + first, d->files.n - first, sizeof *d->files.at, by_path);
    return true;
}

static int find_files(Driver *d)
{
    for (uint32_t k = 0; k < d->operands.n; k++)
        if (!add_operand(d, d->operands.at[k]))
            return EXIT_IO;
    if (d->files.n)
        return EXIT_PASSED;
    if (d->filter)
        program_fail(&program, "no path of a test file contains '%s'", d->filter);
    else
        program_fail(&program, "no test files");
    return EXIT_USAGE;
}

/* -- Crashes -------------------------------------------------------------------------------------------- */

// Global because a signal handler takes no other argument.
static const char *volatile running;

static void report_crash(int signal_number)
{
    if (!running)
        return;
    crash_print(running);
    crash_print(signal_number == SIGALRM   ? ": the test did not end\n"
                : signal_number == SIGABRT ? ": aborted\n"
                                           : ": crashed\n");
}

/* -- Tests ---------------------------------------------------------------------------------------------- */

static void open_and_run(Test *t)
{
    char why[200];
    if (!source_open(&t->source, t->path, &t->ctx->arena, why)) {
        check_fail(t, 0, "cannot read the file: %s", why);
        return;
    }
    t->lang = lang_of(&t->source);
    check_run(t);
}

static void count(Driver *d)
{
    const Test *t = &d->test;
    if (t->blessed)
        out_fmt(&d->out, "blessed %s\n", t->path);
    if (t->failures) {
        d->failed++;
    } else if (t->skip) {
        d->skipped++;
        out_fmt(&d->out, "SKIP %s: %s\n", t->path, t->skip);
    } else {
        d->passed++;
        if (d->verbose)
            out_fmt(&d->out, "PASS %s\n", t->path);
    }
}

static void run_file(Driver *d, const char *path)
{
    jmp_buf unwind;
    Ctx *ctx = &d->ctx;
    memset(ctx, 0, sizeof *ctx);
    d->test = (Test){.path = path, .ctx = ctx, .out = &d->out, .bless = d->bless};
    ctx->heap = (Heap){.limit = MAX_MEMORY, .files = &program_files, .unwind = &unwind};
    arena_init(&ctx->arena, &ctx->heap);
    running = path;
    alarm(MAX_SECONDS);
    if (setjmp(unwind))
        check_fail(&d->test, d->test.kind_line, "%s%s", ctx->heap.status == ST_INTERNAL ? "internal error: " : "",
                   ctx->heap.message);
    else
        open_and_run(&d->test);
    alarm(0);
    running = NULL;
    source_close(&d->test.source);
    count(d);
    heap_release(&ctx->heap);  // after count(), which prints t->skip
    out_flush(&d->out);
    fflush(stdout);
}

static int run(Driver *d, int argc, char **argv)
{
    bool done = false;
    int status = parse_command_line(d, argc, argv, &done);
    if (status != EXIT_PASSED)
        return status;
    if (done)
        return program_written(&program) ? EXIT_PASSED : EXIT_IO;
    status = find_files(d);
    if (status != EXIT_PASSED)
        return status;
    for (uint32_t k = 0; k < d->files.n; k++) {
        if (d->list)
            puts(d->files.at[k]);
        else
            run_file(d, d->files.at[k]);
    }
    if (!d->list)
        printf("%u passed, %u failed, %u skipped\n", d->passed, d->failed, d->skipped);
    return d->failed ? EXIT_FAILED : program_written(&program) ? EXIT_PASSED : EXIT_IO;
}

int main(int argc, char **argv)
{
    static Driver driver;  // too large for the stack
    Driver *d = &driver;
    jmp_buf unwind;
    volatile int status = EXIT_USAGE;
    d->heap = (Heap){.files = &program_files, .unwind = &unwind};
    d->out = (Out){.write = out_to_stdio, .user = stdout, .buf = d->buf, .cap = sizeof d->buf};
    arena_init(&d->arena, &d->heap);
    crash_watch(report_crash, true);
    files_watch_signals();
    if (setjmp(unwind))
        program_fail(&program, "%s", d->heap.message);
    else
        status = run(d, argc, argv);
    heap_release(&d->heap);
    return status;
}
