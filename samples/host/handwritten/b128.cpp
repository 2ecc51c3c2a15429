// SPDX-License-Identifier: MIT
// Computes the results of handwritten/b128.ptx for one thread.
#include "cuda_shim.h"
#include "launches.h"

static uint64_t cell[2] = {0x1234, 0};

struct Block {
    uint64_t q[4];
};

static void wide_cells(uint64_t *out, Block block)
{
    uint64_t low = block.q[2], high = block.q[1];
    uint32_t r0 = (uint32_t)low, r2 = __builtin_bswap32(r0), words[] = {(uint32_t)(low >> 32), r2, r2, (uint32_t)high};
    uint16_t bytes = __builtin_bswap16((uint16_t)r0);
    memcpy(out, cell, 16);
    memcpy(out + 2, block.q, 16);  // written by the exchange, found by the comparison
    memcpy(cell, block.q + 2, 16);
    memcpy(out + 4, words, 16);
    out[6] = high << 48 | (high & 0xffff0000) << 16 | (high >> 16 & 0xffff0000) | high >> 48;
    out[7] = high;
    memcpy(out + 10, &bytes, 2);
    memcpy((uint8_t *)out + 90, &bytes, 1);
}

LAUNCHES("handwritten/b128", KERNEL(wide_cells), VARIABLE(cell))
