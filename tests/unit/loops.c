// SPDX-License-Identifier: MIT
// Tests the loop nesting forest against its definition, against natural loops, on small examples, and on large
// functions.
#include "tests/unit/graph.h"

/* -- Small graphs --------------------------------------------------------------------------------------- */

typedef struct NaiveLoop {
    BlockId header;
    uint32_t parent;  // 0 = none
    uint32_t depth;
    Blocks blocks;
    bool reducible;
} NaiveLoop;

typedef struct Reference {
    const Graph *g;
    Blocks reachable;
    uint32_t reached[GRAPH_BLOCKS + 1];  // preorder of the search
    uint32_t nreached;
    uint32_t n;
    NaiveLoop loop[GRAPH_BLOCKS + 1];  // 1 .. n
} Reference;

static void number_blocks(Reference *r, BlockId b)
{
    r->reached[b] = ++r->nreached;
    for (uint32_t k = 0; k < r->g->nsucc[b]; k++)
        if (!r->reached[r->g->succ[b][k]])
            number_blocks(r, r->g->succ[b][k]);
}

static BlockId first_reached(const Reference *r, Blocks set)
{
    BlockId first = 0;
    for (BlockId b = 1; b <= r->g->n; b++)
        if (has(set, b) && (!first || r->reached[b] < r->reached[first]))
            first = b;
    return first;
}

// True if all edges from outside lead to the header.
static bool has_one_entry(const Reference *r, BlockId header, Blocks loop)
{
    for (BlockId b = 1; b <= r->g->n; b++)
        if (has(r->reachable & ~loop, b) && graph_succs(r->g, b) & loop & ~bit(header))
            return false;
    return true;
}

// Finds loops by definition: the strongly connected regions, and those of each region without its header.
static void find_regions(Reference *r, Blocks set, uint32_t parent)
{
    while (set) {
        BlockId b = first_reached(r, set);
        Blocks region = graph_reach(r->g, bit(b), set) & graph_reaching(r->g, bit(b), set);
        set &= ~region;
        if (region == bit(b) && !has(graph_succs(r->g, b), b))
            continue;
        uint32_t l = ++r->n;
        r->loop[l] = (NaiveLoop){b, parent, r->loop[parent].depth + 1, region, has_one_entry(r, b, region)};
        find_regions(r, region & ~bit(b), l);
    }
}

static void find_naively(Reference *r, const Graph *g)
{
    *r = (Reference){.g = g, .reachable = graph_reach(g, bit(1), graph_all(g))};
    number_blocks(r, 1);
    find_regions(r, r->reachable, 0);
}

static uint32_t naive_loop_of(const Reference *r, BlockId b)
{
    uint32_t of = 0;
    for (uint32_t l = 1; l <= r->n; l++)
        if (has(r->loop[l].blocks, b) && r->loop[l].depth > r->loop[of].depth)
            of = l;
    return of;
}

static Blocks slice(const Analyses *a, const Loop *l)
{
    Blocks set = 0;
    for (uint32_t k = l->first; k < l->first + l->n; k++)
        set |= bit(a->loops.order[k]);
    return set;
}

// Returns the loop of the forest with the same header.
static uint32_t counterpart(const Analyses *a, const NaiveLoop *naive)
{
    uint32_t l = a->loops.n;
    while (l && a->loops.loop[l].header != naive->header)
        l--;
    return l;
}

static void check_loop(const Reference *r, const Analyses *a, const NaiveLoop *naive)
{
    uint32_t l = counterpart(a, naive);
    const Loop *loop = &a->loops.loop[l];
    if (!CHECK(l > 0))
        return;
    CHECK(slice(a, loop) == naive->blocks);
    CHECK_EQ(a->loops.order[loop->first], naive->header);
    CHECK_EQ(loop->depth, naive->depth);
    CHECK_EQ(loop->parent, naive->parent ? counterpart(a, &r->loop[naive->parent]) : 0);
    CHECK_EQ(loop->reducible, naive->reducible);
    CHECK(loop->parent < l);
    for (BlockId b = 1; b <= r->g->n; b++)
        CHECK_EQ(loop_contains(a, l, b), has(naive->blocks, b));
}

