// SPDX-License-Identifier: MIT
// Checks of accesses to memory: definedness (undef.c), data races (races.c), and the last writer of a byte.
#include "ir/machine/machine_internal.h"

/* -- Writers -------------------------------------------------------------------------------------------- */

struct Store {
    uint32_t cta, thread;  // as in RaceAccess
    SymId function;
    InstrId instr;
};

static void record_store(Run *r, const Access *a)
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
    if (r->races && !race_access(r, a))
        return false;
    if (o->record_writers && a->write && a->allocation)
        record_store(r, a);
    return true;
}

void check_start_cta(Run *r)
{
    Machine *m = r->machine;
    uint64_t n = MAX(r->nshared, 1);
    if (m->tracks)
        r->cta->shared_defined = arena_zalloc(r->arena, n);
    if (m->options.record_writers)
        VEC_PUSH(&m->arena, &m->ctas, ((Cta){r->cta->at, r->launch->block}));
}

void check_reset_variable(Machine *m, uint64_t variable)
{
    Allocation *a = allocation_of(m, variable);
    if (a->defined)
        memset(a->defined, 1, a->size);
    if (a->stores)
        memset(a->stores, 0, a->size * sizeof *a->stores);
}
