// SPDX-License-Identifier: MIT
// Value numbering (ir/analysis/values.h).
//
// A key has a first word, descriptor << 2 | guarded << 1 | has modifiers, then the numbers of the uses, then their
// modifiers if one of them is not zero, then the old values and the guard of a guarded instruction. The key of a phi
// begins with 0, which is no descriptor, and its block. A guarded instruction whose old values are undefined may have
// any value where the guard is false: it gets the number of an equal unguarded instruction, if there is one before.
//
// An instruction has an operand without a number if it reads `undef`, a register outside of ssa form, or a special
// register that changes. It is then numbered apart: `undef` is an unknown value here, not one that may be chosen.
//
// A phi whose inputs have one number has this number. In the first, pessimistic pass a phi with an input from a back
// edge is numbered apart. If two such phis of a block agree in all other inputs, optimistic passes follow. They ignore
// inputs that have no number yet, so phis of a loop are equal until an input proves the contrary. If numbers still
// change after PASSES_MAX passes, the pessimistic numbers are final.
#include "ir/analysis/values.h"

enum { PASSES_MAX = 12, PHI_KEY = 0 };

void values_init(Values *v, Arena *arena, const Fn *fn, const Analyses *a, ValueOrder *swaps)
{
    *v = (Values){.fn = fn, .a = a, .arena = arena, .swaps = swaps};
    value_table_init(&v->table, arena);
    v->of = NEW_ARRAY(arena, ValueNumber, fn->regs.n);
}

/* -- Operands ------------------------------------------------------------------------------------------- */

static bool in_ssa(const Fn *fn, Operand o) { return op_file(o) != RF_CC && reg_in_ssa(ir_reg(fn, op_index(o))); }

static bool is_fresh(Operand o) { return op_kind(o) == K_SREG && sreg_info[op_index(o)].fresh; }

ValueNumber value_number(const Values *v, Operand o)
{
    if (op_is_reg(o))
        return in_ssa(v->fn, o) ? v->of[op_index(o)] : 0;
    return op_is_undef(o) || is_fresh(o) ? 0 : o.word;
}

void values_set(Values *v, RegId r, ValueNumber number) { v->of[r] = number; }

static ValueNumber own_number(const Fn *fn, RegId r) { return op_reg(fn, r).word; }

void values_number_apart(Values *v, InstrId id)
{
    const Instr *i = ir_instr(v->fn, id);
    for (uint32_t k = 0; k < i->ndef; k++) {
        Operand def = *ir_def(v->fn, i, k);
        if (op_is_reg(def))
            v->of[op_index(def)] = own_number(v->fn, op_index(def));
    }
}

/* -- Expressions ---------------------------------------------------------------------------------------- */

bool value_is_expression(const Fn *fn, const Instr *i)
{
    const Desc *d = ir_desc(fn, i);
    if (!(d->traits & TR_PURE) || d->traits & (TR_PSEUDO | TR_CONV) || !i->ndef || i->flags & IF_PINNED)
        return false;
    for (uint32_t k = 0; k < i->ndef; k++)
        if (op_is_reg(*ir_def(fn, i, k)) && !in_ssa(fn, *ir_def(fn, i, k)))
            return false;
    return !ir_guarded(i) || i->flags & IF_TIED;
}

// Appends the number of an operand. False: it has none.
static bool add_number(Values *v, Operand o)
{
    ValueNumber number = value_number(v, o);
    VEC_PUSH(v->arena, &v->key, number);
    return number;
}

// Appends the old value of a definition. `undef` is one value: the guarded definitions have some value either way.
static bool add_old(Values *v, Operand o)
{
    if (!op_is_undef(o))
        return add_number(v, o);
    VEC_PUSH(v->arena, &v->key, o.word);
    return true;
}

static void order_uses(Values *v, const Instr *i, Operand *first, Operand *second)
{
    ValueNumber x = value_number(v, *first), y = value_number(v, *second);
    if (v->swaps(v->fn, i, x, y) || (x == y && first->mods > second->mods && ir_desc(v->fn, i)->traits & TR_COMM)) {
        Operand other = *first;
        *first = *second;
        *second = other;
    }
}

static void add_mods(Values *v, const Instr *i, Operand first, Operand second)
{
    const Operand *uses = ir_use(v->fn, i, 0);
    for (uint32_t k = 0; k < ir_nuse(i); k++)
        VEC_PUSH(v->arena, &v->key, (k == 0 ? first : k == 1 ? second : uses[k]).mods);
}

