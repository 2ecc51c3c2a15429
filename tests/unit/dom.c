// SPDX-License-Identifier: MIT
// Dominators against a naive reference, by hand, and at size; what is valid when analyses stand on each other.
#include "tests/unit/unit.h"

enum { BLOCKS = 40, TARGETS = 5 };

// A graph and its dominators by definition: a dominates b if b cannot be reached without a.
typedef struct Graph {
    uint32_t n;  // ids 1 .. n, 1 is the entry
    uint32_t nsucc[BLOCKS + 1];
    BlockId succ[BLOCKS + 1][TARGETS];
    bool reachable[BLOCKS + 1];
    bool dominates[BLOCKS + 1][BLOCKS + 1];
} Graph;

static void reach(const Graph *g, BlockId b, BlockId without, bool *seen)
{
    if (b == without || seen[b])
        return;
    seen[b] = true;
    for (uint32_t k = 0; k < g->nsucc[b]; k++)
        reach(g, g->succ[b][k], without, seen);
}

static void find_naively(Graph *g)
{
    memset(g->reachable, 0, sizeof g->reachable);
    reach(g, 1, 0, g->reachable);
    for (BlockId a = 1; a <= g->n; a++) {
        bool seen[BLOCKS + 1] = {false};
        reach(g, 1, a, seen);
        for (BlockId b = 1; b <= g->n; b++)
            g->dominates[a][b] = !g->reachable[b] || (g->reachable[a] && !seen[b]);
    }
}

// The dominator of b, other than b, that all its other dominators dominate.
static BlockId naive_idom(const Graph *g, BlockId b)
{
    BlockId idom = 0;
    for (BlockId a = 1; a <= g->n && g->reachable[b]; a++)
        if (a != b && g->dominates[a][b] && (!idom || g->dominates[idom][a]))
            idom = a;
    return idom;
}

static void build(Fixture *f, const Graph *g)
{
    Fn *fn = f->fn;
    RegId r = reg_new(fn, RF_R, W32), p = reg_new(fn, RF_P, W1);
    for (BlockId b = 1; b <= g->n; b++)
        add_block(fn, b);
    for (BlockId b = 1; b <= g->n; b++) {
        const BlockId *to = g->succ[b];
        if (g->nsucc[b] == 0)
            emit_ret(fn, b);
        else if (g->nsucc[b] == 1)
            emit_bra(fn, b, to[0]);
        else if (g->nsucc[b] == 2)
            emit_branch(fn, b, p, to[0], to[1]);
        else
            emit_brx(fn, b, r, to, g->nsucc[b]);
    }
}

// Some graphs are all tangle, some long with a few jumps back and forth.
static void random_graph(Graph *g, uint64_t *seed)
{
    memset(g, 0, sizeof *g);
    g->n = 1 + unit_random(seed, BLOCKS);
    uint32_t tangle = 1 + unit_random(seed, 16), branches = 1 + unit_random(seed, 8);
    for (BlockId b = 1; b <= g->n; b++) {
        uint32_t n = unit_random(seed, branches + 1) ? 1 : unit_random(seed, TARGETS + 1);
        g->nsucc[b] = n == 1 ? 1 + unit_random(seed, 2) : n;
        for (uint32_t k = 0; k < TARGETS; k++) {
            uint32_t near = b + 1 + unit_random(seed, 3), far = 1 + unit_random(seed, g->n);
            g->succ[b][k] = near <= g->n && unit_random(seed, tangle) ? near : far;
        }
    }
}

// Each block is the child of its immediate dominator, once.
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
}

static void check_graph(Graph *g)
{
    Fixture f;
    fixture_open(&f);
    build(&f, g);
    find_naively(g);
    CHECK_VERIFIES(f.fn);
    const Analyses *a = analysis_need(f.fn, AN_DOM);
    for (BlockId b = 1; b <= g->n; b++) {
        CHECK_EQ(a->dom.idom[b], naive_idom(g, b));
        for (BlockId c = 1; c <= g->n; c++)
            CHECK_EQ(dominates(a, b, c), g->dominates[b][c] || b == c);
    }
    check_children(g, a);
    fixture_close(&f);
}

