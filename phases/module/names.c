// SPDX-License-Identifier: MIT
// Finds unique names for variables that move from a function to the module.
//
// A name that some function declares would hide the variable there. Functions that phases changed have stems of their
// own, so names are compared as texts.
#include "phases/module/module.h"

#include <stdio.h>

typedef struct NameUse {
    Str stem;
    uint32_t number;
    uint32_t uses;  // declarations
    uint32_t next;  // the number that is tried next for a variable with this name
} NameUse;

static uint32_t hash_name(Str stem, uint32_t number)
{
    uint64_t h = hash_mix(hash_bytes(stem.text, stem.len), number);
    return (uint32_t)(h ^ (h >> 32));
}

static NameUse *find_use(const ModuleNames *names, Str stem, uint32_t number)
{
    IDSET_EACH(&names->index, hash_name(stem, number), id) {
        NameUse *use = &names->at.at[id];
        if (use->number == number && use->stem.len == stem.len && memcmp(use->stem.text, stem.text, stem.len) == 0)
            return use;
    }
    return NULL;
}

static NameUse *add_use(ModuleNames *names, const Tables *t, Name name)
{
    Str stem = tab_str(t, name.stem);
    NameUse *use = find_use(names, stem, name.number);
    if (!use) {
        idset_add(&names->index, names->arena, hash_name(stem, name.number), names->at.n);
        VEC_PUSH(names->arena, &names->at, ((NameUse){.stem = stem, .number = name.number}));
        use = &names->at.at[names->at.n - 1];
    }
    use->uses++;
    return use;
}

void module_names_add(ModuleNames *names, const Fn *fn, uint32_t first_symbol)
{
    for (uint32_t k = first_symbol; k < fn->syms.n; k++)
        if (ir_sym(fn, k | SYM_LOCAL)->name.stem)
            add_use(names, fn->tables, ir_sym(fn, k | SYM_LOCAL)->name);
    if (first_symbol > 1)
        return;
    FOR_BLOCKS(fn, b)
        if (ir_block(fn, b)->label.stem)
            add_use(names, fn->tables, ir_block(fn, b)->label);
    for (RegId r = 1; r < fn->regs.n; r++)
        if (ir_reg(fn, r)->flags & REG_NAMED)
            add_use(names, fn->tables, ir_reg(fn, r)->name);
}

void module_names_init(ModuleNames *names, Arena *arena, const Module *m)
{
    *names = (ModuleNames){.arena = arena};
    for (SymId s = 1; s < m->syms.n; s++)
        add_use(names, &m->tables, m->syms.at[s].name);
    for (uint32_t k = 0; k < m->fns.n; k++)
        if (m->fns.at[k])
            module_names_add(names, m->fns.at[k], 1);
}

Name module_names_take(ModuleNames *names, Module *m, const Fn *fn, Name name)
{
    Str text = tab_str(fn->tables, name.stem);
    Name own = {str_intern(&m->tables.strs, text.text, text.len), name.number};
    NameUse *use = find_use(names, text, name.number);
    if (use->uses > 1) {
        uint32_t at = (uint32_t)(use - names->at.at);
        own.number = use->next ? use->next : own.number == NO_NUMBER ? 1 : own.number + 1;
        while (find_use(names, text, own.number))
            own.number++;
        names->at.at[at].next = own.number + 1;
        add_use(names, &m->tables, own);
    }
    return own;
}

static bool has_name(const ModuleNames *names, const Module *m, const char *stem, size_t len, uint32_t number)
{
    StrId id = str_find(&m->tables.strs, stem, len);
    return (id != STR_NONE && module_find(m, (Name){id, number})) ||
           find_use(names, (Str){.text = stem, .len = (uint32_t)len}, number);
}

// True if some name has this stem, as it is or as PTX has it.
static bool is_taken(const ModuleNames *names, const Module *m, const char *stem, uint32_t number)
{
    char in_ptx[PTX_DOT_LEN * 4096];
    Out out = {.buf = in_ptx, .cap = sizeof in_ptx};
    stem_print_ptx(&out, (Str){.text = stem, .len = (uint32_t)strlen(stem)});
    return has_name(names, m, stem, strlen(stem), number) || has_name(names, m, in_ptx, out.n, number);
}

Name module_names_make(ModuleNames *names, const Module *m, Tables *t, const char *stem, uint32_t number)
{
    char longer[2400];
    if (is_taken(names, m, stem, number)) {
        NameUse *use = find_use(names, (Str){.text = stem, .len = (uint32_t)strlen(stem)}, number);
        snprintf(longer, sizeof longer, number == NO_NUMBER ? "%.2300s_" : "%.2300s%u_", stem, number);
        stem = longer;
        for (number = use && use->next ? use->next : 1; is_taken(names, m, stem, number);)
            number++;
        if (use)
            use->next = number + 1;
    }
    Name name = {str_intern_z(&t->strs, stem), number};
    add_use(names, t, name);
    return name;
}
