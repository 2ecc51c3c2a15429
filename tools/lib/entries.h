// SPDX-License-Identifier: MIT
// Functions by name, to which phases are limited: --entry of oriopt, ori_set_entries() of the library.
#ifndef ORI_ENTRIES_H
#define ORI_ENTRIES_H

#include "ir/core/ir.h"

typedef struct Entries {
    const char *const *names;
    bool *seen;  // by name: entries_note() found its function
    size_t n;    // 0: all functions
} Entries;

void entries_clear(Entries *entries);
// Marks names of functions as seen.
void entries_note(Entries *entries, const Fn *fn);
// Returns a name that was not seen, or NULL.
const char *entries_missing(const Entries *entries);
// True if phases run over the function. A callback of Batch, whose argument is an Entries.
bool entries_have(void *user, const Fn *fn);

#endif
