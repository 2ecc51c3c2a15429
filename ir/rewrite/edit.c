// SPDX-License-Identifier: MIT
// Edits instructions: inserts moves, replaces instructions, adds guards, removes annotations.
#include "ir/rewrite/rewrite.h"

/* -- Moves ---------------------------------------------------------------------------------------------- */

// Returns the descriptor of a move between registers of this width; for a negated predicate that of `not`.
static DescId desc_of_move(Fn *fn, Width width, Operand from)
{
    if (from.mods & OPM_NOT)
        return desc_make(fn->tables, OP_NOT, TY_PRED);
    if (width == W8)
        return desc_make(fn->tables, OP_CVT, TY_U8, TY_U8);
    return desc_make(fn->tables, OP_MOV, type_make(TC_B, width));
}

InstrId first_annotation(const Fn *fn, InstrId id)
{
    for (InstrId note = id; (note = ir_instr(fn, note)->prev) && ir_desc(fn, ir_instr(fn, note))->traits & TR_OF_NEXT;)
        id = note;
    return id;
}

InstrId insert_move(Fn *fn, InstrId before, RegId to, Operand from)
{
    InstrId place = first_annotation(fn, before);
    Operand ops[] = {op_def(op_reg(fn, to)), {from.word, from.mods & ~(uint32_t)OPM_NOT}};
    DescId desc = desc_of_move(fn, (Width)ir_reg(fn, to)->width, from);
    InstrId id = ir_insert_before(fn, place, desc, 0, ops, 2);
    ir_instr(fn, id)->line = ir_instr(fn, before)->line;
    return id;
}

void instr_replace(Fn *fn, InstrId id, DescId desc, const Operand *uses, uint32_t n)
{
    Instr *i = ir_instr(fn, id);
    uint32_t tail = ir_ntied(i) + ir_guarded(i), run = ops_new(fn, 1 + n + tail);
    Operand *to = ir_run(fn, run);
    to[0] = *ir_def(fn, i, 0);
    memcpy(to + 1, uses, n * sizeof *to);
    if (tail)
        memcpy(to + 1 + n, ir_ops(fn, i) + i->nops - tail, tail * sizeof *to);
    instr_set_desc(fn, i, desc);
    i->ops = run;
    i->nops = 1 + n + tail;
}

void instr_replace_by_move(Fn *fn, InstrId id, Operand from)
{
    Operand to = *ir_def(fn, ir_instr(fn, id), 0), bare = {from.word, from.mods & ~(uint32_t)OPM_NOT};
    instr_replace(fn, id, desc_of_move(fn, (Width)ir_reg(fn, op_index(to))->width, from), &bare, 1);
}

void instr_guard(Fn *fn, InstrId id, Operand guard)
{
    Instr *i = ir_instr(fn, id);
    uint32_t n = i->nops, run = ops_new(fn, n + i->ndef + 1);
    Operand *to = ir_run(fn, run);
    bool tied = false;
    memcpy(to, ir_ops(fn, i), n * sizeof *to);
    for (uint32_t k = 0; k < i->ndef && fn->form == FORM_SSA; k++) {
        bool in_ssa = op_in_ssa(fn, *ir_def(fn, i, k));
        to[n + k] = in_ssa ? op_imm(CONST_UNDEF) : op_none();
        tied |= in_ssa;
    }
    n += tied ? i->ndef : 0;
    to[n++] = guard;
    i->ops = run;
    i->nops = n;
    i->flags |= tied ? IF_GUARDED | IF_TIED : IF_GUARDED;
}

/* -- Phis ----------------------------------------------------------------------------------------------- */

InstrId first_non_phi(const Fn *fn, BlockId b)
{
    InstrId id = ir_block(fn, b)->first;
    while (ir_is_phi(fn, id))
        id = ir_instr(fn, id)->next;
    return id;
}

uint32_t phi_input(const Fn *fn, const Instr *phi, BlockId from)
{
    for (uint32_t k = 0; k < ir_nuse(phi); k += 2)
        if (op_index(*ir_use(fn, phi, k)) == from)
            return k + 1;
    heap_fail(fn->arena.heap, ST_INTERNAL, "a phi has no input from block %u", from);
}

void phi_remove_input(Fn *fn, InstrId id, BlockId from)
{
    Instr *phi = ir_instr(fn, id);
    uint32_t n = ir_nuse(phi), after = phi_input(fn, phi, from) + 1;
    memmove(ir_use(fn, phi, after - 2), ir_use(fn, phi, after), (n - after) * sizeof(Operand));
    phi->nops -= 2;
    instr_set_desc(fn, phi, desc_phi(fn->tables, n / 2 - 1));
}

/* -- Operands ------------------------------------------------------------------------------------------- */

bool fit_operand(Fn *fn, const Instr *i, uint32_t k, Operand *to)
{
    Operand o = *to;
    char why[200];
    const Desc *d = ir_desc(fn, i);
    bool negated = o.mods & OPM_NOT, guard = ir_guarded(i) && k + 1 == i->nops;
    if (guard)
        return op_is_reg(o);
    if (k >= d->nops)  // an old value
        return !negated;
    const Slot *slot = &d->slots[k];
    bool modelled = slot->width || slot->flags & SL_AS_DEF;
    if (op_is_reg(o))
        return !negated || (modelled && slot->flags & SL_NOT);
    *to = slot_constant(fn, slot, o);
    return modelled && !slot_check(fn, slot, *to, why);
}

Bases bases_of(const Fn *fn, const Desc *d) { return (Bases){.desc = d, .shape = tab_str(fn->tables, d->shape)}; }

bool next_base(Bases *b, uint32_t *k)
{
    while (b->at < b->shape.len) {
        char c = b->shape.text[b->at++];
        while ((c == '%' || c == '$') && b->desc->slots[b->operand].flags & SL_HIDDEN)
            b->operand++;
        *k = b->operand;
        b->operand += c == '&' ? 2 : c == '%' || c == '$';
        if (c == '&' && b->at > 1 && b->shape.text[b->at - 2] == '[')
            return true;
    }
    return false;
}

bool operand_is_base(const Fn *fn, const Desc *d, uint32_t k)
{
    Bases bases = bases_of(fn, d);
    for (uint32_t base; next_base(&bases, &base) && base <= k;)
        if (base == k)
            return true;
    return false;
}

/* -- Annotations ---------------------------------------------------------------------------------------- */

void remove_annotations(Fn *fn, InstrId id)
{
    for (InstrId note; (note = ir_instr(fn, id)->prev) && ir_desc(fn, ir_instr(fn, note))->traits & TR_OF_NEXT;)
        ir_remove(fn, note);
}

void remove_annotated(Fn *fn, InstrId id)
{
    remove_annotations(fn, id);
    ir_remove(fn, id);
}

/* -- Definitions ---------------------------------------------------------------------------------------- */

void remove_definition(Fn *fn, InstrId id, uint32_t k)
{
    const Instr *i = ir_instr(fn, id);
    def_table_forget(fn, id, *ir_def(fn, i, k));
    *ir_def(fn, i, k) = op_def(op_none());
    if (i->flags & IF_TIED)
        *ir_tied(fn, i, k) = op_none();
}

/* -- Self-moves ----------------------------------------------------------------------------------------- */

bool remove_self_moves(Fn *fn)
{
    bool progress = false;
    FOR_BLOCKS(fn, b) {
        for (InstrId id = ir_block(fn, b)->first, next; id; id = next) {
            next = instr_after(fn, id);
            if (is_self_move(fn, ir_instr(fn, id))) {
                ir_remove(fn, id);
                progress = true;
            }
        }
    }
    return progress;
}
