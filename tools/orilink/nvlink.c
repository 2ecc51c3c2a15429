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
        const char *path = files[k].path, *slash = strrchr(path, '/');
        char name[300];
        snprintf(name, sizeof name, "%u-%.200s", k, slash ? slash + 1 : path);
        if (texts[k].n) {
            path = path_join(&link->arena, run->folder, name);
            if (!file_write(link, path, texts[k].at, texts[k].n))
                return false;
        }
        VEC_PUSH(&link->arena, paths, path);
    }
    return true;
}

static void print_file(Link *link, const char *path)
{
    Source source;
    char why[200];
    if (!source_open(&source, path, &link->arena, why))
        return;
    fwrite(source.text, 1, source.len, stderr);
    source_close(&source);
}

// Links files to an output. Messages go to `log` and are printed only if nvlink fails; NULL: they are printed. False
// after an error message.
static bool link_files(const Nvlink *run, Link *link, const Texts *paths, const char *output, const char *log,
                       const char *what)
{
    Texts argv = {0};
    VEC_PUSH(&link->arena, &argv, run->program);
    for (uint32_t k = 0; k < run->options.n; k++)
        VEC_PUSH(&link->arena, &argv, run->options.at[k]);
    for (uint32_t k = 0; k < paths->n; k++)
        VEC_PUSH(&link->arena, &argv, paths->at[k]);
    VEC_PUSH(&link->arena, &argv, "-o");
    VEC_PUSH(&link->arena, &argv, output);
    fflush(stdout);
    int status = process_run(&link->arena, &argv, log, log);
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
    for (uint32_t k = 0; k < n; k++)
        VEC_PUSH(&link->arena, &originals, files[k].path);
    if (!write_inputs(run, link, files, texts, n, &rewritten))
        return ST_IO;
    if (!link_files(run, link, &rewritten, linked, NULL, "the rewritten files"))
        return ST_BAD_INPUT;
    if (run->verify) {
        if (!link_files(run, link, &originals, reference, path_join(&link->arena, run->folder, "log"), "the originals"))
            return ST_BAD_INPUT;
        if (!verify_links(link, linked, reference))
            return ST_INTERNAL;
    }
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
    if (processes_stopped())
        process_end(0);
    return status;
}
