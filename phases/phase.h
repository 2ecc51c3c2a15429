// SPDX-License-Identifier: MIT
// Phases and the manager that runs them.
#ifndef ORI_PHASE_H
#define ORI_PHASE_H

#include "ir/analysis/analysis.h"
#include "ir/core/ir.h"
#include "knobs/knobs.h"
#include "sm/sm.h"

/* -- The table ---------------------------------------------------------------------------------------------- */

typedef enum {
    PK_VERIFY,
    PK_REPORT,
    PK_ANALYSIS,
    PK_TRANSFORM,
    PK_LOWER,
    PK_UPDATE,
    PK_HOOK,
    PK_MACHINE,
    PK_GRAPHICS,
    PK_BOOKKEEPING,
    PK_SUBPASS
} PhaseKind;
typedef enum { PG_ALWAYS, PG_O1, PG_O2, PG_O3, PG_O0_ONLY } PhaseGate;
typedef enum { PS_FUNCTION, PS_MODULE } PhaseScope;
typedef enum { PF_ANY, PF_MULTI, PF_SSA, PF_TO_SSA, PF_TO_MULTI } PhaseForm;
enum {
    PHASE_SLOTS = 159,
    PHASE_ROWS = 175,
    PH_APPLY_RECIPES = 1,
    PH_EARLY_LIVE_DEAD = 10,
    PH_GENERAL_OPTIMIZE_EARLY = 13,
    PH_BRANCH_OPT = 15,
    PH_GENERATE_MOV_PHI = 23,
    PH_GENERAL_OPTIMIZE_MID = 37,
    PH_GENERAL_OPTIMIZE_MID2 = 46,
    PH_GVN_CSE = 49,
    PH_REASSOCIATE = 50,
    PH_EQUAL_PHIS = 52,
    PH_LIVE_DEAD_THIRD = 61,
    PH_REDUNDANT_PHIS = 62,
    PH_LATE_COMMONING = 64,
    PH_GENERAL_OPTIMIZE_LATE2 = 65,
    PH_CONVERT_MOV_PHI = 73,
    PH_BACK_PROP_VREG = 82,
    PH_BACK_COPY_PROPAGATE = 83,
    PH_LIVE_DEAD_FOURTH = 84,
    PH_REMOVE_NOP_CODE = 107,
    PH_COPY_PROP = 159,
    PH_PROMOTE_MEMORY = 160,
    PH_COMMONING = 161,
    PH_SIMPLE_LIVE_DEAD = 162,
    PH_GLOBAL_OPT = 163,
    PH_REMOVE_REDUNDANT_MOV = 164,
    PH_FOLD = 165,
    PH_INFER_SPACES = 166,
    PH_STORE_FORWARDING = 167,
    PH_FORM_LOP3 = 168,
    PH_SIMPLIFY_PREDICATES = 170,
    PH_INLINE = 171,
    PH_DEAD_FUNCTIONS = 172,
    PH_DEVIRTUALIZE = 173,
    PH_SHRINK_SIGNATURES = 174,
};

// A body returns progress: true exactly if it changed the function or the module.
typedef bool PhaseBody(Ctx *ctx, Fn *fn);
typedef bool ModuleBody(Ctx *ctx, Module *m);

typedef struct PhaseInfo {
    const char *name;
    PhaseBody *body;     // NULL = none, or that of the SM backend
    ModuleBody *module;  // of a row of scope PS_MODULE
    PhaseKind kind;
    PhaseGate gate;
    PhaseScope scope;
    PhaseForm form;
    uint32_t classes;       // IC_* that the body looks for
    uint32_t needs, keeps;  // AnalysisMask; keeps: also PROP_*
    const char *summary;
} PhaseInfo;
extern const PhaseInfo phase_info[PHASE_ROWS];

// A phase object as documented: a vtable of five slots, and the context.
typedef struct Phase Phase;
typedef struct PhaseVtable {
    bool (*execute)(Phase *phase, Fn *fn);  // for a row of scope PS_FUNCTION
    int (*get_index)(const Phase *phase);
    bool (*is_noop)(const Phase *phase);
    void (*reserved[2])(void);
} PhaseVtable;
struct Phase {
    const PhaseVtable *vtable;
    Ctx *ctx;
};

/* -- Plans -------------------------------------------------------------------------------------------------- */

typedef struct PlanEntry {
    uint8_t row;
    uint8_t slot;    // the row itself, or the slot that a sub-pass follows
    uint8_t recipe;  // recipe of the entry, plus 1; 0 = none
    bool inserted;   // conversion that the manager inserted for the form of the next row
    bool in_range;   // in lists: the entry is one of a range A..B
} PlanEntry;

