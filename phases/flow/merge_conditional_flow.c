// SPDX-License-Identifier: MIT
// Merges branches and guarded exits that test equivalent conditions.
//
// Slots: 13 GeneralOptimizeEarly, 133 MergeEquivalentConditionalFlow, 136 LateMergeEquivalentConditionalFlow. Out of
// SSA form, a test that repeats an earlier one often compares other registers, which hold the same values. OriBranchOpt
// does not find these tests: it compares registers.
//
// A test is a guarded terminator; most guards are comparisons. One walk over the dominator tree:
//   1. decides a test whose result follows from the tests on the way to it: an edge that is the only way into a block
//      that dominates the later test. The other branch stays alone; a guarded exit becomes an exit, or goes.
//   2. redirects an edge into a join that holds nothing but a test (and its comparison), if the result of the test is
//      known on that edge.
// Comparisons are equivalent if their operands are equal values (reaching definitions), or if both are computed by
// equal pure instructions from equal values, through DEPTH definitions (ir/analysis/terms.c). A comparison also decides
// its complement and the comparisons that it implies (phases/scalar/relations.c).
//
//     b0: P0 = setp.lt.s32 R1, R2; @P0 bra b5 else b1         b0: P0 = ...; @P0 bra b5 else b1
//     b1: ...; bra b2                                    ->   b1: ...; bra b2
//     b2: P1 = setp.ge.s32 R1, R2; @P1 bra b3 else b5         b2: P1 = ...; bra b3
//
//     b0: P0 = setp.eq.s32 R1, 0; @P0 exit else b1            b0: P0 = ...; @P0 exit else b1
//     b1: st ...; P1 = setp.eq.s32 R1, 0; @P1 exit else b2 -> b1: st ...; P1 = ...; bra b2
//
//     b1: bra b3          ; only where P0 is true             b1: bra b4
//     b3: @P1 bra b4 else b5   ; P1 equals P0            ->   b3: @P1 bra b4 else b5
//
// Must not fire:
//     b2: P1 = setp.lt.s32 R1, R2                 if R1 is written between the tests, or in a loop
//     b2: ...                                     if b2 has another way in (1)
//     b0: @P0 bra b1 else b1                      two equal targets: no condition holds in b1
//     P0 = setp.lt.f32 R1, R2 ... setp.ge.f32     both are false for NaN
//     R1 = ld ...; R2 = ld ...                    two loads are two values, two reads of %clock are, too
//     b3: vote ...; @P1 bra b4 else b5            the join has other work (2)
//     b3 with a predecessor that b3 dominates     the header of a loop would have two entries (2)
//     b0: @P0 bra b1 else b3; b1: ...; bra b3     ptxas predicates a short b1, unless another branch ends it (2):
//                                                 filter_row of the samples has 44 SASS instructions instead of 56
//
// Slots 133 and 136 run after dead code removal and after the layout, so they also remove the comparisons that they
// made dead and merge blocks; the order of the blocks stays.
//
// Sound: the definitions of all leaves of a comparison dominate it, so its value at a later test is that of the leaves'
// last values (terms.c); no instruction between matters. The removed edges are never taken. Step 2 changes where
// threads reconverge, so it skips functions with convergent instructions, unless all branches are uniform; step 1 only
// removes branches that do not diverge.
//
// The search in the text of the function (may_merge) finds candidates without analyses. It compares the comparisons
// before two terminators by their registers; operands that are computed at most NEAR instructions before are compared
// by descriptor. Equal values in different registers that come from farther away are not found.
//
// Documented: the gates, the budget, comparisons of depth 2, the chain of blocks between the tests (sub_753480) and the
// query for the chains over renamed registers (sub_753E30, query 82), the complement of a condition. Inferred: chains
// are paths of the dominator tree, so the blocks between the tests may branch; knob 91 limits the chain to one edge; a
// chain over renamed registers is an edge into a join, and the registers are inputs of its phis.
#include "ir/analysis/terms.h"
#include "phases/bodies.h"
#include "phases/manager/remarks.h"
#include "phases/scalar/relations.h"

enum { NEAR = 12, DEPTH = 2, PASSES = 4 };

