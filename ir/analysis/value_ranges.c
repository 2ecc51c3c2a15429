// SPDX-License-Identifier: MIT
// Value ranges (value_ranges.h), on demand and memoized. The range of a value is computed from its definition: by the
// transfer functions of ir/eval, from special registers, or from directives. At a use, the last CONDITIONS dominating
// conditions of the block apply, too.
//
// Most values have no range. If one operand of a sum has the full range, so has the sum, and the other operands are not
// computed (range_absorbing()). Loads, and values whose full range is memoized, are tested first.
//
// Dominating conditions. A condition on a value with one definition holds in all blocks that the block of the condition
// dominates. On each path to such a block, the condition was evaluated after the last execution of the definition.
// Otherwise a path from the entry to the definition, followed by the rest of this path, would reach the block without
// the condition. The same holds for all definitions in the chain between a value and a value that it is computed from.
// The argument requires one definition that dominates all uses, not ssa form; values of joined registers are not
// narrowed. The conditions of a block also hold at its end, where a phi reads its inputs. The branch there adds the
// condition of its edge.
//
// Phis. Inputs on edges other than back edges are joined first, while the phi has the full range. Then a range is
// assumed for the phi, and the inputs on back edges are computed under this assumption. If all inputs lie in the
// assumed range, the assumption is true, by induction over execution time: each value of the phi is computed from
// values in their ranges. Otherwise all ranges memoized under the assumption are discarded, and the next one is tried
// (next_assumption()), the full range after three. A phi that is reached while other phis are iterated is computed
// under their assumptions, at most NEST deep, and its range is discarded with them. WORK limits the definitions that
// are visited for an outermost phi. So the analysis is linear: it visits each definition once, and at most WORK
// definitions for each phi. Beyond a limit the range is full, and is not memoized.
//
// A counter that ends its loop by `!=` gets the range between its start and its bound (range_of_counter()): no single
// iteration shows that it does not pass the bound.
//
// The memo and changes. The memoized range of a register covers all values that it ever has, at all uses. It depends on
// no condition of a block with a use, only on conditions of edges into phis. So the range stays correct while branches
// stay and each register has the same values, however they are computed. Folding preserves both. If a definition is
// removed, or loses a guard that is always true, the range still holds.
#include "ir/analysis/value_ranges.h"
#include "ir/analysis/induction.h"

enum {
    DEPTH = 40,  // nested definitions
    ASKED = 2,   // depth of definitions to which conditions apply
    CONDITIONS = 6,
    LOGIC = 3,  // depth of logic operations on predicates
    AHEAD = 8,  // distance of the block whose terminator is prefetched
    NEST = 2,
    WORK = 48,
};

// The operands that a condition compares, through moves. `several` = more than one comparison.
typedef struct Subject {
    bool several;
    Operand x, y;
} Subject;

typedef struct Condition {
    InstrId branch;
    bool holds;  // the value of the guard's register
    Subject subject;
} Condition;

// The last conditions that hold in a block, or on an edge out of it.
typedef struct Conditions {
    BlockId at;
    uint32_t n;
    uint64_t about;  // bit_of() of all operands that these compare
    const Condition *condition[CONDITIONS + 1];
    Condition edge;
} Conditions;

typedef struct Look {
    ValueRanges *k;
    const Conditions *here;  // NULL: no conditions apply
} Look;

// Entries of `place` that are no index of `known`: not computed; full; BUSY + n: a phi that is being computed while n
// phis are iterated, and whose inputs on edges other than back edges are not joined yet.
enum { UNKNOWN, FULL, BUSY, FIRST_KNOWN = BUSY + NEST + 1 };

static uint32_t bits_of(const Fn *fn, Operand o)
{
    uint32_t bits = op_is_reg(o)          ? width_bits((Width)ir_reg(fn, op_index(o))->width)
                    : op_kind(o) == K_IMM ? width_bits(tab_const(fn->tables, op_index(o)).width)
                                          : 0;
    return bits <= 64 ? bits : 0;
}

static ValueRange range_of_operand(const Look *l, Operand o, int asked);
static ValueRange range_of_use(const Look *l, InstrId id, uint32_t k, int asked);
static ValueRange range_apart(ValueRanges *k, Operand value, Operand other);
static bool is_unknown(const Look *l, Operand o, int asked);

/* -- Special registers ---------------------------------------------------------------------------------- */

