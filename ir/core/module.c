// SPDX-License-Identifier: MIT
// Modules: what stands outside function bodies.
#include "ir/core/ir.h"

Module *module_new(Heap *heap)
{
    Arena arena;
    arena_init(&arena, heap);
    Module *m = NEW(&arena, Module);
    m->arena = arena;
    tables_init(&m->tables, &m->arena, NULL);
    VEC_PUSH(&m->arena, &m->syms, (Sym){0});
    return m;
}

void module_free(Module *m)
{
    for (uint32_t k = 0; k < m->fns.n; k++)
        if (m->fns.at[k])
            fn_free(m->fns.at[k]);
    Arena arena = m->arena;  // the module itself lies in it
    arena_free(&arena);
}

SymId module_sym(Module *m, Name name, SymKind kind)
{
    if (m->syms.n >= SYM_LOCAL)
        heap_fail(m->arena.heap, ST_LIMIT, "more than %d symbols", SYM_LOCAL);
    VEC_PUSH(&m->arena, &m->syms, ((Sym){.name = name, .kind = (uint8_t)kind}));
    module_reserve_stem(m, name.stem);
    return m->syms.n - 1;
}

void module_item(Module *m, ItemKind kind, uint32_t index) { VEC_PUSH(&m->arena, &m->items, ((Item){kind, index})); }

bool stem_could_be_ours(Str s)
{
    return s.len && (s.text[0] == '%' || (s.len >= 6 && memcmp(s.text, "$L_ori", 6) == 0));
}

void module_reserve_stem(Module *m, StrId stem)
{
    if (!stem_could_be_ours(tab_str(&m->tables, stem)))
        return;
    while (stem >= m->reserved.n)
        VEC_PUSH(&m->arena, &m->reserved, false);
    m->reserved.at[stem] = true;
}

bool module_is_reserved(const Module *m, StrId stem) { return stem < m->reserved.n && m->reserved.at[stem]; }

void module_freeze(Module *m)
{
    for (uint32_t k = 0; k < m->fns.n; k++)
        fn_own_tables(m->fns.at[k]);
}