// The condition of a terminator's guard, through moves and complements.
typedef struct Condition {
    uint32_t term;  // of the predicate; 0 = unknown
    bool negated;   // the guard is its complement
    bool compares;  // `is` describes the predicate
    Comparison is;
} Condition;

typedef struct Merge {
    Ctx *ctx;
    Fn *fn;
    const Analyses *a;
    Arena scratch;
    Terms terms;
    ScopedTable facts;  // the changes of `known` and of relations
    Relations relations;
    uint32_t *known;  // by term below nknown: Truth
    uint32_t nknown;
    Condition *condition;  // by BlockId: of its terminator
    bool *heads_loop;      // by BlockId
    uint32_t *edge;        // by 2 * BlockId + way of its branch: index among the predecessors of the target
    bool near_only;        // knob 91
    bool threads;          // edges may be redirected past a test
    Truth convergent;      // UNKNOWN = not computed yet
    bool exhausted;        // the budget is spent
} Merge;

/* -- Candidates ----------------------------------------------------------------------------------------- */

// True for a terminator that continues in one block if its guard is true, and in another one or nowhere if it is false.
static bool is_test(const Fn *fn, const Instr *i)
{
    Opcode op = ir_desc(fn, i)->op;
    return ir_guarded(i) && !(i->flags & IF_PINNED) && (branch_is_split(fn, i) || op == OP_EXIT || op == OP_RET);
}

// Returns the definition of a register among the `left` instructions before `id`, and reduces `left`; 0 = none.
static InstrId definition_before(const Fn *fn, InstrId id, RegId r, int *left)
{
    for (id = ir_instr(fn, id)->prev; id && *left > 0; id = ir_instr(fn, id)->prev, --*left) {
        const Instr *i = ir_instr(fn, id);
        for (uint32_t k = 0; k < i->ndef; k++)
            if (op_is_reg(*ir_def(fn, i, k)) && op_index(*ir_def(fn, i, k)) == r)
                return id;
    }
    return 0;
}

// Returns the pure instruction that computes an operand near a reader, through moves; 0 = none. Replaces the operand by
// the source of the moves.
static InstrId computation_near(const Fn *fn, InstrId reader, Operand *o)
{
    int left = NEAR;
    InstrId def;
    while (op_is_reg(*o) && (def = definition_before(fn, reader, op_index(*o), &left))) {
        const Instr *i = ir_instr(fn, def);
        bool is_move = ir_desc(fn, i)->op == OP_MOV && i->ndef == 1 && ir_nuse(i) == 1;
        if (!(ir_desc(fn, i)->traits & TR_PURE) || ir_guarded(i) || (is_move && op_kind(*ir_use(fn, i, 0)) == K_SREG))
            return 0;
        if (!is_move)
            return def;
        *o = *ir_use(fn, i, 0);
        reader = def;
    }
    return 0;
}

// Sets the hashes of an operand by depth: that of its register, and those of the instructions that compute it near the
// reader, through 1 .. `depth` definitions. Returns the number of different ones.
static uint32_t hash_operand(const Fn *fn, InstrId reader, Operand o, uint32_t depth, uint64_t hash[static DEPTH + 1])
{
    InstrId def = depth ? computation_near(fn, reader, &o) : 0;
    hash[0] = hash_mix(o.word, 2);
    if (!def)
        return 1;
    const Instr *i = ir_instr(fn, def);
    uint64_t kid[DEPTH + 1];
    uint32_t most = 1;
    for (uint32_t d = 1; d <= depth; d++)
        hash[d] = 0;
    for (uint32_t k = 0; k < ir_nuse(i); k++) {
        uint32_t n = hash_operand(fn, def, *ir_use(fn, i, k), depth - 1, kid);
        most = MAX(most, n);
        for (uint32_t d = 1; d <= depth; d++)
            hash[d] += kid[MIN(d, n) - 1];
    }
    for (uint32_t d = 1; d <= most; d++)
        hash[d] = hash_mix(hash[d], i->desc);
    return most + 1;
}

enum { HASHES = 1 + (DEPTH + 1) * (DEPTH + 1) };

