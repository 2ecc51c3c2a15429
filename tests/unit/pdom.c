// SPDX-License-Identifier: MIT
// Tests post-dominators against a naive reference, on small examples, and on large functions.
#include "tests/unit/graph.h"

/* -- Small graphs --------------------------------------------------------------------------------------- */

// Post-dominators by definition: a post-dominates b if b cannot reach the exit without a.
typedef struct Reference {
    Blocks reachable;
    Blocks ends;                                // blocks with an edge to the exit
    Blocks connected;                           // blocks of endless regions with an edge to the virtual exit
    Blocks reaching_without[GRAPH_BLOCKS + 1];  // blocks that reach the exit without a block, by block
    uint32_t nendless;
    Blocks endless[GRAPH_BLOCKS];  // regions
} Reference;

static BlockId first_of(Blocks set, const Analyses *a)
{
    BlockId first = 0;
    for (BlockId b = 1; b <= GRAPH_BLOCKS; b++)
        if (has(set, b) && (!first || a->rpo_index[b] < a->rpo_index[first]))
            first = b;
    return first;
}

static BlockId last_of(Blocks set, const Analyses *a)
{
    BlockId last = 0;
    for (BlockId b = 1; b <= GRAPH_BLOCKS; b++)
        if (has(set, b) && (!last || a->rpo_index[b] > a->rpo_index[last]))
            last = b;
    return last;
}

// Finds endless regions: strongly connected regions without an edge out.
static void find_endless(Reference *r, const Graph *g, const Analyses *a)
{
    Blocks all = graph_all(g), left = r->reachable & ~graph_reaching(g, r->ends, all);
    for (BlockId b = 1; b <= g->n; b++) {
        Blocks region = graph_reach(g, bit(b), all);
        if (!has(left, b) || region & ~graph_reaching(g, bit(b), all))
            continue;
        Blocks back = 0;
        for (BlockId from = 1; from <= g->n; from++)
            if (has(region, from) && has(graph_succs(g, from), first_of(region, a)))
                back |= bit(from);
        r->connected |= bit(last_of(back, a));
        r->endless[r->nendless++] = region;
        left &= ~region;
    }
}

static void find_naively(Reference *r, const Graph *g, const Analyses *a)
{
    Blocks all = graph_all(g);
    *r = (Reference){.reachable = graph_reach(g, bit(1), all)};
    for (BlockId b = 1; b <= g->n; b++)
        if (has(r->reachable, b) && (!g->nsucc[b] || g->guarded[b]))
            r->ends |= bit(b);
    find_endless(r, g, a);
    for (BlockId b = 1; b <= g->n; b++)
        r->reaching_without[b] = graph_reaching(g, r->ends | r->connected, all & ~bit(b));
}

static bool naively_post_dominates(const Reference *r, BlockId a, BlockId b)
{
    return a == b || !has(r->reachable, b) || (has(r->reachable, a) && !has(r->reaching_without[a], b));
}

static BlockId naive_ipdom(const Reference *r, BlockId b)
{
    BlockId ipdom = 0;
    for (BlockId a = 1; a <= GRAPH_BLOCKS && has(r->reachable, b); a++)
        if (a != b && has(r->reachable, a) && naively_post_dominates(r, a, b) &&
            (!ipdom || naively_post_dominates(r, ipdom, a)))
            ipdom = a;
    return ipdom;
}

// True if every path from b to the exit or into an endless region passes through a.
static bool passes_through(const Reference *r, const Graph *g, BlockId b, BlockId a)
{
    Blocks without = graph_reach(g, bit(b), graph_all(g) & ~bit(a)), stays = r->ends;
    for (uint32_t k = 0; k < r->nendless; k++)
        if (!has(r->endless[k], a))
            stays |= r->endless[k];
    return !(without & stays);
}

static void check_exit(const Reference *r, const Graph *g, const Analyses *a)
{
    CHECK(post_dominates(a, 0, 0));
    for (BlockId b = 1; b <= g->n; b++) {
        CHECK(post_dominates(a, 0, b) && !post_dominates(a, b, 0));
        CHECK_EQ(a->pdom.size[b] > 0, has(r->reachable, b));
    }
    for (uint32_t k = 0; k < a->nrpo; k++)
        CHECK_EQ(a->pdom.pre[a->pdom.order[k]], k);
}

