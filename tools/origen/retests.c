// SPDX-License-Identifier: MIT
// Makes conditions that test the operands of earlier conditions again: the same comparison, its complement, one that it
// implies or decides, or one that only looks like it (another sign, another order, other subnormals). The operands may
// be exchanged, copied, computed again, or reassigned in between.
#include "tools/origen/origen.h"

enum { LAST = 4 };  // conditions whose operands are tested again

// The order of predicate and operands in a pattern.
typedef enum Order { P_A, P_A_B, A_P, A_B_P } Order;

// Forms of a condition, and of a copy of an operand.
static const struct {
    Feature feature;
    Class cls;
    Order order;
    const char *pattern, *copy;
} forms[] = {
    {FT_CORE, CLASS_R, P_A_B, "setp.<eq|ne|lt|le|gt|ge>.<s32|s32|u32> $w, $v, $v;", "mov.<b32|u32|s32> $w, $v;"},
    {FT_CORE, CLASS_R, P_A, "setp.<eq|ne|lt|ge|gt|le>.<s32|s32|u32> $w, $v, <0|0|-1>;", "mov.u32 $w, $v;"},
    {FT_CORE, CLASS_R, A_P, "and.b32 $r1, $v, 3; setp.<eq|ne|lt|ge|gt|le>.<s32|u32> $w, $r1, <1|1|2>;",
     "mov.b32 $w, $v;"},
    {FT_CORE, CLASS_R, A_B_P, "<sub|add>.s32 $r1, $v, $v; and.b32 $r2, $r1, 1; setp.<eq|ne>.b32 $w, $r2, <0|1>;",
     "mov.b32 $w, $v;"},
    {FT_SHORT, CLASS_H, P_A_B, "setp.<eq|ne|lt|le|gt|ge>.<s16|u16> $w, $v, $v;", "mov.b16 $w, $v;"},
    {FT_WIDE, CLASS_D, P_A_B, "setp.<eq|ne|lt|le|gt|ge>.<s64|u64> $w, $v, $v;", "mov.b64 $w, $v;"},
    {FT_F32, CLASS_F, P_A_B, "setp.<lt|ge|geu|ltu|gt|leu|eq|neu|num|nan><||.ftz>.f32 $w, $v, $v;", "mov.f32 $w, $v;"},
    {FT_F64, CLASS_G, P_A_B, "setp.<lt|ge|geu|ltu|gt|leu|eq|neu|num|nan>.f64 $w, $v, $v;", "mov.f64 $w, $v;"},
};

// Conditions that are true for few values.
static const char *const rare_forms[] = {
    "and.b32 $r1, $v, 15; setp.<eq|gt|gt>.<s32|u32> $w, $r1, 13;",
    "mul.lo.s32 $r1, $v, 1103515245; shr.u32 $r2, $r1, 28; setp.<lt|le>.u32 $w, $r2, <1|2>;",
};

// Returns one of the last conditions whose operands are in scope, or a new one.
static Tested pick(Gen *g, bool rare)
{
    uint32_t n = MIN(g->fn.tested.n, LAST), skip = n ? roll(g, n) : 0;
    for (uint32_t k = 0; k < n && !chance(g, 1, 6); k++) {
        Tested *t = &g->fn.tested.at[g->fn.tested.n - 1 - (k + skip) % n];
        if (t->rare == rare && value_is_available(g, t->operand[0]) && value_is_available(g, t->operand[1]))
            return *t;
    }
    Tested t = {.rare = rare};
    do
        t.form = roll(g, rare ? ARRAY_LEN(rare_forms) : ARRAY_LEN(forms));
    while (!rare && !has(g, forms[t.form].feature));
    Class c = rare ? CLASS_R : forms[t.form].cls;
    t.operand[0] = value_pick(g, c);
    t.operand[1] = value_pick(g, c);
    VEC_PUSH(g->arena, &g->fn.tested, t);
    return t;
}

// Returns an operand of a form, or a copy of it.
static Value *renamed(Gen *g, uint32_t form, Value *v)
{
    if (!chance(g, 1, 4))
        return v;
    Value *copy = value_scratch(g, v->cls);
    code(g, forms[form].copy, copy, v);
    return copy;
}

static void retest_into(Gen *g, Value *p)
{
    Tested t = pick(g, false);
    const char *pattern = forms[t.form].pattern;
    Order order = forms[t.form].order;
    bool two = order == P_A_B || order == A_B_P, exchanged = two && chance(g, 1, 3);
    Value *a = renamed(g, t.form, t.operand[exchanged]), *b = two ? renamed(g, t.form, t.operand[!exchanged]) : NULL;
    switch (order) {
    case P_A: code(g, pattern, p, a); break;
    case P_A_B: code(g, pattern, p, a, b); break;
    case A_P: code(g, pattern, a, p); break;
    case A_B_P: code(g, pattern, a, b, p); break;
    }
}

Value *retest(Gen *g)
{
    Value *p = value_scratch(g, CLASS_P);
    retest_into(g, p);
    return p;
}

Value *rare_retest(Gen *g)
{
    Tested t = pick(g, true);
    Value *p = value_scratch(g, CLASS_P);
    code(g, rare_forms[t.form], t.operand[0], p);
    return p;
}

// Writes a block in a scope of its own. It may end with the predicate that the next block tests.
static void arm_before_join(Gen *g, uint32_t n, Value *p)
{
    Scope s;
    scope_enter(g, &s, 0);
    if (n > 4 || chance(g, 1, 2))
        block(g, n);
    if (p && !g->fn.unreachable)
        retest_into(g, p);
    scope_leave(g);
}

// Makes two arms, and a join that tests a condition again, or a predicate that the arms have set.
static void join_of_arms(Gen *g, uint32_t n)
{
    uint32_t other = label_new(g), join = label_new(g), end = label_new(g);
    Value *p = retest(g), *q = value_scratch(g, CLASS_P);
    bool in_arms = chance(g, 1, 2), sense = chance(g, 1, 2);
    branch(g, p, chance(g, 1, 2), other);
    arm_before_join(g, n / 3, in_arms ? q : NULL);
    jump(g, join);
    label_put(g, other);
    arm_before_join(g, n / 3, in_arms ? q : NULL);
    label_put(g, join);
    if (!in_arms)
        retest_into(g, q);
    branch(g, q, sense, end);
    arm(g, n / 3, 0, (KnownCondition){q, !sense}, false, NULL);
    label_put(g, end);
}

// Makes tests one after the other, with the same block for one of their results.
static void chain_of_tests(Gen *g, uint32_t n, uint32_t tests, uint32_t end)
{
    Value *p = retest(g);
    Scope s;
    branch(g, p, chance(g, 1, 2), end);
    scope_enter(g, &s, 0);
    if (chance(g, 3, 4))
        block(g, n / tests);
    if (tests > 1 && !g->fn.unreachable)
        chain_of_tests(g, n - n / tests, tests - 1, end);
    scope_leave(g);
}

void make_retest(Gen *g, uint32_t n)
{
    n = part_of(g, n);
    if (chance(g, 1, 2)) {
        join_of_arms(g, n);
        return;
    }
    uint32_t end = label_new(g);
    chain_of_tests(g, n, roll_between(g, 2, 5), end);
    label_put(g, end);
}
