// SPDX-License-Identifier: MIT
// Tests heaps, arenas and vectors.
#include "tests/unit/unit.h"

TEST(arena_alignment)
{
    Heap heap;
    Arena arena;
    unit_heap(&heap);
    arena_init(&arena, &heap);
    for (size_t n = 0; n < 200; n++) {
        char *p = arena_alloc(&arena, n);
        CHECK_EQ((uintptr_t)p % 8, 0);
        if (n)
            memset(p, (int)n, n);
    }
    arena_free(&arena);
    heap_release(&heap);
}

// Allocations of all sizes do not overlap: each keeps its contents.
TEST(arena_growth)
{
    enum { N = 2000 };
    static struct {
        unsigned char *p;
        uint32_t n;
    } got[N];
    Heap heap;
    Arena arena;
    uint64_t seed = 1;
    unit_heap(&heap);
    arena_init(&arena, &heap);
    for (uint32_t k = 0; k < N; k++) {
        uint32_t n = 1 + unit_random(&seed, k % 50 == 0 ? 40000 : 300);
        got[k].p = arena_alloc(&arena, n);
        got[k].n = n;
        memset(got[k].p, (int)(k % 251), n);
    }
    for (uint32_t k = 0; k < N; k++)
        for (uint32_t j = 0; j < got[k].n; j++)
            if (got[k].p[j] != k % 251) {
                CHECK_EQ(got[k].p[j], k % 251);
                break;
            }
    CHECK_EQ(arena.size, heap.used);
    arena_free(&arena);
    heap_release(&heap);
}

TEST(arena_zero)
{
    Heap heap;
    Arena arena;
    unit_heap(&heap);
    arena_init(&arena, &heap);
    for (int round = 0; round < 2; round++) {
        memset(arena_alloc(&arena, 3000), 0xee, 3000);
        arena_free(&arena);
        unsigned char *p = arena_zalloc(&arena, 3000);
        unsigned sum = 0;
        for (int k = 0; k < 3000; k++)
            sum += p[k];
        CHECK_EQ(sum, 0);
        CHECK_EQ(*NEW(&arena, uint64_t), 0);
        uint32_t *array = NEW_ARRAY(&arena, uint32_t, 100);
        CHECK_EQ(array[0] | array[99], 0);
    }
    arena_free(&arena);
    heap_release(&heap);
}

TEST(arena_large)
{
    Heap heap;
    Arena arena;
    unit_heap(&heap);
    arena_init(&arena, &heap);
    char *small = arena_alloc(&arena, 100);
    memset(small, 1, 100);
    size_t sizes[] = {4096, 1 << 20, (1 << 20) + 1, 3 << 20, 5 << 20, 33 << 20};
    char *p[ARRAY_LEN(sizes)];
    for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
        p[k] = arena_alloc(&arena, sizes[k]);
        p[k][0] = p[k][sizes[k] - 1] = (char)(k + 2);
    }
    for (size_t k = 0; k < ARRAY_LEN(sizes); k++)
        CHECK(p[k][0] == (char)(k + 2) && p[k][sizes[k] - 1] == (char)(k + 2));
    CHECK_EQ(arena.size, heap.used);
    CHECK(heap.used >= 43u << 20);
    CHECK(small[0] == 1 && small[99] == 1);
    arena_free(&arena);
    CHECK_EQ(heap.used, 0);
    CHECK(heap.large == NULL);
    heap_release(&heap);
}

// A large allocation leaves the rest of the current chunk in use.
TEST(arena_large_between_small)
{
    Heap heap;
    Arena arena;
    unit_heap(&heap);
    arena_init(&arena, &heap);
    char *small = arena_alloc(&arena, 100);
    arena_alloc(&arena, 5 << 20);
    CHECK((char *)arena_alloc(&arena, 8) == small + 104 || ARENA_EXACT);
    arena_free(&arena);
    heap_release(&heap);
}

// Chunks of a freed arena are reused without new memory from the system.
TEST(arena_reuse)
{
    Heap heap;
    Arena arena;
    unit_heap(&heap);
    arena_init(&arena, &heap);
    Slab *slab = NULL;
    size_t peak = 0;
    for (int round = 0; round < 50; round++) {
        for (int k = 0; k < 1000; k++)
            memset(arena_alloc(&arena, 800), round, 800);
        if (round == 0) {
            slab = heap.slabs;
            peak = heap.peak;
        }
        CHECK(heap.slabs == slab);
        CHECK_EQ(heap.peak, peak);
        arena_free(&arena);
        CHECK_EQ(heap.used, 0);
        CHECK_EQ(arena.size, 0);
        CHECK(arena.heap == &heap);
    }
    heap_release(&heap);
}

