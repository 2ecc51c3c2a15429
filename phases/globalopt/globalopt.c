// SPDX-License-Identifier: MIT
// Replaces variables of the module by constants, or by fewer and smaller variables.
//
// Row 163, a phase over the module, after OriInline: a variable has fewer accesses through parameters then. Each round
// finds the variables that only code of the module can name, and all accesses to them (variables.c). Then strategies
// change them, and the next round looks at the result:
//
//     dead        a variable that nothing names goes, after the functions that nothing reaches (OriDeadFunctions)
//     A           loads of a variable that keeps its initial value become constants (constants.c); one that also holds
//                 one other value becomes a flag (flags.c)
//     B           a variable is split into fields (split.c)
//     C           a variable replaces memory of malloc (malloc.c); off by default, each field gets memory
//                 (malloc_fields.c)
//
// The row runs again after slot 73 if there are fewer reads: where forwarding has replaced the last load of a variable,
// its stores are dead.
// OriReoptimize optimizes the functions that this changes.
//
// Dead code is removed from functions with unused addresses of a variable that has lost its accesses.
//
// Must not fire: see the strategies. A module without calls, `.shared` variables and internalized symbols has no
// candidates, so it is read and written in pieces.
//
// Documented: the order of the strategies, the gate -O2, the knobs, the repetition.
#include "phases/globalopt/globalopt.h"

enum { ROUNDS = 8 };

// Removes the variables that nothing names.
static bool drop_unnamed(Globals *g)
{
    bool progress = false;
    for (uint32_t k = 1; k < g->at.n; k++) {
        Global *v = &g->at.at[k];
        if (v->naming || v->obstacle)
            continue;
        global_remark(g, v, RM_PASSED, "DeadVariable", "is removed: nothing names it");
        v->gone = progress = true;
    }
    return progress;
}

// Removes variables that are gone, and puts the parts of split ones in their places.
static void replace_variables(Globals *g)
{
    Module *m = g->m;
    uint32_t n = m->items.n;
    Item *old = arena_copy(&g->scratch, m->items.at, n * sizeof *old);
    m->items.n = 0;
    for (uint32_t k = 0; k < n; k++) {
        const Global *v = &g->at.at[old[k].kind == ITEM_VAR ? g->of_module[old[k].index] : 0];
        for (uint32_t part = 0; part < v->nparts; part++)
            module_item(m, ITEM_VAR, v->part + part);
        if (!v->gone)
            VEC_PUSH(&m->arena, &m->items, old[k]);
    }
    for (uint32_t k = 1; k < g->at.n; k++) {
        const Global *v = &g->at.at[k];
        g->ctx->module.variables_removed += v->gone && !v->nparts;
        if (!v->gone || !v->owner)
            continue;
        global_sym(g, v)->flags |= SYM_GONE;
        g->changed[v->owner - 1] = true;
    }
}

static void clean(Globals *g)
{
    for (uint32_t k = 0; k < g->m->fns.n; k++) {
        Arena arena;
        Fn *fn = g->m->fns.at[k];
        if (g->changed[k]) {
            phase_changed(fn);
            fn->properties |= PROP_REOPTIMIZE;
        }
        if (!g->cluttered[k] || !phase_transforms(g->ctx, fn))
            continue;
        phase_enter(g->ctx, fn, &arena);
        phase_subpass(g->ctx, fn, PH_SIMPLE_LIVE_DEAD);
        global_leave(g, fn, &arena);
    }
}

static bool run_round(Globals *g)
{
    if (g->ctx->remarks)
        remarks_restart(g->ctx->remarks, PH_GLOBAL_OPT);
    g->changed = NEW_ARRAY(&g->scratch, bool, g->m->fns.n);
    g->cluttered = NEW_ARRAY(&g->scratch, bool, g->m->fns.n);
    globals_find(g);
    bool progress = drop_unnamed(g);
    progress |= globals_place_constants(g);
    progress |= globals_make_flags(g);
    progress |= globals_split(g);
    progress |= globals_replace_malloc(g);
    if (progress)
        g->again |= knob_is_set(g->knobs, KNOB_GLOBAL_OPT_MALLOC_FIELDS);
    else
        progress = globals_split_malloc(g);
    if (progress) {
        replace_variables(g);
        clean(g);
    }
    if (!g->again)
        globals_report(g);
    return progress || g->promoted;
}

// Counts the instructions that may read variables: those that name the space of one, and generic ones.
static void count_reads(const Ctx *ctx, const Module *m, uint32_t reads[static 2])
{
    reads[0] = reads[1] = 0;
    for (uint32_t k = 0; k < m->fns.n; k++) {
        const Fn *fn = m->fns.at[k];
        if (!fn || !(fn->flags & FN_DEFINED))
            continue;
        FOR_BLOCKS(fn, b)
            FOR_INSTRS(fn, b, id) {
                const Desc *d = ir_desc(fn, ir_instr(fn, id));
                if (!(d->traits & TR_READ))
                    continue;
                Space space = mod_space((Mod)tab_mnem(fn->tables, d->mnem)->mod[MC_SPACE]);
                bool internal = ctx->internalized && (space == SP_GLOBAL || space == SP_CONST);
                reads[0] += space == SP_SHARED || internal;
                reads[1] += space == SP_GENERIC || space == SP_NONE;
            }
    }
}

// True if the row has run, and no read of a variable has gone since. Then it would find nothing new.
static bool has_settled(const Ctx *ctx, const Module *m)
{
    uint32_t reads[2];
    if (!ctx->has_variables || !ctx->reads_counted)
        return false;
    count_reads(ctx, m, reads);
    return reads[0] >= ctx->variable_reads[0] && reads[1] >= ctx->variable_reads[1];
}

bool phase_global_opt(Ctx *ctx, Module *m)
{
    bool progress = false;
    if (has_settled(ctx, m))
        return false;
    Knobs knobs;
    knobs_init(&knobs, ctx->settings, &ctx->heap);
    if (!knob_is_set(&knobs, KNOB_GLOBAL_OPT_DISABLE) && !ctx->plan.off[PH_DEAD_FUNCTIONS])
        progress = phase_dead_functions(ctx, m);
    for (int round = 0; round < ROUNDS && !knob_is_set(&knobs, KNOB_GLOBAL_OPT_DISABLE); round++) {
        Globals g = {.ctx = ctx, .m = m, .knobs = &knobs, .first = !round && !ctx->reads_counted};
        arena_init(&g.scratch, &ctx->heap);
        bool changed = run_round(&g);
        arena_free(&g.scratch);
        progress |= changed;
        if (!g.again)
            break;
    }
    if (ctx->has_variables)
        count_reads(ctx, m, ctx->variable_reads);
    ctx->reads_counted = ctx->has_variables;
    knobs_merge_reads(&knobs, ctx->knobs.read);
    knobs_free(&knobs);
    return progress;
}