typedef struct Plan {
    VEC(PlanEntry) at;
    bool off[PHASE_ROWS];  // disabled rows, for bundles that run sub-passes
    bool named;            // an option or a knob lists the rows
} Plan;

// A range of entries of a plan: one row of scope PS_MODULE, or rows that run over one function after the other.
typedef struct Stage {
    uint32_t first, end;
} Stage;

// Values of the knobs that determine a plan and the dumps; NULL = not set.
typedef struct PlanKnobs {
    const char *named, *disabled, *recipes, *dumped;
} PlanKnobs;

typedef enum { VM_NONE, VM_FINAL, VM_EACH } VerifyMode;
typedef enum { PC_OFF, PC_ALL, PC_QUIET, PC_DIFF } PrintChanged;

typedef struct PhaseOptions {
    int level;                   // -O
    const char *named;           // --named-phases, NULL = the default plan
    const char *disabled;        // --disable-phases
    const char *disable_option;  // the spelling that set `disabled`, for messages; NULL = --disable-phases
    const char *start, *stop;    // --start-before, --stop-after
    bool stay_in_ssa;            // the output may be in ssa form
    VerifyMode verify;
    const char *print_before, *print_after;  // lists of phases
    bool print_before_all, print_after_all;
    PrintChanged print_changed;
    const char *filter_funcs, *filter_phases;  // globs, NULL = all
    const char *dump_dir;                      // --ir-dump-dir
    bool dump_cfg;                             // dumps are control flow graphs for Graphviz
    bool self_clone, self_roundtrip;           // --self-check
    bool contracts;                            // check the contract of each phase (manager/self_check.c)
    bool positions;                            // readers keep the source offset of each instruction
    bool reports;                              // the default plan has the report slots too
    bool timing, stats;
    double max_seconds;  // 0 = none
    SmTarget target;     // -arch; no backend = the target of the module
} PhaseOptions;

// Callbacks around each phase; fn is NULL around a phase over the module.
typedef struct PhaseWatch {
    void *user;
    void (*before)(void *user, Fn *fn, int row);
    void (*after)(void *user, Fn *fn, int row, bool progress);
} PhaseWatch;

// Called before each phase, on the thread that runs it; fn is NULL before a phase over the module. `number`: of the
// function in the module, from 1. Only reads.
typedef void PhaseBegin(void *user, const Fn *fn, uint32_t number, int row);

// The current run of a phase, for its body.
typedef struct Run {
    int row;                // row of the table
    int slot;               // the row itself, or the slot that a sub-pass follows
    int level;              // optimization level
    uint32_t requested;     // AnalysisMask: requests of the body, set after it ran
    uint32_t keeps, gains;  // PROP_*: kept in spite of progress; established
    uint32_t changes;       // CHANGE_*: kinds of change that the body may have made
    bool settles;           // the body has set Fn.settled
    bool repeats;           // the body repeats its work; only remarks that are RM_PASSED are new
} Run;

// Kinds of change by a sub-pass, for bundles.
enum {
    CHANGE_DEFINITIONS = 1 << 0,  // registers have new definitions
    CHANGE_USES = 1 << 1,         // operands name other registers
    CHANGE_CONSTANTS = 1 << 2,    // operands or results became constants
    CHANGE_FEWER_USES = 1 << 3,   // results that patterns of OriFold match have one use instead of several
    CHANGE_COPIES = 1 << 4,       // operands name the sources of plain moves
    CHANGE_FEWER_EDGES = 1 << 5,  // edges of the control flow graph were removed
    CHANGE_GUARDS = 1 << 6,       // guards are other registers
    CHANGE_EQUAL_USES =
        1 << 7,  // the first two operands of an instruction became equal, or the definition of one reads the other
    CHANGE_CONDITIONS = 1 << 8,   // comparisons or selects read other operands, or predicates have other values
    CHANGE_CHAINS = 1 << 9,       // integer chains compute their values in another order
    CHANGE_PHIS = 1 << 10,        // phis have other inputs
    CHANGE_FEWER_LIVE = 1 << 11,  // fewer values are live
    CHANGE_ALL = (1 << 12) - 1
};

// Costs of the rewrites by sub-passes of phase 37 in a function (003, "Phase 37 Fold Cost Model").
typedef struct MidCosts {
    bool counts;      // phase 37 runs
    uint32_t rounds;  // in which a sub-pass made progress
    double total;     // number of rewrites of live instructions
    double weighted;  // sum of their weights
    double count;     // number of rewrites
} MidCosts;

