// SPDX-License-Identifier: MIT
// Types and functions that the files of the interpreter share (README.md lists the files).
#ifndef ORI_MACHINE_INTERNAL_H
#define ORI_MACHINE_INTERNAL_H

#include <stdlib.h>

#include "ir/analysis/analysis.h"
#include "ir/eval/eval.h"
#include "ir/machine/machine.h"

enum { LANES = 32 };
typedef uint32_t Mask;  // a bit for each lane
#define FOR_LANES(mask, lane) \
    for (uint32_t mask_ = (mask), lane; mask_ && (lane = (uint32_t)__builtin_ctz(mask_), true); mask_ &= mask_ - 1)

typedef struct Run Run;
typedef struct Warp Warp;
typedef struct Group Group;
typedef struct Code Code;
typedef struct Func Func;
typedef struct Copies Copies;
typedef struct CtaState CtaState;
typedef struct Races Races;
typedef struct Sync Sync;  // races.h

/* -- Addresses ------------------------------------------------------------------------------------------ */

// Windows of the spaces in generic addresses. Global memory begins at GLOBAL_BASE. Constant variables are read-only
// allocations of global memory.
#define SHARED_WINDOW UINT64_C(0x0000010000000000)
#define LOCAL_WINDOW UINT64_C(0x0000020000000000)
#define PARAM_WINDOW UINT64_C(0x0000030000000000)  // the kernel's parameters
#define CODE_WINDOW UINT64_C(0x0000040000000000)   // functions, 16 bytes each
#define GLOBAL_BASE UINT64_C(0x0000100000000000)
// Global memory of machines that reach memory of the host. No host has memory there. A machine has GLOBAL_BYTES of it,
// at a place that depends on its number; the places of numbers that differ by GLOBAL_PLACES are the same.
#define GLOBAL_BASE_BESIDE_HOST UINT64_C(0x1000000000000000)
#define GLOBAL_BYTES UINT64_C(0x0000100000000000)
enum { GLOBAL_PLACES = 1 << 18 };
#define WINDOW_BYTES UINT64_C(0x0000010000000000)

/* -- Definedness ---------------------------------------------------------------------------------------- */

enum { WORD_BYTES = 8, VALUE_BYTES = 16 };

// Lanes in which each byte of a row or of a value is defined. The states of bytes above the width are arbitrary.
typedef struct RowStates {
    Mask byte[WORD_BYTES];
} RowStates;

typedef struct States {
    Mask byte[VALUE_BYTES];
} States;

/* -- Code ----------------------------------------------------------------------------------------------- */

// Source or destination of the 32 values of an operand.
typedef enum {
    REF_NONE,    // a sink
    REF_REG,     // a row of the frame
    REF_MODULE,  // a row of the warp: a register of the module
    REF_CONST,   // the same value in all lanes
    REF_UNDEF,   // an unspecified and fixed value: UNDEF_BITS, and 0 above them
    REF_SREG,
    REF_LOCAL,  // the address of a local variable: `bits` after the start of the frame's variables
} RefKind;

// Differs from the 0 of an unwritten register, so that code that relies on one of the two values gives another result.
#define UNDEF_BITS UINT64_C(0xa5a5a5a5a5a5a5a5)

typedef struct OperandRef {
    uint8_t kind;
    uint8_t width;  // Width of a register
    bool negated;   // `!`
    uint32_t at;    // row, or special register
    uint64_t bits;  // REF_CONST, REF_UNDEF, REF_LOCAL
} OperandRef;

typedef struct Move {
    OperandRef to, from;
} Move;

// An edge of the flow graph: the target in Func.code, and the moves of the target's phis, in sequential order.
typedef struct CodeEdge {
    uint32_t pc;
    uint32_t nmoves;
    const Move *moves;
} CodeEdge;

// Runs an instruction for the lanes of a group. False after a fault, or if the function has moved the group or made it
// wait.
typedef bool CodeRun(Run *r, Group *g, const Code *c);

#define NO_PC UINT32_MAX

