// SPDX-License-Identifier: MIT
// Runs the plans of functions on one thread or on several, and writes them in the order of the module.
//
// The output does not depend on the number of threads. Functions share only the results that the module keeps of
// finished functions. A function that names an earlier function of the batch waits until that one is written.
#ifndef ORI_BATCH_H
#define ORI_BATCH_H

#include "tools/lib/lang.h"

typedef struct Batch {
    Ctx *ctx;
    Module *module;                            // frozen
    uint32_t first, end;                       // the items
    bool whole;                                // these are all items of the module: run phases over the module, too
    unsigned threads;                          // 0 and 1: this one; otherwise ctx has no watch, no dumps and no reports
    bool (*wanted)(void *user, const Fn *fn);  // true if phases run over a function; NULL: over each
    void *user;
    Out *out;  // NULL: nothing is written
    Lang lang;
    bool keep;                   // functions stay in the module; otherwise each is dropped when it is written
    void (*beside)(void *user);  // with several threads: runs on one more thread; may not run. NULL: none
    void *beside_user;
    double write_s;  // CPU seconds of writing, added to
} Batch;

// Unwinds with the error of the first function that failed. Phases over the module may change the number of items.
void batch_run(Batch *batch);

#endif
