// SPDX-License-Identifier: MIT
// Decides branches with known conditions, threads jumps, merges blocks, and lays out the arms of branches.
//
// Slot: 15 OriBranchOpt. Repeats these steps until a round decides no branch (at most ROUNDS times):
//   1. Redirects branches through empty blocks. Removes unreachable blocks and unused branch tables.
//   2. Removes the guard of a terminator whose condition is true, and replaces a terminator whose condition is false by
//      a branch to its other successor. A condition is known if it is a constant (through unguarded moves), or if it
//      equals a dominating condition. Two conditions are equal if reaching definitions give both the same value.
//      A branch whose two targets are equal has no condition.
//   3. Threads jumps over a block that holds only a guarded branch, from predecessors that determine its condition: the
//      predecessor branches on the same register, or its input of the condition's phi is a constant.
// Then appends each block that is the only successor of its only predecessor to that predecessor. Finally lays out the
// arms of guarded branches to the next block: by inversion, or by moving an arm, the second branch becomes a
// fall-through.
//
//     b0: P0 = mov.pred 1; @P0 bra b2 else b1     ->   b0: P0 = mov.pred 1; bra b2
//
//     b1: @P0 bra b2 else b3                           b1: @P0 bra b2 else b3
//     b2: ...; @P0 bra b4 else b5    ; only from b1 -> b2: ...; bra b4
//
//     b1: ...; bra b2                                  b1: ...; (the instructions of b2)
//     b2: ...                        ; only from b1 ->
//
//     @P0 bra b1 else b3                               @!P0 bra b3 else b1
//     b1: ...; bra b3                              ->  b1: ...; bra b3
//     b3:                                              b3:
//
//     @P0 bra b1 else b2                               @P0 bra b1 else b2
//     b1: ...; bra b3                              ->  b2: ...; bra b3
//     b2: ...; bra b3                                  b1: ...; bra b3
//     b3:                                              b3:
//
// Must not fire:
//     b2: ...; @P0 bra b4 else b5    if b3 is a predecessor of b2 as well, or P0 is written between
//     b1: @P0 bra b2 else b3; b2: @P0 bra b4 else b5   if P0 is pinned
//     b1: ...; @P0 bra b2 else b1    (a loop), or a branch whose arms do not meet: the second branch stays
//     b1: @P0 bra b3 else b2; b2: R1 = ld; P1 = setp; bra b3; b3: P2 = phi b1: 0, b2: P1; @P2 bra b4 else b5
//                                    step 3 for the edge b1 -> b3: ptxas predicates b2, and the edge vanishes
//     b2: .pragma "nounroll"; ...    the annotation belongs to the start of its block: not appended
//
// Sound: removed code is never executed. Step 3 changes the points where diverged threads may reconverge, so it skips
// functions with convergent instructions, unless all branches are uniform. `.uni` stays on branches whose condition
// stays.
//
// Layout: nvcc prints `@p bra T; bra.uni E; T:` if T is the next block. SASS instructions by ptxas 13.0 -O3 for the
// alternatives, relative to the pair of branches (707 functions, most of nvcc -O3, sm_80 and sm_90):
//     one arm, `T: ..; E:`           inverted (`@!p bra E`): the same code for all 39
//     diamond, `T: ..; bra J; E: ..; J:` (156 in 38 functions)
//         E first (`@p bra T; E: ..; bra J; T: ..; J:`): the same code, except -12 in 1 function, +1 in 5 functions
//         inverted, if T has more instructions than E: +11 for conditional appends in a loop (55 -> 66), +2 for others
//         inverted, if T has fewer: -84 in 27 functions and +1 in 3, so the smaller arm falls through. The exception
//             is a T of one block with 2 to 9 instructions: ptxas predicates such a block if it falls through. This
//             saves a branch, but all threads execute the block (transcendental +1.0 % executed, shapes_local +1.1 %).
//             For one instruction it pays (heat2d -6.6 %)
//     back edge, `@p bra X; bra L; X:`   inverted: 3 of 21 loops are not unrolled any more (128 -> 95, 233 -> 148)
//     other, such as the guard of a loop, or arms that end in exits   inverted: +1 to +5 in 16 functions, 3 of which
//         lose the unrolling of the next loop, fewer in none
//
// Threading past an arm of at most two instructions (b2 in the list above) would cost: of 19 such functions of the
// samples ptxas -O3 makes 1 to 8 instructions less without it for 16 (order 564 -> 556, 558 before; heat2d 52 -> 47), 1
// more for one, and unrolls another loop in two. With arms of four, stencils and searches grow (bfs_level 43 -> 50).
//
// Does not do: conditions implied by other conditions, duplication of code, inversion of branches with a fall-through.
// Documented: slot and name. Inferred: the rest.
#include "phases/bodies.h"
#include "phases/scalar/relations.h"

