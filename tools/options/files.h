// SPDX-License-Identifier: MIT
// Files of programs: output by stdio, and the removal of half-written files when a signal ends the program.
#ifndef ORI_FILES_H
#define ORI_FILES_H

#include "ir/base/base.h"

// A `write` for Out that writes to a FILE *.
bool out_to_stdio(void *file, const char *text, size_t n);

// For the heaps of programs: records temporary files for files_remove().
extern const FileOps program_files;
// From now on TERM, INT, HUP and XFSZ remove the temporary files before they end the process, unless they are ignored.
void files_watch_signals(void);
// Removes the temporary files; async-signal-safe.
void files_remove(void);

#endif
