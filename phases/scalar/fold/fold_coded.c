// SPDX-License-Identifier: MIT
// Implements rules of folding that patterns cannot express (CODED of fold_rules.def): constants, order of operands,
// conversions, tables of lop3, reciprocals, addresses, guards. Each function returns true if it changed the
// instruction.
#include "phases/scalar/fold/fold.h"

/* -- Constants ------------------------------------------------------------------------------------------ */

// True if an instruction computes with floating-point numbers; selp only copies them.
static bool is_float(const Fn *fn, const Desc *d)
{
    const Mnem *m = tab_mnem(fn->tables, d->mnem);
    bool found = false;
    for (uint32_t k = 0; k < m->ntypes; k++)
        found |= type_info[m->type[k]].class == TC_F ||
                 (type_info[m->type[k]].class == TC_X && m->type[k] != TY_U16X2 && m->type[k] != TY_S16X2);
    return found && d->op != OP_SELP;
}

bool fold_constants(Fold *f, InstrId id)
{
    Fn *fn = f->fn;
    const Instr *i = ir_instr(fn, id);
    const Desc *d = ir_desc(fn, i);
    Value in[EVAL_IN_MAX] = {0}, out[EVAL_OUT_MAX];
    uint32_t rule = coded_rule(CODED_CONSTANT);
    bool may = !(d->traits & TR_NOFOLD) && ir_nuse(i) <= EVAL_IN_MAX && may_apply(f, rule) &&
               !(f->no_float && is_float(fn, d));
    const Eval *e = may ? eval_cached(&f->evals, i->desc) : NULL;
    if (!e || e->nin != ir_nuse(i) || e->nout != 1)
        return false;
    for (uint32_t k = 0; k < ir_nuse(i); k++)
        in[k].lo = bits_of_constant(fn, copied_from(f, *ir_use(fn, i, k)));
    eval_run(e, in, out);
    Width width = (Width)ir_reg(fn, op_index(*ir_def(fn, i, 0)))->width;
    if (width > W64 || width == W8 || !eval_foldable(e, in, out))
        return false;
    fold_begin_rule(f, rule, id);
    nuses_count_instr(fn, i, -1);
    instr_replace_by_move(fn, id, op_const(fn, out[0].lo, width));
    nuses_count_instr(fn, ir_instr(fn, id), 1);
    return true;
}

// True if the bits of the result of a conversion, and, shl or mul.lo may all be known although no operand is constant:
// known zeros absorb other bits. Only computations that make zeros are followed, since the range of each value would
// cost too much.
static bool may_be_known(const Fold *f, const Uses *uses)
{
    bool may = false;
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t op = uses->of[k].from >= FROM_OP ? f->forms->forms.at[uses->of[k].from - FROM_OP].op : OP_OPAQUE;
        may |= op == OP_AND || op == OP_SHL || op == OP_MUL_LO;
    }
    return may;
}

bool fold_known(Fold *f, InstrId id, const Uses *uses)
{
    if (!may_be_known(f, uses))
        return false;
    Fn *fn = f->fn;
    const Instr *i = ir_instr(fn, id);
    Operand to = *ir_def(fn, i, 0);
    uint32_t rule = coded_rule(CODED_KNOWN);
    Width width = (Width)ir_reg(fn, op_index(to))->width;
    if (width > W64 || width < W16 || !def_of(f->a, op_index(to)))
        return false;
    ValueRange range = value_range(&f->ranges, op_reg(fn, op_index(to)), f->block);
    if ((range.zeros | range.ones) != low_ones(range.bits) || range.bits != width_bits(width) || !may_apply(f, rule))
        return false;
    fold_begin_rule(f, rule, id);
    nuses_count_instr(fn, i, -1);
    instr_replace_by_move(fn, id, op_const(fn, range.ones, width));
    nuses_count_instr(fn, ir_instr(fn, id), 1);
    return true;
}

/* -- Order ---------------------------------------------------------------------------------------------- */

// Handles integers only: the NaN that results from two NaNs may depend on their order.
bool fold_order(Fold *f, InstrId id, const Uses *uses)
{
    Fn *fn = f->fn;
    const Instr *i = ir_instr(fn, id);
    const Desc *d = ir_desc(fn, i);
    uint32_t rule = coded_rule(CODED_ORDER);
    if (!from_constant(uses->of[0].from) || from_constant(uses->of[1].from) || !(d->traits & TR_COMM) ||
        ir_nuse(i) < 2 || is_float(fn, d) || !may_apply(f, rule))
        return false;
    fold_begin_rule(f, rule, id);
    Operand first = *ir_use(fn, i, 0);
    *ir_use(fn, i, 0) = *ir_use(fn, i, 1);
    *ir_use(fn, i, 1) = first;
    return true;
}

/* -- Conversions ---------------------------------------------------------------------------------------- */