static void check_graph(const Graph *g, Reference *r)
{
    Fixture f;
    fixture_open(&f);
    graph_build(&f, g);
    CHECK_VERIFIES(f.fn);
    const Analyses *a = analysis_need(f.fn, AN_PDOM);
    find_naively(r, g, a);
    for (BlockId b = 1; b <= g->n; b++) {
        CHECK_EQ(a->pdom.idom[b], naive_ipdom(r, b));
        for (BlockId c = 1; c <= g->n; c++) {
            bool expected = naively_post_dominates(r, b, c);
            CHECK_EQ(post_dominates(a, b, c), expected);
            if (expected && b != c && has(r->reachable, c))
                CHECK(passes_through(r, g, c, b));
        }
    }
    check_exit(r, g, a);
    fixture_close(&f);
}

TEST(pdom_random_graphs)
{
    uint64_t seed = 1972;
    uint32_t endless = 0, several = 0;
    for (uint32_t round = 0; round < 5000; round++) {
        Graph g;
        Reference r;
        unit_context("graph %u", round);
        graph_random(&g, &seed);
        check_graph(&g, &r);
        endless += r.nendless > 0;
        several += r.nendless > 1;
    }
    unit_context("%u with endless loops, %u with several", endless, several);
    CHECK(endless > 500 && several > 20);
}

// All graphs of three blocks that return, jump, branch, or return under a guard.
TEST(pdom_small_graphs)
{
    static const uint8_t kinds[][3] = {{0}, {1}, {2}, {3}, {1, 2}, {1, 3}, {2, 3}, {1, 0, 1}, {2, 0, 1}, {3, 0, 1}};
    enum { N = ARRAY_LEN(kinds) };
    for (uint32_t k = 0; k < N * N * N; k++) {
        Graph g = {.n = 3};
        Reference r;
        const uint8_t *of[] = {kinds[k % N], kinds[k / N % N], kinds[k / N / N]};
        unit_context("graph %u", k);
        for (BlockId b = 1; b <= 3; b++) {
            for (; g.nsucc[b] < 2 && of[b - 1][g.nsucc[b]]; g.nsucc[b]++)
                g.succ[b][g.nsucc[b]] = of[b - 1][g.nsucc[b]];
            g.guarded[b] = of[b - 1][2];
        }
        check_graph(&g, &r);
    }
}

// An endless loop with branches and an inner back edge: the last back edge counts as its end.
TEST(pdom_endless_loop)
{
    //          1 -> 2 -> 3 -> 2, 4;  4 -> 5, 6;  5 -> 7;  6 -> 7;  7 -> 2
    Graph g = {.n = 7, .nsucc = {0, 1, 1, 2, 2, 1, 1, 1}, .succ = {{0}, {2}, {3}, {2, 4}, {5, 6}, {7}, {7}, {2}}};
    static const BlockId expected[] = {0, 2, 3, 4, 7, 7, 7, 0};
    Reference r;
    check_graph(&g, &r);
    CHECK_EQ(r.connected, bit(7));
    for (BlockId b = 1; b <= g.n; b++)
        CHECK_EQ(naive_ipdom(&r, b), expected[b]);
}

TEST(pdom_no_blocks)
{
    Fixture f;
    fixture_open(&f);
    const Analyses *a = analysis_need(f.fn, AN_PDOM);
    CHECK(post_dominates(a, 0, 0));
    CHECK_EQ(a->loops.n, 0);
    CHECK_EQ(a->nrpo, 0);
    fixture_close(&f);
}

/* -- Shapes at size ------------------------------------------------------------------------------------- */

