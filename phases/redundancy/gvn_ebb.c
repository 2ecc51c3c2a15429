// SPDX-License-Identifier: MIT
// The EBB pre-pass of GvnCse: marks the blocks whose values may be reused in dominated blocks
// (phases/redundancy/gvn.h).
//
// Seeds are the eligible instructions, without atomics (211). Eligibility is carried back through operands to the
// instructions that define them, to a fixed point, so that the expression tree of a seed is a candidate as a whole. A
// block that is an immediate dominator is marked as a candidate if it has a candidate instruction whose canonical
// descriptor also occurs in another block, else as a block without one. Other blocks stay unknown.
//
// A mark never permits a replacement; it only spares the lookup.
//
// Documented: the order of the steps, the three values of a mark. Inferred: the test of a block (sub_BEA000).
#include "phases/redundancy/gvn.h"

typedef struct Ebb {
    Gvn *gvn;
    Fn *fn;
    bool *candidate;  // by InstrId
    VEC(InstrId) work;
    BlockId *first_with;  // by canonical descriptor: the first block that has it, 0 = none
    bool *in_others;      // by canonical descriptor: a second block has it
} Ebb;

static void set_candidate(Ebb *e, InstrId id, const Instr *i)
{
    DescId desc = ir_desc(e->fn, i)->canonical;
    e->candidate[id] = true;
    if (e->first_with[desc])
        e->in_others[desc] |= e->first_with[desc] != i->block;
    else
        e->first_with[desc] = i->block;
}

// Pushes the definitions of the operands of a candidate.
static void push_operands(Ebb *e, const Instr *i)
{
    const Operand *ops = ir_ops(e->fn, i);
    for (uint32_t k = i->ndef; k < i->nops; k++) {
        InstrId def = op_is_reg(ops[k]) ? def_of(e->gvn->a, op_index(ops[k])) : 0;
        if (def && !e->candidate[def])
            VEC_PUSH(&e->gvn->scratch, &e->work, def);
    }
}

// Definitions come before most of their uses, so few of them are not seeds yet when a use is visited.
static void find_seeds(Ebb *e)
{
    for (uint32_t k = 0; k < e->gvn->a->nrpo; k++) {
        FOR_INSTRS(e->fn, e->gvn->a->rpo[k], id) {
            const Instr *i = ir_instr(e->fn, id);
            if (gvn_class(e->fn, i, e->gvn->enhanced) == GC_NONE)
                continue;
            set_candidate(e, id, i);
            push_operands(e, i);
        }
    }
}

// Makes the definitions of the operands of candidates candidates, too.
static void carry_back(Ebb *e)
{
    while (e->work.n) {
        InstrId id = e->work.at[--e->work.n];
        const Instr *i = ir_instr(e->fn, id);
        if (e->candidate[id] || !is_reachable(e->gvn->a, i->block))
            continue;
        set_candidate(e, id, i);
        push_operands(e, i);
    }
}

static bool has_candidate(const Ebb *e, BlockId b)
{
    FOR_INSTRS(e->fn, b, id)
        if (e->candidate[id] && e->in_others[ir_desc(e->fn, ir_instr(e->fn, id))->canonical])
            return true;
    return false;
}

const uint8_t *gvn_mark_blocks(Gvn *gvn)
{
    Fn *fn = gvn->fn;
    Ebb e = {.gvn = gvn, .fn = fn};
    uint32_t descs = fn->tables->desc_first + fn->tables->descs.n;
    uint8_t *marks = NEW_ARRAY(&gvn->scratch, uint8_t, fn->blocks.n);
    e.candidate = NEW_ARRAY(&gvn->scratch, bool, fn->instrs.n);
    e.first_with = NEW_ARRAY(&gvn->scratch, BlockId, descs);
    e.in_others = NEW_ARRAY(&gvn->scratch, bool, descs);
    find_seeds(&e);
    carry_back(&e);
    for (uint32_t k = 0; k < gvn->a->nrpo; k++) {
        BlockId idom = gvn->a->dom.idom[gvn->a->rpo[k]];
        if (idom && marks[idom] == EBB_UNKNOWN)
            marks[idom] = has_candidate(&e, idom) ? EBB_CANDIDATE : EBB_NO_CANDIDATE;
    }
    return marks;
}