// Returns the number of bits that an integer conversion reads, and sets *made to the number that it writes. 0 = not a
// conversion, or one that does more than truncate and extend.
static uint32_t bits_taken(const Fn *fn, const Instr *i, uint32_t *made)
{
    const Desc *d = ir_desc(fn, i);
    const Mnem *m = tab_mnem(fn->tables, d->mnem);
    if (d->op != OP_CVT || ir_guarded(i) || tab_str(fn->tables, m->suffix).len)
        return 0;
    for (int k = 0; k < MC_COUNT; k++)
        if (m->mod[k])
            return 0;
    const TypeInfo *to = &type_info[m->type[0]], *from = &type_info[m->type[1]];
    bool integers = (to->class == TC_U || to->class == TC_S) && (from->class == TC_U || from->class == TC_S);
    *made = width_bits(to->width);
    return integers ? width_bits(from->width) : 0;
}

// Skips an inner conversion that reads and writes at least as many bits: it does not change the bits that the outer one
// reads.
bool fold_conversion(Fold *f, InstrId id)
{
    Fn *fn = f->fn;
    Instr *i = ir_instr(fn, id);
    uint32_t rule = coded_rule(CODED_CVT_LOW), made, inner_made = 0, taken;
    taken = bits_taken(fn, i, &made);
    if (!taken)
        return false;
    Operand from = copied_from(f, *ir_use(fn, i, 0));
    InstrId def = def_of_operand(f, from);
    uint32_t inner = def ? bits_taken(fn, ir_instr(fn, def), &inner_made) : 0;
    Operand low = inner ? copied_from(f, *ir_use(fn, ir_instr(fn, def), 0)) : op_none();
    if (inner < taken || inner_made < taken || !def_of_operand(f, low) || !may_apply(f, rule))
        return false;
    fold_begin_rule(f, rule, id);
    nuses_count_instr(fn, i, -1);
    *ir_use(fn, i, 0) = low;
    nuses_count_instr(fn, i, 1);
    return true;
}

/* -- Tables --------------------------------------------------------------------------------------------- */

// Handles a lop3 that depends on at most two operands, perhaps because some are equal or constant.
bool fold_table(Fold *f, InstrId id, const Uses *uses)
{
    Fn *fn = f->fn;
    const Instr *i = ir_instr(fn, id);
    uint32_t rule = coded_rule(CODED_TABLE);
    uint8_t of[TRUTH_INPUTS];
    TruthTable result = {0}, source[TRUTH_INPUTS];
    if (!is_bare_constant(*ir_use(fn, i, TRUTH_INPUTS)))
        return false;
    for (uint32_t k = 0; k < TRUTH_INPUTS; k++) {
        if (!op_is_reg(uses->of[k].source) && !is_bare_constant(uses->of[k].source))
            return false;
        source[k] = truth_of_operand(fn, uses->of[k].source);
        truth_add_inputs(&result, &source[k]);
    }
    for (uint32_t k = 0; k < TRUTH_INPUTS; k++)
        of[k] = truth_table_over(&source[k], &result);
    result.table = truth_compose((uint8_t)bits_of_constant(fn, *ir_use(fn, i, TRUTH_INPUTS)), of);
    truth_reduce(&result);
    if (!truth_is_plain(fn, &result) || !may_apply(f, rule))
        return false;
    fold_begin_rule(f, rule, id);
    nuses_count_instr(fn, i, -1);
    truth_replace(fn, id, &result);
    nuses_count_instr(fn, ir_instr(fn, id), 1);
    return true;
}

/* -- Floats --------------------------------------------------------------------------------------------- */

// Handles powers of two if neither the number nor its reciprocal is subnormal: the exact quotient and product are then
// equal, and each is rounded once. A product with an explicit rounding modifier is never contracted. NaN of f32 is
// canonical.
bool fold_reciprocal(Fold *f, InstrId id)
{
    Fn *fn = f->fn;
    const Instr *i = ir_instr(fn, id);
    const Mnem *m = tab_mnem(fn->tables, ir_desc(fn, i)->mnem);
    uint32_t rule = coded_rule(CODED_RECIPROCAL);
    if (m->type[0] != TY_F32 || m->mod[MC_RND] != MOD_RN || f->no_float || !may_apply(f, rule))
        return false;
    Operand uses[2] = {*ir_use(fn, i, 0), copied_from(f, *ir_use(fn, i, 1))};
    uint64_t bits = is_bare_constant(uses[1]) ? bits_of_constant(fn, uses[1]) : 0;
    uint32_t exponent = bits >> 23 & 0xff;
    if (bits & 0x7fffff || exponent < 1 || exponent > 253)
        return false;
    fold_begin_rule(f, rule, id);
    nuses_count_instr(fn, i, -1);
    uses[1] = op_const(fn, (bits & 0x80000000) | (uint64_t)(254 - exponent) << 23, W32);
    Mod ftz = m->mod[MC_FTZ] ? MOD_FTZ : MOD_NONE;
    instr_replace(fn, id, desc_make(fn->tables, OP_MUL, TY_F32, .mods = {MOD_RN, ftz}), uses, 2);
    nuses_count_instr(fn, ir_instr(fn, id), 1);
    return true;
}

/* -- Addresses ------------------------------------------------------------------------------------------ */