static void read_directives(ValueRanges *k)
{
    const Fn *fn = k->fn;
    for (uint32_t n = 0; n < fn->directives.n && fn->flags & FN_KERNEL; n++) {
        const Directive *d = &fn->directives.at[n];
        Str text = tab_str(fn->tables, d->text);
        bool exactly = text.len == 8 && memcmp(text.text, ".reqntid", 8) == 0;
        for (uint32_t v = 0; v < 3 && exactly && d->n; v++)
            k->size[v] = v < d->n ? d->value[v] : 1;
    }
    k->threads = fn_threads(fn);
}

static ValueRange special_register(const ValueRanges *k, uint32_t sreg)
{
    const SregInfo *info = &sreg_info[sreg];
    uint64_t least = info->least, most = info->most ? info->most : low_ones(width_bits(info->width));
    bool tid = sreg - SREG_TID_X < 3, ntid = sreg - SREG_NTID_X < 3;
    if (tid || ntid) {
        uint32_t dim = sreg - (tid ? SREG_TID_X : SREG_NTID_X);
        if (k->threads)
            most = MIN(most, (uint64_t)k->threads - tid);
        if (k->size[dim])
            most = MIN(most, (uint64_t)k->size[dim] - tid);
        if (k->size[dim] && ntid)
            least = MIN((uint64_t)k->size[dim], most);
    }
    return range_unsigned(least, most, width_bits(info->width));
}

/* -- Definitions ---------------------------------------------------------------------------------------- */

static ValueRange load(const Mnem *m, uint32_t bits)
{
    const TypeInfo *type = &type_info[m->type[0]];
    uint32_t width = width_bits(type->width);
    ValueRange any = range_full(width);
    if (width >= bits || m->mod[MC_VEC] || type->class == TC_F)
        return range_full(bits);
    return range_resize(&any, bits, type->class == TC_S);
}

// Returns the range of register `r` of `bits` bits, which the instruction defines.
static ValueRange definition(const Look *l, InstrId id, RegId r, uint32_t bits, int asked)
{
    const Fn *fn = l->k->fn;
    const Instr *i = ir_instr(fn, id);
    const Desc *d = ir_desc(fn, i);
    uint32_t n = ir_nuse(i), ndef = i->ndef;
    ValueRange in[EVAL_IN_MAX], result;
    // A guarded definition may leave the old value.
    if (ir_guarded(i) || op_index(*ir_def(fn, i, 0)) != r)
        return range_full(bits);
    if (d->op == OP_LD || d->op == OP_LDU)
        return load(tab_mnem(fn->tables, d->mnem), bits);
    if (d->op == OP_MOV && op_kind(*ir_use(fn, i, 0)) == K_SREG) {
        result = special_register(l->k, op_index(*ir_use(fn, i, 0)));
        return range_resize(&result, bits, false);
    }
    const Eval *e = eval_cached(l->k->evals, i->desc);
    if (!e || e->nin != n || !range_has_transfer(e))
        return range_full(bits);
    // One operand without a range may decide the result. Operands that need no computation come first.
    uint32_t absorbing = range_absorbing(e);
    bool full = false;
    for (uint32_t k = 0; absorbing >> k && !full; k++)
        full = absorbing >> k & 1 && is_unknown(l, *ir_use(fn, i, k), asked);
    for (uint32_t k = 0; k < n && !full; k++) {
        in[k] = range_of_use(l, id, ndef + k, asked);
        full = absorbing >> k & 1 && range_is_full(&in[k]);
    }
    result = full ? range_full(e->bits) : range_transfer(e, in);
    return range_resize(&result, bits, e->is_signed);
}

/* -- Conditions ----------------------------------------------------------------------------------------- */

static InstrId definition_of(const Look *l, Operand o)
{
    return op_is_reg(o) && !(o.mods & ~(uint32_t)OPM_NOT) ? def_of(l->k->a, op_index(o)) : 0;
}

static const RangeCompare opposite[] = {RC_NE, RC_EQ, RC_GE, RC_GT, RC_LE, RC_LT};  // by comparison: the negation
static const RangeCompare mirrored[] = {RC_EQ, RC_NE, RC_GT, RC_GE, RC_LT, RC_LE};  // with exchanged operands

