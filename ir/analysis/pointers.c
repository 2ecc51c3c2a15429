// SPDX-License-Identifier: MIT
// Pointer analysis (ir/analysis/pointers.h): the underlying object, the offset and the escape of addresses.
//
// One walk over the function finds the instructions that take the address of a symbol, and the loads of kernel
// parameters that point to global memory (param_pointers.h). A worklist propagates addresses through moves, phis,
// selects, sums, conversions between integers, and cvta, to a fixed point. In multi form the only definition of a plain
// register precedes all uses in the layout, so the walk itself visits these uses. Uses of joined registers, and of
// values that change later, are looked up in tables. A second walk adds cvta of operands that are no known addresses:
// each result is an address in the space of the cvta.
//
// At a join, inputs without an abstract value are ignored before the fixed point; from then on they are numbers. The
// join of two symbols has an unknown symbol, the join of two spaces an unknown space. After GROW_MAX changes of a
// value, a bound that moves is widened to the end of the interval. So each value changes a bounded number of times.
//
// A symbol escapes at an instruction that stores its address, passes it to a call, joins it with a number or another
// symbol, or uses it in another computation, which the analysis does not model. A comparison with a constant, or with
// an address of the same symbol, is no escape. If a symbol does not escape, each access to it has an address with this
// underlying object.
//
// A value that is added to an address is a number. Its interval is the signed interval of its value range
// (value_ranges.h), under the dominating conditions of the addition.
//
// shared::cluster (SP_CLUSTER) is a separate space, which contains shared::cta (SP_SHARED, plain `.shared`):
// space_contains(). An address in shared::cluster may be memory of any CTA of the cluster.
#include "ir/analysis/pointers.h"
#include "ir/analysis/analysis_internal.h"
#include "ir/analysis/param_pointers.h"

enum { GROW_MAX = 4, PLACES = 256 };

/* -- Abstract values ------------------------------------------------------------------------------------ */

static Pointer number_between(int64_t lo, int64_t hi) { return (Pointer){.kind = OR_NUMBER, .lo = lo, .hi = hi}; }

static Pointer any_number(void) { return number_between(INT64_MIN, INT64_MAX); }

static Pointer address_in(Space space, bool generic)
{
    return (Pointer){.kind = OR_ADDRESS, .space = (uint8_t)space, .generic = generic, .lo = INT64_MIN, .hi = INT64_MAX};
}

static bool is_any(const Pointer *o) { return o->lo == INT64_MIN && o->hi == INT64_MAX; }

static bool is_signed_type(Type t) { return type_info[t].class == TC_S; }

// Returns the range of signed numbers of this width.
static Pointer of_width(uint32_t bits)
{
    return bits >= 64 ? any_number() : number_between(-((int64_t)1 << (bits - 1)), ((int64_t)1 << (bits - 1)) - 1);
}

// Returns an address truncated to `bits` bits. Below 64 bits addresses wrap. So the offset is unknown if the address
// may have wrapped, or if a negative address of 32 bits is widened to 64.
static Pointer address_of_width(Pointer o, uint32_t bits, bool widened)
{
    if (o.kind != OR_ADDRESS || bits >= 64)
        return o;
    Pointer all = of_width(bits);
    if (o.lo < (widened ? 0 : all.lo) || o.hi > all.hi) {
        o.lo = INT64_MIN;
        o.hi = INT64_MAX;
    }
    return o;
}

// Returns the sum of a and b, or the difference if `minus`, with the kind and symbol of a.
static Pointer plus(Pointer a, Pointer b, bool minus)
{
    Pointer sum = a;
    bool low = minus ? __builtin_sub_overflow(a.lo, b.hi, &sum.lo) : __builtin_add_overflow(a.lo, b.lo, &sum.lo);
    bool high = minus ? __builtin_sub_overflow(a.hi, b.lo, &sum.hi) : __builtin_add_overflow(a.hi, b.hi, &sum.hi);
    if (low || high || is_any(&a) || is_any(&b)) {
        sum.lo = INT64_MIN;
        sum.hi = INT64_MAX;
    }
    return sum;
}

/* -- Escape --------------------------------------------------------------------------------------------- */

static void escape(Pointers *o, SymId sym, InstrId where)
{
    uint32_t s = local_symbol(sym), n = o->module_escaped.n;
    if (s && !o->escaped[s])
        o->escaped[s] = where;
    if (!s && sym && ir_sym(o->fn, sym)->kind == SYM_VAR && !(n && o->module_escaped.at[n - 1] == sym))
        VEC_PUSH(o->arena, &o->module_escaped, sym);
}