struct Code {
    CodeRun *run;
    const Instr *instr;
    InstrId id;
    Opcode op;
    bool guarded;
    bool converges;  // convergent: lanes execute it together
    bool transfers;  // transfers control, and evaluates its guard itself
    OperandRef guard;
    uint32_t nin, nout;
    OperandRef *in, *out;
    const OperandRef *tied;  // by output: its value where the guard is false; NULL = its old value
    Eval eval;
    // memory
    uint8_t space;       // Space
    uint8_t vec;         // number of elements
    uint8_t bytes;       // size of an element
    bool extends;        // sign-extends a loaded value
    uint8_t action;      // Mod of atom, red, redux, vote, shfl
    uint8_t sem, scope;  // Mod of ld, st, atom, red, fence, membar; 0 = none
    Type type;
    SymId symbol;  // the parameter of the frame that an operand names, or 0
    // control
    CodeEdge target, other;
    const CodeEdge *targets;
    uint32_t ntargets;
    uint32_t join;            // position in Func.code, or NO_PC
    uint64_t warps, threads;  // number of executions by groups, and by lanes
    uint64_t outcomes[2];     // numbers of lanes that took a branch, and that did not
    uint32_t cache;           // index of the last allocation found
    HostRange host;           // found last in this launch
};

// A variable of shared, local or parameter memory.
typedef struct Variable {
    uint64_t at, host, size;  // address in the layout, offset in host memory
    Name name;
    const Tables *tables;  // of the name; NULL = `text` is the name
    const char *text;
} Variable;

// Adjacent variables; if the machine checks bounds, there are gaps between them.
typedef struct Layout {
    VEC(Variable) variables;  // by address
    uint64_t end, host;       // end of the addresses, and of host memory
} Layout;

struct Func {
    const Fn *fn;
    SymId sym;
    Code *code;
    uint32_t ncode;
    uint32_t first;  // number of the first instruction, counted over all functions
    uint32_t nrows;
    const uint32_t *row;      // by RegId
    uint64_t params, locals;  // bytes per lane
    uint64_t span;            // addresses of `locals`, with gaps
    uint64_t *param_at;       // by local symbol: offset of a parameter of the frame
    uint64_t *local_at;       // by local symbol: address of a variable or a parameter
    Layout variables;         // in local memory
    Layout formals;           // parameters of the frame
    Layout launched;          // parameters of the kernel
};

/* -- Memory --------------------------------------------------------------------------------------------- */

// Host memory that a kernel reaches. A kernel accesses host memory only through spans, and span_part() makes each span
// from a larger one.
typedef struct Span {
    uint8_t *bytes;    // NULL = no bytes: the access is out of bounds
    uint8_t *defined;  // 0 or 1 for each byte; NULL = all are defined
    uint64_t size;
} Span;

#define NO_SPAN ((Span){NULL, NULL, 0})

// Returns the `size` bytes of a span from `at` on, or NO_SPAN if it does not hold all of them.
static inline Span span_part(Span s, uint64_t at, uint64_t size)
{
    if (!s.bytes || at > s.size || size > s.size - at)
        return NO_SPAN;
    return (Span){s.bytes + at, s.defined ? s.defined + at : NULL, size};
}

// Does the same as span_part(), for a size that the caller has checked. If the check is missing, debug builds trap;
// other builds neither read nor write, since a library must not end the process.
static inline Span span_within(Span s, uint64_t at, uint64_t size)
{
    Span part = span_part(s, at, size);
#ifdef ORI_DEBUG
    if (!part.bytes)
        __builtin_trap();
#endif
    return part;
}

// Returns the little-endian number in `bytes` bytes (8 at most) from `at` on.
static inline uint64_t span_load(Span s, uint64_t at, uint32_t bytes)
{
    const uint8_t *from = span_within(s, at, bytes).bytes;
    uint64_t bits = 0;
    for (uint32_t k = 0; from && k < bytes; k++)
        bits |= (uint64_t)from[k] << 8 * k;
    return bits;
}

static inline void span_store(Span s, uint64_t at, uint64_t bits, uint32_t bytes)
{
    uint8_t *to = span_within(s, at, bytes).bytes;
    for (uint32_t k = 0; to && k < bytes; k++)
        to[k] = (uint8_t)(bits >> 8 * k);
}

// Copies the first bytes of a span, and their definedness if both spans track it.
static inline void span_copy(Span to, Span from, uint64_t bytes)
{
    to = span_within(to, 0, bytes);
    from = span_within(from, 0, bytes);
    if (!to.bytes || !from.bytes)
        return;
    memmove(to.bytes, from.bytes, bytes);
    if (to.defined && from.defined)
        memmove(to.defined, from.defined, bytes);
}

