// SPDX-License-Identifier: MIT
// Simplifies selects and comparisons whose predicate is known.
//
// Sub-pass: OriSimplifyPredicates, of the bundles 29, 46 and 65. It has the shape of the documented walk of
// GeneralOptimize: one forward walk marks selects and comparisons, then the marks are applied and cleared.
//
// Marks (Instr.marks), with the bits of the documents:
//   {prop}   0x100  a select that may be replaced
//   {defer}  0x200  the walk did not prove that the select is eligible, so this is checked again
//   {under}  0x400  a comparison whose result may be known under its own guard
//
// The walk has three states: the current block; whether the target marks comparisons (query 164, or a target that
// issues two instructions at once, sub_7DC0E0); and whether a live use was seen, which is true at the start of a block
// and false after an eligible comparison, until an instruction that has an effect or is used.
//
// Eligible comparisons (opcode 18): one result, not marked, the backend does not refuse (query 165), both sources are
// uniform and without constraints. Uniform are predicates, uniform registers, constants, kernel parameters, and the
// dimensions and indices of the grid. They clear the state, and are marked {under} if the target marks comparisons.
//
// Eligible selects (opcode 124): not marked, no modifier, of an integer or a float. On targets above version 20479 the
// constraint bits of the result must be 0: those of its operand, and of constant arms (10 wider than 32 bits, 11 needs
// sign extension, 12 relative to a constant bank).
//
// The tier is the knob GeneralOptimizeTier (ctx+1379); limit-fold-fp sets its bit 0. If tier & 7 is 0, each eligible
// select is marked. Otherwise the simplifier tests a select of floats, unless the target marks directly
// (sm_marks_directly) and tier & 0x1B is 0. It scans the block from its start to the select for an eligible instruction
// that the select reads, and if the target does not mark directly, also the definitions of its operands. A hit marks
// the select {prop}; without a hit a target that marks directly marks it {defer}, and others do not mark it. An
// integer, or a select with {defer}, is marked {prop} if no live use was seen or the target marks comparisons;
// otherwise if the definition of its predicate, or the next comparison or select after it in the block, is eligible,
// with no live use between.
//
// Apply: a marked select is replaced by a move if its arms are one value, or if its predicate is known
// (known_predicates.c). A comparison, marked or not, is replaced by a constant if it is known; one that is marked
// {under} need only be known under its guard.
//
//     @P0 bra b1 else b2; b1: R4 = selp.b32 R1, R2, P0     ->   b1: R4 = mov.b32 R1
//     P0 = setp.lt.s32 R1, R2; @P0 bra b1 else b2
//     b1: P1 = setp.gt.s32 R1, R2                          ->   b1: P1 = mov.pred 0
//     @P0 R4 = selp.b32 R1, R2, P0 else R3                 ->   @P0 R4 = mov.b32 R1 else R3
//     P0 = setp.lt.s32 R1, R2       (R1, R2 uniform)
//     @P0 P1 = setp.ge.s32 R1, R2 else P2   {under}        ->   @P0 P1 = mov.pred 0 else P2
//
// Must not fire:
//     b1: R4 = selp.b32 R1, R2, P0          if b1 has another way in, or both targets of the branch are b1
//     R4 = selp.b32 R1, R2, P0              if P0 is pinned
//     R4 = selp.b32 R1, R1, P0 where R1 is pinned          its two reads may differ
//     b1: P1 = setp.geu.f32 R1, R2          after setp.lt.f32 R1, R2 was false: also true for NaN; known, but ge is not
//     P1|P2 = setp ...                      two results
//     R4 = selp.b64 0x123456789a, R1, P0    on sm_60 and later
//     @P0 P1 = setp.ge.s32 R1, R2 else P2   known under P0, on targets that do not mark comparisons
//
// Does not do: guards and branches (15 and folding handle constants); slct.
// Documented: the walk, marks, eligibility, tiers. Inferred: the values that count as uniform, the simplifier's test,
// when a mark may be applied, and that the entry check sub_7DC0E0 has the effect of query 164.
#include "phases/bodies.h"
#include "phases/manager/remarks.h"
#include "phases/scalar/known_predicates.h"
#include "sm/sm.h"

enum { TIER_LIMIT_FOLD_FP = 1, TIER_TESTS_SELECTS = 7, TIER_CONSERVATIVE = 0x1B, STEPS = 48 };

typedef struct Simplify {
    Ctx *ctx;
    Fn *fn;
    const Analyses *a;
    Arena scratch;
    const SmBackend *sm;
    uint32_t tier;
    bool tests_selects;   // an eligible select need not be marked
    bool marks_compares;  // query 164, or the entry check
    bool live_use_seen;
    BlockId context;    // the current block
    uint32_t *visited;  // by InstrId: number of the scan that visited it; NULL = no scan yet
    uint32_t scans;
    InstrId *first, *next;  // by BlockId, by InstrId: list of candidates in the order of the block
    KnownPredicates known;
    bool progress;
} Simplify;

