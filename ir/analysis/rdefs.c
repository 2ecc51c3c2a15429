// SPDX-License-Identifier: MIT
// Reaching definitions: computes the value that each use reads, numbered as in ssa construction. A value is a
// definition, a phi where several values meet, or 0 where no definition reaches. In unreachable code a use may read 0,
// or the register's only definition.
//
// Registers with one definition that dominates their uses are plain (AN_DEF) and require no search. In ssa form all
// registers are plain. All other registers are called joined. For each joined register:
//   1. A walk over its uses and definitions in layout order finds the blocks with upward-exposed uses, and the last
//      definition of each block.
//   2. Phis are placed at the iterated dominance frontier of its definitions (Cytron et al., "Efficiently computing
//      static single assignment form and the control dependence graph", 1991).
//   3. The relevant blocks (those with definitions, phis or upward-exposed uses, and predecessors of phis) are sorted
//      by the dominator tree. Each receives its value from the nearest dominating block with a value.
//   4. A second walk gives each use its value. Phis that no use reads, directly or through phis, are dead and dropped.
// So the cost does not depend on the length of live ranges. A guarded definition reads the value before it.
//
// If the first occurrence of a register is an unguarded definition that dominates all others, live phis are strictly
// below its block in the dominator tree. So the counter of an inner loop has no phis at the headers of outer loops.
//
// The dominance frontiers of all blocks together may have quadratic size (nested loops that end at one place). If they
// have more than FRONTIER_MAX entries for each edge, they are stored as heaps that share nodes, by level in the
// dominator tree. A walk over a heap visits only the members below the first definition.
//
// If a register has too many phis for its occurrences, most of them dead, its frontier is searched instead
// (place_phis_at_frontier()). The search visits the defining blocks from the deepest in the dominator tree up. It walks
// the subtree of each block once, only where the register is live. An edge to a block no deeper than the root of the
// subtree leads to the frontier (Sreedhar and Gao, "A linear time algorithm for placing phi-nodes", 1995).
//
// The number of phis may be the product of registers and joins. In multi form Fn.phi_limit limits the inputs of all
// phis together. A register that would exceed the limit is outside of ssa form (AN_DEF), as if it were pinned; phase 23
// pins it. The search for its phis stops at the limit.
#include <stdio.h>
#include <stdlib.h>

#include "ir/analysis/analysis_internal.h"

enum { FRONTIER_MAX = 8, INPUTS_MAX = 8, FEW = 16, AHEAD = 16, STEPS_MAX = 16 };

// State of a block for the current register. A stamp is set if it equals the register's id.
typedef struct Place {
    uint32_t live, defines, phi, parent, visited, resolved;  // stamps
    ValueId last;                                            // if `defines`: the value at the end of the block
    ValueId in;                                              // if `resolved`: the value at its start
    BlockId child;    // if `parent`: the first live block whose immediate dominator is this block
    BlockId sibling;  // if `live`: the next live block with the same immediate dominator
} Place;

typedef struct Search {
    const Fn *fn;
    const Analyses *a;
    ReachingDefs *r;
    Arena *arena;  // of the result
    Arena scratch;
    RegId reg;
    uint32_t ndefs;       // definitions numbered so far
    uint32_t row, count;  // index of the register in r->joined, and number of its occurrences
    Place *at;            // by BlockId
    uint32_t *level;      // by BlockId: depth in the dominator tree
    Edges frontier;       // first is NULL: too large, stored as heaps instead
    FrontierHeaps heaps;  // root is NULL: no frontiers are stored
    bool by_frontier;     // the stored frontiers are used for the current register
    uint32_t least;       // the least level at which the current register may have live phis
    uint32_t *count_of;   // by RegId: number of occurrences; then, for joined registers, the current end of the row
    VEC(Occurrence) found;
    VEC(BlockId) live, heap, stack;
    VEC(uint64_t) nodes;  // relevant blocks: index in the dominator tree << 32 | block
    VEC(ValueId) inputs;
    VEC(ReachingPhi) phis;
    uint64_t limit;     // maximum of the inputs of all phis
    uint64_t steps;     // visited blocks
    VEC(RegId) beyond;  // registers that would exceed the limit
} Search;

static bool is_beyond(const Search *s) { return s->inputs.n > s->limit; }

/* -- Blocks by level ------------------------------------------------------------------------------------ */

