// SPDX-License-Identifier: MIT
// Makes local arrays and structures, and pointers: into an object, to one of two objects, and walking through an
// object.
#include "tools/origen/origen.h"

/* -- Local arrays --------------------------------------------------------------------------------------- */

static Object frame_variable(Gen *g, uint32_t bytes, uint32_t align)
{
    Fn *fn = &g->fn;
    Object o = fn->frame_object;
    o.start = (fn->frame + align - 1) & ~(align - 1);
    fn->frame = o.start + bytes;
    return o;
}

static Object own_variable(Gen *g, uint32_t bytes, uint32_t align)
{
    Fn *fn = &g->fn;
    const char *name = text(g, "%s_array%u", fn->name, fn->symbols++);
    out_fmt(&fn->declarations, "\t.local .align %u .b8 \t%s[%u];\n", align, name, bytes);
    return (Object){.space = SPACE_LOCAL, .symbol = name};
}

void make_local(Gen *g, uint32_t n)
{
    uint32_t align = 4u << roll(g, 3), bytes = align * roll_between(g, 1, MAX(MIN(n, 64) / align, 1));
    bool framed = g->fn.flavor->in_frame && chance(g, 3, 4);
    Object o = framed ? frame_variable(g, bytes, align) : own_variable(g, bytes, align);
    o.bytes = bytes;
    o.align = align;
    o.actual_space = SPACE_LOCAL;
    o.observed = true;
    store_all(g, object_push(g, o));
}

/* -- Structures ----------------------------------------------------------------------------------------- */

static const Object *record(Gen *g, uint32_t bytes, bool fixed)
{
    bool framed = g->fn.flavor->in_frame && chance(g, 3, 4);
    Object o = framed ? frame_variable(g, bytes, 8) : own_variable(g, bytes, 8);
    o.bytes = bytes;
    o.align = 8;
    o.actual_space = SPACE_LOCAL;
    o.observed = true;
    o.fixed = fixed;
    return object_push(g, o);
}

// Returns the place of a field, by a constant offset or by an address computed from constants.
static Place field(Gen *g, const Object *o, uint32_t bytes)
{
    static const char *const patterns[] = {
        "mov.u32 $r1, $u; mul.wide.<u32|s32> $d1, $r1, $u; add.s64 $w, $v, $d1;",
        "mov.u32 $r1, $u; mul.lo.s32 $r2, $r1, $u; cvt.s64.s32 $d1, $r2; add.s64 $w, $d1, $v;",
        "mov.u64 $d1, $u; mov.u64 $d2, $u; mad.lo.s64 $w, $d1, $d2, $v;",
    };
    uint32_t k = roll(g, o->bytes / bytes);
    if (chance(g, 2, 3))
        return (Place){o, NULL, k * bytes};
    Value *from = value_scratch(g, CLASS_D), *to = value_scratch(g, CLASS_D);
    address_of(g, o, from);
    code(g, *ANY_OF(g, patterns), k, bytes, to, from);
    return (Place){o, to, 0};
}

static void copy_record(Gen *g, const Object *to, const Object *from)
{
    for (uint32_t offset = 0; offset < to->bytes; offset += 8) {
        Place p = {from, NULL, offset}, q = {to, NULL, offset};
        if (chance(g, 1, 2))
            code(g, "ld$s.<b64|u64> $d1, $o; st$s.<b64|u64> $o, $d1;", space_name(from->space), &p,
                 space_name(to->space), &q);
        else
            code(g, "ld$s.v2.<b32|u32> {$r1, $r2}, $o; st$s.v2.<b32|u32> $o, {$r1, $r2};", space_name(from->space), &p,
                 space_name(to->space), &q);
    }
}

void make_record(Gen *g, uint32_t n)
{
    uint32_t bytes = 8 * roll_between(g, 1, 4);
    bool fixed = chance(g, 3, 4);
    const Object *o = record(g, bytes, fixed), *other = chance(g, 1, 2) ? record(g, bytes, true) : NULL;
    store_all(g, o);
    if (other)
        copy_record(g, other, o);
    for (uint32_t k = roll_between(g, 2, MIN(n / 4 + 2, 8)); k; k--) {
        const Object *at = other && chance(g, 1, 3) ? other : o;
        Move m = move_pick(g, at, at->bytes);
        Place p = field(g, at, move_bytes(m));
        if (chance(g, 1, 2))
            g->fn.guard = condition(g, false);
        g->fn.guard_sense = chance(g, 1, 2);
        (g->fn.guard || chance(g, 1, 2) ? store_at : load_at)(g, m, &p);
        g->fn.guard = NULL;
    }
    if (other && chance(g, 1, 2))
        copy_record(g, o, other);
}

/* -- Pointers ------------------------------------------------------------------------------------------- */