/* -- Eligibility ---------------------------------------------------------------------------------------- */

static bool is_grid_register(uint32_t sreg)
{
    return sreg - SREG_NTID_X < 3 || sreg - SREG_CTAID_X < 3 || sreg - SREG_NCTAID_X < 3;
}

// True if an operand has one value in all threads of a CTA.
static bool is_uniform(const Simplify *s, Operand o)
{
    const Fn *fn = s->fn;
    o = copy_source(fn, s->a, o);
    if (!op_is_reg(o))
        return op_is_const(o);
    if (op_file(o) != RF_R)
        return true;
    InstrId def = def_of(s->a, op_index(o));
    const Instr *i = def ? ir_instr(fn, def) : NULL;
    if (!i || ir_guarded(i))
        return false;
    const Desc *d = ir_desc(fn, i);
    if (d->op == OP_MOV)
        return op_kind(*ir_use(fn, i, 0)) == K_SREG && is_grid_register(op_index(*ir_use(fn, i, 0)));
    return d->op == OP_LD && fn->flags & FN_KERNEL && op_kind(*ir_use(fn, i, 0)) == K_SYM &&
           tab_mnem(fn->tables, d->mnem)->mod[MC_SPACE] == MOD_PARAM;
}

static bool is_eligible_compare(const Simplify *s, const Instr *i)
{
    const Fn *fn = s->fn;
    if (i->ndef != 1 || i->marks & MARK_UNDER || s->sm->refuses_source(fn, i))
        return false;
    for (uint32_t k = 0; k < 2; k++) {
        Operand o = *ir_use(fn, i, k);
        if (!is_uniform(s, o) || (op_is_reg(o) && !reg_in_ssa(ir_reg(fn, op_index(o)))))
            return false;
    }
    return true;
}

// Returns the constraint bits of an immediate or a constant bank as an arm of a select.
static uint32_t constraints_of(const Fn *fn, Operand o)
{
    enum { WIDE = 1 << OPM_CONSTRAINT_SHIFT, EXTENDED = WIDE << 1, BANK = WIDE << 2 };
    if (op_kind(o) == K_BANK)
        return BANK;
    if (!op_is_const(o) || tab_const(fn->tables, op_index(o)).width != W64)
        return 0;
    uint64_t bits = tab_const(fn->tables, op_index(o)).bits;
    bool extends = (uint64_t)(int64_t)(int32_t)bits == bits;
    return bits <= UINT32_MAX ? 0 : extends ? EXTENDED : WIDE;
}

static bool is_eligible_select(const Simplify *s, const Instr *i)
{
    const Fn *fn = s->fn;
    TypeClass class = type_info[tab_mnem(fn->tables, ir_desc(fn, i)->mnem)->type[0]].class;
    Operand def = *ir_def(fn, i, 0);
    uint32_t constraints = def.mods & OPM_CONSTRAINTS;
    if (i->marks & MARK_PROP || def.mods & ~(uint32_t)OPM_CONSTRAINTS ||
        !(class == TC_B || class == TC_U || class == TC_S || class == TC_F))
        return false;
    for (uint32_t k = 0; k < 2; k++)
        constraints |= constraints_of(fn, copy_source(fn, s->a, *ir_use(fn, i, k)));
    return sm_selects_fold_freely(s->ctx->target) || !constraints;
}

static bool is_eligible(const Simplify *s, const Instr *i)
{
    Opcode op = ir_desc(s->fn, i)->op;
    return op == OP_SETP ? is_eligible_compare(s, i) : op == OP_SELP && is_eligible_select(s, i);
}

/* -- The simplifier ------------------------------------------------------------------------------------- */

// Marks an instruction as visited by the current scan. False: it was.
static bool visit(Simplify *s, InstrId id)
{
    bool first = s->visited[id] != s->scans;
    s->visited[id] = s->scans;
    return first;
}

// Finds an eligible instruction before the select, in its block, that the select reads. Its operands lead there without
// a walk: in ssa form a definition in this block is before its use, or a phi, which is not eligible.
static bool scan_forward(const Simplify *s, InstrId select)
{
    const Fn *fn = s->fn;
    const Instr *i = ir_instr(fn, select);
    for (uint32_t k = 0; k < ir_nuse(i); k++) {
        Operand use = *ir_use(fn, i, k);
        InstrId def = op_is_reg(use) ? def_of(s->a, op_index(use)) : 0;
        if (def && ir_instr(fn, def)->block == s->context && is_eligible(s, ir_instr(fn, def)))
            return true;
    }
    return false;
}

