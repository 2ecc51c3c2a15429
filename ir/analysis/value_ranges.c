// SPDX-License-Identifier: MIT
// Value ranges: a look at the instructions behind a value, DEPTH of them deep, at the special registers that it comes
// from, and at the last CONDITIONS that the block runs under.
//
// A condition on a value that is defined once holds wherever its block dominates. On any way there the condition was
// evaluated behind the last definition of the value: otherwise the part of the way from that definition on, behind any
// way to the definition for the first time, would lead there without the condition. So it is with the definitions
// between a value and one that it is computed from.
#include "ir/analysis/value_ranges.h"

enum {
    DEPTH = 6,
    ASKED = 2,    // so deep conditions count, too
    FEWEST = 64,  // that are remembered
    MOST = 4096,
    CONDITIONS = 6,
    LOGIC = 3,  // predicates made of predicates
    MOVES = 3,  // that are looked through
    AHEAD = 8,  // the block whose terminator is asked for
};

typedef struct Look {
    const ValueRanges *k;
    BlockId at;  // 0: conditions do not count
} Look;

// What a condition compares, moves looked through; with several comparisons in it nobody knows.
typedef struct Subject {
    bool several;
    Operand x, y;
} Subject;

typedef struct Condition {
    BlockId block;  // runs under it
    Subject subject;
} Condition;

static uint32_t bits_of(const Fn *fn, Operand o)
{
    uint32_t bits = op_is_reg(o)          ? width_bits((Width)ir_reg(fn, op_index(o))->width)
                    : op_kind(o) == K_IMM ? width_bits(tab_const(fn->tables, op_index(o)).width)
                                          : 0;
    return bits <= 64 ? bits : 0;
}

typedef struct Remembered {
    RegId reg;  // 0 = none
    ValueRange range;
} Remembered;

static ValueRange look(const Look *l, Operand o, int depth);

/* -- Special registers ---------------------------------------------------------------------------------- */

static void read_directives(ValueRanges *k)
{
    const Fn *fn = k->fn;
    for (uint32_t n = 0; n < fn->directives.n && fn->flags & FN_KERNEL; n++) {
        const Directive *d = &fn->directives.at[n];
        Str text = tab_str(fn->tables, d->text);
        bool exactly = text.len == 8 && memcmp(text.text, ".reqntid", 8) == 0;
        bool at_most = text.len == 8 && memcmp(text.text, ".maxntid", 8) == 0;
        if ((!exactly && !at_most) || !d->n)
            continue;
        uint64_t product = 1;
        for (uint32_t v = 0; v < d->n; v++)
            product = MIN(product * d->value[v], 1024u);
        if (product && (!k->threads || product < k->threads))
            k->threads = (uint32_t)product;
        for (uint32_t v = 0; v < 3 && exactly; v++)
            k->size[v] = v < d->n ? d->value[v] : 1;
    }
}

