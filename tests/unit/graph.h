// SPDX-License-Identifier: MIT
// Control-flow graphs for the tests of analyses: small graphs with sets of blocks for naive references, and functions
// of many blocks.
#ifndef ORI_UNIT_GRAPH_H
#define ORI_UNIT_GRAPH_H

#include "tests/unit/unit.h"

enum { GRAPH_BLOCKS = 40, GRAPH_TARGETS = 5 };

// A graph of the blocks 1 .. n; 1 is the entry.
typedef struct Graph {
    uint32_t n;
    uint32_t nsucc[GRAPH_BLOCKS + 1];  // 0 = `ret`
    BlockId succ[GRAPH_BLOCKS + 1][GRAPH_TARGETS];
    bool guarded[GRAPH_BLOCKS + 1];  // with one successor: `ret` under a guard
} Graph;

// A bit for each block.
typedef uint64_t Blocks;
static inline Blocks bit(BlockId b) { return (Blocks)1 << b; }
static inline bool has(Blocks set, BlockId b) { return set >> b & 1; }

/* graph.c */
void graph_random(Graph *g, uint64_t *seed);
void graph_build(Fixture *f, const Graph *g);
Blocks graph_all(const Graph *g);
Blocks graph_succs(const Graph *g, BlockId b);
// Returns the blocks reachable from `from` by paths within `in`, including the blocks of `from` in `in`.
Blocks graph_reach(const Graph *g, Blocks from, Blocks in);
// Returns the blocks that reach blocks of `to`, in the same way.
Blocks graph_reaching(const Graph *g, Blocks to, Blocks in);

enum { MANY = 100000 };

// A function of many blocks, 1 .. n.
typedef struct Shape {
    Fixture f;
    Fn *fn;
    RegId r, p;
    uint32_t n;
    BlockId *targets;  // room for n
} Shape;

void shape_open(Shape *s, uint32_t blocks);
void shape_close(Shape *s);
void shape_branch(Shape *s, BlockId b, BlockId to, BlockId otherwise);
void shape_guarded_ret(Shape *s, BlockId b, BlockId otherwise);
// Adds a switch to the n blocks from `first` on.
void shape_switch(Shape *s, BlockId b, BlockId first, uint32_t n);
// Verifies the function and computes analyses.
const Analyses *shape_need(Shape *s, uint32_t mask);

#endif
