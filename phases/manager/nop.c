// SPDX-License-Identifier: MIT
// Does nothing. Slot: 158 NOP. `--named-phases NOP` reads and writes without a change, which tests readers and writers
// alone.
#include "phases/bodies.h"

bool phase_nop(Ctx *ctx, Fn *fn)
{
    (void)ctx;
    (void)fn;
    return false;
}
