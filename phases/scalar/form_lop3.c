// SPDX-License-Identifier: MIT
// Maps networks of logic instructions to fewer instructions of three inputs.
//
// Sub-pass: OriFormLop3, if the SM backend has lop3. NvOptRecipes=all runs it after the last slot in ssa form, since
// rules of folding do not match lop3. The and, or, xor, not and lop3 instructions of a block that use each other form a
// network of nodes. A cut of a node is a set of up to three values of which the node is a bitwise function (truth
// tables of rewrite.h). The cuts of a node are merged from the cuts of its operands, and those with the least area flow
// are kept. Area flow is one instruction plus the flow of each input divided by the number of its uses (Cong, Wu, Ding,
// "Cut ranking and pruning", 1999; Mishchenko, Cho, Chatterjee, Brayton, "Combinational and sequential mapping with
// priority cuts", 2007). Then nodes that other instructions use get their best cuts, and so do the nodes that are
// inputs of these cuts. All other nodes are dead. This mapping replaces a network if it has fewer instructions. ptxas
// forms lop3 too, but never duplicates a function, and makes 3 lop3 for a full adder, where 2 suffice (40 random
// networks at sm_80: 3 % fewer SASS instructions, none has more; the samples the same, or one or two less).
//
// Off: the recipe is not in the default plan, since ptxas fuses shifts, sums and comparisons with their logic where a
// lop3 stands in the way. SASS instructions at sm_80 with and without the row: ethminer 2,398 and 2,467, four kernels
// of hashcat the same, 13 samples 4,112 and 4,116; but ggml's mmq of q5_0 97,135 and 96,122 (96,562 before oriopt), and
// one kernel of FlashAttention 2 8,766 and 7,744. Networks without an operand that is a single-use shift or sum, or
// with an xor, gain and lose the same, except that the packing of bits in a loop does not lose (150 and 135).
//
//     R4 = xor.b32 R1, R2                        R5 = lop3.b32 R1, R2, R3, 0x96
//     R5 = xor.b32 R4, R3                        R8 = lop3.b32 R1, R2, R3, 0xe8
//     R6 = and.b32 R1, R2                   ->
//     R7 = and.b32 R4, R3
//     R8 = or.b32 R6, R7                         ; R4, R6 and R7 have no other uses
//
//     R3 = not.b32 R1; R4 = and.b32 R3, R2       R4 = lop3.b32 R1, R2, 0, 0x0c
//
// A pair of instructions stays if one lop3 requires one more register between the two, since both operands of the first
// have their last use there, and an operand of the second is defined in between. ptxas maps such a pair itself where
// registers suffice: at sm_75, 80 and 90, hash functions have the same SASS instructions, and up to 2 registers fewer.
//
// Logic that a comparison may use, also through other computations, is not mapped. ptxas fuses such logic with a
// comparison with 0. It also crashes on some comparisons of a lop3 (ir/ptx/defects.def); with PtxasWorkarounds=0 the
// writer does not avoid these. Mapping such networks, with comparisons that the writer rewrites, saves no instruction
// in the samples.
//
// Must not fire:
//     R3 = and.b32 R1, R2; R4 = xor.b32 R3, R0; R5 = add.s32 R3, R4     R3 is live: no instruction is saved
//     R4 = or.b32 R3, R2; P1 = setp.ne.s32 R4, 0                        see above
//     R3 = xor.b32 R1, R2; R4 = mul.lo.s32 R0, 3; R5 = xor.b32 R3, R4   R1 and R2 have no later uses
//     R3 = shl.b32 R1, 8; R4 = and.b32 R2, 255; R5 = or.b32 R3, R4      packing, for which ptxas has better code
//     R3 = shl.b32 R1, 24; R4 = shl.b32 R2, 16; R5 = or.b32 R3, R4      perhaps packing, by the known bits of ptxas
//     b0: R3 = and.b32 R1, R2; b1: R4 = xor.b32 R3, R0                  b1 may be in a loop, where R1 and R2 stay live
//     @P0 R3 = and.b32 R1, R2 else R9                                   R3 is R9 where the guard is false
//     R3 = and.b64 R1, R2; P3 = and.pred P1, P2                         there is no such lop3
//     R5! = xor.b32 R1!, R2                                             R1 may change after the instruction
//     .target sm_35; .version 4.2                                       these have no lop3
//
// Does not do: networks across blocks, except for a `not` whose only use is in another block; networks through selects
// and shifts; 64 bits as two halves.
// Documented: nothing. Inferred: all, and the name.
#include "ir/analysis/value_ranges.h"
#include "ir/eval/eval.h"
#include "ir/rewrite/rewrite.h"
#include "phases/bodies.h"
#include "phases/manager/remarks.h"

