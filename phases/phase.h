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
    PK_SUBPASS
} PhaseKind;
typedef enum { PG_ALWAYS, PG_O1, PG_O2, PG_O3, PG_O0_ONLY } PhaseGate;
typedef enum { PS_FUNCTION, PS_MODULE } PhaseScope;
typedef enum { PF_ANY, PF_MULTI, PF_SSA, PF_TO_SSA, PF_TO_MULTI } PhaseForm;
enum {
    PHASE_SLOTS = 159,
    PHASE_ROWS = 170,
    PH_APPLY_RECIPES = 1,
    PH_BRANCH_OPT = 15,
    PH_GENERATE_MOV_PHI = 23,
    PH_GENERAL_OPTIMIZE_MID = 37,
    PH_EQUAL_PHIS = 52,
    PH_LIVE_DEAD_THIRD = 61,
    PH_REDUNDANT_PHIS = 62,
    PH_CONVERT_MOV_PHI = 73,
    PH_COPY_PROP = 159,
    PH_PROMOTE_MEMORY = 160,
    PH_COMMONING = 161,
    PH_SIMPLE_LIVE_DEAD = 162,
    PH_REMOVE_REDUNDANT_MOV = 164,
    PH_FOLD = 165,
    PH_INFER_SPACES = 166,
    PH_STORE_FORWARDING = 167,
    PH_FORM_LOP3 = 168,
};

typedef bool PhaseBody(Ctx *ctx, Fn *fn);  // returns progress: whether it changed the function

typedef struct PhaseInfo {
    const char *name;
    PhaseBody *body;  // NULL = none, or the SM backend's
    PhaseKind kind;
    PhaseGate gate;
    PhaseScope scope;
    PhaseForm form;
    uint32_t needs, keeps;  // AnalysisMask; keeps: also PROP_*
    const char *summary;
} PhaseInfo;
extern const PhaseInfo phase_info[PHASE_ROWS];

// A phase object as the documents have it: a vtable of five slots, and the context.
typedef struct Phase Phase;
typedef struct PhaseVtable {
    bool (*execute)(Phase *phase, Fn *fn);
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
    uint8_t slot;    // where it stands: a slot is its own; a sub-pass follows a slot, or has none and stands at its row
    uint8_t recipe;  // the recipe that it comes from, plus 1; 0 = none
    bool inserted;   // by the manager, for the form
} PlanEntry;

typedef struct Plan {
    VEC(PlanEntry) at;
    bool off[PHASE_ROWS];  // disabled, for bundles that would run them
} Plan;

// What a plan was made from, and what is printed, as knobs say; NULL: they say nothing.
typedef struct PlanKnobs {
    const char *named, *disabled, *recipes, *dumped;
} PlanKnobs;

typedef enum { VM_NONE, VM_FINAL, VM_EACH } VerifyMode;
typedef enum { PC_OFF, PC_ALL, PC_QUIET, PC_DIFF } PrintChanged;

typedef struct PhaseOptions {
    int level;                 // -O
    const char *named;         // --named-phases, NULL = the default plan
    const char *disabled;      // --disable-phases
    const char *start, *stop;  // --start-before, --stop-after
    bool stay_in_ssa;          // do not leave ssa form at the end: the output has it
    VerifyMode verify;
    const char *print_before, *print_after;  // lists of phases
    bool print_before_all, print_after_all;
    PrintChanged print_changed;
    const char *filter_funcs, *filter_phases;  // globs, NULL = all
    const char *dump_dir;                      // --ir-dump-dir
    bool dump_cfg;                             // dumps are control flow graphs for Graphviz
    bool self_clone, self_roundtrip;           // --self-check
    bool contracts;                            // hash and recompute around each phase
    bool positions;                            // readers keep where instructions stand
    bool reports;                              // run the report slots of the default plan too
    bool timing, stats;
    double max_seconds;  // 0 = none
    SmTarget target;     // -arch; no backend: what the module says
} PhaseOptions;

// Somebody who looks on while phases run.
typedef struct PhaseWatch {
    void *user;
    void (*before)(void *user, Fn *fn, int row);
    void (*after)(void *user, Fn *fn, int row, bool progress);
} PhaseWatch;

