// SPDX-License-Identifier: MIT
// Makes structures, variables whose parts have different uses: in .shared, and in .global and .const with names that
// begin with `gi_`, which only the program accesses (oriopt --internalize='gi_*').
//
// The use of a field keeps its accesses free of races: the owner is the first thread of the CTA for .shared, of the
// grid for .global. A structure may end in an array with an element for each thread. All fields that are read are
// initialized: those in .shared by the owner at the beginning of each kernel.
#include <inttypes.h>
#include <stdio.h>

#include "tools/origen/function.h"
#include "tools/origen/kernel.h"

enum { FIELDS_MOST = 24, THREADS_OF_CTA = 128, THREADS_OF_GRID = 512, STRUCTURES_MOST = 3 };

typedef enum Use {
    USE_READ,     // by all threads; nothing writes it
    USE_WRITTEN,  // by the owner; nothing reads it
    USE_OWNED,    // the owner reads and writes it
    USE_KEPT,     // the owner reads it, and writes its initial value, or sometimes another constant
    USE_COUNTED,  // all threads update it atomically; read only between barriers
    USE_PASSED,   // a thread writes it between barriers, all threads read it after the next one
    USE_STAGED,   // the owner writes it in one kernel, all threads read it in the others
} Use;

typedef struct Field {
    Use use;
    uint32_t start, bytes, align;
    uint32_t kernel;  // that writes a staged field
} Field;

struct Structure {
    const char *name;
    Space space;
    uint32_t bytes, align;
    uint32_t part, parts;    // offset of the array with an element for each thread; bytes of an element, 0: none
    uint32_t n;              // of fields
    bool confined;           // its address is not stored or passed
    bool fixed;              // fields are accessed only at constant offsets
    const uint8_t *initial;  // NULL: none
    Field fields[FIELDS_MOST];
    Value *base, *generic;  // addresses in the current function; NULL: none
    const char *pointer;    // variable with the address of a field; NULL: none
    const Field *pointed;   // this field
};

/* -- Layout --------------------------------------------------------------------------------------------- */

static Use use_of(Gen *g, Space s, bool table)
{
    static const Use shared[] = {USE_WRITTEN, USE_OWNED, USE_OWNED, USE_COUNTED, USE_PASSED, USE_PASSED, USE_PASSED};
    static const Use global[] = {USE_READ, USE_READ, USE_WRITTEN, USE_OWNED, USE_KEPT, USE_COUNTED, USE_STAGED};
    if (s == SPACE_SHARED)
        return *ANY_OF(g, shared);
    if (s == SPACE_CONST || (table && chance(g, 3, 4)))
        return USE_READ;
    return table ? USE_KEPT : *ANY_OF(g, global);
}

static void add_field(Gen *g, Structure *s, bool table)
{
    static const uint32_t lengths[] = {1, 1, 1, 1, 1, 2, 2, 3, 4};
    Field *f = &s->fields[s->n++];
    *f = (Field){.use = use_of(g, s->space, table), .align = 1u << roll(g, 5)};
    bool word = f->use == USE_COUNTED;
    if (word)
        f->align = 4u << roll(g, 2);
    f->start = (s->bytes + f->align - 1) & ~(f->align - 1);
    f->bytes = f->align * (word ? 1 : *ANY_OF(g, lengths));
    f->kernel = roll(g, 2);
    s->bytes = f->start + f->bytes;
    s->align = MAX(s->align, f->align);
}

static void add_parts(Gen *g, Structure *s)
{
    uint32_t align = 4u << roll(g, 3);
    s->parts = align << (align < 16 ? roll(g, 2) : 0);
    align = s->parts;
    s->part = (s->bytes + align - 1) & ~(align - 1);
    s->bytes = s->part + s->parts * (s->space == SPACE_SHARED ? THREADS_OF_CTA : THREADS_OF_GRID);
    s->align = MAX(s->align, align);
}

static uint64_t initial_bits(const Structure *s, uint32_t start, uint32_t bytes)
{
    uint64_t bits = 0;
    for (uint32_t k = 0; k < bytes && s->initial; k++)
        bits |= (uint64_t)s->initial[start + k] << 8 * k;
    return bits;
}

