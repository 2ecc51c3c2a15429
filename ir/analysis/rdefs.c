// SPDX-License-Identifier: MIT
// Reaching definitions: for each use the value that it reads, named as ssa construction would name it. A value is a
// definition, or a phi where several meet, or nothing (0) where no definition reaches.
//
// Registers with one unguarded definition that dominates its uses need no search. For each other register:
//   1. its uses and definitions are walked in layout order, which finds the blocks that read it before they write it,
//   and
//      the last definition of each block;
//   2. phis go to the iterated dominance frontier of its definitions (Cytron et al., "Efficiently computing static
//   single
//      assignment form and the control dependence graph", 1991);
//   3. the blocks that matter (with definitions, with phis, predecessors of these, with exposed uses) are sorted by the
//      dominator tree; the last one before a block that dominates it and has a value leaves that value to it;
//   4. a second walk gives each use its value; phis that no use needs, directly or through phis, are dropped.
// So the cost does not depend on how long a register lives. A guarded definition reads the value before it.
//
// The dominance frontiers of all blocks together may be quadratic (many loops that end at one place). Where they have
// more than FRONTIER_MAX entries for an edge, the frontier of a register is searched for instead: its defining blocks
// are taken from the deepest in the dominator tree up, and what each dominates is looked through once for edges that
// leave to a block no deeper than itself (Sreedhar and Gao, "A linear time algorithm for placing phi-nodes", 1995), but
// only where the register is live. So it is for a single register whose frontier is out of proportion.
#include <stdio.h>
#include <stdlib.h>

#include "ir/analysis/analysis_internal.h"

enum { FRONTIER_MAX = 8, INPUTS_MAX = 8 };

// What is known of a block for the register at hand; a stamp that is not the register's id means nothing is.
typedef struct Place {
    uint32_t live, defines, phi, parent, visited, resolved;  // stamps
    ValueId last;                                            // defines: the value at the end of the block
    ValueId in;                                              // resolved: the value at its start
    BlockId child;    // parent: first live block that this one dominates immediately
    BlockId sibling;  // live: the next of those with the same immediate dominator
} Place;

typedef struct Search {
    const Fn *fn;
    const Analyses *a;
    ReachingDefs *r;
    Arena *arena;  // of the result
    Arena scratch;
    RegId reg;
    Place *at;         // by BlockId
    uint32_t *level;   // by BlockId: depth in the dominator tree
    Edges frontier;    // first is NULL: searched for instead
    bool by_frontier;  // the register at hand
    VEC(BlockId) live, heap, stack;
    VEC(uint64_t) nodes;  // blocks that matter, below their place in the dominator tree
    VEC(ValueId) inputs;
    VEC(ReachingPhi) phis;
} Search;

static bool is_reachable(const Search *s, BlockId b) { return s->a->rpo_index[b] != UINT32_MAX; }

static BlockId block_of(const Search *s, Ref ref) { return ir_instr(s->fn, ref.instr)->block; }

/* -- Blocks by level ------------------------------------------------------------------------------------ */

// A heap by level, the deepest first.
static void heap_push(Search *s, BlockId b)
{
    VEC_PUSH(&s->scratch, &s->heap, b);
    uint32_t k = s->heap.n - 1;
    for (; k && s->level[s->heap.at[(k - 1) / 2]] < s->level[b]; k = (k - 1) / 2)
        s->heap.at[k] = s->heap.at[(k - 1) / 2];
    s->heap.at[k] = b;
}

static BlockId heap_pop(Search *s)
{
    BlockId top = s->heap.at[0], moved = s->heap.at[--s->heap.n];
    uint32_t k = 0;
    for (uint32_t child; (child = 2 * k + 1) < s->heap.n; k = child) {
        child += child + 1 < s->heap.n && s->level[s->heap.at[child + 1]] > s->level[s->heap.at[child]];
        if (s->level[s->heap.at[child]] <= s->level[moved])
            break;
        s->heap.at[k] = s->heap.at[child];
    }
    s->heap.at[k] = moved;
    return top;
}

/* -- Occurrences ---------------------------------------------------------------------------------------- */

// The uses and definitions of a register, merged in layout order; uses of an instruction before its definitions.
typedef struct Merge {
    uint32_t use, uses_end, def, defs_end;
} Merge;

static Merge merge_start(const Search *s)
{
    const Refs *u = &s->a->uses, *d = &s->a->defs;
    return (Merge){u->first[s->reg], u->first[s->reg + 1], d->first[s->reg], d->first[s->reg + 1]};
}

