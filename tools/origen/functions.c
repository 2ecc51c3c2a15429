// SPDX-License-Identifier: MIT
// Makes device functions: signature, parameters, body, result.
#include <stdio.h>

#include "tools/origen/function.h"

/* -- Signatures ----------------------------------------------------------------------------------------- */

static const Class passed[] = {CLASS_R, CLASS_R, CLASS_D, CLASS_F, CLASS_G, CLASS_H};

static Class passed_class(Gen *g, bool in_registers)
{
    Class c;
    do
        c = *ANY_OF(g, passed);
    while (!class_on(g, c) || (in_registers && c == CLASS_H));
    return c;
}

// 16-bit values are passed in 32 bits, as nvcc does.
const char *formal_type(const Formal *f)
{
    if (f->type)
        return f->type;
    return f->passing == BY_POINTER ? "b64" : f->cls == CLASS_H ? "b32" : class_info[f->cls].bits;
}

// Values that are stored from registers with more bits.
static const struct {
    Class cls;
    const char *type, *load;
} narrow[] = {
    {CLASS_R, "b8", "u8"},  {CLASS_R, "b8", "s8"},  {CLASS_R, "b16", "u16"}, {CLASS_R, "b16", "s16"},
    {CLASS_H, "b8", "u8"},  {CLASS_H, "b8", "s8"},  {CLASS_H, "b16", "u16"}, {CLASS_H, "b16", "s16"},
    {CLASS_R, "b32", "u8"}, {CLASS_R, "b32", "s8"}, {CLASS_R, "b32", "u16"}, {CLASS_R, "b32", "s16"},
};

static Formal narrow_value(Gen *g)
{
    uint32_t k;
    do
        k = roll(g, ARRAY_LEN(narrow));
    while (!class_on(g, narrow[k].cls));
    return (Formal){.passing = BY_VALUE, .cls = narrow[k].cls, .type = narrow[k].type, .load = narrow[k].load};
}

static Formal structure(Gen *g)
{
    if (has(g, FT_NARROW_ARG) && chance(g, 1, 3)) {
        uint32_t unit = 1u << roll(g, 2);
        return (Formal){.passing = BY_STRUCT, .align = unit, .bytes = unit * roll_between(g, 1, 7)};
    }
    uint32_t align = 4u << roll(g, 3);
    return (Formal){.passing = BY_STRUCT, .align = align, .bytes = align * roll_between(g, 1, 3)};
}

static Formal formal(Gen *g, bool in_registers)
{
    if (!in_registers && has(g, FT_AGGREGATE) && chance(g, 1, 4))
        return structure(g);
    if (has(g, FT_POINTER_ARG) && chance(g, 1, 3)) {
        uint32_t bytes = 4u << roll(g, 3);
        return (Formal){.passing = BY_POINTER, .bytes = bytes, .align = 4, .written = chance(g, 1, 2)};
    }
    if (!in_registers && has(g, FT_NARROW_ARG) && chance(g, 1, 3))
        return narrow_value(g);
    return (Formal){.passing = BY_VALUE, .cls = passed_class(g, in_registers)};
}

static const char *constant_result(Gen *g, const Function *f)
{
    Literal l = literal(g, f->result.cls);
    return text(g, "%s", l.text);
}

void signature_make(Gen *g, Function *f)
{
    bool stores = false;
    f->in_registers = has(g, FT_REG_ARG) && chance(g, 1, 2);
    f->n = roll_between(g, 1, FORMALS_MOST - 1);
    for (uint32_t k = 0; k < f->n; k++) {
        f->formals[k] = formal(g, f->in_registers);
        stores = stores || f->formals[k].written;
    }
    f->pure = !stores;
    if (stores && chance(g, 1, 2))
        f->result.passing = NOTHING;
    else if (!f->in_registers && has(g, FT_AGGREGATE) && chance(g, 1, 4))
        f->result = structure(g);
    else if (!f->in_registers && has(g, FT_STATIC) && chance(g, 1, 5))
        f->result = static_result(g, f);
    else if (!f->in_registers && has(g, FT_NARROW_ARG) && chance(g, 1, 3))
        f->result = narrow_value(g);
    else
        f->result = (Formal){.passing = BY_VALUE, .cls = passed_class(g, f->in_registers)};
    bool plain = f->result.passing == BY_VALUE && !f->result.type && f->result.cls != CLASS_H && !f->in_registers;
    f->constant = stores && plain && has(g, FT_SAME_RESULT) && chance(g, 1, 2) ? constant_result(g, f) : NULL;
}

void signature_add(Gen *g, Function *f, Role role)
{
    uint32_t at = roll(g, f->n + 1);
    memmove(f->formals + at + 1, f->formals + at, (f->n - at) * sizeof *f->formals);
    f->formals[at] = (Formal){.passing = BY_VALUE, .cls = CLASS_R, .role = role};
    f->n++;
}

/* -- Parameters ----------------------------------------------------------------------------------------- */

