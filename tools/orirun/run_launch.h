// SPDX-License-Identifier: MIT
// The launches of a plan on a machine: finds kernels and variables by name, makes buffers for arguments, lays out the
// parameters, and gives access to memory after the launch.
//
//     RunState s;
//     run_state_init(&s, &plan, module, "k.ptx", &heap, &arena);
//     Launch launch;
//     if (run_prepare(&s, l, &launch) && machine_run(s.machine, &launch))
//         run_check(&s, l, s.here.at);
//     run_state_end(&s);
#ifndef ORI_RUN_LAUNCH_H
#define ORI_RUN_LAUNCH_H

#include "tools/orirun/run_file.h"

// A variable of the module in global or constant memory, or a buffer.
typedef struct RunRegion {
    const char *name;
    SymId symbol;  // 0: a buffer
    uint64_t size, address;
    bool nondet;  // the content may differ from run to run
} RunRegion;

// The content of a region on one side: in the machine, or on a device that runs the same launches.
typedef struct RunView {
    const uint8_t *bytes;  // NULL: an empty region
    uint64_t initial;      // digest of a variable before the first launch
    bool absent;           // the variable does not exist on this side
} RunView;

// An argument of a launch, bound to a value or a buffer.
typedef struct RunBound {
    const uint8_t *bytes;  // of a value; NULL: the address of a region
    uint64_t size;         // of the value
    uint32_t region;
    bool again;  // the buffer belongs to an earlier argument
} RunBound;

typedef struct RunState {
    RunPlan *plan;  // also takes messages
    const Module *module;
    const char *name;  // of the module, for messages
    Heap *heap;
    Arena *arena;  // lives as long as the state
    Machine *machine;
    uint32_t number;         // of the launch, from 1
    uint32_t misses;         // missed expectations of the launch
    VEC(RunRegion) regions;  // variables, then buffers, since the last launch without `keep`
    VEC(RunView) here;       // their content in the machine
    VEC(RunBound) bounds;    // of the arguments
} RunState;

void run_state_init(RunState *s, RunPlan *plan, const Module *module, const char *name, Heap *heap, Arena *arena);
// Frees the machine.
void run_state_end(RunState *s);
// Returns the name of a symbol of the module.
const char *run_sym_name(const RunState *s, SymId sym);
// Returns the kernel of a launch; 0: a message was written.
SymId run_kernel(RunState *s, const RunLaunch *l);
// Makes a machine, unless the launch keeps the memory of the one before, and the arguments of machine_run(). Checks the
// names in dumps and expectations. False: a message was written.
bool run_prepare(RunState *s, const RunLaunch *l, Launch *launch);
// Lays out the bytes of all parameters. `addresses`: of buffers, by region; NULL: those of the machine.
void run_params(const RunState *s, const uint64_t *addresses, Launch *launch);
// Returns the region of a target; NULL: a message was written.
const RunRegion *run_region(RunState *s, const RunTarget *t);
// Returns the name of the variable, or `arg2` for the buffer of argument 2.
const char *run_target_name(const RunState *s, const RunTarget *t);
// Reports the fault that ended the run in the machine, with the position of the instruction in PTX and in the source of
// that; of a data race both accesses. `what` begins the message.
void run_report_fault(const RunState *s, Diag *diag, const char *what);
enum { RUN_PLACE = 300, RUN_MNEMONIC = 100 };  // bytes of texts
// Writes the place of an instruction as FILE:LINE; an empty text if it has none in the source, the text of the module.
void run_place(const Source *source, const Fn *fn, InstrId i, char text[static RUN_PLACE]);
void run_mnemonic(const Fn *fn, InstrId i, char text[static RUN_MNEMONIC]);
// Appends ` (at k.cu:3)` to a text, if .loc gives the source line of the instruction.
void run_add_source(const Fn *fn, InstrId i, char text[static MACHINE_ERROR_TEXT]);
static inline uint32_t run_region_number(const RunState *s, const RunRegion *r)
{
    return (uint32_t)(r - s->regions.at);
}

// Returns the number of values that are expected.
static inline uint64_t run_expect_count(const RunExpect *e) { return e->path ? e->n : e->values.n; }

/* run_check.c */
// The regions that have digests: buffers in the order of the arguments, then variables that changed.
typedef struct RunDigests {
    VEC(uint32_t) region;
    uint32_t nbuffers;  // the first regions
} RunDigests;
RunDigests run_digests(const RunState *s, const RunView *views);
// Prints a line for each: name and FNV-1a 64 in hex.
void run_print_digests(const RunState *s, Out *out);
// Prints the content of a region as values of the target's type. False: a message was written.
bool run_dump(RunState *s, const RunTarget *t, Out *out);
// Reports a missed expectation or another wrong result of the launch. Returns false.
bool run_miss(RunState *s, RunPlace place, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
// Compares one side with the expectations of the launch and reports misses. Returns true if there are none.
bool run_check(RunState *s, const RunLaunch *l, const RunView *views);
// Reports the miss `NAME:TYPE[INDEX] is A, OTHER B`.
void run_miss_value(RunState *s, RunPlace place, const char *name, Type t, uint64_t index, uint64_t is,
                    const char *other, uint64_t value);

#endif
