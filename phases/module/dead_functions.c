// SPDX-License-Identifier: MIT
// Removes functions that nothing reaches, and variables that nothing names.
//
// Sub-pass: OriDeadFunctions, before slot 0. Kernels, `.visible` and `.weak` functions are roots, and so are variables
// of the module that hosts or other modules can name, and text that is kept verbatim (`.alias`, debug sections). A
// function that no root reaches goes, together with its prototypes. A `.shared` variable, and a variable that a
// function declared, go if no function and no variable that is left names them. Prototypes without a definition go with
// their last use: ptxas reports them as unresolved.
//
//     device @square(@a: 32) -> @r: 32 { ... }       ->     nothing, after all calls of it were inlined
//
// Must not fire:
//     visible device @f, weak device @f               another module may call it
//     global @table = { @f }                          a host or a kernel may read the table
//     global @g                                       a host may name it
//     extern shared @s[]                              its size comes from the launch
//     any symbol that the knob KeepSymbols lists (--keep), even one that the module only declares
//
// The user may internalize variables and functions (--internalize): no host code, other module or debugger names them.
// Then linkage makes them no roots, except .weak and .extern.
//
// Does nothing in a module that had no calls in the input, if the user internalizes nothing: such a module is read and
// written in pieces.
// Documented: nothing. Inferred: all.
#include "phases/module/module.h"

typedef struct Liveness {
    Module *m;
    Arena scratch;
    bool *live;          // by SymId
    uint32_t *body;      // by SymId of a function: the index of its definition plus 1; 0 = none
    VEC(SymId) pending;  // live symbols whose references were not visited
} Liveness;

static void mark(void *user, SymId sym)
{
    Liveness *l = user;
    if (l->live[sym])
        return;
    l->live[sym] = true;
    VEC_PUSH(&l->scratch, &l->pending, sym);
}

// True if only functions of the module can name a variable.
static bool is_own(const Ctx *ctx, const Module *m, SymId sym)
{
    const Sym *s = &m->syms.at[sym];
    if (module_internalizes(ctx, m, sym))
        return true;
    if (s->flags & (SYM_EXTERN | SYM_VISIBLE | SYM_WEAK | SYM_COMMON))
        return false;
    return s->flags & SYM_STATIC || s->space == SP_SHARED;
}

// A function that phases may not change stays.
static bool is_root(const Ctx *ctx, const Module *m, const Item *item)
{
    const Fn *fn = item->kind == ITEM_FN ? m->fns.at[item->index] : NULL;
    if (module_lists(ctx->kept, m, fn ? fn->sym : item->index))
        return true;
    if (!fn)
        return !is_own(ctx, m, item->index);
    bool named = m->syms.at[fn->sym].flags & (SYM_VISIBLE | SYM_WEAK | SYM_COMMON);
    return fn->flags & FN_DEFINED && ((ctx->wanted && !ctx->wanted(ctx->wanted_user, fn)) || fn->flags & FN_KERNEL ||
                                      (named && !module_internalizes(ctx, m, fn->sym)));
}

static void mark_roots(const Ctx *ctx, Liveness *l)
{
    const Module *m = l->m;
    for (uint32_t k = 0; k < m->items.n; k++) {
        const Item *item = &m->items.at[k];
        if (item->kind == ITEM_RAW)
            raw_symbols(m, module_item_text(m, item), mark, l);
        else if (is_root(ctx, m, item))
            mark(l, item->kind == ITEM_VAR ? item->index : m->fns.at[item->index]->sym);
    }
}

static void mark_reachable(Liveness *l)
{
    while (l->pending.n) {
        SymId sym = l->pending.at[--l->pending.n];
        init_symbols(l->m->syms.at[sym].init, mark, l);
        if (l->body[sym])
            fn_symbols(l->m->fns.at[l->body[sym] - 1], mark, l);
    }
}

static bool is_dead(const Liveness *l, const Item *item)
{
    if (item->kind == ITEM_RAW)
        return false;
    return !l->live[item->kind == ITEM_VAR ? item->index : l->m->fns.at[item->index]->sym];
}

static void report(Ctx *ctx, const Fn *fn)
{
    char name[200];
    if (ctx->remarks)
        remarks_start(ctx->remarks);
    if (fn->flags & FN_DEFINED)
        remark(ctx, fn, 0, RM_PASSED, "DeadFunction", "{Function:%s} with {Instructions:%u} instructions is removed",
               name_text(&fn->module->tables, fn->module->syms.at[fn->sym].name, name, sizeof name), fn->ninstrs);
}

bool phase_dead_functions(Ctx *ctx, Module *m)
{
    if (!ctx->has_calls && !ctx->internalized)
        return false;
    Liveness l = {.m = m};
    arena_init(&l.scratch, &ctx->heap);
    l.live = NEW_ARRAY(&l.scratch, bool, m->syms.n);
    l.body = NEW_ARRAY(&l.scratch, uint32_t, m->syms.n);
    for (uint32_t k = 0; k < m->fns.n; k++)
        if (m->fns.at[k] && m->fns.at[k]->flags & FN_DEFINED)
            l.body[m->fns.at[k]->sym] = k + 1;
    mark_roots(ctx, &l);
    mark_reachable(&l);
    uint32_t kept = 0, n = m->items.n;
    for (uint32_t k = 0; k < n; k++) {
        Item item = m->items.at[k];
        if (!is_dead(&l, &item)) {
            m->items.at[kept++] = item;
            continue;
        }
        const Fn *fn = item.kind == ITEM_FN ? m->fns.at[item.index] : NULL;
        ctx->module.variables_removed += !fn;
        if (!fn)
            continue;
        ctx->module.functions_removed += (fn->flags & FN_DEFINED) != 0;
        report(ctx, m->fns.at[item.index]);
        module_drop_fn(m, item.index);
    }
    m->items.n = kept;
    arena_free(&l.scratch);
    return kept < n;
}
