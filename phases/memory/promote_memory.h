// SPDX-License-Identifier: MIT
// Promotion of `.local` variables: the state that decision, rewriting and remarks share.
#ifndef ORI_PROMOTE_MEMORY_H
#define ORI_PROMOTE_MEMORY_H

#include "ir/analysis/local_memory.h"
#include "ir/rewrite/rewrite.h"
#include "phases/bodies.h"
#include "phases/manager/remarks.h"

enum {
    GROUP = 8,                   // bytes of a tree
    NODES = 2 * GROUP,           // node 1 is the whole group; the halves of node n are 2n and 2n + 1
    SIZE_MAX_BYTES = 512 << 10,  // of a variable; no thread has more local memory
};

// Eight bytes of a variable.
typedef struct Group {
    uint8_t stays;                        // bit per byte: it stays in memory
    uint8_t split;                        // bit per inner node: it consists of its halves
    uint8_t touched;                      // bit per byte: a direct access covers it
    uint32_t apart[GROUP], whole[GROUP];  // by inner node: cost if it is split, if it is whole
    uint32_t accesses, moves;             // direct accesses; estimate of the moves that replace them
    int32_t kept;                         // ranges of whole groups that stay: those that start here less those that end
    RegId reg[NODES];                     // of whole nodes; 0 = none yet
} Group;

typedef struct Variable {
    Group *groups;  // NULL = not promoted
    uint64_t size;
    bool limited;  // some groups stay in memory, since they would have too many phis
} Variable;

// The instructions that promotion makes.
typedef enum { MK_MOV, MK_SPLIT, MK_JOIN, MK_AND, MK_OR, MK_SHL, MK_SHR, MK_BFE, MK_BFI, MK_CVT, MAKES } Make;

typedef struct Promotion {
    Ctx *ctx;
    Fn *fn;
    Arena scratch;
    Pointers *pointers;
    InstrId *escaped;       // by local symbol: as in `pointers`, or an access of it that names another space
    Variable *variables;    // by local symbol
    struct Direct *direct;  // by index of the access, if variable_of() is not NULL
    DescId descs[MAKES][WIDTH_COUNT][WIDTH_COUNT][2];
    InstrId before;  // new instructions are inserted before this one
    bool progress;
} Promotion;

// A load or store of `n` elements of `bytes` bytes from `offset` on.
typedef struct Direct {
    Variable *variable;
    uint64_t offset;
    uint32_t bytes, n;
    Type type;
    bool store;
    bool promotable;  // moves could replace it: it is exact, aligned and within its variable
} Direct;

static inline Group *group_at(const Direct *d, uint32_t element)
{
    return &d->variable->groups[(d->offset + (uint64_t)element * d->bytes) / GROUP];
}

static inline uint32_t node_at(const Direct *d, uint32_t element)
{
    uint64_t offset = d->offset + (uint64_t)element * d->bytes;
    return GROUP / d->bytes + (uint32_t)(offset % GROUP) / d->bytes;
}

static inline uint32_t bytes_of_node(uint32_t node) { return GROUP >> (31 - (uint32_t)__builtin_clz(node)); }

static inline uint32_t first_byte(uint32_t node) { return node * bytes_of_node(node) - GROUP; }

// Returns the mask of the bytes that a node covers, with a bit for each byte of the group.
static inline uint32_t mask_of_node(uint32_t node) { return ((1u << bytes_of_node(node)) - 1) << first_byte(node); }

static inline bool stays_in_memory(const Direct *d) { return group_at(d, 0)->stays & mask_of_node(node_at(d, 0)); }

// Returns the variable that an access names if it may be promoted, else NULL.
static inline Variable *variable_of(const Promotion *p, const MemAccess *access)
{
    uint32_t s = access->at->kind == OR_ADDRESS ? local_symbol(access->at->sym) : 0;
    return s && p->variables[s].groups ? &p->variables[s] : NULL;
}

// Returns the description of an access that moves could replace, else NULL.
static inline const Direct *promotable_access(const Promotion *p, uint32_t access)
{
    bool named = variable_of(p, &p->pointers->accesses.at[access]);
    return named && p->direct[access].promotable ? &p->direct[access] : NULL;
}

/* promote_memory.c */
// Returns the end of the bytes that an access may reach.
int64_t end_of_access(const Promotion *p, const MemAccess *access);
// Returns the size of the largest variable that is promoted.
uint64_t promotion_limit(Promotion *p);

/* promote_rewrite.c */
// Replaces the promoted accesses by moves.
void promote_accesses(Promotion *p);

/* promote_remarks.c */
// Reports for each variable the promoted bytes, the bytes that stay in memory, and the reason.
void promote_report(Ctx *ctx, Promotion *p);

#endif
