// SPDX-License-Identifier: MIT
// Analyses of a function. They live beside the IR under a mask that says which are valid; whoever changes the function
// drops what its change made wrong.
#ifndef ORI_ANALYSIS_H
#define ORI_ANALYSIS_H

#include "ir/core/ir.h"

typedef enum {
    AN_CFG = 1 << 0,  // predecessors and successors
    AN_RPO = 1 << 1,  // reverse postorder
} AnalysisMask;

// Edges as compressed sparse rows: those of block b are at[first[b]] .. at[first[b + 1]].
typedef struct Edges {
    uint32_t *first;  // blocks.n + 1 entries
    BlockId *at;
} Edges;

typedef struct Analyses {
    Arena arena;         // freed when everything is dropped
    uint32_t valid;      // AnalysisMask
    Edges succs, preds;  // an edge for each time that a terminator names the target
    BlockId *rpo;        // reachable blocks in reverse postorder, nrpo of them
    uint32_t nrpo;
    uint32_t *rpo_index;  // by BlockId; UINT32_MAX = unreachable
} Analyses;

/* cfg.c */
// Makes the analyses of the mask valid.
const Analyses *analysis_need(Fn *fn, uint32_t mask);
// Invalidates all but those of the mask.
void analysis_drop(Fn *fn, uint32_t keep);

#endif
