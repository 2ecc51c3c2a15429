// SPDX-License-Identifier: MIT
// Builders of the analyses, comparisons of kept results with new ones, and helpers that builders share.
#ifndef ORI_ANALYSIS_INTERNAL_H
#define ORI_ANALYSIS_INTERNAL_H

#include "ir/analysis/analysis.h"

// xxx_build() reads its prerequisites from `a` and allocates from its own arena in `a`. xxx_same() is true if a kept
// result equals a new one; otherwise `why` has the reason. It may use the arena of the new result.
#define ANALYSIS_BUILDER(id, builder, on)            \
    void builder##_build(const Fn *fn, Analyses *a); \
    bool builder##_same(const Fn *fn, const Analyses *kept, Analyses *now, char why[static 150]);
ANALYSES(ANALYSIS_BUILDER)
#undef ANALYSIS_BUILDER

/* def.c */
// Builds the table as in multi form for the registers of `files` (a bit for each RegFile) for which about[RegId] is
// true, or for all registers of `files` if `about` is NULL. All other registers count as outside ssa form.
void def_build_part(const Fn *fn, Analyses *a, uint32_t files, const bool *about);

/* rdefs.c */
// Sets the result of AN_RDEFS of a function without joined registers.
void rdefs_none(const Fn *fn, Analyses *a);

/* tree_layout.c */
// One or several trees of blocks, by BlockId.
typedef struct Tree {
    const BlockId *parent;  // 0 = none
    BlockId *order;         // all blocks, each followed by its descendants
    uint32_t *pre, *size;   // index in `order`; number of blocks of the subtree
} Tree;
// Computes `order`, `pre` and, from zero, `size` for the n blocks of `rpo`, in which parents come before their
// children. Siblings keep their order of `rpo`. Sets size[0] to n. `place` is scratch memory, indexed by BlockId.
void tree_layout(const Tree *t, const BlockId *rpo, uint32_t n, uint32_t *place);

/* dom_tree.c */
// True if the trees are equal except for the order of siblings; otherwise `why` has the reason. In the reason `what` is
// the name of the relation, and `root` that of parent 0.
bool dom_tree_same(const Fn *fn, const DomTree *kept, const DomTree *now, const char *what, const char *root,
                   char why[static 150]);

/* frontier.c */
// Computes the dominance frontier of each block, in memory of the arena. False if the frontiers have more than `max`
// members in total.
bool frontier_build(const Fn *fn, const Analyses *a, Arena *arena, uint64_t max, Edges *frontier);
// Heaps of the members of dominance frontiers, which share nodes. The level of a node is at least that of its children.
// A member may be in a heap several times, once for each edge. Index 0 = none.
typedef struct FrontierNode {
    BlockId join;
    uint32_t left, right;
} FrontierNode;
typedef struct FrontierHeaps {
    uint32_t *root;  // by BlockId
    VEC(FrontierNode) nodes;
} FrontierHeaps;
// Computes the heap of each block, in memory of the arena. `level` has the depth of each block in the dominator tree.
void frontier_build_heaps(const Fn *fn, const Analyses *a, Arena *arena, const uint32_t *level, FrontierHeaps *h);

/* live.c */
// Computes AN_LIVE; false if its rows have more than `max` registers in all. Then there are none.
bool live_build_within(const Fn *fn, Analyses *a, uint64_t max);

#endif
