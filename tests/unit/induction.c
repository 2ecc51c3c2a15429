// SPDX-License-Identifier: MIT
// Tests induction variables: steps, tests on each side of the loop, and phis that are no counters.
#include "ir/analysis/induction.h"
#include "tests/unit/unit.h"

// entry -> header -> body -> header, header -> exit. The phi is x; y is defined in the entry.
typedef struct Counting {
    Fixture f;
    Fn *fn;
    BlockId entry, header, body, exit;
    RegId x, next, y, p, q;
    InstrId phi;
    const Analyses *a;
} Counting;

static void counting_open(Counting *t)
{
    *t = (Counting){0};
    fixture_open(&t->f);
    Fn *fn = t->fn = t->f.fn;
    fn->form = FORM_SSA;
    t->entry = add_block(fn, 0);
    t->header = add_block(fn, 0);
    t->body = add_block(fn, 0);
    t->exit = add_block(fn, 0);
    t->x = reg_new(fn, RF_R, W32);
    t->next = reg_new(fn, RF_R, W32);
    t->y = reg_new(fn, RF_R, W32);
    t->p = reg_new(fn, RF_P, W1);
    t->q = reg_new(fn, RF_P, W1);
    emit(fn, t->entry, "mov.u32", "%,%", 0, OPS(def(fn, t->y), op_make(K_SREG, 0, SREG_TID_X)));
    emit(fn, t->entry, "bra", "%", 0, OPS(op_block(t->header)));
    Operand ops[] = {def(fn, t->x), op_block(t->entry), op_const(fn, 5, W32), op_block(t->body), use(fn, t->next)};
    t->phi = ir_append(fn, t->header, desc_phi(fn->tables, 2), 0, ops, 5);
}

static InstrId compare(Counting *t, BlockId b, const char *mnemonic, RegId p, Operand x, Operand y)
{
    return emit(t->fn, b, mnemonic, "%,%,%", 0, OPS(def(t->fn, p), x, y));
}

// Ends a block with a branch to `yes` if p, else to `no`.
static void split(Counting *t, BlockId b, RegId p, BlockId yes, BlockId no)
{
    emit(t->fn, b, "bra", "%~", IF_GUARDED, OPS(op_block(yes), op_block(no), use(t->fn, p)));
}

static bool find(Counting *t, Induction *c)
{
    emit(t->fn, t->exit, "ret", "", 0, NULL, 0);
    t->a = analysis_need(t->fn, AN_DEF | AN_DOM);
    return induction_of(t->fn, t->a, t->phi, c);
}

TEST(induction_steps)
{
    static const struct {
        const char *mnemonic;
        bool exchanged, found;
        uint64_t constant;
        int64_t step;
    } steps[] = {
        {"add.s32", false, true, 1, 1},           {"add.u32", true, true, 3, 3},
        {"add.u32", false, true, 0xfffffffe, -2}, {"sub.s32", false, true, 4, -4},
        {"sub.s32", true, false, 4, 0},           {"add.s32", false, false, 0, 0},
        {"add.sat.s32", false, false, 1, 0},      {"mul.lo.s32", false, false, 2, 0},
        {"xor.b32", false, false, 1, 0},
    };
    for (size_t k = 0; k < ARRAY_LEN(steps); k++) {
        Counting t;
        Induction c;
        counting_open(&t);
        unit_context("%s", steps[k].mnemonic);
        Operand x = use(t.fn, t.x), y = op_const(t.fn, steps[k].constant, W32);
        emit(t.fn, t.header, "bra", "%", 0, OPS(op_block(t.body)));
        emit(t.fn, t.body, steps[k].mnemonic, "%,%,%", 0,
             OPS(def(t.fn, t.next), steps[k].exchanged ? y : x, steps[k].exchanged ? x : y));
        compare(&t, t.body, "setp.lt.s32", t.p, use(t.fn, t.next), use(t.fn, t.y));
        split(&t, t.body, t.p, t.header, t.exit);
        CHECK_EQ(find(&t, &c), steps[k].found);
        if (steps[k].found) {
            CHECK_EQ(c.step, steps[k].step);
            CHECK_EQ(c.next, t.next);
            CHECK_EQ(c.header, t.header);
            CHECK_EQ(c.latch, t.body);
        }
        fixture_close(&t.f);
    }
}

