// SPDX-License-Identifier: MIT
// Predicates whose truth is known in a block.
//
// A comparison of two values has one of the outcomes less, equal, greater, and unordered for floats. Each operator is
// true for a set of outcomes. A condition that dominates a block restricts the outcomes that are possible there, and a
// comparison of the same values is known if it is true for all possible outcomes, or for none. Two operands are one
// value if they are the same register or constant after copies.
//
//     P0 = setp.lt.s32 R1, R2; @P0 bra b1 else b2
//     b1: P1 = setp.ge.s32 R1, R2        false       P2 = setp.ne.s32 R2, R1      true
//     b2: P3 = setp.le.s32 R2, R1        true        P4 = setp.eq.s32 R1, R2      unknown
//
// A condition also gives the conditions that it is computed from: both operands of `and` where it is true, both
// operands of `or` where it is false, and the operand of `not`.
//
// Not known:
//     after setp.lt.f32 R1, R2 is false: setp.ge.f32 R1, R2      both are false for NaN
//     after setp.lt.s32 R1, R2 is true: setp.lt.u32 R1, R2       signs
//     after setp.lt.ftz.f32: setp.lt.f32                         subnormals
//     a condition of a block with another way in, or of a branch with two equal targets
//     setp.lt.f16x2                                              two comparisons
//
// Sound: in ssa form a register has one value from its definition until the definition is executed again. The edge of a
// dominating condition is executed after the definitions of its operands, and again if these are executed again.
//
// Does not do: comparisons with different constants (ir/analysis/value_ranges.c), transitivity.
#include "phases/scalar/known_predicates.h"

enum { LESS = 1, EQUAL = 2, GREATER = 4, UNORDERED = 8, ORDERED = LESS | EQUAL | GREATER };
enum { SIGNED, UNSIGNED, FLOATING };
enum { DEPTH = 4 };  // conditions below a condition

// The outcomes of comparing a with b that are possible in the current block.
typedef struct Relation {
    Operand a, b;
    uint32_t kind;
    uint32_t possible;
    struct Relation *next;
} Relation;

typedef struct Comparison {
    Operand a, b;
    uint32_t kinds[2], nkinds;  // equality does not depend on signs, so it has both kinds
    uint32_t holds, all;        // outcomes
} Comparison;

static uint32_t outcomes_of(Mod compare)
{
    switch (compare) {
    case MOD_EQ: return EQUAL;
    case MOD_NE: return LESS | GREATER;
    case MOD_LT:
    case MOD_LO: return LESS;
    case MOD_LE:
    case MOD_LS: return LESS | EQUAL;
    case MOD_GT:
    case MOD_HI: return GREATER;
    case MOD_GE:
    case MOD_HS: return GREATER | EQUAL;
    case MOD_EQU: return EQUAL | UNORDERED;
    case MOD_NEU: return LESS | GREATER | UNORDERED;
    case MOD_LTU: return LESS | UNORDERED;
    case MOD_LEU: return LESS | EQUAL | UNORDERED;
    case MOD_GTU: return GREATER | UNORDERED;
    case MOD_GEU: return GREATER | EQUAL | UNORDERED;
    case MOD_NUM: return ORDERED;
    case MOD_NAN_CMP: return UNORDERED;
    default: return 0;
    }
}

static uint32_t exchanged(uint32_t outcomes)
{
    return (outcomes & (EQUAL | UNORDERED)) | (outcomes & LESS ? GREATER : 0) | (outcomes & GREATER ? LESS : 0);
}

// True for a constant, and for a register with one value.
static bool is_value(const KnownPredicates *k, Operand o)
{
    return !o.mods && (op_is_const(o) || (op_is_reg(o) && def_of(k->a, op_index(o))));
}

// Describes the comparison of a setp, without its boolean operand. False: it is none of two values.
static bool describe(const KnownPredicates *k, const Instr *i, Comparison *c)
{
    const Fn *fn = k->fn;
    const Desc *d = ir_desc(fn, i);
    if (d->op != OP_SETP || i->flags & IF_PINNED)
        return false;
    const Mnem *m = tab_mnem(fn->tables, d->mnem);
    const TypeInfo *type = &type_info[m->type[0]];
    bool floating = type->class == TC_F, integer = type->class == TC_B || type->class == TC_U || type->class == TC_S;
    c->a = copy_source(fn, k->a, *ir_use(fn, i, 0));
    c->b = copy_source(fn, k->a, *ir_use(fn, i, 1));
    c->holds = outcomes_of((Mod)m->mod[MC_CMP]);
    c->all = floating ? ORDERED | UNORDERED : ORDERED;
    if (!(floating || integer) || m->type[0] == TY_F16X2 || !c->holds || !is_value(k, c->a) || !is_value(k, c->b))
        return false;
    if (c->a.word > c->b.word) {
        Operand a = c->a;
        c->a = c->b;
        c->b = a;
        c->holds = exchanged(c->holds);
    }
    if (op_same(c->a, c->b))
        c->all &= EQUAL | UNORDERED;
    bool equality = integer && (m->mod[MC_CMP] == MOD_EQ || m->mod[MC_CMP] == MOD_NE);
    uint32_t sign = floating ? FLOATING : type->class == TC_S ? SIGNED : UNSIGNED;
    c->nkinds = equality ? 2 : 1;
    for (uint32_t n = 0; n < c->nkinds; n++)
        c->kinds[n] = (equality ? n : sign) << 16 | (uint32_t)m->type[0] * floating << 8 | (m->mod[MC_FTZ] != MOD_NONE);
    return true;
}

