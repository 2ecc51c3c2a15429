// SPDX-License-Identifier: MIT
// The rules of folding at run time: values of expressions, and rules by name. foldgen makes the tables from
// fold_rules.def when the program is built.
#include <stdio.h>

#include "phases/scalar/fold/fold_rules.h"

/* -- Expressions ---------------------------------------------------------------------------------------- */

static uint64_t extended(uint64_t x, uint32_t bits)
{
    uint32_t unused = 64 - MIN(bits, 64u);
    return (uint64_t)((int64_t)(x << unused) >> unused);
}

/* Division by a constant as multiplication: Granlund and Montgomery, "Division by invariant integers using
   multiplication" (1994). x / d is the upper half of x * m, shifted right by s, where m = 2^(bits + s) / d, rounded up.
   The error of m is too small to change the quotient of any x of `bits` bits. */

__extension__ typedef unsigned __int128 Wide;

typedef struct Magic {
    bool fits;  // m fits into `bits` bits (signed: `bits` - 1); otherwise the highest bit of m is left out
    uint64_t m;
    uint32_t s;
} Magic;

static Magic magic_of(uint64_t d, uint32_t bits, bool is_signed)
{
    uint32_t most = d > 1 ? 64 - (uint32_t)__builtin_clzll(d - 1) : 0;  // log2 d, rounded up
    uint64_t limit = UINT64_MAX >> (64 - bits + is_signed);
    if (d < 2)
        return (Magic){.fits = false};
    for (uint32_t s = 0; s + is_signed <= most && bits + s < 128; s++) {
        Wide power = (Wide)1 << (bits + s), m = power / d + 1;
        if (m <= limit && m * d - power <= (Wide)1 << (s + is_signed))
            return (Magic){true, (uint64_t)m, s};
    }
    uint32_t s = most - is_signed;
    // 2^(bits + s) - 2^bits * d fits into Wide; 2^(bits + s) may not.
    Wide rest = is_signed ? ((Wide)1 << (bits + s)) / d : (((Wide)(((Wide)1 << s) - d)) << bits) / d;
    return (Magic){false, (uint64_t)(rest + 1) & (UINT64_MAX >> (64 - bits)), s};
}

static const ValueRange *range_of(RuleValues *values, uint32_t var)
{
    if (!(values->known >> var & 1))
        values->range[var] = values->of(values->user, var);
    values->known |= 1u << var;
    return &values->range[var];
}

uint64_t rule_eval(uint16_t code, RuleValues *values)
{
    uint64_t stack[16], a, b;
    uint32_t n = 0;
    for (const uint64_t *at = fold_rules.code + code;; at++) {
        RuleOperation op = *at & 0xff;
        uint32_t var = (uint32_t)(*at >> 8);
        a = n ? stack[n - 1] : 0;
        b = n > 1 ? stack[n - 2] : 0;
        switch (op) {
        case X_END: return a;
        case X_NUMBER: stack[n++] = *++at; continue;
        case X_CONST: stack[n++] = values->constant[var]; continue;
        case X_ZEROS: stack[n++] = range_of(values, var)->zeros; continue;
        case X_SET: stack[n++] = range_of(values, var)->ones; continue;
        case X_UMIN: stack[n++] = range_of(values, var)->umin; continue;
        case X_UMAX: stack[n++] = range_of(values, var)->umax; continue;
        case X_SMIN: stack[n++] = (uint64_t)range_of(values, var)->smin; continue;
        case X_SMAX: stack[n++] = (uint64_t)range_of(values, var)->smax; continue;
        case X_BITS: stack[n++] = values->bits; continue;
        case X_PAYS: stack[n - 1] = a || values->proving; continue;
        case X_OFFSET: stack[n++] = values->offset; continue;
        case X_PAST_CALLS: stack[n++] = values->past_calls; continue;
        case X_ONES: stack[n++] = UINT64_MAX >> (64 - values->bits); continue;
        case X_NEG: stack[n - 1] = 0 - a; continue;
        case X_NOT: stack[n - 1] = !a; continue;
        case X_COMPLEMENT: stack[n - 1] = ~a; continue;
        case X_SX: stack[n - 1] = extended(a, values->bits); continue;
        case X_SX2: stack[n - 1] = extended(a, 2 * values->bits); continue;
        case X_POW2: stack[n - 1] = a && !(a & (a - 1)); continue;
        case X_UFITS: stack[n - 1] = magic_of(a, values->bits, false).fits; continue;
        case X_UMAGIC: stack[n - 1] = magic_of(a, values->bits, false).m; continue;
        case X_USHIFT: stack[n - 1] = magic_of(a, values->bits, false).s; continue;
        case X_SFITS: stack[n - 1] = magic_of(a, values->bits, true).fits; continue;
        case X_SMAGIC: stack[n - 1] = magic_of(a, values->bits, true).m; continue;
        case X_SSHIFT: stack[n - 1] = magic_of(a, values->bits, true).s; continue;
        case X_LOG2: stack[n - 1] = a ? 63 - (uint32_t)__builtin_clzll(a) : 0; continue;
        default: break;
        }
        uint64_t value = 0;
        switch (op) {
        case X_OR: value = b | a; break;
        case X_XOR: value = b ^ a; break;
        case X_AND: value = b & a; break;
        case X_BOTH: value = b && a; break;
        case X_EITHER: value = b || a; break;
        case X_EQ: value = b == a; break;
        case X_NE: value = b != a; break;
        case X_LT: value = b < a; break;
        case X_GE: value = b >= a; break;
        case X_GT: value = b > a; break;
        case X_LE: value = b <= a; break;
        case X_SLT: value = (int64_t)b < (int64_t)a; break;
        case X_SLE: value = (int64_t)b <= (int64_t)a; break;
        case X_SHL: value = a < 64 ? b << a : 0; break;
        case X_SHR: value = a < 64 ? b >> a : 0; break;
        case X_ADD: value = b + a; break;
        case X_SUB: value = b - a; break;
        case X_MUL: value = b * a; break;
        case X_DIV: value = a ? b / a : 0; break;
        case X_REM: value = a ? b % a : 0; break;
        default: break;
        }
        stack[--n - 1] = value;
    }
}

/* -- Names ---------------------------------------------------------------------------------------------- */

static bool find_named(const char *text, size_t len, bool *off, char why[static 500])
{
    char pattern[64];
    bool found = false;
    snprintf(pattern, sizeof pattern, "%.*s", (int)MIN(len, sizeof pattern - 1), text);
    for (uint32_t k = 1; k <= fold_rules.n; k++) {
        if (!glob_match(pattern, fold_rules.rules[k].name, strlen(fold_rules.rules[k].name), true))
            continue;
        found = true;
        if (off)
            off[k] = true;
    }
    if (found)
        return true;
    Nearest best = {0};
    for (uint32_t k = 1; k <= fold_rules.n; k++)
        nearest_offer(&best, text, len, fold_rules.rules[k].name);
    int n = snprintf(why, 500, "'%s' is not a folding rule", pattern);
    nearest_print(&best, why + n, 500 - (size_t)n);
    return false;
}

bool rules_find(const char *names, bool *off, char why[static 500])
{
    for (size_t len; *names; names += len + (names[len] != 0)) {
        len = strcspn(names, ",+ \t");
        if (len && !find_named(names, len, off, why))
            return false;
    }
    return true;
}

uint64_t *rule_uses(Ctx *ctx)
{
    if (!ctx->rule_uses)
        ctx->rule_uses = NEW_ARRAY(&ctx->arena, uint64_t, fold_rules.n + 1);
    return ctx->rule_uses;
}
