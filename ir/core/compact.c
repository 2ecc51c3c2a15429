// SPDX-License-Identifier: MIT
// Puts instructions and operands into layout order and drops removed ones, so that walks over the function are
// sequential in memory. Until then, removed and replaced records stay in the tables. The manager compacts a large
// function after a phase if at least half of its instructions are garbage. Only instructions and operands get new ids.
#include "ir/core/ir.h"

// The contents of a function while its tables are filled again.
typedef struct Kept {
    Instr *instrs;  // in layout order
    size_t *where;  // offset in the source of each instruction; NULL: unknown
    Operand *ops;   // operands of these instructions, then those of lists
    uint32_t nops;
} Kept;

static uint32_t count_operands(const Fn *fn)
{
    uint32_t n = 0;
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id)
            n += ir_instr(fn, id)->nops;
    for (ListId l = 1; l < fn->lists.n; l++)
        n += ir_list(fn, l)->n;
    return n;
}

static void keep_run(Kept *kept, const Fn *fn, uint32_t run, uint32_t n)
{
    if (n)
        memcpy(kept->ops + kept->nops, ir_run(fn, run), n * sizeof *kept->ops);
    kept->nops += n;
}

static void keep_all(Kept *kept, const Fn *fn, Arena *arena)
{
    kept->instrs = arena_alloc(arena, fn->ninstrs * sizeof *kept->instrs);
    kept->where = fn->where.n ? arena_alloc(arena, fn->ninstrs * sizeof *kept->where) : NULL;
    kept->ops = arena_alloc(arena, count_operands(fn) * sizeof *kept->ops);
    uint32_t n = 0;
    FOR_BLOCKS(fn, b) {
        FOR_INSTRS(fn, b, id) {
            if (kept->where)
                kept->where[n] = fn_where(fn, id);
            kept->instrs[n] = *ir_instr(fn, id);
            keep_run(kept, fn, kept->instrs[n].ops, kept->instrs[n].nops);
            n++;
        }
    }
    for (ListId l = 1; l < fn->lists.n; l++)
        keep_run(kept, fn, ir_list(fn, l)->ops, ir_list(fn, l)->n);
}

static uint32_t put_run(Fn *fn, const Operand **from, uint32_t n)
{
    uint32_t run = ops_new(fn, n);
    if (n)
        memcpy(ir_run(fn, run), *from, n * sizeof **from);
    *from += n;
    return run;
}

// Id 0 of all tables stays.
static void put_all(Fn *fn, const Kept *kept)
{
    const Instr *next = kept->instrs;
    const Operand *ops = kept->ops;
    bool known = kept->where != NULL;
    seg_cut(&fn->instrs, 1);
    seg_cut(&fn->ops, 1);
    fn->where.n = 0;
    FOR_BLOCKS(fn, b) {
        Block *block = ir_block(fn, b);
        InstrId before = 0;
        bool more = block->first != 0;
        while (more) {
            InstrId id = seg_push(&fn->instrs, &fn->arena, 1, sizeof(Instr));
            Instr *i = ir_instr(fn, id);
            *i = *next;
            more = i->next != 0;
            i->ops = put_run(fn, &ops, i->nops);
            i->prev = before;
            i->next = more ? id + 1 : 0;
            if (known)
                fn_note_where(fn, id, kept->where[next - kept->instrs]);
            if (!before)
                block->first = id;
            block->last = before = id;
            next++;
        }
    }
    for (ListId l = 1; l < fn->lists.n; l++)
        ir_list(fn, l)->ops = put_run(fn, &ops, ir_list(fn, l)->n);
}

void fn_compact(Fn *fn)
{
    Arena scratch;
    Kept kept = {0};
    arena_init(&scratch, fn->arena.heap);
    keep_all(&kept, fn, &scratch);
    put_all(fn, &kept);
    arena_free(&scratch);
    fn_set_classes(fn);
}
