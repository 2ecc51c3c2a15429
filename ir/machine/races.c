// SPDX-License-Identifier: MIT
// The race check. Two accesses to a byte by different agents race if one of them writes, nothing orders them (order.c),
// and they are not both strong with scopes that include each other. Agents are warps, or lanes. If agents are lanes,
// only barriers order the lanes of a warp, even lanes that run together: two lanes that write a byte with one
// instruction race, also with equal values.
//
// Shadow memory has a cell for each word. A word whose bytes have different histories has a cell for each byte. As in
// FastTrack (Flanagan and Freund, 2009), a cell has the last plain write, which is ordered after all earlier accesses.
// It has one plain read if all reads are ordered. Unordered reads, and strong accesses, form sets.
//
// Sets stay small, since an access replaces the accesses that are ordered before it. If a CTA has ended and published
// no clock after a read, no later access of another CTA is ordered after the read. Such a read represents all other
// reads.
//
// Memory is bounded by MachineOptions.race_memory: a run that needs more ends with RUN_LIMIT.
#include <stdio.h>

#include "ir/machine/races.h"

/* -- Storage -------------------------------------------------------------------------------------------- */

static void *race_alloc(Races *x, size_t bytes)
{
    x->used += bytes;
    return arena_zalloc(x->arena, bytes);
}

static size_t set_bytes(uint32_t class) { return sizeof(AccessSet) + sizeof(RaceAccess) * ((size_t)1 << class); }

static AccessSet *set_new(Races *x, uint32_t class)
{
    AccessSet *s = x->sets[class];
    if (s)
        x->sets[class] = s->u.next;
    else
        s = race_alloc(x, set_bytes(class));
    s->n = 0;
    s->cap = UINT32_C(1) << class;
    return s;
}

static void set_free(Races *x, AccessSet *s)
{
    if (!s)
        return;
    uint32_t class = (uint32_t)__builtin_ctz(s->cap);
    s->u.next = x->sets[class];
    x->sets[class] = s;
}

static AccessSet *set_copy(Races *x, const AccessSet *from)
{
    if (!from)
        return NULL;
    AccessSet *s = set_new(x, (uint32_t)__builtin_ctz(from->cap));
    s->n = from->n;
    memcpy(s->u.at, from->u.at, from->n * sizeof *from->u.at);
    return s;
}

static Sync *sync_new(Races *x)
{
    Sync *s = x->syncs;
    Clock *cta = s ? s->cta : NULL;
    if (s)
        x->syncs = s->next;
    else
        s = race_alloc(x, sizeof *s);
    *s = (Sync){.cta = cta};
    return s;
}

static void sync_free(Races *x, Sync *s)
{
    if (!s)
        return;
    order_clear(x, s);
    clock_clear(&x->pool, &s->arrivals.threads);
    clock_clear(&x->pool, &s->arrivals.copies);
    clock_clear(&x->pool, &s->completed.threads);
    clock_clear(&x->pool, &s->completed.copies);
    set_free(x, s->set);
    s->next = x->syncs;
    x->syncs = s;
}

static void cell_clear(Races *x, Cell *c)
{
    set_free(x, c->reads);
    sync_free(x, c->sync);
    *c = (Cell){.sync = NULL};
}

// Gives each byte of a word the word's history. Clocks of the word go to its first byte.
static Cell *split(Races *x, Page *p, uint32_t k)
{
    Split *s = x->splits;
    Cell *word = &p->cell[k];
    if (s)
        x->splits = s->next;
    else
        s = race_alloc(x, sizeof *s);
    for (uint32_t b = 0; b < WORD; b++) {
        s->cell[b] = *word;
        if (b && word->sync) {
            s->cell[b].sync = sync_new(x);
            s->cell[b].sync->narrow = word->sync->narrow;
            s->cell[b].sync->set = set_copy(x, word->sync->set);
        }
        if (b)
            s->cell[b].reads = set_copy(x, word->reads);
    }
    *word = (Cell){.sync = NULL};
    return p->split[k] = s->cell;
}

