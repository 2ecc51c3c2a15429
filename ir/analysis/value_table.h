// SPDX-License-Identifier: MIT
// A hash table from expressions to values, for value numbering. Keys are sequences of 32-bit words.
//
// The table is that of the document on CSE: FNV-1a with 32 bits, chained buckets of 24 bytes with head, tail and count,
// nodes of 32 bytes with the hash stored, 8 buckets at first. Two things differ. The hash takes a word of the key in
// each step, not a byte, which is a quarter of the work. The documented condition for growth is never met; here the
// table grows by the factor 4 when it has more entries than buckets. Growth moves nodes by their stored hashes.
#ifndef ORI_VALUE_TABLE_H
#define ORI_VALUE_TABLE_H

#include "ir/base/base.h"

typedef struct ValueNode {
    struct ValueNode *next;  // in its bucket
    uint32_t key, nkey;      // the key: nkey words from this index of ValueTable.words on
    uint64_t value;          // of the client; 0 in a new node
    uint32_t hash;
} ValueNode;

typedef struct ValueBucket {
    ValueNode *head, *tail;
    uint32_t count;
} ValueBucket;

// The result of value_table_insert(). `previous` is the node before `node` in its bucket, NULL = `node` is the first.
typedef struct ValueSlot {
    uint64_t bucket;
    ValueNode *node, *previous;
    bool is_new;
} ValueSlot;

typedef struct ValueTable {
    Arena *arena;
    ValueBucket *buckets;  // a power of two
    uint64_t capacity;     // their number
    uint64_t entries;
    VEC(uint32_t) words;                // of all keys
    ValueNode *free, *end;              // memory for the next nodes, in the current piece
    struct ValuePiece *pieces, *piece;  // all pieces; the current one
} ValueTable;

enum { VALUE_TABLE_CAPACITY = 8 };
#define FNV_BASIS 0x811C9DC5u
#define FNV_PRIME 0x01000193u

/* value_table.c */
// Makes an empty table in memory of the arena.
void value_table_init(ValueTable *t, Arena *arena);
// Makes room for this number of entries, with at least as many buckets, and for the words of their keys if the table
// has no keys yet.
void value_table_expect(ValueTable *t, uint64_t entries, uint32_t words);
// Removes all entries and keeps the buckets.
void value_table_clear(ValueTable *t);
// Returns the FNV-1a hash of the words.
uint32_t value_hash(const uint32_t *words, uint32_t n);
// Makes room for the words of a key, at most `max` of them.
void value_table_reserve(ValueTable *t, uint32_t max);
// Returns the place for the words of the next key, at most `max` of them. It is valid until the next call.
static inline uint32_t *value_table_key(ValueTable *t, uint32_t max)
{
    if (t->words.cap - t->words.n < max)
        value_table_reserve(t, max);
    return t->words.at + t->words.n;
}
// Returns the entry of the key of n words that was written there, and adds it if the table lacks it.
ValueSlot value_table_insert(ValueTable *t, uint32_t n);
// Does the same, and returns the entry alone. A new entry has the value 0.
ValueNode *value_table_enter(ValueTable *t, uint32_t n);
// Returns the entry of that key; NULL if there is none.
ValueNode *value_table_find(const ValueTable *t, uint32_t n);

#endif
