// SPDX-License-Identifier: MIT
// A SIMT machine that runs kernels. Its memory outlives launches. Threads run in a fixed order (README.md), so a run
// gives the same bytes on every host.
//
//     Machine *m = machine_new(heap, module, options);
//     uint64_t buffer = machine_alloc(m, bytes, "argument 1");
//     Launch l = {.entry = kernel, .grid = {1, 1, 1}, .block = {32, 1, 1}, .params = ..., .nparams = ...};
//     if (!machine_run(m, &l))
//         print(machine_error(m)->text);
#ifndef ORI_MACHINE_H
#define ORI_MACHINE_H

#include "ir/core/ir.h"

typedef struct Machine Machine;

typedef struct Dim {
    uint32_t x, y, z;
} Dim;

// Limits of a launch: CTAs of a cluster, threads of a CTA, CTAs of a grid in y and in z.
enum { CLUSTER_MAX = 16, BLOCK_THREADS = 1024, GRID_YZ = 65535 };

// Bytes of the host, with the addresses from `base` on in kernels.
typedef struct HostRange {
    uint64_t base, size;
    bool read_only;
    uint8_t *bytes;    // NULL = at `base`
    const char *name;  // in messages; NULL = a HostMemory.name
} HostRange;

// Host memory that kernels reach, in general at the addresses of the host. Without it a kernel reaches no host memory.
typedef struct HostMemory {
    // Sets *range to the range that contains an address. False if there is none. The machine keeps a range until the
    // launch ends. find = NULL: kernels reach no memory of the host.
    bool (*find)(void *user, uint64_t address, HostRange *range);
    void *user;
    const char *name;  // of a range, in messages
} HostMemory;

// Agents of the race check. The lanes of a warp are ordered with RACES_WARPS, and independent with RACES_LANES.
typedef enum { RACES_OFF, RACES_WARPS, RACES_LANES } RaceCheck;

// A launch while it runs.
typedef struct RunProgress {
    uint64_t steps;            // so far, as max_steps counts them
    uint64_t started, blocks;  // blocks that have started, blocks of the grid
} RunProgress;

// Called during launches, after some thousands of steps each. False ends the launch with RUN_STOPPED. May call
// machine_waits(), but not change the machine.
typedef bool MachinePoll(void *user, const RunProgress *p);

#define RACE_MEMORY_MAX (UINT64_C(1) << 30)  // bytes of the race check, if MachineOptions has no limit

typedef struct MachineOptions {
    uint64_t max_steps;     // limit of the instructions that groups of lanes execute in a launch; 0 = no limit
    bool check_uninit;      // the first use of an undefined value is a fault; a copy is no use
    bool follow_undef;      // tracks undefined values for machine_defined(), and overrides check_uninit
    RaceCheck check_races;  // a data race is a fault
    uint64_t race_memory;   // bytes that the race check may take; 0 = RACE_MEMORY_MAX
    bool check_bounds;      // variables of all spaces have gaps around them, and an access to a gap is a fault
    bool record_writers;    // for machine_writer()
    bool count;             // not read: instructions are always counted
    bool coverage;          // not read either
    uint64_t seed;          // seed of the order of execution; 0 = fixed order
    Out *trace;             // receives the executed instructions of a lane; NULL = no trace
    uint32_t lane;          // lane of the trace
    Out *print;             // receives the output of vprintf; NULL = discarded
    MachinePoll *poll;      // NULL = none
    void *poll_user;
    HostMemory host;
    uint32_t number;  // of the machine: those with different numbers have global memory at different addresses
} MachineOptions;

typedef struct Launch {
    SymId entry;  // symbol of the module
    Dim grid, block;
    Dim cluster;            // shape of a cluster in CTAs; 0 = as the kernel requires, or 1,1,1
    uint32_t shared;        // bytes of dynamic shared memory
    const uint8_t *params;  // the kernel's parameters, each at its offset (machine_param)
    uint64_t nparams;
} Launch;

typedef enum { RUN_DONE, RUN_FAULT, RUN_LIMIT, RUN_STOPPED } RunStatus;

// A second access in an error.
typedef struct RelatedAccess {
    const Fn *fn;  // NULL = there is none
    InstrId instr;
    Dim block, thread;
    char text[60];
} RelatedAccess;