// Whether the next occurrence is a use.
static bool use_is_next(const Search *s, const Merge *m)
{
    if (m->use == m->uses_end || m->def == m->defs_end)
        return m->use < m->uses_end;
    return s->a->place[s->a->uses.at[m->use].instr] <= s->a->place[s->a->defs.at[m->def].instr];
}

// Whether the definition may leave the old value.
static bool is_guarded(const Search *s, Ref def) { return ir_guarded(ir_instr(s->fn, def.instr)); }

static ValueId def_value(uint32_t def) { return def + 1; }

static void make_live(Search *s, BlockId b)
{
    Place *p = &s->at[b];
    if (p->live == s->reg || !is_reachable(s, b))
        return;
    p->live = s->reg;
    p->sibling = 0;
    VEC_PUSH(&s->scratch, &s->live, b);
}

// Step 1.
static void find_exposed(Search *s)
{
    for (Merge m = merge_start(s); m.use < m.uses_end || m.def < m.defs_end;) {
        bool use = use_is_next(s, &m);
        Ref ref = use ? s->a->uses.at[m.use] : s->a->defs.at[m.def];
        BlockId block = block_of(s, ref);
        Place *p = &s->at[block];
        if (p->defines != s->reg && (use || is_guarded(s, ref)))
            make_live(s, block);
        if (!use) {
            if (p->defines != s->reg && is_reachable(s, block))
                heap_push(s, block);
            p->defines = s->reg;
            p->last = def_value(m.def);
        }
        m.use += use;
        m.def += !use;
    }
}

// Where the register is live at the start. s->live grows while it is walked.
static void find_live(Search *s)
{
    const Edges *preds = &s->a->preds;
    for (uint32_t k = 0; k < s->live.n; k++) {
        BlockId b = s->live.at[k];
        for (uint32_t e = preds->first[b]; e < preds->first[b + 1]; e++)
            if (s->at[preds->at[e]].defines != s->reg)
                make_live(s, preds->at[e]);
    }
    for (uint32_t k = 0; k < s->live.n; k++) {
        BlockId b = s->live.at[k];
        Place *parent = &s->at[s->a->dom.idom[b]];
        s->at[b].sibling = parent->parent == s->reg ? parent->child : 0;
        parent->parent = s->reg;
        parent->child = b;
    }
}

/* -- Phis ----------------------------------------------------------------------------------------------- */

static void place_phi(Search *s, BlockId b)
{
    const Edges *preds = &s->a->preds;
    Place *p = &s->at[b];
    if (p->phi == s->reg)
        return;
    p->phi = p->resolved = s->reg;
    p->in = s->r->first_phi + s->phis.n;
    VEC_PUSH(&s->scratch, &s->phis, ((ReachingPhi){s->reg, b, s->inputs.n}));
    for (uint32_t e = preds->first[b]; e < preds->first[b + 1]; e++)
        VEC_PUSH(&s->scratch, &s->inputs, 0);
    if (p->defines != s->reg && s->by_frontier)
        VEC_PUSH(&s->scratch, &s->heap, b);
    else if (p->defines != s->reg)
        heap_push(s, b);
}

// False: these are out of proportion to what the register is for, and nothing was placed. Many blocks that lead to one
// join, each with a register of its own, would be quadratic.
static bool place_phis_at_frontier(Search *s)
{
    const Edges *frontier = &s->frontier;
    const Analyses *a = s->a;
    uint32_t phis = s->phis.n, inputs = s->inputs.n, defs = s->heap.n;
    uint32_t max = INPUTS_MAX * (8 + def_count(a, s->reg) + use_count(a, s->reg));
    for (uint32_t k = 0; k < s->heap.n && s->inputs.n - inputs <= max; k++)  // grows meanwhile
        for (uint32_t e = frontier->first[s->heap.at[k]]; e < frontier->first[s->heap.at[k] + 1]; e++)
            place_phi(s, frontier->at[e]);
    if (s->inputs.n - inputs <= max)
        return true;
    for (uint32_t k = phis; k < s->phis.n; k++)
        s->at[s->phis.at[k].block].phi = s->at[s->phis.at[k].block].resolved = 0;
    s->phis.n = phis;
    s->inputs.n = inputs;
    s->heap.n = 0;
    for (uint32_t k = 0; k < defs; k++)
        heap_push(s, s->heap.at[k]);
    return false;
}

