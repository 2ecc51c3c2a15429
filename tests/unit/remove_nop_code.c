// SPDX-License-Identifier: MIT
// Tests OriRemoveNopCode: moves of a register to itself, and blocks with only a branch.
#include "tests/unit/unit.h"

typedef struct Nop {
    Fixture f;
    Fn *fn;
    RegId r, r2, h, d, p;
    BlockId b[20];
} Nop;

// Makes `n` empty blocks b[1] .. b[n].
static void open_nop(Nop *t, uint32_t n)
{
    fixture_open(&t->f);
    t->fn = t->f.fn;
    t->r = reg_new(t->fn, RF_R, W32);
    t->r2 = reg_new(t->fn, RF_R, W32);
    t->h = reg_new(t->fn, RF_R, W16);
    t->d = reg_new(t->fn, RF_R, W64);
    t->p = reg_new(t->fn, RF_P, W1);
    for (uint32_t k = 1; k <= n; k++)
        t->b[k] = add_block(t->fn, k);
}

// Adds an instruction that the phase must keep.
static void work(Nop *t, BlockId b)
{
    emit(t->fn, b, "add.u32", "%,%,%", 0, OPS(def(t->fn, t->r), use(t->fn, t->r), use(t->fn, t->r2)));
}

// Runs the phase and checks progress and layout; a second run makes no progress.
static void expect(Nop *t, bool progress, const char *blocks)
{
    char text[200];
    CHECK_VERIFIES(t->fn);
    analysis_need(t->fn, 0);
    size_t used = t->f.ctx.heap.used;
    CHECK_EQ(phase_remove_nop_code(&t->f.ctx, t->fn), progress);
    analysis_drop(t->fn, 0);
    CHECK_EQ(t->f.ctx.heap.used, used);
    CHECK_VERIFIES(t->fn);
    CHECK_Z(layout(t->fn, text, sizeof text), blocks);
    uint64_t hash = ir_hash(t->fn);
    CHECK(!phase_remove_nop_code(&t->f.ctx, t->fn));
    CHECK(ir_hash(t->fn) == hash);
    CHECK_VERIFIES(t->fn);
}

static BlockId target(const Nop *t, BlockId b, uint32_t k)
{
    return op_index(*ir_use(t->fn, ir_instr(t->fn, ir_terminator(t->fn, b)), k));
}

static uint32_t count_instrs(const Fn *fn, BlockId b)
{
    uint32_t n = 0;
    FOR_INSTRS(fn, b, i)
        n++;
    return n;
}

/* -- Moves ---------------------------------------------------------------------------------------------- */

TEST(nop_self_moves)
{
    Nop t;
    open_nop(&t, 1);
    Fn *fn = t.fn;
    emit(fn, t.b[1], "mov.b32", "%,%", 0, OPS(def(fn, t.r), use(fn, t.r)));
    emit(fn, t.b[1], "mov.u64", "%,%", 0, OPS(def(fn, t.d), use(fn, t.d)));
    emit(fn, t.b[1], "mov.b16", "%,%", 0, OPS(def(fn, t.h), use(fn, t.h)));
    emit(fn, t.b[1], "mov.pred", "%,%", 0, OPS(def(fn, t.p), use(fn, t.p)));
    emit(fn, t.b[1], "mov.b32", "%,%", IF_GUARDED, OPS(def(fn, t.r), use(fn, t.r), use(fn, t.p)));
    emit_ret(fn, t.b[1]);
    expect(&t, true, "1");
    CHECK_EQ(count_instrs(fn, t.b[1]), 1);
    fixture_close(&t.f);
}