enum {
    NODES = 4096,   // mapped together
    CUTS = 6,       // kept for a node
    ROUNDS = 2,     // the second round counts uses by the cuts that the first one chose
    UNIT = 1 << 8,  // area flow of an instruction
    FLOW_MAX = 1 << 24,
    COMPARED = 1,
    PASSED = 2,
};

typedef struct Cut {
    TruthTable f;
    uint32_t flow;
} Cut;

typedef struct Node {
    InstrId instr;
    RegId reg;         // its definition
    uint32_t network;  // union-find parent; the root is the first node of the network
    uint32_t nuses;    // uses by nodes; in the second round, by their chosen cuts
    uint8_t table;     // truth table over its operands
    bool outside;      // an instruction that is no node uses it
    bool stays;        // it is not mapped
    bool marked;       // live under the chosen cuts
    uint8_t ncuts, best;
    uint32_t share;  // its flow divided by its uses
    Cut cuts[CUTS];  // the first one is the instruction as it is
} Node;

// State of merge_cuts() for one node.
typedef struct Merge {
    const struct Mapping *m;
    Node *v;
    uint32_t n;                          // number of operands
    const Node *from[TRUTH_INPUTS];      // nodes that define the operands; NULL = no node
    TruthTable operand[TRUTH_INPUTS];    // operands as functions of themselves
    const TruthTable *of[TRUTH_INPUTS];  // functions that are chosen for the operands
} Merge;

// A network, at the index of its first node.
typedef struct Network {
    uint32_t before, after;  // instructions
    uint32_t last;           // last live node
    bool maps;               // it is replaced
} Network;

// Positions in the layout of the definition of a register and of its last use. Use by a phi is behind all others.
typedef struct LiveRange {
    uint32_t def, last;
} LiveRange;

typedef struct Mapping {
    Ctx *ctx;
    Fn *fn;
    const Analyses *a;
    Arena scratch;
    EvalCache evals;
    ValueRanges ranges;
    VEC(Node) nodes;  // in the order of the block
    VEC(Network) networks;
    uint32_t *node_of;  // by RegId: index of its node + 1, 0 = none
    uint32_t *nuses;    // by RegId: number of uses; NULL = not computed yet
    uint8_t *compared;  // by RegId: COMPARED = a comparison may use it or an equal value; PASSED = definition visited
    LiveRange *live;    // by RegId
    bool progress;
} Mapping;

/* -- Instructions --------------------------------------------------------------------------------------- */

// True if an instruction can be a node: a 32-bit bitwise function of values that do not change.
static bool is_node(const Fn *fn, const Instr *i)
{
    const Desc *d = ir_desc(fn, i);
    if (!(d->traits & TR_BITWISE) || i->flags & (IF_GUARDED | IF_PINNED) || i->ndef != 1 ||
        type_info[tab_mnem(fn->tables, d->mnem)->type[0]].width != W32)
        return false;
    for (uint32_t k = 0; k < i->nops; k++) {
        Operand o = ir_ops(fn, i)[k];
        bool plain = op_is_reg(o) ? op_file(o) == RF_R && reg_in_ssa(ir_reg(fn, op_index(o))) : k && op_is_const(o);
        if (!plain || o.mods)
            return false;
    }
    return true;
}

// Returns the number of operands, without the table of a lop3.
static uint32_t ninputs(const Instr *i) { return MIN(ir_nuse(i), TRUTH_INPUTS); }

static uint8_t table_of(Mapping *m, const Instr *i)
{
    Value in[EVAL_IN_MAX] = {0}, out[EVAL_OUT_MAX];
    for (uint32_t k = 0; k < ir_nuse(i); k++)
        in[k].lo = k < TRUTH_INPUTS ? truth_input[k] : tab_const(m->fn->tables, op_index(*ir_use(m->fn, i, k))).bits;
    eval_run(eval_cached(&m->evals, i->desc), in, out);
    return (uint8_t)out[0].lo;
}

