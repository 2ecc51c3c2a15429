// SPDX-License-Identifier: MIT
// Proves value ranges (ir/eval/range.h), transfer functions, and the ranges of registers (ir/analysis/value_ranges.h).
//
// The domain, at WIDTH bits: a range made of an interval or of known bits contains exactly its values. Results of meet,
// join, comparisons and conversions to other widths contain each result of values in the operands' ranges.
//
// Transfer functions, at WIDTH bits: instructions are decoded and narrowed, and the evaluator computes their results
// for all values once. The range of the result must contain the results of all values in the inputs' ranges. For one
// and two inputs, all unsigned and signed intervals and all sets of known bits are tried; more inputs are drawn. Ranges
// of single values must give the exact result, unless the operation is marked as vague.
//
// Instructions: the evaluator computes functions of random instructions on loaded values, at 16, 32 and 64 bits, for
// random values. The range of each register must contain its value.
#include "tests/proofs/rules.h"

#include <stdio.h>
#include <stdlib.h>

#include "ir/analysis/value_ranges.h"
#include "ir/eval/eval.h"

enum { WIDTH = 4, VALUES = 1 << WIDTH, RANGES = VALUES * (VALUES + 1) / 2, SETS = 81, ALL = 2 * RANGES + SETS };

static unsigned long failed_so_far;

/* -- Arithmetic ----------------------------------------------------------------------------------------- */

static int64_t number(uint64_t x) { return sign_extended(x, WIDTH); }

// Proven instructions. Operands: `w` has WIDTH bits, `W` twice as many; `c` is a count and `T` a table of lop3, in
// ranges of 32 bits; `k` is a known count, `f` a count that may be near 255, `p` a carry or predicate.
static const struct {
    const char *mnemonic, *shape, *operands;
    bool vague;  // ranges of single values may give a larger range than the result
} operations[] = {
    {"mov.b32", "%,%", "w", 0},
    {"selp.b32", "%,%,%,%", "wwp", 1},
    {"slct.u32.s32", "%,%,%,%", "www", 0},
    {"add.s32", "%,%,%", "ww", 0},
    {"add.sat.s32", "%,%,%", "ww", 0},
    {"sub.u32", "%,%,%", "ww", 0},
    {"sub.sat.s32", "%,%,%", "ww", 0},
    {"mul.lo.s32", "%,%,%", "ww", 1},
    {"mul.hi.s32", "%,%,%", "ww", 0},
    {"mul.hi.u32", "%,%,%", "ww", 0},
    {"mul.wide.s32", "%,%,%", "ww", 1},
    {"mul.wide.u32", "%,%,%", "ww", 1},
    {"mad.lo.s32", "%,%,%,%", "www", 1},
    {"mad.hi.s32", "%,%,%,%", "www", 0},
    {"mad.hi.sat.s32", "%,%,%,%", "www", 0},
    {"mad.hi.u32", "%,%,%,%", "www", 0},
    {"mad.wide.s32", "%,%,%,%", "wwW", 1},
    {"mad.wide.u32", "%,%,%,%", "wwW", 1},
    {"add.cc.u32", "%,%,%", "ww", 0},
    {"addc.u32", "%,%,%", "wwp", 1},
    {"addc.cc.u32", "%,%,%", "wwp", 1},
    {"sub.cc.u32", "%,%,%", "ww", 0},
    {"subc.u32", "%,%,%", "wwp", 1},
    {"mad.lo.cc.u32", "%,%,%,%", "www", 1},
    {"madc.lo.u32", "%,%,%,%", "wwwp", 1},
    {"madc.hi.u32", "%,%,%,%", "wwwp", 1},
    {"div.u32", "%,%,%", "ww", 0},
    {"div.s32", "%,%,%", "ww", 1},
    {"rem.u32", "%,%,%", "ww", 1},
    {"rem.s32", "%,%,%", "ww", 1},
    {"sad.u32", "%,%,%,%", "www", 0},
    {"sad.s32", "%,%,%,%", "www", 0},
    {"abs.s32", "%,%", "w", 1},
    {"neg.s32", "%,%", "w", 0},
    {"min.u32", "%,%,%", "ww", 0},
    {"min.s32", "%,%,%", "ww", 0},
    {"min.relu.s32", "%,%,%", "ww", 0},
    {"max.u32", "%,%,%", "ww", 0},
    {"max.s32", "%,%,%", "ww", 0},
    {"max.relu.s32", "%,%,%", "ww", 0},
    {"popc.b32", "%,%", "w", 0},
    {"clz.b32", "%,%", "w", 0},
    {"bfind.u32", "%,%", "w", 0},
    {"bfind.s32", "%,%", "w", 0},
    {"bfind.shiftamt.u32", "%,%", "w", 0},
    {"bfind.shiftamt.s32", "%,%", "w", 0},
    {"brev.b32", "%,%", "w", 0},
    {"bfe.u32", "%,%,%,%", "wcc", 0},
    {"bfe.s32", "%,%,%,%", "wcc", 0},
    {"bfe.s32", "%,%,%,%", "wkk", 0},
    {"bfi.b32", "%,%,%,%,%", "wwkk", 0},
    {"bfi.b32", "%,%,%,%,%", "wwcc", 0},
    {"bfe.u32", "%,%,%,%", "wff", 0},
    {"bfe.u64", "%,%,%,%", "wff", 0},
    {"bfe.s64", "%,%,%,%", "wff", 0},
    {"bfi.b32", "%,%,%,%,%", "wwff", 0},
    {"bfi.b64", "%,%,%,%,%", "wwff", 0},
    {"szext.clamp.u32", "%,%,%", "wc", 0},
    {"szext.clamp.s32", "%,%,%", "wc", 0},
    {"szext.wrap.u32", "%,%,%", "wc", 0},
    {"szext.wrap.s32", "%,%,%", "wc", 0},
    {"and.b32", "%,%,%", "ww", 0},
    {"or.b32", "%,%,%", "ww", 0},
    {"xor.b32", "%,%,%", "ww", 0},
    {"not.b32", "%,%", "w", 0},
    {"cnot.b32", "%,%", "w", 0},
    {"lop3.b32", "%,%,%,%,%", "wwwT", 0},
    {"shl.b32", "%,%,%", "wc", 0},
    {"shr.u32", "%,%,%", "wc", 0},
    {"shr.s32", "%,%,%", "wc", 0},
    {"shf.l.clamp.b32", "%,%,%,%", "wwk", 0},
    {"shf.l.wrap.b32", "%,%,%,%", "wwk", 0},
    {"shf.r.clamp.b32", "%,%,%,%", "wwk", 0},
    {"shf.r.wrap.b32", "%,%,%,%", "wwc", 0},
};

