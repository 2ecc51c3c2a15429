// SPDX-License-Identifier: MIT
// Folds phis that a comparison decides: the rule phi-minimum of fold_rules.def.
//
// A branch compares two integers, and leads to a phi on both ways, over nothing but moves. If the inputs of the phi are
// the compared values, the phi is the lesser or the greater of them, so a min or max takes its place. OriBranchOpt
// removes the branch if no other phi is left.
//
//     b0: P0 = setp.lt.s32 R1, R2; @P0 bra b2 else b1       b0: P0 = setp.lt.s32 R1, R2; @P0 bra b2 else b1
//     b1: bra b2                                       ->   b1: bra b2
//     b2: R3 = mov.phi b0: R1, b1: R2                       b2: R3 = min.s32 R1, R2
//
// An input may be the next constant: `x < 5 ? x : 4` is min(x, 4), and so is `x <= 3 ? x : 4`.
//
// Must not fire:
//     P0 = setp.lt.f32 R1, R2                     NaN, and zeros with different signs
//     P0 = setp.lt.and.s32 R1, R2, P1             not only the comparison decides
//     R3 = mov.phi b0: R1, b1: R4                 another value
//     b1: st ...; bra b2                          the branch stays, and both values would be kept for the phi
//     b1, reached from another block, too         the branch does not decide the input
//     b2: .pragma "nounroll"                      no instruction is allowed before an annotation for ptxas
#include "phases/scalar/fold/fold.h"

enum { MOVES_MAX = 8 };  // in an arm of the branch

// The comparison of a branch: its predicate is true if value[0] is less than value[1], or equal and not `strict`.
typedef struct Order {
    Operand value[2];
    bool strict;
    Type type;
} Order;

/* -- The comparison ------------------------------------------------------------------------------------- */

static bool has_only_moves(const Fn *fn, BlockId b)
{
    InstrId last = ir_terminator(fn, b), id = ir_block(fn, b)->first;
    for (int n = 0; id != last && n < MOVES_MAX; n++, id = ir_instr(fn, id)->next) {
        const Instr *i = ir_instr(fn, id);
        if (ir_desc(fn, i)->op != OP_MOV || ir_guarded(i) || i->flags & IF_PINNED)
            return false;
    }
    return id == last;
}

// Returns the branch that leads to a block over its predecessor `from`, and the truth of its predicate on that way; 0 =
// there is none.
static InstrId branch_over(const Fold *f, BlockId from, BlockId to, bool *holds)
{
    InstrId branch = edge_condition(f->fn, from, to, holds);
    return branch || !has_only_moves(f->fn, from) ? branch : dominating_condition(f->fn, f->a, from, holds);
}

// Describes the comparison of a branch. False: it does not order two integers.
static bool describe(const Fold *f, InstrId branch, Order *order)
{
    const Fn *fn = f->fn;
    Operand guard = op_reg(fn, op_index(*ir_guard(fn, ir_instr(fn, branch))));
    InstrId def = def_of_operand(f, copied_from(f, guard));
    const Instr *i = def ? ir_instr(fn, def) : NULL;
    if (!i || ir_desc(fn, i)->op != OP_SETP || i->ndef != 1 || i->nops != 3)
        return false;
    const Mnem *m = tab_mnem(fn->tables, ir_desc(fn, i)->mnem);
    Mod compare = (Mod)m->mod[MC_CMP];
    bool lt = compare == MOD_LT || compare == MOD_LO, gt = compare == MOD_GT || compare == MOD_HI;
    bool le = compare == MOD_LE || compare == MOD_LS, ge = compare == MOD_GE || compare == MOD_HS;
    *order = (Order){.strict = lt || gt, .type = (Type)m->type[0]};
    for (uint32_t k = 0; k < 2; k++)
        order->value[k] = copied_from(f, *ir_use(fn, i, (gt || ge) ? 1 - k : k));
    TypeClass class = type_info[order->type].class;
    return (lt || gt || le || ge) && (class == TC_S || class == TC_U);
}

