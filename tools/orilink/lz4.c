// SPDX-License-Identifier: MIT
// Decodes a block of LZ4: sequences of literals and of matches in the output before them.
#include <string.h>

#include "tools/orilink/unpack.h"

enum { SHORT = 15, MATCH_MIN = 4 };

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
