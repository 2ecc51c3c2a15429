// SPDX-License-Identifier: MIT
// Makes computations and accesses that are redundant, or only look it: expressions in several spellings, guarded
// computations over equal and different old values, accesses by pointers with overlapping targets, repeated loads.
#include "tools/origen/origen.h"

enum { TRIPS = 4 };

/* -- Between accesses ----------------------------------------------------------------------------------- */

// Writes an instruction that orders memory, by chance.
static void order(Gen *g)
{
    if (g->fn.guard || !chance(g, 1, 4))
        return;
    if (code_possible(g, WHOLE) && chance(g, 1, 2))
        code_with(g, WHOLE, "<bar|barrier>.sync 0;");
    else if (g->options.sm >= 70 && code_possible(g, WARP) && chance(g, 1, 2))
        code_with(g, WARP, "bar.warp.sync $m;");
    else if (g->options.sm >= 70)
        code(g, "<membar.cta|membar.gl|fence.acq_rel.cta|fence.sc.gpu>;");
}

// Returns the place of an access at, or near, an offset of the object.
static Place near(Gen *g, const Object *o, Move m, uint32_t offset)
{
    uint32_t bytes = move_bytes(m), last = (o->bytes - bytes) / bytes * bytes;
    offset = offset / bytes * bytes;
    if (chance(g, 1, 4))
        offset += bytes;
    return (Place){o, NULL, MIN(offset, last)};
}

static void access_near(Gen *g, const Object *o, uint32_t offset, bool store)
{
    Move m = move_pick(g, o, o->bytes);
    Place p = near(g, o, m, offset);
    (store ? store_at : load_at)(g, m, &p);
}

/* -- Overlapping targets -------------------------------------------------------------------------------- */

// Changes a word of the thread's own memory by an atomic operation.
static void change_atomically(Gen *g, const Object *o, uint32_t offset)
{
    bool atomic = has(g, FT_ATOMIC) && (o->actual_space == SPACE_GLOBAL || o->actual_space == SPACE_SHARED);
    Place p = {o, NULL, MIN(offset, o->bytes - 4) & ~3u};
    if (!atomic || o->align < 4)
        access_near(g, o, offset, true);
    else if (chance(g, 1, 2))
        code(g, "red$s.<add.u32|xor.b32|max.s32> $o, $r#;", space_name(o->space), &p);
    else
        code_with(g, LANE, "atom$s.<add.u32|exch.b32|min.s32> $=r, $o, $r#;", space_name(o->space), &p);
}

void make_aliasing(Gen *g, uint32_t n)
{
    const Object *o = object_with_address(g, true, 8), *at[3] = {o};
    uint32_t skip[3] = {0}, words = o ? o->bytes / 4 : 0;
    if (!o) {
        make_straight(g, n);
        return;
    }
    for (uint32_t k = 1; k < ARRAY_LEN(at); k++) {
        skip[k] = 4 * roll(g, MIN(words - 1, 4));
        at[k] = object_from(g, o, skip[k]);
    }
    uint32_t focus = 4 * roll(g, words);
    Value *p = has(g, FT_GUARD) ? condition(g, false) : NULL;
    for (uint32_t k = roll_between(g, 3, MIN(MAX(n / 3, 4), 9)); k; k--) {
        uint32_t which = roll(g, ARRAY_LEN(at)), offset = focus > skip[which] ? focus - skip[which] : 0;
        g->fn.guard = p && chance(g, 1, 4) ? p : NULL;
        g->fn.guard_sense = chance(g, 2, 3);
        if (chance(g, 1, 8))
            change_atomically(g, at[which], offset);
        else
            access_near(g, at[which], offset, chance(g, 2, 5));
        g->fn.guard = NULL;
        order(g);
    }
}

/* -- Guards --------------------------------------------------------------------------------------------- */

// Computations of two operands, by class.
static const struct {
    Class cls;
    const char *pattern;
} sums[] = {
    {CLASS_R, "add.<s32|u32> $w, $v, $v;"}, {CLASS_R, "mul.lo.<s32|u32> $w, $v, $v;"},
    {CLASS_R, "and.b32 $w, $v, $v;"},       {CLASS_H, "add.<s16|u16> $w, $v, $v;"},
    {CLASS_H, "xor.b16 $w, $v, $v;"},       {CLASS_D, "add.<s64|u64> $w, $v, $v;"},
    {CLASS_D, "sub.s64 $w, $v, $v;"},       {CLASS_F, "add.rn.f32 $w, $v, $v;"},
    {CLASS_F, "mul.rn.f32 $w, $v, $v;"},    {CLASS_G, "mul.rn.f64 $w, $v, $v;"},
};

