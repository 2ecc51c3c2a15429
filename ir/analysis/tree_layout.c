// SPDX-License-Identifier: MIT
// Trees of blocks as runs: a block stands in front of all that is below it, so that what is below it is one run, and
// "is b below a" two subtractions. Linear, without recursion.
#include "ir/analysis/analysis_internal.h"

// Sizes from the leaves up, then each block takes the next free place below its parent.
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