enum { ROUNDS = 8, ARM_BLOCKS = 256, SHORT_ARM = 2 };

typedef struct BranchOpt {
    Ctx *ctx;
    Fn *fn;
    const Analyses *a;
    Arena scratch;
    uint32_t *known;     // by ValueId: Truth
    ValueId *condition;  // by BlockId, for visited blocks: the value of the terminator's guard, 0 = none
    ScopedTable facts;   // the changes of `known`
    Truth convergent;    // the function has a convergent instruction; UNKNOWN = not computed yet
} BranchOpt;

/* -- Known conditions ----------------------------------------------------------------------------------- */

// Returns the truth of a value that is a constant through unguarded moves, else UNKNOWN.
static Truth constant_truth(const BranchOpt *o, ValueId value)
{
    const Fn *fn = o->fn;
    if (!value || value_is_phi(o->a, value))
        return UNKNOWN;
    const Instr *i = ir_instr(fn, value_def(o->a, value));
    Operand from = copy_source(fn, o->a, copy_of_move(fn, i));
    if (op_kind(from) != K_IMM)
        return UNKNOWN;
    return tab_const(fn->tables, op_index(from)).bits ? IS_TRUE : IS_FALSE;
}

// Returns the value of a terminator's guard; 0 = it has no single value.
static ValueId guard_value(const BranchOpt *o, InstrId terminator)
{
    ValueId value = value_of(o->fn, o->a, terminator, ir_guard_index(ir_instr(o->fn, terminator)));
    return value == VALUE_ANY ? 0 : value;
}

// Records the dominating condition of a block.
static void learn(BranchOpt *o, BlockId b)
{
    bool holds;
    InstrId branch = dominating_condition(o->fn, o->a, b, &holds);
    ValueId value = branch ? o->condition[ir_instr(o->fn, branch)->block] : 0;
    if (value)
        scoped_set(&o->facts, &o->known[value], holds ? IS_TRUE : IS_FALSE);
}

static bool fold_branches(BranchOpt *o)
{
    enum { AHEAD = 8 };
    Fn *fn = o->fn;
    bool progress = false;
    for (uint32_t k = 0; k < o->a->nrpo; k++) {
        BlockId b = o->a->dom.order[k];
        __builtin_prefetch(ir_instr(fn, ir_terminator(fn, o->a->dom.order[MIN(k + AHEAD, o->a->nrpo - 1)])));
        InstrId id = ir_terminator(fn, b);
        const Instr *i = ir_instr(fn, id);
        scoped_enter(&o->facts, o->a, b);
        learn(o, b);
        if (!ir_guarded(i))
            continue;
        ValueId value = guard_value(o, id);
        Truth truth = value ? o->known[value] : UNKNOWN;
        o->condition[b] = value;
        if (truth == UNKNOWN)
            truth = constant_truth(o, value);
        truth = negated_if(truth, ir_guard(fn, i)->mods & OPM_NOT);
        if (truth == UNKNOWN && ir_desc(fn, i)->op == OP_BRA && !branch_is_split(fn, i))
            truth = IS_TRUE;
        if (truth == UNKNOWN)
            continue;
        // The branch keeps only one edge, so it is no longer a dominating condition.
        terminator_decide(fn, id, truth == IS_TRUE);
        progress = true;
    }
    return progress;
}

/* -- Jumping over branches ------------------------------------------------------------------------------ */

// True if the block holds only a guarded branch with two targets.
static bool is_bare_split(const Fn *fn, BlockId b)
{
    const Block *block = ir_block(fn, b);
    return block->first == block->last && branch_is_split(fn, ir_instr(fn, block->first));
}

// Returns the target of a bare split if the register of its guard has the value `holds`; the block itself for UNKNOWN.
static BlockId past(const Fn *fn, BlockId b, Truth holds)
{
    const Instr *i = ir_instr(fn, ir_block(fn, b)->first);
    Truth truth = negated_if(holds, ir_guard(fn, i)->mods & OPM_NOT);
    return truth == UNKNOWN   ? b
           : truth == IS_TRUE ? op_index(*ir_use(fn, i, 0))
                              : op_index(*terminator_other_way(fn, i));
}

// Returns the truth of register `guard` on an outgoing edge of a split on this register.
static Truth truth_on_edge(const Fn *fn, const Instr *from, const Operand *way, RegId guard)
{
    if (!branch_is_split(fn, from) || op_index(*ir_guard(fn, from)) != guard)
        return UNKNOWN;
    Truth truth = way == terminator_other_way(fn, from) ? IS_FALSE : IS_TRUE;
    return negated_if(truth, ir_guard(fn, from)->mods & OPM_NOT);
}

