// SPDX-License-Identifier: MIT
// Verifies the function as a phase.
//
// Slots: 0 OriCheckInitialProgram (structure), 12 OriSanitize (structure and types), 94 FinalInspectionPass (these, and
// the invariants of ssa or multi form). They verify if they are named, and with --verify=each, the default of debug
// builds. Otherwise the checks of the reader and one verification after the last phase suffice: four verifications took
// 7 % of a run. A violation is an internal error: each function that a reader accepts or a phase changes must pass the
// verifier. ir/core/verify.c and ir/analysis/verify_form.c list the invariants. Never makes progress.
//
// Does not do: repairs.
// Documented: the three slots and their places. Inferred: the checks of each.
#include "phases/bodies.h"

bool phase_verify(Ctx *ctx, Fn *fn, int level, InstrId *at, char why[static 200])
{
    if (fn->verified[level] == fn->version && !ctx->options.contracts)
        return true;
    bool ok = fn_verify(fn, level, at, why);
    for (int k = 0; k <= level && ok; k++)
        fn->verified[k] = fn->version;
    return ok;
}

static void check(Ctx *ctx, Fn *fn, int level)
{
    InstrId at;
    char why[200];
    if (ctx->running && !ctx->running->named && ctx->options.verify != VM_EACH)
        return;
    if (!phase_verify(ctx, fn, level, &at, why))
        heap_fail(&ctx->heap, ST_INTERNAL, "%s (phase %d): instruction %u: %.150s", phase_info[ctx->run.row].name,
                  ctx->run.row, at, why);
}

bool phase_check_structure(Ctx *ctx, Fn *fn)
{
    check(ctx, fn, VERIFY_STRUCTURE);
    return false;
}

bool phase_check_types(Ctx *ctx, Fn *fn)
{
    check(ctx, fn, VERIFY_TYPES);
    return false;
}

bool phase_check_form(Ctx *ctx, Fn *fn)
{
    check(ctx, fn, VERIFY_FORM);
    return false;
}
