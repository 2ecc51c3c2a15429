// SPDX-License-Identifier: MIT
// Writes a unit: text, registers, loads and stores of the frame. At its end, registers the results.
#include <inttypes.h>
#include <stdio.h>

#include "tools/origen/unit.h"

enum { REPEAT_BYTES = 300 };

_Noreturn void unit_overflow(const Unit *u, const char *what)
{
    heap_fail(u->g->arena->heap, ST_INTERNAL, "a pattern has too %s: %.80s", what, u->text.at);
}

/* -- Text ----------------------------------------------------------------------------------------------- */

static void append(Unit *u, UnitText *t, const char *s, size_t n)
{
    if (t->n + n >= UNIT_BYTES)
        unit_overflow(u, "much text");
    memcpy(t->at + t->n, s, n);
    t->n += (uint32_t)n;
    t->at[t->n] = 0;
}

void unit_text(Unit *u, const char *s)
{
    append(u, &u->text, s, strlen(s));
    append(u, &u->repeat, s, strlen(s));
}

void unit_number(Unit *u, int64_t n)
{
    char buf[24];
    snprintf(buf, sizeof buf, "%" PRId64, n);
    unit_text(u, buf);
}

static const char *register_name(const Value *v, char buf[static 24])
{
    snprintf(buf, 24, "%%%s%s%u", v->braced ? "t" : "", bank_info[class_info[v->cls].bank].prefix, v->reg);
    return buf;
}

void unit_register(Unit *u, const Value *v)
{
    char buf[24];
    unit_text(u, register_name(v, buf));
}

void unit_own_register(Unit *u, const Value *v, const char *mark)
{
    char buf[24];
    register_name(v, buf);
    append(u, &u->text, buf, strlen(buf));
    append(u, &u->repeat, mark, 3);
}

void unit_start_instruction(Unit *u)
{
    const Fn *fn = &u->g->fn;
    char name[24], guard[32] = "";
    if (fn->guard)
        snprintf(guard, sizeof guard, "@%s%s ", fn->guard_sense ? "" : "!", register_name(fn->guard, name));
    append(u, &u->text, "\t", 1);
    append(u, &u->text, guard, strlen(guard));
    u->starts = false;
}

void unit_char(Unit *u, char c)
{
    append(u, &u->repeat, &c, 1);
    if (u->starts && c == ' ')
        return;
    if (u->starts) {
        unit_start_instruction(u);
        u->blanks = c == '@' ? 2 : 1;
    }
    append(u, &u->text, &c, 1);
    if (c == ' ' && u->blanks && --u->blanks == 0)
        append(u, &u->text, "\t", 1);
    if (c != ';')
        return;
    append(u, &u->text, "\n", 1);
    u->instrs++;
    u->starts = true;
}

/* -- The frame ------------------------------------------------------------------------------------------ */

static Place frame_place(const Gen *g, const Value *v) { return (Place){&g->fn.frame_object, NULL, v->slot}; }

Value *unit_load(Gen *g, Value *v)
{
    if (v->reg)
        return v;
    Place p = frame_place(g, v);
    Value *reg = value_scratch(g, v->cls), *byte = v->cls == CLASS_P ? value_scratch(g, CLASS_H) : reg;
    code(g, "ld$s.$s $w, $o;", space_name(p.object->space), class_info[v->cls].memory, byte, &p);
    if (v->cls == CLASS_P)
        code(g, "and.b16 $h1, $v, 1; setp.eq.b16 $w, $h1, 1;", byte, reg);
    return reg;
}

static void store(Gen *g, const Value *v, Value *reg)
{
    Place p = frame_place(g, v);
    Value *byte = v->cls == CLASS_P ? value_scratch(g, CLASS_H) : reg;
    if (v->cls == CLASS_P)
        code(g, "selp.u16 $w, 1, 0, $v;", byte, reg);
    code(g, "st$s.$s $o, $v;", space_name(p.object->space), class_info[v->cls].memory, &p, byte);
}

/* -- End of a unit -------------------------------------------------------------------------------------- */

static void print_scratch_declarations(Unit *u)
{
    char buf[24];
    for (uint32_t c = 0; c < CLASS_COUNT; c++)
        for (uint32_t k = 0; k < SCRATCHES; k++)
            if (u->scratch[c][k])
                line(u->g, ".reg .%s %s;", bank_info[class_info[c].bank].type, register_name(u->scratch[c][k], buf));
}

static void print(Unit *u)
{
    Fn *fn = &u->g->fn;
    bool braces = u->braced && u->nscratch;
    if (braces) {
        line(u->g, "{");
        print_scratch_declarations(u);
    }
    out_bytes(&u->g->body, u->text.at, u->text.n);
    if (braces)
        line(u->g, "}");
    fn->count += u->instrs;
    fn->work += u->instrs * fn->frequency;
}

// Operands of an exact instruction reach the output through its result, so they stop pending.
static void clear_pending(Unit *u)
{
    const Fn *fn = &u->g->fn;
    if (!(u->traits & EXACT) || fn->guard || fn->dead)
        return;
    for (uint32_t k = 0; k < u->nuses; k++) {
        bool repeat = false;
        for (uint32_t j = 0; j < u->nuses; j++)
            repeat = repeat || (j != k && u->uses[j] == u->uses[k]);
        if (!repeat && u->uses[k]->depth == fn->scope->depth)
            u->uses[k]->pending = false;
    }
}

static void define_results(Unit *u)
{
    Gen *g = u->g;
    bool uniform = u->uniform && active_lanes(g) == ALL_LANES;
    clear_pending(u);
    for (uint32_t k = 0; k < u->ndefs; k++) {
        Def *d = &u->defs[k];
        if (d->value != d->reg)
            store(g, d->value, d->reg);
        d->value->pending = true;
        if (!d->fresh)
            continue;
        d->value->reassignable = has(g, FT_MULTIDEF) && chance(g, 1, 4);
        d->value->uniform = uniform && !d->value->reassignable;
        value_push(g, d->value);
    }
}

static void record_pattern(Unit *u)
{
    Fn *fn = &u->g->fn;
    bool alone = !(u->traits & (WARP | WHOLE)) && !fn->guard && u->ndefs;
    if (!(u->traits & REPEAT) || !alone || u->repeat.n >= REPEAT_BYTES)
        return;
    VEC_PUSH(u->g->arena, &fn->repeats, text(u->g, "%s", u->repeat.at));
}

void unit_finish(Unit *u)
{
    print(u);
    define_results(u);
    record_pattern(u);
}
