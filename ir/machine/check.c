// SPDX-License-Identifier: MIT
// Checks accesses to memory: uses of undefined values (undef.c), data races, and the last writer of each byte.
//
// A data race is two unordered accesses of different threads to a byte, at least one of them a write. Each byte of
// shared and global memory has records of its last write and its last read. Launches are ordered, threads of different
// clusters are not. Barriers of the cluster order the threads of its CTAs, barriers of a CTA its warps, and
// instructions the lanes of a warp. Order by fences and flags is not followed, so code that relies on it is reported.
//
// Atomic, volatile and ordered accesses count as synchronization. Only the last read is recorded, so a race with an
// earlier read may be missed.
#include "ir/machine/machine_internal.h"

typedef struct Touch {
    uint32_t cta, thread;  // CTAs count from 1 over all launches; 0 = no access
    uint32_t epoch, phase;
} Touch;

struct Shadow {
    Touch write, read;
};

static bool is_unordered(const Run *r, Touch t, uint32_t thread)
{
    if (t.cta < r->first_cta)
        return false;
    if (t.cta < r->first_of_cluster || t.cta >= r->first_of_cluster + r->nctas)
        return true;
    if (t.cta != r->cta->number)
        return t.phase == r->phase;
    return t.thread / LANES != thread / LANES && t.epoch == r->cta->epoch;
}

static bool synchronizes(const Group *g, const Code *c)
{
    const Desc *d = tab_desc(g->frame->func->fn->tables, c->instr->desc);
    return d->traits & (TR_ORDERED | TR_EFFECT) || d->op == OP_ATOM || d->op == OP_RED;
}

static bool check_race(Run *r, const Access *a, Shadow *s)
{
    uint32_t thread = r->warp->index * LANES + a->lane;
    Touch now = {r->cta->number, thread, r->cta->epoch, r->phase};
    if (synchronizes(a->group, a->code))
        return true;
    for (uint32_t k = 0; k < a->size; k++) {
        bool races = is_unordered(r, s[k].write, thread) || (a->write && is_unordered(r, s[k].read, thread));
        Touch other = is_unordered(r, s[k].write, thread) ? s[k].write : s[k].read;
        if (races)
            return fault(r, a->group, a->code, a->lane,
                         "a data race: this thread %s what thread %u of CTA %u %s, with nothing between",
                         a->write ? "writes" : "reads", other.thread, other.cta - r->first_cta,
                         other.cta == s[k].write.cta && other.thread == s[k].write.thread ? "wrote" : "read");
        *(a->write ? &s[k].write : &s[k].read) = now;
    }
    return true;
}

static Shadow *shadow_of(Run *r, const Access *a)
{
    Allocation *all = a->allocation;
    if (a->space == SP_SHARED)
        return a->owner->shadow + a->at;
    if (!all || all->read_only)
        return NULL;
    if (!all->shadow)
        all->shadow = NEW_ARRAY(&r->machine->arena, Shadow, all->size);
    return all->shadow + a->at;
}

/* -- Writers -------------------------------------------------------------------------------------------- */

struct Store {
    uint32_t cta, thread;  // as in Touch
    SymId function;
    InstrId instr;
};

static void note_store(Run *r, const Access *a)
{
    Allocation *all = a->allocation;
    uint32_t thread = r->warp->index * LANES + a->lane;
    if (!all->stores)
        all->stores = NEW_ARRAY(&r->machine->arena, Store, all->size);
    for (uint32_t k = 0; k < a->size; k++)
        all->stores[a->at + k] = (Store){r->cta->number, thread, a->group->frame->func->sym, a->code->id};
}

static const Store *store_at(Machine *m, uint64_t address)
{
    const Allocation *a = allocation_of(m, address);
    const Store *s = a && a->stores ? &a->stores[address - a->base] : NULL;
    return s && s->cta ? s : NULL;
}

bool machine_writer(Machine *m, uint64_t address, Dim *block, Dim *thread)
{
    const Store *s = store_at(m, address);
    if (!s)
        return false;
    const Cta *cta = &m->ctas.at[s->cta - 1];
    *block = cta->at;
    *thread = dim_at(cta->block, s->thread);
    return true;
}

InstrId machine_store(Machine *m, uint64_t address, const Fn **fn)
{
    const Store *s = store_at(m, address);
    *fn = s ? func_of(m, s->function)->fn : NULL;
    return s ? s->instr : 0;
}

/* -- Accesses ------------------------------------------------------------------------------------------- */

bool check_access(Run *r, const Access *a)
{
    const MachineOptions *o = &r->machine->options;
    if (r->machine->tracks && !undef_access(r, a))
        return false;
    Shadow *shadow = o->check_races ? shadow_of(r, a) : NULL;
    if (shadow && !check_race(r, a, shadow))
        return false;
    if (o->note_writers && a->write && a->allocation)
        note_store(r, a);
    return true;
}

void check_start_cta(Run *r)
{
    Machine *m = r->machine;
    uint64_t n = MAX(r->nshared, 1);
    r->cta->epoch = 1;
    if (m->tracks)
        r->cta->shared_defined = arena_zalloc(r->arena, n);
    if (m->options.check_races)
        r->cta->shadow = NEW_ARRAY(r->arena, Shadow, n);
    if (m->options.note_writers)
        VEC_PUSH(&m->arena, &m->ctas, ((Cta){r->cta->at, r->launch->block}));
}

void check_forget(Machine *m, uint64_t variable)
{
    Allocation *a = allocation_of(m, variable);
    if (a->defined)
        memset(a->defined, 1, a->size);
    if (a->stores)
        memset(a->stores, 0, a->size * sizeof *a->stores);
}
