// SPDX-License-Identifier: MIT
// Removes moves to a register that already has the moved value.
//
// Sub-pass: OriRemoveRedundantMov, after slots 9 and 73. It corresponds to OriRemoveRedundantMultiDefMov (for phis),
// but handles registers with several definitions. The value of a register before a move is the value that its nearest
// earlier occurrence reads or defines. The search runs backward through the block and its single predecessors. Values
// are those of the analysis of reaching definitions. Two values are equal if they have one representative
// (copy_representatives()). An unguarded move has the representative of its source. A join has the representative of
// its inputs if these agree, also through loops. A redundant move has no effect, so all of them can be removed at once.
//
//     R1 = mov.b32 R2                             R1 = mov.b32 R2
//     st.global.b32 [R9], R1                 ->   st.global.b32 [R9], R1
//     R1 = mov.b32 R2                             (nothing)
//
//     b0: R1 = mov.b32 0; @P0 bra b1 else b2      b0: R1 = mov.b32 0; @P0 bra b1 else b2
//     b1: R1 = mov.b32 0; bra b3             ->   b1: bra b3                ; only from b0
//
// Must not fire:
//     R1 = mov.b32 R2; R2 = add.s32 R2, 1; R1 = mov.b32 R2    R2 has another value at the second move
//     @P0 R1 = mov.b32 R2; R1 = mov.b32 R2        R1 has its old value where P0 is false
//     R1 = mov.b32 R2; @P0 R1 = mov.b32 R2        guarded moves stay
//     R1 = mov.b32 R2 where R1 or R2 is pinned    an instruction that is not modelled may write it in between
//
// A quick test excludes most functions. In an undirected graph of registers and constants, with moves as edges, a value
// reaches a register by two paths only if there is a cycle.
//
// Does not do: registers that occur neither in the block before the move nor in the predecessors that are searched.
// Documented: copies into registers of several definitions are handled. Inferred: the rest.
#include "phases/bodies.h"

enum { CLIMB = 16 };  // predecessors that are searched

typedef enum { N_NONE, N_VALUE, N_CONST, N_NOTHING, N_REGISTER } NodeKind;

// A node of the graph of values: a value, a constant, or the undefined value of a register. In the quick test registers
// are nodes.
typedef struct Node {
    NodeKind kind;
    uint32_t id;
} Node;

// A move, the node that its register held before, and the node that it copies.
typedef struct Candidate {
    InstrId move;
    uint32_t held, moved;
} Candidate;

// A plain move from one node to another, which is a register.
typedef struct Copy {
    InstrId move;
    uint32_t from, to;
} Copy;

// The number of copies at a node, and the exclusive or of their indices, which is the index of the copy if there is
// only one.
typedef struct Degree {
    uint32_t n, copies;
} Degree;

typedef struct Moves {
    Fn *fn;
    const Analyses *a;
    Arena scratch;
    VEC(Node) nodes;  // from 1 on
    IdSet index;
    VEC(uint32_t) first, input;
    VEC(Copy) copies;
    uint32_t steps;  // left for searches of the quick test
    bool *suspect;   // by RegId: a move that may be redundant writes it
    bool *moved;     // by RegId: a plain move names it
    VEC(Candidate) candidates;
    uint32_t *last;   // by BlockId: the last occurrence of the current register
    uint32_t *stamp;  // by BlockId: index of that register among the joined ones, plus 1
} Moves;

// True for an unguarded move of a register or a constant, without modifiers, to a register of ssa form.
static bool is_plain_move(const Fn *fn, const Instr *i)
{
    Operand from = copy_of_move(fn, i);
    return op_kind(from) != K_NONE && !from.mods && reg_in_ssa(ir_reg(fn, op_index(*ir_def(fn, i, 0))));
}

/* -- Nodes ---------------------------------------------------------------------------------------------- */

static uint32_t node_of(Moves *m, NodeKind kind, uint32_t id)
{
    uint64_t h = hash_mix(kind, id);
    uint32_t hash = (uint32_t)(h ^ (h >> 32));
    IDSET_EACH(&m->index, hash, n) {
        if (m->nodes.at[n].kind == kind && m->nodes.at[n].id == id)
            return n;
    }
    VEC_PUSH(&m->scratch, &m->nodes, ((Node){kind, id}));
    idset_add(&m->index, &m->scratch, hash, m->nodes.n - 1);
    return m->nodes.n - 1;
}

static uint32_t node_of_value(Moves *m, ValueId value, RegId r)
{
    return value ? node_of(m, N_VALUE, value) : node_of(m, N_NOTHING, r);
}

// Returns the node that a plain move copies.
static uint32_t node_of_source(Moves *m, InstrId move)
{
    Operand from = *ir_use(m->fn, ir_instr(m->fn, move), 0);
    if (!op_is_reg(from))
        return node_of(m, N_CONST, op_index(from));
    return node_of_value(m, value_of(m->fn, m->a, move, 1), op_index(from));
}

