// SPDX-License-Identifier: MIT
// The launches of a plan on a machine: kernels and variables by their names, arguments that become buffers, the bytes
// of the parameters, and the memory that is there to be seen afterwards.
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
    bool nondet;  // it may differ from run to run
} RunRegion;

// What a region holds on one side: in the machine, or wherever else the launches are run.
typedef struct RunView {
    const uint8_t *bytes;  // NULL if there are none
    uint64_t initial;      // digest of a variable before the first launch
    bool absent;           // this side does not know the variable
} RunView;

// What an argument became.
typedef struct RunBound {
    const uint8_t *bytes;  // of a value; NULL: the address of a region
    uint64_t size;         // of the value
    uint32_t region;
    bool again;  // another argument's buffer
} RunBound;

typedef struct RunState {
    RunPlan *plan;  // where messages go, too
    const Module *module;
    const char *name;  // of the module, for messages
    Heap *heap;
    Arena *arena;  // lives as long as the state
    Machine *machine;
    uint32_t number;         // of the launch, from 1
    uint32_t misses;         // expectations that it missed
    VEC(RunRegion) regions;  // variables, then buffers, since the last launch without `keep`
    VEC(RunView) here;       // the same, in the machine
    VEC(RunBound) bounds;    // of the arguments
} RunState;

void run_state_init(RunState *s, RunPlan *plan, const Module *module, const char *name, Heap *heap, Arena *arena);
// Frees the machine.
void run_state_end(RunState *s);
// The name of a symbol of the module.
const char *run_sym_name(const RunState *s, SymId sym);
// The kernel of a launch; 0: a message was written.
SymId run_kernel(RunState *s, const RunLaunch *l);
// Makes a machine unless the launch goes on with the memory of the one before, and what the launch needs: all that
// machine_run() wants, and names that are asked about afterwards looked up. False: a message was written.
bool run_prepare(RunState *s, const RunLaunch *l, Launch *launch);
// The bytes of all parameters, where buffers have these addresses, by region; NULL: those of the machine.
void run_params(const RunState *s, const uint64_t *addresses, Launch *launch);
// The region of a target; NULL: a message was written.
const RunRegion *run_region(RunState *s, const RunTarget *t);
// `arg2`, or the variable.
const char *run_target_name(const RunState *s, const RunTarget *t);
static inline uint32_t run_region_number(const RunState *s, const RunRegion *r)
{
    return (uint32_t)(r - s->regions.at);
}

/* run_check.c */
// What digests are about: buffers in the order of the arguments, then variables that are not what they were at first.
typedef struct RunDigests {
    VEC(uint32_t) region;
    uint32_t nbuffers;  // of them, the first
} RunDigests;
RunDigests run_digests(const RunState *s, const RunView *views);
// A line for each: its name and FNV-1a 64 in hex.
void run_print_digests(const RunState *s, Out *out);
// What a region of the machine holds, as values of the target's type. False: a message was written.
bool run_dump(RunState *s, const RunTarget *t, Out *out);
// A missed expectation, or something else that is wrong with what a launch left; always false.
bool run_miss(RunState *s, RunPlace place, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
// Whether a side has what the launch expects. Says what it has not.
bool run_check(RunState *s, const RunLaunch *l, const RunView *views);
// `NAME:TYPE[INDEX] is A, OTHER B` is a miss.
void run_miss_value(RunState *s, RunPlace place, const char *name, Type t, uint64_t index, uint64_t is,
                    const char *other, uint64_t value);

#endif
