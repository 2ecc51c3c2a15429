// SPDX-License-Identifier: MIT
// Happens-before order of the race check: the effect of barriers, fences, atomic operations and asynchronous copies on
// clocks. PTX ISA 8 (memory consistency model), 9.7.13 (barriers), 9.7.9.25 (copies).
//
// An agent is a warp, or a lane (RACES_LANES). A release publishes the agent's clock, which includes its own accesses
// up to the release. Time advances after a release, so the clock does not include later accesses.
//
// - Strong accesses. A release pattern is a release, or a fence and a later strong write. An acquire pattern is an
//   acquire, or a strong read and a later fence. The two synchronize if the read observes the write and all scopes
//   include both threads. The read may observe the write through atomic operations. So a location has a clock for each
//   scope (for .cta one for each CTA). An agent has the clock of its last fence, and the clock that it observed since,
//   for each scope.
// - Barriers of the CTA. sync, red and arrive release, sync and red acquire. A warp that has ended counts as arrived at
//   a barrier without a count. bar.warp.sync does the same for its lanes.
// - Collectives. shfl, vote, match, redux and elect with .sync pass values between lanes as relaxed accesses do. They
//   order memory only between fences.
// - Phases of the cluster's barrier and of mbarriers. Arrivals release, waits acquire; with .relaxed they need fences.
//   An arrival without a scope at an mbarrier of another CTA has the scope .cluster.
// - Copies. An asynchronous copy is a separate agent, with the clock of its issue. A wait for its group, or for the
//   mbarrier that it completes, acquires its accesses. Proxies are not modelled.
//
// Design notes:
// - A barrier of the CTA or of the cluster completes acquire patterns like a fence. The ISA requires a fence. But the
//   example of __threadfence() in the CUDA guide, in which the last block computes the sum, has only the barrier.
// - A barrier of the CTA carries fence.sc and membar from one thread to a strong write of another thread. If the
//   reader has a fence.sc, Fence-SC order implies this.
#include "ir/machine/races.h"

static bool is_empty(const Clock *c) { return !c->threads && !c->copies; }

static void join_clock(Races *x, Clock *to, const Clock *from)
{
    clock_join(&x->pool, &to->threads, from->threads);
    clock_join(&x->pool, &to->copies, from->copies);
}

static void copy_clock(Races *x, Clock *to, const Clock *from)
{
    clock_copy(&x->pool, &to->threads, from->threads);
    clock_copy(&x->pool, &to->copies, from->copies);
}

static void clear_clock(Races *x, Clock *c)
{
    clock_clear(&x->pool, &c->threads);
    clock_clear(&x->pool, &c->copies);
}

/* -- Agents --------------------------------------------------------------------------------------------- */

static uint32_t agents_of_warp(const Races *x) { return x->by_lane ? LANES : 1; }

// Returns the lanes that represent the agents of a mask.
static Mask agents(const Races *x, Mask lanes) { return x->by_lane || !lanes ? lanes : 1; }

Agent *agent_of(const Races *x, const Warp *w, uint32_t lane)
{
    uint32_t warp = w->cta->rank * x->run->nwarps + w->index;
    return &x->agents[warp * agents_of_warp(x) + (x->by_lane ? lane : 0)];
}

static Fences *fences_of(Races *x, Agent *a)
{
    if (!a->fences)
        a->fences = NEW(x->run->arena, Fences);
    return a->fences;
}

// Appends a warp, and a lane if these are agents, to the digits of a key.
static uint64_t agent_key(const Races *x, uint64_t key, uint32_t warp, uint32_t lane)
{
    key = key << CLOCK_BITS | warp;
    return x->by_lane ? key << CLOCK_BITS | lane : key;
}

uint64_t thread_key(const Races *x, uint32_t cta, uint32_t warp, uint32_t lane)
{
    return agent_key(x, cta - x->run->first_cta, warp, lane);
}

