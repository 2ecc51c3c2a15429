// SPDX-License-Identifier: MIT
// Makes branches whose arms join again, guarded instructions, jumps out of loops, and early exits.
#include "tools/origen/origen.h"

/* -- Phis ----------------------------------------------------------------------------------------------- */

Phis phis_begin(Gen *g)
{
    Phis phis = {.twins = has(g, FT_TWINS) && chance(g, 1, 4)};
    if (!has(g, FT_PHI))
        return phis;
    phis.n = phis.twins ? 2 : roll(g, 1 + ARRAY_LEN(phis.at));
    Class c = any_class(g);
    for (uint32_t k = 0; k < phis.n; k++) {
        phis.at[k] = value_make(g, c);
        if (!phis.twins)
            c = chance(g, 1, 4) ? CLASS_P : any_class(g);
    }
    return phis;
}

void phis_set(Gen *g, const Phis *phis)
{
    Value *v = NULL;
    for (uint32_t k = 0; k < phis->n; k++) {
        Class c = phis->at[k]->cls;
        v = phis->twins && v ? v : value_pick(g, c);
        if (!phis->twins && chance(g, 1, 4))
            code(g, "mov.$s $w, $s;", class_info[c].bits, phis->at[k], class_info[c].one);
        else
            code(g, "mov.$s $w, $v;", class_info[c].bits, phis->at[k], v);
    }
}

void phis_end(Gen *g, const Phis *phis)
{
    for (uint32_t k = 0; k < phis->n; k++) {
        phis->at[k]->reassignable = has(g, FT_MULTIDEF) && chance(g, 1, 3);
        value_push(g, phis->at[k]);
    }
}

/* -- Arms ----------------------------------------------------------------------------------------------- */

uint32_t lanes_of_arms(Gen *g) { return active_lanes(g) && chance(g, 1, 2) ? active_lanes(g) : 0; }

static bool can_jump(const Gen *g)
{
    const Loop *loop = g->fn.scope->loop;
    return loop && loop->lanes == active_lanes(g);
}

static uint32_t jump_target(Gen *g)
{
    const Loop *loop = g->fn.scope->loop;
    return chance(g, 1, 2) ? loop->next : loop->end;
}

void arm(Gen *g, uint32_t n, uint32_t lanes, KnownCondition known, bool may_end, const Phis *phis)
{
    Scope s;
    scope_enter(g, &s, lanes);
    s.known = known;
    block(g, n);
    if (!g->fn.unreachable && phis)
        phis_set(g, phis);
    if (may_end && has(g, FT_JUMP) && can_jump(g) && !g->fn.dead && chance(g, 1, 5)) {
        scope_flush(g);
        jump(g, jump_target(g));
    }
    scope_leave(g);
}

// Makes an if and `arms` - 1 else-ifs.
static void chain(Gen *g, uint32_t n, uint32_t arms, uint32_t end, const Phis *phis)
{
    uint32_t next = label_new(g), lanes = lanes_of_arms(g);
    bool swapped = chance(g, 1, 3);
    Value *p = condition(g, lanes != 0);
    Scope s;
    branch(g, p, swapped, next);
    arm(g, n / (arms + 1), lanes, (KnownCondition){p, !swapped}, true, phis);
    jump(g, end);
    label_put(g, next);
    scope_enter(g, &s, lanes);
    s.known = (KnownCondition){p, swapped};
    if (arms > 1)
        chain(g, n - n / (arms + 1), arms - 1, end, phis);
    else if (phis->n || chance(g, 1, 2))
        arm(g, n / 2, lanes, s.known, false, phis);
    scope_leave(g);
}

void make_if(Gen *g, uint32_t n)
{
    uint32_t end = label_new(g), arms = chance(g, 1, 2) ? 1 : roll_between(g, 2, 4);
    Phis phis = phis_begin(g);
    chain(g, part_of(g, n), arms, end, &phis);
    label_put(g, end);
    phis_end(g, &phis);
}