// Narrows the range of a value by a comparison, given its outcome.
static void take_comparison(const Look *l, const Instr *i, Operand value, bool holds, ValueRange *f)
{
    const Fn *fn = l->k->fn;
    const Desc *d = ir_desc(fn, i);
    const Mnem *m = tab_mnem(fn->tables, d->mnem);
    const TypeInfo *type = &type_info[m->type[0]];
    bool is_unsigned = type->class != TC_S;
    RangeCompare cmp;
    if (!d->plain || i->ndef != 1 || m->mod[MC_BOOL] || !range_compare_of((Mod)m->mod[MC_CMP], &cmp, &is_unsigned) ||
        (type->class != TC_U && type->class != TC_S && type->class != TC_B) || width_bits(type->width) != f->bits)
        return;
    Operand x = *ir_use(fn, i, 0), y = *ir_use(fn, i, 1);
    bool first = op_same(copy_source(l->k->fn, l->k->a, x), value);
    if (!first && !op_same(copy_source(l->k->fn, l->k->a, y), value))
        return;
    Look plainly = {l->k, NULL};
    ValueRange other = range_of_operand(&plainly, first ? y : x, 0);
    if (other.bits != f->bits)
        return;
    cmp = first ? cmp : mirrored[cmp];
    cmp = holds ? cmp : opposite[cmp];
    ValueRange more =
        cmp == RC_NE ? range_apart(l->k, value, copy_source(l->k->fn, l->k->a, first ? y : x)) : range_full(f->bits);
    *f = range_meet(f, &more);
    more = range_of_comparison(cmp, !is_unsigned, &other);
    *f = range_meet(f, &more);
}

// Narrows the range of a value by a predicate, given its outcome. The predicate may combine several comparisons.
static void take_predicate(const Look *l, Operand p, Operand value, bool holds, int depth, ValueRange *f)
{
    const Fn *fn = l->k->fn;
    if (p.mods & OPM_NOT)
        holds = !holds;
    InstrId def = definition_of(l, p);
    const Instr *i = def ? ir_instr(fn, def) : NULL;
    if (!i || ir_guarded(i) || !depth)
        return;
    Opcode op = ir_desc(fn, i)->op;
    switch (op) {
    case OP_SETP: take_comparison(l, i, value, holds, f); return;
    case OP_MOV:
    case OP_NOT: take_predicate(l, *ir_use(fn, i, 0), value, op == OP_MOV ? holds : !holds, depth - 1, f); return;
    case OP_AND:
    case OP_OR:
        // Both operands have the same outcome.
        for (uint32_t k = 0; k < 2 && holds == (op == OP_AND); k++)
            take_predicate(l, *ir_use(fn, i, k), value, holds, depth - 1, f);
        return;
    default: return;
    }
}

static Subject subject_of(const Look *l, Operand p)
{
    const Fn *fn = l->k->fn;
    for (int k = 0; k < LOGIC; k++) {
        InstrId def = definition_of(l, p);
        const Instr *i = def ? ir_instr(fn, def) : NULL;
        Opcode op = i ? ir_desc(fn, i)->op : OP_BRA;
        if (op == OP_SETP)
            return (Subject){.x = copy_source(l->k->fn, l->k->a, *ir_use(fn, i, 0)),
                             .y = copy_source(l->k->fn, l->k->a, *ir_use(fn, i, 1))};
        if (op == OP_AND || op == OP_OR)
            return (Subject){.several = true};
        if (op != OP_MOV && op != OP_NOT)
            break;
        p = *ir_use(fn, i, 0);
    }
    return (Subject){.x = op_none(), .y = op_none()};
}

static void find_conditional(ValueRanges *k)
{
    const Analyses *a = k->a;
    k->conditional = NEW_ARRAY(k->arena, BlockId, k->fn->blocks.n);
    k->condition = NEW_ARRAY(k->arena, Condition, k->fn->blocks.n);
    for (uint32_t n = 0; n < a->nrpo; n++) {
        BlockId b = a->dom.order[n];
        Condition *c = &k->condition[b];
        __builtin_prefetch(ir_instr(k->fn, ir_terminator(k->fn, a->dom.order[MIN(n + AHEAD, a->nrpo - 1)])));
        c->branch = dominating_condition(k->fn, a, b, &c->holds);
        k->conditional[b] = c->branch ? b : n ? k->conditional[a->dom.idom[b]] : 0;
        if (c->branch)
            c->subject = subject_of(&(Look){k, NULL}, *ir_guard(k->fn, ir_instr(k->fn, c->branch)));
    }
}