TEST(nop_keeps_other_moves)
{
    Nop t;
    open_nop(&t, 1);
    Fn *fn = t.fn;
    Operand not_p = use(fn, t.p);
    not_p.mods = OPM_NOT;
    emit(fn, t.b[1], "mov.b32", "%,%", 0, OPS(def(fn, t.r), use(fn, t.r2)));
    emit(fn, t.b[1], "mov.b32", "%,%", 0, OPS(def(fn, t.r), op_const(fn, 3, W32)));
    emit(fn, t.b[1], "mov.u32", "%,%", 0, OPS(def(fn, t.r), op_make(K_SREG, 0, 0)));
    emit(fn, t.b[1], "mov.pred", "%,%", 0, OPS(def(fn, t.p), not_p));
    emit(fn, t.b[1], "add.u32", "%,%,%", 0, OPS(def(fn, t.r), use(fn, t.r), use(fn, t.r)));
    emit(fn, t.b[1], "mov.v2.b32", "{%,%},{%,%}", 0, OPS(def(fn, t.r), def(fn, t.r2), use(fn, t.r), use(fn, t.r2)));
    emit_ret(fn, t.b[1]);
    expect(&t, false, "1");
    CHECK_EQ(count_instrs(fn, t.b[1]), 7);
    fixture_close(&t.f);
}

TEST(nop_keeps_pinned_moves)
{
    Nop t;
    open_nop(&t, 1);
    Fn *fn = t.fn;
    ir_reg(fn, t.r)->flags = REG_PINNED;
    emit(fn, t.b[1], "mov.b32", "%,%", 0, OPS(def(fn, t.r), use(fn, t.r)));
    emit(fn, t.b[1], "mov.b32", "%,%", IF_PINNED, OPS(def(fn, t.r2), use(fn, t.r2)));
    emit_ret(fn, t.b[1]);
    expect(&t, false, "1");
    CHECK_EQ(count_instrs(fn, t.b[1]), 3);
    fixture_close(&t.f);
}

// A block with only self-moves and a branch is empty after the moves are removed.
TEST(nop_moves_then_block)
{
    Nop t;
    open_nop(&t, 3);
    work(&t, t.b[1]);
    emit_branch(t.fn, t.b[1], t.p, t.b[2], t.b[3]);
    emit(t.fn, t.b[2], "mov.b32", "%,%", 0, OPS(def(t.fn, t.r), use(t.fn, t.r)));
    emit_bra(t.fn, t.b[2], t.b[3]);
    emit_ret(t.fn, t.b[3]);
    expect(&t, true, "1 3");
    CHECK_EQ(target(&t, t.b[1], 0), t.b[3]);
    CHECK_EQ(target(&t, t.b[1], 1), t.b[3]);
    fixture_close(&t.f);
}

/* -- Blocks --------------------------------------------------------------------------------------------- */

TEST(nop_nothing_to_do)
{
    Nop t;
    open_nop(&t, 3);
    work(&t, t.b[1]);
    emit_branch(t.fn, t.b[1], t.p, t.b[2], t.b[3]);
    work(&t, t.b[2]);
    emit(t.fn, t.b[2], "bra", "%", IF_IMPLICIT, OPS(op_block(t.b[3])));
    emit_ret(t.fn, t.b[3]);
    expect(&t, false, "1 2 3");
    fixture_close(&t.f);
}

// A branch to the next block is replaced by falling through; a branch to another block, and a guarded one, stays.
TEST(nop_falls_through)
{
    Nop t;
    open_nop(&t, 4);
    Fn *fn = t.fn;
    work(&t, t.b[1]);
    emit_bra(fn, t.b[1], t.b[2]);
    work(&t, t.b[2]);
    emit_branch(fn, t.b[2], t.p, t.b[3], t.b[3]);
    work(&t, t.b[3]);
    emit_bra(fn, t.b[3], t.b[2]);
    work(&t, t.b[4]);
    emit_bra(fn, t.b[4], t.b[4]);
    expect(&t, true, "1 2 3 4");
    CHECK_EQ(ir_instr(fn, ir_terminator(fn, t.b[1]))->flags, IF_IMPLICIT);
    CHECK_EQ(ir_instr(fn, ir_terminator(fn, t.b[2]))->flags, IF_GUARDED);
    CHECK_EQ(ir_instr(fn, ir_terminator(fn, t.b[3]))->flags, 0);
    CHECK_EQ(ir_instr(fn, ir_terminator(fn, t.b[4]))->flags, 0);
    fixture_close(&t.f);
}