// Sets hashes of a comparison after hash[0], and returns the number of hashes. Each operand is looked into at each
// depth: the instructions that compute a common operand may be near one comparison, but not near the other.
static uint32_t hash_comparison(const Fn *fn, InstrId setp, uint32_t hash[static HASHES])
{
    const Instr *i = ir_instr(fn, setp);
    const TypeInfo *type = &type_info[tab_mnem(fn->tables, ir_desc(fn, i)->mnem)->type[0]];
    uint64_t by_depth[2][DEPTH + 1], salt = (uint64_t)type->width << 1 | (type->class == TC_F);
    uint32_t n = 1, depths[2];
    for (int k = 0; k < 2; k++)
        depths[k] = hash_operand(fn, setp, *ir_use(fn, i, k), DEPTH, by_depth[k]);
    for (uint32_t a = 0; a < depths[0]; a++)
        for (uint32_t b = 0; b < depths[1]; b++) {
            uint64_t h = hash_mix(by_depth[0][a] + by_depth[1][b], salt);
            hash[n++] = (uint32_t)(h ^ h >> 32) | 1;
        }
    return n;
}

// The condition of a terminator as far as the instructions near it tell.
typedef struct NearCondition {
    InstrId setp;  // the comparison, through moves and complements; 0 = none is near
    RegId guard;   // the register at the end of the moves
    bool negated;  // the guard of the terminator is its complement
} NearCondition;

static NearCondition condition_near(const Fn *fn, InstrId terminator)
{
    int left = NEAR;
    InstrId reader = terminator, def;
    Operand guard = *ir_guard(fn, ir_instr(fn, terminator));
    NearCondition c = {.guard = op_index(guard), .negated = guard.mods & OPM_NOT};
    while ((def = definition_before(fn, reader, c.guard, &left))) {
        const Instr *i = ir_instr(fn, def);
        Opcode op = ir_desc(fn, i)->op;
        Operand from = *ir_use(fn, i, 0);
        if (op == OP_SETP)
            c.setp = def;
        if ((op != OP_MOV && op != OP_NOT) || i->ndef != 1 || !op_is_reg(from))
            break;
        c.guard = op_index(from);
        c.negated ^= (op == OP_NOT) ^ ((from.mods & OPM_NOT) != 0);
        reader = def;
    }
    return c;
}

// Sets hashes of the condition of a terminator, and returns their number. Equivalent conditions have a hash in common
// if their comparisons are near.
static uint32_t hash_condition(const Fn *fn, InstrId terminator, uint32_t hash[static HASHES])
{
    NearCondition c = condition_near(fn, terminator);
    hash[0] = (uint32_t)hash_mix(c.guard, 3) | 1;
    return c.setp ? hash_comparison(fn, c.setp, hash) : 1;
}

// True if a comparison with the result `holds` determines another one of the same operands, in the same or in the other
// order.
static bool determines(const Fn *fn, InstrId setp, bool holds, InstrId later)
{
    Comparison c, one;
    if (!comparison_describe(fn, ir_instr(fn, setp), 1, 2, &c))
        return true;
    for (uint32_t k = 0; k < 2; k++)
        if (!comparison_describe(fn, ir_instr(fn, later), 1 + k, 2 - k, &one) ||
            comparison_given(&one, &c, holds) != UNKNOWN)
            return true;
    return false;
}

// True if the test at the end of a block may decide that of a block which it dominates. They have a hash in common.
static bool may_decide(const Fn *fn, const Analyses *a, BlockId earlier, BlockId later)
{
    const Instr *i = ir_instr(fn, ir_terminator(fn, earlier));
    NearCondition first = condition_near(fn, ir_terminator(fn, earlier));
    NearCondition second = condition_near(fn, ir_terminator(fn, later));
    bool splits = branch_is_split(fn, i), holds = splits && dominates(a, op_index(*ir_use(fn, i, 0)), later);
    bool fails = dominates(a, op_index(*terminator_other_way(fn, i)), later);
    // Of the blocks below both ways, only those that hold nothing but the test are of interest.
    const Block *block = ir_block(fn, later);
    if (!holds && !fails && block->first != block->last && ir_instr(fn, block->first)->next != block->last)
        return false;
    if (first.guard == second.guard || !first.setp || !second.setp || (!holds && !fails))
        return true;
    return determines(fn, first.setp, holds != first.negated, second.setp);
}

