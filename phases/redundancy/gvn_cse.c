// SPDX-License-Identifier: MIT
// Replaces computations by earlier ones of the same value, over the dominator tree.
//
// Slot: 49 GvnCse, whose body the backends sm_60, sm_70 and sm_90 install (entry 23 of the vtable). Setting the knob
// EnableGvnCse, or a mode, installs it on the others. Value numbers (ir/analysis/values.h) find equal computations. The
// mode (402 EnableGvnCseMode) decides where a value may come from:
//
//     mode 1      SimpleGvn: the same block; a barrier ends the scope, unless query 371 permits
//     mode 2      StandardGvn: the same block, or a dominating one, after the EBB pre-pass (gvn_ebb.c)
//     mode 3, 4   FullGvn: also loads and stored values, by versions of memory, and redundant phis; with bit 6, and in
//                 mode 3 with c; else StandardGvn
//     mode 5, 6   FullGvn; without c extended: special instructions (gvn_eligible.c) from dominating blocks, too;
//                 without bit 6 StandardGvn
//     others      nothing
//
// Without a mode, a backend with bit 6 and c has mode 3, any other one mode 2. In mode 2 the pre-pass runs up to the
// limit 32767, and above it unless knob 210 is set.
//
//     b0: R3 = add.s32 R1, R2; @P0 bra b1         b0: R3 = add.s32 R1, R2; @P0 bra b1
//     b1: R4 = add.u32 R2, R1               ->    b1: ... R3 ...                            ; modes 2 to 6
//
//     st.global.b32 [R1], R2                      st.global.b32 [R1], R2                    ; modes 3 to 6
//     R3 = ld.global.b32 [R1]               ->    ... R2 ...
//
// Must not fire:
//     b1: R3 = add.s32 R1, R2; b2: R4 = add.s32 R1, R2            neither block dominates the other
//     R3 = ld.shared.b32 [R1]; bar.sync 0; R4 = ld.shared.b32 [R1]
//     R3 = shfl.sync...; bar.warp.sync; R4 = shfl.sync...         another convergent instruction between
//     @P0 bra b1; R3 = vote.sync...; R4 = vote.sync...            lanes of the other arm execute two votes
//     @P0 R3 = add.s32 R1, R2 else 7; @P0 R4 = add.s32 R1, R2 else 9     two old values
//     atom, red, activemask; volatile and relaxed accesses
//
// A value of another block is reused only if the instruction is expensive or a load, or the register is live there
// anyway, or keeping it does not raise the highest register pressure (pressure.h): 46 registers instead of 40 (tried).
//
// The six ways in which the document's StandardGvn ends are counted, for candidates without a value in their block:
//     T1  the block has no immediate dominator                 T4  the leader is not usable: its own definition stays
//     T2  no dominating block has the value                    T5  a move of the leader follows it: no second move
//     T3  the leader's block is marked as one without candidates     T6  replaced
// A move (292) takes the place of an instruction only if its register must keep its name.
//
// In FullGvn the blocks with replacements are recorded in a scope tree over their indices in reverse postorder, which
// is drained in ascending order. Up to the limit 28671, operands of commutative instructions in drained blocks are
// sorted.
//
// Nothing is left to LateOriCommoning if StandardGvn or FullGvn has refused no class and no block without candidates,
// inserted no move, met no limit, and has not changed the register pressure for which it refused a candidate.
// StandardGvn also numbers loads and phis, and looks for loads that are redundant on some paths: there must be none to
// replace. The pre-pass runs when a value of another block is found.
//
// Documented: modes, bits, limits, knobs, eligibility, the tests T1 to T6 and the walks. Inferred: the value numbers,
// which the document does not have, the register pressure, and what sub_BEA3B0 and sub_BEA000 test.
#include "phases/bodies.h"
#include "phases/bundles/bundle.h"
#include "phases/manager/remarks.h"
#include "phases/redundancy/gvn.h"

/* -- Modes ---------------------------------------------------------------------------------------------- */

GvnBody gvn_body(int64_t mode, bool enhanced, bool full_scope)
{
    switch (mode) {
    case 1: return GVN_SIMPLE;
    case 2: return GVN_STANDARD;
    case 3: return enhanced && full_scope ? GVN_FULL : GVN_STANDARD;
    case 4: return enhanced ? GVN_FULL : GVN_STANDARD;
    case 5:
    case 6: return !enhanced ? GVN_STANDARD : full_scope ? GVN_FULL : GVN_FULL_EXTENDED;
    default: return GVN_NONE;
    }
}

