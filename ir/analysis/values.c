// SPDX-License-Identifier: MIT
// Value numbering (ir/analysis/values.h).
//
// A key has a first word, descriptor << 2 | guarded << 1 | has modifiers, then the numbers of the uses, then their
// modifiers if one of them is not zero, then the old values and the guard of a guarded instruction. The key of a phi
// begins with 0, which is no descriptor, and its block.
//
// An instruction has an operand without a number if it reads `undef`, a register outside of ssa form, or a special
// register that changes. It is then numbered apart: `undef` is an unknown value here, not one that may be chosen.
//
// A phi whose inputs have one number has this number. In the first, pessimistic pass a phi with an input from a back
// edge is numbered apart. If two such phis of a block agree in all other inputs, optimistic passes follow, unless the
// inputs from back edges are different terms. Optimistic passes ignore inputs that have no number yet, so phis of
// a loop are equal until an input proves the contrary. If numbers still change after PASSES_MAX passes, the pessimistic
// numbers are final.
#include "ir/analysis/values.h"

enum { PASSES_MAX = 12, KEY_WORDS = 5 /* of most keys */, PHI_KEY = 0, GUARDED_KEY = 2 };

void values_init(Values *v, Arena *arena, const Fn *fn, const Analyses *a, ValueOrder *swaps)
{
    *v = (Values){.fn = fn, .a = a, .swaps = swaps};
    arena_init(&v->keys, arena->heap);
    value_table_init(&v->table, &v->keys);
    value_table_expect(&v->table, fn->ninstrs, (uint32_t)MIN(KEY_WORDS * (uint64_t)fn->ninstrs, UINT32_MAX / 8));
    v->finds_copies = true;
    v->of = NEW_ARRAY(arena, ValueNumber, fn->regs.n);
}

void values_free_table(Values *v)
{
    arena_free(&v->keys);
    v->table = (ValueTable){0};
}

/* -- Operands ------------------------------------------------------------------------------------------- */

static bool in_ssa(const Fn *fn, Operand o) { return op_file(o) != RF_CC && reg_in_ssa(ir_reg(fn, op_index(o))); }

static bool is_fresh(Operand o) { return op_kind(o) == K_SREG && sreg_info[op_index(o)].fresh; }

// Registers outside of ssa form never get a number.
static inline ValueNumber number_of(const Values *v, Operand o)
{
    if (op_is_reg(o))
        return v->of[op_index(o)];
    return op_is_undef(o) || is_fresh(o) ? 0 : o.word;
}

ValueNumber value_number(const Values *v, Operand o) { return number_of(v, o); }

// Returns the number of a definition that represents its value.
static ValueNumber own_number(Operand def) { return def.word & ~(1u << 31); }

static void number_apart(Values *v, Operand def)
{
    if (op_is_reg(def) && in_ssa(v->fn, def))
        v->of[op_index(def)] = own_number(def);
}

void values_number_apart(Values *v, InstrId id)
{
    const Instr *i = ir_instr(v->fn, id);
    const Operand *defs = ir_ops(v->fn, i);
    for (uint32_t k = 0; k < i->ndef; k++)
        number_apart(v, defs[k]);
}

/* -- Expressions ---------------------------------------------------------------------------------------- */

// Returns the number of an old value, in keys that find `like`: two undefined old values are equal there.
static ValueNumber number_of_old(const Values *v, Operand o) { return op_is_undef(o) ? o.word : value_number(v, o); }

// Appends the old values and the guard of an instruction to a key. False: one of them has no number.
static bool add_guard(const Values *v, const Instr *i, uint32_t *key, uint32_t *n)
{
    for (uint32_t k = 0; k < ir_ntied(i); k++) {
        key[*n] = number_of_old(v, *ir_tied(v->fn, i, k));
        if (!key[(*n)++])
            return false;
    }
    key[(*n)++] = ir_guard(v->fn, i)->mods;
    key[*n] = number_of(v, *ir_guard(v->fn, i));
    return key[(*n)++];
}

