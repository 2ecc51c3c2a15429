// SPDX-License-Identifier: MIT
// Plans: launches of kernels with their arguments, dumps and expectations. Options of a command line and lines of a
// .run file make the same plans:
//
//     RunPlan plan;
//     run_plan_init(&plan, "orirun", &arena, write, user);
//     run_plan_read(&plan, &source);                  // a file, or
//     run_plan_set(&plan, RO_GRID, "2,2", NO_PLACE);  // options one by one
//
// A .run file has one option on a line, without dashes: `name value`. Comments begin with `#`; values with blanks are
// in quotes; paths are relative to the file. `file X` comes first; `---` separates launches.
#ifndef ORI_RUN_FILE_H
#define ORI_RUN_FILE_H

#include "ir/machine/machine.h"
#include "tools/orirun/run_values.h"

typedef enum {
#define OPTION(id, ...) RO_##id,
#include "tools/orirun/orirun.def"
#undef OPTION
    RUN_OPTION_COUNT
} RunOption;

typedef enum { WHERE_COMMAND, WHERE_LINE, WHERE_LAUNCH, WHERE_RUN } RunWhere;
// Returns the places in which an option is allowed.
RunWhere run_option_where(RunOption o);

// An offset in the .run file, for messages.
typedef size_t RunPlace;
#define NO_PLACE SIZE_MAX  // on the command line

typedef enum {
    RA_SCALAR,
    RA_STRUCT,  // an aggregate by value
    RA_BUFFER,  // the address of a new buffer
    RA_REF,     // the address of an earlier argument's buffer
    RA_KEPT,    // the address of a buffer of the launch before
} RunArgKind;

typedef struct RunArg {
    RunArgKind kind;
    RunPlace place;
    const char *text;      // as written
    const uint8_t *bytes;  // RA_SCALAR, RA_STRUCT
    uint64_t size;         // of the bytes, or of the buffer; FILL_FILE: unknown until the file is read
    Fill fill;             // RA_BUFFER
    uint32_t of;           // RA_REF, RA_KEPT
} RunArg;

// The buffer of an argument, or a variable of the module.
typedef struct RunTarget {
    RunPlace place;
    const char *symbol;  // NULL: an argument
    uint32_t arg;
    Type type;         // TY_NONE: bytes
    uint64_t first;    // index of the first value
    const char *path;  // --dump-file; with `.npy` at the end the file has a header
} RunTarget;

typedef struct RunExpect {
    RunTarget target;
    bool digest;                  // the values are digests
    bool near;                    // values may differ by `ulps`
    uint64_t ulps;                // units in the last place
    bool within;                  // values may differ by `absolute` + `relative` * |expected value|
    uint64_t absolute, relative;  // bits of f64
    const char *path;             // of a file with the values; NULL: `values`
    const uint8_t *bytes;         // of the file's values; NULL until run_prepare()
    uint64_t n;                   // number of the file's values
    VEC(uint64_t) values;
} RunExpect;

typedef struct RunLaunch {
    RunPlace place;     // of its first line
    const char *entry;  // NULL: the only kernel
    RunPlace entry_place;
    Dim grid, block;
    Dim cluster;  // 0 = as the kernel requires
    uint32_t shared;
    bool keep;
    VEC(RunArg) args;
    VEC(RunTarget) dumps, nondet;
    VEC(RunExpect) expects;
} RunLaunch;

typedef struct RunPlan {
    const char *program;  // for messages
    const char *place;    // FILE:LINE:COL of the current option in a response file; NULL: the command line
    Arena *arena;
    Diag diag;           // its source is the .run file
    const char *folder;  // of the .run file, with its slash
    const char *module;  // path; NULL: none was given
    RunPlace module_place;
    MachineOptions options;
    VEC(RunLaunch) launches;  // at least one
    const char *option;       // the current one, for messages
    Status status;            // ST_OK, or that of the first message
} RunPlan;

void run_plan_init(RunPlan *p, const char *program, Arena *arena, void (*write)(void *user, const char *text, size_t n),
                   void *user);
// Takes an option or a line; COMMAND options are ignored. False: a message was written.
bool run_plan_set(RunPlan *p, RunOption o, const char *value, RunPlace place);
// Reads a .run file, which must stay open as long as the plan is used.
bool run_plan_read(RunPlan *p, const Source *source);
// Writes a message about a place, or about the command line. Returns false.
bool run_fail(RunPlan *p, Status status, RunPlace place, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
// Reads a number, which K, M or G may follow. False: it is not one.
bool run_number(const char *text, uint64_t *n);
// Returns the most similar of `n` names; NULL: none is similar.
const char *run_nearest(const char *text, size_t len, const char *const *names, uint32_t n);

#endif
