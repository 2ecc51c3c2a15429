// SPDX-License-Identifier: MIT
// Tests floating point against its definition. A result m, rounded to zero, is correct if |exact| is in [m, next m),
// and the position in this interval determines the results of the other roundings. The comparisons use sums of products
// of integers, without division or root. Other tests compare with the host's arithmetic, if the host supports it.
#include <float.h>
#include <limits.h>

#include "ir/eval/softfloat.h"
#include "tests/unit/unit.h"

#if defined(__x86_64__) && FLT_EVAL_METHOD == 0
#define HOST 1  // other hosts need the mathematics library to set roundings; the other tests must suffice there
#include <immintrin.h>
#endif

__extension__ typedef __int128 Int;
__extension__ typedef unsigned __int128 Bits;

enum { ROUNDINGS = 5 };

static uint64_t random64(uint64_t *seed)
{
    uint64_t high = unit_random(seed, UINT32_MAX);
    return high << 32 ^ (uint64_t)unit_random(seed, UINT32_MAX) << 8 ^ high >> 8;
}

/* -- Formats, defined again ----------------------------------------------------------------------------- */

typedef struct Layout {
    const char *name;
    const Format *f;
    int exp_bits, frac_bits, unused;
    uint64_t max;  // magnitude of the largest number, without unused bits
    uint64_t inf;  // 0 = none
    uint64_t nan;
} Layout;

enum { F16, BF16, TF32, F32, F64, E4M3, E5M2, LAYOUTS };
static const Layout layouts[LAYOUTS] = {
    {"f16", &format_f16, 5, 10, 0, 0x7bff, 0x7c00, 0x7fff},
    {"bf16", &format_bf16, 8, 7, 0, 0x7f7f, 0x7f80, 0x7fff},
    {"tf32", &format_tf32, 8, 10, 13, 0x3fbff, 0x3fc00, 0x7fffe000},
    {"f32", &format_f32, 8, 23, 0, 0x7f7fffff, 0x7f800000, 0x7fffffff},
    {"f64", &format_f64, 11, 52, 0, 0x7fefffffffffffff, 0x7ff0000000000000, 0x7ff8000000000000},
    {"e4m3", &format_e4m3, 4, 3, 0, 0x7e, 0, 0x7f},
    {"e5m2", &format_e5m2, 5, 2, 0, 0x7b, 0x7c, 0x7f},
};

static int width(const Layout *k) { return 1 + k->exp_bits + k->frac_bits; }
// Returns the number of bit patterns of a small format, for exhaustive tests, else 0.
static uint64_t patterns(const Layout *k) { return width(k) <= 16 ? (uint64_t)1 << width(k) : 0; }
static uint64_t magnitude(const Layout *k, uint64_t a)
{
    return a >> k->unused & (((uint64_t)1 << (width(k) - 1)) - 1);
}
static bool negative(const Layout *k, uint64_t a) { return a >> (width(k) - 1 + k->unused) & 1; }
static uint64_t number(const Layout *k, bool sign, uint64_t m)
{
    return ((uint64_t)sign << (width(k) - 1) | m) << k->unused;
}
static bool is_inf(const Layout *k, uint64_t a) { return k->inf && magnitude(k, a) == k->inf; }
static bool is_nan(const Layout *k, uint64_t a) { return magnitude(k, a) > (k->inf ? k->inf : k->max); }
static bool is_zero(const Layout *k, uint64_t a) { return magnitude(k, a) == 0; }
static uint64_t too_large(const Layout *k, bool sign) { return number(k, sign, k->inf ? k->inf : k->max); }

// The value of a finite magnitude, or of the one above the largest as if it were finite: sig * 2^exp. The next one is
// (sig + 1) * 2^exp.
typedef struct Decoded {
    uint64_t sig;
    int exp;
} Decoded;

static Decoded decode(const Layout *k, uint64_t m)
{
    int exp = (int)(m >> k->frac_bits), bias = (1 << (k->exp_bits - 1)) - 1;
    uint64_t one = (uint64_t)1 << k->frac_bits;
    return exp ? (Decoded){(m & (one - 1)) + one, exp - bias - k->frac_bits} : (Decoded){m, 1 - bias - k->frac_bits};
}

/* -- Exact comparison ----------------------------------------------------------------------------------- */

typedef struct Term {
    int sign;  // 1, -1
    uint64_t a, b;
    int exp;  // sign * a * b * 2^exp
} Term;

static int bit_length(uint64_t a) { return a ? 64 - __builtin_clzll(a) : 0; }

// Adds x * 2^shift to the number in `sum`.
static void add_shifted(uint64_t *sum, Bits x, int shift)
{
    uint64_t *at = sum + shift / 64;
    shift %= 64;
    uint64_t part[3] = {(uint64_t)x << shift, (uint64_t)(x >> (64 - shift)),
                        shift ? (uint64_t)(x >> (128 - shift)) : 0};
    bool carry = false;
    for (int n = 0; n < 3 || carry; n++) {
        Bits s = (Bits)at[n] + (n < 3 ? part[n] : 0) + carry;
        at[n] = (uint64_t)s;
        carry = s >> 64 != 0;
    }
}

static int sign_of_sum(const Term *t, int n)
{
    enum { LIMBS = 160 };
    int low = INT_MAX, high = INT_MIN;
    for (int k = 0; k < n; k++)
        if (t[k].a && t[k].b) {
            low = MIN(low, t[k].exp);
            high = MAX(high, t[k].exp + bit_length(t[k].a) + bit_length(t[k].b));
        }
    if (low > high)
        return 0;
    if (high - low < 124) {
        Int sum = 0;
        for (int k = 0; k < n; k++)
            if (t[k].a && t[k].b)
                sum += t[k].sign * (Int)((Bits)t[k].a * t[k].b << (t[k].exp - low));
        return (sum > 0) - (sum < 0);
    }
    uint64_t sum[2][LIMBS];
    int limbs = (high - low) / 64 + 5;
    if (!CHECK(limbs <= LIMBS))
        return 0;
    for (int k = 0; k < limbs; k++)
        sum[0][k] = sum[1][k] = 0;
    for (int k = 0; k < n; k++)
        if (t[k].a && t[k].b)
            add_shifted(sum[t[k].sign < 0], (Bits)t[k].a * t[k].b, t[k].exp - low);
    for (int k = limbs; k-- > 0;)
        if (sum[0][k] != sum[1][k])
            return sum[0][k] > sum[1][k] ? 1 : -1;
    return 0;
}

