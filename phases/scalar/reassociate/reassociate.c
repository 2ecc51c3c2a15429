// SPDX-License-Identifier: MIT
// Reorders chains of associative integer instructions, so that commoning finds equal parts, and then commons values.
//
// Slot: 50 OriReassociateAndCommon (slot 44 of the SM vtable), the same on all backends. One walk of the dominator tree
// in preorder visits the plain instructions add, sub, neg, mul.lo, mad.lo, and, or, xor of 32 and 64 bits:
//   trees.c            orders the operands of sums, products and logic
//   distribute.c       takes common factors out of sums, and computes products of sums from earlier products
//   share_addresses.c  splits constants from scaled indices that do not wrap
// If one of them makes progress, equal computations of a block are commoned, in a window of ReassociateCSEWindow
// instructions. On backends without GvnCse (49), the whole function is commoned, with loads and stored values, whether
// or not there was progress (phases/redundancy/common_values.h).
//
//     R5 = add.s32 R2, R3; R6 = add.s32 R5, R4              R5 = add.s32 R2, R3; R6 = add.s32 R5, R4
//     R7 = add.s32 R2, R4; R8 = add.s32 R7, R3        ->    ... R6 ...
//
//     R5 = add.s32 R2, R3                                   R5 = add.s32 R2, R3
//     R6 = add.s32 R1, R2; R7 = add.s32 R6, R3        ->    R7 = add.s32 R5, R1
//
// All values are computed modulo 2^w, where addition and multiplication are associative, commutative and distributive
// (rule 4). An operand moves only within its block, and has one definition, so it has the same value at the root.
//
// Must not fire:
//     R5 = add.f32 R2, R3; R5 = add.sat.s32 R2, R3          not associative
//     R5 = mul.hi.s32 R2, R3; R5 = mad24.lo.s32 R2, R3, R4  not modulo 2^w
//     R5, CC0 = add.cc.u32 R2, R3                           the carry depends on the order
//     @P0 R5 = add.s32 R2, R3 else R9                       R5 is R9 where P0 is false (rule 1)
//     R5 = add.s32 R2, R3 with two uses                     the sum stays, and another one would be computed
//     b0: R5 = add.s32 R2, 5; b1: R6 = add.s32 R5, R7       the loop b1 would add twice
//
// ReassociateCSESkip (ours: the first rewrites of all kinds) and the budgets serve bisection.
//
// Does not do: trees over several blocks; 16 bits, where ptxas derives values of upper bits from the order.
// Documented: gate, knobs, kinds, leaves, the left-leaning chain, sub only in sums. Inferred: reasons to reorder (the
// documents reorder all trees), mad, products of sums. The budgets are documented in instructions; here they count
// rewrites.
#include "phases/scalar/reassociate/reassociate.h"

#include "phases/bundles/bundle.h"
#include "phases/redundancy/common_values.h"
#include "sm/sm.h"

/* -- Instructions --------------------------------------------------------------------------------------- */

static const uint8_t kind_of_op[OPCODE_COUNT] = {
    [OP_ADD] = R_ADD,    [OP_SUB] = R_SUB,       [OP_NEG] = R_NEG,      [OP_MUL_LO] = R_MUL,
    [OP_MAD_LO] = R_MAD, [OP_AND] = R_AND,       [OP_OR] = R_OR,        [OP_XOR] = R_XOR,
    [OP_CVT] = R_WIDE,   [OP_MUL_WIDE] = R_WIDE, [OP_MAD_WIDE] = R_WIDE};

// True if an instruction has no modifiers, and integer types of 32 or 64 bits.
static bool is_plain_integer(const Fn *fn, const Mnem *m)
{
    for (int k = 0; k < MC_COUNT; k++)
        if (m->mod[k])
            return false;
    for (uint32_t k = 0; k < m->ntypes; k++) {
        const TypeInfo *t = &type_info[m->type[k]];
        if ((t->class != TC_U && t->class != TC_S && t->class != TC_B) || (t->width != W32 && t->width != W64))
            return false;
    }
    return m->ntypes && !tab_str(fn->tables, m->suffix).len;
}

ReassocKind reassoc_find_kind(Reassoc *r, DescId desc)
{
    const Desc *d = tab_desc(r->fn->tables, desc);
    bool plain =
        kind_of_op[d->op] && d->plain && d->ndef == 1 && is_plain_integer(r->fn, tab_mnem(r->fn->tables, d->mnem));
    ReassocKind kind = plain ? (ReassocKind)kind_of_op[d->op] : R_NONE;
    if (desc < r->nkinds)
        r->kinds[desc] = (uint8_t)(1 + kind);
    return kind;
}

