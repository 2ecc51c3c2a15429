// SPDX-License-Identifier: MIT
// Vector clocks as persistent tries (clock.h).
//
// Each slot of a node has a time (level 0) or a node (higher levels). The time of an agent is the maximum of its slot
// and of `base` in all nodes on the path. Slots that are not above a base are omitted if this costs nothing.
#include "ir/machine/clock.h"

typedef union ClockSlot {
    uint64_t time;
    ClockNode *node;
} ClockSlot;

struct ClockNode {
    uint64_t base;
    uint32_t map;  // mask of the slots that exist
    uint32_t refs;
    uint32_t level;
    ClockSlot slot[];  // by rank in `map`
};

// A node under construction.
typedef struct Draft {
    uint64_t base;
    uint32_t map, level;
    ClockSlot slot[CLOCK_WIDTH];  // by digit
} Draft;

static uint32_t count(uint32_t map) { return (uint32_t)__builtin_popcount(map); }

static uint32_t digit_of(uint64_t key, uint32_t level) { return key >> CLOCK_BITS * level & (CLOCK_WIDTH - 1); }

static ClockSlot slot_at(const ClockNode *n, uint32_t digit)
{
    return n->slot[count(n->map & ((UINT32_C(1) << digit) - 1))];
}

/* -- Nodes ---------------------------------------------------------------------------------------------- */

static ClockNode *keep(const ClockNode *n)
{
    ClockNode *kept = (ClockNode *)(uintptr_t)n;
    if (kept)
        kept->refs++;
    return kept;
}

static void drop(ClockPool *pool, ClockNode *n)
{
    if (!n || --n->refs)
        return;
    uint32_t slots = count(n->map);
    for (uint32_t k = 0; n->level && k < slots; k++)
        drop(pool, n->slot[k].node);
    n->slot[0].node = pool->free[slots];
    pool->free[slots] = n;
}

static ClockNode *allocate(ClockPool *pool, uint32_t slots)
{
    ClockNode *n = pool->free[slots];
    size_t bytes = sizeof *n + MAX(slots, 1) * sizeof n->slot[0];
    if (n) {
        pool->free[slots] = n->slot[0].node;
        return n;
    }
    pool->used += bytes;
    return arena_alloc(pool->arena, bytes);
}

// Returns the node of a draft, and takes over the references of the draft.
static ClockNode *finish(ClockPool *pool, const Draft *d)
{
    ClockNode *n = allocate(pool, count(d->map));
    uint32_t k = 0;
    *n = (ClockNode){.base = d->base, .map = d->map, .refs = 1, .level = d->level};
    for (uint32_t map = d->map; map; map &= map - 1)
        n->slot[k++] = d->slot[__builtin_ctz(map)];
    return n;
}

// Returns a draft that holds references to the children of a node; NULL = the empty node of this level.
static Draft draft_of(const ClockNode *n, uint32_t level)
{
    Draft d = {.base = n ? n->base : 0, .map = n ? n->map : 0, .level = level};
    for (uint32_t map = d.map, k = 0; map; map &= map - 1, k++) {
        d.slot[__builtin_ctz(map)] = n->slot[k];
        if (level)
            keep(n->slot[k].node);
    }
    return d;
}

/* -- Lookup and change ---------------------------------------------------------------------------------- */

uint64_t clock_at(const ClockNode *c, uint64_t key)
{
    uint64_t time = 0;
    while (c) {
        uint32_t digit = digit_of(key, c->level);
        time = MAX(time, c->base);
        if (!(c->map >> digit & 1))
            return time;
        ClockSlot s = slot_at(c, digit);
        if (!c->level)
            return MAX(time, s.time);
        c = s.node;
    }
    return time;
}

