// SPDX-License-Identifier: MIT
// Sorts the blocks into the order of the source.
//
// Slot: 112 PlaceBlocksInSourceOrder. Every block has the position at which it was read; a block that a phase makes has
// the position of the block that it was split from. The sort is stable, so blocks of one position keep their order. The
// entry stays first, since the layout defines it.
//
//     b0: @P0 bra b2 else b1        b0: @P0 bra b2 else b1
//     b2: ...; exit            ->   b1: ...; bra b2
//     b1: ...; bra b2               b2: ...; exit
//
// Must not fire: if the layout is in that order already (no progress).
// Sound: every terminator names its successors, so the layout determines only the entry.
// Documented: slot and name. Inferred: the rest.
#include "phases/bodies.h"

// True if the blocks after the entry are sorted.
static bool in_order(const Fn *fn)
{
    for (BlockId b = ir_block(fn, fn->first)->next, next; b && (next = ir_block(fn, b)->next); b = next)
        if (ir_block(fn, next)->source < ir_block(fn, b)->source)
            return false;
    return true;
}

// Sorts blocks by source position: a stable bottom-up merge sort.
static void sort_blocks(const Fn *fn, BlockId *blocks, BlockId *spare, uint32_t n)
{
    for (uint32_t width = 1; width < n; width *= 2) {
        for (uint32_t at = 0; at < n; at += 2 * width) {
            uint32_t left = at, mid = MIN(at + width, n), right = mid, end = MIN(at + 2 * width, n);
            for (uint32_t k = at; k < end; k++) {
                bool take_left = left < mid && (right == end || ir_block(fn, blocks[left])->source <=
                                                                    ir_block(fn, blocks[right])->source);
                spare[k] = blocks[take_left ? left++ : right++];
            }
        }
        memcpy(blocks, spare, n * sizeof *blocks);
    }
}

bool phase_place_blocks(Ctx *ctx, Fn *fn)
{
    if (in_order(fn))
        return false;
    Arena scratch;
    arena_init(&scratch, &ctx->heap);
    uint32_t n = 0, count = fn->nblocks - 1;
    BlockId *blocks = NEW_ARRAY(&scratch, BlockId, count), *spare = NEW_ARRAY(&scratch, BlockId, count);
    for (BlockId b = ir_block(fn, fn->first)->next; b; b = ir_block(fn, b)->next)
        blocks[n++] = b;
    sort_blocks(fn, blocks, spare, n);
    for (uint32_t k = 0; k < n; k++)
        block_unlink(fn, blocks[k]);
    for (uint32_t k = 0; k < n; k++)
        block_append(fn, blocks[k]);
    arena_free(&scratch);
    return true;
}
