// SPDX-License-Identifier: MIT
// Tests approximate functions, with tables of independently computed values (tests/exec/gen_approx_cases.py) and with
// laws of correctly rounded results.
#include "ir/eval/approx.h"
#include "tests/unit/unit.h"

#include "tests/exec/approx.tbl"

__extension__ typedef unsigned __int128 Wide;
typedef uint64_t Function(const Format *f, uint64_t a);

enum { TRIES = 20000 };

/* -- Tables --------------------------------------------------------------------------------------------- */

static void check_table(const char *name, Function *function, const Format *f, const uint64_t (*row)[2], size_t n)
{
    for (size_t k = 0; k < n; k++) {
        unit_context("%s of 0x%llX", name, (unsigned long long)row[k][0]);
        CHECK_EQ(function(f, row[k][0]), row[k][1]);
    }
}

#define CHECK_TABLE(function, format)                                                            \
    check_table(#function "." #format, approx_##function, &format_##format, function##_##format, \
                ARRAY_LEN(function##_##format))

TEST(approx_rsqrt_table)
{
    CHECK_TABLE(rsqrt, f32);
    CHECK_TABLE(rsqrt, f64);
}

TEST(approx_sin_table) { CHECK_TABLE(sin, f32); }

TEST(approx_cos_table) { CHECK_TABLE(cos, f32); }

TEST(approx_lg2_table) { CHECK_TABLE(lg2, f32); }

TEST(approx_ex2_table)
{
    CHECK_TABLE(ex2, f32);
    CHECK_TABLE(ex2, f16);
    CHECK_TABLE(ex2, bf16);
}

TEST(approx_tanh_table)
{
    CHECK_TABLE(tanh, f32);
    CHECK_TABLE(tanh, f16);
    CHECK_TABLE(tanh, bf16);
}

// Returns a hash of the results of all arguments.
static uint64_t hash_all(Function *function, const Format *f)
{
    uint64_t h = 0xCBF29CE484222325;
    for (uint32_t a = 0; a < 0x10000; a++) {
        uint64_t r = function(f, a);
        h = (h ^ (r & 0xFF)) * 0x100000001B3;
        h = (h ^ r >> 8) * 0x100000001B3;
    }
    return h;
}

TEST(approx_all_of_16_bits)
{
    CHECK(hash_all(approx_ex2, &format_f16) == ex2_f16_all);
    CHECK(hash_all(approx_ex2, &format_bf16) == ex2_bf16_all);
    CHECK(hash_all(approx_tanh, &format_f16) == tanh_f16_all);
    CHECK(hash_all(approx_tanh, &format_bf16) == tanh_bf16_all);
}

/* -- Laws ----------------------------------------------------------------------------------------------- */

static const uint64_t sign = 0x80000000,
                      unit = 1 << 23;  // of f32: the sign; the increment that doubles a number

// Returns n / 2^16, n not 0.
static uint64_t fixed(int32_t n)
{
    return float_from_integer(&format_f32, (uint64_t)n, 32, true, ROUND_NEAREST_EVEN) - 16 * unit;
}

// Returns 2^n, n from -149 to 127.
static uint64_t power(int32_t n) { return n < -126 ? (uint64_t)1 << (n + 149) : (uint64_t)(n + 127) * unit; }

TEST(approx_powers)
{
    const Format *f = &format_f32;
    for (int32_t n = -149; n <= 127; n++) {
        uint64_t integer = float_from_integer(f, (uint64_t)n, 32, true, ROUND_NEAREST_EVEN);
        unit_context("2^%d", n);
        CHECK_EQ(approx_ex2(f, integer), power(n));
        CHECK_EQ(approx_lg2(f, power(n)), integer);
        if (n % 2 == 0)
            CHECK_EQ(approx_rsqrt(f, power(n)), power(-n / 2));
    }
}

TEST(approx_symmetry)
{
    uint64_t seed = 1;
    const Format *f = &format_f32;
    for (uint32_t k = 0; k < TRIES; k++) {
        uint64_t a = unit_random(&seed, 0x7F800000);
        unit_context("0x%llX", (unsigned long long)a);
        CHECK_EQ(approx_sin(f, a ^ sign), approx_sin(f, a) ^ sign);
        CHECK_EQ(approx_cos(f, a ^ sign), approx_cos(f, a));
        CHECK_EQ(approx_tanh(f, a ^ sign), approx_tanh(f, a) ^ sign);
    }
}

// ex2(x + 1) = 2 ex2(x), rsqrt(4 x) = rsqrt(x) / 2.
TEST(approx_scaling)
{
    uint64_t seed = 2;
    const Format *f = &format_f32;
    for (uint32_t k = 0; k < TRIES; k++) {
        int32_t n = (int32_t)unit_random(&seed, 120 << 16) + 1;
        uint64_t a = unit_random(&seed, 0x7E000000) + unit;
        unit_context("%d / 65536, 0x%llX", n, (unsigned long long)a);
        CHECK_EQ(approx_ex2(f, fixed(n + 0x10000)), approx_ex2(f, fixed(n)) + unit);
        CHECK_EQ(approx_ex2(f, fixed(-n)), approx_ex2(f, fixed(-n - 0x10000)) + unit);
        CHECK_EQ(approx_rsqrt(f, a + 2 * unit), approx_rsqrt(f, a) - unit);
    }
}

TEST(approx_monotony)
{
    uint64_t seed = 3;
    const Format *f = &format_f32;
    for (uint32_t k = 0; k < TRIES; k++) {
        uint64_t a = unit_random(&seed, 0x7F800000), b = a + 1;
        uint64_t small = 0x38000000 + unit_random(&seed, 10 * unit);  // where tanh is not constant
        unit_context("0x%llX, 0x%llX", (unsigned long long)a, (unsigned long long)small);
        CHECK(approx_ex2(f, b) >= approx_ex2(f, a));
        CHECK(approx_ex2(f, b | sign) <= approx_ex2(f, a | sign));
        CHECK(approx_tanh(f, small + 1) >= approx_tanh(f, small));
        CHECK(approx_rsqrt(f, b) <= approx_rsqrt(f, a));
        FloatOrder order = float_compare(f, approx_lg2(f, a), approx_lg2(f, b));
        CHECK(order == FLOAT_LESS || order == FLOAT_EQUAL);
    }
}

// |1 / sqrt(m 2^e) - q 2^k| <= 2^k / 2 if (2q - 1)^2 m <= 2^-(e + 2k - 2) <= (2q + 1)^2 m.
TEST(approx_rsqrt_remainder)
{
    uint64_t seed = 4;
    const Format *f = &format_f32;
    for (uint32_t n = 0; n < TRIES; n++) {
        uint64_t a = unit_random(&seed, 0x7F800000 - 1) + 1;
        Number x = float_unpack(f, a), y = float_unpack(f, approx_rsqrt(f, a));
        uint64_t m = x.sig >> 40, q = y.sig >> 40;
        Wide one = (Wide)1 << -(x.exp + 40 + 2 * (y.exp + 40) - 2);
        unit_context("0x%llX", (unsigned long long)a);
        CHECK((Wide)(2 * q - 1) * (2 * q - 1) * m <= one);
        CHECK((Wide)(2 * q + 1) * (2 * q + 1) * m >= one);
    }
}

void test_approx(void)
{
    RUN(approx_rsqrt_table);
    RUN(approx_sin_table);
    RUN(approx_cos_table);
    RUN(approx_lg2_table);
    RUN(approx_ex2_table);
    RUN(approx_tanh_table);
    RUN(approx_all_of_16_bits);
    RUN(approx_powers);
    RUN(approx_symmetry);
    RUN(approx_scaling);
    RUN(approx_monotony);
    RUN(approx_rsqrt_remainder);
}
