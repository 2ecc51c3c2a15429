// SPDX-License-Identifier: MIT
// Makes control-flow graphs for the tests of analyses.
#include "tests/unit/graph.h"

/* -- Small graphs --------------------------------------------------------------------------------------- */

// Some graphs are dense and irregular, some are long chains with a few jumps.
void graph_random(Graph *g, uint64_t *seed)
{
    memset(g, 0, sizeof *g);
    g->n = 1 + unit_random(seed, GRAPH_BLOCKS);
    uint32_t tangle = 1 + unit_random(seed, 16), branches = 1 + unit_random(seed, 8);
    for (BlockId b = 1; b <= g->n; b++) {
        uint32_t n = unit_random(seed, branches + 1) ? 1 : unit_random(seed, GRAPH_TARGETS + 1);
        g->nsucc[b] = n == 1 ? 1 + unit_random(seed, 2) : n;
        g->guarded[b] = g->nsucc[b] == 1 && unit_random(seed, 16) == 0;
        for (uint32_t k = 0; k < GRAPH_TARGETS; k++) {
            uint32_t near = b + 1 + unit_random(seed, 3), far = 1 + unit_random(seed, g->n);
            g->succ[b][k] = near <= g->n && unit_random(seed, tangle) ? near : far;
        }
    }
}

static void guarded_ret(Fn *fn, BlockId b, RegId p, BlockId otherwise)
{
    emit(fn, b, b % 2 ? "ret" : "exit", "~", IF_GUARDED, OPS(op_block(otherwise), use(fn, p)));
}

void graph_build(Fixture *f, const Graph *g)
{
    Fn *fn = f->fn;
    RegId r = reg_new(fn, RF_R, W32), p = reg_new(fn, RF_P, W1);
    for (BlockId b = 1; b <= g->n; b++)
        add_block(fn, b);
    for (BlockId b = 1; b <= g->n; b++) {
        const BlockId *to = g->succ[b];
        if (g->nsucc[b] == 0)
            emit_ret(fn, b);
        else if (g->guarded[b])
            guarded_ret(fn, b, p, to[0]);
        else if (g->nsucc[b] == 1)
            emit_bra(fn, b, to[0]);
        else if (g->nsucc[b] == 2)
            emit_branch(fn, b, p, to[0], to[1]);
        else
            emit_brx(fn, b, r, to, g->nsucc[b]);
    }
}

Blocks graph_all(const Graph *g) { return bit(g->n + 1) - bit(1); }

Blocks graph_succs(const Graph *g, BlockId b)
{
    Blocks set = 0;
    for (uint32_t k = 0; k < g->nsucc[b]; k++)
        set |= bit(g->succ[b][k]);
    return set;
}

Blocks graph_reach(const Graph *g, Blocks from, Blocks in)
{
    Blocks set = from & in, before;
    do {
        before = set;
        for (BlockId b = 1; b <= g->n; b++)
            if (has(set, b))
                set |= graph_succs(g, b) & in;
    } while (set != before);
    return set;
}

Blocks graph_reaching(const Graph *g, Blocks to, Blocks in)
{
    Blocks set = to & in, before;
    do {
        before = set;
        for (BlockId b = g->n; b; b--)
            if (has(in, b) && graph_succs(g, b) & set)
                set |= bit(b);
    } while (set != before);
    return set;
}

/* -- Functions of many blocks --------------------------------------------------------------------------- */

void shape_open(Shape *s, uint32_t blocks)
{
    fixture_open(&s->f);
    s->fn = s->f.fn;
    s->r = reg_new(s->fn, RF_R, W32);
    s->p = reg_new(s->fn, RF_P, W1);
    s->n = blocks;
    s->targets = NEW_ARRAY(&s->f.ctx.arena, BlockId, blocks);
    for (uint32_t k = 1; k <= blocks; k++)
        add_block(s->fn, k);
}

void shape_close(Shape *s) { fixture_close(&s->f); }

void shape_branch(Shape *s, BlockId b, BlockId to, BlockId otherwise) { emit_branch(s->fn, b, s->p, to, otherwise); }

void shape_guarded_ret(Shape *s, BlockId b, BlockId otherwise) { guarded_ret(s->fn, b, s->p, otherwise); }

void shape_switch(Shape *s, BlockId b, BlockId first, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        s->targets[k] = first + k;
    emit_brx(s->fn, b, s->r, s->targets, n);
}

const Analyses *shape_need(Shape *s, uint32_t mask)
{
    CHECK_VERIFIES(s->fn);
    return analysis_need(s->fn, mask);
}