static void fail(const char *what, const ValueRange *a, const ValueRange *b, const ValueRange *f, uint64_t x,
                 uint64_t y)
{
    if (failed_so_far++ > 10)
        return;
    const ValueRange *all[] = {a, b, f};
    printf("ranges: %s of %llu and %llu", what, (unsigned long long)x, (unsigned long long)y);
    for (int k = 0; k < 3 && all[k]; k++)
        printf("; zeros %llx ones %llx, %llu..%llu, %lld..%lld", (unsigned long long)all[k]->zeros,
               (unsigned long long)all[k]->ones, (unsigned long long)all[k]->umin, (unsigned long long)all[k]->umax,
               (long long)all[k]->smin, (long long)all[k]->smax);
    printf("\n");
}

static uint32_t make_all(ValueRange all[static ALL])
{
    uint32_t n = 0;
    for (uint64_t lo = 0; lo < VALUES; lo++)
        for (uint64_t hi = lo; hi < VALUES; hi++) {
            all[n++] = range_unsigned(lo, hi, WIDTH);
            all[n++] = range_signed((int64_t)lo - VALUES / 2, (int64_t)hi - VALUES / 2, WIDTH);
        }
    for (uint64_t zeros = 0; zeros < VALUES; zeros++)
        for (uint64_t ones = 0; ones < VALUES; ones++)
            if (!(zeros & ones))
                all[n++] = range_of_bits(zeros, ones, WIDTH);
    return n;
}

