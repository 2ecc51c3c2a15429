// SPDX-License-Identifier: MIT
// Tests control dependence against its definition, on random graphs and large shapes.
#include "tests/unit/graph.h"

// True if b is control dependent on the edge from u to v.
static bool depends(const Analyses *a, BlockId b, BlockId u, BlockId v)
{
    return post_dominates(a, b, v) && (b == u || !post_dominates(a, b, u));
}

// Counts edges that b depends on and no other block has counted: `n` from each block.
static void count_edges(const Analyses *a, BlockId b, bool *given, uint32_t *n)
{
    for (uint32_t k = 0; k < a->nrpo; k++) {
        BlockId u = a->rpo[k];
        for (uint32_t e = a->succs.first[u]; e < a->succs.first[u + 1]; e++) {
            if (given[e] || !depends(a, b, u, a->succs.at[e]))
                continue;
            given[e] = true;
            n[u]++;
        }
    }
}

static void check_graph(const Analyses *a, Arena *arena, uint32_t nblocks, uint64_t *seed)
{
    bool *given = NEW_ARRAY(arena, bool, a->succs.first[nblocks + 1]);
    ControlDeps deps;
    control_deps_init(&deps, arena, a);
    for (uint32_t round = 0; round < 2 * nblocks; round++) {
        BlockId b = 1 + unit_random(seed, nblocks), from;
        uint32_t n[GRAPH_BLOCKS + 1] = {0};
        if (a->rpo_index[b] != UINT32_MAX)
            count_edges(a, b, given, n);
        while ((from = control_deps_take(&deps, b)))
            if (!CHECK(n[from]-- > 0))
                return;
        for (BlockId u = 1; u <= nblocks; u++)
            CHECK_EQ(n[u], 0);
    }
}

TEST(control_deps_random)
{
    uint64_t seed = 1987;
    for (uint32_t round = 0; round < 2000; round++) {
        Fixture f;
        Graph g;
        Arena arena;
        unit_context("graph %u", round);
        fixture_open(&f);
        graph_random(&g, &seed);
        graph_build(&f, &g);
        arena_init(&arena, f.fn->arena.heap);
        check_graph(analysis_need(f.fn, AN_PDOM | AN_RPO | AN_CFG), &arena, g.n, &seed);
        arena_free(&arena);
        fixture_close(&f);
    }
}

// Nested loops with exits at their ends: each block depends on all later branches.
TEST(control_deps_quadratic)
{
    Shape s;
    shape_open(&s, MANY);
    for (BlockId b = 1; b < MANY; b++) {
        if (b > MANY / 2)
            shape_branch(&s, b, MANY - b, b + 1);
        else
            emit_bra(s.fn, b, b + 1);
    }
    emit_ret(s.fn, MANY);
    const Analyses *a = shape_need(&s, AN_PDOM | AN_RPO | AN_CFG);
    ControlDeps deps;
    Arena arena;
    arena_init(&arena, s.fn->arena.heap);
    control_deps_init(&deps, &arena, a);
    uint32_t n = 0;
    for (BlockId b = 1; b <= MANY; b++)
        while (control_deps_take(&deps, b))
            n++;
    CHECK_EQ(n, MANY - 1 - MANY / 2);
    arena_free(&arena);
    shape_close(&s);
}

void test_control_deps(void)
{
    RUN(control_deps_random);
    RUN(control_deps_quadratic);
}