// Returns the truth of the block's guard register on an incoming edge, if the input of its phi is a constant.
static Truth truth_after(const BranchOpt *o, BlockId b, uint32_t edge)
{
    const Analyses *a = o->a;
    ValueId value = o->condition[b];
    if (!value_is_phi(a, value) || value_phi(a, value)->block != b)
        return UNKNOWN;
    return constant_truth(o, a->rdefs.input[value_phi(a, value)->inputs + edge]);
}

static bool is_convergent(BranchOpt *o)
{
    if (o->convergent == UNKNOWN)
        o->convergent = fn_is_convergent(o->fn) ? IS_TRUE : IS_FALSE;
    return o->convergent == IS_TRUE;
}

// True if ptxas predicates a block on the way to `join`, so that the branch around it vanishes.
static bool is_short_arm(const Fn *fn, BlockId arm, BlockId join)
{
    InstrId arm_end = ir_terminator(fn, arm);
    const Instr *last = ir_instr(fn, arm_end);
    if (arm == join || ir_desc(fn, last)->op != OP_BRA || ir_guarded(last) || op_index(*ir_use(fn, last, 0)) != join)
        return false;
    int n = 0;
    for (InstrId id = ir_block(fn, arm)->first; id != arm_end && n <= SHORT_ARM; id = ir_instr(fn, id)->next)
        n++;
    return n <= SHORT_ARM;
}

// Redirects the edges from block `from` to the bare split b past the split. `edge` is one of these edges.
static bool jump_over(BranchOpt *o, BlockId from, BlockId b, uint32_t edge)
{
    Fn *fn = o->fn;
    Instr *i = ir_instr(fn, ir_terminator(fn, from));
    const Instr *over = ir_instr(fn, ir_block(fn, b)->first);
    RegId guard = op_index(*ir_guard(fn, over));
    bool progress = false;
    if (ir_desc(fn, i)->op != OP_BRA || b == from || !reg_in_ssa(ir_reg(fn, guard)) || is_convergent(o))
        return false;
    Operand *ways[2] = {ir_use(fn, i, 0), ir_guarded(i) ? terminator_other_way(fn, i) : NULL};
    for (int k = 0; k < 2 && ways[k]; k++) {
        if (op_index(*ways[k]) != b)
            continue;
        Truth holds = truth_on_edge(fn, i, ways[k], guard);
        if (holds == UNKNOWN && ways[!k] && is_short_arm(fn, op_index(*ways[!k]), b))
            continue;
        BlockId to = past(fn, b, holds != UNKNOWN ? holds : truth_after(o, b, edge));
        progress |= to != b;
        *ways[k] = op_block(to);
    }
    i->flags &= progress ? (uint8_t)~IF_IMPLICIT : 0xff;
    return progress;
}

static bool jump_over_branches(BranchOpt *o)
{
    bool progress = false;
    FOR_BLOCKS(o->fn, b) {
        uint32_t edge = 0;
        if (is_bare_split(o->fn, b))
            FOR_PREDS(o->a, b, from)
                progress |= jump_over(o, *from, b, edge++);
    }
    return progress;
}

/* -- Layout --------------------------------------------------------------------------------------------- */

// A run of blocks in the layout.
typedef struct Arm {
    BlockId first, last;
    uint32_t instrs;  // with the branch at the end
} Arm;

// Finds the run of at most ARM_BLOCKS blocks from `first` to the block before `end`. False: there is none.
static bool find_arm(const Fn *fn, BlockId first, BlockId end, Arm *arm)
{
    *arm = (Arm){.first = first};
    if (first == end)
        return false;
    BlockId b = first;
    for (int n = 0; n < ARM_BLOCKS && b && b != end; n++, b = ir_block(fn, b)->next) {
        FOR_INSTRS(fn, b, id)
            arm->instrs++;
        arm->last = b;
    }
    return b == end;
}

// Returns the target of a block that ends with an unguarded branch, else 0.
static BlockId only_target(const Fn *fn, BlockId b)
{
    const Instr *i = ir_instr(fn, ir_terminator(fn, b));
    return ir_desc(fn, i)->op == OP_BRA && !ir_guarded(i) ? op_index(*ir_use(fn, i, 0)) : 0;
}

// True if ptxas predicates an arm of several instructions, should the arm fall through.
static bool predication_costs(const Arm *arm)
{
    uint32_t n = arm->instrs - 1;
    return arm->first == arm->last && n > 1 && n <= PREDICATED;
}

static void move_arm(Fn *fn, const Arm *arm, BlockId where, uint32_t source)
{
    BlockId b = arm->first, next;
    for (bool more = true; more; b = next) {
        next = ir_block(fn, b)->next;
        more = b != arm->last;
        block_unlink(fn, b);
        block_insert_after(fn, b, where);
        ir_block(fn, b)->source = source;  // 112 keeps the order of blocks with one position
        where = b;
    }
}

