// SPDX-License-Identifier: MIT
// The phase manager: builds the plan, runs it over functions, and does around each phase what no phase does itself:
// gates, forms, analyses, verification, timing.
//
// A plan is a list of rows. The default plan is the identity: every slot that has a body and whose gate is open, and
// behind it the sub-passes that follow it. Naming, disabling, starting and stopping only edit the list. Where a row
// asks for another form than the function is in, the conversion (23 GenerateMovPhi, 73 ConvertAllMovPhiToMov) is
// inserted in front of it, once.
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <time.h>

#include "phases/phase_dump.h"

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

/* -- Plans ---------------------------------------------------------------------------------------------- */

static bool gate_open(PhaseGate gate, int level) { return gate == PG_O0_ONLY ? level == 0 : level >= (int)gate; }

static bool runs_by_default(const Ctx *ctx, int row)
{
    const PhaseInfo *p = &phase_info[row];
    bool quiet = p->kind != PK_REPORT || ctx->options.reports;
    // At -O0 nothing that transforms runs, gate or not, so that there is no use for another form either.
    bool transforms = p->kind == PK_TRANSFORM || p->form == PF_TO_SSA || p->form == PF_TO_MULTI;
    bool allowed = !transforms || ctx->options.level > 0;
    return !ctx->phases[row].vtable->is_noop(&ctx->phases[row]) && quiet && allowed &&
           gate_open(p->gate, ctx->options.level);
}

static const struct {
    int slot, row;
} followers[] = {
#define FOLLOWS(slot, row, reason) {slot, row},
#include "phases/phases.def"
};

// Where a row stands in the default plan, for the first or the last time.
static int place_of(int row, bool last)
{
    int place = 2 * row;
    for (size_t k = 0; k < ARRAY_LEN(followers); k++)
        if (followers[k].row == row && (last || place == 2 * row))
            place = 2 * followers[k].slot + 1;
    return place;
}

static PlanEntry entry_at(int row, int place) { return (PlanEntry){.row = (uint16_t)row, .place = (uint16_t)place}; }

static PlanEntry named_entry(int row) { return entry_at(row, row < PHASE_SLOTS ? 2 * row : UNPLACED); }

// A slot of the default plan, and what follows it.
static void add_slot(Ctx *ctx, Plan *plan, int slot)
{
    if (runs_by_default(ctx, slot))
        VEC_PUSH(&ctx->arena, &plan->at, entry_at(slot, 2 * slot));
    for (size_t k = 0; k < ARRAY_LEN(followers); k++)
        if (followers[k].slot == slot && runs_by_default(ctx, followers[k].row))
            VEC_PUSH(&ctx->arena, &plan->at, entry_at(followers[k].row, 2 * slot + 1));
}

// Makes the form that the next row needs, if the conversion exists. A function starts in multi form.
static void adapt_form(Ctx *ctx, Plan *plan, PhaseForm *form, PhaseForm wanted)
{
    int row = wanted == PF_SSA ? PH_GENERATE_MOV_PHI : PH_CONVERT_MOV_PHI;
    if (wanted == PF_ANY || wanted == *form || !phase_info[row].body)
        return;
    VEC_PUSH(&ctx->arena, &plan->at, ((PlanEntry){.row = (uint16_t)row, .inserted = true}));
    *form = wanted;
}

static void add_row(Ctx *ctx, Plan *plan, PhaseForm *form, int row)
{
    PhaseForm has = phase_info[row].form;
    if (has == PF_TO_SSA || has == PF_TO_MULTI) {
        PhaseForm result = has == PF_TO_SSA ? PF_SSA : PF_MULTI;
        if (*form == result && !ctx->options.named)
            return;  // never twice in a row, unless one asks for it: a function may come in the other form
        *form = result;
    } else {
        adapt_form(ctx, plan, form, has);
    }
    VEC_PUSH(&ctx->arena, &plan->at, ((PlanEntry){.row = (uint16_t)row}));
}

