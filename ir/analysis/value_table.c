// SPDX-License-Identifier: MIT
// The table of value numbering (ir/analysis/value_table.h).
#include "ir/analysis/value_table.h"

_Static_assert(sizeof(ValueNode) == 32 && sizeof(ValueBucket) == 24, "documented sizes");

enum { PIECE = 16 };

typedef struct ValuePiece {
    struct ValuePiece *next;
    ValueNode node[PIECE];
} ValuePiece;

static void clear_buckets(ValueTable *t) { memset(t->buckets, 0, t->capacity * sizeof *t->buckets); }

static void make_buckets(ValueTable *t, uint64_t capacity)
{
    t->capacity = capacity;
    t->buckets = arena_alloc(t->arena, capacity * sizeof *t->buckets);
    clear_buckets(t);
}

void value_table_init(ValueTable *t, Arena *arena)
{
    enum { WORDS = 16 };
    *t = (ValueTable){.arena = arena};
    make_buckets(t, VALUE_TABLE_CAPACITY);
    VEC_RESERVE(arena, &t->words, WORDS);
}

void value_table_clear(ValueTable *t)
{
    clear_buckets(t);
    t->entries = t->words.n = 0;
    t->piece = NULL;
    t->free = t->end = NULL;
}

uint32_t value_hash(const uint32_t *words, uint32_t n)
{
    uint32_t h = FNV_BASIS;
    for (uint32_t k = 0; k < n; k++)
        h = (h ^ words[k]) * FNV_PRIME;
    return h;
}

// The low bits of the hash depend on the low bits of the words alone, so the upper half is added.
static uint64_t bucket_of(const ValueTable *t, uint32_t hash) { return (hash ^ hash >> 16) & (t->capacity - 1); }

static inline void append(ValueBucket *b, ValueNode *node)
{
    *(b->tail ? &b->tail->next : &b->head) = node;
    b->tail = node;
    b->count++;
}

static void grow_to(ValueTable *t, uint64_t capacity)
{
    const ValueBucket *old = t->buckets;
    uint64_t n = t->capacity;
    make_buckets(t, capacity);
    for (uint64_t k = 0; k < n; k++)
        for (ValueNode *node = old[k].head, *next; node; node = next) {
            next = node->next;
            node->next = NULL;
            append(&t->buckets[bucket_of(t, node->hash)], node);
        }
}

void value_table_expect(ValueTable *t, uint64_t entries, uint32_t words)
{
    uint64_t capacity = t->capacity;
    while (entries > capacity)
        capacity *= 2;
    if (capacity > t->capacity)
        grow_to(t, capacity);
    if (!t->words.n && words > t->words.cap)
        VEC_RESERVE(t->arena, &t->words, words);
}

static inline bool has_key(const ValueTable *t, const ValueNode *node, uint32_t hash, uint32_t n)
{
    if (node->hash != hash || node->nkey != n)
        return false;
    const uint32_t *x = t->words.at + node->key, *y = t->words.at + t->words.n;
    while (n && x[n - 1] == y[n - 1])
        n--;
    return !n;
}

// Returns the slot of the current key, without a node if the table lacks it.
static ValueSlot look_up(const ValueTable *t, uint32_t hash, uint32_t n)
{
    ValueSlot slot = {.bucket = bucket_of(t, hash)};
    for (slot.node = t->buckets[slot.bucket].head; slot.node; slot.node = slot.node->next) {
        if (has_key(t, slot.node, hash, n))
            break;
        slot.previous = slot.node;
    }
    return slot;
}

void value_table_reserve(ValueTable *t, uint32_t max)
{
    while (t->words.cap - t->words.n < max)
        t->words.at = vec_grow(t->arena, t->words.at, t->words.n, &t->words.cap, sizeof *t->words.at);
}

ValueNode *value_table_find(const ValueTable *t, uint32_t n)
{
    return look_up(t, value_hash(t->words.at + t->words.n, n), n).node;
}

// Continues with the next piece of memory for nodes. A table that was cleared has pieces already.
static void next_piece(ValueTable *t)
{
    ValuePiece **next = t->piece ? &t->piece->next : &t->pieces;
    if (!*next) {
        *next = arena_alloc(t->arena, sizeof **next);
        (*next)->next = NULL;
    }
    t->piece = *next;
    t->free = t->piece->node;
    t->end = t->piece->node + PIECE;
}

static inline ValueNode *new_node(ValueTable *t)
{
    if (t->free == t->end)
        next_piece(t);
    return t->free++;
}

// Adds an entry for the current key, which belongs to a bucket.
static inline ValueNode *add(ValueTable *t, ValueBucket *b, uint32_t hash, uint32_t n)
{
    if (t->entries == t->capacity) {
        grow_to(t, 4 * t->capacity);
        b = &t->buckets[bucket_of(t, hash)];
    }
    ValueNode *node = new_node(t);
    *node = (ValueNode){.key = t->words.n, .nkey = n, .hash = hash};
    t->words.n += n;
    t->entries++;
    append(b, node);
    return node;
}

ValueNode *value_table_enter(ValueTable *t, uint32_t n)
{
    uint32_t hash = value_hash(t->words.at + t->words.n, n);
    ValueBucket *b = &t->buckets[bucket_of(t, hash)];
    ValueNode *node = b->head;
    while (node && !has_key(t, node, hash, n))
        node = node->next;
    return node ? node : add(t, b, hash, n);
}

ValueSlot value_table_insert(ValueTable *t, uint32_t n)
{
    uint32_t hash = value_hash(t->words.at + t->words.n, n);
    ValueSlot slot = look_up(t, hash, n);
    if (slot.node)
        return slot;
    slot.node = add(t, &t->buckets[slot.bucket], hash, n);
    slot.is_new = true;
    slot.bucket = bucket_of(t, hash);
    slot.previous = t->buckets[slot.bucket].head == slot.node ? NULL : t->buckets[slot.bucket].head;
    while (slot.previous && slot.previous->next != slot.node)
        slot.previous = slot.previous->next;
    return slot;
}
