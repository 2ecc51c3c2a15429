// SPDX-License-Identifier: MIT
// Replaces uses of copies by the source of the copy.
//
// Sub-pass: OriCopyProp, of the GeneralOptimize bundles. One walk in layout order follows each use through copies, to
// the last available source that its slot takes. A copy of a copy takes one step, since the use in the second copy was
// rewritten before. In ssa form a source is available wherever its copy is. In multi form a source is available if it
// has one definition, which dominates the use, and the copy is the only definition that the use reads (AN_DEF). Within
// a block, a source is also available if neither register was written since the copy. Copies are those of
// ir/analysis/copies.c, guarded ones included: moves, `not` of a predicate, conversions between equal integer types,
// and parts of packed values. A symbol replaces the register with its address as the base of memory operands that take
// symbols. Dead code removal deletes copies without uses.
//
//     R2 = mov.b32 R1                             R2 = mov.b32 R1
//     R3 = add.s32 R2, 1                     ->   R3 = add.s32 R1, 1
//
//     P2 = not.pred P1; @P2 bra b2 else b3         ->   ...; @!P1 bra b2 else b3
//     R3 = mov.b64 {R1, R2}; {R4, R5} = mov.b64 R3      ...; R1 replaces R4
//     R1 = mov.b64 @x; R2 = ld.shared.b32 [R1+4]        ...; R2 = ld.shared.b32 [@x+4]
//     @P0 R2 = mov.b32 R1 else R9; @P0 st [R8], R2      ...; @P0 st [R8], R1
//     P1|P2 = setp.lt.s32 R1, R2; @P2 bra b2 else b3    ...; @!P1 bra b2 else b3
//
// Must not fire:
//     R2 = mov.b32 R1; R1 = mov.b32 5; st [R8], R2      R1 has another value at the store
//     @P0 R2 = mov.b32 R1 else R9; st [R8], R2          the store is not under the guard
//     R2 = mov.b32 R1 where R1 or R2 is pinned          an instruction that is not modelled may write it in between
//     @P0 R2 = mov.b32 R1; @P0 st [R8], R2              the same, if P0 is pinned
//     R2:16 = cvt.u8.u8 R1                              the conversion clears the upper half
//     P1|P2 = setp.lt.and.s32 R1, R2, P0; @P2 bra b2    P1 and P2 are both false where P0 is
//     P1|P2 = setp.lt.f16x2 R1, R2; @P2 bra b2          P2 is the result of the upper halves
//     R1 = mov.b64 @x; R2 = ld.b32 [R1]                 the symbol is no generic address
//     R2 = mov.b32 undef                                each use would have a different value
//     b1: R3 = mov.b64 {R1, R2}; b2: {R4, R5} = mov.b64 R3     R1 would live on beside R3
//     R2 = mov.b32 5; R4 = mov.phi b1: R2, b2: R3       leaving ssa form would insert the move again
//
// The second result of a comparison is replaced by the complement of the first in 65 only, in ssa form (knob
// LateCopyPropComplPred).
//
// Does not do: selects of equal values (folding); phis of one value (62); in multi form, sources that have several
// definitions, beyond their block.
// Documented: the name, that moves and guarded moves are propagated, the budgets. Inferred: the rest.
#include "ir/rewrite/rewrite.h"
#include "phases/bodies.h"

// A copy in the current block, in multi form.
typedef struct LocalCopy {
    InstrId instr;
    uint32_t at;  // its time on the clock of the walk
} LocalCopy;

typedef struct CopyProp {
    Ctx *ctx;
    Fn *fn;
    const Analyses *a;
    Arena scratch;
    uint32_t now, block_start;  // the clock: counts instructions
    uint32_t *written;          // by RegId: time of the last write
    LocalCopy *local;           // by RegId
    bool progress;
    bool complements;  // of comparisons with two results
    bool only_moves;   // no use was replaced except by the source of a plain move
} CopyProp;

/* -- Available sources ---------------------------------------------------------------------------------- */

static bool guarded_alike(const Fn *fn, const Instr *a, const Instr *b)
{
    return ir_guarded(a) && ir_guarded(b) && op_same(*ir_guard(fn, a), *ir_guard(fn, b));
}

// True if the copy is unguarded, or if `use` reads operand k only under the same guard.
static bool passes_guard(const CopyProp *c, InstrId copy, InstrId use, uint32_t k)
{
    const Fn *fn = c->fn;
    const Instr *i = ir_instr(fn, copy), *user = ir_instr(fn, use);
    if (!ir_guarded(i))
        return true;
    // The guard itself is always used, also if it is false.
    bool is_use = k < user->ndef + ir_nuse(user);
    RegId guard = op_index(*ir_guard(fn, i));
    return is_use && guarded_alike(fn, i, user) &&
           (fn->form == FORM_MULTI ? reg_in_ssa(ir_reg(fn, guard)) : def_of(c->a, guard));
}

