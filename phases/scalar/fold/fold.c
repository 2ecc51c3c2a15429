// SPDX-License-Identifier: MIT
// Folds constants, and replaces patterns of instructions by cheaper ones.
//
// Sub-pass: OriFold, of the GeneralOptimize bundles. One walk in reverse postorder, so operands are folded before their
// uses. If all operands of a pure instruction are constants, the evaluator computes the result, and a move of the
// result replaces the instruction. The evaluator reports results that differ between machines; these are not folded.
// A constant also replaces a value whose bits are all known (value ranges). Other instructions are matched against the
// rules of fold_rules.def. Rules are found by the form of their root (opcode, comparison and types) and by the sources
// of its operands. Patterns look through moves, and match a definition of an operand only if it is unguarded, is the
// only definition of its register, and dominates all uses. So the operands of the definition have the same values at
// the root. Sums of a register and a constant become base and offset of an access.
//
//     R1 = mov.b32 3; R2 = shl.b32 R1, 2             R1 = mov.b32 3; R2 = mov.b32 12
//     R1 = cvt.s64.s32 R0; R2 = shl.b64 R1, 2   ->   R1 = cvt.s64.s32 R0; R2 = mul.wide.s32 R0, 4
//     R1 = add.s64 R0, 16; ld.b32 [R1+4]             R1 = add.s64 R0, 16; ld.b32 [R0+20]
//     @P0 R3 = add.s32 R1, 0                         @P0 R3 = mov.b32 R1
//     R1 = shl.b32 R0, 16; R2 = mul.lo.u32 R1, R1    R1 = shl.b32 R0, 16; R2 = mov.b32 0
//     P1 = mov.pred 0; @P1 st.b32 [R1], R2           P1 = mov.pred 0
//     @P1 R2 = ld.volatile.b32 [R1] else R3          R2 = mov.b32 R3
//     b2: R3 = mov.phi b0: R1, b1: R2                R3 = min.s32 R1, R2      (fold_phi.c)
//
// A constant guard is the same for all threads. If it is false, no thread executes the instruction, so the instruction
// goes whatever it does: volatile and atomic accesses, barriers, and collectives, which wait for no thread there. Its
// results keep their old values. If the guard is true, each thread executes the instruction with or without the guard.
//
// Definitions that a rule leaves without uses are removed at once, since patterns count uses. Dead code removal deletes
// the other instructions that become dead. A result with more instructions than its root is made only if the rest of
// the pattern becomes dead.
//
// Must not fire:
//     R1 = div.s32 7, 0; R1 = rcp.approx.ftz.f32 0f40000000     the result is unspecified, or differs between machines
//     @P0 R1 = add.s32 R0, 1; R2 = add.s32 R1, 1                R1 may have its old value
//     R1 = add.s32 R0, 1; R0 = mov.b32 5; R2 = add.s32 R1, 1    R0 has another value at the second sum
//     R1 = add.s32 R0, 4; ld.shared.b32 [R1]                    32 bits wrap, an offset does not
//     R1 = shr.u32 R0, 8; R2 = and.b32 R1, 255                  in PTX 1.4, which has no bfe
//     R4 = mul.wide.s32 R1 + 1, 4; st.b64 [R0], R4              the constant would not become an offset of an access
//     R3 = add.s32 R1, 5; b1: R6 = add.s32 R3, R5 (phi of b1)   the loop would add twice instead of once
//     R1 = add.sat.s32 R0, 0; R1, CC0 = add.cc.u32 R0, 0        rules match plain instructions only
//     R1 = lop3.b32 R0, R0, R9, 192; R9 is pinned               the constraints of the sources differ
//
// Comparisons with a sum are rewritten only if the sum has no other use: ptxas unrolls no loop whose exit compares the
// old value of the counter (tried: up to half of the SASS of a kernel). Signed 64-bit division stays signed unless both
// operands fit 32 bits, since ptxas makes a third more instructions for unsigned division (tried). bfe is made only at
// byte bounds and bfi only at 32 bits, where ptxas makes one or two instructions fewer (sm_75 to sm_90, tried).
// `.local` accesses get no offsets, unless they have one: with offsets, ptxas makes up to a twelfth more instructions.
// The knob limit-fold-fp excludes instructions that compute with floats, but not selects of floats. Division of f64 by
// powers of two stays, since its NaN is not specified.
//
// Termination: the result of each rule is smaller in an order (fold_rules.def), and AGAIN bounds the rewrites of one
// instruction in one walk.
//
// Does not do: floating point, except constants and division by powers of two; branches on constants (15).
// Documented: GeneralOptimize folds constants and simplifies. Inferred: the name and the rules.
#include "phases/scalar/fold/fold.h"
#include "ir/analysis/value_ranges.h"

