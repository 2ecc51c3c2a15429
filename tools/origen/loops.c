// SPDX-License-Identifier: MIT
// Makes loops. A counter or fuel bounds each of them, and so does the work that is left to a thread (`work_limit`).
#include "tools/origen/origen.h"

enum { MOST_TRIPS = 10 };

typedef enum Form { TEST_FIRST, TEST_LAST, TEST_BOTH, FORM_COUNT } Form;

// $i is the trip count.
static const struct {
    Class cls;
    const char *start, *test, *step;
} countings[] = {
    {CLASS_R, "mov.u32 $w, 0;", "setp.<lt.s32|lt.u32|ne.s32|ne.u32> $w, $v, $i;", "add.<s32|u32> $w, $v, 1;"},
    {CLASS_R, "mov.u32 $w, $i;", "setp.<gt.s32|ne.s32|gt.u32|ne.u32> $w, $v, 0;", "add.<s32|u32> $w, $v, -1;"},
    {CLASS_R, "mov.u32 $w, $i;", "setp.<ge|gt>.s32 $w, $v, 1;", "sub.s32 $w, $v, 1;"},
    {CLASS_R, "neg.s32 $w, $i;", "setp.<lt.s32|ne.s32> $w, $v, 0;", "add.s32 $w, $v, 1;"},
    {CLASS_R, "mul.lo.s32 $w, $i, 3;", "setp.<gt.s32|ne.s32|gt.u32> $w, $v, 0;", "add.s32 $w, $v, -3;"},
    {CLASS_R, "shl.b32 $w, 1, $i;", "setp.<gt.u32|ne.u32> $w, $v, 1;", "shr.<u32|s32> $w, $v, 1;"},
    {CLASS_D, "cvt.u64.u32 $w, $i;", "setp.<gt.s64|ne.s64|ne.u64> $w, $v, 0;", "add.s64 $w, $v, -1;"},
    {CLASS_D, "mul.wide.u32 $w, $i, 8;", "setp.<gt.u64|ne.s64> $w, $v, 0;", "sub.s64 $w, $v, 8;"},
    {CLASS_H, "cvt.u16.u32 $w, $i;", "setp.<gt.s16|ne.s16|ne.u16> $w, $v, 0;", "add.s16 $w, $v, -1;"},
};

typedef struct Countdown {
    uint32_t counting;
    Operand n;
    Value *counter, *test;
} Countdown;

// Returns the trip count that `work_limit` permits for a loop of n instructions.
static uint32_t affordable_trips(const Gen *g, uint32_t n)
{
    const Fn *fn = &g->fn;
    uint64_t left = fn->work_limit > fn->work ? fn->work_limit - fn->work : 0,
             trips = left / 2 / (fn->frequency * (n + 8));
    return (uint32_t)MAX(MIN(trips, MOST_TRIPS), 1);
}

static void count_begin(Gen *g, Countdown *t, uint32_t least, uint32_t most, bool uniform)
{
    do
        t->counting = roll(g, ARRAY_LEN(countings));
    while (!class_on(g, countings[t->counting].cls));
    bool fixed = chance(g, 1, 2);
    t->n = bound(g, least, most, uniform, fixed);
    t->counter = value_make(g, countings[t->counting].cls);
    t->test = value_scratch(g, CLASS_P);
    code(g, countings[t->counting].start, t->counter, &t->n);
    t->counter->uniform = uniform && active_lanes(g) == ALL_LANES;
    value_push(g, t->counter);
}

static void count_test(Gen *g, const Countdown *t) { code(g, countings[t->counting].test, t->test, t->counter, &t->n); }

static void count_step(Gen *g, const Countdown *t) { code(g, countings[t->counting].step, t->counter, t->counter); }

/* -- Variables that change places ----------------------------------------------------------------------- */

// Assigns at[1] to at[0] and so on; the last takes `last`, or the old value of at[0] if that is NULL.
static void shift(Gen *g, Value *const *at, uint32_t n, Value *last)
{
    const char *bits = class_info[at[0]->cls].bits;
    Value *first = value_scratch(g, at[0]->cls);
    code(g, "mov.$s $w, $v;", bits, first, at[0]);
    for (uint32_t k = 0; k + 1 < n; k++)
        code(g, "mov.$s $w, $v;", bits, at[k], at[k + 1]);
    code(g, "mov.$s $w, $v;", bits, at[n - 1], last ? last : first);
}

typedef struct Carried {
    Value *at[3];
    uint32_t n;
} Carried;

static Carried carried_begin(Gen *g)
{
    Carried c = {.n = 0};
    Class cls = any_class(g);
    if (has(g, FT_ROTATE) && chance(g, 1, 2))
        c.n = roll_between(g, 2, 3);
    for (uint32_t k = 0; k < c.n; k++) {
        c.at[k] = value_make(g, cls);
        Value *v = value_pick(g, cls);
        code(g, "mov.$s $w, $v;", class_info[cls].bits, c.at[k], v);
        value_push(g, c.at[k]);
    }
    return c;
}