// True if no register of the last definition of r in the current block was written since (multi form).
static bool is_fresh(const CopyProp *c, RegId r)
{
    const LocalCopy *copy = &c->local[r];
    const Instr *i = ir_instr(c->fn, copy->instr);
    if (copy->at <= c->block_start || c->written[r] != copy->at)
        return false;
    for (uint32_t k = i->ndef; k < i->nops; k++) {
        Operand o = ir_ops(c->fn, i)[k];
        if (op_is_reg(o) && c->written[op_index(o)] >= copy->at)
            return false;
    }
    return true;
}

// True if a copy reads a part of a packed value that was packed in another block. The packed value holds the part
// anyway, in a register of its own, so a longer live range of the part costs a register and often a move.
static bool is_distant_part(const CopyProp *c, const Instr *copy)
{
    if (ir_desc(c->fn, copy)->op != OP_UNPACK)
        return false;
    InstrId pack = def_of(c->a, op_index(copy_source(c->fn, c->a, *ir_use(c->fn, copy, 0))));
    return pack && ir_instr(c->fn, pack)->block != copy->block;
}

// Returns !p for the second result q of a comparison p|q without a boolean operand, else K_NONE. The results of a
// comparison of packed values are those of its halves.
static Operand complement_of(const CopyProp *c, const Instr *i, RegId r)
{
    const Fn *fn = c->fn;
    if (ir_desc(fn, i)->op != OP_SETP || i->ndef != 2 || ir_nuse(i) != 2 || i->flags & IF_PINNED)
        return op_none();
    Type type = (Type)tab_mnem(fn->tables, ir_desc(fn, i)->mnem)->type[0];
    Operand first = *ir_def(fn, i, 0), second = *ir_def(fn, i, 1);
    if (type == TY_F16X2 || type == TY_BF16X2 || !op_is_reg(first) || !op_is_reg(second) || op_index(second) != r ||
        op_file(first) != op_file(second))
        return op_none();
    Operand complement = op_reg(fn, op_index(first));
    complement.mods = OPM_NOT;
    return complement;
}

// Returns the source of the copy that defines `o` if it is available at `id`, else K_NONE.
static Operand step_back(const CopyProp *c, InstrId id, uint32_t k, Operand o, InstrId *copy)
{
    const Fn *fn = c->fn;
    Operand bare = {o.word, o.mods & ~(uint32_t)OPM_NOT};
    if (!op_in_ssa(fn, bare))
        return op_none();
    RegId r = op_index(o);
    bool local = fn->form == FORM_MULTI && is_fresh(c, r);
    *copy = local ? c->local[r].instr : def_of(c->a, r);
    if (!*copy || !passes_guard(c, *copy, id, k))
        return op_none();
    if (!local && fn->form == FORM_MULTI && ir_guarded(ir_instr(fn, *copy)))
        return op_none();
    Operand from = copy_of_any(fn, c->a, *copy, r);
    if (op_kind(from) == K_NONE && c->complements)
        from = complement_of(c, ir_instr(fn, *copy), r);
    if (op_kind(from) == K_NONE || (op_is_reg(from) && !local && !def_of(c->a, op_index(from))))
        return op_none();
    if (op_is_reg(from) && is_distant_part(c, ir_instr(fn, *copy)))
        return op_none();
    uint32_t negate = o.mods & OPM_NOT;
    if (op_kind(from) == K_IMM && negate)
        return op_const(c->fn, !tab_const(fn->tables, op_index(from)).bits, W1);
    return (Operand){from.word, from.mods ^ negate};
}

/* -- Rewriting ------------------------------------------------------------------------------------------ */

// Spends one unit of each budget for a rewrite. False: a budget is used up.
static bool may_rewrite(CopyProp *c, InstrId id, InstrId copy)
{
    Knobs *knobs = &c->ctx->knobs;
    bool global = ir_instr(c->fn, id)->block != ir_instr(c->fn, copy)->block;
    if (knob_left(knobs, KNOB_COPY_PROP_BUDGET) <= 0 || (global && knob_left(knobs, KNOB_COPY_PROP_GLOBAL_BUDGET) <= 0))
        return false;
    knob_spend(knobs, KNOB_COPY_PROP_BUDGET);
    return !global || knob_spend(knobs, KNOB_COPY_PROP_GLOBAL_BUDGET);
}