// COUNTER(name): the counters of phase 58 (scalar/share_moves.c). Moves that pass the gates; registers that entered a
// slot; sources that newer ones displaced; readers of another register of a slot; readers of the source; registers and
// sources that a write removed; moves that were not eligible.
// clang-format off
#define LATE_COUNTERS(COUNTER) \
    COUNTER(considered) COUNTER(entered) COUNTER(evicted) COUNTER(replaced) COUNTER(folded) COUNTER(forgotten) \
    COUNTER(refused)
// clang-format on
typedef struct LateMoves {
#define COUNTER(name) uint32_t name;
    LATE_COUNTERS(COUNTER)
#undef COUNTER
} LateMoves;

// COUNTER(name): the counters of phase 49 (redundancy/gvn_cse.c).
// clang-format off
#define GVN_COUNTERS(COUNTER) \
    COUNTER(T1) COUNTER(T2) COUNTER(T3) COUNTER(T4) COUNTER(T5) COUNTER(T6) COUNTER(replaced) COUNTER(moves) \
    COUNTER(drained)
// clang-format on
typedef struct GvnCounters {
#define COUNTER(name) uint32_t name;
    GVN_COUNTERS(COUNTER)
#undef COUNTER
} GvnCounters;

// COUNTER(name, text): the counters of phases over the module, and of OriDevirtualize. Calls that a body replaced;
// calls through registers that became direct; removed definitions of functions, and variables; variables by the class
// that they had for GlobalOpt.
// clang-format off
#define MODULE_COUNTERS(COUNTER) \
    COUNTER(calls_inlined, "calls inlined") COUNTER(calls_devirtualized, "calls devirtualized") \
    COUNTER(functions_removed, "functions removed") COUNTER(variables_removed, "variables removed") \
    COUNTER(variables_promoted, "variables promoted") COUNTER(variables_split, "variables split") \
    COUNTER(mallocs_replaced, "mallocs replaced") COUNTER(variables_own, "own variables") \
    COUNTER(variables_internal, "internal variables") COUNTER(variables_open, "open variables")
// clang-format on
typedef struct ModuleCounters {
#define COUNTER(name, text) uint32_t name;
    MODULE_COUNTERS(COUNTER)
#undef COUNTER
} ModuleCounters;

// Statistics of one function.
typedef struct FnStats {
    Name name;
    uint32_t instrs_in, instrs_out, blocks_in, blocks_out, reachable_out, regs_in, regs_out;
    uint64_t local_in, local_out;  // bytes of variables in .local
    uint32_t ran, changed;         // phases
    uint32_t skipped;              // phases whose classes of instructions the function lacks
    uint32_t pipeline_counter;     // Fn.pipeline_counter at the end
    MidCosts costs;
    LateMoves late;
    GvnCounters gvn;
    size_t arena_bytes;
    uint64_t hash;
    uint64_t text_hash;  // of the input as Ori text, which FH of knob settings matches
    double seconds;
} FnStats;

// A line of index.json.
typedef struct DumpEntry {
    const char *function, *file;  // file: NULL if the phase changed nothing
    uint32_t sequence;            // phases of the function that ran, this one included
    int row;                      // -1: the input
    bool changed;
    uint64_t hash;
} DumpEntry;

typedef struct Dumps {
    bool any;            // some dump is requested
    const char *dumped;  // value of DUMPIR that `after` was made from
    bool stale;          // `dumped` may point to freed text, so `after` must be made again
    bool before[PHASE_ROWS], after[PHASE_ROWS];
    VEC(DumpEntry) index;
    // Of the running function.
    bool wanted;
    char function[1000];  // longer names are cut
    const char *index_name, *file;
    uint32_t sequence;  // number of phases that ran over the function
    Arena arena;        // of text
    TextBuffer text;    // last printed text, for differences
    // Of the running phase over the module.
    const Module *module;
    uint32_t module_phases;  // number of such phases so far
    Arena module_arena;      // of module_text
    TextBuffer module_text;  // printed before the phase
} Dumps;