static bool is_separator(char c) { return c == ',' || c == '+' || c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// A list of phases: names, `Name@index`, indices, ranges `A..B`; separated by `,`, `+` or blanks;
// `;` begins a comment that runs to the end of the line (what --print-pipeline writes can be given back).
static bool parse_list(Ctx *ctx, const char *option, const char *text, Plan *list, char why[static 500])
{
    char reason[400];
    while (*text) {
        if (is_separator(*text)) {
            text++;
            continue;
        }
        if (*text == ';') {
            while (*text && *text != '\n')
                text++;
            continue;
        }
        size_t len = 0;
        while (text[len] && !is_separator(text[len]) && text[len] != ';')
            len++;
        if (memchr(text, ':', len)) {
            snprintf(why, 500, "--%s: '%.*s': no phase takes a parameter", option, (int)MIN(len, 60), text);
            return false;
        }
        const char *dots = NULL;
        for (size_t k = 0; k + 1 < len && !dots; k++)
            dots = text[k] == '.' && text[k + 1] == '.' ? text + k : NULL;
        size_t first_len = dots ? (size_t)(dots - text) : len;
        int first = phase_find(text, first_len, reason);
        int last = dots && first >= 0 ? phase_find(dots + 2, len - first_len - 2, reason) : first;
        if (first < 0 || last < 0) {
            snprintf(why, 500, "--%s: %s", option, reason);
            return false;
        }
        if (last < first) {
            snprintf(why, 500, "--%s: the range '%.*s' runs backwards", option, (int)MIN(len, 60), text);
            return false;
        }
        if (dots) {
            // A range means the slots in it that do something.
            for (int row = first; row <= last; row++)
                if (!ctx->phases[row].vtable->is_noop(&ctx->phases[row]))
                    VEC_PUSH(&ctx->arena, &list->at, named_entry(row));
        } else {
            VEC_PUSH(&ctx->arena, &list->at, named_entry(first));
        }
        text += len;
    }
    return true;
}

static bool find_one(const char *option, const char *text, int *row, char why[static 500])
{
    char reason[400];
    *row = phase_find(text, strlen(text), reason);
    if (*row < 0)
        snprintf(why, 500, "--%s: %s", option, reason);
    return *row >= 0;
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
            snprintf(why, 500, "%s must stand before %s: %s", phase_info[orders[k].before].name,
                     phase_info[orders[k].after].name, orders[k].reason);
            return false;
        }
    }
    return true;
}

// The phases that a dump option names.
static bool find_dumps(Ctx *ctx, const char *option, const char *text, bool all, bool rows[PHASE_ROWS],
                       char why[static 500])
{
    Plan list = {0};
    if (text && !parse_list(ctx, option, text, &list, why))
        return false;
    for (uint32_t k = 0; k < list.at.n; k++)
        rows[list.at.at[k].row] = true;
    for (int row = 0; row < PHASE_ROWS; row++)
        rows[row] |= all;
    ctx->dumps.any |= text || all;
    return true;
}

bool phase_plan(Ctx *ctx, char why[static 500])
{
    const PhaseOptions *o = &ctx->options;
    ctx->dumps.any = o->print_changed != PC_OFF || o->dump_dir;
    if (!find_dumps(ctx, "print-before", o->print_before, o->print_before_all, ctx->dumps.before, why) ||
        !find_dumps(ctx, "print-after", o->print_after, o->print_after_all, ctx->dumps.after, why))
        return false;
    Plan named = {0}, disabled = {0};
    int start = 0, stop = PHASE_ROWS;
    bool off[PHASE_ROWS] = {false};
    if ((o->named && !parse_list(ctx, "named-phases", o->named, &named, why)) ||
        (o->disabled && !parse_list(ctx, "disable-phases", o->disabled, &disabled, why)) ||
        (o->start && !find_one("start-before", o->start, &start, why)) ||
        (o->stop && !find_one("stop-after", o->stop, &stop, why)))
        return false;
    for (uint32_t k = 0; k < disabled.at.n; k++)
        off[disabled.at.at[k].row] = true;
    if (!o->named)
        for (int slot = 0; slot < PHASE_SLOTS; slot++)
            if (!off[slot])
                add_slot(ctx, &named, slot);
    PhaseForm form = PF_MULTI;
    for (uint32_t k = 0; k < named.at.n; k++) {
        PlanEntry e = named.at.at[k];
        bool outside = e.place != UNPLACED && (e.place < place_of(start, false) || e.place > place_of(stop, true));
        if (!off[e.row] && !outside)
            add_row(ctx, &ctx->plan, &form, e.row);
    }
    if (!o->stay_in_ssa)
        adapt_form(ctx, &ctx->plan, &form, PF_MULTI);
    return o->named || check_order(&ctx->plan, why);
}

void phase_print_plan(const Ctx *ctx, Out *out)
{
    for (uint32_t k = 0; k < ctx->plan.at.n; k++) {
        const PlanEntry *e = &ctx->plan.at.at[k];
        char name[80];
        snprintf(name, sizeof name, "%s@%d", phase_info[e->row].name, e->row);
        out_fmt(out, "%-44s; %s%s\n", name, phase_info[e->row].summary, e->inserted ? " (inserted for the form)" : "");
    }
}

