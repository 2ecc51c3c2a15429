// SPDX-License-Identifier: MIT
// Decides which instructions GvnCse replaces (phases/redundancy/gvn.h).
//
//     document                         here                                                  condition
//     (others)                         pure instructions                                     always
//     16  MOV                          moves of registers, and phis                          not pinned
//     183 load, texture                .const, .nc, parameters of kernels, textures          read-only memory
//     119 MUFU                         rcp, sqrt, rsqrt, sin, cos, lg2, ex2, tanh, div: approximate   bit 6
//     186 SHFL, 283 REDUX              shfl, redux                                           bit 6, convergent
//     122 VOTE                         vote.all, .any; .ballot, .uni with a constant mask    convergent
//     310 MATCH                        match.any, with a mask other than all lanes           convergent
//     211 ATOM                         atom, red                                             never
//     145 BAR                          ends the scope of mode 1 (query 371)                  never
//
// Forms without a mask (shfl, vote) depend on the active lanes, and are never replaced. Convergent instructions are
// replaced only if all threads execute the same sequence of them (gvn.h), whatever the mask.
//
// Documented: opcodes and the bit. Inferred: the meaning of the subtypes and operand bits of VOTE and MATCH, which the
// document gives as numbers only, and the conditions of convergent instructions (soundness rule 3).
#include "phases/redundancy/gvn.h"

static bool is_all_lanes(const Fn *fn, Operand mask)
{
    return op_is_const(mask) && (uint32_t)tab_const(fn->tables, op_index(mask)).bits == UINT32_MAX;
}

static GvnClass class_of_vote(const Fn *fn, const Instr *i, const Mnem *m)
{
    switch (m->mod[MC_MODE] ? m->mod[MC_MODE] : m->mod[MC_UNI]) {
    case MOD_ALL:
    case MOD_ANY: return GC_CONVERGENT;
    default: return op_is_const(*ir_use(fn, i, 1)) ? GC_CONVERGENT : GC_NONE;
    }
}

static GvnClass class_of_convergent(const Fn *fn, const Instr *i, const Desc *d, bool enhanced)
{
    if (ir_guarded(i) || i->flags & IF_PINNED)
        return GC_NONE;
    switch (d->op) {
    case OP_SHFL_SYNC:
    case OP_REDUX: return enhanced ? GC_CONVERGENT : GC_NONE;
    case OP_VOTE_SYNC: return class_of_vote(fn, i, tab_mnem(fn->tables, d->mnem));
    case OP_MATCH_ANY: return is_all_lanes(fn, *ir_use(fn, i, 1)) ? GC_NONE : GC_CONVERGENT;
    default: return GC_NONE;
    }
}

GvnClass gvn_class(const Fn *fn, const Instr *i, bool enhanced)
{
    const Desc *d = ir_desc(fn, i);
    if (d->traits & TR_CONV)
        return class_of_convergent(fn, i, d, enhanced);
    if (!(d->traits & TR_PURE))
        return d->traits & TR_READ && !(d->traits & (TR_WRITE | TR_EFFECT)) ? GC_PLAIN : GC_NONE;
    if (d->traits & TR_NOFOLD)
        return enhanced ? GC_SPECIAL : GC_NONE;
    return GC_PLAIN;
}
