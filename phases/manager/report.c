// SPDX-License-Identifier: MIT
// Prints the function as PTX text (as Ori text in ssa form, which PTX does not have), and the memory that it takes.
//
// Slots: 9 ReportInitialRepresentation, 96 ReportBeforeScheduling, 102 ReportAfterRegisterAllocation, 129 and 155
// DumpNVuCodeText (text); 126 and 151 ReportFinalMemoryUsage (memory). These slots run if they are named or with
// --reports, and write to the report stream. Never makes progress.
//
// Documented: slots and names. Inferred: the form of the output.
#include "ir/ptx/ptx.h"
#include "ir/text/text.h"
#include "phases/bodies.h"

static void banner(Ctx *ctx, const Fn *fn)
{
    out_fmt(ctx->report, "// *** %03d.%s on ", ctx->run.row, phase_info[ctx->run.row].name);
    name_print(ctx->report, fn->tables, fn->module->syms.at[fn->sym].name);
    out_z(ctx->report, " ***\n");
}

bool phase_report_text(Ctx *ctx, Fn *fn)
{
    if (!ctx->report)
        return false;
    banner(ctx, fn);
    if (fn->form == FORM_SSA)
        text_write_fn(fn, ctx->report);
    else
        ptx_write_fn(fn, ctx->report);
    return false;
}

bool phase_report_memory(Ctx *ctx, Fn *fn)
{
    if (!ctx->report)
        return false;
    banner(ctx, fn);
    out_fmt(ctx->report, "// %u instructions in %zu bytes; all functions %zu bytes, peak %zu\n", fn->ninstrs,
            fn->arena.size + fn->code.size, heap_used(&ctx->heap), heap_peak(&ctx->heap));
    return false;
}
