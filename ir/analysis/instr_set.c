// SPDX-License-Identifier: MIT
// Sets of instructions that are compared by descriptor and operands (ir/analysis/instr_set.h).
#include <stdlib.h>

#include "ir/analysis/instr_set.h"

void instr_set_init(InstrSet *set, Arena *arena, const Fn *fn, OperandKey *representative, const void *user)
{
    uint32_t n = 16;
    while (n < fn->ninstrs / 2)
        n *= 2;
    *set = (InstrSet){.fn = fn, .arena = arena, .representative = representative, .user = user, .mask = n - 1};
    set->buckets = NEW_ARRAY(arena, uint32_t, n);
    seg_push(&set->keys, arena, 1, sizeof(InstrKey));
    seg_push(&set->ops, arena, 1, sizeof(Operand));
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

// Makes the key of an instruction in `set->key`.
static void make_key(InstrSet *set, const Instr *i, const Desc *d)
{
    const Operand *ops = ir_ops(set->fn, i);
    set->key.n = 0;
    for (uint32_t k = i->ndef; k < i->nops; k++)
        VEC_PUSH(set->arena, &set->key, set->representative(set->user, ops[k]));
    Operand *key = set->key.at;
    if (d->op == OP_PHI) {
        const Reg *def = ir_reg(set->fn, op_index(ops[0]));
        sort_inputs(key, set->key.n);
        VEC_PUSH(set->arena, &set->key, ((Operand){i->block, (uint32_t)def->file << 8 | def->width}));
    } else if (d->traits & TR_COMM && ir_nuse(i) >= 2 && compare_operands(key[0], key[1]) > 0) {
        Operand first = key[0];
        key[0] = key[1];
        key[1] = first;
    }
}

static uint32_t hash_key(const InstrSet *set, DescId desc)
{
    uint64_t h = hash_mix(desc, set->key.n);
    for (uint32_t k = 0; k < set->key.n; k++)
        h = hash_mix(h, (uint64_t)set->key.at[k].word << 32 | set->key.at[k].mods);
    return (uint32_t)(h ^ h >> 32);
}

static bool has_key(const InstrSet *set, const InstrKey *key, DescId desc, uint32_t hash)
{
    return key->hash == hash && key->desc == desc && key->n == set->key.n &&
           (!key->n ||
            memcmp(seg_at(&set->ops, key->ops, sizeof(Operand)), set->key.at, key->n * sizeof(Operand)) == 0);
}

InstrId *instr_set_at(InstrSet *set, InstrId id)
{
    const Instr *i = ir_instr(set->fn, id);
    make_key(set, i, ir_desc(set->fn, i));
    uint32_t hash = hash_key(set, i->desc), *bucket = &set->buckets[hash & set->mask], n = set->key.n;
    for (uint32_t k = *bucket; k;) {
        InstrKey *key = seg_at(&set->keys, k, sizeof *key);
        if (has_key(set, key, i->desc, hash))
            return &key->instr;
        k = key->next;
    }
    uint32_t place = seg_push(&set->keys, set->arena, 1, sizeof(InstrKey));
    InstrKey *key = seg_at(&set->keys, place, sizeof *key);
    *key = (InstrKey){.desc = i->desc, .hash = hash, .next = *bucket, .n = n};
    if (n) {
        key->ops = seg_push(&set->ops, set->arena, n, sizeof(Operand));
        memcpy(seg_at(&set->ops, key->ops, sizeof(Operand)), set->key.at, n * sizeof(Operand));
    }
    *bucket = place;
    return &key->instr;
}