typedef struct SeenHash {
    uint32_t hash;
    BlockId block;
} SeenHash;

typedef struct SeenHashes {
    SeenHash *at;
    uint32_t mask;
} SeenHashes;

// Inserts the hashes of the test at the end of a block into a table. True if the test that was inserted last with one
// of these hashes may be equivalent. With `a`, it must also dominate this one.
static bool insert_hashes(const Fn *fn, BlockId b, SeenHashes *seen, const Analyses *a)
{
    uint32_t hash[HASHES];
    bool found = false;
    for (uint32_t k = hash_condition(fn, ir_terminator(fn, b), hash); k--;) {
        uint32_t at = hash[k] & seen->mask;
        while (seen->at[at].hash && seen->at[at].hash != hash[k])
            at = (at + 1) & seen->mask;
        BlockId other = seen->at[at].hash ? seen->at[at].block : b;
        found |= other != b && (!a || (dominates(a, other, b) && may_decide(fn, a, other, b)));
        seen->at[at] = (SeenHash){hash[k], b};
    }
    return found;
}

static bool ends_in_test(const Fn *fn, BlockId b) { return is_test(fn, ir_instr(fn, ir_terminator(fn, b))); }

// True if two tests may be equivalent, of which one dominates the other.
static bool may_merge(Fn *fn, Arena *scratch)
{
    SeenHashes seen = {.mask = 15};
    uint32_t ntests = 0;
    bool found = false;
    FOR_BLOCK_ENDS(fn, b)
        ntests += ends_in_test(fn, b);
    if (ntests < 2)
        return false;
    while (seen.mask < 2 * HASHES * ntests)
        seen.mask = 2 * seen.mask + 1;
    seen.at = NEW_ARRAY(scratch, SeenHash, seen.mask + 1);
    for (BlockId b = fn->first; b && !found; b = ir_block(fn, b)->next)
        found = ends_in_test(fn, b) && insert_hashes(fn, b, &seen, NULL);
    if (!found)
        return false;
    // In preorder of the dominator tree, the last test in the table dominates this one if any does.
    const Analyses *a = analysis_need(fn, AN_RPO | AN_DOM);
    memset(seen.at, 0, (seen.mask + 1) * sizeof *seen.at);
    for (uint32_t k = 0; k < a->nrpo; k++) {
        BlockId b = a->dom.order[k];
        if (ends_in_test(fn, b) && insert_hashes(fn, b, &seen, a))
            return true;
    }
    return false;
}

// Returns the registers that the conditions of terminators depend on, through DEPTH definitions below a comparison. A
// definition counts if it stands before its use in the layout.
static bool *registers_of_conditions(const Fn *fn, Arena *scratch)
{
    bool *about = NEW_ARRAY(scratch, bool, fn->regs.n);
    uint8_t *levels = NEW_ARRAY(scratch, uint8_t, fn->regs.n);
    for (BlockId b = fn->last; b; b = ir_block(fn, b)->prev) {
        for (InstrId id = ir_block(fn, b)->last; id; id = ir_instr(fn, id)->prev) {
            const Instr *i = ir_instr(fn, id);
            uint8_t need = is_test(fn, i) && !i->next ? DEPTH + 3 : 0;
            for (uint32_t k = 0; k < i->ndef; k++)
                if (op_is_reg(*ir_def(fn, i, k)))
                    need = MAX(need, levels[op_index(*ir_def(fn, i, k))]);
            Opcode op = ir_desc(fn, i)->op;
            if (need && op != OP_MOV && op != OP_NOT)
                need--;
            for (uint32_t k = i->ndef; need && k < i->nops; k++) {
                Operand o = ir_ops(fn, i)[k];
                if (op_is_reg(o)) {
                    about[op_index(o)] = true;
                    levels[op_index(o)] = MAX(levels[op_index(o)], need);
                }
            }
        }
    }
    return about;
}

/* -- Conditions ----------------------------------------------------------------------------------------- */

