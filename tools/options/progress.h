// SPDX-License-Identifier: MIT
// The progress line of a program: one line on the terminal of standard error, which each text replaces. It appears two
// seconds after progress_start(), and never if standard error is no terminal.
//
//     progress_start();
//     if (progress_due())  // in a loop; on any thread
//         progress_show("function %u of %u", k, n);
//     progress_clear();    // before other messages, and at the end
#ifndef ORI_PROGRESS_H
#define ORI_PROGRESS_H

#include <stdio.h>

#include "ir/base/base.h"

void progress_start(void);
// True if the line is to be written again: at most five times a second. Tests the clock only on a terminal.
bool progress_due(void);
// Writes the line, cut at the width of the terminal.
void progress_show(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
// Erases the line; async-signal-safe.
void progress_clear(void);
// Erases the line before a text is written to a file, if that is a terminal. If the text ends within a line, the
// progress line waits until that line is complete.
void progress_before(FILE *file, const char *text, size_t n);

#endif