// Proves that a range contains exactly the values that it was made for.
static void prove_making(void)
{
    for (uint64_t lo = 0; lo < VALUES; lo++)
        for (uint64_t hi = lo; hi < VALUES; hi++) {
            ValueRange u = range_unsigned(lo, hi, WIDTH), any = range_full(WIDTH);
            int64_t smin = (int64_t)lo - VALUES / 2, smax = (int64_t)hi - VALUES / 2;
            ValueRange s = range_signed(smin, smax, WIDTH), bits = range_of_bits(lo, hi & ~lo, WIDTH);
            for (uint64_t x = 0; x < VALUES; x++) {
                if (range_contains(&u, x) != (x >= lo && x <= hi))
                    fail("unsigned", &u, &u, &any, x, 0);
                if (range_contains(&s, x) != (number(x) >= smin && number(x) <= smax))
                    fail("signed", &s, &s, &any, x, 0);
                if (range_contains(&bits, x) != (!(x & lo) && !(~x & hi & ~lo)))
                    fail("bits", &bits, &bits, &any, x, 0);
            }
        }
}

static bool compared(RangeCompare cmp, bool is_signed, uint64_t x, uint64_t y)
{
    bool less = is_signed ? number(x) < number(y) : x < y;
    switch (cmp) {
    case RC_EQ: return x == y;
    case RC_NE: return x != y;
    case RC_LT: return less;
    case RC_LE: return less || x == y;
    case RC_GT: return !less && x != y;
    default: return !less;
    }
}

static void prove_comparisons(const ValueRange *all, uint32_t n)
{
    for (uint32_t b = 0; b < n; b++)
        for (uint32_t k = 0; k < 12; k++) {
            ValueRange f = range_of_comparison((RangeCompare)(k / 2), k % 2, &all[b]);
            for (uint64_t x = 0; x < VALUES; x++)
                for (uint64_t y = 0; y < VALUES; y++)
                    if (range_contains(&all[b], y) && compared((RangeCompare)(k / 2), k % 2, x, y) &&
                        !range_contains(&f, x))
                        fail("compared", &all[b], &all[b], &f, x, y);
        }
}

static void prove_resizing(const ValueRange *all, uint32_t n)
{
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t bits = 1; bits <= 2 * WIDTH; bits++)
            for (int is_signed = 0; is_signed < 2; is_signed++) {
                ValueRange f = range_resize(&all[a], bits, is_signed);
                for (uint64_t x = 0; x < VALUES; x++) {
                    uint64_t to = (is_signed ? (uint64_t)number(x) : x) & low_ones(bits);
                    if (range_contains(&all[a], x) && !range_contains(&f, to))
                        fail("resized", &all[a], &all[a], &f, x, to);
                }
            }
}

static void prove_join(const ValueRange *a, const ValueRange *b)
{
    ValueRange join = range_join(a, b), meet = range_meet(a, b);
    for (uint64_t x = 0; x < VALUES; x++) {
        bool in_a = range_contains(a, x), in_b = range_contains(b, x);
        if ((in_a || in_b) && !range_contains(&join, x))
            fail("join", a, b, &join, x, x);
        if (in_a && in_b && !range_contains(&meet, x))
            fail("meet", a, b, &meet, x, x);
    }
}

static void prove_domain(const ValueRange *all, uint32_t n, uint32_t step)
{
    prove_making();
    prove_comparisons(all, n);
    prove_resizing(all, n);
    for (uint32_t a = 0; a < n; a += step)
        for (uint32_t b = 0; b < n; b++)
            prove_join(&all[a], &all[b]);
}

/* -- Transfer functions --------------------------------------------------------------------------------- */

enum { INPUTS = 4, DRAWN = 400000 };

// An instruction at WIDTH bits.
typedef struct Narrow {
    const char *name, *operands;
    bool vague;
    Eval e;
    uint32_t n;
    uint32_t bits;  // width of the result
} Narrow;

static uint64_t result_of(const Narrow *i, const uint64_t *x, bool *open)
{
    Value in[EVAL_IN_MAX] = {0}, out[EVAL_OUT_MAX];
    for (uint32_t k = 0; k < i->n; k++)
        in[k].lo = x[k];
    eval_run(&i->e, in, out);
    *open = !eval_foldable(&i->e, in, out);
    return out[0].lo & low_ones(i->bits);
}