// Checks that all edges except back edges go forward in `order` if all loops have one entry.
static void check_order(const Reference *r, const Analyses *a)
{
    for (uint32_t k = 0; k < a->nrpo; k++)
        CHECK_EQ(a->loops.pre[a->loops.order[k]], k);
    for (uint32_t l = 2; l <= a->loops.n; l++)
        CHECK(a->loops.loop[l - 1].first < a->loops.loop[l].first);
    for (uint32_t l = 1; l <= a->loops.n; l++)
        if (!a->loops.loop[l].reducible)
            return;
    for (BlockId b = 1; b <= r->g->n; b++)
        for (BlockId to = 1; to <= r->g->n && has(r->reachable, b); to++)
            if (has(graph_succs(r->g, b), to) && !dominates(a, to, b))
                CHECK(a->loops.pre[b] < a->loops.pre[to]);
}

static void check_blocks(const Reference *r, const Analyses *a)
{
    for (BlockId b = 1; b <= r->g->n; b++) {
        uint32_t naive = naive_loop_of(r, b);
        CHECK_EQ(loop_of(a, b), naive ? counterpart(a, &r->loop[naive]) : 0);
        CHECK_EQ(loop_depth(a, b), r->loop[naive].depth);
        CHECK_EQ(loop_contains(a, 0, b), has(r->reachable, b));
    }
}

// Checks the natural loops if all cycles have an edge to a dominator; returns true if they have.
static bool check_natural_loops(const Reference *r, const Analyses *a)
{
    const Graph *g = r->g;
    Blocks back[GRAPH_BLOCKS + 1] = {0};  // sources of the back edges, by header
    Graph forward = *g;
    uint32_t n = 0;
    for (BlockId b = 1; b <= g->n; b++)
        for (uint32_t k = 0; k < g->nsucc[b] && has(r->reachable, b); k++) {
            BlockId h = g->succ[b][k];
            if (h == b || !has(graph_reach(g, bit(1), r->reachable & ~bit(h)), b)) {
                back[h] |= bit(b);
                forward.succ[b][k] = 0;
            }
        }
    for (BlockId b = 1; b <= g->n; b++)
        if (has(graph_reach(&forward, graph_succs(&forward, b), r->reachable), b))
            return false;
    for (BlockId h = 1; h <= g->n; h++) {
        if (!back[h])
            continue;
        Blocks loop = bit(h) | graph_reaching(g, back[h], r->reachable & ~bit(h));
        uint32_t l = counterpart(a, &(NaiveLoop){.header = h});
        if (CHECK(l > 0))
            CHECK(a->loops.loop[l].reducible && slice(a, &a->loops.loop[l]) == loop);
        n++;
    }
    return CHECK_EQ(n, a->loops.n);
}

typedef struct Kinds {
    uint32_t natural, irreducible, deep;
} Kinds;

static void check_graph(const Graph *g, Reference *r, Kinds *kinds)
{
    Fixture f;
    fixture_open(&f);
    graph_build(&f, g);
    CHECK_VERIFIES(f.fn);
    const Analyses *a = analysis_need(f.fn, AN_LOOPS);
    find_naively(r, g);
    CHECK_EQ(a->loops.n, r->n);
    bool natural = true, deep = false;
    for (uint32_t l = 1; l <= r->n; l++) {
        check_loop(r, a, &r->loop[l]);
        natural &= r->loop[l].reducible;
        deep |= r->loop[l].depth > 3;
    }
    check_blocks(r, a);
    check_order(r, a);
    CHECK_EQ(check_natural_loops(r, a), natural);
    kinds->natural += natural && r->n > 1;
    kinds->irreducible += !natural;
    kinds->deep += deep;
    fixture_close(&f);
}

TEST(loops_random_graphs)
{
    uint64_t seed = 1997;
    Kinds kinds = {0};
    for (uint32_t round = 0; round < 5000; round++) {
        Graph g;
        Reference r;
        unit_context("graph %u", round);
        graph_random(&g, &seed);
        check_graph(&g, &r, &kinds);
    }
    unit_context("%u natural, %u irreducible, %u deep", kinds.natural, kinds.irreducible, kinds.deep);
    CHECK(kinds.natural > 500 && kinds.irreducible > 1000 && kinds.deep > 500);
}

