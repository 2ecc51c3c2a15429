// SPDX-License-Identifier: MIT
// Vector clocks of the race check. A clock maps agents to times, and includes the accesses of each agent up to its
// time. The times of all agents come from one counter, so one number can be the time of a whole subtree of agents.
//
// A clock is a persistent trie over the digits (5 bits) of the agents' keys. Nodes are immutable, reference-counted and
// shared among clocks; a join of equal subtrees takes constant time.
//
//     ClockNode *c = NULL;                    // the empty clock
//     clock_set(pool, &c, root, key, time);   // includes the accesses of agent `key` up to `time`
//     clock_join(pool, &c, other);            // the pointwise maximum
//     if (clock_at(c, key) >= time) ...       // the clock includes an access of the agent at `time`
//     clock_clear(pool, &c);
#ifndef ORI_CLOCK_H
#define ORI_CLOCK_H

#include "ir/base/base.h"

enum { CLOCK_BITS = 5, CLOCK_WIDTH = 1 << CLOCK_BITS };

typedef struct ClockNode ClockNode;

// Storage of the nodes. `arena` outlives all clocks of the pool.
typedef struct ClockPool {
    Arena *arena;
    ClockNode *free[CLOCK_WIDTH + 1];  // by number of slots
    uint64_t used;                     // bytes taken from the arena
} ClockPool;

// Returns the time up to which the clock includes the agent; 0 = nothing.
uint64_t clock_at(const ClockNode *c, uint64_t key);
// Sets the time of an agent, which must not be less than its time in the clock. `root` is the level of the root: keys
// have CLOCK_BITS * (root + 1) bits.
void clock_set(ClockPool *pool, ClockNode **c, uint32_t root, uint64_t key, uint64_t time);
// Does the same as clock_set() for all agents whose keys differ from `key` only in the lowest `level` digits. `level`
// is at least 1.
void clock_raise(ClockPool *pool, ClockNode **c, uint32_t root, uint64_t key, uint32_t level, uint64_t time);
// Joins `from` into *to.
void clock_join(ClockPool *pool, ClockNode **to, const ClockNode *from);
// Replaces *to by `from`.
void clock_copy(ClockPool *pool, ClockNode **to, const ClockNode *from);
void clock_clear(ClockPool *pool, ClockNode **c);

#endif
