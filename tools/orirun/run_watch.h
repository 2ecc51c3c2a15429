// SPDX-License-Identifier: MIT
// Observes launches of orirun: signals, the progress line, and the table of the threads that have not ended.
//
// INT ends the running launch, and USR1 prints the table and lets it go on. Outside of launches, INT ends the process,
// and the table waits for the next launch. A signal that is ignored when the program starts stays ignored.
#ifndef ORI_RUN_WATCH_H
#define ORI_RUN_WATCH_H

#include "tools/orirun/run_launch.h"

typedef struct RunWatch {
    const RunState *state;
    const Source *source;  // of the module
    Out *out, *err;        // `out` is flushed before a table
    uint32_t launches;     // of the plan
    const char *kernel;    // of the running launch
} RunWatch;

// Sets the poll of a machine and handles USR1 from now on. The watch must outlive the launches.
void run_watch_start(RunWatch *o, MachineOptions *options);
// machine_run(), which INT may end with RUN_STOPPED.
bool run_watched(RunWatch *o, const Launch *launch);
// Prints a table of the threads of the last launch that had not ended at a deadlock, a limit of steps or a signal, or
// of those of the running launch.
void run_print_waits(const RunWatch *o);

#endif
