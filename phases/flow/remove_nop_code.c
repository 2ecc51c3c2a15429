// SPDX-License-Identifier: MIT
// Removes self-moves, empty blocks and branches to the next block.
//
// Slot: 107 OriRemoveNopCode. A move of a register to itself, guarded or not, is deleted. A branch to an empty block,
// which holds only an unguarded branch, is redirected through the chain of empty blocks. A cycle of empty blocks is an
// endless loop and stays. Empty blocks without a predecessor are removed from the layout. A branch to the next block is
// marked implicit; the writer omits it as long as its target is the next block.
//
//     R1 = mov.b32 R1                 (nothing)
//     @P0 R2 = mov.b64 R2        ->   (nothing)
//
//     b0: @P0 bra b2 else b1          b0: @P0 bra b3 else b1
//     b2: bra b3                 ->   (gone)
//     b3: ...; bra b4                 b3: ... (falls into b4)
//     b4: ...                         b4: ...
//
// Must not fire:
//     R1 = mov.b32 R2                 another register
//     b1: bra b1                      an endless loop is behaviour
//     b1: .pragma "nounroll"; bra b2  the annotation belongs to this block
//     R3! = mov.b32 R3!               pinned: written by an instruction that is not modelled
//
// Sound: a branch through an empty block computes nothing, and threads reconverge at its final target. A conditional
// branch stays conditional if its two targets become equal. `.uni` stays correct, since the condition does not change.
//
// Does not do: unreachable code, merging of blocks, constant conditions (OriBranchOpt).
// Documented: slot and name. Inferred: the rest.
#include "ir/rewrite/rewrite.h"
#include "phases/bodies.h"

// Marks unguarded branches to the next block in the layout as implicit; returns progress.
static bool fall_through(Fn *fn)
{
    bool progress = false;
    FOR_BLOCK_ENDS(fn, b) {
        Instr *i = ir_instr(fn, ir_terminator(fn, b));
        if (!(i->flags & IF_IMPLICIT) && branches_to_next(fn, b)) {
            i->flags |= IF_IMPLICIT;
            progress = true;
        }
    }
    return progress;
}

bool phase_remove_nop_code(Ctx *ctx, Fn *fn)
{
    bool moves = !(fn->properties & PROP_NO_SELF_MOVE) && remove_self_moves(fn);
    bool blocks = skip_empty_blocks(fn);
    bool progress = fall_through(fn) || moves || blocks;
    phase_gains(ctx, PROP_NO_SELF_MOVE);
    return progress;
}