// Follows the definitions of the operands back, through moves and the inputs of phis, for STEPS operands.
static bool scan_back(Simplify *s, InstrId select)
{
    const Fn *fn = s->fn;
    VEC(InstrId) work = {0};
    uint32_t steps = 0;
    VEC_PUSH(&s->scratch, &work, select);
    for (uint32_t n = 0; n < work.n; n++) {
        const Instr *i = ir_instr(fn, work.at[n]);
        for (uint32_t k = 0; k < ir_nuse(i) && steps < STEPS; k++, steps++) {
            Operand use = *ir_use(fn, i, k);
            InstrId def = op_is_reg(use) ? def_of(s->a, op_index(use)) : 0;
            if (!def || !visit(s, def))
                continue;
            if (is_eligible(s, ir_instr(fn, def)))
                return true;
            Opcode op = ir_desc(fn, ir_instr(fn, def))->op;
            if (op == OP_PHI || op == OP_MOV)
                VEC_PUSH(&s->scratch, &work, def);
        }
    }
    return false;
}

typedef enum { NO_HIT, PARTIAL, HIT } Found;

// Scans forward, then back. PARTIAL: the forward scan found nothing, but the target marks directly.
static Found find_eligible(Simplify *s, InstrId select)
{
    if (!s->visited)
        s->visited = NEW_ARRAY(&s->scratch, uint32_t, s->fn->instrs.n);
    s->scans++;
    if (scan_forward(s, select))
        return HIT;
    if (sm_marks_directly(&s->sm->profile))
        return PARTIAL;
    s->scans++;
    return scan_back(s, select) ? HIT : NO_HIT;
}

/* -- The walk ------------------------------------------------------------------------------------------- */

// True if an instruction has an effect or a result that is used.
static bool is_live(const Simplify *s, const Instr *i)
{
    const Fn *fn = s->fn;
    if (!(ir_desc(fn, i)->traits & (TR_PURE | TR_READ)) || !i->ndef)
        return !(ir_desc(fn, i)->traits & TR_MARKER);
    for (uint32_t k = 0; k < i->ndef; k++)
        if (op_is_reg(*ir_def(fn, i, k)) && nuses_of(s->a, op_index(*ir_def(fn, i, k))))
            return true;
    return false;
}

// The transitive chain: one definition back from the predicate, then forward in its block until a live use.
static bool is_eligible_by_chain(const Simplify *s, const Instr *select)
{
    const Fn *fn = s->fn;
    Operand predicate = *ir_use(fn, select, 2);
    InstrId id = op_is_reg(predicate) ? def_of(s->a, op_index(predicate)) : 0;
    for (; id; id = instr_after(fn, id)) {
        const Instr *i = ir_instr(fn, id);
        Opcode op = ir_desc(fn, i)->op;
        if (op == OP_SETP || op == OP_SELP)
            return i != select && is_eligible(s, i);
        if (ir_desc(fn, i)->traits & TR_TERM || is_live(s, i))
            return false;
    }
    return false;
}

// Returns the marks of a select.
static uint8_t marks_of_select(Simplify *s, InstrId id)
{
    const Fn *fn = s->fn;
    const Instr *i = ir_instr(fn, id);
    uint8_t marks = 0;
    if (!is_eligible_select(s, i))
        return 0;
    if (!s->tests_selects)
        return MARK_PROP;
    if (type_info[tab_mnem(fn->tables, ir_desc(fn, i)->mnem)->type[0]].class == TC_F) {
        bool direct = sm_marks_directly(&s->sm->profile) && !(s->tier & TIER_CONSERVATIVE);
        Found found = direct ? PARTIAL : find_eligible(s, id);
        if (found != PARTIAL)
            return found == HIT ? MARK_PROP : 0;
        marks = MARK_DEFER;
    }
    if (!s->live_use_seen || s->marks_compares || is_eligible_by_chain(s, i))
        marks |= MARK_PROP;
    return marks;
}

// Marks the instructions of a block, and lists the candidates.
static bool mark_block(Simplify *s, BlockId b)
{
    const Fn *fn = s->fn;
    InstrId *end = &s->first[b];
    s->context = b;
    s->live_use_seen = true;
    FOR_INSTRS(fn, b, id) {
        Instr *i = ir_instr(fn, id);
        Opcode op = ir_desc(fn, i)->op;
        if (op == OP_SETP && is_eligible_compare(s, i)) {
            s->live_use_seen = false;
            i->marks |= s->marks_compares ? MARK_UNDER : 0;
        } else if (op == OP_SELP) {
            i->marks |= marks_of_select(s, id);
        } else if (s->tests_selects && !s->live_use_seen) {
            s->live_use_seen = is_live(s, i);
        }
        if (op == OP_SETP || i->marks) {
            *end = id;
            end = &s->next[id];
        }
    }
    return s->first[b];
}

