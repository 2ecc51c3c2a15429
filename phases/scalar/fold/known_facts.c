// SPDX-License-Identifier: MIT
// Known facts: a look at the instructions behind a value, DEPTH of them deep, at the special registers that it comes
// from, and at the last CONDITIONS that the block runs under.
//
// A condition on a value that is defined once holds wherever its block dominates. On any way there the condition was
// evaluated behind the last definition of the value: otherwise the part of the way from that definition on, behind any
// way to the definition for the first time, would lead there without the condition. So it is with the definitions
// between a value and one that it is computed from.
#include "phases/scalar/fold/known_facts.h"

enum {
    DEPTH = 6,
    ASKED = 2,    // so deep conditions count, too
    FEWEST = 64,  // that are remembered
    MOST = 4096,
    CONDITIONS = 6,
    LOGIC = 3,  // predicates made of predicates
    AHEAD = 8,  // the block whose terminator is asked for
};

typedef struct Look {
    const KnownFacts *k;
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
    Facts facts;
} Remembered;

static Facts look(const Look *l, Operand o, int depth);

/* -- Special registers ---------------------------------------------------------------------------------- */

static void read_directives(KnownFacts *k)
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

static Facts special_register(const KnownFacts *k, uint32_t sreg)
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
    return facts_unsigned(least, most, width_bits(info->width));
}

/* -- Definitions ---------------------------------------------------------------------------------------- */

static bool is_integer(const TypeInfo *t) { return t->class == TC_U || t->class == TC_S; }

static Facts conversion(const Look *l, const Instr *i, const Mnem *m, int depth)
{
    const TypeInfo *to = &type_info[m->type[0]], *from = &type_info[m->type[1]];
    uint32_t bits = bits_of(l->k->fn, *ir_def(l->k->fn, i, 0));
    if (!is_integer(to) || !is_integer(from) || width_bits(to->width) != bits)
        return facts_any(bits);
    // The low bits of what is read, which may be wider.
    Facts x = look(l, *ir_use(l->k->fn, i, 0), depth);
    if (x.bits < width_bits(from->width))
        return facts_any(bits);
    x = facts_resized(&x, width_bits(from->width), false);
    return facts_resized(&x, bits, from->class == TC_S);
}

// Whether a field of n bits from bit `from` on is known, and is one of a number of so many bits.
static bool is_field(const Facts *from, const Facts *n, uint32_t bits)
{
    return from->umin == from->umax && n->umin == n->umax && from->umin <= bits && n->umin <= bits &&
           from->umin + n->umin <= bits;
}

static Facts insertion(const Facts *x, const Facts *into, const Facts *from, const Facts *n, uint32_t bits)
{
    if (into->bits != bits || !is_field(from, n, bits))
        return facts_any(bits);
    Facts mask = facts_constant(low_ones((uint32_t)n->umin), bits), rest;
    mask = facts_shl(&mask, from);
    rest = facts_not(&mask);
    Facts moved = facts_shl(x, from), inside = facts_and(&moved, &mask), outside = facts_and(into, &rest);
    return facts_or(&inside, &outside);
}

// Bit by bit: what the table has for all that the inputs may be there.
static Facts looked_up(const Facts *x, const Facts *y, const Facts *z, uint64_t table, uint32_t bits)
{
    uint64_t may[2] = {0, 0};  // where the result may be 0, and 1
    for (uint32_t k = 0; k < 8; k++)
        may[table >> k & 1] |=
            ~(k & 4 ? x->zeros : x->ones) & ~(k & 2 ? y->zeros : y->ones) & ~(k & 1 ? z->zeros : z->ones);
    return facts_bits(~may[1] & low_ones(bits), ~may[0] & low_ones(bits), bits);
}

static Facts field(const Facts *x, const Facts *from, const Facts *n, uint32_t bits)
{
    if (!is_field(from, n, bits))
        return facts_any(bits);
    Facts mask = facts_constant(low_ones((uint32_t)n->umin), bits), moved = facts_shr(x, from, false);
    return facts_and(&moved, &mask);
}

