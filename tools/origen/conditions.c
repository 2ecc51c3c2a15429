// SPDX-License-Identifier: MIT
// Makes predicates for branches, guards and loops, and bounds of loops.
#include "tools/origen/origen.h"

enum { MOST_WEIGHT = 10 };

static const struct {
    Feature feature;
    uint32_t weight;
    const char *pattern;
} conditions[] = {
#define CONDITION(feature, weight, pattern) {FT_##feature, weight, pattern},
#include "tools/origen/conditions.def"
};

static const char *const uniform_conditions[] = {
#define UNIFORM_CONDITION(pattern) pattern,
#include "tools/origen/conditions.def"
};

static const char *const rare_conditions[] = {
#define RARE_CONDITION(pattern) pattern,
#include "tools/origen/conditions.def"
};

static const char *const never_conditions[] = {
#define NEVER_CONDITION(pattern) pattern,
#include "tools/origen/conditions.def"
};

static Value *uniform_condition(Gen *g, const char *pattern)
{
    Value *v = value_uniform(g), *p = value_scratch(g, CLASS_P);
    if (v)
        code(g, pattern, v, p);
    else
        code(g, "mov.pred $w, 1;", p);
    return p;
}

Value *condition(Gen *g, bool uniform)
{
    if (uniform)
        return uniform_condition(g, *ANY_OF(g, uniform_conditions));
    if (has(g, FT_RETEST) && chance(g, 1, 2))
        return retest(g);
    Value *p = value_scratch(g, CLASS_P);
    uint32_t k;
    do
        k = roll(g, ARRAY_LEN(conditions));
    while (!has(g, conditions[k].feature) || !chance(g, conditions[k].weight, MOST_WEIGHT));
    code(g, conditions[k].pattern, p);
    return p;
}

Value *rare_condition(Gen *g, bool uniform)
{
    if (!uniform && has(g, FT_RETEST) && chance(g, 1, 2))
        return rare_retest(g);
    const char *pattern = *ANY_OF(g, rare_conditions);
    if (uniform)
        return uniform_condition(g, pattern);
    Value *v = value_pick(g, CLASS_R), *p = value_scratch(g, CLASS_P);
    code(g, pattern, v, p);
    return p;
}

Value *never_condition(Gen *g)
{
    const char *pattern = *ANY_OF(g, never_conditions);
    Value *p = value_scratch(g, CLASS_P);
    code(g, pattern, value_pick(g, CLASS_R), p);
    return p;
}

Operand bound(Gen *g, uint32_t least, uint32_t most, bool uniform, bool literal)
{
    if (literal && least == 0 && most > 0 && !chance(g, 1, 8))
        least = 1;
    Value *v = literal ? NULL : uniform ? value_uniform(g) : value_pick(g, CLASS_R);
    if (!v || most == least)
        return (Operand){NULL, roll_between(g, least, most)};
    uint32_t mask = 1;
    while (mask * 2 + 1 <= most - least)
        mask = mask * 2 + 1;
    Value *n = value_scratch(g, CLASS_R);
    code(g, least ? "and.b32 $r1, $v, $u; add.s32 $w, $r1, $u;" : "and.b32 $r1, $v, $u; mov.u32 $w, $r1;", v, mask, n,
         least);
    return (Operand){n, 0};
}
