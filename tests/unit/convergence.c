// SPDX-License-Identifier: MIT
// Tests all_run_same_collectives() against a naive reference, on random graphs with one or two barriers.
#include "tests/unit/graph.h"

// True if every thread executes a block exactly once: no path avoids it to a return or into a cycle without a way out,
// and it is in no cycle.
static bool runs_once(const Graph *g, BlockId b)
{
    Blocks all = graph_all(g), without = graph_reach(g, bit(1), all & ~bit(b)), ends = 0;
    for (BlockId e = 1; e <= g->n; e++)
        if (!g->nsucc[e] || g->guarded[e])
            ends |= bit(e);
    bool in_cycle = has(graph_reach(g, graph_succs(g, b), all), b);
    return !in_cycle && !(without & ends) && !(without & ~graph_reaching(g, ends | bit(b), all));
}

static void add_barrier(Fn *fn, BlockId b)
{
    ir_insert_before(fn, ir_terminator(fn, b), desc_make(fn->tables, OP_BAR_WARP), 0,
                     OPS(op_const(fn, UINT32_MAX, W32)));
}

// Returns the number of barriers whose blocks do not run once for every thread.
static uint32_t check_graph(const Graph *g, uint64_t *seed)
{
    Fixture f;
    fixture_open(&f);
    graph_build(&f, g);
    f.fn->flags |= FN_KERNEL;
    Blocks reachable = graph_reach(g, bit(1), graph_all(g));
    uint32_t others = 0;
    for (uint32_t n = 1 + unit_random(seed, 2); n; n--) {
        BlockId b = 1 + unit_random(seed, g->n);
        add_barrier(f.fn, b);
        others += has(reachable, b) && !runs_once(g, b);
    }
    CHECK_EQ(all_run_same_collectives(f.fn), others == 0);
    f.fn->flags &= ~(uint32_t)FN_KERNEL;
    CHECK(!all_run_same_collectives(f.fn));
    fixture_close(&f);
    return others;
}

TEST(convergence_random_graphs)
{
    uint64_t seed = 2006;
    uint32_t same = 0;
    for (uint32_t round = 0; round < 5000; round++) {
        Graph g;
        unit_context("graph %u", round);
        graph_random(&g, &seed);
        same += check_graph(&g, &seed) == 0;
    }
    unit_context("%u with the same sequence", same);
    CHECK(same > 500 && same < 4500);
}

void test_convergence(void) { RUN(convergence_random_graphs); }
