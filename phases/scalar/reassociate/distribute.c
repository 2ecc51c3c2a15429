// SPDX-License-Identifier: MIT
// Products of OriReassociateAndCommon: distribution, and products of sums that differ by a constant.
//
// Distribution. A sum of two products with a common factor becomes one product.
//
//     R4 = mul.lo.s32 R1, R3; R5 = mad.lo.s32 R1, R2, R4    ->   R4 = add.s32 R2, R3; R5 = mul.lo.s32 R1, R4
//
// Products of sums. If a product (x + C) * m + z follows a product (x + D) * m + z in its block, it becomes the earlier
// product plus (C - D) * m. The sum x + C must have no other use.
//
//     R4 = add.s32 R1, 1; R5 = mad.lo.s32 R4, R2, R3
//     R6 = add.s32 R1, 2; R7 = mad.lo.s32 R6, R2, R3        ->   R7 = add.s32 R5, R2
//     R8 = add.s32 R1, 5; R9 = mad.lo.s32 R8, R2, R3        ->   R9 = mad.lo.s32 R2, 3, R7
//
// Both hold modulo 2^w, for all values.
//
// Must not fire:
//     R4 = mul.hi.s32 R1, R3; R5 = mad.wide.s32 ...          not modulo 2^w
//     R4 has another use                                     both products stay, so the sum is one more instruction
//     R3 is pinned or named                                  R3 may be written between product and sum (rule 2)
//     R1 * R3 is invariant in the loop, and R2 is not        ptxas hoists the product, but cannot hoist the sum
//
// Does not do: factors that are equal only up to a constant or a sign; products in other blocks (registers).
#include "phases/scalar/reassociate/reassociate.h"

// A product (x + c) * m + z; z is K_NONE for a product without a sum.
typedef struct Product {
    Operand x, m, z, result;
    uint64_t c;
    BlockId block;
    Width width;
} Product;

typedef struct Products {
    VEC(Product) at;  // in the order of the walk
    IdSet index;      // of the first `nindexed`; products of sums require it
    uint32_t nindexed;
} Products;

void distribute_start(Reassoc *r) { r->products = NEW(&r->scratch, Products); }

static Width width_of_result(const Fn *fn, const Instr *i)
{
    return (Width)ir_reg(fn, op_index(*ir_def(fn, i, 0)))->width;
}

/* -- Distribution --------------------------------------------------------------------------------------- */

// Returns the product that defines an operand, if the operand has no other use, and the product is in this block and
// may move to the use.
static const Instr *single_product(Reassoc *r, Operand o, BlockId block)
{
    InstrId def = reassoc_def(r, o);
    const Instr *i = def ? ir_instr(r->fn, def) : NULL;
    ReassocKind kind = i && i->block == block ? reassoc_kind(r, i) : R_NONE;
    return (kind == R_MUL || kind == R_MAD) && reassoc_one_use(r, o) && reassoc_is_movable(r, i) ? i : NULL;
}

// Finds a common factor of two products: p[at[0]] is q[at[1]].
static bool find_common_factor(const Operand *p, const Operand *q, uint32_t at[static 2])
{
    for (at[0] = 0; at[0] < 2; at[0]++)
        for (at[1] = 0; at[1] < 2; at[1]++)
            if (op_is_reg(p[at[0]]) && op_same(p[at[0]], q[at[1]]))
                return true;
    return false;
}

// True if one of the products is invariant in a loop in which the other one varies.
static bool parts_by_loop(Reassoc *r, Operand common, Operand b, Operand c, BlockId block)
{
    return !reassoc_varies(r, common, block) && reassoc_varies(r, b, block) != reassoc_varies(r, c, block);
}

// Rewrites common * b +- (common * c [+ z]).
static bool factor_out(Reassoc *r, InstrId id, const Instr *first, const Instr *second, bool minus)
{
    Fn *fn = r->fn;
    const Instr *root = ir_instr(fn, id);
    Width width = width_of_result(fn, root);
    const Operand *p = ir_use(fn, first, 0), *q = ir_use(fn, second, 0);
    bool more = ir_nuse(second) == 3;
    uint32_t at[2];
    if ((more && minus) || !find_common_factor(p, q, at))
        return false;
    Operand common = p[at[0]], of[2] = {p[1 - at[0]], q[1 - at[1]]};
    Operand z = more ? q[2] : op_none();
    if (parts_by_loop(r, common, of[0], of[1], root->block) || !reassoc_may(r, KNOB_DISTRIBUTE_BUDGET))
        return false;
    remark(r->ctx, fn, id, RM_PASSED, "Reassociated", "a common factor of two products is taken out of their sum");
    Operand sum;
    if (op_is_const(of[0]) && op_is_const(of[1])) {
        uint64_t x = constant_bits(fn, of[0]), y = constant_bits(fn, of[1]);
        sum = op_const(fn, minus ? x - y : x + y, width);
    } else {
        if (op_is_const(of[0]) && !minus) {
            Operand constant = of[0];
            of[0] = of[1];
            of[1] = constant;
        }
        sum = reassoc_insert(r, id, minus ? OP_SUB : OP_ADD, width, of, 2);
    }
    Operand uses[3] = {common, sum, z};
    reassoc_replace(r, id, more ? OP_MAD_LO : OP_MUL_LO, width, uses, more ? 3 : 2);
    return true;
}

