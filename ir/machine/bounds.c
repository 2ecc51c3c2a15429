// SPDX-License-Identifier: MIT
// Assigns addresses to variables, and checks bounds. Without the check, variables of a space are adjacent, and
// addresses in shared, local and parameter memory are offsets of host memory. With the check, each variable has gaps
// around it, without host memory. So an address that is computed from one variable reaches another variable only if it
// skips a whole gap. Any other access outside of a variable is a fault, whose message names the nearest variable.
//
// Gaps: 64 KiB in local and parameter memory; in shared memory up to 256 KiB, less with more than 16 variables, since
// all lie in SHARED_MAX; 64 GiB in global and constant memory.
#include <stdio.h>

#include "ir/machine/machine_internal.h"

enum { NAME_ROOM = 102 };
enum { STACK_GAP = 1 << 16, SHARED_GAPS = 1 << 22, SHARED_GAP = 1 << 18, GAP_ALIGN = 16 };

/* -- Places --------------------------------------------------------------------------------------------- */

// Returns the gap between shared variables: a power of two.
static uint64_t shared_gap(const Machine *m)
{
    uint64_t n = 1, gap = SHARED_GAP;
    for (SymId s = 1; s < m->module->syms.n; s++)
        n += m->module->syms.at[s].kind == SYM_VAR && m->module->syms.at[s].space == SP_SHARED;
    for (uint32_t k = 0; k < m->module->fns.n; k++) {
        const Fn *fn = m->module->fns.at[k];
        for (uint32_t s = 1; fn && s < fn->syms.n; s++) {
            const Sym *sym = ir_sym(fn, s | SYM_LOCAL);
            n += sym->kind == SYM_VAR && sym->space == SP_SHARED;
        }
    }
    while (gap > GAP_ALIGN && gap * n > SHARED_GAPS)
        gap /= 2;
    return gap;
}

void layout_init(Machine *m)
{
    if (!m->options.check_bounds)
        return;
    m->shared_gap = shared_gap(m);
    m->stack_gap = STACK_GAP;
}

uint64_t layout_place(Machine *m, Layout *l, uint64_t gap, const Tables *t, const Sym *s)
{
    Variable v = {.size = s->size, .name = s->name, .tables = t};
    v.host = v.at = memory_place(&l->host, s->align, s->size);
    if (gap) {
        memory_place(&l->end, 1, gap);
        v.at = memory_place(&l->end, s->align, s->size);
    } else {
        l->end = l->host;
    }
    VEC_PUSH(&m->arena, &l->variables, v);
    return v.at;
}

uint64_t layout_close(Layout *l, uint64_t gap)
{
    memory_place(&l->host, GAP_ALIGN, 0);
    l->end = gap ? l->end + gap : l->host;
    memory_place(&l->end, GAP_ALIGN, 0);
    return l->end;
}

/* -- Lookup --------------------------------------------------------------------------------------------- */

// Returns the last variable at or before an address of host memory, or of the layout; NULL = none.
static const Variable *variable_before(const Layout *l, uint64_t at, bool host)
{
    uint32_t low = 0, high = l->variables.n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        const Variable *v = &l->variables.at[mid];
        if ((host ? v->host : v->at) <= at)
            low = mid + 1;
        else
            high = mid;
    }
    return low ? &l->variables.at[low - 1] : NULL;
}

static bool holds(const Variable *v, uint64_t at, uint32_t size)
{
    return at >= v->at && at - v->at <= v->size && size <= v->size - (at - v->at);
}

// Returns the distance of an address from the nearest byte of a variable, or from its end.
static uint64_t distance(const Variable *v, uint64_t at)
{
    if (at < v->at)
        return v->at - at;
    return at - v->at < v->size ? 0 : at - v->at - v->size;
}

// Returns the variable that is nearest to an address; NULL = there is none. `more` as in translate().
static const Variable *nearest(const Layout *l, uint64_t at, const Variable *more)
{
    const Variable *before = variable_before(l, at, false);
    const Variable *after = before ? before + 1 : l->variables.at;
    if (after == l->variables.at + l->variables.n)
        after = more;
    if (!before || !after)
        return before ? before : after;
    return distance(before, at) <= distance(after, at) ? before : after;
}

/* -- Reports -------------------------------------------------------------------------------------------- */

static const char *const space_names[] = {
    [SP_SHARED] = "shared", [SP_LOCAL] = "local", [SP_PARAM] = "parameter", [SP_GLOBAL] = "global"};