bool reassoc_is_movable(const Reassoc *r, const Instr *i)
{
    bool movable = true;
    for (uint32_t k = 0; k < ir_nuse(i) && movable; k++) {
        Operand o = *ir_use(r->fn, i, k);
        movable = op_is_const(o) || reassoc_def(r, o);
    }
    return movable;
}

ValueRange reassoc_range(Reassoc *r, Operand o, BlockId at)
{
    if (!r->ranges_known) {
        eval_cache_init(&r->evals, r->fn->tables, &r->scratch);
        value_ranges_init(&r->ranges, r->fn, r->a, false, &r->evals, &r->scratch);
        r->ranges_known = true;
    }
    return value_range(&r->ranges, o, at);
}

/* -- Loops ---------------------------------------------------------------------------------------------- */

static bool varies_in(const Reassoc *r, Operand o, uint32_t loop, int depth)
{
    const Fn *fn = r->fn;
    if (!op_is_reg(o))
        return op_kind(o) == K_SREG && sreg_info[op_index(o)].fresh;
    InstrId def = reassoc_def(r, o);
    const Instr *i = def ? ir_instr(fn, def) : NULL;
    if (!i)
        return true;
    if (!loop_contains(r->a, loop, i->block))
        return false;
    bool varies = !depth || !(ir_desc(fn, i)->traits & TR_PURE) || ir_desc(fn, i)->traits & TR_PSEUDO;
    for (uint32_t k = i->ndef; !varies && k < i->nops; k++)
        varies = varies_in(r, ir_ops(fn, i)[k], loop, depth - 1);
    return varies;
}

bool reassoc_varies(Reassoc *r, Operand o, BlockId at)
{
    enum { DEPTH = 3 };
    uint32_t loop = loop_of(analysis_need(r->fn, AN_LOOPS), at);
    return loop && varies_in(r, o, loop, DEPTH);
}

/* -- Edits ---------------------------------------------------------------------------------------------- */

bool reassoc_may(Reassoc *r, KnobId budget)
{
    if (r->skip > 0) {
        r->skip--;
        return false;
    }
    return knob_spend(&r->ctx->knobs, (int)budget);
}

static DescId desc_of(Fn *fn, Opcode op, Width width)
{
    bool bits = op == OP_AND || op == OP_OR || op == OP_XOR;
    return desc_make(fn->tables, op, type_make(bits ? TC_B : TC_S, width));
}

Operand reassoc_insert(Reassoc *r, InstrId before, Opcode op, Width width, const Operand *uses, uint32_t n)
{
    Fn *fn = r->fn;
    Operand ops[4], result = op_reg(fn, reg_new(fn, RF_R, width));
    ops[0] = op_def(result);
    memcpy(ops + 1, uses, n * sizeof *uses);
    InstrId id = ir_insert_before(fn, first_annotation(fn, before), desc_of(fn, op, width), 0, ops, n + 1);
    ir_instr(fn, id)->line = ir_instr(fn, before)->line;
    nuses_count_instr(fn, ir_instr(fn, id), 1);
    return result;
}

// Removes the definition of an operand if that is one of our instructions and has no uses, then those of its operands.
static void remove_unused(Reassoc *r, Operand o, int depth)
{
    Fn *fn = r->fn;
    InstrId def = reassoc_def(r, o);
    if (!op_is_reg(o) || nuses_of(r->a, op_index(o)))
        return;
    if (!depth || !def || !reassoc_kind(r, ir_instr(fn, def))) {
        r->leaves_dead = true;
        return;
    }
    Instr *i = ir_instr(fn, def);
    uint32_t n = ir_nuse(i);
    Operand uses[4];
    memcpy(uses, ir_use(fn, i, 0), n * sizeof *uses);
    nuses_count_instr(fn, i, -1);
    remove_annotated(fn, def);
    for (uint32_t k = 0; k < n; k++)
        remove_unused(r, uses[k], depth - 1);
}

void reassoc_replace(Reassoc *r, InstrId id, Opcode op, Width width, const Operand *uses, uint32_t n)
{
    enum { CHAIN = 64 };
    Fn *fn = r->fn;
    const Instr *i = ir_instr(fn, id);
    uint32_t nold = ir_nuse(i);
    Operand old[4];
    memcpy(old, ir_use(fn, i, 0), nold * sizeof *old);
    reassoc_count_uses(r);
    nuses_count_instr(fn, i, -1);
    r->moves |= op == OP_MOV;
    if (op == OP_MOV)
        instr_replace_by_move(fn, id, uses[0]);
    else
        instr_replace(fn, id, desc_of(fn, op, width), uses, n);
    nuses_count_instr(fn, ir_instr(fn, id), 1);
    for (uint32_t k = 0; k < nold; k++)
        remove_unused(r, old[k], CHAIN);
    r->progress = true;
}

/* -- The phase ------------------------------------------------------------------------------------------ */

