// SPDX-License-Identifier: MIT
// Makes switches: chains of comparisons, and jumps through tables.
#include "tools/origen/origen.h"

enum { MOST_CASES = 6, TABLE_MOST = 8 };

typedef struct Switch {
    uint32_t n, otherwise, end;  // cases; labels
    uint32_t labels[MOST_CASES];
    uint32_t lanes;
    Value *selector;  // less than `range`
    uint32_t range;
    Phis phis;
} Switch;

static void begin(Gen *g, Switch *s)
{
    s->lanes = lanes_of_arms(g);
    Value *v = s->lanes ? value_uniform(g) : NULL;
    s->n = roll_between(g, 2, MOST_CASES);
    s->range = chance(g, 1, 2) ? TABLE_MOST : TABLE_MOST / 2;
    s->lanes = v ? s->lanes : 0;
    s->selector = value_scratch(g, CLASS_R);
    if (!v)
        v = value_pick(g, CLASS_R);
    if (chance(g, 1, 2))
        code(g, "and.b32 $w, $v, $u;", s->selector, v, s->range - 1);
    else
        code(g, "and.b32 $r1, $v, 15; min.u32 $w, $r1, $u;", v, s->selector, s->range - 1);
    s->phis = phis_begin(g);
    s->otherwise = label_new(g);
    s->end = label_new(g);
    for (uint32_t k = 0; k < s->n; k++)
        s->labels[k] = label_new(g);
}

// Writes the cases; some fall through.
static void cases(Gen *g, const Switch *s, uint32_t n)
{
    for (uint32_t k = 0; k < s->n; k++) {
        label_put(g, s->labels[k]);
        arm(g, n / s->n, s->lanes, (KnownCondition){0}, true, &s->phis);
        if (!chance(g, 1, 6))
            jump(g, s->end);
    }
    label_put(g, s->otherwise);
    arm(g, n / s->n, s->lanes, (KnownCondition){0}, false, &s->phis);
    label_put(g, s->end);
    phis_end(g, &s->phis);
}

void make_switch(Gen *g, uint32_t n)
{
    Switch s;
    begin(g, &s);
    for (uint32_t k = 0; k < s.n; k++) {
        Value *p = value_scratch(g, CLASS_P);
        code(g, "setp.eq.<s32|u32|b32> $w, $v, $u;", p, s.selector, k);
        branch(g, p, true, s.labels[k]);
    }
    jump(g, s.otherwise);
    cases(g, &s, part_of(g, n));
}

static void table(Gen *g, const Switch *s, uint32_t number)
{
    const Fn *fn = &g->fn;
    out_fmt(&g->body, "\tT%u_%u: .branchtargets", fn->number, number);
    for (uint32_t k = 0; k < s->range; k++) {
        uint32_t at = roll(g, s->n + 1), label = at < s->n ? s->labels[at] : s->otherwise;
        out_fmt(&g->body, "%s\n\t%s%u_%u", k ? "," : "", fn->flavor->label, fn->number, label);
    }
    out_z(&g->body, ";\n");
}

void make_brx(Gen *g, uint32_t n)
{
    Switch s;
    begin(g, &s);
    uint32_t number = g->fn.symbols++;
    if (chance(g, 1, 3)) {  // the range check that compilers emit
        Value *p = value_scratch(g, CLASS_P);
        code(g, "setp.gt.u32 $w, $v, $u;", p, s.selector, s.range - 1);
        branch(g, p, true, s.otherwise);
    }
    table(g, &s, number);
    code(g, "brx.idx $v, T$u_$u;", s.selector, g->fn.number, number);
    g->fn.unreachable = true;
    cases(g, &s, part_of(g, n));
}