TEST(pdom_long_chain)
{
    Shape s;
    shape_open(&s, MANY);
    for (BlockId b = 1; b < MANY; b++)
        emit_bra(s.fn, b, b + 1);
    emit_ret(s.fn, MANY);
    const Analyses *a = shape_need(&s, AN_PDOM);
    bool right = post_dominates(a, MANY, 1) && !post_dominates(a, 1, MANY) && a->pdom.idom[MANY] == 0;
    for (BlockId b = 1; b < MANY; b++)
        right &= a->pdom.idom[b] == b + 1 && post_dominates(a, b + 1, b) && !post_dominates(a, b, b + 1);
    CHECK(right);
    shape_close(&s);
}

// Each block of the chain may return.
TEST(pdom_many_exits)
{
    Shape s;
    shape_open(&s, MANY);
    for (BlockId b = 1; b < MANY; b++)
        shape_guarded_ret(&s, b, b + 1);
    emit_ret(s.fn, MANY);
    const Analyses *a = shape_need(&s, AN_PDOM);
    bool right = true;
    for (BlockId b = 1; b <= MANY; b++)
        right &= a->pdom.idom[b] == 0 && a->pdom.size[b] == 1;
    CHECK(right);
    shape_close(&s);
}

TEST(pdom_wide_switch_and_join)
{
    Shape s;
    shape_open(&s, MANY + 2);
    shape_switch(&s, 1, 2, MANY);
    for (BlockId b = 2; b < MANY + 2; b++)
        emit_bra(s.fn, b, MANY + 2);
    emit_ret(s.fn, MANY + 2);
    const Analyses *a = shape_need(&s, AN_PDOM);
    bool right = true;
    for (BlockId b = 1; b < MANY + 2; b++)
        right &= a->pdom.idom[b] == MANY + 2 && a->pdom.size[b] == 1;
    CHECK(right);
    shape_close(&s);
}

// Two chains, with edges from each block to the next blocks of both, to one end.
TEST(pdom_crossed_ladder)
{
    Shape s;
    shape_open(&s, MANY + 3);
    for (BlockId b = 1; b <= MANY; b++)
        shape_branch(&s, b, b + 1 + b % 2, b + 2 + b % 2);
    emit_bra(s.fn, MANY + 1, MANY + 3);
    emit_bra(s.fn, MANY + 2, MANY + 3);
    emit_ret(s.fn, MANY + 3);
    const Analyses *a = shape_need(&s, AN_PDOM);
    bool right = true;
    for (BlockId b = 1; b < MANY + 3; b++)
        right &= a->pdom.size[b] == 0 || a->pdom.idom[b] == MANY + 3;
    CHECK(right);
    shape_close(&s);
}

// One endless loop of all blocks: the last one counts as its end.
TEST(pdom_endless_chain)
{
    Shape s;
    shape_open(&s, MANY);
    for (BlockId b = 1; b <= MANY; b++)
        emit_bra(s.fn, b, b % MANY + 1);
    const Analyses *a = shape_need(&s, AN_PDOM);
    bool right = a->pdom.idom[MANY] == 0;
    for (BlockId b = 1; b < MANY; b++)
        right &= a->pdom.idom[b] == b + 1;
    CHECK(right);
    shape_close(&s);
}

// A switch to many endless loops of two blocks.
TEST(pdom_many_endless_loops)
{
    enum { N = MANY / 2 };
    Shape s;
    shape_open(&s, 2 * N + 1);
    shape_switch(&s, 1, 2, N);
    for (BlockId b = 2; b <= N + 1; b++) {
        emit_bra(s.fn, b, N + b);
        shape_branch(&s, N + b, b, N + b);
    }
    const Analyses *a = shape_need(&s, AN_PDOM);
    bool right = a->pdom.idom[1] == 0;
    for (BlockId b = 2; b <= N + 1; b++)
        right &= a->pdom.idom[b] == N + b && a->pdom.idom[N + b] == 0;
    CHECK(right);
    shape_close(&s);
}

// Nested endless loops: the outermost back edge counts as the end.
TEST(pdom_endless_nest)
{
    enum { N = MANY };
    Shape s;
    shape_open(&s, 2 * N);
    for (BlockId b = 1; b <= N; b++)
        emit_bra(s.fn, b, b + 1);
    for (BlockId b = N + 1; b < 2 * N; b++)
        shape_branch(&s, b, 2 * N + 1 - b, b + 1);
    emit_bra(s.fn, 2 * N, 1);
    const Analyses *a = shape_need(&s, AN_PDOM);
    bool right = a->pdom.idom[2 * N] == 0;
    for (BlockId b = 1; b < 2 * N; b++)
        right &= a->pdom.idom[b] == b + 1;
    CHECK(right);
    shape_close(&s);
}