// Checks the results of all values in the ranges of the inputs from k on.
static void prove_values(const Narrow *i, const ValueRange *in, const ValueRange *f, uint64_t *x, uint32_t k)
{
    if (k < i->n) {
        for (x[k] = in[k].umin;; x[k]++) {
            if (range_contains(&in[k], x[k]))
                prove_values(i, in, f, x, k + 1);
            if (x[k] == in[k].umax)
                return;
        }
    }
    bool open;
    uint64_t result = result_of(i, x, &open), single = 0;
    if (!range_contains(f, result))
        fail(i->name, &in[0], &in[i->n > 1], f, x[0], i->n > 1 ? x[1] : 0);
    for (uint32_t n = 0; n < i->n; n++)
        single += in[n].umin == in[n].umax;
    if (single == i->n && !i->vague && !open && f->umin != f->umax)
        fail("too little of one value", &in[0], &in[i->n > 1], f, x[0], x[1]);
}

static void prove_inputs(const Narrow *i, const ValueRange *in)
{
    uint64_t x[INPUTS] = {0};
    ValueRange f = range_transfer(&i->e, in);
    if (f.bits != i->bits)
        fail("width", &in[0], &in[0], &f, f.bits, i->bits);
    else
        prove_values(i, in, &f, x, 0);
    for (uint32_t k = 0; k < i->n; k++)
        if (range_absorbing(&i->e) >> k & 1 && range_is_full(&in[k]) && !range_is_full(&f))
            fail("a full range is not absorbing", &in[0], &in[i->n > 1], &f, k, 0);
}

// Returns one of the ranges, as an operand of this kind.
static ValueRange drawn_range(const ValueRange *all, uint32_t n, char kind)
{
    const ValueRange *r = &all[draw() % n], *high = &all[draw() % n];
    switch (kind) {
    case 'T': return range_constant(draw() % 256, 32);
    case 'k': return range_constant(draw() % (2 * WIDTH + 1), 32);
    case 'c': return range_resize(r, 32, false);
    case 'f': {
        ValueRange at = range_resize(r, 32, false), by = range_constant(draw() % 2 ? 255 - VALUES / 2 : 0, 32);
        return range_add(&at, &by);
    }
    case 'p': return draw() % 3 ? range_full(1) : range_constant(draw() % 2, 1);
    case 'W': {
        ValueRange upper = range_resize(high, 2 * WIDTH, false), lower = range_resize(r, 2 * WIDTH, draw() % 2);
        ValueRange by = range_constant(draw() % WIDTH, 32);
        upper = range_shl(&upper, &by);
        return range_add(&upper, &lower);
    }
    default: return *r;
    }
}

static bool make_narrow(Tables *tables, uint32_t op, Narrow *i)
{
    DescId desc = desc_parse(tables, operations[op].mnemonic, operations[op].shape);
    *i = (Narrow){.name = operations[op].mnemonic, .operands = operations[op].operands, .vague = operations[op].vague};
    if (!desc || !eval_decode(tables, tab_desc(tables, desc), &i->e) || !eval_narrow(&i->e, 8))
        return false;
    i->n = i->e.nin;
    i->e.bits = i->e.from_bits = WIDTH;
    i->e.mask = VALUES - 1;
    bool counts = i->e.op == OP_POPC || i->e.op == OP_CLZ || i->e.op == OP_BFIND;
    bool wide = i->e.op == OP_MUL_WIDE || i->e.op == OP_MAD_WIDE;
    i->bits = counts ? 32 : wide ? 2 * WIDTH : WIDTH;
    return i->n == strlen(i->operands) && i->n <= INPUTS && range_has_transfer(&i->e);
}

static void prove_transfer(const Narrow *i, const ValueRange *all, uint32_t n, bool quick)
{
    ValueRange in[INPUTS];
    if (i->n <= 2) {
        for (uint32_t a = 0; a < n; a += quick ? 7 : 1)
            for (uint32_t b = 0; b < (i->n == 2 ? n : 1); b++) {
                in[0] = all[a];
                in[1] = i->operands[1] == 'c' ? range_resize(&all[b], 32, false) : all[b];
                prove_inputs(i, in);
            }
        return;
    }
    for (uint32_t t = 0; t < (quick ? DRAWN / 40 : DRAWN / 4); t++) {
        for (uint32_t k = 0; k < i->n; k++)
            in[k] = drawn_range(all, n, i->operands[k]);
        prove_inputs(i, in);
    }
}