static void load_counter(Gen *g, const char *name)
{
    g->fn.counter = value_make(g, CLASS_R);
    code(g, "ld.param.u32 $r1, [$s]; <and.b32 $w, $r1, 3|min.u32 $w, $r1, 3|and.b32 $w, $r1, 1>;", name, g->fn.counter);
}

static void load_mask(Gen *g, const Function *f, const char *name)
{
    Fn *fn = &g->fn;
    Value *mask = value_make(g, CLASS_R), *lane = value_make(g, CLASS_R);
    code(g, f->in_registers ? "mov.b32 $w, $s;" : "ld.param.u32 $w, [$s];", mask, name);
    code(g, "bfind.u32 $w, $v;", lane, mask);
    fn->mask = mask;
    fn->lane = lane;
}

static void load_value(Gen *g, const Function *f, uint32_t k, const char *name)
{
    const Formal *p = &f->formals[k];
    const ClassInfo *c = &class_info[p->cls];
    char pattern[60];
    if (p->role == COUNTER)
        load_counter(g, name);
    if (p->role == MASK)
        load_mask(g, f, name);
    if (p->role != ANY_VALUE)
        return;
    if (f->in_registers)
        snprintf(pattern, sizeof pattern, "mov.%s $=%c, $s;", c->bits, c->letter);
    else
        snprintf(pattern, sizeof pattern, "ld.param.%s $=%c, [$s];", p->load ? p->load : c->memory, c->letter);
    code_with(g, LANE, pattern, name);
}

static void load_structure(Gen *g, Object o)
{
    load_all(g, object_push(g, o));
    if (!has(g, FT_PARAM_INDEX) || o.bytes < 4 || !chance(g, 2, 3))
        return;
    o.base = value_make(g, CLASS_D);
    o.fixed = false;
    code(g, "mov.b64 $w, $s;", o.base, o.symbol);
    load_from(g, object_push(g, o));
}

static void load_pointer(Gen *g, const Function *f, uint32_t k, const char *name)
{
    const Formal *p = &f->formals[k];
    Object o = {.space = SPACE_GENERIC, .bytes = p->bytes, .align = p->align, .constant = !p->written};
    o.base = value_make(g, CLASS_D);
    code(g, f->in_registers ? "mov.b64 $w, $s;" : "ld.param.u64 $w, [$s];", o.base, name);
    object_push(g, o);
}

static void load_parameters(Gen *g, const Function *f)
{
    for (uint32_t k = 0; k < f->n; k++) {
        const Formal *p = &f->formals[k];
        const char *name = text(g, "%s_param_%u", f->name, k);
        Object o = {.space = SPACE_PARAM, .symbol = name, .bytes = p->bytes, .align = p->align};
        o.constant = o.fixed = true;
        if (p->passing == BY_VALUE)
            load_value(g, f, k, name);
        else if (p->passing == BY_POINTER)
            load_pointer(g, f, k, name);
        else
            load_structure(g, o);
    }
}

/* -- Results -------------------------------------------------------------------------------------------- */

// Returns a 32-bit hash of all accumulators.
static Value *hash_total(Gen *g)
{
    Fn *fn = &g->fn;
    Value *total = value_scratch(g, CLASS_R);
    if (fn->wide_hash)
        code(g, "mov.b64 {$r1, $r2}, $c; xor.b32 $r3, $r1, $a; mad.lo.u32 $w, $r2, 31, $r3;", total);
    else
        code(g, "mov.u32 $w, $a;", total);
    return total;
}

static Value *hash_as(Gen *g, Class c)
{
    static const char *const patterns[CLASS_COUNT] = {
        [CLASS_H] = "shr.u32 $r1, $v, 16; xor.b32 $r2, $r1, $v; cvt.u16.u32 $w, $r2;",
        [CLASS_R] = "mov.u32 $w, $v;",
        [CLASS_D] = "mul.wide.u32 $w, $v, 65539;",
        [CLASS_F] = "cvt.rn.f32.u32 $w, $v;",
        [CLASS_G] = "cvt.rn.f64.u32 $w, $v;",
    };
    Value *total = hash_total(g), *v = value_scratch(g, c);
    if (c == CLASS_H)
        code(g, patterns[c], total, total, v);
    else
        code(g, patterns[c], v, total);
    return v;
}

static void store_structure(Gen *g, const Function *f)
{
    Object o = {.space = SPACE_PARAM, .symbol = "func_retval0", .bytes = f->result.bytes, .align = f->result.align};
    o.fixed = true;
    Object *all = object_push(g, o);
    store_all(g, all);
    Place first = {all, NULL, 0};
    Value *total = hash_total(g);
    code(g, "st.param.b$u $o, $v;", 8 * MIN(o.align, 4), &first, total);
}

// Stores the result through the first writable pointer argument.
static void store_through_pointer(Gen *g)
{
    uint32_t k = 0;
    while (g->fn.objects.at[k]->space != SPACE_GENERIC || g->fn.objects.at[k]->constant)
        k++;
    Place p = {g->fn.objects.at[k], NULL, 0};
    code(g, "st.u32 $o, $v;", &p, hash_total(g));
}