TEST(nop_chain)
{
    Nop t;
    open_nop(&t, 7);
    work(&t, t.b[1]);
    emit_branch(t.fn, t.b[1], t.p, t.b[2], t.b[7]);
    emit_bra(t.fn, t.b[2], t.b[5]);
    emit_bra(t.fn, t.b[3], t.b[4]);
    work(&t, t.b[4]);
    emit_ret(t.fn, t.b[4]);
    emit_bra(t.fn, t.b[5], t.b[6]);
    emit(t.fn, t.b[6], "bra", "%", IF_IMPLICIT, OPS(op_block(t.b[3])));
    emit_ret(t.fn, t.b[7]);
    expect(&t, true, "1 4 7");
    CHECK_EQ(target(&t, t.b[1], 0), t.b[4]);
    CHECK_EQ(target(&t, t.b[1], 1), t.b[7]);
    CHECK_EQ(t.fn->ninstrs, 5);
    fixture_close(&t.f);
}

TEST(nop_long_chain)
{
    enum { N = 100000 };
    Nop t;
    open_nop(&t, 1);
    work(&t, t.b[1]);
    for (uint32_t k = 2; k <= N; k++)
        add_block(t.fn, k);
    for (BlockId b = 1; b < N; b++)
        emit_bra(t.fn, b, b + 1);
    emit_ret(t.fn, N);
    CHECK(phase_remove_nop_code(&t.f.ctx, t.fn));
    CHECK_VERIFIES(t.fn);
    CHECK_EQ(t.fn->nblocks, 2);
    CHECK_EQ(target(&t, t.b[1], 0), N);
    CHECK(!phase_remove_nop_code(&t.f.ctx, t.fn));
    fixture_close(&t.f);
}

// Endless loops stay.
TEST(nop_self_loop)
{
    Nop t;
    open_nop(&t, 3);
    work(&t, t.b[1]);
    emit_branch(t.fn, t.b[1], t.p, t.b[2], t.b[3]);
    emit_bra(t.fn, t.b[2], t.b[2]);
    emit_ret(t.fn, t.b[3]);
    expect(&t, false, "1 2 3");
    fixture_close(&t.f);
}

TEST(nop_cycle)
{
    Nop t;
    open_nop(&t, 5);
    work(&t, t.b[1]);
    emit_branch(t.fn, t.b[1], t.p, t.b[3], t.b[5]);
    emit_bra(t.fn, t.b[2], t.b[3]);
    emit_bra(t.fn, t.b[3], t.b[4]);
    emit_bra(t.fn, t.b[4], t.b[2]);
    emit_ret(t.fn, t.b[5]);
    CHECK_VERIFIES(t.fn);
    phase_remove_nop_code(&t.f.ctx, t.fn);
    CHECK_VERIFIES(t.fn);
    // The endless loop stays, under the same condition, and the other arm is unchanged.
    BlockId b = target(&t, t.b[1], 0);
    for (int k = 0; k < 10; k++) {
        CHECK_EQ(count_instrs(t.fn, b), 1);
        CHECK(b != t.b[5]);
        b = target(&t, b, 0);
    }
    CHECK_EQ(target(&t, t.b[1], 1), t.b[5]);
    CHECK(!phase_remove_nop_code(&t.f.ctx, t.fn));
    fixture_close(&t.f);
}

// Blocks with an edge into a cycle, before and after it in the layout.
TEST(nop_into_cycle)
{
    Nop t;
    open_nop(&t, 6);
    work(&t, t.b[1]);
    emit_brx(t.fn, t.b[1], t.r, (BlockId[]){t.b[2], t.b[5], t.b[6]}, 3);
    emit_bra(t.fn, t.b[2], t.b[3]);
    emit_bra(t.fn, t.b[3], t.b[4]);
    emit_bra(t.fn, t.b[4], t.b[3]);
    emit_bra(t.fn, t.b[5], t.b[4]);
    emit_ret(t.fn, t.b[6]);
    phase_remove_nop_code(&t.f.ctx, t.fn);
    CHECK_VERIFIES(t.fn);
    const Operand *to = ir_run(t.fn, ir_list(t.fn, 1)->ops);
    for (int k = 0; k < 2; k++) {
        BlockId b = op_index(to[k]);
        for (int step = 0; step < 10; step++) {
            CHECK(b != t.b[6]);
            CHECK_EQ(count_instrs(t.fn, b), 1);
            b = target(&t, b, 0);
        }
    }
    CHECK_EQ(op_index(to[2]), t.b[6]);
    CHECK(!phase_remove_nop_code(&t.f.ctx, t.fn));
    fixture_close(&t.f);
}