static Page *page_of(Races *x, Shadow *s, uint64_t word)
{
    Page **p = &s->pages[word / PAGE_WORDS];
    if (*p)
        return *p;
    *p = x->pages;
    if (*p) {
        x->pages = (*p)->next;
        memset(*p, 0, sizeof **p);
    } else {
        *p = race_alloc(x, sizeof **p);
    }
    return *p;
}

static void page_free(Races *x, Page *p)
{
    for (uint32_t k = 0; k < PAGE_WORDS; k++) {
        for (uint32_t b = 0; p->split[k] && b < WORD; b++)
            cell_clear(x, &p->split[k][b]);
        if (p->split[k]) {
            Split *s = (Split *)(void *)p->split[k];
            s->next = x->splits;
            x->splits = s;
        }
        cell_clear(x, &p->cell[k]);
    }
    p->next = x->pages;
    x->pages = p;
}

// `arena` lives as long as the memory that the shadow describes.
static Shadow *shadow_new(Races *x, Arena *arena, uint64_t bytes)
{
    Shadow *s = NEW(arena, Shadow);
    s->npages = bytes / (WORD * PAGE_WORDS) + 1;
    s->pages = NEW_ARRAY(arena, Page *, s->npages);
    x->used += arena == x->arena ? s->npages * sizeof *s->pages : 0;
    return s;
}

// Returns the shadow of the memory that an access reaches; NULL = it is private to a thread, or constant.
static Shadow *shadow_of(Races *x, const Access *a)
{
    if (a->space == SP_SHARED)
        return a->owner->shadow;
    if (!a->allocation || a->allocation->read_only)
        return NULL;
    if (!a->allocation->shadow)
        a->allocation->shadow = shadow_new(x, x->arena, a->allocation->size);
    return a->allocation->shadow;
}

/* -- Accesses ------------------------------------------------------------------------------------------- */

static uint32_t number_of(const Access *a)
{
    const Func *f = a->group->frame->func;
    return f->first + (uint32_t)(a->code - f->code);
}

static bool is_strong(const Code *c) { return c->op == OP_ATOM || c->op == OP_RED || (c->sem && c->sem != MOD_WEAK); }

static uint8_t flags_of(const Run *r, const Access *a)
{
    uint8_t writes = a->write ? RACE_WRITES : 0, strong = RACE_STRONG | RACE_SCOPE * SCOPE_GPU;
    switch (r->access) {
    case ACCESS_MBARRIER: return writes | strong;
    case ACCESS_COPY: return writes | RACE_COPY;
    case ACCESS_COPY_SOURCE: return writes | RACE_COPY | RACE_COPY_SOURCE;
    case ACCESS_COPY_BARRIER: return writes | RACE_COPY | RACE_COPY_BARRIER;
    default: break;
    }
    if (!is_strong(a->code))
        return writes;
    bool observes = a->code->op == OP_ATOM || !a->write;
    return (uint8_t)(writes | RACE_STRONG | RACE_SCOPE * scope_of(a->code) | (observes ? RACE_OBSERVES : 0));
}

static uint32_t mbarrier_number(Races *x)
{
    if (!x->sync->number)
        x->sync->number = ++x->nmbarriers[x->run->cta->rank];
    return x->sync->number;
}

static RaceAccess race_access_of(Races *x, const Access *a)
{
    const Run *r = x->run;
    RaceAccess t = {
        .cta = r->cta->number, .warp = (uint8_t)r->warp->index, .code = number_of(a), .flags = flags_of(r, a)};
    t.lanes = t.flags & RACE_COPY_BARRIER ? mbarrier_number(x) * LANES + a->lane : UINT32_C(1) << a->lane;
    t.time_low = (uint32_t)x->now;
    t.time_high = (uint16_t)(x->now >> 32);
    return t;
}

