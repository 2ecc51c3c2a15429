// SPDX-License-Identifier: MIT
// Tests segmented arrays.
#include <stdlib.h>

#include "tests/unit/unit.h"

typedef struct Record {
    uint32_t a[9];
} Record;

TEST(seg_elements_stay)
{
    enum { N = 1000000 };
    Heap heap;
    Arena arena;
    Seg seg = {0};
    unit_heap(&heap);
    arena_init(&arena, &heap);
    Record **where = malloc(N * sizeof *where);
    for (uint32_t k = 0; k < N; k++) {
        if (seg_push(&seg, &arena, 1, sizeof(Record)) != k)
            CHECK(!"index");
        where[k] = seg_at(&seg, k, sizeof(Record));
        memset(where[k], 0, sizeof(Record));
        where[k]->a[0] = k;
        where[k]->a[8] = ~k;
    }
    CHECK_EQ(seg.n, N);
    bool same = true;
    for (uint32_t k = 0; k < N; k++) {
        Record *r = seg_at(&seg, k, sizeof(Record));
        same &= r == where[k] && r->a[0] == k && r->a[8] == ~k;
    }
    CHECK(same);
    free(where);
    arena_free(&arena);
    heap_release(&heap);
}

// A run is contiguous, runs do not overlap, and earlier contents stay.
TEST(seg_runs)
{
    enum { N = 20000 };
    Heap heap;
    Arena arena;
    Seg seg = {0};
    uint64_t seed = 5;
    unit_heap(&heap);
    arena_init(&arena, &heap);
    uint32_t *first = malloc(N * sizeof *first), *count = malloc(N * sizeof *count), end = 0;
    for (uint32_t k = 0; k < N; k++) {
        count[k] = 1 + unit_random(&seed, k % 100 == 0 ? 2000 : 12);
        first[k] = seg_push(&seg, &arena, count[k], 8);
        if (first[k] < end)
            CHECK(!"runs overlap");
        end = first[k] + count[k];
        CHECK_EQ(seg.n, end);
        uint64_t *p = seg_at(&seg, first[k], 8);
        for (uint32_t j = 0; j < count[k]; j++)
            p[j] = (uint64_t)k << 32 | j;
    }
    bool contiguous = true, same = true;
    for (uint32_t k = 0; k < N; k++)
        for (uint32_t j = 0; j < count[k]; j++) {
            uint64_t *p = seg_at(&seg, first[k] + j, 8);
            contiguous &= p == (uint64_t *)seg_at(&seg, first[k], 8) + j;
            same &= *p == ((uint64_t)k << 32 | j);
        }
    CHECK(contiguous);
    CHECK(same);
    free(first);
    free(count);
    arena_free(&arena);
    heap_release(&heap);
}

// A first run of each size is in one segment; segments that are too short for it take no memory.
TEST(seg_large_runs)
{
    Heap heap;
    Arena arena;
    unit_heap(&heap);
    arena_init(&arena, &heap);
    uint32_t sizes[] = {1, 7, 8, 9, 15, 16, 17, 1000, 65536, 100000, 1000000};
    for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
        unit_context("%u elements", sizes[k]);
        Seg seg = {0};
        uint32_t first = seg_push(&seg, &arena, sizes[k], 8);
        char *p = seg_at(&seg, first, 8);
        memset(p, 0xab, (size_t)sizes[k] * 8);
        CHECK((char *)seg_at(&seg, first + sizes[k] - 1, 8) == p + ((size_t)sizes[k] - 1) * 8);
        CHECK(first < 2 * sizes[k] + 8);
        CHECK(arena.size < (size_t)sizes[k] * 8 * 4 + 65536 * 4);
        uint32_t next = seg_push(&seg, &arena, 3, 8);
        CHECK(next >= first + sizes[k]);
        memset(seg_at(&seg, next, 8), 1, 24);
        arena_free(&arena);
    }
    heap_release(&heap);
}

static void push_too_much(void *user)
{
    Seg seg = {0};
    for (int k = 0; k < 3; k++)
        seg_push(&seg, user, 1u << 30, 0);
}

TEST(seg_limit)
{
    Heap heap;
    Arena arena;
    unit_heap(&heap);
    arena_init(&arena, &heap);
    CHECK_FAILS(&heap, ST_LIMIT, push_too_much, &arena);
    heap_release(&heap);
}

void test_seg(void)
{
    RUN(seg_elements_stay);
    RUN(seg_runs);
    RUN(seg_large_runs);
    RUN(seg_limit);
}
