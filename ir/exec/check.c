// SPDX-License-Identifier: MIT
// What may be asked of a run beside its results: that no thread reads what nothing wrote, and that no two threads touch
// a byte, one of them writing, with nothing to order them.
//
// Races: of each byte of shared and global memory the last write and the last read are kept. Threads of different CTAs
// are ordered by nothing, those of different warps of a CTA by barriers, those of one warp by their instructions.
// Atomic, volatile and ordered accesses are taken for synchronization. Of several readers only the last is known, so a
// race with an earlier one may go unseen; what is reported is one.
#include "ir/exec/interp_internal.h"

typedef struct Touch {
    uint32_t cta, thread, epoch;  // CTAs count from 1 over all launches; 0 = nobody
} Touch;

struct Shadow {
    Touch write, read;
};

static bool is_unordered(const Run *r, Touch t, uint32_t thread)
{
    if (t.cta < r->first_cta)
        return false;
    return t.cta != r->cta_number || (t.thread / LANES != thread / LANES && t.epoch == r->epoch);
}

static bool synchronizes(const Group *g, const Code *c)
{
    const Desc *d = tab_desc(g->frame->func->fn->tables, c->instr->desc);
    return d->traits & (TR_ORDERED | TR_EFFECT) || d->op == OP_ATOM || d->op == OP_RED;
}

static bool check_race(Run *r, const Group *g, const Code *c, uint32_t lane, Shadow *s, uint32_t size, bool write)
{
    uint32_t thread = r->warp->index * LANES + lane;
    Touch now = {r->cta_number, thread, r->epoch};
    if (synchronizes(g, c))
        return true;
    for (uint32_t k = 0; k < size; k++) {
        bool races = is_unordered(r, s[k].write, thread) || (write && is_unordered(r, s[k].read, thread));
        Touch other = is_unordered(r, s[k].write, thread) ? s[k].write : s[k].read;
        if (races)
            return fault(r, g, c, lane, "a data race: this thread %s what thread %u of CTA %u %s, with nothing between",
                         write ? "writes" : "reads", other.thread, other.cta - r->first_cta,
                         other.cta == s[k].write.cta && other.thread == s[k].write.thread ? "wrote" : "read");
        *(write ? &s[k].write : &s[k].read) = now;
    }
    return true;
}

static bool check_written(Run *r, const Group *g, const Code *c, uint32_t lane, uint8_t *written, uint32_t size,
                          bool write)
{
    for (uint32_t k = 0; k < size; k++) {
        if (!write && !written[k])
            return fault(r, g, c, lane, "a read of memory that nothing wrote");
        written[k] = 1;
    }
    return true;
}

// Local and shared memory begin unwritten; buffers and variables have values.
static uint8_t *written_of(Run *r, Space space, uint32_t lane, size_t at, const Allocation *a)
{
    if (!r->machine->options.check_uninit)
        return NULL;
    if (space == SP_SHARED)
        return r->shared_written + at;
    if (space == SP_LOCAL)
        return r->warp->local_written[lane] + at;
    return a && a->written ? a->written + at : NULL;
}

static Shadow *shadow_of(Run *r, Space space, size_t at, Allocation *a)
{
    Machine *m = r->machine;
    if (!m->options.check_races)
        return NULL;
    if (space == SP_SHARED)
        return r->shadow + at;
    if (!a || a->read_only)
        return NULL;
    if (!a->shadow)
        a->shadow = NEW_ARRAY(&m->arena, Shadow, a->size);
    return a->shadow + at;
}

bool check_access(Run *r, const Group *g, const Code *c, uint32_t lane, Space space, Allocation *a, size_t at,
                  uint32_t size, bool write)
{
    uint8_t *written = written_of(r, space, lane, at, a);
    Shadow *shadow = shadow_of(r, space, at, a);
    return (!written || check_written(r, g, c, lane, written, size, write)) &&
           (!shadow || check_race(r, g, c, lane, shadow, size, write));
}

void check_start_cta(Run *r)
{
    r->epoch = 1;
    if (r->machine->options.check_uninit)
        r->shared_written = arena_zalloc(r->arena, MAX(r->nshared, 1));
    if (r->machine->options.check_races)
        r->shadow = NEW_ARRAY(r->arena, Shadow, MAX(r->nshared, 1));
}

/* -- Registers ------------------------------------------------------------------------------------------ */

static bool is_read_written(Run *r, const Group *g, const Code *c, const OperandRef *o)
{
    Mask missing = o->kind == REF_REG ? g->lanes & ~g->frame->written[o->at] : 0;
    return !missing || fault(r, g, c, (uint32_t)__builtin_ctz(missing), "a read of a register that nothing wrote");
}

bool check_registers(Run *r, const Group *g, const Code *c)
{
    for (uint32_t k = 0; k < c->nin; k++)
        if (!is_read_written(r, g, c, &c->in[k]))
            return false;
    return true;
}

void check_wrote(const Group *g, const Code *c)
{
    for (uint32_t k = 0; k < c->nout; k++)
        if (c->out[k].kind == REF_REG)
            g->frame->written[c->out[k].at] |= g->lanes;
}
