// SPDX-License-Identifier: MIT
// Finds the operand that an instruction copies unchanged, and the source at the end of a chain of copies.
//
// A copy is a move of a register or a constant. For copy_of_any() these are copies, too: `not` of a predicate, a
// conversion between equal integer types of the register's width, and the unpacking of a packed value.
//
//     R2 = mov.b32 R1                                        R2 is a copy of R1
//     P2 = not.pred P1                                       P2 is a copy of !P1
//     R3 = mov.b64 {R1, R2}; {R4, R5} = mov.b64 R3           R4 is a copy of R1
//
// No copy:
//     R2 = mov.b32 R1 where R1 or R2 is pinned               an unmodelled instruction may write R1 or R2 in between
//     R2:16 = cvt.u8.u8 R1                                   the conversion clears the upper half
//     R2 = mov.b32 undef                                     each use would read a different value
//
// A chain is followed from one definition to the next (AN_DEF), as long as each is unguarded. In multi form such a
// definition dominates all uses of the register, so the source is available wherever the copy is.
#include "ir/analysis/analysis.h"

// Returns the operand that an instruction copies to its definition, if both have the same width.
static Operand passed_on(const Fn *fn, const Instr *i)
{
    Operand to = *ir_def(fn, i, 0), from = *ir_use(fn, i, 0);
    if (!op_is_reg(to) || i->flags & IF_PINNED)
        return op_none();
    const Reg *r = ir_reg(fn, op_index(to));
    if (op_is_const(from) && !from.mods)
        return tab_const(fn->tables, op_index(from)).width == r->width ? from : op_none();
    Operand bare = {from.word, r->width == W1 ? from.mods & ~(uint32_t)OPM_NOT : from.mods};
    if (!op_in_ssa(fn, bare))
        return op_none();
    return ir_reg(fn, op_index(from))->width == r->width ? from : op_none();
}

Operand copy_of_move(const Fn *fn, const Instr *i)
{
    return ir_desc(fn, i)->op == OP_MOV && !ir_guarded(i) ? passed_on(fn, i) : op_none();
}

// True if a conversion has two equal integer types of the register's width.
static bool is_identity(const Fn *fn, const Desc *d, RegId to)
{
    const Mnem *m = tab_mnem(fn->tables, d->mnem);
    const TypeInfo *type = &type_info[m->type[0]];
    return (type->class == TC_U || type->class == TC_S) && m->type[0] == m->type[1] && !m->mod[MC_SAT] &&
           type->width == ir_reg(fn, to)->width;
}

// Returns the part of a packed value that an unpacking move writes to register r.
static Operand copy_of_part(const Fn *fn, const Analyses *a, const Instr *i, RegId r)
{
    Operand whole = copy_source(fn, a, *ir_use(fn, i, 0));
    InstrId def = op_in_ssa(fn, whole) ? def_of(a, op_index(whole)) : 0;
    const Instr *pack = def ? ir_instr(fn, def) : NULL;
    if (!pack || ir_desc(fn, pack)->op != OP_PACK || ir_guarded(pack) || ir_nuse(pack) != i->ndef)
        return op_none();
    uint32_t k = 0;
    while (k < i->ndef && !(op_is_reg(*ir_def(fn, i, k)) && op_index(*ir_def(fn, i, k)) == r))
        k++;
    Operand part = k < i->ndef ? *ir_use(fn, pack, k) : op_none();
    bool single = op_in_ssa(fn, part) && def_of(a, op_index(part));
    return op_is_const(part) || single ? part : op_none();
}

Operand copy_of_any(const Fn *fn, const Analyses *a, InstrId id, RegId r)
{
    const Instr *i = ir_instr(fn, id);
    const Desc *d = ir_desc(fn, i);
    bool complement = d->op == OP_NOT && ir_reg(fn, r)->width == W1;
    if (d->op == OP_UNPACK && !(i->flags & (IF_PINNED | IF_GUARDED)))
        return copy_of_part(fn, a, i, r);
    if (d->op != OP_MOV && !complement && !(d->op == OP_CVT && is_identity(fn, d, r)))
        return op_none();
    Operand from = passed_on(fn, i);
    if (complement)
        from.mods ^= OPM_NOT;
    bool replaces = op_is_reg(from) ? (uint32_t)op_file(from) == ir_reg(fn, r)->file : !complement;
    return replaces ? from : op_none();
}

Operand copy_of_register(const Fn *fn, const Instr *i)
{
    if (ir_desc(fn, i)->op != OP_MOV || i->flags & IF_PINNED)
        return op_none();
    Operand to = *ir_def(fn, i, 0), from = *ir_use(fn, i, 0);
    bool plain = op_is_reg(to) && op_is_reg(from) && !from.mods && op_file(to) == op_file(from);
    return plain && ir_reg(fn, op_index(to))->width == ir_reg(fn, op_index(from))->width ? from : op_none();
}

// Returns the source of the unguarded move that defines an operand; K_NONE if the source may have another value at a
// use of the operand, or is a negated predicate.
static Operand copy_step(const Fn *fn, const Analyses *a, Operand o)
{
    InstrId def = op_is_reg(o) && !o.mods ? def_of(a, op_index(o)) : 0;
    const Instr *i = def ? ir_instr(fn, def) : NULL;
    Operand from = i ? copy_of_move(fn, i) : op_none();
    return from.mods || (op_is_reg(from) && !def_of(a, op_index(from))) ? op_none() : from;
}

Operand copy_source(const Fn *fn, const Analyses *a, Operand o)
{
    Operand from;
    for (int k = 0; k < COPY_CHAIN && op_kind(from = copy_step(fn, a, o)) != K_NONE; k++)
        o = from;
    return o;
}