// Makes a branch that a dominating condition or a constant decides.
void make_known(Gen *g, uint32_t n)
{
    const Scope *s = g->fn.scope;
    while (s && !s->known.predicate)
        s = s->outer;
    uint32_t end = label_new(g);
    Value *p = s ? s->known.predicate : value_scratch(g, CLASS_P);
    bool holds = s ? s->known.holds : true;
    if (!s)
        code(g, "mov.pred $w, 1;", p);
    bool sense = chance(g, 1, 2), entered = sense != holds;
    branch(g, p, sense, end);
    arm(g, part_of(g, MIN(n, entered ? 30 : 8)), entered ? active_lanes(g) : 0, (KnownCondition){p, !sense}, false,
        NULL);
    label_put(g, end);
}

/* -- Guards --------------------------------------------------------------------------------------------- */

static void guarded_run(Gen *g, const Value *p, bool sense, uint32_t n)
{
    g->fn.guard = p;
    g->fn.guard_sense = sense;
    for (uint32_t k = roll_between(g, 1, MIN(n, 3)); k; k--)
        if (chance(g, 2, 3))
            operation(g);
        else if (chance(g, 1, 2))
            make_load(g, 1);
        else
            make_store(g, 1);
    g->fn.guard = NULL;
}

void make_guarded(Gen *g, uint32_t n)
{
    Value *p = condition(g, false);
    guarded_run(g, p, chance(g, 2, 3), n);
    if (chance(g, 1, 2)) {
        Value *q = condition(g, false), *both = value_scratch(g, CLASS_P);
        code(g, "<and|or|xor>.pred $w, $v, <|!>$v;", both, p, q);
        guarded_run(g, both, chance(g, 1, 2), n);
    }
    if (chance(g, 1, 2))
        guarded_run(g, p, false, n);
}

/* -- InstrCounts out ------------------------------------------------------------------------------------------- */

void make_jump(Gen *g, uint32_t n)
{
    if (!can_jump(g)) {
        make_straight(g, n);
        return;
    }
    bool uniform = g->fn.scope->loop->lanes != 0;
    Value *p = chance(g, 1, 2) ? condition(g, uniform) : rare_condition(g, uniform);
    scope_flush(g);
    uint32_t target = jump_target(g);
    branch(g, p, chance(g, 2, 3), target);
}

static bool in_loop_of_all(const Gen *g)
{
    for (const Scope *s = g->fn.scope; s; s = s->outer)
        if (s->loop && s->loop->lanes)
            return true;
    return false;
}

static void exit_at_the_end(Gen *g, Value *p) { branch(g, p, true, g->fn.exit); }

static void exit_here(Gen *g, Value *p)
{
    uint32_t on = label_new(g);
    branch(g, p, false, on);
    g->fn.store_result(g);
    code(g, g->fn.kernel ? "<ret|exit>;" : has(g, FT_RETURN) ? "ret<|.uni>;" : "ret;");
    g->fn.unreachable = true;
    label_put(g, on);
}

// All threads store their result; threads that stay overwrite it at their end.
static void exit_guarded(Gen *g, Value *p)
{
    g->fn.store_result(g);
    code(g, g->fn.kernel ? "@$v <ret|exit>;" : "@$v ret;", p);
}

static void exit_if(Gen *g, Value *p, bool all)
{
    static void (*const exits[])(Gen *, Value *) = {exit_at_the_end, exit_here, exit_guarded};
    scope_flush(g);
    (*ANY_OF(g, exits))(g, p);
    g->fn.divergent_exit = g->fn.divergent_exit || !all;
}

// Sets `divergent_exit` after a divergent exit: later barriers and warp operations could wait for threads that ended.
void make_exit(Gen *g, uint32_t n)
{
    bool all = active_lanes(g) == ALL_LANES && (in_loop_of_all(g) || chance(g, 2, 3));
    if (!all && in_loop_of_all(g)) {
        make_straight(g, n);
        return;
    }
    exit_if(g, rare_condition(g, all), all);
}

void make_return(Gen *g, uint32_t n)
{
    bool all = active_lanes(g) == ALL_LANES;
    if (in_loop_of_all(g) && !all)
        make_straight(g, n);
    else
        exit_if(g, chance(g, 1, 2) ? condition(g, all) : rare_condition(g, all), all);
}