static inline void span_zero(Span s, uint64_t at, uint64_t bytes)
{
    Span part = span_within(s, at, bytes);
    if (part.bytes)
        memset(part.bytes, 0, bytes);
}

// True if every byte is defined.
static inline bool span_is_defined(Span s) { return !s.defined || !memchr(s.defined, 0, s.size); }

typedef struct Shadow Shadow;  // accesses to memory (races.h)
typedef struct Store Store;    // last write to a byte: thread and instruction

typedef struct Allocation {
    uint64_t base, size;
    uint8_t *bytes;
    uint8_t *defined;  // 0 or 1 for each byte; NULL = all are defined
    Shadow *shadow;    // NULL = no access yet, or not tracked
    Store *stores;     // for each byte; NULL = no write yet, or not tracked
    const char *name;
    bool read_only, freed;
} Allocation;

// An access that is in bounds.
typedef struct Access {
    const Group *group;
    const Code *code;
    uint32_t lane;
    Space space;
    Allocation *allocation;  // allocation of global memory; NULL = the access is in a window
    CtaState *owner;         // CTA of shared memory
    uint8_t *defined;        // states of the bytes, as in Allocation
    uint64_t at;             // offset in the allocation or in the window
    uint32_t size;
    bool write;
} Access;

/* -- Threads -------------------------------------------------------------------------------------------- */

typedef struct Frame Frame;
struct Frame {
    const Func *func;
    Frame *caller;
    const Code *call;  // NULL in a kernel
    uint64_t (*rows)[LANES];
    RowStates *defined;       // by row; NULL = not tracked
    uint8_t *params;          // func->params bytes for each lane
    uint8_t *params_defined;  // by byte; NULL = all are defined
    uint64_t locals;          // address of its variables in local memory
    uint64_t host;            // their offset in a lane's local memory; the same without gaps
    uint64_t dynamic;         // bytes that alloca took
    uint64_t param_bytes;     // bytes of parameters in a lane, including those of its callers
    uint32_t depth;
    Mask lanes;   // lanes in the frame
    Frame *next;  // next free frame
};

// The point at which lanes of a split group wait for one another.
typedef struct Join Join;
struct Join {
    Join *outer;
    Frame *frame;
    uint32_t pc;
    Mask expected, arrived;
    Join *next;  // next free join
};

typedef enum { GROUP_READY, GROUP_AT_BARRIER, GROUP_AT_SYNC, GROUP_AT_CLUSTER } GroupState;

// Lanes of a warp that are at one position. A group without lanes is free.
struct Group {
    Mask lanes;
    uint32_t pc;
    Frame *frame;
    Join *join;  // the innermost join
    GroupState state;
    uint32_t barrier;     // number of the barrier at which the group waits
    Mask members;         // lanes for which the group waits
    uint32_t jumps_back;  // number of backward jumps
};

struct Warp {
    Run *run;
    CtaState *cta;
    uint32_t index;  // index in the CTA
    Mask live;
    Mask arrived;   // lanes that arrived at the cluster's barrier in this phase
    Mask unwaited;  // lanes that arrived there in any phase, and have not waited since
    Group groups[LANES];
    Join *joins;     // free joins
    Frame **frames;  // by SymId of the function: free frames
    uint8_t *local[LANES];
    uint8_t *local_defined[LANES];  // by byte; NULL = all are defined
    uint64_t nlocal;                // bytes of local memory per lane
    uint64_t (*module_rows)[LANES];
    RowStates *module_defined;        // by row; NULL = not tracked
    Copies *copies;                   // pending asynchronous copies; NULL = none
    Mask failed_tests;                // lanes whose last test of an mbarrier failed
    uint32_t tested_mbarrier[LANES];  // offset of that mbarrier in shared memory
    bool yields;                      // the warp yields to other warps, since it may wait for one of them
};

typedef struct Barrier {
    uint32_t arrived, expected;  // numbers of threads, in whole warps
    uint32_t trues, falses;      // of bar.red: numbers of true and of false predicates
    bool undefined;              // of bar.red: a predicate was undefined
    bool all_warps;              // the barrier requires all warps that have not ended
} Barrier;