/* -- Rounding by its definition ------------------------------------------------------------------------- */

// A nonzero number: the sum of the terms over the divisor, or the root of the sum.
typedef struct Exact {
    Term t[2];
    int n;
    bool negative, root;
    Decoded divisor;
} Exact;

// Returns the sign of |e| - d.
static int compare_exact(const Exact *e, Decoded d)
{
    Term t[3];
    Decoded with = e->root ? d : e->divisor;
    for (int k = 0; k < e->n; k++) {
        t[k] = e->t[k];
        t[k].sign = e->negative ? -t[k].sign : t[k].sign;
    }
    t[e->n] = (Term){-1, d.sig, with.sig, d.exp + with.exp};
    return sign_of_sum(t, e->n + 1);
}

static Exact exact_sum(const Term *t, int n)
{
    Exact e = {.n = n, .divisor = {1, 0}};
    for (int k = 0; k < n; k++)
        e.t[k] = t[k];
    e.negative = sign_of_sum(t, n) < 0;
    return e;
}

typedef struct Expected {
    bool bracketed;  // the result of rounding to zero is correct
    uint64_t of[ROUNDINGS];
} Expected;

// Returns the results of all roundings, if `zero` is the result of ROUND_ZERO.
static Expected expected_of(const Layout *k, const Exact *e, uint64_t zero, bool finite)
{
    uint64_t m = magnitude(k, zero);
    Decoded d = decode(k, m);
    int from = compare_exact(e, d), to = compare_exact(e, (Decoded){d.sig + 1, d.exp});
    int middle = compare_exact(e, (Decoded){2 * d.sig + 1, d.exp - 1});
    bool up[ROUNDINGS] = {
        [ROUND_NEAREST_EVEN] = middle > 0 || (middle == 0 && m & 1),
        [ROUND_NEAREST_AWAY] = middle >= 0,
        [ROUND_DOWN] = e->negative && from > 0,
        [ROUND_UP] = !e->negative && from > 0,
    };
    Expected x;
    x.bracketed = m <= k->max && from >= 0 && (to < 0 || m == k->max) && negative(k, zero) == e->negative;
    for (int r = 0; r < ROUNDINGS; r++)
        x.of[r] = m + up[r] <= k->max ? number(k, e->negative, m + up[r])
                  : finite            ? number(k, e->negative, k->max)
                                      : too_large(k, e->negative);
    return x;
}

// Sets the context of a failure's message.
static void note(const char *what, const Layout *k, const uint64_t *v, int r)
{
    unit_context("%s.%s %#llx %#llx %#llx, rounding %d", what, k->name, (unsigned long long)v[0],
                 (unsigned long long)v[1], (unsigned long long)v[2], r);
}

static void check_all(const char *what, const Layout *k, const uint64_t *v, const uint64_t *got, const Expected *x)
{
    for (int r = 0; r < ROUNDINGS; r++)
        if (!x->bracketed || got[r] != x->of[r]) {
            note(what, k, v, r);
            CHECK(x->bracketed);
            CHECK_EQ(got[r], x->of[r]);
            unit_context("%s", "");
        }
}

static void check_rounded(const char *what, const Layout *k, const uint64_t *v, const Exact *e, const uint64_t *got)
{
    Expected x = expected_of(k, e, got[ROUND_ZERO], false);
    check_all(what, k, v, got, &x);
}

/* -- Arithmetic ----------------------------------------------------------------------------------------- */

typedef enum { ADD, MUL, FMA, DIV, SQRT, OP_KINDS } Op;
static const char *const op_names[] = {"add", "mul", "fma", "div", "sqrt"};

static uint64_t compute(Op op, const Format *f, const uint64_t *v, Rounding r)
{
    switch (op) {
    case ADD: return float_add(f, v[0], v[1], r);
    case MUL: return float_mul(f, v[0], v[1], r);
    case FMA: return float_fma(f, v[0], v[1], v[2], r);
    case DIV: return float_div(f, v[0], v[1], r);
    default: return float_sqrt(f, v[0], r);
    }
}

// Computes results that IEEE 754 defines for infinities and NaNs, and zero results except of sums. Returns false for
// other operands.
static bool special(const Layout *k, Op op, const uint64_t *v, uint64_t *result)
{
    uint64_t a = v[0], b = op == SQRT ? a : v[1], c = op == FMA ? v[2] : a;
    bool sign = negative(k, a) != negative(k, b);
    bool infinite = is_inf(k, a) || is_inf(k, b);
    *result = k->nan;
    if (is_nan(k, a) || is_nan(k, b) || is_nan(k, c))
        return true;
    switch (op) {
    case FMA:
        if (infinite) {
            if (!is_zero(k, a) && !is_zero(k, b) && !(is_inf(k, c) && negative(k, c) != sign))
                *result = number(k, sign, k->inf);
            return true;
        }
        *result = c;
        return is_inf(k, c);
    case ADD:
        if (!(is_inf(k, a) && is_inf(k, b) && sign))
            *result = is_inf(k, a) ? a : b;
        return infinite;
    case MUL:
        if (infinite && !is_zero(k, a) && !is_zero(k, b))
            *result = number(k, sign, k->inf);
        else if (!infinite)
            *result = number(k, sign, 0);
        return infinite || is_zero(k, a) || is_zero(k, b);
    case DIV:
        if ((is_inf(k, a) && is_inf(k, b)) || (is_zero(k, a) && is_zero(k, b)))
            return true;
        *result = is_inf(k, a) || is_zero(k, b) ? too_large(k, sign) : number(k, sign, 0);
        return infinite || is_zero(k, a) || is_zero(k, b);
    default:
        if (is_zero(k, a) || (is_inf(k, a) && !negative(k, a)))
            *result = a;
        return is_zero(k, a) || is_inf(k, a) || negative(k, a);
    }
}