// Returns the comparison that defines a value; 0 = it is not a comparison with one result and without boolean operand.
static InstrId comparison_of(const Merge *m, ValueId value)
{
    InstrId def = value_is_phi(m->a, value) ? 0 : value_def(m->a, value);
    const Instr *i = def ? ir_instr(m->fn, def) : NULL;
    bool plain = i && ir_desc(m->fn, i)->op == OP_SETP && i->ndef == 1 && ir_nuse(i) == 2 && !ir_guarded(i);
    return plain ? def : 0;
}

// Returns the value that a predicate copies or complements, through unguarded moves. Changes *negated for each
// complement.
static ValueId source_of_predicate(const Merge *m, ValueId value, bool *negated)
{
    const Fn *fn = m->fn;
    for (int n = 0; n < COPY_CHAIN && value && value != VALUE_ANY && !value_is_phi(m->a, value); n++) {
        InstrId def = value_def(m->a, value);
        const Instr *i = ir_instr(fn, def);
        Opcode op = ir_desc(fn, i)->op;
        bool copies = (op == OP_MOV || op == OP_NOT) && i->ndef == 1 && !ir_guarded(i) && !(i->flags & IF_PINNED);
        if (!copies || !op_is_reg(*ir_use(fn, i, 0)))
            break;
        *negated ^= (op == OP_NOT) ^ ((ir_use(fn, i, 0)->mods & OPM_NOT) != 0);
        value = value_of(fn, m->a, def, i->ndef);
    }
    return value;
}

static bool describe(Merge *m, InstrId setp, uint32_t a, uint32_t b, Comparison *c)
{
    return a && b && comparison_describe(m->fn, ir_instr(m->fn, setp), a, b, c);
}

static Condition condition_of_value(Merge *m, ValueId value, bool negated)
{
    value = source_of_predicate(m, value, &negated);
    Condition c = {.term = term_of_value(&m->terms, value, DEPTH + 1), .negated = negated};
    InstrId setp = c.term ? comparison_of(m, value) : 0;
    if (setp)
        c.compares = describe(m, setp, term_of_operand(&m->terms, setp, 1, DEPTH),
                              term_of_operand(&m->terms, setp, 2, DEPTH), &c.is);
    return c;
}

static Condition condition_of(Merge *m, InstrId terminator)
{
    const Instr *i = ir_instr(m->fn, terminator);
    ValueId value = value_of(m->fn, m->a, terminator, ir_guard_index(i));
    return condition_of_value(m, value, ir_guard(m->fn, i)->mods & OPM_NOT);
}

static void find_conditions(Merge *m)
{
    m->condition = NEW_ARRAY(&m->scratch, Condition, m->fn->blocks.n);
    for (uint32_t k = 0; k < m->a->nrpo; k++) {
        BlockId b = m->a->dom.order[k];
        InstrId id = ir_terminator(m->fn, b);
        if (is_test(m->fn, ir_instr(m->fn, id)))
            m->condition[b] = condition_of(m, id);
    }
    m->nknown = m->terms.n + 1;
    m->known = NEW_ARRAY(&m->scratch, uint32_t, m->nknown);
}

/* -- Known conditions ----------------------------------------------------------------------------------- */

// Returns the truth of a condition on an edge where the condition `on` is `holds`.
static Truth condition_given(const Condition *c, const Condition *on, bool holds)
{
    bool is = holds != on->negated;
    Truth truth = UNKNOWN;
    if (c->term && c->term == on->term)
        truth = is ? IS_TRUE : IS_FALSE;
    else if (c->compares && on->compares)
        truth = comparison_given(&c->is, &on->is, is);
    return negated_if(truth, c->negated);
}

// Returns the truth of a condition in the current scope.
static Truth known_condition(const Merge *m, const Condition *c)
{
    Truth truth = c->term && c->term < m->nknown ? (Truth)m->known[c->term] : UNKNOWN;
    if (truth == UNKNOWN && c->compares)
        truth = relations_decide(&m->relations, &c->is);
    return negated_if(truth, c->negated);
}

// Returns the block with the test on the only way into a block; 0 = there is none. *holds receives the truth of the
// guard on that way.
static BlockId test_before(const Merge *m, BlockId b, bool *holds)
{
    BlockId from = b != m->fn->first ? only_pred(m->a, b) : 0;
    const Instr *i = from ? ir_instr(m->fn, ir_terminator(m->fn, from)) : NULL;
    if (!i || !is_test(m->fn, i))
        return 0;
    *holds = op_index(*terminator_other_way(m->fn, i)) != b;
    return from;
}