uint64_t copy_key(const Races *x, const RaceAccess *t)
{
    uint64_t cta = (uint64_t)(t->cta - x->run->first_cta) << REGION_BITS;
    if (t->flags & RACE_COPY_BARRIER) {
        uint32_t number = t->lanes / LANES;
        uint32_t region = REGION_BARRIERS + number / CLOCK_WIDTH % ((1 << REGION_BITS) - REGION_BARRIERS);
        return agent_key(x, cta | region, number % CLOCK_WIDTH, 0);
    }
    return agent_key(x, cta | (t->flags & RACE_COPY_SOURCE ? REGION_SOURCES : REGION_GROUPS), t->warp,
                     (uint32_t)__builtin_ctz(t->lanes));
}

static uint64_t key_of(const Races *x, const Warp *w, uint32_t lane)
{
    return thread_key(x, w->cta->number, w->index, lane);
}

// Includes the agent's own accesses in its clock. The caller calls advance() after it has published the clock.
static Clock *release(Races *x, const Warp *w, uint32_t lane)
{
    Agent *a = agent_of(x, w, lane);
    clock_set(&x->pool, &a->clock.threads, x->thread_root, key_of(x, w, lane), x->now);
    return &a->clock;
}

static void advance(Races *x) { x->now++; }

static void acquire_pending(Races *x, Agent *a, Scope scope)
{
    for (Scope s = 0; a->fences && s <= scope; s++) {
        join_clock(x, &a->clock, &a->fences->pending[s]);
        clear_clock(x, &a->fences->pending[s]);
    }
}

/* -- Strong accesses ------------------------------------------------------------------------------------ */

static void clear_ctas(Races *x, Sync *s)
{
    for (uint32_t k = 0; s->cta && k < x->run->nctas; k++)
        clear_clock(x, &s->cta[k]);
    clear_clock(x, &s->cluster);
}

void order_clear(Races *x, Sync *s)
{
    clear_ctas(x, s);
    clear_clock(x, &s->gpu);
    s->only_releaser = 0;
}

// Clears clocks that were released to CTAs that have ended.
static void drop_ended_ctas(Races *x, Sync *s)
{
    if (s->first == x->run->first_of_cluster)
        return;
    clear_ctas(x, s);
    s->first = x->run->first_of_cluster;
}

// Returns the clock that a location has for accesses of the current CTA with a scope.
static Clock *clock_for(Races *x, Sync *s, Scope scope)
{
    if (scope == SCOPE_GPU)
        return &s->gpu;
    if (scope == SCOPE_CLUSTER)
        return &s->cluster;
    if (!s->cta)
        s->cta = NEW_ARRAY(x->arena, Clock, x->run->nctas);
    return &s->cta[x->run->cta->rank];
}

void order_observe(Races *x, Agent *a, Sync *s, Scope scope, bool acquires)
{
    drop_ended_ctas(x, s);
    for (Scope k = 0; s->only_releaser && k <= scope; k++) {
        const Clock *c = clock_for(x, s, k);
        if (acquires)
            join_clock(x, &a->clock, c);
        else if (!is_empty(c))
            join_clock(x, &fences_of(x, a)->pending[k], c);
    }
}

void order_release(Races *x, const Warp *w, uint32_t lane, Sync *s, Scope scope, bool releases, bool modifies)
{
    Agent *a = agent_of(x, w, lane);
    uint64_t self = key_of(x, w, lane) + 1;
    drop_ended_ctas(x, s);
    if (!modifies && s->only_releaser != self)
        order_clear(x, s);
    if (!releases && !a->fences)
        return;
    s->only_releaser = !s->only_releaser || s->only_releaser == self ? self : UINT64_MAX;
    if (releases)
        release(x, w, lane);
    for (Scope k = 0; k <= scope; k++) {
        const Clock *c = releases ? &a->clock : &a->fences->fence[k];
        join_clock(x, clock_for(x, s, k), c);
        if (k == SCOPE_GPU && !is_empty(c))
            x->last_release = x->now;
    }
    if (releases)
        advance(x);
}