struct Ctx {
    Heap heap;
    Arena arena;  // for the whole run
    Diag diag;
    Out *report;  // stream for reports and dumps; NULL = none are written
    PhaseOptions options;
    SmTarget target;            // of this run
    const KnobStore *settings;  // of knobs; NULL = none
    Knobs knobs;                // values in the current function and phase
    PlanKnobs plan_knobs;       // that `plan` was made from
    Plan plan;
    Stage stage;  // of `plan`: the running one; at first the one after the last module phase
    bool staged;  // phase_next_stage() was called
    bool (*wanted)(void *user, const Fn *fn);  // true if phases may change a function; NULL: each
    void *wanted_user;
    bool optimized;  // OriInline found that the frontend has optimized the running function
    // phases/module/module.h: KeepSymbols, Internalize if phases over the module run; NULL = none
    const struct SymbolList *kept, *internalized;
    const struct ConstantTables *tables;  // phases/module/module.h, of the module while OriInline runs; NULL = none
    bool has_calls;                       // module_has_calls(), of the module before the first phase
    bool has_variables;                   // the same of globalopt_has_variables()
    bool reads_counted;                   // `variable_reads` belongs to the module
    uint32_t variable_reads[2];           // after the last GlobalOpt: reads of variables by space, generic reads
    uint32_t recipes;                     // bit per recipe: the function meets its condition
    Dumps dumps;
    PhaseWatch watch;   // all zero = none
    PhaseBegin *begin;  // NULL = none
    void *begin_user;
    uint32_t fn_number;       // for `begin`: number of the running function
    struct Remarks *remarks;  // phases/manager/remarks.h; NULL = no remarks
    Phase phases[PHASE_ROWS];
    const Plan *running;           // plan of the running function: `plan` or `own_plan`
    Plan own_plan;                 // in memory that is freed after the function
    bool *rules_off;               // by rule: disabled; NULL = none is
    uint64_t *rule_uses;           // by rule: number of applications; NULL = none
    struct FoldForms *fold_forms;  // rules by forms of instructions; NULL until the first use
    Run run;
    MidCosts costs;              // of the running function
    LateMoves late;              // the same
    GvnCounters gvn;             // the same
    uint32_t changes;            // CHANGE_*: kinds of change that the last sub-pass may have made
    double seconds[PHASE_ROWS];  // with `timing`
    double nested_seconds;       // of the sub-passes of the running phase
    uint32_t runs[PHASE_ROWS], progress[PHASE_ROWS], skipped[PHASE_ROWS];
    VEC(FnStats) stats;
    ModuleCounters module;
    double deadline;
};

// Prepares a context for a run: keeps the heap, diagnostics, report stream, options, knob settings and watch, and
// clears all other fields. These may point into memory of an earlier run, or into a stack that was unwound. The arena
// of that run must have been freed.
void ctx_begin(Ctx *ctx);

/* manager/table.c */
// Makes the phase objects. A context without a target gets the newest one.
void phase_factory(Ctx *ctx);
// Returns the status of a row for lists: "implemented"; "off", which is implemented but in no default plan; "hook",
// "machine", "graphics" or "bookkeeping", which stay empty; or "not-yet".
const char *phase_status(int row);
// True if a row has a body on some backend: its status is "implemented" or "off".
bool phase_is_implemented(int row);
const char *phase_kind_name(PhaseKind kind);
const char *phase_form_name(PhaseForm form);
const char *phase_gate_name(PhaseGate gate);
// Returns the row of a name, `Name@index` or number. If there is none, returns -1, and `why` suggests the nearest
// names.
int phase_find(const char *text, size_t len, char why[static 400]);
// Does the same, and sets *slot to the slot of `Name@slot` for a sub-pass, else to the row.
int phase_find_at(const char *text, size_t len, int *slot, char why[static 400]);
// True if a glob matches a row by name, by number, or by both as in file names of dumps, `049-GvnCse`.
bool phase_matches(const char *glob, int row);
void phase_list(Out *out, bool json);

/* bundles/general_optimize_mid.c */
// Prepares a sub-pass that calls record_cost(): makes AN_NUSES valid while phase 37 runs.
void prepare_costs(const Ctx *ctx, Fn *fn);
// Adds to ctx->costs, while phase 37 runs, an instruction that a sub-pass is about to simplify.
void record_cost(Ctx *ctx, const Fn *fn, InstrId id);

// Records that the running phase keeps properties if they held before.
static inline void phase_keeps(Ctx *ctx, uint32_t properties) { ctx->run.keeps |= properties; }
// Records that the running phase establishes properties.
static inline void phase_gains(Ctx *ctx, uint32_t properties) { ctx->run.gains |= properties; }
// Records that the running sub-pass made only these kinds of change (CHANGE_*).
static inline void phase_changes_only(Ctx *ctx, uint32_t changes) { ctx->run.changes &= changes; }

/* manager/check_program.c */
// Runs fn_verify() if contracts are checked, or this version of the function was not verified at this level before.
bool phase_verify(Ctx *ctx, Fn *fn, int level, InstrId *at, char why[static 200]);

