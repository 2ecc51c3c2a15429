// SPDX-License-Identifier: MIT
// Shared parts of OriReassociateAndCommon: the kinds of its instructions, and edits that keep AN_NUSES.
#ifndef ORI_REASSOCIATE_H
#define ORI_REASSOCIATE_H

#include "ir/analysis/value_ranges.h"
#include "ir/rewrite/rewrite.h"
#include "phases/bodies.h"
#include "phases/manager/remarks.h"

// Plain wrapping instructions of 32 or 64 bits. R_WIDE is a product or an extension with a result twice as wide.
typedef enum { R_NONE, R_ADD, R_SUB, R_NEG, R_MUL, R_MAD, R_AND, R_OR, R_XOR, R_WIDE } ReassocKind;

typedef struct Reassoc {
    Ctx *ctx;
    Fn *fn;
    const Analyses *a;
    Arena scratch;
    int64_t skip;    // number of rewrites that are still skipped
    uint8_t *kinds;  // by DescId: 1 + ReassocKind; 0 = not computed yet
    uint32_t nkinds;
    bool counted, ranges_known;  // AN_NUSES is valid; `ranges` is
    ValueRanges ranges;
    EvalCache evals;
    VEC(InstrId) sums;  // the instructions of the current block that may be parts of trees
    struct Products *products;
    struct Trees *trees;
    uint8_t *kept;  // by RegId: has a use that is no base of an access; NULL = not computed yet
    uint32_t nkept;
    bool progress;
    bool moves;        // a move has replaced an instruction
    bool leaves_dead;  // another instruction may be dead now
} Reassoc;

/* reassociate.c */
// Computes the kind of a descriptor.
ReassocKind reassoc_find_kind(Reassoc *r, DescId desc);
// Returns the instruction that defines an operand, 0 if the operand is no register with one definition.
static inline InstrId reassoc_def(const Reassoc *r, Operand o)
{
    return op_is_reg(o) && !o.mods ? def_of(r->a, op_index(o)) : 0;
}
// Returns the kind of an instruction. R_NONE: not plain, guarded or pinned, or its result is outside of ssa form.
static inline ReassocKind reassoc_kind(Reassoc *r, const Instr *i)
{
    uint32_t kind = i->desc < r->nkinds ? r->kinds[i->desc] : 0;
    if (!kind)
        kind = 1 + (uint32_t)reassoc_find_kind(r, i->desc);
    if (kind == 1 + R_NONE || i->flags & (IF_GUARDED | IF_PINNED))
        return R_NONE;
    return reg_in_ssa(ir_reg(r->fn, op_index(*ir_def(r->fn, i, 0)))) ? (ReassocKind)(kind - 1) : R_NONE;
}
static inline uint64_t constant_bits(const Fn *fn, Operand o) { return tab_const(fn->tables, op_index(o)).bits; }
// Makes AN_NUSES valid. Functions without chains do not need it.
static inline void reassoc_count_uses(Reassoc *r)
{
    if (!r->counted)
        analysis_need(r->fn, AN_NUSES);
    r->counted = true;
}
// True if an operand is a register with one use.
static inline bool reassoc_one_use(Reassoc *r, Operand o)
{
    reassoc_count_uses(r);
    return op_is_reg(o) && nuses_of(r->a, op_index(o)) == 1;
}
// True if a rewrite may be made; spends a unit of the budget.
bool reassoc_may(Reassoc *r, KnobId budget);
// True if an operand has another value in each iteration of the innermost loop around a block, as far as a search of
// few definitions shows. False outside of loops.
bool reassoc_varies(Reassoc *r, Operand o, BlockId at);
// Inserts an instruction of these uses before another one, and returns its result.
Operand reassoc_insert(Reassoc *r, InstrId before, Opcode op, Width width, const Operand *uses, uint32_t n);
// Replaces an instruction, and removes the definitions of its operands that become dead.
void reassoc_replace(Reassoc *r, InstrId id, Opcode op, Width width, const Operand *uses, uint32_t n);
// True if a later instruction of the block may read the operands of an instruction, too: each is a constant, or has one
// definition.
bool reassoc_is_movable(const Reassoc *r, const Instr *i);
// Returns the range of an operand in a block.
ValueRange reassoc_range(Reassoc *r, Operand o, BlockId at);

/* distribute.c */
// Handles a product (R_MUL, R_MAD) or a sum of two products.
void distribute_start(Reassoc *r);
void distribute(Reassoc *r, InstrId id, ReassocKind kind);

/* trees.c */
void trees_start(Reassoc *r);
// Adds the trees of a block, whose instructions are r->sums.
void trees_collect(Reassoc *r);
// Rebuilds trees in another order; returns progress.
bool trees_rewrite(Reassoc *r);

/* share_addresses.c */
// Handles an extension or a product of double width.
void share_address(Reassoc *r, InstrId id);

#endif