TEST(dom_random_graphs)
{
    uint64_t seed = 1979;
    for (uint32_t round = 0; round < 5000; round++) {
        Graph g;
        unit_context("graph %u", round);
        random_graph(&g, &seed);
        check_graph(&g);
    }
}

// All graphs of three blocks with up to two edges each.
TEST(dom_small_graphs)
{
    static const uint8_t edges[][2] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {1, 1}, {1, 2}, {1, 3}, {2, 2}, {2, 3}, {3, 3}};
    enum { N = ARRAY_LEN(edges) };
    for (uint32_t k = 0; k < N * N * N; k++) {
        Graph g = {.n = 3};
        const uint8_t *of[] = {edges[k % N], edges[k / N % N], edges[k / N / N]};
        unit_context("graph %u", k);
        for (BlockId b = 1; b <= 3; b++)
            for (; g.nsucc[b] < 2 && of[b - 1][g.nsucc[b]]; g.nsucc[b]++)
                g.succ[b][g.nsucc[b]] = of[b - 1][g.nsucc[b]];
        check_graph(&g);
    }
}

// The example of Lengauer and Tarjan: R A B C D E F G H I J K L are 1 .. 13.
TEST(dom_paper)
{
    static const char *const succs[] = {"ABC", "D", "ADE", "FG", "L", "H", "I", "IJ", "EK", "K", "I", "RI", "H"};
    static const char names[] = "RABCDEFGHIJKL", idoms[] = "-RRRRRCCRRGRD";
    Graph g = {.n = 13};
    for (BlockId b = 1; b <= g.n; b++)
        for (const char *to = succs[b - 1]; *to; to++)
            g.succ[b][g.nsucc[b]++] = (BlockId)(strchr(names, *to) - names) + 1;
    check_graph(&g);
    for (BlockId b = 2; b <= g.n; b++)
        CHECK_EQ(names[naive_idom(&g, b) - 1], idoms[b - 1]);
}

TEST(dom_unreachable)
{
    Graph g = {.n = 5, .nsucc = {0, 1, 0, 1, 1, 1}, .succ = {{0}, {2}, {0}, {2}, {5}, {4}}};
    check_graph(&g);  // 3 leads to 2, 4 and 5 are a loop of their own
    CHECK_EQ(naive_idom(&g, 2), 1);
    CHECK(!g.dominates[3][2] && g.dominates[2][3] && g.dominates[4][5]);
}

/* -- Shapes at size ------------------------------------------------------------------------------------- */

enum { MANY = 100000 };

typedef struct Shape {
    Fixture f;
    Fn *fn;
    RegId r, p;
    BlockId *targets;  // room for MANY
} Shape;

static void open_shape(Shape *s, uint32_t blocks)
{
    fixture_open(&s->f);
    s->fn = s->f.fn;
    s->r = reg_new(s->fn, RF_R, W32);
    s->p = reg_new(s->fn, RF_P, W1);
    s->targets = NEW_ARRAY(&s->f.ctx.arena, BlockId, MANY);
    for (uint32_t k = 1; k <= blocks; k++)
        add_block(s->fn, k);
}

// To the n blocks from `first` on.
static void emit_switch(Shape *s, BlockId b, BlockId first, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        s->targets[k] = first + k;
    emit_brx(s->fn, b, s->r, s->targets, n);
}

static const Analyses *find_dominators(Shape *s)
{
    CHECK_VERIFIES(s->fn);
    return analysis_need(s->fn, AN_DOM);
}