/* -- Application ---------------------------------------------------------------------------------------- */

static void replace_by(Simplify *s, InstrId id, Operand by, const char *what)
{
    remark(s->ctx, s->fn, id, RM_PASSED, "KnownPredicate", "{What:%s}", what);
    instr_replace_by_move(s->fn, id, by);
    s->progress = true;
}

static void apply_to_compare(Simplify *s, InstrId id)
{
    Fn *fn = s->fn;
    const Instr *i = ir_instr(fn, id);
    if (i->ndef != 1 || i->flags & IF_PINNED || !op_is_reg(*ir_def(fn, i, 0)) ||
        def_is_outside(s->a, op_index(*ir_def(fn, i, 0))))
        return;
    Truth truth = known_comparison(&s->known, i, i->marks & MARK_UNDER);
    if (truth != UNKNOWN)
        replace_by(s, id, op_const(fn, truth == IS_TRUE, W1),
                   truth == IS_TRUE ? "the comparison is always true here" : "the comparison is always false here");
}

static void apply_to_select(Simplify *s, InstrId id)
{
    Fn *fn = s->fn;
    const Instr *i = ir_instr(fn, id);
    Operand arm[2] = {*ir_use(fn, i, 0), *ir_use(fn, i, 1)}, guard = ir_guarded(i) ? *ir_guard(fn, i) : op_none();
    bool eligible = i->marks & MARK_PROP;
    if (!eligible && i->marks & MARK_DEFER)
        eligible = is_eligible_select(s, i);
    if (!eligible || i->flags & IF_PINNED || !op_is_reg(*ir_def(fn, i, 0)) ||
        def_is_outside(s->a, op_index(*ir_def(fn, i, 0))))
        return;
    Operand source[2] = {copy_source(fn, s->a, arm[0]), copy_source(fn, s->a, arm[1])};
    bool one = op_same(source[0], source[1]) &&
               (op_is_const(source[0]) || (op_is_reg(source[0]) && def_of(s->a, op_index(source[0]))));
    Truth truth = one ? IS_TRUE : known_truth(&s->known, *ir_use(fn, i, 2), guard);
    Operand by = arm[truth == IS_FALSE];
    if (truth != UNKNOWN && (op_is_const(by) || op_is_reg(by)))
        replace_by(s, id, by,
                   one ? "both arms of the select are one value" : "the predicate of the select is known here");
}

static void apply(Simplify *s)
{
    const Fn *fn = s->fn;
    known_init(&s->known, fn, s->a, &s->scratch);
    for (uint32_t k = 0; k < s->a->nrpo; k++) {
        BlockId b = s->a->dom.order[k];
        known_enter(&s->known, b);
        for (InstrId id = s->first[b]; id; id = s->next[id]) {
            if (ir_desc(fn, ir_instr(fn, id))->op == OP_SETP)
                apply_to_compare(s, id);
            else
                apply_to_select(s, id);
        }
    }
}

bool phase_simplify_predicates(Ctx *ctx, Fn *fn)
{
    bool candidates = false;
    Simplify s = {.ctx = ctx, .fn = fn, .sm = ctx->target.backend};
    s.tier = (uint32_t)knob_int(&ctx->knobs, KNOB_GENERAL_OPTIMIZE_TIER);
    s.tier |= knob_is_set(&ctx->knobs, KNOB_LIMIT_FOLD_FP) ? TIER_LIMIT_FOLD_FP : 0;
    s.tests_selects = s.tier & TIER_TESTS_SELECTS;
    s.a = analysis_need(fn, AN_RPO | AN_DOM | AN_DEF | (s.tests_selects ? AN_NUSES : 0));
    s.marks_compares = s.sm->marks_predicates(fn) || sm_is_dual_issue(&s.sm->profile);
    arena_init(&s.scratch, &ctx->heap);
    s.first = NEW_ARRAY(&s.scratch, InstrId, fn->blocks.n);
    s.next = NEW_ARRAY(&s.scratch, InstrId, fn->instrs.n);
    FOR_BLOCKS(fn, b)
        candidates |= mark_block(&s, b);
    if (candidates)
        apply(&s);
    FOR_BLOCKS(fn, b)
        for (InstrId id = s.first[b]; id; id = s.next[id])
            ir_instr(fn, id)->marks = 0;
    arena_free(&s.scratch);
    return s.progress;
}
