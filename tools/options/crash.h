// SPDX-License-Identifier: MIT
// Reports of crashes: signals with which a program ends by a fault of its own.
#ifndef ORI_CRASH_H
#define ORI_CRASH_H

#include "ir/base/base.h"

// A report runs in a signal handler: it may call async-signal-safe functions only.
typedef void CrashReport(int signal_number);

// From now on SEGV, ABRT, BUS, FPE and ILL, and ALRM if `alarms`, call `report` and remove temporary files before they
// end the process in the way of the previous handler, which may print a sanitizer's report or leave a core. The stack
// of this thread may have overflowed by then.
void crash_watch(CrashReport *report, bool alarms);
// Writes to standard error; async-signal-safe.
void crash_print(const char *text);
// Returns the name of such a signal, "SIGSEGV"; async-signal-safe.
const char *crash_signal_name(int signal_number);

#endif