static void make_initial(Gen *g, Structure *s, uint32_t *given)
{
    uint8_t *bytes = NEW_ARRAY(g->arena, uint8_t, s->bytes);
    uint32_t end = s->parts ? s->part + roll(g, 3) * s->parts : s->bytes;
    *given = chance(g, 1, 4) ? roll_between(g, 1, end) : end;
    for (uint32_t k = 0; k < *given; k++)
        bytes[k] = (uint8_t)(chance(g, 1, 4) ? roll(g, 2) : roll(g, 256));
    s->initial = bytes;
}

static void print_structure(Gen *g, Out *out, Structure *s, bool initialized)
{
    static const char *const types[][4] = {{"b8", "u8", "s8", "b8"},
                                           {"b16", "u16", "s16", "u16"},
                                           {"b32", "u32", "s32", "u32"},
                                           {"b64", "u64", "s64", "u64"}};
    uint32_t log = roll(g, 4), given = 0;
    while (s->bytes % (1u << log))
        log--;
    uint32_t unit = 1u << log, n = s->bytes / unit;
    const char *type = types[log][roll(g, 4)];
    bool scalar = n == 1 && chance(g, 3, 4);
    s->align = MAX(s->align, unit) << (s->align < 16 ? roll(g, 2) : 0);
    if (initialized)
        make_initial(g, s, &given);
    out_fmt(out, "%s .align %u .%s %s", space_name(s->space), s->align, type, s->name);
    if (!scalar)
        out_fmt(out, "[%u]", n);
    for (uint32_t k = 0; k * unit < given; k++) {
        out_z(out, k ? ", " : scalar ? " = " : " = {");
        out_fmt(out, "%" PRIu64, initial_bits(s, k * unit, unit));
    }
    out_z(out, given && !scalar ? "};\n" : ";\n");
}

static Structure *structure_make(Gen *g, Out *out, Space space, const char *name)
{
    Structure *s = NEW(g->arena, Structure);
    *s = (Structure){.name = name, .space = space, .align = 1, .confined = chance(g, 3, 4)};
    s->fixed = chance(g, 1, 2);
    bool table = space == SPACE_CONST || (space == SPACE_GLOBAL && chance(g, 1, 2));
    uint32_t n = chance(g, 1, 8) ? roll_between(g, 17, FIELDS_MOST) : roll_between(g, 1, 8);
    while (s->n < n)
        add_field(g, s, table);
    if (!table && chance(g, 1, 2))
        add_parts(g, s);
    print_structure(g, out, s, space == SPACE_CONST || (space == SPACE_GLOBAL && (table || chance(g, 1, 3))));
    return s;
}

// Declares a variable with the address of a field that is only read.
static void point_to(Gen *g, Structure *s)
{
    for (uint32_t k = 0; k < s->n && !s->pointer; k++) {
        const Field *f = &s->fields[k];
        if (f->use != USE_READ || f->align < 4)
            continue;
        s->pointed = f;
        s->pointer = text(g, "%s_pointer", s->name);
        out_fmt(&g->head, ".global .align 8 .u64 %s = generic(%s)+%u;\n", s->pointer, s->name, f->start);
    }
}

void structures_make(Gen *g)
{
    for (uint32_t k = has(g, FT_FIELDS) ? roll_between(g, 1, STRUCTURES_MOST) : 0; k; k--)
        VEC_PUSH(g->arena, &g->structures, structure_make(g, &g->head, SPACE_SHARED, text(g, "gi_shared%u", k)));
    for (uint32_t k = has(g, FT_INTERNAL) ? roll_between(g, 1, STRUCTURES_MOST + 1) : 0; k; k--) {
        Space space = chance(g, 1, 4) ? SPACE_CONST : SPACE_GLOBAL;
        Structure *s = structure_make(g, &g->head, space, text(g, "gi_%u", k));
        VEC_PUSH(g->arena, &g->structures, s);
        if (!s->confined && chance(g, 1, 2))
            point_to(g, s);
    }
}

/* -- Objects -------------------------------------------------------------------------------------------- */

// Returns an object for bytes of a structure, whose address is its name or in a register.
static Object object_of(Gen *g, const Structure *s, uint32_t start, uint32_t bytes, uint32_t align)
{
    Object o = {.space = s->space, .symbol = s->name, .start = start, .bytes = bytes, .align = align};
    o.confined = s->confined;
    o.fixed = s->fixed;
    o.actual_space = s->space;
    if (s->generic && chance(g, 1, 3)) {
        o.space = SPACE_GENERIC;
        o.base = s->generic;
    } else if (s->base && chance(g, 1, 2)) {
        o.base = s->base;
    }
    return o;
}

