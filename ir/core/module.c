// SPDX-License-Identifier: MIT
// Modules: everything outside function bodies.
#include "ir/core/ir.h"

Module *module_new(Heap *heap)
{
    Arena arena;
    arena_init(&arena, heap);
    Module *m = NEW(&arena, Module);
    m->arena = arena;
    m->isa = (Isa){UINT16_MAX, UINT16_MAX};
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

static void add_sym(Module *m, Sym s)
{
    VEC_PUSH(&m->arena, &m->syms, s);
    if (!module_find(m, s.name))
        idset_add(&m->index, &m->arena, name_hash(s.name), m->syms.n - 1);
}

SymId module_sym(Module *m, Name name, SymKind kind)
{
    if (m->syms.n >= SYM_LOCAL)
        heap_fail(m->arena.heap, ST_LIMIT, "more than %d symbols", SYM_LOCAL);
    add_sym(m, (Sym){.name = name, .kind = (uint8_t)kind});
    module_reserve_stem(m, name.stem);
    return m->syms.n - 1;
}

SymId module_find(const Module *m, Name name)
{
    IDSET_EACH(&m->index, name_hash(name), id) {
        if (name_same(m->syms.at[id].name, name))
            return id;
    }
    return 0;
}

void module_add_fn(Module *m, Fn *fn) { VEC_PUSH(&m->arena, &m->fns, fn); }

void module_note_properties(Module *m, const Fn *fn)
{
    Sym *s = &m->syms.at[fn->sym];
    // The linker may replace a weak definition by another one.
    if (!(s->flags & SYM_WEAK))
        s->flags |= fn_properties(fn);
}

void module_drop_fn(Module *m, uint32_t index)
{
    Fn *fn = m->fns.at[index];
    Sym *s = &m->syms.at[fn->sym];
    if (s->fn == fn)
        s->fn = NULL;
    fn_free(fn);
    m->fns.at[index] = NULL;
}

void module_item(Module *m, ItemKind kind, uint32_t index) { VEC_PUSH(&m->arena, &m->items, ((Item){kind, index})); }

void module_add_text(Module *m, Str text)
{
    VEC_PUSH(&m->arena, &m->texts, text);
    module_item(m, ITEM_RAW, m->texts.n - 1);
}

Str module_item_text(const Module *m, const Item *item)
{
    return item->kind == ITEM_RAW ? m->texts.at[item->index] : (Str){"", 0, 0};
}

bool module_file(const Module *m, uint32_t item, uint32_t *number, Str *name)
{
    static const char word[] = ".file ";
    Str s = module_item_text(m, &m->items.at[item]);
    const char *p = s.text + sizeof word - 1, *end = s.text + s.len;
    if (s.len < sizeof word || memcmp(s.text, word, sizeof word - 1) != 0)
        return false;
    for (*number = 0; p < end && *p >= '0' && *p <= '9'; p++)
        *number = *number * 10 + (uint32_t)(*p - '0');
    const char *from = memchr(p, '"', (size_t)(end - p));
    const char *to = from ? memchr(from + 1, '"', (size_t)(end - from - 1)) : NULL;
    *name = (Str){.text = to ? from + 1 : NULL, .len = to ? (uint32_t)(to - from - 1) : 0};
    return to;
}

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
    for (; m->frozen < m->fns.n; m->frozen++)
        fn_own_tables(m->fns.at[m->frozen]);
}

/* -- Reading beside phases ------------------------------------------------------------------------------ */

static void take_header(Module *m, const Module *from)
{
    m->version = from->version;
    m->target = from->target;
    m->sm = from->sm;
    m->sm_offset = from->sm_offset;
    m->isa = from->isa;
    m->address_size = from->address_size;
    m->debug = from->debug;
}

// Moves a function with its symbol, which may be an old one: a function that was declared before.
static void take_fn(Module *m, Module *from, uint32_t index)
{
    Fn *fn = from->fns.at[index];
    Sym *s = &m->syms.at[fn->sym];
    uint32_t properties = s->flags & SYM_PROPERTIES;
    *s = from->syms.at[fn->sym];
    s->flags |= properties;
    s->fn = fn;
    fn->module = m;
    fn->tables = &m->tables;
    from->fns.at[index] = NULL;
    module_add_fn(m, fn);
}

void module_take(Module *m, Module *from)
{
    take_header(m, from);
    tables_copy_new(&m->tables, &from->tables);
    for (uint32_t k = m->syms.n; k < from->syms.n; k++)
        add_sym(m, from->syms.at[k]);
    for (uint32_t k = m->fns.n; k < from->fns.n; k++) {
        take_fn(m, from, k);
        from->syms.at[m->fns.at[k]->sym].fn = NULL;
    }
    for (uint32_t k = m->texts.n; k < from->texts.n; k++)
        VEC_PUSH(&m->arena, &m->texts, from->texts.at[k]);
    for (uint32_t k = m->items.n; k < from->items.n; k++)
        VEC_PUSH(&m->arena, &m->items, from->items.at[k]);
    for (uint32_t k = m->knobs.n; k < from->knobs.n; k++)
        VEC_PUSH(&m->arena, &m->knobs, from->knobs.at[k]);
    for (uint32_t k = m->reserved.n; k < from->reserved.n; k++)
        VEC_PUSH(&m->arena, &m->reserved, false);
    if (m->reserved.n)
        memcpy(m->reserved.at, from->reserved.at, m->reserved.n * sizeof *m->reserved.at);
}