static unsigned long prove_arithmetic(Heap *heap, bool quick)
{
    static ValueRange all[ALL];
    uint32_t n = make_all(all);
    Module *m = module_new(heap);
    prove_domain(all, n, quick ? 7 : 1);
    for (uint32_t op = 0; op < ARRAY_LEN(operations); op++) {
        Narrow i;
        if (make_narrow(&m->tables, op, &i))
            prove_transfer(&i, all, n, quick);
        else
            fail(operations[op].mnemonic, all, all, all, 0, 0);
    }
    module_free(m);
    return 5 + ARRAY_LEN(operations);
}

/* -- Instructions --------------------------------------------------------------------------------------- */

// `#` is the width, `<` and `>` are half and twice the width. Operands: `w` a register of the width, `h` and
// `d` of half and twice the width, `n` of 32 bits, `c` a count, `p` a predicate, `C` a constant, `K` a constant count,
// `T` a constant of eight bits, `S` of sixteen. Widths: `A` 16, 32 and 64 bits, `W` 32 and 64, `S` 16 and 32, `N` 32.
static const struct {
    const char *mnemonic, *operands;
    char widths, result;
} instructions[] = {
    {"add.s#", "ww", 'A', 'w'},
    {"add.u#", "ww", 'A', 'w'},
    {"sub.s#", "ww", 'A', 'w'},
    {"mul.lo.s#", "ww", 'A', 'w'},
    {"mul.lo.u#", "ww", 'A', 'w'},
    {"div.u#", "ww", 'A', 'w'},
    {"div.s#", "ww", 'A', 'w'},
    {"rem.u#", "ww", 'A', 'w'},
    {"rem.s#", "ww", 'A', 'w'},
    {"min.s#", "ww", 'A', 'w'},
    {"min.u#", "ww", 'A', 'w'},
    {"max.s#", "ww", 'A', 'w'},
    {"max.u#", "ww", 'A', 'w'},
    {"and.b#", "ww", 'A', 'w'},
    {"or.b#", "ww", 'A', 'w'},
    {"xor.b#", "ww", 'A', 'w'},
    {"mul.hi.s#", "ww", 'A', 'w'},
    {"mul.hi.u#", "ww", 'A', 'w'},
    {"mul.lo.s#", "wC", 'A', 'w'},
    {"add.s#", "wC", 'A', 'w'},
    {"rem.s#", "wC", 'A', 'w'},
    {"div.s#", "wC", 'A', 'w'},
    {"and.b#", "wC", 'A', 'w'},
    {"or.b#", "wC", 'A', 'w'},
    {"min.s#", "wC", 'A', 'w'},
    {"max.s#", "wC", 'A', 'w'},
    {"rem.u#", "wC", 'A', 'w'},
    {"mul.hi.u#", "wC", 'A', 'w'},
    {"mad.lo.s#", "www", 'A', 'w'},
    {"mad.lo.u#", "www", 'A', 'w'},
    {"mad.hi.s#", "www", 'A', 'w'},
    {"mad.hi.u#", "www", 'A', 'w'},
    {"sad.s#", "www", 'A', 'w'},
    {"sad.u#", "www", 'A', 'w'},
    {"not.b#", "w", 'A', 'w'},
    {"neg.s#", "w", 'A', 'w'},
    {"abs.s#", "w", 'A', 'w'},
    {"mov.b#", "w", 'A', 'w'},
    {"cnot.b#", "w", 'A', 'w'},
    {"shl.b#", "wc", 'A', 'w'},
    {"shr.u#", "wc", 'A', 'w'},
    {"shr.s#", "wc", 'A', 'w'},
    {"shr.b#", "wc", 'A', 'w'},
    {"shr.u#", "wK", 'A', 'w'},
    {"shr.s#", "wK", 'A', 'w'},
    {"shl.b#", "wK", 'A', 'w'},
    {"selp.b#", "wwp", 'A', 'w'},
    {"slct.u#.s32", "wwn", 'A', 'w'},
    {"slct.b#.s32", "wwn", 'A', 'w'},
    {"bfe.u#", "wcc", 'W', 'w'},
    {"bfe.u#", "wKK", 'W', 'w'},
    {"bfe.u#", "wcK", 'W', 'w'},
    {"bfe.s#", "wcc", 'W', 'w'},
    {"bfe.s#", "wKK", 'W', 'w'},
    {"bfe.s#", "wcK", 'W', 'w'},
    {"bfi.b#", "wwKK", 'W', 'w'},
    {"bfi.b#", "wwcc", 'W', 'w'},
    {"brev.b#", "w", 'W', 'w'},
    {"popc.b#", "w", 'W', 'n'},
    {"clz.b#", "w", 'W', 'n'},
    {"bfind.u#", "w", 'W', 'n'},
    {"bfind.s#", "w", 'W', 'n'},
    {"bfind.shiftamt.s#", "w", 'W', 'n'},
    {"bfind.shiftamt.u#", "w", 'W', 'n'},
    {"szext.clamp.s#", "wK", 'N', 'w'},
    {"szext.clamp.u#", "wK", 'N', 'w'},
    {"szext.wrap.u#", "wK", 'N', 'w'},
    {"szext.wrap.s#", "wK", 'N', 'w'},
    {"lop3.b#", "wwwT", 'N', 'w'},
    {"lop3.b#", "CwwT", 'N', 'w'},
    {"prmt.b#", "wwS", 'N', 'w'},
    {"prmt.b#.f4e", "wwK", 'N', 'w'},
    {"prmt.b#.b4e", "wwK", 'N', 'w'},
    {"prmt.b#.rc8", "wwK", 'N', 'w'},
    {"prmt.b#.ecl", "wwK", 'N', 'w'},
    {"prmt.b#.ecr", "wwK", 'N', 'w'},
    {"prmt.b#.rc16", "wwK", 'N', 'w'},
    {"mul24.lo.s#", "ww", 'N', 'w'},
    {"mul24.lo.u#", "ww", 'N', 'w'},
    {"mul24.hi.s#", "ww", 'N', 'w'},
    {"mul24.hi.u#", "ww", 'N', 'w'},
    {"mad24.lo.u#", "www", 'N', 'w'},
    {"mad24.hi.s#", "www", 'N', 'w'},
    {"mad24.hi.sat.s#", "www", 'N', 'w'},
    {"mad.hi.sat.s#", "www", 'N', 'w'},
    {"add.sat.s#", "ww", 'N', 'w'},
    {"sub.sat.s#", "ww", 'N', 'w'},
    {"min.relu.s#", "ww", 'N', 'w'},
    {"max.relu.s#", "ww", 'N', 'w'},
    {"shf.l.wrap.b#", "wwK", 'N', 'w'},
    {"shf.l.wrap.b#", "wwc", 'N', 'w'},
    {"shf.l.clamp.b#", "wwK", 'N', 'w'},
    {"shf.l.clamp.b#", "wwc", 'N', 'w'},
    {"shf.r.wrap.b#", "wwK", 'N', 'w'},
    {"shf.r.wrap.b#", "wwc", 'N', 'w'},
    {"shf.r.clamp.b#", "wwK", 'N', 'w'},
    {"shf.r.clamp.b#", "wwc", 'N', 'w'},
    {"set.lt.u#.s32", "ww", 'N', 'w'},
    {"set.ne.s#.f32", "ww", 'N', 'w'},
    {"mul.wide.s<", "hh", 'W', 'w'},
    {"mul.wide.u<", "hh", 'W', 'w'},
    {"mad.wide.s<", "hhw", 'W', 'w'},
    {"mad.wide.u<", "hhw", 'W', 'w'},
    {"cvt.s#.s<", "h", 'W', 'w'},
    {"cvt.s#.u<", "h", 'W', 'w'},
    {"cvt.u#.u<", "h", 'W', 'w'},
    {"cvt.u#.s<", "h", 'W', 'w'},
    {"cvt.sat.u#.s<", "h", 'W', 'w'},
    {"cvt.sat.u#.u<", "h", 'W', 'w'},
    {"cvt.sat.s#.s<", "h", 'W', 'w'},
    {"cvt.u#.u>", "d", 'S', 'w'},
    {"cvt.s#.s>", "d", 'S', 'w'},
    {"cvt.sat.u#.s>", "d", 'S', 'w'},
    {"cvt.sat.s#.u>", "d", 'S', 'w'},
    {"cvt.sat.s#.s>", "d", 'S', 'w'},
    {"cvt.u#.u8", "w", 'A', 'w'},
    {"cvt.s#.s8", "w", 'A', 'w'},
    {"cvt.sat.u8.s#", "w", 'A', 'w'},
    {"cvt.u8.u#", "w", 'A', 'w'},
    {"cvt.s8.s#", "w", 'A', 'w'},
    {"cvt.sat.s8.s#", "w", 'A', 'w'},
    {"cvt.sat.u#.s#", "w", 'A', 'w'},
    {"cvt.sat.s#.u#", "w", 'A', 'w'},
    {"mov.f#", "w", 'W', 'w'},
};

