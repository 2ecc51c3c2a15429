// SPDX-License-Identifier: MIT
// Makes calls: with .param variables in a scope (as nvcc does), with registers as arguments, and through a register.
#include <stdio.h>

#include "tools/origen/function.h"

enum { TEXT_MOST = 300 };

typedef struct Call {
    const Function *f;
    const Value *callee;  // NULL: a direct call
    uint32_t number;
    Value *arguments[FORMALS_MOST];  // NULL: passed as a structure
    char prefix[24];                 // of parameter names
} Call;

// Returns a function that may be called here, preferably one without a call so far; NULL if there is none.
static Function *pick_function(Gen *g)
{
    const Fn *fn = &g->fn;
    Function *found = NULL;
    uint32_t n = g->functions.n - !fn->kernel, skip = n ? roll(g, n) : 0;
    for (uint32_t k = 0; k < n && (!found || found->called); k++) {
        Function *f = g->functions.at[(k + skip) % n];
        bool affordable = fn->work + fn->frequency * (f->work + 20) <= fn->work_limit;
        if (affordable && (f->pure || !fn->dead) && (!found || !f->called))
            found = f;
    }
    return found;
}

/* -- Arguments ------------------------------------------------------------------------------------------ */

static bool has_structures(const Function *f)
{
    bool has = f->result.passing == BY_STRUCT;
    for (uint32_t k = 0; k < f->n; k++)
        has = has || f->formals[k].passing == BY_STRUCT;
    return has;
}

static Value *pointer_argument(Gen *g, const Formal *f)
{
    const Object *o = object_with_address(g, f->written, f->bytes);
    for (; !o; o = object_with_address(g, f->written, f->bytes))
        make_local(g, 64);
    Value *v = value_scratch(g, CLASS_D);
    generic_address_of(g, o, v);
    return v;
}

static Value *argument(Gen *g, const Formal *f)
{
    if (f->passing == BY_STRUCT)
        return NULL;
    if (f->passing == BY_POINTER)
        return pointer_argument(g, f);
    Value *v = value_pick(g, f->cls);
    if (f->cls != CLASS_H)
        return v;
    Value *wide = value_scratch(g, CLASS_R);
    code(g, "cvt.u32.u16 $w, $v;", wide, v);
    return wide;
}

static const char *parameter_name(Gen *g, const Call *c, const char *what, uint32_t k)
{
    return text(g, "%s%s%u", c->prefix, what, k);
}

static void declare(Gen *g, const Formal *f, const char *name)
{
    if (f->passing == BY_STRUCT)
        line(g, ".param .align %u .b8 %s[%u];", f->align, name, f->bytes);
    else
        line(g, ".param .%s %s;", formal_type(f), name);
}

static Object structure_at(const Formal *f, const char *name)
{
    Object o = {.space = SPACE_PARAM, .symbol = name, .bytes = f->bytes, .align = f->align};
    o.fixed = true;
    return o;
}

static void store_argument(Gen *g, const Call *c, uint32_t k)
{
    const Formal *f = &c->f->formals[k];
    const char *name = parameter_name(g, c, "param", k);
    declare(g, f, name);
    if (f->passing != BY_STRUCT) {
        code(g, "st.param.$s [$s+0], $v;", formal_type(f), name, c->arguments[k]);
        return;
    }
    Object o = structure_at(f, name);
    store_all(g, &o);
}

/* -- The call itself ------------------------------------------------------------------------------------ */

static void append(char *to, const char *s)
{
    size_t n = strlen(to);
    snprintf(to + n, TEXT_MOST - n, "%s", s);
}

static void prototype_of(Gen *g, const Formal *f, char *to)
{
    append(to, f->passing == BY_STRUCT ? text(g, ".param .align %u .b8 _[%u]", f->align, f->bytes)
                                       : text(g, ".param .%s _", formal_type(f)));
}

static void prototype(Gen *g, const Call *c)
{
    char to[TEXT_MOST] = "";
    if (c->f->result.passing != NOTHING) {
        append(to, "(");
        prototype_of(g, &c->f->result, to);
        append(to, ") ");
    }
    append(to, "_ (");
    for (uint32_t k = 0; k < c->f->n; k++) {
        append(to, k ? ", " : "");
        prototype_of(g, &c->f->formals[k], to);
    }
    line(g, "prototype_%u: .callprototype %s);", c->number, to);
}

