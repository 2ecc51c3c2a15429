// SPDX-License-Identifier: MIT
// Expands patterns: text of instructions with marks for their variable parts.
//
//     add.<s32|u32> $=r, $r, $r#;      ->    add.s32 %r14, %r7, 12;
//
//     <a|b|c>   one of these texts
//     $=c       a result of class c (its letter in classes.def): a new value, or a reassigned variable
//     $c        a value of class c; $c# also a literal; $c! a value with canonical NaNs, because its bits show
//     $c1       scratch register 1 (to 9) of class c, local to the pattern
//     $#32      an integer below 32
//     $+ $*     the rounding modifier that keeps ptxas from contracting an addition and a multiplication into an fma
//     $m $q     the mask of the lanes that are here, the number of one of them
//     $a $A     the accumulator of hashes, read and written; $c $C the wide one
// Arguments of the caller, in the order of the text:
//     $v $w     a Value *, read and written      $i  an Operand *       $l  a label
//     $o        a Place *, as an address         $s  a string           $u  an unsigned int
//
// Variables of the frame are loaded before the pattern and stored after it, so an instruction of a pattern may use a
// result of another one only through a scratch register. The expansion of a REPEAT pattern is kept for repetition, with
// all choices fixed except results and scratch registers.
#include <stdio.h>
#include <stdlib.h>

#include "tools/origen/unit.h"

/* -- Operands ------------------------------------------------------------------------------------------- */

static void use(Unit *u, Value *v)
{
    if (u->nuses == UNIT_VALUES)
        unit_overflow(u, "many operands");
    u->uses[u->nuses++] = v;
    u->uniform = u->uniform && v->uniform;
    unit_register(u, unit_load(u->g, v));
}

static void use_of_class(Unit *u, Class c, char suffix)
{
    Gen *g = u->g;
    if (suffix == '#' && class_info[c].literals != LITERALS_NONE && chance(g, 1, 3)) {
        Literal l = literal(g, c);
        unit_text(u, l.text);
        return;
    }
    Value *v = value_pick(g, c);
    if (suffix == '!')
        v = canonical_nan_of(g, v);
    use(u, v);
}

static void scratch(Unit *u, Class c, uint32_t k, const char *mark)
{
    Value **at = &u->scratch[c][k];
    if (!*at) {
        *at = value_scratch(u->g, c);
        (*at)->braced = u->braced;
        u->nscratch++;
    }
    unit_own_register(u, *at, mark);
}

static void put_address(Unit *u, const Place *p)
{
    const Object *o = p->object;
    Value *base = p->base ? p->base : o->base;
    int64_t offset = (int64_t)p->offset + (p->base ? 0 : o->start);
    unit_text(u, "[");
    if (base)
        use(u, base);
    else
        unit_text(u, o->symbol);
    if (offset || chance(u->g, 1, 8)) {
        unit_text(u, "+");
        unit_number(u, offset);
    }
    unit_text(u, "]");
}

/* -- Results -------------------------------------------------------------------------------------------- */

static void add_def(Unit *u, Value *v, Value *reg, bool fresh)
{
    if (u->ndefs == UNIT_VALUES)
        unit_overflow(u, "many results");
    u->defs[u->ndefs++] = (Def){v, reg, fresh};
}

static bool is_assigned(const Unit *u, const Value *v)
{
    for (uint32_t k = 0; k < u->ndefs; k++)
        if (u->defs[k].value == v)
            return true;
    return false;
}

// Returns a variable for a guarded result, initialized so that the guard may be false.
static Value *initialized_variable(Gen *g, Class c)
{
    const Value *guard = g->fn.guard;
    Value *v = value_make(g, c);
    g->fn.guard = NULL;
    code(g, "mov.$s $w, $s;", class_info[c].bits, v, class_info[c].one);
    g->fn.guard = guard;
    v->reassignable = true;
    value_push(g, v);
    v->pending = false;
    return v;
}

// Returns the variable that a result is assigned to; NULL: the result is a new value.
static Value *reassigned_variable(Unit *u, Class c)
{
    Gen *g = u->g;
    if (!g->fn.guard && (!has(g, FT_MULTIDEF) || !chance(g, 1, 4)))
        return NULL;
    Value *v = value_assignable(g, c);
    if (v && is_assigned(u, v))
        v = NULL;
    if (!v && g->fn.guard)
        v = initialized_variable(g, c);
    if (v && v->pending)
        observe(g, v);
    return v;
}

static void result(Unit *u, Class c, const char *mark)
{
    Gen *g = u->g;
    Value *v = reassigned_variable(u, c);
    bool fresh = !v;
    if (fresh)
        v = value_make(g, c);
    Value *reg = v->reg ? v : value_scratch(g, c);
    add_def(u, v, reg, fresh);
    unit_own_register(u, reg, mark);
}

static void assign(Unit *u, Value *v)
{
    Value *reg = v->reg ? v : value_scratch(u->g, v->cls);
    add_def(u, v, reg, false);
    unit_register(u, reg);
}

/* -- Marks ---------------------------------------------------------------------------------------------- */

static Class class_of_letter(Unit *u, char letter)
{
    for (uint32_t c = 0; c < CLASS_COUNT; c++)
        if (class_info[c].letter == letter)
            return (Class)c;
    unit_overflow(u, "unknown a class");
}

