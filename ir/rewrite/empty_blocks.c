// SPDX-License-Identifier: MIT
// Redirects branches that lead to empty blocks to the targets of these blocks, and removes the blocks. An empty block
// holds only an unguarded branch.
#include "ir/rewrite/rewrite.h"

// Returns the target of an empty block; 0 if the block is not empty, or branches to itself.
static BlockId leads_to(const Fn *fn, BlockId b)
{
    const Block *block = ir_block(fn, b);
    const Instr *i = ir_instr(fn, block->first);
    bool empty = block->first == block->last && ir_desc(fn, i)->op == OP_BRA && !ir_guarded(i);
    BlockId to = empty ? op_index(*ir_use(fn, i, 0)) : 0;
    return to == b ? 0 : to;
}

typedef struct Forward {
    BlockId *to;    // by BlockId: the end of its chain of empty blocks
    uint8_t *sent;  // by BlockId: its terminator is redirected
    bool progress;
} Forward;

static void send_on(void *user, Operand *target)
{
    Forward *f = user;
    BlockId to = f->to[op_index(*target)];
    f->progress |= to != op_index(*target);
    *target = op_block(to);
}

// Follows chains of empty blocks with path compression. Blocks on a cycle of empty blocks are their own targets; a
// chain into a cycle ends at the cycle. False: no block is empty.
static bool find_ends(const Fn *fn, Forward *f, BlockId *chain)
{
    bool any = false;
    FOR_BLOCK_ENDS(fn, start) {
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
        any |= n > 0;
        while (n--)
            f->to[chain[n]] = f->to[b];
    }
    return any;
}

// Redirects all branches and branch tables that name an empty block. Empty blocks keep their branches, since they are
// removed.
static void send_all_on(Fn *fn, Forward *f)
{
    const Analyses *a = analysis_need(fn, AN_CFG);
    FOR_BLOCKS(fn, b) {
        if (f->to[b] == b)
            continue;
        FOR_PREDS(a, b, p) {
            BlockId from = *p;
            if (f->sent[from] || (f->to[from] != from && from != fn->first))
                continue;
            f->sent[from] = 1;
            ir_successors(fn, ir_terminator(fn, from), send_on, f);
        }
    }
    for (uint32_t k = 1; k < fn->syms.n; k++) {
        const Sym *s = ir_sym(fn, k | SYM_LOCAL);
        for (uint32_t t = 0; s->kind == SYM_BRANCHTARGETS && !(s->flags & SYM_GONE) && t < ir_list(fn, s->list)->n; t++)
            send_on(f, ir_run(fn, ir_list(fn, s->list)->ops) + t);
    }
}

// Removes the skipped blocks, which no branch names any more.
static void remove_empty(Fn *fn, Forward *f)
{
    for (BlockId b = fn->first, next; b; b = next) {
        next = ir_block(fn, b)->next;
        if (f->to[b] == b || b == fn->first)
            continue;
        ir_remove(fn, ir_terminator(fn, b));
        block_unlink(fn, b);
        f->progress = true;
    }
}

bool skip_empty_blocks(Fn *fn)
{
    Arena scratch;
    arena_init(&scratch, fn->arena.heap);
    Forward f = {.to = NEW_ARRAY(&scratch, BlockId, fn->blocks.n), .sent = NEW_ARRAY(&scratch, uint8_t, fn->blocks.n)};
    if (find_ends(fn, &f, arena_alloc(&scratch, fn->nblocks * sizeof(BlockId)))) {
        send_all_on(fn, &f);
        remove_empty(fn, &f);
    }
    arena_free(&scratch);
    if (f.progress)
        analysis_drop(fn, 0);
    return f.progress;
}
