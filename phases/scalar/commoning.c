// SPDX-License-Identifier: MIT
// Replaces an instruction by a dominating one that computes the same values.
//
// Sub-pass: OriCommoning, of the GeneralOptimize bundles. Blocks are walked in the preorder of the dominator tree. A
// set (ir/analysis/instr_set.h) finds equal pure instructions; it compares operands after their replacement. Across
// blocks only expensive instructions are replaced: ptxas finds the others itself, and takes register pressure into
// account (tried).
//
//     R3 = add.s32 R1, R2                         R3 = add.s32 R1, R2
//     R4 = add.s32 R2, R1                    ->   (nothing)
//     R5 = mul.lo.s32 R4, R3                      R5 = mul.lo.s32 R3, R3
//
//     b0: R3 = rem.u32 R1, R2; @P0 bra b1         b0: R3 = rem.u32 R1, R2; @P0 bra b1
//     b1: R4 = rem.u32 R1, R2                ->   b1: ... R3 ...
//
// Must not fire:
//     b1: R3 = rem.u32 R1, R2; b2: R4 = rem.u32 R1, R2      neither dominates the other
//     b0: R3 = add.s32 R1, R2; b1: R4 = add.s32 R1, R2      cheap, and in another block
//     @P0 R3 = add.s32 R1, R2 else R9; R4 = add.s32 R1, R2  R3 is R9 where the guard is false
//     R3 = mov.b32 %clock; R4 = mov.b32 %clock              each read gives a new value
//     R3 = shfl.sync...; R4 = shfl.sync...                  not pure; accesses of memory are not pure either
//     R3 = add.f32 R1, R2; R4 = add.rn.f32 R1, R2           not the same instruction
//     R3 = mov.undef; R4 = mov.undef                        two values
//     R3 = shl.b64 R1, 4; R4 = add.s64 R0, R3;              ptxas makes LEA of each shift with its sum; a shared shift
//     R5 = shl.b64 R1, 4; R6 = add.s64 R2, R5               costs two more, and each sum two again (19 -> 21)
//
// Equal products (mul.wide) are replaced even if only sums use them: otherwise 8 of 725 functions have 25 SASS
// instructions more, and 9 have 13 fewer (tried).
//
// After OriReassociateAndCommon, ReassociateCSEWindow limits the distance of two instructions of a block: it counts the
// values that this phase visits from one to the other.
//
// Does not do: loads; values that are equal for another reason (GvnCse); hoisting (56).
// Documented: the name. Inferred: the rest.
#include "ir/analysis/instr_set.h"
#include "ir/rewrite/rewrite.h"
#include "phases/bodies.h"

typedef struct Commoning {
    Fn *fn;
    const Analyses *a;
    Arena scratch;
    ReplaceMap map;
    InstrSet set;         // for each key the instruction that the walk visited last
    uint8_t *other_uses;  // by RegId: it has a use that is no 64-bit sum; NULL = not computed yet
    bool guards;          // a predicate was replaced
    uint32_t window;      // maximum distance of instructions of a block; 0 = any
    uint32_t visited;     // number of values so far
    uint32_t *place;      // by InstrId: `visited` at the instruction, with a window
} Commoning;

static bool is_fresh_register(Operand o) { return op_kind(o) == K_SREG && sreg_info[op_index(o)].fresh; }

static bool in_ssa(const Fn *fn, Operand o) { return op_file(o) != RF_CC && reg_in_ssa(ir_reg(fn, op_index(o))); }

// True if equal instructions with equal operands compute equal values.
static bool is_value(const Fn *fn, const Instr *i)
{
    const Desc *d = ir_desc(fn, i);
    if (!(d->traits & TR_PURE) || d->traits & TR_PSEUDO || !i->ndef || i->flags & (IF_GUARDED | IF_PINNED))
        return false;
    if (d->op == OP_MOV && op_kind(*ir_use(fn, i, 0)) != K_SREG)
        return false;  // a copy
    for (uint32_t k = 0; k < i->nops; k++) {
        Operand o = ir_ops(fn, i)[k];
        bool known = op_is_reg(o) ? in_ssa(fn, o) : k >= i->ndef;
        if (!known || op_is_undef(o) || is_fresh_register(o))
            return false;
    }
    return true;
}

static Operand replacement(const void *map, Operand o) { return replace_find(map, o); }

