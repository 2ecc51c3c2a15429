// SPDX-License-Identifier: MIT
// Makes blocks: random rows of statements.def.
#include "tools/origen/origen.h"

enum { N = 1, L = 2, T = 4, K = 8, P = 16, F = 32 };
enum { DEEPEST = 7, LARGEST_PART = 2000 };

static const struct {
    Feature feature;
    uint32_t weight, least, needs;
    Statement *make;
} rows[] = {
#define STATEMENT(id, feature, weight, least, needs, make, help) {FT_##feature, weight, least, needs, make},
#include "tools/origen/statements.def"
};

uint32_t part_of(Gen *g, uint32_t n)
{
    uint32_t most = MIN(n, LARGEST_PART);
    return roll_between(g, most / 4, most - most / 4);
}

static bool fits(const Gen *g, uint32_t row, uint32_t n)
{
    const Fn *fn = &g->fn;
    uint32_t needs = rows[row].needs;
    return has(g, rows[row].feature) && n >= rows[row].least && (!(needs & N) || fn->scope->depth < DEEPEST) &&
           (!(needs & L) || fn->scope->loop) && (!(needs & T) || active_lanes(g) == ALL_LANES) &&
           (!(needs & K) || fn->kernel) && (!(needs & F) || fn->function) && (needs & P || !fn->dead);
}

static void statement(Gen *g, uint32_t n)
{
    uint32_t sum = 0, k = 0;
    for (uint32_t row = 0; row < ARRAY_LEN(rows); row++)
        sum += fits(g, row, n) ? rows[row].weight : 0;
    for (uint32_t at = roll(g, sum);; k++) {
        uint32_t weight = fits(g, k, n) ? rows[k].weight : 0;
        if (at < weight)
            break;
        at -= weight;
    }
    source_line(g);
    rows[k].make(g, n);
}

void block(Gen *g, uint32_t n)
{
    uint32_t end = g->fn.count + MAX(n, 1), spent = g->fn.count;
    do {
        statement(g, end - spent);
        spent = g->fn.count + scope_debt(g);
    } while (spent < end && !g->fn.unreachable);
}

void make_straight(Gen *g, uint32_t n)
{
    for (uint32_t k = roll_between(g, 1, MIN(n, 6)); k; k--)
        operation(g);
}