/* -- Order ---------------------------------------------------------------------------------------------- */

static bool same_warp(const RaceAccess *a, const RaceAccess *b) { return a->cta == b->cta && a->warp == b->warp; }

// Returns the lanes of an earlier access that are not ordered before the current one.
static Mask unordered(const Races *x, const RaceAccess *t, const RaceAccess *now)
{
    const Agent *a = agent_of(x, x->run->warp, (uint32_t)__builtin_ctz(now->lanes));
    uint64_t time = time_of_access(t);
    Mask lanes = t->lanes, found = 0;
    if (now->flags & RACE_COPY_BARRIER)
        a = agent_of(x, x->run->warp, now->lanes % LANES);
    if (t->flags & RACE_COPY_BARRIER)
        lanes = UINT32_C(1) << t->lanes % LANES;
    if (t->flags & RACE_COPY)
        return clock_at(a->clock.copies, copy_key(x, t)) < time ? lanes : 0;
    if (same_warp(t, now))
        lanes &= x->by_lane ? ~now->lanes : 0;
    if (!x->by_lane)
        return lanes && clock_at(a->clock.threads, thread_key(x, t->cta, t->warp, 0)) < time ? lanes : 0;
    FOR_LANES(lanes, lane)
        if (clock_at(a->clock.threads, thread_key(x, t->cta, t->warp, lane)) < time)
            found |= UINT32_C(1) << lane;
    return found;
}

static bool are_morally_strong(const Races *x, const RaceAccess *a, const RaceAccess *b)
{
    const Run *r = x->run;
    Scope needed = SCOPE_GPU;
    if (a->cta == b->cta)
        needed = SCOPE_CTA;
    else if (MIN(a->cta, b->cta) >= r->first_of_cluster)
        needed = SCOPE_CLUSTER;
    return scope_of_access(a) >= needed && scope_of_access(b) >= needed && a->flags & b->flags & RACE_STRONG;
}

static bool conflict(const Races *x, const RaceAccess *t, const RaceAccess *now)
{
    return (t->flags | now->flags) & RACE_WRITES && !are_morally_strong(x, t, now) && unordered(x, t, now);
}

// True if no later access of another CTA will be ordered after this one.
static bool is_final(const Races *x, const RaceAccess *t)
{
    const Run *r = x->run;
    return t->cta < r->first_of_cluster && x->ctas.at[t->cta - r->first_cta].last_release < time_of_access(t);
}

// True if each later access that races with `t` also races with `now`. `t` is ordered before `now`, or has the same
// agent.
static bool subsumes(const RaceAccess *now, const RaceAccess *t)
{
    if (t->flags & RACE_COPY || (t->flags & RACE_WRITES && !(now->flags & RACE_WRITES)))
        return false;
    if (!(now->flags & t->flags & RACE_STRONG))
        return true;
    return scope_of_access(now) <= scope_of_access(t) && !(t->flags & ~now->flags & RACE_OBSERVES);
}

// Removes lanes from an access that the current one replaces. True if no lane is left.
static bool replaces(const Races *x, const RaceAccess *now, RaceAccess *t)
{
    if (!subsumes(now, t))
        return false;
    Mask left = unordered(x, t, now);
    if (left)
        t->lanes = left;
    return !left;
}

/* -- Sets ----------------------------------------------------------------------------------------------- */

// Removes accesses that the current one replaces, and accesses that a final access represents.
static void set_compact(Races *x, AccessSet *s, const RaceAccess *now)
{
    RaceAccess final = {.cta = 0};
    uint32_t n = 0;
    for (uint32_t k = 0; k < s->n; k++)
        if (is_final(x, &s->u.at[k]) && (!final.cta || subsumes(&s->u.at[k], &final)))
            final = s->u.at[k];
    for (uint32_t k = 0; k < s->n; k++) {
        RaceAccess *t = &s->u.at[k];
        bool is_kept = final.cta && memcmp(t, &final, sizeof final) == 0;
        if (is_kept || !(replaces(x, now, t) || (final.cta && subsumes(&final, t))))
            s->u.at[n++] = *t;
    }
    s->n = n;
}

