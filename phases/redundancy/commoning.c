// SPDX-License-Identifier: MIT
// Replaces an instruction by a dominating one that computes the same values.
//
// Sub-pass: OriCommoning, of the GeneralOptimize bundles. Value numbers (phases/redundancy/redundancy.h) find equal
// pure instructions. Across blocks only expensive instructions are replaced: ptxas finds the others itself, and takes
// register pressure into account (tried).
//
//     R3 = add.s32 R1, R2                         R3 = add.s32 R1, R2
//     R4 = add.s32 R2, R1                    ->   (nothing)
//     R5 = mul.lo.s32 R4, R3                      R5 = mul.lo.s32 R3, R3
//
//     b0: R3 = rem.u32 R1, R2; @P0 bra b1         b0: R3 = rem.u32 R1, R2; @P0 bra b1
//     b1: R4 = rem.u32 R1, R2                ->   b1: ... R3 ...
//
// Must not fire:
//     b1: R3 = rem.u32 R1, R2; b2: R4 = rem.u32 R1, R2      neither dominates the other
//     b0: R3 = add.s32 R1, R2; b1: R4 = add.s32 R1, R2      cheap, and in another block
//     @P0 R3 = add.s32 R1, R2 else R9; R4 = add.s32 R1, R2  R3 is R9 where the guard is false
//     R3 = mov.b32 %clock; R4 = mov.b32 %clock              each read gives a new value
//     R3 = shfl.sync...; R4 = shfl.sync...                  not pure; accesses of memory are not pure either
//     R3 = add.f32 R1, R2; R4 = add.rn.f32 R1, R2           not the same instruction
//     R3 = mov.undef; R4 = mov.undef                        two values
//     R3 = shl.b64 R1, 4; R4 = add.s64 R0, R3;              ptxas makes LEA of each shift with its sum; a shared shift
//     R5 = shl.b64 R1, 4; R6 = add.s64 R2, R5               costs two more, and each sum two again (19 -> 21)
//
// Equal products (mul.wide) are replaced even if only sums use them: otherwise 8 of 725 functions have 25 SASS
// instructions more, and 9 have 13 fewer (tried).
//
// Does not do: loads; values that are equal for another reason (GvnCse); hoisting (56).
// Documented: the name. Inferred: the rest.
#include "phases/bodies.h"
#include "phases/redundancy/redundancy.h"

static Verdict permits(Redundancy *r, RegId leader, InstrId id)
{
    const Instr *i = ir_instr(r->fn, id), *other = ir_instr(r->fn, def_of(r->a, leader));
    bool refused =
        other->block != i->block ? !is_expensive(r->fn, i) : redundancy_scales(r, i) && redundancy_scales(r, other);
    return refused ? RV_SCOPE : RV_REPLACED;
}

bool phase_commoning(Ctx *ctx, Fn *fn)
{
    RedundancyRules rules = {.kinds = RD_EXPRESSIONS, .budget = -1, .permits = permits};
    return redundancy_eliminate(ctx, fn, &rules, NULL, NULL);
}