static Object object_of_field(Gen *g, const Structure *s, const Field *f)
{
    Object o = object_of(g, s, f->start, f->bytes, f->align);
    o.constant = f->use == USE_READ;
    return o;
}

// Returns a new value for an address, which is not in the frame if it is confined: a frame is memory.
static Value *address_value(Gen *g, const Structure *s, Class c)
{
    return s->confined ? value_scratch(g, c) : value_make(g, c);
}

// Makes the addresses of the structure that accesses use.
static void make_bases(Gen *g, Structure *s)
{
    s->base = s->generic = NULL;
    if (chance(g, 1, 2)) {
        bool narrow = s->space == SPACE_SHARED && chance(g, 1, 2);
        s->base = address_value(g, s, narrow ? CLASS_R : CLASS_D);
        code(g, narrow ? "mov.u32 $w, $s;" : "mov.u64 $w, $s;", s->base, s->name);
    }
    if (has(g, FT_GENERIC) && chance(g, 1, 3)) {
        s->generic = address_value(g, s, CLASS_D);
        code(g, "mov.u64 $d1, $s; cvta$s.u64 $w, $d1;", s->name, space_name(s->space), s->generic);
    }
}

static Value *thread_of(Gen *g, Space space) { return space == SPACE_SHARED ? g->fn.first : g->fn.index; }

// Makes the element of the thread an object.
static void enter_part(Gen *g, const Structure *s)
{
    Object o = {.space = s->space, .start = s->part, .bytes = s->parts, .observed = true};
    o.align = s->parts;
    o.confined = s->confined;
    o.actual_space = s->space;
    Value *thread = thread_of(g, s->space);
    bool narrow = s->space == SPACE_SHARED && chance(g, 1, 2);
    o.base = address_value(g, s, narrow ? CLASS_R : CLASS_D);
    code(g, narrow ? "mov.u32 $r1, $s; mad.lo.u32 $w, $v, $u, $r1;" : "mov.u64 $d1, $s; mad.wide.u32 $w, $v, $u, $d1;",
         s->name, o.base, thread, s->parts);
    const Object *pushed = object_push(g, o);
    if (s->space == SPACE_SHARED)
        store_all(g, pushed);
    if (s->space == SPACE_SHARED && g->fn.kernel)
        VEC_PUSH(g->arena, &g->fn.shared, ((Shared){s->name, s->parts, s->part}));
}

// Makes the field an object whose address is in a variable.
static void enter_pointed(Gen *g, const Structure *s)
{
    Object o = {.space = SPACE_GENERIC, .bytes = s->pointed->bytes, .align = s->pointed->align, .constant = true};
    o.base = value_make(g, CLASS_D);
    o.actual_space = s->space;
    code(g, "ld.global.u64 $w, [$s];", o.base, s->pointer);
    load_from(g, object_push(g, o));
}

static void enter(Gen *g, Structure *s)
{
    make_bases(g, s);
    VEC_PUSH(g->arena, &g->fn.structures, s);
    for (uint32_t k = 0; k < s->n; k++)
        if (s->fields[k].use == USE_READ && s->fields[k].align >= 4 && chance(g, 1, 2))
            object_push(g, object_of_field(g, s, &s->fields[k]));
    if (s->parts && chance(g, 3, 4))
        enter_part(g, s);
    if (s->pointer && chance(g, 1, 2))
        enter_pointed(g, s);
}

/* -- The owner ------------------------------------------------------------------------------------------ */

Value *owner_make(Gen *g, Space space)
{
    Value *p = value_scratch(g, CLASS_P);
    code(g, "setp.<eq.u32 $w, $v, 0|eq.s32 $w, $v, 0|lt.u32 $w, $v, 1>;", p, thread_of(g, space));
    return p;
}

