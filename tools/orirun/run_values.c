// SPDX-License-Identifier: MIT
// Values as text and as bytes. Floating point uses ir/eval/softfloat.h, so that generated buffers do not depend on the
// compiler's contraction and wider intermediates; libc converts decimal text only.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "ir/eval/softfloat.h"
#include "tools/orirun/run_values.h"

/* -- Types ---------------------------------------------------------------------------------------------- */

static uint32_t type_bits(Type t) { return width_bits(type_info[t].width); }

// Returns the format of a floating-point type; NULL: it is another type, or packed.
static const Format *format_of(Type t)
{
    switch (t) {
    case TY_F16: return &format_f16;
    case TY_BF16: return &format_bf16;
    case TY_TF32: return &format_tf32;
    case TY_F32: return &format_f32;
    case TY_F64: return &format_f64;
    default: return NULL;
    }
}

bool value_type(Type t)
{
    uint32_t bits = type_bits(t);
    return bits >= 8 && bits <= 64 && type_info[t].class != TC_O;
}

uint32_t value_bytes(Type t) { return type_bits(t) / 8; }

bool value_has_ulps(Type t) { return format_of(t); }

static bool is_signed(Type t) { return type_info[t].class == TC_S; }

static uint64_t low_bits(uint64_t v, uint32_t bits) { return bits == 64 ? v : v & ((UINT64_C(1) << bits) - 1); }

static int64_t sign_extend(uint64_t v, uint32_t bits)
{
    uint64_t sign = UINT64_C(1) << (bits - 1);
    return (int64_t)((low_bits(v, bits) ^ sign) - sign);
}

uint64_t value_load(const uint8_t *from, Type t)
{
    uint64_t bits = 0;
    for (uint32_t k = 0; k < value_bytes(t); k++)
        bits |= (uint64_t)from[k] << 8 * k;
    return bits;
}

void value_store(uint8_t *to, Type t, uint64_t bits)
{
    for (uint32_t k = 0; k < value_bytes(t); k++)
        to[k] = (uint8_t)(bits >> 8 * k);
}

/* -- Text to values ------------------------------------------------------------------------------------- */

static bool report_bad_value(Type t, const char *text, const char *expected, char why[static 200])
{
    snprintf(why, 200, "'%.60s' is not %s %s", text, expected, type_info[t].name);
    return false;
}

// Reads the bits after `0x`, `0f` or `0d`.
static bool parse_bits(Type t, const char *text, uint64_t *bits, char why[static 200])
{
    char *end;
    errno = 0;
    *bits = strspn(text + 2, "0123456789abcdefABCDEF") ? strtoull(text + 2, &end, 16) : (end = NULL, 0);
    if (!end || *end)
        return report_bad_value(t, text, "the bits of a", why);
    if (errno || low_bits(*bits, type_bits(t)) != *bits) {
        snprintf(why, 200, "'%.60s' has more than the %u bits of %s", text, type_bits(t), type_info[t].name);
        return false;
    }
    return true;
}

static uint64_t double_bits(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits;
}

static bool parse_float(Type t, const char *text, uint64_t *bits, char why[static 200])
{
    const Format *f = format_of(t);
    char *end;
    if (t == TY_F32) {  // strtod() and a conversion would round twice
        float single = strtof(text, &end);
        uint32_t word;
        memcpy(&word, &single, sizeof word);
        *bits = word;
    } else {
        *bits = float_convert(&format_f64, f, double_bits(strtod(text, &end)), ROUND_NEAREST_EVEN, false);
    }
    if (end == text || *end)
        return report_bad_value(t, text, "a number for", why);
    if (float_class(f, *bits) == FLOAT_NAN)
        *bits = f->nan;
    if (float_class(f, *bits) == FLOAT_INF && !strpbrk(text, "iI")) {
        snprintf(why, 200, "'%.60s' is too large for %s", text, type_info[t].name);
        return false;
    }
    return true;
}

static bool parse_integer(Type t, const char *text, uint64_t *bits, char why[static 200])
{
    uint32_t n = type_bits(t);
    bool minus = *text == '-', may_minus = type_info[t].class != TC_U;
    const char *digits = text + (minus || *text == '+');
    char *end = NULL;
    errno = 0;
    if (*digits >= '0' && *digits <= '9')
        *bits = strtoull(digits, &end, 10);
    if (!end || *end)
        return report_bad_value(t, text, "a whole number for", why);
    uint64_t half = UINT64_C(1) << (n - 1), most = minus ? half : is_signed(t) ? half - 1 : half + (half - 1);
    if (errno || *bits > most || (minus && *bits && !may_minus)) {
        if (is_signed(t))
            snprintf(why, 200, "'%.60s' does not fit: the range of %s is %" PRId64 " to %" PRIu64, text,
                     type_info[t].name, sign_extend(half, n), half - 1);
        else
            snprintf(why, 200, "'%.60s' does not fit: the range of %s is 0 to %" PRIu64, text, type_info[t].name,
                     half + (half - 1));
        return false;
    }
    *bits = low_bits(minus ? 0 - *bits : *bits, n);
    return true;
}

