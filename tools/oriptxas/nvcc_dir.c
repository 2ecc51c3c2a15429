// SPDX-License-Identifier: MIT
// --make-nvcc-dir: a folder through which nvcc runs ori-ptxas.
//
// nvcc takes its tools from the folder by which it was called, without following links, and finds the toolkit by
// nvcc.profile in that folder. So the folder has links to all of the toolkit's bin but ptxas and nvcc.profile.
// ptxas is a script that runs ori-ptxas and names the toolkit's ptxas, since the toolkit need not be on the PATH.
// The profile is the toolkit's, with `$(_HERE_)` replaced but in PATH, which is where the folder itself belongs.
#define _DEFAULT_SOURCE
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/oriptxas/oriptxas.h"

static const char mark[] = "# made by ori-ptxas --make-nvcc-dir\n", here[] = "$(_HERE_)";

static Status fail(const char *what, const char *path, const char *why)
{
    program_fail(&ptxas_program, "cannot %s '%s': %s", what, path, why);
    return ST_IO;
}

/* -- The toolkit -------------------------------------------------------------------------------------- */

// Runs nvcc for the folder that it finds its tools in, since the nvcc of the PATH may be a script. Returns a line
// `#$ _HERE_=FOLDER` of what it prints, or NULL.
static const char *tools_of(Arena *arena, const char *nvcc)
{
    const char *folder = folder_make(arena, "ori-ptxas"), *text = NULL;
    if (!folder)
        return NULL;
    const char *said = path_join(arena, folder, "said");
    const char *const words[] = {nvcc, "--dryrun", "-E", "-x", "cu", "/dev/null"};
    Texts argv = {.at = (const char **)(uintptr_t)words, .n = ARRAY_LEN(words)};
    processes_begin();
    if (process_run(arena, &argv, said, said) == 0)
        text = file_text(arena, said);
    folder_remove(folder);
    if (processes_stopped())
        process_end(0);
    return text ? strstr(text, "_HERE_=") : NULL;
}

// Returns the bin folder of the toolkit that an nvcc belongs to, NULL if there is none.
static const char *toolkit_bin(Arena *arena, const char *nvcc)
{
    const char *line = tools_of(arena, nvcc), *path = nvcc;
    char real[PATH_MAX];
    if (line) {
        line += strlen("_HERE_=");
        path = path_join(arena, arena_text(arena, line, strcspn(line, "\n")), "nvcc");
    }
    if (!realpath(path, real))
        return NULL;
    *strrchr(real, '/') = 0;
    return arena_text(arena, real, strlen(real));
}

/* -- The folder --------------------------------------------------------------------------------------- */

static bool is_dot(const char *name) { return strcmp(name, ".") == 0 || strcmp(name, "..") == 0; }

// True if the folder is empty, or has the output of an earlier run: the links and two files of ours.
static bool is_ours(Arena *arena, const char *folder)
{
    const char *script = file_text(arena, path_join(arena, folder, "ptxas"));
    bool empty = true;
    DIR *files = opendir(folder);
    for (const struct dirent *file; files && (file = readdir(files));)
        empty &= is_dot(file->d_name);
    if (files)
        closedir(files);
    return files && (empty || (script && strstr(script, mark)));
}

static Status make_links(Arena *arena, const char *bin, const char *folder)
{
    DIR *files = opendir(bin);
    Status status = files ? ST_OK : fail("read", bin, strerror(errno));
    for (const struct dirent *file; status == ST_OK && (file = readdir(files));) {
        const char *name = file->d_name, *link = path_join(arena, folder, name);
        if (is_dot(name) || strcmp(name, "ptxas") == 0 || strcmp(name, "nvcc.profile") == 0)
            continue;
        struct stat st;
        if (lstat(link, &st) == 0 && S_ISLNK(st.st_mode))
            unlink(link);
        if (symlink(path_join(arena, bin, name), link) != 0)
            status = fail("create the link", link, strerror(errno));
    }
    if (files)
        closedir(files);
    return status;
}

static Status write_text(Arena *arena, const char *path, const TextBuffer *text, mode_t mode)
{
    OutFile file;
    char why[200];
    if (!outfile_open(&file, path, arena, why))
        return fail("write", path, why);
    outfile_write(&file, text->at, text->n);
    if (!outfile_commit(&file, why) || (chmod(path, mode) != 0 && snprintf(why, sizeof why, "%s", strerror(errno))))
        return fail("write", path, why);
    return ST_OK;
}