bool phase_plan_reports(const Ctx *ctx)
{
    for (uint32_t k = 0; k < ctx->plan.at.n; k++)
        if (phase_info[ctx->plan.at.at[k].row].kind == PK_REPORT)
            return true;
    return false;
}

/* -- Running -------------------------------------------------------------------------------------------- */

// After a phase, or after the last one (row < 0).
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

// Functions that the model does not cover, and those of debug targets, whose sections name registers and labels, are
// only looked at.
static bool may_run(const Fn *fn, PhaseKind kind)
{
    bool looks_only = kind == PK_VERIFY || kind == PK_REPORT;
    return looks_only || !(fn->flags & (FN_PASSTHROUGH | FN_DEBUG));
}

static void run_row(Ctx *ctx, Fn **at, int row, FnStats *stats);

// A function may come in another form than the plan was made for: the conversion runs first, if there is one.
static void enter_form(Ctx *ctx, Fn **at, int row, FnStats *stats)
{
    PhaseForm wants = phase_info[row].form, has = (*at)->form == FORM_SSA ? PF_SSA : PF_MULTI;
    if (wants == has || (wants != PF_SSA && wants != PF_MULTI))
        return;
    int conversion = wants == PF_SSA ? PH_GENERATE_MOV_PHI : PH_CONVERT_MOV_PHI;
    if (phase_info[conversion].body) {
        run_row(ctx, at, conversion, stats);
        return;
    }
    char function[80];
    name_text((*at)->tables, (*at)->module->syms.at[(*at)->sym].name, function, sizeof function);
    heap_fail(
        &ctx->heap, ST_BAD_INPUT, "phase %s (%d) takes functions in %s form; %s is in %s form, and %s is not there yet",
        phase_info[row].name, row, phase_form_name(wants), function, phase_form_name(has), phase_info[conversion].name);
}

static bool execute(Ctx *ctx, Fn *fn, int row)
{
    Phase *phase = &ctx->phases[row];
    double start = ctx->options.timing ? phase_clock() : 0;
    analysis_need(fn, phase_info[row].needs);
    ctx->run = (Run){.row = phase->vtable->get_index(phase), .level = ctx->options.level};
    bool progress = phase->vtable->execute(phase, fn);
    if (ctx->options.timing)
        ctx->seconds[row] += phase_clock() - start;
    return progress;
}

static void run_row(Ctx *ctx, Fn **at, int row, FnStats *stats)
{
    const PhaseInfo *p = &phase_info[row];
    const PhaseOptions *o = &ctx->options;
    if (!may_run(*at, p->kind) || ctx->phases[row].vtable->is_noop(&ctx->phases[row]))
        return;
    enter_form(ctx, at, row, stats);
    bool watched = ctx->dumps.wanted || o->contracts;
    dump_before(ctx, *at, row);
    if (ctx->watch.before)
        ctx->watch.before(ctx->watch.user, *at, row);
    uint64_t before = watched ? ir_hash(*at) : 0;
    bool progress = execute(ctx, *at, row);
    bool changed = watched && ir_hash(*at) != before;
    ctx->runs[row]++;
    stats->ran++;
    if (progress) {
        ctx->progress[row]++;
        stats->changed++;
        (*at)->version++;
        analysis_drop(*at, p->keeps);
    }
    if (o->contracts)
        check_contract(ctx, *at, row, progress, changed);
    if (o->verify == VM_EACH)
        verify(ctx, *at, row);
    dump_after(ctx, *at, row, changed);
    *at = self_check(ctx, *at, row);
    if (ctx->watch.after)
        ctx->watch.after(ctx->watch.user, *at, row, progress);
    if (ctx->deadline > 0 && phase_total_clock() > ctx->deadline)
        heap_fail(&ctx->heap, ST_LIMIT, "time limit reached in phase %s (%d)", p->name, row);
}

// The figures of a function that is through its plan, which it entered at `start`.
static void add_stats(Ctx *ctx, Fn *fn, FnStats *s, double start)
{
    s->instrs_out = fn->ninstrs;
    s->blocks_out = fn->nblocks;
    s->regs_out = fn->regs.n - 1;
    s->reachable_out = analysis_need(fn, AN_RPO)->nrpo;
    s->arena_bytes = fn->arena.size;
    s->hash = ir_hash(fn);
    s->seconds = phase_clock() - start;
    VEC_PUSH(&ctx->arena, &ctx->stats, *s);
}