static const Instr *defining(const Mapping *m, Operand o)
{
    InstrId def = op_is_reg(o) ? def_of(m->a, op_index(o)) : 0;
    return def ? ir_instr(m->fn, def) : NULL;
}

static Node *node_at(const Mapping *m, Operand o)
{
    uint32_t at = op_is_reg(o) ? m->node_of[op_index(o)] : 0;
    return at ? &m->nodes.at[at - 1] : NULL;
}

/* -- Cuts ----------------------------------------------------------------------------------------------- */

// Returns the function of an operand. A `not` of another block whose only use is this one is the complement.
static TruthTable operand_itself(const Mapping *m, Operand o)
{
    const Instr *i = node_at(m, o) ? NULL : defining(m, o);
    if (i && ir_desc(m->fn, i)->op == OP_NOT && is_node(m->fn, i) && m->nuses[op_index(o)] == 1)
        return truth_complement(truth_of_operand(m->fn, *ir_use(m->fn, i, 0)));
    return truth_of_operand(m->fn, o);
}

// True if two inputs are constants, which come after registers. The machine's lop3 takes only one constant.
static bool has_two_constants(const TruthTable *f) { return f->n > 1 && !op_is_reg(f->input[f->n - 2]); }

// Returns the flow of the inputs of a function, divided among their uses.
static uint32_t flow_of_inputs(const Mapping *m, const TruthTable *f)
{
    uint32_t flow = 0;
    for (uint32_t k = 0; k < f->n; k++) {
        const Node *from = node_at(m, f->input[k]);
        flow += from ? from->share : 0;
    }
    return MIN(flow, FLOW_MAX);
}

static bool is_better(const Cut *a, const Cut *b) { return a->flow != b->flow ? a->flow < b->flow : a->f.n < b->f.n; }

static bool has_same_inputs(const TruthTable *a, const TruthTable *b)
{
    return a->n == b->n && memcmp(a->input, b->input, a->n * sizeof *a->input) == 0;
}

// True if the node has a cut with the same inputs at index k or later.
static bool has_cut(const Node *v, uint32_t k, const TruthTable *f)
{
    for (; k < v->ncuts; k++)
        if (has_same_inputs(&v->cuts[k].f, f))
            return true;
    return false;
}

// Inserts a cut into the cuts of a node, which are sorted from the second one on.
static void keep_cut(Node *v, const Cut *cut)
{
    uint32_t at = v->ncuts;
    if (has_cut(v, 0, &cut->f))
        return;
    while (at > 1 && is_better(cut, &v->cuts[at - 1]))
        at--;
    if (at == CUTS)
        return;
    v->ncuts += v->ncuts < CUTS;
    memmove(v->cuts + at + 1, v->cuts + at, (v->ncuts - at - 1) * sizeof *cut);
    v->cuts[at] = *cut;
}

// Returns the table of the node over these inputs, which include those of the chosen functions.
static uint8_t compose(const Merge *g, const TruthTable *inputs)
{
    uint8_t table[TRUTH_INPUTS] = {0};
    for (uint32_t k = 0; k < g->n; k++)
        table[k] = truth_table_over(g->of[k], inputs);
    return truth_compose(g->v->table, table);
}

static void make_cut(const Merge *g, const TruthTable *inputs)
{
    Cut cut = {.f = *inputs};
    if (has_cut(g->v, 1, inputs))  // the same function
        return;
    cut.f.table = compose(g, inputs);
    truth_reduce(&cut.f);
    cut.flow = flow_of_inputs(g->m, &cut.f) + (truth_is_move(&cut.f) ? 0 : UNIT);
    if (!has_two_constants(&cut.f))
        keep_cut(g->v, &cut);
}

// Makes the cuts for all choices of functions for operand k and later operands. `inputs` has the inputs of the
// functions that are already chosen.
static void merge_cuts(Merge *g, uint32_t k, const TruthTable *inputs)
{
    const Node *from = g->from[k];
    for (uint32_t n = 0; n <= (from && !from->stays ? from->ncuts : 0); n++) {
        TruthTable more = *inputs;
        g->of[k] = n ? &from->cuts[n - 1].f : &g->operand[k];
        if (!truth_add_inputs(&more, g->of[k]))
            continue;
        if (k + 1 < g->n)
            merge_cuts(g, k + 1, &more);
        else
            make_cut(g, &more);
    }
}

