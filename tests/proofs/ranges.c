// SPDX-License-Identifier: MIT
// ranges: proves value ranges (ir/eval/range.h) and those of instructions (ir/analysis/value_ranges.h).
//
// The arithmetic, at WIDTH bits: for all unsigned and signed intervals and all sets of known bits, and for pairs of
// them for operations with two operands, the range of the result contains each result of values in the ranges of the
// operands. Ranges of single values give the result exactly, unless the operation is marked as vague.
//
// Instructions: functions of random ones on loaded values, at 16, 32 and 64 bits, are computed by the evaluator for
// random values; the range of each register must contain its value.
#include "tests/proofs/rules.h"

#include <stdio.h>
#include <stdlib.h>

#include "ir/analysis/value_ranges.h"
#include "ir/eval/eval.h"

enum { WIDTH = 4, VALUES = 1 << WIDTH, RANGES = VALUES * (VALUES + 1) / 2, SETS = 81, ALL = 2 * RANGES + SETS };

static unsigned long failed_so_far;

/* -- Arithmetic ----------------------------------------------------------------------------------------- */

static int64_t number(uint64_t x) { return sign_extended(x, WIDTH); }

// What is computed; UINT64_MAX: anything.
static uint64_t at_not(uint64_t x, uint64_t y) { return ~x + 0 * y; }
static uint64_t at_and(uint64_t x, uint64_t y) { return x & y; }
static uint64_t at_or(uint64_t x, uint64_t y) { return x | y; }
static uint64_t at_xor(uint64_t x, uint64_t y) { return x ^ y; }
static uint64_t at_add(uint64_t x, uint64_t y) { return x + y; }
static uint64_t at_sub(uint64_t x, uint64_t y) { return x - y; }
static uint64_t at_mul(uint64_t x, uint64_t y) { return x * y; }
static uint64_t at_shl(uint64_t x, uint64_t y) { return y < WIDTH ? x << y : 0; }
static uint64_t at_shr(uint64_t x, uint64_t y) { return y < WIDTH ? x >> y : 0; }
static uint64_t at_shr_signed(uint64_t x, uint64_t y) { return (uint64_t)(number(x) >> (y < WIDTH ? y : WIDTH - 1)); }
static uint64_t at_min(uint64_t x, uint64_t y) { return x < y ? x : y; }
static uint64_t at_max(uint64_t x, uint64_t y) { return x > y ? x : y; }
static uint64_t at_min_signed(uint64_t x, uint64_t y) { return number(x) < number(y) ? x : y; }
static uint64_t at_max_signed(uint64_t x, uint64_t y) { return number(x) > number(y) ? x : y; }
static uint64_t at_div(uint64_t x, uint64_t y) { return y ? x / y : UINT64_MAX; }
static uint64_t at_rem(uint64_t x, uint64_t y) { return y ? x % y : UINT64_MAX; }
static uint64_t at_div_signed(uint64_t x, uint64_t y)
{
    return y ? (uint64_t)(number(x) / number(y)) & (VALUES - 1) : UINT64_MAX;
}
static uint64_t at_rem_signed(uint64_t x, uint64_t y)
{
    return y ? (uint64_t)(number(x) % number(y)) & (VALUES - 1) : UINT64_MAX;
}
static uint64_t at_abs(uint64_t x, uint64_t y) { return (uint64_t)(number(x) < 0 ? -number(x) : number(x)) + 0 * y; }
static uint64_t at_first(uint64_t x, uint64_t y) { return x + 0 * y; }

static ValueRange not_of(const ValueRange *a, const ValueRange *b) { return b ? range_not(a) : *a; }
static ValueRange abs_of(const ValueRange *a, const ValueRange *b) { return b ? range_abs(a) : *a; }
static ValueRange shr_u(const ValueRange *a, const ValueRange *b) { return range_shr(a, b, false); }
static ValueRange shr_s(const ValueRange *a, const ValueRange *b) { return range_shr(a, b, true); }
static ValueRange min_u(const ValueRange *a, const ValueRange *b) { return range_min(a, b, false); }
static ValueRange min_s(const ValueRange *a, const ValueRange *b) { return range_min(a, b, true); }
static ValueRange max_u(const ValueRange *a, const ValueRange *b) { return range_max(a, b, false); }
static ValueRange max_s(const ValueRange *a, const ValueRange *b) { return range_max(a, b, true); }
static ValueRange div_u(const ValueRange *a, const ValueRange *b) { return range_div(a, b, false); }
static ValueRange div_s(const ValueRange *a, const ValueRange *b) { return range_div(a, b, true); }
static ValueRange rem_u(const ValueRange *a, const ValueRange *b) { return range_rem(a, b, false); }
static ValueRange rem_s(const ValueRange *a, const ValueRange *b) { return range_rem(a, b, true); }

