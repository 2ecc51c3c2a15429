// SPDX-License-Identifier: MIT
// facts: proves that facts (phases/scalar/fold/facts.h) hold, and that those of instructions do.
//
// The arithmetic, at WIDTH bits: for all ranges of unsigned and of signed numbers and all sets of known bits, and for
// pairs of them for operations with two operands, each result of values that the operands' facts allow is one that the
// result's facts allow. What facts say is also worth something: of single values they say which.
//
// Instructions: functions of random ones on loaded values, at 16, 32 and 64 bits, are computed by the evaluator for
// random values, and what is known of each register must allow what it is.
#include "tests/proofs/rules.h"

#include <stdio.h>
#include <stdlib.h>

#include "ir/eval/eval.h"
#include "phases/scalar/fold/known_facts.h"

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

static Facts not_of(const Facts *a, const Facts *b) { return b ? facts_not(a) : *a; }
static Facts abs_of(const Facts *a, const Facts *b) { return b ? facts_abs(a) : *a; }
static Facts shr_u(const Facts *a, const Facts *b) { return facts_shr(a, b, false); }
static Facts shr_s(const Facts *a, const Facts *b) { return facts_shr(a, b, true); }
static Facts min_u(const Facts *a, const Facts *b) { return facts_min(a, b, false); }
static Facts min_s(const Facts *a, const Facts *b) { return facts_min(a, b, true); }
static Facts max_u(const Facts *a, const Facts *b) { return facts_max(a, b, false); }
static Facts max_s(const Facts *a, const Facts *b) { return facts_max(a, b, true); }
static Facts div_u(const Facts *a, const Facts *b) { return facts_div(a, b, false); }
static Facts div_s(const Facts *a, const Facts *b) { return facts_div(a, b, true); }
static Facts rem_u(const Facts *a, const Facts *b) { return facts_rem(a, b, false); }
static Facts rem_s(const Facts *a, const Facts *b) { return facts_rem(a, b, true); }

static const struct {
    const char *name;
    uint64_t (*at)(uint64_t x, uint64_t y);
    Facts (*of)(const Facts *a, const Facts *b);
    bool vague;  // of single values it does not say which
} operations[] = {
    {"not", at_not, not_of, 0},         {"and", at_and, facts_and, 0},         {"or", at_or, facts_or, 0},
    {"xor", at_xor, facts_xor, 0},      {"add", at_add, facts_add, 0},         {"sub", at_sub, facts_sub, 0},
    {"mul", at_mul, facts_mul, 1},      {"shl", at_shl, facts_shl, 0},         {"shr.u", at_shr, shr_u, 0},
    {"shr.s", at_shr_signed, shr_s, 0}, {"min.u", at_min, min_u, 0},           {"min.s", at_min_signed, min_s, 0},
    {"max.u", at_max, max_u, 0},        {"max.s", at_max_signed, max_s, 0},    {"div.u", at_div, div_u, 0},
    {"div.s", at_div_signed, div_s, 1}, {"rem.u", at_rem, rem_u, 1},           {"rem.s", at_rem_signed, rem_s, 1},
    {"abs", at_abs, abs_of, 1},         {"either", at_first, facts_either, 1},
};

static void fail(const char *what, const Facts *a, const Facts *b, const Facts *f, uint64_t x, uint64_t y)
{
    if (failed_so_far++ > 10)
        return;
    const Facts *all[] = {a, b, f};
    printf("facts: %s of %llu and %llu", what, (unsigned long long)x, (unsigned long long)y);
    for (int k = 0; k < 3; k++)
        printf("; zeros %llx ones %llx, %llu..%llu, %lld..%lld", (unsigned long long)all[k]->zeros,
               (unsigned long long)all[k]->ones, (unsigned long long)all[k]->umin, (unsigned long long)all[k]->umax,
               (long long)all[k]->smin, (long long)all[k]->smax);
    printf("\n");
}

static uint32_t make_all(Facts all[static ALL])
{
    uint32_t n = 0;
    for (uint64_t lo = 0; lo < VALUES; lo++)
        for (uint64_t hi = lo; hi < VALUES; hi++) {
            all[n++] = facts_unsigned(lo, hi, WIDTH);
            all[n++] = facts_signed((int64_t)lo - VALUES / 2, (int64_t)hi - VALUES / 2, WIDTH);
        }
    for (uint64_t zeros = 0; zeros < VALUES; zeros++)
        for (uint64_t ones = 0; ones < VALUES; ones++)
            if (!(zeros & ones))
                all[n++] = facts_bits(zeros, ones, WIDTH);
    return n;
}

// What facts are made of holds of all values that they were made for, and of no others.
static void prove_making(void)
{
    for (uint64_t lo = 0; lo < VALUES; lo++)
        for (uint64_t hi = lo; hi < VALUES; hi++) {
            Facts u = facts_unsigned(lo, hi, WIDTH), any = facts_any(WIDTH);
            int64_t smin = (int64_t)lo - VALUES / 2, smax = (int64_t)hi - VALUES / 2;
            Facts s = facts_signed(smin, smax, WIDTH), bits = facts_bits(lo, hi & ~lo, WIDTH);
            for (uint64_t x = 0; x < VALUES; x++) {
                if (facts_allow(&u, x) != (x >= lo && x <= hi))
                    fail("unsigned", &u, &u, &any, x, 0);
                if (facts_allow(&s, x) != (number(x) >= smin && number(x) <= smax))
                    fail("signed", &s, &s, &any, x, 0);
                if (facts_allow(&bits, x) != (!(x & lo) && !(~x & hi & ~lo)))
                    fail("bits", &bits, &bits, &any, x, 0);
            }
        }
}

