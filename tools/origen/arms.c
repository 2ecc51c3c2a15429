// SPDX-License-Identifier: MIT
// Makes branches whose arms execute the same sequence of collective instructions, each with operands of its own. The
// lanes of both arms meet at them: the k-th one of an arm pairs with the k-th one of the other. An arm writes the
// sequence out, runs it in a loop, or calls a function that executes it. No lane may leave an arm before its end.
#include "tools/origen/function.h"

// Collective instructions of all lanes, with an operand of the class.
static const struct {
    uint32_t sm;
    Class cls;
    const char *pattern;
} collectives[] = {
    {70, CLASS_P, "vote.sync.ballot.b32 $=r, $v, -1;"},
    {70, CLASS_P, "vote.sync.any.pred $=p, $v, -1;"},
    {70, CLASS_P, "vote.sync.all.pred $=p, $v, -1;"},
    {70, CLASS_R, "shfl.sync.bfly.b32 $=r, $v, 17, 31, -1;"},
    {70, CLASS_R, "shfl.sync.idx.b32 $=r|$=p, $v, 3, 31, -1;"},
    {70, CLASS_R, "shfl.sync.up.b32 $=r, $v, 9, 0, -1;"},
    {70, CLASS_R, "and.b32 $r1, $v, 3; match.any.sync.b32 $=r, $r1, -1;"},
    {70, CLASS_R, "bar.warp.sync -1; mov.b32 $=r, $v;"},
    {80, CLASS_R, "redux.sync.add.s32 $=r, $v, -1;"},
    {80, CLASS_R, "redux.sync.xor.b32 $=r, $v, -1;"},
};

Sequence sequence_new(Gen *g)
{
    Sequence s = {.n = roll_between(g, 2, SEQUENCE_MOST), .trips = chance(g, 1, 3) ? 2 : 1};
    for (uint32_t k = 0; k < s.n; k++)
        do
            s.at[k] = k && chance(g, 2, 3) ? s.at[k - 1] : roll(g, ARRAY_LEN(collectives));
        while (collectives[s.at[k]].sm > g->options.sm);
    return s;
}

// Writes the instructions of a sequence once. Equal ones often have the same operand.
static void run_once(Gen *g, const Sequence *s)
{
    Value *operand = NULL;
    for (uint32_t k = 0; k < s->n; k++) {
        Class c = collectives[s->at[k]].cls;
        if (!operand || operand->cls != c || chance(g, 1, 2)) {
            if (chance(g, 1, 2))
                make_straight(g, 2);
            operand = value_pick(g, c);
        }
        code_with(g, LANE, collectives[s->at[k]].pattern, operand);
    }
}

static void run_in_loop(Gen *g, const Sequence *s)
{
    Value *trips = value_scratch(g, CLASS_R), *more = value_scratch(g, CLASS_P);
    uint32_t again = label_new(g);
    Scope inner;
    code(g, "mov.u32 $w, 0;", trips);
    label_put(g, again);
    scope_enter(g, &inner, 0);
    run_once(g, s);
    scope_leave(g);
    code(g, "add.s32 $w, $v, 1; setp.lt.u32 $w, $v, $u;", trips, trips, more, trips, s->trips);
    branch(g, more, true, again);
}

void sequence_run(Gen *g, const Sequence *s)
{
    if (s->trips > 1 && chance(g, 1, 2)) {
        run_in_loop(g, s);
        return;
    }
    for (uint32_t k = 0; k < s->trips; k++)
        run_once(g, s);
}

// Returns a function that executes a sequence; NULL: none.
static Function *pick_meeting(Gen *g)
{
    uint32_t n = g->functions.n, skip = n ? roll(g, n) : 0;
    for (uint32_t k = 0; k < n; k++) {
        Function *f = g->functions.at[(k + skip) % n];
        if (f->meets && call_is_affordable(g, f))
            return f;
    }
    return NULL;
}

static void meet(Gen *g, const Sequence *s, Function *f, const Phis *phis)
{
    Scope inner;
    scope_enter(g, &inner, 0);
    make_straight(g, 2);
    if (f && chance(g, 1, 2))
        call_directly(g, f);
    else
        sequence_run(g, s);
    phis_set(g, phis);
    scope_leave(g);
}

void make_arms(Gen *g, uint32_t n)
{
    (void)n;
    uint32_t other = label_new(g), end = label_new(g);
    Function *f = chance(g, 2, 3) ? pick_meeting(g) : NULL;
    Sequence s = f ? *f->meets : sequence_new(g);
    Value *p = chance(g, 1, 2) ? condition(g, false) : value_scratch(g, CLASS_P);
    if (!value_is_available(g, p))
        code(g, "mov.u32 $r1, %laneid; setp.lt.u32 $w, $r1, $u;", p, roll_between(g, 1, 31));
    Phis phis = phis_begin(g);
    branch(g, p, chance(g, 1, 2), other);
    meet(g, &s, f, &phis);
    jump(g, end);
    label_put(g, other);
    meet(g, &s, f, &phis);
    label_put(g, end);
    phis_end(g, &phis);
}
