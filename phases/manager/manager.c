// SPDX-License-Identifier: MIT
// Runs a plan over functions. Around each phase, handles knobs, forms, analyses, verification, dumps and timing.
//
// On functions of debug targets, and on functions marked FN_PASSTHROUGH, only phases that verify or report run: debug
// sections name registers and labels. PTX output is in multi form, Ori text in the form at the end of the plan.
//
// Each row with a gate above -O1 that would run spends one unit of OptBudget, whatever the row changes. When the budget
// is spent, such rows do not run, and `ctx->run.level` of all other rows is 1. Plans do not show this, since gates are
// evaluated when a plan is made.
//
// The number of phi inputs is bounded, since the product of registers and joins may be a thousand times the size of the
// function. The bound of AN_RDEFS is set before the plan runs (knob PhiInputLimit).
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <time.h>

#include "phases/manager/dump.h"
#include "phases/manager/remarks.h"
#include "phases/scalar/fold/fold_rules.h"

enum { TIDY_FROM = 1024, VERY_LARGE = 1 << 18 };  // instructions

static double cpu_seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double phase_clock(void) { return cpu_seconds(CLOCK_THREAD_CPUTIME_ID); }

double phase_total_clock(void) { return cpu_seconds(CLOCK_PROCESS_CPUTIME_ID); }

PhaseOptions phase_default_options(void)
{
#ifdef ORI_DEBUG
    return (PhaseOptions){.level = 3, .verify = VM_EACH, .contracts = true};
#else
    return (PhaseOptions){.level = 3, .verify = VM_FINAL};
#endif
}

bool phase_self_checks(PhaseOptions *o, const char *list)
{
    for (size_t n; *list; list += n + (list[n] != 0)) {
        n = strcspn(list, ",+");
        bool clone = n == 5 && memcmp(list, "clone", n) == 0, roundtrip = n == 9 && memcmp(list, "roundtrip", n) == 0;
        bool contracts = n == 9 && memcmp(list, "contracts", n) == 0;
        if (!clone && !roundtrip && !contracts)
            return false;
        o->self_clone |= clone;
        o->self_roundtrip |= roundtrip;
        o->contracts |= contracts;
    }
    return true;
}

/* -- Running -------------------------------------------------------------------------------------------- */

// Verifies a function after a row, or after the last phase (row < 0). Unwinds if it is invalid.
static void verify(Ctx *ctx, Fn *fn, int row)
{
    InstrId at;
    char why[200], function[80], where[80] = "", phase[80] = "after the last phase";
    if (phase_verify(ctx, fn, VERIFY_FORM, &at, why))
        return;
    name_text(fn->tables, fn->module->syms.at[fn->sym].name, function, sizeof function);
    if (at && ir_instr(fn, at)->desc < fn->tables->desc_first + fn->tables->descs.n) {
        Str mnemonic = tab_str(fn->tables, tab_mnem(fn->tables, ir_desc(fn, ir_instr(fn, at))->mnem)->text);
        snprintf(where, sizeof where, ", instruction %u '%.*s'", at, (int)MIN(mnemonic.len, 40), mnemonic.text);
    }
    if (row >= 0)
        snprintf(phase, sizeof phase, "%s (phase %d)", phase_info[row].name, row);
    heap_fail(&ctx->heap, ST_INTERNAL, "%s, function %s%s: %.100s", phase, function, where, why);
}

// True if a phase of this kind may run on the function. Only phases that verify or report run on functions that the
// model does not cover, and on those of debug targets.
static bool may_run(const Fn *fn, PhaseKind kind)
{
    bool looks_only = kind == PK_VERIFY || kind == PK_REPORT;
    return looks_only || !(fn->flags & (FN_PASSTHROUGH | FN_DEBUG));
}

static void run_row(Ctx *ctx, Fn **at, int row, int slot, FnStats *stats);

// Converts a function to the form of a row. A plan is made for functions in multi form, but the input may be in ssa
// form.
static void enter_form(Ctx *ctx, Fn **at, int row, FnStats *stats)
{
    PhaseForm wants = phase_info[row].form, has = (*at)->form == FORM_SSA ? PF_SSA : PF_MULTI;
    if (wants == has || (wants != PF_SSA && wants != PF_MULTI))
        return;
    int conversion = wants == PF_SSA ? PH_GENERATE_MOV_PHI : PH_CONVERT_MOV_PHI;
    if (phase_info[conversion].body) {
        run_row(ctx, at, conversion, conversion, stats);
        return;
    }
    char function[80];
    name_text((*at)->tables, (*at)->module->syms.at[(*at)->sym].name, function, sizeof function);
    heap_fail(&ctx->heap, ST_BAD_INPUT,
              "phase %s (%d) takes functions in %s form; %s is in %s form, and %s is not implemented yet",
              phase_info[row].name, row, phase_form_name(wants), function, phase_form_name(has),
              phase_info[conversion].name);
}