// Returns a text as a word of a shell, in single quotes if it needs them.
static const char *shell_word(Arena *arena, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,";
    TextBuffer word = {.arena = arena};
    if (text[strspn(text, plain)] == 0)
        return text;
    out_to_text(&word, "'", 1);
    for (; *text; text++)
        out_to_text(&word, *text == '\'' ? "'\\''" : text, *text == '\'' ? 4 : 1);
    out_to_text(&word, "'", 2);
    return word.at;
}

static Status write_script(Arena *arena, const char *folder, const char *ptxas, const char *self)
{
    TextBuffer text = {.arena = arena};
    Out out;
    out_init(&out, arena, out_to_text, &text);
    out_fmt(&out, "#!/bin/sh\n%s[ \"${ORI_PTXAS-}\" ] || ORI_PTXAS=%s\nexport ORI_PTXAS\nexec %s \"$@\"\n", mark,
            shell_word(arena, ptxas), shell_word(arena, self));
    out_flush(&out);
    return write_text(arena, path_join(arena, folder, "ptxas"), &text, 0755);
}

static void write_profile_line(Out *out, const char *line, size_t n, const char *bin)
{
    bool path = n > 4 && strncmp(line, "PATH", 4) == 0 && strchr(" \t+=", line[4]);
    size_t len = strlen(here);
    for (size_t k = 0; k < n; k++) {
        bool found = !path && n - k >= len && strncmp(line + k, here, len) == 0;
        if (found)
            out_z(out, bin);
        else
            out_char(out, line[k]);
        k += found ? len - 1 : 0;
    }
    out_char(out, '\n');
}

static Status write_profile(Arena *arena, const char *folder, const char *bin)
{
    const char *from = path_join(arena, bin, "nvcc.profile"), *text = file_text(arena, from);
    TextBuffer profile = {.arena = arena};
    Out out;
    if (!text)
        return fail("read", from, strerror(errno));
    out_init(&out, arena, out_to_text, &profile);
    for (size_t n; *text; text += n + (text[n] == '\n')) {
        n = strcspn(text, "\n");
        write_profile_line(&out, text, n, bin);
    }
    out_flush(&out);
    return write_text(arena, path_join(arena, folder, "nvcc.profile"), &profile, 0644);
}

static void explain(Arena *arena, const char *folder)
{
    const char *word = shell_word(arena, folder), *nvcc = shell_word(arena, path_join(arena, folder, "nvcc"));
    printf("%s runs ori-ptxas in place of ptxas:\n\n"
           "    %s -O3 -arch=sm_90 k.cu\n"
           "    PATH=%s:$PATH make\n"
           "    cmake -DCMAKE_CUDA_COMPILER=%s ...\n\n"
           "Run this again after the toolkit or ori-ptxas has moved; the folder can be removed at any time.\n",
           nvcc, nvcc, word, nvcc);
}

Status nvcc_dir_make(Arena *arena, const char *folder, const char *self)
{
    const char *nvcc = find_on_path(arena, "nvcc", NULL, NULL), *bin = nvcc ? toolkit_bin(arena, nvcc) : NULL;
    const char *ptxas = bin ? path_join(arena, bin, "ptxas") : NULL;
    char real[PATH_MAX];
    if (!bin || !self || access(ptxas, X_OK) != 0) {
        program_fail(&ptxas_program, "--make-nvcc-dir: there is no nvcc with a ptxas on the PATH");
        return ST_IO;
    }
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return fail("make", folder, strerror(errno));
    if (!is_ours(arena, folder)) {
        program_fail(&ptxas_program, "--make-nvcc-dir: '%s' is not an empty folder", folder);
        return ST_USAGE;
    }
    if (!realpath(folder, real))
        return fail("find", folder, strerror(errno));
    Status status = write_script(arena, real, ptxas, self);
    status = status == ST_OK ? write_profile(arena, real, bin) : status;
    status = status == ST_OK ? make_links(arena, bin, real) : status;
    if (status == ST_OK)
        explain(arena, real);
    return status;
}