// Exchanges the first two uses in a key if the instruction commutes and the backend orders them so. True: it has.
static inline bool exchange(const Values *v, const Instr *i, const Operand *uses, uint32_t *key)
{
    uint32_t x = key[1], y = key[2];
    if (!values_swap(v, i, x, y) && (x != y || uses[0].mods <= uses[1].mods))
        return false;
    key[1] = y;
    key[2] = x;
    return true;
}

// Makes the key of an instruction without its guard and old values, as the next key of the table. Returns its length;
// 0 = an operand has no number.
static inline __attribute__((always_inline)) uint32_t make_uses_key(Values *v, const Instr *i, const Desc *d,
                                                                    const Operand *uses, uint32_t nuse)
{
    uint32_t n = nuse + 1, mods = 0;
    uint32_t *key = value_table_key(&v->table, 2 * i->nops + 4);
    for (uint32_t k = 0; k < nuse; k++) {
        key[1 + k] = number_of(v, uses[k]);
        mods |= uses[k].mods;
        if (!key[1 + k])
            return 0;
    }
    uint32_t exchanged = nuse > 1 && d->traits & TR_COMM && exchange(v, i, uses, key);
    for (uint32_t k = 0; mods && k < nuse; k++)
        key[n + (k < 2 ? k ^ exchanged : k)] = uses[k].mods;
    n += mods ? nuse : 0;
    key[0] = (desc_has_value(d) ? d->canonical : desc_value(v->fn, i)) << 2 | (mods != 0);
    return n;
}

// Does the same, with or without guard and old values.
static uint32_t make_key(Values *v, const Instr *i, const Desc *d, const Operand *uses, bool guarded)
{
    uint32_t n = make_uses_key(v, i, d, uses, ir_nuse(i));
    if (!n || !guarded)
        return n;
    uint32_t *key = value_table_key(&v->table, 2 * i->nops + 4);
    key[0] |= GUARDED_KEY;
    return add_guard(v, i, key, &n) ? n : 0;
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

// Returns the number that an unguarded move gives its definition; 0 = its source has no number, or another width.
static inline ValueNumber number_of_copy(const Values *v, const Instr *i)
{
    const Operand *ops = ir_ops(v->fn, i);
    ValueNumber number = ops[1].mods ? 0 : number_of(v, ops[1]);
    if (!number || i->flags & IF_GUARDED)
        return 0;
    if (!op_is_reg(ops[1]) || !op_is_reg(ops[0]))
        return op_kind(copy_of_move(v->fn, i)) == K_NONE ? 0 : number;
    return ir_reg(v->fn, op_index(ops[0]))->width == ir_reg(v->fn, op_index(ops[1]))->width ? number : 0;
}

// Returns the first instruction with the key of length n, which is `id` if there is none yet.
static inline InstrId first_of_key(Values *v, InstrId id, uint32_t n)
{
    ValueNode *node = value_table_enter(&v->table, n);
    if (!node->value)
        node->value = id;
    InstrId first = (InstrId)node->value;
    return first == id || same_results(v->fn, ir_instr(v->fn, first), ir_instr(v->fn, id)) ? first : id;
}

// Returns the number of undefined old values.
static uint32_t count_undefined(const Fn *fn, const Instr *i)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < ir_ntied(i); k++)
        n += op_is_undef(*ir_tied(fn, i, k));
    return n;
}

// Returns the first instruction with the same expression as an instruction, without its guard; 0 = none.
static InstrId find_unguarded(Values *v, const Instr *i, const Desc *d)
{
    uint32_t n = make_key(v, i, d, ir_use(v->fn, i, 0), false);
    const ValueNode *node = n ? value_table_find(&v->table, n) : NULL;
    return node && same_results(v->fn, ir_instr(v->fn, (InstrId)node->value), i) ? (InstrId)node->value : 0;
}

// Sets Values.like for a guarded instruction with undefined old values.
static void find_like(Values *v, InstrId id, const Instr *i, const Desc *d)
{
    v->like = find_unguarded(v, i, d);
    uint32_t n = v->like ? 0 : make_key(v, i, d, ir_use(v->fn, i, 0), true);
    InstrId first = n ? first_of_key(v, id, n) : id;
    v->like = first != id ? first : v->like;
}

