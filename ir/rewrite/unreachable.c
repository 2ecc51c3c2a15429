// SPDX-License-Identifier: MIT
// Removes unreachable blocks, the inputs that phis have from them, and tables of branch targets that no branch names,
// for OriBranchOpt and OriPerformLiveDead.
#include "ir/rewrite/rewrite.h"

static void drop_inputs(Fn *fn, const Analyses *a, Instr *phi)
{
    uint32_t kept = 0, n = ir_nuse(phi);
    for (uint32_t k = 0; k < n; k += 2) {
        if (!is_reachable(a, op_index(*ir_use(fn, phi, k))))
            continue;
        *ir_use(fn, phi, kept) = *ir_use(fn, phi, k);
        *ir_use(fn, phi, kept + 1) = *ir_use(fn, phi, k + 1);
        kept += 2;
    }
    if (kept == n)
        return;
    phi->nops -= n - kept;
    instr_set_desc(fn, phi, desc_phi(fn->tables, kept / 2));
}

static void drop_inputs_of_phis(Fn *fn, const Analyses *a)
{
    FOR_BLOCKS(fn, b)
        for (InstrId id = ir_block(fn, b)->first; ir_is_phi(fn, id); id = ir_instr(fn, id)->next)
            drop_inputs(fn, a, ir_instr(fn, id));
}

static void remove_blocks(Fn *fn, const Analyses *a)
{
    for (BlockId b = fn->first, next; b; b = next) {
        next = ir_block(fn, b)->next;
        if (is_reachable(a, b))
            continue;
        while (ir_block(fn, b)->first)
            ir_remove(fn, ir_block(fn, b)->first);
        block_unlink(fn, b);
    }
}

static void list_annotations(const Fn *fn, InstrId terminator, bool *used)
{
    const Instr *i = ir_instr(fn, terminator);
    for (uint32_t k = 0; k < ir_nuse(i); k++)
        if (op_kind(*ir_use(fn, i, k)) == K_LIST)
            used[op_index(*ir_use(fn, i, k))] = true;
}

static bool is_table(const Sym *s) { return s->kind == SYM_BRANCHTARGETS && !(s->flags & SYM_GONE); }

static bool remove_tables(Fn *fn)
{
    Arena scratch;
    bool progress = false;
    if (!fn->lists.n)
        return false;
    arena_init(&scratch, fn->arena.heap);
    bool *used = NEW_ARRAY(&scratch, bool, fn->lists.n);
    FOR_BLOCKS(fn, b)
        list_annotations(fn, ir_terminator(fn, b), used);
    for (uint32_t k = 1; k < fn->syms.n; k++) {
        Sym *s = ir_sym(fn, k | SYM_LOCAL);
        if (!is_table(s) || used[s->list])
            continue;
        s->flags |= SYM_GONE;
        progress = true;
    }
    arena_free(&scratch);
    return progress;
}

bool remove_unreachable(Fn *fn)
{
    const Analyses *a = analysis_need(fn, AN_RPO);
    bool blocks = a->nrpo < fn->nblocks;
    if (blocks && fn->form == FORM_SSA)
        drop_inputs_of_phis(fn, a);
    if (blocks) {
        remove_blocks(fn, a);
        analysis_drop(fn, 0);
    }
    bool tables = remove_tables(fn);
    return blocks || tables;
}
