// SPDX-License-Identifier: MIT
// Addresses of OriReassociateAndCommon: constants in scaled indices of 32 bits.
//
// The address base + (i + C) * D shares base + i * D with other accesses, and C * D becomes the offset of the access.
// That holds if i + C, extended to 64 bits, is the sum of the extended i and C: if i + C does not wrap (rule 4). Value
// ranges prove it, from dominating conditions and the bounds of counters. Rules of folding split mul.wide and cvt
// (wide-of-add, extension-of-add). They have no pattern for mad.wide, which this file splits:
//
//     R2 = add.s32 R1, 3; R3 = mad.wide.s32 R2, 4, R0; ld.b32 [R3]
//         ->   R3 = mad.wide.s32 R1, 4, R0; R4 = add.s64 R3, 12; ld.b32 [R4]
//
// Only if all accesses take the constant as offset: otherwise the split costs an instruction. For the indices that may
// wrap, in mul.wide and cvt as well, there is the remark Wraps. In the ten families of gen_cl.py (seeds 1 and 2), 259
// of 259 such indices may wrap: each adds a constant to ctaid * ntid + tid, or to a product of unknown factors. In the
// naive samples it is 13 of 16. So no rule that assumes more than folding pays here.
//
// Must not fire:
//     R2 = add.s32 R1, 3, where R1 may be 0x7ffffffd         the 64-bit index would be 2^32 larger
//     st.b64 [R9], R3                                        the value is used, not only accessed
//     C * D is not below OFFSET_MAX
#include "phases/scalar/reassociate/reassociate.h"

enum { OFFSET_MAX = 1 << 23 };

/* -- Offsets -------------------------------------------------------------------------------------------- */

// Finds registers with a use other than as the base of an access or in a sum of such a base.
static void find_kept(Reassoc *r)
{
    const Fn *fn = r->fn;
    r->nkept = fn->regs.n;
    r->kept = NEW_ARRAY(&r->scratch, uint8_t, r->nkept);
    for (uint32_t n = r->a->nrpo; n-- > 0;) {
        FOR_INSTRS_BACK(fn, r->a->rpo[n], id) {
            const Instr *i = ir_instr(fn, id);
            const Desc *d = ir_desc(fn, i);
            const Operand *ops = ir_ops(fn, i);
            bool access =
                d->traits & (TR_READ | TR_WRITE) && op_info[d->op].ntypes != OP_RAW && !(i->flags & IF_PINNED);
            if (reassoc_kind(r, i) == R_ADD && !r->kept[op_index(ops[0])])
                continue;
            for (uint32_t k = i->ndef; k < i->nops; k++) {
                bool base = access && k + 1 < d->nops && operand_is_base(fn, d, k) && op_kind(ops[k + 1]) == K_IMM;
                if (op_is_reg(ops[k]) && !base)
                    r->kept[op_index(ops[k])] = true;
            }
        }
    }
}

// True if a constant that is added to a register becomes the offset of all accesses that use it.
static bool becomes_offset(Reassoc *r, Operand o)
{
    if (!r->kept)
        find_kept(r);
    return op_index(o) < r->nkept && !r->kept[op_index(o)];
}

/* -- Indices -------------------------------------------------------------------------------------------- */

// An index x + c that an instruction extends, and scales by `scale`.
typedef struct Index {
    InstrId sum;
    Operand x;
    int64_t c, scale;
    bool is_signed;
} Index;

static bool find_index(Reassoc *r, const Instr *i, Index *index)
{
    const Fn *fn = r->fn;
    const Desc *d = ir_desc(fn, i);
    const Mnem *m = tab_mnem(fn->tables, d->mnem);
    const TypeInfo *from = &type_info[m->type[d->op == OP_CVT]];
    Operand wide = *ir_def(fn, i, 0), narrow = *ir_use(fn, i, 0);
    index->sum = reassoc_def(r, narrow);
    const Instr *sum = index->sum ? ir_instr(fn, index->sum) : NULL;
    if (!sum || reassoc_kind(r, sum) != R_ADD || from->width != W32 || ir_reg(fn, op_index(wide))->width != W64 ||
        ir_reg(fn, op_index(narrow))->width != W32)
        return false;
    Operand c = *ir_use(fn, sum, 1), scale = d->op == OP_CVT ? op_none() : *ir_use(fn, i, 1);
    index->x = *ir_use(fn, sum, 0);
    index->is_signed = from->class == TC_S;
    if (!reassoc_def(r, index->x) || !op_is_const(c) || (d->op != OP_CVT && !op_is_const(scale)))
        return false;
    index->c = const_signed(tab_const(fn->tables, op_index(c)));
    index->scale = d->op == OP_CVT    ? 1
                   : index->is_signed ? const_signed(tab_const(fn->tables, op_index(scale)))
                                      : (int64_t)constant_bits(fn, scale);
    return true;
}

// True if the sum of an index is that of the extended x and c.
static bool does_not_wrap(Reassoc *r, const Index *index, BlockId at)
{
    ValueRange x = reassoc_range(r, index->x, at);
    if (!index->is_signed)
        return index->c < 0 ? x.umin >= (uint64_t)-index->c : x.umax + (uint64_t)index->c <= UINT32_MAX;
    return x.smin + index->c >= INT32_MIN && x.smax + index->c <= INT32_MAX;
}

// Splits the constant from a mad.wide.
static void split(Reassoc *r, InstrId id, const Index *index)
{
    Fn *fn = r->fn;
    Instr *i = ir_instr(fn, id);
    Operand result = op_reg(fn, reg_new(fn, RF_R, W64)), ops[4];
    memcpy(ops, ir_ops(fn, i), sizeof ops);
    ops[0] = op_def(result);
    ops[1] = index->x;
    InstrId wide = ir_insert_before(fn, first_annotation(fn, id), i->desc, 0, ops, 4);
    ir_instr(fn, wide)->line = i->line;
    nuses_count_instr(fn, ir_instr(fn, wide), 1);
    Operand sum[2] = {result, op_const(fn, (uint64_t)(index->c * index->scale), W64)};
    reassoc_replace(r, id, OP_ADD, W64, sum, 2);
}

void share_address(Reassoc *r, InstrId id)
{
    Fn *fn = r->fn;
    const Instr *i = ir_instr(fn, id);
    bool mad = ir_desc(fn, i)->op == OP_MAD_WIDE;
    Index index;
    if ((!mad && !remarks_wanted(r->ctx)) || !find_index(r, i, &index) || !becomes_offset(r, *ir_def(fn, i, 0)))
        return;
    int64_t offset;
    if (__builtin_mul_overflow(index.c, index.scale, &offset) || offset >= OFFSET_MAX || offset <= -OFFSET_MAX)
        return;
    if (!does_not_wrap(r, &index, i->block)) {
        remark(r->ctx, fn, index.sum, RM_MISSED, "Wraps",
               "the addition of {Constant:%lld} to a 32-bit index may wrap, so it is no offset of the address",
               (long long)index.c);
    } else if (mad && reassoc_may(r, KNOB_REASSOCIATE_BUDGET)) {
        remark(r->ctx, fn, id, RM_PASSED, "Reassociated", "{Offset:%lld} is added to the address, not to the index",
               (long long)offset);
        split(r, id, &index);
    }
}
