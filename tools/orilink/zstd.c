// SPDX-License-Identifier: MIT
// Decodes a frame of Zstandard (RFC 8878), without dictionaries. Checksums are not verified, since the contents are
// checked as ELF.
#include <stdlib.h>
#include <string.h>

#include "tools/orilink/bytes.h"
#include "tools/orilink/unpack.h"

enum {
    BLOCK_MAX = 1 << 17,
    FSE_LOG_MAX = 9,
    HUFFMAN_LOG_MAX = 11,
    SYMBOLS = 256,
    LITERAL_CODES = 36,
    MATCH_CODES = 53,
    OFFSET_CODES = 32,
};

// A table of finite state entropy: in each state a symbol, and how the next state is read.
typedef struct FseState {
    uint16_t base;
    uint8_t symbol, nbits;
} FseState;

typedef struct Fse {
    FseState states[1 << FSE_LOG_MAX];
    uint8_t log;
    bool valid;
} Fse;

typedef struct Huffman {
    uint8_t symbol[1 << HUFFMAN_LOG_MAX], nbits[1 << HUFFMAN_LOG_MAX];
    uint8_t log;
    bool valid;
} Huffman;

typedef struct Zstd {
    const uint8_t *at, *end;  // of the current block
    uint8_t *to;
    size_t done, n;
    Huffman huffman;
    Fse literal, match, offset;  // of lengths and offsets
    uint32_t repeated[3];        // offsets
    uint8_t literals[BLOCK_MAX];
    size_t nliterals;
} Zstd;

static unsigned log2_of(uint32_t x) { return 31 - (unsigned)__builtin_clz(x); }

/* -- Bits ------------------------------------------------------------------------------------------------ */

// Bits that are read from the end of a part of the input to its start. Bits before the start are 0.
typedef struct BackwardBits {
    const uint8_t *start;
    int64_t left;  // bits not read yet; negative: more were read than there are
} BackwardBits;

// Starts at the highest bit below the highest set bit of the last byte. False: there is none.
static bool backward_start(BackwardBits *b, const uint8_t *start, size_t size)
{
    if (!size || !start[size - 1])
        return false;
    *b = (BackwardBits){start, (int64_t)(size - 1) * 8 + log2_of(start[size - 1])};
    return true;
}

// Returns the next bits, at most 32, without reading them.
static uint32_t backward_peek(const BackwardBits *b, unsigned n)
{
    uint64_t bits = 0;
    int64_t low = b->left - (int64_t)n;
    if (!n || b->left <= 0)
        return 0;
    int64_t first = low < 0 ? 0 : low / 8, last = (b->left - 1) / 8;
    for (int64_t k = last; k >= first; k--)
        bits = bits << 8 | b->start[k];
    uint64_t shifted = low < 0 ? bits << -low : bits >> (low % 8);
    return (uint32_t)(shifted & ((UINT64_C(1) << n) - 1));
}

static uint32_t backward_read(BackwardBits *b, unsigned n)
{
    uint32_t bits = backward_peek(b, n);
    b->left -= n;
    return bits;
}

// Bits that are read from the start.
typedef struct ForwardBits {
    const uint8_t *start;
    size_t size;  // bytes
    size_t at;    // bit
} ForwardBits;

// Returns the next bits, at most 16; 0 after the end.
static uint32_t forward_read(ForwardBits *f, unsigned n)
{
    uint32_t bits = 0;
    for (unsigned k = 0; k < n; k++, f->at++)
        if (f->at / 8 < f->size)
            bits |= (uint32_t)(f->start[f->at / 8] >> (f->at % 8) & 1) << k;
    return bits;
}

/* -- Finite state entropy -------------------------------------------------------------------------------- */