enum {
    AGAIN = 8,  // rewrites of an instruction in one walk
    AHEAD = 4,  // distance in blocks of the prefetch
};

/* -- Values -------------------------------------------------------------------------------------------- */

void fold_note_definition(Fold *f, InstrId id)
{
    const Instr *i = ir_instr(f->fn, id);
    const Operand *ops = ir_ops(f->fn, i);
    for (uint32_t k = 0; k < i->ndef; k++)
        if (op_is_reg(ops[k]) && def_of(f->a, op_index(ops[k])) == id)
            f->from.at[op_index(ops[k])] = ir_guarded(i) ? FROM_ANY : fold_role(f, i->desc)->from;
}

// Folding changes no move, so the source of a copy is found once. But the source may become a move itself.
Operand fold_find_copied(const Fold *f, Operand o)
{
    for (int k = 0; k < COPY_CHAIN && op_is_reg(o) && f->from.at[op_index(o)] == FROM_MOVE; k++) {
        Operand *copied = &f->copied.at[op_index(o)];
        if (op_kind(*copied) == K_NONE)
            *copied = copy_source(f->fn, f->a, o);
        if (op_same(*copied, o))
            break;
        o = *copied;
    }
    return o;
}

// Finds the sources of the operands of an instruction. True if all are constants.
static bool visit_uses(const Fold *f, const Instr *i, Uses *uses)
{
    const Operand *ops = ir_use(f->fn, i, 0);
    uint32_t n = ir_nuse(i), constants = 0;
    for (uint32_t k = 0; k < n; k++) {
        Use use = find_use(f, ops[k]);
        constants += from_constant(use.from);
        if (k < RULE_KIDS)
            uses->of[k] = use;
    }
    for (uint32_t k = n; k < RULE_KIDS; k++)
        uses->of[k].from = FROM_ANY;
    uses->same = n > 1 && op_same(uses->of[0].source, uses->of[1].source);
    return n && constants == n;
}

/* -- Dead definitions ----------------------------------------------------------------------------------- */

// Pushes the definitions of those operands of an instruction whose registers have this number of uses.
static void push_definitions(Fold *f, const Instr *i, uint32_t nuses)
{
    const Operand *uses = ir_use(f->fn, i, 0);
    for (uint32_t k = 0; k < ir_nuse(i); k++) {
        InstrId def =
            op_is_reg(uses[k]) && nuses_of(f->a, op_index(uses[k])) == nuses ? def_of(f->a, op_index(uses[k])) : 0;
        if (def)
            VEC_PUSH(&f->scratch, &f->left, def);
    }
}

// True for a pure instruction whose results have no uses. Phis stay: their inputs may come after the root.
static bool is_unused(const Fold *f, const Instr *i)
{
    const Desc *d = ir_desc(f->fn, i);
    bool unused = i->block && d->traits & TR_PURE && !(d->traits & TR_PSEUDO) && !(i->flags & IF_PINNED);
    for (uint32_t k = 0; unused && k < i->ndef; k++) {
        Operand o = *ir_def(f->fn, i, k);
        unused = op_is_reg(o) && reg_in_ssa(ir_reg(f->fn, op_index(o))) && !nuses_of(f->a, op_index(o));
    }
    return unused;
}

// Removes definitions that became dead, so that later patterns have the right numbers of uses. While a result is being
// built, its operands are not counted yet.
static void remove_dead(Fold *f)
{
    while (!f->nested && f->left.n) {
        InstrId id = f->left.at[--f->left.n];
        const Instr *i = ir_instr(f->fn, id);
        if (!is_unused(f, i))
            continue;
        nuses_count_instr(f->fn, i, -1);
        push_definitions(f, i, 0);
        remove_annotated(f->fn, id);
    }
}

/* -- Rules ---------------------------------------------------------------------------------------------- */