enum { LOADS = 4, CHAIN = 10, TRIES = 24, REGS = 64 };

typedef struct Chain {
    Fn *fn;
    BlockId block;
    uint32_t n;
    RegId reg[REGS];
    InstrId def[REGS];  // 0 = an input
    uint64_t value[REGS];
} Chain;

// Returns a register of that width, mostly a late one; none if there is none.
static Operand some_register(const Chain *c, Width width)
{
    uint32_t from = (uint32_t)(draw() % c->n);
    for (uint32_t k = 0; k < c->n; k++) {
        RegId r = c->reg[(from + c->n - k) % c->n];
        if (ir_reg(c->fn, r)->width == width)
            return op_reg(c->fn, r);
    }
    return op_none();
}

static uint64_t some_number(uint32_t bits)
{
    uint64_t kinds[] = {draw() % 20, 0 - draw() % 20, (uint64_t)1 << draw() % bits,
                        low_ones((uint32_t)(draw() % bits) + 1), draw()};
    return kinds[draw() % ARRAY_LEN(kinds)];
}

// Writes the mnemonic for a width.
static void spell(char *text, size_t size, const char *mnemonic, uint32_t bits)
{
    size_t n = 0;
    for (const char *c = mnemonic; *c && n + 4 < size; c++) {
        uint32_t number = *c == '#' ? bits : *c == '<' ? bits / 2 : *c == '>' ? 2 * bits : 0;
        n += (size_t)snprintf(text + n, size - n, number ? "%u" : "%c", number ? number : (uint32_t)*c);
    }
}

