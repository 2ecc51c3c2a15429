// SPDX-License-Identifier: MIT
#include "phases/bodies.h"
#include "phases/redundancy/redundancy.h"

static bool permits(Redundancy *r, InstrId leader, InstrId id)
{
    const Instr *i = ir_instr(r->fn, id), *other = ir_instr(r->fn, leader);
    return other->block == i->block || is_expensive(r->fn, i) || ir_desc(r->fn, i)->traits & TR_READ;
}

bool phase_late_commoning(Ctx *ctx, Fn *fn)
{
    return redundancy_eliminate(ctx, fn, &(RedundancyRules){RD_EXPRESSIONS | RD_COPIES | RD_PHIS | RD_LOADS, -1, permits, NULL, NULL});
}