// Returns a bit for an operand. Other operands may have the same bit.
static uint64_t bit_of(Operand o) { return (uint64_t)1 << o.word % 64; }

static void add_condition(Conditions *here, const Condition *c)
{
    here->condition[here->n++] = c;
    here->about |= c->subject.several ? UINT64_MAX : bit_of(c->subject.x) | bit_of(c->subject.y);
}

// Finds the last conditions that dominate a block.
static void find_conditions(const ValueRanges *k, BlockId at, Conditions *here)
{
    here->at = at;
    here->n = 0;
    here->about = 0;
    for (BlockId b = k->conditional[at]; here->n < CONDITIONS && b; b = k->conditional[k->a->dom.idom[b]])
        add_condition(here, &k->condition[b]);
}

// Finds the last conditions that hold on the edge from a block to another one.
static void find_edge_conditions(ValueRanges *k, BlockId from, BlockId to, Conditions *here)
{
    Condition *c = &here->edge;
    find_conditions(k, from, here);
    c->branch = edge_condition(k->fn, from, to, &c->holds);
    if (!c->branch)
        return;
    c->subject = subject_of(&(Look){k, NULL}, *ir_guard(k->fn, ir_instr(k->fn, c->branch)));
    add_condition(here, c);
}

static bool is_about(const Condition *c, Operand o)
{
    return c->subject.several || op_same(o, c->subject.x) || op_same(o, c->subject.y);
}

// Returns the source of the moves that define a register; the operand itself if no move does.
static Operand behind_moves(const ValueRanges *k, Operand o)
{
    InstrId def = def_of(k->a, op_index(o));
    return def && ir_desc(k->fn, ir_instr(k->fn, def))->op == OP_MOV ? copy_source(k->fn, k->a, o) : o;
}

static void take_conditions(const Look *l, Operand value, ValueRange *f)
{
    const ValueRanges *k = l->k;
    const Conditions *here = l->here;
    value = behind_moves(k, value);
    if (!(here->about & bit_of(value)))
        return;
    for (uint32_t n = 0; n < here->n; n++) {
        const Condition *c = here->condition[n];
        if (!is_about(c, value))
            continue;
        Operand guard = *ir_guard(k->fn, ir_instr(k->fn, c->branch));
        take_predicate(l, (Operand){guard.word, guard.mods & ~(uint32_t)OPM_NOT}, value, c->holds, LOGIC, f);
    }
}

// True if a condition may be about an operand of the instruction.
static bool is_about_operands(const Look *l, const Instr *i)
{
    const Conditions *here = l->here;
    for (uint32_t n = 0; n < ir_nuse(i); n++) {
        Operand o = *ir_use(l->k->fn, i, n);
        o = op_is_reg(o) && !o.mods ? behind_moves(l->k, o) : o;
        if (!op_is_reg(o) || !(here->about & bit_of(o)))
            continue;
        for (uint32_t c = 0; c < here->n; c++)
            if (is_about(here->condition[c], o))
                return true;
    }
    return false;
}

/* -- The memo ------------------------------------------------------------------------------------------- */

// Makes room for registers that are newer than the memo.
static void reserve(ValueRanges *k, ValueId v)
{
    if (v < k->nplaces)
        return;
    uint32_t n = MAX(2 * k->nplaces, v + 64), *places = NEW_ARRAY(k->arena, uint32_t, n);
    memcpy(places, k->place, k->nplaces * sizeof *places);
    k->place = places;
    k->nplaces = n;
}

static void memoize(ValueRanges *k, ValueId v, const ValueRange *r)
{
    if (range_is_full(r)) {
        k->place[v] = FULL;  // holds under any assumption
        return;
    }
    k->place[v] = k->known.n;
    VEC_PUSH(k->arena, &k->known, *r);
    if (k->open)
        VEC_PUSH(k->arena, &k->trail, v);
}

// Discards the ranges memoized since `trail` and `known` had these lengths.
static void forget(ValueRanges *k, uint32_t trail, uint32_t known)
{
    while (k->trail.n > trail)
        k->place[k->trail.at[--k->trail.n]] = UNKNOWN;
    k->known.n = known;
}

/* -- Phis ----------------------------------------------------------------------------------------------- */