static Operand some_operand(const Chain *c, char kind, Width width)
{
    uint32_t bits = width_bits(width);
    switch (kind) {
    case 'h': return some_register(c, (Width)(width - 1));
    case 'd': return some_register(c, (Width)(width + 1));
    case 'c':
    case 'n': return some_register(c, W32);
    case 'p': return some_register(c, W1);
    case 'C': return op_const(c->fn, some_number(bits), width);
    case 'K': return op_const(c->fn, draw() % (bits + 2), W32);
    case 'T': return op_const(c->fn, draw() % 256, W32);
    case 'S': return op_const(c->fn, draw() % 65536, W32);
    default: return some_register(c, width);
    }
}

static void add_instruction(Chain *c)
{
    uint32_t which = (uint32_t)(draw() % ARRAY_LEN(instructions)), bits = 16u << draw() % 3, n = 1;
    char text[40] = "", shape[16] = "%", widths = instructions[which].widths;
    if (widths == 'N' ? bits != 32 : widths == 'W' ? bits == 16 : widths == 'S' && bits == 64)
        return;
    Width width = (Width)(bits == 16 ? W16 : bits == 32 ? W32 : W64);
    Operand ops[5];
    spell(text, sizeof text, instructions[which].mnemonic, bits);
    for (const char *w = instructions[which].operands; *w; w++, n++) {
        ops[n] = some_operand(c, *w, width);
        strcat(shape, ",%");
        if (op_kind(ops[n]) == K_NONE)
            return;
    }
    RegId r = reg_new(c->fn, RF_R, instructions[which].result == 'n' ? W32 : width);
    ops[0] = op_def(op_reg(c->fn, r));
    c->reg[c->n] = r;
    c->def[c->n++] = ir_append(c->fn, c->block, desc_parse(c->fn->tables, text, shape), 0, ops, n);
}

