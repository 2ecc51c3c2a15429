// SPDX-License-Identifier: MIT
// Makes device functions: signature, parameters, body, result. A function may call functions before it.
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
    return f->passing == BY_POINTER ? "b64" : f->cls == CLASS_H ? "b32" : class_info[f->cls].bits;
}

static Formal structure(Gen *g)
{
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
    return (Formal){.passing = BY_VALUE, .cls = passed_class(g, in_registers)};
}

static void signature(Gen *g, Function *f)
{
    bool stores = false;
    f->in_registers = has(g, FT_REG_ARG) && chance(g, 1, 2);
    f->n = roll_between(g, 1, FORMALS_MOST);
    for (uint32_t k = 0; k < f->n; k++) {
        f->formals[k] = formal(g, f->in_registers);
        stores = stores || f->formals[k].written;
    }
    f->pure = !stores;
    if (stores && chance(g, 1, 2))
        f->result.passing = NOTHING;
    else if (!f->in_registers && has(g, FT_AGGREGATE) && chance(g, 1, 4))
        f->result = structure(g);
    else
        f->result = (Formal){.passing = BY_VALUE, .cls = passed_class(g, f->in_registers)};
}

/* -- Parameters ----------------------------------------------------------------------------------------- */

static void load_value(Gen *g, const Function *f, uint32_t k, const char *name)
{
    Class c = f->formals[k].cls;
    char pattern[60];
    if (f->in_registers)
        snprintf(pattern, sizeof pattern, "mov.%s $=%c, $s;", class_info[c].bits, class_info[c].letter);
    else
        snprintf(pattern, sizeof pattern, "ld.param.%s $=%c, [$s];", class_info[c].memory, class_info[c].letter);
    code(g, pattern, name);
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
            load_all(g, object_push(g, o));
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
    code(g, "st.param.b32 $o, $v;", &first, total);
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
    const Function *f = g->functions.at[g->functions.n - 1];
    const Formal *r = &f->result;
    Scope s;
    scope_enter(g, &s, 0);
    if (r->passing == NOTHING) {
        store_through_pointer(g);
    } else if (r->passing == BY_STRUCT) {
        store_structure(g, f);
    } else if (f->in_registers) {
        code(g, "mov.$s func_retval0, $v;", class_info[r->cls].bits, hash_as(g, r->cls));
    } else {
        Value *v = hash_as(g, r->cls);
        if (r->cls == CLASS_H)
            code(g, "cvt.u32.u16 $r1, $v; st.param.b32 [func_retval0+0], $r1;", v);
        else
            code(g, "st.param.$s [func_retval0+0], $v;", class_info[r->cls].bits, v);
    }
    scope_leave(g);
}

/* -- Functions ------------------------------------------------------------------------------------------ */

static void print_formal(Gen *g, const Function *f, const Formal *p, const char *name)
{
    Out *out = &g->code;
    if (f->in_registers)
        out_fmt(out, ".reg .%s %s", p->passing == BY_POINTER ? "b64" : bank_info[class_info[p->cls].bank].type, name);
    else if (p->passing == BY_STRUCT)
        out_fmt(out, ".param .align %u .b8 %s[%u]", p->align, name, p->bytes);
    else
        out_fmt(out, ".param .%s %s", formal_type(p), name);
}

static void print_head(Gen *g, const Function *f)
{
    out_z(&g->code, "\n.func ");
    if (f->result.passing != NOTHING) {
        out_z(&g->code, " (");
        print_formal(g, f, &f->result, "func_retval0");
        out_z(&g->code, ")");
    }
    out_fmt(&g->code, " %s(", f->name);
    for (uint32_t k = 0; k < f->n; k++) {
        out_z(&g->code, k ? ",\n\t" : "\n\t");
        print_formal(g, f, &f->formals[k], text(g, "%s_param_%u", f->name, k));
    }
    out_z(&g->code, "\n)\n");
}

static void make(Gen *g, Function *f, uint32_t n)
{
    Scope root, body;
    fn_begin(g, f->name, NULL, n);
    g->fn.store_result = store_result;
    scope_enter(g, &root, 0);
    hash_begin(g);
    load_parameters(g, f);
    variables_enter(g);
    scope_enter(g, &body, 0);
    block(g, n);
    scope_leave(g);
    scope_flush(g);
    label_put(g, g->fn.exit);
    store_result(g);
    code(g, "ret;");
    scope_leave(g);
    f->work = g->fn.work;
    print_head(g, f);
    fn_print(g);
}

void functions_make(Gen *g)
{
    uint32_t n = has(g, FT_CALL) ? roll_between(g, 1, g->options.size < 100 ? 2 : 4) : 0;
    Function *last = NULL;
    for (uint32_t k = 0; k < n; k++) {
        Function *f = NEW(g->arena, Function);
        bool twin = last && has(g, FT_INDIRECT) && chance(g, 1, 2);
        if (twin)
            *f = *last;
        else
            signature(g, f);
        f->twin = twin ? last : NULL;
        f->called = false;
        snprintf(f->name, sizeof f->name, "f%u", k);
        VEC_PUSH(g->arena, &g->functions, f);
        make(g, f, roll_between(g, 6, MAX(MIN(g->options.size / 3, 150), 7)));
        last = f;
    }
}
