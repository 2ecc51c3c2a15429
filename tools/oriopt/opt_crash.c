// SPDX-License-Identifier: MIT
// Reproducers of runs that a signal ends. A signal handler may call few functions, so all texts are ready before the
// input is read: the handler writes them to a file beside its final name, and renames it.
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/options/crash.h"
#include "tools/oriopt/oriopt.h"
#include "tools/oriopt/reproducer.h"

// A signal handler has no other access to these. `job` is set last and cleared first.
static struct {
    const Job *_Atomic job;
    TextBuffer start, header;  // before and after the line with the error
    const char *comment;
    const char *folder;            // NULL: the current one, or `path` is given
    char path[PATH_MAX];           // with zeros in the place of the digest
    char temporary[PATH_MAX + 4];  // the same with an ending
    char *digest;                  // in `path`; NULL: the name was given
} crash;

enum { DIGITS = 16 };

/* -- In the handler ------------------------------------------------------------------------------------- */

static void print_number(int n)
{
    char text[12], *p = text + sizeof text - 1;
    *p = 0;
    do
        *--p = (char)('0' + n % 10);
    while (n /= 10);
    crash_print(p);
}

static bool put(int fd, const char *text, size_t n)
{
    for (ssize_t done; n; text += done, n -= (size_t)done) {
        done = write(fd, text, n);
        if (done < 0 && errno == EINTR)
            done = 0;
        else if (done <= 0)
            return false;
    }
    return true;
}

static bool put_z(int fd, const char *text) { return put(fd, text, strlen(text)); }

// Writes the digest of the header and the input into the name of the file.
static void name_file(const Job *job)
{
    uint64_t hash = 0xCBF29CE484222325u;
    const char *text[] = {crash.header.at, job->source.text};
    size_t n[] = {crash.header.n, job->source.len};
    for (int part = 0; part < 2; part++)
        for (size_t k = 0; k < n[part]; k++)
            hash = (hash ^ (unsigned char)text[part][k]) * 0x100000001B3u;
    for (int k = 0; k < DIGITS; k++)
        crash.digest[k] = "0123456789abcdef"[hash >> (60 - 4 * k) & 15];
}

static bool write_file(const Job *job, int signal_number)
{
    strcpy(crash.temporary, crash.path);
    strcat(crash.temporary, ".tmp");
    int fd = open(crash.temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return false;
    bool ok = put(fd, crash.start.at, crash.start.n) && put_z(fd, crash.comment) && put_z(fd, " error: ") &&
              put_z(fd, crash_signal_name(signal_number)) && put_z(fd, "\n") &&
              put(fd, crash.header.at, crash.header.n) && put(fd, job->source.text, job->source.len);
    ok &= close(fd) == 0;
    if (ok && rename(crash.temporary, crash.path) == 0)
        return true;
    unlink(crash.temporary);
    return false;
}

static void report(int signal_number)
{
    const Job *job = crash.job;
    crash_print("oriopt: ");
    crash_print(crash_signal_name(signal_number));
    if (job && job->ctx.running) {  // phases run on this thread
        crash_print(" in phase ");
        crash_print(phase_info[job->ctx.run.row].name);
        crash_print(" (");
        print_number(job->ctx.run.row);
        crash_print(")");
    }
    crash_print("\n");
    if (!job)
        return;
    if (!source_restore(&job->source)) {
        crash_print("oriopt: no reproducer: the input has changed\n");
        return;
    }
    if (crash.digest)
        name_file(job);
    if (crash.folder)
        mkdir(crash.folder, 0777);
    if (!write_file(job, signal_number)) {
        crash_print("oriopt: cannot write '");
        crash_print(crash.path);
        crash_print("'\n");
        return;
    }
    crash_print("oriopt: ");
    crash_print(crash.path);
    crash_print(" repeats it: oriopt --run-reproducer ");
    crash_print(crash.path);
    crash_print("\n");
}

/* -- Before --------------------------------------------------------------------------------------------- */

// Prepares the path. False: it is too long.
static bool prepare_path(const Job *job)
{
    const Settings *s = job->settings;
    const char *folder = s->crash_dir && *s->crash_dir ? s->crash_dir : NULL;
    int n, size = (int)sizeof crash.path;
    crash.digest = NULL;
    crash.folder = NULL;
    if (s->reproducer)
        return snprintf(crash.path, sizeof crash.path, "%s", s->reproducer) < size;
    n = snprintf(crash.path, sizeof crash.path, "%s%s" REPRODUCER_NAME, folder ? folder : "", folder ? "/" : "");
    if (n + DIGITS + 5 > size)
        return false;
    crash.folder = folder;
    crash.digest = crash.path + n;
    snprintf(crash.digest, DIGITS + 5, "%0*d.%s", DIGITS, 0, job->lang == LANG_ORI ? "ori" : "ptx");
    return true;
}

void crash_prepare(Job *job)
{
    if (!wants_reproducer(job->settings))
        return;
    Arena *arena = &job->ctx.arena;
    Out out;
    crash.job = NULL;
    crash.comment = job->lang == LANG_ORI ? ";" : "//";
    crash.start = (TextBuffer){.arena = arena};
    out_init(&out, arena, out_to_text, &crash.start);
    reproducer_start(&out, crash.comment, NULL);
    out_flush(&out);
    crash.header = (TextBuffer){.arena = arena};
    out_init(&out, arena, out_to_text, &crash.header);
    reproducer_header(job, &out);
    out_flush(&out);
    if (prepare_path(job))
        crash.job = job;
}

void crash_clear(const Job *job)
{
    if (crash.job == job)
        crash.job = NULL;
}

void crash_start(void) { crash_watch(report, false); }
