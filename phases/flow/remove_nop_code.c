// SPDX-License-Identifier: MIT
// Removes code that does nothing.
//
// Slot: 107 OriRemoveNopCode. Three things do nothing in this IR: a move of a register to itself, guarded or not; a
// block that holds only an unguarded branch; and a branch to the block that follows, which becomes implicit (the
// writer leaves it out as long as it is true). Self-moves are deleted. Branches to an empty block are sent to where it
// leads (through chains of them; a cycle of empty blocks is an endless loop and stays), and empty blocks that nothing
// names any more are taken out of the layout.
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
//     b1: .pragma "nounroll"; bra b2  the note belongs to this block
//     R3! = mov.b32 R3!               pinned: written by something that we do not model
//
// Sound: a branch through an empty block computes nothing, and convergence is that of its end. A conditional branch
// whose two targets become equal stays a conditional branch; `.uni` stays true, since the condition does not change.
//
// Does not do: unreachable code, merging of blocks, constant conditions (OriBranchOpt).
// Documented: slot and name. Inferred: the rest.
#include "ir/rewrite/rewrite.h"
#include "phases/bodies.h"

// An unguarded branch to the block that follows in the layout.
static bool fall_through(Fn *fn)
{
    bool progress = false;
    FOR_BLOCK_ENDS(fn, b) {
        Instr *i = ir_instr(fn, ir_terminator(fn, b));
        bool next =
            ir_desc(fn, i)->op == OP_BRA && !ir_guarded(i) && op_index(*ir_use(fn, i, 0)) == ir_block(fn, b)->next;
        if (next && !(i->flags & IF_IMPLICIT)) {
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
