// SPDX-License-Identifier: MIT
// Replaces computations by equal ones that dominate them, after predication.
//
// Slot: 64 LateOriCommoning. Value numbers (ir/analysis/values.h) and versions of memory find equal computations, loads
// and stored values, as in the full mode of GvnCse, on all backends. A candidate must also pass the structural test of
// the document, in the meaning that soundness requires:
//     C1  the instructions are in different blocks, or the leader is before the other one
//     C2  the leader's block dominates the other one
//     C3  no version of memory that the instruction reads changes between
//     C4  both are unguarded, or have the same guard and modifiers; or the old values are undefined
//     C5  the instruction has operands
//     C6  definitions and uses are at the same positions
//     C7  the definitions agree in kind, modifiers, register file and width
// Equal value numbers imply C1 to C3: numbers include the canonical descriptor, the numbers and modifiers of all uses,
// and the version. The test checks C4 to C7. They do not apply to a load whose low bytes are those of another register,
// or whose old value is kept by its guard: a move with the guard and the extension of the load takes its place.
//
// For each block, a mask has the classes of all instructions on the dominator path to its end: it begins with the mask
// of the immediate dominator. A leader in another block that is the same instruction is refused if a class of the
// instruction is missing in the mask of the leader's block. So masks only reject; equal numbers imply equal classes,
// but a backend may add classes (queries 182 and 227) that keep instructions apart.
//
//     b0: R3 = add.s32 R1, R2; R4 = mul.lo.s32 R3, R3; @P0 bra b1
//     b1: R5 = add.s32 R2, R1; R6 = mul.lo.s32 R5, R5               ->   b1: ... R3 ... R4 ...
//
//     @P0 R3 = ld.global.b32 [R1] else R9; @P0 R4 = ld.global.b32 [R1] else R9     ->   ... R3 ...
//
// Must not fire:
//     @P0 R3 = add.s32 R1, R2 else 7; @P0 R4 = add.s32 R1, R2 else 9      two old values (C4)
//     @P0 R3 = add.s32 R1, R2 else R9; @P1 R4 = add.s32 R1, R2 else R9    two guards (C4)
//     R3 = ld.global.b32 [R1]; st.global.b32 [R2], R5; R4 = ld.global.b32 [R1]     (C3)
//     with EnableLateCommoning (843) = 0 or GeneralOptimizeEnable (487) = 0, unless ForceLateCommoning is set; for a
//     function that is marked as done, or excluded by bit 3 (LateCommoningBits)
//
// Does not do: anything if GvnCse or OriReassociateAndCommon has left nothing to it (bundle.c).
// Documented: gates, knobs, C1 to C7, classes of the mask, representatives of operands, chains of MOV. Inferred: the
// meaning of C1 and C3, the mask of loads by state space, and pressure (pressure.h).
#include "phases/bodies.h"
#include "phases/bundles/bundle.h"
#include "phases/manager/remarks.h"
#include "phases/redundancy/common_values.h"

/* -- Classes -------------------------------------------------------------------------------------------- */

// Bits of a mask of classes.
enum {
    CLASS_PURE = 1u << 0,         // pure instructions; loads have it by CLASS_LOAD_STORE
    CLASS_SPACE_SHIFT = 20,       // 2 bits: the state space of a load: global, shared, local, others
    CLASS_UNIFORM = 1u << 25,     // the result is a uniform register
    CLASS_PLAIN = 1u << 27,       // a load that is not volatile
    CLASS_VARIES = 1u << 28,      // the address is a register
    CLASS_OFFSET = 1u << 29,      // the address has an offset
    CLASS_LOAD_STORE = 0x200001,  // 96
};
#define CLASS_GUARDED ((uint64_t)1 << 32)

static uint32_t class_of_space(Space space)
{
    switch (space) {
    case SP_GLOBAL: return 0;
    case SP_SHARED:
    case SP_CLUSTER: return 1;
    case SP_LOCAL: return 2;
    default: return 3;
    }
}

static uint64_t classes_of_load(const Fn *fn, const Instr *i, const Desc *d)
{
    Operand base = *ir_use(fn, i, 0), offset = *ir_use(fn, i, 1);
    Space space = mod_space((Mod)tab_mnem(fn->tables, d->mnem)->mod[MC_SPACE]);
    uint64_t classes = CLASS_LOAD_STORE | class_of_space(space) << CLASS_SPACE_SHIFT;
    classes |= d->traits & TR_ORDERED ? 0 : CLASS_PLAIN;
    classes |= op_is_reg(base) ? CLASS_VARIES : 0;
    bool moves = op_is_const(offset) && tab_const(fn->tables, op_index(offset)).bits != 0;
    return classes | (moves ? CLASS_OFFSET : 0);
}

uint64_t late_commoning_classes(const Ctx *ctx, const Fn *fn, const Instr *i)
{
    const SmBackend *backend = ctx->target.backend;
    const Desc *d = ir_desc(fn, i);
    uint64_t classes = d->traits & TR_PURE ? CLASS_PURE : 0;
    if (d->op == OP_LD || d->op == OP_LDU)
        classes |= classes_of_load(fn, i, d);
    if (i->ndef && op_file(*ir_def(fn, i, 0)) == RF_UR)
        classes |= CLASS_UNIFORM;
    if (ir_guarded(i))
        classes |= CLASS_GUARDED;
    return classes | backend->class_mask(fn, i) | backend->class_mask_more(fn, i);
}

