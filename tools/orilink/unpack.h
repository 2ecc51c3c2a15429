// SPDX-License-Identifier: MIT
// Compression of the entries of fat binaries. Decoders fill a buffer of known size. No function reads or writes outside
// of its buffers.
#ifndef ORI_UNPACK_H
#define ORI_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* lz4.c: a block of LZ4 */
// Decodes exactly `n` bytes. False: the input is damaged, or has another size.
bool lz4_decode(const uint8_t *from, size_t size, uint8_t *to, size_t n);
// Encodes `n` bytes, in time linear in `n`. Equal bytes give equal blocks. Returns the size of the block; 0: it would
// have more than `size` bytes, or `n` exceeds LZ4_MAX.
enum { LZ4_MAX = 1 << 30 };
size_t lz4_encode(const uint8_t *from, size_t n, uint8_t *to, size_t size);

/* zstd.c: a frame of Zstandard (RFC 8878), without dictionary */
// The same.
bool zstd_decode(const uint8_t *from, size_t size, uint8_t *to, size_t n);

#endif
