// SPDX-License-Identifier: MIT
// Keeps a table of definitions (AN_DEF, ir/analysis/def.c) valid during insertion and removal of instructions.
//
// In ssa form the table stays exact: a register has one definition, which is inserted and removed with its instruction.
// In multi form an exact entry also depends on the uses. There the table stays sound: a new register gets the
// definition that is inserted for it. A register that gets another definition is DEF_OUTSIDE until the table is
// rebuilt.
#include "ir/core/ir.h"

// Extends the table to all registers of the function. Frees the memory of a shorter table.
static void cover_registers(const Fn *fn, DefTable *t)
{
    if (fn->regs.n > t->cap) {
        Arena longer;
        arena_init(&longer, t->arena->heap);
        t->cap = def_table_cap(fn->regs.n);
        InstrId *at = arena_alloc(&longer, t->cap * sizeof *at);
        memcpy(at, t->at, t->n * sizeof *at);
        t->at = at;
        arena_free(t->arena);
        *t->arena = longer;
    }
    for (; t->n < fn->regs.n; t->n++)
        t->at[t->n] = reg_in_ssa(ir_reg(fn, t->n)) ? 0 : DEF_OUTSIDE;
}

void def_table_define(Fn *fn, InstrId id)
{
    const Instr *i = ir_instr(fn, id);
    for (uint32_t k = 0; fn->defs && k < i->ndef; k++) {
        Operand def = *ir_def(fn, i, k);
        if (!op_is_reg(def))
            continue;
        if (op_index(def) >= fn->defs->n)
            cover_registers(fn, fn->defs);
        InstrId *at = &fn->defs->at[op_index(def)];
        if (*at == DEF_OUTSIDE || *at == DEF_JOINED)
            continue;
        *at = fn->form == FORM_SSA || (!*at && !ir_guarded(i)) ? id : DEF_OUTSIDE;
    }
}

void def_table_set(Fn *fn, RegId r, InstrId id)
{
    if (!fn->defs)
        return;
    if (r >= fn->defs->n)
        cover_registers(fn, fn->defs);
    fn->defs->at[r] = id;
}

void def_table_forget(Fn *fn, InstrId id, Operand def)
{
    const DefTable *t = fn->defs;
    if (t && op_is_reg(def) && op_index(def) < t->n && t->at[op_index(def)] == id)
        t->at[op_index(def)] = 0;
}
