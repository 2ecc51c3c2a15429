// SPDX-License-Identifier: MIT
// Handlers of the signals of a crash.
#define _DEFAULT_SOURCE
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "tools/options/crash.h"
#include "tools/options/files.h"
#include "tools/options/progress.h"

static const struct {
    int number;
    const char *name;
} fatal[] = {{SIGSEGV, "SIGSEGV"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},
             {SIGFPE, "SIGFPE"},   {SIGILL, "SIGILL"},   {SIGALRM, "SIGALRM"}};

// A signal handler has no other access to these.
static CrashReport *report_crash;
static struct sigaction before[ARRAY_LEN(fatal)];
static atomic_flag reported = ATOMIC_FLAG_INIT;

void crash_print(const char *text)
{
    progress_clear();
    ssize_t written = write(STDERR_FILENO, text, strlen(text));
    (void)written;
}

const char *crash_signal_name(int signal_number)
{
    for (size_t k = 0; k < ARRAY_LEN(fatal); k++)
        if (fatal[k].number == signal_number)
            return fatal[k].name;
    return "a signal";
}

// Reports the first signal. Other threads that crash wait until the first one ends the process.
static void crashed(int signal_number, siginfo_t *info, void *context)
{
    (void)context;
    while (atomic_flag_test_and_set(&reported))
        pause();
    report_crash(signal_number);
    files_remove();
    for (size_t k = 0; k < ARRAY_LEN(fatal); k++)
        if (fatal[k].number == signal_number)
            sigaction(signal_number, &before[k], NULL);
    if (info->si_code <= 0 || signal_number == SIGALRM)
        raise(signal_number);  // a program sent the signal, so it does not occur again by itself
}

void crash_watch(CrashReport *report, bool alarms)
{
    static char stack[1 << 16];
    struct sigaction action = {.sa_sigaction = crashed, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    report_crash = report;
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    for (size_t k = 0; k < ARRAY_LEN(fatal); k++)
        if (fatal[k].number != SIGALRM || alarms)
            sigaction(fatal[k].number, &action, &before[k]);
}
