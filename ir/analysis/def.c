// SPDX-License-Identifier: MIT
// Finds the single definition of each register (AN_DEF).
//
// In ssa form each register has one definition, except pinned and named registers (DEF_OUTSIDE). In multi form a
// register has a single definition if one unguarded instruction defines it and dominates its uses. One walk in layout
// order finds these registers; a use before the definition in the layout counts as not dominated. All other registers
// that are used or defined are joined.
//
//     b0: R1 = mov.b32 1; @P0 bra b1 else b2; b1: R2 = add.s32 R1, 1     R1 and R2 have a single definition
//     b0: @P0 bra b1 else b2; b1: R3 = mov.b32 1; b2: st [R9], R3        R3 is joined: b2 may read its old value
//     @P0 R4 = mov.b32 1                                                 R4 is joined in multi form: a guard
//
// ir/core/def_table.c updates the result when instructions are inserted and removed.
#include <stdio.h>

#include "ir/analysis/analysis_internal.h"

/* -- Multi form ----------------------------------------------------------------------------------------- */

typedef struct Walk {
    const Analyses *a;
    uint32_t files;  // as in def_build_part()
    const bool *about;
    InstrId *def;
    BlockId *home;  // by RegId: the block of the definition found so far
} Walk;

static bool is_about(const Walk *w, Operand o)
{
    return op_is_reg(o) && w->files >> op_file(o) & 1 && (!w->about || w->about[op_index(o)]);
}

// Marks a register joined unless the definition found so far dominates this use.
static inline void see_use(const Walk *w, RegId r, BlockId b)
{
    InstrId *def = &w->def[r];
    BlockId home = w->home[r];
    if (*def < DEF_JOINED && home != b && (!*def || !dominates(w->a, home, b)))
        *def = DEF_JOINED;
}

static inline void see_definition(const Walk *w, RegId r, InstrId id, const Instr *i)
{
    InstrId *def = &w->def[r];
    if (*def == DEF_OUTSIDE)
        return;
    *def = *def || ir_guarded(i) ? DEF_JOINED : id;
    w->home[r] = i->block;
}

static void find_single(const Fn *fn, const Walk *w)
{
    FOR_BLOCKS(fn, b) {
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            const Operand *ops = ir_ops(fn, i);
            for (uint32_t k = i->ndef; k < i->nops; k++)
                if (is_about(w, ops[k]))
                    see_use(w, op_index(ops[k]), b);
            for (uint32_t k = 0; k < i->ndef; k++)
                if (is_about(w, ops[k]))
                    see_definition(w, op_index(ops[k]), id, i);
        }
    }
}

/* -- Both forms ----------------------------------------------------------------------------------------- */

// Makes a table without definitions, in the arena of AN_DEF.
static InstrId *begin(const Fn *fn, Analyses *a, uint32_t files, const bool *about)
{
    DefTable *t = &a->def;
    *t = (DefTable){.n = fn->regs.n, .cap = def_table_cap(fn->regs.n), .arena = &a->arena[AX_DEF]};
    t->at = arena_alloc(t->arena, t->cap * sizeof *t->at);
    t->at[0] = 0;
    for (RegId k = 1; k < t->n; k++) {
        const Reg *r = ir_reg(fn, k);
        t->at[k] = reg_in_ssa(r) && files >> r->file & 1 && (!about || about[k]) ? 0 : DEF_OUTSIDE;
    }
    return t->at;
}

void def_build_part(const Fn *fn, Analyses *a, uint32_t files, const bool *about)
{
    Walk w = {.a = a, .files = files, .about = about, .def = begin(fn, a, files, about)};
    Arena scratch;
    arena_init(&scratch, fn->arena.heap);
    w.home = NEW_ARRAY(&scratch, BlockId, fn->regs.n);
    find_single(fn, &w);
    arena_free(&scratch);
}

void def_build(const Fn *fn, Analyses *a)
{
    if (fn->form == FORM_MULTI) {
        def_build_part(fn, a, UINT32_MAX, NULL);
        return;
    }
    InstrId *def = begin(fn, a, UINT32_MAX, NULL);
    FOR_BLOCKS(fn, b) {
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            const Operand *ops = ir_ops(fn, i);
            for (uint32_t k = 0; k < i->ndef; k++)
                if (op_is_reg(ops[k]) && def[op_index(ops[k])] != DEF_OUTSIDE)
                    def[op_index(ops[k])] = id;
        }
    }
}

bool def_same(const Fn *fn, const Analyses *kept, Analyses *now, char why[static 150])
{
    RegId r = 1;
    while (r < fn->regs.n && def_entry(kept, r) == now->def.at[r])
        r++;
    if (r == fn->regs.n)
        return true;
    const Reg *reg = ir_reg(fn, r);
    snprintf(why, 150, "%s%u has a different definition", reg_file_names[reg->file], reg->ordinal);
    return false;
}
