// SPDX-License-Identifier: MIT
// Programs: ptxas, oriopt, nvcc, and this one.
//
// ori-ptxas may itself be the ptxas of the PATH, as a file, a link, or a script that runs it. ORI_PTXAS_SEEN in the
// environment of ptxas lists the files that led to it, by device and inode. A run that finds the list there was started
// in place of ptxas, so the code is optimized already. The run uses none of the files in the list, so each chain ends.
#define _DEFAULT_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/oriptxas/oriptxas.h"

static const char seen_name[] = "ORI_PTXAS_SEEN";

// Writes the identity of a file, with a comma on each side.
static void identify(const char *path, char id[static 80])
{
    struct stat st;
    id[0] = 0;
    if (path && stat(path, &st) == 0)
        snprintf(id, 80, ",%llx:%llx,", (unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
}

static bool was_seen(const char *path, const char *seen)
{
    char id[80];
    identify(path, id);
    return id[0] && strstr(seen, id);
}

const char *find_self(Arena *arena, const char *argv0)
{
    char real[PATH_MAX];
    const char *path = realpath("/proc/self/exe", real) ? real
                       : strchr(argv0, '/')             ? argv0
                                                        : find_on_path(arena, argv0, NULL, NULL);
    if (!path || (path != real && !realpath(path, real)))
        return NULL;
    return arena_text(arena, real, strlen(real));
}

const char *find_oriopt(Arena *arena, const char *self)
{
    const char *slash = self ? strrchr(self, '/') : NULL;
    if (slash) {
        const char *beside = path_join(arena, arena_text(arena, self, (size_t)(slash - self)), "oriopt");
        if (file_is_program(beside))
            return beside;
    }
    return find_on_path(arena, "oriopt", NULL, NULL);
}

// Records in the environment of children that this file led to them.
static void note_seen(Arena *arena, const char *seen, const char *path)
{
    char id[80];
    identify(path, id);
    size_t n = strlen(seen) + strlen(id) + 1;
    char *both = arena_alloc(arena, n);
    snprintf(both, n, "%s%s", seen, id);
    setenv(seen_name, both, 1);
}

static const char *ptxas_on_path(Arena *arena, const char *seen)
{
    const char *ptxas = find_on_path(arena, "ptxas", was_seen, seen);
    if (!ptxas)
        program_fail(&ptxas_program,
                     "there is no ptxas on the PATH but ori-ptxas itself; set ORI_PTXAS to the ptxas of "
                     "the CUDA toolkit");
    return ptxas;
}

static const char *named_ptxas(Arena *arena, const char *named, const char *seen)
{
    const char *path = strchr(named, '/') ? named : find_on_path(arena, named, NULL, NULL);
    if (path && file_is_program(path))
        return was_seen(path, seen) ? ptxas_on_path(arena, seen) : path;
    program_fail(&ptxas_program, "ORI_PTXAS: '%s' cannot be run: %s", named, strerror(path ? errno : ENOENT));
    return NULL;
}

const char *find_ptxas(Arena *arena, const char *self, bool *inner)
{
    const char *before = getenv(seen_name), *named = getenv("ORI_PTXAS");
    *inner = before && *before;
    note_seen(arena, before ? before : "", self);
    const char *seen = getenv(seen_name);
    const char *ptxas = named && *named ? named_ptxas(arena, named, seen) : ptxas_on_path(arena, seen);
    if (ptxas)
        note_seen(arena, seen, ptxas);
    return ptxas;
}
