// SPDX-License-Identifier: MIT
// Values of buffers and arguments: parsing, printing, generated contents, digests. The results are the same on every
// machine.
#ifndef ORI_RUN_VALUES_H
#define ORI_RUN_VALUES_H

#include "ir/core/ir.h"

// The content of a new buffer. Numbers are bits of the type; start, step, low and high of floating point are bits of
// f64.
typedef enum { FILL_ZERO, FILL_FILE, FILL_BYTES, FILL_IOTA, FILL_RAND, FILL_SAME } FillKind;

typedef struct Fill {
    FillKind kind;
    Type type;
    uint64_t count;        // of values
    uint64_t value;        // FILL_SAME
    uint64_t start, step;  // FILL_IOTA
    uint64_t seed, low, high;
    bool ranged;           // FILL_RAND: low and high were given
    const char *path;      // FILL_FILE
    const uint8_t *bytes;  // FILL_BYTES
} Fill;

// True if values of the type have a text: 8 to 64 bits, and not a handle.
bool value_type(Type t);
uint32_t value_bytes(Type t);
// Reads a number; `0x...` are its bits, whatever the type, as are `0f...` and `0d...`. False: the reason is in `why`.
bool value_parse(Type t, const char *text, uint64_t *bits, char why[static 200]);
// The same for generators: floating point gives an f64, which the generator rounds.
bool value_parse_wide(Type t, const char *text, uint64_t *bits, char why[static 200]);
// Prints a value for value_parse(): floating point in as few digits as possible, untyped and packed bits in hex.
void value_print(Out *out, Type t, uint64_t bits);
uint64_t value_load(const uint8_t *from, Type t);
void value_store(uint8_t *to, Type t, uint64_t bits);
bool value_has_ulps(Type t);
// True if two floating-point values differ by at most `ulps` units in the last place. All NaNs are equal.
bool value_near(Type t, uint64_t a, uint64_t b, uint64_t ulps);
// True if two numbers differ by at most absolute + relative * |b|. The bounds are bits of f64. All NaNs are equal.
bool value_within(Type t, uint64_t a, uint64_t b, uint64_t absolute, uint64_t relative);
// True if values of the type are numbers, which have a distance.
bool value_is_number(Type t);
// True if a < b, for values of value_parse_wide().
bool value_less_wide(Type t, uint64_t a, uint64_t b);

// Writes the `count` values of a fill that is neither FILL_FILE nor FILL_BYTES.
void fill_write(const Fill *f, uint8_t *to);
// Returns the FNV-1a hash of 64 bits.
uint64_t bytes_digest(const uint8_t *bytes, uint64_t n);
// Prints rows `NAME:TYPE[INDEX] v v v`; bytes in hex without a type (TY_NONE), and at the end of an incomplete value.
void bytes_print(Out *out, const char *name, Type t, const uint8_t *bytes, uint64_t n);

#endif
