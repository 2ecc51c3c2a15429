// SPDX-License-Identifier: MIT
// Tests control-flow graph and reverse postorder against a naive reference, with large functions, and the validity of
// analyses.
#include "tests/unit/unit.h"

enum { BLOCKS = 40, TARGETS = 6 };

// A random graph by BlockId.
typedef struct Graph {
    uint32_t n;  // ids 1 .. n
    uint32_t nsucc[BLOCKS + 1];
    BlockId succ[BLOCKS + 1][TARGETS];
    uint32_t nrpo;
    BlockId order[BLOCKS];  // postorder while visiting
    bool seen[BLOCKS + 1];
} Graph;

static void build_random(Fixture *f, Graph *g, uint64_t *seed)
{
    Fn *fn = f->fn;
    RegId r = reg_new(fn, RF_R, W32), p = reg_new(fn, RF_P, W1);
    memset(g, 0, sizeof *g);
    g->n = 1 + unit_random(seed, BLOCKS);
    for (uint32_t k = 0; k < g->n; k++)
        block_new(fn);
    // The layout is random: a block is inserted first, last, or after an inserted one.
    block_append(fn, 1 + unit_random(seed, g->n));
    for (BlockId b = 1; b <= g->n; b++) {
        if (b == fn->first || ir_block(fn, b)->prev)
            continue;
        BlockId where = unit_random(seed, 4) ? fn->last : fn->first;
        block_insert_after(fn, b, unit_random(seed, 8) ? where : 0);
    }
    for (BlockId b = 1; b <= g->n; b++) {
        BlockId *to = g->succ[b];
        uint32_t kind = unit_random(seed, 10);
        g->nsucc[b] = kind < 2 ? 0 : kind < 5 ? 1 : kind < 8 ? 2 : 1 + unit_random(seed, TARGETS);
        for (uint32_t k = 0; k < TARGETS; k++)
            to[k] = unit_random(seed, 6) ? 1 + unit_random(seed, g->n) : k ? to[k - 1] : b;
        if (kind < 2)
            emit_ret(fn, b);
        else if (kind < 5)
            emit_bra(fn, b, to[0]);
        else if (kind < 8)
            emit_branch(fn, b, p, to[0], to[1]);
        else
            emit_brx(fn, b, r, to, g->nsucc[b]);
    }
}

static void visit(Graph *g, BlockId b)
{
    g->seen[b] = true;
    for (uint32_t k = 0; k < g->nsucc[b]; k++)
        if (!g->seen[g->succ[b][k]])
            visit(g, g->succ[b][k]);
    g->order[g->nrpo++] = b;
}

static void check_helpers(const Analyses *a, BlockId b)
{
    uint32_t n = 0;
    FOR_PREDS(a, b, p)
        CHECK_EQ(*p, a->preds.at[a->preds.first[b] + n++]);
    CHECK_EQ(pred_count(a, b), n);
    CHECK_EQ(only_pred(a, b), n == 1 ? a->preds.at[a->preds.first[b]] : 0);
    n = 0;
    FOR_SUCCS(a, b, s)
        CHECK_EQ(*s, a->succs.at[a->succs.first[b] + n++]);
    CHECK_EQ(succ_count(a, b), n);
    CHECK_EQ(only_succ(a, b), n == 1 ? a->succs.at[a->succs.first[b]] : 0);
}

static void check_graph(const Fn *fn, Graph *g, const Analyses *a)
{
    for (BlockId b = 1; b <= g->n; b++) {
        uint32_t first = a->succs.first[b];
        CHECK_EQ(a->succs.first[b + 1] - first, g->nsucc[b]);
        CHECK(memcmp(a->succs.at + first, g->succ[b], g->nsucc[b] * sizeof(BlockId)) == 0);
        // Predecessors: one entry for each edge, in layout order.
        uint32_t at = a->preds.first[b];
        FOR_BLOCKS(fn, from)
            for (uint32_t k = 0; k < g->nsucc[from]; k++)
                if (g->succ[from][k] == b && CHECK(at < a->preds.first[b + 1]))
                    CHECK_EQ(a->preds.at[at++], from);
        CHECK_EQ(at, a->preds.first[b + 1]);
        check_helpers(a, b);
    }
    visit(g, fn->first);
    CHECK_EQ(a->nrpo, g->nrpo);
    for (uint32_t k = 0; k < g->nrpo; k++)
        CHECK_EQ(a->rpo[k], g->order[g->nrpo - 1 - k]);
    for (BlockId b = 1; b <= g->n; b++)
        if (!g->seen[b])
            CHECK_EQ(a->rpo_index[b], UINT32_MAX);
        else if (CHECK(a->rpo_index[b] < a->nrpo))
            CHECK_EQ(a->rpo[a->rpo_index[b]], b);
}

