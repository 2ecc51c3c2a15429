// SPDX-License-Identifier: MIT
// Decodes and encodes blocks of LZ4: sequences of literals and of a match in the output before them.
//
// The encoder is greedy: a table has the last place of each hash of four bytes, and a match there is taken in its full
// length. As the format requires, a match begins at least 12 bytes before the end, and the last 5 bytes are literals.
#include <string.h>

#include "ir/base/base.h"
#include "tools/orilink/bytes.h"
#include "tools/orilink/unpack.h"

enum { SHORT = 15, MATCH_MIN = 4, OFFSET_MAX = 0xffff };

/* -- Decoder --------------------------------------------------------------------------------------------- */

typedef struct Lz4 {
    const uint8_t *at, *end;
} Lz4;

// Adds the bytes that continue a length of 15. False: the input ends.
static bool read_length(Lz4 *in, size_t *length)
{
    uint8_t more = 255;
    if (*length < SHORT)
        return true;
    while (more == 255) {
        if (in->at == in->end)
            return false;
        *length += more = *in->at++;
    }
    return true;
}

bool lz4_decode(const uint8_t *from, size_t size, uint8_t *to, size_t n)
{
    Lz4 in = {from, from + size};
    size_t done = 0;
    while (in.at < in.end) {
        uint8_t token = *in.at++;
        size_t literals = token >> 4, match = token & SHORT;
        if (!read_length(&in, &literals) || literals > (size_t)(in.end - in.at) || literals > n - done)
            return false;
        memcpy(to + done, in.at, literals);
        in.at += literals;
        done += literals;
        if (in.at == in.end)
            break;
        if (in.end - in.at < 2)
            return false;
        size_t offset = in.at[0] | (size_t)in.at[1] << 8;
        in.at += 2;
        if (!read_length(&in, &match) || !offset || offset > done || match > n - done || MATCH_MIN > n - done - match)
            return false;
        for (size_t k = 0; k < match + MATCH_MIN; k++, done++)
            to[done] = to[done - offset];
    }
    return done == n;
}

/* -- Encoder --------------------------------------------------------------------------------------------- */

enum { HASH_BITS = 13, LAST_MATCH = 12, LAST_LITERALS = 5 };

typedef struct Lz4Out {
    uint8_t *at, *end;
} Lz4Out;

// Writes the bytes that continue a length of 15 or more. False: the buffer is full.
static bool put_length(Lz4Out *out, size_t length)
{
    if (length < SHORT)
        return true;
    for (length -= SHORT;; length -= 255) {
        if (out->at == out->end)
            return false;
        *out->at++ = (uint8_t)MIN(length, 255);
        if (length < 255)
            return true;
    }
}

// Writes a sequence of `n` literals and a match. Offset 0: there is no match, which ends the block. False: the buffer
// is full.
static bool put_sequence(Lz4Out *out, const uint8_t *literals, size_t n, size_t offset, size_t match)
{
    size_t more = offset ? match - MATCH_MIN : 0;
    if (out->at == out->end)
        return false;
    *out->at++ = (uint8_t)(MIN(n, SHORT) << 4 | MIN(more, SHORT));
    if (!put_length(out, n) || n > (size_t)(out->end - out->at))
        return false;
    memcpy(out->at, literals, n);
    out->at += n;
    if (!offset)
        return true;
    if (out->end - out->at < 2)
        return false;
    store16(out->at, (uint16_t)offset);
    out->at += 2;
    return put_length(out, more);
}

size_t lz4_encode(const uint8_t *from, size_t n, uint8_t *to, size_t size)
{
    uint32_t places[1 << HASH_BITS] = {0};  // by hash of four bytes: their last place + 1
    Lz4Out out = {to, to + size};
    size_t done = 0, at = 0;
    if (n > LZ4_MAX)
        return 0;
    while (at + LAST_MATCH <= n) {
        uint32_t word = load32(from + at), *place = &places[word * 2654435761u >> (32 - HASH_BITS)];
        size_t offset = at + 1 - *place;
        bool matches = *place && offset <= OFFSET_MAX && load32(from + at - offset) == word;
        *place = (uint32_t)at + 1;
        if (!matches) {
            at++;
            continue;
        }
        size_t match = MATCH_MIN;
        while (at + match + LAST_LITERALS < n && from[at + match] == from[at + match - offset])
            match++;
        if (!put_sequence(&out, from + done, at - done, offset, match))
            return 0;
        done = at += match;
    }
    return put_sequence(&out, from + done, n - done, 0, 0) ? (size_t)(out.at - to) : 0;
}
