// SPDX-License-Identifier: MIT
// Response files: `@FILE` on a command line means the arguments in FILE.
//
//     -O2 --knob "WHEN=FN=gemm*;OptBudget=9"
//     'my kernel.ptx' @more.args
//
// Each argument keeps its line and column for messages.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/options/options.h"

enum { RESPONSES_MAX = 100 };  // more are probably a file that includes itself

typedef struct Arguments {
    OptionParser *parser;
    const Source *source;
    Diag diag;  // computes lines and columns
    char *to;   // the end of the texts so far, in a buffer as large as the source
    VEC(char *) text;
    VEC(const char *) places;
} Arguments;

static bool is_blank(char c) { return isspace((unsigned char)c); }

static const char *place_of(Arguments *a, const char *at)
{
    uint32_t line, col;
    size_t start, n = strlen(a->source->name) + 30;
    char *place = arena_alloc(a->parser->arena, n);
    diag_locate(&a->diag, (size_t)(at - a->source->text), &line, &col, &start);
    snprintf(place, n, "%s:%u:%u", a->source->name, line, col);
    return place;
}

static bool fail_at(Arguments *a, const char *at, const char *what)
{
    OptionParser *p = a->parser;
    p->status = ST_USAGE;
    p->place = place_of(a, at);
    snprintf(p->error, sizeof p->error, "%s", what);
    return false;
}

// Reads one argument, which begins at *at, and moves *at past it.
static bool read_argument(Arguments *a, const char **at, const char *end)
{
    const char *start = *at, *p = start, *opened = NULL;
    char *text = a->to, *to = text, quote = 0;
    for (; p < end && (quote || !is_blank(*p)); p++) {
        if (!*p)
            return fail_at(a, p, "a NUL byte is not allowed here");
        if (quote ? *p == quote : *p == '"' || *p == '\'') {
            quote = quote ? 0 : *p;
            opened = p;
            continue;
        }
        p += *p == '\\' && quote != '\'' && p + 1 < end;
        *to++ = *p;
    }
    if (quote)
        return fail_at(a, opened, "this quote is not closed");
    *to = 0;
    a->to = to + 1;
    VEC_PUSH(a->parser->arena, &a->text, text);
    VEC_PUSH(a->parser->arena, &a->places, place_of(a, start));
    *at = p;
    return true;
}

static bool read_arguments(Arguments *a)
{
    const char *at = a->source->text, *end = at + a->source->len;
    while (true) {
        while (at < end && is_blank(*at))
            at++;
        if (at == end)
            return true;
        if (!read_argument(a, &at, end))
            return false;
    }
}

// Puts the arguments in the place of the one at p->at.
static void splice(OptionParser *p, const Arguments *a)
{
    int n = (int)a->text.n, rest = p->argc - p->at - 1, argc = p->at + n + rest;
    char **argv = NEW_ARRAY(p->arena, char *, argc + 1);
    const char **places = NEW_ARRAY(p->arena, const char *, argc + 1);
    for (int k = 0; k < argc; k++) {
        int old = k < p->at ? k : k - n + 1;  // its index before, unless it is a new one
        bool added = k >= p->at && k < p->at + n;
        argv[k] = added ? a->text.at[k - p->at] : p->argv[old];
        places[k] = added ? a->places.at[k - p->at] : p->places ? p->places[old] : NULL;
    }
    p->argc = argc;
    p->argv = argv;
    p->places = places;
}

bool response_expand(OptionParser *p)
{
    const char *path = p->argv[p->at] + 1;
    char why[200];
    Source source;
    p->place = p->places ? p->places[p->at] : NULL;
    p->status = ST_USAGE;
    if (p->responses++ == RESPONSES_MAX) {
        snprintf(p->error, sizeof p->error, "'@%.100s': more than %d response files; one of them names itself", path,
                 RESPONSES_MAX);
        return false;
    }
    if (!source_open(&source, path, p->arena, why)) {
        p->status = ST_IO;
        snprintf(p->error, sizeof p->error, "cannot read '%.100s': %.150s", path, why);
        return false;
    }
    Arguments a = {.parser = p, .source = &source, .diag = {.source = &source}};
    a.to = arena_alloc(p->arena, source.len + 1);
    bool ok = read_arguments(&a);
    if (ok)
        splice(p, &a);
    source_close(&source);
    return ok;
}
