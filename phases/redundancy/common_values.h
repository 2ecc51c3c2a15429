// SPDX-License-Identifier: MIT
// Commoning over the whole function, for OriReassociateAndCommon and LateOriCommoning.
#ifndef ORI_COMMON_VALUES_H
#define ORI_COMMON_VALUES_H

#include "phases/redundancy/redundancy.h"

typedef struct CommonRules {
    uint32_t kinds;        // RD_*
    int budget;            // knob, -1 = none
    uint32_t window;       // only values of the same block, at most this number of instructions before; 0 = any
    const bool *kept;      // by Opcode: left alone; NULL = none
    RedundancyTest *test;  // further condition; NULL = none. It may not use Redundancy.rules
    bool *pressed;  // set to true if the register pressure was the reason to keep an instruction; NULL = not asked
} CommonRules;

/* common_values.c */
// Replaces instructions by equal ones that dominate them; returns progress. Values of other blocks are reused if the
// instruction is expensive or a load, or if pressure_permits(). Requests AN_MEM for loads, and AN_LIVE.
bool common_values(Ctx *ctx, Fn *fn, const CommonRules *rules);

#endif
