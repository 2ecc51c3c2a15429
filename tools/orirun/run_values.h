// SPDX-License-Identifier: MIT
// Values of buffers and arguments as people write and read them: parsing, printing, generated contents, digests. All of
// it gives the same bytes on every machine.
#ifndef ORI_RUN_VALUES_H
#define ORI_RUN_VALUES_H

#include "ir/core/ir.h"

// What a new buffer holds. Numbers are bits of the type; start, step, low and high of floating point are bits of f64.
typedef enum { FILL_ZERO, FILL_FILE, FILL_BYTES, FILL_IOTA, FILL_RAND, FILL_SAME } FillKind;

typedef struct Fill {
    FillKind kind;
    Type type;
    uint64_t count;        // of the type's
    uint64_t value;        // FILL_SAME
    uint64_t start, step;  // FILL_IOTA
    uint64_t seed, low, high;
    bool ranged;           // FILL_RAND: low and high were given
    const char *path;      // FILL_FILE
    const uint8_t *bytes;  // FILL_BYTES
} Fill;

// Whether values of the type can be written: 8 to 64 bits, and no handle.
bool value_type(Type t);
uint32_t value_bytes(Type t);
// A number; `0x...` are its bits, whatever the type, as are `0f...` and `0d...`. False: why.
bool value_parse(Type t, const char *text, uint64_t *bits, char why[static 200]);
// The same for generators: what is floating point becomes an f64, rounded only there.
bool value_parse_wide(Type t, const char *text, uint64_t *bits, char why[static 200]);
// As value_parse() takes it: floating point in as few digits as it needs, untyped and packed bits in hex.
void value_print(Out *out, Type t, uint64_t bits);
uint64_t value_load(const uint8_t *from, Type t);
void value_store(uint8_t *to, Type t, uint64_t bits);
bool value_has_ulps(Type t);
// Whether floating-point values are at most so many units in the last place apart. NaNs are as good as one another.
bool value_near(Type t, uint64_t a, uint64_t b, uint64_t ulps);
// Whether a < b, of values that value_parse_wide() read.
bool value_less_wide(Type t, uint64_t a, uint64_t b);

// Writes the `count` values of a fill that is neither FILL_FILE nor FILL_BYTES.
void fill_write(const Fill *f, uint8_t *to);
// FNV-1a of 64 bits.
uint64_t bytes_digest(const uint8_t *bytes, uint64_t n);
// Rows `NAME:TYPE[INDEX] v v v`, in hex bytes without a type (TY_NONE). What is left at the end follows in hex.
void bytes_print(Out *out, const char *name, Type t, const uint8_t *bytes, uint64_t n);

#endif
