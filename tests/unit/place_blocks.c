// SPDX-License-Identifier: MIT
// Tests PlaceBlocksInSourceOrder: blocks are sorted by source position, stably, with the entry first.
#include "tests/unit/unit.h"

// Runs the phase; checks its progress, that a second run makes none, and that the function verifies.
static void run_phase(Fixture *f, bool progress)
{
    CHECK_EQ(phase_place_blocks(&f->ctx, f->fn), progress);
    CHECK_VERIFIES(f->fn);
    uint64_t hash = ir_hash(f->fn);
    CHECK(!phase_place_blocks(&f->ctx, f->fn));
    CHECK(ir_hash(f->fn) == hash);
}

static void expect_order(uint32_t n, const uint32_t *sources, bool progress, const char *expected)
{
    Fixture f;
    char text[400];
    unit_context("to %s", expected);
    fixture_open(&f);
    for (uint32_t k = 0; k < n; k++)
        emit_ret(f.fn, add_block(f.fn, sources[k]));
    run_phase(&f, progress);
    CHECK_Z(layout(f.fn, text, sizeof text), expected);
    fixture_close(&f);
}

#define ORDER_OF(...) \
    (uint32_t) ARRAY_LEN(((uint32_t[]){__VA_ARGS__})), (uint32_t[]) { __VA_ARGS__ }

TEST(place_sorted)
{
    expect_order(ORDER_OF(0), false, "1");
    expect_order(ORDER_OF(0, 1), false, "1 2");
    expect_order(ORDER_OF(0, 0, 0), false, "1 2 3");
    expect_order(ORDER_OF(0, 1, 1, 2, 7, 7), false, "1 2 3 4 5 6");
}

TEST(place_shuffled)
{
    expect_order(ORDER_OF(0, 2, 1), true, "1 3 2");
    expect_order(ORDER_OF(0, 5, 4, 3, 2, 1), true, "1 6 5 4 3 2");
    expect_order(ORDER_OF(0, 3, 1, 2), true, "1 3 4 2");
    // Stable: blocks of one position keep their order.
    expect_order(ORDER_OF(0, 2, 1, 2, 1, 2), true, "1 3 5 2 4 6");
    expect_order(ORDER_OF(0, 1, 0, 1, 0), true, "1 3 5 2 4");
}

// No block is placed before the entry, at any source position.
TEST(place_entry_first) { expect_order(ORDER_OF(9, 2, 1), true, "1 3 2"); }

TEST(place_entry_first_in_order) { expect_order(ORDER_OF(9, 1, 2), false, "1 2 3"); }

TEST(place_random)
{
    enum { MANY = 300 };
    uint64_t seed = 77;
    for (uint32_t round = 0; round < 200; round++) {
        Fixture f;
        BlockId expected[MANY];
        uint32_t n = 1 + unit_random(&seed, MANY), range = 1 + unit_random(&seed, 400), at = 0;
        unit_context("round %u, %u blocks", round, n);
        fixture_open(&f);
        for (uint32_t k = 0; k < n; k++)
            add_block(f.fn, k ? unit_random(&seed, range) : 0);
        FOR_BLOCKS(f.fn, b)
            emit_bra(f.fn, b, 1 + unit_random(&seed, n));
        bool sorted = true;
        for (BlockId b = 2; b <= n; b++)
            sorted &= ir_block(f.fn, b - 1)->source <= ir_block(f.fn, b)->source;
        // Insertion sort of all blocks except the entry.
        for (BlockId b = 1; b <= n; b++) {
            uint32_t k = at++;
            for (; k > 1 && ir_block(f.fn, expected[k - 1])->source > ir_block(f.fn, b)->source; k--)
                expected[k] = expected[k - 1];
            expected[k] = b;
        }
        size_t used = f.ctx.heap.used;
        run_phase(&f, !sorted);
        CHECK_EQ(f.ctx.heap.used, used);  // scratch memory was freed
        at = 0;
        FOR_BLOCKS(f.fn, b)
            CHECK_EQ(b, expected[at++]);
        CHECK_EQ(at, n);
        fixture_close(&f);
    }
}

TEST(place_many)
{
    enum { N = 100000 };
    Fixture f;
    uint64_t seed = 5;
    fixture_open(&f);
    for (uint32_t k = 0; k < N; k++)
        emit_ret(f.fn, add_block(f.fn, k ? unit_random(&seed, N) : 0));
    run_phase(&f, true);
    fixture_close(&f);
}

void test_place_blocks(void)
{
    RUN(place_sorted);
    RUN(place_shuffled);
    RUN(place_entry_first);
    RUN(place_entry_first_in_order);
    RUN(place_random);
    RUN(place_many);
}