// Adds the condition on the way into a block to the facts of its scope.
static void learn(Merge *m, BlockId b)
{
    bool holds;
    BlockId from = test_before(m, b, &holds);
    const Condition *c = &m->condition[from];
    if (!from || !c->term)
        return;
    bool is = holds != c->negated;
    scoped_set(&m->facts, &m->known[c->term], is ? IS_TRUE : IS_FALSE);
    if (c->compares)
        relations_restrict(&m->relations, &c->is, is);
}

static Truth truth_of_test(const Merge *m, BlockId b)
{
    bool holds;
    if (!m->near_only)
        return known_condition(m, &m->condition[b]);
    BlockId from = test_before(m, b, &holds);
    return from ? condition_given(&m->condition[b], &m->condition[from], holds) : UNKNOWN;
}

/* -- Rewriting ------------------------------------------------------------------------------------------ */

// Counts a rewrite. False: the budget, which is that of slot 13, is spent.
static bool may_rewrite(Merge *m)
{
    if (m->ctx->run.slot == PH_GENERAL_OPTIMIZE_EARLY && !knob_spend(&m->ctx->knobs, KNOB_MERGE_FLOW_BUDGET))
        m->exhausted = true;
    return !m->exhausted;
}

static bool decide(Merge *m, BlockId b, Truth truth)
{
    InstrId id = ir_terminator(m->fn, b);
    if (!may_rewrite(m))
        return false;
    remark(m->ctx, m->fn, id, RM_PASSED, "Merged", "an earlier test decides this one: it is {Result:%s}",
           truth == IS_TRUE ? "true" : "false");
    terminator_decide(m->fn, id, truth == IS_TRUE);
    return true;
}

// True if a block holds nothing but a test, and a comparison that only the test uses.
static bool is_bare_test(const Merge *m, BlockId b)
{
    const Fn *fn = m->fn;
    InstrId id = ir_block(fn, b)->first;
    const Instr *i = ir_instr(fn, id), *last = ir_instr(fn, ir_terminator(fn, b));
    if (!branch_is_split(fn, last) || last->flags & IF_PINNED)
        return false;
    if (id == ir_terminator(fn, b))
        return true;
    bool plain =
        ir_desc(fn, i)->op == OP_SETP && i->ndef == 1 && ir_nuse(i) == 2 && !ir_guarded(i) && !(i->flags & IF_PINNED);
    if (!plain || i->next != ir_terminator(fn, b) || !op_is_reg(*ir_def(fn, i, 0)))
        return false;
    RegId r = op_index(*ir_def(fn, i, 0));
    return r == op_index(*ir_guard(fn, last)) && reg_in_ssa(ir_reg(fn, r)) && nuses_of(fn->analyses, r) == 1;
}

// Finds the headers of loops and the edges of branches.
static void find_edges(Merge *m)
{
    const Edges *preds = &m->a->preds;
    m->heads_loop = NEW_ARRAY(&m->scratch, bool, m->fn->blocks.n);
    m->edge = NEW_ARRAY(&m->scratch, uint32_t, 2 * m->fn->blocks.n);
    for (uint32_t k = 0; k < m->a->nrpo; k++) {
        BlockId b = m->a->rpo[k];
        for (uint32_t e = 0; e < pred_count(m->a, b); e++) {
            BlockId from = preds->at[preds->first[b] + e];
            const Instr *i = ir_instr(m->fn, ir_terminator(m->fn, from));
            m->heads_loop[b] |= dominates(m->a, b, from);
            if (ir_desc(m->fn, i)->op == OP_BRA)
                m->edge[2 * from + (op_index(*ir_use(m->fn, i, 0)) != b)] = e;
        }
    }
}

// Returns the value that reaches a join along an edge: the input of its phi, or the value itself.
static ValueId value_on_edge(const Merge *m, ValueId value, BlockId join, uint32_t edge)
{
    const ReachingPhi *phi = value_is_phi(m->a, value) ? value_phi(m->a, value) : NULL;
    return phi && phi->block == join ? m->a->rdefs.input[phi->inputs + edge] : value;
}