// The reason for the end of a run.
typedef struct RunError {
    RunStatus status;
    char text[400];
    const Fn *fn;  // NULL = the error has no instruction
    InstrId instr;
    Dim block, thread;
    RelatedAccess other;  // of a data race: the earlier access
} RunError;

// Makes a machine with the initial values of the module's variables. The module must have been read with positions, and
// must outlive the machine.
Machine *machine_new(Heap *heap, const Module *m, MachineOptions options);
void machine_free(Machine *m);
// Returns the options. Between launches max_steps and print may change.
MachineOptions *machine_options(Machine *m);
// Restores the initial values of module variables, and frees what kernels allocated. Buffers keep their values.
void machine_reset(Machine *m);
// Allocates a zeroed buffer of global memory and returns its address. An access to the gap around the buffer is a
// fault.
uint64_t machine_alloc(Machine *m, uint64_t bytes, const char *name);
// Returns the bytes at an address of global memory; *size = number of bytes to the end of the buffer or variable. NULL
// if the address is in no buffer or variable.
uint8_t *machine_bytes(Machine *m, uint64_t address, uint64_t *size);
// Describes the buffer or variable that holds an address of global memory, for kernels of another machine. False if
// there is none. The range is valid until a launch or a reset of this machine.
bool machine_range(Machine *m, uint64_t address, HostRange *range);
// True if kernels can reach a range of the host's memory: it is not empty, does not contain address 0, and overlaps no
// addresses of the machine.
bool machine_can_reach(const HostRange *range);
// Returns the address of a module variable in global or constant memory, or 0.
uint64_t machine_symbol(const Machine *m, SymId s);
// Returns the offset of a kernel's parameter in Launch.params, and its size in *bytes.
uint64_t machine_param(const Module *m, SymId entry, uint32_t k, uint64_t *bytes);
uint32_t machine_params(const Module *m, SymId entry);

bool machine_run(Machine *m, const Launch *l);
const RunError *machine_error(const Machine *m);
// Writes the error with its place: `block 0,0,0, thread 9,0,0: trap (at k.cu:3)`.
enum { MACHINE_ERROR_TEXT = 800 };
void machine_error_text(const Machine *m, char text[static MACHINE_ERROR_TEXT]);

// Lanes of a warp at one place that have not ended, when a run stops at a deadlock, at max_steps or by its poll, or
// during a poll.
typedef struct RunWait {
    const Fn *fn;
    InstrId instr;  // the next one
    Dim block;
    uint32_t warp, lanes;  // number in the block, mask
    char text[200];        // the event for which the lanes wait
} RunWait;
// Returns the waits of the last launch, by block and warp; *n = 0 if it did not stop in this way. During a poll: those
// of the running launch. Blocks that have not started have no entries; *unstarted = their number. Valid until the next
// launch, or until the poll returns true.
const RunWait *machine_waits(Machine *m, uint32_t *n, uint64_t *unstarted);
uint64_t machine_steps(const Machine *m);  // steps of the last launch, as max_steps counts them

// With follow_undef: returns the states of the bytes from an address of global memory to the end of the buffer or
// variable. 1 = defined, 0 = undefined; NULL = all bytes are defined. Buffers and variables are initially defined. A
// value is undefined if it depends on an unwritten value. Valid until the next launch.
const uint8_t *machine_defined(Machine *m, uint64_t address);
// With follow_undef: returns the first instruction of the last launch at which an undefined value affected a branch, an
// address or a barrier. After this instruction, definedness is unknown. NULL if there was none.
const RunError *machine_unspecified(const Machine *m);
// With record_writers: returns in *block and *thread the CTA and the thread that wrote a byte of global memory last, in
// all launches. An asynchronous copy counts at its issue. False if no thread wrote the byte.
bool machine_writer(Machine *m, uint64_t address, Dim *block, Dim *thread);
// Returns the instruction of that write, and its function; 0 if no thread wrote the byte.
InstrId machine_store(Machine *m, uint64_t address, const Fn **fn);

// Counts of an instruction in the last launch: executions by groups and by threads; threads that took a branch, and
// that did not.
typedef struct Executed {
    const Fn *fn;
    InstrId instr;
    uint64_t warps, threads, taken, not_taken;
} Executed;
typedef void ExecutedVisit(void *user, const Executed *e);
// Visits all instructions of all functions in the order of the input, also those that never ran.
void machine_executed(const Machine *m, ExecutedVisit *visit, void *user);

#endif