static void invert(Fn *fn, Instr *i)
{
    Operand *taken = ir_use(fn, i, 0), *other = terminator_other_way(fn, i), old = *taken;
    *taken = *other;
    *other = old;
    ir_guard(fn, i)->mods ^= OPM_NOT;
}

// Lays out the arms of a split whose taken successor is the next block, so that one successor is a fall-through.
static bool lay_out_split(Fn *fn, BlockId b)
{
    Instr *i = ir_instr(fn, ir_terminator(fn, b));
    Arm taken, other;
    BlockId end = op_index(*terminator_other_way(fn, i)), join;
    if (!find_arm(fn, ir_block(fn, b)->next, end, &taken))
        return false;
    join = only_target(fn, taken.last);
    const Instr *last = ir_instr(fn, ir_terminator(fn, taken.last));
    bool one_arm = join == end || (branch_is_split(fn, last) && op_index(*terminator_other_way(fn, last)) == end);
    bool diamond = !one_arm && join && find_arm(fn, end, join, &other) && only_target(fn, other.last) == join;
    if (!one_arm && !diamond)
        return false;
    if (one_arm || (taken.instrs < other.instrs && !predication_costs(&taken)))
        invert(fn, i);
    else
        move_arm(fn, &other, b, ir_block(fn, taken.first)->source);
    return true;
}

static bool has_opaque(const Fn *fn)
{
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id)
            if (ir_desc(fn, ir_instr(fn, id))->op == OP_OPAQUE)
                return true;
    return false;
}

static bool lay_out_splits(Fn *fn)
{
    bool progress = false;
    FOR_BLOCKS(fn, b) {
        const Instr *i = ir_instr(fn, ir_terminator(fn, b));
        if (!branch_is_split(fn, i) || op_index(*ir_use(fn, i, 0)) != ir_block(fn, b)->next)
            continue;
        // ptxas makes more instructions of asynchronous matrix code with inverted branches (measured).
        if (!progress && has_opaque(fn))
            return false;
        progress |= lay_out_split(fn, b);
    }
    // Inverting a branch swaps the successors of its block, and moving an arm changes the layout.
    if (progress)
        analysis_drop(fn, 0);
    return progress;
}

/* -- The phase ------------------------------------------------------------------------------------------ */

// A quick test for steps 2 and 3. They require a condition that a move defines, two terminators whose guards are the
// same register, or a branch with two equal targets.
static bool may_decide(const Fn *fn, Arena *scratch)
{
    if (fn->classes & IC_PRED_MOVE)
        return true;
    bool *guards = NEW_ARRAY(scratch, bool, fn->regs.n);
    FOR_BLOCK_ENDS(fn, b) {
        const Instr *i = ir_instr(fn, ir_terminator(fn, b));
        if (!ir_guarded(i))
            continue;
        RegId guard = op_index(*ir_guard(fn, i));
        if (!op_is_reg(*ir_guard(fn, i)) || guards[guard] || (ir_desc(fn, i)->op == OP_BRA && !branch_is_split(fn, i)))
            return true;
        guards[guard] = true;
    }
    return false;
}

// Decides branches, or else threads jumps; returns progress.
static bool decide_branches(Ctx *ctx, Fn *fn)
{
    BranchOpt o = {.ctx = ctx, .fn = fn};
    arena_init(&o.scratch, &ctx->heap);
    if (!may_decide(fn, &o.scratch)) {
        arena_free(&o.scratch);
        return false;
    }
    Analyses own;
    o.a = rdefs_of_part(fn, &own, 1 << RF_P | 1 << RF_UP, NULL);
    o.known = NEW_ARRAY(&o.scratch, uint32_t, value_count(o.a));
    scoped_init(&o.facts, &o.scratch);
    o.condition = NEW_ARRAY(&o.scratch, ValueId, fn->blocks.n);
    bool progress = fold_branches(&o) || jump_over_branches(&o);
    arena_free(&o.scratch);
    analysis_free(&own);
    if (progress)
        analysis_drop(fn, 0);
    return progress;
}

bool phase_branch_opt(Ctx *ctx, Fn *fn)
{
    bool empty = skip_empty_blocks(fn), unreachable = remove_unreachable(fn), decided = false;
    for (int k = 0; k < ROUNDS && decide_branches(ctx, fn); k++) {
        decided = true;
        skip_empty_blocks(fn);
        remove_unreachable(fn);
    }
    bool merged = merge_blocks(fn), laid_out = lay_out_splits(fn);
    bool progress = empty || decided || unreachable || merged || laid_out;
    if (decided)
        phase_gains(ctx, PROP_REOPTIMIZE);
    // All live code stays live if no condition and no code was removed.
    if (!decided && !unreachable)
        phase_keeps(ctx, PROP_NO_DEAD);
    return progress;
}
