// SPDX-License-Identifier: MIT
// The functions of expressions in fold_rules.def. foldgen prints an expression as a C function that calls them.
#ifndef ORI_FOLD_EXPR_H
#define ORI_FOLD_EXPR_H

#include "phases/scalar/fold/fold_rules.h"

// The numbers of a division by a constant: the quotient is the upper half of x * m, shifted right by s.
typedef struct RuleMagic {
    bool fits;  // m fits into `bits` bits (signed: `bits` - 1); otherwise the highest bit of m is left out
    uint64_t m;
    uint32_t s;
} RuleMagic;

/* fold_rules.c */
RuleMagic rule_magic(uint64_t d, uint32_t bits, bool is_signed);

static inline const ValueRange *ex_range(RuleValues *v, uint32_t var)
{
    if (!(v->known >> var & 1))
        v->range[var] = v->of(v->user, var);
    v->known |= 1u << var;
    return &v->range[var];
}

static inline uint64_t ex_zeros(RuleValues *v, uint32_t var) { return ex_range(v, var)->zeros; }
static inline uint64_t ex_lowzeros(RuleValues *v, uint32_t var)
{
    uint64_t zeros = ex_zeros(v, var);
    return zeros & ~(zeros + 1);
}
static inline uint64_t ex_set(RuleValues *v, uint32_t var) { return ex_range(v, var)->ones; }
static inline uint64_t ex_umin(RuleValues *v, uint32_t var) { return ex_range(v, var)->umin; }
static inline uint64_t ex_umax(RuleValues *v, uint32_t var) { return ex_range(v, var)->umax; }
static inline uint64_t ex_smin(RuleValues *v, uint32_t var) { return (uint64_t)ex_range(v, var)->smin; }
static inline uint64_t ex_smax(RuleValues *v, uint32_t var) { return (uint64_t)ex_range(v, var)->smax; }

static inline uint64_t ex_width(const RuleValues *v) { return v->bits; }
static inline uint64_t ex_ones(const RuleValues *v) { return low_ones(v->bits); }
static inline uint64_t ex_sx(const RuleValues *v, uint64_t x) { return (uint64_t)sign_extended(x, MIN(v->bits, 64u)); }
static inline uint64_t ex_sx2(const RuleValues *v, uint64_t x)
{
    return (uint64_t)sign_extended(x, MIN(2 * v->bits, 64u));
}
static inline uint64_t ex_pow2(const RuleValues *v, uint64_t x) { return (void)v, x && !(x & (x - 1)); }
static inline uint64_t ex_log2(const RuleValues *v, uint64_t x)
{
    return (void)v, x ? 63 - (uint64_t)__builtin_clzll(x) : 0;
}
static inline uint64_t ex_below(const RuleValues *v, uint64_t x) { return (void)v, (x - 1) & ~x; }
static inline uint64_t ex_ufits(const RuleValues *v, uint64_t x) { return rule_magic(x, v->bits, false).fits; }
static inline uint64_t ex_umagic(const RuleValues *v, uint64_t x) { return rule_magic(x, v->bits, false).m; }
static inline uint64_t ex_ushift(const RuleValues *v, uint64_t x) { return rule_magic(x, v->bits, false).s; }
static inline uint64_t ex_sfits(const RuleValues *v, uint64_t x) { return rule_magic(x, v->bits, true).fits; }
static inline uint64_t ex_smagic(const RuleValues *v, uint64_t x) { return rule_magic(x, v->bits, true).m; }
static inline uint64_t ex_sshift(const RuleValues *v, uint64_t x) { return rule_magic(x, v->bits, true).s; }

// Operators that C does not define for all operands, or not in this way.
static inline uint64_t ex_shl(uint64_t a, uint64_t b) { return b < 64 ? a << b : 0; }
static inline uint64_t ex_shr(uint64_t a, uint64_t b) { return b < 64 ? a >> b : 0; }
static inline uint64_t ex_div(uint64_t a, uint64_t b) { return b ? a / b : 0; }
static inline uint64_t ex_rem(uint64_t a, uint64_t b) { return b ? a % b : 0; }
static inline uint64_t ex_slt(uint64_t a, uint64_t b) { return (int64_t)a < (int64_t)b; }
static inline uint64_t ex_sle(uint64_t a, uint64_t b) { return (int64_t)a <= (int64_t)b; }

#endif
