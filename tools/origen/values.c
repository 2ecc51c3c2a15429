// SPDX-License-Identifier: MIT
// Manages values, their registers and frame slots, and scopes.
//
// A pool is a stack of the values of a class that are defined on every path to the place. The end of a scope removes
// the values pushed in it. A value that has not reached the output is pending, and is observed before it is removed.
#include "tools/origen/origen.h"

enum { POOL_MOST = 40, RECENT = 10, LOOK_BACK = 32 };
enum { LARGE_FRAME = 4096 };  // bytes; larger frames reuse slots

const ClassInfo class_info[CLASS_COUNT] = {
#define CLASS(id, letter, bank, bytes, bits, memory, literals, one, view, canonical_nan) \
    {letter, BANK_##bank, bytes, bits, memory, LITERALS_##literals, one, view, canonical_nan},
#include "tools/origen/classes.def"
};

const BankInfo bank_info[BANK_COUNT] = {
#define BANK(id, prefix, type) {prefix, type},
#include "tools/origen/classes.def"
};

/* -- Registers and places ------------------------------------------------------------------------------- */

static uint32_t register_new(Gen *g, Bank bank)
{
    Fn *fn = &g->fn;
    if (fn->free_registers[bank].n && has(g, FT_REUSE) && chance(g, 1, 2))
        return fn->free_registers[bank].at[--fn->free_registers[bank].n];
    return ++fn->regs[bank];
}

static void register_free(Gen *g, Bank bank, uint32_t number)
{
    if (has(g, FT_REUSE))
        VEC_PUSH(g->arena, &g->fn.free_registers[bank], number);
}

static uint32_t slot_new(Gen *g, uint32_t bytes)
{
    Fn *fn = &g->fn;
    uint32_t log = (uint32_t)__builtin_ctz(bytes);
    if (fn->free_slots[log].n)
        return fn->free_slots[log].at[--fn->free_slots[log].n];
    uint32_t at = (fn->frame + bytes - 1) & ~(bytes - 1);
    fn->frame = at + bytes;
    return at;
}

static void release(Gen *g, const Value *v)
{
    const ClassInfo *info = &class_info[v->cls];
    if (v->reg)
        register_free(g, info->bank, v->reg);
    else if (has(g, FT_REUSE) || g->fn.frame > LARGE_FRAME)
        VEC_PUSH(g->arena, &g->fn.free_slots[__builtin_ctz(info->bytes)], v->slot);
}

/* -- Values --------------------------------------------------------------------------------------------- */

Value *value_make(Gen *g, Class c)
{
    const ClassInfo *info = &class_info[c];
    Value *v = NEW(g->arena, Value);
    v->cls = c;
    if (chance(g, g->fn.flavor->in_frame, 8))
        v->slot = slot_new(g, info->bytes);
    else
        v->reg = register_new(g, info->bank);
    return v;
}

Value *value_scratch(Gen *g, Class c)
{
    Value *v = NEW(g->arena, Value);
    Bank bank = class_info[c].bank;
    v->cls = c;
    v->reg = register_new(g, bank);
    VEC_PUSH(g->arena, &g->fn.spent, ((Reg){bank, v->reg}));
    return v;
}

// Takes the oldest value of this scope out of the pool.
static void remove_oldest(Gen *g, Class c)
{
    Pool *pool = &g->fn.pool[c];
    uint32_t at = g->fn.scope->values[c];
    Value *v = pool->at[at];
    if (v->pending)
        observe(g, v);
    memmove(pool->at + at, pool->at + at + 1, (pool->n - at - 1) * sizeof *pool->at);
    pool->n--;
    release(g, v);
}

void value_push(Gen *g, Value *v)
{
    const Scope *s = g->fn.scope;
    v->depth = s->depth;
    VEC_PUSH(g->arena, &g->fn.pool[v->cls], v);
    if (g->fn.pool[v->cls].n - s->values[v->cls] > POOL_MOST)
        remove_oldest(g, v->cls);
}

static Value *pick_pending(Gen *g, const Pool *pool)
{
    uint32_t n = MIN(pool->n, RECENT), skip = roll(g, n);
    for (uint32_t k = 0; k < n; k++) {
        Value *v = pool->at[pool->n - 1 - (k + skip) % n];
        if (v->pending)
            return v;
    }
    return NULL;
}

Value *value_pick(Gen *g, Class c)
{
    Pool *pool = &g->fn.pool[c];
    if (!pool->n)
        make_first_value(g, c);
    Value *v = chance(g, 1, 2) ? pick_pending(g, pool) : NULL;
    if (v)
        return v;
    bool recent = chance(g, 3, 4);
    return pool->at[pool->n - 1 - roll(g, recent ? MIN(pool->n, RECENT) : pool->n)];
}

bool value_is_available(const Gen *g, const Value *v)
{
    const Pool *pool = &g->fn.pool[v->cls];
    for (uint32_t k = pool->n; k--;)
        if (pool->at[k] == v)
            return true;
    return false;
}

// Returns one of the latest `most` values of the class that pass; NULL: none.
static Value *pick_where(Gen *g, Class c, uint32_t most, bool (*pass)(const Fn *, const Value *))
{
    const Pool *pool = &g->fn.pool[c];
    uint32_t n = MIN(pool->n, most), skip = n ? roll(g, n) : 0;
    for (uint32_t k = 0; k < n; k++) {
        Value *v = pool->at[pool->n - 1 - (k + skip) % n];
        if (pass(&g->fn, v))
            return v;
    }
    return NULL;
}

static bool is_uniform(const Fn *fn, const Value *v) { return fn && v->uniform; }
static bool reassignable(const Fn *fn, const Value *v) { return v->reassignable && v->depth >= fn->dead; }
static bool overwritable(const Fn *fn, const Value *v) { return reassignable(fn, v) && !v->pending; }

Value *value_uniform(Gen *g) { return pick_where(g, CLASS_R, UINT32_MAX, is_uniform); }

Value *value_assignable(Gen *g, Class c)
{
    Value *v = pick_where(g, c, LOOK_BACK, overwritable);
    return v ? v : pick_where(g, c, LOOK_BACK, reassignable);
}

/* -- Scopes --------------------------------------------------------------------------------------------- */

uint32_t active_lanes(const Gen *g) { return g->fn.divergent_exit || !g->fn.scope ? 0 : g->fn.scope->lanes; }

void scope_enter(Gen *g, Scope *s, uint32_t lanes)
{
    Fn *fn = &g->fn;
    *s = (Scope){.outer = fn->scope, .lanes = lanes, .objects = fn->objects.n, .spent = fn->spent.n};
    s->repeats = fn->repeats.n;
    s->depth = s->outer ? s->outer->depth + 1 : 0;
    s->loop = s->outer ? s->outer->loop : NULL;
    for (uint32_t c = 0; c < CLASS_COUNT; c++)
        s->values[c] = fn->pool[c].n;
    fn->scope = s;
}

uint32_t scope_debt(const Gen *g)
{
    const Fn *fn = &g->fn;
    uint32_t n = 0, each = 2 + fn->flavor->in_frame / 2;
    if (fn->dead)
        return 0;
    for (uint32_t c = 0; c < CLASS_COUNT; c++)
        for (uint32_t k = fn->scope->values[c]; k < fn->pool[c].n; k++)
            n += fn->pool[c].at[k]->pending ? each : 0;
    for (uint32_t k = fn->scope->objects; k < fn->objects.n; k++)
        n += fn->objects.at[k]->observed ? fn->objects.at[k]->bytes * each / 4 : 0;
    return n;
}

void scope_flush(Gen *g)
{
    Fn *fn = &g->fn;
    if (fn->unreachable || fn->dead)
        return;
    for (uint32_t c = 0; c < CLASS_COUNT; c++)
        for (uint32_t k = fn->scope->values[c]; k < fn->pool[c].n; k++)
            if (fn->pool[c].at[k]->pending)
                observe(g, fn->pool[c].at[k]);
}

void scope_leave(Gen *g)
{
    Fn *fn = &g->fn;
    const Scope *s = fn->scope;
    for (uint32_t k = s->objects; k < fn->objects.n && !fn->unreachable && !fn->dead; k++)
        if (fn->objects.at[k]->observed)
            load_all(g, fn->objects.at[k]);
    scope_flush(g);
    for (uint32_t c = 0; c < CLASS_COUNT; c++)
        while (fn->pool[c].n > s->values[c])
            release(g, fn->pool[c].at[--fn->pool[c].n]);
    for (; fn->spent.n > s->spent; fn->spent.n--)
        register_free(g, fn->spent.at[fn->spent.n - 1].bank, fn->spent.at[fn->spent.n - 1].number);
    fn->objects.n = s->objects;
    fn->repeats.n = s->repeats;
    fn->scope = s->outer;
}