// Called before the change, so that cost and remark describe the old instruction.
void fold_begin_rule(Fold *f, uint32_t rule, InstrId id)
{
    const Rule *r = &fold_rules.rules[rule];
    record_cost(f->ctx, f->fn, id);
    knob_spend(&f->ctx->knobs, KNOB_FOLD_BUDGET);
    f->spent = knob_left(&f->ctx->knobs, KNOB_FOLD_BUDGET) <= 0;
    rule_uses(f->ctx)[rule]++;
    f->progress = true;
    push_definitions(f, ir_instr(f->fn, id), 1);
    if (r->rhs)
        remark(f->ctx, f->fn, id, RM_PASSED, "Folded", "{Rule:%s}: {Pattern:%s} is {Result:%s}", r->name, r->lhs,
               r->rhs);
    else
        remark(f->ctx, f->fn, id, RM_PASSED, "Folded", "{Rule:%s}: {What:%s}", r->name, r->lhs);
}

/* -- Constraints ---------------------------------------------------------------------------------------- */

// sub_91D150 of the documents: a register outside of ssa form has a constraint, because its value may change between
// the definition and the fold.
static bool is_constrained(const Fn *fn, RegId r) { return !reg_in_ssa(ir_reg(fn, r)); }

// sub_8F3FE0 of the documents: true if the size of an element is known (query 113), if the backend has no further
// condition (query 117), and if either all or none of the sources with the width of an element are constrained, and of
// the others likewise.
static bool sources_agree(const Fold *f, const Instr *i)
{
    const Fn *fn = f->fn;
    const SmBackend *sm = f->ctx->target.backend;
    uint32_t element = 8 * sm->operand_bytes(fn, i);
    bool free[2] = {false, false}, constrained[2] = {false, false};
    for (uint32_t k = 0; k < ir_nuse(i); k++) {
        Operand o = *ir_use(fn, i, k);
        if (!op_is_reg(o))
            continue;
        bool other = width_bits(ir_reg(fn, op_index(o))->width) != element;
        *(is_constrained(fn, op_index(o)) ? &constrained[other] : &free[other]) = true;
    }
    bool agree = !(free[0] && constrained[0]) && !(free[1] && constrained[1]);
    return element && agree && !sm->fold_info(fn, i);
}

static bool may_disagree(const Fold *f)
{
    const SmBackend *sm = f->ctx->target.backend;
    bool asks = sm->fold_info != sm_shared_fold_info || sm->operand_bytes != sm_shared_operand_bytes;
    for (RegId r = 1; r < f->nregs && !asks; r++)
        asks = is_constrained(f->fn, r);
    return asks;
}

/* -- The walk ------------------------------------------------------------------------------------------- */

// True if folding may change an instruction: it computes one register from operands.
static bool may_fold(const Fold *f, const Instr *i, const Role *role)
{
    return role->folds && i->ndef == 1 && !(i->flags & IF_PINNED) && is_plain_register(f, *ir_def(f->fn, i, 0));
}

// Replaces the instruction, or changes its operands, by the first rule that applies. True if there is one.
static bool fold_once(Fold *f, InstrId id, const Instr *i, const Role *role)
{
    Uses uses;
    uint32_t op = role->op, form = role->form;
    if (role->skims && (!ir_nuse(i) || !from_constant(find_use(f, *ir_use(f->fn, i, 0)).from)))
        return false;
    if (f->asks && !sources_agree(f, i))
        return false;
    if (visit_uses(f, i, &uses) && fold_constants(f, id))
        return true;
    if (form != FORMLESS && fold_try_rules(f, id, form, &uses))
        return true;
    if (from_constant(uses.of[0].from) && fold_order(f, id, &uses))
        return true;
    switch (op) {
    case OP_CVT: return fold_conversion(f, id) || fold_known(f, id, &uses);
    case OP_DIV: return fold_reciprocal(f, id);
    case OP_LOP3: return fold_table(f, id, &uses);
    case OP_AND:
    case OP_SHL:
    case OP_MUL_LO: return fold_known(f, id, &uses);
    default: return false;
    }
}

bool fold_instr(Fold *f, InstrId id)
{
    int k = 0;
    for (; k < AGAIN; k++) {
        const Instr *i = ir_instr(f->fn, id);
        const Role *role = fold_role(f, i->desc);
        bool condition = role->op == OP_SELP || role->op == OP_SETP;
        if (!may_fold(f, i, role) || !fold_once(f, id, i, role))
            break;
        f->conditions |= condition || ir_reg(f->fn, op_index(*ir_def(f->fn, ir_instr(f->fn, id), 0)))->width == W1;
        fold_note_definition(f, id);
        remove_dead(f);
    }
    return k > 0;
}