void phase_run(Ctx *ctx, Fn **at)
{
    Fn *fn = *at;
    FnStats s = {.name = fn->module->syms.at[fn->sym].name};
    double start = ctx->options.stats ? phase_clock() : 0;
    s.instrs_in = fn->ninstrs;
    s.blocks_in = fn->nblocks;
    s.regs_in = fn->regs.n - 1;
    dump_start(ctx, fn);
    for (uint32_t k = 0; k < ctx->plan.at.n; k++)
        run_row(ctx, at, ctx->plan.at.at[k].row, &s);
    // A function that came in ssa form may have met no row that asks for another.
    if ((*at)->form == FORM_SSA && !ctx->options.stay_in_ssa)
        run_row(ctx, at, PH_CONVERT_MOV_PHI, &s);
    dump_end(ctx);
    fn = *at;
    if (ctx->options.verify != VM_NONE)
        verify(ctx, fn, -1);
    if (ctx->options.stats)
        add_stats(ctx, fn, &s, start);
    analysis_drop(fn, 0);
}

void ctx_fork(Ctx *worker, Ctx *ctx)
{
    *worker = (Ctx){.heap = {.pool = &ctx->heap},
                    .options = ctx->options,
                    .plan = ctx->plan,
                    .target = ctx->target,
                    .deadline = ctx->deadline};
    arena_init(&worker->arena, &worker->heap);
    phase_factory(worker);
}

void ctx_join(Ctx *ctx, Ctx *worker)
{
    for (int row = 0; row < PHASE_ROWS; row++) {
        ctx->seconds[row] += worker->seconds[row];
        ctx->runs[row] += worker->runs[row];
        ctx->progress[row] += worker->progress[row];
    }
    arena_free(&worker->arena);
}

/* -- Figures -------------------------------------------------------------------------------------------- */

void phase_print_times(const Ctx *ctx, Out *out, double read_s, double write_s, uint64_t instrs, bool json)
{
    if (json)
        out_fmt(out, "{\"schema\":1,\"read_s\":%.6f,\"write_s\":%.6f,\"instructions\":%llu,\"phases\":[", read_s,
                write_s, (unsigned long long)instrs);
    else
        out_fmt(out, "%-44s %10s %8s %8s\n%-44s %10.6f\n", "phase", "seconds", "runs", "changed", "(read)", read_s);
    for (int row = 0, n = 0; row < PHASE_ROWS; row++) {
        if (!ctx->runs[row])
            continue;
        if (json)
            out_fmt(out, "%s{\"index\":%d,\"name\":\"%s\",\"seconds\":%.6f,\"runs\":%u,\"changed\":%u}", n++ ? "," : "",
                    row, phase_info[row].name, ctx->seconds[row], ctx->runs[row], ctx->progress[row]);
        else
            out_fmt(out, "%3d %-40s %10.6f %8u %8u\n", row, phase_info[row].name, ctx->seconds[row], ctx->runs[row],
                    ctx->progress[row]);
    }
    if (json)
        out_z(out, "]}\n");
    else
        out_fmt(out, "%-44s %10.6f\n", "(write)", write_s);
}

void phase_print_stats(const Ctx *ctx, const Module *m, Out *out, bool json)
{
    if (json)
        out_z(out, "{\"schema\":1,\"kernels\":[");
    for (uint32_t k = 0; k < ctx->stats.n; k++) {
        const FnStats *s = &ctx->stats.at[k];
        out_z(out, json ? k ? ",\n{\"name\":\"" : "\n{\"name\":\"" : "");
        name_print(out, &m->tables, s->name);
        if (json)
            out_fmt(
                out,
                "\",\"instructions_in\":%u,\"instructions\":%u,\"blocks_in\":%u,\"blocks\":%u,\"reachable_blocks\":%u,"
                "\"registers_in\":%u,\"registers\":%u,\"phases_run\":%u,\"phases_changed\":%u,\"arena_bytes\":%zu,"
                "\"hash\":\"%016llx\",\"seconds\":%.6f}",
                s->instrs_in, s->instrs_out, s->blocks_in, s->blocks_out, s->reachable_out, s->regs_in, s->regs_out,
                s->ran, s->changed, s->arena_bytes, (unsigned long long)s->hash, s->seconds);
        else
            out_fmt(out,
                    ": instructions %u -> %u, blocks %u -> %u (%u reachable), registers %u -> %u, %u of %u phases "
                    "changed it, "
                    "%zu bytes, hash %016llx, %.6f s\n",
                    s->instrs_in, s->instrs_out, s->blocks_in, s->blocks_out, s->reachable_out, s->regs_in, s->regs_out,
                    s->changed, s->ran, s->arena_bytes, (unsigned long long)s->hash, s->seconds);
    }
    if (json)
        out_z(out, "\n]}\n");
}