// Several arenas are freed in another order than they were made in, also with large chunks in the middle of their
// lists.
TEST(arena_interleaved)
{
    enum { N = 20 };
    Heap heap;
    Arena arenas[N];
    unit_heap(&heap);
    for (int k = 0; k < N; k++)
        arena_init(&arenas[k], &heap);
    for (int round = 0; round < 3; round++) {
        for (int k = 0; k < N; k++) {
            memset(arena_alloc(&arenas[k], 2 << 20), k, 2 << 20);
            memset(arena_alloc(&arenas[k], 500), k, 500);
        }
        size_t sum = 0;
        for (int k = 0; k < N; k++)
            sum += arenas[k].size;
        CHECK_EQ(heap.used, sum);
        for (int k = 0; k < N; k++)
            arena_free(&arenas[(k * 7 + 3) % N]);
        CHECK_EQ(heap.used, 0);
    }
    heap_release(&heap);
}

// A large chunk that was freed serves several smaller requests, without new memory from the system.
TEST(heap_splits_spares)
{
    Heap heap;
    Arena a, b;
    unit_heap(&heap);
    arena_init(&a, &heap);
    arena_init(&b, &heap);
    memset(arena_alloc(&a, 32 << 20), 1, 32 << 20);
    arena_free(&a);
    size_t spared = heap.spared;
    CHECK(spared >= 32u << 20 || ARENA_EXACT);
    char *p = memset(arena_alloc(&a, 3 << 20), 2, 3 << 20);
    CHECK(heap.used < 6u << 20);
    char *q = memset(arena_alloc(&b, 20 << 20), 3, 20 << 20);
    CHECK(heap.used + heap.spared == spared || ARENA_EXACT);
    CHECK(p[0] == 2 && p[(3 << 20) - 1] == 2 && q[0] == 3);
    arena_free(&a);
    arena_free(&b);
    CHECK(heap.spared == spared || ARENA_EXACT);
    heap_release(&heap);
}

// Chunks in use and spare chunks never take more memory than chunks in use did before.
TEST(heap_bounds_spares)
{
    Heap heap;
    Arena arena;
    unit_heap(&heap);
    arena_init(&arena, &heap);
    for (size_t bytes = 3 << 20; bytes < 40u << 20; bytes += bytes / 3) {
        memset(arena_alloc(&arena, bytes), 1, bytes);
        CHECK(heap.used + heap.spared <= heap.peak);
        arena_free(&arena);
    }
    heap_release(&heap);
}

// A heap that was trimmed has no spare memory, and its spare memory has a new bound.
TEST(heap_trims)
{
    Heap heap;
    Arena arena;
    unit_heap(&heap);
    arena_init(&arena, &heap);
    arena_alloc(&arena, 40 << 20);
    arena_free(&arena);
    heap_trim(&heap);
    CHECK_EQ(heap.spared, 0);
    CHECK(heap.peak >= 40u << 20);
    for (size_t bytes = 3 << 20; bytes < 9u << 20; bytes += 3 << 20) {
        arena_alloc(&arena, bytes);
        CHECK(heap.used + heap.spared < 12u << 20);
        arena_free(&arena);
    }
    heap_release(&heap);
}

TEST(heap_figures)
{
    Heap heap;
    Arena a, b;
    unit_heap(&heap);
    arena_init(&a, &heap);
    arena_init(&b, &heap);
    arena_alloc(&a, 100);
    size_t first = heap.used;
    CHECK(first >= 100);
    arena_alloc(&b, 100);
    CHECK_EQ(heap.used, 2 * first);
    arena_free(&a);
    CHECK_EQ(heap.used, first);
    CHECK_EQ(heap.peak, 2 * first);
    arena_free(&b);
    CHECK_EQ(heap.used, 0);
    CHECK_EQ(heap.peak, 2 * first);
    heap_release(&heap);
    CHECK(heap.slabs == NULL);
}

static void alloc_until_full(void *user)
{
    Arena *arena = user;
    for (int k = 0; k < 1000000; k++)
        memset(arena_alloc(arena, 1000), 7, 1000);
}

static void alloc_much(void *user) { arena_alloc(user, 64 << 20); }

TEST(heap_limit)
{
    Heap heap;
    Arena arena;
    unit_heap(&heap);
    heap.limit = 1 << 20;
    arena_init(&arena, &heap);
    CHECK_FAILS(&heap, ST_LIMIT, alloc_until_full, &arena);
    CHECK(strstr(heap.message, "1048576") != NULL);
    CHECK(heap.used <= heap.limit && heap.peak <= heap.limit);
    CHECK(heap.used > heap.limit / 2);
    // Allocation succeeds again after memory was freed.
    arena_free(&arena);
    CHECK_EQ(heap.used, 0);
    arena_alloc(&arena, 10000);
    CHECK_FAILS(&heap, ST_LIMIT, alloc_much, &arena);
    heap_release(&heap);
    CHECK_EQ(heap.limit, 1 << 20);
    arena_init(&arena, &heap);
    arena_alloc(&arena, 10000);
    heap_release(&heap);
}