static InstrId first_guarded(Values *v, InstrId id, const Instr *i, const Desc *d)
{
    uint32_t undefined = count_undefined(v->fn, i);
    if (undefined && undefined == ir_ntied(i))
        find_like(v, id, i, d);
    uint32_t n = undefined ? 0 : make_key(v, i, d, ir_use(v->fn, i, 0), true);
    return n ? first_of_key(v, id, n) : id;
}

// Gives the results of an instruction the numbers of those of `first`.
static void number_as(Values *v, const Instr *i, InstrId first)
{
    const Operand *defs = ir_ops(v->fn, i), *others = ir_ops(v->fn, ir_instr(v->fn, first));
    for (uint32_t k = 0; k < i->ndef; k++)
        if (op_is_reg(defs[k]))
            v->of[op_index(defs[k])] = own_number(others[k]);
}

static inline bool defines_ssa(const Fn *fn, const Instr *i, const Operand *defs)
{
    for (uint32_t k = 0; k < i->ndef; k++)
        if (op_is_reg(defs[k]) && !in_ssa(fn, defs[k]))
            return false;
    return i->ndef;
}

static inline bool is_expression(const Instr *i, const Desc *d)
{
    enum { OTHER = TR_PURE | TR_PSEUDO | TR_CONV };
    return (d->traits & OTHER) == TR_PURE && !(i->flags & IF_PINNED) && (!ir_guarded(i) || i->flags & IF_TIED);
}

bool value_is_expression(const Fn *fn, const Instr *i)
{
    return is_expression(i, ir_desc(fn, i)) && defines_ssa(fn, i, ir_ops(fn, i));
}

/* -- Phis ----------------------------------------------------------------------------------------------- */

enum { PHI_FIXED = 3, SHAPES = 2 };
static const uint32_t shape_depth[SHAPES] = {2, 7};
#define UNDEFINED UINT32_MAX
#define SHAPED UINT32_MAX  // as a value in the table: no instruction

// Makes the key of a phi: PHI_FIXED words, and two for each input. Returns the number of inputs without a number,
// UNDEFINED if one is undefined or outside of ssa form.
static uint32_t make_phi_key(Values *v, const Instr *i)
{
    const Fn *fn = v->fn;
    uint32_t open = 0, *key = value_table_key(&v->table, PHI_FIXED + i->nops);
    const Reg *def = ir_reg(fn, op_index(*ir_def(fn, i, 0)));
    key[0] = PHI_KEY;
    key[1] = i->block;
    key[2] = (uint32_t)def->file << 8 | def->width;
    for (uint32_t k = 0; k < ir_nuse(i); k += 2) {
        Operand o = *ir_use(fn, i, k + 1);
        ValueNumber number = value_number(v, o);
        if (o.mods || (op_is_reg(o) ? !in_ssa(fn, o) : !number))
            return UNDEFINED;
        key[PHI_FIXED + k] = ir_use(fn, i, k)->word;
        key[PHI_FIXED + k + 1] = number;
        open += !number;
    }
    return open;
}

// Returns the number of all inputs that have one; 0 = they differ. `n` is the length of the key.
static ValueNumber common_input(Values *v, uint32_t n)
{
    const uint32_t *key = value_table_key(&v->table, n);
    ValueNumber common = 0;
    for (uint32_t k = PHI_FIXED + 1; k < n; k += 2) {
        if (key[k] && common && key[k] != common)
            return 0;
        common = key[k] ? key[k] : common;
    }
    return common;
}

