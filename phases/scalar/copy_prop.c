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
//     R2 = mov.phi b1: 7, b2: 7; R3 = add.s32 R1, R2    ...; R3 = add.s32 R1, 7
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
//     R2 = mov.b32 R1; call @f; st [R8], R2             with CopyPropPreAllocReg, if R1 is named: the call may write it
//     R2 = mov.b32 5; R4 = mov.phi b1: R2, b2: R3       leaving ssa form would insert the move again
//     R2 = mov.b32 -1; R4 = redux.sync.add.s32 R3, R2   a mask of lanes stays in its register (below)
//
// The second result of a comparison is replaced by the complement of the first in 65 only, in ssa form (knob
// LateCopyPropComplPred).
//
// A constant replaces a use that several definitions reach if all of them move this constant: in ssa form through phis,
// in multi form through reaching definitions (constant_values.c). In multi form such constants may enable more copies
// and more constants, so the walk is repeated, ROUNDS times at most, to keep the time linear.
//
// ptxas adds a second copy of a chain of collectives for lanes that come one by one, and which chains get one depends
// on whether it has the mask from the start. With masks as immediates, ggml's mul_mat_vec_f (60 shfl.sync in 12 chains)
// has 732 SASS instructions instead of 685, and 84 of its 352 instances are larger than what nvcc made. Of 2,167
// functions of nvcc -O3, 181 have 7,854 instructions less with masks in registers, 225 have 751 more, in code that
// seldom runs.
//
// Knobs, beside the budgets:
//   CopyPropForceGlobal           CopyPropGlobalBudget, for rewrites in another block than the copy, does not count
//   CopyPropUseReachingDefs = 0   in multi form only registers with one definition, so no guarded copies
//   CopyPropAddr = 0              no symbols in accesses
//   CopyPropConstantBank = 0      no symbols of .const in accesses
//   CopyPropPreAllocReg           also copies of named registers, within a block
//   CopyPropNoWriteNonRR          registers only: no constants, no symbols
//   CopyPropNonRegMultiDef = 0    no constants of several definitions
//   CopyPropNoMmaCb               no registers that were loaded from a constant bank in mma and wmma.mma
//
// No slot of this IR takes a constant bank (K_BANK, `c[1]`), so no move copies one, and no operand of a matrix
// instruction takes a constant or a symbol. Constant banks hold .const and the parameters of kernels. So symbols of
// .const and values loaded from these spaces stand for references to banks.
//
// Remark: CopyKept, about a use that still names a copy: its guard may be false, its source may be redefined, it clears
// upper bits, a register is pinned, or a budget is used up. A second walk finds them, if remarks are wanted.
//
// Does not do: selects of equal values (folding); phis of one register (62); in multi form, registers that have several
// definitions, beyond their block.
// Documented: the name, that moves and guarded moves are propagated, the budgets, the names of the knobs with a phrase
// for each. Inferred: the rest, and what exactly each knob turns off.
#include "ir/rewrite/rewrite.h"
#include "phases/bodies.h"
#include "phases/manager/remarks.h"
#include "phases/scalar/constant_values.h"

enum { ROUNDS = 4 };  // of joined constants

// A copy in the current block, in multi form.
typedef struct LocalCopy {
    InstrId instr;
    uint32_t at;  // its time on the clock of the walk
} LocalCopy;

// An operand of an instruction.
typedef struct Use {
    InstrId instr;
    uint32_t op;
} Use;

typedef struct CopyProp {
    Ctx *ctx;
    Fn *fn;
    const Analyses *a;
    Arena scratch;
    uint32_t now, block_start;  // the clock: counts instructions
    uint32_t *written;          // by RegId: time of the last write; NULL = writes are not recorded
    LocalCopy *local;           // by RegId
    VEC(Use) refused;           // uses that a budget kept, in the order of the walk; only if remarks are wanted
    ConstantPhis *phis;         // NULL: constants of phis are not propagated
    const bool *named;          // by RegId: a named register whose copies are propagated; NULL = there are none
    bool *no_copy;              // by RegId: its last definition in the layout so far is no copy; the sink is 0
    uint32_t called;            // time of the last instruction that may write named registers
    bool progress;
    bool follows;         // a copy is available up to the next write of its registers, in its block
    bool complements;     // of comparisons with two results
    bool only_moves;      // no use was replaced except by the source of a plain move
    bool symbols;         // into accesses
    bool only_registers;  // no constants and symbols
    bool multi_def;       // constants of several definitions
    bool no_bank_in_mma;  // no registers that were loaded from a constant bank into mma
} CopyProp;