// All graphs of four blocks with up to two edges each, to different blocks.
TEST(loops_small_graphs)
{
    static const uint8_t edges[][2] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}, {1, 2},
                                       {1, 3}, {1, 4}, {2, 3}, {2, 4}, {3, 4}};
    enum { N = ARRAY_LEN(edges) };
    Kinds kinds = {0};
    for (uint32_t k = 0; k < N * N * N * N; k++) {
        Graph g = {.n = 4};
        Reference r;
        unit_context("graph %u", k);
        for (uint32_t b = 1, rest = k; b <= 4; b++, rest /= N)
            for (; g.nsucc[b] < 2 && edges[rest % N][g.nsucc[b]]; g.nsucc[b]++)
                g.succ[b][g.nsucc[b]] = edges[rest % N][g.nsucc[b]];
        check_graph(&g, &r, &kinds);
    }
}

// A loop with two entries inside another one, and a region that is no loop without its header.
TEST(loops_irreducible)
{
    //         1 -> 2;  2 -> 3, 4;  3 -> 4, 5;  4 -> 3;  5 -> 2, 6
    Graph g = {.n = 6, .nsucc = {0, 1, 2, 2, 1, 2, 0}, .succ = {{0}, {2}, {3, 4}, {4, 5}, {3}, {2, 6}}};
    Fixture f;
    fixture_open(&f);
    graph_build(&f, &g);
    const Analyses *a = analysis_need(f.fn, AN_LOOPS);
    const Loop *loop = a->loops.loop;
    CHECK_EQ(a->loops.n, 2);
    CHECK(loop[1].header == 2 && loop[1].reducible && loop[1].parent == 0 && loop[1].depth == 1 && loop[1].n == 4);
    CHECK(loop[2].header == 3 && !loop[2].reducible && loop[2].parent == 1 && loop[2].depth == 2 && loop[2].n == 2);
    CHECK(loop_of(a, 4) == 2 && loop_of(a, 5) == 1 && loop_of(a, 6) == 0);
    CHECK(loop_contains(a, 1, 4) && !loop_contains(a, 2, 5) && !loop_contains(a, 1, 1) && loop_contains(a, 0, 6));
    fixture_close(&f);
}

TEST(loops_none)
{
    Fixture f;
    fixture_open(&f);
    Graph g = {.n = 3, .nsucc = {0, 1, 0, 1}, .succ = {{0}, {2}, {0}, {3}}};  // 3 is an unreachable loop
    graph_build(&f, &g);
    const Analyses *a = analysis_need(f.fn, AN_LOOPS);
    CHECK_EQ(a->loops.n, 0);
    CHECK_EQ(loop_of(a, 3), 0);
    CHECK_EQ(loop_depth(a, 3), 0);
    CHECK(loop_contains(a, 0, 2) && !loop_contains(a, 0, 3));
    fixture_close(&f);
}

/* -- Shapes at size ------------------------------------------------------------------------------------- */

// A chain 1 .. N down, and up again with a back edge from each block to its partner.
TEST(loops_deep_nest)
{
    enum { N = MANY };
    Shape s;
    shape_open(&s, 2 * N);
    for (BlockId b = 1; b <= N; b++)
        emit_bra(s.fn, b, b + 1);
    for (BlockId b = N + 1; b < 2 * N; b++)
        shape_branch(&s, b, 2 * N + 1 - b, b + 1);
    emit_ret(s.fn, 2 * N);
    const Analyses *a = shape_need(&s, AN_LOOPS);
    bool right = a->loops.n == N - 1 && loop_of(a, 1) == 0 && loop_of(a, 2 * N) == 0;
    for (uint32_t l = 1; l < N; l++) {
        const Loop *loop = &a->loops.loop[l];
        right &= loop->header == l + 1 && loop->parent == l - 1 && loop->depth == l && loop->reducible;
        right &= loop->n == 2 * (N - l) && loop_of(a, l + 1) == l && loop_of(a, 2 * N - l) == l;
        right &= loop_contains(a, l, N) && !loop_contains(a, l, l) && loop_contains(a, l, 2 * N - l);
    }
    CHECK(right);
    shape_close(&s);
}

// Many back edges to one header are one loop.
TEST(loops_one_header)
{
    Shape s;
    shape_open(&s, MANY + 3);
    emit_bra(s.fn, 1, 2);
    shape_switch(&s, 2, 3, MANY + 1);
    for (BlockId b = 3; b < MANY + 3; b++)
        emit_bra(s.fn, b, 2);
    emit_ret(s.fn, MANY + 3);
    const Analyses *a = shape_need(&s, AN_LOOPS);
    CHECK_EQ(a->loops.n, 1);
    CHECK(a->loops.loop[1].n == MANY + 1 && a->loops.loop[1].reducible);
    CHECK(loop_contains(a, 1, MANY + 2) && !loop_contains(a, 1, MANY + 3));
    shape_close(&s);
}