// True if the set has an access of the same agent, which a later one joins or replaces.
static bool set_merge(const Races *x, AccessSet *s, const RaceAccess *now)
{
    for (uint32_t k = s->n; k-- && s->u.at[k].cta >= x->run->first_of_cluster;) {
        RaceAccess *t = &s->u.at[k];
        if (!same_warp(t, now) || t->flags != now->flags || t->flags & RACE_COPY)
            continue;
        if (t->code == now->code && time_of_access(t) == time_of_access(now)) {
            t->lanes = x->by_lane ? t->lanes | now->lanes : now->lanes;
            return true;
        }
        t->lanes &= x->by_lane ? ~now->lanes : 0;
        if (!t->lanes) {
            *t = *now;
            return true;
        }
    }
    return false;
}

// Adds an access, the current one or an older one. May remove accesses that the current one replaces.
static void set_add(Races *x, AccessSet **at, const RaceAccess *t, const RaceAccess *now)
{
    AccessSet *s = *at;
    if (!s)
        s = set_new(x, 0);
    if (s->n && set_merge(x, s, t)) {
        *at = s;
        return;
    }
    if (s->n == s->cap)
        set_compact(x, s, now);
    if (s->n + 1 > s->cap || s->n > s->cap / 2) {
        AccessSet *more = set_new(x, (uint32_t)__builtin_ctz(s->cap) + 1);
        more->n = s->n;
        memcpy(more->u.at, s->u.at, s->n * sizeof *s->u.at);
        set_free(x, s);
        s = more;
    }
    s->u.at[s->n++] = *t;
    *at = s;
}

// Returns the last strong access that gave a value and is ordered before the current access, or NULL.
static const RaceAccess *last_observation(const Races *x, const AccessSet *s, const RaceAccess *now)
{
    const RaceAccess *last = NULL;
    for (uint32_t k = 0; s && k < s->n; k++) {
        const RaceAccess *t = &s->u.at[k];
        bool later = t->flags & RACE_OBSERVES && (!last || time_of_access(t) > time_of_access(last));
        if (later && !unordered(x, t, now))
            last = t;
    }
    return last;
}

// Returns a strong access that races with a plain one, or NULL. The strong accesses to a location have one order. So a
// strong access that another one observed is ordered before all accesses after the observation.
static const RaceAccess *strong_conflict(const Races *x, const AccessSet *s, const RaceAccess *now)
{
    const RaceAccess *observed = last_observation(x, s, now);
    for (uint32_t k = 0; s && k < s->n; k++) {
        const RaceAccess *t = &s->u.at[k];
        bool is_observed =
            observed && time_of_access(t) <= time_of_access(observed) && are_morally_strong(x, t, observed);
        if (!is_observed && conflict(x, t, now))
            return t;
    }
    return NULL;
}

static const RaceAccess *set_conflict(const Races *x, const AccessSet *s, const RaceAccess *now)
{
    for (uint32_t k = 0; s && k < s->n; k++)
        if (conflict(x, &s->u.at[k], now))
            return &s->u.at[k];
    return NULL;
}

/* -- Cells ---------------------------------------------------------------------------------------------- */