static Facts load(const Mnem *m, const TypeInfo *type, uint32_t bits)
{
    uint32_t width = width_bits(type->width);
    Facts any = facts_any(width);
    if (width >= bits || m->mod[MC_VEC] || type->class == TC_F)
        return facts_any(bits);
    return facts_resized(&any, bits, type->class == TC_S);
}

// Of the register of `bits` bits that it defines.
static Facts definition(const Look *l, const Instr *i, uint32_t bits, int depth)
{
    const Fn *fn = l->k->fn;
    const Desc *d = ir_desc(fn, i);
    const Mnem *m = tab_mnem(fn->tables, d->mnem);
    const TypeInfo *type = &type_info[m->type[0]];
    bool is_signed = type->class == TC_S;
    // A guarded definition leaves what was there before, or makes that.
    if (i->ndef != 1 || ir_guarded(i))
        return facts_any(bits);
    if (d->op == OP_LD)
        return load(m, type, bits);
    if (tab_str(fn->tables, m->suffix).len)
        return facts_any(bits);
    for (int c = 0; c < MC_COUNT; c++)
        if (m->mod[c])
            return facts_any(bits);
    if (type->class == TC_F || type->class == TC_X || type->class == TC_O || type->class == TC_P)
        return facts_any(bits);
    Facts x, y, z, w;
    uint32_t n = ir_nuse(i);
    if (d->op == OP_CVT)
        return conversion(l, i, m, depth);
    switch (d->op) {
    case OP_POPC:
    case OP_CLZ: return facts_unsigned(0, width_bits(type->width), bits);
    case OP_MOV:
        if (op_kind(*ir_use(fn, i, 0)) == K_SREG) {
            x = special_register(l->k, op_index(*ir_use(fn, i, 0)));
            return facts_resized(&x, bits, false);
        }
        x = look(l, *ir_use(fn, i, 0), depth);
        return x.bits == bits ? x : facts_any(bits);
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
    default: return facts_any(bits);
    }
    x = look(l, *ir_use(fn, i, 0), depth);
    y = n > 1 ? look(l, *ir_use(fn, i, 1), depth) : x;
    z = n > 2 ? look(l, *ir_use(fn, i, 2), depth) : x;
    w = n > 3 ? look(l, *ir_use(fn, i, 3), depth) : x;
    bool shift = d->op == OP_SHL || d->op == OP_SHR || d->op == OP_BFE;
    if (x.bits != width_bits(type->width) || (!shift && y.bits != x.bits))
        return facts_any(bits);
    Facts zero = facts_constant(0, x.bits);
    switch (d->op) {
    case OP_NOT: return facts_not(&x);
    case OP_NEG: return facts_sub(&zero, &x);
    case OP_ABS: return facts_abs(&x);
    case OP_ADD: return facts_add(&x, &y);
    case OP_SUB: return facts_sub(&x, &y);
    case OP_MUL_LO: return facts_mul(&x, &y);
    case OP_MUL_WIDE:
        x = facts_resized(&x, bits, is_signed);
        y = facts_resized(&y, bits, is_signed);
        return facts_mul(&x, &y);
    case OP_MAD_LO: x = facts_mul(&x, &y); return x.bits == z.bits ? facts_add(&x, &z) : facts_any(bits);
    case OP_DIV: return facts_div(&x, &y, is_signed);
    case OP_REM: return facts_rem(&x, &y, is_signed);
    case OP_MIN: return facts_min(&x, &y, is_signed);
    case OP_MAX: return facts_max(&x, &y, is_signed);
    case OP_AND: return facts_and(&x, &y);
    case OP_OR: return facts_or(&x, &y);
    case OP_XOR: return facts_xor(&x, &y);
    case OP_SHL: return facts_shl(&x, &y);
    case OP_SHR: return facts_shr(&x, &y, is_signed);
    case OP_SELP: return facts_either(&x, &y);
    case OP_LOP3: return looked_up(&x, &y, &z, w.umin, bits);
    case OP_BFI: return insertion(&x, &y, &z, &w, bits);
    case OP_BFE: return is_signed ? facts_any(bits) : field(&x, &y, &z, bits);
    default: return facts_any(bits);
    }
}

/* -- Conditions ----------------------------------------------------------------------------------------- */

