// SPDX-License-Identifier: MIT
// Runs programs, and makes folders for temporary files.
//
// The signals that end programs are blocked and received by sigwait(), so no code runs in a handler. A signal is passed
// to the child. When the child ends, this process removes its files and ends by the same signal. Signals that are
// ignored when the program starts stay ignored.
#define _DEFAULT_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/options/process.h"

extern char **environ;

static const int ending[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGXFSZ, SIGPIPE};

// Of the process, as signals are.
static struct {
    sigset_t before, blocked;
    bool begun;
    int stopped_by;  // 0: no signal came
} signals;

/* -- Signals ------------------------------------------------------------------------------------------ */

static void ignore_child(int signal_number) { (void)signal_number; }

void processes_begin(void)
{
    // With a handler, sigwait() receives the signal even if a parent ignored it.
    struct sigaction now, child = {.sa_handler = ignore_child};
    sigemptyset(&child.sa_mask);
    sigaction(SIGCHLD, &child, NULL);
    sigemptyset(&signals.blocked);
    sigaddset(&signals.blocked, SIGCHLD);
    for (size_t k = 0; k < ARRAY_LEN(ending); k++)
        if (sigaction(ending[k], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&signals.blocked, ending[k]);
    sigprocmask(SIG_BLOCK, &signals.blocked, &signals.before);
    signals.begun = true;
}

bool processes_stopped(void)
{
    sigset_t pending;
    sigpending(&pending);
    for (size_t k = 0; k < ARRAY_LEN(ending) && !signals.stopped_by; k++)
        if (ending[k] != SIGPIPE && sigismember(&pending, ending[k]) && sigismember(&signals.blocked, ending[k]))
            signals.stopped_by = ending[k];
    return signals.stopped_by != 0;
}

static void end_by_signal(int number)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    signal(number, SIG_DFL);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
}

void processes_end(void)
{
    if (processes_stopped())
        end_by_signal(signals.stopped_by);
    sigprocmask(SIG_SETMASK, &signals.before, NULL);
    signals.begun = false;
}

void process_end(int status)
{
    if (signals.stopped_by)
        end_by_signal(signals.stopped_by);
    if (WIFSIGNALED(status)) {
        end_by_signal(WTERMSIG(status));
        exit(128 + WTERMSIG(status));
    }
    exit(WEXITSTATUS(status));
}

/* -- Children ----------------------------------------------------------------------------------------- */

static char **argument_list(Arena *arena, const Texts *argv)
{
    char **list = arena_alloc(arena, (argv->n + 1) * sizeof *list);
    for (uint32_t k = 0; k < argv->n; k++)
        list[k] = arena_text(arena, argv->at[k], strlen(argv->at[k]));
    list[argv->n] = NULL;
    return list;
}

static int start(pid_t *child, char **argv, const char *out, const char *err)
{
    const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND;  // both may name one file
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &signals.before);
    if (out)
        posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out, flags, 0600);
    if (err)
        posix_spawn_file_actions_addopen(&files, STDERR_FILENO, err, flags, 0600);
    int error = posix_spawn(child, argv[0], &files, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

int process_run(Arena *arena, const Texts *argv, const char *out, const char *err)
{
    pid_t child;
    int status = -1, number;
    if ((errno = start(&child, argument_list(arena, argv), out, err)) != 0)
        return -1;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (sigwait(&signals.blocked, &number) != 0 || number == SIGCHLD || number == SIGPIPE)
            continue;
        signals.stopped_by = number;
        kill(child, number);
    }
    return status;
}

void process_replace(Arena *arena, const Texts *argv)
{
    char **list = argument_list(arena, argv);
    if (signals.begun)
        sigprocmask(SIG_SETMASK, &signals.before, NULL);
    execve(list[0], list, environ);
}

/* -- Programs ----------------------------------------------------------------------------------------- */

bool file_is_program(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0 || access(path, X_OK) != 0)
        return false;
    errno = EACCES;
    return S_ISREG(st.st_mode);
}

const char *find_on_path(Arena *arena, const char *name, bool (*skips)(const char *path, const char *user),
                         const char *user)
{
    const char *path = getenv("PATH");
    for (size_t len; path; path = path[len] ? path + len + 1 : NULL) {
        len = strcspn(path, ":");
        const char *folder = len ? arena_text(arena, path, len) : ".";
        const char *file = path_join(arena, folder, name);
        if (file_is_program(file) && !(skips && skips(file, user)))
            return file;
    }
    return NULL;
}

/* -- Folders ------------------------------------------------------------------------------------------ */

const char *path_join(Arena *arena, const char *folder, const char *name)
{
    size_t n = strlen(folder) + strlen(name) + 2;
    char *path = arena_alloc(arena, n);
    snprintf(path, n, "%s/%s", folder, name);
    return path;
}

const char *folder_make(Arena *arena, const char *name)
{
    const char *place = getenv("TMPDIR");
    const char *path = path_join(arena, place && *place ? place : "/tmp", name);
    size_t n = strlen(path) + sizeof ".XXXXXX";
    char *unique = arena_alloc(arena, n);
    snprintf(unique, n, "%s.XXXXXX", path);
    return mkdtemp(unique);
}

void folder_remove(const char *folder)
{
    char path[PATH_MAX];
    DIR *files = opendir(folder);
    for (const struct dirent *file; files && (file = readdir(files));) {
        snprintf(path, sizeof path, "%s/%s", folder, file->d_name);
        unlink(path);
    }
    if (files)
        closedir(files);
    rmdir(folder);
}
