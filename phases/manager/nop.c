// SPDX-License-Identifier: MIT
// Does nothing. Slot: 158 NOP. `--named-phases NOP` only reads and writes, which tests readers and writers.
#include "phases/bodies.h"

bool phase_nop(Ctx *ctx, Fn *fn)
{
    (void)ctx;
    (void)fn;
    return false;
}
