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
#include "phases/bodies.h"

static bool is_self_move(const Fn *fn, const Instr *i)
{
    if (ir_desc(fn, i)->op != OP_MOV || i->flags & (IF_PINNED | IF_TIED))
        return false;
    Operand to = *ir_def(fn, i, 0), from = *ir_use(fn, i, 0);
    return op_is_reg(to) && op_is_reg(from) && op_index(to) == op_index(from) && !to.mods && !from.mods &&
           !(ir_reg(fn, op_index(to))->flags & REG_PINNED);
}

static bool remove_self_moves(Fn *fn)
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

// Where an empty block leads; 0 if it is not empty.
static BlockId leads_to(const Fn *fn, BlockId b)
{
    const Block *block = ir_block(fn, b);
    const Instr *i = ir_instr(fn, block->first);
    bool empty = block->first == block->last && ir_desc(fn, i)->op == OP_BRA && !ir_guarded(i);
    BlockId to = empty ? op_index(*ir_use(fn, i, 0)) : 0;
    return to == b ? 0 : to;
}

typedef struct Forward {
    BlockId *to;     // by BlockId: the first block on its way that is not empty
    uint8_t *named;  // by BlockId: a terminator names it
    bool progress;
} Forward;

static void send_on(void *user, Operand *target)
{
    Forward *f = user;
    BlockId to = f->to[op_index(*target)];
    if (to != op_index(*target)) {
        *target = op_block(to);
        f->progress = true;
    }
    f->named[to] = 1;
}

// Follows chains of empty blocks with path compression. Blocks on a cycle of empty blocks lead to themselves; a chain
// that runs into one ends where it meets it.
static void find_ends(const Fn *fn, Forward *f, BlockId *chain)
{
    FOR_BLOCKS(fn, start) {
        uint32_t n = 0;
        BlockId b = start, next;
        while (!f->to[b] && (next = leads_to(fn, b))) {
            chain[n++] = b;
            f->to[b] = UINT32_MAX;  // on the chain
            b = next;
        }
        if (f->to[b] == UINT32_MAX)
            for (BlockId on = 0; on != b;) {
                on = chain[--n];
                f->to[on] = on;
            }
        if (!f->to[b])
            f->to[b] = b;
        while (n--)
            f->to[chain[n]] = f->to[b];
    }
}

static bool skip_empty_blocks(Ctx *ctx, Fn *fn)
{
    Arena scratch;
    arena_init(&scratch, &ctx->heap);
    Forward f = {.to = NEW_ARRAY(&scratch, BlockId, fn->blocks.n), .named = NEW_ARRAY(&scratch, uint8_t, fn->blocks.n)};
    find_ends(fn, &f, NEW_ARRAY(&scratch, BlockId, fn->nblocks));
    FOR_BLOCKS(fn, b) {
        // An empty block that is skipped keeps its own branch: it goes away below.
        if (f.to[b] == b || b == fn->first)
            ir_successors(fn, ir_terminator(fn, b), send_on, &f);
    }
    for (uint32_t k = 1; k < fn->syms.n; k++) {
        const Sym *s = ir_sym(fn, k | SYM_LOCAL);
        for (uint32_t t = 0; s->kind == SYM_BRANCHTARGETS && t < ir_list(fn, s->list)->n; t++)
            send_on(&f, ir_run(fn, ir_list(fn, s->list)->ops) + t);
    }
    for (BlockId b = fn->first, next; b; b = next) {
        next = ir_block(fn, b)->next;
        if (f.to[b] == b || f.named[b] || b == fn->first)
            continue;
        ir_remove(fn, ir_terminator(fn, b));
        block_unlink(fn, b);
        f.progress = true;
    }
    arena_free(&scratch);
    return f.progress;
}

// An unguarded branch to the block that follows in the layout.
static bool fall_through(Fn *fn)
{
    bool progress = false;
    FOR_BLOCKS(fn, b) {
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
    bool moves = remove_self_moves(fn);
    bool blocks = skip_empty_blocks(ctx, fn);
    return fall_through(fn) || moves || blocks;
}
