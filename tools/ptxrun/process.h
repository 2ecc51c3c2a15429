// SPDX-License-Identifier: MIT
// Memory of the process as a kernel's memory: the mappings that /proc/self/maps lists.
#ifndef ORI_PROCESS_H
#define ORI_PROCESS_H

#include "ir/machine/machine.h"

typedef struct Process {
    HostRange *at;  // readable mappings by address; neighbours with equal permissions are one
    size_t n, cap;
    bool known;  // read since process_forget()
} Process;

// Requires that the mappings are read again before the next answer.
void process_forget(Process *p);
// A `find` of HostMemory. The user is a Process.
bool process_find(void *process, uint64_t address, HostRange *range);

#endif