// Two predicates: new ones, a predicate and its copy, a predicate and its complement.
static void two_predicates(Gen *g, Value *p[2])
{
    p[0] = condition(g, false);
    p[1] = value_scratch(g, CLASS_P);
    switch (roll(g, 4)) {
    case 0: p[1] = condition(g, false); break;
    case 1: code(g, "and.pred $w, $v, $v;", p[1], p[0], p[0]); break;
    case 2: code(g, "not.pred $w, $v;", p[1], p[0]); break;
    default: p[1] = p[0];
    }
}

// Selects one of the predicates, in one sense, as the guard, or no guard.
static void set_guard(Gen *g, Value *const p[2])
{
    g->fn.guard = chance(g, 1, 6) ? NULL : p[roll(g, 2)];
    g->fn.guard_sense = chance(g, 3, 4);
}

// Makes a variable that has the value of another one.
static Value *variable(Gen *g, const Value *old)
{
    Value *v = value_make(g, old->cls);
    code(g, "mov.$s $w, $v;", class_info[old->cls].bits, v, old);
    return v;
}

// Writes accesses of one place under guards, which leave their old values if the guard is false.
static void predicated_accesses(Gen *g, Value *const p[2], uint32_t n)
{
    const Object *o = object_with_address(g, true, 8);
    if (!o) {
        make_straight(g, n);
        return;
    }
    Move m = move_pick(g, o, o->bytes);
    Place at = place_in(g, o, move_bytes(m));
    for (; n; n--) {
        set_guard(g, p);
        if (chance(g, 1, 6))
            access_near(g, o, at.offset, true);
        else
            (chance(g, 1, 3) ? store_at : load_at)(g, m, &at);
        g->fn.guard = NULL;
        order(g);
    }
}

// Writes equal computations under guards into variables with equal and different old values.
static void predicated_sums(Gen *g, Value *const p[2], uint32_t n)
{
    uint32_t row;
    do
        row = roll(g, ARRAY_LEN(sums));
    while (!class_on(g, sums[row].cls));
    Class c = sums[row].cls;
    Value *a = value_pick(g, c), *b = value_pick(g, c), *old = value_pick(g, c), *to[3];
    for (uint32_t k = 0; k < ARRAY_LEN(to); k++)
        to[k] = variable(g, chance(g, 2, 3) ? old : value_pick(g, c));
    for (; n; n--) {
        bool exchanged = chance(g, 1, 3);
        Value *d = *ANY_OF(g, to);
        set_guard(g, p);
        code(g, sums[row].pattern, d, exchanged ? b : a, exchanged ? a : b);
        g->fn.guard = NULL;
        if (chance(g, 1, 4))
            observe(g, d);
    }
    for (uint32_t k = 0; k < ARRAY_LEN(to); k++) {
        to[k]->pending = true;
        value_push(g, to[k]);
    }
}

void make_predicated(Gen *g, uint32_t n)
{
    Value *p[2];
    two_predicates(g, p);
    (chance(g, 2, 3) ? predicated_sums : predicated_accesses)(g, p, roll_between(g, 3, MIN(MAX(n / 2, 4), 8)));
}

/* -- Expressions again ---------------------------------------------------------------------------------- */

enum { SPELLINGS = 4, OPERANDS = 5 };

