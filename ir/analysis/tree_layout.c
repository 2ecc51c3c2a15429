// SPDX-License-Identifier: MIT
// Lays out trees of blocks in preorder. The subtree of a block is then one run that begins with the block. So a
// subtraction and a comparison test if b is in the subtree of a. Linear, without recursion.
#include "ir/analysis/analysis_internal.h"

// Sums up sizes from the leaves, then gives each block the next free index below its parent.
void tree_layout(const Tree *t, const BlockId *rpo, uint32_t n, uint32_t *place)
{
    for (uint32_t k = n; k--;) {
        BlockId b = rpo[k];
        t->size[b]++;
        t->size[t->parent[b]] += t->size[b];
    }
    place[0] = 0;
    for (uint32_t k = 0; k < n; k++) {
        BlockId b = rpo[k], parent = t->parent[b];
        t->pre[b] = place[parent];
        place[parent] += t->size[b];
        place[b] = t->pre[b] + 1;
        t->order[t->pre[b]] = b;
    }
}
