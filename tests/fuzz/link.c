// SPDX-License-Identifier: MIT
// libFuzzer target: rewrites the input as a file of a link, in the two ways to remove dead code.
#include "tests/link/rewrite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (rewrite("input", data, size, "main", size & 1, size & 2, (size_t)256 << 20) == ST_INTERNAL)
        __builtin_trap();
    return 0;
}
