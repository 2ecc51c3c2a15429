/* SPDX-License-Identifier: MIT */
/*
 * Runs a command and measures its time and memory.
 *
 *   timed OUT COMMAND ARGS...      appends a line "user system wall maxrss_kb status" to the file OUT
 *
 * Times are in seconds, from wait4's accounting of the child; status is the exit status, or 128 + the signal.
 * The command's output is not redirected.
 */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec / 1e6; }

int main(int argc, char **argv)
{
    struct timespec a, b;
    struct rusage used;
    int status;

    if (argc < 3) {
        fprintf(stderr, "usage: timed OUT COMMAND ARGS...\n");
        return 2;
    }
    clock_gettime(CLOCK_MONOTONIC, &a);
    pid_t child = fork();
    if (child < 0) {
        perror("timed: fork");
        return 2;
    }
    if (!child) {
        execvp(argv[2], argv + 2);
        fprintf(stderr, "timed: %s: %s\n", argv[2], strerror(errno));
        _exit(127);
    }
    while (wait4(child, &status, 0, &used) < 0)
        if (errno != EINTR) {
            perror("timed: wait4");
            return 2;
        }
    clock_gettime(CLOCK_MONOTONIC, &b);
    FILE *out = fopen(argv[1], "a");
    if (!out) {
        perror(argv[1]);
        return 2;
    }
    status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
#ifdef __APPLE__
    long rss = used.ru_maxrss / 1024;
#else
    long rss = used.ru_maxrss;
#endif
    fprintf(out, "%.6f %.6f %.6f %ld %d\n", seconds(used.ru_utime), seconds(used.ru_stime),
            (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9, rss, status);
    return fclose(out) ? 2 : status;
}