// Adds a block to the heap by level, the deepest first.
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

/* -- Occurrences of joined registers -------------------------------------------------------------------- */

static void *keep(Arena *arena, const void *from, size_t bytes)
{
    void *to = arena_alloc(arena, bytes);
    return bytes ? memcpy(to, from, bytes) : to;
}
static inline void add_if_joined(Search *s, InstrId id, const Instr *i, uint32_t k, Operand o)
{
    RegId r = op_index(o);
    if (!op_is_reg(o) || !def_is_joined(s->a, r))
        return;
    VEC_PUSH(&s->scratch, &s->found, ((Occurrence){id, i->ops + k, r, i->block, k < i->ndef, ir_guarded(i)}));
    s->count_of[r]++;
}

// Collects occurrences in layout order, uses of an instruction before its definitions. Occurrence.value temporarily
// holds the register.
static void find_occurrences(Search *s)
{
    const Fn *fn = s->fn;
    s->r->first_in = arena_alloc(s->arena, fn->instrs.n * sizeof *s->r->first_in);
    VEC_PUSH(&s->scratch, &s->found, (Occurrence){0});
    FOR_BLOCKS(fn, b) {
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            const Operand *ops = ir_ops(fn, i);
            s->r->first_in[id] = s->found.n;
            for (uint32_t k = i->ndef; k < i->nops; k++)
                add_if_joined(s, id, i, k, ops[k]);
            for (uint32_t k = 0; k < i->ndef; k++)
                add_if_joined(s, id, i, k, ops[k]);
        }
    }
    s->r->noccurrences = s->found.n;
    s->r->at = keep(s->arena, s->found.at, s->found.n * sizeof *s->found.at);
}

// Makes the row of occurrences of each joined register, from their counts.
static void make_rows(Search *s)
{
    ReachingDefs *r = s->r;
    uint32_t n = 0, end = 0;
    r->joined = arena_alloc(s->arena, r->njoined * sizeof *r->joined);
    r->first = arena_alloc(s->arena, (r->njoined + 1) * sizeof *r->first);
    for (RegId k = 1; k < s->fn->regs.n; k++) {
        if (!def_is_joined(s->a, k))
            continue;
        uint32_t count = s->count_of[k];
        r->joined[n] = k;
        r->first[n++] = s->count_of[k] = end;
        end += count;
    }
    r->first[n] = end;
    r->row = arena_alloc(s->arena, end * sizeof *r->row);
    for (uint32_t k = 1; k < r->noccurrences; k++) {
        r->row[s->count_of[r->at[k].value]++] = k;
        r->at[k].value = 0;
    }
}

static void count_definitions(Search *s)
{
    ReachingDefs *r = s->r;
    uint32_t n = 0;
    for (uint32_t k = 1; k < r->noccurrences; k++)
        n += r->at[k].def;
    r->first_phi = r->first_def + n;
    r->defs = arena_alloc(s->arena, n * sizeof *r->defs);
    r->old = NEW_ARRAY(s->arena, ValueId, n);
}

static void make_live(Search *s, BlockId b)
{
    Place *p = &s->at[b];
    if (p->live == s->reg || !is_reachable(s->a, b))
        return;
    p->live = s->reg;
    p->sibling = 0;
    VEC_PUSH(&s->scratch, &s->live, b);
}

// Step 1: finds upward-exposed uses, and numbers the definitions. Occurrences lie in layout order and are visited by
// register, so the next ones are prefetched, beyond the end of the row: the rows of other registers follow.
static void find_upward_exposed(Search *s)
{
    ReachingDefs *r = s->r;
    const Occurrence *first = &r->at[r->row[r->first[s->row]]];
    bool tops = first->def && !first->guarded && is_reachable(s->a, first->block);
    s->count = 0;
    FOR_OCCURRENCES(r, s->row, n) {
        Occurrence *o = &r->at[*n];
        if (n + AHEAD < r->row + r->noccurrences - 1)
            __builtin_prefetch(&r->at[n[AHEAD]]);
        s->count++;
        tops = tops && (o->block == first->block || dominates(s->a, first->block, o->block));
        Place *p = &s->at[o->block];
        if (p->defines != s->reg && (!o->def || o->guarded))
            make_live(s, o->block);
        if (!o->def)
            continue;
        if (p->defines != s->reg && is_reachable(s->a, o->block))
            heap_push(s, o->block);
        p->defines = s->reg;
        p->last = o->value = r->first_def + s->ndefs;
        r->defs[s->ndefs++] = *n;
    }
    s->least = tops ? s->level[first->block] + 1 : 0;
}