TEST(dom_long_chain)
{
    Shape s;
    open_shape(&s, MANY);
    for (BlockId b = 1; b < MANY; b++)
        emit_bra(s.fn, b, b + 1);
    emit_ret(s.fn, MANY);
    const Analyses *a = find_dominators(&s);
    bool right = dominates(a, 1, MANY) && !dominates(a, MANY, 1) && dominates(a, MANY / 2, MANY / 2);
    for (BlockId b = 2; b <= MANY; b++)
        right &= a->dom.idom[b] == b - 1 && dominates(a, b - 1, b) && !dominates(a, b, b - 1) && dom_child(a, b - 1);
    CHECK(right);
    fixture_close(&s.f);
}

// A switch to many blocks that all go to the same one.
TEST(dom_wide_switch_and_join)
{
    Shape s;
    open_shape(&s, MANY + 2);
    emit_switch(&s, 1, 2, MANY);
    for (BlockId b = 2; b < MANY + 2; b++)
        emit_bra(s.fn, b, MANY + 2);
    emit_ret(s.fn, MANY + 2);
    const Analyses *a = find_dominators(&s);
    bool right = true;
    uint32_t children = 0;
    for (BlockId b = 2; b <= MANY + 2; b++)
        right &= a->dom.idom[b] == 1 && dominates(a, 1, b) && dominates(a, 2, b) == (b == 2);
    for (BlockId c = dom_child(a, 1); c; c = dom_sibling(a, c))
        children++;
    CHECK(right);
    CHECK_EQ(children, MANY + 1);
    fixture_close(&s.f);
}

// Two rails down, each block to the next of both: the entry dominates all at once.
TEST(dom_crossed_ladder)
{
    Shape s;
    open_shape(&s, MANY + 2);
    for (BlockId b = 1; b <= MANY; b++)
        emit_branch(s.fn, b, s.p, b + 1 + b % 2, b + 2 + b % 2);
    emit_ret(s.fn, MANY + 1);
    emit_ret(s.fn, MANY + 2);
    const Analyses *a = find_dominators(&s);
    bool right = true;
    for (BlockId b = 3; b <= MANY + 2; b++)
        right &= a->dom.idom[b] == 1;
    CHECK(right);
    CHECK_EQ(a->dom.size[2], 0);
    fixture_close(&s.f);
}

// Down on the left (1 .. n), over each rung, up on the right (n + 1 .. 2n): a rung's left end dominates its right.
TEST(dom_ladder_down_and_up)
{
    enum { N = MANY };
    Shape s;
    open_shape(&s, 2 * N);
    for (BlockId b = 1; b < N; b++)
        emit_branch(s.fn, b, s.p, b + 1, N + b);
    emit_bra(s.fn, N, 2 * N);
    emit_ret(s.fn, N + 1);
    for (BlockId b = N + 2; b <= 2 * N; b++)
        emit_bra(s.fn, b, b - 1);
    const Analyses *a = find_dominators(&s);
    bool right = true;
    for (BlockId b = 2; b <= N; b++)
        right &= a->dom.idom[b] == b - 1 && a->dom.idom[N + b] == b;
    CHECK(right);
    CHECK_EQ(a->dom.idom[N + 1], 1);
    fixture_close(&s.f);
}

// A long chain that ends in a switch to leaves which the entry leads to as well: each leaf's way up is long.
TEST(dom_leaves_of_a_chain)
{
    enum { N = MANY / 2 };
    Shape s;
    open_shape(&s, 2 * N + 1);
    s.targets[0] = 2;  // the chain 2 .. N + 1, behind it the leaves
    for (BlockId b = 1; b <= N; b++)
        s.targets[b] = N + 1 + b;
    emit_brx(s.fn, 1, s.r, s.targets, N + 1);
    for (BlockId b = 2; b <= N; b++)
        emit_bra(s.fn, b, b + 1);
    emit_switch(&s, N + 1, N + 2, N);
    for (BlockId b = N + 2; b <= 2 * N + 1; b++)
        emit_ret(s.fn, b);
    const Analyses *a = find_dominators(&s);
    bool right = true;
    for (BlockId b = 3; b <= N + 1; b++)
        right &= a->dom.idom[b] == b - 1;
    for (BlockId b = N + 2; b <= 2 * N + 1; b++)
        right &= a->dom.idom[b] == 1;
    CHECK(right);
    fixture_close(&s.f);
}

