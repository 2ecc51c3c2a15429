// SPDX-License-Identifier: MIT
// Induction variables (induction.h), found from the phi: its value on the only back edge is the phi plus a constant.
// The header dominates the source of the back edge, the latch, so the loop is reducible and natural.
//
// In each iteration, the path from the header to the latch passes every block between them in the dominator tree. So a
// condition of such a block was evaluated in this iteration. The phi, phi + step, and a bound that is defined before
// the loop have had the same values since then. The conditions are those of the blocks that dominate the latch, up to
// the header, and of the back edge itself. At most CONDITIONS blocks are visited.
#include "ir/analysis/induction.h"

enum { CONDITIONS = 8 };

/* -- Counters ------------------------------------------------------------------------------------------- */

// Returns the unguarded instruction that defines an operand, through moves; NULL if there is none.
static const Instr *definition_of(const Fn *fn, const Analyses *a, Operand o)
{
    Operand from = copy_source(fn, a, o);
    InstrId def = op_is_reg(from) && !from.mods ? def_of(a, op_index(from)) : 0;
    const Instr *i = def ? ir_instr(fn, def) : NULL;
    return i && !ir_guarded(i) ? i : NULL;
}

// Finds the only input on a back edge. False: there are several back edges, or none.
static bool find_back_edge(const Fn *fn, const Analyses *a, const Instr *phi, Induction *c, Operand *value)
{
    uint32_t back = 0;
    for (uint32_t k = 0; k < ir_nuse(phi); k += 2) {
        BlockId from = op_index(*ir_use(fn, phi, k));
        if (!is_reachable(a, from) || !dominates(a, phi->block, from))
            continue;
        back++;
        c->latch = from;
        *value = *ir_use(fn, phi, k + 1);
    }
    return back == 1;
}

// Splits a plain sum or difference of the phi and a constant.
static bool find_step(const Fn *fn, const Analyses *a, const Instr *i, Induction *c)
{
    const Desc *d = ir_desc(fn, i);
    const Mnem *m = tab_mnem(fn->tables, d->mnem);
    TypeClass class = type_info[m->type[0]].class;
    bool sum = d->op == OP_ADD;
    if ((!sum && d->op != OP_SUB) || m->mod[MC_SAT] || (class != TC_S && class != TC_U))
        return false;
    for (uint32_t k = 0; k < 1 + (uint32_t)sum; k++) {
        Operand x = copy_source(fn, a, *ir_use(fn, i, k)), y = copy_source(fn, a, *ir_use(fn, i, 1 - k));
        if (!op_is_reg(x) || x.mods || op_index(x) != c->phi || !op_is_const(y))
            continue;
        uint64_t bits = tab_const(fn->tables, op_index(y)).bits;
        c->step = sign_extended(sum ? bits : -bits, c->bits);
        c->next = op_index(*ir_def(fn, i, 0));
        return c->step != 0;
    }
    return false;
}

bool induction_of(const Fn *fn, const Analyses *a, InstrId phi, Induction *c)
{
    const Instr *p = ir_instr(fn, phi);
    Operand value;
    *c = (Induction){.phi = op_index(*ir_def(fn, p, 0)), .header = p->block};
    c->bits = width_bits((Width)ir_reg(fn, c->phi)->width);
    if (ir_desc(fn, p)->op != OP_PHI || c->bits < 16 || c->bits > 64 || !is_reachable(a, p->block) ||
        !find_back_edge(fn, a, p, c, &value))
        return false;
    const Instr *i = definition_of(fn, a, value);
    return i && i->ndef == 1 && find_step(fn, a, i, c);
}

/* -- Tests ---------------------------------------------------------------------------------------------- */

bool range_compare_of(Mod cmp, RangeCompare *c, bool *is_unsigned)
{
    static const struct {
        Mod mod;
        RangeCompare c;
        bool is_unsigned;
    } all[] = {{MOD_EQ, RC_EQ, 0}, {MOD_NE, RC_NE, 0}, {MOD_LT, RC_LT, 0}, {MOD_LE, RC_LE, 0}, {MOD_GT, RC_GT, 0},
               {MOD_GE, RC_GE, 0}, {MOD_LO, RC_LT, 1}, {MOD_LS, RC_LE, 1}, {MOD_HI, RC_GT, 1}, {MOD_HS, RC_GE, 1}};
    for (size_t k = 0; k < ARRAY_LEN(all); k++)
        if (all[k].mod == cmp) {
            *c = all[k].c;
            *is_unsigned |= all[k].is_unsigned;
            return true;
        }
    return false;
}

// True if an operand has one value while the loop runs: its definition is outside. A block that strictly dominates the
// header is outside.
static bool is_bound(const Fn *fn, const Analyses *a, const Induction *c, Operand o)
{
    InstrId def = op_is_reg(o) && !o.mods ? def_of(a, op_index(o)) : 0;
    BlockId block = def ? ir_instr(fn, def)->block : 0;
    return op_is_const(o) || (block && block != c->header && dominates(a, block, c->header));
}

// Finds the comparison of the counter that a branch tests, given its outcome.
static bool find_test(const Fn *fn, const Analyses *a, const Induction *c, bool holds, InductionTest *t)
{
    static const RangeCompare opposite[] = {RC_NE, RC_EQ, RC_GE, RC_GT, RC_LE, RC_LT};
    static const RangeCompare mirrored[] = {RC_EQ, RC_NE, RC_GT, RC_GE, RC_LT, RC_LE};
    Operand guard = *ir_guard(fn, ir_instr(fn, t->branch));
    const Instr *i = definition_of(fn, a, (Operand){guard.word, guard.mods & ~(uint32_t)OPM_NOT});
    const Desc *d = i ? ir_desc(fn, i) : NULL;
    const Mnem *m = d ? tab_mnem(fn->tables, d->mnem) : NULL;
    if (!d || d->op != OP_SETP || !d->plain || i->ndef != 1 || m->mod[MC_BOOL])
        return false;
    const TypeInfo *type = &type_info[m->type[0]];
    bool is_unsigned = type->class != TC_S;
    if ((type->class != TC_S && type->class != TC_U && type->class != TC_B) || width_bits(type->width) != c->bits ||
        !range_compare_of((Mod)m->mod[MC_CMP], &t->cmp, &is_unsigned))
        return false;
    for (uint32_t k = 0; k < 2; k++) {
        Operand x = copy_source(fn, a, *ir_use(fn, i, k));
        t->bound = copy_source(fn, a, *ir_use(fn, i, 1 - k));
        t->of_next = op_is_reg(x) && op_index(x) == c->next;
        if (!op_is_reg(x) || x.mods || (!t->of_next && op_index(x) != c->phi) || !is_bound(fn, a, c, t->bound))
            continue;
        t->is_signed = !is_unsigned;
        t->cmp = holds ? t->cmp : opposite[t->cmp];
        t->cmp = k ? mirrored[t->cmp] : t->cmp;
        return true;
    }
    return false;
}

bool induction_test(const Fn *fn, const Analyses *a, const Induction *c, uint32_t n, InductionTest *t)
{
    bool holds;
    BlockId b = c->latch;
    t->branch = edge_condition(fn, c->latch, c->header, &holds);
    for (int k = 0; k < CONDITIONS; k++) {
        if (t->branch && find_test(fn, a, c, holds, t) && !n--)
            return true;
        if (b == c->header)
            return false;
        t->branch = dominating_condition(fn, a, b, &holds);
        b = a->dom.idom[b];
    }
    return false;
}