// Spellings of a value of a, b and c. `order` names the operands in the order of the pattern; w is the result.
static const struct {
    Class cls;
    struct {
        const char *pattern, *order;
    } as[SPELLINGS];
} terms[] = {
    {CLASS_R,
     {{"add.s32 $r1, $v, $v; add.s32 $w, $r1, $v;", "abwc"},
      {"add.u32 $r1, $v, $v; add.s32 $w, $r1, $v;", "acwb"},
      {"add.s32 $r1, $v, $v; add.u32 $w, $v, $r1;", "cbwa"},
      {"neg.s32 $r1, $v; sub.s32 $r2, $v, $r1; add.s32 $w, $v, $r2;", "bcwa"}}},
    {CLASS_R,
     {{"add.s32 $r1, $v, $v; mul.lo.s32 $w, $r1, $v;", "abwc"},
      {"mul.lo.s32 $r1, $v, $v; mul.lo.u32 $r2, $v, $v; add.s32 $w, $r1, $r2;", "accbw"},
      {"mul.lo.s32 $r1, $v, $v; mad.lo.s32 $w, $v, $v, $r1;", "bcwac"},
      {"add.u32 $r1, $v, $v; mul.lo.u32 $w, $v, $r1;", "bawc"}}},
    {CLASS_R,
     {{"xor.b32 $r1, $v, $v; xor.b32 $w, $r1, $v;", "abwc"},
      {"xor.b32 $r1, $v, $v; xor.b32 $w, $v, $r1;", "bcwa"},
      {"xor.b32 $r1, $v, $v; xor.b32 $w, $r1, $v;", "cawb"},
      {"xor.b32 $r1, $v, $v; xor.b32 $w, $r1, $v;", "bawc"}}},
    {CLASS_D,
     {{"add.s64 $d1, $v, $v; add.s64 $w, $d1, $v;", "abwc"},
      {"add.u64 $d1, $v, $v; add.s64 $w, $v, $d1;", "bcwa"},
      {"sub.s64 $d1, $v, $v; sub.s64 $d2, $d1, $v; add.s64 $w, $d2, 0;", "abcw"},
      {"mad.lo.s64 $d1, $v, 1, $v; add.s64 $w, $v, $d1;", "acwb"}}},
    {CLASS_R,
     {{"mul.hi.s32 $r1, $v, $v; max.s32 $w, $r1, $v;", "abwc"},
      {"mul.hi.s32 $r1, $v, $v; max.s32 $w, $v, $r1;", "bawc"},
      {"mul.hi.u32 $r1, $v, $v; max.s32 $w, $r1, $v;", "abwc"},
      {"mul.hi.s32 $r1, $v, $v; max.u32 $w, $r1, $v;", "abwc"}}},
    {CLASS_F,
     {{"mul.rn.f32 $f1, $v, $v; add.rn.f32 $w, $f1, $v;", "abwc"},
      {"mul.rn.f32 $f1, $v, $v; add.rn.f32 $w, $v, $f1;", "bawc"},
      {"fma.rn.f32 $w, $v, $v, $v;", "wabc"},
      {"mul.rz.f32 $f1, $v, $v; add.rn.f32 $w, $f1, $v;", "abwc"}}},
    {CLASS_G,
     {{"div.rn.f64 $g1, $v, $v; add.rn.f64 $w, $g1, $v;", "abwc"},
      {"div.rn.f64 $g1, $v, $v; add.rn.f64 $w, $v, $g1;", "abwc"},
      {"div.rn.f64 $g1, $v, $v; add.rn.f64 $w, $g1, $v;", "bawc"},
      {"sqrt.rn.f64 $g1, $v; fma.rn.f64 $w, $g1, $v, $v;", "awbc"}}},
};

typedef struct Term {
    uint32_t row;
    Value *of[3];
} Term;

// Replaces operands that are not available any more.
static void renew_operands(Gen *g, Term *t)
{
    for (uint32_t k = 0; k < ARRAY_LEN(t->of); k++)
        if (!t->of[k] || !value_is_available(g, t->of[k]))
            t->of[k] = value_pick(g, terms[t->row].cls);
}

// Writes a term in some spelling, into `to`.
static void spell(Gen *g, Term *t, Value *to)
{
    uint32_t k = chance(g, 1, 2) ? 0 : roll(g, SPELLINGS);
    const char *letters = terms[t->row].as[k].order;
    Value *v[OPERANDS] = {0};
    for (uint32_t j = 0; letters[j]; j++)
        v[j] = letters[j] == 'w' ? to : t->of[letters[j] - 'a'];
    code(g, terms[t->row].as[k].pattern, v[0], v[1], v[2], v[3], v[4]);
}

// Makes a new value of a term.
static void spell_new(Gen *g, Term *t)
{
    renew_operands(g, t);
    Value *v = value_make(g, terms[t->row].cls);
    spell(g, t, v);
    v->pending = true;
    value_push(g, v);
}

static void spell_under_guard(Gen *g, Term *t)
{
    renew_operands(g, t);
    Value *v = variable(g, t->of[roll(g, 3)]);
    g->fn.guard = condition(g, false);
    g->fn.guard_sense = chance(g, 1, 2);
    spell(g, t, v);
    g->fn.guard = NULL;
    v->pending = true;
    value_push(g, v);
}

static void spell_in_arm(Gen *g, Term *t, uint32_t n)
{
    Scope s;
    scope_enter(g, &s, 0);
    if (chance(g, 2, 3))
        spell_new(g, t);
    if (n > 8 && chance(g, 1, 2))
        block(g, n);
    scope_leave(g);
}