static void escape_pointer(Pointers *o, Pointer pointer, InstrId where)
{
    if (pointer.kind == OR_ADDRESS)
        escape(o, pointer.sym, where);
}

static void escape_data(Pointers *o)
{
    for (uint32_t k = 1; k < o->fn->syms.n; k++) {
        const Init *init = ir_sym(o->fn, k | SYM_LOCAL)->init;
        for (uint32_t r = 0; init && r < init->nrelocs; r++)
            escape(o, init->relocs[r].sym, ESCAPED_BY_DATA);
    }
}

// Returns the join of two abstract values. OR_NONE is neutral. A symbol that is joined with a number or another symbol
// escapes at `where`.
static Pointer join(Pointers *o, Pointer a, Pointer b, InstrId where)
{
    if (a.kind == OR_NONE || b.kind == OR_NONE)
        return a.kind == OR_NONE ? b : a;
    if (a.kind == b.kind && a.sym == b.sym && a.space == b.space && a.generic == b.generic) {
        a.lo = MIN(a.lo, b.lo);
        a.hi = MAX(a.hi, b.hi);
        return a;
    }
    escape_pointer(o, a, where);
    escape_pointer(o, b, where);
    bool same_space = a.kind == b.kind && a.space == b.space && a.generic == b.generic;
    return address_in(same_space ? a.space : SP_NONE, same_space && a.generic);
}

/* -- Numbers -------------------------------------------------------------------------------------------- */

static Pointer number_in(ValueRange r) { return number_between(r.smin, r.smax); }

static Pointer number_of_operand(Pointers *o, InstrId id, uint32_t k)
{
    return number_in(value_range_of_use(&o->ranges, id, k));
}

// Returns the product of the first two operands of a mad, in the width of the third.
static Pointer product_of(Pointers *o, InstrId id, bool wide)
{
    const Instr *i = ir_instr(o->fn, id);
    ValueRange x = value_range_of_use(&o->ranges, id, i->ndef), y = value_range_of_use(&o->ranges, id, i->ndef + 1u);
    Type t = (Type)tab_mnem(o->fn->tables, ir_desc(o->fn, i)->mnem)->type[0];
    uint32_t bits = width_bits(type_info[t].width);
    if (x.bits < bits || y.bits < bits)
        return any_number();
    x = range_resize(&x, bits, false);
    y = range_resize(&y, bits, false);
    if (wide) {
        x = range_resize(&x, 2 * bits, is_signed_type(t));
        y = range_resize(&y, 2 * bits, is_signed_type(t));
    }
    return number_in(range_mul(&x, &y));
}

static bool is_integer_type(Type t) { return type_info[t].class == TC_U || type_info[t].class == TC_S; }

/* -- Addresses ------------------------------------------------------------------------------------------ */

static Pointer pointer_of_value(Pointers *o, ValueId v)
{
    if (v && v != VALUE_ANY && o->address[v])
        return o->known.at[o->address[v]];
    return number_in(value_range_of_value(&o->ranges, v));
}

Pointer pointer_of(Pointers *o, InstrId id, uint32_t k)
{
    Operand op = ir_ops(o->fn, ir_instr(o->fn, id))[k];
    if (op_is_reg(op) && op_file(op) != RF_CC && !op.mods && reg_in_ssa(ir_reg(o->fn, op_index(op)))) {
        ValueId v = value_of(o->fn, o->a, id, k);
        if (v && v != VALUE_ANY && o->address[v])
            return o->known.at[o->address[v]];
    }
    return number_of_operand(o, id, k);
}

SymId pointer_object(const Pointers *o, InstrId id, uint32_t k)
{
    Operand op = ir_ops(o->fn, ir_instr(o->fn, id))[k];
    if (!op_is_reg(op) || op_file(op) == RF_CC || op.mods || !reg_in_ssa(ir_reg(o->fn, op_index(op))))
        return 0;
    ValueId v = value_of(o->fn, o->a, id, k);
    return v && v != VALUE_ANY && o->address[v] ? o->known.at[o->address[v]].sym : 0;
}

// True if a value has no abstract value yet but may still become an address.
static bool is_coming(const Pointers *o, ValueId v) { return !o->settled && v && v != VALUE_ANY && !o->address[v]; }