static void store_result(Gen *g)
{
    const Function *f = g->fn.function;
    const Formal *r = &f->result;
    Scope s;
    scope_enter(g, &s, 0);
    if (r->passing == NOTHING) {
        if (!f->stops)
            store_through_pointer(g);
    } else if (r->passing == BY_POINTER) {
        static_result_store(g, f, hash_total(g));
    } else if (r->passing == BY_STRUCT) {
        store_structure(g, f);
    } else if (f->constant) {
        store_through_pointer(g);
        code(g, "st.param.$s [func_retval0+0], $s;", formal_type(r),
             chance(g, 1, 8) ? constant_result(g, f) : f->constant);
    } else if (f->in_registers) {
        code(g, "mov.$s func_retval0, $v;", class_info[r->cls].bits, hash_as(g, r->cls));
    } else {
        Value *v = hash_as(g, r->cls);
        if (r->cls == CLASS_H && !r->type)
            code(g, "cvt.u32.u16 $r1, $v; st.param.b32 [func_retval0+0], $r1;", v);
        else
            code(g, "st.param.$s [func_retval0+0], $v;", formal_type(r), v);
    }
    scope_leave(g);
}

/* -- Functions ------------------------------------------------------------------------------------------ */

static void print_formal(Gen *g, const Function *f, const Formal *p, const char *name)
{
    Out *out = g->to;
    if (f->in_registers)
        out_fmt(out, ".reg .%s %s", p->passing == BY_POINTER ? "b64" : bank_info[class_info[p->cls].bank].type, name);
    else if (p->passing == BY_STRUCT)
        out_fmt(out, ".param .align %u .b8 %s[%u]", p->align, name, p->bytes);
    else
        out_fmt(out, ".param .%s %s", formal_type(p), name);
}

void function_print_head(Gen *g, const Function *f)
{
    Out *out = g->to;
    out_fmt(out, "\n%s.func ", f->linkage);
    if (f->result.passing != NOTHING) {
        out_z(out, " (");
        print_formal(g, f, &f->result, "func_retval0");
        out_z(out, ")");
    }
    out_fmt(out, " %s(", f->name);
    for (uint32_t k = 0; k < f->n; k++) {
        out_z(out, k ? ",\n\t" : "\n\t");
        print_formal(g, f, &f->formals[k], text(g, "%s_param_%u", f->name, k));
    }
    out_z(out, f->stops ? "\n)\n.noreturn\n" : "\n)\n");
}

// Makes the body of a function that never returns.
static void stop(Gen *g)
{
    make_straight(g, 6);
    scope_flush(g);
    code(g, "<trap; exit|trap|trap; trap|exit>;");
    g->fn.unreachable = true;
}

// Makes the body of a function whose lanes meet those of other arms: no lane leaves it early.
static void meet(Gen *g, const Function *f)
{
    Scope middle, inner;
    scope_enter(g, &middle, 0);
    statics_enter(g, f);
    scope_enter(g, &inner, 0);
    make_straight(g, 4);
    sequence_run(g, f->meets);
    make_straight(g, 4);
    scope_leave(g);
    scope_leave(g);
    scope_flush(g);
}

static void body(Gen *g, const Function *f, uint32_t n)
{
    Scope middle, inner;
    scope_enter(g, &middle, f->lanes);
    statics_enter(g, f);
    scope_enter(g, &inner, f->lanes);
    block(g, f->partner ? n / 2 : n);
    if (f->lanes)
        collective_operation(g);
    if (f->lanes == ALL_LANES && active_lanes(g) == ALL_LANES && chance(g, 1, 2))
        code(g, "<bar|barrier>.sync 0;");
    if (f->lanes == ALL_LANES && g->fn.shared.n && active_lanes(g) == ALL_LANES)
        make_exchange(g, n);
    if (f->lanes == ALL_LANES && g->fn.structures.n && active_lanes(g) == ALL_LANES)
        make_field_exchange(g, n);
    if (f->partner) {
        call_recursively(g);
        block(g, n / 2);
    }
    if (has(g, FT_GRAPH) && chance(g, 2, 3))
        make_call(g, n);
    scope_leave(g);
    scope_leave(g);
    scope_flush(g);
}

void function_make(Gen *g, Function *f, uint32_t n)
{
    Scope root;
    fn_begin(g, f->name, NULL, n);
    g->fn.function = f;
    g->fn.store_result = store_result;
    scope_enter(g, &root, f->lanes);
    hash_begin(g);
    load_parameters(g, f);
    variables_enter(g);
    structures_enter(g);
    mallocs_enter(g);
    if (f->stops) {
        stop(g);
    } else {
        if (f->meets)
            meet(g, f);
        else
            body(g, f, n);
        label_put(g, g->fn.exit);
        store_result(g);
        code(g, has(g, FT_RETURN) ? "ret<|.uni>;" : "ret;");
    }
    scope_leave(g);
    f->work = g->fn.work;
    function_print_head(g, f);
    fn_print(g);
}