// Returns the exact result of finite operands.
static Exact exact_result(const Layout *k, Op op, const uint64_t *v)
{
    Decoded a = decode(k, magnitude(k, v[0])), b = decode(k, magnitude(k, v[1])), c = decode(k, magnitude(k, v[2]));
    int sa = negative(k, v[0]) ? -1 : 1, sb = negative(k, v[1]) ? -1 : 1, sc = negative(k, v[2]) ? -1 : 1;
    Term sum[] = {{sa, a.sig, 1, a.exp}, {sb, b.sig, 1, b.exp}};
    Term fma[] = {{sa * sb, a.sig, b.sig, a.exp + b.exp}, {sc, c.sig, 1, c.exp}};
    Term dividend[] = {{sa * sb, a.sig, 1, a.exp}};
    Exact e;
    switch (op) {
    case ADD: return exact_sum(sum, 2);
    case MUL: return exact_sum(fma, 1);
    case FMA: return exact_sum(fma, 2);
    case DIV:
        e = exact_sum(dividend, 1);
        e.divisor = b;
        return e;
    default:
        e = exact_sum(sum, 1);
        e.root = true;
        return e;
    }
}

static void check_op(const Layout *k, Op op, const uint64_t *v)
{
    uint64_t got[ROUNDINGS];
    Expected x = {.bracketed = true};
    for (int r = 0; r < ROUNDINGS; r++)
        got[r] = compute(op, k->f, v, (Rounding)r);
    if (special(k, op, v, &x.of[0])) {
        for (int r = 1; r < ROUNDINGS; r++)
            x.of[r] = x.of[0];
    } else {
        Exact e = exact_result(k, op, v);
        if (sign_of_sum(e.t, e.n) != 0) {
            check_rounded(op_names[op], k, v, &e, got);
            return;
        }
        for (int r = 0; r < ROUNDINGS; r++)  // a zero sum
            x.of[r] = number(k, e.t[0].sign == e.t[1].sign ? e.t[0].sign < 0 : r == ROUND_DOWN, 0);
    }
    check_all(op_names[op], k, v, got, &x);
}

// Returns a number near a boundary case.
static uint64_t hard_operand(const Layout *k, uint64_t *seed)
{
    uint64_t bits = random64(seed), one = (uint64_t)1 << k->frac_bits, frac = bits & (one - 1), bias, m;
    bool sign = bits >> 63;
    bias = ((uint64_t)1 << (k->exp_bits - 1)) - 1;
    switch (unit_random(seed, 8)) {
    case 0: m = (bias - 3 + unit_random(seed, 7)) * one + frac; break;
    case 1: {  // boundary values
        const uint64_t edge[] = {0, one, k->max, k->max + 1, bias * one, one / 2};
        m = edge[unit_random(seed, ARRAY_LEN(edge))] + unit_random(seed, 5) - 2;
        break;
    }
    case 2:
    case 3:  // few set or few clear bits
        frac = (uint64_t)1 << unit_random(seed, (uint32_t)k->frac_bits + 1);
        frac += ((uint64_t)1 << unit_random(seed, (uint32_t)k->frac_bits + 1)) * (bits & 3) - (bits >> 2 & 1);
        m = (bias - (uint64_t)k->frac_bits / 2 + unit_random(seed, (uint32_t)k->frac_bits)) * one + (frac & (one - 1));
        break;
    case 4: m = frac >> unit_random(seed, (uint32_t)k->frac_bits); break;  // subnormal
    case 5: m = unit_random(seed, 3) * one + frac; break;
    case 6: m = k->max + 1 - unit_random(seed, 3) * one + frac; break;
    default: m = bits >> 1; break;
    }
    return number(k, sign, m & (((uint64_t)1 << (width(k) - 1)) - 1));
}

static uint64_t nearby(const Layout *k, uint64_t a, uint64_t *seed)
{
    uint64_t m = magnitude(k, a) + unit_random(seed, 5) - 2;
    return number(k, negative(k, a), m & (((uint64_t)1 << (width(k) - 1)) - 1));
}

static void hard_operands(const Layout *k, Op op, uint64_t *v, uint64_t *seed)
{
    for (int n = 0; n < 3; n++)
        v[n] = hard_operand(k, seed);
    uint64_t minus = number(k, true, 0);
    if (unit_random(seed, 3) == 0)
        switch (op) {  // cancellation, exact or nearly exact quotients and roots
        case ADD: v[1] = nearby(k, v[0], seed) ^ minus; break;
        case FMA: v[2] = nearby(k, float_mul(k->f, v[0], v[1], ROUND_NEAREST_EVEN), seed) ^ minus; break;
        case DIV: v[0] = nearby(k, float_mul(k->f, v[1], v[2], ROUND_NEAREST_EVEN), seed); break;
        case SQRT: v[0] = nearby(k, float_mul(k->f, v[1], v[1], ROUND_NEAREST_EVEN), seed) & ~minus; break;
        default: break;
        }
    if (op == SQRT && unit_random(seed, 8))
        v[0] &= ~minus;
}

TEST(hard_cases)
{
    uint64_t seed = 1;
    for (const Layout *k = layouts; k < layouts + LAYOUTS; k++)
        for (Op op = ADD; op < OP_KINDS; op++)
            for (int n = 0; n < 20000; n++) {
                uint64_t v[3];
                hard_operands(k, op, v, &seed);
                check_op(k, op, v);
            }
}