static void put_rounding(Unit *u, bool add)
{
    if (!has(u->g, FT_CONTRACT) && u->g->bare_add != add)
        unit_text(u, ".rn");
}

static void put_mask(Unit *u)
{
    char buf[16];
    if (u->g->fn.mask) {
        use(u, u->g->fn.mask);
        return;
    }
    snprintf(buf, sizeof buf, "0x%08X", active_lanes(u->g));
    unit_text(u, active_lanes(u->g) == ALL_LANES ? "-1" : buf);
}

static void put_lane(Unit *u)
{
    if (u->g->fn.lane) {
        use(u, u->g->fn.lane);
        return;
    }
    uint32_t lanes = active_lanes(u->g), skip = roll(u->g, (uint32_t)__builtin_popcount(lanes));
    for (; skip; skip--)
        lanes &= lanes - 1;
    unit_number(u, __builtin_ctz(lanes));
}

static void put_argument(Unit *u, char mark)
{
    const Operand *o;
    char buf[40];
    switch (mark) {
    case 'v': use(u, va_arg(u->args, Value *)); break;
    case 'w': assign(u, va_arg(u->args, Value *)); break;
    case 'o': put_address(u, va_arg(u->args, Place *)); break;
    case 's': unit_text(u, va_arg(u->args, const char *)); break;
    case 'u': unit_number(u, va_arg(u->args, unsigned)); break;
    case 'l':
        snprintf(buf, sizeof buf, "%s%u_%u", u->g->fn.flavor->label, u->g->fn.number, va_arg(u->args, unsigned));
        unit_text(u, buf);
        break;
    default:
        o = va_arg(u->args, Operand *);
        if (o->value)
            use(u, o->value);
        else
            unit_number(u, o->literal);
    }
}

// Expands a mark and returns the text after it.
static const char *put_marked(Unit *u, const char *mark)
{
    Fn *fn = &u->g->fn;
    char c = mark[1], suffix = mark[2];
    if (u->starts)
        unit_start_instruction(u);
    if (strchr("vwosuli", c)) {
        put_argument(u, c);
        return mark + 2;
    }
    switch (c) {
    case '=': result(u, class_of_letter(u, suffix), mark); return mark + 3;
    case '#': {
        char *end;
        unit_number(u, roll(u->g, (uint32_t)strtoul(mark + 2, &end, 10)));
        return end;
    }
    case '+':
    case '*': put_rounding(u, c == '+'); return mark + 2;
    case 'm': put_mask(u); return mark + 2;
    case 'q': put_lane(u); return mark + 2;
    case 'a': use(u, fn->hash); return mark + 2;
    case 'A': assign(u, fn->hash); return mark + 2;
    case 'c': use(u, fn->wide_hash); return mark + 2;
    case 'C': assign(u, fn->wide_hash); return mark + 2;
    default: break;
    }
    bool is_scratch = suffix >= '1' && suffix <= '9', has_suffix = is_scratch || suffix == '#' || suffix == '!';
    if (is_scratch)
        scratch(u, class_of_letter(u, c), (uint32_t)(suffix - '0'), mark);
    else
        use_of_class(u, class_of_letter(u, c), suffix);
    return mark + 2 + has_suffix;
}

static void expand(Unit *u, const char *at, const char *end);

// Expands one of the texts between < and >, and returns the text after it.
static const char *put_choice(Unit *u, const char *open)
{
    const char *close = strchr(open, '>'), *from = open + 1;
    uint32_t n = 1;
    for (const char *at = open; at < close; at++)
        n += *at == '|';
    for (uint32_t skip = roll(u->g, n); skip; skip--)
        from = strchr(from, '|') + 1;
    expand(u, from, from + strcspn(from, "|>"));
    return close + 1;
}

static void expand(Unit *u, const char *at, const char *end)
{
    while (at < end)
        if (*at == '<')
            at = put_choice(u, at);
        else if (*at == '$')
            at = put_marked(u, at);
        else
            unit_char(u, *at++);
}

/* -- Patterns ------------------------------------------------------------------------------------------- */

static Value *write_unit(Unit *u, Gen *g, uint32_t traits, const char *pattern)
{
    u->g = g;
    u->traits = traits;
    u->uniform = !(traits & LANE);
    u->starts = true;
    u->braced = has(g, FT_SCOPES) && !g->fn.flavor->blocks && chance(g, 1, 8);
    expand(u, pattern, pattern + strlen(pattern));
    unit_finish(u);
    return u->ndefs ? u->defs[u->ndefs - 1].value : NULL;
}

Value *code(Gen *g, const char *pattern, ...)
{
    Unit u = {0};
    va_start(u.args, pattern);
    Value *v = write_unit(&u, g, 0, pattern);
    va_end(u.args);
    return v;
}

Value *code_with(Gen *g, uint32_t traits, const char *pattern, ...)
{
    Unit u = {0};
    va_start(u.args, pattern);
    Value *v = write_unit(&u, g, traits, pattern);
    va_end(u.args);
    return v;
}

bool code_possible(const Gen *g, uint32_t traits)
{
    uint32_t lanes = g->fn.guard || g->fn.unreachable ? 0 : active_lanes(g);
    return (!(traits & WARP) || lanes) && (!(traits & WHOLE) || lanes == ALL_LANES);
}
