// SPDX-License-Identifier: MIT
// Tests dominators against a naive reference, on small examples, and on large functions; and the validity of dependent
// analyses.
#include "tests/unit/graph.h"

// Dominators by definition: a dominates b if b cannot be reached without a.
typedef struct Reference {
    Blocks reachable;
    Blocks reached_without[GRAPH_BLOCKS + 1];  // by block
} Reference;

static void find_naively(Reference *r, const Graph *g)
{
    Blocks all = graph_all(g);
    r->reachable = graph_reach(g, bit(1), all);
    for (BlockId a = 1; a <= g->n; a++)
        r->reached_without[a] = graph_reach(g, bit(1), all & ~bit(a));
}

static bool naively_dominates(const Reference *r, BlockId a, BlockId b)
{
    return a == b || !has(r->reachable, b) || (has(r->reachable, a) && !has(r->reached_without[a], b));
}

// Returns the immediate dominator of b: the strict dominator that all other strict dominators dominate.
static BlockId naive_idom(const Reference *r, BlockId b)
{
    BlockId idom = 0;
    for (BlockId a = 1; a <= GRAPH_BLOCKS && has(r->reachable, b); a++)
        if (a != b && has(r->reachable, a) && naively_dominates(r, a, b) && (!idom || naively_dominates(r, idom, a)))
            idom = a;
    return idom;
}

// Checks that each block is a child of its immediate dominator exactly once.
static void check_children(const Graph *g, const Analyses *a)
{
    uint32_t n = 0;
    for (BlockId b = 1; b <= g->n; b++)
        for (BlockId c = dom_child(a, b), last = 0; c && n <= g->n; last = c, c = dom_sibling(a, c), n++) {
            CHECK_EQ(a->dom.idom[c], b);
            CHECK(!last || a->rpo_index[last] < a->rpo_index[c]);
        }
    CHECK_EQ(n, a->nrpo - 1);
    CHECK_EQ(dom_sibling(a, 1), 0);
    CHECK_EQ(a->dom.order[0], 1);
    CHECK(!dominates(a, 0, 1));
}

static void check_graph(const Graph *g, Reference *r)
{
    Fixture f;
    fixture_open(&f);
    graph_build(&f, g);
    find_naively(r, g);
    CHECK_VERIFIES(f.fn);
    const Analyses *a = analysis_need(f.fn, AN_DOM);
    for (BlockId b = 1; b <= g->n; b++) {
        CHECK_EQ(a->dom.idom[b], naive_idom(r, b));
        for (BlockId c = 1; c <= g->n; c++)
            CHECK_EQ(dominates(a, b, c), naively_dominates(r, b, c));
    }
    check_children(g, a);
    fixture_close(&f);
}

TEST(dom_random_graphs)
{
    uint64_t seed = 1979;
    for (uint32_t round = 0; round < 5000; round++) {
        Graph g;
        Reference r;
        unit_context("graph %u", round);
        graph_random(&g, &seed);
        check_graph(&g, &r);
    }
}

// All graphs of three blocks with up to two edges each.
TEST(dom_small_graphs)
{
    static const uint8_t edges[][2] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {1, 1}, {1, 2}, {1, 3}, {2, 2}, {2, 3}, {3, 3}};
    enum { N = ARRAY_LEN(edges) };
    for (uint32_t k = 0; k < N * N * N; k++) {
        Graph g = {.n = 3};
        Reference r;
        const uint8_t *of[] = {edges[k % N], edges[k / N % N], edges[k / N / N]};
        unit_context("graph %u", k);
        for (BlockId b = 1; b <= 3; b++)
            for (; g.nsucc[b] < 2 && of[b - 1][g.nsucc[b]]; g.nsucc[b]++)
                g.succ[b][g.nsucc[b]] = of[b - 1][g.nsucc[b]];
        check_graph(&g, &r);
    }
}

// The example of Lengauer and Tarjan: R A B C D E F G H I J K L are 1 .. 13.
TEST(dom_paper)
{
    static const char *const succs[] = {"ABC", "D", "ADE", "FG", "L", "H", "I", "IJ", "EK", "K", "I", "RI", "H"};
    static const char names[] = "RABCDEFGHIJKL", idoms[] = "-RRRRRCCRRGRD";
    Graph g = {.n = 13};
    Reference r;
    for (BlockId b = 1; b <= g.n; b++)
        for (const char *to = succs[b - 1]; *to; to++)
            g.succ[b][g.nsucc[b]++] = (BlockId)(strchr(names, *to) - names) + 1;
    check_graph(&g, &r);
    for (BlockId b = 2; b <= g.n; b++)
        CHECK_EQ(names[naive_idom(&r, b) - 1], idoms[b - 1]);
}

