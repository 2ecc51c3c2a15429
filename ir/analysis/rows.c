// SPDX-License-Identifier: MIT
// Compressed sparse rows. A first walk counts the entries of each row, rows_start() turns the counts into starts, and a
// second walk fills the rows.
#include "ir/analysis/analysis_internal.h"

uint32_t rows_start(uint32_t *first, uint32_t n)
{
    uint32_t sum = 0;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t count = first[k];
        first[k] = sum;
        sum += count;
    }
    return first[n] = sum;
}

void rows_restore(uint32_t *first, uint32_t n)
{
    memmove(first + 1, first, n * sizeof *first);
    first[0] = 0;
}
