// SPDX-License-Identifier: MIT
// Shared by the files that implement ori.h: ori.c optimizes modules, run.c runs their kernels.
#ifndef ORI_ORI_INTERNAL_H
#define ORI_ORI_INTERNAL_H

#include "ir/machine/machine.h"
#include "phases/manager/remarks.h"
#include "tools/lib/entries.h"
#include "tools/lib/lang.h"
#include "tools/lib/ori.h"

// A receiver, and its argument.
#define RECEIVER(Type) \
    struct {           \
        Type *call;    \
        void *user;    \
    }

// Part of a context: the settings and the last fault of ori_run().
typedef struct RunSettings {
    uint64_t steps;  // limits; 0 = none
    size_t bytes;
    Arena arena;            // of `ranges`
    VEC(HostRange) ranges;  // of ori_map(), by base; they do not overlap
    HostMemory host;
    uint32_t machines;  // modules that have run
    bool faulted;       // in the last call
    OriFault fault;
    char reason[sizeof((RunError *)0)->text];
} RunSettings;

struct OriContext {
    Ctx ctx;  // its arena is freed after each call
    Allocator allocator;
    RECEIVER(OriMessageFn) on_message;
    RECEIVER(OriRemarkFn) on_remark;
    RECEIVER(OriReportFn) on_report;
    RECEIVER(OriFunctionStatsFn) on_function_stats;
    RECEIVER(OriPhaseStatsFn) on_phase_stats;
    RECEIVER(OriReportFn) on_print;
    Out report;       // of a call
    Remarks remarks;  // of a call
    unsigned threads;
    uint16_t version;           // of ori_set_ptx_version(); 0 = that of the text
    uint64_t max_instructions;  // 0 = no limit
    double seconds;
    OriStatus parse_status;
    OriModule *modules;  // linked by `next`
    RunSettings run;
    char start[8], stop[8];  // rows, which ctx.options points to
    Arena settings;          // texts of knob settings in their order, and their store
    VEC(char *) texts;
    Arena names;  // of `entries`
    Entries entries;
};

// The machine of a module. It has a heap of its own, which a failure releases.
typedef struct Running {
    Heap heap;
    Machine *machine;   // NULL: none
    uint32_t number;    // of the machine, from 1 on; 0: the module has not run
    uint32_t launches;  // so far
    Out print;
    char print_buf[512];
} Running;

struct OriModule {
    OriModule *next;  // of the context
    Module *m;
    Lang lang;
    bool broken;
    size_t count;        // of functions that were parsed
    const char **names;  // of these functions
    Arena text;          // of `source`
    Source source;       // positions of instructions are in it
    Running running;
};

typedef struct Call {
    OriContext *ori;
    OriModule *module;
    OriLanguage language;
    Lang lang;         // of the module
    const char *text;  // a name, a plan, settings
    HostRange range;
    const char *value;  // result
    const char *const *names;
    size_t count;  // of names
    const Source *source;
    OriWriteFn *write;
    void *user;
    OriTable table;
} Call;

/* ori.c */
// Reports a wrong argument, and returns ORI_USAGE.
OriStatus wrong_use(OriContext *ori, const char *what);
// Runs the body of a call, and frees the arena of the context however the body ends.
OriStatus guarded(Call *call, OriStatus (*body)(Call *));
/* run.c */
void run_init(OriContext *ori);
// Ends the machine of a module, and with it the variables.
void run_end(OriModule *module);
// Lets kernels reach this memory instead of the ranges of ori_map().
void run_reach(OriContext *ori, HostMemory host);

#endif