// A phi: an instruction of ssa form, or a phi of AN_RDEFS.
typedef struct Phi {
    BlockId block;
    uint32_t bits, n;  // n inputs
    InstrId instr;     // 0: a phi of AN_RDEFS
    const ReachingPhi *reaching;
} Phi;

static ValueRange range_of_value(ValueRanges *k, ValueId v, uint32_t bits);

// Returns the block that input n comes from.
static BlockId input_block(const ValueRanges *k, const Phi *p, uint32_t n)
{
    if (!p->instr)
        return k->a->preds.at[k->a->preds.first[p->block] + n];
    return op_index(*ir_use(k->fn, ir_instr(k->fn, p->instr), 2 * n));
}

// Returns the range of input n at the end of the block that it comes from.
static ValueRange input_range(ValueRanges *k, const Phi *p, uint32_t n)
{
    const Fn *fn = k->fn;
    BlockId from = input_block(k, p, n);
    ValueId v = p->instr ? 0 : k->a->rdefs.input[p->reaching->inputs + n];
    bool joined = !p->instr && v >= k->a->rdefs.first_def;
    if (joined || (!p->instr && !v))
        return range_of_value(k, v, p->bits);
    Operand o = p->instr ? *ir_use(fn, ir_instr(fn, p->instr), 2 * n + 1) : op_reg(fn, v);
    Conditions here;
    if (!op_is_reg(o))
        return range_of_operand(&(Look){k, NULL}, o, 0);
    find_edge_conditions(k, from, p->block, &here);
    return range_of_operand(&(Look){k, here.n ? &here : NULL}, o, ASKED);
}

// Joins to *r the ranges of the inputs on back edges, or on other edges if not `back`. False: the join is full.
static bool join_inputs(ValueRanges *k, const Phi *p, bool back, ValueRange *r, bool *any)
{
    for (uint32_t n = 0; n < p->n; n++) {
        BlockId from = input_block(k, p, n);
        // An unreachable block passes no value on.
        if (!is_reachable(k->a, from) || dominates(k->a, p->block, from) != back)
            continue;
        ValueRange in = input_range(k, p, n);
        if (in.bits != p->bits)
            return false;
        *r = *any ? range_join(r, &in) : in;
        *any = true;
        if (range_is_full(r))
            return false;
    }
    return true;
}

// Returns the bits below the lowest bit that is known in `a` but not in `b`.
static uint64_t stable_bits(const ValueRange *a, const ValueRange *b)
{
    uint64_t changed = (a->zeros & ~b->zeros) | (a->ones & ~b->ones);
    return changed ? low_ones((uint32_t)__builtin_ctzll(changed)) : UINT64_MAX;
}

// Returns the join of an assumption and its result. Each bound that moved is widened to the end of the interval, the
// unsigned maximum first to the signed maximum, if that suffices.
static ValueRange widen(const ValueRange *old, const ValueRange *now)
{
    ValueRange join = range_join(old, now), wide = range_full(join.bits);
    uint64_t keep = stable_bits(old, &join), half = low_ones(join.bits - 1);
    uint64_t umax = join.umax == old->umax ? join.umax : join.umax <= half ? half : wide.umax;
    ValueRange u = range_unsigned(join.umin == old->umin ? join.umin : 0, umax, join.bits);
    ValueRange s = range_signed(join.smin == old->smin ? join.smin : wide.smin,
                                join.smax == old->smax ? join.smax : wide.smax, join.bits);
    ValueRange bits = range_of_bits(join.zeros & keep, join.ones & keep, join.bits);
    s = range_meet(&s, &u);
    return range_meet(&s, &bits);
}

// Returns an assumption that failed, narrowed to the bounds of its result that are inside it. A bound of the result is
// tighter if a comparison limits the value.
static ValueRange clip(const ValueRange *old, const ValueRange *now)
{
    ValueRange u = range_unsigned(MAX(old->umin, now->umin), MIN(old->umax, now->umax), old->bits);
    ValueRange s = range_signed(MAX(old->smin, now->smin), MIN(old->smax, now->smax), old->bits);
    s = range_meet(&s, &u);
    return range_meet(&s, old);
}

// Returns the next range to assume.
static ValueRange next_assumption(const ValueRange *old, const ValueRange *now, int round)
{
    switch (round) {
    case 0: return range_join(old, now);
    case 1: return widen(old, now);
    case 2: return clip(old, now);
    default: return range_full(old->bits);
    }
}

