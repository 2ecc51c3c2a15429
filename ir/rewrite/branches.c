// SPDX-License-Identifier: MIT
// Edits terminators, and appends blocks to their only predecessors.
#include "ir/rewrite/rewrite.h"

/* -- Terminators ---------------------------------------------------------------------------------------- */

bool branches_to_next(const Fn *fn, BlockId b)
{
    const Instr *end = ir_instr(fn, ir_terminator(fn, b));
    return ir_desc(fn, end)->op == OP_BRA && !ir_guarded(end) && op_index(*ir_use(fn, end, 0)) == ir_block(fn, b)->next;
}

void instr_replace_by_branch(Fn *fn, InstrId id, BlockId to)
{
    Instr *old = ir_instr(fn, id);
    BlockId b = old->block;
    LineId line = old->line;
    ir_remove(fn, id);
    Operand target = op_block(to);
    InstrId branch = ir_append(fn, b, desc_make(fn->tables, OP_BRA), 0, &target, 1);
    ir_instr(fn, branch)->line = line;
}

void terminator_drop_guard(Fn *fn, InstrId id)
{
    Instr *i = ir_instr(fn, id);
    const Desc *d = ir_desc(fn, i);
    Str shape = tab_str(fn->tables, d->shape);
    const char *why;
    instr_set_desc(fn, i, desc_intern(fn->tables, d->mnem, shape.text, shape.len - 1, &why));  // without the `~`
    i->nops -= 2;
    i->flags &= (uint8_t)~IF_GUARDED;
}

Operand *terminator_other_way(const Fn *fn, const Instr *i) { return ir_ops(fn, i) + ir_desc(fn, i)->nops - 1; }

void terminator_decide(Fn *fn, InstrId id, bool taken)
{
    const Instr *i = ir_instr(fn, id);
    if (!taken)
        instr_replace_by_branch(fn, id, op_index(*terminator_other_way(fn, i)));
    else if (ir_desc(fn, i)->op == OP_BRA)
        instr_replace_by_branch(fn, id, op_index(*ir_use(fn, i, 0)));
    else
        terminator_drop_guard(fn, id);
}

typedef struct Redirection {
    BlockId from, to;
} Redirection;

static void redirect(void *user, Operand *target)
{
    const Redirection *r = user;
    if (op_index(*target) == r->from)
        *target = op_block(r->to);
}

void edge_split(Fn *fn, BlockId from, BlockId to, BlockId with)
{
    block_insert_after(fn, with, ir_block(fn, to)->prev);
    ir_successors(fn, ir_terminator(fn, from), redirect, &(Redirection){to, with});
    for (InstrId id = ir_block(fn, to)->first; ir_is_phi(fn, id); id = ir_instr(fn, id)->next) {
        const Instr *phi = ir_instr(fn, id);
        *ir_use(fn, phi, phi_input(fn, phi, from) - 1) = op_block(with);
    }
}

bool drop_conditions(Fn *fn)
{
    bool progress = false;
    FOR_BLOCK_ENDS(fn, b) {
        InstrId id = ir_terminator(fn, b);
        const Instr *i = ir_instr(fn, id);
        const Desc *d = ir_desc(fn, i);
        if (d->op != OP_BRA || !ir_guarded(i) || op_index(*ir_use(fn, i, 0)) != op_index(ir_ops(fn, i)[d->nops - 1]))
            continue;
        instr_replace_by_branch(fn, id, op_index(*ir_use(fn, i, 0)));
        progress = true;
    }
    if (progress)
        analysis_drop(fn, 0);
    return progress;
}

/* -- Merging -------------------------------------------------------------------------------------------- */

// True if the block has an annotation of the block, not of an instruction.
static bool has_annotation(const Fn *fn, BlockId b)
{
    FOR_INSTRS(fn, b, id)
        if ((ir_desc(fn, ir_instr(fn, id))->traits & (TR_MARKER | TR_OF_NEXT)) == TR_MARKER)
            return true;
    return false;
}

// Returns the block that is appended to a block; 0 if there is none. A block of a table of branch targets also has the
// indirect branch as a predecessor. A phi, even of one input, stays at the start of its block.
static BlockId appended_to(const Fn *fn, const Analyses *a, BlockId b)
{
    BlockId c = only_succ(a, b);
    if (!c || c == b || c == fn->first || pred_count(a, c) != 1 || ir_is_phi(fn, ir_block(fn, c)->first))
        return 0;
    const Instr *i = ir_instr(fn, ir_terminator(fn, b));
    return ir_desc(fn, i)->op == OP_BRA && !ir_guarded(i) && !has_annotation(fn, c) ? c : 0;
}

// Renames appended blocks in the inputs of phis.
static void rename_predecessors(Fn *fn, const BlockId *into)
{
    FOR_BLOCKS(fn, b)
        for (InstrId id = ir_block(fn, b)->first; ir_is_phi(fn, id); id = ir_instr(fn, id)->next)
            for (uint32_t k = 0; k < ir_nuse(ir_instr(fn, id)); k += 2) {
                Operand *from = ir_use(fn, ir_instr(fn, id), k);
                if (into[op_index(*from)])
                    *from = op_block(into[op_index(*from)]);
            }
}

// Appends the chain of blocks that starts at `head`, which into[] names for each of them afterwards.
static void append_chain(Fn *fn, const Analyses *a, BlockId head, BlockId *into)
{
    for (BlockId last = head, c; (c = only_succ(a, last)) && into[c] == last; last = c) {
        ir_remove(fn, ir_terminator(fn, head));
        block_take(fn, head, ir_block(fn, c)->first);
        block_unlink(fn, c);
        into[c] = head;
    }
}

bool merge_blocks(Fn *fn)
{
    const Analyses *a = analysis_need(fn, AN_CFG);
    Arena scratch;
    arena_init(&scratch, fn->arena.heap);
    BlockId *into = NULL;  // by BlockId: the block to which it is appended, or 0
    bool progress = false;
    FOR_BLOCK_ENDS(fn, b) {
        BlockId c = appended_to(fn, a, b);
        if (c && !into)
            into = NEW_ARRAY(&scratch, BlockId, fn->blocks.n);
        if (c)
            into[c] = b;
    }
    for (BlockId b = into ? fn->first : 0; b; b = ir_block(fn, b)->next) {
        if (into[b] || into[only_succ(a, b)] != b)
            continue;
        append_chain(fn, a, b, into);
        progress = true;
    }
    if (progress && fn->form == FORM_SSA)
        rename_predecessors(fn, into);
    if (progress)
        analysis_drop(fn, 0);
    arena_free(&scratch);
    return progress;
}

bool is_predicated_arm(const Fn *fn, const Analyses *a, BlockId arm, BlockId join)
{
    BlockId top = only_pred(a, arm);
    if (!top)
        return false;
    InstrId end = ir_terminator(fn, arm);
    const Instr *split = ir_instr(fn, ir_terminator(fn, top)), *last = ir_instr(fn, end);
    if (ir_desc(fn, split)->op != OP_BRA || !ir_guarded(split) || ir_desc(fn, last)->op != OP_BRA || ir_guarded(last) ||
        op_index(*ir_use(fn, last, 0)) != join ||
        (op_index(*ir_use(fn, split, 0)) != join && op_index(*terminator_other_way(fn, split)) != join))
        return false;
    uint32_t n = 0;
    for (InstrId id = ir_block(fn, arm)->first; id != end && n <= PREDICATED; id = ir_instr(fn, id)->next)
        n++;
    return n <= PREDICATED;
}
