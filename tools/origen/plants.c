// SPDX-License-Identifier: MIT
// Plants code that an optimizer should simplify: copies, redundant branches, equal arms, dead code.
#include <stdio.h>

#include "tools/origen/origen.h"

void make_copies(Gen *g, uint32_t n)
{
    Class c = any_class(g);
    const char *bits = class_info[c].bits;
    Value *v = value_assignable(g, c), *from = value_pick(g, c), *copy = value_scratch(g, c);
    char pattern[40];
    if (v && chance(g, 1, 3))
        code(g, "mov.$s $w, $v;", bits, v, v);
    code(g, "mov.$s $w, $v;", bits, copy, from);
    for (uint32_t k = roll(g, MIN(n, 3)); k; k--) {
        Value *next = value_scratch(g, c);
        code(g, "mov.$s $w, $v;", bits, next, copy);
        copy = next;
    }
    snprintf(pattern, sizeof pattern, "mov.$s $=%c, $v;", class_info[c].letter);
    code(g, pattern, bits, copy);
}

/* -- Branches ------------------------------------------------------------------------------------------- */

static void to_the_next_block(Gen *g)
{
    uint32_t next = label_new(g);
    jump(g, next);
    label_put(g, next);
}

static void both_to_the_same(Gen *g)
{
    uint32_t next = label_new(g);
    Value *p = condition(g, false);
    code(g, "@$v bra $l;", p, next);
    if (chance(g, 1, 2))
        jump(g, next);
    label_put(g, next);
}

// Makes two paths through empty blocks to one block.
static void through_empty_blocks(Gen *g)
{
    uint32_t one = label_new(g), two = label_new(g), end = label_new(g);
    Value *p = condition(g, false);
    code(g, "@$v bra $l;", p, one);
    jump(g, two);
    label_put(g, one);
    jump(g, chance(g, 1, 2) ? two : end);
    label_put(g, two);
    jump(g, end);
    label_put(g, end);
}

// Makes an unreachable block.
static void around_dead_code(Gen *g)
{
    uint32_t dead = label_new(g), end = label_new(g);
    jump(g, end);
    label_put(g, dead);
    make_dead(g, 6);
    label_put(g, end);
}

void make_detour(Gen *g, uint32_t n)
{
    static void (*const detours[])(Gen *) = {to_the_next_block, both_to_the_same, through_empty_blocks,
                                             around_dead_code};
    if (n >= 3)
        (*ANY_OF(g, detours))(g);
}

/* -- Twins ---------------------------------------------------------------------------------------------- */

static void write_twin(Gen *g, const char *pattern, Value **result)
{
    Scope s;
    scope_enter(g, &s, 0);
    Value *v = code_with(g, LANE, pattern);
    if (!*result)
        *result = value_make(g, v->cls);
    code(g, "mov.$s $w, $v;", class_info[v->cls].bits, *result, v);
    v->pending = false;  // the copy is pending
    scope_leave(g);
}

// Writes an earlier instruction in both arms of a branch.
void make_twins(Gen *g, uint32_t n)
{
    uint32_t repeats = g->fn.repeats.n, other = label_new(g), end = label_new(g);
    if (!repeats) {
        make_straight(g, n);
        return;
    }
    const char *pattern = g->fn.repeats.at[repeats - 1 - roll(g, MIN(repeats, 24))];
    Value *result = NULL, *p = condition(g, false);
    branch(g, p, false, other);
    write_twin(g, pattern, &result);
    jump(g, end);
    label_put(g, other);
    write_twin(g, pattern, &result);
    label_put(g, end);
    value_push(g, result);
}

/* -- Dead code ------------------------------------------------------------------------------------------ */

void make_dead(Gen *g, uint32_t n)
{
    Fn *fn = &g->fn;
    uint32_t dead = fn->dead;
    Scope s;
    scope_enter(g, &s, active_lanes(g));
    if (!dead)
        fn->dead = s.depth;
    block(g, part_of(g, MIN(n, 30)));
    scope_leave(g);
    fn->dead = dead;
}
