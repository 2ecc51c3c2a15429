// SPDX-License-Identifier: MIT
// The builder of each analysis, and the comparison of a result that was kept with a new one.
#ifndef ORI_ANALYSIS_INTERNAL_H
#define ORI_ANALYSIS_INTERNAL_H

#include "ir/analysis/analysis.h"

// xxx_build() finds what it is built on in `a`, and takes memory of its own arena there. xxx_same() says whether a
// result that was kept is the one computed now, and why not; it may use the new one's arena.
#define ANALYSIS_BUILDER(id, builder, on)            \
    void builder##_build(const Fn *fn, Analyses *a); \
    bool builder##_same(const Fn *fn, const Analyses *kept, Analyses *now, char why[static 150]);
ANALYSES(ANALYSIS_BUILDER)
#undef ANALYSIS_BUILDER

/* def.c */
// def_build() as in multi form, for registers of these files (a bit per RegFile), and of those the ones that are true
// by RegId, or all if that is NULL. All others count as outside of ssa form.
void def_build_part(const Fn *fn, Analyses *a, uint32_t files, const bool *about);

/* tree_layout.c */
// A tree of blocks, or several, by BlockId.
typedef struct Tree {
    const BlockId *parent;  // 0 = none
    BlockId *order;         // all blocks, each with what is below it behind it
    uint32_t *pre, *size;   // place in `order`; number of blocks from there on that are the block or below it
} Tree;
// Makes `order`, `pre` and, from zero, `size` of the n blocks in `rpo`, where parents stand before their children.
// Siblings keep that order. size[0] becomes n; `place` is scratch by BlockId.
void tree_layout(const Tree *t, const BlockId *rpo, uint32_t n, uint32_t *place);

/* dom_tree.c */
// Whether the trees are the same, but for the order of siblings. `what` is for why not, and `root` what 0 stands for as
// the parent of a block.
bool dom_tree_same(const Fn *fn, const DomTree *kept, const DomTree *now, const char *what, const char *root,
                   char why[static 150]);

/* frontier.c */
// The dominance frontier of each block, in this arena; false if they have more than `max` members together.
bool frontier_build(const Fn *fn, const Analyses *a, Arena *arena, uint64_t max, Edges *frontier);

#endif