static bool compared(FactCompare cmp, bool is_signed, uint64_t x, uint64_t y)
{
    bool less = is_signed ? number(x) < number(y) : x < y;
    switch (cmp) {
    case FC_EQ: return x == y;
    case FC_NE: return x != y;
    case FC_LT: return less;
    case FC_LE: return less || x == y;
    case FC_GT: return !less && x != y;
    default: return !less;
    }
}

static void prove_comparisons(const Facts *all, uint32_t n)
{
    for (uint32_t b = 0; b < n; b++)
        for (uint32_t k = 0; k < 12; k++) {
            Facts f = facts_compared((FactCompare)(k / 2), k % 2, &all[b]);
            for (uint64_t x = 0; x < VALUES; x++)
                for (uint64_t y = 0; y < VALUES; y++)
                    if (facts_allow(&all[b], y) && compared((FactCompare)(k / 2), k % 2, x, y) && !facts_allow(&f, x))
                        fail("compared", &all[b], &all[b], &f, x, y);
        }
}

static void prove_resizing(const Facts *all, uint32_t n)
{
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t bits = 1; bits <= 2 * WIDTH; bits++)
            for (int is_signed = 0; is_signed < 2; is_signed++) {
                Facts f = facts_resized(&all[a], bits, is_signed);
                for (uint64_t x = 0; x < VALUES; x++) {
                    uint64_t to = (is_signed ? (uint64_t)number(x) : x) & low_ones(bits);
                    if (facts_allow(&all[a], x) && !facts_allow(&f, to))
                        fail("resized", &all[a], &all[a], &f, x, to);
                }
            }
}

static void prove_operation(uint32_t op, const Facts *a, const Facts *b)
{
    Facts f = operations[op].of(a, b);
    bool single = a->umin == a->umax && b->umin == b->umax;
    for (uint64_t x = a->umin; x <= a->umax; x++)
        for (uint64_t y = b->umin; y <= b->umax; y++) {
            if (!facts_allow(a, x) || !facts_allow(b, y))
                continue;
            uint64_t to = operations[op].at(x, y);
            if (to != UINT64_MAX && !facts_allow(&f, to & (VALUES - 1)))
                fail(operations[op].name, a, b, &f, x, y);
            if (single && !operations[op].vague && to != UINT64_MAX && f.umin != f.umax)
                fail("too little of one value", a, b, &f, x, y);
        }
}

static unsigned long prove_arithmetic(bool quick)
{
    static Facts all[ALL];
    uint32_t n = make_all(all), step = quick ? 7 : 1;
    prove_making();
    prove_comparisons(all, n);
    prove_resizing(all, n);
    for (uint32_t op = 0; op < ARRAY_LEN(operations); op++)
        for (uint32_t a = 0; a < n; a += step)
            for (uint32_t b = 0; b < n; b++) {
                prove_operation(op, &all[a], &all[b]);
                // Both of a value.
                Facts both = facts_both(&all[a], &all[b]);
                for (uint64_t x = 0; x < VALUES && op == 0; x++)
                    if (facts_allow(&all[a], x) && facts_allow(&all[b], x) && !facts_allow(&both, x))
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
    KnownFacts known;
    known_facts_init(&known, c.fn, analysis_need(c.fn, AN_RPO | AN_DOM | AN_DEF), &arena);
    Facts facts[REGS];
    for (uint32_t k = 0; k < c.n; k++)
        facts[k] = known_facts(&known, op_reg(c.fn, c.reg[k]), c.block);
    eval_cache_init(&evals, c.fn->tables, &arena);
    for (uint32_t t = 0; t < TRIES; t++) {
        if (!compute(&c, &evals))
            continue;
        for (uint32_t k = 0; k < c.n; k++) {
            if (ir_reg(c.fn, c.reg[k])->width == W1)
                continue;
            proven++;
            if (!facts_allow(&facts[k], c.value[k])) {
                const Mnem *mnem =
                    c.def[k] ? tab_mnem(c.fn->tables, ir_desc(c.fn, ir_instr(c.fn, c.def[k]))->mnem) : NULL;
                Str text = mnem ? tab_str(c.fn->tables, mnem->text) : (Str){0};
                char what[60];
                snprintf(what, sizeof what, "%.*s", (int)MIN(text.len, 50), text.text ? text.text : "");
                fail(what, &facts[k], &facts[k], &facts[k], c.value[k], 0);
            }
        }
    }
    analysis_drop(c.fn, 0);
    arena_free(&arena);
    module_free(m);
    return proven;
}

void prove_facts(Heap *heap, bool quick, unsigned long *passed, unsigned long *failed)
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
