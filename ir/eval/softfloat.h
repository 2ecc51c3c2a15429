// SPDX-License-Identifier: MIT
// Floating point in integer arithmetic: the same bits on any machine and under any compiler flag. Formats of up to 64
// bits; numbers are bits in the low end of a uint64_t, the rest 0. PTX ISA, "Floating Point Instructions" and "Half
// Precision Floating Point Instructions".
//
// NaN operands give the format's canonical NaN (Format.nan) in all functions but float_quiet(); results are rounded
// once. Subnormals are numbers like others: who wants `.ftz` flushes operands and result with float_flush(). Nothing
// here has state or fails.
#ifndef ORI_SOFTFLOAT_H
#define ORI_SOFTFLOAT_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    ROUND_NEAREST_EVEN,  // .rn
    ROUND_ZERO,          // .rz
    ROUND_DOWN,          // .rm
    ROUND_UP,            // .rp
    ROUND_NEAREST_AWAY,  // .rna: ties away from zero
} Rounding;

typedef struct Format {
    uint8_t exp_bits, frac_bits;  // stored ones; the sign is the bit above them
    uint8_t unused_bits;          // below the fraction, always 0: tf32 lives in the upper end of 32 bits
    bool no_inf;   // the topmost exponent has numbers, but for the fraction of ones only, which is NaN (e4m3)
    uint64_t nan;  // the canonical one
} Format;

extern const Format format_f16, format_bf16, format_tf32, format_f32, format_f64, format_e4m3, format_e5m2;

/* -- Numbers as they are -------------------------------------------------------------------------------- */

typedef enum { FLOAT_ZERO, FLOAT_SUBNORMAL, FLOAT_NORMAL, FLOAT_INF, FLOAT_NAN } FloatClass;
FloatClass float_class(const Format *f, uint64_t a);
static inline uint32_t float_bits(const Format *f) { return 1u + f->exp_bits + f->frac_bits + f->unused_bits; }
static inline uint64_t float_sign(const Format *f) { return (uint64_t)1 << (float_bits(f) - 1); }
uint64_t float_inf(const Format *f, bool negative);  // the largest number if the format has no infinity
uint64_t float_max(const Format *f, bool negative);  // the largest finite number
// 1.0
static inline uint64_t float_one(const Format *f)
{
    return (((uint64_t)1 << (f->exp_bits - 1)) - 1) << (f->frac_bits + f->unused_bits);
}
// Returns NaN `a` with its quiet bit set.
static inline uint64_t float_quiet(const Format *f, uint64_t a)
{
    return a | (uint64_t)1 << (f->frac_bits + f->unused_bits - 1);
}
// Subnormals become zeros of the same sign.
uint64_t float_flush(const Format *f, uint64_t a);

/* -- Arithmetic, rounded once --------------------------------------------------------------------------- */

uint64_t float_add(const Format *f, uint64_t a, uint64_t b, Rounding r);
uint64_t float_mul(const Format *f, uint64_t a, uint64_t b, Rounding r);
uint64_t float_fma(const Format *f, uint64_t a, uint64_t b, uint64_t c, Rounding r);
uint64_t float_div(const Format *f, uint64_t a, uint64_t b, Rounding r);
uint64_t float_sqrt(const Format *f, uint64_t a, Rounding r);

typedef enum { FLOAT_LESS, FLOAT_EQUAL, FLOAT_GREATER, FLOAT_UNORDERED } FloatOrder;
FloatOrder float_compare(const Format *f, uint64_t a, uint64_t b);  // -0 and +0 are equal

/* -- Conversion ----------------------------------------------------------------------------------------- */

// From one format to another. What is too large becomes infinity or the largest number, as the rounding says; if
// `finite`, always the largest number (infinity, too).
uint64_t float_convert(const Format *from, const Format *to, uint64_t a, Rounding r, bool finite);
// To an integral value in the same format; a zero keeps the operand's sign, infinity stays.
uint64_t float_integral(const Format *f, uint64_t a, Rounding r);
// To an integer of 8 to 64 bits, in the low end of the result (sign bits are cut off above `bits`). What does not fit
// becomes the nearest that does. NaN: *nan = true, and 0; what it becomes is the caller's to say.
uint64_t float_to_integer(const Format *f, uint64_t a, Rounding r, uint32_t bits, bool is_signed, bool *nan);
// From an integer, of which the bits above `bits` do not count.
uint64_t float_from_integer(const Format *to, uint64_t a, uint32_t bits, bool is_signed, Rounding r);

/* -- Building blocks for other functions ---------------------------------------------------------------- */

// (-1)^negative * sig * 2^exp. `sig` has its top bit set, or is 0 for zero; `sticky`: the exact value lies a bit
// further from zero, by less than 1 in the last place of sig.
typedef struct Number {
    bool negative, sticky;
    int32_t exp;
    uint64_t sig;
} Number;

// A zero, a subnormal or a normal number, exactly.
Number float_unpack(const Format *f, uint64_t a);
// The nearest number of the format. If `finite`, what is too large becomes the largest number.
uint64_t float_pack(const Format *f, Number n, Rounding r, bool finite);

#endif