/* manager/dump.c */
// Writes index.json into the folder of --ir-dump-dir, if that is set. False: `why` has the reason.
bool phase_write_index(Ctx *ctx, char why[static 200]);

/* manager/plan.c */
// Sets ctx->target, from the options, else from the module (NULL: the newest). Builds ctx->plan from ctx->options and
// ctx->settings, which must not change afterwards. False: `why` names the wrong option or knob.
bool phase_plan(Ctx *ctx, const Module *m, char why[static 500]);
// Creates a knob store that checks names of phases, recipes and rules in settings.
KnobStore *phase_knobs(Arena *arena);
// Checks the value of a knob if that is a list of phases, recipes or rules. False: `why` names the wrong entry.
bool phase_check_knob(int row, const char *text, char why[static 500]);
void phase_print_plan(const Ctx *ctx, Out *out);
// Warns of rows in lists of options and knobs that do nothing on the target, once for each row of a list.
void phase_warn_idle(Ctx *ctx);
// True if some function of the module may write to ctx->report because of the plan, knobs or pragmas. The functions
// then run one after the other.
bool phase_may_report(const Ctx *ctx, const Module *m);
// Checks the knob pragmas of the module and of its functions from this index on. False: ctx->diag has the errors.
bool phase_check_pragmas(Ctx *ctx, const Module *m, uint32_t first_fn);
// Activates the knobs of a function. Returns its plan: the plan of the context, or `own`, which is made in the arena.
const Plan *phase_enter_function(Ctx *ctx, const Fn *fn, Arena *arena, Plan *own);
// Returns the hash of a function as Ori text. FH of knob settings matches that of the input.
uint64_t phase_text_hash(const Fn *fn);

/* manager/manager.c */
// Returns the default options: -O3, verification at the end. In debug builds (ORI_DEBUG): verification and check of
// contracts after each phase.
PhaseOptions phase_default_options(void);
// Parses a list of `clone`, `roundtrip`, `contracts`. False: the list has another word.
bool phase_self_checks(PhaseOptions *o, const char *list);
// Runs the current stage of the plan over a function; after the last stage, verifies it. Unwinds on internal errors.
// May replace *fn by another object. The caller calls module_note_properties() afterwards, for later functions of the
// module.
void phase_run(Ctx *ctx, Fn **fn);
// Records the functions of a module as they are before phases run over the module, if statistics or settings ask for
// it.
void phase_note_input(const Ctx *ctx, Module *m);
// Starts the first or next stage of the plan. False: there is none.
bool phase_next_stage(Ctx *ctx);
// True if the plan has a phase over the module.
bool phase_plan_has_module(const Ctx *ctx);
// True if a plan has a row. A pragma may give a function a plan of its own.
bool phase_plan_has(const Plan *plan, int row);
// Returns the row of the current stage if it is a phase over the module, else -1.
int phase_stage_row(const Ctx *ctx);
// Runs the current stage, a phase over the module, if the module has no debug information. The module is whole and
// frozen. The phase may change, add and remove functions, items and symbols.
void phase_run_module(Ctx *ctx, Module *m);
// For phases over the module. True if a phase may change a function.
bool phase_transforms(const Ctx *ctx, const Fn *fn);
// For phases over the module that changed a function: drops what no longer holds of it.
void phase_changed(Fn *fn);
// Activates knobs, dumps and remarks of a function around phase_subpass(). Returns the function's plan.
const Plan *phase_enter(Ctx *ctx, Fn *fn, Arena *arena);
void phase_leave(Ctx *ctx, Fn *fn, Arena *arena);
// Runs a sub-pass as part of the running phase, any number of times, and returns progress. Analyses, counts and dumps
// are handled as for an entry of the plan. A disabled sub-pass does not run.
bool phase_subpass(Ctx *ctx, Fn *fn, int row);
// Makes a context for a worker thread, with the plan and options of `ctx` and memory from the heap of `ctx`, which must
// have a lock. `ctx` must not change until all workers are joined. ctx_join() adds the statistics of a worker to those
// of `ctx`.
void ctx_fork(Ctx *worker, Ctx *ctx);
void ctx_join(Ctx *ctx, Ctx *worker);
void phase_print_times(const Ctx *ctx, Out *out, double read_s, double write_s, uint64_t instrs, bool json);
void phase_print_stats(const Ctx *ctx, const Module *m, Out *out, bool json);
// Prints a line for each function, for people: instructions, blocks and bytes of .local before and after, and how many
// phases changed it.
void phase_print_summary(const Ctx *ctx, const Module *m, Out *out);
double phase_clock(void);        // CPU seconds of this thread
double phase_total_clock(void);  // of the whole process

#endif