/* -- Validity ------------------------------------------------------------------------------------------- */

static void check_stale(const Fn *fn, uint32_t mask, const char *expected, int line)
{
    char why[200];
    bool ok = analysis_check(fn, mask, why);
    unit_check_text(why, SIZE_MAX, expected, __FILE__, line);
    unit_check_eq(ok, !expected[0], __FILE__, line, "analysis_check() reports this text");
}
#define STALE(mask, expected) check_stale(s.fn, (mask), (expected), __LINE__)

TEST(pdom_validity)
{
    Shape s;
    shape_open(&s, 4);
    shape_branch(&s, 1, 2, 3);
    InstrId left = emit_bra(s.fn, 2, 4);
    emit_bra(s.fn, 3, 4);
    emit_ret(s.fn, 4);
    const Analyses *a = shape_need(&s, AN_PDOM);
    CHECK_EQ(a->valid, AN_CFG | AN_RPO | AN_DOM | AN_LOOPS | AN_PDOM);
    STALE(UINT32_MAX, "");
    // The analyses it needs are dropped.
    analysis_drop(s.fn, AN_PDOM);
    CHECK_EQ(a->valid, AN_PDOM);
    CHECK(post_dominates(a, 4, 1) && !post_dominates(a, 2, 1));
    STALE(UINT32_MAX, "");
    // b1 branches to b2 instead of b3, then returns, then becomes unreachable.
    *ir_use(s.fn, ir_instr(s.fn, left), 0) = op_block(3);
    STALE(UINT32_MAX, "PDOM was kept but is out of date: the immediate post-dominator of b0 is b2, not b3");
    ir_remove(s.fn, left);
    left = emit_ret(s.fn, 2);
    STALE(UINT32_MAX, "PDOM was kept but is out of date: the immediate post-dominator of b0 is the exit, not b3");
    *ir_use(s.fn, ir_instr(s.fn, ir_terminator(s.fn, 1)), 0) = op_block(3);
    *ir_use(s.fn, ir_instr(s.fn, ir_terminator(s.fn, 1)), 1) = op_block(3);
    analysis_drop(s.fn, 0);
    shape_need(&s, AN_PDOM);
    *ir_use(s.fn, ir_instr(s.fn, ir_terminator(s.fn, 3)), 0) = op_block(2);
    STALE(AN_PDOM, "PDOM was kept but is out of date: the immediate post-dominator of b1 is the exit, not nothing");
    shape_close(&s);
}

// A guarded return has the edges of a jump, but differs from one.
TEST(pdom_same_edges)
{
    Shape s;
    shape_open(&s, 2);
    emit_bra(s.fn, 1, 2);
    emit_ret(s.fn, 2);
    const Analyses *a = shape_need(&s, AN_PDOM);
    CHECK_EQ(a->pdom.idom[1], 2);
    ir_remove(s.fn, ir_terminator(s.fn, 1));
    shape_guarded_ret(&s, 1, 2);
    STALE(AN_CFG | AN_RPO | AN_DOM | AN_LOOPS, "");
    STALE(AN_PDOM, "PDOM was kept but is out of date: the immediate post-dominator of b0 is the exit, not b1");
    shape_close(&s);
}

void test_pdom(void)
{
    RUN(pdom_random_graphs);
    RUN(pdom_small_graphs);
    RUN(pdom_endless_loop);
    RUN(pdom_no_blocks);
    RUN(pdom_long_chain);
    RUN(pdom_many_exits);
    RUN(pdom_wide_switch_and_join);
    RUN(pdom_crossed_ladder);
    RUN(pdom_endless_chain);
    RUN(pdom_many_endless_loops);
    RUN(pdom_endless_nest);
    RUN(pdom_validity);
    RUN(pdom_same_edges);
}