// Edges out of what the root dominates, to where its value meets others.
static void search_frontier(Search *s, BlockId root)
{
    const Edges *succs = &s->a->succs;
    s->stack.n = 0;
    VEC_PUSH(&s->scratch, &s->stack, root);
    s->at[root].visited = s->reg;
    while (s->stack.n) {
        BlockId b = s->stack.at[--s->stack.n];
        for (uint32_t e = succs->first[b]; e < succs->first[b + 1]; e++) {
            BlockId to = succs->at[e];
            if (s->at[to].live == s->reg && s->a->dom.idom[to] != b && s->level[to] <= s->level[root])
                place_phi(s, to);
        }
        BlockId c = s->at[b].parent == s->reg ? s->at[b].child : 0;
        for (; c; c = s->at[c].sibling)
            if (s->at[c].visited != s->reg) {
                s->at[c].visited = s->reg;
                VEC_PUSH(&s->scratch, &s->stack, c);
            }
    }
}

static void search_phis(Search *s)
{
    while (s->heap.n)
        search_frontier(s, heap_pop(s));
}

/* -- Values --------------------------------------------------------------------------------------------- */

static ValueId *value_at_end(Search *s, BlockId b)
{
    Place *p = &s->at[b];
    return p->defines == s->reg ? &p->last : p->resolved == s->reg ? &p->in : NULL;
}

// Climbs to where the value is known, and hands it down to the live blocks on the way.
static ValueId value_at_start(Search *s, BlockId b)
{
    s->stack.n = 0;
    if (!is_reachable(s, b))
        return 0;
    while (s->at[b].resolved != s->reg) {
        VEC_PUSH(&s->scratch, &s->stack, b);
        b = s->a->dom.idom[b];
        ValueId *known = b ? value_at_end(s, b) : NULL;
        if (b && !known)
            continue;
        ValueId value = known ? *known : 0;
        for (; s->stack.n; s->stack.n--) {
            Place *p = &s->at[s->stack.at[s->stack.n - 1]];
            p->resolved = s->reg;
            p->in = value;
            b = s->stack.at[s->stack.n - 1];
        }
    }
    return s->at[b].in;
}

static void add_node(Search *s, BlockId b)
{
    if (s->at[b].visited == s->reg || !is_reachable(s, b))
        return;
    s->at[b].visited = s->reg;
    VEC_PUSH(&s->scratch, &s->nodes, (uint64_t)s->a->dom.pre[b] << 32 | b);
}

static int ascending(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return (a > b) - (a < b);
}

// Step 3: the values at the starts of the blocks that matter. On the stack are those that have one to leave and
// dominate the block at hand.
static void sweep_nodes(Search *s, uint32_t first)
{
    const Edges *preds = &s->a->preds;
    s->nodes.n = s->stack.n = 0;
    for (uint32_t k = 0; k < s->heap.n; k++)  // definitions and phis
        add_node(s, s->heap.at[k]);
    for (uint32_t k = 0; k < s->live.n; k++)
        add_node(s, s->live.at[k]);
    for (uint32_t k = first; k < s->phis.n; k++) {
        BlockId b = s->phis.at[k].block;
        add_node(s, b);
        for (uint32_t e = preds->first[b]; e < preds->first[b + 1]; e++)
            add_node(s, preds->at[e]);
    }
    if (s->nodes.n)
        qsort(s->nodes.at, s->nodes.n, sizeof *s->nodes.at, ascending);
    for (uint32_t k = 0; k < s->nodes.n; k++) {
        BlockId b = (BlockId)s->nodes.at[k];
        Place *p = &s->at[b];
        while (s->stack.n && !dominates(s->a, s->stack.at[s->stack.n - 1], b))
            s->stack.n--;
        if (p->phi != s->reg) {
            p->in = s->stack.n ? *value_at_end(s, s->stack.at[s->stack.n - 1]) : 0;
            p->resolved = s->reg;
        }
        if (p->phi == s->reg || p->defines == s->reg)
            VEC_PUSH(&s->scratch, &s->stack, b);
    }
}

static ValueId leaving(Search *s, BlockId b)
{
    return s->at[b].defines == s->reg ? s->at[b].last : value_at_start(s, b);
}

static void fill_inputs(Search *s, uint32_t first)
{
    const Edges *preds = &s->a->preds;
    for (uint32_t k = first; k < s->phis.n; k++) {
        ReachingPhi phi = s->phis.at[k];
        for (uint32_t e = preds->first[phi.block], n = phi.inputs; e < preds->first[phi.block + 1]; e++, n++)
            if (is_reachable(s, preds->at[e]))
                s->inputs.at[n] = leaving(s, preds->at[e]);
    }
}

