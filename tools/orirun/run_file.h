// SPDX-License-Identifier: MIT
// What is to be run: launches of kernels with their arguments, and what is to be seen of them afterwards. Options of a
// command line and lines of a .run file come down to the same:
//
//     RunPlan plan;
//     run_plan_init(&plan, "orirun", &arena, write, user);
//     run_plan_read(&plan, &source);                  // a file, or
//     run_plan_set(&plan, RO_GRID, "2,2", NO_PLACE);  // options one by one
//
// A .run file has one option a line, without dashes: `name value`. Comments begin with `#`; values with blanks stand in
// quotes; paths are relative to the file. `file X` comes first; `---` is between launches.
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
// Where an option may stand.
RunWhere run_option_where(RunOption o);

// Where in the .run file something was said, for messages.
typedef size_t RunPlace;
#define NO_PLACE SIZE_MAX  // on the command line

typedef enum {
    RA_SCALAR,
    RA_STRUCT,  // an aggregate by value
    RA_BUFFER,  // the address of a new buffer
    RA_REF,     // of an earlier argument's
    RA_KEPT,    // of one of the launch before
} RunArgKind;

typedef struct RunArg {
    RunArgKind kind;
    RunPlace place;
    const char *text;      // as written
    const uint8_t *bytes;  // RA_SCALAR, RA_STRUCT
    uint64_t size;         // of the bytes, or of the buffer; FILL_FILE: not known yet
    Fill fill;             // RA_BUFFER
    uint32_t of;           // RA_REF, RA_KEPT
} RunArg;

// The buffer of an argument, or a variable of the module.
typedef struct RunTarget {
    RunPlace place;
    const char *symbol;  // NULL: an argument
    uint32_t arg;
    Type type;         // TY_NONE: bytes
    uint64_t first;    // value
    const char *path;  // --dump-file
} RunTarget;

typedef struct RunExpect {
    RunTarget target;
    bool digest;    // the values are digests
    bool near;      // within so many
    uint64_t ulps;  // units in the last place
    VEC(uint64_t) values;
} RunExpect;

typedef struct RunLaunch {
    RunPlace place;     // of its first line
    const char *entry;  // NULL: the only kernel
    RunPlace entry_place;
    Dim grid, block;
    Dim cluster;  // 0 = what the kernel requires
    uint32_t shared;
    bool keep;
    VEC(RunArg) args;
    VEC(RunTarget) dumps, nondet;
    VEC(RunExpect) expects;
} RunLaunch;

typedef struct RunPlan {
    const char *program;  // for messages
    Arena *arena;
    Diag diag;           // its source is the .run file
    const char *folder;  // of the .run file, with its slash
    const char *module;  // path; NULL = not said
    RunPlace module_place;
    MachineOptions options;
    VEC(RunLaunch) launches;  // there is at least one
    const char *option;       // that is being read, for messages
    Status status;            // ST_OK, or what the first message was about
} RunPlan;

void run_plan_init(RunPlan *p, const char *program, Arena *arena, void (*write)(void *user, const char *text, size_t n),
                   void *user);
// What an option or a line says; false: a message was written. COMMAND options are none of its business.
bool run_plan_set(RunPlan *p, RunOption o, const char *value, RunPlace place);
// Reads a .run file, which must stay open as long as the plan is used.
bool run_plan_read(RunPlan *p, const Source *source);
// Writes a message about a place, or about the command line, and returns false.
bool run_fail(RunPlan *p, Status status, RunPlace place, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
// A number with K, M or G behind it; false without a message.
bool run_number(const char *text, uint64_t *n);
// The name that is most like a text; NULL if none is.
const char *run_nearest(const char *text, size_t len, const char *const *names, uint32_t n);

#endif
