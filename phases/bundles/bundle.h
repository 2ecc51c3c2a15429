// SPDX-License-Identifier: MIT
// Runs lists of sub-passes for the phases that bundle them.
#ifndef ORI_BUNDLE_H
#define ORI_BUNDLE_H

#include "phases/phase.h"

// Runs those of the n sub-passes, in their order, that have something to do: a sub-pass has if it is new to the
// function in this form, or if the function has changed since its last run in a way that it reads. Returns progress.
// All rows must be in the table of bundle.c.
bool bundle_round(Ctx *ctx, Fn *fn, const uint8_t *rows, size_t n);
// Makes a sub-pass run in the next round of a bundle, whether or not the function has changed.
void bundle_unsettle(Fn *fn, uint8_t row);
// For phases that are no bundles but in the table. True if the phase has nothing to do, since the function has not
// changed in a way that it reads since bundle_settle(), which the phase, or one that does the same work, calls last.
bool bundle_is_settled(const Fn *fn, uint8_t row);
void bundle_settle(Ctx *ctx, Fn *fn, uint8_t row, bool progress);

#endif