// Returns the name of a variable in quotes.
static const char *variable_name(const Variable *v, char buf[static NAME_ROOM])
{
    char name[NAME_ROOM - 2];
    if (!v->tables)
        return v->text;
    snprintf(buf, NAME_ROOM, "'%s'", name_text(v->tables, v->name, name, sizeof name));
    return buf;
}

static bool outside(Run *r, const Group *g, const Code *c, uint32_t lane, const BoundsCheck *b, const Variable *v)
{
    char name[NAME_ROOM];
    const char *verb = b->write ? "write" : "read";
    if (!v)
        return fault(r, g, c, lane, "%s of %u bytes at %#llx of %s memory, which is outside all variables", verb,
                     b->size, (unsigned long long)b->at, space_names[b->space]);
    bool under = b->at < v->at;
    return fault(r, g, c, lane, "%s of %u bytes at %s%#llx of %s of %s memory, which has %llu bytes", verb, b->size,
                 under ? "-" : "", (unsigned long long)(under ? v->at - b->at : b->at - v->at), variable_name(v, name),
                 space_names[b->space], (unsigned long long)v->size);
}

/* -- Checks --------------------------------------------------------------------------------------------- */

// Translates an address of a layout to an offset of host memory. `more` = memory that follows the variables, or NULL.
static bool translate(Run *r, const Group *g, const Code *c, uint32_t lane, BoundsCheck *b, const Layout *l,
                      const Variable *more)
{
    const Variable *v = variable_before(l, b->at, false);
    if (more && b->at >= more->at)
        v = more;
    if (v && holds(v, b->at, b->size)) {
        b->host = v->host + (b->at - v->at);
        return true;
    }
    return outside(r, g, c, lane, b, nearest(l, b->at, more));
}

static bool check_shared(Run *r, const Group *g, const Code *c, uint32_t lane, BoundsCheck *b)
{
    const Machine *m = r->machine;
    const Variable dynamic = {
        .at = m->shared.end, .host = m->shared.host, .size = r->launch->shared, .text = "the dynamic part"};
    return translate(r, g, c, lane, b, &m->shared, dynamic.size || m->names_dynamic ? &dynamic : NULL);
}

static bool check_local(Run *r, const Group *g, const Code *c, uint32_t lane, BoundsCheck *b)
{
    const Frame *f = g->frame;
    while (f && b->at < f->locals)
        f = f->caller;
    if (!f)
        return translate(r, g, c, lane, b, &r->machine->local, NULL);
    if (b->at >= frame_end(f))
        return outside(r, g, c, lane, b, NULL);
    uint64_t at = b->at;
    const Variable stack = {
        .at = f->func->span, .host = f->func->locals, .size = f->dynamic, .text = "the alloca part"};
    b->at -= f->locals;
    bool found = translate(r, g, c, lane, b, &f->func->variables, stack.size ? &stack : NULL);
    b->host += f->host;
    b->at = at;
    return found;
}

bool bounds_check(Run *r, const Group *g, const Code *c, uint32_t lane, BoundsCheck *b, bool of_frame)
{
    switch (b->space) {
    case SP_SHARED: return check_shared(r, g, c, lane, b);
    case SP_LOCAL: return check_local(r, g, c, lane, b);
    default:
        return translate(r, g, c, lane, b,
                         of_frame ? &g->frame->func->formals : &func_of(r->machine, r->launch->entry)->launched, NULL);
    }
}

/* -- Names ---------------------------------------------------------------------------------------------- */

void variable_place(Run *r, const Access *a, char place[static 160])
{
    const Machine *m = r->machine;
    char name[NAME_ROOM];
    uint64_t at = a->at;
    if (a->allocation) {
        snprintf(place, 160, "%#llx of %s", (unsigned long long)at, a->allocation->name);
        return;
    }
    const Variable *v = at < m->shared.host ? variable_before(&m->shared, at, true) : NULL;
    const char *text = v ? variable_name(v, name) : "the dynamic part";
    at -= v ? v->host : m->shared.host;
    if (a->owner == r->cta)
        snprintf(place, 160, "%#llx of %s of shared memory", (unsigned long long)at, text);
    else
        snprintf(place, 160, "%#llx of %s of shared memory of block %u,%u,%u", (unsigned long long)at, text,
                 a->owner->at.x, a->owner->at.y, a->owner->at.z);
}
