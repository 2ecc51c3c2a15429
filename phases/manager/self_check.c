// SPDX-License-Identifier: MIT
// Checks the contract of a phase after its run, and the clone and the text of the function.
//
// Contracts: a phase reports progress exactly if it changed the function (by hash). The analyses that it keeps equal a
// new computation. It requests only analyses in the `needs` of its row, and makes only instructions that the .version
// and .target of the module have. Self-checks: a clone replaces the function, or the function that is read back from
// its text. So errors of cloning and printing show up in later phases.
#include <stdio.h>

#include "ir/text/text.h"
#include "phases/manager/dump.h"

static _Noreturn void fail(Ctx *ctx, const Fn *fn, int row, const char *what)
{
    char function[80];
    name_text(fn->tables, fn->module->syms.at[fn->sym].name, function, sizeof function);
    heap_fail(&ctx->heap, ST_INTERNAL, "%s (phase %d), function %s: %.120s", phase_info[row].name, row, function, what);
}

// Checks the instructions that phases made: those whose descriptors the module's tables lack.
static void check_instructions(Ctx *ctx, Fn *fn, int row)
{
    char why[120];
    FOR_BLOCKS(fn, b) {
        FOR_INSTRS(fn, b, id) {
            DescId desc = ir_instr(fn, id)->desc;
            const Desc *d = tab_desc(fn->tables, desc);
            if (desc < fn->tables->desc_first || module_takes(fn->module, d->needs))
                continue;
            Str text = tab_str(fn->tables, tab_mnem(fn->tables, d->mnem)->text);
            snprintf(why, sizeof why, "'%.*s' is not in the .version and .target of the module", (int)MIN(text.len, 40),
                     text.text);
            fail(ctx, fn, row, why);
        }
    }
}

void check_contract(Ctx *ctx, Fn *fn, int row, bool progress, bool changed)
{
    char why[200];
    if (progress != changed)
        fail(ctx, fn, row,
             changed ? "changed the function and reports no progress" : "reports progress and changed nothing");
    if (!analysis_check(fn, UINT32_MAX, why))
        fail(ctx, fn, row, why);
    uint32_t more = ctx->run.requested & ~analysis_closure(phase_info[row].needs);
    if (more) {
        snprintf(why, sizeof why, "requests %s, which its row does not list", analysis_names[__builtin_ctz(more)]);
        fail(ctx, fn, row, why);
    }
    // A function that was read back has new descriptors for all of its instructions.
    if (changed && !ctx->options.self_roundtrip)
        check_instructions(ctx, fn, row);
}

void check_skip(Ctx *ctx, Fn *fn, int row, int slot)
{
    PhaseForm form = phase_info[row].form;
    if (form != PF_ANY && form != (fn->form == FORM_SSA ? PF_SSA : PF_MULTI))
        return;
    Run outer = ctx->run;
    uint64_t before = ir_hash(fn);
    uint32_t requested = analysis_requested(fn, 0), classes = fn->classes;
    struct Remarks *remarks = ctx->remarks;
    ctx->remarks = NULL;  // the output does not depend on checks
    ctx->run = (Run){.row = row, .slot = slot, .level = ctx->options.level};
    bool changed = ctx->phases[row].vtable->execute(&ctx->phases[row], fn) || ir_hash(fn) != before;
    ctx->remarks = remarks;
    if (changed)
        fail(ctx, fn, row, "changes a function that lacks the classes of instructions in its row");
    ctx->run = outer;
    fn->classes = classes;
    analysis_requested(fn, requested);
}

// Replaces a function by another one, and frees it.
static Fn *replace(Fn *fn, Fn *by)
{
    Sym *s = &fn->module->syms.at[fn->sym];
    if (s->fn == fn)
        s->fn = by;
    analysis_drop(fn, 0);
    fn_free(fn);
    return by;
}

static Fn *check_clone(Ctx *ctx, Fn *fn, int row)
{
    Fn *clone = fn_clone(fn);
    fn_compact(clone);
    if (ir_hash(clone) != ir_hash(fn))
        fail(ctx, fn, row, "the clone differs from the function");
    return replace(fn, clone);
}

static void note_message(void *user, const char *text, size_t n) { out_to_text(user, text, n); }

static TextBuffer printed(Ctx *ctx, const Fn *fn, Arena *arena)
{
    (void)ctx;
    TextBuffer text = {.arena = arena};
    Out out;
    out_init(&out, arena, out_to_text, &text);
    text_write_fn(fn, &out);
    out_flush(&out);
    return text;
}

static Fn *check_roundtrip(Ctx *ctx, Fn *fn, int row)
{
    Arena arena;
    arena_init(&arena, &ctx->heap);
    TextBuffer text = printed(ctx, fn, &arena), messages = {.arena = &arena};
    Source source = text_source(&text, "text");
    Diag diag = {.source = &source, .write = note_message, .user = &messages, .max_errors = 1};
    Fn *again = text_read_fn(fn->module, &source, &diag);
    char why[120];
    if (!again) {
        snprintf(why, sizeof why, "the printed function cannot be read back: %.*s", (int)MIN(messages.n, 70),
                 messages.at);
        fail(ctx, fn, row, why);
    }
    TextBuffer second = printed(ctx, again, &arena);
    if (second.n != text.n || memcmp(second.at, text.at, text.n) != 0)
        fail(ctx, fn, row, "the printed text changes when it is read and printed again");
    arena_free(&arena);
    // The text does not state these.
    again->properties |= fn->properties & PROP_REOPTIMIZE;
    again->settled = fn->settled;
    again->phi_limit = fn->phi_limit;
    again->paused = fn->paused ? arena_copy(&again->arena, fn->paused, fn->npaused) : NULL;
    again->npaused = fn->npaused;
    return replace(fn, again);
}

Fn *self_check(Ctx *ctx, Fn *fn, int row)
{
    if (ctx->options.self_clone)
        fn = check_clone(ctx, fn, row);
    if (ctx->options.self_roundtrip)
        fn = check_roundtrip(ctx, fn, row);
    return fn;
}
