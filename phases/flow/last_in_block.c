// SPDX-License-Identifier: MIT
// Splits blocks after calls that never return.
//
// Slot: 6 SetControlFlowOpLastInBB. The verifier requires that a block ends with its first terminator. So the only
// other instructions that end a block are calls of functions that never return (`.noreturn`, of a function or of a
// prototype). The instructions after such a call go to a new, unreachable block. The call's block ends with an exit
// that is never executed. So the control flow graph shows that the call does not return: later blocks have a dominating
// condition and need fewer phis.
//
//     b1: ...; call (), @die, (@a); R1 = ...; bra b2     ->   b1: ...; call (), @die, (@a); exit
//                                                             b3: R1 = ...; bra b2           ; unreachable
//
// Must not fire:
//     b1: @P0 call @die; bra b2             control continues if P0 is false
//     b1: call @f; bra b2                   @f is not declared `.noreturn`
//     b1: trap; bra b2                      a debugger may continue; ptxas does not end blocks there either
//     b1: call @die; exit                   no code follows the call
//     b1: R1, CC0 = add.cc ...; call @die; R2 = addc ..., CC0     a carry or a call sequence lies in one block
//
// Sound: a return from a function that is declared `.noreturn` is undefined behaviour (PTX ISA, `.noreturn`).
// Documented: slot and name. Inferred: the rest.
#include "phases/bodies.h"

static bool never_returns(const Fn *fn, const Instr *i)
{
    if (ir_desc(fn, i)->op != OP_CALL || ir_guarded(i))
        return false;
    SymId callee = ir_callee(fn, i);
    if (callee)
        return ir_sym(fn, callee)->flags & SYM_NORETURN;
    for (uint32_t k = 0; k < ir_nuse(i); k++) {
        Operand o = *ir_use(fn, i, k);
        const Sym *s = op_kind(o) == K_SYM ? ir_sym(fn, op_index(o)) : NULL;
        if (s && s->kind == SYM_PROTO && s->sig->noreturn)
            return true;
    }
    return false;
}

// True if the thread or the function ends here.
static bool is_end(const Fn *fn, const Instr *i)
{
    Opcode op = ir_desc(fn, i)->op;
    return (op == OP_EXIT || op == OP_RET) && !ir_guarded(i);
}

// True if a split after the call cuts no call sequence and no live range of the carry: both must lie in one block.
// Sequences are numbered in the order of their calls.
static bool may_split_after(const Fn *fn, InstrId call)
{
    uint32_t before = 0;
    bool carry = false;
    for (InstrId id = call; id; id = ir_instr(fn, id)->prev)
        before = MAX(before, ir_instr(fn, id)->callseq);
    for (InstrId id = ir_instr(fn, call)->next; id; id = ir_instr(fn, id)->next) {
        const Instr *i = ir_instr(fn, id);
        const Operand *ops = ir_ops(fn, i);
        if (i->callseq && i->callseq <= before)
            return false;
        for (uint32_t k = i->nops; k-- && !carry;) {  // uses first
            if (!op_is_reg(ops[k]) || op_file(ops[k]) != RF_CC)
                continue;
            if (k >= i->ndef || ir_guarded(i))
                return false;
            carry = true;
        }
    }
    return true;
}

static void split_after(Fn *fn, InstrId call)
{
    BlockId b = ir_instr(fn, call)->block, rest = block_new(fn);
    ir_block(fn, rest)->source = ir_block(fn, b)->source;
    block_insert_after(fn, rest, b);
    block_take(fn, rest, ir_instr(fn, call)->next);
    InstrId end = ir_append(fn, b, desc_make(fn->tables, OP_EXIT), 0, NULL, 0);
    ir_instr(fn, end)->line = ir_instr(fn, call)->line;
}

bool phase_last_in_block(Ctx *ctx, Fn *fn)
{
    (void)ctx;
    bool progress = false;
    // The walk next visits the block that was split off.
    FOR_BLOCKS(fn, b) {
        InstrId id = ir_block(fn, b)->first;
        while (id && !never_returns(fn, ir_instr(fn, id)))
            id = ir_instr(fn, id)->next;
        if (!id || is_end(fn, ir_instr(fn, ir_instr(fn, id)->next)) || !may_split_after(fn, id))
            continue;
        split_after(fn, id);
        progress = true;
    }
    return progress;
}