// Makes the key of an instruction, with or without its guard and old values. False: an operand has no number.
static bool make_key(Values *v, const Instr *i, bool guarded)
{
    const Fn *fn = v->fn;
    const Operand *uses = ir_use(fn, i, 0);
    uint32_t nuse = ir_nuse(i), mods = 0;
    Operand first = nuse ? uses[0] : op_none(), second = nuse > 1 ? uses[1] : op_none();
    if (nuse > 1)
        order_uses(v, i, &first, &second);
    v->key.n = 0;
    VEC_PUSH(v->arena, &v->key, 0);
    for (uint32_t k = 0; k < nuse; k++) {
        Operand o = k == 0 ? first : k == 1 ? second : uses[k];
        if (!add_number(v, o))
            return false;
        mods |= o.mods;
    }
    if (mods)
        add_mods(v, i, first, second);
    v->key.at[0] = desc_value(fn, i) << 2 | (uint32_t)guarded << 1 | (mods != 0);
    if (!guarded)
        return true;
    for (uint32_t k = 0; k < ir_ntied(i); k++)
        if (!add_old(v, *ir_tied(fn, i, k)))
            return false;
    VEC_PUSH(v->arena, &v->key, ir_guard(fn, i)->mods);
    return add_number(v, *ir_guard(fn, i));
}

// True if the definitions of both instructions have the same files and widths.
static bool same_results(const Fn *fn, const Instr *a, const Instr *b)
{
    for (uint32_t k = 0; k < a->ndef; k++) {
        Operand x = *ir_def(fn, a, k), y = *ir_def(fn, b, k);
        if (op_kind(x) != op_kind(y))
            return false;
        const Reg *r = ir_reg(fn, op_index(x)), *s = ir_reg(fn, op_index(y));
        if (op_is_reg(x) && (r->file != s->file || r->width != s->width))
            return false;
    }
    return true;
}

// Returns the number that a move gives its definition; 0 = the instruction is no move, or its source has no number.
static ValueNumber number_of_copy(const Values *v, const Instr *i)
{
    if (ir_desc(v->fn, i)->op != OP_MOV)
        return 0;
    Operand from = copy_of_move(v->fn, i);
    return op_kind(from) == K_NONE || from.mods ? 0 : value_number(v, from);
}

/* -- Phis ----------------------------------------------------------------------------------------------- */

// Makes the key of a phi: its block, and its inputs. Returns the number of inputs without a number, UINT32_MAX if one is
// undefined or outside of ssa form.
static uint32_t make_phi_key(Values *v, const Instr *i)
{
    const Fn *fn = v->fn;
    uint32_t open = 0;
    const Reg *def = ir_reg(fn, op_index(*ir_def(fn, i, 0)));
    v->key.n = 0;
    VEC_PUSH(v->arena, &v->key, PHI_KEY);
    VEC_PUSH(v->arena, &v->key, i->block);
    VEC_PUSH(v->arena, &v->key, (uint32_t)def->file << 8 | def->width);
    for (uint32_t k = 0; k < ir_nuse(i); k += 2) {
        Operand o = *ir_use(fn, i, k + 1);
        if (o.mods || op_is_undef(o) || (op_is_reg(o) && !in_ssa(fn, o)))
            return UINT32_MAX;
        VEC_PUSH(v->arena, &v->key, ir_use(fn, i, k)->word);
        open += !add_number(v, o);
    }
    return open;
}

// Returns the number of all inputs that have one; 0 = they differ.
static ValueNumber common_input(const Values *v)
{
    ValueNumber common = 0;
    for (uint32_t k = 4; k < v->key.n; k += 2) {
        ValueNumber number = v->key.at[k];
        if (number && common && number != common)
            return 0;
        common = number ? number : common;
    }
    return common;
}

static bool number_phi(Values *v, InstrId id)
{
    const Instr *i = ir_instr(v->fn, id);
    RegId r = op_index(*ir_def(v->fn, i, 0));
    uint32_t open = make_phi_key(v, i);
    if (open == UINT32_MAX || (open && !v->optimistic)) {
        v->agree |= open != UINT32_MAX && !value_table_insert(&v->table, v->key.at, v->key.n).is_new;
        values_number_apart(v, id);
        return false;
    }
    ValueNumber common = common_input(v);
    if (common) {
        v->of[r] = common;
        return true;
    }
    ValueSlot slot = value_table_insert(&v->table, v->key.at, v->key.n);
    if (slot.is_new)
        slot.node->value = id;
    InstrId first = (InstrId)slot.node->value;
    v->of[r] = own_number(v->fn, op_index(*ir_def(v->fn, ir_instr(v->fn, first), 0)));
    return first != id;
}