// An empty entry stays; branches to it are redirected to its target.
TEST(nop_entry)
{
    Nop t;
    open_nop(&t, 4);
    emit_bra(t.fn, t.b[1], t.b[2]);
    emit_bra(t.fn, t.b[2], t.b[3]);
    work(&t, t.b[3]);
    emit_branch(t.fn, t.b[3], t.p, t.b[1], t.b[4]);
    emit_ret(t.fn, t.b[4]);
    expect(&t, true, "1 3 4");
    CHECK_EQ(t.fn->first, t.b[1]);
    CHECK_EQ(target(&t, t.b[1], 0), t.b[3]);
    CHECK_EQ(target(&t, t.b[3], 0), t.b[3]);
    fixture_close(&t.f);
}

// An entry that is part of an endless loop of empty blocks.
TEST(nop_entry_cycle)
{
    Nop t;
    open_nop(&t, 2);
    emit_bra(t.fn, t.b[1], t.b[2]);
    emit_bra(t.fn, t.b[2], t.b[1]);
    phase_remove_nop_code(&t.f.ctx, t.fn);
    CHECK_VERIFIES(t.fn);
    CHECK_EQ(t.fn->first, t.b[1]);
    CHECK(!phase_remove_nop_code(&t.f.ctx, t.fn));
    fixture_close(&t.f);
}

TEST(nop_branch_table)
{
    Nop t;
    open_nop(&t, 6);
    work(&t, t.b[1]);
    InstrId brx = emit_brx(t.fn, t.b[1], t.r, (BlockId[]){t.b[2], t.b[4], t.b[2], t.b[3], t.b[5]}, 5);
    emit_bra(t.fn, t.b[2], t.b[5]);
    emit_bra(t.fn, t.b[3], t.b[2]);
    work(&t, t.b[4]);
    emit_bra(t.fn, t.b[4], t.b[3]);
    emit_ret(t.fn, t.b[5]);
    work(&t, t.b[6]);  // unreachable, but not empty
    emit_bra(t.fn, t.b[6], t.b[2]);
    expect(&t, true, "1 4 5 6");
    const List *list = ir_list(t.fn, op_index(*ir_use(t.fn, ir_instr(t.fn, brx), 1)));
    const Operand *to = ir_run(t.fn, list->ops);
    BlockId expected[] = {t.b[5], t.b[4], t.b[5], t.b[5], t.b[5]};
    CHECK_EQ(list->n, 5);
    for (uint32_t k = 0; k < 5; k++)
        CHECK_EQ(op_index(to[k]), expected[k]);
    CHECK_EQ(target(&t, t.b[4], 0), t.b[5]);
    CHECK_EQ(target(&t, t.b[6], 0), t.b[5]);
    fixture_close(&t.f);
}

// A declared list of targets is printed, so its targets are redirected and kept, even if no branch uses the list.
TEST(nop_branch_targets_symbol)
{
    Nop t;
    open_nop(&t, 4);
    Fn *fn = t.fn;
    Name name = {str_intern_z(&fn->tables->strs, "table"), NO_NUMBER};
    Operand targets[] = {op_block(t.b[2]), op_block(t.b[3])};
    SymId sym = fn_table(fn, name, SYM_BRANCHTARGETS, targets, 2);
    ListId list = ir_sym(fn, sym)->list;
    work(&t, t.b[1]);
    emit_ret(fn, t.b[1]);
    emit_bra(fn, t.b[2], t.b[4]);
    emit_bra(fn, t.b[3], t.b[3]);
    emit_ret(fn, t.b[4]);
    expect(&t, true, "1 3 4");
    const Operand *to = ir_run(fn, ir_list(fn, list)->ops);
    CHECK_EQ(op_index(to[0]), t.b[4]);
    CHECK_EQ(op_index(to[1]), t.b[3]);
    fixture_close(&t.f);
}