// Finds the range of a phi with back edges; `r` is the join of its other inputs. The first assumption that holds is
// narrowed once, to its result, if the result holds as an assumption.
static void iterate(ValueRanges *k, ValueId v, const Phi *p, const ValueRange *r)
{
    uint32_t trail = k->trail.n, place = k->known.n;
    ValueRange assumed = *r, held = range_full(p->bits);
    VEC_PUSH(k->arena, &k->known, assumed);
    for (int round = 0; !range_is_full(&assumed); round++) {
        ValueRange now = *r;
        bool any = true, narrowed = !range_is_full(&held);
        k->known.at[place] = assumed;
        k->place[v] = place;
        bool part = join_inputs(k, p, true, &now, &any), holds = part && range_is_within(&now, &assumed);
        if (holds && (narrowed || range_is_within(&assumed, &now))) {
            VEC_PUSH(k->arena, &k->trail, v);
            return;
        }
        forget(k, trail, place + 1);
        if (!part || (narrowed && !holds))
            break;
        if (holds)
            held = assumed;
        assumed = holds ? now : next_assumption(&assumed, &now, round);
    }
    k->known.n = place;
    memoize(k, v, &held);
}

// Joins the ranges of an operand at the ends of the blocks from which a loop is entered. False: the join is full.
static bool range_at_entries(ValueRanges *k, const Phi *p, Operand o, ValueRange *r)
{
    bool any = false;
    for (uint32_t n = 0; n < p->n; n++) {
        BlockId from = input_block(k, p, n);
        Conditions here;
        if (!is_reachable(k->a, from) || dominates(k->a, p->block, from))
            continue;
        find_edge_conditions(k, from, p->block, &here);
        ValueRange in = range_of_operand(&(Look){k, here.n ? &here : NULL}, o, ASKED);
        *r = any ? range_join(r, &in) : in;
        any = true;
    }
    return any && r->bits == p->bits && !range_is_full(r);
}

// Returns the range of a counter between its start and a bound, the one below the other. `strict`: the start differs
// from the bound. `apart`: so does the counter. The range is full if the start may be beyond the bound.
static ValueRange range_between(const ValueRange *start, const ValueRange *bound, bool up, bool strict, bool apart)
{
    const ValueRange *low = up ? start : bound, *high = up ? bound : start;
    ValueRange r = range_full(start->bits);
    int64_t above = !up && apart, below = up && apart;
    if ((strict ? low->smax < high->smin : low->smax <= high->smin) && (!apart || low->smin < high->smax))
        r = range_signed(low->smin + above, high->smax - below, r.bits);
    if ((strict ? low->umax < high->umin : low->umax <= high->umin) && (!apart || low->umin < high->umax)) {
        ValueRange u = range_unsigned(low->umin + (uint64_t)above, high->umax - (uint64_t)below, r.bits);
        r = range_meet(&r, &u);
    }
    return r;
}

// Returns the range of a counter with step 1 or -1 whose loop goes on only while it differs from a bound. `start` is
// its range at the entries. If the start is not beyond the bound, the counter never is: it takes each value between,
// and goes on from the bound in no iteration. With another step it might jump over the bound. `other`: an operand that
// the counter differs from at the query; K_NONE = none.
static ValueRange range_of_counter(ValueRanges *k, const Phi *p, const ValueRange *start, Operand other)
{
    Induction c;
    InductionTest t;
    ValueRange r = range_full(p->bits), bound;
    if (!p->instr || !induction_of(k->fn, k->a, p->instr, &c) || (c.step != 1 && c.step != -1))
        return r;
    for (uint32_t n = 0; induction_test(k->fn, k->a, &c, n, &t); n++) {
        if (t.cmp != RC_NE || !range_at_entries(k, p, t.bound, &bound))
            continue;
        ValueRange more = range_between(start, &bound, c.step > 0, t.of_next, t.of_next || op_same(other, t.bound));
        r = range_meet(&r, &more);
    }
    return r;
}