void race_fence(Run *r, const Group *g, const Code *c)
{
    Races *x = r->races;
    Scope scope = scope_of(c);
    bool sc = c->op == OP_MEMBAR || c->sem == MOD_SC;
    FOR_LANES(agents(x, g->lanes), lane) {
        Agent *a = agent_of(x, r->warp, lane);
        if (c->sem != MOD_RELEASE)
            acquire_pending(x, a, scope);
        if (c->sem == MOD_ACQUIRE)
            continue;
        const Clock *clock = release(x, r->warp, lane);
        for (Scope s = 0; s <= scope; s++) {
            copy_clock(x, &fences_of(x, a)->fence[s], clock);
            if (sc)
                copy_clock(x, &a->fences->sc[s], clock);
        }
    }
    advance(x);
}

/* -- Barriers of the CTA -------------------------------------------------------------------------------- */

static BarrierClock *barrier_of(const Run *r, uint32_t n) { return &r->races->barriers[r->cta->rank * BARRIERS + n]; }

static void arrive(Races *x, const Warp *w, uint32_t lane, BarrierClock *b, bool waits)
{
    Agent *a = agent_of(x, w, lane);
    if (waits)
        acquire_pending(x, a, SCOPE_GPU);
    join_clock(x, &b->clock, release(x, w, lane));
    for (Scope s = 0; a->fences && s < SCOPES; s++)
        join_clock(x, &b->sc[s], &a->fences->sc[s]);
}

static void leave(Races *x, const Warp *w, uint32_t lane, const BarrierClock *b)
{
    Agent *a = agent_of(x, w, lane);
    join_clock(x, &a->clock, &b->clock);
    for (Scope s = 0; s < SCOPES; s++)
        if (!is_empty(&b->sc[s])) {
            join_clock(x, &fences_of(x, a)->fence[s], &b->sc[s]);
            join_clock(x, &a->fences->sc[s], &b->sc[s]);
        }
}

static void clear_barrier(Races *x, BarrierClock *b)
{
    clear_clock(x, &b->clock);
    for (Scope s = 0; s < SCOPES; s++)
        clear_clock(x, &b->sc[s]);
    *b = (BarrierClock){.waiting = 0};
}

void race_bar_arrive(Run *r, uint32_t n, Mask lanes, bool waits)
{
    Races *x = r->races;
    BarrierClock *b = barrier_of(r, n);
    FOR_LANES(agents(x, lanes), lane)
        arrive(x, r->warp, lane, b, waits);
    b->passed |= !waits;
    b->waiting |= UINT32_C(1) << r->warp->index;
    advance(x);
}

void race_bar_open(Run *r, uint32_t n, bool all_warps)
{
    Races *x = r->races;
    BarrierClock *b = barrier_of(r, n);
    uint32_t live = 0;
    if (all_warps)
        join_clock(x, &b->clock, &x->ended[r->cta->rank]);
    for (uint32_t k = 0; k < r->nwarps; k++)
        live |= r->cta->warps[k].live || !all_warps ? UINT32_C(1) << k : 0;
    if (b->passed || b->waiting != live)
        return;
    clock_raise(&x->pool, &b->clock.threads, x->thread_root, thread_key(x, r->cta->number, 0, 0), x->cta_level + 1,
                x->now);
    advance(x);
}

void race_bar_leave(Run *r, uint32_t n, Mask lanes)
{
    FOR_LANES(agents(r->races, lanes), lane) {
        acquire_pending(r->races, agent_of(r->races, r->warp, lane), SCOPE_GPU);
        leave(r->races, r->warp, lane, barrier_of(r, n));
    }
}

void race_bar_close(Run *r, uint32_t n) { clear_barrier(r->races, barrier_of(r, n)); }