// All operands of 8-bit formats; a third operand is random.
TEST(all_of_8_bits)
{
    uint64_t seed = 2;
    for (const Layout *k = &layouts[E4M3]; k <= &layouts[E5M2]; k++)
        for (Op op = ADD; op < SQRT; op++)
            for (uint64_t n = 0; n < 0x10000; n++) {
                uint64_t v[3] = {n & 0xff, n >> 8, unit_random(&seed, 0x100)};
                check_op(k, op, v);
            }
}

TEST(all_roots)
{
    for (const Layout *k = layouts; k < layouts + LAYOUTS; k++)
        for (uint64_t a = 0; a < patterns(k); a++)
            check_op(k, SQRT, (uint64_t[3]){a, 0, 0});
}

/* -- All operands of f16 -------------------------------------------------------------------------------- */

// Returns a number of f16 in units of 2^-24: fixed point is fast enough for all operands.
static int64_t fixed_of(uint64_t a)
{
    Decoded d = decode(&layouts[F16], a & 0x7fff);
    int64_t v = (int64_t)(d.sig << (d.exp + 24));
    return a >> 15 ? -v : v;
}

// Checks the result n / d by ROUND_ZERO and one other rounding.
static bool right_half(Op op, const uint64_t *v, Int n, Int d, Rounding r)
{
    bool sign = n < 0;
    n = sign ? -n : n;
    uint64_t zero = compute(op, &format_f16, v, ROUND_ZERO), m = zero & 0x7fff;
    if (m > 0x7bff || zero >> 15 != sign)
        return false;
    Int from = fixed_of(m) * d, to = fixed_of(m + 1) * d, twice = 2 * n - from - to;
    bool up = r == ROUND_NEAREST_EVEN   ? twice > 0 || (twice == 0 && m & 1)
              : r == ROUND_NEAREST_AWAY ? twice >= 0
                                        : n > from && sign == (r == ROUND_DOWN);
    return from <= n && (n < to || m == 0x7bff) && compute(op, &format_f16, v, r) == zero + up;
}

static void check_half(Op op, const uint64_t *v, Rounding r)
{
    const Layout *k = &layouts[F16];
    uint64_t result;
    Int n = 0, d = 1;
    if (!special(k, op, v, &result)) {
        Int a = fixed_of(v[0]), b = fixed_of(v[1]), c = fixed_of(v[2]), one = 1 << 24;
        n = op == ADD ? a + b : op == MUL ? a * b : op == FMA ? a * b + c * one : (b < 0 ? -a : a) * one;
        d = op == ADD ? 1 : op == DIV ? (b < 0 ? -b : b) : one;
    }
    if (n == 0)
        check_op(k, op, v);
    else if (!right_half(op, v, n, d, r))
        note(op_names[op], k, v, (int)r), CHECK(!"right_half"), unit_context("%s", "");
}

TEST(all_of_f16)
{
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
    enum { CHOSEN = 200 };
#else
    enum { CHOSEN = 40 };
#endif
    static const uint16_t edges[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x0002, 0x0003, 0x03ff, 0x83ff, 0x0400, 0x0401,
                                     0x3bff, 0x3c00, 0xbc00, 0x3c01, 0x4000, 0x4200, 0x7bff, 0xfbff, 0x7c00, 0xfc00,
                                     0x7e00, 0x1400, 0x6400, 0x6800, 0x5555, 0xd555, 0x77ff, 0x3555};
    static const Rounding others[] = {ROUND_NEAREST_EVEN, ROUND_DOWN, ROUND_UP, ROUND_NEAREST_AWAY};
    uint64_t seed = 3;
    for (uint32_t n = 0; n < CHOSEN; n++) {
        uint64_t b = n < ARRAY_LEN(edges) ? edges[n] : unit_random(&seed, 0x10000);
        for (uint64_t a = 0; a < 0x10000; a++)
            for (Op op = ADD; op <= DIV; op++) {
                uint64_t v[3] = {a, b, 0};
                if (op == FMA)  // cancellation in every second case
                    v[2] = a & 1 ? nearby(&layouts[F16], float_mul(&format_f16, a, b, ROUND_ZERO), &seed) ^ 0x8000
                                 : unit_random(&seed, 0x10000);
                check_half(op, v, others[(a + n) % ARRAY_LEN(others)]);
            }
    }
}

/* -- Against the host ----------------------------------------------------------------------------------- */

#ifdef HOST

enum { BATCH = 500 };

typedef struct Batch {
    uint64_t v[BATCH][3], result[BATCH];
} Batch;

static uint64_t host_f64(Op op, const uint64_t *v)
{
    volatile double a, b, result;
    double x[2];
    memcpy(x, v, sizeof x);
    a = x[0];
    b = x[1];
    switch (op) {
    case ADD: result = a + b; break;
    case MUL: result = a * b; break;
    case DIV: result = a / b; break;
    default: result = _mm_cvtsd_f64(_mm_sqrt_sd(_mm_set_sd(a), _mm_set_sd(a))); break;
    }
    uint64_t bits;
    x[0] = result;
    memcpy(&bits, x, sizeof bits);
    return bits;
}

static uint64_t host_f32(Op op, const uint64_t *v)
{
    volatile float a, b, result;
    uint32_t bits[2] = {(uint32_t)v[0], (uint32_t)v[1]};
    float x[2];
    memcpy(x, bits, sizeof x);
    a = x[0];
    b = x[1];
    switch (op) {
    case ADD: result = a + b; break;
    case MUL: result = a * b; break;
    case DIV: result = a / b; break;
    default: result = _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(a))); break;
    }
    x[0] = result;
    memcpy(bits, x, sizeof bits[0]);
    return bits[0];
}