// Finds the blocks at whose start the register is live. s->live grows during the walk.
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

// Places phis at the frontier of a block; returns the number of visited members.
static uint32_t place_phis_after(Search *s, BlockId b)
{
    const Edges *frontier = &s->frontier;
    uint32_t steps = 0;
    if (frontier->first) {
        for (uint32_t e = frontier->first[b]; e < frontier->first[b + 1]; e++)
            if (s->level[frontier->at[e]] >= s->least)
                place_phi(s, frontier->at[e]);
        return 0;
    }
    s->stack.n = 0;
    VEC_PUSH(&s->scratch, &s->stack, s->heaps.root[b]);
    for (; s->stack.n; steps++) {
        const FrontierNode *n = &s->heaps.nodes.at[s->stack.at[--s->stack.n]];
        if (!n->join || s->level[n->join] < s->least)
            continue;
        place_phi(s, n->join);
        VEC_PUSH(&s->scratch, &s->stack, n->left);
        VEC_PUSH(&s->scratch, &s->stack, n->right);
    }
    return steps;
}

// Step 2 with stored frontiers. False, without any phi, if there are too many phis for the occurrences of the register.
// Otherwise many blocks with an edge to one join, each with a different register, would take quadratic time.
static bool place_phis_at_frontier(Search *s)
{
    uint32_t phis = s->phis.n, inputs = s->inputs.n, defs = s->heap.n, steps = 0;
    uint32_t max = INPUTS_MAX * (8 + s->count);
    for (uint32_t k = 0; k < s->heap.n && s->inputs.n - inputs + steps <= max; k++)  // the heap grows in the loop
        steps += place_phis_after(s, s->heap.at[k]);
    if (s->inputs.n - inputs + steps <= max)
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

// Step 2 by search: places phis at the targets of edges that leave the subtree of `root` in the dominator tree.
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
    while (s->heap.n && !is_beyond(s))
        search_frontier(s, heap_pop(s));
}

/* -- Values --------------------------------------------------------------------------------------------- */

static ValueId *value_at_end(Search *s, BlockId b)
{
    Place *p = &s->at[b];
    return p->defines == s->reg ? &p->last : p->resolved == s->reg ? &p->in : NULL;
}

// Returns the value at the start of a block. Climbs the dominator tree to a block with a value, and stores the value in
// the live blocks on the path.
static ValueId value_at_start(Search *s, BlockId b)
{
    s->stack.n = 0;
    if (!is_reachable(s->a, b))
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
    if (s->at[b].visited == s->reg || !is_reachable(s->a, b))
        return;
    s->at[b].visited = s->reg;
    VEC_PUSH(&s->scratch, &s->nodes, (uint64_t)s->a->dom.pre[b] << 32 | b);
}

static int ascending(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return (a > b) - (a < b);
}

static void insert_in_order(uint64_t *at, uint32_t n)
{
    for (uint32_t k = 1; k < n; k++) {
        uint64_t node = at[k];
        uint32_t to = k;
        for (; to && at[to - 1] > node; to--)
            at[to] = at[to - 1];
        at[to] = node;
    }
}

// Sorts the relevant blocks by index in the dominator tree. A few blocks, as for most registers, are sorted by
// insertion. Many blocks are found faster by a walk over all blocks in that order.
static void sort_nodes(Search *s)
{
    if (s->nodes.n <= FEW) {
        insert_in_order(s->nodes.at, s->nodes.n);
        return;
    }
    if (s->nodes.n < s->a->nrpo / 16) {
        qsort(s->nodes.at, s->nodes.n, sizeof *s->nodes.at, ascending);
        return;
    }
    uint32_t n = 0;
    for (uint32_t k = 0; k < s->a->nrpo; k++)
        if (s->at[s->a->dom.order[k]].visited == s->reg)
            s->nodes.at[n++] = s->a->dom.order[k];
}

// Step 3: computes the values at the start of the relevant blocks. The stack has the blocks with a value at their end
// that dominate the current block.
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
    sort_nodes(s);
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
            if (is_reachable(s->a, preds->at[e]))
                s->inputs.at[n] = leaving(s, preds->at[e]);
    }
}

