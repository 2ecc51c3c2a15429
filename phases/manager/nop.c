// SPDX-License-Identifier: MIT
// Slot 158 NOP: the phase that does nothing. `--named-phases NOP` reads and writes without a change, which is how the
// readers and writers are judged by themselves.
#include "phases/bodies.h"

bool phase_nop(Ctx *ctx, Fn *fn)
{
    (void)ctx;
    (void)fn;
    return false;
}