// Replaces the base of an access that names its space by a symbol, if the base is the address of the symbol; returns
// progress.
static bool take_symbol(CopyProp *c, InstrId id, uint32_t k)
{
    Fn *fn = c->fn;
    const Instr *i = ir_instr(fn, id);
    const Desc *d = ir_desc(fn, i);
    Operand *base = ir_ops(fn, i) + k, *offset = base + 1;
    bool memory = d->traits & (TR_READ | TR_WRITE) && op_info[d->op].ntypes != OP_RAW && d->op != OP_CALL &&
                  !(d->traits & TR_ORDERED) && k < d->nops && operand_is_base(fn, d, k);
    if (!memory || !op_in_ssa(fn, *base) || op_kind(*offset) != K_IMM)
        return false;
    InstrId from = def_of(c->a, op_index(*base));
    if (!from)
        return false;
    const Instr *address = ir_instr(fn, from);
    if (ir_desc(fn, address)->op != OP_ADDR || ir_guarded(address) || op_kind(*ir_use(fn, address, 0)) != K_SYM)
        return false;
    Operand symbol = *ir_use(fn, address, 0);
    const Sym *s = ir_sym(fn, op_index(symbol));
    Space space = mod_space((Mod)tab_mnem(fn->tables, d->mnem)->mod[MC_SPACE]);
    int64_t sum;
    bool overflow =
        __builtin_add_overflow(const_signed(tab_const(fn->tables, op_index(*offset))),
                               const_signed(tab_const(fn->tables, op_index(*ir_use(fn, address, 1)))), &sum);
    bool named = s->space == SP_SHARED || s->space == SP_LOCAL || s->space == SP_GLOBAL || s->space == SP_CONST;
    bool fits = s->kind == SYM_VAR && named && space_contains(space, (Space)s->space);
    // The sum must lie in the symbol, since a 32-bit register plus an offset wraps differently from a symbol.
    if (overflow || sum < 0 || (uint64_t)sum >= MAX(s->size, 1u) || !fits || !may_rewrite(c, id, from))
        return false;
    nuses_count(fn, *base, -1);
    *base = symbol;
    *offset = op_const(fn, (uint64_t)sum, W64);
    return true;
}

// True if a constant may replace an operand whose slot takes constants. For an input of a phi, leaving ssa form would
// insert the move again.
static bool may_be_constant(const Fn *fn, const Instr *i) { return ir_desc(fn, i)->op != OP_PHI; }

static void rewrite_use(CopyProp *c, InstrId id, uint32_t k)
{
    const Instr *i = ir_instr(c->fn, id);
    Operand now = ir_ops(c->fn, i)[k], was = now, best = now;
    InstrId copy, last = 0;
    for (int n = 0; n < COPY_CHAIN; n++) {
        now = step_back(c, id, k, now, &copy);
        if (op_kind(now) == K_NONE)
            break;
        Operand fitted = now;
        if (fit_operand(c->fn, i, k, &fitted) && (op_is_reg(now) || may_be_constant(c->fn, i))) {
            best = fitted;
            last = copy;
        }
    }
    // In unreachable blocks copies may form a cycle, so the source may be the operand itself.
    if (last && !op_same(best, was) && may_rewrite(c, id, last)) {
        record_cost(c->ctx, c->fn, id);
        nuses_count(c->fn, was, -1);
        nuses_count(c->fn, best, 1);
        ir_ops(c->fn, ir_instr(c->fn, id))[k] = best;
        c->progress = true;
        if (ir_desc(c->fn, ir_instr(c->fn, last))->op != OP_MOV || ir_guarded(ir_instr(c->fn, last)))
            c->only_moves = false;
    }
    if (op_is_reg(ir_ops(c->fn, ir_instr(c->fn, id))[k]))
        c->progress |= take_symbol(c, id, k);
}

// Records the writes of an instruction, in multi form.
static void record_writes(CopyProp *c, InstrId id)
{
    const Fn *fn = c->fn;
    const Instr *i = ir_instr(fn, id);
    c->now++;
    for (uint32_t k = 0; k < i->ndef; k++) {
        Operand def = *ir_def(fn, i, k);
        if (!op_is_reg(def))
            continue;
        c->written[op_index(def)] = c->now;
        c->local[op_index(def)] = (LocalCopy){id, c->now};
    }
}

static bool is_old_value(const Instr *i, uint32_t k)
{
    uint32_t first = i->ndef + ir_nuse(i);
    return k >= first && k < first + ir_ntied(i);
}

bool phase_copy_prop(Ctx *ctx, Fn *fn)
{
    CopyProp c = {.ctx = ctx, .fn = fn, .a = analysis_need(fn, AN_DEF), .only_moves = true};
    prepare_costs(ctx, fn);
    bool multi = fn->form == FORM_MULTI;
    c.complements = !multi && ctx->run.slot == PH_GENERAL_OPTIMIZE_LATE2 && knob_int(&ctx->knobs, KNOB_COPY_PROP_COMPL);
    arena_init(&c.scratch, &ctx->heap);
    if (multi) {
        c.written = NEW_ARRAY(&c.scratch, uint32_t, fn->regs.n);
        c.local = NEW_ARRAY(&c.scratch, LocalCopy, fn->regs.n);
    }
    FOR_BLOCKS(fn, b) {
        c.block_start = c.now;
        FOR_INSTRS(fn, b, id) {
            // The guard comes first: the other uses may read guarded copies only under the same guard.
            const Instr *i = ir_instr(fn, id);
            for (uint32_t k = ir_guarded(i) ? i->nops - 1 : i->ndef, n = i->nops - i->ndef; n; n--) {
                if (op_is_reg(ir_ops(fn, i)[k]) && !is_old_value(i, k))
                    rewrite_use(&c, id, k);
                k = k == i->nops - 1 ? i->ndef : k + 1;
            }
            if (multi)
                record_writes(&c, id);
        }
    }
    arena_free(&c.scratch);
    if (c.only_moves)
        phase_changes_only(ctx, CHANGE_COPIES);
    return c.progress;
}