// Returns the abstract value of an input of a join; OR_NONE if the input is undefined or may still become an address.
static Pointer pointer_of_input(Pointers *o, InstrId id, uint32_t k)
{
    Operand op = ir_ops(o->fn, ir_instr(o->fn, id))[k];
    bool undefined = op_kind(op) == K_IMM && op_index(op) == CONST_UNDEF;
    bool coming = op_is_reg(op) && is_coming(o, value_of(o->fn, o->a, id, k));
    return undefined || coming ? (Pointer){0} : pointer_of(o, id, k);
}

static Pointer symbol_pointer(Pointers *o, const Instr *i, bool generic)
{
    Operand base = *ir_use(o->fn, i, 0), offset = *ir_use(o->fn, i, 1);
    if (op_kind(base) != K_SYM)
        return any_number();
    const Sym *s = ir_sym(o->fn, op_index(base));
    int64_t number = const_signed(tab_const(o->fn->tables, op_index(offset)));
    return (Pointer){
        .kind = OR_ADDRESS, .space = s->space, .generic = generic, .sym = op_index(base), .lo = number, .hi = number};
}

// True if the address lies in a variable or at its end.
static bool lies_inside(const Pointers *o, const Pointer *at)
{
    const Sym *s = at->kind == OR_ADDRESS && at->sym ? ir_sym(o->fn, at->sym) : NULL;
    return s && s->kind == SYM_VAR && at->lo >= 0 && at->hi <= INT64_MAX / 2 && (uint64_t)at->hi <= s->size;
}

// Returns the result of a cast between an address in a space and a generic one. Through `cvta.shared::cluster` the
// address of a variable, within its bounds, stays in the thread's own CTA (SP_SHARED). Other addresses in
// shared::cluster may point to any CTA of the cluster. They remain in that space even if they are sums of addresses in
// shared::cta.
static Pointer moved_to_space(Pointers *o, InstrId id, Pointer from, bool to_generic)
{
    const Mnem *m = tab_mnem(o->fn->tables, ir_desc(o->fn, ir_instr(o->fn, id))->mnem);
    Space space = mod_space((Mod)m->mod[MC_SPACE]);
    if (space == SP_CLUSTER && to_generic && !from.generic && from.space == SP_SHARED && lies_inside(o, &from))
        space = SP_SHARED;
    if (from.kind == OR_ADDRESS && from.space == space && from.generic != to_generic) {
        from.generic = to_generic;
        return from;
    }
    escape_pointer(o, from, id);
    return address_in(space, to_generic);
}

// Returns the sum of an address and a number, in either order, or their difference. If both operands are addresses,
// both escape.
static Pointer sum_of(Pointers *o, InstrId id, Pointer a, Pointer b, bool minus)
{
    if (b.kind == OR_ADDRESS && (a.kind == OR_ADDRESS || minus)) {
        escape_pointer(o, a, id);
        escape_pointer(o, b, id);
        return any_number();
    }
    if (b.kind == OR_ADDRESS) {
        Pointer swap = a;
        a = b;
        b = swap;
    }
    Pointer sum = plus(a, b, minus);
    sum.grown = 0;
    return sum;
}

// True if the `or` of an address and a number is their sum, since no bit is set in both: the symbol is aligned, and the
// number is less than the alignment.
static bool or_adds(const Pointers *o, Pointer address, Pointer number)
{
    if (address.kind != OR_ADDRESS || !address.sym || number.kind != OR_NUMBER)
        return false;
    uint64_t align = MAX(ir_sym(o->fn, address.sym)->align, 1u);
    bool power = !(align & (align - 1));
    return power && pointer_is_exact(&address) && pointer_is_exact(&number) && number.lo >= 0 &&
           (uint64_t)number.lo < align && !(address.lo & number.lo);
}