// Builds a table from the frequencies of symbols, which add up to 1 << log. -1 is a frequency below 1.
static bool fse_build(Fse *t, const int16_t *frequency, unsigned n, unsigned log)
{
    uint32_t size = 1u << log, high = size, step = (size >> 1) + (size >> 3) + 3, at = 0;
    uint16_t next[SYMBOLS];
    for (unsigned s = 0; s < n; s++)
        if (frequency[s] == -1) {
            t->states[--high].symbol = (uint8_t)s;
            next[s] = 1;
        }
    for (unsigned s = 0; s < n; s++) {
        for (int k = 0; k < frequency[s]; k++) {
            t->states[at].symbol = (uint8_t)s;
            do
                at = (at + step) & (size - 1);
            while (at >= high);
        }
        if (frequency[s] > 0)
            next[s] = (uint16_t)frequency[s];
    }
    if (at)
        return false;
    for (uint32_t k = 0; k < size; k++) {
        uint16_t x = next[t->states[k].symbol]++;
        t->states[k].nbits = (uint8_t)(log - log2_of(x));
        t->states[k].base = (uint16_t)((x << t->states[k].nbits) - size);
    }
    t->log = (uint8_t)log;
    return t->valid = true;
}

// Reads a table from the input, for at most `n` symbols.
static bool fse_read(Fse *t, const uint8_t **at, const uint8_t *end, unsigned n, unsigned log_max)
{
    ForwardBits f = {*at, (size_t)(end - *at), 0};
    int16_t frequency[SYMBOLS];
    unsigned log = forward_read(&f, 4) + 5, s = 0;
    int32_t left = 1 << log;
    if (log > log_max)
        return false;
    while (left > 0 && s < n) {
        unsigned nbits = log2_of((uint32_t)left + 1) + 1;
        uint32_t x = forward_read(&f, nbits), low = (1u << (nbits - 1)) - 1, spare = (1u << nbits) - 2 - (uint32_t)left;
        if ((x & low) < spare) {
            f.at--;
            x &= low;
        } else if (x > low) {
            x -= spare;
        }
        int32_t p = (int32_t)x - 1;
        left -= p < 0 ? 1 : p;
        frequency[s++] = (int16_t)p;
        for (unsigned zeros = p ? 0 : 3; zeros == 3;) {
            zeros = forward_read(&f, 2);
            for (unsigned k = 0; k < zeros && s < n; k++)
                frequency[s++] = 0;
        }
    }
    size_t used = (f.at + 7) / 8;
    if (left || used > f.size)
        return false;
    *at += used;
    return fse_build(t, frequency, s, log);
}

static void fse_only(Fse *t, uint8_t symbol)
{
    t->states[0] = (FseState){.symbol = symbol};
    t->log = 0;
    t->valid = true;
}

static void fse_next(const Fse *t, uint32_t *state, BackwardBits *b)
{
    *state = t->states[*state].base + backward_read(b, t->states[*state].nbits);
}

/* -- Huffman codes --------------------------------------------------------------------------------------- */

// Reads the weights of symbols that are coded by two alternating states. Returns their number; 0: damaged.
static unsigned read_coded_weights(const uint8_t *at, size_t size, uint8_t *weight)
{
    Fse t = {.valid = false};
    const uint8_t *end = at + size;
    BackwardBits b;
    uint32_t state[2];
    unsigned n = 0;
    if (!fse_read(&t, &at, end, SYMBOLS, 6) || !backward_start(&b, at, (size_t)(end - at)))
        return 0;
    state[0] = backward_read(&b, t.log);
    state[1] = backward_read(&b, t.log);
    for (unsigned k = 0; n < SYMBOLS - 2; k ^= 1) {
        weight[n++] = t.states[state[k]].symbol;
        fse_next(&t, &state[k], &b);
        if (b.left < 0) {
            weight[n++] = t.states[state[k ^ 1]].symbol;
            return n;
        }
    }
    return 0;
}

// Builds the table from weights; that of the last symbol follows from the others.
static bool huffman_build(Huffman *h, uint8_t *weight, unsigned n)
{
    uint32_t sum = 0, at = 0;
    for (unsigned s = 0; s < n; s++) {
        if (weight[s] > HUFFMAN_LOG_MAX)
            return false;
        sum += weight[s] ? 1u << (weight[s] - 1) : 0;
    }
    if (!sum || log2_of(sum) + 1 > HUFFMAN_LOG_MAX)
        return false;
    unsigned log = log2_of(sum) + 1;
    uint32_t left = (1u << log) - sum;
    if (left & (left - 1))
        return false;
    weight[n++] = (uint8_t)(log2_of(left) + 1);
    for (unsigned w = 1; w <= log; w++)
        for (unsigned s = 0; s < n; s++)
            for (uint32_t k = 0; weight[s] == w && k < 1u << (w - 1); k++, at++) {
                h->symbol[at] = (uint8_t)s;
                h->nbits[at] = (uint8_t)(log + 1 - w);
            }
    h->log = (uint8_t)log;
    return h->valid = at == 1u << log;
}

