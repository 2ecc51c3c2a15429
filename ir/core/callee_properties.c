// SPDX-License-Identifier: MIT
// Finds properties of functions for the code that calls them, in one walk. Each instruction keeps some of them:
//
//   SYM_PURE       A call only computes results. The function writes only its results, its own variables and parameters
//                  of calls of pure functions. It may read memory. It has no instruction that synchronizes, stops other
//                  threads or ends the thread. It has no backward branch in the layout, since a loop might not
//                  terminate.
//   SYM_NOCLOBBER  A call neither changes nor orders memory, as later plain loads of the caller see it (TR_NOCLOBBER).
//                  It may read memory, exchange values with other lanes, loop, and end the thread: the call stays, and
//                  accesses do not move over it. Every pure function has the property.
//   SYM_NOCONV     A call has no convergent instruction (TR_CONV) and does not end the thread. It may write memory.
//
// The properties are set after the plan of a function has run, and serve later functions of the module. So code that
// runs functions in parallel must finish a function's earlier callees before the function. A function that calls itself
// may have the last two, by induction on the depth of calls. The walk does not see them for mutual recursion, where one
// call is of a later function.
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

bool ir_call_has(const Fn *fn, const Instr *i, uint32_t property)
{
    SymId callee = ir_desc(fn, i)->op == OP_CALL ? ir_callee(fn, i) : 0;
    return callee && ir_sym(fn, callee)->flags & property;
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

// Returns the properties that a function with this call may have.
static uint32_t kept_by_call(const Fn *fn, const Instr *i)
{
    SymId callee = ir_callee(fn, i);
    if (!callee)
        return 0;
    return callee == fn->sym ? SYM_NOCLOBBER | SYM_NOCONV : ir_sym(fn, callee)->flags & SYM_PROPERTIES;
}

// Returns the properties that a function with this instruction may have.
static uint32_t kept_by(const Fn *fn, const Instr *i)
{
    const Desc *d = ir_desc(fn, i);
    if (d->op == OP_RET || d->op == OP_BRA || d->op == OP_BRX || d->traits & TR_MARKER)
        return SYM_PROPERTIES;
    if (d->op == OP_CALL)
        return kept_by_call(fn, i);
    uint32_t kept = d->traits & TR_CONV || d->op == OP_EXIT ? 0 : SYM_NOCONV;
    if (!(d->traits & (OTHER_EFFECT | TR_EFFECT)) && (!(d->traits & TR_WRITE) || writes_own_symbol(fn, i)))
        kept |= SYM_PURE | SYM_NOCLOBBER;
    return d->traits & TR_NOCLOBBER ? kept | SYM_NOCLOBBER : kept;
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

uint32_t fn_properties(const Fn *fn)
{
    if ((fn->flags & (FN_KERNEL | FN_DEFINED | FN_PASSTHROUGH)) != FN_DEFINED)
        return 0;
    for (RegId r = 1; r < fn->regs.n; r++)
        if (ir_reg(fn, r)->flags & REG_NAMED)
            return 0;
    uint32_t properties = SYM_PROPERTIES;
    FOR_BLOCKS(fn, b)
        for (InstrId id = ir_block(fn, b)->first; id && properties; id = ir_instr(fn, id)->next)
            properties &= kept_by(fn, ir_instr(fn, id));
    return properties & SYM_PURE && goes_back(fn) ? properties & ~(uint32_t)SYM_PURE : properties;
}
