// SPDX-License-Identifier: MIT
// Puts instructions and operands into layout order and drops removed ones, so that walks over the function are
// sequential in memory. Until then, removed and replaced records stay in the tables. The manager compacts a large
// function after a phase if at least half of its instructions are garbage, a very large one earlier. Only instructions
// and operands get new ids. They move to new memory, and the old memory is freed.
#include "ir/core/ir.h"

static uint32_t move_run(Fn *fn, const Fn *old, uint32_t run, uint32_t n)
{
    uint32_t to = ops_new(fn, n);
    if (n)
        memcpy(ir_run(fn, to), ir_run(old, run), n * sizeof(Operand));
    return to;
}

static void move_block(Fn *fn, const Fn *old, Block *block)
{
    InstrId before = 0;
    for (InstrId from = block->first, next; from; from = next) {
        InstrId id = seg_push(&fn->instrs, &fn->code, 1, sizeof(Instr));
        Instr *i = ir_instr(fn, id);
        *i = *ir_instr(old, from);
        next = i->next;
        i->ops = move_run(fn, old, i->ops, i->nops);
        i->prev = before;
        i->next = next ? id + 1 : 0;
        if (old->where.n)
            fn_note_where(fn, id, fn_where(old, from));
        if (!before)
            block->first = id;
        block->last = before = id;
    }
}

void fn_compact(Fn *fn)
{
    Fn old = *fn;
    code_init(fn);
    FOR_BLOCKS(fn, b)
        move_block(fn, &old, ir_block(fn, b));
    for (ListId l = 1; l < fn->lists.n; l++)
        ir_list(fn, l)->ops = move_run(fn, &old, ir_list(fn, l)->ops, ir_list(fn, l)->n);
    arena_free(&old.code);
    fn_set_classes(fn);
}