// What a phase may ask about its own run.
typedef struct Run {
    int row;                // its row of the table
    int slot;               // of sub-passes: that which it follows; otherwise its row
    int level;              // optimization level
    uint32_t requested;     // AnalysisMask: what the body requested, once it has run
    uint32_t keeps, gains;  // PROP_*: the body keeps them in spite of its progress, or has established them
} Run;

// Figures of one function's way through the plan.
typedef struct FnStats {
    Name name;
    uint32_t instrs_in, instrs_out, blocks_in, blocks_out, reachable_out, regs_in, regs_out;
    uint32_t ran, changed;  // phases
    size_t arena_bytes;
    uint64_t hash;
    uint64_t text_hash;  // of the function as it came: what FH of knob settings means
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
    bool any;            // something of what follows is asked for
    const char *dumped;  // the value of DUMPIR that `after` is for
    bool stale;          // it is not for any value any more
    bool before[PHASE_ROWS], after[PHASE_ROWS];
    VEC(DumpEntry) index;
    // The function that runs.
    bool wanted;
    char function[1000];  // longer names are cut
    const char *index_name, *file;
    uint32_t sequence;  // phases of the function that ran
    Arena arena;        // of text
    TextBuffer text;    // as it was last printed, for differences
} Dumps;

// What the sub-passes of phase 37 did, weighed (003, "Phase 37 Fold Cost Model").
typedef struct MidCosts {
    bool counts;  // phase 37 runs
    double total, weighted, count;
    bool hidden;  // the sub-pass that ran left what others do not see through moves
} MidCosts;

struct Ctx {
    Heap heap;
    Arena arena;  // lives as long as the context
    Diag diag;
    Out *report;  // takes reports and dumps; NULL: they are not made
    PhaseOptions options;
    SmTarget target;            // the one that phases run for
    const KnobStore *settings;  // of knobs; NULL: there are none
    Knobs knobs;                // as they are where the context is: in a function, in a phase
    PlanKnobs plan_knobs;       // of `plan`
    Plan plan;
    uint32_t recipes;  // bit per recipe: whether the function meets its condition
    Dumps dumps;
    PhaseWatch watch;         // all zero: nobody does
    struct Remarks *remarks;  // where they go (phases/manager/remarks.h); NULL: nobody asked for them
    Phase phases[PHASE_ROWS];
    const Plan *running;           // the plan of the function that runs: `plan` or `own_plan`
    Plan own_plan;                 // in memory of the function that runs
    bool *rules_off;               // by rule: not to be applied; NULL: none is off
    uint64_t *rule_uses;           // by rule: how often it was applied
    const struct RuleSet *rules;   // of folding, once somebody asked
    struct FoldForms *fold_forms;  // which of them are about what; NULL: nobody asked yet
    Run run;
    uint64_t phi_limit;          // the most inputs that all phis of the function may have together
    uint32_t beyond_ssa;         // registers of the function that have more
    MidCosts costs;              // of phase 37
    double seconds[PHASE_ROWS];  // with `timing`
    double nested_seconds;       // of sub-passes that the phase that runs has run
    uint32_t runs[PHASE_ROWS], progress[PHASE_ROWS];
    VEC(FnStats) stats;
    double deadline;
};

// Prepares a context for a run: keeps the heap, where messages and reports go, options, settings of knobs and the
// watch, and clears everything else, which points into memory of an earlier run (or onto a stack that was unwound). The
// arena of that run must have been freed.
void ctx_begin(Ctx *ctx);

/* manager/table.c */
// Makes the phase objects. Without a target the context gets the newest.
void phase_factory(Ctx *ctx);
// What a row is, for lists: "implemented", "hook", "machine" or "not-yet".
const char *phase_status(int row);
const char *phase_kind_name(PhaseKind kind);
const char *phase_form_name(PhaseForm form);
const char *phase_gate_name(PhaseGate gate);
// The row that a name, `Name@index` or number means; -1 with a message that suggests the nearest names.
int phase_find(const char *text, size_t len, char why[static 400]);
// The same, and the slot that `Name@slot` of a sub-pass means; otherwise *slot is the row.
int phase_find_at(const char *text, size_t len, int *slot, char why[static 400]);
// Whether a glob means a row: by its name, its number, or both as they stand in names of dumps, `049-GvnCse`.
bool phase_matches(const char *glob, int row);
void phase_list(Out *out, bool json);

