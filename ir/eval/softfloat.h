// SPDX-License-Identifier: MIT
// Floating point in integer arithmetic: the same bits on any machine and under any compiler flag. Formats have up to 64
// bits. A number is in the low bits of a uint64_t, whose other bits are 0. PTX ISA, "Floating Point Instructions" and
// "Half Precision Floating Point Instructions".
//
// A NaN operand gives the format's canonical NaN (Format.nan) in all functions but float_quiet(). Each result is
// rounded once. Subnormals are not flushed: for `.ftz` the caller flushes operands and result with float_flush(). No
// function has state or fails.
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
    uint8_t exp_bits, frac_bits;  // stored bits; the sign is the bit above them
    uint8_t unused_bits;          // below the fraction, always 0: tf32 is in the upper bits of 32
    bool no_inf;                  // e4m3: the largest exponent has numbers, except that a fraction of all ones is NaN
    uint64_t nan;                 // canonical NaN
} Format;

extern const Format format_f16, format_bf16, format_tf32, format_f32, format_f64, format_e4m3, format_e5m2;

/* -- Classes and constants ------------------------------------------------------------------------------ */

typedef enum { FLOAT_ZERO, FLOAT_SUBNORMAL, FLOAT_NORMAL, FLOAT_INF, FLOAT_NAN } FloatClass;
FloatClass float_class(const Format *f, uint64_t a);
static inline uint32_t float_bits(const Format *f) { return 1u + f->exp_bits + f->frac_bits + f->unused_bits; }
static inline uint64_t float_sign(const Format *f) { return (uint64_t)1 << (float_bits(f) - 1); }
uint64_t float_inf(const Format *f, bool negative);  // the largest number if the format has no infinity
uint64_t float_max(const Format *f, bool negative);  // the largest finite number
// Returns 1.0.
static inline uint64_t float_one(const Format *f)
{
    return (((uint64_t)1 << (f->exp_bits - 1)) - 1) << (f->frac_bits + f->unused_bits);
}
// Returns NaN `a` with its quiet bit set.
static inline uint64_t float_quiet(const Format *f, uint64_t a)
{
    return a | (uint64_t)1 << (f->frac_bits + f->unused_bits - 1);
}
// Replaces a subnormal by a zero of the same sign.
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

// Converts between formats. A number that is too large gives infinity or the largest number, depending on the rounding.
// If `finite`, such a number and infinity give the largest number.
uint64_t float_convert(const Format *from, const Format *to, uint64_t a, Rounding r, bool finite);
// Rounds to an integral value in the same format; a zero keeps the operand's sign, infinity stays.
uint64_t float_integral(const Format *f, uint64_t a, Rounding r);
// Converts to an integer of 8 to 64 bits, in the low bits of the result (bits above `bits` are 0). A number out of
// range gives the nearest integer in range. NaN gives *nan = true and 0; the caller replaces that result.
uint64_t float_to_integer(const Format *f, uint64_t a, Rounding r, uint32_t bits, bool is_signed, bool *nan);
// Converts from an integer; ignores the bits above `bits`.
uint64_t float_from_integer(const Format *to, uint64_t a, uint32_t bits, bool is_signed, Rounding r);

/* -- Building blocks for other functions ---------------------------------------------------------------- */

// The number (-1)^negative * sig * 2^exp. `sig` has its top bit set, or is 0 for zero. `sticky`: the exact value is
// further from zero by less than 1 in the last place of sig.
typedef struct Number {
    bool negative, sticky;
    int32_t exp;
    uint64_t sig;
} Number;

// Unpacks a zero, a subnormal or a normal number exactly.
Number float_unpack(const Format *f, uint64_t a);
// Returns the nearest number of the format. If `finite`, a number that is too large gives the largest number.
uint64_t float_pack(const Format *f, Number n, Rounding r, bool finite);

#endif
