// SPDX-License-Identifier: MIT
// Runs oriopt on the inputs, then ptxas on the optimized code. Messages of ptxas appear when it is done: if it refuses
// the optimized code, it compiles the originals, and only the messages of that second run appear, with a warning. There
// is no warning if ptxas refuses the originals, too: the mistake is in them.
//
// Code is passed unoptimized with -O0, -g and other options about debugging, which a user expects to show the original
// code (oriptxas.def), and for targets for which ptxas only checks its input. oriopt itself does not change a function
// with debug information. oriopt gets no -arch: a backend newer than the module's .target may
// use instructions that the target lacks.
#define _DEFAULT_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/oriptxas/oriptxas.h"

static const char stats_begin[] = "{\"schema\":1,\"kernels\":[", stats_end[] = "\n]";

const char *file_text(Arena *arena, const char *path)
{
    Source source;
    char why[200];
    if (!source_open(&source, path, arena, why))
        return NULL;
    const char *text = arena_text(arena, source.text, source.len);
    source_close(&source);
    return text;
}

bool file_is_regular(const char *path)
{
    struct stat st;
    return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static const char *in_folder(const Compile *c, const char *prefix, uint32_t k, const char *name)
{
    const char *slash = strrchr(name, '/');
    char file[140];
    snprintf(file, sizeof file, "%s%u-%.100s", prefix, k, slash ? slash + 1 : name);
    return path_join(c->arena, c->folder, file);
}

// Ends the process if a signal came.
static void stop_if_told(const Compile *c)
{
    if (!processes_stopped())
        return;
    folder_remove(c->folder);
    process_end(0);
}

/* -- Inputs ------------------------------------------------------------------------------------------- */

// Copies inputs that can be read only once, such as standard input, into the folder.
static const char *copied(Compile *c, const char *name, uint32_t k)
{
    Source source;
    OutFile file;
    char why[200];
    const char *path = in_folder(c, "in", k, strcmp(name, "-") == 0 ? "stdin" : name);
    bool ok = source_open(&source, name, c->arena, why) && outfile_open(&file, path, c->arena, why) &&
              outfile_write(&file, source.text, source.len) && outfile_commit(&file, why);
    if (!ok)
        heap_fail(c->arena->heap, ST_IO, "cannot copy '%s': %s", name, why);
    return path;
}

// False: an input cannot be read, which ptxas will report.
static bool take_inputs(Compile *c)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < c->command->words.n; k++) {
        const Word *word = &c->command->words.at[k];
        if (word->role != ROLE_INPUT)
            continue;
        if (strcmp(word->text, "-") != 0 && access(word->text, R_OK) != 0)
            return false;
        c->inputs[n++] = (Input){.name = word->text, .path = word->text};
    }
    for (uint32_t k = 0; k < n; k++)
        if (!file_is_regular(c->inputs[k].name))
            c->inputs[k].path = copied(c, c->inputs[k].name, k);
    return true;
}

/* -- oriopt ------------------------------------------------------------------------------------------- */

// Returns the first line of a text that is not empty.
static const char *first_line(Arena *arena, const char *text)
{
    text += strspn(text, "\n");
    return arena_text(arena, text, strcspn(text, "\n"));
}

// Returns a text about the end of a child that did not succeed.
static const char *failure(Arena *arena, const char *program, int status, const char *messages)
{
    size_t room = strlen(program) + 300 + (messages ? strcspn(messages, "\n") : 0);
    char *text = arena_alloc(arena, room);
    const char *line = messages ? first_line(arena, messages) : "";
    if (status == -1)
        snprintf(text, room, "%s cannot be run: %s", program, strerror(errno));
    else if (WIFSIGNALED(status))
        snprintf(text, room, "%s was ended by signal %d", program, WTERMSIG(status));
    else if (*line)
        snprintf(text, room, "%s: %s", program, line);
    else
        snprintf(text, room, "%s ended with status %d", program, WEXITSTATUS(status));
    return text;
}

// False: ORI_PTXAS_FLAGS has a quotation mark that is not closed.
static bool oriopt_words(const Compile *c, const Input *input, const char *output, Texts *argv)
{
    static const char *const levels[] = {"-O0", "-O1", "-O2", "-O3", "-O4"};
    VEC_PUSH(c->arena, argv, c->oriopt);
    if (c->command->level >= 0)
        VEC_PUSH(c->arena, argv, levels[c->command->level]);
    if (c->flags && !words_split(argv, c->arena, c->flags, strlen(c->flags)))
        return false;
    if (c->version) {
        VEC_PUSH(c->arena, argv, "--ptx-version");
        VEC_PUSH(c->arena, argv, c->version);
    }
    if (c->log)
        VEC_PUSH(c->arena, argv, "--stats=json");
    const char *const rest[] = {"-x", "ptx", "--emit=ptx", "-o", output, "--", input->path};
    for (size_t k = 0; k < ARRAY_LEN(rest); k++)
        VEC_PUSH(c->arena, argv, rest[k]);
    return true;
}

// Keeps the figures for ORI_PTXAS_LOG and prints the other output of oriopt if ORI_PTXAS_FLAGS may have caused it.
static void pass_messages(const Compile *c, Input *input, const char *text)
{
    const char *begin = c->log ? strstr(text, stats_begin) : NULL, *end = begin ? strstr(begin, stats_end) : NULL;
    const char *rest = text;
    if (end) {
        end += strlen(stats_end);
        end += strcspn(end, "\n");
        input->stats = arena_text(c->arena, begin, (size_t)(end - begin));
        rest = *end ? end + 1 : end;
    }
    if (!c->flags)
        return;
    fwrite(text, 1, end ? (size_t)(begin - text) : 0, stderr);
    fputs(rest, stderr);
}

