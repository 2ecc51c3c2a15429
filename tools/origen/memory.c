// SPDX-License-Identifier: MIT
// Makes loads and stores of any type at any offset that the object's alignment permits, so that accesses overlap.
#include "tools/origen/origen.h"

enum { WIDEST = 16 };  // bytes of a vector

static const Access accesses[] = {
#define ACCESS(type, bytes, class) {type, bytes, CLASS_##class},
#include "tools/origen/accesses.def"
};

/* -- Objects -------------------------------------------------------------------------------------------- */

Object *object_push(Gen *g, Object o)
{
    Object *copy = NEW(g->arena, Object);
    *copy = o;
    copy->depth = g->fn.scope->depth;
    copy->actual_space = o.space == SPACE_GENERIC ? o.actual_space : o.space;
    VEC_PUSH(g->arena, &g->fn.objects, copy);
    return copy;
}

static const Object *pick_object(Gen *g, bool (*pass)(const Fn *, const Object *, uint32_t), uint32_t bytes)
{
    const Fn *fn = &g->fn;
    uint32_t n = fn->objects.n, skip = n ? roll(g, n) : 0;
    for (uint32_t k = 0; k < n; k++) {
        const Object *o = fn->objects.at[(k + skip) % n];
        if (pass(fn, o, bytes))
            return o;
    }
    return NULL;
}

static bool readable(const Fn *fn, const Object *o, uint32_t bytes) { return fn && o->bytes >= bytes; }

static bool writable(const Fn *fn, const Object *o, uint32_t bytes)
{
    return readable(fn, o, bytes) && !o->constant && o->depth >= fn->dead;
}

static bool has_address(const Fn *fn, const Object *o, uint32_t bytes)
{
    return readable(fn, o, bytes) && o->space != SPACE_PARAM && !o->confined;
}

static bool has_writable_address(const Fn *fn, const Object *o, uint32_t bytes)
{
    return writable(fn, o, bytes) && o->space != SPACE_PARAM && !o->confined;
}

static bool is_shared_slot(const Fn *fn, const Object *o, uint32_t bytes)
{
    return writable(fn, o, bytes) && o->space == SPACE_SHARED;
}

static bool is_global_input(const Fn *fn, const Object *o, uint32_t bytes)
{
    return readable(fn, o, bytes) && o->space == SPACE_GLOBAL && o->constant;
}

static const Object *object_pick(Gen *g, bool to_write) { return pick_object(g, to_write ? writable : readable, 4); }

const Object *object_with_address(Gen *g, bool to_write, uint32_t bytes)
{
    return pick_object(g, to_write ? has_writable_address : has_address, bytes);
}

/* -- Addresses ------------------------------------------------------------------------------------------ */

void address_of(Gen *g, const Object *o, Value *address)
{
    if (!o->base)
        code(g,
             o->symbol[0] == '%' ? "add.u64 $w, $s, $u;"
             : o->start          ? "mov.u64 $w, $s+$u;"
                                 : "mov.u64 $w, $s;",
             address, o->symbol, o->start);
    else if (o->base->cls == CLASS_R)
        code(g, "cvt.u64.u32 $d1, $v; add.s64 $w, $d1, $u;", o->base, address, o->start);
    else
        code(g, o->start ? "add.s64 $w, $v, $u;" : "mov.u64 $w, $v;", address, o->base, o->start);
}

void generic_address_of(Gen *g, const Object *o, Value *address)
{
    if (o->space == SPACE_GENERIC) {
        address_of(g, o, address);
        return;
    }
    Value *in_space = value_scratch(g, CLASS_D);
    address_of(g, o, in_space);
    code(g, "cvta$s.u64 $w, $v;", space_name(o->space), address, in_space);
}

// Patterns that reduce any number to one below n. $u is a constant that depends on n.
typedef enum { OF_N, OF_LAST, OF_MASK, OF_BITS, OF_UNUSED_BITS, OF_DIVISOR } Bound;

