// SPDX-License-Identifier: MIT
// Partial redundancy elimination of loads.
#ifndef ORI_LOAD_PRE_H
#define ORI_LOAD_PRE_H

#include "phases/redundancy/redundancy.h"

/* load_pre.c */
// Replaces loads of r->loads that are redundant on some paths by phis, and inserts loads on at most one other path.
// Runs after all candidates were visited and before r->map is applied. Returns true if it inserted instructions.
// Requests AN_LIVE if there is such a load. AN_DEF stays valid, and AN_FLOW unless it sets r->splits.
bool load_pre(Redundancy *r);
// True if it might replace a load, if there is room. Changes nothing.
bool load_pre_applies(Redundancy *r);

#endif