// Returns a hash of the term of an operand, down to operands with numbers. Operands with different hashes are assumed
// to be different. All phis of block b have one hash, and so have those of each later block.
static uint32_t shape_of(const Values *v, Operand o, BlockId b, uint32_t depth)
{
    InstrId def = v->a->valid & AN_DEF && op_is_reg(o) ? def_of(v->a, op_index(o)) : 0;
    if (!def)
        return number_of(v, o);
    const Instr *i = ir_instr(v->fn, def);
    ValueNumber number = v->of[op_index(o)];
    if (number && i->block != b)
        return number;
    const Desc *d = ir_desc(v->fn, i);
    const Operand *ops = ir_ops(v->fn, i);
    uint32_t shape = d->op == OP_PHI ? i->block : d->canonical * FNV_PRIME;
    for (uint32_t k = i->ndef; depth && d->op != OP_PHI && k < i->nops; k++)
        shape += shape_of(v, ops[k], b, depth - 1) * (FNV_PRIME + (d->traits & TR_COMM && k - i->ndef < 2 ? 0 : 2 * k));
    return shape;
}

static void note_open(Values *v, InstrId id, uint32_t n, uint32_t level);

// Notes a phi by the key of length n at this index, which another phi has too, and the shapes of its inputs without a
// number.
static void note_shapes(Values *v, InstrId id, uint32_t key, uint32_t n, uint32_t level)
{
    const Instr *i = ir_instr(v->fn, id);
    uint32_t *shaped = value_table_key(&v->table, n + ir_nuse(i));
    memcpy(shaped, v->table.words.at + key, n * sizeof *shaped);
    for (uint32_t k = 0; k < ir_nuse(i); k += 2)
        if (!shaped[PHI_FIXED + k + 1])
            shaped[n++] = shape_of(v, *ir_use(v->fn, i, k + 1), i->block, shape_depth[level]);
    note_open(v, id, n, level + 1);
}

// Notes a phi with inputs that have no number, by the current key of length n. Where keys are equal, those with deeper
// shapes are compared. Sets Values.agree if there is an equal phi.
static void note_open(Values *v, InstrId id, uint32_t n, uint32_t level)
{
    ValueNode *node = value_table_enter(&v->table, n);
    uint64_t first = node->value;
    node->value = first ? SHAPED : id;
    if (first && level == SHAPES)
        v->agree = true;
    if (!first || level == SHAPES)
        return;
    if (first != SHAPED)
        note_shapes(v, (InstrId)first, node->key, n, level);
    note_shapes(v, id, node->key, n, level);
}

// True if the block of a phi has another one.
static bool has_neighbor(const Fn *fn, const Instr *i)
{
    return (i->prev && ir_is_phi(fn, i->prev)) || (i->next && ir_is_phi(fn, i->next));
}

static bool number_phi(Values *v, InstrId id, const Instr *i)
{
    uint32_t open = make_phi_key(v, i), n = PHI_FIXED + ir_nuse(i);
    if (open == UNDEFINED || (open && !v->optimistic)) {
        if (open != UNDEFINED && !v->pessimistic && has_neighbor(v->fn, i))
            note_open(v, id, n, 0);
        values_number_apart(v, id);
        return false;
    }
    ValueNumber common = common_input(v, n);
    if (common) {
        v->of[op_index(*ir_def(v->fn, i, 0))] = common;
        return true;
    }
    InstrId first = first_of_key(v, id, n);
    number_as(v, i, first);
    return first != id;
}

/* -- Instructions --------------------------------------------------------------------------------------- */

bool values_number(Values *v, InstrId id)
{
    const Fn *fn = v->fn;
    const Instr *i = ir_instr(fn, id);
    const Desc *d = ir_desc(fn, i);
    v->like = 0;
    if (!i->ndef)
        return false;
    const Operand *ops = ir_ops(fn, i);
    bool phi = d->op == OP_PHI;
    if ((!phi && !is_expression(i, d)) || !defines_ssa(fn, i, ops)) {
        values_number_apart(v, id);
        return false;
    }
    if (phi)
        return number_phi(v, id, i);
    ValueNumber copy = d->op == OP_MOV ? number_of_copy(v, i) : 0;
    if (copy) {
        v->of[op_index(ops[0])] = copy;
        return true;
    }
    InstrId first = id;
    if (ir_guarded(i)) {
        first = first_guarded(v, id, i, d);
    } else {
        uint32_t n = make_key(v, i, d, ops + i->ndef, false);
        first = n ? first_of_key(v, id, n) : id;
    }
    if (first == id && i->ndef == 1)
        v->of[op_index(ops[0])] = own_number(ops[0]);
    else
        number_as(v, i, first);
    return first != id;
}