static void spell_in_branch(Gen *g, Term *t, uint32_t n)
{
    uint32_t other = label_new(g), end = label_new(g);
    branch(g, condition(g, false), chance(g, 1, 2), other);
    spell_in_arm(g, t, n / 4);
    jump(g, end);
    label_put(g, other);
    spell_in_arm(g, t, n / 4);
    label_put(g, end);
}

static bool has_time(const Gen *g) { return g->fn.work + g->fn.frequency * 200 <= g->fn.work_limit; }

// Writes what `make` makes in a loop.
static void in_loop(Gen *g, void (*make)(Gen *, void *), void *arg)
{
    Value *left = value_make(g, CLASS_R), *p = value_scratch(g, CLASS_P);
    uint32_t head = label_new(g), trips = roll_between(g, 1, TRIPS);
    Scope s;
    code(g, "mov.u32 $w, $u;", left, trips);
    g->fn.frequency *= trips;
    label_put(g, head);
    scope_enter(g, &s, 0);
    make(g, arg);
    scope_leave(g);
    code(g, "add.s32 $w, $v, -1;", left, left);
    code(g, "setp.<ne|gt>.s32 $w, $v, 0;", p, left);
    branch(g, p, true, head);
    g->fn.frequency /= trips;
}

static void spell_in_loop(Gen *g, void *t)
{
    spell_new(g, t);
    operation(g);
}

void make_duplicates(Gen *g, uint32_t n)
{
    Term t = {0};
    do
        t.row = roll(g, ARRAY_LEN(terms));
    while (!class_on(g, terms[t.row].cls));
    if (chance(g, 2, 3))
        spell_new(g, &t);
    if (chance(g, 1, 2))
        spell_in_branch(g, &t, n);
    if (!g->fn.dead && chance(g, 1, 4))
        spell_under_guard(g, &t);
    if (has_time(g) && chance(g, 1, 4))
        in_loop(g, spell_in_loop, &t);
    spell_new(g, &t);
}

/* -- Loads again ---------------------------------------------------------------------------------------- */

typedef struct Reload {
    const Object *object, *other;  // other: stores to it may overlap; NULL: none
    Move move;
    Place place;
} Reload;

static void load_again(Gen *g, const Reload *r)
{
    if (chance(g, 1, 4))
        access_near(g, r->object, r->place.offset, false);
    else
        load_at(g, r->move, &r->place);
}

static void store_beside(Gen *g, const Reload *r)
{
    const Object *o = r->other && chance(g, 1, 2) ? r->other : r->object;
    if (r->object->constant)
        operation(g);
    else if (chance(g, 1, 3))
        store_at(g, r->move, &r->place);
    else
        access_near(g, o, r->place.offset, true);
}

static void arm_of_reload(Gen *g, const Reload *r)
{
    Scope s;
    scope_enter(g, &s, 0);
    if (chance(g, 1, 2))
        load_again(g, r);
    if (chance(g, 1, 3))
        store_beside(g, r);
    operation(g);
    scope_leave(g);
}

static void reload_in_branch(Gen *g, const Reload *r)
{
    uint32_t other = label_new(g), end = label_new(g);
    branch(g, condition(g, false), chance(g, 1, 2), other);
    arm_of_reload(g, r);
    if (chance(g, 1, 2)) {
        jump(g, end);
        label_put(g, other);
        arm_of_reload(g, r);
        label_put(g, end);
    } else {
        label_put(g, other);
    }
}

static void reload_in_loop(Gen *g, void *arg)
{
    const Reload *r = arg;
    load_again(g, r);
    if (chance(g, 1, 3))
        store_beside(g, r);
}

void make_reloads(Gen *g, uint32_t n)
{
    const Object *o = object_with_address(g, chance(g, 3, 4), 8);
    if (!o) {
        make_straight(g, n);
        return;
    }
    Reload r = {.object = o, .move = move_pick(g, o, o->bytes)};
    r.place = place_in(g, o, move_bytes(r.move));
    if (!o->constant && chance(g, 1, 3))
        r.other = object_from(g, o, 0);
    if (chance(g, 1, 3))
        store_beside(g, &r);
    else if (chance(g, 2, 3))
        load_again(g, &r);
    for (uint32_t k = roll_between(g, 1, 2); k; k--) {
        if (chance(g, 1, 2))
            reload_in_branch(g, &r);
        else if (has_time(g))
            in_loop(g, reload_in_loop, &r);
        if (has(g, FT_CALL) && chance(g, 1, 2))
            make_call(g, 1);
        else
            order(g);
        load_again(g, &r);
    }
}
