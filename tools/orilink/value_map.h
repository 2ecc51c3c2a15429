// SPDX-License-Identifier: MIT
// The hash table of nvlink's constant deduplication, as documented: chains of entry indices for each bucket, a flat
// array of entries, and a bitmap of those in use. Values are not 0.
//
// Known pairs of functions have modes of their own. Mode 1 hashes 8 bytes by shifts of at most 11 bits, so all doubles
// with few bits of mantissa have one bucket: 1.0 to 1000.0 are one chain. Where speed matters, use a table with
// value_hash_mixed(), which gives the same results.
#ifndef ORI_VALUE_MAP_H
#define ORI_VALUE_MAP_H

#include "ir/base/base.h"

typedef uint32_t ValueHash(uint64_t key);
typedef bool ValueEqual(uint64_t a, uint64_t b);

uint32_t value_hash_identity(uint64_t key);   // of 4 bytes
uint32_t value_hash_shift_xor(uint64_t key);  // of 8 bytes
uint32_t value_hash_fold(uint64_t key);       // of 8 bytes: the exclusive or of the halves
uint32_t value_hash_mixed(uint64_t key);      // of 8 bytes, not documented: all bits of the key affect all of the hash
bool value_equal_4(uint64_t a, uint64_t b);
bool value_equal_8(uint64_t a, uint64_t b);

typedef enum {
    VALUE_MAP_FUNCTIONS,  // calls the functions
    VALUE_MAP_SHIFT_XOR,  // value_hash_shift_xor() and value_equal_8()
    VALUE_MAP_IDENTITY,   // value_hash_identity() and value_equal_4()
} ValueMapMode;

typedef struct ValueEntry {
    uint64_t key, value;
} ValueEntry;

typedef struct ValueMap {
    Arena *arena;
    ValueHash *hash;
    ValueEqual *equal;
    ValueMapMode mode;
    uint32_t bucket_mask;  // the number of buckets, a power of 2, less 1
    uint64_t entry_count;
    uint32_t xor_checksum;  // of the hashes of all keys
    uint64_t load_limit;    // the number of buckets doubles when there are more entries
    uint32_t scan_cursor;   // the word of the bitmap where the search for a free entry begins
    uint32_t entry_capacity;
    uint32_t bitmap_capacity;  // in words
    ValueEntry *entries;
    uint32_t *bitmap;
    uint32_t **buckets;  // chains: capacity, indices of entries, UINT32_MAX; NULL: empty
    uint32_t *free[32];  // by capacity: unused chains, of which each begins with the address of the next one
} ValueMap;

// Makes a table of at least `hint` buckets.
void value_map_init(ValueMap *map, Arena *arena, ValueHash *hash, ValueEqual *equal, uint32_t hint);
// Returns the value of a key; 0: it is not in the table.
uint64_t value_map_find(const ValueMap *map, uint64_t key);
// Sets the value of a key, and returns its old one; 0: the key is new.
uint64_t value_map_insert(ValueMap *map, uint64_t key, uint64_t value);

#endif