TEST(cfg_random_graphs)
{
    uint64_t seed = 2024;
    for (uint32_t round = 0; round < 2000; round++) {
        Fixture f;
        Graph g;
        unit_context("graph %u", round);
        fixture_open(&f);
        build_random(&f, &g, &seed);
        CHECK_VERIFIES(f.fn);
        check_graph(f.fn, &g, analysis_need(f.fn, AN_RPO));
        fixture_close(&f);
    }
}

TEST(cfg_one_block)
{
    Fixture f;
    fixture_open(&f);
    BlockId b = add_block(f.fn, 0);
    emit_bra(f.fn, b, b);
    const Analyses *a = analysis_need(f.fn, AN_RPO);
    CHECK_EQ(a->nrpo, 1);
    CHECK_EQ(a->rpo[0], b);
    CHECK_EQ(a->preds.at[a->preds.first[b]], b);
    fixture_close(&f);
}

// Unlinked blocks have no edges.
TEST(cfg_unlinked_blocks)
{
    Fixture f;
    fixture_open(&f);
    Fn *fn = f.fn;
    BlockId b1 = add_block(fn, 0), b2 = add_block(fn, 1), b3 = add_block(fn, 2);
    emit_bra(fn, b1, b3);
    emit_bra(fn, b2, b3);
    emit_ret(fn, b3);
    ir_remove(fn, ir_terminator(fn, b2));
    block_unlink(fn, b2);
    const Analyses *a = analysis_need(fn, AN_RPO);
    CHECK_EQ(succ_count(a, b2), 0);
    CHECK_EQ(pred_count(a, b3), 1);
    CHECK_EQ(a->rpo_index[b2], UINT32_MAX);
    CHECK_EQ(a->nrpo, 2);
    fixture_close(&f);
}

TEST(cfg_long_chain)
{
    enum { N = 200000 };
    Fixture f;
    fixture_open(&f);
    Fn *fn = f.fn;
    for (uint32_t k = 1; k <= N; k++)
        add_block(fn, k);
    for (BlockId b = 1; b < N; b++)
        emit_bra(fn, b, b + 1);
    emit_ret(fn, N);
    const Analyses *a = analysis_need(fn, AN_RPO);
    CHECK_EQ(a->nrpo, N);
    bool same = true;
    for (BlockId b = 1; b <= N; b++)
        same &= a->rpo[b - 1] == b && a->rpo_index[b] == b - 1;
    for (BlockId b = 2; b <= N; b++)
        same &= only_pred(a, b) == b - 1;
    CHECK(same);
    CHECK_VERIFIES(fn);
    fixture_close(&f);
}

TEST(cfg_wide_brx)
{
    enum { N = 100000 };
    static BlockId targets[N];
    Fixture f;
    fixture_open(&f);
    Fn *fn = f.fn;
    RegId r = reg_new(fn, RF_R, W32);
    BlockId entry = add_block(fn, 0);
    for (uint32_t k = 0; k < N; k++)
        targets[k] = add_block(fn, k + 1);
    BlockId end = add_block(fn, N + 1);
    emit_brx(fn, entry, r, targets, N);
    for (uint32_t k = 0; k < N; k++)
        emit_bra(fn, targets[k], end);
    emit_ret(fn, end);
    CHECK_VERIFIES(fn);
    const Analyses *a = analysis_need(fn, AN_RPO);
    CHECK_EQ(a->nrpo, N + 2);
    CHECK_EQ(succ_count(a, entry), N);
    CHECK_EQ(pred_count(a, end), N);
    // The last target comes first, the end last.
    CHECK_EQ(a->rpo[1], targets[N - 1]);
    CHECK_EQ(a->rpo[N], targets[0]);
    CHECK_EQ(a->rpo[N + 1], end);
    fixture_close(&f);
}

