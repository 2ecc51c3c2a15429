// SPDX-License-Identifier: MIT
// Between the files of the interpreter. program.c makes code out of functions; run.c runs it, a warp's instruction at a
// time; warp.c keeps track of which lanes are where; memory.c knows what lies at an address; collective.c and atomic.c
// do what threads do together; check.c and undef.c look on, if they are asked to.
#ifndef ORI_MACHINE_INTERNAL_H
#define ORI_MACHINE_INTERNAL_H

#include <stdlib.h>

#include "ir/analysis/analysis.h"
#include "ir/eval/eval.h"
#include "ir/machine/machine.h"

enum { LANES = 32 };
typedef uint32_t Mask;  // of lanes
#define FOR_LANES(mask, lane) \
    for (uint32_t mask_ = (mask), lane; mask_ && (lane = (uint32_t)__builtin_ctz(mask_), true); mask_ &= mask_ - 1)

typedef struct Run Run;
typedef struct Warp Warp;
typedef struct Group Group;
typedef struct Code Code;
typedef struct Func Func;
typedef struct Copies Copies;
typedef struct CtaState CtaState;

/* -- Addresses ------------------------------------------------------------------------------------------ */

// Where spaces lie among generic addresses. Global memory is all the rest above GLOBAL_BASE.
#define SHARED_WINDOW UINT64_C(0x0000010000000000)
#define LOCAL_WINDOW UINT64_C(0x0000020000000000)
#define PARAM_WINDOW UINT64_C(0x0000030000000000)  // the kernel's parameters
#define CODE_WINDOW UINT64_C(0x0000040000000000)   // functions, 16 bytes each
#define GLOBAL_BASE UINT64_C(0x0000100000000000)
#define WINDOW_BYTES UINT64_C(0x0000010000000000)

/* -- What is defined ------------------------------------------------------------------------------------ */

enum { WORD_BYTES = 8, VALUE_BYTES = 16 };

// Lanes in which each byte is, of a row and of a value. Rows and values that are less wide leave the bytes above open.
typedef struct RowStates {
    Mask byte[WORD_BYTES];
} RowStates;

typedef struct States {
    Mask byte[VALUE_BYTES];
} States;

/* -- Code ----------------------------------------------------------------------------------------------- */

// Where the 32 values of an operand come from, or go to.
typedef enum {
    REF_NONE,    // a sink
    REF_REG,     // a row of the frame
    REF_MODULE,  // a row of the warp: a register of the module
    REF_CONST,   // the same value in all lanes
    REF_UNDEF,   // any value, but always the same: UNDEF_BITS, and 0 above them
    REF_SREG,
    REF_LOCAL,  // the address of a local variable: `bits` from where the frame's begin
} RefKind;

#define UNDEF_BITS UINT64_C(0xa5a5a5a5a5a5a5a5)

typedef struct OperandRef {
    uint8_t kind;
    uint8_t width;  // Width of a register
    bool negated;   // `!`
    uint32_t at;    // row; special register
    uint64_t bits;  // REF_CONST, REF_UNDEF, REF_LOCAL
} OperandRef;

typedef struct Move {
    OperandRef to, from;
} Move;

// Where control may go: a place in Func.code, and what the phis of the block there take when it comes from here, in an
// order in which they may be written one by one.
typedef struct Way {
    uint32_t pc;
    uint32_t nmoves;
    const Move *moves;
} Way;

// What an instruction does to the lanes of a group; false: it failed, or the group went elsewhere and is not to go on.
typedef bool CodeRun(Run *r, Group *g, const Code *c);

#define NOWHERE UINT32_MAX

struct Code {
    CodeRun *run;
    const Instr *instr;
    InstrId id;
    Opcode op;
    bool guarded;
    bool converges;  // its lanes act together
    bool transfers;  // it decides where they go, and looks at its guard by itself
    OperandRef guard;
    uint32_t nin, nout;
    OperandRef *in, *out;
    const OperandRef *tied;  // by output: what it is where the guard is false; NULL = what it was
    Eval eval;
    // memory
    uint8_t space;   // Space
    uint8_t vec;     // elements
    uint8_t bytes;   // of an element
    bool extends;    // by its sign
    uint8_t action;  // Mod of atom, red, redux, vote, shfl
    Type type;
    SymId symbol;  // parameters are addressed by their names
    // control
    Way target, other;
    const Way *targets;
    uint32_t ntargets;
    uint32_t join;            // a place in Func.code, or NOWHERE
    uint64_t warps, threads;  // how often it ran, for how many lanes together
    uint64_t ways[2];         // of a branch: lanes that took it, and that did not
    uint32_t cache;           // the allocation that was found last
};