static void find_cuts(const Mapping *m, Node *v)
{
    const Instr *i = ir_instr(m->fn, v->instr);
    Merge g = {.m = m, .v = v, .n = ninputs(i)};
    TruthTable none = {0};
    Cut own = {0};
    for (uint32_t k = 0; k < g.n; k++) {
        Operand o = *ir_use(m->fn, i, k);
        g.from[k] = node_at(m, o);
        g.operand[k] = operand_itself(m, o);
        g.of[k] = &g.operand[k];
        truth_add_inputs(&own.f, &g.operand[k]);
    }
    own.f.table = compose(&g, &own.f);
    own.flow = flow_of_inputs(m, &own.f) + UNIT;
    v->cuts[0] = own;
    v->ncuts = 1;
    if (!v->stays)
        merge_cuts(&g, 0, &none);
    v->best = v->ncuts > 1 && v->cuts[1].flow < own.flow;
    v->share = v->outside ? 0 : v->cuts[v->best].flow / MAX(v->nuses, 1);
}

/* -- Networks ------------------------------------------------------------------------------------------- */

static uint32_t network_of(const Mapping *m, uint32_t node)
{
    Node *at = m->nodes.at;
    while (at[node].network != node)
        node = at[node].network = at[at[node].network].network;
    return node;
}

// Makes nodes for a part of a block that begins at an instruction. True if a node uses another one. *next is the first
// instruction of the next part.
static bool find_nodes(Mapping *m, InstrId id, InstrId *next)
{
    Fn *fn = m->fn;
    bool any = false;
    m->nodes.n = 0;
    for (; id && m->nodes.n < NODES; id = instr_after(fn, id)) {
        const Instr *i = ir_instr(fn, id);
        if (!is_node(fn, i) || first_annotation(fn, id) != id)
            continue;
        uint32_t number = m->nodes.n;
        RegId reg = op_index(*ir_def(fn, i, 0));
        VEC_PUSH(&m->scratch, &m->nodes, ((Node){.instr = id, .reg = reg, .network = number}));
        for (uint32_t k = 0; k < ninputs(i); k++) {
            const Node *from = node_at(m, *ir_use(fn, i, k));
            if (!from)
                continue;
            uint32_t here = network_of(m, number), there = network_of(m, (uint32_t)(from - m->nodes.at));
            m->nodes.at[MAX(here, there)].network = MIN(here, there);
            any = true;
        }
        m->node_of[reg] = number + 1;
    }
    *next = id;
    return any;
}

static void forget_nodes(Mapping *m)
{
    for (uint32_t k = 0; k < m->nodes.n; k++)
        m->node_of[m->nodes.at[k].reg] = 0;
}

static void count_uses(Mapping *m)
{
    const Fn *fn = m->fn;
    for (uint32_t k = 0; k < m->nodes.n; k++) {
        const Instr *i = ir_instr(fn, m->nodes.at[k].instr);
        m->nodes.at[k].table = table_of(m, i);
        for (uint32_t n = 0; n < ninputs(i); n++) {
            Node *from = node_at(m, *ir_use(fn, i, n));
            if (from)
                from->nuses++;
        }
    }
    for (uint32_t k = 0; k < m->nodes.n; k++) {
        Node *v = &m->nodes.at[k];
        v->outside = m->nuses[v->reg] > v->nuses;
    }
}

/* -- Nodes that stay ------------------------------------------------------------------------------------ */

typedef VEC(RegId) Work;

// Marks the operands of an instruction as compared. If the walk has passed the definition of an operand, it goes to the
// worklist.
static void record_compared(Mapping *m, const Instr *i, Work *work)
{
    const Operand *ops = ir_ops(m->fn, i);
    for (uint32_t k = i->ndef; k < i->nops; k++) {
        RegId r = op_is_reg(ops[k]) ? op_index(ops[k]) : 0;
        if (m->compared[r] & COMPARED)
            continue;
        if (m->compared[r] & PASSED)
            VEC_PUSH(&m->scratch, work, r);
        m->compared[r] |= COMPARED;
    }
}