// Returns an operand, negated if `negate` is OPM_NOT.
static Operand negated_by(Fn *fn, Operand o, uint32_t negate)
{
    if (op_kind(o) == K_IMM && negate)
        return op_const(fn, !tab_const(fn->tables, op_index(o)).bits, W1);
    return (Operand){o.word, o.mods ^ negate};
}

/* -- Available sources ---------------------------------------------------------------------------------- */

static bool guarded_alike(const Fn *fn, const Instr *a, const Instr *b)
{
    return ir_guarded(a) && ir_guarded(b) && op_same(*ir_guard(fn, a), *ir_guard(fn, b));
}

// True if `use` reads operand k only under the guard of the copy.
static bool passes_guard(const CopyProp *c, const Instr *i, InstrId use, uint32_t k)
{
    const Fn *fn = c->fn;
    const Instr *user = ir_instr(fn, use);
    // The guard itself is always used, also if it is false.
    bool is_use = k < user->ndef + ir_nuse(user);
    RegId guard = op_index(*ir_guard(fn, i));
    return is_use && guarded_alike(fn, i, user) &&
           (fn->form == FORM_MULTI ? reg_in_ssa(ir_reg(fn, guard)) : def_of(c->a, guard));
}

static bool is_named(const CopyProp *c, RegId r) { return c->named && c->named[r]; }

// True if copies of the register are propagated.
static inline bool is_followed(const CopyProp *c, RegId r) { return reg_in_ssa(ir_reg(c->fn, r)) || is_named(c, r); }

// Returns the time at which a register was last written, as far as the walk has come.
static uint32_t last_write(const CopyProp *c, RegId r)
{
    return is_named(c, r) ? MAX(c->written[r], c->called) : c->written[r];
}

// True if no register of the last definition of r in the current block was written since.
static bool is_fresh(const CopyProp *c, RegId r)
{
    const LocalCopy *copy = &c->local[r];
    const Instr *i = ir_instr(c->fn, copy->instr);
    if (copy->at <= c->block_start || last_write(c, r) != copy->at)
        return false;
    for (uint32_t k = i->ndef; k < i->nops; k++) {
        Operand o = ir_ops(c->fn, i)[k];
        if (op_is_reg(o) && last_write(c, op_index(o)) >= copy->at)
            return false;
    }
    return true;
}

