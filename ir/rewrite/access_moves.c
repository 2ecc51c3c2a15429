// SPDX-License-Identifier: MIT
// Makes moves that replace a store and a later load: they truncate and extend a value as the accesses would.
#include <stdio.h>

#include "ir/rewrite/rewrite.h"

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

Operand extended_constant(Fn *fn, Operand src, uint32_t bytes, bool is_signed, Width to)
{
    uint32_t unused = 64 - MIN(8 * bytes, 64u);
    uint64_t bits = tab_const(fn->tables, op_index(src)).bits << unused;
    return op_const(fn, is_signed ? (uint64_t)((int64_t)bits >> unused) : bits >> unused, to);
}

// Returns the descriptor of the move, and its n operands in `ops`.
static DescId make_move(Fn *fn, const AccessMove *move, Operand ops[static 4], uint32_t *n)
{
    Operand src = move->src;
    uint32_t bytes = move->bytes;
    bool is_signed = move->is_signed;
    Width to = width_of_operand(fn, move->dst), meant = bytes == 1 ? W8 : width_of_bytes(bytes), from;
    *n = 0;
    ops[(*n)++] = op_def(move->dst);
    ops[(*n)++] = op_kind(src) == K_IMM ? extended_constant(fn, src, bytes, is_signed, to) : src;
    if (move->tail.flags & IF_TIED)
        ops[(*n)++] = move->tail.old;
    if (move->tail.flags & IF_GUARDED)
        ops[(*n)++] = move->tail.guard;
    TypeClass class = is_signed && meant < to ? TC_S : TC_U;
    from = op_kind(src) == K_IMM ? to : meant < to ? meant : width_of_operand(fn, src);
    if (from == to && to != W8)
        return desc_make(fn->tables, OP_MOV, type_make(TC_B, to));
    return desc_make(fn->tables, OP_CVT, type_make(class, to), type_make(class, from));
}

void insert_access_move(Fn *fn, InstrId before, const AccessMove *move)
{
    Operand ops[4];
    uint32_t n;
    DescId desc = make_move(fn, move, ops, &n);
    InstrId id = ir_insert_before(fn, before, desc, move->tail.flags, ops, n);
    ir_instr(fn, id)->line = ir_instr(fn, before)->line;
}

void instr_replace_by_access_move(Fn *fn, InstrId id, const AccessMove *move)
{
    Operand ops[4];
    uint32_t n;
    DescId desc = make_move(fn, move, ops, &n);
    Instr *i = ir_instr(fn, id);
    for (uint32_t k = 0; k < i->ndef; k++)
        def_table_forget(fn, id, *ir_def(fn, i, k));
    memcpy(ir_ops(fn, i), ops, n * sizeof *ops);
    instr_set_desc(fn, i, desc);
    i->nops = n;
    i->ndef = 1;
    i->flags = move->tail.flags;
    def_table_define(fn, id);
}