// Counts uses, records live ranges, and marks operands of comparisons and the values from which these are computed,
// since such a value equals the operand if the other inputs are 0. One walk from the end to the start marks most.
static void visit_all(Mapping *m)
{
    Fn *fn = m->fn;
    Work work = {0};
    m->nuses = NEW_ARRAY(&m->scratch, uint32_t, fn->regs.n);
    m->compared = NEW_ARRAY(&m->scratch, uint8_t, fn->regs.n);
    m->live = NEW_ARRAY(&m->scratch, LiveRange, fn->regs.n);
    m->compared[0] = COMPARED;
    uint32_t at = fn->instrs.n;
    for (BlockId b = fn->last; b; b = ir_block(fn, b)->prev) {
        FOR_INSTRS_BACK(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            const Operand *ops = ir_ops(fn, i);
            Opcode op = ir_desc(fn, i)->op;
            bool reached = op == OP_SETP || op == OP_SET;
            uint32_t use = op == OP_PHI ? UINT32_MAX : --at;
            for (uint32_t k = 0; k < i->ndef; k++)
                if (op_is_reg(ops[k])) {
                    reached |= m->compared[op_index(ops[k])] & COMPARED && is_pure_word(fn, ir_desc(fn, i), ops[k]);
                    m->compared[op_index(ops[k])] |= PASSED;
                    m->live[op_index(ops[k])].def = at;
                }
            for (uint32_t k = i->ndef; k < i->nops; k++)
                if (op_is_reg(ops[k])) {
                    LiveRange *live = &m->live[op_index(ops[k])];
                    live->last = MAX(live->last, use);
                    m->nuses[op_index(ops[k])]++;
                }
            if (reached)
                record_compared(m, i, &work);
        }
    }
    while (work.n) {
        Operand o = op_reg(fn, work.at[--work.n]);
        const Instr *i = defining(m, o);
        if (i && is_pure_word(fn, ir_desc(fn, i), o))
            record_compared(m, i, &work);
    }
}

// True if one of two values has one or more low bytes of zeros, and the other one has fewer low zeros. Value ranges
// give no upper bound here, but ptxas has more bounds, such as those of conversions (10 functions of 725 have 61 SASS
// instructions fewer, 1 has one more).
static bool begins_bytes(uint32_t x, uint32_t y)
{
    bool low_zeros_alone = !(x & (x + 1)) && !(y & (y + 1));
    uint32_t high = MAX(x, y);
    return low_zeros_alone && x != y && (high == 0xff || high == 0xffff || high == 0xffffff);
}

// True if an instruction may pack parts without common bits. ptxas turns these into sums, permutations and insertions.
static bool is_packing(Mapping *m, const Instr *i)
{
    Opcode op = ir_desc(m->fn, i)->op;
    if (op != OP_OR && op != OP_XOR)
        return false;
    ValueRange x = value_range(&m->ranges, *ir_use(m->fn, i, 0), i->block);
    ValueRange y = value_range(&m->ranges, *ir_use(m->fn, i, 1), i->block);
    if (!x.zeros && !y.zeros)
        return false;
    return (x.zeros | y.zeros) == UINT32_MAX || (op == OP_OR && begins_bytes((uint32_t)x.zeros, (uint32_t)y.zeros));
}

static void find_what_stays(Mapping *m)
{
    for (uint32_t k = 0; k < m->nodes.n; k++) {
        Node *v = &m->nodes.at[k];
        v->stays = m->compared[v->reg] & COMPARED || is_packing(m, ir_instr(m->fn, v->instr));
    }
}

/* -- Mapping -------------------------------------------------------------------------------------------- */

// Chooses cuts, and marks the nodes that are live under these cuts.
static void choose(Mapping *m)
{
    for (uint32_t k = 0; k < m->nodes.n; k++)
        find_cuts(m, &m->nodes.at[k]);
    for (uint32_t k = 0; k < m->nodes.n; k++) {
        Node *v = &m->nodes.at[k];
        v->nuses = 0;
        v->marked = v->outside;
    }
    for (uint32_t k = m->nodes.n; k-- > 0;) {
        const Node *v = &m->nodes.at[k];
        const TruthTable *f = &v->cuts[v->best].f;
        for (uint32_t n = 0; n < f->n && v->marked; n++) {
            Node *from = node_at(m, f->input[n]);
            if (!from)
                continue;
            from->marked = true;
            from->nuses++;
        }
    }
}