// Returns the range of a value that differs from another one, if the value is a counter and the other one its bound.
static ValueRange range_apart(ValueRanges *k, Operand value, Operand other)
{
    InstrId def = def_of(k->a, op_index(value));
    const Instr *i = ir_instr(k->fn, def);
    Phi p = {.block = i->block, .bits = bits_of(k->fn, value), .n = ir_nuse(i) / 2, .instr = def};
    ValueRange start = range_full(p.bits);
    bool any = false;
    if (k->open || k->apart || ir_desc(k->fn, i)->op != OP_PHI)
        return range_full(p.bits);
    k->apart = true;
    bool joined = join_inputs(k, &p, false, &start, &any) && any;
    k->apart = false;
    if (!joined)
        return range_full(p.bits);
    return range_of_counter(k, &p, &start, other);
}

static ValueRange find_phi(ValueRanges *k, ValueId v, const Phi *p)
{
    ValueRange r = range_full(p->bits);
    bool any = false, loops = false;
    for (uint32_t n = 0; n < p->n; n++)
        loops |= dominates(k->a, p->block, input_block(k, p, n));
    if (loops && k->open == NEST)
        return r;
    k->place[v] = BUSY + k->open;
    if (!join_inputs(k, p, false, &r, &any) || !any)
        r = range_full(p->bits);
    if (!loops || range_is_full(&r)) {
        memoize(k, v, &r);
        return r;
    }
    ValueRange counter = range_of_counter(k, p, &r, op_none());
    if (!range_is_full(&counter)) {
        memoize(k, v, &counter);
        return counter;
    }
    if (!k->open++)
        k->work = 0;
    iterate(k, v, p, &r);
    if (!--k->open)
        k->trail.n = 0;
    return k->place[v] == FULL ? range_full(p->bits) : k->known.at[k->place[v]];
}

/* -- Values --------------------------------------------------------------------------------------------- */

static ValueRange compute_value(ValueRanges *k, ValueId v, uint32_t bits)
{
    const Fn *fn = k->fn;
    Phi p = {.bits = bits};
    if (k->joined && value_is_phi(k->a, v)) {
        p.reaching = value_phi(k->a, v);
        p.block = p.reaching->block;
        p.n = pred_count(k->a, p.block);
        // Control also enters the entry from outside, with an undefined value.
        return p.block == fn->first ? range_full(bits) : find_phi(k, v, &p);
    }
    bool plain = !k->joined || v < k->a->rdefs.first_def;
    InstrId def = plain ? def_of(k->a, v) : value_def(k->a, v);
    const Instr *i = def ? ir_instr(fn, def) : NULL;
    if (!i || (!plain && i->ndef != 1) || !is_reachable(k->a, i->block))
        return range_full(bits);
    if (ir_desc(fn, i)->op == OP_PHI) {
        p.instr = def;
        p.block = i->block;
        p.n = ir_nuse(i) / 2;
        return find_phi(k, v, &p);
    }
    ValueRange r = definition(&(Look){k, NULL}, def, op_index(*ir_def(fn, i, 0)), bits, 0);
    memoize(k, v, &r);
    return r;
}

// Returns the range of a value, which holds at all uses.
static ValueRange range_of_value(ValueRanges *k, ValueId v, uint32_t bits)
{
    if (!v || v == VALUE_ANY)
        return range_full(bits);
    reserve(k, v);
    uint32_t place = k->place[v];
    if (place >= FIRST_KNOWN)
        return k->known.at[place];
    // Only an irreducible cycle leads back to this phi before a range is assumed for a phi of the cycle.
    if (place == FULL || place == BUSY + k->open)
        return range_full(bits);
    if (k->depth == DEPTH || (k->open && k->work == WORK))
        return range_full(bits);
    k->depth++;
    k->work += k->open != 0;
    ValueRange r = compute_value(k, v, bits);
    k->depth--;
    return r;
}

// True if an operand has the full range, and a few tests show it.
static bool is_unknown(const Look *l, Operand o, int asked)
{
    const ValueRanges *k = l->k;
    const Fn *fn = k->fn;
    if (!op_is_reg(o) || o.mods)
        return false;
    RegId r = op_index(o);
    InstrId def = def_of(k->a, r);
    if (!def)
        return !k->joined || !def_is_joined(k->a, r);
    bool conditions = l->here && asked;
    if (conditions && l->here->about & bit_of(o))
        return false;
    if (!conditions && r < k->nplaces && k->place[r] == FULL)
        return true;
    const Instr *i = ir_instr(fn, def);
    const Desc *d = ir_desc(fn, i);
    if (d->op != OP_LD && d->op != OP_LDU)
        return false;
    ValueRange range = load(tab_mnem(fn->tables, d->mnem), bits_of(fn, o));
    return range_is_full(&range);
}

