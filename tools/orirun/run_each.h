// SPDX-License-Identifier: MIT
// --check-each: do phases keep what kernels compute? The launches of a .run file are run in the interpreter before the
// first phase, and behind every phase that changed a function they are run again; so is what was written in the end,
// read back. The first difference is an internal error that names phase, function, launch, buffer, index, thread and
// values.
//
//     RunEach c;
//     if (run_each_read(&c, ctx, &source) == ST_OK && run_each_start(&c, module, "k.ptx"))
//         ...                             // run phases: ctx->watch looks on
//         run_each_output(&c, &text);   // what was written
//     run_each_close(&c);
//
// run_each_again() checks more plans against one run of the original. What passed is not run again: a chain of launches
// depends on the functions that it may reach, so it passes wherever the text of these is what it was.
//
// Ignored are bytes that depend on values which the module leaves undefined, and what is declared `nondet`. A launch in
// which undefined values decide where threads go is not compared.
#ifndef ORI_RUN_EACH_H
#define ORI_RUN_EACH_H

#include "tools/lib/lang.h"
#include "tools/orirun/run_launch.h"

typedef struct OriginalLaunch OriginalLaunch;

typedef struct RunEach {
    Ctx *ctx;
    RunPlan plan;
    Module *module;
    const char *name;  // of the module, for messages
    VEC(OriginalLaunch) launches;
    Fn *before;            // the function that a phase is at work on, as it was
    int row;               // of this phase; -1: what was written
    uint32_t runs;         // of launches, the first of each left out
    VEC(uint64_t) passed;  // hashes of what chains passed on
} RunEach;

// Reads a .run file, which must stay open; its `file` line does not count. Otherwise a message was written.
Status run_each_read(RunEach *c, Ctx *ctx, const Source *source);
// Runs the launches on the module as it is, and has the context watch phases. False: a message was written.
bool run_each_start(RunEach *c, Module *m, const char *name);
// Has another context watch phases over another copy of that module. The first context and module must stay.
void run_each_again(RunEach *c, Ctx *ctx, Module *m);
// Runs them on a module as it was written.
void run_each_output(RunEach *c, TextBuffer *text, Lang lang);
void run_each_close(RunEach *c);
// The launches as lines of a .run file, each behind `prefix`.
void run_each_print(RunEach *c, const char *prefix, Out *out);

#endif
