// SPDX-License-Identifier: MIT
// The table of value numbering (ir/analysis/value_table.h).
#include "ir/analysis/value_table.h"

_Static_assert(sizeof(ValueNode) == 32 && sizeof(ValueBucket) == 24, "documented sizes");

void value_table_init(ValueTable *t, Arena *arena)
{
    *t = (ValueTable){.arena = arena, .capacity = VALUE_TABLE_CAPACITY};
    t->buckets = NEW_ARRAY(arena, ValueBucket, t->capacity);
}

void value_table_clear(ValueTable *t)
{
    memset(t->buckets, 0, t->capacity * sizeof *t->buckets);
    t->entries = t->words.n = 0;
}

uint32_t value_hash(const uint32_t *words, uint32_t n)
{
    uint32_t h = FNV_BASIS;
    for (uint32_t k = 0; k < n; k++)
        for (unsigned byte = 0; byte < 32; byte += 8)
            h = (h ^ (words[k] >> byte & 0xff)) * FNV_PRIME;
    return h;
}

static void append(ValueTable *t, ValueNode *node)
{
    ValueBucket *b = &t->buckets[node->hash & (t->capacity - 1)];
    node->next = NULL;
    *(b->tail ? &b->tail->next : &b->head) = node;
    b->tail = node;
    b->count++;
}

static void grow(ValueTable *t)
{
    const ValueBucket *old = t->buckets;
    uint64_t n = t->capacity;
    t->capacity *= 4;
    t->buckets = NEW_ARRAY(t->arena, ValueBucket, t->capacity);
    for (uint64_t k = 0; k < n; k++)
        for (ValueNode *node = old[k].head, *next; node; node = next) {
            next = node->next;
            append(t, node);
        }
}

static bool has_key(const ValueTable *t, const ValueNode *node, uint32_t hash, const uint32_t *words, uint32_t n)
{
    return node->hash == hash && node->nkey == n && memcmp(t->words.at + node->key, words, n * sizeof *words) == 0;
}

// Returns the slot of a key, without a node if the table lacks it.
static ValueSlot look_up(const ValueTable *t, uint32_t hash, const uint32_t *words, uint32_t n)
{
    ValueSlot slot = {.bucket = hash & (t->capacity - 1)};
    for (slot.node = t->buckets[slot.bucket].head; slot.node; slot.node = slot.node->next) {
        if (has_key(t, slot.node, hash, words, n))
            break;
        slot.previous = slot.node;
    }
    return slot;
}

ValueNode *value_table_find(const ValueTable *t, const uint32_t *words, uint32_t n)
{
    return look_up(t, value_hash(words, n), words, n).node;
}

ValueSlot value_table_insert(ValueTable *t, const uint32_t *words, uint32_t n)
{
    uint32_t hash = value_hash(words, n);
    ValueSlot slot = look_up(t, hash, words, n);
    if (slot.node)
        return slot;
    if (t->entries + 1 > t->capacity) {
        grow(t);
        slot.bucket = hash & (t->capacity - 1);
        slot.previous = t->buckets[slot.bucket].tail;
    }
    slot.node = NEW(t->arena, ValueNode);
    *slot.node = (ValueNode){.key = t->words.n, .nkey = n, .hash = hash};
    for (uint32_t k = 0; k < n; k++)
        VEC_PUSH(t->arena, &t->words, words[k]);
    append(t, slot.node);
    t->entries++;
    slot.is_new = true;
    return slot;
}