void race_end(Warp *w, Mask lanes)
{
    Races *x = w->run->races;
    FOR_LANES(agents(x, lanes), lane)
        join_clock(x, &x->ended[w->cta->rank], release(x, w, lane));
    advance(x);
}

/* -- Lanes ---------------------------------------------------------------------------------------------- */

// Lanes that pass values observe the fences of one another.
static void exchange(Races *x, const Warp *w, Mask lanes)
{
    Clock all = {NULL, NULL};
    FOR_LANES(lanes, lane) {
        const Agent *a = agent_of(x, w, lane);
        if (a->fences)
            join_clock(x, &all, &a->fences->fence[SCOPE_CTA]);
    }
    FOR_LANES(is_empty(&all) ? 0 : lanes, lane)
        join_clock(x, &fences_of(x, agent_of(x, w, lane))->pending[SCOPE_CTA], &all);
    clear_clock(x, &all);
}

void race_collective(Run *r, Mask lanes, bool orders)
{
    Races *x = r->races;
    BarrierClock all = {.waiting = 0};
    if (!x->by_lane)
        return;
    if (!orders) {
        exchange(x, r->warp, lanes);
        return;
    }
    FOR_LANES(lanes, lane)
        arrive(x, r->warp, lane, &all, false);
    if (lanes == r->warp->live)
        clock_raise(&x->pool, &all.clock.threads, x->thread_root, key_of(x, r->warp, 0), 1, x->now);
    FOR_LANES(lanes, lane)
        leave(x, r->warp, lane, &all);
    clear_barrier(x, &all);
    advance(x);
}

/* -- The barrier of the cluster ------------------------------------------------------------------------- */

void race_cluster_arrive(Run *r, Mask lanes, bool relaxed)
{
    Races *x = r->races;
    FOR_LANES(agents(x, lanes), lane) {
        const Agent *a = agent_of(x, r->warp, lane);
        if (!relaxed)
            join_clock(x, &x->arrivals, release(x, r->warp, lane));
        else if (a->fences)
            join_clock(x, &x->arrivals, &a->fences->fence[SCOPE_CLUSTER]);
    }
    advance(x);
}

void race_cluster_open(Run *r)
{
    Races *x = r->races;
    copy_clock(x, &x->completed, &x->arrivals);
    clear_clock(x, &x->arrivals);
    for (uint32_t k = 0; k < r->nctas; k++)
        join_clock(x, &x->completed, &x->ended[k]);
}

void race_cluster_wait(Run *r, Mask lanes)
{
    Races *x = r->races;
    FOR_LANES(agents(x, lanes), lane) {
        Agent *a = agent_of(x, r->warp, lane);
        acquire_pending(x, a, SCOPE_GPU);
        join_clock(x, &a->clock, &x->completed);
    }
}

/* -- mbarriers ------------------------------------------------------------------------------------------ */

Sync *race_sync(Run *r) { return r->races ? r->races->sync : NULL; }

void race_mbarrier_arrive(Run *r, const Group *g, const Code *c, uint32_t lane, Sync *s)
{
    Races *x = r->races;
    const Agent *a = agent_of(x, r->warp, lane);
    Scope needed = x->access.owner == r->cta ? SCOPE_CTA : SCOPE_CLUSTER;
    Scope scope = code_has_word(g, c, ".cluster.") || !code_has_word(g, c, ".cta.") ? SCOPE_CLUSTER : SCOPE_CTA;
    if (scope < needed)
        return;
    if (!code_has_word(g, c, ".relaxed"))
        join_clock(x, &s->arrivals, release(x, r->warp, lane));
    else if (a->fences)
        join_clock(x, &s->arrivals, &a->fences->fence[needed]);
    advance(x);
}

void race_mbarrier_phase(Run *r, Sync *s)
{
    copy_clock(r->races, &s->completed, &s->arrivals);
    clear_clock(r->races, &s->arrivals);
}