static void optimize(Compile *c, Input *input, uint32_t k)
{
    const char *output = in_folder(c, "opt", k, input->name), *messages = in_folder(c, "said", k, "oriopt");
    Texts argv = {0};
    if (!c->oriopt) {
        input->kept = "there is no oriopt beside ori-ptxas or on the PATH";
        return;
    }
    if (!oriopt_words(c, input, output, &argv)) {
        input->kept = "ORI_PTXAS_FLAGS: a quotation mark is not closed";
        return;
    }
    int status = process_run(c->arena, &argv, messages, messages);
    stop_if_told(c);
    const char *text = status == -1 ? NULL : file_text(c->arena, messages);
    if (status == 0 && access(output, R_OK) == 0) {
        input->optimized = output;
        pass_messages(c, input, text ? text : "");
    } else {
        input->kept = status == 0 ? "oriopt wrote no output" : failure(c->arena, "oriopt", status, text);
    }
    if (c->keep)
        report_keep(c, input);
}

/* -- ptxas -------------------------------------------------------------------------------------------- */

static bool any_copied(const Compile *c)
{
    for (uint32_t k = 0; k < c->command->ninputs; k++)
        if (c->inputs[k].path != c->inputs[k].name)
            return true;
    return false;
}

Texts compile_words(const Compile *c, bool optimized, const char *measured)
{
    const Command *command = c->command;
    Texts argv = {0};
    uint32_t n = 0;
    VEC_PUSH(c->arena, &argv, c->ptxas);
    for (uint32_t k = 0; k < command->words.n; k++) {
        const Word *word = &command->words.at[k];
        const char *text = word->text;
        if (word->role == ROLE_INPUT) {
            const Input *input = &c->inputs[n++];
            text = optimized && input->optimized ? input->optimized : input->path;
        }
        if (word->role != ROLE_OUTPUT || !measured)
            VEC_PUSH(c->arena, &argv, text);
    }
    if (measured) {
        VEC_PUSH(c->arena, &argv, "-o");
        VEC_PUSH(c->arena, &argv, measured);
    }
    if (measured && !command->verbose)
        VEC_PUSH(c->arena, &argv, "-v");
    return argv;
}

// The original command line, but for inputs that are read already.
static Texts original_words(const Compile *c)
{
    Texts argv = {0};
    if (any_copied(c))
        return compile_words(c, false, NULL);
    VEC_PUSH(c->arena, &argv, c->ptxas);
    for (uint32_t k = 0; k < c->command->given.n; k++)
        VEC_PUSH(c->arena, &argv, c->command->given.at[k]);
    return argv;
}

static void replay(Arena *arena, const char *path, FILE *to)
{
    const char *text = file_text(arena, path);
    if (text)
        fputs(text, to);
    fflush(to);
}

static void refuse(Compile *c, const char *why)
{
    for (uint32_t k = 0; k < c->command->ninputs; k++)
        if (c->inputs[k].optimized)
            c->inputs[k].kept = why;
}

// Runs ptxas on the optimized inputs. Returns its wait status, 0 if it accepted them.
static int run_optimized(Compile *c, const char *err)
{
    const char *out = in_folder(c, "said", 0, "ptxas.out");
    Texts argv = compile_words(c, true, NULL);
    int status = process_run(c->arena, &argv, out, err);
    stop_if_told(c);
    if (status == 0) {
        replay(c->arena, out, stdout);
        replay(c->arena, err, stderr);
    } else {
        const char *text = status == -1 ? NULL : file_text(c->arena, err);
        refuse(c, failure(c->arena, "ptxas refused the optimized code", status, text));
    }
    return status;
}

static int run_original(const Compile *c)
{
    Texts argv = original_words(c);
    int status = process_run(c->arena, &argv, NULL, NULL);
    stop_if_told(c);
    if (status == -1)
        heap_fail(c->arena->heap, ST_IO, "cannot run '%s': %s", c->ptxas, strerror(errno));
    return status;
}

static void warn_of_kept(const Compile *c)
{
    for (uint32_t k = 0; k < c->command->ninputs; k++)
        if (c->inputs[k].kept)
            warn(c->command->silent, "'%s' is compiled as it is: %s", c->inputs[k].name, c->inputs[k].kept);
}

void compile(Compile *c)
{
    c->inputs = NEW_ARRAY(c->arena, Input, c->command->ninputs);
    if (!take_inputs(c))
        return;
    bool any = false;
    for (uint32_t k = 0; k < c->command->ninputs; k++) {
        optimize(c, &c->inputs[k], k);
        any |= c->inputs[k].optimized != NULL;
    }
    const char *err = in_folder(c, "said", 0, "ptxas.err");
    int status = any ? run_optimized(c, err) : -1;
    bool accepted = status == 0;
    if (!accepted)
        status = run_original(c);
    if (status == 0)
        warn_of_kept(c);
    if (status == 0 && c->log)
        report_log(c, accepted, c->command->verbose ? err : NULL);
    folder_remove(c->folder);
    process_end(status);
}
