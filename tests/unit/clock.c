// SPDX-License-Identifier: MIT
// Tests vector clocks: random operations against arrays of times, reuse of memory, and sharing of equal clocks.
#include "ir/machine/clock.h"
#include "tests/unit/unit.h"

enum { LEVELS = 3, AGENTS = 1 << (CLOCK_BITS * LEVELS), CLOCKS = 6, STEPS = 4000, PROBES = 40 };

typedef struct Pair {
    ClockNode *clock;
    uint64_t *times;  // by key
} Pair;

typedef struct Clocks {
    Heap heap;
    Arena arena;
    ClockPool pool;
    Pair pairs[CLOCKS];
    uint64_t now, random;
} Clocks;

static void open_clocks(Clocks *c)
{
    *c = (Clocks){.now = 1};
    unit_heap(&c->heap);
    arena_init(&c->arena, &c->heap);
    c->pool.arena = &c->arena;
    for (uint32_t k = 0; k < CLOCKS; k++)
        c->pairs[k].times = NEW_ARRAY(&c->arena, uint64_t, AGENTS);
}

static void close_clocks(Clocks *c)
{
    arena_free(&c->arena);
    heap_release(&c->heap);
}

static Pair *pick(Clocks *c) { return &c->pairs[unit_random(&c->random, CLOCKS)]; }

// Returns a key of few warps, so that operations meet.
static uint64_t key_of(Clocks *c) { return unit_random(&c->random, 3) << 10 | unit_random(&c->random, 64); }

static void set(Clocks *c)
{
    Pair *p = pick(c);
    uint64_t key = key_of(c);
    p->times[key] = c->now;
    clock_set(&c->pool, &p->clock, LEVELS - 1, key, c->now);
}

static void raise(Clocks *c)
{
    Pair *p = pick(c);
    uint64_t key = key_of(c);
    uint32_t level = 1 + unit_random(&c->random, LEVELS - 1), n = 1u << CLOCK_BITS * level;
    for (uint64_t k = key / n * n; k < (key / n + 1) * n; k++)
        p->times[k] = c->now;
    clock_raise(&c->pool, &p->clock, LEVELS - 1, key, level, c->now);
}

static void join(Clocks *c)
{
    Pair *p = pick(c);
    const Pair *q = pick(c);
    for (uint32_t k = 0; k < AGENTS; k++)
        p->times[k] = MAX(p->times[k], q->times[k]);
    clock_join(&c->pool, &p->clock, q->clock);
}

static void copy(Clocks *c)
{
    Pair *p = pick(c);
    const Pair *q = pick(c);
    memmove(p->times, q->times, AGENTS * sizeof *p->times);
    clock_copy(&c->pool, &p->clock, q->clock);
}

static void clear(Clocks *c)
{
    Pair *p = pick(c);
    memset(p->times, 0, AGENTS * sizeof *p->times);
    clock_clear(&c->pool, &p->clock);
}

static bool probe(Clocks *c)
{
    const Pair *p = pick(c);
    bool same = true;
    for (uint32_t k = 0; k < PROBES && same; k++) {
        uint64_t key = k % 2 ? key_of(c) : unit_random(&c->random, AGENTS);
        same = CHECK_EQ(clock_at(p->clock, key), p->times[key]);
    }
    return same;
}

TEST(random_operations)
{
    static void (*const operations[])(Clocks *) = {set, set, set, set, raise, join, join, copy, clear};
    Clocks c;
    open_clocks(&c);
    for (uint32_t k = 0; k < STEPS; k++) {
        c.now++;
        operations[unit_random(&c.random, ARRAY_LEN(operations))](&c);
        if (!probe(&c))
            break;
    }
    close_clocks(&c);
}

TEST(memory_is_reused)
{
    Clocks c;
    open_clocks(&c);
    uint64_t used = 0;
    for (uint32_t round = 0; round < 20; round++) {
        for (uint32_t k = 0; k < 200; k++) {
            c.now++;
            set(&c);
            join(&c);
        }
        for (uint32_t k = 0; k < CLOCKS; k++)
            clock_clear(&c.pool, &c.pairs[k].clock);
        if (round == 9)
            used = c.pool.used;
    }
    CHECK(c.pool.used <= used + used / 4);
    close_clocks(&c);
}

TEST(joins_share)
{
    Clocks c;
    open_clocks(&c);
    ClockNode *a = NULL, *b = NULL;
    for (uint64_t k = 0; k < 500; k++)
        clock_set(&c.pool, &a, LEVELS - 1, k * 7, k + 1);
    clock_copy(&c.pool, &b, a);
    clock_set(&c.pool, &b, LEVELS - 1, 3, 1000);
    ClockNode *more = b;
    clock_join(&c.pool, &b, a);
    CHECK(b == more);
    clock_join(&c.pool, &a, b);
    CHECK(a == b);
    close_clocks(&c);
}

void test_clock(void)
{
    RUN(random_operations);
    RUN(memory_is_reused);
    RUN(joins_share);
}
