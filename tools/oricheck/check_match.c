// SPDX-License-Identifier: MIT
// Matches the lines of a result against label, check, next, not and count, in their order.
//
// Labels are matched first and divide the result into regions. A region has the checks and the names that follow its
// label. A search starts after the previous match of its region; the first check that fails ends the region. A `not`
// covers the lines between the matches around it, with the bindings at its position.

#include "tools/oricheck/check.h"

typedef struct NotCheck {
    Finder *finder;
    const Check *check;
} NotCheck;

typedef struct Matcher {
    Test *test;
    const Result *result;
    TextLine *bound;     // by index of the name
    VEC(NotCheck) nots;  // waiting for the next match
} Matcher;

Result result_lines(Arena *arena, const TextBuffer *text)
{
    TextLine *lines;
    uint32_t n = text_lines(text->n ? text->at : "", text->n, arena, &lines);
    Result r = {.lines = NEW_ARRAY(arena, ResultLine, n)};
    for (uint32_t k = 0; k < n; k++) {
        char *folded = check_fold(arena, lines[k].text, lines[k].len);
        if (*folded)
            r.lines[r.n++] = (ResultLine){lines[k], folded, k + 1};
    }
    return r;
}

bool check_holds(Test *t, const Pattern *p, const char *text)
{
    Finder *f = finder_new(&t->ctx->arena, p, NULL);
    char *line = check_fold(&t->ctx->arena, text, strlen(text));
    finder_open(f);
    bool found = finder_match(f, line, NULL);
    finder_close(f);
    return found;
}

/* -- Searching ------------------------------------------------------------------------------------------ */

// Returns the first of lines [from, to) that contains the pattern, else `to`.
static uint32_t search(const Matcher *m, Finder *f, uint32_t from, uint32_t to, TextLine *bound)
{
    uint32_t k = from;
    finder_open(f);
    while (k < to && !finder_match(f, m->result->lines[k].folded, bound))
        k++;
    finder_close(f);
    return k;
}

static uint32_t common_run(const char *a, const char *b)
{
    uint32_t longest = 0;
    for (; *a; a++)
        for (const char *p = b; *p; p++) {
            uint32_t n = 0;
            while (a[n] && a[n] == p[n])
                n++;
            longest = MAX(longest, n);
        }
    return longest;
}

static uint32_t literal_length(const Pattern *p)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < p->n; k++)
        n += p->at[k].kind == PIECE_TEXT ? (uint32_t)strlen(p->at[k].text) : 0;
    return n;
}

// Returns the line that shares the longest substring with the pattern, for the message of a failed match. The substring
// must have half the length of the pattern's literal text; returns `to` if there is none.
static uint32_t nearest(const Matcher *m, const Pattern *p, uint32_t from, uint32_t to)
{
    uint32_t best = 0, at = to;
    for (uint32_t k = from; k < to; k++) {
        uint32_t n = common_run(p->text, m->result->lines[k].folded);
        if (n > best) {
            best = n;
            at = k;
        }
    }
    return best >= 4 && best * 2 >= literal_length(p) ? at : to;
}

static void not_found(Matcher *m, const Check *c, uint32_t from, uint32_t to)
{
    const Result *r = m->result;
    Out *out = m->test->out;
    uint32_t near = nearest(m, &c->pattern, from, to);
    check_fail(m->test, c->line, "%s: not found: %s", c->kind == DIR_LABEL ? "label" : "check", c->pattern.text);
    if (from == to)
        out_z(out, "  no lines are left to search:\n");
    else
        out_fmt(out, "  searched lines %u to %u of the result", r->lines[from].number, r->lines[to - 1].number);
    if (near < to)
        out_fmt(out, "; the most similar line is %u:\n", r->lines[near].number);
    else if (from < to)
        out_z(out, ":\n");
    check_view(m->test, r, near < to ? near : from, to);
}

