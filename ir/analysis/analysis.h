// SPDX-License-Identifier: MIT
// Analyses of a function. They live beside the IR under a mask that says which are valid; whoever changes the function
// drops what its change made wrong.
#ifndef ORI_ANALYSIS_H
#define ORI_ANALYSIS_H

#include "ir/core/ir.h"

// X(id, builder, built on), each behind those that it is built on. What is built on another copies what it needs of it,
// so each can be kept without the others.
#define ANALYSES(X)                                             \
    X(CFG, cfg, 0)               /* predecessors, successors */ \
    X(RPO, rpo, AN_CFG)          /* reverse postorder */        \
    X(DOM, dom, AN_CFG | AN_RPO) /* dominators */

#define ANALYSIS_NUMBER(id, ...) AX_##id,
#define ANALYSIS_BIT(id, ...) AN_##id = 1 << AX_##id,
enum { ANALYSES(ANALYSIS_NUMBER) ANALYSIS_COUNT };
typedef enum { ANALYSES(ANALYSIS_BIT) } AnalysisMask;
#undef ANALYSIS_NUMBER
#undef ANALYSIS_BIT

// Edges as compressed sparse rows: those of block b are at[first[b]] .. at[first[b + 1]].
typedef struct Edges {
    uint32_t *first;  // blocks.n + 1 entries
    BlockId *at;
} Edges;

// The dominator tree. A block and all that it dominates are consecutive in `order`: size[b] blocks from pre[b] on, b
// itself first, its children in reverse postorder with what each dominates.
typedef struct DomTree {
    BlockId *idom;  // by BlockId; 0 = none: the entry and unreachable blocks
    BlockId *order;
    uint32_t *pre;   // by BlockId
    uint32_t *size;  // by BlockId; 0 = unreachable
} DomTree;

typedef struct Analyses {
    Arena arena[ANALYSIS_COUNT];      // one each, so that what is dropped is freed
    uint32_t blocks[ANALYSIS_COUNT];  // fn->blocks.n when it was made
    uint32_t valid;                   // AnalysisMask
    Edges succs, preds;               // an edge for each time that a terminator names the target
    BlockId *rpo;                     // reachable blocks in reverse postorder, nrpo of them
    uint32_t nrpo;
    uint32_t *rpo_index;  // by BlockId; UINT32_MAX = unreachable
    DomTree dom;
} Analyses;

/* analysis.c */
// Makes the analyses of the mask valid, and those that they are built on.
const Analyses *analysis_need(Fn *fn, uint32_t mask);
// Invalidates all but those of the mask. An analysis may be kept without what it is built on: that says that its own
// result is still right, as that of AN_DOM is when the targets of a branch change places.
void analysis_drop(Fn *fn, uint32_t keep);
// Whether those of the mask that are marked valid are what would be computed now; otherwise why not. Successors, order
// and dominators must be the same; predecessors may stand in another order, as they do when the layout changes.
bool analysis_check(const Fn *fn, uint32_t mask, char why[static 200]);
// Analyses apart from those that the function keeps: analysis_compute() is analysis_need() for them.
void analysis_init(Analyses *a, Heap *heap);
void analysis_compute(const Fn *fn, Analyses *a, uint32_t mask);
void analysis_free(Analyses *a);

/* dom.c: questions to AN_DOM */
// Whether every path from the entry to b leads through a, in constant time. A block dominates itself. No path leads to
// an unreachable b, so everything dominates it; an unreachable a dominates nothing else.
static inline bool dominates(const Analyses *an, BlockId a, BlockId b)
{
    const DomTree *d = &an->dom;
    return !d->size[b] || d->pre[b] - d->pre[a] < d->size[a];
}
// The children of a block: for (c = dom_child(an, b); c; c = dom_sibling(an, c)); 0 = no (more) children.
static inline BlockId dom_child(const Analyses *an, BlockId b)
{
    const DomTree *d = &an->dom;
    return d->size[b] > 1 ? d->order[d->pre[b] + 1] : 0;
}
static inline BlockId dom_sibling(const Analyses *an, BlockId c)
{
    const DomTree *d = &an->dom;
    uint32_t behind = d->pre[c] + d->size[c], end = d->idom[c] ? d->pre[d->idom[c]] + d->size[d->idom[c]] : 0;
    return behind < end ? d->order[behind] : 0;
}

/* verify_form.c */
// ir_verify(), and at level VERIFY_FORM what the form of the function promises. Neither trusts nor changes the analyses
// that the function keeps.
bool fn_verify(const Fn *fn, int level, InstrId *instr, char why[static 200]);

#endif
