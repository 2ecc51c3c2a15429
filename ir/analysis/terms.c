// SPDX-License-Identifier: MIT
// Numbers the values of a function by the expressions that compute them (ir/analysis/terms.h).
//
// A term is a constant, a value that is not looked into, or an instruction with the terms of its operands. Equal terms
// get one number (hash-consing). Moves have the term of their source. Only pure instructions with one definition are
// looked into. The guard of a guarded one and the old value of its definition count as operands.
//
// Sound: each definition of a leaf of a term dominates the definitions that the term consists of. So at any point that
// two values of one term reach, both were computed from the last value of each leaf.
#include "ir/analysis/terms.h"

enum { KIDS_MAX = 6, LEAF = 1, CONSTANT = 2, FIRST_DESC = 3 };

typedef struct Term {
    uint32_t head;  // LEAF, CONSTANT, or FIRST_DESC + descriptor
    uint32_t nkids;
    uint64_t kid[KIDS_MAX];  // number, and modifiers << 32
} Term;

void terms_init(Terms *t, const Fn *fn, const Analyses *a, Arena *arena)
{
    *t = (Terms){.fn = fn, .a = a, .arena = arena};
    value_table_init(&t->table, arena);
    t->known = NEW_ARRAY(arena, uint32_t, (size_t)TERM_LEVELS * value_count(a));
}

static uint32_t intern(Terms *t, const Term *term)
{
    uint32_t n = 0, *key = value_table_key(&t->table, 1 + 2 * KIDS_MAX);
    key[n++] = term->head;
    for (uint32_t k = 0; k < term->nkids; k++) {
        key[n++] = (uint32_t)term->kid[k];
        key[n++] = (uint32_t)(term->kid[k] >> 32);
    }
    ValueNode *node = value_table_enter(&t->table, n);
    if (!node->value)
        node->value = ++t->n;
    return (uint32_t)node->value;
}

static uint32_t term_of_leaf(Terms *t, uint32_t head, uint32_t word)
{
    return intern(t, &(Term){.head = head, .nkids = 1, .kid[0] = word});
}

// True if equal operands give equal results.
static bool is_looked_into(const Fn *fn, const Instr *i)
{
    const Desc *d = ir_desc(fn, i);
    return d->traits & TR_PURE && !(d->traits & (TR_PSEUDO | TR_CONV)) && i->ndef == 1 &&
           !(i->flags & (IF_TIED | IF_PINNED)) && ir_nuse(i) + 2 <= KIDS_MAX;
}

static bool add_kid(Term *key, uint32_t term, uint32_t mods)
{
    key->kid[key->nkids++] = term | (uint64_t)mods << 32;
    return term;
}

// Returns the term of the instruction that defines a value; 0 = that of an operand is unknown.
static uint32_t term_of_instr(Terms *t, ValueId value, int depth)
{
    const Fn *fn = t->fn;
    InstrId id = value_def(t->a, value);
    const Instr *i = ir_instr(fn, id);
    Term key = {.head = FIRST_DESC + i->desc};
    for (uint32_t k = 0; k < ir_nuse(i); k++)
        if (!add_kid(&key, term_of_operand(t, id, i->ndef + k, depth), ir_use(fn, i, k)->mods))
            return 0;
    if (ir_desc(fn, i)->traits & TR_COMM && key.nkids >= 2 && key.kid[0] > key.kid[1]) {
        uint64_t first = key.kid[0];
        key.kid[0] = key.kid[1];
        key.kid[1] = first;
    }
    if (ir_guarded(i)) {
        const ReachingDefs *rd = &t->a->rdefs;
        uint32_t guard = term_of_operand(t, id, ir_guard_index(i), depth);
        ValueId old = value >= rd->first_def ? rd->old[value - rd->first_def] : 0;
        if (!add_kid(&key, guard, ir_guard(fn, i)->mods) || !add_kid(&key, term_of_value(t, old, depth), 0))
            return 0;
    }
    return intern(t, &key);
}

// Returns the source of the unguarded moves of registers that define a value.
static ValueId through_moves(const Terms *t, ValueId value)
{
    for (int n = 0; n < COPY_CHAIN && value && value != VALUE_ANY && !value_is_phi(t->a, value); n++) {
        InstrId def = value_def(t->a, value);
        const Instr *i = ir_instr(t->fn, def);
        Operand from = copy_of_move(t->fn, i);
        if (!op_is_reg(from) || from.mods)
            break;
        value = value_of(t->fn, t->a, def, i->ndef);
    }
    return value;
}

uint32_t term_of_value(Terms *t, ValueId value, int depth)
{
    value = through_moves(t, value);
    if (!value || value == VALUE_ANY)
        return 0;
    uint32_t *known = &t->known[(size_t)depth * value_count(t->a) + value];
    if (*known)
        return *known;
    InstrId def = value_is_phi(t->a, value) ? 0 : value_def(t->a, value);
    Operand constant = def ? copy_of_move(t->fn, ir_instr(t->fn, def)) : op_none();
    uint32_t term = 0;
    if (op_is_const(constant) && !op_is_undef(constant))
        term = term_of_leaf(t, CONSTANT, constant.word);
    else if (def && depth && is_looked_into(t->fn, ir_instr(t->fn, def)))
        term = term_of_instr(t, value, depth - 1);
    return *known = term ? term : term_of_leaf(t, LEAF, value);
}

uint32_t term_of_operand(Terms *t, InstrId id, uint32_t k, int depth)
{
    Operand o = ir_ops(t->fn, ir_instr(t->fn, id))[k];
    if (op_is_reg(o))
        return op_file(o) == RF_CC ? 0 : term_of_value(t, value_of(t->fn, t->a, id, k), depth);
    if (op_is_undef(o) || (op_kind(o) == K_SREG && sreg_info[op_index(o)].fresh))
        return 0;
    return term_of_leaf(t, CONSTANT, o.word);
}