struct Func {
    const Fn *fn;
    SymId sym;
    Code *code;
    uint32_t ncode;
    uint32_t nrows;
    const uint32_t *row;      // by RegId
    uint64_t params, locals;  // bytes for each lane
    uint64_t *param_at;       // by local symbol: offset of a parameter among them
    uint64_t *local_at;       // by local symbol: offset of a variable
};

/* -- Memory --------------------------------------------------------------------------------------------- */

// Host memory that a kernel reaches. All that is copied between a kernel and the host goes through a span, and all
// spans are cut out of a larger one by span_part().
typedef struct Span {
    uint8_t *bytes;    // NULL = none: the access is out of bounds
    uint8_t *defined;  // 0 or 1 for each byte; NULL = all are
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

// The same where the caller has checked the size. If it has not, the interpreter is wrong: debug builds stop there, and
// others neither read nor write, since a library must not end the process.
static inline Span span_within(Span s, uint64_t at, uint64_t size)
{
    Span part = span_part(s, at, size);
#ifdef ORI_DEBUG
    if (!part.bytes)
        __builtin_trap();
#endif
    return part;
}

// Returns the number in `bytes` bytes (8 at most) from `at` on, lowest byte first.
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

// Copies the first bytes of a span. Definedness goes along if both keep it.
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

typedef struct Shadow Shadow;  // who touched a byte last
typedef struct Store Store;    // who wrote it, and with what

typedef struct Allocation {
    uint64_t base, size;
    uint8_t *bytes;
    uint8_t *defined;  // 0 or 1 for each byte; NULL = all are
    Shadow *shadow;    // for each byte; NULL = nobody touched any, or nobody asked
    Store *stores;     // the same
    const char *name;
    bool read_only, freed;
} Allocation;

// An access that is in bounds.
typedef struct Access {
    const Group *group;
    const Code *code;
    uint32_t lane;
    Space space;
    Allocation *allocation;  // of global memory; NULL = it is in a window
    CtaState *owner;         // of shared memory
    uint8_t *defined;        // its bytes, as in Allocation
    uint64_t at;             // in the allocation, or in the window
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
    RowStates *defined;       // by row; NULL = nobody asks
    uint8_t *params;          // func->params bytes for each lane
    uint8_t *params_defined;  // by byte; NULL = all are
    uint64_t locals;          // where its variables begin in a lane's local memory
    uint64_t dynamic;         // bytes that alloca took
    uint64_t stacked;         // bytes of parameters in a lane, those of its callers included
    uint32_t depth;
    Mask lanes;   // that are in it
    Frame *next;  // of those that are free
};

// Lanes that went apart wait here for one another.
typedef struct Join Join;
struct Join {
    Join *outer;
    Frame *frame;
    uint32_t pc;
    Mask expected, arrived;
    Join *next;  // of those that are free
};

typedef enum { GROUP_READY, GROUP_AT_BARRIER, GROUP_AT_SYNC, GROUP_AT_CLUSTER } GroupState;

// Lanes of a warp that are at one place; none: the group is free.
struct Group {
    Mask lanes;
    uint32_t pc;
    Frame *frame;
    Join *join;  // the nearest
    GroupState state;
    uint32_t barrier;  // its number
    Mask members;      // whom it waits for
    uint32_t turns;    // goes back since others had their turn
};

struct Warp {
    Run *run;
    CtaState *cta;
    uint32_t index;  // in the CTA
    Mask live;
    Mask arrived;   // at the cluster's barrier, in this phase
    Mask unwaited;  // that arrived there, in whatever phase, and have not waited since
    Group groups[LANES];
    Join *joins;     // free ones
    Frame **frames;  // by SymId of the function: free ones
    uint8_t *local[LANES];
    uint8_t *local_defined[LANES];  // by byte; NULL = all are
    uint64_t nlocal;                // bytes of each
    uint64_t (*module_rows)[LANES];
    RowStates *module_defined;  // by row; NULL = nobody asks
    Copies *copies;             // of cp.async that were not made yet; NULL = none
    bool gives_way;             // to the other warps: it waits for something that they may do
};

typedef struct Barrier {
    uint32_t arrived, wanted;  // threads, in whole warps
    uint32_t ones, noes;       // of bar.red: how many said yes, and no
    bool undefined;            // of bar.red: what somebody said
    bool everyone;             // it wants all that have not ended
} Barrier;

enum { BARRIERS = 16, DEPTH_MAX = 1000 };
// Bytes of a thread: local memory, and apart from that the parameters of its frames.
enum { LOCAL_MAX = 1 << 19, PARAMS_MAX = 1 << 19 };
// Bytes of a CTA: more than any GPU has, since the variables of all functions lie one behind the other.
enum { SHARED_BITS = 24, SHARED_MAX = 1 << SHARED_BITS };

// A CTA of the cluster that runs.
struct CtaState {
    Dim at;
    uint32_t rank;    // in the cluster
    uint32_t number;  // they count from 1 over all launches
    Warp *warps;
    uint8_t *shared, *shared_defined;  // as in Allocation
    Shadow *shadow;                    // of shared memory
    uint32_t epoch;                    // grows with each barrier of the CTA that opens
    Barrier barriers[BARRIERS];
};

struct Run {
    Machine *machine;
    const Launch *launch;
    Arena *arena;  // of the cluster
    Dim cluster;   // CTAs in each direction
    bool is_explicit;
    CtaState ctas[CLUSTER_MAX];  // by rank
    uint32_t nctas;
    CtaState *cta;              // at hand
    Warp *warp;                 // at hand
    uint32_t nthreads, nwarps;  // of a CTA
    uint64_t nshared;
    uint32_t first_cta, first_of_cluster;  // numbers of CTAs: the first of the launch, and of the cluster
    uint32_t phase;                        // grows with each barrier of the cluster that opens and orders memory
    bool relaxed;                          // some thread arrived at the cluster's barrier without ordering memory
    uint64_t steps;
    uint64_t random;               // state of run_draw()
    States defined[EVAL_OUT_MAX];  // of what the instruction at hand moves or gives, of which there are so many; the
    uint32_t ndefined;             // first stands for those behind (undef.c)
};

// Where a CTA lay in its launch.
typedef struct Cta {
    Dim at, block;
} Cta;

struct Machine {
    Heap *heap;
    Arena arena;
    const Module *module;
    MachineOptions options;
    VEC(Allocation) allocations;  // by base
    uint64_t next;                // free addresses
    uint64_t heap_used;           // bytes that kernels have from malloc
    uint64_t *symbols;            // by SymId: address; of shared variables the offset
    Func **funcs;                 // by SymId; NULL = not looked at, or no body
    uint64_t nstatic;             // bytes of static shared memory
    uint64_t nlocal;              // bytes of the module's variables in local memory
    VEC(Name) registers;          // of the module, by row
    uint32_t nctas;               // that ran, in all launches
    VEC(Cta) ctas;                // these, if writers are noted
    bool tracks;                  // what is defined
    bool observes;                // instructions: tracks, or traces
    bool watches;                 // accesses to memory
    uint64_t steps;               // of the last launch
    RunError error;
    RunError unspecified;  // no text: nothing is
};

// The operands of a call: results, the callee or its address, arguments, and a prototype or a list of callees.
typedef struct CallOperands {
    uint32_t results, callee, arguments, narguments;
} CallOperands;

/* program.c */
CallOperands call_operands(const Fn *fn, const Instr *i);
// True for formals of a kernel: they lie in the launch, not in the frame.
bool is_kernel_parameter(const Fn *fn, const Sym *s);
// The result of an instruction that is not modelled is the first of its inputs.
void code_take_result(Code *c);
void program_make(Machine *m);         // code of all functions
Func *func_of(Machine *m, SymId sym);  // NULL: it has no body
// The n-th of so many in each direction, x first.
static inline Dim dim_at(Dim all, uint32_t n) { return (Dim){n % all.x, n / all.x % all.y, n / all.x / all.y}; }

// The k-th warp of all in the cluster, in the order of the ranks of their CTAs.
static inline Warp *warp_in_cluster(const Run *r, uint32_t k) { return &r->ctas[k / r->nwarps].warps[k % r->nwarps]; }

static inline void warp_take_up(Run *r, Warp *w)
{
    r->warp = w;
    r->cta = w->cta;
}

/* memory.c */
Allocation *allocation_of(Machine *m, uint64_t address);  // that holds this byte; NULL = none
// The address that the first two inputs of an access are: a base and an offset.
uint64_t address_of(const Run *r, const Group *g, const Code *c, uint32_t lane);
void memory_lay_out(Machine *m);
// Returns the host memory of `size` bytes at an address, of which the space is the instruction's; no bytes after a
// fault. An address is a multiple of the size.
Span memory_at(Run *r, const Group *g, const Code *c, uint32_t lane, uint64_t address, uint32_t size, bool write);
// The same in another space and with another alignment.
Span memory_in(Run *r, const Group *g, const Code *c, uint32_t lane, Space space, uint64_t address, uint32_t size,
               uint32_t align, bool write);
// The same as memory_at() for bytes that are read and then written.
Span memory_changed_at(Run *r, const Group *g, const Code *c, uint32_t lane, uint64_t address, uint32_t size);
// Returns the bytes of a parameter that the call `c` passes or receives, in the caller's frame or in the callee's; no
// bytes after a fault.
Span parameter_at(Run *r, const Group *g, const Code *c, uint32_t lane, const Frame *f, SymId s);
// Returns the offset of `size` bytes placed behind *end, which moves behind them. Saturates: sums of sizes do not wrap.
uint64_t memory_place(uint64_t *end, uint64_t align, uint64_t size);
// Returns where the local memory of a frame ends in a lane.
static inline uint64_t frame_end(const Frame *f) { return f->locals + f->func->locals + f->dynamic; }
// Makes room for the local variables of the group's frame, of which those at `fresh` and behind are new. False, so that
// a call can end with it.
bool local_grow(Run *r, const Group *g, const Code *c, uint64_t fresh);
CodeRun run_ld, run_st, run_cvta, run_cvta_to, run_isspacep;
// The instruction of the stack that this descriptor is. False: it is none.
bool stack_decode(const Tables *t, const Desc *d, Code *c);
/* check.c */
void check_start_cta(Run *r);
// What is to be known of an access, if the machine watches them. False: it is wrong, and was reported.
bool check_access(Run *r, const Access *a);
void check_forget(Machine *m, uint64_t variable);  // what is known of its bytes
/* undef.c: if the machine tracks what is defined */
// Before the instruction runs: what will be defined of what it moves or gives (Run.defined). False: it uses what is
// not, which was to be reported.
bool undef_begin(Run *r, const Group *g, const Code *c);
// Behind it: its results are defined where that is.
void undef_end(Run *r, const Group *g, const Code *c);
// What the access moves is defined where its bytes are, or the other way round. False as with undef_begin().
bool undef_access(Run *r, const Access *a);
// Lanes of the group that give a shuffle or vote all that it needs, what it moves left aside.
Mask undef_inputs(const Run *r, const Group *g, const Code *c);
// The guard is false in these lanes.
void undef_pass_by(Run *r, const Group *g, const Code *c, Mask lanes);
// Values that nothing wrote decided something, in one of these lanes. It is reported, if that is what was asked for.
void undef_decides(Run *r, const Group *g, const Code *c, Mask lanes);
// Lanes in which all of an operand is defined, and what it is in some of them from now on.
Mask lanes_defined(const Run *r, const Group *g, const OperandRef *o);
void set_defined(Run *r, const Group *g, const OperandRef *o, Mask lanes, Mask defined);
// A bit for each byte of it in a lane, those above its width being ones.
enum { ALL_BYTES = 0xffff };
uint32_t bytes_defined(const Run *r, const Group *g, const OperandRef *o, uint32_t lane);
void set_bytes_defined(Run *r, const Group *g, const OperandRef *o, uint32_t lane, uint32_t defined);
void move_defined(Run *r, const Group *g, const OperandRef *to, const OperandRef *from, Mask lanes);
/* warp.c */
void warp_start(Warp *w, const Func *f, Mask lanes);
// False, after a fault, if the group can not call the function: its stack is too deep or too large.
bool frame_fits(Run *r, const Group *g, const Code *c, const Func *f);
Frame *frame_new(Warp *w, const Func *f, Frame *caller, const Code *call, Mask lanes);
// The group goes on at `pc` of its frame; if that is where it is waited for, it waits, too.
void group_go(Warp *w, Group *g, uint32_t pc);
// Some lanes of the group, and not all, in a group of their own at the same place.
Group *group_split(Warp *w, Group *g, Mask lanes);
// From here on the group's lanes wait for one another at `pc` of its frame.
void group_join(Warp *w, Group *g, uint32_t pc);
void group_call(Warp *w, Group *g, const Func *f, const Code *call, uint32_t back);
void group_return(Warp *w, Group *g);  // to the caller
void group_end(Warp *w, Group *g);     // its lanes end
// The group that runs next; NULL = all wait, or none is left.
Group *warp_next(Warp *w);
/* run.c */
uint64_t run_draw(Run *r);  // a random number if the order of execution has a seed, otherwise 0
// True if reads of the special register have a value here.
bool sreg_is_known(Sreg sreg);
CodeRun run_eval, run_addr, run_undef, run_nothing, run_unsupported, run_unknown_sreg;
// Says where a message is about; c = NULL: no instruction.
void locate(const Run *r, const Group *g, const Code *c, uint32_t lane, RunError *e);
bool fault(Run *r, const Group *g, const Code *c, uint32_t lane, const char *fmt, ...)
    __attribute__((cold, format(printf, 5, 6)));
uint64_t read_lane(const Run *r, const Group *g, const OperandRef *o, uint32_t lane);
uint64_t read_high(const Run *r, const Group *g, const OperandRef *o, uint32_t lane);  // bits 64 to 127
void write_lane(Run *r, const Group *g, const OperandRef *o, uint32_t lane, Value v);
// A register takes an operand's value, defined or not.
void move_lanes(Run *r, const Group *g, const OperandRef *to, const OperandRef *from, Mask lanes);
/* builtin.c */
// A function that the system gives: vprintf, malloc, free, __assertfail.
bool run_builtin(Run *r, Group *g, const Code *c, SymId s);
/* control.c */
Mask lanes_where(const Run *r, const Group *g, const OperandRef *o);  // lanes of the group whose operand is true
CodeRun run_bra, run_brx, run_call, run_ret, run_exit, run_trap;
/* collective.c */
// Lanes of the warp at hand have ended: who waited for no others goes on.
void barriers_check(Run *r);
CodeRun run_bar, run_bar_warp, run_shfl, run_vote, run_match, run_redux, run_activemask, run_elect;
// True if a word stands among the modifiers behind the mnemonic of a RAW instruction.
bool code_says(const Group *g, const Code *c, const char *word);
/* cluster.c */
// Finds the shape of the launch's clusters. False after a fault.
bool cluster_shape(Run *r, const Group *g, const Code *c);
// Returns the CTA that an address in shared::cluster belongs to; NULL = there is none.
CtaState *cluster_cta(Run *r, uint64_t address);
// Returns the address in shared::cta of one in shared::cluster if it has one, otherwise the address itself.
uint64_t cluster_own(Run *r, uint64_t address);
bool cta_is_live(const Run *r, const CtaState *cta);
// Orders all that was done so far in the cluster before all that is done from now on, for the search for races.
void cluster_order(Run *r);
// Opens the barrier of the cluster if all threads have arrived or ended.
void cluster_check(Run *r);
CodeRun run_mapa, run_ctarank, run_cluster_arrive, run_cluster_wait;
/* atomic.c */
CodeRun run_atom;
/* matrix.c */
// The instruction of matrices that this descriptor is, operands being there. False: it is none, or none of these.
bool matrix_decode(const Tables *t, const Desc *d, Code *c);
/* async.c */
// The same of copies that are made later, and of barriers in memory.
bool async_decode(const Tables *t, const Desc *d, Code *c);
void async_end(Warp *w, Mask lanes);  // of threads: their copies are made

#endif
