// SPDX-License-Identifier: MIT
// Decoders of the compressed entries of fat binaries. They fill a buffer of known size, and never read or write outside
// of their buffers.
#ifndef ORI_UNPACK_H
#define ORI_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* lz4.c: a block of LZ4 */
// Decodes exactly `n` bytes. False: the input is damaged, or has another size.
bool lz4_decode(const uint8_t *from, size_t size, uint8_t *to, size_t n);

/* zstd.c: a frame of Zstandard (RFC 8878), without dictionary */
// The same.
bool zstd_decode(const uint8_t *from, size_t size, uint8_t *to, size_t n);

#endif