int64_t gvn_default_mode(uint8_t caps) { return caps & SM_CAP_ENHANCED_CSE && caps & SM_CAP_FULL_SCOPE ? 3 : 2; }

uint8_t gvn_caps(Ctx *ctx)
{
    enum { ENHANCED = 1, FULL_SCOPE = 2 };  // bits of the knob
    if (!knob_is_set(&ctx->knobs, KNOB_GVN_BITS))
        return ctx->target.backend->profile.caps;
    int64_t bits = knob_int(&ctx->knobs, KNOB_GVN_BITS);
    return (bits & ENHANCED ? SM_CAP_ENHANCED_CSE : 0) | (bits & FULL_SCOPE ? SM_CAP_FULL_SCOPE : 0);
}

static bool is_set_by_user(Ctx *ctx, KnobId knob)
{
    const KnobSetting *setting = knob_setting(&ctx->knobs, knob);
    return setting && setting->from != KS_DEFAULT;
}

bool gvn_is_installed(Ctx *ctx) { return is_set_by_user(ctx, KNOB_GVN_CSE) || is_set_by_user(ctx, KNOB_GVN_CSE_MODE); }

/* -- Numbering ------------------------------------------------------------------------------------------ */

static bool is_barrier(const Desc *d)
{
    return d->op == OP_BAR_SYNC || d->op == OP_BAR_RED || d->op == OP_BAR_ARRIVE || d->op == OP_BARRIER_SYNC ||
           d->op == OP_BARRIER_ARRIVE;
}

// Numbers a convergent instruction: equal to the last convergent instruction of its block, if that has the same
// operands and all threads execute both. Each other one begins a new context.
static void number_convergent(Redundancy *r, Gvn *g, InstrId id, GvnClass class)
{
    if (class != GC_CONVERGENT || !redundancy_all_run_same(r)) {
        g->context++;
        redundancy_number_apart(r, id);
    } else if (values_number_in(&r->values, id, g->context)) {
        redundancy_note(r, id);
    } else {
        values_number_in(&r->values, id, ++g->context);
    }
}

// Notes a computation into a named register, if a register of ssa form has its value: a move suffices.
static void number_named(Redundancy *r, InstrId id)
{
    const Instr *i = ir_instr(r->fn, id);
    Operand def = i->ndef == 1 ? *ir_def(r->fn, i, 0) : op_none();
    const Reg *reg = ir_reg(r->fn, op_index(def));
    InstrId first = 0;
    if (op_is_reg(def) && reg->flags == REG_NAMED && reg->width > W1 && is_expensive(r->fn, i))
        first = values_find(&r->values, id);
    redundancy_number_apart(r, id);
    if (first)
        redundancy_note_copy(r, &(Copy){id, 0, op_reg(r->fn, op_index(*ir_def(r->fn, ir_instr(r->fn, first), 0))),
                                        width_bits((Width)reg->width) / 8, false});
}

// Numbers an instruction that is not eligible. LateOriCommoning may replace it if it is pure.
static void number_ineligible(Redundancy *r, Gvn *g, InstrId id, const Desc *d)
{
    g->unsettled |= d->traits & TR_PURE && !(d->traits & TR_PSEUDO);
    redundancy_number_apart(r, id);
}

static void number(void *redundancy, InstrId id)
{
    Redundancy *r = redundancy;
    Gvn *g = r->rules->user;
    const Instr *i = ir_instr(r->fn, id);
    const Desc *d = ir_desc(r->fn, i);
    GvnClass class = gvn_class(r->fn, i, g->enhanced);
    if (i->block != g->block) {
        g->block = i->block;
        g->context++;
        g->scope++;
    }
    if (g->scopes && is_barrier(d) && !g->ctx->target.backend->common_over_barrier(r->fn, i))
        g->scope++;
    if (g->scopes)
        g->scopes[id] = g->scope;
    if (d->traits & TR_CONV)
        number_convergent(r, g, id, g->kept && g->kept[d->op] ? GC_NONE : class);
    else if (class == GC_NONE || (g->kept && g->kept[d->op]))
        number_ineligible(r, g, id, d);
    else if (i->ndef == 1 && ir_reg(r->fn, op_index(*ir_def(r->fn, i, 0)))->flags & REG_NAMED)
        number_named(r, id);
    else
        redundancy_number(r, id);
}