// Step 4.
static void give_values(Search *s)
{
    BlockId block = 0;
    ValueId value = 0;
    bool known = false;
    for (Merge m = merge_start(s); m.use < m.uses_end || m.def < m.defs_end;) {
        bool use = use_is_next(s, &m);
        Ref ref = use ? s->a->uses.at[m.use] : s->a->defs.at[m.def];
        BlockId b = block_of(s, ref);
        known &= b == block;
        block = b;
        if (!known && (use || is_guarded(s, ref)))
            value = value_at_start(s, b);
        known = true;
        if (use) {
            s->r->use[m.use++] = value;
        } else {
            // One that defines the register twice leaves the last value, or the one before both.
            bool again = m.def > s->a->defs.first[s->reg] && s->a->defs.at[m.def - 1].instr == ref.instr;
            s->r->old[m.def] = again ? s->r->old[m.def - 1] : is_guarded(s, ref) ? value : 0;
            value = def_value(m.def++);
        }
    }
}

/* -- Registers ------------------------------------------------------------------------------------------ */

// One unguarded definition that dominates all uses.
static bool is_simple(const Search *s)
{
    const Refs *u = &s->a->uses, *d = &s->a->defs;
    uint32_t def = d->first[s->reg];
    if (d->first[s->reg + 1] - def != 1 || is_guarded(s, d->at[def]))
        return false;
    BlockId home = block_of(s, d->at[def]);
    for (uint32_t k = u->first[s->reg]; k < u->first[s->reg + 1]; k++) {
        BlockId b = block_of(s, u->at[k]);
        if (b == home ? s->a->place[u->at[k].instr] <= s->a->place[d->at[def].instr] : !dominates(s->a, home, b))
            return false;
    }
    return true;
}

static void fill(ValueId *values, const Refs *refs, RegId reg, ValueId value)
{
    for (uint32_t k = refs->first[reg]; k < refs->first[reg + 1]; k++)
        values[k] = value;
}

// Marks the phis that uses need; returns how many of those from `first` on there are.
static uint32_t mark_needed(Search *s, uint32_t first, bool *needed)
{
    const Analyses *a = s->a;
    ValueId base = s->r->first_phi + first;
    uint32_t n = 0;
    s->stack.n = 0;
#define NEED(value)                                                 \
    do {                                                            \
        ValueId v_ = (value);                                       \
        if (v_ >= base && !needed[v_ - base]) {                     \
            needed[v_ - base] = true;                               \
            VEC_PUSH(&s->scratch, &s->stack, v_ - s->r->first_phi); \
        }                                                           \
    } while (0)
    for (uint32_t k = a->uses.first[s->reg]; k < a->uses.first[s->reg + 1]; k++)
        NEED(s->r->use[k]);
    for (uint32_t k = a->defs.first[s->reg]; k < a->defs.first[s->reg + 1]; k++)
        NEED(s->r->old[k]);
    for (; s->stack.n; n++) {
        const ReachingPhi *phi = &s->phis.at[s->stack.at[--s->stack.n]];
        uint32_t degree = a->preds.first[phi->block + 1] - a->preds.first[phi->block];
        for (uint32_t k = 0; k < degree; k++)
            NEED(s->inputs.at[phi->inputs + k]);
    }
#undef NEED
    return n;
}

// The new number of a value after unneeded phis are dropped.
static ValueId moved(const Search *s, ValueId value, uint32_t first, const ValueId *to)
{
    ValueId base = s->r->first_phi + first;
    return value >= base ? to[value - base] : value;
}

// Drops the phis that no use needs.
static void prune(Search *s, uint32_t first)
{
    const Analyses *a = s->a;
    uint32_t count = s->phis.n - first, kept = first;
    uint32_t inputs = count ? s->phis.at[first].inputs : 0;
    Arena scratch;
    arena_init(&scratch, s->scratch.heap);
    bool *needed = NEW_ARRAY(&scratch, bool, count);
    if (mark_needed(s, first, needed) < count) {
        ValueId *to = NEW_ARRAY(&scratch, ValueId, count);
        for (uint32_t k = 0, n = 0; k < count; k++)
            to[k] = needed[k] ? s->r->first_phi + first + n++ : 0;
        for (uint32_t k = 0; k < count; k++) {
            if (!needed[k])
                continue;
            ReachingPhi phi = s->phis.at[first + k];
            uint32_t degree = a->preds.first[phi.block + 1] - a->preds.first[phi.block];
            for (uint32_t e = 0; e < degree; e++)
                s->inputs.at[inputs + e] = moved(s, s->inputs.at[phi.inputs + e], first, to);
            phi.inputs = inputs;
            inputs += degree;
            s->phis.at[kept++] = phi;
        }
        s->phis.n = kept;
        s->inputs.n = inputs;
        for (uint32_t k = a->uses.first[s->reg]; k < a->uses.first[s->reg + 1]; k++)
            s->r->use[k] = moved(s, s->r->use[k], first, to);
        for (uint32_t k = a->defs.first[s->reg]; k < a->defs.first[s->reg + 1]; k++)
            s->r->old[k] = moved(s, s->r->old[k], first, to);
    }
    arena_free(&scratch);
}