InstrId values_find(Values *v, InstrId id)
{
    const Instr *i = ir_instr(v->fn, id);
    return ir_guarded(i) || i->flags & IF_PINNED ? 0 : find_unguarded(v, i, ir_desc(v->fn, i));
}

bool values_number_in(Values *v, InstrId id, uint32_t context)
{
    const Instr *i = ir_instr(v->fn, id);
    InstrId first = id;
    if (!defines_ssa(v->fn, i, ir_ops(v->fn, i))) {
        values_number_apart(v, id);
        return false;
    }
    uint32_t n = count_undefined(v->fn, i) ? 0 : make_key(v, i, ir_desc(v->fn, i), ir_use(v->fn, i, 0), ir_guarded(i));
    if (n) {
        value_table_key(&v->table, n + 1)[n] = context;
        first = first_of_key(v, id, n + 1);
    }
    number_as(v, i, first);
    return first != id;
}

/* -- All instructions ----------------------------------------------------------------------------------- */

// Numbers a pure instruction without a guard, whose only result is a register of ssa form. True: it has the number of
// another one.
static inline bool number_one(Values *v, InstrId id, const Instr *i, const Desc *d, const Operand *ops)
{
    ValueNumber *number = &v->of[op_index(ops[0])];
    if (d->op == OP_PHI)
        return number_phi(v, id, i);
    if (d->op == OP_MOV && op_kind(ops[1]) != K_SREG && (*number = number_of_copy(v, i)))
        return v->finds_copies;
    uint32_t n = make_uses_key(v, i, d, ops + 1, i->nops - 1);
    InstrId first = n ? first_of_key(v, id, n) : id;
    *number = own_number(first == id ? ops[0] : *ir_def(v->fn, ir_instr(v->fn, first), 0));
    return first != id;
}

// Numbers an instruction that every client numbers in the same way. False: it is another one.
static inline bool number_plain(Values *v, InstrId id, const Instr *i, void *user)
{
    enum { OTHER = TR_PURE | TR_CONV | TR_READ | TR_NOFOLD };
    const Fn *fn = v->fn;
    const Desc *d = ir_desc(fn, i);
    if ((d->traits & OTHER) != TR_PURE || i->ndef != 1 || i->flags & (IF_PINNED | IF_GUARDED) ||
        (d->traits & TR_PSEUDO && d->op != OP_PHI))
        return !i->ndef && !(d->traits & TR_CONV);
    const Operand *ops = ir_ops(fn, i);
    if (!op_is_reg(ops[0]) || v->a->def.at[op_index(ops[0])] != id)
        return false;
    if (number_one(v, id, i, d, ops))
        v->found(user, id);
    return true;
}

static void number_block(Values *v, BlockId b, ValuesVisit *number, void *user)
{
    for (InstrId id = ir_block(v->fn, b)->first, next; id; id = next) {
        const Instr *i = ir_instr(v->fn, id);
        next = i->next;
        if (!v->found || !number_plain(v, id, i, user))
            number(user, id);
    }
}

// Numbers all instructions. The first pass ends as soon as it is known not to be the last one.
static void number_all(Values *v, ValuesVisit *number, void *user)
{
    if (v->passes++)
        value_table_clear(&v->table);
    for (uint32_t k = 0; k < v->a->nrpo && !(v->agree && v->passes == 1); k++)
        number_block(v, v->a->dom.order[k], number, user);
}

// Repeats optimistic passes until no number changes; false if the limit is reached first.
static bool reach_fixed_point(Values *v, ValuesVisit *number, void *user)
{
    size_t bytes = v->fn->regs.n * sizeof *v->of;
    ValueNumber *before = arena_alloc(&v->keys, bytes);
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