// Stores the initial value, or a number, to all bytes.
static void store_numbers(Gen *g, const Structure *s, const Object *o, bool initial)
{
    uint32_t at = o->start, unit = MIN(o->align, 8);
    for (uint32_t offset = 0; offset < o->bytes; offset += unit) {
        Place p = {o, NULL, offset};
        uint64_t bits = initial ? initial_bits(s, at + offset, unit) : unit < 4 ? roll(g, 100) : draw(g) >> 40;
        if (chance(g, 1, 2) || unit == 1)
            code(g, "st$s.<b|u>$u $o, $s;", space_name(o->space), 8 * unit, &p, text(g, "%" PRId64, (int64_t)bits));
        else if (unit == 2)
            code(g, "mov.u16 $h1, $s; st$s.u16 $o, $h1;", text(g, "%" PRId64, (int64_t)bits), space_name(o->space), &p);
        else if (unit == 4)
            code(g, "mov.u32 $r1, $s; st$s.u32 $o, $r1;", text(g, "%" PRId64, (int64_t)bits), space_name(o->space), &p);
        else
            code(g, "mov.u64 $d1, $s; st$s.u64 $o, $d1;", text(g, "%" PRId64, (int64_t)bits), space_name(o->space), &p);
    }
}

// Stores to all fields in .shared that are read.
static void initialize(Gen *g, const Structure *s)
{
    const Value *owner = owner_make(g, s->space);
    for (uint32_t k = 0; k < s->n; k++) {
        if (s->fields[k].use == USE_WRITTEN)
            continue;
        Object o = object_of_field(g, s, &s->fields[k]);
        g->fn.guard = owner;
        g->fn.guard_sense = true;
        store_numbers(g, s, &o, false);
        g->fn.guard = NULL;
    }
}

void owner_index_make(Gen *g, Space space)
{
    Fn *fn = &g->fn;
    bool cube = !fn->kernel || fn->kernel->cube;
    if (space == SPACE_SHARED && !fn->first)
        fn->first = number_make(g, cube, THREAD);
    if (space == SPACE_SHARED || fn->index)
        return;
    Value *thread = number_make(g, cube, THREAD), *threads = number_make(g, cube, THREADS);
    Value *cta = number_make(g, cube, CTA);
    fn->index = value_make(g, CLASS_R);
    code(g, "mad.lo.<s32|u32> $w, $v, $v, $v;", fn->index, cta, threads, thread);
}

void structures_begin(Gen *g)
{
    bool any = false;
    for (uint32_t k = 0; k < g->structures.n; k++) {
        Structure *s = g->structures.at[k];
        s->base = s->generic = NULL;
        owner_index_make(g, s->space);
        if (s->space != SPACE_SHARED)
            continue;
        initialize(g, s);
        any = true;
    }
    if (any)
        code(g, "<bar|barrier>.sync 0;");
}

void structures_enter(Gen *g)
{
    for (uint32_t k = 0; k < g->structures.n; k++) {
        Structure *s = g->structures.at[k];
        if (!chance(g, 2, 3))
            continue;
        owner_index_make(g, s->space);
        enter(g, s);
    }
    if (!has(g, FT_FIELDS) || !chance(g, 1, 2))
        return;
    out_char(&g->fn.declarations, '\t');
    Structure *s = structure_make(g, &g->fn.declarations, SPACE_SHARED, text(g, "gi_%s_fields", g->fn.name));
    owner_index_make(g, s->space);
    bool together = g->fn.kernel && active_lanes(g) == ALL_LANES;
    for (uint32_t k = 0; k < s->n && !together; k++)  // no barrier orders the initialization
        s->fields[k].use = s->fields[k].use == USE_COUNTED ? USE_OWNED : s->fields[k].use;
    initialize(g, s);
    if (together)
        code(g, "<bar|barrier>.sync 0;");
    enter(g, s);
}

/* -- Accesses ------------------------------------------------------------------------------------------- */

// Updates a field by the operation that all threads use for this field.
static void count(Gen *g, const Field *f, const Object *o)
{
    static const char *const words[] = {"add.u32", "xor.b32", "max.s32", "min.u32", "or.b32"};
    static const char *const longs[] = {"add.u64", "xor.b64", "max.s64", "min.u64", "or.b64"};
    bool wide = f->bytes == 8;
    const char *op = wide ? longs[f->start / 4 % ARRAY_LEN(longs)] : words[f->start / 4 % ARRAY_LEN(words)];
    Place p = {o, NULL, 0};
    if (chance(g, 2, 3))
        code(g, wide ? "red$s.$s $o, $d;" : "red$s.$s $o, $r#;", space_name(o->space), op, &p);
    else
        code(g, wide ? "atom$s.$s $d1, $o, $d;" : "atom$s.$s $r1, $o, $r#;", space_name(o->space), op, &p);
}

