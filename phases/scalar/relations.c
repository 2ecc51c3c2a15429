// SPDX-License-Identifier: MIT
// Comparisons of two values, and the outcomes that they leave possible.
//
// A comparison has one of the outcomes less, equal, greater, and unordered for floats. Each operator is true for a set
// of outcomes. A condition that holds restricts the outcomes that are possible. A comparison of the same values is
// known if it is true for all possible outcomes, or for none.
//
//     P0 = setp.lt.s32 R1, R2; where P0 is true:  setp.ge.s32 R1, R2   false      setp.ne.s32 R2, R1   true
//                              where P0 is false: setp.le.s32 R2, R1   true       setp.eq.s32 R1, R2   unknown
//
// Not known:
//     after setp.lt.f32 R1, R2 is false: setp.ge.f32 R1, R2      both are false for NaN
//     after setp.lt.s32 R1, R2 is true: setp.lt.u32 R1, R2       signs
//     after setp.lt.ftz.f32: setp.lt.f32                         subnormals
//     setp.lt.f16x2                                              two comparisons
#include "phases/scalar/relations.h"

enum { LESS = 1, EQUAL = 2, GREATER = 4, UNORDERED = 8, ORDERED = LESS | EQUAL | GREATER };
enum { SIGNED, UNSIGNED, FLOATING };

// The outcomes of comparing a with b that are possible in the current scope.
typedef struct Relation {
    uint32_t a, b, kind;
    uint32_t possible;
    struct Relation *next;
} Relation;

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

bool comparison_describe(const Fn *fn, const Instr *setp, uint32_t a, uint32_t b, Comparison *c)
{
    const Desc *d = ir_desc(fn, setp);
    if (d->op != OP_SETP || setp->flags & IF_PINNED)
        return false;
    const Mnem *m = tab_mnem(fn->tables, d->mnem);
    const TypeInfo *type = &type_info[m->type[0]];
    bool floating = type->class == TC_F, integer = type->class == TC_B || type->class == TC_U || type->class == TC_S;
    uint32_t holds = outcomes_of((Mod)m->mod[MC_CMP]), all = floating ? ORDERED | UNORDERED : ORDERED;
    if (!(floating || integer) || m->type[0] == TY_F16X2 || !holds)
        return false;
    bool exchange = a > b, equality = integer && (m->mod[MC_CMP] == MOD_EQ || m->mod[MC_CMP] == MOD_NE);
    *c = (Comparison){.a = exchange ? b : a, .b = exchange ? a : b, .nkinds = equality ? 2 : 1};
    c->holds = exchange ? exchanged(holds) : holds;
    c->all = a == b ? all & (EQUAL | UNORDERED) : all;
    uint32_t sign = floating ? FLOATING : type->class == TC_S ? SIGNED : UNSIGNED;
    for (uint32_t n = 0; n < c->nkinds; n++)
        c->kinds[n] = (equality ? n : sign) << 16 | (uint32_t)m->type[0] * floating << 8 | (m->mod[MC_FTZ] != MOD_NONE);
    return true;
}

static Truth decide(const Comparison *c, uint32_t possible)
{
    return !(possible & c->holds) ? IS_FALSE : !(possible & ~c->holds) ? IS_TRUE : UNKNOWN;
}

Truth comparison_given(const Comparison *c, const Comparison *other, bool holds)
{
    if (c->a != other->a || c->b != other->b)
        return UNKNOWN;
    for (uint32_t n = 0; n < c->nkinds; n++)
        for (uint32_t m = 0; m < other->nkinds; m++)
            if (c->kinds[n] == other->kinds[m])
                return decide(c, c->all & (holds ? other->holds : ~other->holds));
    return UNKNOWN;
}

/* -- Relations ------------------------------------------------------------------------------------------ */

void relations_init(Relations *r, ScopedTable *facts, Arena *arena, uint32_t n)
{
    *r = (Relations){.arena = arena, .facts = facts, .mask = 63};
    while (r->mask < n)
        r->mask = 2 * r->mask + 1;
    r->table = NEW_ARRAY(arena, Relation *, r->mask + 1);
}

static Relation **find_relation(const Relations *r, const Comparison *c, uint32_t kind)
{
    uint32_t hash = (c->a * 0x9E3779B1u ^ c->b) * 0x85EBCA6Bu ^ kind;
    Relation **at = &r->table[(hash ^ hash >> 15) & r->mask];
    while (*at && !((*at)->kind == kind && (*at)->a == c->a && (*at)->b == c->b))
        at = &(*at)->next;
    return at;
}

Truth relations_decide(const Relations *r, const Comparison *c)
{
    Truth truth = UNKNOWN;
    for (uint32_t n = 0; n < c->nkinds && truth == UNKNOWN; n++) {
        const Relation *found = *find_relation(r, c, c->kinds[n]);
        truth = decide(c, found ? found->possible & c->all : c->all);
    }
    return truth;
}

void relations_restrict(Relations *r, const Comparison *c, bool holds)
{
    for (uint32_t n = 0; n < c->nkinds; n++) {
        Relation **at = find_relation(r, c, c->kinds[n]);
        if (!*at) {
            *at = NEW(r->arena, Relation);
            **at = (Relation){.a = c->a, .b = c->b, .kind = c->kinds[n], .possible = ORDERED | UNORDERED};
        }
        scoped_set(r->facts, &(*at)->possible, (*at)->possible & (holds ? c->holds : ~c->holds));
    }
}
