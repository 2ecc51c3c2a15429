// SPDX-License-Identifier: MIT
// Predicates whose truth is known in a block.
//
// A condition that dominates a block restricts the outcomes of comparisons of the same values there (relations.c). Two
// operands are one value if they are the same register or constant after copies.
//
//     P0 = setp.lt.s32 R1, R2; @P0 bra b1 else b2
//     b1: P1 = setp.ge.s32 R1, R2        false       P2 = setp.ne.s32 R2, R1      true
//     b2: P3 = setp.le.s32 R2, R1        true        P4 = setp.eq.s32 R1, R2      unknown
//
// A condition also gives the conditions that it is computed from: both operands of `and` where it is true, both
// operands of `or` where it is false, and the operand of `not`.
//
// Not known:
//     a condition of a block with another way in, or of a branch with two equal targets
//
// Sound: in ssa form a register has one value from its definition until the definition is executed again. The edge of a
// dominating condition is executed after the definitions of its operands, and again if these are executed again.
//
// Does not do: comparisons with different constants (ir/analysis/value_ranges.c), transitivity.
#include "phases/scalar/known_predicates.h"

enum { DEPTH = 4 };  // conditions below a condition

// True for a constant, and for a register with one value.
static bool is_value(const KnownPredicates *k, Operand o)
{
    return !o.mods && (op_is_const(o) || (op_is_reg(o) && def_of(k->a, op_index(o))));
}

// Describes the comparison of a setp, without its boolean operand. False: it is none of two values.
static bool describe(const KnownPredicates *k, const Instr *i, Comparison *c)
{
    const Fn *fn = k->fn;
    if (ir_desc(fn, i)->op != OP_SETP)
        return false;
    Operand a = copy_source(fn, k->a, *ir_use(fn, i, 0)), b = copy_source(fn, k->a, *ir_use(fn, i, 1));
    return is_value(k, a) && is_value(k, b) && comparison_describe(fn, i, a.word, b.word, c);
}

/* -- Conditions ----------------------------------------------------------------------------------------- */

static void learn(KnownPredicates *k, Operand o, bool holds, int depth);

// Learns the operands of a comparison whose result r has the value `holds`.
static void learn_comparison(KnownPredicates *k, const Instr *i, RegId r, bool holds, int depth)
{
    const Fn *fn = k->fn;
    Mod boolean = (Mod)tab_mnem(fn->tables, ir_desc(fn, i)->mnem)->mod[MC_BOOL];
    Comparison c;
    bool second = !(op_is_reg(*ir_def(fn, i, 0)) && op_index(*ir_def(fn, i, 0)) == r);
    // An `and` that is true has two true operands, an `or` that is false two false ones.
    bool both = boolean == MOD_BOOL_AND ? holds : boolean == MOD_BOOL_OR ? !holds : boolean == MOD_NONE;
    if (!both)
        return;
    if (describe(k, i, &c))
        relations_restrict(&k->relations, &c, holds != second);
    if (boolean != MOD_NONE)
        learn(k, *ir_use(fn, i, 2), holds, depth);
}

// Learns that a predicate has the value `holds` in the current block.
static void learn(KnownPredicates *k, Operand o, bool holds, int depth)
{
    const Fn *fn = k->fn;
    if (!op_is_reg(o) || op_index(o) >= k->nregs || !def_of(k->a, op_index(o)))
        return;
    RegId r = op_index(o);
    holds = holds != ((o.mods & OPM_NOT) != 0);
    scoped_set(&k->facts, &k->known[r], holds ? IS_TRUE : IS_FALSE);
    const Instr *i = ir_instr(fn, def_of(k->a, r));
    if (depth == DEPTH || ir_guarded(i) || i->flags & IF_PINNED)
        return;
    bool plain = i->ndef == 1 && ir_reg(fn, r)->width == W1;
    switch (ir_desc(fn, i)->op) {
    case OP_SETP: learn_comparison(k, i, r, holds, depth + 1); break;
    case OP_MOV:
        if (plain)
            learn(k, *ir_use(fn, i, 0), holds, depth + 1);
        break;
    case OP_NOT:
        if (plain)
            learn(k, *ir_use(fn, i, 0), !holds, depth + 1);
        break;
    case OP_AND:
    case OP_OR:
        for (uint32_t n = 0; n < 2 && plain && holds == (ir_desc(fn, i)->op == OP_AND); n++)
            learn(k, *ir_use(fn, i, n), holds, depth + 1);
        break;
    default: break;
    }
}