static void visit_block(Reassoc *r, BlockId b)
{
    Fn *fn = r->fn;
    r->sums.n = 0;
    for (InstrId id = ir_block(fn, b)->first, next; id; id = next) {
        next = instr_after(fn, id);
        const Instr *i = ir_instr(fn, id);
        ReassocKind kind = reassoc_kind(r, i);
        if (kind == R_WIDE)
            share_address(r, id);
        if (!kind || kind == R_WIDE)
            continue;
        if (kind <= R_MAD)
            distribute(r, id, kind);
        VEC_PUSH(&r->scratch, &r->sums, id);
    }
    trees_collect(r);
}

// Returns the kinds of change that it made (CHANGE_*), 0 = none. *skip: number of rewrites that are still skipped.
// *trees: trees were rebuilt.
static uint32_t reassociate(Ctx *ctx, Fn *fn, int64_t *skip, bool *trees)
{
    Reassoc r = {.ctx = ctx, .fn = fn, .a = analysis_need(fn, AN_DOM | AN_DEF), .skip = *skip};
    arena_init(&r.scratch, &ctx->heap);
    r.nkinds = fn->tables->desc_first + fn->tables->descs.n + 16;  // the last are for new descriptors
    r.kinds = NEW_ARRAY(&r.scratch, uint8_t, r.nkinds);
    distribute_start(&r);
    trees_start(&r);
    for (uint32_t k = 0; k < r.a->nrpo; k++)
        visit_block(&r, r.a->dom.order[k]);
    *trees = trees_rewrite(&r);
    *skip = r.skip;
    arena_free(&r.scratch);
    if (r.leaves_dead)
        fn->properties &= ~(uint32_t)PROP_NO_DEAD;
    return !r.progress ? 0 : r.moves || r.leaves_dead ? CHANGE_ALL : CHANGE_CHAINS;
}

// Commoning after the chains are ordered: within the window, but of the whole function where no GvnCse ran before.
static bool common(Ctx *ctx, Fn *fn, bool whole, bool *pressed)
{
    CommonRules rules = {.kinds = RD_EXPRESSIONS, .budget = KNOB_LATE_COMMONING_BUDGET, .pressed = pressed};
    if (whole)
        rules.kinds |= RD_COPIES | RD_PHIS | RD_LOADS | RD_PARTIAL_LOADS;
    else
        rules.window = (uint32_t)knob_int(&ctx->knobs, KNOB_REASSOCIATE_WINDOW);
    return common_values(ctx, fn, &rules);
}

// Reassociates and commons until the trees stay: a computation that is shared leaves operands with fewer readers, which
// become parts of trees. It also lowers the register pressure, so that more may be shared. `whole`: the first pass
// commons, whether or not chains were ordered.
static bool run_passes(Ctx *ctx, Fn *fn, bool whole)
{
    enum { PASSES = 8 };
    int64_t skip = knob_int(&ctx->knobs, KNOB_REASSOCIATE_SKIP);
    uint32_t changes = 0;
    bool progress = false, trees = true, pressed = false, no_dead = true;
    int passes = skip ? 1 : PASSES;  // another pass would make the rewrites that were skipped
    for (int pass = 0; (trees || pressed) && pass < passes; pass++) {
        uint32_t changed = reassociate(ctx, fn, &skip, &trees);
        changes |= changed;
        progress |= changed;
        if (changed)
            analysis_drop(fn, AN_FLOW | AN_DEF);
        ctx->run.changes = CHANGE_ALL;
        bool asks = changed || (whole && !pass) || pressed;
        pressed = false;
        bool shared = asks && common(ctx, fn, whole, &pressed), kept = ctx->run.keeps & PROP_NO_DEAD;
        ctx->run.keeps &= ~(uint32_t)PROP_NO_DEAD;
        if (!shared)
            break;
        changes |= ctx->run.changes;
        progress = true;
        ctx->run.repeats = true;
        no_dead &= kept;
        analysis_drop(fn, AN_FLOW | AN_DEF);
    }
    ctx->run.changes = changes;
    if (no_dead)
        phase_keeps(ctx, PROP_NO_DEAD);
    return progress;
}

bool phase_reassociate(Ctx *ctx, Fn *fn)
{
    bool on = !knob_is_set(&ctx->knobs, KNOB_REASSOCIATE_CSE) || knob_int(&ctx->knobs, KNOB_REASSOCIATE_CSE);
    if (!gate_is_open(ctx, fn, KNOB_REASSOCIATE_CSE, on))
        return false;
    bool whole = ctx->target.backend->gvn_cse == sm_no_op_pass, progress = run_passes(ctx, fn, whole);
    bundle_settle(ctx, fn, PH_REASSOCIATE, progress);
    if (whole)
        bundle_settle(ctx, fn, PH_LATE_COMMONING, false);
    return progress;
}