// Spends one unit of OptBudget for a gate above -O1. False: the budget is used up, and rows run as at -O1.
static bool gate_has_budget(Ctx *ctx, PhaseGate gate)
{
    return (gate != PG_O2 && gate != PG_O3) || knob_spend(&ctx->knobs, KNOB_OPT_BUDGET);
}

static bool execute(Ctx *ctx, Fn *fn, int row, int slot)
{
    int level = knob_left(&ctx->knobs, KNOB_OPT_BUDGET) > 0 ? ctx->options.level : MIN(ctx->options.level, 1);
    Phase *phase = &ctx->phases[row];
    double start = ctx->options.timing ? phase_clock() : 0;
    ctx->nested_seconds = 0;
    ctx->run = (Run){.row = phase->vtable->get_index(phase), .slot = slot, .level = level, .changes = CHANGE_ALL};
    uint32_t outer = analysis_requested(fn, 0);
    bool progress = phase->vtable->execute(phase, fn);
    ctx->run.requested = analysis_requested(fn, outer);
    // The time of a sub-pass is not part of the time of the phase that runs it.
    double seconds = ctx->options.timing ? phase_clock() - start : 0;
    ctx->seconds[row] += seconds - ctx->nested_seconds;
    ctx->nested_seconds = seconds;
    return progress;
}

// Runs a phase with its dumps, remarks, counts, checks and analyses. Returns progress.
static bool run_body(Ctx *ctx, Fn *fn, int row, int slot)
{
    const PhaseInfo *p = &phase_info[row];
    const PhaseOptions *o = &ctx->options;
    bool watched = ctx->dumps.wanted || o->contracts;
    dump_before(ctx, fn, row);
    if (ctx->remarks)
        remarks_run(ctx->remarks, row);
    uint64_t before = watched ? ir_hash(fn) : 0;
    bool progress = execute(ctx, fn, row, slot);
    bool changed = watched && ir_hash(fn) != before;
    ctx->runs[row]++;
    if (progress) {
        ctx->progress[row]++;
        fn->version++;
        fn->settled = ctx->run.settles ? fn->settled : 0;
        fn->properties &= p->keeps | ctx->run.keeps;
        analysis_drop(fn, p->keeps);
    }
    fn->properties |= ctx->run.gains;
    if (o->contracts)
        check_contract(ctx, fn, row, progress, changed);
    if (o->verify == VM_EACH)
        verify(ctx, fn, row);
    dump_after(ctx, fn, row, changed);
    if (fn->instrs.n >= VERY_LARGE)
        heap_trim(&ctx->heap);  // the next phase needs memory in other sizes
    if (ctx->deadline > 0 && phase_total_clock() > ctx->deadline)
        heap_fail(&ctx->heap, ST_LIMIT, "time limit reached in phase %s (%d)", p->name, row);
    return progress;
}

// Compacts a large function of which at least half is garbage, and a very large one of which at least an eighth is,
// since its instructions are most of the memory of a run.
static void tidy(Fn *fn)
{
    uint32_t n = fn->instrs.n, most = n < VERY_LARGE ? n / 2 : n / 8 * 7;
    if (n < TIDY_FROM || fn->ninstrs > most)
        return;
    analysis_drop(fn, AN_FLOW);
    fn_compact(fn);
}

// Returns the classes of instructions that a row looks for and the function lacks. If there are any, the row is
// skipped.
static inline uint32_t missing_classes(const Fn *fn, int row) { return phase_info[row].classes & ~fn->classes; }

static void skip_row(Ctx *ctx, Fn *fn, int row, int slot)
{
    ctx->skipped[row]++;
    if (ctx->options.contracts)
        check_skip(ctx, fn, row, slot);
    if (ctx->dumps.wanted)
        dump_skipped(ctx, fn, row, missing_classes(fn, row));
}