/* -- Tests ---------------------------------------------------------------------------------------------- */

static bool follows_move(const Redundancy *r, RegId leader)
{
    InstrId next = ir_instr(r->fn, def_of(r->a, leader))->next;
    const Instr *i = next ? ir_instr(r->fn, next) : NULL;
    return i && ir_desc(r->fn, i)->op == OP_MOV && op_is_reg(*ir_use(r->fn, i, 0)) &&
           op_index(*ir_use(r->fn, i, 0)) == leader;
}

// True if a register of a dominating block may be read at an instruction (sub_BEA3B0). Keeps the last result.
static bool is_usable(Redundancy *r, Gvn *g, RegId leader, InstrId id)
{
    const Instr *i = ir_instr(r->fn, id);
    if (g->cached_leader != leader || g->cached_user != id) {
        g->cached_leader = leader;
        g->cached_user = id;
        g->cached =
            ir_desc(r->fn, i)->traits & TR_READ || is_expensive(r->fn, i) || pressure_permits(&g->pressure, leader, id);
    }
    return g->cached;
}

static Verdict permits(Redundancy *r, RegId leader, InstrId id)
{
    Gvn *g = r->rules->user;
    const Instr *i = ir_instr(r->fn, id);
    InstrId def = def_of(r->a, leader);
    BlockId from = ir_instr(r->fn, def)->block;
    if (g->body == GVN_SIMPLE)
        return from == i->block && g->scopes[def] == g->scopes[id] ? RV_REPLACED : RV_SCOPE;
    if (from == i->block)
        return RV_REPLACED;
    if (g->pre_pass && !g->marks)
        g->marks = gvn_mark_blocks(g);
    if (g->marks && g->marks[from] == EBB_NO_CANDIDATE) {
        g->unsettled = true;
        return RV_SCOPE;
    }
    if (g->body != GVN_FULL_EXTENDED && gvn_class(r->fn, i, g->enhanced) != GC_PLAIN) {
        g->unsettled = true;
        return RV_SCOPE;
    }
    g->pressed |= !is_usable(r, g, leader, id);
    return g->cached ? RV_REPLACED : RV_PRESSURE;
}

// Counts how the search for a value of another block ended.
static void count(Redundancy *r, const Gvn *g, InstrId id, RegId leader, Verdict verdict)
{
    GvnCounters *n = &g->ctx->gvn;
    BlockId b = ir_instr(r->fn, id)->block;
    BlockId from = leader ? ir_instr(r->fn, def_of(r->a, leader))->block : 0;
    n->replaced += verdict == RV_REPLACED;
    if (from == b)
        return;
    if (verdict == RV_REPLACED)
        *(leader && follows_move(r, leader) ? &n->T5 : &n->T6) += 1;
    else if (!leader)
        *(r->a->dom.idom[b] ? &n->T2 : &n->T1) += 1;
    else
        *(verdict == RV_SCOPE ? &n->T3 : &n->T4) += 1;
}

static void report(Redundancy *r, InstrId id, RegId leader, Verdict verdict)
{
    Gvn *g = r->rules->user;
    count(r, g, id, leader, verdict);
    if (verdict == RV_REPLACED && g->drains)
        scope_tree_add(g->drains, r->a->rpo_index[ir_instr(r->fn, id)->block]);
    redundancy_remark(r, id, leader, verdict);
}

/* -- The drain of FullGvn ------------------------------------------------------------------------------- */

// Sorts the first two uses of a commutative instruction as in its key (query 79).
static void sort_uses(Redundancy *r, InstrId id)
{
    const Instr *i = ir_instr(r->fn, id);
    if (!(ir_desc(r->fn, i)->traits & TR_COMM) || ir_nuse(i) < 2 || i->flags & IF_PINNED)
        return;
    Operand *x = ir_use(r->fn, i, 0), *y = ir_use(r->fn, i, 1), first = *x, second = *y;
    uint32_t a = value_number(&r->values, first), b = value_number(&r->values, second);
    if (!a || !b || !values_swap(&r->values, i, a, b) || !fit_operand(r->fn, i, i->ndef, &second) ||
        !fit_operand(r->fn, i, i->ndef + 1u, &first))
        return;
    *x = second;
    *y = first;
}

