// SPDX-License-Identifier: MIT
// Builds plans: the list of phases that run, in order.
//
// A plan is a list of rows. The default plan is the module phases of FIRST rows, then every slot that does something
// and whose gate is open, in order, each followed by its recipes. Options that name, disable, start or stop phases only
// edit the list. Before a row that requires the other form, a conversion is inserted (23 GenerateMovPhi, 73
// ConvertAllMovPhiToMov).
//
// All functions share one plan, except where a pragma or a WHEN record changes NamedPhases, DisablePhases or
// NvOptRecipes for a function. These knobs and DUMPIR are read when a function is entered, outside of phases, so
// WHEN=PH has no effect on them. --named-phases overrides the knob for all functions; phases of --disable-phases and of
// DisablePhases are all disabled. Lists in knobs are parsed when the settings are read, so that errors have a position.
//
// A recipe may be a row over the module. Then all functions run the part of the plan before it, and after it the rest
// (Paused of manager.c).
//
// A disabled slot keeps its recipes, which `OriFormLop3@72` disables one by one. A range disables those of its slots,
// and phase 1 disables all. For --start-before and --stop-after a recipe lies between its slot and the next slot.
// --print-pipeline prints `Name@index`; the index of a sub-pass is the slot that the sub-pass follows. So
// `OriRemoveRedundantMov@9` is the recipe, and plain `OriRemoveRedundantMov` is the sub-pass, for any function. A range
// A..B stands for its slots that do something on this backend. Lists of disabled or printed phases are sets of rows.
// ORDER rows are checked against the default plan only. Report slots run if they are named or with --reports.
#include <stdio.h>

#include "ir/text/text.h"
#include "phases/manager/recipes.h"
#include "phases/module/module.h"
#include "phases/redundancy/redundancy.h"
#include "phases/scalar/fold/fold_rules.h"

/* -- The default plan ----------------------------------------------------------------------------------- */

static bool gate_open(PhaseGate gate, int level) { return gate == PG_O0_ONLY ? level == 0 : level >= (int)gate; }

static bool does_something(const Ctx *ctx, int row) { return !ctx->phases[row].vtable->is_noop(&ctx->phases[row]); }

static bool runs_by_default(const Ctx *ctx, int row)
{
    // Slot 82 has the gate of 83, for which it does the work.
    const PhaseInfo *p = &phase_info[row == PH_BACK_PROP_VREG ? PH_BACK_COPY_PROPAGATE : row];
    bool quiet = p->kind != PK_REPORT || ctx->options.reports;
    // At -O0 no transformation runs, whatever its gate, so conversions of form are not needed.
    bool transforms = p->kind == PK_TRANSFORM || p->form == PF_TO_SSA || p->form == PF_TO_MULTI;
    bool allowed = !transforms || ctx->options.level > 0;
    return does_something(ctx, row) && quiet && allowed && gate_open(p->gate, ctx->options.level);
}

// The module phases that the default plan runs before slot 0.
static const uint8_t first_rows[] = {
#define FIRST(row, reason) row,
#include "phases/phases.def"
};

/* -- Lists of phases ------------------------------------------------------------------------------------ */

// A parsed list of phases: rows and their places in the pipeline.
typedef struct PhaseList {
    Arena *arena;
    const char *what;  // an option or a knob, for messages
    VEC(PlanEntry) at;
} PhaseList;