/* -- Relations ------------------------------------------------------------------------------------------ */

static Relation **find_relation(const KnownPredicates *k, const Comparison *c, uint32_t kind)
{
    uint32_t hash = (c->a.word * 0x9E3779B1u ^ c->b.word) * 0x85EBCA6Bu ^ kind;
    Relation **at = &k->relation[(hash ^ hash >> 15) & k->mask];
    while (*at && !((*at)->kind == kind && op_same((*at)->a, c->a) && op_same((*at)->b, c->b)))
        at = &(*at)->next;
    return at;
}

static uint32_t possible_outcomes(const KnownPredicates *k, const Comparison *c, uint32_t kind)
{
    const Relation *r = *find_relation(k, c, kind);
    return r ? r->possible & c->all : c->all;
}

static Truth decide(const Comparison *c, uint32_t possible)
{
    return !(possible & c->holds) ? IS_FALSE : !(possible & ~c->holds) ? IS_TRUE : UNKNOWN;
}

static void restrict_outcomes(KnownPredicates *k, const Comparison *c, bool holds)
{
    for (uint32_t n = 0; n < c->nkinds; n++) {
        Relation **at = find_relation(k, c, c->kinds[n]);
        if (!*at) {
            *at = NEW(k->arena, Relation);
            **at = (Relation){.a = c->a, .b = c->b, .kind = c->kinds[n], .possible = ORDERED | UNORDERED};
        }
        scoped_set(&k->facts, &(*at)->possible, (*at)->possible & (holds ? c->holds : ~c->holds));
    }
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
        restrict_outcomes(k, &c, holds != second);
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
    *k = (KnownPredicates){.fn = fn, .a = a, .arena = arena, .nregs = fn->regs.n, .mask = 63};
    while (k->mask < fn->nblocks)
        k->mask = 2 * k->mask + 1;
    k->relation = NEW_ARRAY(arena, Relation *, k->mask + 1);
    k->known = NEW_ARRAY(arena, uint32_t, k->nregs);
    scoped_init(&k->facts, arena);
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

// Returns the truth of a comparison where a predicate, the result of another comparison of the same values, has the
// value `holds`.
static Truth implied_by(const KnownPredicates *k, const Comparison *c, RegId predicate, bool holds)
{
    InstrId def = def_of(k->a, predicate);
    const Instr *i = def ? ir_instr(k->fn, def) : NULL;
    Comparison other;
    if (!i || ir_desc(k->fn, i)->op != OP_SETP || ir_guarded(i) || i->ndef != 1 || ir_nuse(i) != 2 ||
        !describe(k, i, &other) || !op_same(c->a, other.a) || !op_same(c->b, other.b))
        return UNKNOWN;
    for (uint32_t n = 0; n < c->nkinds; n++)
        for (uint32_t m = 0; m < other.nkinds; m++)
            if (c->kinds[n] == other.kinds[m])
                return decide(c, c->all & (holds ? other.holds : ~other.holds));
    return UNKNOWN;
}

static Truth truth_of_comparison(const KnownPredicates *k, const Instr *i, Operand guard)
{
    Comparison c;
    Truth truth = UNKNOWN;
    if (!describe(k, i, &c))
        return UNKNOWN;
    for (uint32_t n = 0; n < c.nkinds && truth == UNKNOWN; n++)
        truth = decide(&c, possible_outcomes(k, &c, c.kinds[n]));
    if (truth == UNKNOWN && op_is_reg(guard))
        truth = implied_by(k, &c, op_index(guard), !(guard.mods & OPM_NOT));
    return truth;
}

Truth known_comparison(const KnownPredicates *k, const Instr *i, bool under_guard)
{
    const Fn *fn = k->fn;
    Operand guard = under_guard && ir_guarded(i) ? *ir_guard(fn, i) : op_none();
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
