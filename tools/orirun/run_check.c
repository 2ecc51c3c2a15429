// SPDX-License-Identifier: MIT
// Compares memory after launches with the expectations of the plan.
#include <inttypes.h>
#include <stdio.h>

#include "tools/options/files.h"
#include "tools/orirun/run_launch.h"

enum { SHOWN = 4 };  // values that differ

RunDigests run_digests(const RunState *s, const RunView *views)
{
    RunDigests d = {0};
    for (uint32_t k = 0; k < s->bounds.n; k++) {
        const RunBound *b = &s->bounds.at[k];
        if (!b->bytes && !b->again && !s->regions.at[b->region].nondet)
            VEC_PUSH(s->arena, &d.region, b->region);
    }
    d.nbuffers = d.region.n;
    for (uint32_t k = 0; k < s->regions.n; k++) {
        const RunRegion *r = &s->regions.at[k];
        if (!r->symbol || r->nondet || views[k].absent || bytes_digest(views[k].bytes, r->size) == views[k].initial)
            continue;
        VEC_PUSH(s->arena, &d.region, k);
    }
    return d;
}

void run_print_digests(const RunState *s, Out *out)
{
    RunDigests d = run_digests(s, s->here.at);
    for (uint32_t k = 0; k < d.region.n; k++) {
        const RunRegion *r = &s->regions.at[d.region.at[k]];
        out_fmt(out, "%s %016" PRIx64 "\n", r->name, bytes_digest(s->here.at[d.region.at[k]].bytes, r->size));
    }
}

bool run_dump(RunState *s, const RunTarget *t, Out *out)
{
    const RunRegion *r = run_region(s, t);
    if (r)
        bytes_print(out, run_target_name(s, t), t->type, s->here.at[run_region_number(s, r)].bytes, r->size);
    return r;
}

bool run_miss(RunState *s, RunPlace place, const char *fmt, ...)
{
    char text[900];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    s->misses++;
    return run_fail(s->plan, ST_BAD_INPUT, place, "launch %u: %s", s->number, text);
}

// Compares digests. The list may lack variables at its end.
static void check_digests(RunState *s, const RunExpect *e, const RunView *views)
{
    RunDigests d = run_digests(s, views);
    uint32_t have = d.region.n;
    if (e->values.n < d.nbuffers || e->values.n > have)
        run_miss(s, e->target.place, "%u digest%s expected, but there %s %u", e->values.n,
                 e->values.n == 1 ? " is" : "s are", have == 1 ? "is" : "are", have);
    for (uint32_t k = 0; k < MIN(e->values.n, have); k++) {
        const RunRegion *r = &s->regions.at[d.region.at[k]];
        uint64_t is = bytes_digest(views[d.region.at[k]].bytes, r->size);
        if (is != e->values.at[k])
            run_miss(s, e->target.place, "the digest of %s is %016" PRIx64 ", expected %016" PRIx64, r->name, is,
                     e->values.at[k]);
    }
}

void run_miss_value(RunState *s, RunPlace place, const char *name, Type t, uint64_t index, uint64_t is,
                    const char *other, uint64_t value)
{
    char text[300];
    Out out = {.write = out_to_stdio, .user = stderr, .buf = text, .cap = sizeof text};
    out_fmt(&out, "%.120s:%s[%" PRIu64 "] is ", name, type_info[t].name, index);
    value_print(&out, t, is);
    out_fmt(&out, ", %s ", other);
    value_print(&out, t, value);
    run_miss(s, place, "%.*s", (int)out.n, text);
}

// True if a value is as expected, or within one of the tolerances.
static bool is_expected(const RunExpect *e, uint64_t is, uint64_t expected)
{
    Type t = e->target.type;
    return is == expected || (e->near && value_near(t, is, expected, e->ulps)) ||
           (e->within && value_within(t, is, expected, e->absolute, e->relative));
}

static void check_values(RunState *s, const RunExpect *e, const RunView *views)
{
    Type t = e->target.type;
    uint64_t wrong = 0;
    const RunRegion *r = run_region(s, &e->target);
    if (!r)
        return;
    const RunView *v = &views[run_region_number(s, r)];
    if (v->absent) {
        run_miss(s, e->target.place, "the variable '%s' does not exist", r->name);
        return;
    }
    uint64_t n = run_expect_count(e);
    for (uint64_t k = 0; k < n; k++) {
        uint64_t index = e->target.first + k, is = value_load(v->bytes + index * value_bytes(t), t);
        uint64_t expected = e->path ? value_load(e->bytes + k * value_bytes(t), t) : e->values.at[k];
        if (is_expected(e, is, expected))
            continue;
        if (wrong++ < SHOWN)
            run_miss_value(s, e->target.place, run_target_name(s, &e->target), t, index, is, "expected", expected);
    }
    if (wrong > SHOWN)
        run_miss(s, e->target.place, "%" PRIu64 " of %" PRIu64 " values differ", wrong, n);
}

bool run_check(RunState *s, const RunLaunch *l, const RunView *views)
{
    uint32_t misses = s->misses;
    for (uint32_t k = 0; k < l->expects.n; k++) {
        if (l->expects.at[k].digest)
            check_digests(s, &l->expects.at[k], views);
        else
            check_values(s, &l->expects.at[k], views);
    }
    return s->misses == misses;
}
