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

#endif