const Object *object_from(Gen *g, const Object *o, uint32_t skip)
{
    Object part = *o;
    part.base = value_make(g, CLASS_D);
    part.bytes -= skip;
    part.start = 0;
    while (skip % part.align)
        part.align /= 2;
    part.observed = part.fixed = false;
    Value *from = value_scratch(g, CLASS_D);
    if (has(g, FT_GENERIC) && chance(g, 1, 2)) {
        generic_address_of(g, o, from);
        part.space = SPACE_GENERIC;
    } else {
        address_of(g, o, from);
    }
    code(g, "add.<s64|u64> $w, $v, $u;", part.base, from, skip);
    if (part.space == SPACE_GENERIC && part.actual_space != SPACE_GENERIC && part.actual_space != SPACE_CONST &&
        chance(g, 1, 3))
        code(g, "isspacep.<global|shared|local> $=p, $v;", part.base);
    return object_push(g, part);
}

// Makes an object addressed in its own space from its generic address.
static void cast_to_space(Gen *g, const Object *o)
{
    Object again = *o;
    Value *from = value_scratch(g, CLASS_D);
    again.base = value_make(g, CLASS_D);
    again.start = 0;
    again.space = o->actual_space;
    again.observed = again.fixed = false;
    address_of(g, o, from);
    code(g, "cvta.to$s.u64 $w, $v;", space_name(o->actual_space), again.base, from);
    object_push(g, again);
}

static void choose_by_branch(Gen *g, Value *to, Value *a, Value *b)
{
    uint32_t other = label_new(g), end = label_new(g);
    Value *p = condition(g, false);
    branch(g, p, false, other);
    code(g, "mov.b64 $w, $v;", to, a);
    jump(g, end);
    label_put(g, other);
    code(g, "mov.b64 $w, $v;", to, b);
    label_put(g, end);
}

// Makes a pointer to one of two objects, chosen at run time.
static void select_pointer(Gen *g, const Object *o, const Object *other)
{
    bool same = o->space == other->space && o->space != SPACE_GENERIC;
    Object one = {.space = same ? o->space : SPACE_GENERIC, .base = value_make(g, CLASS_D)};
    Value *a = value_scratch(g, CLASS_D), *b = value_scratch(g, CLASS_D);
    one.actual_space = o->actual_space == other->actual_space ? o->actual_space : SPACE_GENERIC;
    one.bytes = MIN(o->bytes, other->bytes);
    one.align = MIN(o->align, other->align);
    one.constant = o->constant || other->constant;
    (same ? address_of : generic_address_of)(g, o, a);
    (same ? address_of : generic_address_of)(g, other, b);
    if (chance(g, 1, 2)) {
        Value *p = condition(g, false);
        code(g, "selp.<b64|u64> $w, $v, $v, $v;", one.base, a, b, p);
    } else {
        choose_by_branch(g, one.base, a, b);
    }
    object_push(g, one);
}

void make_pointer(Gen *g, uint32_t n)
{
    bool to_write = chance(g, 1, 2);
    const Object *o = object_with_address(g, to_write, 4), *other = object_with_address(g, to_write, 4);
    if (!o || !other)
        make_straight(g, n);
    else if (o->space == SPACE_GENERIC && o->actual_space != SPACE_GENERIC && chance(g, 1, 2))
        cast_to_space(g, o);
    else if (has(g, FT_GENERIC) && chance(g, 1, 2))
        select_pointer(g, o, other);
    else
        object_from(g, o, o->bytes > 4 ? roll(g, o->bytes / 4) * 4 : 0);
}

/* -- Walks ---------------------------------------------------------------------------------------------- */

static void step(Gen *g, const Object *o, Value *pointer, Move m)
{
    Scope s;
    Place p = {o, pointer, 0};
    scope_enter(g, &s, 0);
    load_at(g, m, &p);
    operation(g);
    if (!o->constant && !g->fn.dead && chance(g, 1, 2))
        store_at(g, m, &p);
    scope_leave(g);
}

void make_walk(Gen *g, uint32_t n)
{
    const Object *o = object_with_address(g, false, 8);
    if (!o || g->fn.work + g->fn.frequency * 60 > g->fn.work_limit) {
        make_straight(g, n);
        return;
    }
    Move m = move_pick(g, o, o->bytes / 2);
    uint32_t trips = MIN(o->bytes / move_bytes(m), 6), head = label_new(g);
    Value *pointer = value_make(g, CLASS_D), *left = value_make(g, CLASS_R), *p = value_scratch(g, CLASS_P);
    address_of(g, o, pointer);
    code(g, "mov.u32 $w, $u;", left, trips);
    g->fn.frequency *= trips;
    label_put(g, head);
    step(g, o, pointer, m);
    code(g, "add.s64 $w, $v, $u;", pointer, pointer, move_bytes(m));
    code(g, "add.s32 $w, $v, -1;", left, left);
    code(g, "setp.<ne|gt>.s32 $w, $v, 0;", p, left);
    branch(g, p, true, head);
    g->fn.frequency /= trips;
}