void race_mbarrier_wait(Run *r, const Group *g, const Code *c, uint32_t lane, const Sync *s)
{
    Races *x = r->races;
    Agent *a = agent_of(x, r->warp, lane);
    bool relaxed = code_has_word(g, c, ".relaxed");
    join_clock(x, relaxed ? &fences_of(x, a)->pending[SCOPE_CLUSTER] : &a->clock, &s->completed);
}

/* -- Asynchronous copies -------------------------------------------------------------------------------- */

static RaceAccess race_access_of_copies(const Run *r, uint32_t lane, uint8_t flags)
{
    return (RaceAccess){
        .cta = r->cta->number, .warp = (uint8_t)r->warp->index, .lanes = UINT32_C(1) << lane, .flags = flags};
}

RaceCopy race_copy(Run *r, uint32_t lane, Sync *s, bool arrives)
{
    const Races *x = r->races;
    RaceCopy copy = {.sync = s};
    if (!x)
        return copy;
    RaceAccess t = race_access_of_copies(r, lane, RACE_COPY);
    if (s && !arrives) {
        t.flags |= RACE_COPY_BARRIER;
        t.lanes = s->number * LANES;
    }
    copy.key = copy_key(x, &t);
    copy.time = x->now;
    return copy;
}

void race_commit(Run *r) { advance(r->races); }

// Includes an agent's copies up to a time in a clock.
static void include_copies(Races *x, Clock *c, uint64_t key, uint64_t time)
{
    if (clock_at(c->copies, key) < time)
        clock_set(&x->pool, &c->copies, x->copy_root, key, time);
}

void race_copied(Run *r, uint32_t lane, bool sources_only, uint64_t time)
{
    Races *x = r->races;
    time = MIN(time, x->now);
    Agent *a = agent_of(x, r->warp, lane);
    RaceAccess all = race_access_of_copies(r, lane, RACE_COPY),
               sources = race_access_of_copies(r, lane, RACE_COPY_SOURCE);
    include_copies(x, &a->clock, copy_key(x, &sources), time);
    if (!sources_only)
        include_copies(x, &a->clock, copy_key(x, &all), time);
    advance(x);
}

void race_complete(Run *r, const RaceCopy *copy)
{
    include_copies(r->races, &copy->sync->arrivals, copy->key, copy->time);
}

/* -- Clusters ------------------------------------------------------------------------------------------- */

void order_start_cluster(Races *x)
{
    const Run *r = x->run;
    x->agents = NEW_ARRAY(r->arena, Agent, (size_t)r->nctas * r->nwarps * agents_of_warp(x));
    x->barriers = NEW_ARRAY(r->arena, BarrierClock, (size_t)r->nctas * BARRIERS);
    x->ended = NEW_ARRAY(r->arena, Clock, r->nctas);
    x->last_release = 0;
    memset(x->nmbarriers, 0, sizeof x->nmbarriers);
}

static void clear_agent(Races *x, Agent *a)
{
    clear_clock(x, &a->clock);
    for (Scope s = 0; a->fences && s < SCOPES; s++) {
        clear_clock(x, &a->fences->fence[s]);
        clear_clock(x, &a->fences->sc[s]);
        clear_clock(x, &a->fences->pending[s]);
    }
}

void order_end_cluster(Races *x)
{
    const Run *r = x->run;
    for (uint32_t k = 0; k < r->nctas * r->nwarps * agents_of_warp(x); k++)
        clear_agent(x, &x->agents[k]);
    for (uint32_t k = 0; k < r->nctas * BARRIERS; k++)
        clear_barrier(x, &x->barriers[k]);
    for (uint32_t k = 0; k < r->nctas; k++)
        clear_clock(x, &x->ended[k]);
    clear_clock(x, &x->arrivals);
    clear_clock(x, &x->completed);
}