// Returns the masks of all blocks, by BlockId.
static const uint64_t *find_masks(Redundancy *r)
{
    uint64_t *masks = NEW_ARRAY(&r->scratch, uint64_t, r->fn->blocks.n);
    for (uint32_t k = 0; k < r->a->nrpo; k++) {
        BlockId b = r->a->dom.order[k];
        masks[b] = masks[r->a->dom.idom[b]];
        FOR_INSTRS(r->fn, b, id)
            masks[b] |= late_commoning_classes(r->ctx, r->fn, ir_instr(r->fn, id));
    }
    return masks;
}

/* -- The structural test -------------------------------------------------------------------------------- */

// True if a guarded instruction has only undefined old values.
static bool may_be_any(const Fn *fn, const Instr *i)
{
    for (uint32_t k = 0; k < ir_ntied(i); k++)
        if (!op_is_undef(*ir_tied(fn, i, k)))
            return false;
    return ir_guarded(i);
}

// C4.
static bool same_guards(const Redundancy *r, const Instr *a, const Instr *b)
{
    if (may_be_any(r->fn, b) && !ir_guarded(a))
        return true;
    Operand x = ir_condition(r->fn, a), y = ir_condition(r->fn, b);
    return ir_guarded(a) == ir_guarded(b) && x.mods == y.mods &&
           value_number(&r->values, x) == value_number(&r->values, y);
}

// C6 and C7: the definitions have the same positions, kinds, modifiers, files and widths.
static bool same_definitions(const Fn *fn, const Instr *a, const Instr *b)
{
    if (a->ndef != b->ndef || ir_nuse(a) != ir_nuse(b))
        return false;
    for (uint32_t k = 0; k < a->ndef; k++) {
        Operand x = *ir_def(fn, a, k), y = *ir_def(fn, b, k);
        if (op_kind(x) != op_kind(y) || x.mods != y.mods)
            return false;
        if (op_is_reg(x) && (op_file(x) != op_file(y) || width_of_operand(fn, x) != width_of_operand(fn, y)))
            return false;
    }
    return true;
}

// True if a load does not have the value of its leader, so that a move of it, under the guard of the load, takes the
// place of the load.
static bool is_moved(const Redundancy *r, RegId leader, const Instr *i)
{
    for (uint32_t k = 0; k < i->ndef; k++)
        if (value_number(&r->values, *ir_def(r->fn, i, k)) == r->values.of[leader])
            return false;
    return ir_desc(r->fn, i)->traits & TR_READ;
}

// Tests a leader that is the same instruction. Moves and values that were stored are not compared with it.
static Verdict test(Redundancy *r, RegId leader, InstrId id)
{
    const Instr *i = ir_instr(r->fn, id), *other = ir_instr(r->fn, def_of(r->a, leader));
    if (desc_value(r->fn, i) != desc_value(r->fn, other))
        return RV_REPLACED;
    bool moved = is_moved(r, leader, i);
    if (!moved && !same_guards(r, other, i))
        return RV_GUARD;
    if (!i->nops || (!moved && !same_definitions(r->fn, other, i)))
        return RV_OTHER;
    if (other->block == i->block)
        return RV_REPLACED;
    if (!r->masks)
        r->masks = find_masks(r);
    return late_commoning_classes(r->ctx, r->fn, i) & ~r->masks[other->block] ? RV_OTHER : RV_REPLACED;
}

/* -- The phase ------------------------------------------------------------------------------------------ */

static bool passes_gates(Ctx *ctx, const Fn *fn)
{
    enum { DONE = 1 << 1, EXCLUDED = 1 << 3 };
    Knobs *k = &ctx->knobs;
    int64_t bits = knob_int(k, KNOB_LATE_COMMONING_BITS);
    bool forced = knob_is_set(k, KNOB_FORCE_LATE_COMMONING);
    return gate_is_open(ctx, fn, KNOB_GENERAL_OPTIMIZE, forced || knob_int(k, KNOB_GENERAL_OPTIMIZE)) &&
           gate_is_open(ctx, fn, KNOB_LATE_COMMONING, forced || knob_int(k, KNOB_LATE_COMMONING)) &&
           gate_is_open(ctx, fn, KNOB_LATE_COMMONING_BITS, !(bits & (DONE | EXCLUDED)));
}

bool phase_late_commoning(Ctx *ctx, Fn *fn)
{
    if (!passes_gates(ctx, fn) || bundle_is_settled(fn, PH_LATE_COMMONING))
        return false;
    Arena scratch;
    arena_init(&scratch, &ctx->heap);
    CommonRules rules = {.kinds = RD_EXPRESSIONS | RD_PHIS | RD_LOADS | RD_PARTIAL_LOADS,
                         .budget = KNOB_LATE_COMMONING_BUDGET,
                         .kept = opcodes_of_knob(ctx, KNOB_LATE_COMMONING_PER_INSTR, &scratch),
                         .test = test};
    if (!knob_is_set(&ctx->knobs, KNOB_NO_MOVE_COMMONING))
        rules.kinds |= RD_COPIES;
    bool progress = common_values(ctx, fn, &rules);
    arena_free(&scratch);
    bundle_settle(ctx, fn, PH_LATE_COMMONING, progress);
    return progress;
}