static void fail_long(void *user)
{
    char text[1000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    heap_fail(user, ST_INTERNAL, "%d %s", 42, text);
}

static void fail_deep(void *user)
{
    Heap *heap = user;
    Arena arena;
    arena_init(&arena, heap);
    arena_alloc(&arena, 5 << 20);  // unreferenced, but owned by the heap
    fail_long(heap);
}

TEST(heap_unwind)
{
    Heap heap;
    unit_heap(&heap);
    CHECK_FAILS(&heap, ST_INTERNAL, fail_long, &heap);
    CHECK(strncmp(heap.message, "42 xxx", 6) == 0);
    CHECK_EQ(strlen(heap.message), sizeof heap.message - 1);
    for (int k = 0; k < 3; k++) {
        CHECK_FAILS(&heap, ST_INTERNAL, fail_deep, &heap);
        CHECK(heap.used > 5 << 20);
        heap_release(&heap);  // a leak shows under the address sanitizer
        CHECK_EQ(heap.used, 0);
    }
}

typedef struct Triple {
    uint32_t a, b, c;
} Triple;

TEST(vec_grows)
{
    Heap heap;
    Arena arena;
    unit_heap(&heap);
    arena_init(&arena, &heap);
    VEC(Triple) v = {0};
    VEC(uint8_t) bytes = {0};
    VEC(uint64_t) alone = {0};
    for (uint32_t k = 0; k < 100000; k++) {
        VEC_PUSH(&arena, &v, ((Triple){k, k * 3, ~k}));
        VEC_PUSH(&arena, &bytes, (uint8_t)k);
    }
    Arena other;
    arena_init(&other, &heap);
    for (uint32_t k = 0; k < 300000; k++)
        VEC_PUSH(&other, &alone, (uint64_t)k << 20);
    CHECK_EQ(v.n, 100000);
    CHECK(v.cap >= v.n);
    bool same = true;
    for (uint32_t k = 0; k < 100000; k++)
        same &= v.at[k].a == k && v.at[k].b == k * 3 && v.at[k].c == ~k && bytes.at[k] == (uint8_t)k;
    for (uint32_t k = 0; k < 300000; k++)
        same &= alone.at[k] == (uint64_t)k << 20;
    CHECK(same);
    arena_free(&arena);
    arena_free(&other);
    heap_release(&heap);
}

// The newest allocation grows in place, unless there was a later allocation.
TEST(vec_in_place)
{
    Heap heap;
    Arena arena;
    unit_heap(&heap);
    arena_init(&arena, &heap);
    VEC(uint32_t) v = {0};
    VEC_PUSH(&arena, &v, 1);
    uint32_t *first = v.at;
    for (uint32_t k = 2; k <= 200; k++)
        VEC_PUSH(&arena, &v, k);
    CHECK(v.at == first || ARENA_EXACT);
    uint32_t *after = NEW(&arena, uint32_t);
    *after = 77;
    while (v.at == first && v.n < 10000)
        VEC_PUSH(&arena, &v, v.n + 1);
    CHECK_EQ(*after, 77);
    bool same = true;
    for (uint32_t k = 0; k < v.n; k++)
        same &= v.at[k] == k + 1;
    CHECK(same);
    arena_free(&arena);
    heap_release(&heap);
}

static void grow_full_vec(void *user)
{
    uint32_t cap = UINT32_MAX / 2 + 1;
    vec_grow(user, NULL, 0, &cap, 1);
}

TEST(vec_limit)
{
    Heap heap;
    Arena arena;
    unit_heap(&heap);
    arena_init(&arena, &heap);
    CHECK_FAILS(&heap, ST_LIMIT, grow_full_vec, &arena);
    heap_release(&heap);
}

void test_heap(void)
{
    RUN(arena_alignment);
    RUN(arena_growth);
    RUN(arena_zero);
    RUN(arena_large);
    RUN(arena_large_between_small);
    RUN(arena_reuse);
    RUN(arena_interleaved);
    RUN(heap_splits_spares);
    RUN(heap_bounds_spares);
    RUN(heap_trims);
    RUN(heap_figures);
    RUN(heap_limit);
    RUN(heap_unwind);
    RUN(vec_grows);
    RUN(vec_in_place);
    RUN(vec_limit);
}
