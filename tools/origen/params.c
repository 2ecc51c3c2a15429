// SPDX-License-Identifier: MIT
// Plans the parameters of a kernel, and loads them at its start.
#include "tools/origen/kernel.h"

enum { RECORD_HEAD = 16 };  // bytes of the accumulators

static const struct {
    const char *type, *range;
} inputs[] = {
    {"u32", ""}, {"f32", ":-100:100"}, {"f64", ":-10:10"}, {"s32", ":-8:9"},
    {"u8", ""},  {"s16", ":-300:300"}, {"f32", ":0:1"},
};

static const struct {
    const char *type;
    Class cls;
} scalars[] = {
    {"u32", CLASS_R}, {"s32", CLASS_R}, {"u64", CLASS_D}, {"s64", CLASS_D}, {"f32", CLASS_F}, {"f64", CLASS_G},
    {"u16", CLASS_H}, {"s16", CLASS_H}, {"u8", CLASS_R},  {"s8", CLASS_R},  {"b32", CLASS_R}, {"b64", CLASS_D},
};

static void add(Gen *g, Kernel *k, Param p)
{
    if (p.kind != PARAM_SLOTS && p.kind != PARAM_INPUT)
        p.of = k->params.n;
    VEC_PUSH(g->arena, &k->params, p);
}

static void add_inputs(Gen *g, Kernel *k)
{
    uint32_t first = k->params.n, n = has(g, FT_INPUT) ? roll_between(g, 1, 2) : 0;
    for (uint32_t j = 0; j < n; j++) {
        uint32_t kind = roll(g, ARRAY_LEN(inputs)), bytes = 128u << roll(g, 4);
        Param p = {.kind = PARAM_INPUT, .type = inputs[kind].type, .range = inputs[kind].range, .bytes = bytes};
        p.of = k->params.n;
        add(g, k, p);
    }
    if (n && has(g, FT_ALIAS) && chance(g, 1, 2))
        add(g, k, k->params.at[first]);
}

static void add_slots(Gen *g, Kernel *k)
{
    Param p = {.kind = PARAM_SLOTS, .type = "u32", .range = "", .of = k->params.n};
    p.bytes = 16 * roll_between(g, 1, 4);
    if (!has(g, FT_SLOTS))
        return;
    add(g, k, p);
    if (has(g, FT_ALIAS))
        add(g, k, p);
}

static void add_scalars(Gen *g, Kernel *k)
{
    add(g, k, (Param){.kind = PARAM_SCALAR, .type = "u32", .cls = CLASS_R});
    for (uint32_t n = roll(g, 4); n; n--) {
        uint32_t s = roll(g, ARRAY_LEN(scalars));
        if (class_on(g, scalars[s].cls))
            add(g, k, (Param){.kind = PARAM_SCALAR, .type = scalars[s].type, .cls = scalars[s].cls});
    }
}

void params_plan(Gen *g, Kernel *k)
{
    uint32_t words = MAX(MIN(g->options.size / 20, 30), 2);
    add(g, k, (Param){.kind = PARAM_RECORD, .bytes = RECORD_HEAD + (words & ~1u) * 8});
    add_inputs(g, k);
    add_slots(g, k);
    if (has(g, FT_ATOMIC))
        add(g, k, (Param){.kind = PARAM_COUNTS, .bytes = counts_bytes()});
    add_scalars(g, k);
    if (has(g, FT_AGGREGATE) && chance(g, 1, 2))
        add(g, k, (Param){.kind = PARAM_STRUCT, .bytes = 8 * roll_between(g, 1, 6)});
    if (has(g, FT_EXIT) && chance(g, 1, 3))
        add(g, k, (Param){.kind = PARAM_LIMIT, .type = "u32", .cls = CLASS_R});
}

/* -- At the beginning of the kernel --------------------------------------------------------------------- */

Value *part_of_thread(Gen *g, const char *symbol, Value *from, Value *thread, uint32_t bytes)
{
    Value *part = value_make(g, CLASS_D);
    if (symbol)
        code(g, "mov.u64 $d1, $s; mad.wide.u32 $w, $v, $u, $d1;", symbol, part, thread, bytes);
    else if (chance(g, 1, 2))
        code(g, "mul.wide.<u32|s32> $d1, $v, $u; add.s64 $w, $v, $d1;", thread, bytes, part, from);
    else
        code(g, "mul.lo.s32 $r1, $v, $u; cvt.s64.s32 $d1, $r1; add.s64 $w, $v, $d1;", thread, bytes, part, from);
    return part;
}