// Returns the condition of the test of a bare join on an edge into it.
static Condition condition_on_edge(Merge *m, BlockId join, uint32_t edge)
{
    const Fn *fn = m->fn;
    InstrId terminator = ir_terminator(fn, join), setp = ir_block(fn, join)->first;
    const Instr *i = ir_instr(fn, terminator);
    bool negated = ir_guard(fn, i)->mods & OPM_NOT;
    if (setp == terminator) {
        ValueId value = value_of(fn, m->a, terminator, ir_guard_index(i));
        return condition_of_value(m, value_on_edge(m, value, join, edge), negated);
    }
    Condition c = {.negated = negated};
    uint32_t term[2];
    for (uint32_t k = 0; k < 2; k++) {
        Operand o = *ir_use(fn, ir_instr(fn, setp), k);
        bool is_reg = op_is_reg(o) && op_file(o) != RF_CC;
        ValueId value = is_reg ? value_of(fn, m->a, setp, 1 + k) : 0;
        term[k] = is_reg ? term_of_value(&m->terms, value_on_edge(m, value, join, edge), DEPTH)
                         : term_of_operand(&m->terms, setp, 1 + k, DEPTH);
    }
    c.compares = describe(m, setp, term[0], term[1], &c.is);
    return c;
}

static bool is_convergent(Merge *m)
{
    if (m->convergent == UNKNOWN)
        m->convergent = fn_is_convergent(m->fn) ? IS_TRUE : IS_FALSE;
    return m->convergent == IS_TRUE;
}

// Redirects an edge of the branch at the end of a block past a bare test; returns progress. `on_way` is the truth of
// the guard on that edge, UNKNOWN if the branch has none.
static bool redirect(Merge *m, BlockId b, Operand *way, Truth on_way)
{
    Fn *fn = m->fn;
    BlockId join = op_index(*way);
    Instr *i = ir_instr(fn, ir_terminator(fn, b));
    if (join == b || join == fn->first || pred_count(m->a, join) < 2 || !is_bare_test(m, join) || m->heads_loop[join])
        return false;
    const Instr *test = ir_instr(fn, ir_terminator(fn, join));
    Condition c = condition_on_edge(m, join, m->edge[2 * b + (on_way == IS_FALSE)]);
    Truth truth = on_way == UNKNOWN ? UNKNOWN : condition_given(&c, &m->condition[b], on_way == IS_TRUE);
    if (truth == UNKNOWN && !m->near_only)
        truth = known_condition(m, &c);
    const BlockId entry[3] = {m->a->dom.idom[join], b, join};
    if (truth == UNKNOWN || !m->ctx->target.backend->rewrite_chain(fn, entry))
        return false;
    if (is_convergent(m) || (on_way == UNKNOWN && is_predicated_arm(fn, m->a, b, join)) || !may_rewrite(m))
        return false;
    remark(m->ctx, fn, ir_terminator(fn, b), RM_PASSED, "Merged", "the test after this branch is {Result:%s} here",
           truth == IS_TRUE ? "true" : "false");
    *way = truth == IS_TRUE ? *ir_use(fn, test, 0) : *terminator_other_way(fn, test);
    i->flags &= (uint8_t)~IF_IMPLICIT;
    return true;
}

static bool redirect_edges(Merge *m, BlockId b)
{
    const Fn *fn = m->fn;
    Instr *i = ir_instr(fn, ir_terminator(fn, b));
    if (ir_desc(fn, i)->op != OP_BRA || i->flags & IF_PINNED)
        return false;
    if (!ir_guarded(i))
        return redirect(m, b, ir_use(fn, i, 0), UNKNOWN);
    if (!branch_is_split(fn, i))
        return false;
    bool progress = redirect(m, b, ir_use(fn, i, 0), IS_TRUE);
    return redirect(m, b, terminator_other_way(fn, i), IS_FALSE) || progress;
}

