// SPDX-License-Identifier: MIT
// Programs that a program runs, signals meanwhile, and folders for temporary files.
#ifndef ORI_PROCESS_H
#define ORI_PROCESS_H

#include "ir/base/base.h"

typedef VEC(const char *) Texts;

// Blocks the signals that end programs, until process_end().
void processes_begin(void);
// Runs a program to its end and returns its wait status, -1 if it cannot be started (errno). Standard output and error
// go to files; NULL: to those of this process. Signals that come meanwhile are passed on. Requires processes_begin().
int process_run(Arena *arena, const Texts *argv, const char *out, const char *err);
// True if a signal came that ends this program.
bool processes_stopped(void);
// Unblocks the signals; ends this process if one came.
void processes_end(void);
// Ends this process as the child with the wait status ended, or by the signal that came.
_Noreturn void process_end(int status);
// Replaces this process. Returns only if that is impossible.
void process_replace(Arena *arena, const Texts *argv);

// True for a file that may be run; sets errno otherwise.
bool file_is_program(const char *path);
// Returns the first program of that name on the PATH for which `skips` is false; NULL: there is none.
const char *find_on_path(Arena *arena, const char *name, bool (*skips)(const char *path, const char *user),
                         const char *user);

// Returns the path of a new folder for temporary files, with a name that begins so; NULL: it cannot be made (errno).
const char *folder_make(Arena *arena, const char *name);
// Removes a folder and the files in it.
void folder_remove(const char *folder);
// Returns FOLDER/NAME.
const char *path_join(Arena *arena, const char *folder, const char *name);

#endif