__attribute__((target("fma"))) static uint64_t host_fma(const Layout *k, const uint64_t *v)
{
    volatile __m128i a = _mm_cvtsi64_si128((long long)v[0]), b = _mm_cvtsi64_si128((long long)v[1]);
    __m128i c = _mm_cvtsi64_si128((long long)v[2]);
    volatile __m128i result;
    if (k->f == &format_f64)
        result = _mm_castpd_si128(_mm_fmadd_sd(_mm_castsi128_pd(a), _mm_castsi128_pd(b), _mm_castsi128_pd(c)));
    else
        result = _mm_castps_si128(_mm_fmadd_ss(_mm_castsi128_ps(a), _mm_castsi128_ps(b), _mm_castsi128_ps(c)));
    uint64_t bits = (uint64_t)_mm_cvtsi128_si64(result);
    return k->f == &format_f64 ? bits : (uint32_t)bits;
}

// Computes a batch on the host; the rounding is in bits 13 and 14 of the control word.
static void host_batch(const Layout *k, Op op, Batch *b, Rounding r)
{
    static const uint32_t control[] = {0x1f80, 0x7f80, 0x3f80, 0x5f80};
    uint32_t old = _mm_getcsr();
    _mm_setcsr(control[r]);
    for (int n = 0; n < BATCH; n++)
        b->result[n] = op == FMA             ? host_fma(k, b->v[n])
                       : k->f == &format_f64 ? host_f64(op, b->v[n])
                                             : host_f32(op, b->v[n]);
    _mm_setcsr(old);
}

static void check_batch(const Layout *k, Op op, const Batch *b, Rounding r)
{
    for (int n = 0; n < BATCH; n++) {
        uint64_t got = compute(op, k->f, b->v[n], r), expected = is_nan(k, b->result[n]) ? k->nan : b->result[n];
        if (got != expected) {
            note(op_names[op], k, b->v[n], (int)r);
            CHECK_EQ(got, expected);
            unit_context("%s", "");
        }
    }
}

TEST(host)
{
    enum { BATCHES = 1000000 / BATCH };
    static Batch b;
    uint64_t seed = 4;
    bool has_fma = __builtin_cpu_supports("fma");
    for (const Layout *k = &layouts[F32]; k <= &layouts[F64]; k++)
        for (Op op = ADD; op < OP_KINDS; op++)
            for (uint32_t n = 0; n < BATCHES && (op != FMA || has_fma); n++) {
                for (int j = 0; j < BATCH; j++)
                    hard_operands(k, op, b.v[j], &seed);
                host_batch(k, op, &b, (Rounding)(n % 4));
                check_batch(k, op, &b, (Rounding)(n % 4));
            }
}

#endif

/* -- Conversion ----------------------------------------------------------------------------------------- */

static void check_convert(const Layout *from, const Layout *to, uint64_t a)
{
    bool sign = negative(from, a);
    Decoded d = decode(from, magnitude(from, a));
    Exact e = exact_sum(&(Term){sign ? -1 : 1, d.sig, 1, d.exp}, 1);
    for (int finite = 0; finite < 2; finite++) {
        uint64_t got[ROUNDINGS], v[3] = {a, 0, (uint64_t)finite};
        Expected x = {.bracketed = true};
        for (int r = 0; r < ROUNDINGS; r++) {
            got[r] = float_convert(from->f, to->f, a, (Rounding)r, finite);
            x.of[r] = is_nan(from, a)    ? to->nan
                      : is_zero(from, a) ? number(to, sign, 0)
                      : finite           ? number(to, sign, to->max)
                                         : too_large(to, sign);
        }
        if (!is_nan(from, a) && !is_inf(from, a) && !is_zero(from, a))
            x = expected_of(to, &e, got[ROUND_ZERO], finite);
        check_all(from->name, to, v, got, &x);
    }
}

TEST(convert)
{
    uint64_t seed = 5;
    for (const Layout *from = layouts; from < layouts + LAYOUTS; from++)
        for (const Layout *to = layouts; to < layouts + LAYOUTS; to++) {
            for (uint64_t a = 0; a < patterns(from); a++)
                check_convert(from, to, a);
            for (int n = 0; n < 4000; n++)
                check_convert(from, to, hard_operand(from, &seed));
            // Numbers between two numbers of `to`, above and below their midpoint.
            for (int n = 0; n < 4000 && from->frac_bits > to->frac_bits && from->exp_bits >= to->exp_bits; n++) {
                uint64_t a = float_convert(to->f, from->f, hard_operand(to, &seed), ROUND_ZERO, true);
                uint64_t half = (uint64_t)1 << (from->frac_bits - to->frac_bits - 1);
                check_convert(from, to, nearby(from, a + number(from, false, half), &seed));
            }
        }
}

// Returns |a| rounded to an integer, with a finite; larger values give at least UINT64_MAX + 1.
static Bits whole_of(const Layout *k, uint64_t a, Rounding r)
{
    Decoded d = decode(k, magnitude(k, a));
    if (d.exp >= 0)
        return d.exp > 64 && d.sig ? (Bits)1 << 120 : (Bits)d.sig << MIN(d.exp, 64);
    int shift = MIN(-d.exp, 100);
    Bits unit = (Bits)1 << shift, whole = d.sig >> MIN(shift, 63), rest = d.sig & (unit - 1);
    bool sign = negative(k, a);
    switch (r) {
    case ROUND_NEAREST_EVEN: return whole + (2 * rest > unit || (2 * rest == unit && whole & 1));
    case ROUND_NEAREST_AWAY: return whole + (2 * rest >= unit);
    case ROUND_DOWN: return whole + (rest && sign);
    case ROUND_UP: return whole + (rest && !sign);
    default: return whole;
    }
}