/* -- The quick test ------------------------------------------------------------------------------------- */

static void collect_copies(Moves *m)
{
    const Fn *fn = m->fn;
    FOR_BLOCKS(fn, b) {
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            if (ir_desc(fn, i)->op != OP_MOV || !is_plain_move(fn, i))
                continue;
            Operand from = *ir_use(fn, i, 0);
            RegId to = op_index(*ir_def(fn, i, 0));
            uint32_t source = node_of(m, op_is_reg(from) ? N_REGISTER : N_CONST, op_index(from));
            VEC_PUSH(&m->scratch, &m->copies, ((Copy){id, source, node_of(m, N_REGISTER, to)}));
        }
    }
}

// Removes copies as long as one of their nodes has no other copy. Cycles and the paths between cycles remain.
static void strip_copies(Moves *m)
{
    Degree *degree = NEW_ARRAY(&m->scratch, Degree, m->nodes.n);
    for (uint32_t k = 0; k < m->copies.n; k++) {
        uint32_t ends[2] = {m->copies.at[k].from, m->copies.at[k].to};
        for (int e = 0; e < 2; e++) {
            degree[ends[e]].n++;
            degree[ends[e]].copies ^= k;
        }
    }
    for (uint32_t k = 0; k < m->copies.n; k++) {
        uint32_t ends[2] = {m->copies.at[k].from, m->copies.at[k].to};
        for (int e = 0; e < 2; e++) {
            for (uint32_t node = ends[e]; degree[node].n == 1;) {
                uint32_t copy = degree[node].copies;
                Copy *c = &m->copies.at[copy];
                degree[node].n = 0;
                node = node == c->from ? c->to : c->from;
                degree[node].n--;
                degree[node].copies ^= copy;
                c->move = 0;
            }
        }
    }
}

// Returns the only predecessor of a block; 0 = none.
static BlockId only_predecessor(const Moves *m, BlockId b)
{
    BlockId from = 0;
    if (b == m->fn->first)
        return 0;
    FOR_PREDS(m->a, b, p) {
        if (from && *p != from)
            return 0;
        from = *p;
    }
    return from;
}

static bool names(const Fn *fn, const Instr *i, RegId r)
{
    const Operand *ops = ir_ops(fn, i);
    for (uint32_t k = 0; k < i->nops; k++)
        if (op_is_reg(ops[k]) && op_index(ops[k]) == r)
            return true;
    return false;
}

// True if the register of a move occurs before the move, in the blocks that occurrence_before() searches. All searches
// together take as many steps as the function has instructions; after that the result is true.
static bool may_hold_something(Moves *m, InstrId move)
{
    const Fn *fn = m->fn;
    RegId r = op_index(*ir_def(fn, ir_instr(fn, move), 0));
    BlockId b = ir_instr(fn, move)->block;
    InstrId id = ir_instr(fn, move)->prev;
    for (int k = 0; k <= CLIMB && b; k++) {
        for (; id && m->steps; id = ir_instr(fn, id)->prev, m->steps--)
            if (names(fn, ir_instr(fn, id), r))
                return true;
        if (!m->steps)
            return true;
        b = only_predecessor(m, b);
        id = b ? ir_block(fn, b)->last : 0;
    }
    return false;
}

// Finds moves that may be redundant: moves on a cycle of copies whose register occurs before. False: there are none.
static bool find_suspects(Moves *m)
{
    bool any = false;
    collect_copies(m);
    strip_copies(m);
    m->steps = m->fn->ninstrs;
    m->suspect = NEW_ARRAY(&m->scratch, bool, m->fn->regs.n);
    m->moved = NEW_ARRAY(&m->scratch, bool, m->fn->regs.n);
    for (uint32_t n = 1; n < m->nodes.n; n++)
        if (m->nodes.at[n].kind == N_REGISTER)
            m->moved[m->nodes.at[n].id] = true;
    for (uint32_t k = 0; k < m->copies.n; k++) {
        Copy c = m->copies.at[k];
        if (!c.move)
            continue;
        m->a = analysis_need(m->fn, AN_CFG);
        bool *suspect = &m->suspect[m->nodes.at[c.to].id];
        *suspect = *suspect || may_hold_something(m, c.move);
        any |= *suspect;
    }
    return any;
}

/* -- Values before moves -------------------------------------------------------------------------------- */

// Returns the last occurrence of the register that is executed before occurrence `o`, which gives the register's value
// there; NULL = not found. `last` is the occurrence before `o` in the layout.
static const Occurrence *occurrence_before(const Moves *m, uint32_t joined, const Occurrence *last, const Occurrence *o)
{
    const ReachingDefs *rd = &m->a->rdefs;
    if (last && last->block == o->block)
        return last;
    BlockId b = o->block;
    for (int k = 0; k < CLIMB && (b = only_predecessor(m, b)); k++)
        if (m->stamp[b] == joined + 1)
            return rd->at + m->last[b];
    return NULL;
}

