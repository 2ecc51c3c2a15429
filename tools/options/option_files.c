// SPDX-License-Identifier: MIT
// Temporary files of a program, and the signals that remove them.
//
// A slot of the table belongs to one file. The slot is filled, and the file renamed, with the signals blocked in this
// thread; a handler in another thread waits for that. The handler calls async-signal-safe functions only.
#define _DEFAULT_SOURCE
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "tools/options/files.h"
#include "tools/options/progress.h"

enum { FILES_MAX = 16 };  // temporary files at once; signals do not remove further ones

static char names[FILES_MAX][PATH_MAX];
static atomic_bool used[FILES_MAX];
static atomic_int changing;  // threads that change the table

static const int ending[] = {SIGTERM, SIGINT, SIGHUP, SIGXFSZ};

bool out_to_stdio(void *file, const char *text, size_t n)
{
    progress_before(file, text, n);
    return fwrite(text, 1, n, file) == n;
}

static void begin_change(sigset_t *old)
{
    sigset_t blocked;
    sigemptyset(&blocked);
    for (size_t k = 0; k < ARRAY_LEN(ending); k++)
        sigaddset(&blocked, ending[k]);
    pthread_sigmask(SIG_BLOCK, &blocked, old);
    atomic_fetch_add(&changing, 1);
}

static void end_change(const sigset_t *old)
{
    int error = errno;
    atomic_fetch_sub(&changing, 1);
    pthread_sigmask(SIG_SETMASK, old, NULL);
    errno = error;
}

static int create(char *temp)
{
    sigset_t old;
    begin_change(&old);
    int fd = mkstemp(temp);
    for (size_t k = 0; k < FILES_MAX && fd >= 0 && strlen(temp) < PATH_MAX; k++) {
        bool free = false;
        if (!atomic_compare_exchange_strong(&used[k], &free, true))
            continue;
        strcpy(names[k], temp);
        break;
    }
    end_change(&old);
    return fd;
}

static int finish(const char *temp, const char *real)
{
    sigset_t old;
    begin_change(&old);
    int result = real ? rename(temp, real) : unlink(temp);
    for (size_t k = 0; k < FILES_MAX && (result == 0 || !real); k++)
        if (used[k] && strcmp(names[k], temp) == 0)
            used[k] = false;
    end_change(&old);
    return result;
}

const FileOps program_files = {create, finish};

void files_remove(void)
{
    for (size_t k = 0; k < FILES_MAX; k++)
        if (used[k])
            unlink(names[k]);
}

static void remove_and_end(int signal_number)
{
    while (changing)
        continue;
    files_remove();
    progress_clear();
    // SA_RESETHAND removed this handler: the signal now ends the process, as its parent expects.
    raise(signal_number);
}

void files_watch_signals(void)
{
    for (size_t k = 0; k < ARRAY_LEN(ending); k++) {
        struct sigaction now, action = {.sa_handler = remove_and_end, .sa_flags = (int)SA_RESETHAND};
        sigfillset(&action.sa_mask);
        if (sigaction(ending[k], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaction(ending[k], &action, NULL);
    }
}
