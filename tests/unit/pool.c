// SPDX-License-Identifier: MIT
// Tests heaps that share a pool: threads allocate and free chunks concurrently, and fail independently.
#include <stdlib.h>

#include "tests/unit/unit.h"

enum { THREADS = 6, ROUNDS = 60, SLOTS = 8 };

typedef struct Shared {
    Heap pool;
    pthread_mutex_t pool_lock, lock;
    Arena slot[SLOTS];  // arenas passed between threads, under the lock
    bool full[SLOTS];
    bool busy, overlapped;  // in the allocator
    unsigned calls, fail_from;
    size_t held;
} Shared;

typedef struct Member {
    Shared *shared;
    Heap heap;
    jmp_buf unwind;
    pthread_t thread;
    uint64_t seed;
    size_t bytes;  // bytes of one allocation
    unsigned rounds, failures, damaged;
    bool strange;  // a failure of another kind
} Member;

// Has no lock of its own: the pool serializes calls.
static void *watch_alloc(void *user, size_t bytes)
{
    Shared *s = user;
    s->overlapped |= s->busy;
    s->busy = true;
    void *p = s->fail_from && ++s->calls >= s->fail_from ? NULL : malloc(bytes);
    s->held += p ? bytes : 0;
    s->busy = false;
    return p;
}

static void watch_free(void *user, void *p, size_t bytes)
{
    Shared *s = user;
    s->overlapped |= s->busy;
    s->busy = true;
    s->held -= bytes;
    free(p);
    s->busy = false;
}

// Takes an arena of another thread or a new one, and marks each byte with its owner.
static void one_round(Member *m)
{
    Shared *s = m->shared;
    uint32_t at = unit_random(&m->seed, SLOTS);
    Arena arena = {0};
    pthread_mutex_lock(&s->lock);
    if (s->full[at]) {
        arena = s->slot[at];
        s->full[at] = false;
    }
    pthread_mutex_unlock(&s->lock);
    if (arena.heap)
        arena.heap = &m->heap;
    else
        arena_init(&arena, &m->heap);
    unsigned char *p[5], mark = (unsigned char)m->seed;
    size_t n[ARRAY_LEN(p)];
    for (size_t k = 0; k < ARRAY_LEN(p); k++) {
        n[k] = 1 + unit_random(&m->seed, (uint32_t)m->bytes);
        p[k] = arena_alloc(&arena, n[k]);
        memset(p[k], mark ^ (int)k, n[k]);
    }
    for (size_t k = 0; k < ARRAY_LEN(p); k++)
        for (size_t j = 0; j < n[k]; j += 97)
            m->damaged += p[k][j] != (mark ^ k);
    pthread_mutex_lock(&s->lock);
    bool leave = !s->full[at] && arena.size < 1 << 20;
    if (leave) {
        s->slot[at] = arena;
        s->full[at] = true;
    }
    pthread_mutex_unlock(&s->lock);
    if (!leave)
        arena_free(&arena);
}

static void *work(void *user)
{
    Member *m = user;
    m->heap.unwind = &m->unwind;
    for (volatile int k = 0; k < ROUNDS; k = k + 1) {
        m->heap.status = ST_OK;
        if (setjmp(m->unwind) == 0) {
            one_round(m);
            m->rounds++;
        } else {
            m->failures++;
            m->strange |= m->heap.status != ST_LIMIT;
        }
    }
    return NULL;
}

// Runs the threads, and frees the arenas in the slots.
static void run_members(Shared *s, Member *members, size_t bytes, bool own_allocator, size_t limit)
{
    unit_heap(&s->pool);
    s->pool.limit = limit;
    s->pool.lock = &s->pool_lock;
    if (own_allocator)
        s->pool.allocator = (Allocator){watch_alloc, watch_free, s};
    pthread_mutex_init(&s->pool_lock, NULL);
    pthread_mutex_init(&s->lock, NULL);
    for (unsigned k = 0; k < THREADS; k++) {
        members[k] = (Member){.shared = s, .heap = {.pool = &s->pool}, .seed = k, .bytes = bytes};
        CHECK_EQ(pthread_create(&members[k].thread, NULL, work, &members[k]), 0);
    }
    for (unsigned k = 0; k < THREADS; k++)
        pthread_join(members[k].thread, NULL);
    for (unsigned k = 0; k < THREADS; k++) {
        CHECK_EQ(members[k].damaged, 0);
        CHECK(!members[k].strange);
        CHECK_EQ(members[k].rounds + members[k].failures, ROUNDS);
        CHECK_EQ(heap_used(&members[k].heap), s->pool.used);
        CHECK_EQ(heap_peak(&members[k].heap), s->pool.peak);
    }
    for (unsigned k = 0; k < SLOTS; k++)
        if (s->full[k])
            arena_free(&s->slot[k]);
}

static void end_members(Shared *s)
{
    heap_release(&s->pool);
    CHECK_EQ(s->pool.used, 0);
    CHECK_EQ(s->held, 0);
    CHECK(!s->overlapped);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->pool_lock);
}

// Small chunks from slabs and large ones from the system, with the default and a custom allocator.
TEST(pool_shared)
{
    static const size_t sizes[] = {3000, 60000, 900000};
    for (unsigned k = 0; k < 2 * ARRAY_LEN(sizes); k++) {
        Shared s = {0};
        Member members[THREADS];
        unit_context("up to %zu bytes", sizes[k / 2]);
        run_members(&s, members, sizes[k / 2], k % 2, 0);
        for (unsigned j = 0; j < THREADS; j++)
            CHECK_EQ(members[j].failures, 0);
        CHECK_EQ(s.pool.used, 0);  // all memory was freed
        CHECK(s.pool.peak >= sizes[k / 2]);
        end_members(&s);
    }
}

// Use never exceeds the limit; a heap that reaches the limit fails alone, and the pool frees its memory.
TEST(pool_limit)
{
    Shared s = {0};
    Member members[THREADS];
    unsigned failures = 0, rounds = 0;
    run_members(&s, members, 60000, true, 600000);
    for (unsigned k = 0; k < THREADS; k++) {
        failures += members[k].failures;
        rounds += members[k].rounds;
        if (members[k].failures)
            CHECK(strstr(members[k].heap.message, "memory limit of 600000 bytes") != NULL);
    }
    CHECK(failures > 0 && rounds > 0);
    CHECK(s.pool.peak <= 600000);
    end_members(&s);
}

// The system fails from some allocation on.
TEST(pool_without_memory)
{
    for (unsigned fail_from = 1; fail_from <= 6; fail_from++) {
        Shared s = {.fail_from = fail_from};
        Member members[THREADS];
        unsigned failures = 0;
        unit_context("from allocation %u on", fail_from);
        run_members(&s, members, 900000, true, 0);
        for (unsigned k = 0; k < THREADS; k++) {
            failures += members[k].failures;
            if (members[k].failures)
                CHECK(strstr(members[k].heap.message, "out of memory") != NULL);
        }
        CHECK_EQ(failures > 0, s.calls >= fail_from);
        end_members(&s);
    }
}

void test_pool(void)
{
    RUN(pool_shared);
    RUN(pool_limit);
    RUN(pool_without_memory);
}
