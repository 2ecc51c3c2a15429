// SPDX-License-Identifier: MIT
// Runs nvlink on rewritten files (--nvlink), and on the originals to compare the results (--verify-link). Files that
// did not change are linked from their own places.
#define _DEFAULT_SOURCE
#include <errno.h>
#include <sys/wait.h>

#include "tools/orilink/nvlink.h"

static bool fail(const Link *link, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool fail(const Link *link, const char *fmt, ...)
{
    char text[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    diag_plain(link->diag, DIAG_ERROR, "%s", text);
    return false;
}

static bool find_program(Nvlink *run, Link *link)
{
    const char *name = run->program ? run->program : "nvlink";
    const char *path = strchr(name, '/') ? name : find_on_path(&link->arena, name, NULL, NULL);
    if (!path)
        return fail(link, "there is no '%s' on the PATH; nvlink is part of the CUDA toolkit", name);
    if (!file_is_program(path))
        return fail(link, "'%s' cannot be run: %s", path, strerror(errno));
    run->program = path;
    return true;
}

// Writes the files that changed, and lists the paths of all.
static bool write_inputs(const Nvlink *run, Link *link, const File *files, const TextBuffer *texts, uint32_t n,
                         Texts *paths)
{
    for (uint32_t k = 0; k < n; k++) {
        const char *path = files[k].path;
        char name[300];
        snprintf(name, sizeof name, "%u-%.200s", k, base_name(path));
        if (texts[k].n) {
            path = path_join(&link->arena, run->folder, name);
            if (!file_write(link, path, texts[k].at, texts[k].n))
                return false;
        }
        VEC_PUSH(&link->arena, paths, path);
    }
    return true;
}

/* -- Command lines --------------------------------------------------------------------------------------- */

// Appends an option before each text of a list.
static void put_list(Link *link, Texts *argv, const char *option, const Names *list)
{
    for (uint32_t k = 0; k < list->n; k++) {
        VEC_PUSH(&link->arena, argv, option);
        VEC_PUSH(&link->arena, argv, list->at[k]);
    }
}

// Appends the options about what nvlink removes. nvlink 13.0 may cut off .nv.constant3 if it selects kernels, so it
// keeps all that are left. As documented, variables alone would make all kernels dead.
static void put_roots(const Nvlink *run, Link *link, Texts *argv)
{
    const Seeds *seeds = run->seeds;
    if (seeds->ignore_host_info || (run->full && !link->keeps_all)) {
        VEC_PUSH(&link->arena, argv, "--ignore-host-info");
        return;
    }
    put_list(link, argv, "--kernels-used", &seeds->kernels);
    if (seeds->kernels.n)
        put_list(link, argv, "--variables-used", &seeds->variables);
}

static Texts command_line(const Nvlink *run, Link *link, const Texts *paths, const char *output)
{
    Texts argv = {0};
    char *arch = arena_alloc(&link->arena, strlen(run->target) + sizeof "-arch=");
    sprintf(arch, "-arch=%s", run->target);
    VEC_PUSH(&link->arena, &argv, run->program);
    VEC_PUSH(&link->arena, &argv, arch);
    put_roots(run, link, &argv);
    const struct {
        bool given;
        const char *option;
    } flags[] = {{run->seeds->relocatable, "-r"},
                 {run->seeds->lto, "-lto"},
                 {run->keeps_system_libraries, "--keep-system-libraries"},
                 {run->extra_warnings, "--extra-warnings"},
                 {link->verbose, "-v"}};
    for (size_t k = 0; k < ARRAY_LEN(flags); k++)
        if (flags[k].given)
            VEC_PUSH(&link->arena, &argv, flags[k].option);
    for (uint32_t k = 0; k < run->options.n; k++)
        VEC_PUSH(&link->arena, &argv, run->options.at[k]);
    for (uint32_t k = 0; k < paths->n; k++)
        VEC_PUSH(&link->arena, &argv, paths->at[k]);
    VEC_PUSH(&link->arena, &argv, "-o");
    VEC_PUSH(&link->arena, &argv, output);
    return argv;
}

/* -- Runs ------------------------------------------------------------------------------------------------ */

static void print_file(Link *link, const char *path)
{
    Source source;
    char why[200];
    if (!source_open(&source, path, &link->arena, why))
        return;
    fwrite(source.text, 1, source.len, stderr);
    source_close(&source);
}

// Runs nvlink. Messages go to `log` and are printed only if nvlink fails; NULL: they are printed. False after an error
// message.
static bool link_files(const Nvlink *run, Link *link, const Texts *argv, const char *log, const char *what)
{
    fflush(stdout);
    int status = process_run(&link->arena, argv, log, log);
    if (log && status != 0)
        print_file(link, log);
    if (status == -1)
        return fail(link, "'%s' cannot be run: %s", run->program, strerror(errno));
    if (WIFSIGNALED(status))
        return fail(link, "nvlink of %s was ended by signal %d", what, WTERMSIG(status));
    return WEXITSTATUS(status) == 0 || fail(link, "nvlink of %s failed with status %d", what, WEXITSTATUS(status));
}

// Copies the linked file to its place.
static Status keep_output(const Nvlink *run, Link *link, const char *linked)
{
    Source source;
    char why[200];
    if (!source_open(&source, linked, &link->arena, why)) {
        fail(link, "nvlink wrote no file: %s", why);
        return ST_BAD_INPUT;
    }
    bool ok = file_write(link, run->output, source.text, source.len);
    source_close(&source);
    return ok ? ST_OK : ST_IO;
}

static Status link_all(const Nvlink *run, Link *link, const File *files, const TextBuffer *texts, uint32_t n)
{
    Texts rewritten = {0}, originals = {0};
    const char *linked = path_join(&link->arena, run->folder, "linked");
    const char *reference = path_join(&link->arena, run->folder, "originals");
    const char *log = path_join(&link->arena, run->folder, "log");
    for (uint32_t k = 0; k < n; k++)
        VEC_PUSH(&link->arena, &originals, files[k].path);
    if (!write_inputs(run, link, files, texts, n, &rewritten))
        return ST_IO;
    Texts argv = command_line(run, link, &rewritten, linked);
    if (!link_files(run, link, &argv, NULL, "the rewritten files"))
        return ST_BAD_INPUT;
    if (run->verify) {
        argv = command_line(run, link, &originals, reference);
        if (!link_files(run, link, &argv, log, "the originals"))
            return ST_BAD_INPUT;
        if (!verify_links(link, linked, reference))
            return ST_INTERNAL;
    }
    if (processes_stopped())
        return ST_IO;
    return run->output ? keep_output(run, link, linked) : ST_OK;
}

void nvlink_end(Nvlink *run)
{
    if (run->folder)
        folder_remove(run->folder);
    run->folder = NULL;
}

Status nvlink_run(Nvlink *run, Link *link, const File *files, const TextBuffer *texts, uint32_t nfiles)
{
    if (!find_program(run, link))
        return ST_IO;
    processes_begin();
    run->folder = folder_make(&link->arena, "orilink");
    if (!run->folder) {
        fail(link, "cannot make a folder for temporary files: %s", strerror(errno));
        return ST_IO;
    }
    Status status = link_all(run, link, files, texts, nfiles);
    nvlink_end(run);
    processes_end();
    return status;
}