// True for a plain move of a known value.
static bool copies_value(const Moves *m, InstrId id)
{
    const Instr *i = ir_instr(m->fn, id);
    if (!is_plain_move(m->fn, i))
        return false;
    Operand from = *ir_use(m->fn, i, 0);
    return !op_is_reg(from) || !def_is_outside(m->a, op_index(from));
}

static bool is_candidate(const Moves *m, const Occurrence *o)
{
    return o->def && is_reachable(m->a, o->block) && copies_value(m, o->instr);
}

static void visit_register(Moves *m, uint32_t joined)
{
    const ReachingDefs *rd = &m->a->rdefs;
    const Occurrence *last = NULL;
    bool any = false;
    FOR_OCCURRENCES(rd, joined, n) {
        const Occurrence *o = &rd->at[*n];
        m->last[o->block] = *n;
        m->stamp[o->block] = joined + 1;
        any |= is_candidate(m, o);
    }
    if (!any)
        return;
    FOR_OCCURRENCES(rd, joined, n) {
        const Occurrence *o = &rd->at[*n];
        const Occurrence *before = is_candidate(m, o) ? occurrence_before(m, joined, last, o) : NULL;
        last = o;
        if (!before)
            continue;
        uint32_t held = node_of_value(m, before->value, rd->joined[joined]);
        uint32_t moved = node_of_source(m, o->instr);
        VEC_PUSH(&m->scratch, &m->candidates, ((Candidate){o->instr, held, moved}));
    }
}

static void find_candidates(Moves *m)
{
    m->last = NEW_ARRAY(&m->scratch, uint32_t, m->fn->blocks.n);
    m->stamp = NEW_ARRAY(&m->scratch, uint32_t, m->fn->blocks.n);
    for (uint32_t k = 0; k < m->a->rdefs.njoined; k++)
        if (m->suspect[m->a->rdefs.joined[k]])
            visit_register(m, k);
}

/* -- The graph of values -------------------------------------------------------------------------------- */

static void add_meeting_values(Moves *m, const ReachingPhi *phi)
{
    const ValueId *input = m->a->rdefs.input + phi->inputs;
    FOR_PREDS(m->a, phi->block, p) {
        ValueId value = *input++;
        if (is_reachable(m->a, *p))
            VEC_PUSH(&m->scratch, &m->input, node_of_value(m, value, phi->reg));
    }
    if (phi->block == m->fn->first)  // the caller is a predecessor, too
        VEC_PUSH(&m->scratch, &m->input, node_of(m, N_NOTHING, phi->reg));
}

// Appends the nodes that a node copies, which may be new ones.
static void add_copied(Moves *m, Node n)
{
    bool phi = n.kind == N_VALUE && value_is_phi(m->a, n.id);
    InstrId def = n.kind == N_VALUE && !phi ? value_def(m->a, n.id) : 0;
    if (phi)
        add_meeting_values(m, value_phi(m->a, n.id));
    else if (def && copies_value(m, def))
        VEC_PUSH(&m->scratch, &m->input, node_of_source(m, def));
    else
        VEC_PUSH(&m->scratch, &m->input, 0);
}

static uint32_t *build_graph(Moves *m)
{
    VEC_PUSH(&m->scratch, &m->first, 0);
    for (uint32_t n = 1; n < m->nodes.n; n++) {
        VEC_PUSH(&m->scratch, &m->first, m->input.n);
        add_copied(m, m->nodes.at[n]);
    }
    VEC_PUSH(&m->scratch, &m->first, m->input.n);
    return copy_representatives(&(Edges){m->first.at, m->input.at}, m->nodes.n, &m->scratch);
}

/* -- The phase ------------------------------------------------------------------------------------------ */

static bool remove_moves(Moves *m)
{
    uint32_t *representative = build_graph(m);
    bool progress = false;
    for (uint32_t k = 0; k < m->candidates.n; k++) {
        const Candidate *c = &m->candidates.at[k];
        if (!representative[c->held] || representative[c->held] != representative[c->moved])
            continue;
        ir_remove(m->fn, c->move);
        progress = true;
    }
    return progress;
}

bool phase_redundant_moves(Ctx *ctx, Fn *fn)
{
    Moves m = {.fn = fn};
    bool progress = false;
    if (fn->properties & PROP_NO_REDUNDANT_MOVE)
        return false;
    arena_init(&m.scratch, &ctx->heap);
    VEC_PUSH(&m.scratch, &m.nodes, (Node){0});
    if (find_suspects(&m)) {
        Analyses own;
        m.a = rdefs_of_part(fn, &own, UINT32_MAX, m.moved);
        find_candidates(&m);
        progress = m.candidates.n && remove_moves(&m);
        analysis_free(&own);
    }
    arena_free(&m.scratch);
    phase_gains(ctx, PROP_NO_REDUNDANT_MOVE);
    return progress;
}
