// SPDX-License-Identifier: MIT
// Replacing registers of ssa form: rep[old] = new, and one sweep at the end of the phase. Serves all phases that find a
// register to be what something else is already.
//
//     Rep rep;
//     rep_open(&rep, ctx, fn);
//     ... rep_set(&rep, old, new) ...      ; as often as one likes; rep_find() is what an operand is by then
//     rep_close(&rep);                     ; the sweep
//
// `new` is a whole operand: a register, a constant, or a predicate with a `!`. It must be available wherever `old` is
// read, which is what the caller has found out; a register with one definition is, if that dominates the definition of
// `old`. The definition of `old` goes, so the sweep rewrites all its uses: guards, inputs of phis and old values of
// guarded definitions too. Where a slot does not take `new` (a constant as an address), the register stays, and gets
// its value from a move in place of its definition; behind the phis of the block if that was a phi.
//
//     R1 = add.s32 2, 3                 (nothing)
//     st.global.b32 [R9], R1       ->   st.global.b32 [R9], 5        ; rep[R1] = 5
//     ld.global.b32 R2, [R1]            R1 = mov.b32 5; ... [R1]     ; the same, where an address needs a register
//     @P1 bra b2                        @!P0 bra b2                  ; rep[P1] = !P0
//
// An instruction goes if all that it defines is replaced, so what has an effect besides must not come here; one that
// defines another register, too, stays as it is.
//
// Must not fire: on registers that are pinned or named elsewhere, neither as `old` nor as `new`: they change. `undef`
// is no operand to replace by: each of its readers would see another value.
//
// Chains are followed with path halving. rep_set() looks where `new` leads by then, so a cycle shows at once.
// Documented: that the map is of whole operands, and one sweep. Inferred: the rest.
#include "phases/bodies.h"

void rep_open(Rep *rep, Ctx *ctx, Fn *fn)
{
    *rep = (Rep){.fn = fn, .nregs = fn->regs.n};
    arena_init(&rep->scratch, &ctx->heap);
    rep->by = NEW_ARRAY(&rep->scratch, Operand, rep->nregs);
}

/* -- The map -------------------------------------------------------------------------------------------- */

bool rep_may(const Fn *fn, RegId old, Operand by)
{
    const Reg *r = ir_reg(fn, old);
    uint32_t allowed = r->width == W1 ? OPM_NOT : 0;
    if (!reg_in_ssa(r) || by.mods & ~allowed)
        return false;
    if (op_kind(by) == K_IMM)
        return op_index(by) != CONST_UNDEF && tab_const(fn->tables, op_index(by)).width == r->width && !by.mods;
    if (!op_is_reg(by))
        return false;
    const Reg *to = ir_reg(fn, op_index(by));
    return reg_in_ssa(to) && to->file == r->file && to->width == r->width;
}

// What the register of an operand is replaced by; NULL = nothing.
static Operand *entry(const Rep *rep, Operand o)
{
    bool may = op_is_reg(o) && op_index(o) < rep->nregs;
    return may && op_kind(rep->by[op_index(o)]) != K_NONE ? &rep->by[op_index(o)] : NULL;
}

// An operand whose register is replaced.
static Operand through(const Rep *rep, Operand o, Operand by)
{
    uint32_t negate = (o.mods ^ by.mods) & OPM_NOT;
    if (op_kind(by) == K_IMM)
        return negate ? op_const(rep->fn, !tab_const(rep->fn->tables, op_index(by)).bits, W1) : by;
    return (Operand){by.word, (o.mods & ~(uint32_t)OPM_NOT) | negate};
}

Operand rep_find(const Rep *rep, Operand o)
{
    for (Operand *by, *next; (by = entry(rep, o)); o = through(rep, o, *by))
        if ((next = entry(rep, *by)))
            *by = through(rep, *by, *next);
    return o;
}

