// SPDX-License-Identifier: MIT
// Sequences parallel copies (Boissinot et al., "Revisiting out-of-SSA translation for correctness, code quality, and
// efficiency", 2009, algorithm 1).
//
// A register can be written when no pending copy reads it. After a copy, its destination has the value of its source:
// later copies read the destination, so the source can be written next. Only cycles remain; a move to a new register
// breaks each cycle.
//
//     R1, R2 = R2, R1     ->   R9 = mov R1; R1 = mov R2; R2 = mov R9
//     R2, R1 = R1, R3     ->   R2 = mov R1; R1 = mov R3
//
// Documented: nothing. Inferred: all.
#include "phases/ssa/parallel_copy.h"
#include "ir/rewrite/rewrite.h"

#include "phases/bodies.h"

void parallel_copy_init(ParallelCopy *p, Fn *fn, Arena *arena)
{
    *p = (ParallelCopy){.fn = fn, .arena = arena, .nregs = fn->regs.n};
    p->write_of = NEW_ARRAY(arena, uint32_t, p->nregs);
    p->held_in = NEW_ARRAY(arena, RegId, p->nregs);
}

// True if the register has an entry in the tables. A newer register is in no other copy.
static bool has_row(const ParallelCopy *p, RegId r) { return r < p->nregs; }

void parallel_copy_add(ParallelCopy *p, RegId to, Operand from)
{
    if (op_is_reg(from) && op_index(from) == to)
        return;
    if (has_row(p, to)) {
        if (p->write_of[to])
            return;
        p->write_of[to] = p->copies.n + 1;
    }
    Copy copy = {to, from};
    VEC_PUSH(p->arena, &p->copies, copy);
}

static void make_copy(ParallelCopy *p, const Copy *copy, InstrId before)
{
    RegId from = op_is_reg(copy->from) ? op_index(copy->from) : 0;
    if (has_row(p, copy->to))
        p->write_of[copy->to] = 0;
    if (!from || !has_row(p, from)) {
        insert_move(p->fn, before, copy->to, copy->from);
        return;
    }
    RegId now = p->held_in[from];
    insert_move(p->fn, before, copy->to, op_reg(p->fn, now));
    if (ir_reg(p->fn, copy->to)->file != ir_reg(p->fn, from)->file)
        return;
    p->held_in[from] = copy->to;
    if (now == from && p->write_of[from])
        VEC_PUSH(p->arena, &p->ready, from);
}

static void make_ready(ParallelCopy *p, InstrId before)
{
    for (uint32_t k = 0; k < p->ready.n; k++)
        if (p->write_of[p->ready.at[k]])
            make_copy(p, &p->copies.at[p->write_of[p->ready.at[k]] - 1], before);
    p->ready.n = 0;
}

void parallel_copy_insert(ParallelCopy *p, InstrId before)
{
    for (uint32_t k = 0; k < p->copies.n; k++) {
        Operand from = p->copies.at[k].from;
        if (op_is_reg(from) && has_row(p, op_index(from)))
            p->held_in[op_index(from)] = op_index(from);
    }
    for (uint32_t k = 0; k < p->copies.n; k++) {
        RegId to = p->copies.at[k].to;
        if (!has_row(p, to))
            make_copy(p, &p->copies.at[k], before);
        else if (!p->held_in[to])
            VEC_PUSH(p->arena, &p->ready, to);
    }
    make_ready(p, before);
    for (uint32_t k = 0; k < p->copies.n; k++) {
        RegId to = p->copies.at[k].to;
        if (!has_row(p, to) || !p->write_of[to])
            continue;
        RegId spare = reg_like(p->fn, to);
        insert_move(p->fn, before, spare, op_reg(p->fn, to));
        p->held_in[to] = spare;
        VEC_PUSH(p->arena, &p->ready, to);
        make_ready(p, before);
    }
    for (uint32_t k = 0; k < p->copies.n; k++)
        if (op_is_reg(p->copies.at[k].from) && has_row(p, op_index(p->copies.at[k].from)))
            p->held_in[op_index(p->copies.at[k].from)] = 0;
    p->copies.n = 0;
}
