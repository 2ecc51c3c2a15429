// SPDX-License-Identifier: MIT
// Moves of a register to itself, guarded or not: they do nothing. Serves OriRemoveNopCode, and the conversions to and
// from ssa form, which would make real moves of them and make them.
#include "phases/bodies.h"

bool is_self_move(const Fn *fn, const Instr *i)
{
    if (ir_desc(fn, i)->op != OP_MOV || i->flags & (IF_PINNED | IF_TIED))
        return false;
    Operand to = *ir_def(fn, i, 0), from = *ir_use(fn, i, 0);
    return op_is_reg(to) && op_is_reg(from) && op_index(to) == op_index(from) && !to.mods && !from.mods &&
           !(ir_reg(fn, op_index(to))->flags & REG_PINNED);
}

bool remove_self_moves(Fn *fn)
{
    bool progress = false;
    FOR_BLOCKS(fn, b) {
        for (InstrId id = ir_block(fn, b)->first, next; id; id = next) {
            next = ir_instr(fn, id)->next;
            if (is_self_move(fn, ir_instr(fn, id))) {
                ir_remove(fn, id);
                progress = true;
            }
        }
    }
    return progress;
}
