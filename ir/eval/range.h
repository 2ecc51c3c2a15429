// SPDX-License-Identifier: MIT
// Value ranges: known bits, an unsigned and a signed interval of a value of up to 64 bits, like LLVM's KnownBits and
// ConstantRange. The three domains form one range, and each domain narrows the others.
#ifndef ORI_RANGE_H
#define ORI_RANGE_H

#include "ir/eval/eval.h"

typedef struct ValueRange {
    uint32_t bits;         // 1 to 64
    uint64_t zeros, ones;  // bits known to be 0, bits known to be 1; none above `bits`
    uint64_t umin, umax;   // bounds of the unsigned number
    int64_t smin, smax;    // bounds of the signed number
} ValueRange;

// Comparisons of two numbers. Equality does not depend on the signedness.
typedef enum { RC_EQ, RC_NE, RC_LT, RC_LE, RC_GT, RC_GE } RangeCompare;

static inline uint64_t low_ones(uint32_t n) { return n < 64 ? ((uint64_t)1 << n) - 1 : UINT64_MAX; }
static inline int64_t sign_extended(uint64_t x, uint32_t bits) { return (int64_t)(x << (64 - bits)) >> (64 - bits); }

ValueRange range_full(uint32_t bits);
static inline bool range_is_full(const ValueRange *r)
{
    return !r->zeros && !r->ones && !r->umin && r->umax == low_ones(r->bits) && r->smin == ~r->smax &&
           r->smax == (int64_t)low_ones(r->bits - 1);
}
// True if the other range contains all values of this range.
bool range_is_within(const ValueRange *r, const ValueRange *in);
ValueRange range_constant(uint64_t x, uint32_t bits);
ValueRange range_of_bits(uint64_t zeros, uint64_t ones, uint32_t bits);
ValueRange range_unsigned(uint64_t min, uint64_t max, uint32_t bits);
ValueRange range_signed(int64_t min, int64_t max, uint32_t bits);
// True if the range contains the value.
bool range_contains(const ValueRange *f, uint64_t x);
// Meet. A contradiction (dead code) gives the full range.
ValueRange range_meet(const ValueRange *a, const ValueRange *b);
// Join: contains the values of both ranges.
ValueRange range_join(const ValueRange *a, const ValueRange *b);
// Returns the range of x if `x cmp y` holds.
ValueRange range_of_comparison(RangeCompare cmp, bool is_signed, const ValueRange *y);

ValueRange range_not(const ValueRange *a);
ValueRange range_and(const ValueRange *a, const ValueRange *b);
ValueRange range_or(const ValueRange *a, const ValueRange *b);
ValueRange range_xor(const ValueRange *a, const ValueRange *b);
ValueRange range_add(const ValueRange *a, const ValueRange *b);
ValueRange range_sub(const ValueRange *a, const ValueRange *b);
ValueRange range_mul(const ValueRange *a, const ValueRange *b);
ValueRange range_mul_high(const ValueRange *a, const ValueRange *b, bool is_signed);
ValueRange range_shl(const ValueRange *a, const ValueRange *count);
ValueRange range_shr(const ValueRange *a, const ValueRange *count, bool is_signed);
ValueRange range_min(const ValueRange *a, const ValueRange *b, bool is_signed);
ValueRange range_max(const ValueRange *a, const ValueRange *b, bool is_signed);
ValueRange range_div(const ValueRange *a, const ValueRange *b, bool is_signed);
ValueRange range_rem(const ValueRange *a, const ValueRange *b, bool is_signed);
ValueRange range_abs(const ValueRange *a);
// Returns the range of |a - b| as an unsigned number.
ValueRange range_distance(const ValueRange *a, const ValueRange *b, bool is_signed);
// Returns the range of the low `bits` bits, or of the value extended to `bits` bits.
ValueRange range_resize(const ValueRange *a, uint32_t bits, bool is_signed);

/* transfer.c */
// True if the opcode and types of a decoded instruction have a transfer function.
bool range_has_transfer(const Eval *e);
// Returns a bit for each input whose full range makes the result full, whatever the other inputs are. The result then
// has e->bits bits.
uint32_t range_absorbing(const Eval *e);
// Returns the range of the first result of an instruction that has a transfer function, from the ranges of its inputs.
// The range has as many bits as the instruction computes. In a wider register they are extended according to the
// signedness of the first type.
ValueRange range_transfer(const Eval *e, const ValueRange *in);

#endif
