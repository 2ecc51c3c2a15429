// SPDX-License-Identifier: MIT
// Sets of instructions that are compared by descriptor and operands (ir/analysis/instr_set.h).
#include <stdlib.h>

#include "ir/analysis/instr_set.h"

void instr_set_init(InstrSet *set, Arena *arena, const Fn *fn, OperandKey *representative, const void *user)
{
    *set = (InstrSet){.fn = fn, .arena = arena, .representative = representative, .user = user};
}

static int compare_operands(Operand x, Operand y)
{
    if (x.word != y.word)
        return x.word < y.word ? -1 : 1;
    return x.mods < y.mods ? -1 : x.mods > y.mods;
}

// An input of a phi: predecessor and value, in the layout of the operands.
typedef struct PhiInput {
    Operand from, value;
} PhiInput;

static int compare_inputs(const void *x, const void *y)
{
    const PhiInput *a = x, *b = y;
    int from = compare_operands(a->from, b->from);
    return from ? from : compare_operands(a->value, b->value);
}

// Sorts the inputs of a phi by predecessor. Most inputs are sorted already.
static void sort_inputs(Operand *ops, uint32_t n)
{
    PhiInput *inputs = (PhiInput *)ops;
    bool sorted = true;
    for (uint32_t k = 1; k < n / 2; k++)
        sorted &= compare_inputs(&inputs[k - 1], &inputs[k]) <= 0;
    if (!sorted)
        qsort(inputs, n / 2, sizeof *inputs, compare_inputs);
}

// Makes the key of an instruction in `set->ops`.
static void make_key(InstrSet *set, const Instr *i, const Desc *d)
{
    const Operand *ops = ir_ops(set->fn, i);
    set->ops.n = 0;
    for (uint32_t k = i->ndef; k < i->nops; k++)
        VEC_PUSH(set->arena, &set->ops, set->representative(set->user, ops[k]));
    Operand *key = set->ops.at;
    if (d->op == OP_PHI) {
        const Reg *def = ir_reg(set->fn, op_index(ops[0]));
        sort_inputs(key, set->ops.n);
        VEC_PUSH(set->arena, &set->ops, ((Operand){i->block, (uint32_t)def->file << 8 | def->width}));
    } else if (d->traits & TR_COMM && ir_nuse(i) >= 2 && compare_operands(key[0], key[1]) > 0) {
        Operand first = key[0];
        key[0] = key[1];
        key[1] = first;
    }
}

static uint32_t hash_key(const InstrSet *set, DescId desc)
{
    uint64_t h = hash_mix(desc, set->ops.n);
    for (uint32_t k = 0; k < set->ops.n; k++)
        h = hash_mix(h, (uint64_t)set->ops.at[k].word << 32 | set->ops.at[k].mods);
    return (uint32_t)(h ^ h >> 32);
}

static bool has_key(const InstrSet *set, const InstrKey *key, DescId desc)
{
    return key->desc == desc && key->n == set->ops.n &&
           (!key->n || memcmp(key->ops, set->ops.at, key->n * sizeof *key->ops) == 0);
}

InstrId *instr_set_at(InstrSet *set, InstrId id)
{
    const Instr *i = ir_instr(set->fn, id);
    make_key(set, i, ir_desc(set->fn, i));
    uint32_t hash = hash_key(set, i->desc);
    IDSET_EACH(&set->index, hash, place) {
        if (has_key(set, &set->keys.at[place], i->desc))
            return &set->keys.at[place].instr;
    }
    Operand *ops = arena_alloc(set->arena, MAX(set->ops.n, 1) * sizeof *ops);
    for (uint32_t k = 0; k < set->ops.n; k++)
        ops[k] = set->ops.at[k];
    idset_add(&set->index, set->arena, hash, set->keys.n);
    VEC_PUSH(set->arena, &set->keys, ((InstrKey){.desc = i->desc, .ops = ops, .n = set->ops.n}));
    return &set->keys.at[set->keys.n - 1].instr;
}