void rep_set(Rep *rep, RegId old, Operand by)
{
    Fn *fn = rep->fn;
    by = rep_find(rep, by);
    bool cycle = op_is_reg(by) && op_index(by) == old;
    if (cycle || old >= rep->nregs || entry(rep, op_reg(fn, old)) || !rep_may(fn, old, by))
        heap_fail(rep->scratch.heap, ST_INTERNAL, "%s%u cannot be replaced%s", reg_file_names[ir_reg(fn, old)->file],
                  ir_reg(fn, old)->ordinal, cycle ? ": it would be by itself" : "");
    rep->by[old] = by;
    rep->n++;
    rep->retypes |= op_is_reg(by) && ir_reg(fn, old)->type != ir_reg(fn, op_index(by))->type;
}

/* -- Moves ---------------------------------------------------------------------------------------------- */

// Of a move (a `not` of a negated predicate) between registers of this width.
static DescId desc_of_move(Fn *fn, Width width, Operand from)
{
    static const char *const mnemonics[WIDTH_COUNT] = {[W1] = "mov.pred", [W8] = "cvt.u8.u8", [W16] = "mov.b16",
                                                       [W32] = "mov.b32", [W64] = "mov.b64",  [W128] = "mov.b128"};
    return desc_make(fn->tables, from.mods & OPM_NOT ? "not.pred" : mnemonics[width], "%,%");
}

InstrId in_front_of_notes(const Fn *fn, InstrId id)
{
    for (InstrId note = id; (note = ir_instr(fn, note)->prev) && ir_desc(fn, ir_instr(fn, note))->traits & TR_OF_NEXT;)
        id = note;
    return id;
}

InstrId insert_move(Fn *fn, InstrId before, RegId to, Operand from)
{
    InstrId place = in_front_of_notes(fn, before);
    Operand ops[] = {op_def(op_reg(fn, to)), {from.word, from.mods & ~(uint32_t)OPM_NOT}};
    DescId desc = desc_of_move(fn, (Width)ir_reg(fn, to)->width, from);
    InstrId id = ir_insert_before(fn, place, desc, 0, ops, 2);
    ir_instr(fn, id)->line = ir_instr(fn, before)->line;
    return id;
}

void become(Fn *fn, InstrId id, DescId desc, const Operand *uses, uint32_t n)
{
    Instr *i = ir_instr(fn, id);
    uint32_t tail = ir_ntied(i) + ir_guarded(i), run = ops_new(fn, 1 + n + tail);
    Operand *to = ir_run(fn, run);
    to[0] = *ir_def(fn, i, 0);
    memcpy(to + 1, uses, n * sizeof *to);
    if (tail)
        memcpy(to + 1 + n, ir_ops(fn, i) + i->nops - tail, tail * sizeof *to);
    i->desc = desc;
    i->ops = run;
    i->nops = 1 + n + tail;
}

void become_move(Fn *fn, InstrId id, Operand from)
{
    Operand to = *ir_def(fn, ir_instr(fn, id), 0), bare = {from.word, from.mods & ~(uint32_t)OPM_NOT};
    become(fn, id, desc_of_move(fn, (Width)ir_reg(fn, op_index(to))->width, from), &bare, 1);
}

InstrId behind_phis(const Fn *fn, BlockId b)
{
    InstrId id = ir_block(fn, b)->first;
    while (ir_desc(fn, ir_instr(fn, id))->op == OP_PHI)
        id = ir_instr(fn, id)->next;
    return id;
}

/* -- The sweep ------------------------------------------------------------------------------------------ */

typedef struct Sweep {
    Rep *rep;
    Fn *fn;
    bool *read;         // by RegId: replaced, but there is a use that cannot be rewritten
    VEC(InstrId) gone;  // instructions all of whose definitions are replaced, in layout order
    BlockId block;      // whose phis are being looked at
    InstrId behind;     // what stands behind them
} Sweep;

