// SPDX-License-Identifier: MIT
// Optimizes a function before it is inlined, so that its size is that of optimized code, and copies are small; or
// before its callees are, so that calls through registers become direct.
#include "phases/bundles/bundle.h"
#include "phases/module/module.h"

enum { TURNS = 3 };

static void run_turns(Ctx *ctx, Fn *fn)
{
    static const uint8_t rows[] = {PH_INFER_SPACES, PH_PROMOTE_MEMORY, PH_COPY_PROP, PH_FOLD, PH_SIMPLE_LIVE_DEAD};
    for (int turn = 0; turn < TURNS && bundle_round(ctx, fn, rows, ARRAY_LEN(rows));)
        turn++;
}

bool prepare_function(Ctx *ctx, Fn *fn, bool *direct)
{
    uint64_t before = ir_hash(fn);
    *direct = false;
    phase_subpass(ctx, fn, PH_GENERATE_MOV_PHI);
    if (fn->form != FORM_SSA)
        return ir_hash(fn) != before;  // the conversion is disabled
    fn->settled = 0;
    run_turns(ctx, fn);
    if ((*direct = phase_subpass(ctx, fn, PH_DEVIRTUALIZE)))
        run_turns(ctx, fn);
    phase_subpass(ctx, fn, PH_CONVERT_MOV_PHI);
    return ir_hash(fn) != before;
}