// Returns the abstract value that an instruction defines. The instruction takes the address of a symbol, or has an
// address as an operand.
static Pointer address_of_definition(Pointers *o, InstrId id)
{
    const Instr *i = ir_instr(o->fn, id);
    const Desc *d = ir_desc(o->fn, i);
    const Mnem *m = tab_mnem(o->fn->tables, d->mnem);
    uint32_t u = i->ndef;
    Pointer result = {0};
    switch (d->op) {
    case OP_ADDR: return symbol_pointer(o, i, false);
    case OP_LD: return address_in(SP_GLOBAL, true);  // is_source()
    case OP_CVTA_ADDR: return moved_to_space(o, id, symbol_pointer(o, i, false), true);
    case OP_CVTA: return moved_to_space(o, id, pointer_of(o, id, u), true);
    case OP_CVTA_TO: return moved_to_space(o, id, pointer_of(o, id, u), false);
    case OP_MOV: return pointer_of(o, id, u);
    case OP_CVT: {
        uint32_t to = width_bits(type_info[m->type[0]].width), from = width_bits(type_info[m->type[1]].width);
        return address_of_width(pointer_of(o, id, u), MIN(to, from), from < to);
    }
    case OP_ADD: return sum_of(o, id, pointer_of(o, id, u), pointer_of(o, id, u + 1), false);
    case OP_SUB: return sum_of(o, id, pointer_of(o, id, u), pointer_of(o, id, u + 1), true);
    case OP_OR: {
        Pointer a = pointer_of(o, id, u), b = pointer_of(o, id, u + 1);
        return or_adds(o, a, b) || or_adds(o, b, a) ? sum_of(o, id, a, b, false) : any_number();
    }
    case OP_MAD_LO:
    case OP_MAD_WIDE: return sum_of(o, id, product_of(o, id, d->op == OP_MAD_WIDE), pointer_of(o, id, u + 2), false);
    case OP_SELP: return join(o, pointer_of_input(o, id, u), pointer_of_input(o, id, u + 1), id);
    case OP_PHI:
        for (uint32_t k = 1; k < ir_nuse(i); k += 2)
            result = join(o, result, pointer_of_input(o, id, u + k), id);
        return result;
    default: return any_number();
    }
}

// True if an address as operand k makes the result an address, and the instruction uses the address for nothing else.
static bool passes_address_on(Pointers *o, InstrId id, uint32_t k)
{
    const Instr *i = ir_instr(o->fn, id);
    const Desc *d = ir_desc(o->fn, i);
    const Mnem *m = tab_mnem(o->fn->tables, d->mnem);
    uint32_t use = k - i->ndef;
    Type t = (Type)m->type[0];
    bool integer = is_integer_type(t) || type_info[t].class == TC_B;
    if (i->ndef != 1 || m->mod[MC_SAT])
        return false;
    switch (d->op) {
    case OP_MOV:
    case OP_CVTA:
    case OP_CVTA_TO:
    case OP_PHI: return true;
    case OP_CVT: {
        Type from = (Type)m->type[1];
        bool whole =
            is_integer_type(t) && is_integer_type(from) && MIN(type_info[t].width, type_info[from].width) >= W32;
        return whole && (!pointer_of(o, id, k).generic || type_info[t].width == type_info[from].width);
    }
    case OP_ADD: return integer;
    case OP_SUB: return integer && use == 0;
    case OP_OR: {
        Pointer a = pointer_of(o, id, i->ndef), b = pointer_of(o, id, i->ndef + 1);
        return or_adds(o, a, b) || or_adds(o, b, a);
    }
    case OP_MAD_LO:
    case OP_MAD_WIDE: return use == 2;
    case OP_SELP: return use < 2;
    default: return false;
    }
}

// True if the instruction only tests the address: by its space, or by comparison with a constant or with an address of
// the same symbol.
static bool only_compares(Pointers *o, InstrId id, Pointer address)
{
    const Instr *i = ir_instr(o->fn, id);
    const Desc *d = ir_desc(o->fn, i);
    if (d->op == OP_ISSPACEP)
        return true;
    if (d->op != OP_SETP || ir_nuse(i) < 2)
        return false;
    Pointer a = pointer_of(o, id, i->ndef), b = pointer_of(o, id, i->ndef + 1);
    bool same = a.kind == b.kind && a.sym == b.sym && a.generic == b.generic && address.sym;
    return same || (a.kind == OR_NUMBER && pointer_is_exact(&a)) || (b.kind == OR_NUMBER && pointer_is_exact(&b));
}

static bool is_access(const Desc *d)
{
    return d->op == OP_LD || d->op == OP_LDU || d->op == OP_ST || d->op == OP_ATOM || d->op == OP_RED ||
           d->op == OP_PREFETCH;
}

static bool same_pointer(const Pointer *a, const Pointer *b)
{
    return a->kind == b->kind && a->space == b->space && a->generic == b->generic && a->sym == b->sym &&
           a->lo == b->lo && a->hi == b->hi;
}

