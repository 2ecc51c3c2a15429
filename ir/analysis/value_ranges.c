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

static bool is_integer(const TypeInfo *t) { return t->class == TC_U || t->class == TC_S; }

static ValueRange conversion(const Look *l, const Instr *i, const Mnem *m, int depth)
{
    const TypeInfo *to = &type_info[m->type[0]], *from = &type_info[m->type[1]];
    uint32_t bits = bits_of(l->k->fn, *ir_def(l->k->fn, i, 0));
    if (!is_integer(to) || !is_integer(from) || width_bits(to->width) != bits)
        return range_full(bits);
    // The low bits of what is read, which may be wider.
    ValueRange x = look(l, *ir_use(l->k->fn, i, 0), depth);
    if (x.bits < width_bits(from->width))
        return range_full(bits);
    x = range_resize(&x, width_bits(from->width), false);
    return range_resize(&x, bits, from->class == TC_S);
}

// Whether a field of n bits from bit `from` on is known, and is one of a number of so many bits.
static bool is_field(const ValueRange *from, const ValueRange *n, uint32_t bits)
{
    return from->umin == from->umax && n->umin == n->umax && from->umin <= bits && n->umin <= bits &&
           from->umin + n->umin <= bits;
}

static ValueRange insertion(const ValueRange *x, const ValueRange *into, const ValueRange *from, const ValueRange *n,
                            uint32_t bits)
{
    if (into->bits != bits || !is_field(from, n, bits))
        return range_full(bits);
    ValueRange mask = range_constant(low_ones((uint32_t)n->umin), bits), rest;
    mask = range_shl(&mask, from);
    rest = range_not(&mask);
    ValueRange moved = range_shl(x, from), inside = range_and(&moved, &mask), outside = range_and(into, &rest);
    return range_or(&inside, &outside);
}

// Bit by bit: what the table has for all that the inputs may be there.
static ValueRange looked_up(const ValueRange *x, const ValueRange *y, const ValueRange *z, uint64_t table,
                            uint32_t bits)
{
    uint64_t may[2] = {0, 0};  // where the result may be 0, and 1
    for (uint32_t k = 0; k < 8; k++)
        may[table >> k & 1] |=
            ~(k & 4 ? x->zeros : x->ones) & ~(k & 2 ? y->zeros : y->ones) & ~(k & 1 ? z->zeros : z->ones);
    return range_of_bits(~may[1] & low_ones(bits), ~may[0] & low_ones(bits), bits);
}

static ValueRange field(const ValueRange *x, const ValueRange *from, const ValueRange *n, uint32_t bits)
{
    if (!is_field(from, n, bits))
        return range_full(bits);
    ValueRange mask = range_constant(low_ones((uint32_t)n->umin), bits), moved = range_shr(x, from, false);
    return range_and(&moved, &mask);
}

static ValueRange load(const Mnem *m, const TypeInfo *type, uint32_t bits)
{
    uint32_t width = width_bits(type->width);
    ValueRange any = range_full(width);
    if (width >= bits || m->mod[MC_VEC] || type->class == TC_F)
        return range_full(bits);
    return range_resize(&any, bits, type->class == TC_S);
}