static bool huffman_read(Huffman *h, const uint8_t **at, const uint8_t *end)
{
    uint8_t weight[SYMBOLS] = {0};
    if (*at == end)
        return false;
    unsigned header = *(*at)++, n = header - 127;
    size_t size = header < 128 ? header : (n + 1) / 2;
    if (size > (size_t)(end - *at))
        return false;
    if (header < 128)
        n = read_coded_weights(*at, size, weight);
    else
        for (unsigned k = 0; k < n; k++)
            weight[k] = k & 1 ? (*at)[k / 2] & 15 : (*at)[k / 2] >> 4;
    *at += size;
    return n && huffman_build(h, weight, n);
}

static bool huffman_stream(const Huffman *h, const uint8_t *at, size_t size, uint8_t *to, size_t n)
{
    BackwardBits b;
    if (!backward_start(&b, at, size))
        return false;
    for (size_t k = 0; k < n; k++) {
        uint32_t code = backward_peek(&b, h->log);
        to[k] = h->symbol[code];
        b.left -= h->nbits[code];
        if (b.left < 0)
            return false;
    }
    return b.left == 0;
}

/* -- Literals -------------------------------------------------------------------------------------------- */

static bool coded_literals(Zstd *z, bool new_table, bool four, size_t n, size_t size)
{
    const uint8_t *at = z->at, *end = z->at + size;
    size_t part = four ? (n + 3) / 4 : n;
    if (size > (size_t)(z->end - z->at) || n > BLOCK_MAX)
        return false;
    z->at = end;
    z->nliterals = n;
    if (new_table ? !huffman_read(&z->huffman, &at, end) : !z->huffman.valid)
        return false;
    if (!four)
        return huffman_stream(&z->huffman, at, (size_t)(end - at), z->literals, n);
    if (end - at < 6 || part * 3 > n)
        return false;
    const uint8_t *sizes = at;
    at += 6;
    for (unsigned k = 0; k < 4; k++) {
        size_t bytes = k < 3 ? load16(sizes + 2 * k) : (size_t)(end - at), count = k < 3 ? part : n - 3 * part;
        if (bytes > (size_t)(end - at) || !huffman_stream(&z->huffman, at, bytes, z->literals + k * part, count))
            return false;
        at += bytes;
    }
    return true;
}

static bool read_literals(Zstd *z)
{
    uint8_t head[8] = {0};
    size_t there = (size_t)(z->end - z->at);
    memcpy(head, z->at, there < 5 ? there : 5);
    unsigned type = head[0] & 3, format = head[0] >> 2 & 3;
    uint64_t bits = load64(head);
    if (type >= 2) {
        unsigned header = format < 2 ? 3 : format + 2, width = format < 2 ? 10 : format == 2 ? 14 : 18;
        if (there < header)
            return false;
        z->at += header;
        uint64_t mask = (1u << width) - 1;
        return coded_literals(z, type == 2, format > 0, bits >> 4 & mask, bits >> (4 + width) & mask);
    }
    unsigned header = format == 1 ? 2 : format == 3 ? 3 : 1;
    size_t n = header == 1 ? head[0] >> 3 : (bits & ((1u << 8 * header) - 1)) >> 4, bytes = type == 0 ? n : 1;
    if (there < header || n > BLOCK_MAX || bytes > there - header)
        return false;
    z->at += header;
    if (type == 0)
        memcpy(z->literals, z->at, n);
    else
        memset(z->literals, *z->at, n);
    z->at += bytes;
    z->nliterals = n;
    return true;
}

/* -- Sequences ------------------------------------------------------------------------------------------- */

// A code of lengths: the least length, and the number of bits that are added.
typedef struct LengthCode {
    uint32_t base;
    uint8_t nbits;
} LengthCode;