// True if the text gives bits instead of a number.
static bool is_bits(Type t, const char *text)
{
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') && !strpbrk(text, ".pP");
    return hex || (format_of(t) && text[0] == '0' && text[1] && strchr("fFdD", text[1]));
}

bool value_parse(Type t, const char *text, uint64_t *bits, char why[static 200])
{
    if (is_bits(t, text))
        return parse_bits(t, text, bits, why);
    if (!*text || strchr(" \t", *text))
        return report_bad_value(t, text, "a number for", why);
    return format_of(t) ? parse_float(t, text, bits, why) : parse_integer(t, text, bits, why);
}

bool value_parse_wide(Type t, const char *text, uint64_t *bits, char why[static 200])
{
    const Format *f = format_of(t);
    uint64_t narrow;
    if (!value_parse(t, text, &narrow, why))
        return false;
    *bits = f && is_bits(t, text) ? float_convert(f, &format_f64, narrow, ROUND_NEAREST_EVEN, false) : narrow;
    return !f || is_bits(t, text) || value_parse(TY_F64, text, bits, why);
}

/* -- Values to text ------------------------------------------------------------------------------------- */

static void print_bits(Out *out, Type t, uint64_t bits) { out_fmt(out, "0x%0*" PRIx64, (int)value_bytes(t) * 2, bits); }

static void print_float(Out *out, Type t, uint64_t bits)
{
    const Format *f = format_of(t);
    uint64_t wide = float_convert(f, &format_f64, bits, ROUND_NEAREST_EVEN, false);
    char text[40], why[200];
    double d;
    memcpy(&d, &wide, sizeof d);
    if (d > -1e9 && d < 1e9 && d == (double)(int32_t)d) {  // 65504, not the 6.55e+04 that f16 reads back as well
        out_fmt(out, "%.0f", d);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        uint64_t back;
        snprintf(text, sizeof text, "%.*g", digits, d);
        if (float_class(f, bits) != FLOAT_NAN && value_parse(t, text, &back, why) && back == bits) {
            out_z(out, text);
            return;
        }
    }
    if (bits == f->nan)
        out_z(out, "nan");
    else
        print_bits(out, t, bits);
}

void value_print(Out *out, Type t, uint64_t bits)
{
    if (format_of(t))
        print_float(out, t, bits);
    else if (type_info[t].class == TC_U)
        out_u64(out, bits);
    else if (is_signed(t))
        out_i64(out, sign_extend(bits, type_bits(t)));
    else
        print_bits(out, t, bits);
}

void bytes_print(Out *out, const char *name, Type t, const uint8_t *bytes, uint64_t n)
{
    uint32_t size = t ? value_bytes(t) : 1, row = t ? 8 : 16;
    uint64_t count = n / size;
    for (uint64_t k = 0; k < count; k += row) {
        out_fmt(out, "%s%s%s[%" PRIu64 "]", name, t ? ":" : "", t ? type_info[t].name : "", k);
        for (uint64_t v = k; v < MIN(k + row, count); v++) {
            out_char(out, ' ');
            if (t)
                value_print(out, t, value_load(bytes + v * size, t));
            else
                out_fmt(out, "%02x", bytes[v]);
        }
        out_char(out, '\n');
    }
    if (n % size) {
        out_fmt(out, "%s[%" PRIu64 "]", name, count * size);
        for (uint64_t k = count * size; k < n; k++)
            out_fmt(out, " %02x", bytes[k]);
        out_char(out, '\n');
    }
}

/* -- Comparison ----------------------------------------------------------------------------------------- */

bool value_near(Type t, uint64_t a, uint64_t b, uint64_t ulps)
{
    const Format *f = format_of(t);
    FloatClass ca = float_class(f, a), cb = float_class(f, b);
    if (ca == FLOAT_NAN || cb == FLOAT_NAN)
        return ca == cb;
    if (ca == FLOAT_INF || cb == FLOAT_INF)
        return a == b;
    uint64_t sign = float_sign(f), ma = (a & ~sign) >> f->unused_bits, mb = (b & ~sign) >> f->unused_bits;
    uint64_t apart = (a ^ b) & sign ? ma + mb : ma > mb ? ma - mb : mb - ma;
    return apart <= ulps;
}

bool value_is_number(Type t) { return format_of(t) || type_info[t].class == TC_U || is_signed(t); }

