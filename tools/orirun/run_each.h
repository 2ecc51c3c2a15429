// SPDX-License-Identifier: MIT
// --check-each: checks that phases keep the results of kernels. Runs the launches of a .run file in the interpreter
// before the first phase, after every phase that changed a function, and on the output, read back. The first difference
// is an internal error that names phase, function, launch, buffer, index, values, thread and store.
//
//     RunEach c;
//     if (run_each_read(&c, ctx, &source) == ST_OK && run_each_start(&c, module, "k.ptx"))
//         ...                           // run phases; ctx->watch observes them
//         run_each_output(&c, &text);   // the output
//     run_each_close(&c);
//
// run_each_again() checks more plans against one run of the original. A chain of launches depends on the functions that
// it may reach only, so it is not run again if it passed with the same text of these.
//
// Bytes that depend on undefined values, `nondet` regions, and variables that the user internalizes are not compared.
// Neither is a launch in which undefined values decide branches.
#ifndef ORI_RUN_EACH_H
#define ORI_RUN_EACH_H

#include "tools/lib/lang.h"
#include "tools/orirun/run_launch.h"

typedef struct OriginalLaunch OriginalLaunch;

typedef struct RunEach {
    Ctx *ctx;
    RunPlan plan;
    Module *module;
    const char *name;      // of the module, for messages
    const Source *source;  // of the positions of instructions; NULL = unknown
    VEC(OriginalLaunch) launches;
    Fn *before;            // the function before the current phase
    int row;               // of this phase; -1: the output
    uint32_t runs;         // launches, without those of the original
    VEC(uint64_t) passed;  // hashes of the functions with which chains passed
} RunEach;

// Reads a .run file, which must stay open, and ignores its `file` line. Other results than ST_OK: a message was
// written.
Status run_each_read(RunEach *c, Ctx *ctx, const Source *source);
// Runs the launches on the original module and sets ctx->watch. False: a message was written.
bool run_each_start(RunEach *c, Module *m, const char *name);
// Sets the watch of another context for a copy of the module. The first context and module must stay.
void run_each_again(RunEach *c, Ctx *ctx, Module *m);
// Reads the output and runs the launches on it.
void run_each_output(RunEach *c, TextBuffer *text, Lang lang);
void run_each_close(RunEach *c);
// Prints the launches as lines of a .run file, each after `prefix`.
void run_each_print(RunEach *c, const char *prefix, Out *out);

#endif