// True if ptxas makes many machine instructions for it.
static bool is_expensive(const Fn *fn, const Instr *i)
{
    const Desc *d = ir_desc(fn, i);
    const Mnem *m = tab_mnem(fn->tables, d->mnem);
    switch (d->op) {
    case OP_DIV:
    case OP_REM:
    case OP_RCP:
    case OP_SQRT: return true;
    case OP_MUL_HI: return type_info[m->type[0]].width == W64;
    default: return false;
    }
}

// True if the definitions of `representative` may replace those of the equal instruction `i`.
// `far`: they are beyond the window if they are in one block.
static bool may_replace(const Commoning *c, const Instr *representative, const Instr *i, bool far)
{
    const Fn *fn = c->fn;
    bool here = representative->block == i->block, near = here || is_expensive(fn, i);
    if (!near || (here && far) || !dominates(c->a, representative->block, i->block))
        return false;
    for (uint32_t k = 0; k < i->ndef; k++)
        if (!replace_allowed(fn, op_index(*ir_def(fn, i, k)), op_reg(fn, op_index(*ir_def(fn, representative, k)))))
            return false;
    return true;
}

/* -- Scaled sums ---------------------------------------------------------------------------------------- */

static bool is_wide_sum(const Fn *fn, const Instr *i)
{
    const Desc *d = ir_desc(fn, i);
    Type type = (Type)tab_mnem(fn->tables, d->mnem)->type[0];
    return d->op == OP_ADD && (type == TY_S64 || type == TY_U64);
}

static void find_other_uses(Commoning *c)
{
    const Fn *fn = c->fn;
    c->other_uses = NEW_ARRAY(&c->scratch, uint8_t, fn->regs.n);
    FOR_BLOCKS(fn, b) {
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            const Operand *ops = ir_ops(fn, i);
            bool sum = is_wide_sum(fn, i);
            for (uint32_t k = i->ndef; k < i->nops; k++)
                if (op_is_reg(ops[k]) && !sum)
                    c->other_uses[op_index(ops[k])] = true;
        }
    }
}

// True if the instruction is a 64-bit shift by a constant that only 64-bit sums use.
static bool scales(Commoning *c, const Instr *i)
{
    const Desc *d = ir_desc(c->fn, i);
    if (d->op != OP_SHL || op_kind(*ir_use(c->fn, i, 1)) != K_IMM ||
        ir_reg(c->fn, op_index(*ir_def(c->fn, i, 0)))->width != W64)
        return false;
    if (!c->other_uses)
        find_other_uses(c);
    return !c->other_uses[op_index(*ir_def(c->fn, i, 0))];
}

static void visit(Commoning *c, InstrId id)
{
    Fn *fn = c->fn;
    const Instr *i = ir_instr(fn, id);
    if (!is_value(fn, i))
        return;
    InstrId *member = instr_set_at(&c->set, id);
    const Instr *representative = ir_instr(fn, *member);
    if (c->window)
        c->place[id] = ++c->visited;
    bool far = c->window && *member && c->visited - c->place[*member] > c->window;
    if (*member && scales(c, i) && scales(c, representative))
        return;
    if (!*member || !may_replace(c, representative, i, far)) {
        *member = id;
        return;
    }
    for (uint32_t k = 0; k < i->ndef; k++) {
        Operand def = *ir_def(fn, i, k);
        replace_set(&c->map, op_index(def), op_reg(fn, op_index(*ir_def(fn, representative, k))));
        c->guards |= ir_reg(fn, op_index(def))->width == W1;
    }
}

bool phase_commoning(Ctx *ctx, Fn *fn)
{
    Commoning c = {.fn = fn, .a = analysis_need(fn, AN_RPO | AN_DOM)};
    arena_init(&c.scratch, &ctx->heap);
    if (ctx->run.slot == PH_REASSOCIATE) {
        c.window = (uint32_t)knob_int(&ctx->knobs, KNOB_REASSOCIATE_WINDOW);
        c.place = NEW_ARRAY(&c.scratch, uint32_t, fn->instrs.n);
    }
    replace_begin(&c.map, fn);
    instr_set_init(&c.set, &c.scratch, fn, replacement, &c.map);
    for (uint32_t k = 0; k < c.a->nrpo; k++)
        FOR_INSTRS(fn, c.a->dom.order[k], id)
            visit(&c, id);
    bool progress = replace_apply(&c.map);
    arena_free(&c.scratch);
    if (!c.guards)
        phase_changes_only(ctx, CHANGE_USES);
    return progress;
}
