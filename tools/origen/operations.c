// SPDX-License-Identifier: MIT
// Makes operations: rows of templates.def, and repetitions of earlier instructions.
#include "tools/origen/origen.h"

enum { X = EXACT, L = LANE, W = WARP, A = WHOLE };

typedef struct Template {
    Feature feature;
    uint32_t sm, traits;
    const char *pattern;
} Template;

static const Template templates[] = {
#define TEMPLATE(feature, sm, traits, pattern) {FT_##feature, sm, (traits) | REPEAT, pattern},
#include "tools/origen/templates.def"
};

// Patterns that make the first value of a class.
static const char *const first_values[CLASS_COUNT] = {
    [CLASS_P] = "setp.<eq|ne|lt|ge>.<s32|u32> $=p, $r, $r#;",
    [CLASS_H] = "cvt.u16.u32 $=h, $r;",
    [CLASS_R] = "mov.u32 $=r, $#1000;",
    [CLASS_D] = "cvt.<u64.u32|s64.s32> $=d, $r;",
    [CLASS_F] = "cvt.rn.f32.<s32|u32> $=f, $r;",
    [CLASS_G] = "cvt.rn.f64.<s32|u32> $=g, $r;",
    [CLASS_E] = "cvt.rn.f16.<s32|u32> $=e, $r;",
    [CLASS_X] = "mov.b32 $=x, {$e, $e};",
    [CLASS_B] = "cvt.rn.f32.s32 $f1, $r; cvt.rn.bf16.f32 $=b, $f1;",
    [CLASS_Y] = "mov.b32 $=y, {$b, $b};",
};

static const Feature class_feature[CLASS_COUNT] = {
    [CLASS_P] = FT_CORE, [CLASS_H] = FT_SHORT, [CLASS_R] = FT_CORE, [CLASS_D] = FT_WIDE,   [CLASS_F] = FT_F32,
    [CLASS_G] = FT_F64,  [CLASS_E] = FT_HALF,  [CLASS_X] = FT_HALF, [CLASS_B] = FT_BFLOAT, [CLASS_Y] = FT_BFLOAT,
};

bool class_on(const Gen *g, Class c) { return has(g, class_feature[c]); }

Class any_class(Gen *g)
{
    Class c;
    do
        c = (Class)roll(g, CLASS_COUNT);
    while (c == CLASS_P || !class_on(g, c));
    return c;
}

// True if the program has all classes of a pattern.
static bool has_classes(const Gen *g, const char *pattern)
{
    for (const char *at = pattern; (at = strchr(at, '$')); at++) {
        char letter = at[1] == '=' ? at[2] : at[1];
        for (uint32_t c = 0; c < CLASS_COUNT; c++)
            if (class_info[c].letter == letter && !class_on(g, (Class)c))
                return false;
    }
    return true;
}

void operations_init(Gen *g)
{
    for (uint32_t k = 0; k < ARRAY_LEN(templates); k++) {
        const Template *t = &templates[k];
        if (has(g, t->feature) && g->options.sm >= t->sm && has_classes(g, t->pattern))
            VEC_PUSH(g->arena, &g->operations, k);
    }
}

void make_first_value(Gen *g, Class c)
{
    const Value *guard = g->fn.guard;
    g->fn.guard = NULL;
    code(g, first_values[c]);
    g->fn.guard = guard;
}

static bool repetition(Gen *g)
{
    uint32_t n = g->fn.repeats.n;
    if (!n || !has(g, FT_REPEAT) || !chance(g, 1, 8))
        return false;
    code_with(g, LANE, g->fn.repeats.at[n - 1 - roll(g, MIN(n, 24))]);
    return true;
}

void collective_operation(Gen *g)
{
    uint32_t n = g->operations.n, skip = roll(g, n);
    for (uint32_t k = 0; k < n; k++) {
        const Template *t = &templates[g->operations.at[(k + skip) % n]];
        if (t->traits & (WARP | WHOLE) && code_possible(g, t->traits)) {
            code_with(g, t->traits, t->pattern);
            return;
        }
    }
}

void operation(Gen *g)
{
    if (repetition(g))
        return;
    const Template *t;
    do
        t = &templates[g->operations.at[roll(g, g->operations.n)]];
    while (!code_possible(g, t->traits));
    code_with(g, t->traits, t->pattern);
}
