// SPDX-License-Identifier: MIT
// ORI_PTXAS_LOG: a JSON object a line, for each kernel that was optimized and for each input that was not. Lines are
// appended by one write(), so those of parallel builds do not mix.
//
// Instructions and the time of oriopt come from its --stats=json, registers and the times of ptxas from its -v, of runs
// whose output is dropped: always one on the originals, and one on the optimized inputs unless -v was given anyway.
//
// ORI_PTXAS_KEEP: NAME-HASH.ptx is an input and NAME-HASH.opt.ptx is the output of oriopt. The hash is of both texts,
// so a build that runs again does not add files.
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/oriptxas/oriptxas.h"

enum { BEFORE, AFTER };

typedef struct Kernel {
    const char *name, *gpu;
    int registers[2];  // -1: not known
    double ms[2];      // of ptxas; negative: not known
} Kernel;

typedef struct Report {
    const Compile *c;
    VEC(Kernel) kernels;
    TextBuffer text;
    Out out;
} Report;

static void begin_lines(Report *r, Arena *arena)
{
    r->text = (TextBuffer){.arena = arena};
    out_init(&r->out, arena, out_to_text, &r->text);
}

static void append_lines(Report *r, const char *log, bool silent)
{
    out_flush(&r->out);
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    ssize_t n = fd < 0 ? -1 : write(fd, r->text.at, r->text.n);
    if (n != (ssize_t)r->text.n)
        warn(silent, "ORI_PTXAS_LOG: cannot write '%s': %s", log, strerror(n < 0 ? errno : ENOSPC));
    if (fd >= 0)
        close(fd);
}

/* -- Messages of ptxas -------------------------------------------------------------------------------- */

static Kernel *kernel_named(Report *r, const char *name)
{
    for (uint32_t k = 0; k < r->kernels.n; k++)
        if (strcmp(r->kernels.at[k].name, name) == 0)
            return &r->kernels.at[k];
    VEC_PUSH(r->c->arena, &r->kernels, ((Kernel){.name = name, .registers = {-1, -1}, .ms = {-1, -1}}));
    return &r->kernels.at[r->kernels.n - 1];
}

// Returns the text between a key and the next quote, and moves after that; NULL: the key is not there.
static const char *quoted_behind(Arena *arena, const char **line, const char *key)
{
    const char *at = strstr(*line, key);
    if (!at)
        return NULL;
    at += strlen(key);
    size_t n = strcspn(at, "'");
    *line = at + n;
    return arena_text(arena, at, n);
}

// Parses a line of ptxas -v. Returns the kernel to which it and later lines apply.
static Kernel *read_line(Report *r, Kernel *kernel, const char *line, int side)
{
    const char *name = quoted_behind(r->c->arena, &line, "Compiling entry function '"), *at;
    if (name) {
        kernel = kernel_named(r, name);
        kernel->gpu = quoted_behind(r->c->arena, &line, "' for '");
    } else if (kernel && kernel->registers[side] < 0 && (at = strstr(line, ": Used "))) {
        sscanf(at, ": Used %d registers", &kernel->registers[side]);
    } else if (kernel && kernel->ms[side] < 0 && (at = strstr(line, ": Compile time = "))) {
        sscanf(at, ": Compile time = %lf ms", &kernel->ms[side]);
    }
    return kernel;
}

static void read_messages(Report *r, const char *path, int side)
{
    const char *text = file_text(r->c->arena, path);
    Kernel *kernel = NULL;
    for (size_t n; text && *text; text += n + (text[n] == '\n')) {
        n = strcspn(text, "\n");
        kernel = read_line(r, kernel, arena_text(r->c->arena, text, n), side);
    }
}

static void measure(Report *r, int side)
{
    Arena *arena = r->c->arena;
    const char *messages = path_join(arena, r->c->folder, "measured");
    Texts argv = compile_words(r->c, side == AFTER, path_join(arena, r->c->folder, "measured.cubin"));
    if (process_run(arena, &argv, messages, messages) == 0)
        read_messages(r, messages, side);
}

/* -- Lines -------------------------------------------------------------------------------------------- */

static void write_integer(Out *out, const char *name, long value)
{
    if (value < 0)
        out_fmt(out, ",\"%s\":null", name);
    else
        out_fmt(out, ",\"%s\":%ld", name, value);
}

static void write_time(Out *out, const char *name, double ms)
{
    if (ms < 0)
        out_fmt(out, ",\"%s\":null", name);
    else
        out_fmt(out, ",\"%s\":%.3f", name, ms);
}

static void write_text(Out *out, const char *name, const char *text)
{
    out_fmt(out, ",\"%s\":", name);
    if (text)
        out_json(out, text, strlen(text));
    else
        out_z(out, "null");
}

// Returns the figures of a kernel in the statistics of oriopt for an input; NULL: they are not there.
static const char *stats_of(Arena *arena, const Input *input, const char *name)
{
    size_t n = strlen(name) + 20;
    char *key = arena_alloc(arena, n);
    snprintf(key, n, "{\"name\":\"%s\",", name);
    const char *at = input->stats ? strstr(input->stats, key) : NULL;
    return at ? arena_text(arena, at, strcspn(at, "\n")) : NULL;
}