static const LengthCode literal_codes[LITERAL_CODES] = {
    {0, 0},   {1, 0},   {2, 0},     {3, 0},     {4, 0},     {5, 0},     {6, 0},      {7, 0},      {8, 0},
    {9, 0},   {10, 0},  {11, 0},    {12, 0},    {13, 0},    {14, 0},    {15, 0},     {16, 1},     {18, 1},
    {20, 1},  {22, 1},  {24, 2},    {28, 2},    {32, 3},    {40, 3},    {48, 4},     {64, 6},     {128, 7},
    {256, 8}, {512, 9}, {1024, 10}, {2048, 11}, {4096, 12}, {8192, 13}, {16384, 14}, {32768, 15}, {65536, 16}};

static const LengthCode match_codes[MATCH_CODES] = {
    {3, 0},   {4, 0},     {5, 0},     {6, 0},     {7, 0},     {8, 0},      {9, 0},      {10, 0},    {11, 0},
    {12, 0},  {13, 0},    {14, 0},    {15, 0},    {16, 0},    {17, 0},     {18, 0},     {19, 0},    {20, 0},
    {21, 0},  {22, 0},    {23, 0},    {24, 0},    {25, 0},    {26, 0},     {27, 0},     {28, 0},    {29, 0},
    {30, 0},  {31, 0},    {32, 0},    {33, 0},    {34, 0},    {35, 1},     {37, 1},     {39, 1},    {41, 1},
    {43, 2},  {47, 2},    {51, 3},    {59, 3},    {67, 4},    {83, 4},     {99, 5},     {131, 7},   {259, 8},
    {515, 9}, {1027, 10}, {2051, 11}, {4099, 12}, {8195, 13}, {16387, 14}, {32771, 15}, {65539, 16}};

static const int16_t literal_frequencies[LITERAL_CODES] = {4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1,  1,  2,  2,
                                                           2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1};
static const int16_t match_frequencies[MATCH_CODES] = {1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1,  1,  1,  1,  1,  1,  1, 1,
                                                       1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1,  1,  1,  1,  1, 1,
                                                       1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1};
static const int16_t offset_frequencies[29] = {1, 1, 1, 1, 1, 1, 2, 2, 2, 1,  1,  1,  1,  1, 1,
                                               1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1};

// Makes a table as its mode says: predefined, one symbol, read, or that of the block before.
static bool make_table(Zstd *z, Fse *t, unsigned mode, const int16_t *predefined, unsigned npredefined, unsigned log,
                       unsigned codes, unsigned log_max)
{
    switch (mode) {
    case 0: return fse_build(t, predefined, npredefined, log);
    case 1:
        if (z->at == z->end || *z->at >= codes)
            return false;
        fse_only(t, *z->at++);
        return true;
    case 2: return fse_read(t, &z->at, z->end, codes, log_max);
    default: return t->valid;
    }
}

// Returns the offset that a value stands for, and updates the last three offsets; 0: damaged.
static uint32_t take_offset(Zstd *z, uint32_t value, bool no_literals)
{
    uint32_t *r = z->repeated, which = value - 1 + no_literals, offset;
    if (value > 3)
        which = 3;
    offset = value > 3 ? value - 3 : which < 3 ? r[which] : r[0] - 1;
    if (which > 1)
        r[2] = r[1];
    if (which > 0) {
        r[1] = r[0];
        r[0] = offset;
    }
    return offset;
}

static bool put_literals(Zstd *z, size_t *used, size_t n)
{
    if (n > z->nliterals - *used || n > z->n - z->done)
        return false;
    memcpy(z->to + z->done, z->literals + *used, n);
    *used += n;
    z->done += n;
    return true;
}

static bool put_match(Zstd *z, uint32_t offset, size_t n)
{
    if (!offset || offset > z->done || n > z->n - z->done)
        return false;
    for (size_t k = 0; k < n; k++, z->done++)
        z->to[z->done] = z->to[z->done - offset];
    return true;
}

