// SPDX-License-Identifier: MIT
// Phase 37 GeneralOptimizeMid.
#include "phases/bodies.h"

bool phase_general_optimize_mid(Ctx *ctx, Fn *fn)
{
    bool progress = false, more = true;
    for (int round = 0; more && round < 16; round++) {
        more = phase_subpass(ctx, fn, PH_PROMOTE_MEMORY);
        more |= phase_subpass(ctx, fn, PH_COPY_PROP);
        more |= phase_subpass(ctx, fn, PH_FOLD_CONSTANTS);
        more |= phase_subpass(ctx, fn, PH_SIMPLE_LIVE_DEAD);
        progress |= more;
    }
    return progress;
}