// Joins `found` to the abstract value of v. If that changes, adds v to the worklist, unless the walk will visit its
// uses.
static void add_pointer(Pointers *o, ValueId v, Pointer found, InstrId where)
{
    bool first = !o->address[v];
    if (first && found.kind != OR_ADDRESS)
        return;
    if (first) {
        o->address[v] = o->known.n;
        VEC_PUSH(o->arena, &o->known, ((Pointer){0}));
    }
    Pointer old = o->known.at[o->address[v]];
    Pointer now = join(o, old, found, where);
    if (same_pointer(&old, &now))
        return;
    now.grown = (uint8_t)(old.grown + !first);
    if (now.grown > GROW_MAX && !first) {
        now.lo = now.lo < old.lo ? INT64_MIN : now.lo;
        now.hi = now.hi > old.hi ? INT64_MAX : now.hi;
        now.grown = GROW_MAX;
    }
    o->known.at[o->address[v]] = now;
    bool ahead = first && o->at && where == o->at && v < o->a->rdefs.first_def;
    if (!ahead)
        VEC_PUSH(o->arena, &o->work, v);
}

static void visit_definition(Pointers *o, InstrId id)
{
    const Instr *i = ir_instr(o->fn, id);
    ValueId v = value_of(o->fn, o->a, id, 0);
    uint32_t bits = width_bits(ir_reg(o->fn, op_index(*ir_def(o->fn, i, 0)))->width);
    Pointer found = address_of_width(address_of_definition(o, id), bits, false);
    if (v == VALUE_ANY) {
        escape_pointer(o, found, id);
        return;
    }
    Opcode op = ir_desc(o->fn, i)->op;
    o->meet |= op == OP_PHI || op == OP_SELP;
    if (ir_guarded(i)) {
        const ReachingDefs *rd = &o->a->rdefs;
        Pointer old = {0};
        if (i->flags & IF_TIED && op_is_reg(*ir_tied(o->fn, i, 0)))
            old = pointer_of(o, id, i->nops - 2);
        else if (v >= rd->first_def && rd->old[v - rd->first_def])
            old = pointer_of_value(o, rd->old[v - rd->first_def]);
        found = join(o, found, old, id);
    }
    add_pointer(o, v, found, id);
}

// Propagates an address through operand k of an instruction.
static void visit_use(Pointers *o, InstrId id, uint32_t k, Pointer address)
{
    const Instr *i = ir_instr(o->fn, id);
    const Desc *d = ir_desc(o->fn, i);
    uint32_t use = k - i->ndef;
    bool tied = use >= ir_nuse(i);
    if (is_access(d) && use == 0 && !tied)
        return;
    if (!tied && only_compares(o, id, address))
        return;
    // The first visit of a phi joins all inputs; later visits only add the new address.
    ValueId met = d->op == OP_PHI ? value_of(o->fn, o->a, id, 0) : 0;
    if (met && met != VALUE_ANY && o->address[met])
        add_pointer(o, met, address, id);
    else if (i->ndef == 1 && (tied || passes_address_on(o, id, k)))
        visit_definition(o, id);
    else
        escape_pointer(o, address, id);
}

/* -- Uses of joined registers --------------------------------------------------------------------------- */

// Returns the number of uses of values of joined registers. First come the occurrences, then the inputs of phis, then
// the guarded definitions, which use the old value.
static uint32_t user_count(const ReachingDefs *rd)
{
    return rd->noccurrences + rd->ninputs + (rd->first_phi - rd->first_def);
}

static void add_user(Pointers *o, ValueId v, uint32_t user)
{
    const ReachingDefs *rd = &o->a->rdefs;
    if (v < rd->first_def || v == VALUE_ANY)
        return;
    o->next_user[user] = o->first_user[v - rd->first_def];
    o->first_user[v - rd->first_def] = user + 1;
}

static void index_users(Pointers *o)
{
    const ReachingDefs *rd = &o->a->rdefs;
    uint32_t olds = rd->noccurrences + rd->ninputs;
    o->first_user = NEW_ARRAY(o->arena, uint32_t, value_count(o->a) - rd->first_def);
    o->next_user = NEW_ARRAY(o->arena, uint32_t, user_count(rd));
    for (uint32_t k = 1; k < rd->noccurrences; k++)
        if (!rd->at[k].def)
            add_user(o, rd->at[k].value, k);
    for (uint32_t k = 0; k < rd->ninputs; k++)
        add_user(o, rd->input[k], rd->noccurrences + k);
    for (uint32_t k = 0; k < rd->first_phi - rd->first_def; k++)
        add_user(o, rd->old[k], olds + k);
}