// True for an instruction that reads a part of a value that was packed in another block. The packed value holds the
// part anyway, in a register of its own, so a longer live range of the part costs a register and often a move.
static bool is_distant_part(const CopyProp *c, const Instr *copy, Operand part)
{
    const Fn *fn = c->fn;
    Opcode op = ir_desc(fn, copy)->op;
    if (op == OP_CVT && op_same(copy_source(fn, c->a, *ir_use(fn, copy, 0)), part))
        return false;
    InstrId from = def_of(c->a, op_index(copy_source(fn, c->a, *ir_use(fn, copy, 0))));
    if (op == OP_CVT && from && ir_desc(fn, ir_instr(fn, from))->op == OP_SHR)
        from = def_of(c->a, op_index(copy_source(fn, c->a, *ir_use(fn, ir_instr(fn, from), 0))));
    return from && ir_instr(fn, from)->block != copy->block;
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

// Returns the named register that a move copies, else K_NONE.
static Operand named_source(const CopyProp *c, const Instr *i)
{
    Operand from = copy_of_register(c->fn, i);
    return op_is_reg(from) && is_named(c, op_index(from)) ? from : op_none();
}

// Returns the source of a copy that defines r if the source is available at each use of r, else K_NONE. `local`: only
// up to the next write of a register of the copy.
static Operand source_of(const CopyProp *c, InstrId copy, RegId r, bool local)
{
    const Fn *fn = c->fn;
    const Instr *i = ir_instr(fn, copy);
    Opcode op = ir_desc(fn, i)->op;
    Operand from = op_none();
    if (!local && fn->form == FORM_MULTI && ir_guarded(i))
        return from;
    if (may_copy(op))
        from = copy_of_any(fn, c->a, copy, r);
    else if (op == OP_PHI && c->phis)
        from = constant_of_phi(c->phis, r);
    else if (op == OP_SETP && c->complements)
        from = complement_of(c, i, r);
    if (op_kind(from) == K_NONE && local && c->named)
        from = named_source(c, i);
    if (!op_is_reg(from))
        return from;
    bool available = (local && op != OP_SETP) || def_of(c->a, op_index(from));
    return available && !((op == OP_UNPACK || op == OP_CVT) && is_distant_part(c, i, from)) ? from : op_none();
}

// Returns the constant that a register is whether or not the guard of its definition is true, else K_NONE.
static Operand unguarded_constant(const CopyProp *c, RegId r)
{
    if (!c->multi_def || c->fn->form == FORM_MULTI)
        return op_none();
    Operand source = constant_source(c->fn, c->a, op_reg(c->fn, r));
    return op_is_const(source) ? source : op_none();
}

// Returns the source of the copy that defines `o` if it is available at `id`, else K_NONE.
static Operand step_back(const CopyProp *c, InstrId id, uint32_t k, Operand o, InstrId *copy)
{
    RegId r = op_index(o);
    if (!op_is_reg(o) || o.mods & ~(uint32_t)OPM_NOT || !is_followed(c, r))
        return op_none();
    bool local = c->follows && is_fresh(c, r);
    *copy = local ? c->local[r].instr : def_of(c->a, r);
    if (!*copy)
        return op_none();
    const Instr *i = ir_instr(c->fn, *copy);
    bool runs = !ir_guarded(i) || passes_guard(c, i, id, k);
    Operand from = runs ? source_of(c, *copy, r, local) : unguarded_constant(c, r);
    return op_kind(from) == K_NONE ? from : negated_by(c->fn, from, o.mods & OPM_NOT);
}

/* -- Rewriting ------------------------------------------------------------------------------------------ */

// Spends one unit of each budget for a rewrite by a copy in block `from`, 0 = several copies. False: a budget is used
// up.
static bool may_rewrite(CopyProp *c, InstrId id, BlockId from)
{
    Knobs *knobs = &c->ctx->knobs;
    bool global = ir_instr(c->fn, id)->block != from && !knob_is_set(knobs, KNOB_COPY_PROP_FORCE_GLOBAL);
    if (knob_left(knobs, KNOB_COPY_PROP_BUDGET) <= 0 || (global && knob_left(knobs, KNOB_COPY_PROP_GLOBAL_BUDGET) <= 0))
        return false;
    knob_spend(knobs, KNOB_COPY_PROP_BUDGET);
    return !global || knob_spend(knobs, KNOB_COPY_PROP_GLOBAL_BUDGET);
}

// True if take_symbol() applies to an instruction: an access that is not ordered.
static bool takes_symbols(const Desc *d)
{
    return d->traits & (TR_READ | TR_WRITE) && op_info[d->op].ntypes != OP_RAW && d->op != OP_CALL &&
           !(d->traits & TR_ORDERED);
}

// Replaces the base of an access that names its space by a symbol, if the base is the address of the symbol; returns
// progress.
static bool take_symbol(CopyProp *c, InstrId id, uint32_t k)
{
    Fn *fn = c->fn;
    const Instr *i = ir_instr(fn, id);
    const Desc *d = ir_desc(fn, i);
    Operand *base = ir_ops(fn, i) + k, *offset = base + 1;
    if (k >= d->nops || !operand_is_base(fn, d, k) || !op_in_ssa(fn, *base) || op_kind(*offset) != K_IMM)
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
    bool named = s->space == SP_SHARED || s->space == SP_LOCAL || s->space == SP_GLOBAL ||
                 (s->space == SP_CONST && knob_int(&c->ctx->knobs, KNOB_COPY_PROP_BANK));
    bool fits = s->kind == SYM_VAR && named && space_contains(space, (Space)s->space);
    // The sum must lie in the symbol, since a 32-bit register plus an offset wraps differently from a symbol.
    if (overflow || sum < 0 || (uint64_t)sum >= MAX(s->size, 1u) || !fits || !may_rewrite(c, id, address->block))
        return false;
    nuses_count(fn, *base, -1);
    *base = symbol;
    *offset = op_const(fn, (uint64_t)sum, W64);
    return true;
}

static bool is_mma(const Fn *fn, const Instr *i)
{
    Opcode op = ir_desc(fn, i)->op;
    return op == OP_MMA || op == OP_WMMA_MMA;
}

// Returns the definition of a register that reaches the current instruction; 0 if it is unknown.
static InstrId current_def(const CopyProp *c, RegId r)
{
    return c->written && c->local[r].at > c->block_start ? c->local[r].instr : def_of(c->a, r);
}

// True if a register was loaded from a constant bank: from .const, or from the parameters of a kernel.
static bool is_of_bank(const CopyProp *c, RegId r)
{
    InstrId def = current_def(c, r);
    const Desc *d = def ? ir_desc(c->fn, ir_instr(c->fn, def)) : NULL;
    if (!d || d->op != OP_LD)
        return false;
    Space space = mod_space((Mod)tab_mnem(c->fn->tables, d->mnem)->mod[MC_SPACE]);
    return space == SP_CONST || (space == SP_PARAM && c->fn->flags & FN_KERNEL);
}

// True if the slot of operand k takes registers of the type that a named register keeps.
static bool takes_type(const Fn *fn, const Instr *i, uint32_t k, Operand o)
{
    char why[200];
    const Desc *d = ir_desc(fn, i);
    return k >= d->nops || !slot_check(fn, &d->slots[k], o, why);
}

// True if operand k of an instruction may become `o`, for which fit_operand() is true. If a constant became the input
// of a phi, leaving ssa form would insert the move again. A mask stays in its register (file comment).
static bool may_become(const CopyProp *c, const Instr *i, uint32_t k, Operand o)
{
    const Desc *d = ir_desc(c->fn, i);
    if (!op_is_reg(o))
        return !c->only_registers && d->op != OP_PHI && !(k < d->nops && d->slots[k].flags & SL_LANES);
    return (!is_named(c, op_index(o)) || takes_type(c->fn, i, k, o)) &&
           (!c->no_bank_in_mma || !is_mma(c->fn, i) || !is_of_bank(c, op_index(o)));
}

// Replaces a use. `moved`: a plain move copies the operand.
static void replace_use(CopyProp *c, InstrId id, uint32_t k, Operand by, bool moved)
{
    Operand *use = ir_ops(c->fn, ir_instr(c->fn, id)) + k;
    record_cost(c->ctx, c->fn, id);
    nuses_count(c->fn, *use, -1);
    nuses_count(c->fn, by, 1);
    *use = by;
    c->progress = true;
    c->only_moves &= moved;
}

static void rewrite_use(CopyProp *c, InstrId id, const Instr *i, uint32_t k)
{
    Operand now = ir_ops(c->fn, i)[k], was = now, best = now;
    InstrId copy, last = 0;
    for (int n = 0; n < COPY_CHAIN; n++) {
        now = step_back(c, id, k, now, &copy);
        if (op_kind(now) == K_NONE)
            break;
        Operand fitted = now;
        if (fit_operand(c->fn, i, k, &fitted) && may_become(c, i, k, now)) {
            best = fitted;
            last = copy;
        }
    }
    // In unreachable blocks copies may form a cycle, so the source may be the operand itself.
    if (!last || op_same(best, was))
        return;
    const Instr *source = ir_instr(c->fn, last);
    Opcode op = ir_desc(c->fn, source)->op;
    if (may_rewrite(c, id, op == OP_PHI ? 0 : source->block))
        replace_use(c, id, k, best, op == OP_MOV && !ir_guarded(source));
    else if (remarks_wanted(c->ctx))
        VEC_PUSH(&c->scratch, &c->refused, ((Use){id, k}));
}

static void record_from_here(CopyProp *c)
{
    c->written = NEW_ARRAY(&c->scratch, uint32_t, c->fn->regs.n);
    c->local = NEW_ARRAY(&c->scratch, LocalCopy, c->fn->regs.n);
}

// Records the writes of an instruction. A call may write registers of the module.
static void record_writes(CopyProp *c, InstrId id)
{
    const Fn *fn = c->fn;
    const Instr *i = ir_instr(fn, id);
    c->now++;
    if (c->named && (ir_desc(fn, i)->op == OP_CALL || ir_desc(fn, i)->op == OP_OPAQUE))
        c->called = c->now;
    for (uint32_t k = 0; k < i->ndef; k++) {
        Operand def = *ir_def(fn, i, k);
        if (!op_is_reg(def))
            continue;
        c->written[op_index(def)] = c->now;
        c->local[op_index(def)] = (LocalCopy){id, c->now};
    }
}

// Returns the index of the first old value among the operands.
static uint32_t first_old_value(const Instr *i) { return i->flags & IF_TIED ? i->ndef + ir_nuse(i) : i->nops; }

static bool is_old_value(const Instr *i, uint32_t first, uint32_t k) { return k >= first && k < first + i->ndef; }

// Returns the first use to visit, and the one after use k; the number of operands at the end. The guard, which is the
// last operand, comes first: the other uses may read guarded copies only under the same guard.
static uint32_t first_use(const Instr *i) { return ir_guarded(i) ? i->nops - 1 : i->ndef; }

static uint32_t next_use(const Instr *i, uint32_t k)
{
    uint32_t guard = ir_guarded(i) ? i->nops - 1 : i->nops, next = k == guard ? i->ndef : k + 1;
    return next == guard ? i->nops : next;
}

static void visit_instr(CopyProp *c, InstrId id)
{
    const Instr *i = ir_instr(c->fn, id);
    const Operand *ops = ir_ops(c->fn, i);
    for (uint32_t k = first_use(i); k < i->nops; k = next_use(i, k)) {
        if (!op_is_reg(ops[k]) || c->no_copy[op_index(ops[k])] || is_old_value(i, first_old_value(i), k))
            continue;
        rewrite_use(c, id, i, k);
        if (c->symbols && op_is_reg(ops[k]) && takes_symbols(ir_desc(c->fn, i)))
            c->progress |= take_symbol(c, id, k);
    }
}

// True if no use of the results of an instruction is rewritten.
static bool defines_no_copy(const CopyProp *c, Opcode op)
{
    return !may_copy(op) && op != OP_ADDR && !(op == OP_PHI && c->phis) && !(op == OP_SETP && c->complements);
}

static void visit_uses(CopyProp *c)
{
    const Fn *fn = c->fn;
    c->refused.n = 0;
    FOR_BLOCKS(fn, b) {
        c->block_start = c->now;
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            bool no_copy = defines_no_copy(c, ir_desc(fn, i)->op);
            visit_instr(c, id);
            if (c->follows)
                record_writes(c, id);
            for (uint32_t k = 0; k < i->ndef; k++)
                c->no_copy[op_index(*ir_def(fn, i, k))] = no_copy;
        }
    }
}