TEST(nop_guarded_exits)
{
    Nop t;
    open_nop(&t, 4);
    emit(t.fn, t.b[1], "ret", "~", IF_GUARDED, OPS(op_block(t.b[2]), use(t.fn, t.p)));
    emit_bra(t.fn, t.b[2], t.b[3]);
    emit_branch(t.fn, t.b[3], t.p, t.b[4], t.b[2]);  // a conditional branch must stay
    emit_ret(t.fn, t.b[4]);
    expect(&t, true, "1 3 4");
    CHECK_EQ(target(&t, t.b[1], 0), t.b[3]);
    CHECK_EQ(target(&t, t.b[3], 1), t.b[3]);
    CHECK(ir_guarded(ir_instr(t.fn, ir_terminator(t.fn, t.b[3]))));
    fixture_close(&t.f);
}

// An annotation belongs to its block.
TEST(nop_pragma)
{
    Nop t;
    open_nop(&t, 3);
    work(&t, t.b[1]);
    emit_branch(t.fn, t.b[1], t.p, t.b[2], t.b[3]);
    emit(t.fn, t.b[2], ".pragma \"nounroll\"", "", 0, NULL, 0);
    emit(t.fn, t.b[2], "bra", "%", IF_IMPLICIT, OPS(op_block(t.b[3])));
    emit_ret(t.fn, t.b[3]);
    expect(&t, false, "1 2 3");
    CHECK_EQ(target(&t, t.b[1], 0), t.b[2]);
    fixture_close(&t.f);
}

// Random graphs of mostly empty blocks: the next non-empty block of each non-empty block stays the same.
TEST(nop_random)
{
    enum { MANY = 40 };
    uint64_t seed = 99;
    for (uint32_t round = 0; round < 2000; round++) {
        Nop t;
        BlockId to[MANY + 1], end[MANY + 1];
        bool full[MANY + 1];
        uint32_t n = 1 + unit_random(&seed, MANY);
        unit_context("round %u", round);
        open_nop(&t, 0);
        for (uint32_t k = 1; k <= n; k++)
            add_block(t.fn, k);
        for (BlockId b = 1; b <= n; b++) {
            to[b] = 1 + unit_random(&seed, n);
            full[b] = unit_random(&seed, 4) == 0;
            if (full[b])
                work(&t, b);
            emit_bra(t.fn, b, to[b]);
        }
        // The first non-empty block after b; 0 = an endless loop of empty ones.
        for (BlockId b = 1; b <= n; b++) {
            end[b] = to[b];
            for (uint32_t k = 0; k < n && end[b] && !full[end[b]]; k++)
                end[b] = to[end[b]];
            if (!full[end[b]])
                end[b] = 0;
        }
        bool progress = phase_remove_nop_code(&t.f.ctx, t.fn);
        CHECK_VERIFIES(t.fn);
        CHECK_EQ(t.fn->first, 1);
        CHECK(progress || t.fn->nblocks == n);
        FOR_BLOCKS(t.fn, b) {
            BlockId now = target(&t, b, 0);
            for (uint32_t k = 0; k < n && !full[now]; k++)
                now = target(&t, now, 0);
            CHECK_EQ(full[now] ? now : 0, end[b]);
        }
        for (BlockId b = 1; b <= n; b++)
            if (full[b])
                CHECK(b == t.fn->first || ir_block(t.fn, b)->prev);
        CHECK(!phase_remove_nop_code(&t.f.ctx, t.fn));
        CHECK_VERIFIES(t.fn);
        fixture_close(&t.f);
    }
}

void test_remove_nop_code(void)
{
    RUN(nop_self_moves);
    RUN(nop_keeps_other_moves);
    RUN(nop_keeps_pinned_moves);
    RUN(nop_moves_then_block);
    RUN(nop_nothing_to_do);
    RUN(nop_falls_through);
    RUN(nop_chain);
    RUN(nop_long_chain);
    RUN(nop_self_loop);
    RUN(nop_cycle);
    RUN(nop_into_cycle);
    RUN(nop_entry);
    RUN(nop_entry_cycle);
    RUN(nop_branch_table);
    RUN(nop_branch_targets_symbol);
    RUN(nop_guarded_exits);
    RUN(nop_pragma);
    RUN(nop_random);
}