static bool factor(Reassoc *r, InstrId id, ReassocKind kind)
{
    Fn *fn = r->fn;
    const Instr *i = ir_instr(fn, id);
    const Instr *last = single_product(r, *ir_use(fn, i, kind == R_MAD ? 2 : 1), i->block);
    if (!last)
        return false;
    if (kind == R_MAD)
        return factor_out(r, id, i, last, false);
    const Instr *first = single_product(r, *ir_use(fn, i, 0), i->block);
    if (!first || reassoc_kind(r, first) != R_MUL || reassoc_kind(r, last) != R_MUL)
        return false;
    return factor_out(r, id, first, last, kind == R_SUB);
}

/* -- Products of sums ----------------------------------------------------------------------------------- */

// Splits an operand into a register and a constant that is added to it. Returns the sum, 0 = the constant is 0.
static InstrId split_sum(Reassoc *r, Operand o, BlockId at, Operand *x, uint64_t *c)
{
    Fn *fn = r->fn;
    InstrId def = reassoc_def(r, o);
    const Instr *i = def ? ir_instr(fn, def) : NULL;
    ReassocKind kind = i ? reassoc_kind(r, i) : R_NONE;
    *x = o;
    *c = 0;
    if ((kind != R_ADD && kind != R_OR) || !op_is_const(*ir_use(fn, i, 1)) || !reassoc_def(r, *ir_use(fn, i, 0)))
        return 0;
    uint64_t bits = constant_bits(fn, *ir_use(fn, i, 1));
    if (kind == R_OR && (reassoc_range(r, *ir_use(fn, i, 0), at).zeros & bits) != bits)
        return 0;
    *x = *ir_use(fn, i, 0);
    *c = bits;
    return def;
}

// Replaces a product by an earlier one, plus (c - earlier->c) * m.
static bool reuse(Reassoc *r, InstrId id, const Product *p, const Product *earlier)
{
    Fn *fn = r->fn;
    uint64_t ones = low_ones(width_bits(p->width)), d = (p->c - earlier->c) & ones;
    if (!d || !reassoc_may(r, KNOB_DISTRIBUTE_BUDGET))
        return false;
    remark(r->ctx, fn, id, RM_PASSED, "Reassociated", "a product of a sum is computed from an earlier product");
    Operand result = earlier->result, m = p->m;
    if (op_is_const(m))
        reassoc_replace(r, id, OP_ADD, p->width, (Operand[]){result, op_const(fn, d * constant_bits(fn, m), p->width)},
                        2);
    else if (d == 1 || d == ones)
        reassoc_replace(r, id, d == 1 ? OP_ADD : OP_SUB, p->width, (Operand[]){result, m}, 2);
    else
        reassoc_replace(r, id, OP_MAD_LO, p->width, (Operand[]){m, op_const(fn, d, p->width), result}, 3);
    return true;
}

static uint32_t product_hash(const Product *p)
{
    uint64_t h = hash_mix((uint64_t)p->x.word << 32 | p->m.word, (uint64_t)p->z.word << 32 | p->block);
    return (uint32_t)(h ^ h >> 32);
}

static Product *find_product(Reassoc *r, const Product *p, uint32_t hash)
{
    Products *t = r->products;
    IDSET_EACH(&t->index, hash, k) {
        Product *q = &t->at.at[k];
        if (op_same(q->x, p->x) && op_same(q->m, p->m) && op_same(q->z, p->z) && q->block == p->block &&
            q->width == p->width)
            return q;
    }
    return NULL;
}

// Enters the products that are not in the index yet. The last one with a key counts.
static void index_products(Reassoc *r)
{
    Products *t = r->products;
    for (; t->nindexed < t->at.n; t->nindexed++) {
        const Product *p = &t->at.at[t->nindexed];
        uint32_t hash = product_hash(p);
        Product *earlier = find_product(r, p, hash);
        if (earlier)
            *earlier = *p;
        else
            idset_add(&t->index, &r->scratch, hash, t->nindexed);
    }
}

// Replaces a product of a sum by an earlier one; false if there is none.
static bool reuse_earlier(Reassoc *r, InstrId id, const Product *p)
{
    index_products(r);
    const Product *earlier = find_product(r, p, product_hash(p));
    // Distribution may have removed the earlier product.
    return earlier && reassoc_def(r, earlier->result) && reuse(r, id, p, earlier);
}

// Notes a product, with operand `side` as its sum. True if an earlier one replaced it.
static bool enter_product(Reassoc *r, InstrId id, uint32_t side)
{
    Fn *fn = r->fn;
    const Instr *i = ir_instr(fn, id);
    Operand sum = *ir_use(fn, i, side);
    Product p = {.m = *ir_use(fn, i, 1 - side), .block = i->block, .width = width_of_result(fn, i)};
    p.z = ir_nuse(i) == 3 ? *ir_use(fn, i, 2) : op_none();
    p.result = op_reg(fn, op_index(*ir_def(fn, i, 0)));
    bool stays = op_kind(p.z) == K_NONE || op_is_const(p.z) || reassoc_def(r, p.z);
    if (!stays || !reassoc_def(r, sum) || (!reassoc_def(r, p.m) && !op_is_const(p.m)))
        return false;
    InstrId split = split_sum(r, sum, i->block, &p.x, &p.c);
    bool replaced = split && reassoc_one_use(r, sum) && reuse_earlier(r, id, &p);
    VEC_PUSH(&r->scratch, &r->products->at, p);
    return replaced;
}

void distribute(Reassoc *r, InstrId id, ReassocKind kind)
{
    if (kind == R_ADD || kind == R_SUB || kind == R_MAD)
        factor(r, id, kind);
    kind = reassoc_kind(r, ir_instr(r->fn, id));
    if ((kind == R_MUL || kind == R_MAD) && !enter_product(r, id, 0))
        enter_product(r, id, 1);
}
