// SPDX-License-Identifier: MIT
// Tests identifiers as stem and number, and constants.
#include <stdio.h>

#include "tests/unit/unit.h"

TEST(name_splits)
{
    static const struct {
        const char *text;
        size_t stem;
        uint32_t number;
    } rows[] = {
        {"%r12", 2, 12},
        {"%r0", 2, 0},
        {"a0", 1, 0},
        {"a00", 2, 0},
        {"a000", 3, 0},
        {"a01", 2, 1},
        {"a010", 2, 10},
        {"a100", 1, 100},
        {"a1001", 1, 1001},
        {"x", 1, NO_NUMBER},
        {"main", 4, NO_NUMBER},
        {"1", 1, NO_NUMBER},
        {"12", 1, 2},
        {"7x", 2, NO_NUMBER},
        {"%f999999999", 2, 999999999},
        {"%r12345678901", 4, 345678901},
        {"%r1000000000", 11, 0},
        {"%r10000000000", 12, 0},
        {"%rd4294967295", 4, 294967295},
        {"$L__BB0_17", 8, 17},
        {"_Z3fooi", 7, NO_NUMBER},
        {"a1b2c3", 5, 3},
    };
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        unit_context("%s", rows[k].text);
        const char *stem_end;
        CHECK_EQ(name_number(rows[k].text, rows[k].text + strlen(rows[k].text), &stem_end), rows[k].number);
        CHECK_EQ(stem_end - rows[k].text, rows[k].stem);
    }
}

static void round_trip(Tables *t, Out *out, Sink *sink, const char *text)
{
    unit_context("%s", text);
    const char *stem_end, *end = text + strlen(text);
    Name name;
    name.number = name_number(text, end, &stem_end);
    name.stem = str_intern(&t->strs, text, (size_t)(stem_end - text));
    CHECK(stem_end > text);  // a stem is never empty: stem 0 means that there is no name
    sink->n = 0;
    name_print(out, t, name);
    out_flush(out);
    CHECK_TEXT(sink->text, sink->n, text);
}

TEST(name_round_trip)
{
    static const char *const names[] = {"x",
                                        "1",
                                        "0",
                                        "00",
                                        "10",
                                        "a0",
                                        "a00",
                                        "a000000000",
                                        "a0000000000",
                                        "a010",
                                        "a0010",
                                        "a9",
                                        "a09",
                                        "a90",
                                        "a900",
                                        "%r1",
                                        "%r12345678901",
                                        "%r99999999999999999999",
                                        "%r100000000",
                                        "%r1000000000",
                                        "%r0123456789",
                                        "%p0",
                                        "%rd05",
                                        "$L__BB0_1",
                                        "_ZN3foo3barEv",
                                        "_Z1fILi10EEvv",
                                        "a1b2",
                                        "a1b20",
                                        "a_",
                                        "_0",
                                        "_00",
                                        "$0",
                                        "%00",
                                        "sm_90a",
                                        "v4294967295",
                                        "v4294967296",
                                        "v18446744073709551616"};
    Fixture f;
    Out out;
    Sink sink = {0};
    fixture_open(&f);
    out_init(&out, &f.ctx.arena, sink_write, &sink);
    for (size_t k = 0; k < ARRAY_LEN(names); k++)
        round_trip(f.fn->tables, &out, &sink, names[k]);
    // All texts of one to six of three characters.
    char text[8] = "";
    for (uint32_t k = 0; k < 3 * 3 * 3 * 3 * 3 * 3; k++)
        for (uint32_t len = 1; len <= 6; len++) {
            for (uint32_t j = 0, x = k; j < len; j++, x /= 3)
                text[j] = "01a"[x % 3];
            text[len] = 0;
            round_trip(f.fn->tables, &out, &sink, text);
        }
    uint64_t seed = 11;
    for (uint32_t k = 0; k < 5000; k++) {
        char name[40] = "%";
        uint32_t len = 1 + unit_random(&seed, 24);
        for (uint32_t j = 1; j <= len; j++)
            name[j] = "0019r_"[unit_random(&seed, 6)];
        round_trip(f.fn->tables, &out, &sink, name);
    }
    sink_free(&sink);
    fixture_close(&f);
}

// Equal names have equal records, different names different ones.
TEST(name_identity)
{
    static const char *const names[] = {"a1", "a01", "a001", "a10",         "a010",
                                        "a",  "a0",  "a00",  "a1000000000", "a000000000"};
    Fixture f;
    fixture_open(&f);
    Name split[ARRAY_LEN(names)];
    for (size_t k = 0; k < ARRAY_LEN(names); k++) {
        const char *stem_end;
        split[k].number = name_number(names[k], names[k] + strlen(names[k]), &stem_end);
        split[k].stem = str_intern(&f.fn->tables->strs, names[k], (size_t)(stem_end - names[k]));
        for (size_t j = 0; j < k; j++)
            CHECK(split[j].stem != split[k].stem || split[j].number != split[k].number);
    }
    fixture_close(&f);
}