static void find_values(Search *s)
{
    uint32_t first = s->phis.n;
    s->live.n = s->heap.n = 0;
    find_exposed(s);
    s->by_frontier = s->frontier.first != NULL;
    bool nothing_read = s->live.n == 0;  // each block writes it before it reads it
    if (s->by_frontier && !nothing_read && !place_phis_at_frontier(s))
        s->by_frontier = false;
    if (s->by_frontier) {
        sweep_nodes(s, first);
    } else {
        find_live(s);
        search_phis(s);
    }
    fill_inputs(s, first);
    give_values(s);
    if (s->phis.n > first && s->by_frontier)
        prune(s, first);
}

static void look_at(Search *s, RegId reg)
{
    const Analyses *a = s->a;
    s->reg = reg;
    if (a->uses.first[reg] == a->uses.first[reg + 1] && a->defs.first[reg] == a->defs.first[reg + 1])
        return;
    if (!reg_in_ssa(ir_reg(s->fn, reg)))
        fill(s->r->use, &a->uses, reg, VALUE_ANY);
    else if (s->fn->form == FORM_SSA || is_simple(s))
        fill(s->r->use, &a->uses, reg, def_count(a, reg) ? def_value(a->defs.first[reg]) : 0);
    else
        find_values(s);
}

static uint32_t *find_levels(const Analyses *a, Arena *arena, uint32_t blocks)
{
    uint32_t *level = NEW_ARRAY(arena, uint32_t, blocks);
    for (uint32_t k = 0; k < a->nrpo; k++)
        level[a->rpo[k]] = a->dom.idom[a->rpo[k]] ? level[a->dom.idom[a->rpo[k]]] + 1 : 0;
    return level;
}

static void *keep(Arena *arena, const void *from, size_t bytes)
{
    void *to = arena_alloc(arena, bytes);
    return bytes ? memcpy(to, from, bytes) : to;
}

void rdefs_build(const Fn *fn, Analyses *a)
{
    Arena *arena = &a->arena[AX_RDEFS];
    ReachingDefs *r = &a->rdefs;
    uint32_t ndefs = a->defs.first[fn->regs.n], nuses = a->uses.first[fn->regs.n];
    Search s = {.fn = fn, .a = a, .r = r, .arena = arena};
    arena_init(&s.scratch, fn->arena.heap);
    *r = (ReachingDefs){
        .use = NEW_ARRAY(arena, ValueId, nuses), .old = NEW_ARRAY(arena, ValueId, ndefs), .first_phi = ndefs + 1};
    s.at = NEW_ARRAY(&s.scratch, Place, fn->blocks.n);
    s.level = find_levels(a, &s.scratch, fn->blocks.n);
    uint64_t edges = a->preds.first[fn->blocks.n];
    if (!frontier_build(fn, a, &s.scratch, FRONTIER_MAX * edges, &s.frontier))
        s.frontier.first = NULL;
    r->searched = !s.frontier.first;
    for (RegId reg = 1; reg < fn->regs.n; reg++)
        look_at(&s, reg);
    r->nphis = s.phis.n;
    r->phi = keep(arena, s.phis.at, s.phis.n * sizeof *s.phis.at);
    r->input = keep(arena, s.inputs.at, s.inputs.n * sizeof *s.inputs.at);
    r->ninputs = s.inputs.n;
    arena_free(&s.scratch);
}

bool rdefs_same(const Fn *fn, const Analyses *kept, Analyses *now, char why[static 150])
{
    const ReachingDefs *a = &kept->rdefs, *b = &now->rdefs;
    uint32_t nuses = now->uses.first[fn->regs.n];
    bool same = a->first_phi == b->first_phi && a->nphis == b->nphis && a->ninputs == b->ninputs &&
                memcmp(a->use, b->use, nuses * sizeof *a->use) == 0 &&
                memcmp(a->old, b->old, (a->first_phi - 1) * sizeof *a->old) == 0 &&
                memcmp(a->phi, b->phi, a->nphis * sizeof *a->phi) == 0 &&
                memcmp(a->input, b->input, a->ninputs * sizeof *a->input) == 0;
    if (!same)
        snprintf(why, 150, "a use reads another value");
    return same;
}