static ValueRange special_register(const ValueRanges *k, uint32_t sreg)
{
    const SregInfo *info = &sreg_info[sreg];
    uint64_t least = info->least, most = info->most ? info->most : low_ones(width_bits(info->width));
    const char *place = strchr(info->name, '.');
    uint32_t dim = place ? (uint32_t)(place[1] - 'x') : 3;
    bool tid = strncmp(info->name, "%tid.", 5) == 0, ntid = strncmp(info->name, "%ntid.", 6) == 0;
    if ((tid || ntid) && dim < 3) {
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

static ValueRange load(const Mnem *m, const TypeInfo *type, uint32_t bits)
{
    uint32_t width = width_bits(type->width);
    ValueRange any = range_full(width);
    if (width >= bits || m->mod[MC_VEC] || type->class == TC_F)
        return range_full(bits);
    return range_resize(&any, bits, type->class == TC_S);
}

// Returns the range of register `r` of `bits` bits, which the instruction defines.
static ValueRange definition(const Look *l, const Instr *i, RegId r, uint32_t bits, int depth)
{
    const Fn *fn = l->k->fn;
    const Desc *d = ir_desc(fn, i);
    uint32_t n = ir_nuse(i);
    ValueRange in[EVAL_IN_MAX], result;
    // A guarded definition may leave the value from before.
    if (ir_guarded(i) || op_index(*ir_def(fn, i, 0)) != r)
        return range_full(bits);
    if (d->op == OP_LD) {
        const Mnem *m = tab_mnem(fn->tables, d->mnem);
        return load(m, &type_info[m->type[0]], bits);
    }
    if (d->op == OP_MOV && op_kind(*ir_use(fn, i, 0)) == K_SREG) {
        result = special_register(l->k, op_index(*ir_use(fn, i, 0)));
        return range_resize(&result, bits, false);
    }
    const Eval *e = eval_cached(l->k->evals, i->desc);
    if (!e || e->nin != n || !range_has_transfer(e))
        return range_full(bits);
    if (n > 3)
        depth = MAX(depth - 2, 0);
    for (uint32_t k = 0; k < n; k++)
        in[k] = look(l, *ir_use(fn, i, k), depth);
    result = range_transfer(e, in);
    return range_resize(&result, bits, e->is_signed);
}

/* -- Conditions ----------------------------------------------------------------------------------------- */

static InstrId definition_of(const Look *l, Operand o)
{
    return op_is_reg(o) && !(o.mods & ~(uint32_t)OPM_NOT) ? l->k->definition(l->k->user, op_index(o)) : 0;
}

// What it is a copy of: moves do not change a value.
static Operand source_of(const Look *l, Operand o)
{
    const Fn *fn = l->k->fn;
    for (int k = 0; k < MOVES; k++) {
        InstrId def = definition_of(l, o);
        const Instr *i = def ? ir_instr(fn, def) : NULL;
        if (!i || ir_desc(fn, i)->op != OP_MOV || ir_guarded(i))
            break;
        Operand from = *ir_use(fn, i, 0);
        if (!op_is_reg(from) || bits_of(fn, from) != bits_of(fn, o) || !definition_of(l, from))
            break;
        o = from;
    }
    return o;
}

static bool compares(Mod cmp, RangeCompare *c, bool *is_unsigned)
{
    static const struct {
        Mod mod;
        RangeCompare c;
        bool is_unsigned;
    } all[] = {{MOD_EQ, RC_EQ, 0}, {MOD_NE, RC_NE, 0}, {MOD_LT, RC_LT, 0}, {MOD_LE, RC_LE, 0}, {MOD_GT, RC_GT, 0},
               {MOD_GE, RC_GE, 0}, {MOD_LO, RC_LT, 1}, {MOD_LS, RC_LE, 1}, {MOD_HI, RC_GT, 1}, {MOD_HS, RC_GE, 1}};
    for (size_t k = 0; k < ARRAY_LEN(all); k++)
        if (all[k].mod == cmp) {
            *c = all[k].c;
            *is_unsigned |= all[k].is_unsigned;
            return true;
        }
    return false;
}

static const RangeCompare opposite[] = {RC_NE, RC_EQ, RC_GE, RC_GT, RC_LE, RC_LT};  // by what is not so
static const RangeCompare mirrored[] = {RC_EQ, RC_NE, RC_GT, RC_GE, RC_LT, RC_LE};  // by what is, the other way round

// What a comparison says of a value if it came out so.
static void take_comparison(const Look *l, const Instr *i, Operand value, bool holds, ValueRange *f)
{
    const Fn *fn = l->k->fn;
    const Desc *d = ir_desc(fn, i);
    const Mnem *m = tab_mnem(fn->tables, d->mnem);
    const TypeInfo *type = &type_info[m->type[0]];
    bool is_unsigned = type->class != TC_S;
    RangeCompare cmp;
    if (!d->plain || i->ndef != 1 || m->mod[MC_BOOL] || !compares((Mod)m->mod[MC_CMP], &cmp, &is_unsigned) ||
        (type->class != TC_U && type->class != TC_S && type->class != TC_B) || width_bits(type->width) != f->bits)
        return;
    Operand x = *ir_use(fn, i, 0), y = *ir_use(fn, i, 1);
    bool first = op_same(source_of(l, x), value);
    if (!first && !op_same(source_of(l, y), value))
        return;
    Look plainly = {l->k, 0};
    ValueRange other = look(&plainly, first ? y : x, DEPTH);
    if (other.bits != f->bits)
        return;
    cmp = first ? cmp : mirrored[cmp];
    ValueRange more = range_of_comparison(holds ? cmp : opposite[cmp], !is_unsigned, &other);
    *f = range_meet(f, &more);
}

// The same of a predicate, which may be made of others.
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
        // Both came out so.
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
            return (Subject){.x = source_of(l, *ir_use(fn, i, 0)), .y = source_of(l, *ir_use(fn, i, 1))};
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
    bool holds;
    k->conditional = NEW_ARRAY(k->arena, BlockId, k->fn->blocks.n);
    k->subject = NEW_ARRAY(k->arena, Subject, k->fn->blocks.n);
    for (uint32_t n = 0; n < a->nrpo; n++) {
        BlockId b = a->dom.order[n];
        __builtin_prefetch(ir_instr(k->fn, ir_terminator(k->fn, a->dom.order[MIN(n + AHEAD, a->nrpo - 1)])));
        InstrId branch = dominating_condition(k->fn, a, b, &holds);
        k->conditional[b] = branch ? b : n ? k->conditional[a->dom.idom[b]] : 0;
        if (branch)
            k->subject[b] = subject_of(&(Look){k, b}, *ir_guard(k->fn, ir_instr(k->fn, branch)));
    }
}

// An operand as one of 64 bits, which others may have, too.
static uint64_t bit_of(Operand o) { return (uint64_t)1 << o.word % 64; }

// The conditions that a block runs under, which most questions about it have nothing to do with.
static void go_to(ValueRanges *k, BlockId at)
{
    k->at = at;
    k->nhere = 0;
    k->about = 0;
    for (BlockId b = k->conditional[at]; k->nhere < CONDITIONS && b; b = k->conditional[k->a->dom.idom[b]]) {
        const Subject *s = &k->subject[b];
        k->here[k->nhere++] = (Condition){b, *s};
        k->about |= s->several ? UINT64_MAX : bit_of(s->x) | bit_of(s->y);
    }
}

static bool is_about(const Condition *c, Operand o)
{
    return c->subject.several || op_same(o, c->subject.x) || op_same(o, c->subject.y);
}

static void take_conditions(const Look *l, Operand value, ValueRange *f)
{
    const ValueRanges *k = l->k;
    bool holds = false;
    value = source_of(l, value);
    if (!(k->about & bit_of(value)))
        return;
    for (const Condition *c = k->here; c < k->here + k->nhere; c++) {
        if (!is_about(c, value))
            continue;
        InstrId branch = dominating_condition(k->fn, k->a, c->block, &holds);
        Operand guard = *ir_guard(k->fn, ir_instr(k->fn, branch));
        take_predicate(l, (Operand){guard.word, guard.mods & ~(uint32_t)OPM_NOT}, value, holds, LOGIC, f);
    }
}

// Whether a block runs under a condition that may be on what an instruction reads.
static bool is_about_operands(const Look *l, const Instr *i)
{
    const ValueRanges *k = l->k;
    for (uint32_t n = 0; n < ir_nuse(i); n++) {
        Operand o = *ir_use(k->fn, i, n);
        if (!op_is_reg(o) || !(k->about & bit_of(o)))
            continue;
        for (const Condition *c = k->here; c < k->here + k->nhere; c++)
            if (is_about(c, o))
                return true;
    }
    return false;
}

/* -- Values --------------------------------------------------------------------------------------------- */

static Remembered *place_of(const ValueRanges *k, RegId r) { return &k->remembered[r & (k->nremembered - 1)]; }

// What holds of a register wherever it is read. Some of it is remembered, so that a walk over a function, which asks
// for one value after the other, looks at most definitions once.
static ValueRange look_anywhere(const Look *l, RegId r, InstrId def, uint32_t bits, int depth)
{
    Remembered *place = place_of(l->k, r);
    if (place->reg == r)
        return place->range;
    if (!depth)
        return range_full(bits);
    ValueRange f = definition(l, ir_instr(l->k->fn, def), r, bits, depth - 1);
    *place = (Remembered){r, f};
    return f;
}

static ValueRange look(const Look *l, Operand o, int depth)
{
    const Fn *fn = l->k->fn;
    uint32_t bits = bits_of(fn, o);
    if (op_kind(o) == K_IMM && op_index(o) != CONST_UNDEF && !o.mods && bits)
        return range_constant(tab_const(fn->tables, op_index(o)).bits, bits);
    InstrId def = definition_of(l, o);
    if (!def || o.mods || bits < 8)
        return range_full(bits ? bits : 64);
    if (!l->at)
        return look_anywhere(l, op_index(o), def, bits, depth);
    ValueRange f = look(&(Look){l->k, 0}, o, DEPTH);
    if (!depth)
        return f;
    if (is_about_operands(l, ir_instr(fn, def)))
        f = definition(l, ir_instr(fn, def), op_index(o), bits, depth - 1);
    take_conditions(l, o, &f);
    return f;
}

void value_ranges_init(ValueRanges *k, const Fn *fn, const Analyses *a, DefinitionOf *definition, const void *user,
                       EvalCache *evals, Arena *arena)
{
    *k = (ValueRanges){.fn = fn, .a = a, .definition = definition, .user = user, .evals = evals, .arena = arena};
    read_directives(k);
}

// The first question.
static void begin(ValueRanges *k)
{
    find_conditional(k);
    k->nremembered = FEWEST;
    while (k->nremembered < MOST && k->nremembered < k->fn->regs.n / 4)
        k->nremembered *= 2;
    k->remembered = NEW_ARRAY(k->arena, Remembered, k->nremembered);
    k->here = NEW_ARRAY(k->arena, Condition, CONDITIONS);
}

ValueRange value_range(ValueRanges *k, Operand o, BlockId at)
{
    if (!k->conditional)
        begin(k);
    bool reached = k->a->rpo_index[at] != UINT32_MAX;
    bool conditions = reached && k->conditional[at] != 0;
    if (conditions && k->at != at)
        go_to(k, at);
    return conditions ? look(&(Look){k, at}, o, ASKED) : look(&(Look){k, 0}, o, DEPTH);
}