static uint64_t value_of_operand(const Chain *c, Operand o)
{
    if (op_kind(o) == K_IMM)
        return tab_const(c->fn->tables, op_index(o)).bits;
    for (uint32_t k = 0; k < c->n; k++)
        if (c->reg[k] == op_index(o))
            return c->value[k];
    return 0;
}

// Computes the values of all registers. Returns false if an instruction has no defined result.
static bool compute(Chain *c, EvalCache *evals)
{
    for (uint32_t k = 0; k < c->n; k++) {
        Value in[EVAL_IN_MAX] = {0}, out[EVAL_OUT_MAX] = {0};
        uint32_t bits = width_bits((Width)ir_reg(c->fn, c->reg[k])->width);
        c->value[k] = c->def[k] ? 0 : some_number(bits) & low_ones(bits);
        if (!c->def[k])
            continue;
        const Instr *i = ir_instr(c->fn, c->def[k]);
        const Eval *e = eval_cached(evals, i->desc);
        if (!e)
            return false;
        for (uint32_t u = 0; u < ir_nuse(i); u++)
            in[u].lo = value_of_operand(c, *ir_use(c->fn, i, u));
        eval_run(e, in, out);
        if (!eval_foldable(e, in, out))
            return false;
        c->value[k] = out[0].lo & low_ones(bits);
    }
    return true;
}

static uint32_t prove_chain(Heap *heap)
{
    Module *m = module_new(heap);
    Name name = {str_intern_z(&m->tables.strs, "f"), NO_NUMBER};
    Chain c = {.fn = fn_new(m, module_sym(m, name, SYM_FUNC))};
    Arena arena;
    EvalCache evals;
    uint32_t proven = 0;
    arena_init(&arena, heap);
    module_add_fn(m, c.fn);
    c.fn->flags = FN_KERNEL | FN_DEFINED;
    c.block = block_new(c.fn);
    block_append(c.fn, c.block);
    static const Width widths[] = {W16, W32, W64, W1, W32};
    for (uint32_t k = 0; k < ARRAY_LEN(widths); k++)
        c.reg[c.n++] = reg_new(c.fn, widths[k] == W1 ? RF_P : RF_R, widths[k]);
    for (uint32_t k = 0; k < CHAIN; k++)
        add_instruction(&c);
    ir_append(c.fn, c.block, desc_parse(c.fn->tables, "ret", ""), 0, NULL, 0);
    ValueRanges known;
    eval_cache_init(&evals, c.fn->tables, &arena);
    value_ranges_init(&known, c.fn, analysis_need(c.fn, AN_RPO | AN_DOM | AN_DEF), false, &evals, &arena);
    ValueRange ranges[REGS];
    for (uint32_t k = 0; k < c.n; k++)
        ranges[k] = value_range(&known, op_reg(c.fn, c.reg[k]), c.block);
    for (uint32_t t = 0; t < TRIES; t++) {
        if (!compute(&c, &evals))
            continue;
        for (uint32_t k = 0; k < c.n; k++) {
            if (ir_reg(c.fn, c.reg[k])->width == W1)
                continue;
            proven++;
            if (!range_contains(&ranges[k], c.value[k])) {
                const Mnem *mnem =
                    c.def[k] ? tab_mnem(c.fn->tables, ir_desc(c.fn, ir_instr(c.fn, c.def[k]))->mnem) : NULL;
                Str text = mnem ? tab_str(c.fn->tables, mnem->text) : (Str){0};
                char what[60];
                snprintf(what, sizeof what, "%.*s", (int)MIN(text.len, 50), text.text ? text.text : "");
                fail(what, &ranges[k], &ranges[k], &ranges[k], c.value[k], 0);
            }
        }
    }
    analysis_drop(c.fn, 0);
    arena_free(&arena);
    module_free(m);
    return proven;
}

void prove_ranges(Heap *heap, bool quick, unsigned long *passed, unsigned long *failed)
{
    *passed += prove_arithmetic(heap, quick);
    unsigned long proven = 0;
    for (int k = 0; k < (quick ? 2000 : 100000); k++)
        proven += prove_chain(heap);
    *passed += 1;
    if (proven < 1000)
        fail("nothing was proven", NULL, NULL, NULL, 0, 0);
    *failed += failed_so_far;
}
