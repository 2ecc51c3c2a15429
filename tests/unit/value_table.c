// SPDX-License-Identifier: MIT
// Tests the table of value numbering: hash, chains, growth, results of insertion.
#include "ir/analysis/value_table.h"

#include "tests/unit/unit.h"

typedef struct Rig {
    Heap heap;
    Arena arena;
    ValueTable t;
} Rig;

static void rig_begin(Rig *r)
{
    unit_heap(&r->heap);
    arena_init(&r->arena, &r->heap);
    value_table_init(&r->t, &r->arena);
}

static void rig_end(Rig *r)
{
    arena_free(&r->arena);
    heap_release(&r->heap);
}

static ValueSlot insert(ValueTable *t, const uint32_t *words, uint32_t n)
{
    memcpy(value_table_key(t, n), words, n * sizeof *words);
    return value_table_insert(t, n);
}

static ValueNode *find(ValueTable *t, const uint32_t *words, uint32_t n)
{
    memcpy(value_table_key(t, n), words, n * sizeof *words);
    return value_table_find(t, n);
}

// Checks the links, counts and hashes of all buckets. Returns the length of the longest chain.
static uint32_t check_table(const ValueTable *t)
{
    uint64_t entries = 0;
    uint32_t longest = 0;
    for (uint64_t k = 0; k < t->capacity; k++) {
        uint32_t n = 0;
        const ValueNode *last = NULL;
        for (const ValueNode *node = t->buckets[k].head; node; node = node->next, n++) {
            CHECK_EQ(node->hash, value_hash(t->words.at + node->key, node->nkey));
            last = node;
        }
        CHECK_EQ(t->buckets[k].count, n);
        CHECK(t->buckets[k].tail == last);
        entries += n;
        longest = MAX(longest, n);
    }
    CHECK_EQ(entries, t->entries);
    CHECK((t->capacity & (t->capacity - 1)) == 0);
    return longest;
}

TEST(value_table_sizes)
{
    CHECK_EQ(sizeof(ValueBucket), 24);
    CHECK_EQ(sizeof(ValueNode), 32);
    CHECK_EQ(offsetof(ValueBucket, tail), 8);
    CHECK_EQ(offsetof(ValueBucket, count), 16);
    CHECK_EQ(offsetof(ValueNode, next), 0);
    CHECK_EQ(offsetof(ValueNode, key), 8);
    CHECK_EQ(offsetof(ValueNode, value), 16);
    CHECK_EQ(offsetof(ValueNode, hash), 24);
}

TEST(value_table_hash)
{
    // A step with a word below 256 is that of a byte: FNV-1a of "" and of "a".
    CHECK_EQ(value_hash(NULL, 0), 0x811C9DC5u);
    CHECK_EQ(value_hash((uint32_t[]){'a'}, 1), 0xE40C292Cu);
    CHECK_EQ(value_hash((uint32_t[]){'f', 'o', 'o', 'b', 'a', 'r'}, 6), 0xBF9CF968u);
    CHECK(value_hash((uint32_t[]){1, 2}, 2) != value_hash((uint32_t[]){2, 1}, 2));
}

TEST(value_table_results)
{
    Rig r;
    rig_begin(&r);
    ValueTable *t = &r.t;
    CHECK_EQ(t->capacity, 8);
    ValueSlot first = insert(t, (uint32_t[]){5, 6}, 2);
    CHECK(first.is_new && !first.previous && first.node->value == 0 && first.node->nkey == 2);
    first.node->value = 77;
    ValueSlot again = insert(t, (uint32_t[]){5, 6}, 2);
    CHECK(!again.is_new && again.node == first.node && again.bucket == first.bucket && again.node->value == 77);
    CHECK_EQ(t->entries, 1);
    // Prefixes and longer keys are others.
    CHECK(!find(t, (uint32_t[]){5}, 1));
    CHECK(!find(t, (uint32_t[]){5, 6, 0}, 3));
    CHECK(find(t, (uint32_t[]){5, 6}, 2) == first.node);
    // Two keys of one bucket: the second one follows the first.
    uint32_t word = 0;
    ValueSlot other;
    do
        other = insert(t, &word, 1);
    while (word++, other.bucket != first.bucket && t->entries < t->capacity);
    CHECK(other.is_new && other.bucket == first.bucket && other.previous == first.node);
    CHECK(t->buckets[other.bucket].tail == other.node && first.node->next == other.node);
    CHECK_EQ(t->capacity, 8);
    memcpy(value_table_key(t, 2), (uint32_t[]){5, 6}, 8);
    CHECK(value_table_enter(t, 2) == first.node);
    check_table(t);
    value_table_clear(t);
    CHECK_EQ(t->entries, 0);
    CHECK(!find(t, (uint32_t[]){5, 6}, 2));
    CHECK(insert(t, (uint32_t[]){5, 6}, 2).is_new);
    rig_end(&r);
}

// The table grows by the factor 4 when it has more entries than buckets, not before.
TEST(value_table_growth)
{
    Rig r;
    rig_begin(&r);
    for (uint32_t k = 0; k < 600; k++) {
        uint64_t capacity = r.t.capacity;
        ValueSlot slot = insert(&r.t, &k, 1);
        CHECK_EQ(r.t.capacity, k + 1 > capacity ? 4 * capacity : capacity);
        CHECK(slot.is_new && slot.bucket < r.t.capacity);
        const ValueBucket *b = &r.t.buckets[slot.bucket];
        CHECK(b->tail == slot.node && (slot.previous ? slot.previous->next == slot.node : b->head == slot.node));
    }
    CHECK_EQ(r.t.capacity, 2048);
    check_table(&r.t);
    for (uint32_t k = 0; k < 600; k++)
        CHECK(find(&r.t, &k, 1));
    value_table_expect(&r.t, 2049, 0);
    CHECK_EQ(r.t.capacity, 4096);
    value_table_expect(&r.t, 100, 0);
    CHECK_EQ(r.t.capacity, 4096);
    check_table(&r.t);
    rig_end(&r);
}

// Keys as value numbering makes them: descriptors times four, operands whose upper byte is their kind.
TEST(value_table_chains)
{
    enum { KEYS = 20000 };
    static const uint32_t step[] = {1, 2, 3, 8};
    for (size_t s = 0; s < ARRAY_LEN(step); s++) {
        Rig r;
        rig_begin(&r);
        for (uint32_t k = 0; k < KEYS; k++) {
            uint32_t x = op_make(K_REG, RF_R, k * step[s] + 1).word & ~(1u << 31);
            uint32_t y = op_make(K_REG, RF_R, (k / 3) * step[s] + 7).word & ~(1u << 31);
            uint32_t key[] = {(k % 40 + 3) << 2, x, k % 4 ? y : op_imm(k % 50).word, op_imm(k % 7).word};
            insert(&r.t, key, k % 5 ? 3 : 4);
        }
        unit_context("registers of step %u", step[s]);
        CHECK_EQ(r.t.entries, KEYS);
        uint32_t longest = check_table(&r.t);
        if (!CHECK(longest < 16))
            CHECK_EQ(longest, 0);
        rig_end(&r);
    }
    unit_context("%s", "");
}

void test_value_table(void)
{
    RUN(value_table_sizes);
    RUN(value_table_hash);
    RUN(value_table_results);
    RUN(value_table_growth);
    RUN(value_table_chains);
}