static void check_count(Matcher *m, const Check *c)
{
    uint64_t n = 0;
    uint32_t at[8];
    Finder *f = finder_new(&m->test->ctx->arena, &c->pattern, m->bound);
    for (uint32_t k = 0; (k = search(m, f, k, m->result->n, NULL)) < m->result->n; k++, n++)
        if (n < ARRAY_LEN(at))
            at[n] = k;
    if (n == c->count)
        return;
    check_fail(m->test, c->line, "count %llu: found %llu times: %s", (unsigned long long)c->count,
               (unsigned long long)n, c->pattern.text);
    for (uint32_t k = 0; k < MIN(n, ARRAY_LEN(at)); k++) {
        const ResultLine *line = &m->result->lines[at[k]];
        out_fmt(m->test->out, "  > %4u | ", line->number);
        out_bytes(m->test->out, line->text.text, line->text.len);
        out_char(m->test->out, '\n');
    }
    if (n > ARRAY_LEN(at))
        out_z(m->test->out, "  ...\n");
}

/* -- Regions -------------------------------------------------------------------------------------------- */

static void check_nots(Matcher *m, uint32_t from, uint32_t to)
{
    for (uint32_t k = 0; k < m->nots.n; k++) {
        const NotCheck *no = &m->nots.at[k];
        uint32_t at = search(m, no->finder, from, to, NULL);
        if (at == to)
            continue;
        check_fail(m->test, no->check->line, "not: found: %s", no->check->pattern.text);
        check_view(m->test, m->result, at, to);
    }
    m->nots.n = 0;
}

// Returns the line that a check or next matches; no match is a failure and returns `to`.
static uint32_t match(Matcher *m, const Check *c, uint32_t at, uint32_t to)
{
    bool next = c->kind == DIR_NEXT;
    uint32_t end = next ? MIN(at + 1, to) : to;
    Finder *f = finder_new(&m->test->ctx->arena, &c->pattern, m->bound);
    uint32_t k = search(m, f, at, end, m->bound);
    if (k < end)
        return k;
    if (next) {
        check_fail(m->test, c->line, "next: the next line does not contain: %s", c->pattern.text);
        check_view(m->test, m->result, at, to);
    } else {
        not_found(m, c, at, to);
    }
    return to;
}

// Runs checks [first, last) on lines [at, to).
static void check_region(Matcher *m, uint32_t first, uint32_t last, uint32_t at, uint32_t to)
{
    Arena *arena = &m->test->ctx->arena;
    m->nots.n = 0;
    for (uint32_t k = first; k < last; k++) {
        const Check *c = &m->test->checks.at[k];
        if (c->kind == DIR_NOT) {
            VEC_PUSH(arena, &m->nots, ((NotCheck){finder_new(arena, &c->pattern, m->bound), c}));
        } else if (c->kind == DIR_COUNT) {
            if (c->pattern.uses)
                check_count(m, c);
        } else {
            uint32_t found = match(m, c, at, to);
            if (found == to)
                return;
            check_nots(m, at, found);
            at = found + 1;
        }
    }
    check_nots(m, at, to);
}

// Runs the counts without names. They apply to the whole result, at any position.
static void check_counts(Matcher *m)
{
    for (uint32_t k = 0; k < m->test->checks.n; k++) {
        const Check *c = &m->test->checks.at[k];
        if (c->kind == DIR_COUNT && !c->pattern.uses)
            check_count(m, c);
    }
}

void check_result(Test *t, const Result *r)
{
    Arena *arena = &t->ctx->arena;
    Matcher m = {.test = t, .result = r, .bound = NEW_ARRAY(arena, TextLine, t->names.n)};
    check_counts(&m);
    uint32_t first = 0, at = 0;
    for (uint32_t k = 0; k < t->checks.n; k++) {
        const Check *c = &t->checks.at[k];
        if (c->kind != DIR_LABEL)
            continue;
        TextLine *bound = NEW_ARRAY(arena, TextLine, t->names.n);
        uint32_t found = search(&m, finder_new(arena, &c->pattern, bound), at, r->n, bound);
        if (found == r->n) {
            not_found(&m, c, at, r->n);
            return;
        }
        check_region(&m, first, k, at, found);
        m.bound = bound;
        first = k + 1;
        at = found + 1;
    }
    check_region(&m, first, t->checks.n, at, r->n);
}