// Returns the value before a definition.
static ValueId *old_value(const ReachingDefs *r, const Occurrence *def) { return &r->old[def->value - r->first_def]; }

// Step 4: gives each use its value.
static void give_values(Search *s)
{
    ReachingDefs *r = s->r;
    BlockId block = 0;
    ValueId value = 0;
    const Occurrence *before = NULL;
    FOR_OCCURRENCES(r, s->row, n) {
        Occurrence *o = &r->at[*n];
        if (o->block != block && (!o->def || o->guarded))
            value = value_at_start(s, o->block);
        block = o->block;
        bool again = before && before->def && before->instr == o->instr;
        before = o;
        if (!o->def) {
            o->value = value;
            continue;
        }
        // If an instruction defines the register twice, the last value remains; under a false guard, the value before
        // both definitions.
        ValueId *old = old_value(r, o);
        *old = again ? old[-1] : o->guarded ? value : 0;
        value = o->value;
    }
}

/* -- Registers ------------------------------------------------------------------------------------------ */

// Marks the live phis from phi `first` on, which a use reads directly or through phis; returns their number.
static uint32_t mark_used(Search *s, uint32_t first, bool *marked)
{
    const Analyses *a = s->a;
    ValueId base = s->r->first_phi + first;
    uint32_t n = 0;
    s->stack.n = 0;
#define NEED(value)                                                 \
    do {                                                            \
        ValueId v_ = (value);                                       \
        if (v_ >= base && !marked[v_ - base]) {                     \
            marked[v_ - base] = true;                               \
            VEC_PUSH(&s->scratch, &s->stack, v_ - s->r->first_phi); \
        }                                                           \
    } while (0)
    FOR_OCCURRENCES(s->r, s->row, at) {
        const Occurrence *o = &s->r->at[*at];
        NEED(o->def ? *old_value(s->r, o) : o->value);
    }
    for (; s->stack.n; n++) {
        const ReachingPhi *phi = &s->phis.at[s->stack.at[--s->stack.n]];
        uint32_t degree = a->preds.first[phi->block + 1] - a->preds.first[phi->block];
        for (uint32_t k = 0; k < degree; k++)
            NEED(s->inputs.at[phi->inputs + k]);
    }
#undef NEED
    return n;
}

// Returns the number of a value after dead phis are dropped.
static ValueId moved(const Search *s, ValueId value, uint32_t first, const ValueId *to)
{
    ValueId base = s->r->first_phi + first;
    return value >= base ? to[value - base] : value;
}