// The loop goes on if p is false: at its start x >= y, at its end y != next.
TEST(induction_tests)
{
    Counting t;
    Induction c;
    InductionTest test;
    counting_open(&t);
    Fn *fn = t.fn;
    compare(&t, t.header, "setp.ge.u32", t.p, use(fn, t.x), use(fn, t.y));
    split(&t, t.header, t.p, t.exit, t.body);
    emit(fn, t.body, "add.s32", "%,%,%", 0, OPS(def(fn, t.next), use(fn, t.x), op_const(fn, 1, W32)));
    compare(&t, t.body, "setp.ne.s32", t.q, use(fn, t.y), use(fn, t.next));
    split(&t, t.body, t.q, t.header, t.exit);
    CHECK(find(&t, &c));
    CHECK(induction_test(fn, t.a, &c, 0, &test));
    CHECK_EQ(test.cmp, RC_NE);
    CHECK(test.of_next && test.is_signed && op_same(test.bound, use(fn, t.y)));
    CHECK(induction_test(fn, t.a, &c, 1, &test));
    CHECK_EQ(test.cmp, RC_LT);
    CHECK(!test.of_next && !test.is_signed && op_same(test.bound, use(fn, t.y)));
    CHECK(!induction_test(fn, t.a, &c, 2, &test));
    fixture_close(&t.f);
}

// Mirrored: the bound is the first operand. A bound that the loop computes is none, and a test of 64 bits neither.
TEST(induction_bounds)
{
    Counting t;
    Induction c;
    InductionTest test;
    counting_open(&t);
    Fn *fn = t.fn;
    RegId z = reg_new(fn, RF_R, W32);
    compare(&t, t.header, "setp.gt.s32", t.p, op_const(fn, 100, W32), use(fn, t.x));
    split(&t, t.header, t.p, t.body, t.exit);
    emit(fn, t.body, "add.s32", "%,%,%", 0, OPS(def(fn, t.next), use(fn, t.x), op_const(fn, 1, W32)));
    emit(fn, t.body, "add.s32", "%,%,%", 0, OPS(def(fn, z), use(fn, t.y), op_const(fn, 1, W32)));
    compare(&t, t.body, "setp.ne.s32", t.q, use(fn, t.next), use(fn, z));
    split(&t, t.body, t.q, t.header, t.exit);
    CHECK(find(&t, &c));
    CHECK(induction_test(fn, t.a, &c, 0, &test));
    CHECK_EQ(test.cmp, RC_LT);
    CHECK(test.is_signed && !test.of_next && op_is_const(test.bound));
    CHECK(!induction_test(fn, t.a, &c, 1, &test));
    fixture_close(&t.f);
}

TEST(induction_no_loop)
{
    Counting t;
    Induction c;
    counting_open(&t);
    Fn *fn = t.fn;
    // The entry also branches to the body, so that the header does not dominate it.
    ir_remove(fn, ir_terminator(fn, t.entry));
    compare(&t, t.entry, "setp.lt.s32", t.q, use(fn, t.y), op_const(fn, 7, W32));
    split(&t, t.entry, t.q, t.header, t.body);
    emit(fn, t.header, "bra", "%", 0, OPS(op_block(t.body)));
    emit(fn, t.body, "add.s32", "%,%,%", 0, OPS(def(fn, t.next), use(fn, t.y), op_const(fn, 1, W32)));
    compare(&t, t.body, "setp.lt.s32", t.p, use(fn, t.next), use(fn, t.y));
    split(&t, t.body, t.p, t.header, t.exit);
    CHECK(!find(&t, &c));
    fixture_close(&t.f);
}

TEST(induction_compares)
{
    RangeCompare c;
    bool is_unsigned = false;
    CHECK(range_compare_of(MOD_LE, &c, &is_unsigned) && c == RC_LE && !is_unsigned);
    CHECK(range_compare_of(MOD_HI, &c, &is_unsigned) && c == RC_GT && is_unsigned);
    CHECK(!range_compare_of(MOD_GEU, &c, &is_unsigned));
}

void test_induction(void)
{
    RUN(induction_steps);
    RUN(induction_tests);
    RUN(induction_bounds);
    RUN(induction_no_loop);
    RUN(induction_compares);
}