static const struct {
    const char *name;
    uint64_t (*at)(uint64_t x, uint64_t y);
    ValueRange (*of)(const ValueRange *a, const ValueRange *b);
    bool vague;  // of single values it does not say which
} operations[] = {
    {"not", at_not, not_of, 0},         {"and", at_and, range_and, 0},       {"or", at_or, range_or, 0},
    {"xor", at_xor, range_xor, 0},      {"add", at_add, range_add, 0},       {"sub", at_sub, range_sub, 0},
    {"mul", at_mul, range_mul, 1},      {"shl", at_shl, range_shl, 0},       {"shr.u", at_shr, shr_u, 0},
    {"shr.s", at_shr_signed, shr_s, 0}, {"min.u", at_min, min_u, 0},         {"min.s", at_min_signed, min_s, 0},
    {"max.u", at_max, max_u, 0},        {"max.s", at_max_signed, max_s, 0},  {"div.u", at_div, div_u, 0},
    {"div.s", at_div_signed, div_s, 1}, {"rem.u", at_rem, rem_u, 1},         {"rem.s", at_rem_signed, rem_s, 1},
    {"abs", at_abs, abs_of, 1},         {"either", at_first, range_join, 1},
};

static void fail(const char *what, const ValueRange *a, const ValueRange *b, const ValueRange *f, uint64_t x,
                 uint64_t y)
{
    if (failed_so_far++ > 10)
        return;
    const ValueRange *all[] = {a, b, f};
    printf("ranges: %s of %llu and %llu", what, (unsigned long long)x, (unsigned long long)y);
    for (int k = 0; k < 3; k++)
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

// A range contains the values that it was made for, and no others.
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

static void prove_operation(uint32_t op, const ValueRange *a, const ValueRange *b)
{
    ValueRange f = operations[op].of(a, b);
    bool single = a->umin == a->umax && b->umin == b->umax;
    for (uint64_t x = a->umin; x <= a->umax; x++)
        for (uint64_t y = b->umin; y <= b->umax; y++) {
            if (!range_contains(a, x) || !range_contains(b, y))
                continue;
            uint64_t to = operations[op].at(x, y);
            if (to != UINT64_MAX && !range_contains(&f, to & (VALUES - 1)))
                fail(operations[op].name, a, b, &f, x, y);
            if (single && !operations[op].vague && to != UINT64_MAX && f.umin != f.umax)
                fail("too little of one value", a, b, &f, x, y);
        }
}

static unsigned long prove_arithmetic(bool quick)
{
    static ValueRange all[ALL];
    uint32_t n = make_all(all), step = quick ? 7 : 1;
    prove_making();
    prove_comparisons(all, n);
    prove_resizing(all, n);
    for (uint32_t op = 0; op < ARRAY_LEN(operations); op++)
        for (uint32_t a = 0; a < n; a += step)
            for (uint32_t b = 0; b < n; b++) {
                prove_operation(op, &all[a], &all[b]);
                // Both of a value.
                ValueRange both = range_meet(&all[a], &all[b]);
                for (uint64_t x = 0; x < VALUES && op == 0; x++)
                    if (range_contains(&all[a], x) && range_contains(&all[b], x) && !range_contains(&both, x))
                        fail("both", &all[a], &all[b], &both, x, x);
            }
    return 3 + ARRAY_LEN(operations);
}

/* -- Instructions --------------------------------------------------------------------------------------- */

// `w` stands for the width; the letters say of what: `w` a register of it, `c` a count, `p` a predicate, `h` one of
// half the width, `C` a constant, `K` one that is a count, `T` one of eight bits.
static const struct {
    const char *mnemonic, *operands;
} instructions[] = {
    {"add.s", "ww"},     {"add.u", "ww"},     {"sub.s", "ww"},      {"mul.lo.s", "ww"},   {"mul.lo.u", "ww"},
    {"mad.lo.s", "www"}, {"mad.lo.u", "www"}, {"div.u", "ww"},      {"div.s", "ww"},      {"rem.u", "ww"},
    {"rem.s", "ww"},     {"min.s", "ww"},     {"min.u", "ww"},      {"max.s", "ww"},      {"max.u", "ww"},
    {"and.b", "ww"},     {"or.b", "ww"},      {"xor.b", "ww"},      {"not.b", "w"},       {"neg.s", "w"},
    {"abs.s", "w"},      {"shl.b", "wc"},     {"shr.u", "wc"},      {"shr.s", "wc"},      {"shr.b", "wc"},
    {"bfe.u", "wcc"},    {"bfe.s", "wcc"},    {"selp.b", "wwp"},    {"and.b", "wC"},      {"or.b", "wC"},
    {"mul.lo.s", "wC"},  {"add.s", "wC"},     {"rem.s", "wC"},      {"div.s", "wC"},      {"shr.u", "wK"},
    {"shr.s", "wK"},     {"shl.b", "wK"},     {"min.s", "wC"},      {"max.s", "wC"},      {"rem.u", "wC"},
    {"bfe.u", "wKK"},    {"mov.b", "w"},      {"mul.wide.s", "hh"}, {"mul.wide.u", "hh"}, {"cvt.s.s", "h"},
    {"cvt.s.u", "h"},    {"cvt.u.u", "h"},    {"cvt.u.s", "h"},     {"cvt.u.U", "d"},     {"cvt.s.S", "d"},
    {"cvt.u.8", "w"},    {"cvt.s.7", "w"},    {"bfi.b", "wwKK"},    {"bfi.b", "wwcc"},    {"lop3.b", "wwwT"},
    {"lop3.b", "CwwT"},
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

static InstrId chain_definition(const void *user, RegId r)
{
    const Chain *c = user;
    for (uint32_t k = 0; k < c->n; k++)
        if (c->reg[k] == r)
            return c->def[k];
    return 0;
}

// One of the registers of that width, mostly a late one; 0 = there is none.
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

static void add_instruction(Chain *c)
{
    uint32_t which = (uint32_t)(draw() % ARRAY_LEN(instructions)), bits = 16u << draw() % 3;
    const char *mnemonic = instructions[which].mnemonic, *wanted = instructions[which].operands;
    Width width = (Width)(bits == 16 ? W16 : bits == 32 ? W32 : W64);
    bool half = wanted[0] == 'h', wide = wanted[0] == 'd';
    char text[40], shape[16] = "%";
    bool fits = strncmp(mnemonic, "lop3", 4) == 0 ? bits == 32 : strncmp(mnemonic, "bf", 2) == 0 ? bits > 16 : true;
    if ((half && bits == 16) || (wide && bits == 64) || !fits)
        return;
    if (strncmp(mnemonic, "cvt", 3) == 0) {
        char from = mnemonic[6] == 'U'   ? 'u'
                    : mnemonic[6] == 'S' ? 's'
                    : mnemonic[6] == '8' ? 'u'
                    : mnemonic[6] == '7' ? 's'
                                         : mnemonic[6];
        uint32_t of = half ? bits / 2 : wide ? 2 * bits : 8;
        snprintf(text, sizeof text, "%.5s%u.%c%u", mnemonic, bits, from, of);
    } else {
        snprintf(text, sizeof text, "%s%u", mnemonic, half ? bits / 2 : bits);
    }
    Operand ops[5];
    uint32_t n = 1;
    for (const char *w = wanted; *w; w++, n++) {
        Width of = *w == 'h'   ? (Width)(width - 1)
                   : *w == 'd' ? (Width)(width + 1)
                   : *w == 'c' ? W32
                   : *w == 'p' ? W1
                               : width;
        ops[n] = *w == 'C'   ? op_const(c->fn, some_number(bits), width)
                 : *w == 'K' ? op_const(c->fn, draw() % (bits + 2), W32)
                 : *w == 'T' ? op_const(c->fn, draw() % 256, W32)
                             : some_register(c, of);
        strcat(shape, ",%");
        if (op_kind(ops[n]) == K_NONE)
            return;
    }
    RegId r = reg_new(c->fn, RF_R, width);
    ops[0] = op_def(op_reg(c->fn, r));
    c->reg[c->n] = r;
    c->def[c->n++] = ir_append(c->fn, c->block, desc_make(c->fn->tables, text, shape), 0, ops, n);
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

// False: something has no value.
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
    ir_append(c.fn, c.block, desc_make(c.fn->tables, "ret", ""), 0, NULL, 0);
    ValueRanges known;
    value_ranges_init(&known, c.fn, analysis_need(c.fn, AN_RPO | AN_DOM), chain_definition, &c, &arena);
    ValueRange ranges[REGS];
    for (uint32_t k = 0; k < c.n; k++)
        ranges[k] = value_range(&known, op_reg(c.fn, c.reg[k]), c.block);
    eval_cache_init(&evals, c.fn->tables, &arena);
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
    *passed += prove_arithmetic(quick);
    unsigned long proven = 0;
    for (int k = 0; k < (quick ? 2000 : 100000); k++)
        proven += prove_chain(heap);
    *passed += 1;
    if (proven < 1000)
        fail("nothing was proven", NULL, NULL, NULL, 0, 0);
    *failed += failed_so_far;
}