/* -- Instructions --------------------------------------------------------------------------------------- */

static bool has_old_value(const Fn *fn, const Instr *i)
{
    for (uint32_t k = 0; k < ir_ntied(i); k++)
        if (!op_is_undef(*ir_tied(fn, i, k)))
            return true;
    return false;
}

// Returns the first instruction with the key of an instruction, which is entered if there is none.
static InstrId first_of_key(Values *v, InstrId id)
{
    ValueSlot slot = value_table_insert(&v->table, v->key.at, v->key.n);
    if (slot.is_new)
        slot.node->value = id;
    InstrId first = (InstrId)slot.node->value;
    return first == id || same_results(v->fn, ir_instr(v->fn, first), ir_instr(v->fn, id)) ? first : id;
}

static InstrId first_equal(Values *v, InstrId id)
{
    const Instr *i = ir_instr(v->fn, id);
    if (ir_guarded(i) && !has_old_value(v->fn, i) && make_key(v, i, false)) {
        const ValueNode *node = value_table_find(&v->table, v->key.at, v->key.n);
        if (node && same_results(v->fn, ir_instr(v->fn, (InstrId)node->value), i))
            return (InstrId)node->value;
    }
    return make_key(v, i, ir_guarded(i)) ? first_of_key(v, id) : id;
}

static void number_as(Values *v, InstrId id, InstrId first)
{
    const Instr *i = ir_instr(v->fn, id), *other = ir_instr(v->fn, first);
    for (uint32_t k = 0; k < i->ndef; k++)
        if (op_is_reg(*ir_def(v->fn, i, k)))
            v->of[op_index(*ir_def(v->fn, i, k))] = own_number(v->fn, op_index(*ir_def(v->fn, other, k)));
}

bool values_number(Values *v, InstrId id)
{
    const Fn *fn = v->fn;
    const Instr *i = ir_instr(fn, id);
    if (ir_desc(fn, i)->op == OP_PHI && in_ssa(fn, *ir_def(fn, i, 0)))
        return number_phi(v, id);
    ValueNumber copy = number_of_copy(v, i);
    if (copy) {
        v->of[op_index(*ir_def(fn, i, 0))] = copy;
        return true;
    }
    InstrId first = value_is_expression(fn, i) ? first_equal(v, id) : id;
    number_as(v, id, first);
    return first != id;
}

bool values_number_in(Values *v, InstrId id, uint32_t context)
{
    InstrId first = id;
    const Instr *i = ir_instr(v->fn, id);
    if (make_key(v, i, ir_guarded(i))) {
        VEC_PUSH(v->arena, &v->key, context);
        first = first_of_key(v, id);
    }
    number_as(v, id, first);
    return first != id;
}

/* -- All instructions ----------------------------------------------------------------------------------- */

static void number_all(Values *v, ValuesVisit *number, void *user)
{
    value_table_clear(&v->table);
    v->passes++;
    for (uint32_t k = 0; k < v->a->nrpo; k++)
        FOR_INSTRS(v->fn, v->a->dom.order[k], id)
            number(user, id);
}

// Repeats optimistic passes until no number changes; false if the limit is reached first.
static bool reach_fixed_point(Values *v, ValuesVisit *number, void *user)
{
    size_t bytes = v->fn->regs.n * sizeof *v->of;
    ValueNumber *before = arena_alloc(v->arena, bytes);
    memset(v->of, 0, bytes);
    v->optimistic = true;
    while (v->passes < PASSES_MAX) {
        memcpy(before, v->of, bytes);
        number_all(v, number, user);
        if (memcmp(before, v->of, bytes) == 0)
            return true;
    }
    return false;
}

void values_solve(Values *v, ValuesVisit *number, void *user)
{
    number_all(v, number, user);
    if (!v->agree || reach_fixed_point(v, number, user))
        return;
    memset(v->of, 0, v->fn->regs.n * sizeof *v->of);
    v->optimistic = false;
    number_all(v, number, user);
}
