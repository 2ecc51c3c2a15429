// SPDX-License-Identifier: MIT
// Tests terms: values of equal expressions, depth, moves, values that stay apart.
#include "ir/analysis/terms.h"
#include "tests/unit/unit.h"

typedef struct Numbers {
    Fixture f;
    Fn *fn;
    BlockId b;
    Arena arena;
    Analyses own;
    const Analyses *a;
    Terms terms;
    RegId x, y, p;
} Numbers;

static void numbers_open(Numbers *n)
{
    *n = (Numbers){0};
    fixture_open(&n->f);
    n->fn = n->f.fn;
    n->b = add_block(n->fn, 0);
    n->x = reg_new(n->fn, RF_R, W32);
    n->y = reg_new(n->fn, RF_R, W32);
    n->p = reg_new(n->fn, RF_P, W1);
    arena_init(&n->arena, n->fn->arena.heap);
    emit(n->fn, n->b, "mov.u32", "%,%", 0, OPS(def(n->fn, n->x), op_make(K_SREG, 0, SREG_TID_X)));
    emit(n->fn, n->b, "ld.shared.u32", "%,[&]", 0, OPS(def(n->fn, n->y), use(n->fn, n->x), op_const(n->fn, 0, W64)));
    emit(n->fn, n->b, "setp.lt.s32", "%,%,%", 0, OPS(def(n->fn, n->p), use(n->fn, n->x), use(n->fn, n->y)));
}

// Ends the function and starts the numbering.
static void numbers_start(Numbers *n)
{
    emit(n->fn, n->b, "ret", "", 0, NULL, 0);
    n->a = rdefs_of_part(n->fn, &n->own, 1 << RF_P | 1 << RF_R, NULL);
    terms_init(&n->terms, n->fn, n->a, &n->arena);
}

static void numbers_close(Numbers *n)
{
    analysis_free(&n->own);
    arena_free(&n->arena);
    fixture_close(&n->f);
}

static InstrId make(Numbers *n, const char *mnemonic, Operand x, Operand y)
{
    return emit(n->fn, n->b, mnemonic, "%,%,%", 0, OPS(def(n->fn, reg_new(n->fn, RF_R, W32)), x, y));
}

static InstrId add(Numbers *n, RegId x, uint64_t y)
{
    return make(n, "add.u32", use(n->fn, x), op_const(n->fn, y, W32));
}

static RegId result(const Numbers *n, InstrId id) { return op_index(*ir_def(n->fn, ir_instr(n->fn, id), 0)); }

static uint32_t term(Numbers *n, InstrId id, int depth)
{
    return term_of_value(&n->terms, value_of(n->fn, n->a, id, 0), depth);
}

TEST(terms_of_equal_expressions)
{
    Numbers n;
    numbers_open(&n);
    InstrId sum = add(&n, n.x, 1), same = add(&n, n.x, 1), other = add(&n, n.x, 2), of_y = add(&n, n.y, 1);
    InstrId xy = make(&n, "add.u32", use(n.fn, n.x), use(n.fn, n.y));
    InstrId yx = make(&n, "add.u32", use(n.fn, n.y), use(n.fn, n.x));
    InstrId left = make(&n, "sub.u32", use(n.fn, n.x), use(n.fn, n.y));
    InstrId right = make(&n, "sub.u32", use(n.fn, n.y), use(n.fn, n.x));
    numbers_start(&n);
    CHECK(term(&n, sum, 1));
    CHECK_EQ(term(&n, sum, 1), term(&n, same, 1));
    CHECK(term(&n, sum, 0) != term(&n, same, 0));
    CHECK(term(&n, sum, 1) != term(&n, other, 1));
    CHECK(term(&n, sum, 1) != term(&n, of_y, 1));
    CHECK_EQ(term(&n, xy, 1), term(&n, yx, 1));
    CHECK(term(&n, left, 1) != term(&n, right, 1));
    numbers_close(&n);
}

TEST(terms_of_depth)
{
    Numbers n;
    numbers_open(&n);
    InstrId sum[2], product[2];
    for (int k = 0; k < 2; k++) {
        sum[k] = add(&n, n.x, 1);
        product[k] = make(&n, "mul.lo.u32", use(n.fn, result(&n, sum[k])), use(n.fn, n.y));
    }
    numbers_start(&n);
    CHECK(term(&n, product[0], 0) != term(&n, product[1], 0));
    CHECK(term(&n, product[0], 1) != term(&n, product[1], 1));
    CHECK_EQ(term(&n, product[0], 2), term(&n, product[1], 2));
    numbers_close(&n);
}

TEST(terms_of_moves)
{
    Numbers n;
    numbers_open(&n);
    RegId copy = reg_new(n.fn, RF_R, W32), five = reg_new(n.fn, RF_R, W32);
    emit(n.fn, n.b, "mov.b32", "%,%", 0, OPS(def(n.fn, copy), use(n.fn, n.x)));
    emit(n.fn, n.b, "mov.b32", "%,%", 0, OPS(def(n.fn, five), op_const(n.fn, 5, W32)));
    InstrId sum = add(&n, copy, 5);
    InstrId same = make(&n, "add.u32", use(n.fn, n.x), use(n.fn, five));
    numbers_start(&n);
    CHECK_EQ(term(&n, sum, 1), term(&n, same, 1));
    numbers_close(&n);
}

TEST(terms_of_values_apart)
{
    Numbers n;
    numbers_open(&n);
    RegId r[6];
    for (int k = 0; k < 6; k++)
        r[k] = reg_new(n.fn, RF_R, W32);
    InstrId load[2], clock[2], guarded[2];
    for (int k = 0; k < 2; k++) {
        load[k] =
            emit(n.fn, n.b, "ld.shared.u32", "%,[&]", 0, OPS(def(n.fn, r[k]), use(n.fn, n.x), op_const(n.fn, 0, W64)));
        clock[k] = emit(n.fn, n.b, "mov.u32", "%,%", 0, OPS(def(n.fn, r[2 + k]), op_make(K_SREG, 0, SREG_CLOCK)));
        emit(n.fn, n.b, "mov.b32", "%,%", 0, OPS(def(n.fn, r[4 + k]), op_const(n.fn, (uint64_t)k, W32)));
        guarded[k] = emit(n.fn, n.b, "add.u32", "%,%,%", IF_GUARDED,
                          OPS(def(n.fn, r[4 + k]), use(n.fn, n.x), use(n.fn, n.y), use(n.fn, n.p)));
    }
    numbers_start(&n);
    CHECK(term(&n, load[0], 2) != term(&n, load[1], 2));
    CHECK(term(&n, clock[0], 2) != term(&n, clock[1], 2));
    CHECK(term(&n, guarded[0], 2) != term(&n, guarded[1], 2));
    numbers_close(&n);
}

void test_terms(void)
{
    RUN(terms_of_equal_expressions);
    RUN(terms_of_depth);
    RUN(terms_of_moves);
    RUN(terms_of_values_apart);
}