// Returns a copy of the node in which all agents have a time whose keys differ from `key` only in the lowest `level`
// digits.
static ClockNode *with_time(ClockPool *pool, const ClockNode *n, uint32_t at, uint64_t key, uint32_t level,
                            uint64_t time)
{
    if (level && at + 1 == level)
        return finish(pool, &(Draft){.base = time, .level = at});
    Draft d = draft_of(n, at);
    uint32_t digit = digit_of(key, at), bit = UINT32_C(1) << digit;
    if (!at) {
        d.slot[digit].time = time;
    } else {
        ClockNode *old = d.map & bit ? d.slot[digit].node : NULL;
        d.slot[digit].node = with_time(pool, old, at - 1, key, level, time);
        drop(pool, old);
    }
    d.map |= bit;
    return finish(pool, &d);
}

void clock_raise(ClockPool *pool, ClockNode **c, uint32_t root, uint64_t key, uint32_t level, uint64_t time)
{
    ClockNode *old = *c;
    *c = with_time(pool, old, root, key, level, time);
    drop(pool, old);
}

void clock_set(ClockPool *pool, ClockNode **c, uint32_t root, uint64_t key, uint64_t time)
{
    clock_raise(pool, c, root, key, 0, time);
}

/* -- Joins ---------------------------------------------------------------------------------------------- */

static ClockNode *join(ClockPool *pool, const ClockNode *a, const ClockNode *b, uint64_t floor);

// Joins slot `digit` of two nodes into a draft. Omits times that are at most `floor`.
static void join_slot(ClockPool *pool, Draft *d, const ClockNode *a, const ClockNode *b, uint32_t digit, uint64_t floor)
{
    ClockSlot none = {.node = NULL}, slot = none;
    ClockSlot x = a->map >> digit & 1 ? slot_at(a, digit) : none, y = b->map >> digit & 1 ? slot_at(b, digit) : none;
    if (d->level) {
        slot.node = join(pool, x.node, y.node, floor);
        if (!slot.node)
            return;
    } else {
        slot.time = MAX(a->map >> digit & 1 ? x.time : 0, b->map >> digit & 1 ? y.time : 0);
        if (slot.time <= floor)
            return;
    }
    d->map |= UINT32_C(1) << digit;
    d->slot[digit] = slot;
}

static bool is_same(const Draft *d, const ClockNode *n)
{
    uint32_t k = 0;
    bool same = d->base == n->base && d->map == n->map;
    for (uint32_t map = d->map; same && map; map &= map - 1, k++) {
        ClockSlot s = d->slot[__builtin_ctz(map)];
        same = d->level ? s.node == n->slot[k].node : s.time == n->slot[k].time;
    }
    return same;
}

// Returns a new reference to the join of two nodes of one level; NULL = no time is above `floor`. If an operand equals
// the join, returns the operand, so that clocks share nodes.
static ClockNode *join(ClockPool *pool, const ClockNode *a, const ClockNode *b, uint64_t floor)
{
    if (!a || !b || a == b) {
        const ClockNode *n = a ? a : b;
        return n && (n->map || n->base > floor) ? keep(n) : NULL;
    }
    Draft d = {.base = MAX(a->base, b->base), .level = a->level};
    floor = MAX(floor, d.base);
    for (uint32_t map = a->map | b->map; map; map &= map - 1)
        join_slot(pool, &d, a, b, (uint32_t)__builtin_ctz(map), floor);
    const ClockNode *same = is_same(&d, a) ? a : is_same(&d, b) ? b : NULL;
    if (!same)
        return finish(pool, &d);
    for (uint32_t map = d.level ? d.map : 0; map; map &= map - 1)
        drop(pool, d.slot[__builtin_ctz(map)].node);
    return keep(same);
}

void clock_join(ClockPool *pool, ClockNode **to, const ClockNode *from)
{
    ClockNode *old = *to;
    if (old == from || !from)
        return;
    *to = join(pool, old, from, 0);
    drop(pool, old);
}

void clock_copy(ClockPool *pool, ClockNode **to, const ClockNode *from)
{
    ClockNode *old = *to;
    *to = keep(from);
    drop(pool, old);
}

void clock_clear(ClockPool *pool, ClockNode **c)
{
    drop(pool, *c);
    *c = NULL;
}