// Returns the phi of an input. The inputs lie in the order of their phis.
static ValueId phi_of_input(const ReachingDefs *rd, uint32_t input)
{
    uint32_t low = 0, high = rd->nphis;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (rd->phi[middle].inputs <= input)
            low = middle;
        else
            high = middle;
    }
    return rd->first_phi + low;
}

static void visit_phi(Pointers *o, ValueId phi)
{
    const ReachingDefs *rd = &o->a->rdefs;
    const ReachingPhi *p = value_phi(o->a, phi);
    const Edges *preds = &o->a->preds;
    InstrId where = ir_block(o->fn, p->block)->first;
    Pointer found = {0};
    for (uint32_t e = preds->first[p->block], k = p->inputs; e < preds->first[p->block + 1]; e++, k++)
        if (rd->input[k] && !is_coming(o, rd->input[k]))
            found = join(o, found, pointer_of_value(o, rd->input[k]), where);
    add_pointer(o, phi, found, where);
}

static void visit_user(Pointers *o, uint32_t user, Pointer address)
{
    const ReachingDefs *rd = &o->a->rdefs;
    if (user < rd->noccurrences) {
        const Occurrence *at = &rd->at[user];
        visit_use(o, at->instr, at->op - ir_instr(o->fn, at->instr)->ops, address);
    } else if (user < rd->noccurrences + rd->ninputs) {
        ValueId phi = phi_of_input(rd, user - rd->noccurrences);
        if (o->address[phi])
            add_pointer(o, phi, address, ir_block(o->fn, value_phi(o->a, phi)->block)->first);
        else
            visit_phi(o, phi);
    } else {
        InstrId id = rd->at[rd->defs[user - rd->noccurrences - rd->ninputs]].instr;
        if (ir_instr(o->fn, id)->ndef == 1)
            visit_definition(o, id);
        else
            escape_pointer(o, address, id);
    }
}

static void visit_users(Pointers *o, ValueId v)
{
    const ReachingDefs *rd = &o->a->rdefs;
    Pointer address = o->known.at[o->address[v]];
    if (v < rd->first_def) {
        analysis_compute(o->fn, o->a, AN_DEFUSE);
        FOR_USES(o->a, v, u)
            visit_use(o, u->instr, u->op, address);
        return;
    }
    if (!o->first_user)
        index_users(o);
    for (uint32_t next = o->first_user[v - rd->first_def]; next; next = o->next_user[next - 1])
        visit_user(o, next - 1, address);
}

/* -- The walks ------------------------------------------------------------------------------------------ */

// True if an instruction gives an address by itself: it takes that of a symbol, or loads a pointer to global memory.
static bool is_source(const Pointers *o, const Desc *d, InstrId id)
{
    if (d->op == OP_LD && o->loads)
        return (o->global_loads && o->global_loads[id]) || loads_global_pointer(o->fn, ir_instr(o->fn, id));
    return d->op == OP_ADDR || d->op == OP_CVTA_ADDR;
}

// True if the space that an access names contains the symbol.
static bool names_its_space(const Fn *fn, const Desc *d, SymId sym)
{
    Space space = mod_space((Mod)tab_mnem(fn->tables, d->mnem)->mod[MC_SPACE]);
    return space_contains(space, (Space)ir_sym(fn, sym)->space);
}

static void follow(Pointers *o)
{
    while (o->work.n)
        visit_users(o, o->work.at[--o->work.n]);
}

// Visits phis and selects of addresses again. Inputs without an abstract value now count as numbers.
static void settle(Pointers *o)
{
    const Fn *fn = o->fn;
    o->settled = true;
    for (ValueId v = o->a->rdefs.first_phi; v < value_count(o->a); v++)
        if (o->address[v])
            visit_phi(o, v);
    FOR_BLOCKS(fn, b) {
        if (!o->meet)
            break;
        FOR_INSTRS(fn, b, id) {
            Opcode op = ir_desc(fn, ir_instr(fn, id))->op;
            ValueId v = op == OP_PHI || op == OP_SELP ? value_of(fn, o->a, id, 0) : 0;
            if (v && v != VALUE_ANY && o->address[v])
                visit_definition(o, id);
        }
    }
    follow(o);
}

