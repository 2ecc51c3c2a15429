// SPDX-License-Identifier: MIT
// Describes the threads of a run that stopped: the position and the wait of each group. A running group may spin at a
// lock or a flag, which no instruction shows, or at an mbarrier whose last test failed.
#include <stdio.h>

#include "ir/machine/machine_internal.h"

enum { TEXT = sizeof((RunWait *)0)->text };

static uint32_t count(Mask lanes) { return (uint32_t)__builtin_popcount(lanes); }

// Returns the number of threads that must arrive at barrier `n`; 0 = no warp has arrived yet.
static uint32_t expected_at(const Run *r, const CtaState *cta, uint32_t n)
{
    const Barrier *b = &cta->barriers[n];
    uint32_t expected = b->expected;
    for (uint32_t k = 0; b->all_warps && k < r->nwarps; k++)
        expected -= cta->warps[k].live ? 0 : LANES;
    return expected;
}

static Mask lanes_at_barrier(const Warp *w, uint32_t n)
{
    Mask lanes = 0;
    for (const Group *g = w->groups; g < w->groups + LANES; g++)
        lanes |= g->lanes && g->state == GROUP_AT_BARRIER && g->barrier == n ? g->lanes : 0;
    return lanes;
}

static void describe_barrier(const Run *r, const Warp *w, const Group *g, char text[static TEXT])
{
    Mask missing = w->live & ~lanes_at_barrier(w, g->barrier);
    if (missing)
        snprintf(text, TEXT, "barrier %u, for lanes %#x of its warp", g->barrier, missing);
    else
        snprintf(text, TEXT, "barrier %u: %u of %u threads have arrived", g->barrier,
                 w->cta->barriers[g->barrier].arrived, expected_at(r, w->cta, g->barrier));
}

static void describe_cluster(const Run *r, char text[static TEXT])
{
    uint32_t arrived = 0, live = 0;
    for (uint32_t k = 0; k < r->nctas * r->nwarps; k++) {
        const Warp *w = warp_in_cluster(r, k);
        arrived += count(w->live & w->arrived);
        live += count(w->live);
    }
    snprintf(text, TEXT, "the barrier of the cluster: %u of %u threads have arrived", arrived, live);
}

static void describe_sync(const Warp *w, const Group *g, char text[static TEXT])
{
    Mask here = 0;
    for (const Group *other = w->groups; other < w->groups + LANES; other++)
        here |= other->lanes && other->state == GROUP_AT_SYNC && other->members == g->members ? other->lanes : 0;
    snprintf(text, TEXT, "lanes %#x of its warp", g->members & w->live & ~here);
}

static void describe(Run *r, const Warp *w, const Group *g, char text[static TEXT])
{
    Mask failed_tests = g->lanes & w->failed_tests;
    switch (g->state) {
    case GROUP_AT_BARRIER: describe_barrier(r, w, g, text); return;
    case GROUP_AT_CLUSTER: describe_cluster(r, text); return;
    case GROUP_AT_SYNC: describe_sync(w, g, text); return;
    default: break;
    }
    if (failed_tests)
        async_describe(r, w->cta, w->tested_mbarrier[__builtin_ctz(failed_tests)], TEXT, text);
    else
        snprintf(text, TEXT, "nothing: still running");
}

static RunWait *add(Run *r, const Warp *w, const Frame *f, uint32_t pc, Mask lanes)
{
    Machine *m = r->machine;
    RunWait row = {.fn = f->func->fn, .block = w->cta->at, .warp = w->index, .lanes = lanes};
    row.instr = f->func->code[MIN(pc, f->func->ncode - 1)].id;
    VEC_PUSH(&m->arena, &m->waits, row);
    return &m->waits.at[m->waits.n - 1];
}

// Records the lanes that arrived at the joins of a group, each join once.
static void record_joins(Run *r, const Warp *w, const Group *g, Mask *recorded)
{
    for (const Join *j = g->join; j; j = j->outer) {
        if (!j->arrived || j->arrived & *recorded)
            continue;
        *recorded |= j->arrived;
        RunWait *row = add(r, w, j->frame, j->pc, j->arrived);
        snprintf(row->text, TEXT, "lanes %#x of its warp, to reconverge", j->expected & ~j->arrived);
    }
}

uint64_t waits_started(const Run *r) { return r->first_of_cluster + r->nctas - r->first_cta; }

void waits_record(Run *r)
{
    Warp *const here = r->warp;
    for (uint32_t k = 0; k < r->nctas * r->nwarps; k++) {
        Warp *w = warp_in_cluster(r, k);
        Mask recorded = 0;
        select_warp(r, w);
        for (const Group *g = w->groups; g < w->groups + LANES; g++) {
            if (!g->lanes)
                continue;
            RunWait *row = add(r, w, g->frame, g->pc, g->lanes);
            describe(r, w, g, row->text);
            record_joins(r, w, g, &recorded);
        }
    }
    select_warp(r, here);
    const Dim *grid = &r->launch->grid;
    r->machine->unstarted = (uint64_t)grid->x * grid->y * grid->z - waits_started(r);
}

const RunWait *machine_waits(Machine *m, uint32_t *n, uint64_t *unstarted)
{
    if (m->polled) {
        m->waits.n = 0;
        waits_record(m->polled);
    }
    *n = m->waits.n;
    *unstarted = m->unstarted;
    return m->waits.at;
}