TEST(dom_unreachable)
{
    Graph g = {.n = 5, .nsucc = {0, 1, 0, 1, 1, 1}, .succ = {{0}, {2}, {0}, {2}, {5}, {4}}};
    Reference r;
    check_graph(&g, &r);  // 3 has an edge to 2; 4 and 5 are an unreachable loop
    CHECK_EQ(naive_idom(&r, 2), 1);
    CHECK(!naively_dominates(&r, 3, 2) && naively_dominates(&r, 2, 3) && naively_dominates(&r, 4, 5));
}

/* -- Shapes at size ------------------------------------------------------------------------------------- */

TEST(dom_long_chain)
{
    Shape s;
    shape_open(&s, MANY);
    for (BlockId b = 1; b < MANY; b++)
        emit_bra(s.fn, b, b + 1);
    emit_ret(s.fn, MANY);
    const Analyses *a = shape_need(&s, AN_DOM);
    bool right = dominates(a, 1, MANY) && !dominates(a, MANY, 1) && dominates(a, MANY / 2, MANY / 2);
    for (BlockId b = 2; b <= MANY; b++)
        right &= a->dom.idom[b] == b - 1 && dominates(a, b - 1, b) && !dominates(a, b, b - 1) && dom_child(a, b - 1);
    CHECK(right);
    shape_close(&s);
}

// A switch to many blocks that all go to the same one.
TEST(dom_wide_switch_and_join)
{
    Shape s;
    shape_open(&s, MANY + 2);
    shape_switch(&s, 1, 2, MANY);
    for (BlockId b = 2; b < MANY + 2; b++)
        emit_bra(s.fn, b, MANY + 2);
    emit_ret(s.fn, MANY + 2);
    const Analyses *a = shape_need(&s, AN_DOM);
    bool right = true;
    uint32_t children = 0;
    for (BlockId b = 2; b <= MANY + 2; b++)
        right &= a->dom.idom[b] == 1 && dominates(a, 1, b) && dominates(a, 2, b) == (b == 2);
    for (BlockId c = dom_child(a, 1); c; c = dom_sibling(a, c))
        children++;
    CHECK(right);
    CHECK_EQ(children, MANY + 1);
    shape_close(&s);
}

// Two chains, with edges from each block to the next blocks of both: the entry is the immediate dominator of all.
TEST(dom_crossed_ladder)
{
    Shape s;
    shape_open(&s, MANY + 2);
    for (BlockId b = 1; b <= MANY; b++)
        shape_branch(&s, b, b + 1 + b % 2, b + 2 + b % 2);
    emit_ret(s.fn, MANY + 1);
    emit_ret(s.fn, MANY + 2);
    const Analyses *a = shape_need(&s, AN_DOM);
    bool right = true;
    for (BlockId b = 3; b <= MANY + 2; b++)
        right &= a->dom.idom[b] == 1;
    CHECK(right);
    CHECK_EQ(a->dom.size[2], 0);
    shape_close(&s);
}

// A ladder, down on the left (1 .. n), over the rungs, up on the right (n + 1 .. 2n): the left end of a rung dominates
// its right end.
TEST(dom_ladder_down_and_up)
{
    enum { N = MANY };
    Shape s;
    shape_open(&s, 2 * N);
    for (BlockId b = 1; b < N; b++)
        shape_branch(&s, b, b + 1, N + b);
    emit_bra(s.fn, N, 2 * N);
    emit_ret(s.fn, N + 1);
    for (BlockId b = N + 2; b <= 2 * N; b++)
        emit_bra(s.fn, b, b - 1);
    const Analyses *a = shape_need(&s, AN_DOM);
    bool right = true;
    for (BlockId b = 2; b <= N; b++)
        right &= a->dom.idom[b] == b - 1 && a->dom.idom[N + b] == b;
    CHECK(right);
    CHECK_EQ(a->dom.idom[N + 1], 1);
    shape_close(&s);
}