static InstrId definition_of(const Look *l, Operand o)
{
    return op_is_reg(o) && !(o.mods & ~(uint32_t)OPM_NOT) ? def_of(l->k->a, op_index(o)) : 0;
}

static bool compares(Mod cmp, FactCompare *c, bool *is_unsigned)
{
    static const struct {
        Mod mod;
        FactCompare c;
        bool is_unsigned;
    } all[] = {{MOD_EQ, FC_EQ, 0}, {MOD_NE, FC_NE, 0}, {MOD_LT, FC_LT, 0}, {MOD_LE, FC_LE, 0}, {MOD_GT, FC_GT, 0},
               {MOD_GE, FC_GE, 0}, {MOD_LO, FC_LT, 1}, {MOD_LS, FC_LE, 1}, {MOD_HI, FC_GT, 1}, {MOD_HS, FC_GE, 1}};
    for (size_t k = 0; k < ARRAY_LEN(all); k++)
        if (all[k].mod == cmp) {
            *c = all[k].c;
            *is_unsigned |= all[k].is_unsigned;
            return true;
        }
    return false;
}

static const FactCompare opposite[] = {FC_NE, FC_EQ, FC_GE, FC_GT, FC_LE, FC_LT};  // by what is not so
static const FactCompare mirrored[] = {FC_EQ, FC_NE, FC_GT, FC_GE, FC_LT, FC_LE};  // by what is, the other way round

// What a comparison says of a value if it came out so.
static void take_comparison(const Look *l, const Instr *i, Operand value, bool holds, Facts *f)
{
    const Fn *fn = l->k->fn;
    const Desc *d = ir_desc(fn, i);
    const Mnem *m = tab_mnem(fn->tables, d->mnem);
    const TypeInfo *type = &type_info[m->type[0]];
    bool is_unsigned = type->class != TC_S;
    FactCompare cmp;
    if (!d->plain || i->ndef != 1 || m->mod[MC_BOOL] || !compares((Mod)m->mod[MC_CMP], &cmp, &is_unsigned) ||
        (!is_integer(type) && type->class != TC_B) || width_bits(type->width) != f->bits)
        return;
    Operand x = *ir_use(fn, i, 0), y = *ir_use(fn, i, 1);
    bool first = op_same(copy_source(l->k->fn, l->k->a, x), value);
    if (!first && !op_same(copy_source(l->k->fn, l->k->a, y), value))
        return;
    Look plainly = {l->k, 0};
    Facts other = look(&plainly, first ? y : x, DEPTH);
    if (other.bits != f->bits)
        return;
    cmp = first ? cmp : mirrored[cmp];
    Facts more = facts_compared(holds ? cmp : opposite[cmp], !is_unsigned, &other);
    *f = facts_both(f, &more);
}

// The same of a predicate, which may be made of others.
static void take_predicate(const Look *l, Operand p, Operand value, bool holds, int depth, Facts *f)
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

