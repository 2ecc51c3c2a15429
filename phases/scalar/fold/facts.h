// SPDX-License-Identifier: MIT
// What is known of a value of up to 64 bits: some of its bits, and between which numbers it lies. Arithmetic on that
// knows nothing of instructions: who asks for the facts of an instruction's result is known_facts.h. The domains are
// LLVM's KnownBits and ConstantRange, kept together here; each says what it can of the others.
#ifndef ORI_FACTS_H
#define ORI_FACTS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Facts {
    uint32_t bits;         // 1 to 64
    uint64_t zeros, ones;  // bits that are known to be 0, and to be 1; none above `bits`
    uint64_t umin, umax;   // as an unsigned number
    int64_t smin, smax;    // as a signed number
} Facts;

// Comparisons of two numbers, signed or not; equality is both.
typedef enum { FC_EQ, FC_NE, FC_LT, FC_LE, FC_GT, FC_GE } FactCompare;

static inline uint64_t low_ones(uint32_t n) { return n < 64 ? ((uint64_t)1 << n) - 1 : UINT64_MAX; }
static inline int64_t sign_extended(uint64_t x, uint32_t bits) { return (int64_t)(x << (64 - bits)) >> (64 - bits); }

Facts facts_any(uint32_t bits);
Facts facts_constant(uint64_t x, uint32_t bits);
Facts facts_bits(uint64_t zeros, uint64_t ones, uint32_t bits);
Facts facts_unsigned(uint64_t min, uint64_t max, uint32_t bits);
Facts facts_signed(int64_t min, int64_t max, uint32_t bits);
// Whether the value may be this.
bool facts_allow(const Facts *f, uint64_t x);
// Where both hold of one value; nothing where they contradict each other, which is so only where nothing runs.
Facts facts_both(const Facts *a, const Facts *b);
// Where one of them holds, nobody knows which.
Facts facts_either(const Facts *a, const Facts *b);
// What `x cmp y` says of x.
Facts facts_compared(FactCompare cmp, bool is_signed, const Facts *y);

Facts facts_not(const Facts *a);
Facts facts_and(const Facts *a, const Facts *b);
Facts facts_or(const Facts *a, const Facts *b);
Facts facts_xor(const Facts *a, const Facts *b);
Facts facts_add(const Facts *a, const Facts *b);
Facts facts_sub(const Facts *a, const Facts *b);
Facts facts_mul(const Facts *a, const Facts *b);
Facts facts_shl(const Facts *a, const Facts *count);
Facts facts_shr(const Facts *a, const Facts *count, bool is_signed);
Facts facts_min(const Facts *a, const Facts *b, bool is_signed);
Facts facts_max(const Facts *a, const Facts *b, bool is_signed);
Facts facts_div(const Facts *a, const Facts *b, bool is_signed);
Facts facts_rem(const Facts *a, const Facts *b, bool is_signed);
Facts facts_abs(const Facts *a);
// The low bits of it, or it extended.
Facts facts_resized(const Facts *a, uint32_t bits, bool is_signed);

#endif