// A long chain that ends in a switch to leaves, which the entry also branches to: paths from the leaves to the root are
// long.
TEST(dom_leaves_of_a_chain)
{
    enum { N = MANY / 2 };
    Shape s;
    shape_open(&s, 2 * N + 1);
    s.targets[0] = 2;  // the chain 2 .. N + 1, then the leaves
    for (BlockId b = 1; b <= N; b++)
        s.targets[b] = N + 1 + b;
    emit_brx(s.fn, 1, s.r, s.targets, N + 1);
    for (BlockId b = 2; b <= N; b++)
        emit_bra(s.fn, b, b + 1);
    shape_switch(&s, N + 1, N + 2, N);
    for (BlockId b = N + 2; b <= 2 * N + 1; b++)
        emit_ret(s.fn, b);
    const Analyses *a = shape_need(&s, AN_DOM);
    bool right = true;
    for (BlockId b = 3; b <= N + 1; b++)
        right &= a->dom.idom[b] == b - 1;
    for (BlockId b = N + 2; b <= 2 * N + 1; b++)
        right &= a->dom.idom[b] == 1;
    CHECK(right);
    shape_close(&s);
}

// Nested loops: each block of the way down continues, each block of the way up may branch back to its partner.
TEST(dom_nested_loops)
{
    enum { N = MANY };
    Shape s;
    shape_open(&s, 2 * N);
    for (BlockId b = 1; b < N; b++)
        emit_bra(s.fn, b, b + 1);
    emit_bra(s.fn, N, N + 1);
    for (BlockId b = N + 1; b < 2 * N; b++)
        shape_branch(&s, b, 2 * N + 1 - b, b + 1);
    emit_ret(s.fn, 2 * N);
    const Analyses *a = shape_need(&s, AN_DOM);
    bool right = true;
    for (BlockId b = 2; b <= 2 * N; b++)
        right &= a->dom.idom[b] == b - 1;
    CHECK(right);
    shape_close(&s);
}

/* -- Validity ------------------------------------------------------------------------------------------- */

typedef struct Diamond {
    Fixture f;
    Fn *fn;
    InstrId branch, left;
} Diamond;

// Makes a diamond: b0 to b1 or b2; both to b3.
static void open_diamond(Diamond *d)
{
    fixture_open(&d->f);
    d->fn = d->f.fn;
    RegId p = reg_new(d->fn, RF_P, W1);
    for (uint32_t k = 0; k < 4; k++)
        add_block(d->fn, k);
    d->branch = emit_branch(d->fn, 1, p, 2, 3);
    d->left = emit_bra(d->fn, 2, 4);
    emit_bra(d->fn, 3, 4);
    emit_ret(d->fn, 4);
}

static Operand *target(const Diamond *d, InstrId i, uint32_t k) { return ir_use(d->fn, ir_instr(d->fn, i), k); }

TEST(dom_validity)
{
    Diamond d;
    open_diamond(&d);
    const Analyses *a = analysis_need(d.fn, AN_DOM);
    CHECK_EQ(a->valid, AN_CFG | AN_RPO | AN_DOM);
    CHECK_EQ(a->dom.idom[4], 1);
    BlockId *idom = a->dom.idom;
    // The analyses it needs are dropped unless they are kept; the analysis itself stays if it is kept.
    analysis_drop(d.fn, AN_DOM);
    CHECK_EQ(a->valid, AN_DOM);
    CHECK_EQ(a->arena[AX_CFG].size + a->arena[AX_RPO].size, 0);
    CHECK(dominates(a, 1, 4) && !dominates(a, 2, 4));
    // A request computes the dropped analyses again, but not the kept one.
    analysis_need(d.fn, AN_DOM);
    CHECK_EQ(a->valid, AN_CFG | AN_RPO | AN_DOM);
    CHECK(a->dom.idom == idom);
    BlockId *edges = a->succs.at;
    analysis_drop(d.fn, AN_CFG);
    CHECK_EQ(a->valid, AN_CFG);
    CHECK(a->succs.at == edges && a->succs.at[0] == 2);
    *target(&d, d.left, 0) = op_block(3);
    analysis_drop(d.fn, 0);
    analysis_need(d.fn, AN_DOM);
    CHECK_EQ(a->dom.idom[4], 3);
    // Separate analyses of the same function, apart from its own.
    Analyses own;
    *target(&d, d.left, 0) = op_block(4);
    analysis_init(&own, d.fn->arena.heap);
    analysis_compute(d.fn, &own, AN_DOM);
    CHECK_EQ(own.valid, AN_CFG | AN_RPO | AN_DOM);
    CHECK_EQ(own.dom.idom[4], 1);
    CHECK_EQ(a->dom.idom[4], 3);
    analysis_free(&own);
    CHECK_EQ(own.valid, 0);
    fixture_close(&d.f);
}