// Many sibling loops in one outer loop.
TEST(loops_many_siblings)
{
    Shape s;
    shape_open(&s, MANY + 2);
    for (BlockId b = 1; b <= MANY; b++)
        shape_branch(&s, b, b, b + 1);
    shape_branch(&s, MANY + 1, 1, MANY + 2);
    emit_ret(s.fn, MANY + 2);
    const Analyses *a = shape_need(&s, AN_LOOPS);
    // The first block is also the header of the outer loop, so it has no loop of its own.
    bool right = a->loops.n == MANY && a->loops.loop[1].n == MANY + 1;
    for (BlockId b = 2; b <= MANY; b++)
        right &= loop_of(a, b) == b && a->loops.loop[b].header == b && a->loops.loop[b].parent == 1;
    CHECK(right && loop_depth(a, 1) == 1 && loop_depth(a, MANY) == 2 && loop_of(a, MANY + 1) == 1);
    shape_close(&s);
}

// Nested loops (N + 1 .. 3N, as above), and a chain beside them (1 .. N) with an edge into each: edges into an inner
// loop enter all loops around it.
TEST(loops_entered_everywhere)
{
    enum { N = MANY / 2 };
    Shape s;
    shape_open(&s, 3 * N);
    for (BlockId b = 1; b < N; b++)
        shape_branch(&s, b, N + b, b + 1);
    emit_bra(s.fn, N, 2 * N);
    for (BlockId b = N + 1; b <= 2 * N; b++)
        emit_bra(s.fn, b, b + 1);
    for (BlockId b = 2 * N + 1; b < 3 * N; b++)
        shape_branch(&s, b, 4 * N + 1 - b, b + 1);
    emit_ret(s.fn, 3 * N);
    const Analyses *a = shape_need(&s, AN_LOOPS);
    // Loop l has the header N + 1 + l. The last one, with one block on the way down, is entered only at its header.
    bool right = a->loops.n == N - 1;
    for (uint32_t l = 1; l < N; l++) {
        const Loop *loop = &a->loops.loop[l];
        right &= loop->header == N + 1 + l && loop->parent == l - 1 && loop->n == 2 * (N - l);
        right &= loop->reducible == (l == N - 1);
    }
    CHECK(right);
    shape_close(&s);
}

// Two chains with edges from each block to the next blocks of both, and from the end of each chain back to its start.
TEST(loops_crossed_ladder)
{
    Shape s;
    shape_open(&s, MANY + 4);
    shape_branch(&s, 1, 2, 3);
    for (BlockId b = 2; b <= MANY + 1; b++)
        shape_branch(&s, b, b + 2, b + 3 - 2 * (b % 2));
    shape_branch(&s, MANY + 2, 2, MANY + 4);
    shape_branch(&s, MANY + 3, 3, MANY + 4);
    emit_ret(s.fn, MANY + 4);
    const Analyses *a = shape_need(&s, AN_LOOPS);
    CHECK(a->loops.n > 0 && !a->loops.loop[1].reducible && a->loops.loop[1].header == 2);
    CHECK_EQ(a->loops.loop[1].n, MANY + 2);
    shape_close(&s);
}

// Each block has edges to its neighbours: the whole is a loop, and so is the rest without its header.
TEST(loops_two_way_chain)
{
    Shape s;
    shape_open(&s, MANY);
    emit_bra(s.fn, 1, 2);
    for (BlockId b = 2; b < MANY; b++)
        shape_branch(&s, b, b + 1, b - 1);
    emit_bra(s.fn, MANY, MANY - 1);
    const Analyses *a = shape_need(&s, AN_LOOPS);
    bool right = a->loops.n == MANY - 1;
    for (uint32_t l = 1; l < MANY; l++)
        right &= a->loops.loop[l].header == l && a->loops.loop[l].n == MANY + 1 - l && a->loops.loop[l].reducible;
    CHECK(right && loop_of(a, MANY) == MANY - 1);
    shape_close(&s);
}