/* -- Joined constants, in multi form -------------------------------------------------------------------- */

// Replaces the use of a joined register by the constant that it reads; returns progress.
static bool take_constant(CopyProp *c, const JoinedConstants *j, const Occurrence *o)
{
    const Analyses *a = j->a;
    Operand constant = o->def || !o->value ? op_none() : j->of[o->value - a->rdefs.first_def];
    const Instr *i = ir_instr(c->fn, o->instr);
    uint32_t k = o->op - i->ops, mods = ir_ops(c->fn, i)[k].mods;
    if (op_kind(constant) == K_NONE || mods & ~(uint32_t)OPM_NOT)
        return false;
    Operand by = negated_by(c->fn, constant, mods);
    BlockId from = value_is_phi(a, o->value) ? 0 : ir_instr(c->fn, value_def(a, o->value))->block;
    if (!fit_operand(c->fn, i, k, &by) || !may_become(c, i, k, by) || !may_rewrite(c, o->instr, from))
        return false;
    replace_use(c, o->instr, k, by, false);
    return true;
}

static bool take_constants(CopyProp *c)
{
    JoinedConstants j;
    bool progress = false;
    // AN_RDEFS of an earlier phase does not list the operands that this phase has changed.
    if (c->progress && c->a->valid & AN_RDEFS) {
        analysis_drop(c->fn, ~(uint32_t)AN_RDEFS);
        analysis_need(c->fn, AN_DEF);
    }
    if (!joined_constants(&j, c->fn, c->a, &c->scratch))
        return false;
    for (uint32_t k = 1; k < j.a->rdefs.noccurrences; k++)
        progress |= take_constant(c, &j, &j.a->rdefs.at[k]);
    joined_constants_free(&j);
    return progress;
}

