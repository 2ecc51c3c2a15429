// SPDX-License-Identifier: MIT
// Reproducers: a module with the command line of a failed run in comments at its top. A reproducer is a module like any
// other, and `oriopt --run-reproducer` repeats the run. The sign of its comments tells its language, whatever its name.
//
//     ; oriopt 0.1.0 --run-reproducer
//     ; error: OriBranchOpt (phase 15), function k: launch 1: arg0:s32[3] is 4, it was 5
//     ; option: --named-phases=OriBranchOpt@15
//     ; run: entry k
//     ; run: arg buf:32xs32:iota
//     module ...
//
// `run` lines form a .run file. Line ends in values are written `\n`.
#ifndef ORI_REPRODUCER_H
#define ORI_REPRODUCER_H

#include "ir/base/base.h"

#define REPRODUCER_NAME "oriopt-crash-"  // begins the names of files

// Writes a line of the header. `kind` is one of "error", "option" and "run"; `comment` begins a comment.
void reproducer_line(Out *out, const char *comment, const char *kind, const char *text);
// Writes the first line, and the error; NULL: there is none.
void reproducer_start(Out *out, const char *comment, const char *error);

typedef struct Reproducer {
    VEC(char *) options;  // as on a command line; the first is not used
    TextBuffer run;       // the lines of a .run file; may be empty
} Reproducer;
// False: the source is not a reproducer.
bool reproducer_read(Reproducer *r, const Source *source, Arena *arena);

#endif
