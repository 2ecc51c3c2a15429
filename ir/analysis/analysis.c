// SPDX-License-Identifier: MIT
// Computes the analyses of a function on request, drops them, and compares kept results with new ones.
#include <stdio.h>

#include "ir/analysis/analysis_internal.h"

const char *const analysis_names[ANALYSIS_COUNT] = {
#define NAME(id, builder, on) #id,
    ANALYSES(NAME)
#undef NAME
};

static const struct {
    uint32_t on;  // AnalysisMask
    void (*build)(const Fn *fn, Analyses *a);
    bool (*same)(const Fn *fn, const Analyses *kept, Analyses *now, char why[static 150]);
} kinds[ANALYSIS_COUNT] = {
#define KIND(id, builder, on) {on, builder##_build, builder##_same},
    ANALYSES(KIND)
#undef KIND
};

/* -- Analyses that are not stored ----------------------------------------------------------------------- */

void analysis_init(Analyses *a, Heap *heap)
{
    *a = (Analyses){0};
    for (int k = 0; k < ANALYSIS_COUNT; k++)
        arena_init(&a->arena[k], heap);
}

uint32_t analysis_closure(uint32_t mask)
{
    for (int k = ANALYSIS_COUNT - 1; k >= 0; k--)
        if (mask >> k & 1)
            mask |= kinds[k].on;
    return mask;
}

void analysis_compute(const Fn *fn, Analyses *a, uint32_t mask)
{
    mask = analysis_closure(mask);
    for (int k = 0; k < ANALYSIS_COUNT; k++) {
        if (!((mask & ~a->valid) >> k & 1))
            continue;
        a->blocks[k] = fn->blocks.n;
        kinds[k].build(fn, a);
        a->valid |= 1u << k;
    }
}

static void drop(Analyses *a, uint32_t keep)
{
    for (int k = 0; k < ANALYSIS_COUNT; k++)
        if ((a->valid & ~keep) >> k & 1)
            arena_free(&a->arena[k]);
    a->valid &= keep;
}

void analysis_free(Analyses *a) { drop(a, 0); }

/* -- Analyses stored with a function -------------------------------------------------------------------- */

uint32_t analysis_requested(Fn *fn, uint32_t mask)
{
    uint32_t requested = fn->analyses ? fn->analyses->requested : 0;
    if (fn->analyses)
        fn->analyses->requested = mask;
    return requested;
}

// Insertion and removal of instructions update the table of AN_DEF as long as it is valid.
static void track_definitions(Fn *fn) { fn->defs = fn->analyses->valid & AN_DEF ? &fn->analyses->def : NULL; }

const Analyses *analysis_need(Fn *fn, uint32_t mask)
{
    if (!fn->analyses) {
        fn->analyses = NEW(&fn->arena, Analyses);
        analysis_init(fn->analyses, fn->arena.heap);
    }
    fn->analyses->requested |= mask;
    analysis_compute(fn, fn->analyses, mask);
    track_definitions(fn);
    return fn->analyses;
}

bool analysis_need_live(Fn *fn, uint64_t max)
{
    analysis_need(fn, analysis_closure(AN_LIVE) & ~(uint32_t)AN_LIVE);
    Analyses *a = fn->analyses;
    a->requested |= AN_LIVE;
    if (!(a->valid & AN_LIVE) && live_build_within(fn, a, max)) {
        a->blocks[AX_LIVE] = fn->blocks.n;
        a->valid |= AN_LIVE;
    }
    return a->valid & AN_LIVE;
}

// A row of the phase table has one mask for both forms. In multi form AN_DEF depends on the positions of uses, so it is
// dropped with AN_RDEFS.
void analysis_drop(Fn *fn, uint32_t keep)
{
    if (!fn->analyses)
        return;
    if (!(keep & AN_DEF))
        keep &= ~(uint32_t)AN_RDEFS;
    if (fn->form == FORM_MULTI && !(keep & AN_RDEFS))
        keep &= ~(uint32_t)AN_DEF;
    if (~keep & (analysis_closure(AN_POINTERS) & ~(uint32_t)AN_POINTERS))
        keep &= ~(uint32_t)AN_POINTERS;
    drop(fn->analyses, keep);
    track_definitions(fn);
}

void fn_adopt(Fn *fn, Heap *heap)
{
    analysis_drop(fn, 0);
    fn->arena.heap = fn->code.heap = heap;
    if (fn->analyses)
        analysis_init(fn->analyses, heap);
}

static bool is_current(int k, const Fn *fn, const Analyses *kept, Analyses *now, char why[static 150])
{
    if (kept->blocks[k] == fn->blocks.n)
        return kinds[k].same(fn, kept, now, why);
    snprintf(why, 150, "there are new blocks");  // the tables by BlockId are too short for them
    return false;
}

bool analysis_check(const Fn *fn, uint32_t mask, char why[static 200])
{
    const Analyses *kept = fn->analyses;
    char reason[150];
    why[0] = 0;
    mask &= kept ? kept->valid : 0;
    if (!mask)
        return true;
    Analyses now;
    analysis_init(&now, fn->arena.heap);
    analysis_compute(fn, &now, mask);
    for (int k = 0; k < ANALYSIS_COUNT && !why[0]; k++)
        if (mask >> k & 1 && !is_current(k, fn, kept, &now, reason))
            snprintf(why, 200, "%s was kept but is out of date: %s", analysis_names[k], reason);
    analysis_free(&now);
    return !why[0];
}