static void run_row(Ctx *ctx, Fn **at, int row, int slot, FnStats *stats)
{
    const PhaseInfo *p = &phase_info[row];
    if (!may_run(*at, p->kind) || ctx->phases[row].vtable->is_noop(&ctx->phases[row]))
        return;
    enter_form(ctx, at, row, stats);
    knobs_enter_phase(&ctx->knobs, row);
    if (!gate_has_budget(ctx, p->gate))
        return;
    if (ctx->begin)
        ctx->begin(ctx->begin_user, *at, ctx->fn_number, row);
    if (ctx->watch.before)
        ctx->watch.before(ctx->watch.user, *at, row);
    bool progress = run_body(ctx, *at, row, slot);
    stats->ran++;
    stats->changed += progress;
    tidy(*at);
    *at = self_check(ctx, *at, row);
    if (ctx->watch.after)
        ctx->watch.after(ctx->watch.user, *at, row, progress);
}

bool phase_subpass(Ctx *ctx, Fn *fn, int row)
{
    Run outer = ctx->run;
    if (ctx->running && ctx->running->off[row])
        return false;
    if (missing_classes(fn, row)) {
        skip_row(ctx, fn, row, outer.slot);
        return false;
    }
    knobs_enter_phase(&ctx->knobs, row);
    double nested = ctx->nested_seconds;
    bool progress = run_body(ctx, fn, row, outer.slot);
    ctx->nested_seconds += nested;
    knobs_enter_phase(&ctx->knobs, outer.row);
    ctx->changes = ctx->run.changes;
    ctx->run = outer;
    return progress;
}

// Returns the bytes of the variables of a function in .local.
static uint64_t local_bytes(const Fn *fn)
{
    uint64_t bytes = 0;
    for (uint32_t k = 1; k < fn->syms.n; k++) {
        const Sym *s = ir_sym(fn, k | SYM_LOCAL);
        if (s->kind == SYM_VAR && s->space == SP_LOCAL && !(s->flags & SYM_GONE))
            bytes += s->size;
    }
    return bytes;
}

// Records the statistics of a function after its plan, which it entered at `start`.
static void add_stats(Ctx *ctx, Fn *fn, FnStats *s, double start)
{
    s->instrs_out = fn->ninstrs;
    s->blocks_out = fn->nblocks;
    s->regs_out = fn->regs.n - 1;
    s->local_out = local_bytes(fn);
    s->reachable_out = analysis_need(fn, AN_RPO)->nrpo;
    s->pipeline_counter = fn->pipeline_counter;
    s->costs = ctx->costs;
    s->late = ctx->late;
    s->gvn = ctx->gvn;
    s->arena_bytes = fn->arena.size + fn->code.size;
    s->hash = ir_hash(fn);
    s->seconds = phase_clock() - start;
    VEC_PUSH(&ctx->arena, &ctx->stats, *s);
}

// True if the plan has a row that may change the function.
static bool transforms(const Fn *fn, const Plan *plan)
{
    for (uint32_t k = 0; k < plan->at.n; k++) {
        PhaseKind kind = phase_info[plan->at.at[k].row].kind;
        if (kind == PK_TRANSFORM || kind == PK_LOWER || kind == PK_SUBPASS || kind == PK_HOOK)
            return may_run(fn, PK_TRANSFORM);
    }
    return false;
}

// Clears the declared types of registers. A declared type restricts the operands that may name the register, and phases
// rename registers. The module declares named registers, so these keep their types.
static void forget_types(Fn *fn)
{
    for (RegId r = 1; r < fn->regs.n; r++)
        if (!(ir_reg(fn, r)->flags & REG_NAMED))
            ir_reg(fn, r)->type = TY_NONE;
}

// Returns the maximum number of phi inputs for the size of the function.
static uint64_t phi_limit(Ctx *ctx, const Fn *fn)
{
    enum { SMALL = 64 };  // allowance of instructions for small functions
    return (uint64_t)knob_int(&ctx->knobs, KNOB_PHI_LIMIT) * ((uint64_t)fn->ninstrs + SMALL);
}

const Plan *phase_enter(Ctx *ctx, Fn *fn, Arena *arena)
{
    arena_init(arena, &ctx->heap);
    ctx->own_plan = (Plan){0};
    ctx->running = phase_enter_function(ctx, fn, arena, &ctx->own_plan);
    ctx->costs = (MidCosts){0};
    ctx->late = (LateMoves){0};
    ctx->gvn = (GvnCounters){0};
    ctx->recipes = UINT32_MAX;  // all of them, until phase 1 evaluates the conditions
    if (transforms(fn, ctx->running)) {
        forget_types(fn);
        fn->phi_limit = phi_limit(ctx, fn);
    }
    dump_start(ctx, fn);
    if (ctx->remarks)
        remarks_start(ctx->remarks);
    return ctx->running;
}