// Returns an earlier access that the current one races with, or NULL.
static const RaceAccess *find_race(const Races *x, const Cell *c, const RaceAccess *now)
{
    const RaceAccess *t = NULL;
    bool same_scope = now->flags & RACE_STRONG && scope_of_access(now) == SCOPE_GPU && c->sync && !c->sync->narrow;
    if (c->write.cta && conflict(x, &c->write, now))
        return &c->write;
    if (now->flags & RACE_WRITES && c->read.cta && conflict(x, &c->read, now))
        return &c->read;
    if (now->flags & RACE_WRITES)
        t = set_conflict(x, c->reads, now);
    if (!t && c->sync && !(now->flags & RACE_STRONG))
        t = strong_conflict(x, c->sync->set, now);
    else if (!t && c->sync && !same_scope)
        t = set_conflict(x, c->sync->set, now);
    return t;
}

static void record_write(Races *x, Cell *c, const RaceAccess *now)
{
    c->write = *now;
    c->read.cta = 0;
    set_free(x, c->reads);
    c->reads = NULL;
    if (!c->sync)
        return;
    set_free(x, c->sync->set);
    c->sync->set = NULL;
    c->sync->narrow = false;
    order_clear(x, c->sync);
}

static void record_read(Races *x, Cell *c, const RaceAccess *now)
{
    RaceAccess *t = &c->read;
    if (t->cta && same_warp(t, now) && t->code == now->code && time_of_access(t) == time_of_access(now) && x->by_lane &&
        !(t->flags & RACE_COPY)) {
        t->lanes |= now->lanes;
        return;
    }
    if (t->cta && !replaces(x, now, t)) {
        if (is_final(x, t))
            return;
        set_add(x, &c->reads, t, now);
    }
    *t = *now;
}

static void record_strong(Races *x, Cell *c, const RaceAccess *now)
{
    if (!c->sync)
        c->sync = sync_new(x);
    c->sync->narrow |= scope_of_access(now) != SCOPE_GPU;
    set_add(x, &c->sync->set, now, now);
}

static void record_access(Races *x, Cell *c, const RaceAccess *now)
{
    if (now->flags & RACE_STRONG)
        record_strong(x, c, now);
    else if (now->flags & RACE_WRITES)
        record_write(x, c, now);
    else
        record_read(x, c, now);
}

/* -- Reports -------------------------------------------------------------------------------------------- */

static const Code *code_of(const Machine *m, uint32_t number, const Func **func)
{
    for (SymId s = 1; s < m->module->syms.n; s++) {
        const Func *f = m->funcs[s];
        if (f && number - f->first < f->ncode) {
            *func = f;
            return &f->code[number - f->first];
        }
    }
    *func = NULL;
    return NULL;
}

static const char *describe(const RaceAccess *t, const Code *c)
{
    bool writes = t->flags & RACE_WRITES;
    if (t->flags & RACE_COPY)
        return writes ? "write by an asynchronous copy" : "read by an asynchronous copy";
    if (c->op == OP_ATOM || c->op == OP_RED)
        return "atomic operation";
    if (t->flags & RACE_STRONG && c->op != OP_LD && c->op != OP_ST)
        return "operation on an mbarrier";
    switch (t->flags & RACE_STRONG ? c->sem : MOD_WEAK) {
    case MOD_VOLATILE: return writes ? "volatile write" : "volatile read";
    case MOD_RELEASE: return "release write";
    case MOD_ACQUIRE: return "acquire read";
    case MOD_WEAK: return writes ? "write" : "read";
    default: return writes ? "relaxed write" : "relaxed read";
    }
}

static const char *scope_name(Scope s) { return s == SCOPE_CTA ? ".cta" : s == SCOPE_CLUSTER ? ".cluster" : ".gpu"; }

// Returns an earlier access of the lowest of its lanes, for a report.
static RelatedAccess other_of(const Races *x, const RaceAccess *t)
{
    const Run *r = x->run;
    const Func *f;
    const Code *c = code_of(r->machine, t->code, &f);
    uint32_t lane = t->flags & RACE_COPY_BARRIER ? t->lanes % LANES : (uint32_t)__builtin_ctz(t->lanes);
    RelatedAccess o = {.fn = f->fn, .instr = c->id, .block = x->ctas.at[t->cta - r->first_cta].at};
    o.thread = dim_at(r->launch->block, t->warp * (uint32_t)LANES + lane);
    snprintf(o.text, sizeof o.text, "the %s", describe(t, c));
    return o;
}