enum { BARRIERS = 16, DEPTH_MAX = 1000 };
// Bytes of a thread: local memory, and separately the parameters of its frames.
enum { LOCAL_MAX = 1 << 19, PARAMS_MAX = 1 << 19 };
// Bytes of a CTA: more than any GPU has, since the shared variables of all functions have disjoint places.
enum { SHARED_BITS = 24, SHARED_MAX = 1 << SHARED_BITS };

// A CTA of the current cluster.
struct CtaState {
    Dim at;
    uint32_t rank;    // rank in the cluster
    uint32_t number;  // counted from 1 over all launches
    Warp *warps;
    uint8_t *shared, *shared_defined;  // as in Allocation
    Shadow *shadow;                    // accesses to shared memory, if the machine checks races
    Barrier barriers[BARRIERS];
};

// Kinds of accesses for the race check; ACCESS_PLAIN depends on the instruction.
typedef enum {
    ACCESS_PLAIN,
    ACCESS_MBARRIER,
    ACCESS_COPY,          // by a copy that wait_group completes
    ACCESS_COPY_SOURCE,   // the same by a copy that wait_group.read completes
    ACCESS_COPY_BARRIER,  // by a copy that completes at an mbarrier
} AccessKind;

// State of the race check for a copy until it ends.
typedef struct RaceCopy {
    Sync *sync;  // of the mbarrier that the copy completes; NULL = none
    uint64_t key, time;
} RaceCopy;

struct Run {
    Machine *machine;
    const Launch *launch;
    Arena *arena;  // arena of the cluster
    Dim cluster;   // shape in CTAs
    bool is_explicit;
    CtaState ctas[CLUSTER_MAX];  // by rank
    uint32_t nctas;
    CtaState *cta;              // current CTA
    Warp *warp;                 // current warp
    uint32_t nthreads, nwarps;  // numbers per CTA
    uint64_t nshared;
    uint32_t first_cta, first_of_cluster;  // numbers of the first CTA of the launch, and of the cluster
    Races *races;                          // NULL = the machine does not check races
    uint8_t access;                        // AccessKind of the next access
    uint64_t steps;
    uint64_t pause;   // number of steps at which the run looks at its limit and polls
    uint64_t random;  // state of run_draw()
    // States of the values that the current instruction moves or computes. From value `ndefined` on, defined[0] holds
    // for all values (undef.c).
    States defined[EVAL_OUT_MAX];
    uint32_t ndefined;
};

// Position of a CTA in its launch.
typedef struct Cta {
    Dim at, block;
} Cta;

// A variable that a function declares, and that all its calls share.
typedef struct Static {
    const Func *func;
    const Sym *sym;
    uint64_t address;
} Static;

struct Machine {
    Heap *heap;
    Arena arena;
    Arena blocks;  // memory that kernels allocated
    const Module *module;
    MachineOptions options;
    VEC(Allocation) allocations;     // by base
    uint64_t next;                   // next free address
    uint64_t heap_used;              // bytes that kernels allocated by malloc
    uint64_t *symbols;               // by SymId: address; of shared variables the offset
    VEC(Static) statics;             // in global and constant memory
    Func **funcs;                    // by SymId; NULL = no body
    IdSet functions;                 // SymIds by the number of their address in CODE_WINDOW
    Layout shared;                   // static shared memory of all functions
    bool names_dynamic;              // the module names the dynamic part of shared memory
    Layout local;                    // the module's variables in local memory
    uint64_t shared_gap, stack_gap;  // between variables; 0 = bounds are not checked
    uint32_t ncode;                  // number of instructions of all functions
    VEC(Name) registers;             // registers of the module, by row
    uint32_t nctas;                  // number of CTAs that ran in all launches
    VEC(Cta) ctas;                   // positions of these CTAs, with record_writers
    bool tracks;                     // tracks definedness
    bool observes;                   // observes instructions: tracks definedness, or traces
    bool watches;                    // checks accesses to memory
    uint64_t steps;                  // steps of the last launch
    RunError error;
    VEC(RunWait) waits;    // for machine_waits()
    uint64_t unstarted;    // the same
    Run *polled;           // the launch whose poll runs; NULL = none
    RunError unspecified;  // without text: the launch is specified
};

// Positions in the operands of a call: results, the callee or its address, arguments, a prototype or a list of callees.
typedef struct CallOperands {
    uint32_t results, callee, arguments, narguments;
} CallOperands;