static bool run_sequences(Zstd *z, uint32_t count, size_t *used)
{
    BackwardBits b;
    uint32_t literal, match, offset;
    if (!backward_start(&b, z->at, (size_t)(z->end - z->at)))
        return false;
    literal = backward_read(&b, z->literal.log);
    offset = backward_read(&b, z->offset.log);
    match = backward_read(&b, z->match.log);
    for (uint32_t k = 0; k < count; k++) {
        unsigned code = z->offset.states[offset].symbol;
        const LengthCode *m = &match_codes[z->match.states[match].symbol];
        const LengthCode *l = &literal_codes[z->literal.states[literal].symbol];
        uint32_t value = (uint32_t)(UINT64_C(1) << code) + backward_read(&b, code);
        size_t nmatch = m->base + backward_read(&b, m->nbits), nliterals = l->base + backward_read(&b, l->nbits);
        if (b.left < 0 || !put_literals(z, used, nliterals) || !put_match(z, take_offset(z, value, !nliterals), nmatch))
            return false;
        if (k + 1 == count)
            break;
        fse_next(&z->literal, &literal, &b);
        fse_next(&z->match, &match, &b);
        fse_next(&z->offset, &offset, &b);
    }
    return b.left == 0;
}

static bool read_sequences(Zstd *z)
{
    size_t there = (size_t)(z->end - z->at), used = 0;
    if (!there)
        return false;
    uint32_t count = z->at[0], header = count < 128 ? 1 : count < 255 ? 2 : 3;
    if (there < header + (count != 0))
        return false;
    if (header == 2)
        count = ((count - 128) << 8) + z->at[1];
    else if (header == 3)
        count = load16(z->at + 1) + 0x7f00;
    z->at += header;
    if (!count)
        return z->at == z->end && put_literals(z, &used, z->nliterals);
    unsigned modes = *z->at++;
    return !(modes & 3) &&
           make_table(z, &z->literal, modes >> 6, literal_frequencies, LITERAL_CODES, 6, LITERAL_CODES, 9) &&
           make_table(z, &z->offset, modes >> 4 & 3, offset_frequencies, 29, 5, OFFSET_CODES, 8) &&
           make_table(z, &z->match, modes >> 2 & 3, match_frequencies, MATCH_CODES, 6, MATCH_CODES, 9) &&
           run_sequences(z, count, &used) && put_literals(z, &used, z->nliterals - used);
}

/* -- The frame ------------------------------------------------------------------------------------------- */

static bool read_block(Zstd *z, unsigned type, const uint8_t *at, size_t size)
{
    if (type < 2) {
        if (size > z->n - z->done)
            return false;
        if (type == 0)
            memcpy(z->to + z->done, at, size);
        else
            memset(z->to + z->done, *at, size);
        z->done += size;
        return true;
    }
    z->at = at;
    z->end = at + size;
    return type == 2 && size && read_literals(z) && read_sequences(z);
}

// Returns the size of the frame's header; 0: it is none that is understood.
static size_t header_size(const uint8_t *p, size_t size)
{
    static const uint8_t content_sizes[4] = {0, 2, 4, 8};
    if (size < 5 || load32(p) != 0xfd2fb528 || p[4] & 3 || p[4] & 8)  // no dictionary, no reserved bit
        return 0;
    bool single = p[4] >> 5 & 1;
    size_t content = content_sizes[p[4] >> 6];
    return 5 + !single + (content ? content : single);
}

bool zstd_decode(const uint8_t *from, size_t size, uint8_t *to, size_t n)
{
    size_t at = header_size(from, size);
    Zstd *z = calloc(1, sizeof *z);
    bool ok = z && at, last = false;
    if (ok) {
        z->to = to;
        z->n = n;
        memcpy(z->repeated, (const uint32_t[]){1, 4, 8}, sizeof z->repeated);
    }
    while (ok && !last) {
        ok = at <= size && size - at >= 3;
        if (!ok)
            break;
        uint32_t head = load16(from + at) | (uint32_t)from[at + 2] << 16, bytes = head >> 3;
        unsigned type = head >> 1 & 3;
        last = head & 1;
        at += 3;
        size_t stored = type == 1 ? 1 : bytes;
        ok = stored <= size - at && bytes <= BLOCK_MAX && read_block(z, type, from + at, bytes);
        at += stored;
    }
    ok = ok && z->done == n;
    free(z);
    return ok;
}