// Reports a race of the current access with an earlier one, at an offset of the memory. Returns false.
static bool report(const Races *x, const Access *a, const RaceAccess *now, const RaceAccess *earlier, uint64_t at)
{
    Run *r = x->run;
    RaceAccess t = *earlier;
    char place[160], scopes[60] = "";
    if (!(t.flags & RACE_COPY))
        t.lanes = unordered(x, &t, now);
    const RelatedAccess other = other_of(x, &t);
    if (t.flags & now->flags & RACE_STRONG)
        snprintf(scopes, sizeof scopes, "; their scopes are %s and %s", scope_name(scope_of_access(now)),
                 scope_name(scope_of_access(&t)));
    Access byte = *a;
    byte.at = at;
    variable_place(r, &byte, place);
    fault(r, a->group, a->code, a->lane,
          "a data race at %s: nothing orders this %s after %s of block %u,%u,%u, thread %u,%u,%u%s", place,
          describe(now, a->code), other.text, other.block.x, other.block.y, other.block.z, other.thread.x,
          other.thread.y, other.thread.z, scopes);
    r->machine->error.other = other;
    return false;
}

/* -- Checks --------------------------------------------------------------------------------------------- */

static bool check_cell(Races *x, const Access *a, Cell *c, const RaceAccess *now, uint64_t at)
{
    const RaceAccess *earlier = find_race(x, c, now);
    if (earlier)
        return report(x, a, now, earlier, at);
    record_access(x, c, now);
    return true;
}

// Checks and records an access to bytes `first` to `last` of a word.
static bool check_word(Races *x, const Access *a, Shadow *s, const RaceAccess *now, uint64_t word, uint32_t first,
                       uint32_t last)
{
    Page *p = page_of(x, s, word);
    uint32_t k = word % PAGE_WORDS;
    bool whole = first == 0 && last == WORD - 1;
    if (whole && !p->split[k])
        return check_cell(x, a, &p->cell[k], now, word * WORD);
    Cell *bytes = p->split[k] ? p->split[k] : split(x, p, k);
    for (uint32_t b = first; b <= last; b++)
        if (!check_cell(x, a, &bytes[b], now, word * WORD + b))
            return false;
    return true;
}

static bool check_all(Races *x, const Access *a, Shadow *s, const RaceAccess *now)
{
    uint64_t end = a->at + a->size;
    for (uint64_t at = a->at, next; at < end; at = next) {
        uint64_t word = at / WORD;
        next = MIN((word + 1) * WORD, end);
        if (!check_word(x, a, s, now, word, (uint32_t)(at % WORD), (uint32_t)((next - 1) % WORD)))
            return false;
    }
    return true;
}

// Returns the clocks of a strong access, which are those of its first byte.
static Sync *sync_of(Races *x, Shadow *s, uint64_t at)
{
    const Page *p = page_of(x, s, at / WORD);
    const Cell *bytes = p->split[at / WORD % PAGE_WORDS];
    return bytes ? bytes[at % WORD].sync : p->cell[at / WORD % PAGE_WORDS].sync;
}

static bool acquires(const Code *c) { return c->sem == MOD_ACQUIRE || c->sem == MOD_ACQ_REL || c->sem == MOD_SC; }
static bool releases(const Code *c) { return c->sem == MOD_RELEASE || c->sem == MOD_ACQ_REL || c->sem == MOD_SC; }

