// SPDX-License-Identifier: MIT
// Writes labels and branches in the style of the flavor, and text that is no instruction.
#include <stdio.h>

#include "tools/origen/origen.h"

const char *text(Gen *g, const char *fmt, ...)
{
    char buf[400];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(buf, sizeof buf, fmt, args);
    va_end(args);
    if (n < 0 || n >= (int)sizeof buf)
        heap_fail(g->arena->heap, ST_INTERNAL, "a text is too long: %s", buf);
    return arena_text(g->arena, buf, (size_t)n);
}

void line(Gen *g, const char *fmt, ...)
{
    char buf[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(buf, sizeof buf, fmt, args);
    va_end(args);
    out_fmt(&g->body, "\t%s\n", buf);
}

static void put_line(Gen *g)
{
    Fn *fn = &g->fn;
    fn->line = 1 + roll(g, 200);
    fn->column = 1 + roll(g, 40);
    line(g, ".loc\t1 %u %u", fn->line, fn->column);
}

void source_line(Gen *g)
{
    const Fn *fn = &g->fn;
    if (!has(g, FT_LINES) || !chance(g, 1, 3))
        return;
    if (!fn->line || chance(g, 2, 3))
        put_line(g);
    if (chance(g, 1, 2))
        return;
    uint32_t n = 1 + roll(g, 200), column = 1 + roll(g, 40);
    line(g, ".loc\t1 %u %u, function_name $L__info_string0, inlined_at 1 %u %u", n, column, fn->line, fn->column);
}

const char *space_name(Space s)
{
    static const char *const names[] = {"", ".global", ".shared", ".local", ".const", ".param"};
    return names[s];
}

uint32_t label_new(Gen *g) { return g->fn.labels++; }

void label_put(Gen *g, uint32_t label)
{
    if (g->fn.flavor->blocks && !g->fn.unreachable)
        jump(g, label);
    out_fmt(&g->body, "\n%s%u_%u:\n", g->fn.flavor->label, g->fn.number, label);
    g->fn.unreachable = false;
}

void jump(Gen *g, uint32_t label)
{
    if (g->fn.unreachable)
        return;
    code(g, "bra.uni $l;", label);
    g->fn.unreachable = true;
}

void branch(Gen *g, const Value *predicate, bool sense, uint32_t label)
{
    if (!g->fn.flavor->blocks) {
        code(g, sense ? "@$v bra $l;" : "@!$v bra $l;", predicate, label);
        return;
    }
    uint32_t next = label_new(g);
    code(g, sense ? "@$v bra $l;" : "not.pred $p1, $v; @$p1 bra $l;", predicate, label);
    label_put(g, next);
}
