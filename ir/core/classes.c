// SPDX-License-Identifier: MIT
// Classes of instructions (classes.def), by which the manager skips phases that have nothing to do in a function.
#include "ir/core/ir.h"

const ClassInfo class_info[INSTR_CLASSES] = {
#define CLASS(id, what) {#id, what},
#include "ir/core/classes.def"
};

// True for an access by a generic address, and for an operation that asks for the space of one.
static bool takes_generic(const Desc *d, const Mnem *m)
{
    bool access = d->op == OP_LD || d->op == OP_ST || d->op == OP_ATOM || d->op == OP_RED;
    return d->op == OP_CVTA_TO || d->op == OP_ISSPACEP || (access && !m->mod[MC_SPACE]);
}

uint32_t desc_classes(const Tables *t, const Desc *d)
{
    const Mnem *m = tab_mnem(t, d->mnem);
    uint32_t classes = 0;
    for (uint32_t k = 0; k < d->nops; k++)
        if (d->slots[k].flags & (SL_BLOCK | SL_LIST) && d->traits & TR_TERM)
            classes |= IC_BRANCH;
    if (d->op == OP_MOV)
        classes |= IC_MOVE | (m->type[0] == TY_PRED ? IC_PRED_MOVE : 0);
    if (d->op == OP_SETP || d->op == OP_SELP)
        classes |= IC_COMPARE | (d->ndef == 2 ? IC_COMPARE_PAIR : 0);
    if (d->op == OP_CVTA || d->op == OP_CVTA_ADDR)
        classes |= IC_CVTA;
    if (takes_generic(d, m))
        classes |= IC_GENERIC;
    if (d->op == OP_CALL)
        classes |= IC_CALL;
    if (d->traits & TR_BITWISE && type_info[m->type[0]].width == W32)
        classes |= IC_LOGIC;
    return classes;
}

uint32_t symbol_classes(const Sym *s)
{
    return s->kind == SYM_VAR && s->space == SP_LOCAL && !(s->flags & SYM_GONE) ? IC_LOCAL : 0;
}

void fn_set_classes(Fn *fn)
{
    fn->classes = 0;
    for (uint32_t k = 1; k < fn->syms.n; k++)
        fn->classes |= symbol_classes(ir_sym(fn, k | SYM_LOCAL));
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id)
            fn->classes |= ir_desc(fn, ir_instr(fn, id))->classes;
}