static bool is_separator(char c) { return c == ',' || c == '+' || c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static PlanEntry entry_of(int row, int slot)
{
    int recipe = recipe_at(row, slot);
    return (PlanEntry){.row = (uint8_t)row, .slot = (uint8_t)slot, .recipe = (uint8_t)(recipe + 1)};
}

// Adds the rows of a range. If ctx is NULL, only checks the range.
static bool add_range(const Ctx *ctx, PhaseList *list, const char *text, size_t len, const char *dots,
                      char why[static 500])
{
    char reason[400];
    size_t n = (size_t)(dots - text);
    int first = phase_find(text, n, reason), last = first < 0 ? first : phase_find(dots + 2, len - n - 2, reason);
    if (first < 0 || last < 0)
        snprintf(why, 500, "%s: %s", list->what, reason);
    else if (last < first)
        snprintf(why, 500, "%s: the range '%.*s' is reversed: the lower phase comes first", list->what,
                 (int)MIN(len, 60), text);
    for (int row = first; ctx && first >= 0 && row <= last; row++) {
        PlanEntry e = entry_of(row, row);
        e.in_range = true;
        VEC_PUSH(list->arena, &list->at, e);
    }
    return last >= first && first >= 0;
}

static bool add_phase(const Ctx *ctx, PhaseList *list, const char *text, size_t len, char why[static 500])
{
    char reason[400];
    int slot;
    if (memchr(text, ':', len)) {
        snprintf(why, 500, "%s: '%.*s': a phase takes no parameter", list->what, (int)MIN(len, 60), text);
        return false;
    }
    for (size_t k = 0; k + 1 < len; k++)
        if (text[k] == '.' && text[k + 1] == '.')
            return add_range(ctx, list, text, len, text + k, why);
    int row = phase_find_at(text, len, &slot, reason);
    if (row < 0) {
        snprintf(why, 500, "%s: %s", list->what, reason);
        return false;
    }
    if (ctx)
        VEC_PUSH(list->arena, &list->at, entry_of(row, slot));
    return true;
}

// Parses a list of phases: names, `Name@index`, indices, ranges `A..B`; separated by `,`, `+` or blanks. `;` begins a
// comment that runs to the end of the line, so the output of --print-pipeline is a list too.
static bool parse_list(const Ctx *ctx, PhaseList *list, const char *text, char why[static 500])
{
    while (text && *text) {
        size_t len = strcspn(text, ",+ \t\n\r;");
        if (len && !add_phase(ctx, list, text, len, why))
            return false;
        text += len;
        if (*text == ';')
            text += strcspn(text, "\n");
        else if (is_separator(*text))
            text++;
    }
    return true;
}

// Adds the rows that a list names to a set.
static bool add_rows(const Ctx *ctx, Arena *arena, const char *what, const char *text, bool rows[PHASE_ROWS],
                     char why[static 500])
{
    PhaseList list = {.arena = arena, .what = what};
    if (!parse_list(ctx, &list, text, why))
        return false;
    for (uint32_t k = 0; k < list.at.n; k++)
        rows[list.at.at[k].row] = true;
    return true;
}

// Returns the recipes (bits) that an entry of a list of disabled phases names: the one of `Name@slot`, or those of the
// slots of a range.
static uint32_t recipes_of(const PlanEntry *e)
{
    uint32_t recipes = e->recipe ? 1u << (e->recipe - 1) : 0;
    for (int k = 0; e->in_range && k < RECIPE_COUNT; k++)
        recipes |= (uint32_t)(recipe_info[k].slot == e->row) << k;
    return recipes;
}

static bool find_one(const char *what, const char *text, int *row, char why[static 500])
{
    char reason[400];
    *row = phase_find(text, strlen(text), reason);
    if (*row < 0)
        snprintf(why, 500, "%s: %s", what, reason);
    return *row >= 0;
}

/* -- Making a plan -------------------------------------------------------------------------------------- */

typedef struct Planner {
    const Ctx *ctx;
    Arena *arena;
    Plan *plan;
    PhaseForm form;    // form of the function after the entries so far; initially multi
    bool named;        // an option or a knob lists the phases
    uint32_t recipes;  // bit per recipe: enabled
    int first, last;   // places
} Planner;

// Returns the place of an entry for --start-before and --stop-after: a sub-pass lies between its slot and the next, and
// the first rows lie before slot 0. A sub-pass without a slot has no place.
enum { NOWHERE = -1, SLOT_0 = ARRAY_LEN(first_rows) };
static int place_of(int row, int slot)
{
    for (int k = 0; k < SLOT_0; k++)
        if (first_rows[k] == row && slot == row)
            return k;
    return slot >= PHASE_SLOTS ? NOWHERE : SLOT_0 + 2 * slot + (slot != row);
}

// Returns the place of a row; for a sub-pass, the first or last place that a recipe gives it.
static int bound_of(int row, bool last)
{
    int place = place_of(row, row);
    for (int k = 0; k < RECIPE_COUNT; k++)
        if (recipe_info[k].row == row && row >= PHASE_SLOTS && (last ? place >= SLOT_0 : place == NOWHERE))
            place = place_of(row, recipe_info[k].slot);
    return place;
}

// Adds the conversion to the form `wanted` of the next row, if the current form differs and the conversion exists.
static void adapt_form(Planner *p, PhaseForm wanted)
{
    int row = wanted == PF_SSA ? PH_GENERATE_MOV_PHI : PH_CONVERT_MOV_PHI;
    if (wanted == PF_ANY || wanted == p->form || !phase_info[row].body)
        return;
    PlanEntry e = entry_of(row, row);
    e.inserted = true;
    VEC_PUSH(p->arena, &p->plan->at, e);
    p->form = wanted;
}

static void add_entry(Planner *p, PlanEntry e)
{
    PhaseForm has = phase_info[e.row].form;
    int place = place_of(e.row, e.slot);
    if (p->plan->off[e.row] || (place != NOWHERE && (place < p->first || place > p->last)))
        return;
    if (has == PF_TO_SSA || has == PF_TO_MULTI) {
        PhaseForm result = has == PF_TO_SSA ? PF_SSA : PF_MULTI;
        if (p->form == result && !p->named)
            return;  // redundant; a named conversion stays, since the input may be in the other form
        p->form = result;
    } else {
        adapt_form(p, has);
    }
    VEC_PUSH(p->arena, &p->plan->at, e);
}

// Adds a slot of the default plan and its recipes.
static void add_slot(Planner *p, int slot)
{
    if (runs_by_default(p->ctx, slot) && recipe_at(slot, slot) < 0)
        add_entry(p, entry_of(slot, slot));
    for (int k = 0; k < RECIPE_COUNT; k++)
        if (recipe_info[k].slot == slot && p->recipes >> k & 1 && runs_by_default(p->ctx, recipe_info[k].row))
            add_entry(p, entry_of(recipe_info[k].row, slot));
}

static bool check_order(const Plan *plan, char why[static 500])
{
    static const struct {
        int before, after;
        const char *reason;
    } orders[] = {
#define ORDER(before, after, reason) {before, after, reason},
#include "phases/phases.def"
    };
    int32_t place[PHASE_ROWS];
    memset(place, -1, sizeof place);
    for (uint32_t k = 0; k < plan->at.n; k++)
        place[plan->at.at[k].row] = (int32_t)k;
    for (size_t k = 0; k < ARRAY_LEN(orders); k++) {
        int32_t a = place[orders[k].before], b = place[orders[k].after];
        if (a >= 0 && b >= 0 && a > b) {
            snprintf(why, 500, "%s must come before %s: %s", phase_info[orders[k].before].name,
                     phase_info[orders[k].after].name, orders[k].reason);
            return false;
        }
    }
    return true;
}

static const char *disable_option(const PhaseOptions *o)
{
    return o->disable_option ? o->disable_option : "--disable-phases";
}

// Disables both slots of back copy propagation if one of them is disabled.
static void disable_together(bool off[PHASE_ROWS])
{
    bool any = off[PH_BACK_PROP_VREG] || off[PH_BACK_COPY_PROPAGATE];
    off[PH_BACK_PROP_VREG] = off[PH_BACK_COPY_PROPAGATE] = any;
}

// Disables the rows and the recipes that a list names.
static bool disable(Planner *p, const char *what, const char *text, char why[static 500])
{
    PhaseList list = {.arena = p->arena, .what = what};
    if (!parse_list(p->ctx, &list, text, why))
        return false;
    for (uint32_t k = 0; k < list.at.n; k++) {
        const PlanEntry *e = &list.at.at[k];
        p->recipes &= ~recipes_of(e);
        p->plan->off[e->row] |= e->row == e->slot;
    }
    return true;
}

// Reads the limits of a plan: disabled rows, bounds and recipes, from the options and the knobs.
static bool read_limits(Planner *p, const PlanKnobs *knobs, char why[static 500])
{
    const PhaseOptions *o = &p->ctx->options;
    int start = 0, stop = 0;
    if (!recipes_parse(knobs->recipes, &p->recipes, why) || !disable(p, disable_option(o), o->disabled, why) ||
        !disable(p, "DisablePhases", knobs->disabled, why) ||
        (o->start && !find_one("--start-before", o->start, &start, why)) ||
        (o->stop && !find_one("--stop-after", o->stop, &stop, why)))
        return false;
    disable_together(p->plan->off);
    p->first = o->start ? bound_of(start, false) : 0;
    p->last = o->stop ? bound_of(stop, true) : SLOT_0 + 2 * PHASE_ROWS;
    if (p->plan->off[PH_APPLY_RECIPES])
        p->recipes = 0;
    return true;
}

static bool make_plan(const Ctx *ctx, Arena *arena, const PlanKnobs *knobs, Plan *plan, char why[static 500])
{
    Planner p = {.ctx = ctx, .arena = arena, .plan = plan, .form = PF_MULTI};
    PhaseList list = {.arena = arena, .what = ctx->options.named ? "--named-phases" : "NamedPhases"};
    const char *named = ctx->options.named ? ctx->options.named : knobs->named;
    p.named = plan->named = named;
    plan->at.n = 0;
    memset(plan->off, 0, sizeof plan->off);
    if (!read_limits(&p, knobs, why) || !parse_list(ctx, &list, named, why))
        return false;
    for (uint32_t k = 0; k < list.at.n; k++)
        if (!list.at.at[k].in_range || does_something(ctx, list.at.at[k].row))
            add_entry(&p, list.at.at[k]);
    for (size_t k = 0; k < ARRAY_LEN(first_rows) && !named; k++)
        if (runs_by_default(ctx, first_rows[k]))
            add_entry(&p, entry_of(first_rows[k], first_rows[k]));
    for (int slot = 0; slot < PHASE_SLOTS && !named; slot++)
        add_slot(&p, slot);
    if (!ctx->options.stay_in_ssa)
        adapt_form(&p, PF_MULTI);
    return named || check_order(plan, why);
}

/* -- Knobs ---------------------------------------------------------------------------------------------- */

bool phase_check_knob(int row, const char *text, char why[static 500])
{
    PhaseList list = {.what = knob_table.rows[row].name};
    uint32_t recipes;
    switch (row) {
    case KNOB_NAMED_PHASES:
    case KNOB_DISABLE_PHASES:
    case KNOB_DUMP_IR: return parse_list(NULL, &list, text, why);
    case KNOB_NV_OPT_RECIPES: return recipes_parse(text, &recipes, why);
    case KNOB_FOLD_RULES_OFF: return rules_find(text, NULL, why);
    case KNOB_LATE_COMMONING_PER_INSTR:
    case KNOB_GVN_PER_INSTR: return opcodes_find(text, NULL, why);
    default: return true;
    }
}

KnobStore *phase_knobs(Arena *arena)
{
    KnobStore *store = knob_store_new(arena, &knob_table, phase_find);
    knob_store_check(store, phase_check_knob);
    return store;
}

/* -- The plans of a context ----------------------------------------------------------------------------- */

// Returns the current values of the knobs; NULL if an option overrides a knob.
static PlanKnobs plan_knobs(Ctx *ctx)
{
    return (PlanKnobs){.named = ctx->options.named ? NULL : knob_str(&ctx->knobs, KNOB_NAMED_PHASES),
                       .disabled = knob_str(&ctx->knobs, KNOB_DISABLE_PHASES),
                       .recipes = ctx->options.named ? NULL : knob_str(&ctx->knobs, KNOB_NV_OPT_RECIPES),
                       .dumped = knob_str(&ctx->knobs, KNOB_DUMP_IR)};
}

// Makes the sets of phases to dump, for all functions or for one. `any` is true if any setting has DUMPIR, even under a
// condition.
static bool find_dumps(Ctx *ctx, const char *dumped, char why[static 500])
{
    static const bool unread[KNOB_COUNT];
    const PhaseOptions *o = &ctx->options;
    Dumps *d = &ctx->dumps;
    d->dumped = dumped;
    d->stale = false;
    memset(d->before, o->print_before_all, sizeof d->before);
    memset(d->after, o->print_after_all, sizeof d->after);
    d->any = o->print_changed != PC_OFF || o->dump_dir || o->print_before || o->print_after || o->print_before_all ||
             o->print_after_all || o->dump_cfg || dumped || knob_unread(ctx->settings, unread, KNOB_DUMP_IR);
    return add_rows(ctx, &ctx->arena, "--print-before", o->print_before, d->before, why) &&
           add_rows(ctx, &ctx->arena, "--print-after", o->print_after, d->after, why) &&
           add_rows(ctx, &ctx->arena, "DUMPIR", dumped, d->after, why);
}

bool phase_plan_has(const Plan *plan, int row)
{
    for (uint32_t k = 0; k < plan->at.n; k++)
        if (plan->at.at[k].row == row)
            return true;
    return false;
}

// Returns the stage of a plan after its last module phase.
static Stage last_stage(const Plan *plan)
{
    uint32_t first = plan->at.n;
    while (first && (phase_info[plan->at.at[first - 1].row].scope == PS_FUNCTION || plan->at.at[first - 1].recipe))
        first--;
    return (Stage){first, plan->at.n};
}

bool phase_plan(Ctx *ctx, const Module *m, char why[static 500])
{
    ctx->target = ctx->options.target.backend ? ctx->options.target : m ? sm_of_module(m) : sm_newest();
    if (!ctx->settings)
        ctx->settings = phase_knobs(&ctx->arena);
    if (!ctx->knobs.store)
        knobs_init(&ctx->knobs, ctx->settings, &ctx->heap);
    ctx->plan_knobs = plan_knobs(ctx);
    if (!find_dumps(ctx, ctx->plan_knobs.dumped, why) ||
        !make_plan(ctx, &ctx->arena, &ctx->plan_knobs, &ctx->plan, why))
        return false;
    ctx->stage = last_stage(&ctx->plan);
    ctx->staged = false;
    if (phase_plan_has_module(ctx)) {
        ctx->kept = symbol_list(&ctx->arena, knob_str(&ctx->knobs, KNOB_KEEP_SYMBOLS));
        ctx->internalized = symbol_list(&ctx->arena, knob_str(&ctx->knobs, KNOB_INTERNALIZE));
    }
    return true;
}

void phase_print_plan(const Ctx *ctx, Out *out)
{
    for (uint32_t k = 0; k < ctx->plan.at.n; k++) {
        const PlanEntry *e = &ctx->plan.at.at[k];
        char name[80];
        snprintf(name, sizeof name, "%s@%d", phase_info[e->row].name, e->slot);
        out_fmt(out, "%-44s; %s%s%s\n", name, phase_info[e->row].summary, e->inserted ? " (inserted for the form)" : "",
                e->recipe ? " (a recipe)" : "");
    }
}

/* -- Rows that do nothing ------------------------------------------------------------------------------- */

// Returns the reason why a row does nothing.
static const char *idle_reason(const Ctx *ctx, int row, char text[static 100])
{
    const char *status = phase_status(row);
    if (strcmp(status, "not-yet") == 0)
        return "it is not implemented yet";
    if (strcmp(status, "machine") == 0)
        return "it is for machine code, which oriopt does not generate";
    if (strcmp(status, "graphics") == 0)
        return "it is for shaders, which PTX does not have";
    if (strcmp(status, "bookkeeping") == 0)
        return "it refreshes data that oriopt drops when code changes";
    if (strcmp(status, "hook") == 0)
        return "no backend implements this hook";
    snprintf(text, 100, "it is not installed on %s%s", ctx->target.backend->profile.name,
             row == PH_GVN_CSE ? "; --knob EnableGvnCse=1 installs it" : "");
    return text;
}

// Warns of the idle rows of one list.
static void warn_idle(Ctx *ctx, const char *what, const char *text)
{
    PhaseList list = {.arena = &ctx->arena, .what = what};
    bool seen[PHASE_ROWS] = {false};
    char why[500];
    if (!parse_list(ctx, &list, text, why))
        return;
    for (uint32_t k = 0; k < list.at.n; k++) {
        int row = list.at.at[k].row;
        if (!seen[row] && !list.at.at[k].in_range && !does_something(ctx, row))
            diag_plain(&ctx->diag, DIAG_WARNING, "%s: %s (phase %d) does nothing: %s", what, phase_info[row].name, row,
                       idle_reason(ctx, row, why));
        seen[row] = true;
    }
}

// Warns of the recipes that still run after the disabled slots of a list.
static void warn_recipes(Ctx *ctx, const char *what, const char *text)
{
    PhaseList list = {.arena = &ctx->arena, .what = what};
    char why[500], names[300];
    if (!parse_list(ctx, &list, text, why))
        return;
    for (uint32_t k = 0; k < list.at.n; k++) {
        const PlanEntry *disabled = &list.at.at[k];
        size_t n = 0;
        for (uint32_t j = 0; j < ctx->plan.at.n && n < sizeof names; j++) {
            const PlanEntry *e = &ctx->plan.at.at[j];
            if (e->recipe && e->slot == disabled->row)
                n += (size_t)snprintf(names + n, sizeof names - n, "%s%s@%d", n ? ", " : "", phase_info[e->row].name,
                                      e->slot);
        }
        if (n && disabled->row == disabled->slot)
            diag_plain(&ctx->diag, DIAG_WARNING,
                       "%s: the recipes after phase %d still run; name them to disable them: %s", what, disabled->row,
                       names);
    }
}

void phase_warn_idle(Ctx *ctx)
{
    const PhaseOptions *o = &ctx->options;
    const PlanKnobs *knobs = &ctx->plan_knobs;
    const Source *source = ctx->diag.source;
    ctx->diag.source = NULL;  // not about the input
    warn_idle(ctx, "--named-phases", o->named);
    warn_idle(ctx, disable_option(o), o->disabled);
    warn_recipes(ctx, disable_option(o), o->disabled);
    warn_idle(ctx, "--print-before", o->print_before);
    warn_idle(ctx, "--print-after", o->print_after);
    warn_idle(ctx, "NamedPhases", knobs->named);
    warn_idle(ctx, "DisablePhases", knobs->disabled);
    warn_recipes(ctx, "DisablePhases", knobs->disabled);
    warn_idle(ctx, "DUMPIR", knobs->dumped);
    ctx->diag.source = source;
}

// Includes WHEN records and pragmas, which can give a function a plan with report slots.
bool phase_may_report(const Ctx *ctx, const Module *m)
{
    static const bool unread[KNOB_COUNT];
    bool may = ctx->dumps.any || knob_unread(ctx->settings, unread, KNOB_NAMED_PHASES);
    for (uint32_t k = 0; k < ctx->plan.at.n && !may; k++)
        may = phase_info[ctx->plan.at.at[k].row].kind == PK_REPORT;
    for (uint32_t k = 0; k < m->fns.n && !may; k++)
        may = m->fns.at[k] && m->fns.at[k]->knobs.n;
    return may;
}

/* -- Functions ------------------------------------------------------------------------------------------ */

static bool hash_text(void *user, const char *text, size_t n)
{
    uint64_t *hash = user;
    for (size_t k = 0; k < n; k++)
        *hash = (*hash ^ (unsigned char)text[k]) * 0x100000001B3u;
    return true;
}

uint64_t phase_text_hash(const Fn *fn)
{
    Arena arena;
    Out out;
    uint64_t hash = 0xCBF29CE484222325u;
    arena_init(&arena, fn->arena.heap);
    out_init(&out, &arena, hash_text, &hash);
    text_write_fn(fn, &out);
    out_flush(&out);
    arena_free(&arena);
    return hash;
}

static uint64_t hash_of(void *user)
{
    const Fn *fn = user;
    return fn->input ? fn->input->text_hash : phase_text_hash(fn);
}

// Returns the texts of pragmas, with their offsets if there is a source to report errors in.
static KnobPragma *pragmas_of(Arena *arena, const Tables *tables, const KnobText *knobs, uint32_t n, const Diag *diag)
{
    KnobPragma *pragmas = NEW_ARRAY(arena, KnobPragma, n);
    for (uint32_t k = 0; k < n; k++) {
        Str text = tab_str(tables, knobs[k].text);
        pragmas[k] = (KnobPragma){text.text, text.len, diag->source ? (int64_t)knobs[k].offset : KNOB_NO_OFFSET};
    }
    return pragmas;
}

// Activates the settings for a function. False: its pragmas have errors.
static bool enter(Ctx *ctx, const Fn *fn, Arena *arena, Diag *diag)
{
    char name[1000];  // longer names are cut
    name_text(fn->tables, fn->module->syms.at[fn->sym].name, name, sizeof name);
    KnobFunction f = {.name = name,
                      .len = strlen(name),
                      .hash = hash_of,
                      .user = (void *)(uintptr_t)fn,
                      .pragmas = pragmas_of(arena, fn->tables, fn->knobs.at, fn->knobs.n, diag),
                      .npragmas = fn->knobs.n};
    return knobs_enter_function(&ctx->knobs, &f, diag);
}

static bool same_plan(const PlanKnobs *a, const PlanKnobs *b)
{
    return a->named == b->named && a->disabled == b->disabled && a->recipes == b->recipes;
}

// Makes the sets of phases to dump for a function, and returns its plan; NULL: `why` has the error.
static const Plan *plan_function(Ctx *ctx, const Fn *fn, Arena *arena, Plan *own, char why[static 500])
{
    PlanKnobs knobs = plan_knobs(ctx);
    if ((ctx->dumps.stale || ctx->dumps.dumped != knobs.dumped) && !find_dumps(ctx, knobs.dumped, why))
        return NULL;
    ctx->dumps.stale = fn->knobs.n > 0;  // texts of pragmas are freed with their function
    if (same_plan(&knobs, &ctx->plan_knobs))
        return &ctx->plan;
    return make_plan(ctx, arena, &knobs, own, why) ? own : NULL;
}

static void drop_message(void *user, const char *text, size_t n) { (void)user, (void)text, (void)n; }

const Plan *phase_enter_function(Ctx *ctx, const Fn *fn, Arena *arena, Plan *own)
{
    char why[500], name[100];
    Diag silent = {.write = drop_message};
    enter(ctx, fn, arena, &silent);
    const Plan *plan = plan_function(ctx, fn, arena, own, why);
    if (!plan)
        heap_fail(&ctx->heap, ST_BAD_INPUT, "function %s: %.500s",
                  name_text(fn->tables, fn->module->syms.at[fn->sym].name, name, sizeof name), why);
    return plan;
}

// Checks the pragmas of the module, once for all of its functions.
static bool check_module(Ctx *ctx, const Module *m)
{
    Arena arena;
    arena_init(&arena, &ctx->heap);
    KnobFunction all = {.name = "",
                        .pragmas = pragmas_of(&arena, &m->tables, m->knobs.at, m->knobs.n, &ctx->diag),
                        .npragmas = m->knobs.n};
    bool ok = knobs_enter_function(&ctx->knobs, &all, &ctx->diag);
    arena_free(&arena);
    return ok;
}

static bool check_pragmas(Ctx *ctx, const Fn *fn)
{
    char why[500];
    Arena arena;
    Plan own = {0};
    arena_init(&arena, &ctx->heap);
    bool ok = enter(ctx, fn, &arena, &ctx->diag);
    if (ok && !plan_function(ctx, fn, &arena, &own, why)) {
        diag_at(&ctx->diag, DIAG_ERROR, fn->knobs.at[0].offset, "%s", why);
        ok = false;
    }
    arena_free(&arena);
    return ok;
}

bool phase_check_pragmas(Ctx *ctx, const Module *m, uint32_t first_fn)
{
    if (m->knobs.n && !check_module(ctx, m))
        return false;
    bool ok = true;
    for (uint32_t k = first_fn; k < m->fns.n; k++)
        if (m->fns.at[k] && m->fns.at[k]->knobs.n)
            ok &= check_pragmas(ctx, m->fns.at[k]);
    return ok;
}