/* program.c */
CallOperands call_operands(const Fn *fn, const Instr *i);
// True for formals of a kernel: they are in the launch, not in the frame.
bool is_kernel_parameter(const Fn *fn, const Sym *s);
// Makes the first input of an opaque instruction its result.
void code_take_result(Code *c);
void program_make(Machine *m);         // decodes all functions
Func *func_of(Machine *m, SymId sym);  // NULL if the function has no body
// Returns the n-th position of a grid, x first.
static inline Dim dim_at(Dim all, uint32_t n) { return (Dim){n % all.x, n / all.x % all.y, n / all.x / all.y}; }

// Returns the k-th warp of the cluster, in the order of the ranks of the CTAs.
static inline Warp *warp_in_cluster(const Run *r, uint32_t k) { return &r->ctas[k / r->nwarps].warps[k % r->nwarps]; }

static inline void select_warp(Run *r, Warp *w)
{
    r->warp = w;
    r->cta = w->cta;
}

/* memory.c */
// Adds zeroed global memory, whose bytes are in this arena.
Allocation *allocate(Machine *m, Arena *arena, uint64_t bytes, const char *name);
Allocation *allocation_of(Machine *m, uint64_t address);  // the allocation that holds this byte, or NULL
SymId function_at(const Machine *m, uint64_t address);    // the function with this address, or 0
// Places a variable of a function in global or constant memory. Returns its address.
uint64_t memory_add_static(Machine *m, const Func *f, const Sym *s);
// Returns the address of an access, whose first two inputs are a base and an offset.
uint64_t address_of(const Run *r, const Group *g, const Code *c, uint32_t lane);
void memory_lay_out(Machine *m);
// Returns the host memory of `size` bytes at an address in the instruction's space; no bytes after a fault. The address
// must be a multiple of the size.
Span memory_at(Run *r, const Group *g, const Code *c, uint32_t lane, uint64_t address, uint32_t size, bool write);
// Does the same as memory_at(), with a space and an alignment.
Span memory_in(Run *r, const Group *g, const Code *c, uint32_t lane, Space space, uint64_t address, uint32_t size,
               uint32_t align, bool write);