// Visits the blocks in preorder of the dominator tree; returns progress. Edges that were removed or redirected stay in
// the analyses: their conditions are not learned, since learn() looks at the terminators.
static bool merge_tests(Merge *m)
{
    bool progress = false;
    for (uint32_t k = 0; k < m->a->nrpo && !m->exhausted; k++) {
        BlockId b = m->a->dom.order[k];
        scoped_enter(&m->facts, m->a, b);
        learn(m, b);
        if (is_test(m->fn, ir_instr(m->fn, ir_terminator(m->fn, b)))) {
            Truth truth = truth_of_test(m, b);
            if (truth != UNKNOWN && decide(m, b, truth)) {
                progress = true;
                continue;
            }
        }
        if (m->threads)
            progress |= redirect_edges(m, b);
    }
    return progress;
}

// Runs one pass over the function; returns progress.
static bool run_pass(Ctx *ctx, Fn *fn, bool *exhausted)
{
    enum { FILES = 1 << RF_P | 1 << RF_UP | 1 << RF_R | 1 << RF_UR };
    Merge m = {.ctx = ctx, .fn = fn};
    arena_init(&m.scratch, &ctx->heap);
    bool may = may_merge(fn, &m.scratch);
    arena_free(&m.scratch);  // the table of hashes is as large as the analyses that follow
    if (!may)
        return false;
    arena_init(&m.scratch, &ctx->heap);
    analysis_need(fn, AN_NUSES);
    Analyses own;
    m.a = rdefs_of_part(fn, &own, FILES, registers_of_conditions(fn, &m.scratch));
    terms_init(&m.terms, fn, m.a, &m.scratch);
    find_conditions(&m);
    scoped_init(&m.facts, &m.scratch);
    relations_init(&m.relations, &m.facts, &m.scratch, fn->nblocks);
    m.near_only = knob_is_set(&ctx->knobs, KNOB_NEAR_FLOW_ONLY);
    m.threads = ctx->target.backend->rewrite_chain != sm_shared_rewrite_chain;
    if (m.threads)
        find_edges(&m);
    bool progress = merge_tests(&m);
    *exhausted = m.exhausted;
    arena_free(&m.scratch);
    analysis_free(&own);
    if (progress) {
        analysis_drop(fn, 0);
        remove_unreachable(fn);
    }
    return progress;
}

/* -- The phases ----------------------------------------------------------------------------------------- */

static bool merge_flow(Ctx *ctx, Fn *fn)
{
    bool progress = false, exhausted = false, more = true;
    bool open = gate_is_open(ctx, fn, KNOB_NO_MERGE_FLOW, !knob_is_set(&ctx->knobs, KNOB_NO_MERGE_FLOW));
    if (!open || fn->properties & PROP_FLOW_MERGED)
        return false;
    for (int pass = 0; pass < PASSES && more; pass++) {
        bool merged = run_pass(ctx, fn, &exhausted);
        progress |= merged;
        more = merged && !exhausted;
    }
    if (!more && !exhausted && !knob_is_set(&ctx->knobs, KNOB_NEAR_FLOW_ONLY))
        phase_gains(ctx, PROP_FLOW_MERGED);
    return progress;
}

bool phase_general_optimize_early(Ctx *ctx, Fn *fn)
{
    enum { EARLY = 1 << 2 };
    Knobs *k = &ctx->knobs;
    return gate_is_open(ctx, fn, KNOB_EARLY_BITS, knob_int(k, KNOB_EARLY_BITS) & EARLY) &&
           gate_is_open(ctx, fn, KNOB_GENERAL_OPTIMIZE, knob_int(k, KNOB_GENERAL_OPTIMIZE)) &&
           gate_is_open(ctx, fn, KNOB_EARLY_DONE, !knob_is_set(k, KNOB_EARLY_DONE)) && merge_flow(ctx, fn);
}

bool phase_merge_conditional_flow(Ctx *ctx, Fn *fn)
{
    if (!merge_flow(ctx, fn))
        return false;
    bool cleaned = phase_subpass(ctx, fn, PH_SIMPLE_LIVE_DEAD);
    cleaned |= merge_blocks(fn);
    cleaned |= phase_subpass(ctx, fn, PH_REMOVE_NOP_CODE);
    // A join may hold nothing but its test now.
    if (cleaned)
        ctx->run.gains &= ~(uint32_t)PROP_FLOW_MERGED;
    return true;
}
