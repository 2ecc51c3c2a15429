// SPDX-License-Identifier: MIT
// Convergent instructions, and kernels in which all threads execute the same sequence of them.
//
// A `.sync` instruction waits for lanes of its mask wherever they are, also in another arm of a branch: the k-th one of
// a lane meets the k-th one of the others. So a rewrite keeps the sequence of convergent instructions on each path of a
// thread (soundness rule 3). If all threads execute one sequence, a rewrite may change it for all of them.
//
// all_run_same_collectives() proves this without a divergence analysis: each convergent instruction has to be
// unguarded, in a block that is in no loop and post-dominates the entry of a kernel. Each thread executes such a block
// exactly once, unless it stays in a loop before it, in which case it executes none of the later ones. Of two such
// blocks one post-dominates the other, and no path leads back, so all threads execute them in one order. Post-dominance
// counts returns, guarded ones, and endless loops as exits (pdom.c). Calls and unknown instructions may contain
// convergent instructions or end a thread, so there must be none, except calls of SYM_NOCONV functions.
#include "ir/analysis/analysis.h"

bool instr_is_convergent(const Fn *fn, const Instr *i)
{
    return ir_desc(fn, i)->traits & TR_CONV && !ir_call_has(fn, i, SYM_NOCONV);
}

// True if a terminator may send threads that run together to different blocks.
static bool may_diverge(const Fn *fn, const Instr *i)
{
    const Desc *d = ir_desc(fn, i);
    return (branch_is_split(fn, i) || d->op == OP_BRX) && tab_mnem(fn->tables, d->mnem)->mod[MC_UNI] == MOD_NONE;
}

static bool has_convergent(const Fn *fn, BlockId b)
{
    FOR_INSTRS(fn, b, id)
        if (instr_is_convergent(fn, ir_instr(fn, id)))
            return true;
    return false;
}

bool fn_is_convergent(const Fn *fn)
{
    bool convergent = false, diverges = false;
    FOR_BLOCK_ENDS(fn, b) {
        convergent = convergent || has_convergent(fn, b);
        diverges = diverges || may_diverge(fn, ir_instr(fn, ir_terminator(fn, b)));
        if (convergent && diverges)
            return true;
    }
    return false;
}

/* -- One sequence for all threads ----------------------------------------------------------------------- */

// True if a block has a convergent instruction that may run for some threads only, although its block runs for all:
// under a guard, in a callee, or unknown.
static bool has_partial(const Fn *fn, BlockId b)
{
    FOR_INSTRS(fn, b, id) {
        const Instr *i = ir_instr(fn, id);
        Opcode op = ir_desc(fn, i)->op;
        if (instr_is_convergent(fn, i) && (ir_guarded(i) || op == OP_CALL || op == OP_OPAQUE))
            return true;
    }
    return false;
}

bool all_run_same_collectives(Fn *fn)
{
    if (!(fn->flags & FN_KERNEL))
        return false;
    const Analyses *a = analysis_need(fn, AN_LOOPS | AN_PDOM);
    for (uint32_t k = 0; k < a->nrpo; k++) {
        BlockId b = a->rpo[k];
        bool once = !loop_of(a, b) && post_dominates(a, b, fn->first);
        if (once ? has_partial(fn, b) : has_convergent(fn, b))
            return false;
    }
    return true;
}