// The branch that decides that a block runs, where that is the block's only predecessor; 0 = there is none.
static InstrId condition_of(const KnownFacts *k, BlockId b, bool *taken)
{
    const Fn *fn = k->fn;
    const Edges *preds = &k->a->preds;
    if (preds->first[b + 1] - preds->first[b] != 1 || b == fn->first)
        return 0;
    InstrId id = ir_terminator(fn, preds->at[preds->first[b]]);
    const Instr *i = ir_instr(fn, id);
    const Desc *d = ir_desc(fn, i);
    if (d->op != OP_BRA || !ir_guarded(i))
        return 0;
    BlockId then = op_index(*ir_use(fn, i, 0)), other = op_index(ir_ops(fn, i)[d->nops - 1]);
    *taken = then == b;
    return then != other ? id : 0;
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

static void find_conditional(KnownFacts *k)
{
    const Analyses *a = k->a;
    bool taken;
    k->conditional = NEW_ARRAY(k->arena, BlockId, k->fn->blocks.n);
    k->subject = NEW_ARRAY(k->arena, Subject, k->fn->blocks.n);
    for (uint32_t n = 0; n < a->nrpo; n++) {
        BlockId b = a->dom.order[n];
        __builtin_prefetch(ir_instr(k->fn, ir_terminator(k->fn, a->dom.order[MIN(n + AHEAD, a->nrpo - 1)])));
        InstrId branch = condition_of(k, b, &taken);
        k->conditional[b] = branch ? b : n ? k->conditional[a->dom.idom[b]] : 0;
        if (branch)
            k->subject[b] = subject_of(&(Look){k, b}, *ir_guard(k->fn, ir_instr(k->fn, branch)));
    }
}

// An operand as one of 64 bits, which others may have, too.
static uint64_t bit_of(Operand o) { return (uint64_t)1 << o.word % 64; }

// The conditions that a block runs under, which most questions about it have nothing to do with.
static void go_to(KnownFacts *k, BlockId at)
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

static void take_conditions(const Look *l, Operand value, Facts *f)
{
    const KnownFacts *k = l->k;
    bool taken = false;
    value = copy_source(l->k->fn, l->k->a, value);
    if (!(k->about & bit_of(value)))
        return;
    for (const Condition *c = k->here; c < k->here + k->nhere; c++) {
        if (!is_about(c, value))
            continue;
        InstrId branch = condition_of(k, c->block, &taken);
        take_predicate(l, *ir_guard(k->fn, ir_instr(k->fn, branch)), value, taken, LOGIC, f);
    }
}

// Whether a block runs under a condition that may be on what an instruction reads.
static bool is_about_operands(const Look *l, const Instr *i)
{
    const KnownFacts *k = l->k;
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

static Remembered *place_of(const KnownFacts *k, RegId r) { return &k->remembered[r & (k->nremembered - 1)]; }

// What holds of a register wherever it is read. Some of it is remembered, so that a walk over a function, which asks
// for one value after the other, looks at most definitions once.
static Facts look_anywhere(const Look *l, RegId r, InstrId def, uint32_t bits, int depth)
{
    Remembered *place = place_of(l->k, r);
    if (place->reg == r)
        return place->facts;
    if (!depth)
        return facts_any(bits);
    Facts f = definition(l, ir_instr(l->k->fn, def), bits, depth - 1);
    *place = (Remembered){r, f};
    return f;
}

static Facts look(const Look *l, Operand o, int depth)
{
    const Fn *fn = l->k->fn;
    uint32_t bits = bits_of(fn, o);
    if (op_kind(o) == K_IMM && op_index(o) != CONST_UNDEF && !o.mods && bits)
        return facts_constant(tab_const(fn->tables, op_index(o)).bits, bits);
    InstrId def = definition_of(l, o);
    if (!def || o.mods || bits < 8)
        return facts_any(bits ? bits : 64);
    if (!l->at)
        return look_anywhere(l, op_index(o), def, bits, depth);
    Facts f = look(&(Look){l->k, 0}, o, DEPTH);
    if (!depth)
        return f;
    if (is_about_operands(l, ir_instr(fn, def)))
        f = definition(l, ir_instr(fn, def), bits, depth - 1);
    take_conditions(l, o, &f);
    return f;
}

void known_facts_init(KnownFacts *k, const Fn *fn, const Analyses *a, Arena *arena)
{
    *k = (KnownFacts){.fn = fn, .a = a, .arena = arena};
    read_directives(k);
}

// The first question.
static void begin(KnownFacts *k)
{
    find_conditional(k);
    k->nremembered = FEWEST;
    while (k->nremembered < MOST && k->nremembered < k->fn->regs.n / 4)
        k->nremembered *= 2;
    k->remembered = NEW_ARRAY(k->arena, Remembered, k->nremembered);
    k->here = NEW_ARRAY(k->arena, Condition, CONDITIONS);
}

Facts known_facts(KnownFacts *k, Operand o, BlockId at)
{
    if (!k->conditional)
        begin(k);
    bool reached = k->a->rpo_index[at] != UINT32_MAX;
    bool conditions = reached && k->conditional[at] != 0;
    if (conditions && k->at != at)
        go_to(k, at);
    return conditions ? look(&(Look){k, at}, o, ASKED) : look(&(Look){k, 0}, o, DEPTH);
}
