// SPDX-License-Identifier: MIT
// Little-endian numbers at any alignment.
#ifndef ORI_BYTES_H
#define ORI_BYTES_H

#include <stdint.h>

static inline uint16_t load16(const uint8_t *p) { return (uint16_t)(p[0] | p[1] << 8); }
static inline uint32_t load32(const uint8_t *p) { return load16(p) | (uint32_t)load16(p + 2) << 16; }
static inline uint64_t load64(const uint8_t *p) { return load32(p) | (uint64_t)load32(p + 4) << 32; }

static inline void store16(uint8_t *p, uint16_t x)
{
    p[0] = (uint8_t)x;
    p[1] = (uint8_t)(x >> 8);
}
static inline void store32(uint8_t *p, uint32_t x)
{
    store16(p, (uint16_t)x);
    store16(p + 2, (uint16_t)(x >> 16));
}
static inline void store64(uint8_t *p, uint64_t x)
{
    store32(p, (uint32_t)x);
    store32(p + 4, (uint32_t)(x >> 32));
}

#endif
