// SPDX-License-Identifier: MIT
// The hash table of constant values.
#include "tools/orilink/value_map.h"

enum { WORD_BITS = 32 };

/* -- Hashes ---------------------------------------------------------------------------------------------- */

uint32_t value_hash_identity(uint64_t key) { return (uint32_t)key; }

uint32_t value_hash_shift_xor(uint64_t key)
{
    return (uint32_t)(key >> 11) ^ (uint32_t)(key >> 8) ^ (uint32_t)(key >> 5);
}

uint32_t value_hash_fold(uint64_t key) { return (uint32_t)key ^ (uint32_t)(key >> 32); }

uint32_t value_hash_mixed(uint64_t key) { return hash_bytes(&key, sizeof key); }

bool value_equal_4(uint64_t a, uint64_t b) { return (uint32_t)a == (uint32_t)b; }
bool value_equal_8(uint64_t a, uint64_t b) { return a == b; }

static uint32_t hash_of(const ValueMap *map, uint64_t key)
{
    switch (map->mode) {
    case VALUE_MAP_SHIFT_XOR: return value_hash_shift_xor(key);
    case VALUE_MAP_IDENTITY: return value_hash_identity(key);
    default: return map->hash(key);
    }
}

static bool equal(const ValueMap *map, uint64_t a, uint64_t b)
{
    return map->mode == VALUE_MAP_FUNCTIONS ? map->equal(a, b) : a == b;
}

/* -- Chains ---------------------------------------------------------------------------------------------- */

// Returns the place of the list of free chains of a capacity: 1, 4, 10, 22, ...
static uint32_t **free_chains(ValueMap *map, uint32_t capacity)
{
    return &map->free[31 - __builtin_clz((capacity + 2) / 3)];
}

static uint32_t *new_chain(ValueMap *map, uint32_t capacity)
{
    uint32_t **list = free_chains(map, capacity), *chain = *list;
    if (chain)
        memcpy(list, chain, sizeof *list);
    else
        chain = arena_alloc(map->arena, ((size_t)capacity + 2) * sizeof *chain);
    chain[0] = capacity;
    return chain;
}

static void free_chain(ValueMap *map, uint32_t *chain)
{
    uint32_t **list = free_chains(map, chain[0]);
    memcpy(chain, list, sizeof *list);
    *list = chain;
}

// Appends an entry to the chain of a bucket.
static void append(ValueMap *map, uint32_t bucket, uint32_t entry)
{
    uint32_t *chain = map->buckets[bucket], n = 0;
    while (chain && chain[1 + n] != UINT32_MAX)
        n++;
    if (!chain || n == chain[0]) {
        uint32_t *longer = new_chain(map, chain ? 2 * chain[0] + 2 : 1);
        if (chain) {
            memcpy(longer + 1, chain + 1, n * sizeof *longer);
            free_chain(map, chain);
        }
        map->buckets[bucket] = chain = longer;
    }
    chain[1 + n] = entry;
    chain[2 + n] = UINT32_MAX;
}

// Doubles the number of buckets.
static void rehash(ValueMap *map)
{
    for (uint32_t k = 0; k <= map->bucket_mask; k++)
        if (map->buckets[k])
            free_chain(map, map->buckets[k]);
    map->bucket_mask = 2 * map->bucket_mask + 1;
    map->load_limit *= 2;
    map->buckets = NEW_ARRAY(map->arena, uint32_t *, (size_t)map->bucket_mask + 1);
    for (uint32_t k = 0; k < map->bitmap_capacity * WORD_BITS; k++)
        if (map->bitmap[k / WORD_BITS] >> k % WORD_BITS & 1)
            append(map, map->bucket_mask & hash_of(map, map->entries[k].key), k);
}

/* -- Entries --------------------------------------------------------------------------------------------- */

static void *grow(ValueMap *map, void *old, uint32_t n, uint32_t capacity, size_t size)
{
    uint8_t *new = arena_alloc(map->arena, capacity * size);
    memset(new, 0, capacity * size);
    if (n)
        memcpy(new, old, n * size);
    return new;
}

// Returns the first free entry at the cursor or behind it.
static uint32_t free_entry(ValueMap *map)
{
    uint32_t word = map->scan_cursor;
    while (word < map->bitmap_capacity && map->bitmap[word] == UINT32_MAX)
        word++;
    if (word == map->bitmap_capacity) {
        map->bitmap = grow(map, map->bitmap, word, 2 * word, sizeof *map->bitmap);
        map->bitmap_capacity *= 2;
    }
    uint32_t entry = word * WORD_BITS;
    while (map->bitmap[word] >> entry % WORD_BITS & 1)
        entry++;
    map->scan_cursor = word;
    if (entry >= map->entry_capacity) {
        map->entries = grow(map, map->entries, map->entry_capacity, 2 * map->entry_capacity, sizeof *map->entries);
        map->entry_capacity *= 2;
    }
    return entry;
}

/* -- Tables ---------------------------------------------------------------------------------------------- */

void value_map_init(ValueMap *map, Arena *arena, ValueHash *hash, ValueEqual *equal, uint32_t hint)
{
    uint32_t log = 0;
    while (((uint64_t)1 << log) < hint)
        log++;
    *map = (ValueMap){.arena = arena, .hash = hash, .equal = equal};
    if (hash == value_hash_identity && equal == value_equal_4)
        map->mode = VALUE_MAP_IDENTITY;
    if (hash == value_hash_shift_xor && equal == value_equal_8)
        map->mode = VALUE_MAP_SHIFT_XOR;
    map->bucket_mask = (uint32_t)(((uint64_t)1 << log) - 1);
    map->load_limit = (uint64_t)4 << log;
    map->entry_capacity = (uint32_t)1 << log;
    map->bitmap_capacity = MAX(map->entry_capacity / WORD_BITS, 1);
    map->entries = NEW_ARRAY(arena, ValueEntry, map->entry_capacity);
    map->bitmap = NEW_ARRAY(arena, uint32_t, map->bitmap_capacity);
    map->buckets = NEW_ARRAY(arena, uint32_t *, (size_t)map->bucket_mask + 1);
}

// Returns the entry of a key; UINT32_MAX: it is not in the table.
static uint32_t find(const ValueMap *map, uint64_t key)
{
    const uint32_t *chain = map->buckets[map->bucket_mask & hash_of(map, key)];
    for (uint32_t k = 1; chain && chain[k] != UINT32_MAX; k++)
        if (equal(map, map->entries[chain[k]].key, key))
            return chain[k];
    return UINT32_MAX;
}

uint64_t value_map_find(const ValueMap *map, uint64_t key)
{
    uint32_t entry = find(map, key);
    return entry == UINT32_MAX ? 0 : map->entries[entry].value;
}

uint64_t value_map_insert(ValueMap *map, uint64_t key, uint64_t value)
{
    uint32_t entry = find(map, key), hash = hash_of(map, key);
    if (entry != UINT32_MAX) {
        uint64_t old = map->entries[entry].value;
        map->entries[entry].value = value;
        return old;
    }
    entry = free_entry(map);
    map->entries[entry] = (ValueEntry){key, value};
    append(map, map->bucket_mask & hash, entry);
    map->bitmap[entry / WORD_BITS] |= (uint32_t)1 << entry % WORD_BITS;
    map->xor_checksum ^= hash;
    if (++map->entry_count > map->load_limit)
        rehash(map);
    return 0;
}
