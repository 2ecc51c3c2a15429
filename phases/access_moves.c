// SPDX-License-Identifier: MIT
// Moves that do to a value what storing and loading it would: for phases that take memory out of the way between them.
#include <stdio.h>

#include "phases/bodies.h"

Tail tail_of(const Fn *fn, const Instr *i, uint32_t def)
{
    Tail tail = {.flags = i->flags & (IF_GUARDED | IF_TIED)};
    if (tail.flags & IF_TIED)
        tail.old = *ir_tied(fn, i, def);
    if (tail.flags & IF_GUARDED)
        tail.guard = *ir_guard(fn, i);
    return tail;
}

Width width_of_operand(const Fn *fn, Operand o)
{
    return op_is_reg(o) ? ir_reg(fn, op_index(o))->width : tab_const(fn->tables, op_index(o)).width;
}

Width width_of_bytes(uint32_t bytes) { return bytes >= 8 ? W64 : bytes >= 4 ? W32 : W16; }

// The low bytes of a constant, extended.
static Operand extended(Fn *fn, Operand src, uint32_t bytes, bool is_signed, Width to)
{
    uint32_t unused = 64 - MIN(8 * bytes, 64u);
    uint64_t bits = tab_const(fn->tables, op_index(src)).bits << unused;
    return op_const(fn, is_signed ? (uint64_t)((int64_t)bits >> unused) : bits >> unused, to);
}

InstrId insert_access_move(Fn *fn, InstrId before, Operand dst, Operand src, uint32_t bytes, bool is_signed,
                           const Tail *tail)
{
    Width to = width_of_operand(fn, dst), meant = bytes == 1 ? W8 : width_of_bytes(bytes), from;
    Operand ops[4] = {op_def(dst), src};
    uint32_t n = 2;
    char text[40], sign = is_signed && meant < to ? 's' : 'u';
    if (op_kind(src) == K_IMM)
        ops[1] = extended(fn, src, bytes, is_signed, to);
    from = op_kind(src) == K_IMM ? to : meant < to ? meant : width_of_operand(fn, src);
    if (from == to && to != W8)
        snprintf(text, sizeof text, "mov.b%u", width_bits(to));
    else
        snprintf(text, sizeof text, "cvt.%c%u.%c%u", sign, width_bits(to), sign, width_bits(from));
    if (tail->flags & IF_TIED)
        ops[n++] = tail->old;
    if (tail->flags & IF_GUARDED)
        ops[n++] = tail->guard;
    InstrId id = ir_insert_before(fn, before, desc_make(fn->tables, text, "%,%"), tail->flags, ops, n);
    ir_instr(fn, id)->line = ir_instr(fn, before)->line;
    return id;
}

void remove_with_notes(Fn *fn, InstrId id)
{
    for (InstrId note; (note = ir_instr(fn, id)->prev) && ir_desc(fn, ir_instr(fn, note))->traits & TR_OF_NEXT;)
        ir_remove(fn, note);
    ir_remove(fn, id);
}