// Two random jumps from each block: one large irreducible region with deeply nested loops.
TEST(loops_tangle)
{
    Shape s;
    uint64_t seed = 10;
    uint32_t n = 0, depth = 0;
    shape_open(&s, MANY);
    for (BlockId b = 1; b <= MANY; b++)
        shape_branch(&s, b, 1 + unit_random(&seed, MANY), 1 + unit_random(&seed, MANY));
    const Analyses *a = shape_need(&s, AN_LOOPS | AN_PDOM);
    for (BlockId b = 1; b <= MANY; b++) {
        n += loop_of(a, b) > 0;
        depth = MAX(depth, loop_depth(a, b));
    }
    CHECK(n > MANY / 2 && depth > 1000);
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

static Operand *target(const Shape *s, BlockId b, uint32_t k)
{
    return ir_use(s->fn, ir_instr(s->fn, ir_terminator(s->fn, b)), k);
}

static void retarget(const Shape *s, BlockId b, BlockId to, BlockId otherwise)
{
    *target(s, b, 0) = op_block(to);
    *target(s, b, 1) = op_block(otherwise);
}

TEST(loops_validity)
{
    Shape s;
    shape_open(&s, 5);  // a loop in a loop: 1 -> 2 -> 3 -> 4 -> 3, 2, 5
    shape_branch(&s, 1, 2, 2);
    emit_bra(s.fn, 2, 3);
    shape_branch(&s, 3, 4, 3);
    shape_branch(&s, 4, 5, 2);
    emit_ret(s.fn, 5);
    const Analyses *a = shape_need(&s, AN_LOOPS);
    CHECK_EQ(a->valid, AN_CFG | AN_RPO | AN_DOM | AN_LOOPS);
    CHECK_EQ(a->loops.n, 2);
    STALE(UINT32_MAX, "");
    analysis_drop(s.fn, AN_LOOPS);
    CHECK_EQ(a->valid, AN_LOOPS);
    CHECK(loop_of(a, 3) == 2 && loop_contains(a, 1, 3));
    // Swapped targets: another order, the same loops.
    retarget(&s, 4, 2, 5);
    retarget(&s, 3, 3, 4);
    STALE(UINT32_MAX, "");
    // b2 branches back to b1 instead of itself.
    retarget(&s, 3, 2, 4);
    STALE(UINT32_MAX,
          "LOOPS was kept but is out of date: the innermost loop of b2 is the loop of b1, not the loop of b2");
    // The outer loop loses its back edge; then the inner one gets an entry from b0.
    retarget(&s, 3, 3, 4);
    retarget(&s, 4, 5, 5);
    STALE(UINT32_MAX, "LOOPS was kept but is out of date: the innermost loop of b1 is none, not the loop of b1");
    retarget(&s, 4, 2, 5);
    retarget(&s, 1, 2, 3);
    STALE(UINT32_MAX, "LOOPS was kept but is out of date: the loop of b1 is irreducible");
    // b1 .. b3 become unreachable.
    retarget(&s, 1, 5, 5);
    STALE(UINT32_MAX, "LOOPS was kept but is out of date: the innermost loop of b1 is nothing, not the loop of b1");
    shape_close(&s);
}

// Each block stays in its innermost loop, but one loop is no longer in the other.
TEST(loops_validity_of_parents)
{
    Shape s;
    shape_open(&s, 4);
    emit_bra(s.fn, 1, 2);
    shape_branch(&s, 2, 2, 3);
    shape_branch(&s, 3, 3, 2);
    emit_ret(s.fn, 4);
    const Analyses *a = shape_need(&s, AN_LOOPS);
    CHECK(a->loops.n == 2 && a->loops.loop[2].parent == 1);
    retarget(&s, 3, 3, 3);
    STALE(AN_LOOPS, "LOOPS was kept but is out of date: the parent of the loop of b2 is none, not the loop of b1");
    // A block without a loop differs from an unreachable one.
    retarget(&s, 3, 3, 2);
    retarget(&s, 2, 3, 4);
    analysis_drop(s.fn, 0);
    shape_need(&s, AN_LOOPS);
    retarget(&s, 2, 3, 2);
    STALE(AN_LOOPS, "LOOPS was kept but is out of date: the innermost loop of b3 is nothing, not none");
    shape_close(&s);
}

void test_loops(void)
{
    RUN(loops_random_graphs);
    RUN(loops_small_graphs);
    RUN(loops_irreducible);
    RUN(loops_none);
    RUN(loops_deep_nest);
    RUN(loops_one_header);
    RUN(loops_many_siblings);
    RUN(loops_entered_everywhere);
    RUN(loops_crossed_ladder);
    RUN(loops_two_way_chain);
    RUN(loops_tangle);
    RUN(loops_validity);
    RUN(loops_validity_of_parents);
}