/* -- Remarks -------------------------------------------------------------------------------------------- */

// True for instructions that copy a register or would, if their type were as wide as the register.
static bool resembles_copy(const Fn *fn, const Instr *i)
{
    const Desc *d = ir_desc(fn, i);
    const Mnem *m = tab_mnem(fn->tables, d->mnem);
    TypeClass class = type_info[m->type[0]].class;
    bool converts = d->op == OP_CVT && (class == TC_U || class == TC_S) && m->type[0] == m->type[1] && !m->mod[MC_SAT];
    return i->ndef == 1 && op_is_reg(*ir_def(fn, i, 0)) &&
           (d->op == OP_MOV || converts || (d->op == OP_NOT && ir_reg(fn, op_index(*ir_def(fn, i, 0)))->width == W1));
}

static bool clears_upper_bits(const Fn *fn, const Instr *copy)
{
    const Desc *d = ir_desc(fn, copy);
    Width width = type_info[tab_mnem(fn->tables, d->mnem)->type[0]].width;
    return d->op == OP_CVT && width < (Width)ir_reg(fn, op_index(*ir_def(fn, copy, 0)))->width;
}

// Returns the reason for which a use still names a copy; NULL = it names none, or its slot does not take the source.
static const char *why_kept(const CopyProp *c, InstrId id, uint32_t k)
{
    const Fn *fn = c->fn;
    RegId r = op_index(ir_ops(fn, ir_instr(fn, id))[k]);
    InstrId def = current_def(c, r);
    const Instr *copy = def ? ir_instr(fn, def) : NULL;
    if (!copy || !resembles_copy(fn, copy))
        return NULL;
    Operand from = *ir_use(fn, copy, 0);
    if (op_is_reg(from) && clears_upper_bits(fn, copy))
        return "it clears upper bits";
    if (!op_is_reg(from) && !op_is_const(from))
        return NULL;
    if (!is_followed(c, r) || (op_is_reg(from) && !is_followed(c, op_index(from))))
        return "a register is pinned or declared elsewhere";
    if (ir_guarded(copy) && !passes_guard(c, copy, id, k))
        return "its guard may be false";
    bool local = c->local[r].instr == def && c->local[r].at > c->block_start;
    bool changed = local ? !is_fresh(c, r) : op_is_reg(from) && !def_of(c->a, op_index(from));
    return changed ? "its source may be redefined" : NULL;
}