static uint64_t to_wide(Type t, uint64_t bits)
{
    const Format *f = format_of(t);
    if (f)
        return float_convert(f, &format_f64, bits, ROUND_NEAREST_EVEN, false);
    uint64_t n = is_signed(t) ? (uint64_t)sign_extend(bits, type_bits(t)) : bits;
    return float_from_integer(&format_f64, n, 64, is_signed(t), ROUND_NEAREST_EVEN);
}

bool value_within(Type t, uint64_t a, uint64_t b, uint64_t absolute, uint64_t relative)
{
    const Format *d = &format_f64;
    uint64_t sign = float_sign(d), x = to_wide(t, a), y = to_wide(t, b);
    FloatClass cx = float_class(d, x), cy = float_class(d, y);
    if (cx == FLOAT_NAN || cy == FLOAT_NAN)
        return cx == cy;
    if (cx == FLOAT_INF || cy == FLOAT_INF)
        return x == y;
    uint64_t apart = float_add(d, x, y ^ sign, ROUND_NEAREST_EVEN) & ~sign;
    uint64_t bound = float_mul(d, relative, y & ~sign, ROUND_NEAREST_EVEN);
    return float_compare(d, float_add(d, absolute, bound, ROUND_NEAREST_EVEN), apart) != FLOAT_LESS;
}

bool value_less_wide(Type t, uint64_t a, uint64_t b)
{
    if (format_of(t))
        return float_compare(&format_f64, a, b) == FLOAT_LESS;
    return is_signed(t) ? sign_extend(a, type_bits(t)) < sign_extend(b, type_bits(t)) : a < b;
}

/* -- Generated contents --------------------------------------------------------------------------------- */

// splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators"): element k of a buffer takes the
// k-th number after the seed.
static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

// Returns low + u * (high - low) in f64, rounded to the type; the fraction u has the draw's top 24 bits (53 for f64).
// The default range is [0, 1). Rounding to a coarse type may give `high` itself.
static uint64_t random_float(const Fill *f, uint64_t draw)
{
    const Format *d = &format_f64;
    bool wide = f->type == TY_F64;
    uint64_t unit = float_from_integer(d, wide ? draw >> 11 : draw >> 40, 64, false, ROUND_NEAREST_EVEN);
    uint64_t scale = float_one(d) - ((uint64_t)(wide ? 53 : 24) << d->frac_bits);  // 2^-53 or 2^-24
    uint64_t low = f->ranged ? f->low : 0;
    uint64_t high = f->ranged ? f->high : float_one(d);
    uint64_t span = float_add(d, high, low ^ float_sign(d), ROUND_NEAREST_EVEN);
    uint64_t rise = float_mul(d, float_mul(d, unit, scale, ROUND_NEAREST_EVEN), span, ROUND_NEAREST_EVEN);
    return float_convert(d, format_of(f->type), float_add(d, low, rise, ROUND_NEAREST_EVEN), ROUND_NEAREST_EVEN, false);
}

// Returns low + draw mod (high - low), with a negligible bias; without a range, the draw's low bits.
static uint64_t random_integer(const Fill *f, uint64_t draw)
{
    uint32_t bits = type_bits(f->type);
    if (!f->ranged)
        return low_bits(draw, bits);
    uint64_t span = low_bits(f->high - f->low, bits);
    return low_bits(f->low + draw % span, bits);
}

// Returns start + k * step, for floating point by two operations in f64, then rounded to the type.
static uint64_t iota(const Fill *f, uint64_t k)
{
    const Format *d = &format_f64, *t = format_of(f->type);
    if (!t)
        return low_bits(f->start + k * f->step, type_bits(f->type));
    uint64_t n = float_from_integer(d, k, 64, false, ROUND_NEAREST_EVEN);
    uint64_t value = float_add(d, f->start, float_mul(d, n, f->step, ROUND_NEAREST_EVEN), ROUND_NEAREST_EVEN);
    return float_convert(d, t, value, ROUND_NEAREST_EVEN, false);
}

void fill_write(const Fill *f, uint8_t *to)
{
    uint64_t state = f->seed;
    if (f->kind == FILL_ZERO)
        return;
    for (uint64_t k = 0; k < f->count; k++, to += value_bytes(f->type)) {
        uint64_t bits = f->value;
        if (f->kind == FILL_IOTA)
            bits = iota(f, k);
        else if (f->kind == FILL_RAND && format_of(f->type))
            bits = random_float(f, splitmix64(&state));
        else if (f->kind == FILL_RAND)
            bits = random_integer(f, splitmix64(&state));
        value_store(to, f->type, bits);
    }
}

uint64_t bytes_digest(const uint8_t *bytes, uint64_t n)
{
    uint64_t h = UINT64_C(0xCBF29CE484222325);
    for (uint64_t k = 0; k < n; k++)
        h = (h ^ bytes[k]) * UINT64_C(0x100000001B3);
    return h;
}