static void check_to_integer(const Layout *k, uint64_t a, uint32_t bits, bool is_signed, Rounding r)
{
    bool nan;
    uint64_t got = float_to_integer(k->f, a, r, bits, is_signed, &nan), expected = 0;
    if (!is_nan(k, a)) {
        Int low = is_signed ? -((Int)1 << (bits - 1)) : 0, high = ((Int)1 << (bits - is_signed)) - 1;
        Int whole = is_inf(k, a) ? (Int)1 << 120 : (Int)whole_of(k, a, r);
        whole = negative(k, a) ? -whole : whole;
        whole = whole < low ? low : whole > high ? high : whole;
        expected = (uint64_t)whole & UINT64_MAX >> (64 - bits);
    }
    if (got != expected || nan != is_nan(k, a)) {
        note(is_signed ? "to s" : "to u", k, (uint64_t[3]){a, bits, 0}, (int)r);
        CHECK_EQ(got, expected);
        CHECK_EQ(nan, is_nan(k, a));
        unit_context("%s", "");
    }
}

static void check_integral(const Layout *k, uint64_t a, Rounding r)
{
    uint64_t got = float_integral(k->f, a, r);
    bool ok;
    if (is_nan(k, a)) {
        ok = got == k->nan;
    } else if (is_inf(k, a) || whole_of(k, a, r) >> 64 != 0) {
        ok = got == a;
    } else {
        Decoded d = decode(k, magnitude(k, got));
        Term t[] = {{1, (uint64_t)whole_of(k, a, r), 1, 0}, {-1, d.sig, 1, d.exp}};
        ok = sign_of_sum(t, 2) == 0 && negative(k, got) == negative(k, a);
    }
    if (!ok)
        note("integral", k, (uint64_t[3]){a, got, 0}, (int)r), CHECK(ok), unit_context("%s", "");
}

static void check_integers(const Layout *k, uint64_t a)
{
    for (int r = 0; r < ROUNDINGS; r++) {
        for (uint32_t bits = 8; bits <= 64; bits *= 2)
            for (int is_signed = 0; is_signed < 2; is_signed++)
                check_to_integer(k, a, bits, is_signed, (Rounding)r);
        check_integral(k, a, (Rounding)r);
    }
}

TEST(to_integer)
{
    uint64_t seed = 6;
    for (const Layout *k = layouts; k < layouts + LAYOUTS; k++) {
        for (uint64_t a = 0; a < patterns(k); a++)
            check_integers(k, a);
        for (int n = 0; n < 10000; n++)
            check_integers(k, hard_operand(k, &seed));
        // Boundaries of integer types with halves around them, and integers of all sizes.
        for (uint32_t n = 0; n < 65 * 20; n++) {
            uint64_t edge = ((uint64_t)1 << n / 20 % 64) - (n / 20 == 64) + random64(&seed) % ((uint64_t)2 << n / 40);
            uint64_t a = float_from_integer(k->f, edge, 64, n & 1, (Rounding)(n % 3));
            check_integers(k, nearby(k, a, &seed));
        }
        for (int n = 0; n < 2000; n++) {  // n / 4
            uint64_t quarter = float_from_integer(k->f, unit_random(&seed, 1200), 64, false, ROUND_ZERO);
            Number x = float_unpack(k->f, quarter);
            x.exp -= 2;
            x.negative = n & 1;
            check_integers(k, float_pack(k->f, x, ROUND_ZERO, false));
        }
    }
}

static void check_from_integer(const Layout *k, uint64_t a, uint32_t bits, bool is_signed)
{
    uint64_t mask = UINT64_MAX >> (64 - bits), got[ROUNDINGS], v[3] = {a, bits, is_signed};
    bool sign = is_signed && a >> (bits - 1) & 1;
    uint64_t m = sign ? (mask ^ (a & mask)) + 1 : a & mask;
    for (int r = 0; r < ROUNDINGS; r++)
        got[r] = float_from_integer(k->f, a, bits, is_signed, (Rounding)r);
    if (m) {
        Exact e = exact_sum(&(Term){sign ? -1 : 1, m, 1, 0}, 1);
        check_rounded("from", k, v, &e, got);
    } else {
        check_all("from", k, v, got, &(Expected){.bracketed = true});
    }
}

TEST(from_integer)
{
    uint64_t seed = 7;
    for (const Layout *k = layouts; k < layouts + LAYOUTS; k++)
        for (int is_signed = 0; is_signed < 2; is_signed++) {
            for (uint64_t a = 0; a < 0x10000; a++)
                check_from_integer(k, a, a < 0x100 ? 8 : 16, is_signed);
            for (uint32_t n = 0; n < 40000; n++) {
                uint64_t a = random64(&seed) >> unit_random(&seed, 64);
                if (n % 3 == 0)  // near the precision of a format, and near the bounds of integers
                    a = ((uint64_t)1 << unit_random(&seed, 64)) * (1 + 2 * unit_random(&seed, 4)) + a % 5 - 2;
                check_from_integer(k, a, 8u << n % 4, is_signed);
            }
        }
}

/* -- Parts ---------------------------------------------------------------------------------------------- */

TEST(pack)
{
    uint64_t seed = 8;
    for (const Layout *k = layouts; k < layouts + LAYOUTS; k++) {
        int bias = (1 << (k->exp_bits - 1)) - 1;
        for (int n = 0; n < 20000; n++) {
            uint64_t got[ROUNDINGS], bits = random64(&seed);
            Number x = {.negative = bits & 1, .sticky = bits >> 1 & 1};
            // Mostly numbers whose last bit is near the rounding position.
            int cut = k->frac_bits + 2 - (int)unit_random(&seed, 4);
            x.sig = (bits % 5 ? bits & ~(UINT64_MAX >> cut) : bits) | (uint64_t)1 << 63;
            x.exp =
                (int)unit_random(&seed, 3) - 1 + (bits & 4 ? bias : -bias - k->frac_bits * (int)(bits >> 3 & 1)) - 63;
            if (n % 4 == 0)
                x.exp = (int)unit_random(&seed, (uint32_t)(4 * bias)) - 2 * bias - 63;
            int s = x.negative ? -1 : 1;
            Exact e = exact_sum((Term[]){{s, x.sig, 1, x.exp}, {s, x.sticky, 1, x.exp - 1}}, 2);
            for (int finite = 0; finite < 2; finite++) {
                for (int r = 0; r < ROUNDINGS; r++)
                    got[r] = float_pack(k->f, x, (Rounding)r, finite);
                Expected expected = expected_of(k, &e, got[ROUND_ZERO], finite);
                check_all("pack", k, (uint64_t[3]){x.sig, (uint64_t)(int64_t)x.exp, x.sticky}, got, &expected);
            }
        }
    }
}