// Dropping and computing a part again needs no additional memory.
TEST(dom_memory)
{
    Diamond d;
    open_diamond(&d);
    analysis_need(d.fn, AN_DOM);
    size_t before = d.f.ctx.heap.used;
    for (uint32_t keep = 0; keep < 1 << ANALYSIS_COUNT; keep++)
        for (int k = 0; k < 100; k++) {
            analysis_drop(d.fn, keep);
            analysis_need(d.fn, AN_DOM);
        }
    CHECK_EQ(d.f.ctx.heap.used, before);
    fixture_close(&d.f);
}

static void check_stale(const Fn *fn, uint32_t mask, const char *expected, int line)
{
    char why[200];
    bool ok = analysis_check(fn, mask, why);
    unit_check_text(why, SIZE_MAX, expected, __FILE__, line);
    unit_check_eq(ok, !expected[0], __FILE__, line, "analysis_check() reports this text");
}
#define STALE(mask, expected) check_stale(d.fn, (mask), (expected), __LINE__)

TEST(analysis_check_stale)
{
    Diamond d;
    open_diamond(&d);
    STALE(UINT32_MAX, "");  // no analyses yet
    analysis_need(d.fn, AN_DOM);
    STALE(UINT32_MAX, "");
    // b1 branches to b2.
    *target(&d, d.left, 0) = op_block(3);
    STALE(UINT32_MAX, "CFG was kept but is out of date: b1 has different successors");
    STALE(AN_RPO, "RPO was kept but is out of date: the order has b2 in place of b1");
    STALE(AN_DOM, "DOM was kept but is out of date: the immediate dominator of b3 is b2, not b0");
    STALE(0, "");
    analysis_drop(d.fn, AN_DOM);
    STALE(AN_CFG | AN_RPO, "");  // invalid analyses are not checked
    STALE(UINT32_MAX, "DOM was kept but is out of date: the immediate dominator of b3 is b2, not b0");
    // A block becomes unreachable.
    *target(&d, d.left, 0) = op_block(2);
    *target(&d, d.branch, 1) = op_block(2);
    analysis_drop(d.fn, 0);
    analysis_need(d.fn, AN_DOM);
    *target(&d, d.left, 0) = op_block(4);
    STALE(AN_RPO, "RPO was kept but is out of date: 3 blocks are reachable, not 2");
    STALE(AN_DOM, "DOM was kept but is out of date: the immediate dominator of b3 is b1, not nothing");
    fixture_close(&d.f);
}

TEST(analysis_check_new_block)
{
    Diamond d;
    open_diamond(&d);
    analysis_need(d.fn, AN_DOM);
    block_new(d.fn);
    STALE(AN_CFG, "CFG was kept but is out of date: there are new blocks");
    STALE(AN_DOM, "DOM was kept but is out of date: there are new blocks");
    fixture_close(&d.f);
}

// Swapped targets of a branch: other edges, another order, the same dominators.
TEST(analysis_check_kept_alone)
{
    Diamond d;
    open_diamond(&d);
    analysis_need(d.fn, AN_DOM);
    *target(&d, d.branch, 0) = op_block(3);
    *target(&d, d.branch, 1) = op_block(2);
    STALE(AN_CFG, "CFG was kept but is out of date: b0 has different successors");
    analysis_drop(d.fn, AN_DOM);
    STALE(UINT32_MAX, "");
    analysis_need(d.fn, AN_DOM);
    STALE(UINT32_MAX, "");
    fixture_close(&d.f);
}

// Another layout reorders the predecessors, which is no difference; a lost one is.
TEST(analysis_check_layout)
{
    Diamond d;
    open_diamond(&d);
    const Analyses *a = analysis_need(d.fn, AN_DOM);
    block_unlink(d.fn, 2);
    block_append(d.fn, 2);
    STALE(UINT32_MAX, "");
    a->preds.at[a->preds.first[4]] = 3;
    STALE(AN_CFG, "CFG was kept but is out of date: b3 has different predecessors");
    STALE(AN_DOM, "");
    fixture_close(&d.f);
}

void test_dom(void)
{
    RUN(dom_random_graphs);
    RUN(dom_small_graphs);
    RUN(dom_paper);
    RUN(dom_unreachable);
    RUN(dom_long_chain);
    RUN(dom_wide_switch_and_join);
    RUN(dom_crossed_ladder);
    RUN(dom_ladder_down_and_up);
    RUN(dom_leaves_of_a_chain);
    RUN(dom_nested_loops);
    RUN(dom_validity);
    RUN(dom_memory);
    RUN(analysis_check_stale);
    RUN(analysis_check_new_block);
    RUN(analysis_check_kept_alone);
    RUN(analysis_check_layout);
}