// Propagates the addresses that an instruction uses, if their index in `known` is at least `from`.
static void visit_uses(Pointers *o, InstrId id, uint32_t from)
{
    const Instr *i = ir_instr(o->fn, id);
    const Operand *ops = ir_ops(o->fn, i);
    for (uint32_t k = 0, n = o->at ? i->nops : 0; k < n; k++) {
        uint32_t known = op_is_reg(ops[k]) && !op_is_def(ops[k]) ? o->address[op_index(ops[k])] : 0;
        if (known && known >= from)
            visit_use(o, id, k, o->known.at[known]);
    }
}

// True if some cast has no abstract value yet.
static bool has_unknown_cast(const Pointers *o)
{
    for (uint32_t k = 0; k < o->casts.n; k++) {
        ValueId v = value_of(o->fn, o->a, o->casts.at[k], 0);
        if (v && v != VALUE_ANY && !o->address[v])
            return true;
    }
    return false;
}

// Adds casts of operands without an abstract value after the fixed point. Each result is an address of an unknown
// symbol in the space of the cast.
static void find_casts(Pointers *o)
{
    const Fn *fn = o->fn;
    uint32_t from = o->known.n;
    FOR_BLOCKS(fn, b) {
        FOR_INSTRS(fn, b, id) {
            const Desc *d = ir_desc(fn, ir_instr(fn, id));
            o->at = fn->form == FORM_MULTI ? id : 0;
            visit_uses(o, id, from);
            ValueId v = d->op == OP_CVTA || d->op == OP_CVTA_TO ? value_of(fn, o->a, id, 0) : 0;
            if (v && v != VALUE_ANY && !o->address[v])
                visit_definition(o, id);
            follow(o);
        }
    }
    o->at = 0;
}

static void find_sources(Pointers *o)
{
    const Fn *fn = o->fn;
    uint32_t naccesses = 0;
    FOR_BLOCKS(fn, b) {
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            const Desc *d = ir_desc(fn, i);
            bool source = is_source(o, d, id);
            naccesses += is_access(d);
            if (d->op == OP_CVTA || d->op == OP_CVTA_TO)
                VEC_PUSH(o->arena, &o->casts, id);
            const Operand *ops = ir_ops(fn, i);
            o->at = fn->form == FORM_MULTI ? id : 0;
            for (uint32_t k = i->ndef; k < i->nops; k++) {
                if (op_is_reg(ops[k])) {
                    uint32_t known = o->at ? o->address[op_index(ops[k])] : 0;
                    if (known)
                        visit_use(o, id, k, o->known.at[known]);
                } else if (op_kind(ops[k]) == K_SYM && !source &&
                           !(k == i->ndef && is_access(d) && names_its_space(fn, d, op_index(ops[k])))) {
                    escape(o, op_index(ops[k]), id);
                }
            }
            if (source)
                visit_definition(o, id);
        }
    }
    o->at = 0;
    VEC_RESERVE(o->arena, &o->accesses, naccesses);
}

static Pointer address_of_access(Pointers *o, InstrId id)
{
    const Instr *i = ir_instr(o->fn, id);
    Operand base = *ir_use(o->fn, i, 0);
    if (op_kind(base) == K_SYM)
        return symbol_pointer(o, i, false);
    Pointer at = op_is_reg(base) ? pointer_of(o, id, i->ndef) : number_between(0, 0);
    at = plus(at, number_of_operand(o, id, i->ndef + 1u), false);
    return op_is_reg(base) ? address_of_width(at, width_bits(ir_reg(o->fn, op_index(base))->width), false) : at;
}

// A cached address: base (a value or a symbol) and offset.
typedef struct Place {
    uint64_t base;
    uint32_t offset;
    const Pointer *at;  // NULL: empty
} Place;

// Returns the address of an access, NULL if it is a number. Naive code accesses the same few addresses repeatedly, so
// the last ones are cached.
static const Pointer *place_of_access(Pointers *o, Place *places, InstrId id, ValueId v)
{
    const Instr *i = ir_instr(o->fn, id);
    Operand base = *ir_use(o->fn, i, 0), offset = *ir_use(o->fn, i, 1);
    uint64_t key = (uint64_t)op_kind(base) << 32 | (op_is_reg(base) ? v : base.word);
    Place *place = &places[hash_mix(key, offset.word) % PLACES];
    bool same = place->base == key && place->offset == offset.word && place->at;
    if (same && !base.mods && !offset.mods && op_kind(offset) == K_IMM)
        return place->at;
    Pointer at = address_of_access(o, id);
    if (at.kind != OR_ADDRESS) {
        if (!op_is_reg(base) || pointer_is_exact(&at))
            o->absolute = id;
        return NULL;
    }
    Pointer *kept = NEW(o->arena, Pointer);
    *kept = at;
    *place = (Place){key, offset.word, kept};
    return kept;
}

