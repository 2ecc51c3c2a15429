// SPDX-License-Identifier: MIT
// Finds functions whose calls only compute results. Such a function writes only its results, its own variables and
// parameters of calls of pure functions. It may read memory. It has no instruction that synchronizes, stops other
// threads or ends the thread. It has no backward branch in the layout, since a loop might not terminate.
//
// SYM_PURE is set after the plan of a function has run, and serves later functions of the module. So code that runs
// functions in parallel must finish a function's earlier callees before the function.
#include "ir/core/ir.h"

enum { OTHER_EFFECT = TR_BARRIER | TR_CONV | TR_ORDERED | TR_ASYNC };

SymId ir_callee(const Fn *fn, const Instr *call)
{
    for (uint32_t k = 0; k < ir_nuse(call); k++) {
        Operand o = *ir_use(fn, call, k);
        if (op_kind(o) == K_SYM && ir_sym(fn, op_index(o))->kind == SYM_FUNC)
            return op_index(o);
    }
    return 0;
}

bool ir_calls_pure(const Fn *fn, const Instr *i)
{
    SymId callee = ir_desc(fn, i)->op == OP_CALL && !i->ndef ? ir_callee(fn, i) : 0;
    return callee && ir_sym(fn, callee)->flags & SYM_PURE;
}

static bool writes_own_symbol(const Fn *fn, const Instr *i)
{
    Operand base = *ir_use(fn, i, 0);
    if (ir_desc(fn, i)->op != OP_ST || op_kind(base) != K_SYM || !(op_index(base) & SYM_LOCAL))
        return false;
    const Sym *s = ir_sym(fn, op_index(base));
    bool variable = s->kind == SYM_VAR && s->space == SP_LOCAL;
    return variable || s->kind == SYM_CALLPARAM || (s->kind == SYM_FORMAL && s->flags & SYM_RETURN);
}

static bool is_harmless(const Fn *fn, const Instr *i)
{
    const Desc *d = ir_desc(fn, i);
    if (d->op == OP_RET || d->op == OP_BRA || d->op == OP_BRX || d->traits & TR_MARKER)
        return true;
    if (d->op == OP_CALL)
        return ir_calls_pure(fn, i);
    if (d->traits & (OTHER_EFFECT | TR_EFFECT))
        return false;
    return !(d->traits & TR_WRITE) || writes_own_symbol(fn, i);
}

typedef struct Layout {
    const uint32_t *place;  // by BlockId, from 1; 0 = not in the layout
    uint32_t here;
    bool goes_back;
} Layout;

static void look_back(void *user, Operand *target)
{
    Layout *l = user;
    l->goes_back |= l->place[op_index(*target)] <= l->here;
}

static bool goes_back(const Fn *fn)
{
    Arena scratch;
    arena_init(&scratch, fn->arena.heap);
    uint32_t *place = NEW_ARRAY(&scratch, uint32_t, fn->blocks.n), n = 0;
    Layout l = {.place = place};
    FOR_BLOCKS(fn, b)
        place[b] = ++n;
    FOR_BLOCKS(fn, b) {
        l.here = place[b];
        ir_successors(fn, ir_terminator(fn, b), look_back, &l);
    }
    arena_free(&scratch);
    return l.goes_back;
}

bool fn_is_pure(const Fn *fn)
{
    if ((fn->flags & (FN_KERNEL | FN_DEFINED | FN_PASSTHROUGH)) != FN_DEFINED)
        return false;
    for (RegId r = 1; r < fn->regs.n; r++)
        if (ir_reg(fn, r)->flags & REG_NAMED)
            return false;
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id)
            if (!is_harmless(fn, ir_instr(fn, id)))
                return false;
    return !goes_back(fn);
}