/* -- Constants ------------------------------------------------------------------------------------------ */

TEST(width_in_bits)
{
    static const uint32_t bits[WIDTH_COUNT] = {0, 1, 8, 16, 32, 64, 128};
    for (Width w = W_NONE; w < WIDTH_COUNT; w++)
        CHECK_EQ(width_bits(w), bits[w]);
}

TEST(const_truncates)
{
    static const struct {
        uint64_t bits;
        Width width;
        uint64_t kept;
        int64_t value;
    } rows[] = {
        {0, W1, 0, 0},
        {1, W1, 1, 1},
        {2, W1, 0, 0},
        {3, W1, 1, 1},
        {0x7f, W8, 0x7f, 127},
        {0x80, W8, 0x80, -128},
        {0x1ff, W8, 0xff, -1},
        {UINT64_MAX, W16, 0xffff, -1},
        {0x12348000, W16, 0x8000, -32768},
        {0x7fffffff, W32, 0x7fffffff, 2147483647},
        {0x80000000, W32, 0x80000000, INT32_MIN},
        {UINT64_MAX, W32, 0xffffffff, -1},
        {0x100000000, W32, 0, 0},
        {UINT64_MAX, W64, UINT64_MAX, -1},
        {(uint64_t)1 << 63, W64, (uint64_t)1 << 63, INT64_MIN},
        {INT64_MAX, W64, INT64_MAX, INT64_MAX},
        {UINT64_MAX, W128, UINT64_MAX, -1},
    };
    Fixture f;
    fixture_open(&f);
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        unit_context("row %zu", k);
        Const c = tab_const(f.fn->tables, const_intern(f.fn->tables, rows[k].bits, rows[k].width));
        CHECK_EQ(c.bits, rows[k].kept);
        CHECK_EQ(c.width, rows[k].width);
        CHECK_EQ(const_signed(c), rows[k].value);
    }
    fixture_close(&f);
}

TEST(const_interning)
{
    Fixture f;
    fixture_open(&f);
    Tables *t = f.fn->tables;
    ConstId one32 = const_intern(t, 1, W32), one64 = const_intern(t, 1, W64);
    CHECK(one32 != one64);
    CHECK(one32 != CONST_UNDEF && one64 != CONST_UNDEF);
    CHECK_EQ(const_intern(t, 1, W32), one32);
    CHECK_EQ(const_intern(t, 0x100000001, W32), one32);
    CHECK_EQ(const_intern(t, 1, W64), one64);
    CHECK(const_intern(t, 0, W32) != CONST_UNDEF);
    CHECK(const_intern(t, 0, W_NONE) != CONST_UNDEF);
    CHECK_EQ(tab_const(t, CONST_UNDEF).width, W_NONE);
    uint32_t n = t->consts.n;
    for (uint32_t k = 0; k < 100000; k++)
        const_intern(t, (uint64_t)k << 13, W64);
    for (uint32_t k = 0; k < 100000; k++)
        if (tab_const(t, const_intern(t, (uint64_t)k << 13, W64)).bits != (uint64_t)k << 13)
            CHECK(!"another constant");
    CHECK_EQ(t->consts.n, n + 100000);
    CHECK(op_same(op_const(f.fn, 1, W32), op_imm(one32)));
    fixture_close(&f);
}

TEST(const_overlay)
{
    Fixture f;
    fixture_open(&f);
    Fn *second = fn_new(f.module, f.fn->sym);
    module_add_fn(f.module, second);
    ConstId five = const_intern(&f.module->tables, 5, W32);
    module_freeze(f.module);
    uint32_t frozen = f.module->tables.consts.n;
    CHECK_EQ(const_intern(f.fn->tables, 5, W32), five);
    ConstId six = const_intern(f.fn->tables, 6, W32);
    CHECK_EQ(six, frozen);
    CHECK_EQ(const_intern(second->tables, 7, W32), six);  // the other function's overlay begins at the same id
    CHECK_EQ(const_intern(f.fn->tables, 6, W32), six);
    CHECK_EQ(tab_const(f.fn->tables, six).bits, 6);
    CHECK_EQ(tab_const(second->tables, six).bits, 7);
    CHECK_EQ(tab_const(f.fn->tables, five).bits, 5);
    CHECK_EQ(tab_const(f.fn->tables, CONST_UNDEF).width, W_NONE);
    CHECK_EQ(f.module->tables.consts.n, frozen);
    fixture_close(&f);
}

void test_names(void)
{
    RUN(name_splits);
    RUN(name_round_trip);
    RUN(name_identity);
    RUN(width_in_bits);
    RUN(const_truncates);
    RUN(const_interning);
    RUN(const_overlay);
}