// Loops in loops: each block of the way down may go on, each of the way up back to its partner.
TEST(dom_nested_loops)
{
    enum { N = MANY };
    Shape s;
    open_shape(&s, 2 * N);
    for (BlockId b = 1; b < N; b++)
        emit_bra(s.fn, b, b + 1);
    emit_bra(s.fn, N, N + 1);
    for (BlockId b = N + 1; b < 2 * N; b++)
        emit_branch(s.fn, b, s.p, 2 * N + 1 - b, b + 1);
    emit_ret(s.fn, 2 * N);
    const Analyses *a = find_dominators(&s);
    bool right = true;
    for (BlockId b = 2; b <= 2 * N; b++)
        right &= a->dom.idom[b] == b - 1;
    CHECK(right);
    fixture_close(&s.f);
}

/* -- Validity ------------------------------------------------------------------------------------------- */

typedef struct Diamond {
    Fixture f;
    Fn *fn;
    InstrId branch, left;
} Diamond;

// b0: to b1 or b2; both to b3.
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
    // What it is built on goes, unless it is kept; it stays if it is kept.
    analysis_drop(d.fn, AN_DOM);
    CHECK_EQ(a->valid, AN_DOM);
    CHECK_EQ(a->arena[AX_CFG].size + a->arena[AX_RPO].size, 0);
    CHECK(dominates(a, 1, 4) && !dominates(a, 2, 4));
    // Asking for it brings back the rest, and does not compute it again.
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
    // Others of the same function, apart from those that it keeps.
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

// Dropping and computing a part again takes no more memory each time.
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
    unit_check_eq(ok, !expected[0], __FILE__, line, "analysis_check() says what the text says");
}
#define STALE(mask, expected) check_stale(d.fn, (mask), (expected), __LINE__)

TEST(analysis_check_stale)
{
    Diamond d;
    open_diamond(&d);
    STALE(UINT32_MAX, "");  // there are none
    analysis_need(d.fn, AN_DOM);
    STALE(UINT32_MAX, "");
    // b1 goes to b2.
    *target(&d, d.left, 0) = op_block(3);
    STALE(UINT32_MAX, "CFG was kept but is out of date: b1 has other successors");
    STALE(AN_RPO, "RPO was kept but is out of date: b2 stands where b1 should");
    STALE(AN_DOM, "DOM was kept but is out of date: the immediate dominator of b3 is b2, not b0");
    STALE(0, "");
    analysis_drop(d.fn, AN_DOM);
    STALE(AN_CFG | AN_RPO, "");  // what is not valid is no matter
    STALE(UINT32_MAX, "DOM was kept but is out of date: the immediate dominator of b3 is b2, not b0");
    // A block falls out.
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

// The targets of a branch change places: other edges, another order, the same dominators.
TEST(analysis_check_kept_alone)
{
    Diamond d;
    open_diamond(&d);
    analysis_need(d.fn, AN_DOM);
    *target(&d, d.branch, 0) = op_block(3);
    *target(&d, d.branch, 1) = op_block(2);
    STALE(AN_CFG, "CFG was kept but is out of date: b0 has other successors");
    analysis_drop(d.fn, AN_DOM);
    STALE(UINT32_MAX, "");
    analysis_need(d.fn, AN_DOM);
    STALE(UINT32_MAX, "");
    fixture_close(&d.f);
}

// Another layout gives the predecessors another order, which is no difference; losing one is.
TEST(analysis_check_layout)
{
    Diamond d;
    open_diamond(&d);
    const Analyses *a = analysis_need(d.fn, AN_DOM);
    block_unlink(d.fn, 2);
    block_append(d.fn, 2);
    STALE(UINT32_MAX, "");
    a->preds.at[a->preds.first[4]] = 3;
    STALE(AN_CFG, "CFG was kept but is out of date: b3 has other predecessors");
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