// Exponents out of range of all formats, and zero.
TEST(pack_extremes)
{
    for (const Layout *k = layouts; k < layouts + LAYOUTS; k++)
        for (int sign = 0; sign < 2; sign++) {
            Number large = {sign, true, INT32_MAX, UINT64_MAX}, small = {sign, false, INT32_MIN, (uint64_t)1 << 63};
            unit_context("%s", k->name);
            CHECK_EQ(float_pack(k->f, large, ROUND_NEAREST_EVEN, false), too_large(k, sign));
            CHECK_EQ(float_pack(k->f, large, ROUND_NEAREST_EVEN, true), number(k, sign, k->max));
            CHECK_EQ(float_pack(k->f, large, ROUND_ZERO, false), number(k, sign, k->max));
            CHECK_EQ(float_pack(k->f, small, ROUND_NEAREST_EVEN, false), number(k, sign, 0));
            CHECK_EQ(float_pack(k->f, small, ROUND_UP, false), number(k, sign, !sign));
            CHECK_EQ(float_pack(k->f, small, ROUND_DOWN, false), number(k, sign, sign));
            CHECK_EQ(float_pack(k->f, (Number){.negative = sign}, ROUND_UP, false), number(k, sign, 0));
        }
    unit_context("%s", "");
}

static void check_parts(const Layout *k, uint64_t a)
{
    uint64_t m = magnitude(k, a);
    bool sign = negative(k, a);
    FloatClass class = is_nan(k, a)                       ? FLOAT_NAN
                       : is_inf(k, a)                     ? FLOAT_INF
                       : m >= (uint64_t)1 << k->frac_bits ? FLOAT_NORMAL
                       : m                                ? FLOAT_SUBNORMAL
                                                          : FLOAT_ZERO;
    bool ok = float_class(k->f, a) == class;
    ok &= float_flush(k->f, a) == (class == FLOAT_SUBNORMAL ? number(k, sign, 0) : a);
    if (class <= FLOAT_NORMAL) {
        Number n = float_unpack(k->f, a);
        Decoded d = decode(k, m);
        ok &= n.negative == sign && !n.sticky && (m ? n.sig >> 63 : n.sig == 0);
        ok &= sign_of_sum((Term[]){{1, n.sig, 1, n.exp}, {-1, d.sig, 1, d.exp}}, 2) == 0;
        ok &= float_pack(k->f, n, ROUND_UP, false) == a;
    }
    if (!ok)
        note("parts", k, (uint64_t[3]){a, 0, 0}, -1), CHECK(ok), unit_context("%s", "");
}

TEST(parts)
{
    uint64_t seed = 9;
    for (const Layout *k = layouts; k < layouts + LAYOUTS; k++) {
        for (uint64_t a = 0; a < patterns(k); a++)
            check_parts(k, a);
        for (int n = 0; n < 20000; n++)
            check_parts(k, hard_operand(k, &seed));
        for (int sign = 0; sign < 2; sign++) {
            unit_context("%s", k->name);
            CHECK_EQ(float_inf(k->f, sign), too_large(k, sign));
            CHECK_EQ(float_max(k->f, sign), number(k, sign, k->max));
        }
        CHECK_EQ(float_bits(k->f), width(k) + k->unused);
        CHECK_EQ(float_sign(k->f), number(k, true, 0));
        CHECK_EQ(k->f->nan, k->nan);
    }
    unit_context("%s", "");
}

static void check_order(const Layout *k, uint64_t a, uint64_t b)
{
    FloatOrder expected = FLOAT_UNORDERED;
    if (!is_nan(k, a) && !is_nan(k, b)) {  // infinity has the value of the next number
        Decoded x = decode(k, magnitude(k, a)), y = decode(k, magnitude(k, b));
        Term t[] = {{negative(k, a) ? -1 : 1, x.sig, 1, x.exp}, {negative(k, b) ? 1 : -1, y.sig, 1, y.exp}};
        int s = sign_of_sum(t, 2);
        expected = s < 0 ? FLOAT_LESS : s > 0 ? FLOAT_GREATER : FLOAT_EQUAL;
    }
    FloatOrder got = float_compare(k->f, a, b);
    if (got != expected)
        note("compare", k, (uint64_t[3]){a, b, 0}, -1), CHECK_EQ(got, expected), unit_context("%s", "");
}

TEST(order)
{
    uint64_t seed = 10;
    for (const Layout *k = layouts; k < layouts + LAYOUTS; k++) {
        for (uint64_t n = 0; n < 0x10000 && width(k) == 8; n++)
            check_order(k, n & 0xff, n >> 8);
        for (int n = 0; n < 20000; n++) {
            uint64_t a = hard_operand(k, &seed), b = hard_operand(k, &seed);
            check_order(k, a, b);
            check_order(k, a, nearby(k, a, &seed));
        }
    }
}

/* -- By hand -------------------------------------------------------------------------------------------- */