// Makes remarks about the copies that an instruction still names, one for each register. `refused` counts the refused
// uses so far.
static void explain_uses(CopyProp *c, InstrId id, uint32_t *refused)
{
    const Instr *i = ir_instr(c->fn, id);
    const Operand *ops = ir_ops(c->fn, i);
    for (uint32_t k = first_use(i); k < i->nops; k = next_use(i, k)) {
        if (!op_is_reg(ops[k]) || ops[k].mods & OPM_INOUT || is_old_value(i, first_old_value(i), k))
            continue;
        const Use *next = *refused < c->refused.n ? c->refused.at + *refused : NULL;
        bool budget = next && next->instr == id && next->op == k;
        *refused += budget;
        uint32_t earlier = i->ndef;
        while (op_index(ops[earlier]) != op_index(ops[k]) || !op_is_reg(ops[earlier]))
            earlier++;
        const char *why = earlier < k ? NULL : budget ? "a budget is used up" : why_kept(c, id, k);
        if (why)
            remark(c->ctx, c->fn, id, RM_MISSED, "CopyKept", "a copy is not propagated to this use: {Reason:%s}", why);
    }
}

static void explain(CopyProp *c)
{
    const Fn *fn = c->fn;
    uint32_t refused = 0;
    if (!c->written)
        record_from_here(c);
    FOR_BLOCKS(fn, b) {
        c->block_start = c->now;
        FOR_INSTRS(fn, b, id) {
            explain_uses(c, id, &refused);
            record_writes(c, id);
        }
    }
}