static Object buffer(Gen *g, const Param *p, const char *name, Value *thread)
{
    Object o = {.bytes = p->bytes, .align = 16, .actual_space = SPACE_GLOBAL, .constant = p->kind == PARAM_INPUT};
    bool whole = p->kind == PARAM_INPUT || p->kind == PARAM_COUNTS;
    Value *base = value_make(g, CLASS_D);
    o.space = g->fn.flavor->generic && chance(g, 3, 4) ? SPACE_GENERIC : SPACE_GLOBAL;
    o.type = p->type;
    code(g, "ld.param.u64 $w, [$s];", base, name);
    if (o.space == SPACE_GLOBAL) {
        Value *global = value_make(g, CLASS_D);
        code(g, "cvta.to.global.u64 $w, $v;", global, base);
        base = global;
    }
    o.base = whole ? base : part_of_thread(g, NULL, base, thread, p->bytes);
    return o;
}

static Value *scalar(Gen *g, const Param *p, const char *name)
{
    Value *v = value_make(g, p->cls);
    code(g, "ld.param.$s $w, [$s];", p->type, v, name);
    v->uniform = true;
    value_push(g, v);
    return v;
}

static void exit_beyond_limit(Gen *g, Value *limit, Value *thread)
{
    Value *p = value_scratch(g, CLASS_P);
    code(g, "setp.ge.<u32|s32> $w, $v, $v;", p, thread, limit);
    branch(g, p, true, g->fn.exit);
    g->fn.divergent_exit = true;
}

// Loads one element for each thread, as most kernels do.
static void load_own_element(Gen *g, const Object *o, Value *thread)
{
    Move m = move_pick(g, o, 16);
    uint32_t n = o->bytes / move_bytes(m);
    Value *address = value_scratch(g, CLASS_D);
    code(g, "and.b32 $r1, $v, $u; mul.wide.<s32|u32> $d1, $r1, $u; add.s64 $w, $v, $d1;", thread, n - 1, move_bytes(m),
         address, o->base);
    Place p = {o, address, 0};
    load_at(g, m, &p);
}

static void load(Gen *g, const Param *p, const char *name, Value *thread)
{
    Object o = {.space = SPACE_PARAM, .symbol = name, .bytes = p->bytes, .align = 8, .constant = true, .fixed = true};
    switch (p->kind) {
    case PARAM_SCALAR: scalar(g, p, name); return;
    case PARAM_LIMIT: exit_beyond_limit(g, scalar(g, p, name), thread); return;
    case PARAM_STRUCT: object_push(g, o); return;
    default: break;
    }
    Object *b = NEW(g->arena, Object);
    *b = buffer(g, p, name, thread);
    if (p->kind == PARAM_RECORD)
        g->fn.record = b;
    else if (p->kind == PARAM_COUNTS)
        g->fn.counts = b;
    else
        object_push(g, *b);
    if (p->kind == PARAM_INPUT)
        load_own_element(g, b, thread);
}

void params_load(Gen *g, const Kernel *k, Value *thread)
{
    for (uint32_t j = 0; j < k->params.n; j++)
        load(g, &k->params.at[j], text(g, "%s_param_%u", k->name, j), thread);
    g->fn.record_used = RECORD_HEAD;
}

void params_print(Gen *g, const Kernel *k)
{
    for (uint32_t j = 0; j < k->params.n; j++) {
        const Param *p = &k->params.at[j];
        out_z(g->to, j ? ",\n\t.param " : "\n\t.param ");
        if (p->kind == PARAM_STRUCT)
            out_fmt(g->to, ".align 8 .b8 %s_param_%u[%u]", k->name, j, p->bytes);
        else
            out_fmt(g->to, ".%s %s_param_%u", p->kind == PARAM_SCALAR || p->kind == PARAM_LIMIT ? p->type : "u64",
                    k->name, j);
    }
}