static const struct {
    const char *pattern;
    Bound bound;
    bool value_first;  // arguments in the order $v, $w, $u; otherwise $w, $v, $u
} bounds[] = {
    {"and.b32 $w, $v, $u;", OF_MASK, false},
    {"not.b32 $r1, $v; and.b32 $w, $r1, $u;", OF_MASK, true},
    {"rem.u32 $w, $v, $u;", OF_N, false},
    {"shr.u32 $r1, $v, 1; rem.s32 $w, $r1, $u;", OF_N, true},
    {"mul.hi.u32 $w, $v, $u;", OF_N, false},
    {"div.u32 $w, $v, $u;", OF_DIVISOR, false},
    {"shr.u32 $w, $v, $u;", OF_UNUSED_BITS, false},
    {"bfe.u32 $w, $v, 5, $u;", OF_BITS, false},
    {"min.u32 $w, $v, $u;", OF_LAST, false},
    {"and.b32 $r1, $v, 31; min.u32 $w, $r1, $u;", OF_LAST, true},
    {"max.s32 $r1, $v, 0; min.s32 $w, $r1, $u;", OF_LAST, true},
    {"min.s32 $r1, $v, 0; max.s32 $r2, $r1, -9; add.s32 $r3, $r2, 9; min.s32 $w, $r3, $u;", OF_LAST, true},
    {"cvt.s32.s8 $r1, $v; max.s32 $r2, $r1, 0; min.s32 $w, $r2, $u;", OF_LAST, true},
    {"cvt.u32.u8 $r1, $v; rem.u32 $w, $r1, $u;", OF_N, true},
    {"shr.s32 $r1, $v, 28; add.s32 $r2, $r1, 8; rem.u32 $w, $r2, $u;", OF_N, true},
    {"or.b32 $r1, $v, -8; not.b32 $r2, $r1; min.s32 $w, $r2, $u;", OF_LAST, true},
};

static uint32_t bound_of(Bound bound, uint32_t n)
{
    uint32_t bits = 31 - (uint32_t)__builtin_clz(n);
    switch (bound) {
    case OF_N: return n;
    case OF_LAST: return n - 1;
    case OF_MASK: return (1u << bits) - 1;
    case OF_BITS: return bits;
    case OF_UNUSED_BITS: return 32 - bits;
    case OF_DIVISOR: return UINT32_MAX / n + 1;  // n > 1
    }
    return 0;
}

// Returns an index below n.
static Value *index_below(Gen *g, uint32_t n)
{
    Value *index = value_scratch(g, CLASS_R), *v = value_pick(g, CLASS_R);
    uint32_t row = n == 1 || chance(g, 1, 3) ? 0 : roll(g, ARRAY_LEN(bounds)), u = bound_of(bounds[row].bound, n);
    if (bounds[row].value_first)
        code(g, bounds[row].pattern, v, index, u);
    else
        code(g, bounds[row].pattern, index, v, u);
    return index;
}

// $v index, $u bytes of an element, $w address, $v base.
static const char *const scalings[] = {
    "mul.wide.<u32|s32> $d1, $v, $u; add.s64 $w, $v, $d1;",
    "cvt.u64.u32 $d2, $v; mul.lo.s64 $d1, $d2, $u; add.s64 $w, $v, $d1;",
    "cvt.s64.s32 $d2, $v; mul.lo.u64 $d1, $d2, $u; add.u64 $w, $v, $d1;",
    "mul.lo.u32 $r1, $v, $u; cvt.u64.u32 $d1, $r1; add.s64 $w, $v, $d1;",
    "mul.wide.<u32|s32> $d1, $v, $u; neg.s64 $d2, $d1; sub.s64 $w, $v, $d2;",
};

// Writes a 32-bit address, which shared and local memory permit.
static void narrow_element(Gen *g, const Object *o, Value *index, uint32_t bytes, Value *to)
{
    if (o->base) {
        code(g, "mad.lo.<u32|s32> $w, $v, $u, $v;", to, index, bytes, o->base);
        return;
    }
    code(g, "mul.lo.u32 $r1, $v, $u; mov.u32 $r2, $s; add.s32 $w, $r2, $r1;", index, bytes, o->symbol, to);
}