void known_init(KnownPredicates *k, const Fn *fn, const Analyses *a, Arena *arena)
{
    *k = (KnownPredicates){.fn = fn, .a = a, .nregs = fn->regs.n, .known = NEW_ARRAY(arena, uint32_t, fn->regs.n)};
    scoped_init(&k->facts, arena);
    relations_init(&k->relations, &k->facts, arena, fn->nblocks);
}

void known_enter(KnownPredicates *k, BlockId b)
{
    bool holds;
    scoped_enter(&k->facts, k->a, b);
    InstrId branch = dominating_condition(k->fn, k->a, b, &holds);
    if (!branch)
        return;
    Operand guard = *ir_guard(k->fn, ir_instr(k->fn, branch));
    learn(k, (Operand){guard.word, guard.mods & ~(uint32_t)OPM_NOT}, holds, 0);
}

/* -- Queries -------------------------------------------------------------------------------------------- */

// Returns the source of a guard that is a copy.
static Operand source_of_guard(const KnownPredicates *k, Operand guard)
{
    Operand bare = copy_source(k->fn, k->a, (Operand){guard.word, guard.mods & ~(uint32_t)OPM_NOT});
    return (Operand){bare.word, guard.mods};
}

// Returns the truth of a comparison where a predicate, the result of another comparison of the same values, has the
// value `holds`.
static Truth implied_by(const KnownPredicates *k, const Comparison *c, RegId predicate, bool holds)
{
    InstrId def = def_of(k->a, predicate);
    const Instr *i = def ? ir_instr(k->fn, def) : NULL;
    Comparison other;
    if (!i || ir_desc(k->fn, i)->op != OP_SETP || ir_guarded(i) || i->ndef != 1 || ir_nuse(i) != 2 ||
        !describe(k, i, &other))
        return UNKNOWN;
    return comparison_given(c, &other, holds);
}

static Truth truth_of_comparison(const KnownPredicates *k, const Instr *i, Operand guard)
{
    Comparison c;
    if (!describe(k, i, &c))
        return UNKNOWN;
    Truth truth = relations_decide(&k->relations, &c);
    if (truth == UNKNOWN && op_is_reg(guard))
        truth = implied_by(k, &c, op_index(guard), !(guard.mods & OPM_NOT));
    return truth;
}

Truth known_comparison(const KnownPredicates *k, const Instr *i, bool under_guard)
{
    const Fn *fn = k->fn;
    Operand guard = under_guard && ir_guarded(i) ? source_of_guard(k, *ir_guard(fn, i)) : op_none();
    if (ir_desc(fn, i)->op != OP_SETP)
        return UNKNOWN;
    Mod boolean = (Mod)tab_mnem(fn->tables, ir_desc(fn, i)->mnem)->mod[MC_BOOL];
    Truth first = truth_of_comparison(k, i, guard);
    if (boolean == MOD_NONE)
        return first;
    Truth second = known_truth(k, *ir_use(fn, i, 2), guard);
    Truth decisive = boolean == MOD_BOOL_AND ? IS_FALSE : boolean == MOD_BOOL_OR ? IS_TRUE : UNKNOWN;
    if (decisive != UNKNOWN && (first == decisive || second == decisive))
        return decisive;
    if (first == UNKNOWN || second == UNKNOWN)
        return UNKNOWN;
    return decisive != UNKNOWN ? first : first == second ? IS_FALSE : IS_TRUE;
}

Truth known_truth(const KnownPredicates *k, Operand o, Operand guard)
{
    const Fn *fn = k->fn;
    bool negated = o.mods & OPM_NOT;
    guard = source_of_guard(k, guard);
    Operand bare = copy_source(fn, k->a, (Operand){o.word, o.mods & ~(uint32_t)OPM_NOT});
    if (op_is_const(bare))
        return negated_if(tab_const(fn->tables, op_index(bare)).bits ? IS_TRUE : IS_FALSE, negated);
    if (!op_is_reg(bare) || op_index(bare) >= k->nregs || !def_of(k->a, op_index(bare)))
        return UNKNOWN;
    Truth truth = (Truth)k->known[op_index(bare)];
    if (truth == UNKNOWN && op_is_reg(guard) && op_index(guard) == op_index(bare))
        truth = guard.mods & OPM_NOT ? IS_FALSE : IS_TRUE;
    const Instr *i = ir_instr(fn, def_of(k->a, op_index(bare)));
    bool compares = ir_desc(fn, i)->op == OP_SETP && !ir_guarded(i) && i->ndef == 1 && ir_nuse(i) == 2;
    if (truth == UNKNOWN && compares)
        truth = truth_of_comparison(k, i, guard);
    return negated_if(truth, negated);
}