// Does the same as memory_at(), for bytes that are read and then written.
Span memory_changed_at(Run *r, const Group *g, const Code *c, uint32_t lane, uint64_t address, uint32_t size);
// Returns the bytes of a parameter of the call `c`, in frame `f` of the caller or the callee; no bytes after a fault.
Span parameter_at(Run *r, const Group *g, const Code *c, uint32_t lane, const Frame *f, SymId s);
// Places `size` bytes after *end, moves *end after them, and returns their offset. Saturates: sums of sizes do not
// wrap.
uint64_t memory_place(uint64_t *end, uint64_t align, uint64_t size);
// Returns the end of a frame in the local memory of a lane.
static inline uint64_t frame_end(const Frame *f) { return f->locals + f->func->span + f->dynamic; }
static inline uint64_t frame_host_end(const Frame *f) { return f->host + f->func->locals + f->dynamic; }
// Allocates the local memory of the group's frame; bytes from `fresh` on are new. Always returns false, so that a call
// can return the result.
bool local_grow(Run *r, const Group *g, const Code *c, uint64_t fresh);
CodeRun run_ld, run_st, run_cvta, run_cvta_to, run_isspacep;
// Decodes an instruction on the stack. False for other instructions.
bool stack_decode(const Tables *t, const Desc *d, Code *c);
/* check.c */
void check_start_cta(Run *r);
// Checks and records an access, if the machine watches accesses. False after a fault.
bool check_access(Run *r, const Access *a);
void check_reset_variable(Machine *m, uint64_t variable);  // marks its bytes as defined and unwritten
/* bounds.c */
void layout_init(Machine *m);
// Places a variable and returns its address. `gap` = Machine.shared_gap or .stack_gap.
uint64_t layout_place(Machine *m, Layout *l, uint64_t gap, const Tables *t, const Sym *s);
// Returns the address after all variables and the last gap.
uint64_t layout_close(Layout *l, uint64_t gap);
// An access to shared, local or parameter memory at an address of a layout.
typedef struct BoundsCheck {
    Space space;
    uint64_t at;
    uint32_t size;
    bool write;
    uint64_t host;  // result: offset in host memory
} BoundsCheck;
bool bounds_check(Run *r, const Group *g, const Code *c, uint32_t lane, BoundsCheck *b, bool of_frame);
// Writes the place of an access to shared or global memory as an offset and a variable.
void variable_place(Run *r, const Access *a, char place[static 160]);
/* races.c: only if the machine checks races (Run.races), except race_sync() and race_copy() */
void race_start(Run *r, Arena *arena);
void race_start_cluster(Run *r);
void race_end_cluster(Run *r);
bool race_access(Run *r, const Access *a);
// Completes the atomic operation whose memory was accessed last. `wrote` is false for a compare that failed.
bool race_atomic(Run *r, bool wrote);
/* order.c: the same */
void race_fence(Run *r, const Group *g, const Code *c);
// Record events at barrier `n` of the CTA: the current warp arrives with these lanes; the barrier opens; the current
// warp leaves; all warps have left.
void race_bar_arrive(Run *r, uint32_t n, Mask lanes, bool waits);
void race_bar_open(Run *r, uint32_t n, bool all_warps);
void race_bar_leave(Run *r, uint32_t n, Mask lanes);
void race_bar_close(Run *r, uint32_t n);
void race_end(Warp *w, Mask lanes);  // threads end
// Records that lanes of the current warp execute an instruction with .sync together; `orders`: bar.warp.sync.
void race_collective(Run *r, Mask lanes, bool orders);
void race_cluster_arrive(Run *r, Mask lanes, bool relaxed);
void race_cluster_open(Run *r);
void race_cluster_wait(Run *r, Mask lanes);
// Returns the mbarrier that was accessed last, or NULL.
Sync *race_sync(Run *r);
void race_mbarrier_arrive(Run *r, const Group *g, const Code *c, uint32_t lane, Sync *s);
void race_mbarrier_phase(Run *r, Sync *s);
void race_mbarrier_wait(Run *r, const Group *g, const Code *c, uint32_t lane, const Sync *s);
// Returns the record of a copy that a lane starts, or of an arrival after its copies.
RaceCopy race_copy(Run *r, uint32_t lane, Sync *s, bool arrives);
void race_commit(Run *r);  // separates groups of copies
// Records that the copies of a lane up to a time have ended, or only their reads; UINT64_MAX = all copies.
void race_copied(Run *r, uint32_t lane, bool sources_only, uint64_t time);
void race_complete(Run *r, const RaceCopy *copy);  // at its mbarrier
/* waits.c */
void waits_record(Run *r);  // for machine_waits()
// Returns the number of CTAs of the launch that have started.
uint64_t waits_started(const Run *r);
/* undef.c: only if the machine tracks definedness */
// Called before an instruction: sets Run.defined to the states of the values that it moves or computes. False after a
// fault.
bool undef_begin(Run *r, const Group *g, const Code *c);
// Called after an instruction: sets the states of its results from Run.defined.
void undef_end(Run *r, const Group *g, const Code *c);
// Copies the states of a read to Run.defined, or from Run.defined to the memory of a write. False after a fault.
bool undef_access(Run *r, const Access *a);
// Returns the lanes in which the guard and all inputs of a collective instruction are defined. The value that a shuffle
// moves does not count.
Mask undef_inputs(const Run *r, const Group *g, const Code *c);
// Sets the states of the results in lanes where the guard is false.
void undef_skip(Run *r, const Group *g, const Code *c, Mask lanes);
// Records that an undefined value in one of these lanes affects more than a result. With check_uninit, this is a fault.
void undef_report_use(Run *r, const Group *g, const Code *c, Mask lanes);
// Returns the lanes in which all bytes of an operand are defined, or sets the states of some lanes.
Mask lanes_defined(const Run *r, const Group *g, const OperandRef *o);
void set_defined(Run *r, const Group *g, const OperandRef *o, Mask lanes, Mask defined);
// Returns or sets a bit for each byte of an operand in a lane. The bits above its width are ones.
enum { ALL_BYTES = 0xffff };
uint32_t bytes_defined(const Run *r, const Group *g, const OperandRef *o, uint32_t lane);
void set_bytes_defined(Run *r, const Group *g, const OperandRef *o, uint32_t lane, uint32_t defined);
void move_defined(Run *r, const Group *g, const OperandRef *to, const OperandRef *from, Mask lanes);
/* warp.c */
void warp_start(Warp *w, const Func *f, Mask lanes);
// False, after a fault, if the stack of the group is too deep or too large to call the function.
bool frame_fits(Run *r, const Group *g, const Code *c, const Func *f);
Frame *frame_new(Warp *w, const Func *f, Frame *caller, const Code *call, Mask lanes);
// Moves the group to `pc` of its frame, and into its join if the join is at `pc`.
void group_go(Warp *w, Group *g, uint32_t pc);
// Moves some but not all lanes of the group to a new group at the same position.
Group *group_split(Warp *w, Group *g, Mask lanes);
// Adds a join of the group's lanes at `pc` of its frame.
void group_join(Warp *w, Group *g, uint32_t pc);
void group_call(Warp *w, Group *g, const Func *f, const Code *call, uint32_t back);
void group_return(Warp *w, Group *g);  // to the caller
void group_end(Warp *w, Group *g);     // ends its lanes
// Returns the group that runs next; NULL if all groups wait or have ended.
Group *warp_next(Warp *w);
/* run.c */
uint64_t run_draw(Run *r);  // returns a random number if the order of execution has a seed, otherwise 0
// True if the machine implements the special register.
bool sreg_is_known(Sreg sreg);
CodeRun run_eval, run_addr, run_undef, run_fence, run_nothing, run_unsupported, run_unknown_sreg;
// Sets the position of an error; c = NULL: the error has no instruction.
void locate(const Run *r, const Group *g, const Code *c, uint32_t lane, RunError *e);
bool fault(Run *r, const Group *g, const Code *c, uint32_t lane, const char *fmt, ...)
    __attribute__((cold, format(printf, 5, 6)));