// Writes a call whose arguments are .param variables.
static void call_by_names(Gen *g, const Call *c)
{
    char args[TEXT_MOST] = "";
    for (uint32_t k = 0; k < c->f->n; k++) {
        append(args, k ? ", " : "");
        append(args, parameter_name(g, c, "param", k));
    }
    const char *result = c->f->result.passing == NOTHING ? "" : text(g, "(%s), ", parameter_name(g, c, "retval", 0));
    if (c->callee) {
        prototype(g, c);
        code(g, "call $s$v, ($s), prototype_$u;", result, c->callee, args, c->number);
    } else {
        code(g, "call<.uni|> $s$s, ($s);", result, c->f->name, args);
    }
}

static void take_result(Gen *g, const Call *c)
{
    const Formal *r = &c->f->result;
    const char *name = parameter_name(g, c, "retval", 0);
    char pattern[60];
    if (r->passing == BY_STRUCT) {
        Object o = structure_at(r, name);
        load_all(g, &o);
    } else if (r->passing == BY_VALUE) {
        snprintf(pattern, sizeof pattern, "ld.param.%s $=%c, [$s+0];", class_info[r->cls].bits,
                 class_info[r->cls].letter);
        code_with(g, LANE, pattern, name);
    }
}

static void call_with_parameters(Gen *g, Call *c)
{
    bool scoped = c->callee || chance(g, 3, 4);
    if (scoped)
        line(g, "{ // callseq %u, 0", c->number);
    else
        snprintf(c->prefix, sizeof c->prefix, "call%u_", c->number);
    for (uint32_t k = 0; k < c->f->n; k++)
        store_argument(g, c, k);
    if (c->f->result.passing != NOTHING)
        declare(g, &c->f->result, parameter_name(g, c, "retval", 0));
    call_by_names(g, c);
    take_result(g, c);
    if (scoped)
        line(g, "} // callseq %u", c->number);
}

static void call_with_registers(Gen *g, const Call *c)
{
    char pattern[TEXT_MOST] = "call<.uni|> ";
    const Formal *r = &c->f->result;
    if (r->passing == BY_VALUE)
        append(pattern, text(g, "($=%c), ", class_info[r->cls].letter));
    append(pattern, "$s, (");
    for (uint32_t k = 0; k < c->f->n; k++)
        append(pattern, k ? ", $v" : "$v");
    append(pattern, ");");
    code_with(g, LANE, pattern, c->f->name, c->arguments[0], c->arguments[1], c->arguments[2], c->arguments[3],
              c->arguments[4]);
}

static Value *callee(Gen *g, const Function *f)
{
    Value *one = value_scratch(g, CLASS_D), *other = value_scratch(g, CLASS_D), *either = value_scratch(g, CLASS_D);
    code(g, "mov.u64 $w, $s; mov.u64 $w, $s;", one, f->name, other, f->twin->name);
    Value *p = condition(g, false);
    code(g, "selp.b64 $w, $v, $v, $v;", either, one, other, p);
    return either;
}

static void call(Gen *g, Function *f)
{
    Call c = {.f = f, .number = g->calls++};
    f->called = f->called || !g->fn.dead;
    for (uint32_t k = 0; k < c.f->n; k++)
        c.arguments[k] = argument(g, &c.f->formals[k]);
    bool plain = !has_structures(c.f) && c.f->result.cls != CLASS_H;
    if (c.f->twin && !c.f->in_registers && chance(g, 1, 2))
        c.callee = callee(g, c.f);
    if (c.f->in_registers || (plain && !c.callee && chance(g, 1, 6)))
        call_with_registers(g, &c);
    else
        call_with_parameters(g, &c);
    g->fn.work += g->fn.frequency * MAX(c.f->work, c.f->twin ? c.f->twin->work : 0);
}

void make_call(Gen *g, uint32_t n)
{
    Function *f = pick_function(g);
    if (f)
        call(g, f);
    else
        make_straight(g, n);
}

void call_remaining(Gen *g)
{
    for (uint32_t k = 0; k < g->functions.n; k++)
        if (!g->functions.at[k]->called)
            call(g, g->functions.at[k]);
}