static void find_accesses(Pointers *o)
{
    const Fn *fn = o->fn;
    Place places[PLACES] = {0};
    FOR_BLOCKS(fn, b) {
        FOR_INSTRS(fn, b, id) {
            const Instr *i = ir_instr(fn, id);
            const Desc *d = ir_desc(fn, i);
            if (!is_access(d))
                continue;
            Operand base = *ir_use(fn, i, 0);
            Space space = mod_space((Mod)tab_mnem(fn->tables, d->mnem)->mod[MC_SPACE]);
            ValueId v = op_is_reg(base) ? value_of(fn, o->a, id, i->ndef) : 0;
            bool derived = op_kind(base) == K_SYM || (v && v != VALUE_ANY && o->address[v]);
            if (!derived && space != SP_LOCAL)
                continue;
            const Pointer *at = place_of_access(o, places, id, v);
            if (at)
                VEC_PUSH(o->arena, &o->accesses, ((MemAccess){.instr = id, .space = space, .at = at}));
        }
    }
}

static Pointers *compute_pointers(const Fn *fn, Analyses *a, const bool *global_loads, Arena *arena)
{
    Pointers *o = NEW(arena, Pointers);
    o->fn = fn;
    o->a = a;
    o->arena = arena;
    o->global_loads = global_loads;
    o->loads = global_loads || has_global_pointer(fn);
    o->escaped = NEW_ARRAY(arena, InstrId, fn->syms.n);
    o->address = NEW_ARRAY(arena, uint32_t, value_count(o->a));
    eval_cache_init(&o->evals, fn->tables, arena);
    value_ranges_init(&o->ranges, fn, o->a, true, &o->evals, arena);
    VEC_PUSH(arena, &o->known, any_number());
    escape_data(o);
    find_sources(o);
    follow(o);
    settle(o);
    if (has_unknown_cast(o))
        find_casts(o);
    find_accesses(o);
    return o;
}

void pointers_build(const Fn *fn, Analyses *a) { a->pointers = compute_pointers(fn, a, NULL, &a->arena[AX_POINTERS]); }

Pointers *pointers_of(Fn *fn)
{
    analysis_need(fn, AN_POINTERS);
    return fn->analyses->pointers;
}

Pointers *pointers_with_loads(Fn *fn, const bool *global_loads, Arena *arena)
{
    analysis_need(fn, analysis_closure(AN_POINTERS) & ~(uint32_t)AN_POINTERS);
    return compute_pointers(fn, fn->analyses, global_loads, arena);
}

Pointers *pointers_of_single_defs(Fn *fn, Analyses *own)
{
    const Analyses *a = analysis_need(fn, AN_CFG | AN_RPO | AN_DOM | AN_DEF);
    *own = *a;
    own->valid = AN_DEF | AN_RDEFS | AN_POINTERS;
    for (int k = AX_DEFUSE; k < ANALYSIS_COUNT; k++)
        arena_init(&own->arena[k], fn->arena.heap);
    DefTable *def = &own->def;
    def->arena = &own->arena[AX_DEF];
    def->at = arena_copy(def->arena, a->def.at, def->n * sizeof *def->at);
    def->cap = def->n;
    for (RegId r = 1; r < def->n; r++)
        if (def->at[r] == DEF_JOINED)
            def->at[r] = DEF_OUTSIDE;
    rdefs_none(fn, own);
    pointers_build(fn, own);
    return own->pointers;
}

bool pointers_same(const Fn *fn, const Analyses *kept, Analyses *now, char why[static 150])
{
    const Pointers *a = kept->pointers, *b = now->pointers;
    bool same = a->accesses.n == b->accesses.n && a->absolute == b->absolute;
    for (uint32_t k = 0; k < a->accesses.n && same; k++) {
        const MemAccess *x = &a->accesses.at[k], *y = &b->accesses.at[k];
        same = x->instr == y->instr && x->space == y->space && same_pointer(x->at, y->at);
    }
    if (!same)
        snprintf(why, 150, "an access has a different address");
    for (uint32_t s = 1; s < fn->syms.n && same; s++) {
        same = a->escaped[s] == b->escaped[s];
        if (!same)
            snprintf(why, 150, "the set of variables with escaped addresses differs");
    }
    return same;
}