// Returns the range of an operand. Conditions apply `asked` definitions deep, besides moves.
static ValueRange range_of_operand(const Look *l, Operand o, int asked)
{
    const Fn *fn = l->k->fn;
    uint32_t bits = bits_of(fn, o);
    o = l->here && op_is_reg(o) && !o.mods ? behind_moves(l->k, o) : o;
    if (op_is_const(o) && !o.mods && bits)
        return range_constant(tab_const(fn->tables, op_index(o)).bits, bits);
    InstrId def = definition_of(l, o);
    if (!def || o.mods || bits < 8)
        return range_full(bits ? bits : 64);
    ValueRange f = range_of_value(l->k, op_index(o), bits);
    if (!l->here || !asked)
        return f;
    if (is_about_operands(l, ir_instr(fn, def))) {
        ValueRange more = definition(l, def, op_index(o), bits, asked - 1);
        f = range_meet(&f, &more);
    }
    take_conditions(l, o, &f);
    return f;
}

static ValueRange range_of_use(const Look *l, InstrId id, uint32_t k, int asked)
{
    const ValueRanges *v = l->k;
    Operand o = ir_ops(v->fn, ir_instr(v->fn, id))[k];
    uint32_t bits = bits_of(v->fn, o);
    if (!v->joined || !op_is_reg(o) || o.mods || bits < 8 || !def_is_joined(v->a, op_index(o)))
        return range_of_operand(l, o, asked);
    return range_of_value(l->k, value_of(v->fn, v->a, id, k), bits);
}

void value_ranges_init(ValueRanges *k, const Fn *fn, const Analyses *a, bool joined, EvalCache *evals, Arena *arena)
{
    *k = (ValueRanges){.fn = fn, .a = a, .joined = joined, .evals = evals, .arena = arena};
    read_directives(k);
}

// Makes the tables at the first query.
static void prepare(ValueRanges *k)
{
    find_conditional(k);
    k->nplaces = MAX(k->fn->regs.n, k->joined ? value_count(k->a) : 0);
    k->place = NEW_ARRAY(k->arena, uint32_t, k->nplaces);
    k->here = NEW(k->arena, Conditions);
    for (uint32_t n = 0; n < FIRST_KNOWN; n++)
        VEC_PUSH(k->arena, &k->known, ((ValueRange){0}));
}

// Returns the conditions that dominate a block, NULL if there are none.
static const Conditions *conditions_at(ValueRanges *k, BlockId at)
{
    if (!k->conditional)
        prepare(k);
    if (!is_reachable(k->a, at) || !k->conditional[at])
        return NULL;
    if (k->here->at != at)
        find_conditions(k, at, k->here);
    return k->here;
}

ValueRange value_range(ValueRanges *k, Operand o, BlockId at)
{
    const Conditions *here = conditions_at(k, at);
    return range_of_operand(&(Look){k, here}, o, ASKED);
}

bool value_is_unknown(ValueRanges *k, Operand o, BlockId at)
{
    const Conditions *here = conditions_at(k, at);
    return is_unknown(&(Look){k, here}, o, ASKED);
}

ValueRange value_range_of_use(ValueRanges *k, InstrId i, uint32_t n)
{
    const Conditions *here = conditions_at(k, ir_instr(k->fn, i)->block);
    return range_of_use(&(Look){k, here}, i, n, ASKED);
}

ValueRange value_range_of_value(ValueRanges *k, ValueId v)
{
    const ReachingDefs *rd = &k->a->rdefs;
    RegId r = v;
    conditions_at(k, k->fn->first);
    if (!v || v == VALUE_ANY)
        return range_full(64);
    if (v >= rd->first_def && value_is_phi(k->a, v)) {
        r = value_phi(k->a, v)->reg;
    } else if (v >= rd->first_def) {
        const Occurrence *at = &rd->at[rd->defs[v - rd->first_def]];
        const Instr *i = ir_instr(k->fn, at->instr);
        r = op_index(ir_ops(k->fn, i)[at->op - i->ops]);
    }
    uint32_t bits = bits_of(k->fn, op_reg(k->fn, r));
    return bits < 8 ? range_full(64) : range_of_value(k, v, bits);
}
