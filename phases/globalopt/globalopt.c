// SPDX-License-Identifier: MIT
// Replaces variables of the module by constants, or by fewer and smaller variables.
//
// Row 163, a phase over the module, after OriInline: a variable has fewer accesses through parameters then. Each round
// finds the variables that only code of the module can name, and all accesses to them (variables.c). Then strategies
// change them, and the next round looks at the result:
//
//     dead        a variable of a function that nothing names goes; those of the module are left to OriDeadFunctions
//     A           loads of a variable that keeps its initial value become constants (constants.c)
//     B           a variable is split into fields (split.c)
//
// Dead code is removed from each changed function, so that it no longer names a variable without accesses.
//
// Must not fire: see the strategies. Does nothing in a module that had no calls in the input, if the user internalizes
// nothing: such a module is read and written in pieces.
//
// Documented: the order of the strategies, the gate -O2, the knobs, the repetition. Does not do: the flag of strategy A
// (.init, .val, .notinit), strategy C (malloc and free).
#include "phases/globalopt/globalopt.h"

enum { ROUNDS = 8 };

// Removes the variables of functions that nothing names.
static bool drop_unnamed(Globals *g)
{
    bool progress = false;
    for (uint32_t k = 1; k < g->at.n; k++) {
        const Global *v = &g->at.at[k];
        if (!v->owner || v->naming || v->obstacle || !phase_transforms(g->ctx, g->m->fns.at[v->owner - 1]))
            continue;
        global_remark(g, v, RM_PASSED, "DeadVariable", "is removed: nothing names it");
        global_sym(g, v)->flags |= SYM_GONE;
        g->changed[v->owner - 1] = true;
        g->ctx->module.variables_removed++;
        progress = true;
    }
    return progress;
}

// Puts the parts of split variables in their places.
static void replace_items(const Globals *g)
{
    Module *m = g->m;
    uint32_t n = m->items.n;
    Item *old = arena_copy((Arena *)&g->scratch, m->items.at, n * sizeof *old);
    m->items.n = 0;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t at = old[k].kind == ITEM_VAR && old[k].index < g->nsyms ? g->of_module[old[k].index] : 0;
        const Global *v = &g->at.at[at];
        for (uint32_t part = 0; part < v->nparts; part++)
            module_item(m, ITEM_VAR, v->part + part);
        if (!v->nparts)
            VEC_PUSH(&m->arena, &m->items, old[k]);
    }
    for (uint32_t k = 1; k < g->at.n; k++)
        if (g->at.at[k].nparts && g->at.at[k].owner)
            global_sym(g, &g->at.at[k])->flags |= SYM_GONE;
}

static void clean(const Globals *g)
{
    for (uint32_t k = 0; k < g->m->fns.n; k++) {
        Arena arena;
        Fn *fn = g->m->fns.at[k];
        if (!g->changed[k])
            continue;
        phase_changed(fn);
        if (!phase_transforms(g->ctx, fn))
            continue;
        phase_enter(g->ctx, fn, &arena);
        phase_subpass(g->ctx, fn, PH_SIMPLE_LIVE_DEAD);
        phase_leave(g->ctx, fn, &arena);
    }
}

static bool run_round(Globals *g)
{
    if (g->ctx->remarks)
        remarks_restart(g->ctx->remarks, PH_GLOBAL_OPT);
    g->nsyms = g->m->syms.n;
    g->changed = NEW_ARRAY(&g->scratch, bool, g->m->fns.n);
    globals_find(g);
    bool progress = drop_unnamed(g);
    progress |= globals_place_constants(g);
    progress |= globals_split(g);
    if (progress) {
        replace_items(g);
        clean(g);
    } else {
        globals_report(g);
    }
    return progress;
}

bool phase_global_opt(Ctx *ctx, Module *m)
{
    bool progress = false;
    if (!ctx->has_calls && !ctx->internalized)
        return false;
    Knobs knobs;
    knobs_init(&knobs, ctx->settings, &ctx->heap);
    for (int round = 0; round < ROUNDS && !knob_is_set(&knobs, KNOB_GLOBAL_OPT_DISABLE); round++) {
        Globals g = {.ctx = ctx, .m = m, .knobs = &knobs};
        arena_init(&g.scratch, &ctx->heap);
        bool changed = run_round(&g);
        arena_free(&g.scratch);
        progress |= changed;
        if (!changed)
            break;
    }
    knobs_merge_reads(&knobs, ctx->knobs.read);
    knobs_free(&knobs);
    return progress;
}
