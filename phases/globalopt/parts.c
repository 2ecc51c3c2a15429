// SPDX-License-Identifier: MIT
// Makes the variables that replace another one, their names, and instructions that access them.
#include "phases/globalopt/globalopt.h"

// Returns the names that a new variable must not have, besides those of the module's symbols: those of the function
// that declares it, or of all functions.
static ModuleNames *names_for(Globals *g, uint32_t owner)
{
    if (!owner && !g->names.at.n)
        module_names_init(&g->names, &g->scratch, g->m);
    if (owner && g->names_owner != owner) {
        g->names_owner = owner;
        g->own_names = (ModuleNames){.arena = &g->scratch};
        module_names_add(&g->own_names, g->m->fns.at[owner - 1], 1);
    }
    return owner ? &g->own_names : &g->names;
}

enum { LONGEST = 4096 };

// Writes the name of a variable with a suffix to `buf`.
static const char *suffixed(const Globals *g, const Global *v, const char *suffix, char buf[static LONGEST])
{
    size_t n = strlen(name_text(global_tables(g, v), global_sym(g, v)->name, buf, LONGEST - strlen(suffix)));
    memcpy(buf + n, suffix, strlen(suffix) + 1);
    return buf;
}

// Returns NAME with a suffix and a number, or a similar name that is not taken.
static Name part_name(Globals *g, const Global *v, const char *suffix, uint32_t number)
{
    char stem[LONGEST];
    return module_names_make(names_for(g, v->owner), g->m, global_tables(g, v), suffixed(g, v, suffix, stem), number);
}

Name local_name(Globals *g, uint32_t fn, const char *stem, uint32_t number)
{
    return module_names_make(names_for(g, fn + 1), g->m, g->m->fns.at[fn]->tables, stem, number);
}

SymId param_new(Globals *g, uint32_t fn, SymId like)
{
    char stem[LONGEST];
    Fn *of = g->m->fns.at[fn];
    Name name = ir_sym(of, like)->name;
    name_text(of->tables, (Name){name.stem, NO_NUMBER}, stem, sizeof stem);
    name = local_name(g, fn, stem, name.number);
    SymId id = fn_sym(of, name, SYM_CALLPARAM);
    *ir_sym(of, id) = *ir_sym(of, like);
    ir_sym(of, id)->name = name;
    return id;
}

void part_show(const Globals *g, const Global *v, Fn *fn, RegId r, const char *suffix, uint32_t number)
{
    char stem[LONGEST];
    if (ir_reg(fn, r)->flags & REG_NAMED)
        return;
    suffixed(g, v, suffix, stem);
    ir_reg(fn, r)->name = (Name){str_intern(&fn->tables->strs, stem, strlen(stem)), number};
    ir_reg(fn, r)->flags |= REG_SHOWN;
}

SymId part_new(Globals *g, const Global *v, const char *suffix, uint32_t number)
{
    Fn *owner = v->owner ? g->m->fns.at[v->owner - 1] : NULL;
    Name name = part_name(g, v, suffix, number);
    SymId id = owner ? fn_sym(owner, name, SYM_VAR) : module_sym(g->m, name, SYM_VAR);
    Sym *s = part_sym(g, v, id);
    *s = *global_sym(g, v);
    s->name = name;
    s->flags &= ~(uint32_t)SYM_VISIBLE;
    s->flags |= v->class == GV_INTERNAL ? SYM_INTERNAL : 0;
    return id;
}

SymId flag_new(Globals *g, const Global *v)
{
    SymId id = part_new(g, v, ".init", NO_NUMBER);
    Sym *s = part_sym(g, v, id);
    s->type = TY_U8;
    s->vec = 0;
    s->flags &= ~(uint32_t)SYM_ARRAY;
    s->align = 1;
    s->count = s->size = 1;
    s->init = NULL;
    return id;
}

DescId flag_access(const Globals *g, const Global *v, Fn *fn, Opcode op)
{
    return desc_with_space(fn->tables, desc_make(fn->tables, op, TY_U8), (Space)global_sym(g, v)->space);
}

void insert_beside(Fn *fn, InstrId at, DescId desc, const Operand *ops, uint32_t n, bool guarded)
{
    const Instr *i = ir_instr(fn, at);
    Operand all[6];
    uint8_t flags = guarded ? i->flags & IF_GUARDED : 0;
    memcpy(all, ops, n * sizeof *ops);
    if (flags)
        all[n++] = *ir_guard(fn, i);
    InstrId id = ir_insert_before(fn, at, desc, flags, all, n);
    ir_instr(fn, id)->line = ir_instr(fn, at)->line;
}
