// SPDX-License-Identifier: MIT
// Remarks: messages of phases to the author of a kernel about rewrites that they made or missed, and why. They are
// written as YAML in the format of LLVM, which opt-viewer and llvm-opt-report read, or passed to the callback of ori.h.
#ifndef ORI_REMARKS_H
#define ORI_REMARKS_H

#include "phases/phase.h"

typedef enum { RM_PASSED, RM_MISSED, RM_ANALYSIS } RemarkKind;

// A part of a message. The message is the texts of its parts in order.
typedef struct RemarkArg {
    const char *key;  // "String": words between values
    const char *text;
} RemarkArg;

typedef struct Remark {
    RemarkKind kind;
    int row;  // of the phase
    const char *name, *function;
    uint32_t file, line, col;  // of .loc; file 0 = none
    const char *path;          // of the file, set by remarks_name_files(); NULL = unknown
    VEC(RemarkArg) args;
} Remark;

// Remarks in the order of the module, all in its own arena.
typedef struct Remarks {
    Arena arena;
    bool rows[PHASE_ROWS];  // phases whose remarks are collected
    uint32_t first;         // first remark of the running function
    VEC(Remark) at;
} Remarks;

/* remarks.c */
// Makes an empty collection for the phases that a glob matches; NULL = all.
void remarks_init(Remarks *r, Heap *heap, const char *glob);
// Makes an empty collection for the same phases, for use by another thread.
void remarks_fork(Remarks *own, const Remarks *r, Heap *heap);
// Appends the remarks of `own`, and frees `own`.
void remarks_take(Remarks *r, Remarks *own);

// Starts a function.
void remarks_start(Remarks *r);
// Starts a run of a phase. Removes the remarks of its earlier runs on this function, except those that are RM_PASSED.
void remarks_run(Remarks *r, int row);
// For phases over the module. Removes what other phases reported of the current function, except that which is
// RM_PASSED: these phases run again later.
void remarks_drop_others(Remarks *r, int row);
// Removes the remarks of a phase of all functions, except those that are RM_PASSED.
void remarks_restart(Remarks *r, int row);

// True if remarks of the running phase are collected. Guards work that is only needed for remarks.
static inline bool remarks_wanted(const Ctx *ctx) { return ctx->remarks && ctx->remarks->rows[ctx->run.row]; }
// Adds a remark about an instruction (0 = about the function), if remarks of the running phase are collected. For a
// remark about the module, fn is NULL, and the name of the function is empty; remarks_start() comes before. In the
// format, `{Key:%u}` is a value with a key. Conversions are %s %u %d %llu %lld %%.
void remark(Ctx *ctx, const Fn *fn, InstrId i, RemarkKind kind, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
// Returns `open`, whether a knob lets the running phase run. If it does not, adds the remark NotRun.
bool gate_is_open(Ctx *ctx, const Fn *fn, KnobId knob, bool open);

// Sets the paths of remarks. Called after the whole module was read, since .file may be at its end.
void remarks_name_files(Remarks *r, const Module *m);
const char *remark_kind_name(RemarkKind kind);  // "Passed"
// Returns the whole sentence, in this arena.
const char *remark_text(const Remark *m, Arena *arena);
void remarks_write(const Remarks *r, Out *out);

#endif
