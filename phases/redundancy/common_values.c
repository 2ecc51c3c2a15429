// SPDX-License-Identifier: MIT
// Commoning over the whole function (phases/redundancy/common_values.h).
#include "phases/redundancy/common_values.h"

#include "phases/redundancy/pressure.h"

typedef struct Commons {
    const CommonRules *rules;
    Pressure pressure;
    uint32_t *places;  // by InstrId: the number of the instruction in this walk; NULL = there is no window
    uint32_t place;
} Commons;

static void number(void *redundancy, InstrId id)
{
    Redundancy *r = redundancy;
    Commons *c = r->rules->user;
    const CommonRules *rules = c->rules;
    if (c->places)
        c->places[id] = ++c->place;
    if (rules->kept && rules->kept[ir_desc(r->fn, ir_instr(r->fn, id))->op])
        redundancy_number_apart(r, id);
    else
        redundancy_number(r, id);
}

static Verdict permits(Redundancy *r, RegId leader, InstrId id)
{
    Commons *c = r->rules->user;
    InstrId def = def_of(r->a, leader);
    const Instr *i = ir_instr(r->fn, id), *other = ir_instr(r->fn, def);
    bool here = other->block == i->block;
    if (c->rules->test) {
        Verdict verdict = c->rules->test(r, leader, id);
        if (verdict != RV_REPLACED)
            return verdict;
    }
    if (c->places && (!here || c->places[id] - c->places[def] > c->rules->window))
        return RV_SCOPE;
    if (redundancy_scales(r, i) && redundancy_scales(r, other))
        return RV_SCOPE;
    if (here || ir_desc(r->fn, i)->traits & TR_READ || is_expensive(r->fn, i))
        return RV_REPLACED;
    bool permitted = pressure_permits(&c->pressure, leader, id);
    if (c->rules->pressed)
        *c->rules->pressed |= !permitted;
    return permitted ? RV_REPLACED : RV_PRESSURE;
}

bool common_values(Ctx *ctx, Fn *fn, const CommonRules *rules)
{
    Arena scratch;
    Commons c = {.rules = rules};
    arena_init(&scratch, &ctx->heap);
    pressure_init(&c.pressure, fn, &scratch);
    if (rules->window)
        c.places = NEW_ARRAY(&scratch, uint32_t, fn->instrs.n);
    RedundancyRules all = {.kinds = rules->kinds,
                           .budget = rules->budget,
                           .permits = permits,
                           .number = rules->kept || rules->window ? number : NULL,
                           .report = redundancy_remark,
                           .pressure = &c.pressure,
                           .user = &c};
    bool progress = redundancy_eliminate(ctx, fn, &all, NULL, NULL);
    arena_free(&scratch);
    return progress;
}
