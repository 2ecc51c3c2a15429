// SPDX-License-Identifier: MIT
// Makes calls: with .param variables in a scope (as nvcc does) or shared by several calls, with registers as arguments,
// through a register, guarded, and recursive.
#include <stdio.h>

#include "tools/origen/function.h"

enum { TEXT_MOST = 300 };

typedef struct Call {
    const Function *f;
    const Value *callee;  // NULL: a direct call
    uint32_t number;
    Value *arguments[FORMALS_MOST];            // NULL: passed as a structure
    const char *names[FORMALS_MOST], *result;  // of the variables of parameters
    bool shared;                               // with other calls
    bool of_table;                             // the callee is from the table of the function
    const Value *guard;                        // NULL: none
    bool sense;
    Value *value;  // result of a guarded call, initialized; NULL: none
} Call;

// True if the lanes that a function requires arrive.
static bool lanes_arrive(const Gen *g, const Function *f)
{
    uint32_t lanes = g->fn.unreachable ? 0 : active_lanes(g);
    return !f->lanes || (f->lanes == ALL_LANES ? lanes == ALL_LANES : lanes != 0);
}

bool call_is_affordable(const Gen *g, const Function *f)
{
    return g->fn.work + g->fn.frequency * (f->work + 20) <= g->fn.work_limit;
}

static bool is_callable(const Gen *g, const Function *f)
{
    const Fn *fn = &g->fn;
    bool partner = fn->function && fn->function->partner == f;
    return call_is_affordable(g, f) && !partner && (f->pure || !fn->dead) && !f->stops && !f->unused &&
           lanes_arrive(g, f);
}

// Returns a function that may be called here, preferably one without a call so far; NULL if there is none.
static Function *pick_function(Gen *g)
{
    Function *found = NULL;
    uint32_t n = g->functions.n, skip = n ? roll(g, n) : 0;
    for (uint32_t k = 0; k < n && (!found || found->called); k++) {
        Function *f = g->functions.at[(k + skip) % n];
        if (is_callable(g, f) && (!found || !f->called))
            found = f;
    }
    return found;
}

/* -- Arguments ------------------------------------------------------------------------------------------ */