// Visits the recorded blocks in ascending order, dominators first (sub_BEA5F0), and empties the tree.
static void drain(Redundancy *r)
{
    Gvn *g = r->rules->user;
    ScopeCursor cursor = scope_tree_first(g->drains);
    for (uint32_t index; (index = scope_tree_next(&cursor)) != SCOPE_END;) {
        if (sm_sorts_commutative(g->ctx->target))
            FOR_INSTRS(r->fn, r->a->rpo[index], id)
                sort_uses(r, id);
        g->ctx->gvn.drained++;
    }
    while (scope_tree_drop(g->drains))
        ;
}

/* -- The phase ------------------------------------------------------------------------------------------ */

static bool is_full(GvnBody body) { return body == GVN_FULL || body == GVN_FULL_EXTENDED; }

// True if the EBB pre-pass runs.
static bool has_pre_pass(Ctx *ctx, GvnBody body)
{
    return body == GVN_STANDARD && (sm_always_marks_ebb(ctx->target) || !knob_is_set(&ctx->knobs, KNOB_GVN_NO_EBB));
}

static uint32_t eliminate(Gvn *g)
{
    enum { OTHERS = RD_PHIS | RD_LOADS | RD_PARTIAL_LOADS };
    bool full = is_full(g->body), left;
    uint32_t moves;
    ScopeTree tree;
    if (full) {
        g->drains = &tree;
        scope_tree_init(&tree, &g->scratch);
    }
    RedundancyRules rules = {.kinds =
                                 RD_EXPRESSIONS | RD_COPIES | RD_CONSTANT_LOADS | RD_CONVERGENT | (full ? OTHERS : 0),
                             .watched = g->body == GVN_STANDARD ? OTHERS : 0,
                             .budget = KNOB_GVN_BUDGET,
                             .permits = permits,
                             .number = number,
                             .report = report,
                             .finish = full ? drain : NULL,
                             .user = g,
                             .plain = !g->kept && !g->scopes,
                             .pressure = &g->pressure};
    uint32_t replaced = redundancy_eliminate(g->ctx, g->fn, &rules, &moves, &left);
    g->ctx->gvn.moves += moves;
    g->unsettled |= moves > 0 || left;
    return replaced;
}

static GvnBody choose_body(Ctx *ctx)
{
    uint8_t caps = gvn_caps(ctx);
    bool set = knob_is_set(&ctx->knobs, KNOB_GVN_CSE_MODE);
    int64_t mode = set ? knob_int(&ctx->knobs, KNOB_GVN_CSE_MODE) : gvn_default_mode(caps);
    return gvn_body(mode, caps & SM_CAP_ENHANCED_CSE, caps & SM_CAP_FULL_SCOPE);
}

bool phase_gvn_cse(Ctx *ctx, Fn *fn)
{
    if (!gate_is_open(ctx, fn, KNOB_GVN_CSE, knob_int(&ctx->knobs, KNOB_GVN_CSE)))
        return false;
    Gvn g = {.ctx = ctx, .fn = fn, .body = choose_body(ctx)};
    if (!gate_is_open(ctx, fn, KNOB_GVN_CSE_MODE, g.body != GVN_NONE))
        return false;
    g.a = analysis_need(fn, AN_RPO | AN_DOM | AN_DEF);
    g.enhanced = gvn_caps(ctx) & SM_CAP_ENHANCED_CSE;
    arena_init(&g.scratch, &ctx->heap);
    pressure_init(&g.pressure, fn, &g.scratch);
    g.kept = opcodes_of_knob(ctx, KNOB_GVN_PER_INSTR, &g.scratch);
    g.pre_pass = has_pre_pass(ctx, g.body);
    if (g.body == GVN_SIMPLE)
        g.scopes = NEW_ARRAY(&g.scratch, uint32_t, fn->instrs.n);
    uint32_t replaced = eliminate(&g);
    arena_free(&g.scratch);
    bundle_settle(ctx, fn, PH_LATE_COMMONING, replaced);
    if (g.body == GVN_SIMPLE || g.kept || g.unsettled || (replaced && g.pressed) ||
        knob_left(&ctx->knobs, KNOB_GVN_BUDGET) <= 0)
        bundle_unsettle(fn, PH_LATE_COMMONING);
    return replaced;
}
