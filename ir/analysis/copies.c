// SPDX-License-Identifier: MIT
// Finds the operand that an instruction copies unchanged, and the source at the end of a chain of copies.
//
// A copy is a move of a register or a constant. For copy_of_any() these are copies, too: `not` of a predicate, a
// conversion between equal integer types of the register's width, and the parts of a packed value: unpacked, or
// truncated from the packed value, from which a shift has removed the lower parts.
//
//     R2 = mov.b32 R1                                        R2 is a copy of R1
//     P2 = not.pred P1                                       P2 is a copy of !P1
//     R3 = mov.b64 {R1, R2}; {R4, R5} = mov.b64 R3           R4 is a copy of R1
//     R3 = mov.b64 {R1, R2}; R4 = cvt.u32.u64 R3             the same
//     R3 = mov.b64 {R1, R2}; R6 = shr.u64 R3, 32; R5 = cvt.u32.u64 R6        R5 is a copy of R2
//
// No copy:
//     R2 = mov.b32 R1 where R1 or R2 is pinned               an unmodelled instruction may write R1 or R2 in between
//     R2:16 = cvt.u8.u8 R1                                   the conversion clears the upper half
//     R2 = mov.b32 undef                                     each use would read a different value
//     R3 = mov.b64 {R1, R2}; R6 = shr.u64 R3, 16; R5 = cvt.u32.u64 R6        R5 has bits of R1 and R2
//     R3 = mov.b64 {R1, R2}; R4:32 = cvt.u16.u64 R3          the conversion clears the upper half of R4
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

// Returns the unguarded instruction that packs an operand; NULL = there is none.
static const Instr *packing(const Fn *fn, const Analyses *a, Operand whole)
{
    InstrId def = op_in_ssa(fn, whole) ? def_of(a, op_index(whole)) : 0;
    const Instr *pack = def ? ir_instr(fn, def) : NULL;
    return pack && ir_desc(fn, pack)->op == OP_PACK && !ir_guarded(pack) ? pack : NULL;
}

// Returns a part of a packed value if it is available wherever the packed value is.
static Operand part_of(const Fn *fn, const Analyses *a, const Instr *pack, uint32_t k)
{
    Operand part = k < ir_nuse(pack) ? *ir_use(fn, pack, k) : op_none();
    bool single = op_in_ssa(fn, part) && def_of(a, op_index(part));
    return op_is_const(part) || single ? part : op_none();
}

// Returns the part of a packed value that an unpacking move writes to register r.
static Operand copy_of_part(const Fn *fn, const Analyses *a, const Instr *i, RegId r)
{
    const Instr *pack = packing(fn, a, copy_source(fn, a, *ir_use(fn, i, 0)));
    if (!pack || ir_nuse(pack) != i->ndef)
        return op_none();
    uint32_t k = 0;
    while (k < i->ndef && !(op_is_reg(*ir_def(fn, i, k)) && op_index(*ir_def(fn, i, k)) == r))
        k++;
    return k < i->ndef ? part_of(fn, a, pack, k) : op_none();
}

// Sets *amount to the constant of a shift to the right that defines an operand, and returns what it shifts. Without
// such a shift, *amount is 0, and the operand itself is returned.
static Operand before_shift(const Fn *fn, const Analyses *a, Operand o, uint64_t *amount)
{
    InstrId def = op_in_ssa(fn, o) ? def_of(a, op_index(o)) : 0;
    const Instr *i = def ? ir_instr(fn, def) : NULL;
    *amount = 0;
    if (!i || ir_desc(fn, i)->op != OP_SHR || ir_guarded(i))
        return o;
    Operand by = copy_source(fn, a, *ir_use(fn, i, 1));
    if (op_kind(by) != K_IMM || by.mods)
        return o;
    *amount = tab_const(fn->tables, op_index(by)).bits;
    return copy_source(fn, a, *ir_use(fn, i, 0));
}

// Returns the part of a packed value to which a conversion truncates the value or its upper parts.
static Operand copy_of_truncated(const Fn *fn, const Analyses *a, const Instr *i)
{
    uint64_t shifted;
    const Desc *d = ir_desc(fn, i);
    const Mnem *m = tab_mnem(fn->tables, d->mnem);
    Operand to = *ir_def(fn, i, 0), whole = *ir_use(fn, i, 0);
    const TypeInfo *type = &type_info[m->type[0]], *from = &type_info[m->type[1]];
    bool integers = (type->class == TC_U || type->class == TC_S) && (from->class == TC_U || from->class == TC_S);
    if (d->op != OP_CVT || !integers || m->mod[MC_SAT] || i->flags & (IF_PINNED | IF_GUARDED) || !op_is_reg(to) ||
        !op_in_ssa(fn, whole) || type->width != ir_reg(fn, op_index(to))->width ||
        from->width != ir_reg(fn, op_index(whole))->width)
        return op_none();
    const Instr *pack = packing(fn, a, before_shift(fn, a, copy_source(fn, a, whole), &shifted));
    uint32_t bits = width_bits(type->width), n = width_bits(from->width) / bits;
    if (!pack || ir_nuse(pack) != n || shifted % bits || shifted / bits >= n)
        return op_none();
    Operand part = part_of(fn, a, pack, (uint32_t)(shifted / bits));
    return op_is_reg(part) && ir_reg(fn, op_index(part))->width != type->width ? op_none() : part;
}

Operand copy_of_any(const Fn *fn, const Analyses *a, InstrId id, RegId r)
{
    const Instr *i = ir_instr(fn, id);
    const Desc *d = ir_desc(fn, i);
    bool complement = d->op == OP_NOT && ir_reg(fn, r)->width == W1;
    if (d->op == OP_UNPACK && !(i->flags & (IF_PINNED | IF_GUARDED)))
        return copy_of_part(fn, a, i, r);
    if (d->op == OP_CVT && !is_identity(fn, d, r))
        return copy_of_truncated(fn, a, i);
    if (d->op != OP_MOV && d->op != OP_CVT && !complement)
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
