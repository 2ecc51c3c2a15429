// SPDX-License-Identifier: MIT
// Orders the items of a module so that declarations precede uses.
//
// PTX declares each symbol before it is used, but inlining puts the code of a callee, and the symbols that it names, in
// front of declarations that preceded only the callee. So each item is preceded by the symbols that it names and that
// have no declaration yet: by the item of a variable, or by the prototype of a function. A function without a prototype
// gets one that is made of its definition. All other items keep their order. Variables keep their order among each
// other, since addresses may follow from it: a variable moves together with those before it, and a variable that was
// declared by a function comes after those of the module.
#include "phases/module/module.h"

typedef struct Order {
    Module *m;
    Arena scratch;
    bool *declared;          // by SymId
    bool *begun;             // by SymId: the symbols of the initializer are wanted
    bool *placed;            // by index of a function
    uint32_t *prototype;     // by SymId: the first declaration without a body, plus 1; 0 = none
    uint32_t *definition;    // the same for the declaration with one
    VEC(SymId) variables;    // those with items, in order
    uint32_t *variable_at;   // by SymId: the index in `variables` plus 1; 0 = none
    uint32_t next_variable;  // the first one that was not wanted
    VEC(Item) items;         // in the new order
    VEC(SymId) wanted;       // symbols to declare, the next one last
} Order;

/* -- Prototypes ----------------------------------------------------------------------------------------- */

static SymId copy_formal(Fn *to, const Fn *from, SymId id)
{
    Sym s = *ir_sym(from, id);
    Str stem = tab_str(from->tables, s.name.stem);
    s.name.stem = str_find(&to->module->tables.strs, stem.text, stem.len);
    SymId copy = fn_sym(to, s.name, SYM_FORMAL);
    *ir_sym(to, copy) = s;
    return copy;
}

static SymId *copy_formals(Fn *to, const Fn *from, const SymId *ids, uint32_t n)
{
    SymId *copies = NEW_ARRAY(&to->arena, SymId, n);
    for (uint32_t k = 0; k < n; k++)
        copies[k] = copy_formal(to, from, ids[k]);
    return copies;
}

// Adds a declaration of a function that the module defines.
static uint32_t make_prototype(Module *m, const Fn *from)
{
    Fn *fn = fn_new(m, from->sym);
    fn->flags = from->flags & FN_DEBUG;
    fn->sig = from->sig;
    fn->sig.rets = copy_formals(fn, from, from->sig.rets, from->sig.nrets);
    fn->sig.params = copy_formals(fn, from, from->sig.params, from->sig.nparams);
    for (uint32_t k = 0; k < from->directives.n; k++) {
        Str text = tab_str(from->tables, from->directives.at[k].text);
        if (text.len == 9 && memcmp(text.text, ".noreturn", 9) == 0)
            VEC_PUSH(&fn->arena, &fn->directives, from->directives.at[k]);
    }
    module_add_fn(m, fn);
    return m->fns.n - 1;
}

/* -- Declaring ------------------------------------------------------------------------------------------ */

// Wants a variable after all variables that precede it. The last entry of `wanted` is declared first.
static void want_variable(Order *o, SymId sym)
{
    uint32_t end = o->variable_at[sym] ? o->variable_at[sym] : o->variables.n;
    if (!o->variable_at[sym])
        VEC_PUSH(&o->scratch, &o->wanted, sym);
    for (uint32_t k = end; k > o->next_variable; k--)
        VEC_PUSH(&o->scratch, &o->wanted, o->variables.at[k - 1]);
    o->next_variable = MAX(o->next_variable, end);
}

static void want(void *user, SymId sym)
{
    Order *o = user;
    if (o->declared[sym])
        return;
    if (o->m->syms.at[sym].kind == SYM_VAR)
        want_variable(o, sym);
    else
        VEC_PUSH(&o->scratch, &o->wanted, sym);
}