void phase_leave(Ctx *ctx, Fn *fn, Arena *arena)
{
    dump_end(ctx, fn);
    analysis_drop(fn, 0);
    ctx->running = NULL;
    arena_free(arena);
}

// Returns the range of the plan's entries that run over a function in the current stage. A function with a plan of its
// own runs all of its entries in the last stage.
static Stage stage_of(const Ctx *ctx, const Plan *plan)
{
    bool last = ctx->stage.end == ctx->plan.at.n;
    return plan == &ctx->plan ? ctx->stage : (Stage){0, last ? plan->at.n : 0};
}

static FnInput input_of(const Fn *fn, bool hash)
{
    return (FnInput){.instrs = fn->ninstrs,
                     .blocks = fn->nblocks,
                     .regs = fn->regs.n - 1,
                     .local_bytes = hash ? local_bytes(fn) : 0,
                     .text_hash = hash ? phase_text_hash(fn) : 0};
}

void phase_note_input(const Ctx *ctx, Module *m)
{
    bool changes = phase_plan_has_module(ctx);
    bool all = ctx->options.stats || knob_has_hashes(ctx->settings);
    for (uint32_t k = 0; k < m->fns.n; k++) {
        Fn *fn = m->fns.at[k];
        if (fn)
            fn->input = NULL;
        if (!fn || !(fn->flags & FN_DEFINED) || !changes || !(all || fn->knobs.n))
            continue;
        FnInput input = input_of(fn, true);
        fn->input = arena_copy(&fn->arena, &input, sizeof input);
    }
}

// The state of a plan that continues after a phase over the module.
typedef struct Paused {
    uint32_t recipes, nleft;
    MidCosts costs;
    LateMoves late;
    GvnCounters gvn;
    FnStats stats;
    double seconds;
    int64_t left[];  // of budgets
} Paused;

static void pause_plan(const Ctx *ctx, Fn *fn, const FnStats *s, double seconds)
{
    uint32_t n = knobs_budgets(&ctx->knobs);
    fn->npaused = (uint32_t)(sizeof(Paused) + n * sizeof(int64_t));
    Paused *p = fn->paused = arena_alloc(&fn->arena, fn->npaused);
    *p = (Paused){ctx->recipes, n, ctx->costs, ctx->late, ctx->gvn, *s, seconds};
    memcpy(p->left, knobs_left(&ctx->knobs), n * sizeof *p->left);
}

// Continues a plan; returns the seconds that it has run.
static double resume_plan(Ctx *ctx, Fn *fn, FnStats *s)
{
    const Paused *p = fn->paused;
    if (!p)
        return 0;
    fn->paused = NULL;
    ctx->recipes = p->recipes;
    ctx->costs = p->costs;
    ctx->late = p->late;
    ctx->gvn = p->gvn;
    s->ran = p->stats.ran;
    s->changed = p->stats.changed;
    s->skipped = p->stats.skipped;
    if (p->nleft && p->nleft == knobs_budgets(&ctx->knobs))
        memcpy(knobs_left(&ctx->knobs), p->left, p->nleft * sizeof *p->left);
    return p->seconds;
}

void phase_run(Ctx *ctx, Fn **at)
{
    Fn *fn = *at;
    bool last = ctx->stage.end == ctx->plan.at.n;
    bool timed = ctx->options.stats, stats = timed && last;
    FnInput input = fn->input ? *fn->input : input_of(fn, stats);
    FnStats s = {.name = fn->module->syms.at[fn->sym].name,
                 .instrs_in = input.instrs,
                 .blocks_in = input.blocks,
                 .regs_in = input.regs,
                 .local_in = input.local_bytes,
                 .text_hash = input.text_hash};
    double start = timed ? phase_clock() : 0;
    Arena arena;
    const Plan *plan = phase_enter(ctx, fn, &arena);
    Stage stage = stage_of(ctx, plan);
    start -= resume_plan(ctx, fn, &s);
    for (uint32_t k = stage.first; k < stage.end; k++) {
        const PlanEntry *e = &plan->at.at[k];
        if (phase_info[e->row].scope == PS_MODULE || (e->recipe && !(ctx->recipes >> (e->recipe - 1) & 1)))
            continue;
        if (missing_classes(*at, e->row) && may_run(*at, phase_info[e->row].kind)) {
            skip_row(ctx, *at, e->row, e->slot);
            s.skipped++;
        } else {
            run_row(ctx, at, e->row, e->slot, &s);
        }
    }
    // If the input was in ssa form, maybe no row of the plan required multi form.
    if ((*at)->form == FORM_SSA && !ctx->options.stay_in_ssa && last)
        run_row(ctx, at, PH_CONVERT_MOV_PHI, PH_CONVERT_MOV_PHI, &s);
    fn = *at;
    if (!last && stage.first < stage.end)
        pause_plan(ctx, fn, &s, timed ? phase_clock() - start : 0);
    if (!knob_int(&ctx->knobs, KNOB_PTXAS_WORKAROUNDS))
        fn->flags |= FN_NO_WORKAROUNDS;
    if (ctx->options.verify != VM_NONE && last)
        verify(ctx, fn, -1);
    if (stats)
        add_stats(ctx, fn, &s, start);
    phase_leave(ctx, fn, &arena);
}