// True if a call may have registers as arguments and results.
static bool is_plain(const Function *f)
{
    bool plain = f->result.passing != BY_STRUCT && f->result.passing != BY_POINTER && !f->result.type &&
                 f->result.cls != CLASS_H;
    for (uint32_t k = 0; k < f->n; k++)
        plain = plain && f->formals[k].passing != BY_STRUCT && !f->formals[k].type;
    return plain;
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

static Value *argument(Gen *g, const Call *c, const Formal *f)
{
    if (f->passing == BY_STRUCT)
        return NULL;
    if (f->passing == BY_POINTER)
        return pointer_argument(g, f);
    if (f->role == COUNTER && g->fn.function && g->fn.function->partner == c->f) {
        Value *less = value_scratch(g, CLASS_R);
        code(g, "add.<s32|u32> $w, $v, -1;", less, g->fn.counter);
        return less;
    }
    if (f->role == MASK) {
        Value *mask = value_scratch(g, CLASS_R);
        code(g, "mov.b32 $w, $m;", mask);
        return mask;
    }
    Value *v = value_pick(g, f->cls);
    if (f->cls != CLASS_H || f->type)
        return v;
    Value *wide = value_scratch(g, CLASS_R);
    code(g, "cvt.u32.u16 $w, $v;", wide, v);
    return wide;
}

static const char *declaration(Gen *g, const Formal *f, const char *name)
{
    return f->passing == BY_STRUCT ? text(g, ".param .align %u .b8 %s[%u];", f->align, name, f->bytes)
                                   : text(g, ".param .%s %s;", formal_type(f), name);
}

// Returns a variable of the function that this call does not use yet.
static const char *shared_variable(Gen *g, const Call *c, const Formal *f, bool result)
{
    Fn *fn = &g->fn;
    const char *like = declaration(g, f, "");
    for (uint32_t k = 0; k < fn->passed.n; k++) {
        Passed *p = &fn->passed.at[k];
        bool same = p->result == result || chance(g, 1, 4);
        if (same && p->call != c->number && strcmp(p->declaration, like) == 0) {
            p->result = result;
            p->call = c->number;
            return p->name;
        }
    }
    const char *name = text(g, "passed%u", fn->passed.n);
    out_fmt(&fn->declarations, "\t%s\n", declaration(g, f, name));
    VEC_PUSH(g->arena, &fn->passed, ((Passed){name, like, result, c->number}));
    return name;
}

static void name_variables(Gen *g, Call *c, const char *prefix)
{
    const Function *f = c->f;
    for (uint32_t k = 0; k < f->n; k++)
        c->names[k] = c->shared ? shared_variable(g, c, &f->formals[k], false) : text(g, "%sparam%u", prefix, k);
    c->result = c->shared && f->result.passing != NOTHING ? shared_variable(g, c, &f->result, true)
                                                          : text(g, "%sretval0", prefix);
}

static Object structure_at(const Formal *f, const char *name)
{
    Object o = {.space = SPACE_PARAM, .symbol = name, .bytes = f->bytes, .align = f->align};
    o.fixed = true;
    return o;
}

static bool has_literal(Gen *g, const Formal *f)
{
    bool literal = f->passing == BY_VALUE && f->role == ANY_VALUE && !f->type && f->cls != CLASS_H;
    return literal && has(g, FT_GRAPH) && chance(g, 1, 6);
}

static void store_argument(Gen *g, const Call *c, uint32_t k)
{
    const Formal *f = &c->f->formals[k];
    const char *name = c->names[k];
    if (!c->shared)
        line(g, "%s", declaration(g, f, name));
    if (has_literal(g, f)) {
        Literal l = literal(g, f->cls);
        code(g, "st.param.$s [$s+0], $s;", formal_type(f), name, l.text);
        return;
    }
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

// Returns the functions that the register of a call may be the address of, and possibly another one.
static const char *listed(Gen *g, const Call *c)
{
    const Function *f = c->f, *more = f->twin ? f->twin->twin : NULL;
    if (c->of_table)
        return f->table->list;
    const char *list =
        chance(g, 1, 2) ? text(g, "%s, %s", f->name, f->twin->name) : text(g, "%s, %s", f->twin->name, f->name);
    return more && chance(g, 1, 3) ? text(g, "%s, %s", more->name, list) : list;
}

static void prototype(Gen *g, const Call *c)
{
    char to[TEXT_MOST] = "";
    if (has(g, FT_TARGETS) && chance(g, 1, 2)) {
        line(g, "prototype_%u: .calltargets %s;", c->number, listed(g, c));
        return;
    }
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
        append(args, c->names[k]);
    }
    const char *result = c->f->result.passing == NOTHING ? "" : text(g, "(%s), ", c->result);
    if (c->callee)
        prototype(g, c);
    g->fn.guard = c->guard;
    g->fn.guard_sense = c->sense;
    if (c->callee)
        code(g, "call $s$v, ($s), prototype_$u;", result, c->callee, args, c->number);
    else
        code(g, "call<.uni|> $s$s, ($s);", result, c->f->name, args);
    g->fn.guard = NULL;
}

// Makes the memory accessible whose address is the result.
static void take_pointer(Gen *g, const Call *c)
{
    const Formal *r = &c->f->result;
    Object o = {.space = SPACE_GENERIC, .bytes = r->bytes, .align = r->align, .actual_space = SPACE_SHARED};
    o.base = value_make(g, CLASS_D);
    code(g, "ld.param.b64 $w, [$s+0];", o.base, c->result);
    load_from(g, object_push(g, o));
}

static void take_result(Gen *g, const Call *c)
{
    const Formal *r = &c->f->result;
    const ClassInfo *info = &class_info[r->cls];
    char pattern[60];
    if (r->passing == BY_STRUCT) {
        Object o = structure_at(r, c->result);
        load_all(g, &o);
    } else if (r->passing == BY_POINTER) {
        take_pointer(g, c);
    } else if (r->passing == BY_VALUE) {
        snprintf(pattern, sizeof pattern, "ld.param.%s $=%c, [$s+0];", r->load ? r->load : info->bits, info->letter);
        code_with(g, LANE, pattern, c->result);
    }
}

// Takes the result where the guarded call ran: loads it there, or loads it anywhere and selects.
static void take_result_if(Gen *g, const Call *c)
{
    const Formal *r = &c->f->result;
    const ClassInfo *info = &class_info[r->cls];
    uint32_t end = label_new(g);
    Scope s;
    if (r->passing == BY_VALUE && chance(g, 1, 2)) {
        Value *loaded = value_scratch(g, r->cls);
        code(g, "ld.param.$s $w, [$s+0];", r->load ? r->load : info->bits, loaded, c->result);
        const Value *first = c->sense ? loaded : c->value, *second = c->sense ? c->value : loaded;
        code(g, "selp.$s $w, $v, $v, $v;", info->bits, c->value, first, second, c->guard);
        return;
    }
    branch(g, c->guard, !c->sense, end);
    scope_enter(g, &s, 0);
    if (r->passing == BY_VALUE)
        code(g, "ld.param.$s $w, [$s+0];", r->load ? r->load : info->bits, c->value, c->result);
    else
        take_result(g, c);
    scope_leave(g);
    label_put(g, end);
}

static void call_with_parameters(Gen *g, Call *c)
{
    c->shared = !c->guard && has(g, FT_PARAM_REUSE) && chance(g, 1, 2);
    bool scoped = c->callee || chance(g, 3, 4), takes = c->f->result.passing != NOTHING;
    if (c->guard && c->f->result.passing == BY_VALUE) {
        c->value = value_make(g, c->f->result.cls);
        code(g, "mov.$s $w, $s;", class_info[c->value->cls].bits, c->value, class_info[c->value->cls].one);
    }
    if (scoped)
        line(g, "{ // callseq %u, 0", c->number);
    name_variables(g, c, scoped ? "" : text(g, "call%u_", c->number));
    for (uint32_t k = 0; k < c->f->n; k++)
        store_argument(g, c, k);
    if (takes && !c->shared)
        line(g, "%s", declaration(g, &c->f->result, c->result));
    call_by_names(g, c);
    if (takes)
        (c->guard ? take_result_if : take_result)(g, c);
    if (scoped)
        line(g, "} // callseq %u", c->number);
    if (c->value)
        value_push(g, c->value);
}

static void call_with_registers(Gen *g, const Call *c)
{
    char pattern[TEXT_MOST] = "call<.uni|> ";
    const Formal *r = &c->f->result;
    Value *v[FORMALS_MOST] = {NULL};
    uint32_t n = 0;
    if (r->passing == BY_VALUE)
        append(pattern, text(g, "($=%c), ", class_info[r->cls].letter));
    append(pattern, "$s, (");
    for (uint32_t k = 0; k < c->f->n; k++) {
        const Formal *f = &c->f->formals[k];
        append(pattern, k ? ", " : "");
        if (has_literal(g, f)) {
            Literal l = literal(g, f->cls);
            append(pattern, l.text);
            continue;
        }
        append(pattern, "$v");
        v[n++] = c->arguments[k];
    }
    append(pattern, ");");
    g->fn.guard = c->guard;
    g->fn.guard_sense = c->sense;
    code_with(g, LANE, pattern, c->f->name, v[0], v[1], v[2], v[3], v[4], v[5]);
    g->fn.guard = NULL;
}

/* -- Callees -------------------------------------------------------------------------------------------- */

static Value *one_of_two(Gen *g, const Function *f)
{
    Value *one = value_scratch(g, CLASS_D), *other = value_scratch(g, CLASS_D), *either = value_scratch(g, CLASS_D);
    code(g, "mov.u64 $w, $s; mov.u64 $w, $s;", one, f->name, other, f->twin->name);
    Value *p = condition(g, false);
    code(g, "selp.b64 $w, $v, $v, $v;", either, one, other, p);
    return either;
}

static Value *one_of_table(Gen *g, const FunctionTable *t)
{
    Value *f = value_scratch(g, CLASS_D);
    if (chance(g, 1, 5)) {
        code(g, "ld$s.u64 $w, [$s+$u];", space_name(t->space), f, t->name, 8 * roll(g, t->n));
        return f;
    }
    Value *index = value_pick(g, CLASS_R);
    code(g,
         "rem.u32 $r1, $v, $u; mul.wide.<u32|s32> $d1, $r1, 8; mov.u64 $d2, $s; add.s64 $d3, $d2, $d1; ld$s.u64 $w, "
         "[$d3];",
         index, t->n, t->name, space_name(t->space), f);
    return f;
}

static void call(Gen *g, const Function *f, const Value *guard, bool sense)
{
    Call c = {.f = f, .number = g->calls++, .guard = guard, .sense = sense};
    uint64_t work = MAX(f->work, f->twin ? f->twin->work : 0);
    for (uint32_t k = 0; k < f->n; k++)
        c.arguments[k] = argument(g, &c, &f->formals[k]);
    if (f->table && chance(g, 3, 4)) {
        c.callee = one_of_table(g, f->table);
        c.of_table = true;
        work = f->table->work;
    } else if (f->twin && !f->in_registers && chance(g, 1, 2)) {
        c.callee = one_of_two(g, f);
    }
    if (f->in_registers || (is_plain(f) && !c.callee && chance(g, 1, 6)))
        call_with_registers(g, &c);
    else
        call_with_parameters(g, &c);
    g->fn.work += g->fn.frequency * work;
}

void call_directly(Gen *g, Function *f)
{
    f->called = f->called || !g->fn.dead;
    call(g, f, NULL, true);
}

/* -- Statements ----------------------------------------------------------------------------------------- */

void make_call(Gen *g, uint32_t n)
{
    Function *f = pick_function(g);
    if (!f) {
        make_straight(g, n);
        return;
    }
    call_directly(g, f);
    if (has(g, FT_GRAPH) && chance(g, 1, 4) && is_callable(g, f))
        call_directly(g, f);
}

void make_guarded_call(Gen *g, uint32_t n)
{
    Function *f = pick_function(g);
    for (uint32_t k = 0; k < 3 && f && f->pure; k++)  // a pure call may run where it must not
        f = pick_function(g);
    if (!f || f->lanes || f->result.passing == BY_POINTER) {
        make_straight(g, n);
        return;
    }
    Value *p = condition(g, false);
    call(g, f, p, chance(g, 2, 3));
}

void call_recursively(Gen *g)
{
    Fn *fn = &g->fn;
    const Function *partner = fn->function->partner;
    bool guarded = has(g, FT_GUARDED_CALL) && partner->result.passing != BY_POINTER && chance(g, 1, 3);
    uint32_t end = label_new(g);
    Value *p = value_scratch(g, CLASS_P);
    Scope s;
    code(g, "setp.eq.<s32|u32|b32> $w, $v, 0;", p, fn->counter);
    if (!guarded)
        branch(g, p, true, end);
    scope_enter(g, &s, 0);
    for (uint32_t k = 0; k < fn->function->fanout; k++)
        call(g, partner, guarded ? p : NULL, false);
    scope_leave(g);
    label_put(g, end);
    fn->work -= fn->frequency * fn->function->fanout * partner->work;  // graph.c adds it
}

// Makes a call of a function that never returns; returns false if there is none.
static bool call_stopping(Gen *g)
{
    for (uint32_t k = 0; k < g->functions.n; k++)
        if (g->functions.at[k]->stops) {
            call_directly(g, g->functions.at[k]);
            return true;
        }
    return false;
}

// Sets `divergent_exit` if lanes that diverged may no longer join, because some of them could exit.
void make_stop(Gen *g, uint32_t n)
{
    Fn *fn = &g->fn;
    Value *p = never_condition(g);
    bool calls = n >= 6 && chance(g, 1, 2), exits = chance(g, 1, 2);
    const char *end = exits ? "<exit|trap; exit>;" : "trap;";
    if (!calls && chance(g, 1, 2)) {
        code(g, exits ? "@$v exit;" : "@$v trap;", p);
    } else {
        uint32_t on = label_new(g);
        branch(g, p, false, on);
        if (!calls || !call_stopping(g) || exits)
            code(g, end);
        label_put(g, on);
    }
    fn->divergent_exit = fn->divergent_exit || (exits && active_lanes(g) != ALL_LANES);
}

void call_remaining(Gen *g)
{
    for (uint32_t k = 0; k < g->functions.n; k++) {
        Function *f = g->functions.at[k];
        if (!f->called && !f->stops && !f->unused && lanes_arrive(g, f))
            call_directly(g, f);
    }
}