// Of the register of `bits` bits that it defines.
static ValueRange definition(const Look *l, const Instr *i, uint32_t bits, int depth)
{
    const Fn *fn = l->k->fn;
    const Desc *d = ir_desc(fn, i);
    const Mnem *m = tab_mnem(fn->tables, d->mnem);
    const TypeInfo *type = &type_info[m->type[0]];
    bool is_signed = type->class == TC_S;
    // A guarded definition leaves what was there before, or makes that.
    if (i->ndef != 1 || ir_guarded(i))
        return range_full(bits);
    if (d->op == OP_LD)
        return load(m, type, bits);
    if (tab_str(fn->tables, m->suffix).len)
        return range_full(bits);
    for (int c = 0; c < MC_COUNT; c++)
        if (m->mod[c])
            return range_full(bits);
    if (type->class == TC_F || type->class == TC_X || type->class == TC_O || type->class == TC_P)
        return range_full(bits);
    ValueRange x, y, z, w;
    uint32_t n = ir_nuse(i);
    if (d->op == OP_CVT)
        return conversion(l, i, m, depth);
    switch (d->op) {
    case OP_POPC:
    case OP_CLZ: return range_unsigned(0, width_bits(type->width), bits);
    case OP_MOV:
        if (op_kind(*ir_use(fn, i, 0)) == K_SREG) {
            x = special_register(l->k, op_index(*ir_use(fn, i, 0)));
            return range_resize(&x, bits, false);
        }
        x = look(l, *ir_use(fn, i, 0), depth);
        return x.bits == bits ? x : range_full(bits);
    case OP_NOT:
    case OP_NEG:
    case OP_ABS:
    case OP_ADD:
    case OP_SUB:
    case OP_MUL_LO:
    case OP_MUL_WIDE:
    case OP_MAD_LO:
    case OP_DIV:
    case OP_REM:
    case OP_MIN:
    case OP_MAX:
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_SHL:
    case OP_SHR:
    case OP_SELP:
    case OP_BFE: break;
    case OP_BFI:
    case OP_LOP3: depth = MAX(depth - 2, 0); break;  // of three values each
    default: return range_full(bits);
    }
    x = look(l, *ir_use(fn, i, 0), depth);
    y = n > 1 ? look(l, *ir_use(fn, i, 1), depth) : x;
    z = n > 2 ? look(l, *ir_use(fn, i, 2), depth) : x;
    w = n > 3 ? look(l, *ir_use(fn, i, 3), depth) : x;
    bool shift = d->op == OP_SHL || d->op == OP_SHR || d->op == OP_BFE;
    if (x.bits != width_bits(type->width) || (!shift && y.bits != x.bits))
        return range_full(bits);
    ValueRange zero = range_constant(0, x.bits);
    switch (d->op) {
    case OP_NOT: return range_not(&x);
    case OP_NEG: return range_sub(&zero, &x);
    case OP_ABS: return range_abs(&x);
    case OP_ADD: return range_add(&x, &y);
    case OP_SUB: return range_sub(&x, &y);
    case OP_MUL_LO: return range_mul(&x, &y);
    case OP_MUL_WIDE:
        x = range_resize(&x, bits, is_signed);
        y = range_resize(&y, bits, is_signed);
        return range_mul(&x, &y);
    case OP_MAD_LO: x = range_mul(&x, &y); return x.bits == z.bits ? range_add(&x, &z) : range_full(bits);
    case OP_DIV: return range_div(&x, &y, is_signed);
    case OP_REM: return range_rem(&x, &y, is_signed);
    case OP_MIN: return range_min(&x, &y, is_signed);
    case OP_MAX: return range_max(&x, &y, is_signed);
    case OP_AND: return range_and(&x, &y);
    case OP_OR: return range_or(&x, &y);
    case OP_XOR: return range_xor(&x, &y);
    case OP_SHL: return range_shl(&x, &y);
    case OP_SHR: return range_shr(&x, &y, is_signed);
    case OP_SELP: return range_join(&x, &y);
    case OP_LOP3: return looked_up(&x, &y, &z, w.umin, bits);
    case OP_BFI: return insertion(&x, &y, &z, &w, bits);
    case OP_BFE: return is_signed ? range_full(bits) : field(&x, &y, &z, bits);
    default: return range_full(bits);
    }
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
        (!is_integer(type) && type->class != TC_B) || width_bits(type->width) != f->bits)
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
    ValueRange f = definition(l, ir_instr(l->k->fn, def), bits, depth - 1);
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
        f = definition(l, ir_instr(fn, def), bits, depth - 1);
    take_conditions(l, o, &f);
    return f;
}

void value_ranges_init(ValueRanges *k, const Fn *fn, const Analyses *a, DefinitionOf *definition, const void *user,
                       Arena *arena)
{
    *k = (ValueRanges){.fn = fn, .a = a, .definition = definition, .user = user, .arena = arena};
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