static void place_fn(Order *o, uint32_t index)
{
    VEC_PUSH(&o->scratch, &o->items, ((Item){ITEM_FN, index}));
    if (index < o->m->fns.n)
        o->placed[index] = true;
}

static void declare_fn(Order *o, SymId sym)
{
    uint32_t at = o->prototype[sym];
    o->declared[sym] = true;
    if (at) {
        place_fn(o, at - 1);
    } else if (o->definition[sym]) {
        at = make_prototype(o->m, o->m->fns.at[o->definition[sym] - 1]);
        VEC_PUSH(&o->scratch, &o->items, ((Item){ITEM_FN, at}));
    }
}

// Declares the wanted symbols. A variable is placed after the symbols of its initializer.
static void declare_wanted(Order *o)
{
    while (o->wanted.n) {
        SymId sym = o->wanted.at[o->wanted.n - 1];
        const Sym *s = &o->m->syms.at[sym];
        uint32_t before = o->wanted.n;
        if (!o->begun[sym] && s->kind == SYM_VAR)
            init_symbols(s->init, want, o);
        o->begun[sym] = true;
        if (o->wanted.n > before)
            continue;
        o->wanted.n--;
        if (o->declared[sym])
            continue;
        if (s->kind == SYM_FUNC)
            declare_fn(o, sym);
        else
            VEC_PUSH(&o->scratch, &o->items, ((Item){ITEM_VAR, sym}));
        o->declared[sym] = true;
    }
}

static void declare_now(void *user, SymId sym)
{
    want(user, sym);
    declare_wanted(user);
}

static void place_item(Order *o, const Item *item)
{
    const Fn *fn = item->kind == ITEM_FN ? o->m->fns.at[item->index] : NULL;
    if (item->kind == ITEM_RAW) {
        VEC_PUSH(&o->scratch, &o->items, *item);
    } else if (item->kind == ITEM_VAR) {
        declare_now(o, item->index);
    } else if (!o->placed[item->index]) {
        o->declared[fn->sym] = true;
        if (fn->flags & FN_DEFINED)
            fn_symbols(fn, declare_now, o);
        place_fn(o, item->index);
    }
}

static void index_items(Order *o)
{
    const Module *m = o->m;
    for (uint32_t k = 0; k < m->items.n; k++) {
        if (m->items.at[k].kind != ITEM_VAR)
            continue;
        VEC_PUSH(&o->scratch, &o->variables, m->items.at[k].index);
        o->variable_at[m->items.at[k].index] = o->variables.n;
    }
    for (uint32_t k = m->items.n; k-- > 0;) {
        const Item *item = &m->items.at[k];
        if (item->kind != ITEM_FN)
            continue;
        const Fn *fn = m->fns.at[item->index];
        (fn->flags & FN_DEFINED ? o->definition : o->prototype)[fn->sym] = item->index + 1;
    }
}

void module_order_items(Module *m)
{
    Order *o;
    Arena arena;
    arena_init(&arena, m->arena.heap);
    o = NEW(&arena, Order);
    *o = (Order){.m = m, .scratch = arena};
    o->declared = NEW_ARRAY(&o->scratch, bool, m->syms.n);
    o->begun = NEW_ARRAY(&o->scratch, bool, m->syms.n);
    o->placed = NEW_ARRAY(&o->scratch, bool, m->fns.n);
    o->prototype = NEW_ARRAY(&o->scratch, uint32_t, m->syms.n);
    o->definition = NEW_ARRAY(&o->scratch, uint32_t, m->syms.n);
    o->variable_at = NEW_ARRAY(&o->scratch, uint32_t, m->syms.n);
    index_items(o);
    for (uint32_t k = 0; k < m->items.n; k++)
        place_item(o, &m->items.at[k]);
    m->items.n = 0;
    for (uint32_t k = 0; k < o->items.n; k++)
        VEC_PUSH(&m->arena, &m->items, o->items.at[k]);
    arena = o->scratch;
    arena_free(&arena);
}
