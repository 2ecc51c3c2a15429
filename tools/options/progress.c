// SPDX-License-Identifier: MIT
// The progress line. It ends in no newline: blanks erase it, since these need no knowledge of the terminal. It is
// written by write(), so that signal handlers may erase it.
#define _DEFAULT_SOURCE
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "tools/options/progress.h"

enum { FIRST = 2000, BETWEEN = 200 };  // milliseconds
enum { WIDEST = 200 };                 // columns

// Of the process, as the terminal is.
static atomic_llong due = LLONG_MAX;  // milliseconds of the clock; LLONG_MAX: no line appears
static atomic_int shown;              // columns of the line on the terminal; 0 = none
static atomic_bool within_line;       // the last text on the terminal ended in no newline

static long long milliseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

// A process in the background would write into the lines of another one.
static bool in_background(void)
{
    pid_t foreground = tcgetpgrp(STDERR_FILENO);
    return foreground > 0 && foreground != getpgrp();
}

static int columns(void)
{
    struct winsize size;
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    return MIN(known ? size.ws_col : 80, WIDEST) - 1;  // the last column would wrap
}

static void put(const char *text, int n)
{
    ssize_t written = write(STDERR_FILENO, text, (size_t)n);
    (void)written;
}

void progress_start(void)
{
    if (isatty(STDERR_FILENO))
        atomic_store(&due, milliseconds() + FIRST);
}

bool progress_due(void)
{
    long long at = atomic_load_explicit(&due, memory_order_relaxed);
    if (at == LLONG_MAX)
        return false;
    long long now = milliseconds();
    return now >= at && atomic_compare_exchange_strong(&due, &at, now + BETWEEN);
}

void progress_show(const char *fmt, ...)
{
    char text[WIDEST + 1];
    va_list args;
    if (atomic_load(&within_line) || in_background())
        return;
    va_start(args, fmt);
    int n = vsnprintf(text, (size_t)columns() + 1, fmt, args);
    va_end(args);
    n = MIN(n, columns());
    progress_clear();
    atomic_store(&shown, n);
    put(text, n);
}

void progress_clear(void)
{
    char text[WIDEST + 2];
    int n = atomic_exchange(&shown, 0);
    if (!n)
        return;
    memset(text, ' ', sizeof text);
    text[0] = text[n + 1] = '\r';
    put(text, n + 2);
}

void progress_before(FILE *file, const char *text, size_t n)
{
    if (atomic_load(&due) == LLONG_MAX || !n || !isatty(fileno(file)))
        return;
    progress_clear();
    atomic_store(&within_line, text[n - 1] != '\n');
}
