// SPDX-License-Identifier: MIT
// Records in the function how far the pipeline has come.
//
// Slots: 83 OriBackCopyPropagate sets the pipeline counter (Fn.pipeline_counter) to 9 behind slot 82, which propagates
// copies backward; 95 SetAfterLegalization sets it to 19. `--stats` prints the counter, Ori text keeps it, and the
// input may state it. Slot 83 does nothing on a backend without a body of slot 82. Disabling one of the two slots
// disables both (plan.c).
//
// The counter is no code: setting it is no progress, and the hash of a function does not depend on it.
//
// Documented: all, except that one of the slots disables both. The documents name two readers of the counter, the
// encoding of operands and the scheduler, which belong to the machine level.
#include "phases/bodies.h"

enum { AFTER_BACK_COPY_PROP = 9, AFTER_LEGALIZATION = 19 };

bool phase_after_back_copy_prop(Ctx *ctx, Fn *fn)
{
    (void)ctx;
    fn->pipeline_counter = AFTER_BACK_COPY_PROP;
    return false;
}

bool phase_after_legalization(Ctx *ctx, Fn *fn)
{
    (void)ctx;
    fn->pipeline_counter = AFTER_LEGALIZATION;
    return false;
}