static void own_atomic(Gen *g, const Object *o)
{
    Place p = {o, NULL, 0};
    code_with(g, LANE, "atom$s.<add.u32|exch.b32|min.s32|or.b32> $=r, $o, $r#;", space_name(o->space), &p);
}

static void access_owned(Gen *g, const Structure *s, const Field *f, const Object *o)
{
    bool kept = f->use == USE_KEPT;
    if (f->use != USE_WRITTEN && f->use != USE_STAGED && chance(g, 1, 2))
        load_from(g, o);
    else if (kept)
        store_numbers(g, s, o, !chance(g, 1, 6));
    else if (f->use == USE_OWNED && f->align >= 4 && chance(g, 1, 6))
        own_atomic(g, o);
    else
        store_to(g, o);
}

// Accesses a field under a guard or a branch that only the owner passes.
static void access_by_owner(Gen *g, const Structure *s, const Field *f, const Object *o)
{
    const Value *p = owner_make(g, s->space);
    if (chance(g, 1, 2)) {
        g->fn.guard = p;
        g->fn.guard_sense = true;
        access_owned(g, s, f, o);
        g->fn.guard = NULL;
        return;
    }
    uint32_t end = label_new(g);
    Scope scope;
    branch(g, p, false, end);
    scope_enter(g, &scope, 0);
    for (uint32_t k = roll_between(g, 1, 3); k; k--)
        access_owned(g, s, f, o);
    scope_leave(g);
    label_put(g, end);
}

static void access_field(Gen *g, const Structure *s, const Field *f)
{
    const Kernel *kernel = g->fn.kernel;
    bool by_owner = f->use == USE_WRITTEN || f->use == USE_OWNED || f->use == USE_KEPT;
    Object o = object_of_field(g, s, f);
    if (f->use == USE_READ)
        load_from(g, &o);
    else if (f->use == USE_COUNTED)
        count(g, f, &o);
    else if (by_owner || (f->use == USE_STAGED && kernel && g->kernels.n == f->kernel))
        access_by_owner(g, s, f, &o);
    else if (f->use == USE_STAGED && kernel)
        load_from(g, &o);
}

static const Structure *pick_structure(Gen *g)
{
    return g->fn.structures.n ? g->fn.structures.at[roll(g, g->fn.structures.n)] : NULL;
}

void make_fields(Gen *g, uint32_t n)
{
    const Structure *s = pick_structure(g);
    if (!s) {
        make_straight(g, n);
        return;
    }
    for (uint32_t k = roll_between(g, 1, 4); k; k--)
        access_field(g, s, &s->fields[roll(g, s->n)]);
}

/* -- Exchange ------------------------------------------------------------------------------------------- */

// Makes a thread store to a field: the owner, or the last thread of the CTA.
static void pass(Gen *g, const Structure *s, const Object *o)
{
    Fn *fn = &g->fn;
    const Value *p = owner_make(g, s->space);
    if (fn->threads && chance(g, 1, 2)) {
        Value *last = value_scratch(g, CLASS_P);
        code(g, "add.<u32|s32> $r1, $v, 1; setp.<eq.u32|ge.s32> $w, $r1, $v;", fn->first, last, fn->threads);
        p = last;
    }
    fn->guard = p;
    fn->guard_sense = true;
    if (chance(g, 1, 4))
        store_numbers(g, s, o, false);
    else
        store_to(g, o);
    fn->guard = NULL;
}

void make_field_exchange(Gen *g, uint32_t n)
{
    const Structure *s = pick_structure(g);
    if (!s || s->space != SPACE_SHARED) {
        make_straight(g, n);
        return;
    }
    code(g, "<bar|barrier>.sync 0;");
    for (uint32_t k = 0; k < s->n; k++)
        if (s->fields[k].use == USE_PASSED && chance(g, 1, 2)) {
            Object o = object_of_field(g, s, &s->fields[k]);
            pass(g, s, &o);
        }
    code(g, "<bar|barrier>.sync 0;");
    for (uint32_t k = 0; k < s->n; k++)
        if ((s->fields[k].use == USE_PASSED || s->fields[k].use == USE_COUNTED) && chance(g, 1, 2)) {
            Object o = object_of_field(g, s, &s->fields[k]);
            load_from(g, &o);
        }
    code(g, "<bar|barrier>.sync 0;");
}
