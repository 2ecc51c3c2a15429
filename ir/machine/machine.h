// SPDX-License-Identifier: MIT
// A machine that runs kernels: memory that outlives launches, and the launches themselves. The order in which threads
// run is fixed (README.md), so a run gives the same bytes everywhere.
//
//     Machine *m = machine_new(heap, module, options);
//     uint64_t buffer = machine_alloc(m, bytes, "argument 1");
//     Launch l = {.entry = kernel, .grid = {1, 1, 1}, .block = {32, 1, 1}, .params = ..., .nparams = ...};
//     if (!machine_run(m, &l))
//         say(machine_error(m));
#ifndef ORI_MACHINE_H
#define ORI_MACHINE_H

#include "ir/core/ir.h"

typedef struct Machine Machine;

typedef struct Dim {
    uint32_t x, y, z;
} Dim;

enum { CLUSTER_MAX = 16 };  // CTAs of a cluster

typedef struct MachineOptions {
    uint64_t max_steps;  // instructions of a warp in a launch, all warps together; 0 = no limit
    bool check_uninit;   // the first use of what nothing wrote is a fault; copies are none
    bool follow_undef;   // instead of that: machine_defined() knows what came of such uses
    bool check_races;
    bool note_writers;  // for machine_writer()
    bool count;         // instructions by descriptor
    bool coverage;      // of blocks and of the ways out of branches
    uint64_t seed;      // of the order of execution; 0 = the fixed one
    Out *trace;         // executed instructions; NULL = none
    uint32_t lane;      // of the trace
    Out *print;         // what kernels print; NULL = nowhere
} MachineOptions;

typedef struct Launch {
    SymId entry;  // of the module
    Dim grid, block;
    Dim cluster;            // CTAs of a cluster; 0 = as the kernel requires, or 1,1,1
    uint32_t shared;        // bytes of dynamic shared memory
    const uint8_t *params;  // the bytes of the kernel's parameters, each at its offset (machine_param)
    uint64_t nparams;
} Launch;

typedef enum { RUN_DONE, RUN_FAULT, RUN_LIMIT } RunStatus;

// What stopped a run.
typedef struct RunError {
    RunStatus status;
    char text[300];
    const Fn *fn;  // NULL = it is about no instruction
    InstrId instr;
    Dim block, thread;
} RunError;

// The module must have been read with positions, and must outlive the machine; its variables get their initial values.
Machine *machine_new(Heap *heap, const Module *m, MachineOptions options);
void machine_free(Machine *m);
// Module variables as they were at first; buffers are left alone.
void machine_reset(Machine *m);
// A buffer of global memory, zeroes. What lies around it is nobody's.
uint64_t machine_alloc(Machine *m, uint64_t bytes, const char *name);
// The bytes at an address of global memory; *size is how many follow. NULL = nothing is there.
uint8_t *machine_bytes(Machine *m, uint64_t address, uint64_t *size);
// The address of a module variable in global or constant memory; 0 = it has none.
uint64_t machine_symbol(const Machine *m, SymId s);
// Where a kernel's parameter lies among the bytes of all, and how many these are.
uint64_t machine_param(const Module *m, SymId entry, uint32_t k, uint64_t *bytes);
uint32_t machine_params(const Module *m, SymId entry);

bool machine_run(Machine *m, const Launch *l);
const RunError *machine_error(const Machine *m);
uint64_t machine_steps(const Machine *m);  // of the last launch, as max_steps counts them

// With follow_undef: which bytes at an address of global memory are defined, a 1 or a 0 for each up to the end of the
// buffer or variable; NULL = all of these are. Buffers and variables begin so; a value is not defined if it depends on
// one that nothing wrote. Valid until the next launch.
const uint8_t *machine_defined(Machine *m, uint64_t address);
// With follow_undef: where in the last launch such values first decided not only what is computed, but what is done: a
// branch, an address, a barrier. What is defined behind that is not known. NULL = nowhere.
const RunError *machine_unspecified(const Machine *m);
// With note_writers: the CTA and the thread that wrote a byte of global memory last, in whatever launch. A copy that is
// made later counts where it stands. False: nobody did.
bool machine_writer(Machine *m, uint64_t address, Dim *block, Dim *thread);
// The instruction with which they did, and its function; 0 = nobody did.
InstrId machine_store(Machine *m, uint64_t address, const Fn **fn);

// The counts of an instruction in the last launch: executions by warps and by threads; of a branch, the threads that
// took it and those that did not.
typedef struct Executed {
    const Fn *fn;
    InstrId instr;
    uint64_t warps, threads, taken, not_taken;
} Executed;
typedef void ExecutedVisit(void *user, const Executed *e);
// All instructions of all functions in the order of the input, those that never ran included.
void machine_executed(const Machine *m, ExecutedVisit *visit, void *user);

#endif
