// SPDX-License-Identifier: MIT
// Tests scoped tables: walks over trees of blocks and over dominator trees, against the settings on the path to the
// root.
#include "ir/rewrite/rewrite.h"
#include "tests/unit/graph.h"

enum { WORDS = 5 };

TEST(scoped_table_walks)
{
    Heap heap;
    Arena arena;
    ScopedTable t;
    uint32_t x = 1, y = 2;
    unit_heap(&heap);
    arena_init(&arena, &heap);
    scoped_init(&t, &arena);
    CHECK_EQ(scoped_next(&t), 0);
    scoped_push(&t, 1);
    CHECK_EQ(scoped_next(&t), 1);
    scoped_set(&t, &x, 10);
    scoped_set(&t, &x, 11);
    scoped_push(&t, 2);
    scoped_push(&t, 3);
    CHECK_EQ(scoped_next(&t), 3);
    CHECK_EQ(x, 11);
    scoped_set(&t, &x, 1);
    scoped_set(&t, &y, 20);
    scoped_push(&t, 4);
    CHECK_EQ(scoped_next(&t), 4);
    CHECK_EQ(y, 20);
    scoped_set(&t, &y, 20);
    CHECK_EQ(scoped_next(&t), 2);
    CHECK(x == 11 && y == 2);
    CHECK_EQ(scoped_next(&t), 0);
    CHECK(x == 1 && y == 2);
    arena_free(&arena);
    CHECK_EQ(heap.used, 0);
    heap_release(&heap);
}

// Sets words in a walk of the dominator tree, and checks that each block sees the last settings of its dominators.
static void check_dominators(const Analyses *a, Arena *arena, uint32_t nblocks, uint64_t *seed)
{
    uint32_t word[WORDS] = {0};
    uint32_t(*seen)[WORDS] = arena_alloc(arena, (nblocks + 1) * sizeof *seen);
    ScopedTable t;
    scoped_init(&t, arena);
    for (uint32_t k = 0; k < a->nrpo; k++) {
        BlockId b = a->dom.order[k], outer = a->dom.idom[b];
        scoped_enter(&t, a, b);
        for (uint32_t w = 0; w < WORDS; w++)
            CHECK_EQ(word[w], outer ? seen[outer][w] : 0);
        for (uint32_t n = unit_random(seed, WORDS); n; n--)
            scoped_set(&t, &word[unit_random(seed, WORDS)], unit_random(seed, 4));
        memcpy(seen[b], word, sizeof word);
    }
}

TEST(scoped_table_dominators)
{
    uint64_t seed = 23;
    for (uint32_t round = 0; round < 500; round++) {
        Fixture f;
        Graph g;
        Arena arena;
        unit_context("graph %u", round);
        fixture_open(&f);
        graph_random(&g, &seed);
        graph_build(&f, &g);
        arena_init(&arena, f.fn->arena.heap);
        check_dominators(analysis_need(f.fn, AN_DOM | AN_RPO), &arena, g.n, &seed);
        arena_free(&arena);
        fixture_close(&f);
    }
}

void test_scoped_table(void)
{
    RUN(scoped_table_walks);
    RUN(scoped_table_dominators);
}