bool fit_operand(Fn *fn, const Instr *i, uint32_t k, Operand *to)
{
    Operand o = *to;
    char why[200];
    const Desc *d = ir_desc(fn, i);
    bool negated = o.mods & OPM_NOT, guard = ir_guarded(i) && k + 1 == i->nops;
    if (guard)
        return op_is_reg(o);
    if (k >= d->nops)  // an old value
        return !negated;
    const Slot *slot = &d->slots[k];
    bool modelled = slot->width || slot->flags & SL_AS_DEF;
    if (op_is_reg(o))
        return !negated || (modelled && slot->flags & SL_NOT);
    *to = slot_constant(fn, slot, o);
    return modelled && !slot_check(fn, slot, *to, why);
}

bool operand_is_base(const Fn *fn, const Desc *d, uint32_t k)
{
    Str shape = tab_str(fn->tables, d->shape);
    uint32_t at = 0;
    for (uint32_t n = 0; n < shape.len && at <= k; n++) {
        char c = shape.text[n];
        while ((c == '%' || c == '$') && d->slots[at].flags & SL_HIDDEN)
            at++;
        if (c == '&' && at == k)
            return n > 0 && shape.text[n - 1] == '[';
        at += c == '&' ? 2 : c == '%' || c == '$';
    }
    return false;
}

static void rewrite_uses(Sweep *s, const Instr *i)
{
    Operand *ops = ir_ops(s->fn, i);
    for (uint32_t k = i->ndef; k < i->nops; k++) {
        if (!entry(s->rep, ops[k]))
            continue;
        Operand by = rep_find(s->rep, ops[k]);
        if (fit_operand(s->fn, i, k, &by))
            ops[k] = by;
        else
            s->read[op_index(ops[k])] = true;
    }
}

static bool is_replaced(const Sweep *s, const Instr *i)
{
    const Operand *ops = ir_ops(s->fn, i);
    uint32_t regs = 0;
    for (uint32_t k = 0; k < i->ndef; k++) {
        regs += op_is_reg(ops[k]);
        if (op_is_reg(ops[k]) && !entry(s->rep, ops[k]))
            return false;
    }
    return regs > 0;
}

// In front of what a move goes that takes the place of an instruction.
static InstrId place_of_move(Sweep *s, InstrId id)
{
    const Instr *i = ir_instr(s->fn, id);
    if (ir_desc(s->fn, i)->op != OP_PHI)
        return id;
    if (s->block != i->block)
        s->behind = behind_phis(s->fn, i->block);
    s->block = i->block;
    return s->behind;
}

static void remove_definition(Sweep *s, InstrId id)
{
    Fn *fn = s->fn;
    const Instr *i = ir_instr(fn, id);
    for (uint32_t k = 0; k < i->ndef; k++) {
        Operand def = *ir_def(fn, i, k);
        rdefs_forget(fn, def);
        if (!op_is_reg(def) || !s->read[op_index(def)])
            continue;
        analysis_drop(fn, AN_FLOW);  // the definition is another
        Operand by = rep_find(s->rep, op_reg(fn, op_index(def)));
        InstrId move = insert_move(fn, place_of_move(s, id), op_index(def), by);
        ir_instr(fn, move)->line = i->line;
    }
    ir_remove(fn, id);
}

// A register that takes the place of one that was declared of another type stands where its own type may not. In ssa
// form these types mean nothing any more, and neither text has them.
static void forget_types(Fn *fn)
{
    for (RegId r = 1; r < fn->regs.n; r++)
        if (reg_in_ssa(ir_reg(fn, r)))
            ir_reg(fn, r)->type = TY_NONE;
}

static void sweep(Rep *rep)
{
    Fn *fn = rep->fn;
    Sweep s = {.rep = rep, .fn = fn, .read = NEW_ARRAY(&rep->scratch, bool, rep->nregs)};
    if (rep->retypes)
        forget_types(fn);
    FOR_BLOCKS(fn, b) {
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            rewrite_uses(&s, i);
            if (is_replaced(&s, i))
                VEC_PUSH(&rep->scratch, &s.gone, id);
        }
    }
    for (uint32_t k = 0; k < s.gone.n; k++)
        remove_definition(&s, s.gone.at[k]);
}

bool rep_close(Rep *rep)
{
    if (rep->n)
        sweep(rep);
    arena_free(&rep->scratch);
    return rep->n > 0;
}