static double stat_number(const char *stats, const char *key)
{
    const char *at = stats ? strstr(stats, key) : NULL;
    double value = -1;
    if (at)
        sscanf(at + strlen(key), "%lf", &value);
    return value;
}

static void write_kernel(Report *r, const Kernel *kernel)
{
    const Compile *c = r->c;
    const char *stats = NULL, *input = NULL;
    for (uint32_t k = 0; k < c->command->ninputs && !stats; k++)
        if ((stats = stats_of(c->arena, &c->inputs[k], kernel->name)))
            input = c->inputs[k].name;
    double seconds = stat_number(stats, "\"seconds\":");
    out_z(&r->out, "{\"schema\":1");
    write_text(&r->out, "input", input);
    write_text(&r->out, "kernel", kernel->name);
    write_text(&r->out, "gpu", kernel->gpu);
    write_integer(&r->out, "instructions_in", (long)stat_number(stats, "\"instructions_in\":"));
    write_integer(&r->out, "instructions", (long)stat_number(stats, "\"instructions\":"));
    write_integer(&r->out, "registers_in", kernel->registers[BEFORE]);
    write_integer(&r->out, "registers", kernel->registers[AFTER]);
    write_time(&r->out, "ptxas_ms_in", kernel->ms[BEFORE]);
    write_time(&r->out, "ptxas_ms", kernel->ms[AFTER]);
    write_time(&r->out, "oriopt_ms", seconds < 0 ? -1 : 1000 * seconds);
    out_z(&r->out, "}\n");
}

static void write_kept(Report *r, const char *input, const char *reason)
{
    out_z(&r->out, "{\"schema\":1");
    write_text(&r->out, "input", input);
    write_text(&r->out, "kept", reason);
    out_z(&r->out, "}\n");
}

void report_log(const Compile *c, bool accepted, const char *messages)
{
    Report r = {.c = c};
    begin_lines(&r, c->arena);
    if (accepted) {
        measure(&r, BEFORE);
        if (messages)
            read_messages(&r, messages, AFTER);
        else
            measure(&r, AFTER);
    }
    for (uint32_t k = 0; k < r.kernels.n; k++)
        write_kernel(&r, &r.kernels.at[k]);
    for (uint32_t k = 0; k < c->command->ninputs; k++)
        if (c->inputs[k].kept)
            write_kept(&r, c->inputs[k].name, c->inputs[k].kept);
    append_lines(&r, c->log, c->command->silent);
}

void report_passed(Arena *arena, const Command *command, const char *log)
{
    Report r = {0};
    begin_lines(&r, arena);
    for (uint32_t k = 0; k < command->words.n; k++)
        if (command->words.at[k].role == ROLE_INPUT)
            write_kept(&r, command->words.at[k].text, command->as_is);
    if (command->ninputs)
        append_lines(&r, log, command->silent);
}

/* -- Copies ------------------------------------------------------------------------------------------- */

static bool write_copy(const Compile *c, const char *name, const char *ending, const char *text)
{
    size_t n = strlen(name) + strlen(ending) + 1;
    char *file = arena_alloc(c->arena, n), why[200];
    OutFile out;
    snprintf(file, n, "%s%s", name, ending);
    bool ok = outfile_open(&out, path_join(c->arena, c->keep, file), c->arena, why);
    if (ok) {
        outfile_write(&out, text, strlen(text));
        ok = outfile_commit(&out, why);
    }
    if (!ok)
        warn(c->command->silent, "ORI_PTXAS_KEEP: cannot write '%s/%s': %s", c->keep, file, why);
    return ok;
}

// Writes the name of an input without its folder and ending, and a hash.
static void copy_name(char name[static 140], const char *input, uint64_t hash)
{
    const char *slash = strrchr(input, '/'), *base = slash ? slash + 1 : input;
    const char *dot = strrchr(base, '.');
    int n = (int)MIN(dot && dot > base ? (size_t)(dot - base) : strlen(base), 100);
    bool standard = strcmp(input, "-") == 0;
    snprintf(name, 140, "%.*s-%016llx", standard ? 5 : n, standard ? "stdin" : base, (unsigned long long)hash);
}

void report_keep(const Compile *c, const Input *input)
{
    const char *before = file_text(c->arena, input->path);
    const char *after = input->optimized ? file_text(c->arena, input->optimized) : NULL;
    char name[140];
    if (!before)
        return;
    uint64_t hash = hash_mix(hash_bytes(before, strlen(before)), strlen(before));
    hash = after ? hash_mix(hash, hash_bytes(after, strlen(after))) : hash;
    copy_name(name, input->name, hash);
    mkdir(c->keep, 0777);  // the first file reports an existing folder, or one that cannot be made
    if (write_copy(c, name, ".ptx", before) && after)
        write_copy(c, name, ".opt.ptx", after);
}
