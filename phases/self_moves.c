// SPDX-License-Identifier: MIT
// Moves of a register to itself, guarded or not: they do nothing. Serves OriRemoveNopCode, and the conversions to and
// from ssa form, which would make real moves of them and make them.
#include "phases/bodies.h"

bool remove_self_moves(Fn *fn)
{
    bool progress = false;
    FOR_BLOCKS(fn, b) {
        for (InstrId id = ir_block(fn, b)->first, next; id; id = next) {
            next = instr_behind(fn, id);
            if (is_self_move(fn, ir_instr(fn, id))) {
                ir_remove(fn, id);
                progress = true;
            }
        }
    }
    return progress;
}
