// SPDX-License-Identifier: MIT
#include "phases/bodies.h"
#include "phases/redundancy/pressure.h"
#include "phases/redundancy/redundancy.h"

static Verdict permits(Redundancy *r, RegId leader, InstrId id)
{
    const Instr *i = ir_instr(r->fn, id), *other = ir_instr(r->fn, def_of(r->a, leader));
    if (other->block == i->block || is_expensive(r->fn, i) || ir_desc(r->fn, i)->traits & TR_READ)
        return RV_REPLACED;
    return pressure_permits(r->rules->user, leader, id) ? RV_REPLACED : RV_PRESSURE;
}

bool phase_late_commoning(Ctx *ctx, Fn *fn)
{
    Arena scratch;
    Pressure pressure;
    arena_init(&scratch, &ctx->heap);
    pressure_init(&pressure, fn, &scratch);
    RedundancyRules rules = {.kinds = RD_EXPRESSIONS | RD_COPIES | RD_PHIS | RD_LOADS, .budget = -1, .permits = permits, .report = redundancy_remark, .user = &pressure};
    uint32_t replaced = redundancy_eliminate(ctx, fn, &rules, NULL);
    arena_free(&scratch);
    return replaced;
}
