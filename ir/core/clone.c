// SPDX-License-Identifier: MIT
// Copies a function deeply: with the same ids, and nothing shared except the module.
#include "ir/core/ir.h"

#define COPY_VEC(arena, v)                                                        \
    do {                                                                          \
        (v)->at = arena_copy((arena), (v)->at, (size_t)(v)->n * sizeof *(v)->at); \
        (v)->cap = (v)->n;                                                        \
    } while (0)

/* -- Tables --------------------------------------------------------------------------------------------- */

static void copy_index(Arena *arena, IdSet *set)
{
    if (set->slots)
        set->slots = arena_copy(arena, set->slots, ((size_t)set->mask + 1) * sizeof *set->slots);
}

static Tables *copy_tables(Arena *arena, const Tables *from)
{
    Tables *t = arena_copy(arena, from, sizeof *from);
    t->arena = t->strs.arena = arena;
    COPY_VEC(arena, &t->strs.strings);
    COPY_VEC(arena, &t->mnems);
    COPY_VEC(arena, &t->descs);
    COPY_VEC(arena, &t->consts);
    for (uint32_t k = 0; k < t->strs.strings.n; k++)
        t->strs.strings.at[k].text = arena_copy(arena, t->strs.strings.at[k].text, t->strs.strings.at[k].len);
    for (uint32_t k = 0; k < t->descs.n; k++)
        t->descs.at[k].slots = arena_copy(arena, t->descs.at[k].slots, t->descs.at[k].nops * sizeof(Slot));
    copy_index(arena, &t->strs.index);
    copy_index(arena, &t->mnem_index);
    copy_index(arena, &t->desc_index);
    copy_index(arena, &t->canonical_index);
    copy_index(arena, &t->const_index);
    return t;
}

/* -- Symbols -------------------------------------------------------------------------------------------- */

static void copy_sig(Arena *arena, Sig *sig)
{
    sig->rets = arena_copy(arena, sig->rets, sig->nrets * sizeof(SymId));
    sig->params = arena_copy(arena, sig->params, sig->nparams * sizeof(SymId));
}

static void copy_symbol(Arena *arena, Sym *s)
{
    if (s->sig) {
        s->sig = arena_copy(arena, s->sig, sizeof *s->sig);
        copy_sig(arena, s->sig);
    }
    if (s->init) {
        s->init = arena_copy(arena, s->init, sizeof *s->init);
        s->init->bytes = arena_copy(arena, s->init->bytes, s->init->size);
        s->init->relocs = arena_copy(arena, s->init->relocs, s->init->nrelocs * sizeof(Reloc));
    }
}

/* -- Functions ------------------------------------------------------------------------------------------ */

Fn *fn_clone(const Fn *from)
{
    Arena arena;
    arena_init(&arena, from->arena.heap);
    Fn *fn = arena_alloc(&arena, sizeof *fn);
    *fn = *from;
    fn->arena = arena;
    Arena *a = &fn->arena;
    arena_init(&fn->code, arena.heap);
    seg_copy(&fn->instrs, &fn->code, sizeof(Instr));
    seg_copy(&fn->ops, &fn->code, sizeof(Operand));
    seg_copy(&fn->regs, a, sizeof(Reg));
    seg_copy(&fn->blocks, a, sizeof(Block));
    seg_copy(&fn->syms, a, sizeof(Sym));
    seg_copy(&fn->lines, a, sizeof(Line));
    seg_copy(&fn->lists, a, sizeof(List));
    for (uint32_t k = 1; k < fn->syms.n; k++)
        copy_symbol(a, ir_sym(fn, k | SYM_LOCAL));
    copy_sig(a, &fn->sig);
    fn->input = fn->input ? arena_copy(a, fn->input, sizeof *fn->input) : NULL;
    fn->paused = fn->paused ? arena_copy(a, fn->paused, fn->npaused) : NULL;
    COPY_VEC(a, &fn->directives);
    COPY_VEC(a, &fn->knobs);
    COPY_VEC(&fn->code, &fn->where);
    if (fn->tables != &fn->module->tables)
        fn->tables = copy_tables(a, fn->tables);
    fn->analyses = NULL;
    fn->defs = NULL;
    return fn;
}