/* -- Modules -------------------------------------------------------------------------------------------- */

int phase_stage_row(const Ctx *ctx)
{
    const Stage *s = &ctx->stage;
    int row = s->first < s->end ? ctx->plan.at.at[s->first].row : -1;
    return row >= 0 && phase_info[row].scope == PS_MODULE && s->end == s->first + 1 ? row : -1;
}

bool phase_plan_has_module(const Ctx *ctx)
{
    for (uint32_t k = 0; k < ctx->plan.at.n; k++)
        if (phase_info[ctx->plan.at.at[k].row].scope == PS_MODULE)
            return true;
    return false;
}

// True if a row runs over the module. Recipes do only if the module has variables that they may change; otherwise the
// functions run their plans without a break.
static bool runs_over_module(const Ctx *ctx, const PlanEntry *e)
{
    return phase_info[e->row].scope == PS_MODULE && (!e->recipe || ctx->has_variables);
}

bool phase_next_stage(Ctx *ctx)
{
    const Plan *plan = &ctx->plan;
    uint32_t n = plan->at.n, first = ctx->staged ? ctx->stage.end : 0;
    if (ctx->staged && first == n && phase_stage_row(ctx) < 0)
        return false;
    bool module = first < n && runs_over_module(ctx, &plan->at.at[first]);
    uint32_t end = first + module;
    while (!module && end < n && !runs_over_module(ctx, &plan->at.at[end]))
        end++;
    ctx->stage = (Stage){first, end};
    ctx->staged = true;
    return true;
}

// Returns a hash of the functions and the items of a module.
static uint64_t hash_module(const Module *m)
{
    uint64_t h = m->items.n;
    for (uint32_t k = 0; k < m->items.n; k++) {
        const Item *item = &m->items.at[k];
        h = hash_mix(h, (uint64_t)item->kind << 32 | item->index);
        if (item->kind == ITEM_FN)
            h = hash_mix(h, ir_hash(m->fns.at[item->index]));
    }
    return h;
}

// Converts the functions of a module to the form of a row.
static void enter_form_of_module(Ctx *ctx, Module *m, int row)
{
    for (uint32_t k = 0; k < m->fns.n; k++) {
        Fn *fn = m->fns.at[k];
        if (!fn || fn->form != FORM_SSA || phase_info[row].form != PF_MULTI || !phase_transforms(ctx, fn))
            continue;
        Arena arena;
        phase_enter(ctx, fn, &arena);
        phase_subpass(ctx, fn, PH_CONVERT_MOV_PHI);
        phase_leave(ctx, fn, &arena);
    }
}

bool phase_transforms(const Ctx *ctx, const Fn *fn)
{
    bool wanted = !ctx->wanted || ctx->wanted(ctx->wanted_user, fn);
    return fn->flags & FN_DEFINED && wanted && may_run(fn, PK_TRANSFORM);
}

void phase_changed(Fn *fn)
{
    fn->version++;
    fn->settled = 0;
    fn->properties = 0;
    analysis_drop(fn, 0);
}

// Checks the functions of a module after a row.
static void check_module(Ctx *ctx, Module *m, int row)
{
    for (uint32_t k = 0; k < m->fns.n; k++) {
        Fn *fn = m->fns.at[k];
        if (!fn || !(fn->flags & FN_DEFINED))
            continue;
        if (ctx->options.verify == VM_EACH)
            verify(ctx, fn, row);
        if (phase_transforms(ctx, fn))
            m->fns.at[k] = self_check(ctx, fn, row);
    }
}