/* bundles/general_optimize_mid.c */
// Notes in ctx->costs, while phase 37 runs, that a sub-pass is about to simplify an instruction.
void note_cost(Ctx *ctx, Fn *fn, InstrId id);

// Says of the phase that runs that a property still holds behind it, if it held before.
static inline void phase_keeps(Ctx *ctx, uint32_t properties) { ctx->run.keeps |= properties; }
// Says of the phase that runs that a property holds behind it.
static inline void phase_gains(Ctx *ctx, uint32_t properties) { ctx->run.gains |= properties; }

/* manager/check_program.c */
// fn_verify(), unless this version of the function was verified at this level before. Contracts trust nothing.
bool phase_verify(Ctx *ctx, Fn *fn, int level, InstrId *at, char why[static 200]);

/* manager/dump.c */
// Writes index.json of --ir-dump-dir, if there is one. False: the reason is in `why`.
bool phase_write_index(Ctx *ctx, char why[static 200]);

/* manager/plan.c */
// Chooses the target, that of the options, else the module's (NULL: the newest), and builds ctx->plan from ctx->options
// and ctx->settings, which do not change any more. False: the message says which option or knob is wrong.
bool phase_plan(Ctx *ctx, const Module *m, char why[static 500]);
// A store for knobs of which phases are known.
KnobStore *phase_knobs(Arena *arena);
// Whether a text is a value of a knob, which is a list of phases.
bool phase_check_knob(int row, const char *text, char why[static 500]);
void phase_print_plan(const Ctx *ctx, Out *out);
// Warns of rows in lists of options and knobs that do nothing on the target, once for each row of a list.
void phase_warn_idle(Ctx *ctx);
// True if some function of the module may write to ctx->report, by the plan, by knobs or by pragmas: the functions then
// run one after the other.
bool phase_may_report(const Ctx *ctx, const Module *m);
// Looks at the knob pragmas of the module, and of functions from this index on; errors in them go to ctx->diag. False:
// there were some.
bool phase_check_pragmas(Ctx *ctx, const Module *m, uint32_t first_fn);
// Enters a function: its knobs are in force. Returns its plan, which is the context's, or `own` in the arena.
const Plan *phase_enter_function(Ctx *ctx, const Fn *fn, Arena *arena, Plan *own);
// What FH of knob settings is compared with: a hash of the function as Ori text.
uint64_t phase_text_hash(const Fn *fn);

/* manager/manager.c */
// -O3, verified at the end; debug builds (ORI_DEBUG) verify after each phase and check contracts.
PhaseOptions phase_default_options(void);
// Takes a list of `clone`, `roundtrip`, `contracts`; false: there is something else in it.
bool phase_self_checks(PhaseOptions *o, const char *list);
// Runs the plan over a function and verifies it. Unwinds on internal errors. *fn may become another object. Whoever
// runs the functions of a module says module_note_pure() behind it, for those further down.
void phase_run(Ctx *ctx, Fn **fn);
// Runs a sub-pass as a part of the phase that runs, as often as that likes; what it drops and counts, and how it shows,
// is as if the plan named it. Not where it is disabled. Returns progress.
bool phase_subpass(Ctx *ctx, Fn *fn, int row);
// A context for a thread beside others: with the plan and options of `ctx`, which stays as it is until all of them were
// joined, and memory out of its heap, which has a lock by now. ctx_join() adds its figures to those of `ctx`.
void ctx_fork(Ctx *worker, Ctx *ctx);
void ctx_join(Ctx *ctx, Ctx *worker);
void phase_print_times(const Ctx *ctx, Out *out, double read_s, double write_s, uint64_t instrs, bool json);
void phase_print_stats(const Ctx *ctx, const Module *m, Out *out, bool json);
double phase_clock(void);        // CPU seconds of this thread
double phase_total_clock(void);  // of the whole process

#endif