TEST(analysis_validity)
{
    Fixture f;
    fixture_open(&f);
    Fn *fn = f.fn;
    analysis_drop(fn, 0);  // nothing to drop yet
    BlockId b1 = add_block(fn, 0), b2 = add_block(fn, 1), b3 = add_block(fn, 2);
    InstrId jump = emit_bra(fn, b1, b2);
    emit_bra(fn, b2, b3);
    emit_ret(fn, b3);
    const Analyses *a = analysis_need(fn, 0);
    CHECK_EQ(a->valid, 0);
    analysis_need(fn, AN_CFG);
    CHECK_EQ(a->valid, AN_CFG);
    CHECK(analysis_need(fn, AN_RPO) == a);
    CHECK_EQ(a->valid, AN_CFG | AN_RPO);
    CHECK_EQ(a->nrpo, 3);
    // Valid analyses are not computed again.
    BlockId *rpo = a->rpo, *edges = a->succs.at;
    analysis_need(fn, AN_CFG | AN_RPO);
    CHECK(a->rpo == rpo && a->succs.at == edges);
    // A dropped analysis is computed again.
    *ir_use(fn, ir_instr(fn, jump), 0) = op_block(b3);
    analysis_drop(fn, UINT32_MAX);
    CHECK_EQ(a->valid, AN_CFG | AN_RPO);
    analysis_drop(fn, 0);
    CHECK_EQ(a->valid, 0);
    CHECK_EQ(a->arena[AX_CFG].size + a->arena[AX_RPO].size, 0);
    analysis_need(fn, AN_RPO);
    CHECK_EQ(a->nrpo, 2);
    CHECK_EQ(a->rpo_index[b2], UINT32_MAX);
    // Dropping the order keeps the edges.
    edges = a->succs.at;
    analysis_drop(fn, AN_CFG);
    CHECK_EQ(a->valid, AN_CFG);
    analysis_need(fn, AN_RPO);
    CHECK(a->succs.at == edges);
    CHECK_EQ(a->nrpo, 2);
    // Dropped edges are computed again on request.
    *ir_use(fn, ir_instr(fn, jump), 0) = op_block(b2);
    analysis_drop(fn, AN_RPO);
    analysis_need(fn, AN_CFG);
    CHECK_EQ(a->succs.at[a->succs.first[b1]], b2);
    fixture_close(&f);
}

// Dropping and computing again needs no additional memory.
TEST(analysis_memory)
{
    Fixture f;
    fixture_open(&f);
    Fn *fn = f.fn;
    for (uint32_t k = 1; k <= 1000; k++)
        add_block(fn, k);
    for (BlockId b = 1; b < 1000; b++)
        emit_bra(fn, b, b + 1);
    emit_ret(fn, 1000);
    analysis_need(fn, AN_RPO);
    analysis_drop(fn, 0);
    size_t before = f.ctx.heap.used;
    for (int k = 0; k < 100; k++) {
        analysis_need(fn, AN_RPO);
        analysis_drop(fn, 0);
    }
    CHECK_EQ(f.ctx.heap.used, before);
    fixture_close(&f);
}

// Slot 3 makes its analyses valid.
TEST(cfg_analyze_control_flow)
{
    Fixture f;
    fixture_open(&f);
    add_block(f.fn, 1);
    emit_ret(f.fn, 1);
    CHECK(!phase_analyze_control_flow(&f.ctx, f.fn));
    CHECK_EQ(f.fn->analyses->valid, AN_FLOW);
    CHECK_EQ(f.fn->analyses->nrpo, 1);
    fixture_close(&f);
}

void test_cfg(void)
{
    RUN(cfg_analyze_control_flow);
    RUN(cfg_random_graphs);
    RUN(cfg_one_block);
    RUN(cfg_unlinked_blocks);
    RUN(cfg_long_chain);
    RUN(cfg_wide_brx);
    RUN(analysis_validity);
    RUN(analysis_memory);
}