void phase_run_module(Ctx *ctx, Module *m)
{
    const PhaseOptions *o = &ctx->options;
    int row = phase_stage_row(ctx);
    bool watched = ctx->dumps.any || o->contracts;
    if (m->debug)
        return;
    enter_form_of_module(ctx, m, row);
    dump_module_before(ctx, m, row);
    if (ctx->begin)
        ctx->begin(ctx->begin_user, NULL, 0, row);
    if (ctx->watch.before)
        ctx->watch.before(ctx->watch.user, NULL, row);
    uint64_t before = watched ? hash_module(m) : 0;
    double start = o->timing ? phase_clock() : 0;
    ctx->nested_seconds = 0;
    ctx->run = (Run){.row = row, .slot = row, .level = o->level, .changes = CHANGE_ALL};
    bool progress = phase_info[row].module(ctx, m);
    ctx->seconds[row] += o->timing ? phase_clock() - start - ctx->nested_seconds : 0;
    bool changed = watched && hash_module(m) != before;
    ctx->runs[row]++;
    ctx->progress[row] += progress;
    if (o->contracts && progress != changed)
        heap_fail(&ctx->heap, ST_INTERNAL, "%s (phase %d): %s", phase_info[row].name, row,
                  changed ? "changed the module and reports no progress" : "reports progress and changed nothing");
    check_module(ctx, m, row);
    dump_module_after(ctx, m, row, changed);
    if (ctx->watch.after)
        ctx->watch.after(ctx->watch.user, NULL, row, progress);
    if (ctx->deadline > 0 && phase_total_clock() > ctx->deadline)
        heap_fail(&ctx->heap, ST_LIMIT, "time limit reached in phase %s (%d)", phase_info[row].name, row);
}

void ctx_begin(Ctx *ctx)
{
    ctx->heap.lock = NULL;
    ctx->heap.unwind = NULL;
    ctx->diag.source = NULL;
    ctx->diag.line = 0;
    *ctx = (Ctx){.heap = ctx->heap,
                 .diag = ctx->diag,
                 .report = ctx->report,
                 .options = ctx->options,
                 .settings = ctx->settings,
                 .watch = ctx->watch};
    arena_init(&ctx->arena, &ctx->heap);
    phase_factory(ctx);
}

void ctx_fork(Ctx *worker, Ctx *ctx)
{
    *worker = (Ctx){.heap = {.pool = &ctx->heap},
                    .options = ctx->options,
                    .plan = ctx->plan,
                    .stage = ctx->stage,
                    .target = ctx->target,
                    .deadline = ctx->deadline};
    worker->settings = ctx->settings;
    worker->begin = ctx->begin;
    worker->begin_user = ctx->begin_user;
    worker->plan_knobs = ctx->plan_knobs;
    worker->rules_off = ctx->rules_off;
    arena_init(&worker->arena, &worker->heap);
    knobs_init(&worker->knobs, worker->settings, &ctx->heap);  // the worker's heap cannot unwind yet
    knobs_adopt(&worker->knobs, &worker->heap);
    phase_factory(worker);
}

void ctx_join(Ctx *ctx, Ctx *worker)
{
    for (int row = 0; row < PHASE_ROWS; row++) {
        ctx->seconds[row] += worker->seconds[row];
        ctx->runs[row] += worker->runs[row];
        ctx->progress[row] += worker->progress[row];
        ctx->skipped[row] += worker->skipped[row];
    }
#define COUNTER(name, text) ctx->module.name += worker->module.name;
    MODULE_COUNTERS(COUNTER)
#undef COUNTER
    for (uint32_t k = 1; worker->rule_uses && k <= fold_rules.n; k++)
        rule_uses(ctx)[k] += worker->rule_uses[k];
    knobs_merge_reads(&worker->knobs, ctx->knobs.read);
    knobs_free(&worker->knobs);
    arena_free(&worker->arena);
}

/* -- Figures -------------------------------------------------------------------------------------------- */

typedef struct TimeRow {
    const char *name;
    int row;  // -1: reading or writing
    double seconds;
} TimeRow;

// Sorts rows by time, the longest first; rows of equal time stay in the order of the table.
static void sort_times(TimeRow *rows, uint32_t n)
{
    for (uint32_t k = 1; k < n; k++) {
        TimeRow row = rows[k];
        uint32_t at = k;
        for (; at && rows[at - 1].seconds < row.seconds; at--)
            rows[at] = rows[at - 1];
        rows[at] = row;
    }
}