// Acquires or releases the clocks of a strong access. race_atomic() completes atomic operations.
static void synchronize(Races *x, const Access *a, Shadow *s)
{
    const Run *r = x->run;
    const Code *c = a->code;
    x->sync = sync_of(x, s, a->at);
    if (r->access == ACCESS_MBARRIER)
        return;
    if (c->op == OP_ATOM || (c->op != OP_RED && !a->write))
        order_observe(x, agent_of(x, r->warp, a->lane), x->sync, scope_of(c), acquires(c));
    else if (c->op != OP_RED)
        order_release(x, r->warp, a->lane, x->sync, scope_of(c), releases(c), false);
}

static bool is_within_limit(Races *x, const Access *a)
{
    if (x->used + x->pool.used <= x->limit)
        return true;
    fault(x->run, a->group, a->code, a->lane, "the race check requires more than %llu bytes of memory",
          (unsigned long long)x->limit);
    x->run->machine->error.status = RUN_LIMIT;
    return false;
}

bool race_access(Run *r, const Access *a)
{
    Races *x = r->races;
    Shadow *s = shadow_of(x, a);
    x->access = *a;
    if (!s)
        return true;
    RaceAccess now = race_access_of(x, a);
    if (a->code->op == OP_ATOM && a->code->action == MOD_CAS)
        now.flags &= (uint8_t)~RACE_WRITES;
    if (!check_all(x, a, s, &now))
        return false;
    if (now.flags & RACE_STRONG)
        synchronize(x, a, s);
    if (now.flags & RACE_OBSERVES)
        x->now++;  // separates later strong accesses from those that this one found
    return is_within_limit(x, a);
}

bool race_atomic(Run *r, bool wrote)
{
    Races *x = r->races;
    const Access *a = &x->access;
    const Code *c = a->code;
    Shadow *s = shadow_of(x, a);
    if (!s || !wrote)
        return true;
    if (c->action == MOD_CAS) {
        RaceAccess now = race_access_of(x, a);
        if (!check_all(x, a, s, &now))
            return false;
    }
    order_release(x, r->warp, a->lane, x->sync, scope_of(c), releases(c), true);
    return true;
}

/* -- Launches and clusters ------------------------------------------------------------------------------ */

// Returns the level of the root of clocks that have `nodes` nodes at level `level`.
static uint32_t root_above(uint32_t level, uint64_t nodes)
{
    for (nodes--; nodes; nodes >>= CLOCK_BITS)
        level++;
    return level;
}

void race_start(Run *r, Arena *arena)
{
    Machine *m = r->machine;
    Races *x = NEW(arena, Races);
    const Dim *grid = &r->launch->grid;
    uint64_t ctas = (uint64_t)grid->x * grid->y * grid->z;
    x->run = r;
    x->arena = x->pool.arena = arena;
    x->limit = m->options.race_memory ? m->options.race_memory : RACE_MEMORY_MAX;
    x->by_lane = m->options.check_races == RACES_LANES;
    x->now = 1;
    x->cta_level = x->by_lane;
    x->thread_root = root_above(x->cta_level, ctas);
    x->copy_root = root_above(x->cta_level, ctas << REGION_BITS);
    for (uint32_t k = 0; k < m->allocations.n; k++)
        m->allocations.at[k].shadow = NULL;
    r->races = x;
}

void race_start_cluster(Run *r)
{
    Races *x = r->races;
    for (uint32_t k = 0; k < r->nctas; k++) {
        VEC_PUSH(x->arena, &x->ctas, ((RaceCta){.at = r->ctas[k].at}));
        r->ctas[k].shadow = shadow_new(x, r->arena, r->nshared);
    }
    order_start_cluster(x);
}

void race_end_cluster(Run *r)
{
    Races *x = r->races;
    for (uint32_t k = 0; k < r->nctas; k++) {
        x->ctas.at[r->ctas[k].number - r->first_cta].last_release = x->last_release;
        for (uint64_t p = 0; p < r->ctas[k].shadow->npages; p++)
            if (r->ctas[k].shadow->pages[p])
                page_free(x, r->ctas[k].shadow->pages[p]);
    }
    order_end_cluster(x);
}