// True if the only definition of an address adds a constant (*more) to a base (*base).
static bool is_sum(const Fold *f, Operand o, Operand *base, int64_t *more)
{
    const Fn *fn = f->fn;
    Operand from = copied_from(f, o);
    InstrId def = def_of_operand(f, from);
    const Instr *i = def ? ir_instr(fn, def) : NULL;
    const Mnem *m = i ? tab_mnem(fn->tables, ir_desc(fn, i)->mnem) : NULL;
    if (!i || ir_desc(fn, i)->op != OP_ADD || ir_guarded(i) || ir_reg(fn, op_index(from))->width != W64 ||
        (m->type[0] != TY_S64 && m->type[0] != TY_U64))
        return false;
    for (uint32_t k = 0; k < 2; k++) {
        Operand a = copied_from(f, *ir_use(fn, i, k)), b = copied_from(f, *ir_use(fn, i, 1 - k));
        if (is_bare_constant(b) && def_of_operand(f, a)) {
            *base = a;
            *more = (int64_t)bits_of_constant(fn, b);
            return true;
        }
    }
    return false;
}

bool fold_address(Fold *f, InstrId id)
{
    Fn *fn = f->fn;
    const Instr *i = ir_instr(fn, id);
    uint32_t rule = coded_rule(CODED_ADDRESS);
    bool progress = false;
    if (i->flags & IF_PINNED)
        return false;
    bool offsets = fold_role(f, i->desc)->offsets;
    for (uint32_t bases = fold_role(f, i->desc)->bases; bases; bases &= bases - 1) {
        Operand *base = ir_use(fn, i, (uint32_t)__builtin_ctz(bases)), *offset = base + 1, from;
        int64_t more, sum, has = op_kind(*offset) == K_IMM ? const_signed(tab_const(fn->tables, op_index(*offset))) : 0;
        if (!is_plain_register(f, *base) || op_kind(*offset) != K_IMM || !(offsets || has) ||
            !is_sum(f, *base, &from, &more))
            continue;
        if (__builtin_add_overflow(has, more, &sum) || sum >= OFFSET_MAX || sum <= -OFFSET_MAX || !may_apply(f, rule))
            continue;
        fold_begin_rule(f, rule, id);
        nuses_count(fn, *base, -1);
        *base = from;
        *offset = op_const(fn, (uint64_t)sum, W64);
        nuses_count(fn, *base, 1);
        progress = true;
    }
    return progress;
}

/* -- Guards --------------------------------------------------------------------------------------------- */

// True if the guard of an instruction may be removed, or the instruction (`goes`). False for terminators, which
// OriBranchOpt handles; for a removed instruction with an annotation, which would then describe the next instruction.
static bool may_lose_guard(const Fn *fn, InstrId id, bool goes)
{
    const Instr *i = ir_instr(fn, id);
    const Desc *d = ir_desc(fn, i);
    if (d->traits & TR_TERM || d->op == OP_OPAQUE || i->flags & IF_PINNED)
        return false;
    for (uint32_t k = 0; k < i->ndef; k++)
        if (op_is_reg(*ir_def(fn, i, k)) && op_file(*ir_def(fn, i, k)) == RF_CC)
            return false;
    return !goes || (d->op != OP_CALL && first_annotation(fn, id) == id);
}

// Removes an instruction whose guard is false: moves give its results their old values.
static void remove_guarded(Fold *f, InstrId id)
{
    Fn *fn = f->fn;
    const Instr *i = ir_instr(fn, id);
    uint32_t ntied = ir_ntied(i);
    nuses_count_instr(fn, i, -1);
    for (uint32_t k = 0; k < ntied; k++) {
        Operand to = *ir_def(fn, ir_instr(fn, id), k), old = *ir_tied(fn, ir_instr(fn, id), k);
        if (!op_is_reg(to) || op_kind(old) == K_NONE)
            continue;
        InstrId move = insert_move(fn, id, op_index(to), old);
        nuses_count_instr(fn, ir_instr(fn, move), 1);
        fold_note_definition(f, move);
    }
    ir_remove(fn, id);
}

// The caller has fetched the next instruction, so this one may be removed.
bool fold_guard(Fold *f, InstrId id)
{
    Fn *fn = f->fn;
    Instr *i = ir_instr(fn, id);
    uint32_t rule = coded_rule(CODED_GUARD);
    Operand guard = *ir_guard(fn, i), known = copied_from(f, (Operand){guard.word, guard.mods & ~(uint32_t)OPM_NOT});
    if (!is_bare_constant(known))
        return false;
    bool runs = (bits_of_constant(fn, known) != 0) != ((guard.mods & OPM_NOT) != 0);
    if (!may_lose_guard(fn, id, !runs) || !may_apply(f, rule))
        return false;
    fold_begin_rule(f, rule, id);
    if (!runs) {
        remove_guarded(f, id);
        return true;
    }
    nuses_count_instr(fn, i, -1);
    i->nops -= ir_ntied(i) + 1;
    i->flags &= (uint8_t) ~(IF_GUARDED | IF_TIED);
    nuses_count_instr(fn, i, 1);
    fold_note_definition(f, id);
    return true;
}