static void print_times_text(const Ctx *ctx, Out *out, const TimeRow *rows, uint32_t n, double total)
{
    uint64_t runs = 0, changed = 0, skipped = 0;
    out_fmt(out, "%-44s %10s %6s %8s %8s %8s\n", "phase", "seconds", "%", "runs", "changed", "skipped");
    for (uint32_t k = 0; k < n; k++) {
        const TimeRow *t = &rows[k];
        double percent = total > 0 ? 100 * t->seconds / total : 0;
        if (t->row < 0) {
            out_fmt(out, "%-44s %10.6f %6.1f\n", t->name, t->seconds, percent);
            continue;
        }
        out_fmt(out, "%3d %-40s %10.6f %6.1f %8u %8u %8u\n", t->row, t->name, t->seconds, percent, ctx->runs[t->row],
                ctx->progress[t->row], ctx->skipped[t->row]);
        runs += ctx->runs[t->row];
        changed += ctx->progress[t->row];
        skipped += ctx->skipped[t->row];
    }
    out_fmt(out, "%-44s %10.6f %6.1f %8llu %8llu %8llu\n", "(total)", total, total > 0 ? 100.0 : 0.0,
            (unsigned long long)runs, (unsigned long long)changed, (unsigned long long)skipped);
}

static void print_times_json(const Ctx *ctx, Out *out, const TimeRow *rows, uint32_t n, double total, double read_s,
                             double write_s, uint64_t instrs)
{
    uint32_t written = 0;
    out_fmt(out, "{\"schema\":1,\"read_s\":%.6f,\"write_s\":%.6f,\"total_s\":%.6f,\"instructions\":%llu,\"phases\":[",
            read_s, write_s, total, (unsigned long long)instrs);
    for (uint32_t k = 0; k < n; k++) {
        const TimeRow *t = &rows[k];
        if (t->row >= 0)
            out_fmt(out,
                    "%s{\"index\":%d,\"name\":\"%s\",\"seconds\":%.6f,\"percent\":%.1f,\"runs\":%u,"
                    "\"changed\":%u,\"skipped\":%u}",
                    written++ ? "," : "", t->row, t->name, t->seconds, total > 0 ? 100 * t->seconds / total : 0,
                    ctx->runs[t->row], ctx->progress[t->row], ctx->skipped[t->row]);
    }
    out_z(out, "]}\n");
}

void phase_print_times(const Ctx *ctx, Out *out, double read_s, double write_s, uint64_t instrs, bool json)
{
    TimeRow rows[PHASE_ROWS + 2] = {{"(read)", -1, read_s}, {"(write)", -1, write_s}};
    uint32_t n = 2;
    double total = read_s + write_s;
    for (int row = 0; row < PHASE_ROWS; row++)
        if (ctx->runs[row] || ctx->skipped[row]) {
            rows[n++] = (TimeRow){phase_info[row].name, row, ctx->seconds[row]};
            total += ctx->seconds[row];
        }
    sort_times(rows, n);
    if (json)
        print_times_json(ctx, out, rows, n, total, read_s, write_s, instrs);
    else
        print_times_text(ctx, out, rows, n, total);
}

// Prints the number of applications of each rule of folding that was applied.
static void print_rules(const Ctx *ctx, Out *out, bool json)
{
    for (uint32_t k = 1, n = 0; ctx->rule_uses && k <= fold_rules.n; k++) {
        if (!ctx->rule_uses[k])
            continue;
        if (json)
            out_fmt(out, "%s\"%s\":%llu", n++ ? "," : "", fold_rules.rules[k].name,
                    (unsigned long long)ctx->rule_uses[k]);
        else
            out_fmt(out, "folding: %s %llu\n", fold_rules.rules[k].name, (unsigned long long)ctx->rule_uses[k]);
    }
}

// Prints the counters of GeneralOptimizeLate if it considered a move.
static void print_late_moves(const LateMoves *late, Out *out, bool json)
{
    if (!late->considered && !json)
        return;
    out_z(out, json ? "" : ", GeneralOptimizeLate");
#define COUNTER(name) out_fmt(out, json ? ",\"late_" #name "\":%u" : " " #name " %u", late->name);
    LATE_COUNTERS(COUNTER)
#undef COUNTER
}