static Place indexed(Gen *g, const Object *o, uint32_t bytes)
{
    uint32_t n = o->bytes / bytes, ahead = n > 2 && chance(g, 1, 2) ? roll(g, n / 2) : 0;
    Value *index = index_below(g, n - ahead);
    bool symbol = !o->base && o->symbol[0] != '%' && (o->space == SPACE_SHARED || o->space == SPACE_LOCAL);
    bool narrow = o->base ? o->base->cls == CLASS_R : symbol && chance(g, 1, 2);
    Value *to = value_scratch(g, narrow ? CLASS_R : CLASS_D);
    if (narrow) {
        narrow_element(g, o, index, bytes, to);
        return (Place){o, to, o->start + ahead * bytes};
    }
    Value *from = value_scratch(g, CLASS_D);
    address_of(g, o, from);
    code(g, *ANY_OF(g, scalings), index, bytes, to, from);
    return (Place){o, to, ahead * bytes};
}

Place place_in(Gen *g, const Object *o, uint32_t bytes)
{
    if (has(g, FT_INDEX) && !o->fixed && chance(g, 1, 3))
        return indexed(g, o, bytes);
    return (Place){o, NULL, roll(g, o->bytes / bytes) * bytes};
}

/* -- Loads and stores ----------------------------------------------------------------------------------- */

static const Access *pick_access(Gen *g, const Object *o, uint32_t most)
{
    const Access *a;
    bool as_it_is = o->type && chance(g, 3, 4);
    for (uint32_t tries = 0;; tries++) {
        a = ANY_OF(g, accesses);
        bool fits = class_on(g, a->cls) && a->bytes <= most && a->bytes <= o->align;
        if (fits && (!as_it_is || tries > 40 || strcmp(a->type, o->type) == 0))
            return a;
    }
}

Move move_pick(Gen *g, const Object *o, uint32_t most)
{
    Move m = {pick_access(g, o, most), 1};
    uint32_t n = 2 << roll(g, 2), bytes = n * m.access->bytes;
    if (has(g, FT_VECTOR) && chance(g, 1, 4) && bytes <= MIN(most, WIDEST) && bytes <= o->align)
        m.n = n;
    return m;
}

static const char *vector_name(uint32_t n) { return n == 4 ? ".v4" : n == 2 ? ".v2" : ""; }

// Returns the pattern of the qualifiers and the state space; most often the space alone.
static const char *qualifier(Gen *g, const Object *o, bool load)
{
    static const char *const loads[] = {".volatile$s", ".relaxed.cta$s", "$s.ca", "$s.cg", "$s.cs"};
    static const char *const stores[] = {".volatile$s", ".relaxed.gpu$s", "$s.wb", "$s.cg", "$s.cs"};
    Space s = o->space;
    if (!has(g, FT_QUALIFIERS) || !chance(g, 1, 3))
        return "$s";
    if (load && o->constant && s == SPACE_GLOBAL && chance(g, 1, 2))
        return "$s.nc";
    const char *q = load ? *ANY_OF(g, loads) : *ANY_OF(g, stores);
    bool strong = q[0] == '.';
    return s == SPACE_GLOBAL || (strong && s == SPACE_SHARED) ? q : "$s";
}

// Returns one register, or a vector of registers.
static const char *list(Gen *g, const char *const *of, uint32_t n)
{
    if (n == 1)
        return of[0];
    return n == 2 ? text(g, "{%s, %s}", of[0], of[1]) : text(g, "{%s, %s, %s, %s}", of[0], of[1], of[2], of[3]);
}

void load_at(Gen *g, Move m, const Place *p)
{
    const char *q = qualifier(g, p->object, true), *to = text(g, "$=%c", class_info[m.access->cls].letter);
    const char *each[] = {to, to, to, to}, *pattern = text(g, "ld%s$s.$s %s, $o;", q, list(g, each, m.n));
    uint32_t traits = p->object->space == SPACE_PARAM ? LANE : LANE | REPEAT;
    code_with(g, traits, pattern, space_name(p->object->space), vector_name(m.n), m.access->type, p);
}

// Returns the pattern of a literal or of a value. NaNs with unspecified bits are made canonical before they are stored.
static const char *source(Gen *g, Class c, Value **v)
{
    if (class_info[c].literals != LITERALS_NONE && class_info[c].bytes <= 4 && chance(g, 1, 5)) {
        Literal l = literal(g, c);
        return text(g, "%s", l.text);
    }
    *v = canonical_nan_of(g, value_pick(g, c));
    return "$v";
}