// Drops dead phis.
static void prune(Search *s, uint32_t first)
{
    const Analyses *a = s->a;
    uint32_t count = s->phis.n - first, kept = first;
    uint32_t inputs = count ? s->phis.at[first].inputs : 0;
    Arena scratch;
    arena_init(&scratch, s->scratch.heap);
    bool *marked = NEW_ARRAY(&scratch, bool, count);
    if (mark_used(s, first, marked) < count) {
        ValueId *to = NEW_ARRAY(&scratch, ValueId, count);
        for (uint32_t k = 0, n = 0; k < count; k++)
            to[k] = marked[k] ? s->r->first_phi + first + n++ : 0;
        for (uint32_t k = 0; k < count; k++) {
            if (!marked[k])
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
        FOR_OCCURRENCES(s->r, s->row, at) {
            Occurrence *o = &s->r->at[*at];
            ValueId *value = o->def ? old_value(s->r, o) : &o->value;
            *value = moved(s, *value, first, to);
        }
    }
    arena_free(&scratch);
}

// Finds the values of a register. False: its phis exceed the limit.
static bool find_values(Search *s)
{
    uint32_t first = s->phis.n;
    s->live.n = s->heap.n = 0;
    find_upward_exposed(s);
    s->by_frontier = s->frontier.first || s->heaps.root;
    bool nothing_read = s->live.n == 0;  // no upward-exposed use
    // After the first register beyond the limit, most others are beyond it, too.
    if (s->beyond.n && s->steps > STEPS_MAX * (s->limit + s->a->nrpo) && !nothing_read)
        return false;
    if (s->by_frontier && !nothing_read && !place_phis_at_frontier(s))
        s->by_frontier = false;
    if (s->by_frontier) {
        sweep_nodes(s, first);
    } else {
        find_live(s);
        search_phis(s);
        s->steps += s->live.n;
        if (is_beyond(s))
            return false;
    }
    fill_inputs(s, first);
    give_values(s);
    if (s->phis.n > first && s->by_frontier)
        prune(s, first);
    return !is_beyond(s);
}

static uint32_t *find_levels(const Analyses *a, Arena *arena, uint32_t blocks)
{
    uint32_t *level = NEW_ARRAY(arena, uint32_t, blocks);
    for (uint32_t k = 0; k < a->nrpo; k++)
        level[a->rpo[k]] = a->dom.idom[a->rpo[k]] ? level[a->dom.idom[a->rpo[k]]] + 1 : 0;
    return level;
}

// Computes what the search for phis needs of the flow graph. Memory comes from s->scratch.
static void prepare(Search *s)
{
    const Fn *fn = s->fn;
    const Analyses *a = s->a;
    s->at = NEW_ARRAY(&s->scratch, Place, fn->blocks.n);
    s->level = find_levels(a, &s->scratch, fn->blocks.n);
    uint64_t edges = a->preds.first[fn->blocks.n];
    if (!frontier_build(fn, a, &s->scratch, FRONTIER_MAX * edges, &s->frontier)) {
        s->frontier.first = NULL;
        frontier_build_heaps(fn, a, &s->scratch, s->level, &s->heaps);
    }
}

static void find_all_values(Search *s)
{
    ReachingDefs *r = s->r;
    prepare(s);
    r->by_heaps = !s->frontier.first;
    for (uint32_t k = 0; k < r->njoined; k++) {
        uint32_t phis = s->phis.n, inputs = s->inputs.n;
        s->reg = r->joined[k];
        s->row = k;
        if (find_values(s))
            continue;
        s->phis.n = phis;
        s->inputs.n = inputs;
        VEC_PUSH(&s->scratch, &s->beyond, s->reg);
    }
    r->nphis = s->phis.n;
    r->phi = keep(s->arena, s->phis.at, s->phis.n * sizeof *s->phis.at);
    r->input = keep(s->arena, s->inputs.at, s->inputs.n * sizeof *s->inputs.at);
    r->ninputs = s->inputs.n;
}

static void compute(Search *s)
{
    const Fn *fn = s->fn;
    for (RegId k = 1; k < fn->regs.n; k++)
        s->r->njoined += def_is_joined(s->a, k);
    if (!s->r->njoined)
        return;
    s->count_of = NEW_ARRAY(&s->scratch, uint32_t, fn->regs.n);
    find_occurrences(s);
    make_rows(s);
    count_definitions(s);
    find_all_values(s);
}

// Computes the result. Registers beyond the limit become DEF_OUTSIDE in AN_DEF, and the computation is repeated without
// them.
static void compute_limited(const Fn *fn, Analyses *a, uint64_t limit)
{
    for (uint32_t beyond = 0, more = 1; more; beyond += more) {
        Search s = {.fn = fn, .a = a, .r = &a->rdefs, .arena = &a->arena[AX_RDEFS], .limit = limit};
        arena_init(&s.scratch, fn->arena.heap);
        a->rdefs =
            (ReachingDefs){.first_def = fn->regs.n, .first_phi = fn->regs.n, .nops = fn->ops.n, .nbeyond = beyond};
        compute(&s);
        more = s.beyond.n;
        for (uint32_t k = 0; k < more; k++)
            a->def.at[s.beyond.at[k]] = DEF_OUTSIDE;
        arena_free(&s.scratch);
        if (more)
            arena_free(&a->arena[AX_RDEFS]);
    }
}

void rdefs_none(const Fn *fn, Analyses *a)
{
    a->rdefs = (ReachingDefs){.first_def = fn->regs.n, .first_phi = fn->regs.n, .nops = fn->ops.n};
}

void rdefs_build(const Fn *fn, Analyses *a)
{
    if (fn->form == FORM_MULTI)
        compute_limited(fn, a, fn->phi_limit);
    else
        rdefs_none(fn, a);
}

/* -- The number of phis --------------------------------------------------------------------------------- */

// The variable is the only joined register of `accesses`.
struct PhiCounter {
    Search s;
    ReachingDefs accesses;
    VEC(Occurrence) at;
    VEC(uint32_t) row, defs;
    VEC(ValueId) old;
    uint32_t first[2];
};

PhiCounter *phi_counter(Fn *fn, Arena *arena)
{
    const Analyses *a = analysis_need(fn, AN_CFG | AN_RPO | AN_DOM);
    PhiCounter *c = NEW(arena, PhiCounter);
    c->s = (Search){.fn = fn, .a = a, .r = &c->accesses, .arena = arena};
    arena_init(&c->s.scratch, fn->arena.heap);
    prepare(&c->s);
    return c;
}

static void add_access(PhiCounter *c, BlockId b, bool is_write)
{
    Arena *arena = &c->s.scratch;
    VEC_PUSH(arena, &c->row, c->at.n);
    VEC_PUSH(arena, &c->at, ((Occurrence){.instr = c->at.n, .block = b, .def = is_write}));
    if (!is_write)
        return;
    VEC_PUSH(arena, &c->defs, 0);
    VEC_PUSH(arena, &c->old, 0);
}

void phi_counter_start(PhiCounter *c)
{
    c->at.n = c->row.n = c->defs.n = c->old.n = 0;
    VEC_PUSH(&c->s.scratch, &c->at, (Occurrence){0});
}

void phi_counter_read(PhiCounter *c, BlockId b) { add_access(c, b, false); }

void phi_counter_write(PhiCounter *c, BlockId b) { add_access(c, b, true); }

uint64_t phi_counter_inputs(PhiCounter *c, uint64_t max)
{
    Search *s = &c->s;
    if (!c->row.n)
        return 0;
    c->first[1] = c->row.n;
    c->accesses = (ReachingDefs){.first = c->first,
                                 .row = c->row.at,
                                 .at = c->at.at,
                                 .defs = c->defs.at,
                                 .old = c->old.at,
                                 .first_def = 1,
                                 .first_phi = 1 + c->defs.n,
                                 .noccurrences = c->at.n};
    s->reg++;
    s->limit = max;
    s->ndefs = s->phis.n = s->inputs.n = 0;
    find_values(s);
    return s->inputs.n;
}

void phi_counter_free(PhiCounter *c) { arena_free(&c->s.scratch); }

const Analyses *rdefs_of_part(Fn *fn, Analyses *own, uint32_t files, const bool *about)
{
    const Analyses *a = analysis_need(fn, AN_CFG | AN_RPO | AN_DOM);
    *own = *a;
    own->valid = 0;
    if (fn->form == FORM_MULTI && a->valid & AN_RDEFS)
        return a;
    own->valid = AN_DEF | AN_RDEFS;
    arena_init(&own->arena[AX_DEF], fn->arena.heap);
    arena_init(&own->arena[AX_RDEFS], fn->arena.heap);
    def_build_part(fn, own, files, about);
    compute_limited(fn, own, fn->form == FORM_MULTI ? fn->phi_limit : UINT64_MAX);
    return own;
}

/* -- Comparison ------------------------------------------------------------------------------------------- */

static bool same(const void *a, const void *b, uint32_t n, size_t elem) { return !n || memcmp(a, b, n * elem) == 0; }

// Compares the values of occurrences. AN_DEF must be equal; then the joined registers and their occurrences are, too.
static bool same_reads(const ReachingDefs *a, const ReachingDefs *b)
{
    for (uint32_t k = 0; k < a->noccurrences; k++)
        if (a->at[k].op != b->at[k].op || a->at[k].value != b->at[k].value)
            return false;
    return true;
}

bool rdefs_same(const Fn *fn, const Analyses *kept, Analyses *now, char why[static 150])
{
    (void)fn;
    const ReachingDefs *a = &kept->rdefs, *b = &now->rdefs;
    // If these lengths are equal, so are those of the other tables. The tables refer to no operands if no register is
    // joined.
    bool long_enough = a->first_def == b->first_def && (a->nops == b->nops || !b->njoined);
    if (long_enough && a->first_phi == b->first_phi && a->nphis == b->nphis && a->ninputs == b->ninputs &&
        a->noccurrences == b->noccurrences && same_reads(a, b) &&
        same(a->old, b->old, a->first_phi - a->first_def, sizeof *a->old) &&
        same(a->phi, b->phi, a->nphis, sizeof *a->phi) && same(a->input, b->input, a->ninputs, sizeof *a->input))
        return true;
    snprintf(why, 150, long_enough ? "a use reads a different value" : "there are new registers or operands");
    return false;
}
