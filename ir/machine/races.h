// SPDX-License-Identifier: MIT
// State of the race check: shadow memory (races.c) and clocks (order.c).
#ifndef ORI_RACES_H
#define ORI_RACES_H

#include "ir/machine/clock.h"
#include "ir/machine/machine_internal.h"

// Threads that a strong access or a fence includes. `.gpu` and `.sys` are the same here.
typedef enum { SCOPE_CTA, SCOPE_CLUSTER, SCOPE_GPU, SCOPES } Scope;

// Accesses that happened before the next access of an agent. Copies are separate agents, since they end later than the
// instruction that starts them.
typedef struct Clock {
    ClockNode *threads, *copies;
} Clock;

enum {
    RACE_WRITES = 1,
    RACE_STRONG = 2,
    RACE_SCOPE = 4,          // factor of the scope of a strong access
    RACE_COPY = 16,          // by an asynchronous copy that cp.async.wait_group completes
    RACE_COPY_SOURCE = 32,   // by a copy that cp.async.bulk.wait_group.read completes, too
    RACE_COPY_BARRIER = 64,  // by a copy that an mbarrier completes
    RACE_OBSERVES = 128,     // by a strong access that returns the value
};

// An access to a cell.
typedef struct RaceAccess {
    uint32_t cta;    // number of the CTA, as CtaState.number; 0 = no access
    uint32_t code;   // number of the instruction
    uint32_t lanes;  // mask; of RACE_COPY_BARRIER: number of the mbarrier in its CTA * LANES + lane
    uint32_t time_low;
    uint16_t time_high;
    uint8_t warp, flags;
} RaceAccess;

typedef struct AccessSet AccessSet;
struct AccessSet {
    uint32_t n, cap;
    union {
        AccessSet *next;   // next free set
        RaceAccess at[1];  // `cap` of them
    } u;
};

// Clocks that strong accesses to a location synchronize, or operations on an mbarrier.
struct Sync {
    Sync *next;              // free objects
    AccessSet *set;          // strong accesses
    bool narrow;             // one of them has another scope than SCOPE_GPU
    uint32_t number;         // of an mbarrier in its CTA, from 1; 0 = none yet
    uint32_t first;          // Run.first_of_cluster when `cta` and `cluster` were valid
    uint64_t only_releaser;  // key + 1 of the only agent that released; 0 = none, UINT64_MAX = several
    Clock gpu, cluster;
    Clock *cta;                 // by rank
    Clock arrivals, completed;  // of the mbarrier's phase, and of the phase before
};

// History of a word, or of a byte where bytes of a word have different histories.
typedef struct Cell {
    RaceAccess write;  // the last plain write
    RaceAccess read;   // the last plain read after it
    AccessSet *reads;  // other plain reads, none of them ordered before a later access
    Sync *sync;        // NULL = no strong access
} Cell;

// Clocks that few threads need. Arrays are by scope.
typedef struct Fences {
    Clock fence[SCOPES];    // released by the last fence of at least this scope
    Clock sc[SCOPES];       // the same for fence.sc, which barriers also pass to other threads
    Clock pending[SCOPES];  // observed by strong reads, acquired by the next fence
} Fences;

typedef struct Agent {
    Clock clock;
    Fences *fences;  // NULL = all are empty
} Agent;

typedef struct BarrierClock {
    Clock clock, sc[SCOPES];
    uint32_t waiting;  // mask of warps that arrived and wait
    bool passed;       // a warp arrived without waiting
} BarrierClock;

typedef struct RaceCta {
    Dim at;
    uint64_t last_release;  // time of its cluster's last release with SCOPE_GPU
} RaceCta;

enum { PAGE_WORDS = 256, SET_CLASSES = 32, WORD = 4 };
// Copies of a CTA are agents by the way in which they end: groups, reads of groups, numbers of mbarriers.
enum { REGION_BITS = 6, REGION_GROUPS = 0, REGION_SOURCES = 1, REGION_BARRIERS = 2 };

// Cells of the bytes of a word.
typedef union Split {
    union Split *next;  // next free object
    Cell cell[WORD];
} Split;

typedef struct Page Page;
struct Page {
    Page *next;  // free pages
    Cell cell[PAGE_WORDS];
    Cell *split[PAGE_WORDS];  // WORD cells, by byte; NULL = the word has one history
};

struct Shadow {
    uint64_t npages;
    Page **pages;  // NULL = not touched
};

struct Races {
    Run *run;
    Arena *arena;  // of the launch
    ClockPool pool;
    uint64_t used, limit;  // bytes; without the pool
    bool by_lane;          // agents are lanes, not warps
    uint32_t cta_level, thread_root, copy_root;
    uint64_t now;                      // time of accesses; each release increments it
    uint64_t last_release;             // as RaceCta.last_release, of the current cluster
    Agent *agents;                     // of the cluster, by rank, warp, and lane
    VEC(RaceCta) ctas;                 // of the launch
    BarrierClock *barriers;            // BARRIERS of each rank
    Clock *ended;                      // by rank: accesses of threads that have ended
    Clock arrivals, completed;         // of the cluster's barrier
    uint32_t nmbarriers[CLUSTER_MAX];  // by rank
    Page *pages;                       // free ones
    Split *splits;                     // free ones
    AccessSet *sets[SET_CLASSES];
    Sync *syncs;
    Access access;  // the last one
    Sync *sync;     // of the last strong access
};

static inline Scope scope_of(const Code *c)
{
    return c->scope == MOD_CTA ? SCOPE_CTA : c->scope == MOD_CLUSTER ? SCOPE_CLUSTER : SCOPE_GPU;
}

static inline uint64_t time_of_access(const RaceAccess *t) { return (uint64_t)t->time_high << 32 | t->time_low; }
static inline Scope scope_of_access(const RaceAccess *t) { return (Scope)(t->flags / RACE_SCOPE & 3); }

/* order.c */
Agent *agent_of(const Races *x, const Warp *w, uint32_t lane);
uint64_t thread_key(const Races *x, uint32_t cta, uint32_t warp, uint32_t lane);
// Returns the key of the agent that a copy's accesses count for.
uint64_t copy_key(const Races *x, const RaceAccess *t);
// Acquires the clocks of the location for the agent, now or at its next fence.
void order_observe(Races *x, Agent *a, Sync *s, Scope scope, bool acquires);
// Releases the agent's clock to readers of the location. `modifies`: by an atomic operation, which keeps earlier
// clocks.
void order_release(Races *x, const Warp *w, uint32_t lane, Sync *s, Scope scope, bool releases, bool modifies);
// Clears the clocks of a location: a plain write replaced the value.
void order_clear(Races *x, Sync *s);
void order_start_cluster(Races *x);
void order_end_cluster(Races *x);

#endif