void store_at(Gen *g, Move m, const Place *p)
{
    const char *q = qualifier(g, p->object, false), *each[4] = {NULL};
    Value *v[4] = {0};
    uint32_t n = 0;  // values among the sources
    for (uint32_t k = 0; k < m.n; k++) {
        each[k] = source(g, m.access->cls, &v[n]);
        n += v[n] != NULL;
    }
    const char *pattern = text(g, "st%s$s.$s $o, %s;", q, list(g, each, m.n));
    code(g, pattern, space_name(p->object->space), vector_name(m.n), m.access->type, p, v[0], v[1], v[2], v[3]);
}

void load_from(Gen *g, const Object *o)
{
    Move m = move_pick(g, o, o->bytes);
    Place p = place_in(g, o, move_bytes(m));
    load_at(g, m, &p);
}

void store_to(Gen *g, const Object *o)
{
    Move m = move_pick(g, o, o->bytes);
    Place p = place_in(g, o, move_bytes(m));
    store_at(g, m, &p);
}

// Calls `at` for accesses that cover the object.
static void cover(Gen *g, const Object *o, void (*at)(Gen *, Move, const Place *))
{
    for (uint32_t offset = 0; offset < o->bytes;) {
        uint32_t low = offset & (0 - offset);
        uint32_t most = MIN(offset ? MIN(low, o->align) : o->align, o->bytes - offset);
        Move m;
        do
            m = move_pick(g, o, most);
        while (move_bytes(m) < MIN(most, 4) && !chance(g, 1, 8));
        Place p = {o, NULL, offset};
        at(g, m, &p);
        offset += move_bytes(m);
    }
}

void store_all(Gen *g, const Object *o) { cover(g, o, store_at); }
void load_all(Gen *g, const Object *o) { cover(g, o, load_at); }

/* -- Statements ----------------------------------------------------------------------------------------- */

void make_load(Gen *g, uint32_t n)
{
    const Object *o = object_pick(g, false);
    Place p = {o, NULL, 0};
    if (o && o->space == SPACE_GLOBAL && has(g, FT_QUALIFIERS) && chance(g, 1, 12))
        code(g, "prefetch.global.<L1|L2> $o;", &p);
    if (o)
        load_from(g, o);
    else
        make_straight(g, n);
}

void make_store(Gen *g, uint32_t n)
{
    const Object *o = object_pick(g, true);
    if (o)
        store_to(g, o);
    else
        make_straight(g, n);
}

// Makes an asynchronous copy from global to shared memory, and the wait for it.
void make_async(Gen *g, uint32_t n)
{
    const Object *to = pick_object(g, is_shared_slot, 4), *from = pick_object(g, is_global_input, 4);
    if (!to || !from) {
        make_straight(g, n);
        return;
    }
    uint32_t most = MIN(MIN(to->align, from->align), 16), bytes = 4;
    while (bytes * 2 <= most && chance(g, 2, 3))
        bytes *= 2;
    Place p = place_in(g, to, bytes), q = place_in(g, from, bytes);
    if (chance(g, 1, 4))  // zero-fills the rest
        code(g, "cp.async.ca.shared.global $o, $o, $u, $u;", &p, &q, bytes, roll(g, bytes + 1));
    else
        code(g, bytes == 16 ? "cp.async.<ca|cg>.shared.global $o, $o, $u;" : "cp.async.ca.shared.global $o, $o, $u;",
             &p, &q, bytes);
    if (chance(g, 1, 2))  // no random operation: it could load bytes in flight
        code(g, "<add|sub>.s32 $=r, $r, $r#;");
    code(g, "<cp.async.wait_all|cp.async.commit_group; cp.async.wait_group 0>;");
    Move m = move_pick(g, to, bytes);
    p.offset += roll(g, bytes / move_bytes(m)) * move_bytes(m);
    load_at(g, m, &p);
}

// Makes dead stores to one place, and a load that forwarding can replace.
void make_overwrite(Gen *g, uint32_t n)
{
    const Object *o = object_pick(g, true);
    if (!o) {
        make_straight(g, n);
        return;
    }
    Move m = move_pick(g, o, o->bytes);
    Place p = place_in(g, o, move_bytes(m));
    for (uint32_t k = roll_between(g, 1, 3); k; k--) {
        store_at(g, m, &p);
        if (chance(g, 1, 3))
            operation(g);
    }
    load_at(g, m, &p);
    if (chance(g, 1, 2))
        load_at(g, m, &p);
}
