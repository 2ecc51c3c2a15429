// SPDX-License-Identifier: MIT
// Remarks: what phases say, to whom writes kernels, about what they did and what they did not do, and why. They come
// out as YAML in the form of LLVM, which opt-viewer and llvm-opt-report read, or by the callback of ori.h.
#ifndef ORI_REMARKS_H
#define ORI_REMARKS_H

#include "phases/phase.h"

typedef enum { RM_PASSED, RM_MISSED, RM_ANALYSIS } RemarkKind;

// A part of what is said; the parts behind each other are a sentence.
typedef struct RemarkArg {
    const char *key;  // "String": words between values
    const char *text;
} RemarkArg;

typedef struct Remark {
    RemarkKind kind;
    int row;  // of the phase
    const char *name, *function;
    uint32_t file, line, col;  // of .loc; file 0 = none
    const char *path;          // of the file, once remarks_name_files() was called; NULL = not known
    VEC(RemarkArg) args;
} Remark;

// What was said, in the order of the module. All in memory of its own.
typedef struct Remarks {
    Arena arena;
    bool rows[PHASE_ROWS];  // who is asked
    uint32_t first;         // of the function that runs
    VEC(Remark) at;
} Remarks;

/* remarks.c */
// Of phases by this glob; NULL = all.
void remarks_init(Remarks *r, Heap *heap, const char *glob);
// For a function of another thread: the same phases are asked.
void remarks_fork(Remarks *own, const Remarks *r, Heap *heap);
// Takes what was said there, and frees it.
void remarks_take(Remarks *r, Remarks *own);

// A function begins.
void remarks_start(Remarks *r);
// A phase runs. If that is not the first time in this function, what it missed before does not count any more.
void remarks_run(Remarks *r, int row);

// Whether somebody listens to the phase that runs: for work that has to be done for remarks alone.
static inline bool remarks_wanted(const Ctx *ctx) { return ctx->remarks && ctx->remarks->rows[ctx->run.row]; }
// Says something about an instruction (0 = about the function). In the format, `{Key:%u}` is a value with a key of its
// own; conversions are %s %u %d %llu %lld %%. Nothing happens where nobody listens.
void remark(Ctx *ctx, const Fn *fn, InstrId i, RemarkKind kind, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));

// Looks the paths up, when all of the module was read: .file may stand at its end.
void remarks_name_files(Remarks *r, const Module *m);
const char *remark_kind_name(RemarkKind kind);  // "Passed"
// The whole sentence, in this arena.
const char *remark_text(const Remark *m, Arena *arena);
void remarks_write(const Remarks *r, Out *out);

#endif