TEST(vectors)
{
    static const struct {
        Op op;
        uint8_t layout;
        Rounding r;
        uint64_t a, b, c, result;
    } rows[] = {
        {ADD, F32, ROUND_NEAREST_EVEN, 0x3f800000, 0x33800000, 0, 0x3f800000},  // 1 + 2^-24: a tie
        {ADD, F32, ROUND_NEAREST_AWAY, 0x3f800000, 0x33800000, 0, 0x3f800001},
        {ADD, F32, ROUND_NEAREST_EVEN, 0x3f800001, 0x33800000, 0, 0x3f800002},
        {ADD, F32, ROUND_UP, 0x3f800000, 1, 0, 0x3f800001},
        {ADD, F32, ROUND_DOWN, 0x3f800000, 0x80000001, 0, 0x3f7fffff},
        {ADD, F32, ROUND_NEAREST_EVEN, 0x3f800000, 0xbf800000, 0, 0},  // 1 - 1
        {ADD, F32, ROUND_DOWN, 0x3f800000, 0xbf800000, 0, 0x80000000},
        {ADD, F32, ROUND_NEAREST_EVEN, 0x80000000, 0x80000000, 0, 0x80000000},
        {ADD, F32, ROUND_NEAREST_EVEN, 0x7f800000, 0xff800000, 0, 0x7fffffff},
        {ADD, F32, ROUND_NEAREST_EVEN, 0x7f7fffff, 0x7f7fffff, 0, 0x7f800000},
        {ADD, F32, ROUND_ZERO, 0x7f7fffff, 0x7f7fffff, 0, 0x7f7fffff},
        {MUL, F32, ROUND_NEAREST_EVEN, 0x00800000, 0x3f000000, 0, 0x00400000},  // 2^-126 / 2: subnormal
        {MUL, F32, ROUND_NEAREST_EVEN, 1, 0x3f000000, 0, 0},                    // half of the least number
        {MUL, F32, ROUND_NEAREST_EVEN, 1, 0x3f000001, 0, 1},
        {MUL, F32, ROUND_UP, 0x80000001, 0x3f000000, 0, 0x80000000},
        {MUL, F32, ROUND_NEAREST_EVEN, 0x00ffffff, 0x3f000000, 0, 0x00800000},  // rounds up to the least normal number
        {MUL, F32, ROUND_NEAREST_EVEN, 0, 0xff800000, 0, 0x7fffffff},
        {FMA, F32, ROUND_NEAREST_EVEN, 0x3f800001, 0x3f800001, 0xbf800002, 0x28800000},  // the result is 2^-46
        {FMA, F32, ROUND_DOWN, 0x3f800000, 0x3f800000, 0xbf800000, 0x80000000},
        {FMA, F32, ROUND_NEAREST_EVEN, 0x7f800000, 0, 0x7fc00000, 0x7fffffff},
        {FMA, F32, ROUND_NEAREST_EVEN, 0x7f7fffff, 0x40000000, 0xff800000, 0xff800000},
        {FMA, F64, ROUND_NEAREST_EVEN, 0x3ff0000000000001, 0x3ff0000000000001, 0xbff0000000000002, 0x3970000000000000},
        {DIV, F32, ROUND_NEAREST_EVEN, 0x3f800000, 0x40400000, 0, 0x3eaaaaab},  // 1 / 3
        {DIV, F32, ROUND_ZERO, 0x3f800000, 0x40400000, 0, 0x3eaaaaaa},
        {DIV, F32, ROUND_NEAREST_EVEN, 0xbf800000, 0, 0, 0xff800000},
        {DIV, F32, ROUND_NEAREST_EVEN, 0, 0, 0, 0x7fffffff},
        {DIV, F64, ROUND_NEAREST_EVEN, 0x3ff0000000000000, 0x4008000000000000, 0, 0x3fd5555555555555},
        {SQRT, F32, ROUND_NEAREST_EVEN, 0x40000000, 0, 0, 0x3fb504f3},
        {SQRT, F32, ROUND_NEAREST_EVEN, 0x80000000, 0, 0, 0x80000000},
        {SQRT, F32, ROUND_NEAREST_EVEN, 0xbf800000, 0, 0, 0x7fffffff},
        {SQRT, F64, ROUND_NEAREST_EVEN, 0x4000000000000000, 0, 0, 0x3ff6a09e667f3bcd},
        {ADD, F16, ROUND_NEAREST_EVEN, 0x7bff, 0x4bff, 0, 0x7bff},  // 65504 + 15.99
        {ADD, F16, ROUND_NEAREST_EVEN, 0x7bff, 0x4c00, 0, 0x7c00},  // 65504 + 16
        {MUL, BF16, ROUND_NEAREST_EVEN, 0x3f81, 0x3f81, 0, 0x3f82},
        {ADD, TF32, ROUND_NEAREST_AWAY, 0x3f800000, 0x3a000000, 0, 0x3f802000},
    };
    for (size_t n = 0; n < ARRAY_LEN(rows); n++) {
        uint64_t v[3] = {rows[n].a, rows[n].b, rows[n].c};
        const Layout *k = &layouts[rows[n].layout];
        note(op_names[rows[n].op], k, v, (int)rows[n].r);
        CHECK_EQ(compute(rows[n].op, k->f, v, rows[n].r), rows[n].result);
    }
    unit_context("%s", "");
    CHECK_EQ(float_convert(&format_f32, &format_e4m3, 0x43e80001, ROUND_NEAREST_EVEN, true), 0x7e);   // above 464
    CHECK_EQ(float_convert(&format_f32, &format_e5m2, 0x47700000, ROUND_NEAREST_EVEN, false), 0x7c);  // 61440
    CHECK_EQ(float_convert(&format_f32, &format_tf32, 0x3f801000, ROUND_NEAREST_AWAY, false), 0x3f802000);
    CHECK_EQ(float_convert(&format_f32, &format_f16, 0x33000000, ROUND_NEAREST_EVEN, false), 0);  // 2^-25
    CHECK_EQ(float_convert(&format_f64, &format_f32, 0xfff0000000000001, ROUND_ZERO, false), 0x7fffffff);
}

void test_softfloat(void)
{
    RUN(vectors);
    RUN(parts);
    RUN(order);
    RUN(pack);
    RUN(pack_extremes);
    RUN(hard_cases);
    RUN(all_of_8_bits);
    RUN(all_roots);
    RUN(all_of_f16);
#ifdef HOST
    RUN(host);
#endif
    RUN(convert);
    RUN(to_integer);
    RUN(from_integer);
}