/* -- The phase ------------------------------------------------------------------------------------------ */

// Returns the named registers that no opaque instruction names; NULL = there are none. The readers pin all registers of
// opaque instructions, and those of PTX all named registers.
static bool *find_named(CopyProp *c)
{
    const Fn *fn = c->fn;
    bool *named = NULL;
    for (RegId r = 1; r < fn->regs.n; r++) {
        if (!(ir_reg(fn, r)->flags & REG_NAMED))
            continue;
        named = named ? named : NEW_ARRAY(&c->scratch, bool, fn->regs.n);
        named[r] = true;
    }
    for (BlockId b = named ? fn->first : 0; b; b = ir_block(fn, b)->next) {
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            for (uint32_t k = 0; ir_desc(fn, i)->op == OP_OPAQUE && k < i->nops; k++)
                if (op_is_reg(ir_ops(fn, i)[k]))
                    named[op_index(ir_ops(fn, i)[k])] = false;
        }
    }
    return named;
}

static void read_knobs(CopyProp *c)
{
    Knobs *knobs = &c->ctx->knobs;
    c->complements = c->fn->form == FORM_SSA && c->ctx->run.slot == PH_GENERAL_OPTIMIZE_LATE2 &&
                     knob_int(knobs, KNOB_COPY_PROP_COMPL);
    c->only_registers = knob_is_set(knobs, KNOB_COPY_PROP_ONLY_REGS);
    c->symbols = knob_int(knobs, KNOB_COPY_PROP_ADDR) && !c->only_registers;
    c->multi_def = knob_int(knobs, KNOB_COPY_PROP_MULTI_DEF) && !c->only_registers;
    c->no_bank_in_mma = knob_is_set(knobs, KNOB_COPY_PROP_NO_MMA_BANK);
}

// Prepares for recording writes if the form or a knob requires it.
static void follow_writes(CopyProp *c)
{
    Knobs *knobs = &c->ctx->knobs;
    bool multi = c->fn->form == FORM_MULTI, named = knob_is_set(knobs, KNOB_COPY_PROP_PRE_ALLOC);
    if ((!multi && !named) || !knob_int(knobs, KNOB_COPY_PROP_REACHING))
        return;
    c->named = named ? find_named(c) : NULL;
    if (!multi && !c->named)
        return;
    c->follows = true;
    record_from_here(c);
}

bool phase_copy_prop(Ctx *ctx, Fn *fn)
{
    CopyProp c = {.ctx = ctx, .fn = fn, .a = analysis_need(fn, AN_DEF), .only_moves = true};
    prepare_costs(ctx, fn);
    read_knobs(&c);
    arena_init(&c.scratch, &ctx->heap);
    c.no_copy = NEW_ARRAY(&c.scratch, bool, fn->regs.n);
    follow_writes(&c);
    ConstantPhis phis = {.fn = fn, .a = c.a, .arena = &c.scratch};
    c.phis = fn->form == FORM_SSA && c.multi_def ? &phis : NULL;
    visit_uses(&c);
    bool joins = fn->form == FORM_MULTI && c.follows && c.multi_def;
    for (int k = 0; k < ROUNDS && joins && take_constants(&c); k++)
        visit_uses(&c);
    if (remarks_wanted(ctx))
        explain(&c);
    arena_free(&c.scratch);
    if (c.only_moves)
        phase_changes_only(ctx, CHANGE_COPIES);
    return c.progress;
}