uint64_t read_lane(const Run *r, const Group *g, const OperandRef *o, uint32_t lane);
uint64_t read_high(const Run *r, const Group *g, const OperandRef *o, uint32_t lane);  // bits 64 to 127
void write_lane(Run *r, const Group *g, const OperandRef *o, uint32_t lane, Value v);
// Copies an operand's value and its states to a register.
void move_lanes(Run *r, const Group *g, const OperandRef *to, const OperandRef *from, Mask lanes);
/* builtin.c */
// Runs a function that the system provides: vprintf, malloc, free, __assertfail.
bool run_builtin(Run *r, Group *g, const Code *c, SymId s);
// Frees all memory of malloc.
void blocks_free(Machine *m);
/* control.c */
Mask lanes_where(const Run *r, const Group *g, const OperandRef *o);  // lanes of the group in which the operand is true
CodeRun run_bra, run_brx, run_call, run_ret, run_exit, run_trap;
/* collective.c */
// Continues the groups that wait only for lanes of the current warp that have ended.
void barriers_check(Run *r);
CodeRun run_bar, run_bar_warp, run_shfl, run_vote, run_match, run_redux, run_activemask, run_elect;
// True if the modifiers of a RAW instruction contain a word.
bool code_has_word(const Group *g, const Code *c, const char *word);
/* cluster.c */
// Finds the shape of the launch's clusters. False after a fault.
bool cluster_shape(Run *r, const Group *g, const Code *c);
// Returns the CTA of an address in shared::cluster, or NULL.
CtaState *cluster_cta(Run *r, uint64_t address);
// Converts an address in shared::cluster to shared::cta if it is in the current CTA. Otherwise returns it unchanged.
uint64_t cluster_own(Run *r, uint64_t address);
bool cta_is_live(const Run *r, const CtaState *cta);
// Opens the barrier of the cluster if all threads have arrived or ended.
void cluster_check(Run *r);
CodeRun run_mapa, run_ctarank, run_cluster_arrive, run_cluster_wait;
/* atomic.c */
CodeRun run_atom;
/* matrix.c */
// Decodes an instruction on matrices, after its operands. False for other instructions, and if it is not supported.
bool matrix_decode(const Tables *t, const Desc *d, Code *c);
/* async.c */
// Decodes an asynchronous copy or an instruction on an mbarrier. False for other instructions, and if it is not
// supported.
bool async_decode(const Tables *t, const Desc *d, Code *c);
// Describes the state of an mbarrier of the CTA.
void async_describe(Run *r, CtaState *cta, uint32_t offset, size_t cap, char *text);
void async_end(Warp *w, Mask lanes);  // makes the copies of threads that end
/* hints.c */
// Decodes a hint, or a fence between proxies, that is not modelled as an opcode. False for other instructions.
bool hint_decode(const Tables *t, const Desc *d, Code *c);
CodeRun run_createpolicy;

#endif