// Returns the number of operands that are defined in the block of an instruction, and have their last use there.
static uint32_t count_last_uses(const Mapping *m, const Instr *i)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < ninputs(i); k++) {
        Operand o = *ir_use(m->fn, i, k);
        const Instr *def = defining(m, o);
        n += def && def->block == i->block && m->live[op_index(o)].last <= m->live[op_index(*ir_def(m->fn, i, 0))].def;
    }
    return n;
}

// True if a network is a pair of instructions that is left to ptxas, since one lop3 requires one more register.
static bool is_better_apart(const Mapping *m, const Network *network, const Node *first)
{
    const Node *second = &m->nodes.at[network->last];
    if (network->before != 2 || network->after != 1 || m->nuses[first->reg] != 1)
        return false;
    const Instr *i = ir_instr(m->fn, second->instr);
    bool between = false;
    for (uint32_t k = 0; k < ninputs(i); k++) {
        Operand o = *ir_use(m->fn, i, k);
        between |= op_is_reg(o) && m->live[op_index(o)].def > m->live[first->reg].def;
    }
    return between && count_last_uses(m, ir_instr(m->fn, first->instr)) > 1;
}

// Selects the networks that become fewer instructions.
static void choose_networks(Mapping *m)
{
    m->networks.n = 0;
    for (uint32_t k = 0; k < m->nodes.n; k++) {
        const Node *v = &m->nodes.at[k];
        VEC_PUSH(&m->scratch, &m->networks, ((Network){0}));
        Network *network = &m->networks.at[network_of(m, k)];
        network->before++;
        if (!v->marked)
            continue;
        network->after += !v->best || !truth_is_move(&v->cuts[v->best].f);
        network->last = k;
    }
    for (uint32_t k = 0; k < m->networks.n; k++) {
        Network *network = &m->networks.at[k];
        network->maps = network->after < network->before && knob_left(&m->ctx->knobs, KNOB_LOP3_BUDGET) > 0 &&
                        !is_better_apart(m, network, &m->nodes.at[k]);
        if (network->maps)
            knob_spend(&m->ctx->knobs, KNOB_LOP3_BUDGET);
    }
}

static void replace_node(Mapping *m, const Node *v)
{
    Fn *fn = m->fn;
    m->progress = true;
    if (!v->marked) {
        ir_remove(fn, v->instr);
    } else if (v->best) {
        truth_replace(fn, v->instr, &v->cuts[v->best].f);
    }
}

static void map_nodes(Mapping *m)
{
    if (!m->nuses) {
        eval_cache_init(&m->evals, m->fn->tables, &m->scratch);
        visit_all(m);
        value_ranges_init(&m->ranges, m->fn, m->a, false, &m->evals, &m->scratch);
    }
    count_uses(m);
    find_what_stays(m);
    for (int round = 0; round < ROUNDS; round++)
        choose(m);
    choose_networks(m);
    for (uint32_t k = 0; k < m->nodes.n; k++)
        if (m->networks.at[network_of(m, k)].maps)
            replace_node(m, &m->nodes.at[k]);
    for (uint32_t k = 0; k < m->networks.n; k++) {
        const Network *network = &m->networks.at[k];
        if (network->maps && network->after)
            remark(m->ctx, m->fn, m->nodes.at[network->last].instr, RM_PASSED, "LogicMapped",
                   "{Before:%u} logic instructions are replaced by {After:%u}", network->before, network->after);
    }
}

/* -- The phase ------------------------------------------------------------------------------------------ */

bool phase_form_lop3(Ctx *ctx, Fn *fn)
{
    DescId lop3 = desc_make(fn->tables, OP_LOP3, TY_B32);
    if (!module_takes(fn->module, tab_desc(fn->tables, lop3)->needs))
        return false;
    Mapping m = {.ctx = ctx, .fn = fn, .a = analysis_need(fn, AN_RPO | AN_DOM | AN_DEF)};
    arena_init(&m.scratch, &ctx->heap);
    m.node_of = NEW_ARRAY(&m.scratch, uint32_t, fn->regs.n);
    for (uint32_t k = 0; k < m.a->nrpo; k++) {  // in reverse postorder, so that operands of other blocks are mapped
        BlockId b = m.a->rpo[k];
        for (InstrId id = ir_block(fn, b)->first, next; id; id = next) {
            if (find_nodes(&m, id, &next))
                map_nodes(&m);
            forget_nodes(&m);
        }
    }
    arena_free(&m.scratch);
    return m.progress;
}