// Shifts the carried variables at the end of an iteration; the last one takes a new value or the first one's.
static void rotate_carried(Gen *g, const Carried *c)
{
    if (!c->n)
        return;
    bool closed = chance(g, 1, 3);
    Value *last = closed ? NULL : value_pick(g, c->at[0]->cls);
    if (last)
        observe(g, c->at[0]);
    shift(g, c->at, c->n, last);
}

void make_rotation(Gen *g, uint32_t n)
{
    Value *at[4];
    Class c = any_class(g);
    uint32_t count = 0;
    for (uint32_t tries = 0; tries < 8 && count < MIN(n - 1, ARRAY_LEN(at)); tries++) {
        Value *v = value_assignable(g, c);
        bool again = !v;
        for (uint32_t k = 0; k < count; k++)
            again = again || at[k] == v;
        if (!again)
            at[count++] = v;
    }
    if (count < 2)
        make_straight(g, n);
    else
        shift(g, at, count, NULL);
}

/* -- Counted loops -------------------------------------------------------------------------------------- */

static void write_body(Gen *g, uint32_t n, const Loop *loop, KnownCondition known, const Carried *carried)
{
    Scope s;
    scope_enter(g, &s, loop->lanes);
    s.loop = loop;
    s.known = known;
    block(g, n);
    if (!g->fn.unreachable)
        rotate_carried(g, carried);
    scope_leave(g);
}

static void pragma(Gen *g)
{
    if (has(g, FT_PRAGMA) && chance(g, 1, 3))
        line(g, ".pragma \"nounroll\";");
}

// Writes the loop, from its first test to its last.
static void write_loop(Gen *g, uint32_t n, Form form, const Loop *loop, const Countdown *t, const Carried *carried)
{
    uint32_t head = label_new(g);
    if (form == TEST_BOTH) {
        count_test(g, t);
        branch(g, t->test, false, loop->end);
    }
    label_put(g, head);
    pragma(g);
    if (form == TEST_FIRST) {
        count_test(g, t);
        branch(g, t->test, false, loop->end);
    }
    write_body(g, n, loop, form == TEST_LAST ? (KnownCondition){0} : (KnownCondition){t->test, true}, carried);
    label_put(g, loop->next);
    count_step(g, t);
    if (form == TEST_FIRST) {
        jump(g, head);
    } else {
        count_test(g, t);
        branch(g, t->test, true, head);
    }
    label_put(g, loop->end);
}

void make_loop(Gen *g, uint32_t n)
{
    Scope s;
    Countdown t;
    Form form = (Form)roll(g, FORM_COUNT);
    uint32_t part = part_of(g, MIN(n, 400)), trips = affordable_trips(g, part), most = roll_between(g, 1, trips);
    Loop loop = {.next = label_new(g), .lanes = chance(g, 3, 4) ? active_lanes(g) : 0};
    loop.end = label_new(g);
    scope_enter(g, &s, active_lanes(g));
    count_begin(g, &t, form == TEST_LAST, most, loop.lanes != 0);
    Carried carried = carried_begin(g);
    g->fn.frequency *= most;
    write_loop(g, part, form, &loop, &t, &carried);
    g->fn.frequency /= most;
    scope_leave(g);
}

/* -- Loops with two entries ----------------------------------------------------------------------------- */

static void use_fuel(Gen *g, Value *fuel, uint32_t end)
{
    Value *p = value_scratch(g, CLASS_P);
    code(g, "add.s32 $w, $v, -1;", fuel, fuel);
    code(g, "setp.<lt|le>.s32 $w, $v, 1;", p, fuel);
    branch(g, p, true, end);
}

void make_irreducible(Gen *g, uint32_t n)
{
    Scope outer, last;
    uint32_t part = part_of(g, MIN(n, 200)), trips = affordable_trips(g, part), first = label_new(g),
             second = label_new(g);
    Loop loop = {.next = label_new(g)};
    Carried none = {.n = 0};
    loop.end = label_new(g);
    scope_enter(g, &outer, 0);
    Value *fuel = value_make(g, CLASS_R);
    code(g, "mov.u32 $w, $u;", fuel, trips);
    value_push(g, fuel);
    Value *p = condition(g, false);
    branch(g, p, true, second);
    g->fn.frequency *= trips;
    label_put(g, first);
    write_body(g, part / 2, &loop, (KnownCondition){0}, &none);
    label_put(g, second);
    write_body(g, part / 2, &loop, (KnownCondition){0}, &none);
    label_put(g, loop.next);
    use_fuel(g, fuel, loop.end);
    scope_enter(g, &last, 0);
    p = condition(g, false);
    branch(g, p, true, chance(g, 1, 2) ? first : second);
    scope_leave(g);
    jump(g, chance(g, 1, 2) ? first : second);
    label_put(g, loop.end);
    g->fn.frequency /= trips;
    scope_leave(g);
}