// Prints the counters of GvnCse if it had a candidate.
static void print_gvn(const GvnCounters *gvn, Out *out, bool json)
{
    static const GvnCounters none;
    if (memcmp(gvn, &none, sizeof none) == 0 && !json)
        return;
    out_z(out, json ? "" : ", GvnCse");
#define COUNTER(name) out_fmt(out, json ? ",\"gvn_" #name "\":%u" : " " #name " %u", gvn->name);
    GVN_COUNTERS(COUNTER)
#undef COUNTER
}

// Prints the counters of the module; as text if one of them counted.
static void print_module(const ModuleCounters *module, Out *out, bool json)
{
    static const ModuleCounters none;
    const char *before = json ? "{" : "module: ";
    if (memcmp(module, &none, sizeof none) == 0 && !json)
        return;
#define COUNTER(name, text)                                                            \
    out_fmt(out, json ? "%s\"" #name "\":%u" : "%s" text " %u", before, module->name); \
    before = json ? "," : ", ";
    MODULE_COUNTERS(COUNTER)
#undef COUNTER
    out_z(out, json ? "}" : "\n");
}

void phase_print_summary(const Ctx *ctx, const Module *m, Out *out)
{
    for (uint32_t k = 0; k < ctx->stats.n; k++) {
        const FnStats *s = &ctx->stats.at[k];
        name_print(out, &m->tables, s->name);
        out_fmt(out, ": %u -> %u instructions, %u -> %u blocks", s->instrs_in, s->instrs_out, s->blocks_in,
                s->blocks_out);
        if (s->local_in || s->local_out)
            out_fmt(out, ", %llu -> %llu bytes of .local", (unsigned long long)s->local_in,
                    (unsigned long long)s->local_out);
        out_fmt(out, "; %u of %u phases changed it\n", s->changed, s->ran);
    }
}

void phase_print_stats(const Ctx *ctx, const Module *m, Out *out, bool json)
{
    if (json)
        out_z(out, "{\"schema\":1,\"kernels\":[");
    for (uint32_t k = 0; k < ctx->stats.n; k++) {
        const FnStats *s = &ctx->stats.at[k];
        char name[1000];  // longer names are cut
        name_text(&m->tables, s->name, name, sizeof name);
        if (json)
            out_z(out, k ? ",\n{\"name\":" : "\n{\"name\":");
        (json ? out_json : out_bytes)(out, name, strlen(name));
        if (json)
            out_fmt(
                out,
                ",\"instructions_in\":%u,\"instructions\":%u,\"blocks_in\":%u,\"blocks\":%u,\"reachable_blocks\":%u,"
                "\"registers_in\":%u,\"registers\":%u,\"phases_run\":%u,\"phases_changed\":%u,\"phases_skipped\":%u,"
                "\"mid_rounds\":%u,\"mid_weighted\":%g,\"mid_total\":%g,\"mid_count\":%g,"
                "\"pipeline_counter\":%u",
                s->instrs_in, s->instrs_out, s->blocks_in, s->blocks_out, s->reachable_out, s->regs_in, s->regs_out,
                s->ran, s->changed, s->skipped, s->costs.rounds, s->costs.weighted, s->costs.total, s->costs.count,
                s->pipeline_counter);
        else
            out_fmt(
                out,
                ": instructions %u -> %u, blocks %u -> %u (%u reachable), .local %llu -> %llu bytes, %u of %u phases "
                "changed it, GeneralOptimizeMid %u rounds of cost %g for %g live of %g rewrites, pipeline counter %u",
                s->instrs_in, s->instrs_out, s->blocks_in, s->blocks_out, s->reachable_out,
                (unsigned long long)s->local_in, (unsigned long long)s->local_out, s->changed, s->ran, s->costs.rounds,
                s->costs.weighted, s->costs.total, s->costs.count, s->pipeline_counter);
        print_late_moves(&s->late, out, json);
        print_gvn(&s->gvn, out, json);
        out_fmt(out,
                json ? ",\"arena_bytes\":%zu,\"hash\":\"%016llx\",\"fh\":\"0x%016llx\",\"seconds\":%.6f}"
                     : ", %zu bytes, hash %016llx, FH 0x%016llx, %.6f s\n",
                s->arena_bytes, (unsigned long long)s->hash, (unsigned long long)s->text_hash, s->seconds);
    }
    if (json)
        out_z(out, "\n],\"module\":");
    print_module(&ctx->module, out, json);
    if (json)
        out_z(out, ",\"rules\":{");
    print_rules(ctx, out, json);
    if (json)
        out_z(out, "}}\n");
}