// Returns the rules that are disabled in this function; NULL = none.
static bool *find_off(Fold *f)
{
    char why[500];
    const char *names = knob_str(&f->ctx->knobs, KNOB_FOLD_RULES_OFF);
    if (!names)
        return f->ctx->rules_off;
    bool *off = NEW_ARRAY(&f->scratch, bool, fold_rules.n + 1);
    rules_find(names, off, why);  // the list was checked when it was read
    for (uint32_t k = 1; k <= fold_rules.n && f->ctx->rules_off; k++)
        off[k] |= f->ctx->rules_off[k];
    return off;
}

// Records the definitions in reachable blocks, in layout order.
static void record_definitions(Fold *f)
{
    const Fn *fn = f->fn;
    FOR_BLOCKS(fn, b) {
        InstrId first = is_reachable(f->a, b) ? ir_block(fn, b)->first : 0;
        for (InstrId id = first; id; id = instr_after(fn, id)) {
            const Instr *i = ir_instr(fn, id);
            const Operand *ops = ir_ops(fn, i);
            uint32_t from = ir_guarded(i) ? FROM_ANY : fold_role(f, i->desc)->from;
            for (uint32_t k = 0; k < i->ndef; k++)
                if (op_is_reg(ops[k]) && def_of(f->a, op_index(ops[k])) == id)
                    f->from.at[op_index(ops[k])] = from;
        }
    }
}

// Visits again the roots that a use has held back, since the walk may have removed that use.
static void visit_held(Fold *f)
{
    uint32_t n = f->progress ? f->held.n : 0;  // folding adds more
    fold_forget_uses(f);
    for (uint32_t k = 0; k < n; k++) {
        InstrId id = f->held.at[k];
        f->block = ir_instr(f->fn, id)->block;
        if (f->block)
            fold_instr(f, id);
    }
}

bool phase_fold(Ctx *ctx, Fn *fn)
{
    Fold f = {.ctx = ctx, .fn = fn, .a = analysis_need(fn, AN_RPO | AN_DOM | AN_DEF | AN_NUSES), .nregs = fn->regs.n};
    arena_init(&f.scratch, &ctx->heap);
    f.off = find_off(&f);
    f.spent = knob_left(&ctx->knobs, KNOB_FOLD_BUDGET) <= 0;
    f.no_float = knob_is_set(&ctx->knobs, KNOB_LIMIT_FOLD_FP);
    if (!ctx->fold_forms)
        ctx->fold_forms = NEW(&ctx->arena, FoldForms);
    f.forms = ctx->fold_forms;
    fold_start_roles(&f);
    f.asks = may_disagree(&f);
    eval_cache_init(&f.evals, fn->tables, &f.scratch);
    f.from.at = NEW_ARRAY(&f.scratch, uint32_t, f.nregs);
    f.copied.at = NEW_ARRAY(&f.scratch, Operand, f.nregs);
    f.from.n = f.from.cap = f.copied.n = f.copied.cap = f.nregs;
    record_definitions(&f);
    value_ranges_init(&f.ranges, fn, f.a, false, &f.evals, &f.scratch);
    for (uint32_t k = 0; k < f.a->nrpo; k++) {
        f.block = f.a->rpo[k];
        BlockId ahead = f.a->rpo[MIN(k + AHEAD, f.a->nrpo - 1)];
        __builtin_prefetch(ir_instr(fn, ir_block(fn, ahead)->first));
        fold_phis(&f, f.block);
        remove_dead(&f);
        for (InstrId id = ir_block(fn, f.block)->first, next; id; id = next) {
            next = instr_after(fn, id);
            const Instr *i = ir_instr(fn, id);
            if (ir_guarded(i) && fold_guard(&f, id)) {
                f.conditions = true;
                if (!i->block)
                    continue;
            }
            const Role role = *fold_role(&f, i->desc);
            if (role.folds)
                f.progress |= fold_instr(&f, id);
            if (role.accesses)
                f.progress |= fold_address(&f, id);
            f.left.n = 0;  // sums that became offsets: no pattern counts their uses
        }
    }
    visit_held(&f);
    arena_free(&f.scratch);
    if (!f.conditions)
        phase_changes_only(ctx, CHANGE_ALL & ~CHANGE_CONDITIONS);
    return f.progress;
}