// Finds the branch that decides between the two ways into a block, and describes its comparison; false = there is none.
// from[1]: the predecessor on the way on which the comparison is true, from[0]: the other one.
static bool find_branch(const Fold *f, BlockId b, Order *order, BlockId from[static 2])
{
    if (pred_count(f->a, b) != 2)
        return false;
    const BlockId *pred = f->a->preds.at + f->a->preds.first[b];
    bool holds, other;
    InstrId branch = branch_over(f, pred[0], b, &holds);
    if (!branch || branch_over(f, pred[1], b, &other) != branch || holds == other || !describe(f, branch, order))
        return false;
    from[holds] = pred[0];
    from[other] = pred[1];
    return true;
}

/* -- Phis ----------------------------------------------------------------------------------------------- */

// True for a compared value, and for a constant that orders all integers in the same way as this compared constant.
static bool is_bound(const Fold *f, const Order *order, uint32_t k, Operand input)
{
    Operand value = order->value[k];
    if (op_same(value, input))
        return is_bare_constant(input) || (is_plain_register(f, input) && op_file(input) == RF_R);
    if (!is_bare_constant(value) || !is_bare_constant(input))
        return false;
    uint32_t width = width_bits(type_info[order->type].width);
    uint64_t ones = UINT64_MAX >> (64 - width);
    uint64_t sign = type_info[order->type].class == TC_S ? 1ull << (width - 1) : 0;
    // With the sign bit flipped, signed numbers are in the order of unsigned ones.
    uint64_t from = (bits_of_constant(f->fn, value) ^ sign) & ones, to = (bits_of_constant(f->fn, input) ^ sign) & ones;
    return order->strict == (k == 1) ? from != 0 && to == from - 1 : from != ones && to == from + 1;
}

static void fold_phi(Fold *f, InstrId id, const Order *order, const BlockId from[static 2])
{
    Fn *fn = f->fn;
    const Instr *i = ir_instr(fn, id);
    Operand def = *ir_def(fn, i, 0), x = copied_from(f, *ir_use(fn, i, phi_input(fn, i, from[1]))),
            y = copied_from(f, *ir_use(fn, i, phi_input(fn, i, from[0])));
    bool is_min = is_bound(f, order, 0, x) && is_bound(f, order, 1, y);
    bool is_max = is_bound(f, order, 1, x) && is_bound(f, order, 0, y);
    uint32_t rule = coded_rule(CODED_PHI), line = i->line;
    BlockId b = i->block;
    if (is_min == is_max || ir_reg(fn, op_index(def))->width != type_info[order->type].width || op_file(def) != RF_R ||
        !may_apply(f, rule))
        return;
    Operand ops[] = {def, op_is_reg(x) ? x : y, op_is_reg(x) ? y : x};
    DescId desc = desc_make(fn->tables, is_min ? OP_MIN : OP_MAX, order->type);
    fold_begin_rule(f, rule, id);
    nuses_count_instr(fn, i, -1);
    ir_remove(fn, id);
    id = ir_insert_before(fn, first_non_phi(fn, b), desc, 0, ops, 3);
    ir_instr(fn, id)->line = line;
    nuses_count_instr(fn, ir_instr(fn, id), 1);
    fold_note_definition(f, id);
}

void fold_phis(Fold *f, BlockId b)
{
    Fn *fn = f->fn;
    Order order;
    BlockId from[2];
    InstrId end = first_non_phi(fn, b);
    if (end == ir_block(fn, b)->first || ir_desc(fn, ir_instr(fn, end))->traits & TR_MARKER ||
        !find_branch(f, b, &order, from))
        return;
    for (InstrId id = ir_block(fn, b)->first, next; ir_is_phi(fn, id); id = next) {
        next = ir_instr(fn, id)->next;
        fold_phi(f, id, &order, from);
    }
}
