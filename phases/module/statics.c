// SPDX-License-Identifier: MIT
// Moves variables of a function that have one object for all of its calls to the module.
//
// A variable in `.shared`, `.global` or `.const` is one object, wherever it is declared. A copy of the function in
// another one must name the same object. The variable keeps its name if no other symbol, label or register of the
// module has it; otherwise the name gets a new number (names.c).
#include "phases/module/module.h"

static bool is_static(const Sym *s)
{
    return s->kind == SYM_VAR && s->space != SP_LOCAL && s->space != SP_REG && !(s->flags & SYM_GONE);
}

// Makes a variable of the module for a variable of the function.
static SymId take_variable(ModuleNames *names, Module *m, Fn *fn, Sym *s)
{
    Name name = module_names_take(names, m, fn, s->name);
    SymId id = module_sym(m, name, SYM_VAR);
    Sym taken = *s;
    taken.name = name;
    taken.flags |= SYM_STATIC;
    if (s->init) {
        taken.init = arena_copy(&m->arena, s->init, sizeof *s->init);
        taken.init->bytes = arena_copy(&m->arena, s->init->bytes, s->init->size);
        taken.init->relocs = arena_copy(&m->arena, s->init->relocs, s->init->nrelocs * sizeof(Reloc));
    }
    m->syms.at[id] = taken;
    s->flags |= SYM_GONE;
    return id;
}

static void rename_operands(const Fn *fn, const SymId *to)
{
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            Operand *ops = ir_ops(fn, i);
            for (uint32_t k = 0; k < i->nops; k++) {
                uint32_t s =
                    op_kind(ops[k]) == K_SYM && op_index(ops[k]) & SYM_LOCAL ? op_index(ops[k]) & ~SYM_LOCAL : 0;
                if (s && to[s])
                    ops[k] = (Operand){op_sym(to[s]).word | (ops[k].word & 1u << 31), ops[k].mods};
            }
        }
}

// Makes initializers that name variables of the function name those of the module.
static void rename_relocs(const Module *m, const SymId *to, uint32_t n)
{
    for (uint32_t k = 1; k < n; k++) {
        const Init *init = to[k] ? m->syms.at[to[k]].init : NULL;
        for (uint32_t r = 0; init && r < init->nrelocs; r++) {
            SymId sym = init->relocs[r].sym;
            if (sym & SYM_LOCAL && to[sym & ~(uint32_t)SYM_LOCAL])
                init->relocs[r].sym = to[sym & ~(uint32_t)SYM_LOCAL];
        }
    }
}

bool module_take_statics(ModuleNames *names, Module *m, Fn *fn)
{
    Arena scratch;
    bool progress = false;
    arena_init(&scratch, fn->arena.heap);
    SymId *to = NEW_ARRAY(&scratch, SymId, fn->syms.n);
    for (uint32_t k = 1; k < fn->syms.n; k++) {
        Sym *s = ir_sym(fn, k | SYM_LOCAL);
        to[k] = is_static(s) ? take_variable(names, m, fn, s) : 0;
        progress |= to[k] != 0;
    }
    if (progress) {
        rename_operands(fn, to);
        rename_relocs(m, to, fn->syms.n);
        analysis_drop(fn, 0);
    }
    arena_free(&scratch);
    return progress;
}
