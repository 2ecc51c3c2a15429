// SPDX-License-Identifier: MIT
// Tests the evaluator with tables of vectors (tests/exec/*.vec, whose README gives the format), and with wide integer
// arithmetic on random operands and on all 8-bit values.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "ir/eval/eval.h"
#include "tests/unit/unit.h"

enum { LINE_MAX_BYTES = 1000, OPERANDS = EVAL_IN_MAX + EVAL_OUT_MAX, CASES_MIN = 12 };

// Tables for descriptors.
typedef struct Desk {
    Heap heap;
    Arena arena;
    Tables tables;
} Desk;

static void open_desk(Desk *d)
{
    unit_heap(&d->heap);
    arena_init(&d->arena, &d->heap);
    tables_init(&d->tables, &d->arena, NULL);
}

static void close_desk(Desk *d)
{
    arena_free(&d->arena);
    heap_release(&d->heap);
}

/* -- Instructions by text ------------------------------------------------------------------------------- */

// An instruction of a table: its decoded form, and its immediate operands.
typedef struct Instruction {
    char text[LINE_MAX_BYTES];
    Eval eval;
    Opcode op;
    bool known;
    bool given[OPERANDS];
    uint64_t number[OPERANDS];
    uint32_t visible;  // definitions that the text names
    uint32_t cases;
} Instruction;

// Converts operands to the shape of a descriptor: `%` for each, and the text between them.
static uint32_t shape_of(const char *p, char *shape, Instruction *i)
{
    uint32_t n = 0;
    char *to = shape;
    while (*p) {
        if (isalnum((unsigned char)*p) || *p == '_') {
            i->given[n] = isdigit((unsigned char)*p);
            i->number[n] = strtoull(p, NULL, 0);
            n++;
            *to++ = '%';
            while (isalnum((unsigned char)*p) || *p == '_')
                p++;
            for (; *p == '.'; *to++ = *p++)  // a selector
                while (isalnum((unsigned char)p[1]))
                    *to++ = *p++;
        } else if (*p == ':') {
            while (isdigit((unsigned char)*++p))
                ;
        } else if (isspace((unsigned char)*p)) {
            p++;
        } else {
            *to++ = *p++;
        }
    }
    *to = 0;
    return n;
}

static bool decode(Tables *t, const char *text, Instruction *i)
{
    char shape[LINE_MAX_BYTES];
    const char *why = "", *operands = strchr(text, ' ');
    size_t len = operands ? (size_t)(operands - text) : strlen(text);
    *i = (Instruction){.known = false};
    snprintf(i->text, sizeof i->text, "%s", text);
    shape_of(operands ? operands : "", shape, i);
    DescId id = desc_intern(t, mnem_intern(t, text, len), shape, strlen(shape), &why);
    if (!id)
        return false;
    const Desc *d = tab_desc(t, id);
    i->op = d->op;
    for (uint32_t k = 0; k < d->ndef; k++)
        i->visible += !(d->slots[k].flags & SL_HIDDEN);
    return i->known = eval_decode(t, d, &i->eval);
}

/* -- Tables --------------------------------------------------------------------------------------------- */

typedef struct Table {
    Desk desk;
    const char *file;
    uint32_t line, cases, instructions;
    Instruction at;
    bool *seen;  // by Opcode
} Table;

static bool read_hex(const char **p, Value *v, uint32_t *digits)
{
    static const char hex[] = "0123456789abcdef";
    *v = (Value){0, 0};
    *digits = 0;
    while (**p == ' ')
        ++*p;
    for (const char *digit; **p && (digit = strchr(hex, tolower((unsigned char)**p))); ++*p, ++*digits) {
        v->hi = v->hi << 4 | v->lo >> 60;
        v->lo = v->lo << 4 | (uint64_t)(digit - hex);
    }
    return *digits > 0;
}

static Value cut(Value v, uint32_t digits)
{
    if (digits >= 32)
        return v;
    if (digits > 16)
        return (Value){v.lo, v.hi & (((uint64_t)1 << 4 * (digits - 16)) - 1)};
    return (Value){digits == 16 ? v.lo : v.lo & (((uint64_t)1 << 4 * digits) - 1), 0};
}

static bool check_outputs(Table *t, const char *p, const Value *out)
{
    bool right = true;
    for (uint32_t k = 0; k < t->at.eval.nout; k++) {
        Value expected;
        uint32_t digits;
        while (*p == ' ')
            p++;
        if (*p == '_') {
            p++;
            continue;
        }
        if (!read_hex(&p, &expected, &digits))
            return false;
        Value got = cut(out[k], digits);
        if (got.lo == expected.lo && got.hi == expected.hi)
            continue;
        unit_context("%s:%u: %s: output %u is %0*llx", t->file, t->line, t->at.text, k + 1, (int)digits,
                     (unsigned long long)got.lo);
        right = false;
    }
    while (isspace((unsigned char)*p))
        p++;
    return right && !*p;
}

static void check_case(Table *t, const char *p)
{
    Value in[EVAL_IN_MAX] = {{0, 0}}, out[EVAL_OUT_MAX];
    const Eval *e = &t->at.eval;
    uint32_t first = t->at.visible, digits;
    bool right = true;
    memset(out, 0x55, sizeof out);
    unit_context("%s:%u: %s", t->file, t->line, t->at.text);
    t->cases++;
    t->at.cases++;
    for (uint32_t k = 0; k < e->nin && right; k++) {
        if (t->at.given[first + k])
            in[k].lo = t->at.number[first + k];
        else
            right = read_hex(&p, &in[k], &digits);
    }
    while (*p == ' ')
        p++;
    if (!CHECK(right && strncmp(p, "->", 2) == 0))
        return;
    eval_run(e, in, out);
    CHECK(check_outputs(t, p + 2, out));
}

static void end_instruction(Table *t)
{
    if (!t->at.text[0])
        return;
    unit_context("%s:%u: %s", t->file, t->line, t->at.text);
    CHECK(t->at.cases >= CASES_MIN);
    t->at.text[0] = 0;
}

static void check_line(Table *t, char *text)
{
    text[strcspn(text, "\n#")] = 0;
    if (!text[strspn(text, " ")])
        return;
    if (text[0] == ' ') {
        if (t->at.known)
            check_case(t, text);
        return;
    }
    end_instruction(t);
    if (text[0] == '@')
        return;
    unit_context("%s:%u: %s", t->file, t->line, text);
    if (CHECK(decode(&t->desk.tables, text, &t->at)))
        t->seen[t->at.op] = true;
    t->instructions++;
}

static void check_table(const char *file, bool *seen)
{
    char text[LINE_MAX_BYTES];
    Table t = {.file = file, .seen = seen};
    FILE *in = fopen(file, "r");
    unit_context("%s", file);
    if (!CHECK(in != NULL))
        return;
    open_desk(&t.desk);
    while (fgets(text, sizeof text, in)) {
        t.line++;
        check_line(&t, text);
    }
    end_instruction(&t);
    fclose(in);
    CHECK(t.instructions > 0);
    close_desk(&t.desk);
}

/* -- Integers against wide arithmetic ------------------------------------------------------------------- */

__extension__ typedef __int128 Int;
__extension__ typedef unsigned __int128 Bits;

// Returns the low `bits` bits of a as a number.
static Int number(uint64_t a, uint32_t bits, bool is_signed)
{
    Int x = bits < 64 ? (Int)(a & (((uint64_t)1 << bits) - 1)) : (Int)a;
    return is_signed && x >> (bits - 1) & 1 ? x - ((Int)1 << bits) : x;
}

// Operands with the width and signedness of the first type.
typedef struct Operands {
    uint32_t bits;
    bool is_signed;
    Int a, b, c;
    uint32_t n, m;   // unconverted
    uint32_t field;  // the bits of a position or length that the instruction reads
} Operands;

static Int floor_shift(Int a, uint32_t n) { return n >= 127 ? (a < 0 ? -1 : 0) : a >> n; }

static Int expected_add(const Operands *o) { return o->a + o->b; }
static Int expected_sub(const Operands *o) { return o->a - o->b; }
static Int expected_mul_lo(const Operands *o) { return (Int)((Bits)o->a * (Bits)o->b); }
static Int expected_mul_hi(const Operands *o)
{
    return o->is_signed ? floor_shift(o->a * o->b, o->bits) : (Int)((Bits)o->a * (Bits)o->b >> o->bits);
}
static Int expected_mad_lo(const Operands *o) { return (Int)((Bits)o->a * (Bits)o->b + (Bits)o->c); }
static Int expected_mad_hi(const Operands *o) { return expected_mul_hi(o) + o->c; }
static Int expected_min(const Operands *o) { return o->a < o->b ? o->a : o->b; }
static Int expected_max(const Operands *o) { return o->a > o->b ? o->a : o->b; }
static Int expected_sad(const Operands *o) { return o->c + (o->a < o->b ? o->b - o->a : o->a - o->b); }
static Int expected_div(const Operands *o) { return o->a / o->b; }
static Int expected_rem(const Operands *o) { return o->a % o->b; }
static Int expected_and(const Operands *o) { return o->a & o->b; }
static Int expected_or(const Operands *o) { return o->a | o->b; }
static Int expected_xor(const Operands *o) { return o->a ^ o->b; }
static Int expected_shl(const Operands *o) { return o->n >= o->bits ? 0 : (Int)((Bits)o->a << o->n); }
static Int expected_shr(const Operands *o) { return floor_shift(o->a, o->n); }

static bool bit(const Operands *o, Int a, uint32_t k) { return k < o->bits && a >> k & 1; }

static Int expected_bfe(const Operands *o)
{
    uint64_t at = o->n & o->field, length = o->m & o->field, last = at + length - 1;
    bool sign = o->is_signed && length && bit(o, o->a, last < o->bits ? (uint32_t)last : o->bits - 1);
    Int field = 0;
    for (uint32_t k = 0; k < o->bits; k++)
        field |= (Int)(k < length && at + k < o->bits ? bit(o, o->a, (uint32_t)at + k) : sign) << k;
    return field;
}

static Int expected_bfi(const Operands *o)
{
    uint32_t at = o->n & o->field, length = o->m & o->field;
    Int field = 0;
    for (uint32_t k = 0; k < o->bits; k++)
        field |= (Int)(k >= at && k - at < length ? bit(o, o->a, k - at) : bit(o, o->b, k)) << k;
    return field;
}

static const struct Rule {
    const char *mnemonic;  // before the type
    const char *types;
    const char *operands;
    const char *inputs;  // a, b, c, or n, m
    Int (*expected)(const Operands *o);
    bool divides;
} rules[] = {
    {"add", "s16 u16 s32 u32 s64 u64", "d, a, b", "ab", expected_add, false},
    {"sub", "s16 u16 s32 u32 s64 u64", "d, a, b", "ab", expected_sub, false},
    {"mul.lo", "s16 u16 s32 u32 s64 u64", "d, a, b", "ab", expected_mul_lo, false},
    {"mul.hi", "s16 u16 s32 u32 s64 u64", "d, a, b", "ab", expected_mul_hi, false},
    {"mad.lo", "s16 u16 s32 u32 s64 u64", "d, a, b, c", "abc", expected_mad_lo, false},
    {"mad.hi", "s16 u16 s32 u32 s64 u64", "d, a, b, c", "abc", expected_mad_hi, false},
    {"min", "s16 u16 s32 u32 s64 u64", "d, a, b", "ab", expected_min, false},
    {"max", "s16 u16 s32 u32 s64 u64", "d, a, b", "ab", expected_max, false},
    {"sad", "s16 u16 s32 u32 s64 u64", "d, a, b, c", "abc", expected_sad, false},
    {"div", "s16 u16 s32 u32 s64 u64", "d, a, b", "ab", expected_div, true},
    {"rem", "s16 u16 s32 u32 s64 u64", "d, a, b", "ab", expected_rem, true},
    {"and", "b16 b32 b64", "d, a, b", "ab", expected_and, false},
    {"or", "b16 b32 b64", "d, a, b", "ab", expected_or, false},
    {"xor", "b16 b32 b64", "d, a, b", "ab", expected_xor, false},
    {"shl", "b16 b32 b64", "d, a, n", "an", expected_shl, false},
    {"shr", "s16 u16 s32 u32 s64 u64", "d, a, n", "an", expected_shr, false},
    {"bfe", "s32 u32 s64 u64", "d, a, n, m", "anm", expected_bfe, false},
    {"bfi", "b32 b64", "d, a, b, n, m", "abnm", expected_bfi, false},
};

typedef struct Trial {
    const struct Rule *rule;
    Instruction i;
    uint32_t field;
    uint64_t random;
} Trial;

// Tries one set of operands, at the width of the instruction.
static bool try_operands(Trial *t, uint64_t a, uint64_t b, uint64_t c, uint32_t n, uint32_t m)
{
    const Eval *e = &t->i.eval;
    Value in[EVAL_IN_MAX], out[EVAL_OUT_MAX];
    Operands o = {.bits = e->bits, .is_signed = e->is_signed, .n = n, .m = m, .field = t->field};
    o.a = number(a, e->bits, e->is_signed);
    o.b = number(b, e->bits, e->is_signed);
    o.c = number(c, e->bits, e->is_signed);
    if (t->rule->divides && (o.b == 0 || (o.b == -1 && o.a == -((Int)1 << (e->bits - 1)))))
        return true;
    for (uint32_t k = 0; t->rule->inputs[k]; k++) {
        char name = t->rule->inputs[k];
        in[k] = (Value){name == 'a' ? a : name == 'b' ? b : name == 'c' ? c : name == 'n' ? n : m, 0};
    }
    eval_run(e, in, out);
    return number(out[0].lo, e->bits, false) == number((uint64_t)t->rule->expected(&o), e->bits, false);
}

static uint64_t some_number(Trial *t)
{
    static const uint64_t edges[] = {0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0x7fffffff, 0x80000000, INT64_MAX};
    uint64_t x = edges[unit_random(&t->random, ARRAY_LEN(edges))];
    switch (unit_random(&t->random, 4)) {
    case 0: return x;
    case 1: return ~x;
    case 2: return -x;
    default: return (uint64_t)unit_random(&t->random, UINT32_MAX) << 32 | unit_random(&t->random, UINT32_MAX);
    }
}

static uint32_t some_amount(Trial *t)
{
    return unit_random(&t->random, 2) ? unit_random(&t->random, 80) : unit_random(&t->random, UINT32_MAX);
}

static bool try_random(Trial *t)
{
    for (int k = 0; k < 20000; k++)
        if (!try_operands(t, some_number(t), some_number(t), some_number(t), some_amount(t), some_amount(t)))
            return false;
    return true;
}

// Tries all a and b, with a few values of the others.
static bool try_all(Trial *t)
{
    static const uint32_t amounts[] = {0, 1, 3, 7, 8, 9, 255, 256};
    for (uint32_t a = 0; a < 256; a++)
        for (uint32_t b = 0; b < 256; b++)
            for (uint32_t k = 0; k < ARRAY_LEN(amounts); k++)
                if (!try_operands(t, a, b, a * 7 + b * 11 + k, b, amounts[k]))
                    return false;
    return true;
}

static void try_rule(Tables *tables, const struct Rule *rule)
{
    for (const char *type = rule->types; *type; type += strspn(type, " ")) {
        char text[100];
        size_t n = strcspn(type, " ");
        Trial t = {.rule = rule, .random = 1};
        snprintf(text, sizeof text, "%s.%.*s %s", rule->mnemonic, (int)n, type, rule->operands);
        type += n;
        unit_context("%s", text);
        if (!CHECK(decode(tables, text, &t.i)))
            continue;
        t.field = t.i.eval.bits == 64 ? UINT32_MAX : 255;
        CHECK(try_random(&t));
        CHECK(eval_narrow(&t.i.eval, 8));
        unit_context("%s, 8 bits", text);
        CHECK(try_all(&t));
        CHECK(eval_narrow(&t.i.eval, 13));
        unit_context("%s, 13 bits", text);
        CHECK(try_random(&t));
    }
}

TEST(integers_are_those_of_wide_arithmetic)
{
    Desk desk;
    open_desk(&desk);
    for (uint32_t k = 0; k < ARRAY_LEN(rules); k++)
        try_rule(&desk.tables, &rules[k]);
    close_desk(&desk);
}

/* -- Coverage of the tables ----------------------------------------------------------------------------- */

// True for pure opcodes that do not decode: the interpreter computes addresses, and the others are no functions of
// operands.
static bool has_no_value(Opcode op)
{
    return op == OP_ADDR || op == OP_CVTA || op == OP_CVTA_ADDR || op == OP_CVTA_TO || op == OP_ISSPACEP ||
           op == OP_MAPA || op == OP_MAPA_ADDR || op == OP_CTARANK || op == OP_CTARANK_ADDR || op == OP_CREATEPOLICY ||
           op_info[op].traits & TR_PSEUDO;
}

TEST(tables)
{
    static const char *const files[] = {"tests/exec/integer.vec", "tests/exec/move.vec",    "tests/exec/video.vec",
                                        "tests/exec/float.vec",   "tests/exec/compare.vec", "tests/exec/convert.vec"};
    bool seen[OPCODE_COUNT] = {false};
    for (uint32_t k = 0; k < ARRAY_LEN(files); k++)
        check_table(files[k], seen);
    for (int op = 0; op < OPCODE_COUNT; op++) {
        unit_context("%s: a table has cases for it", op_info[op].id);
        if (op_info[op].traits & TR_PURE && !has_no_value((Opcode)op))
            CHECK(seen[op]);
    }
}

TEST(memory_and_control_do_not_decode)
{
    static const char *const texts[] = {
        "ld.global.b32 d, [a]", "bra L", "bar.sync a", "shfl.sync.idx.b32 d, a, b, c, e", "trap", "mov.u32 d, $",
    };
    Desk desk;
    Instruction i;
    open_desk(&desk);
    for (uint32_t k = 0; k < ARRAY_LEN(texts); k++) {
        unit_context("%s", texts[k]);
        CHECK(!decode(&desk.tables, texts[k], &i));
    }
    close_desk(&desk);
}

/* -- Folding -------------------------------------------------------------------------------------------- */

TEST(what_is_folded)
{
    static const struct {
        const char *text;
        uint64_t in[3];
        bool foldable;
    } cases[] = {
        {"add.s32 d, a, b", {1, 2}, true},
        {"div.s32 d, a, b", {7, 2}, true},
        {"div.s32 d, a, b", {7, 0}, false},
        {"rem.u64 d, a, b", {7, 0}, false},
        {"div.s32 d, a, b", {0x80000000, 0xffffffff}, false},
        {"div.u32 d, a, b", {0x80000000, 0xffffffff}, true},
        {"div.s64 d, a, b", {UINT64_C(1) << 63, UINT64_MAX}, false},
        {"rem.s16 d, a, b", {0x8000, 0xffff}, false},
        {"fns.b32 d, a, b, c", {1, 31, 1}, true},
        {"fns.b32 d, a, b, c", {1, 32, 1}, false},
        {"sub.rn.f32 d, a, b", {0x7f800000, 0x7f800000}, true},
        {"sub.rn.f64 d, a, b", {0x7ff0000000000000, 0x7ff0000000000000}, false},
        {"add.rn.f64 d, a, b", {0x3ff0000000000000, 0x3ff0000000000000}, true},
        {"cvt.f64.f32 d, a", {0x7fc00000}, false},
        {"cvt.rn.f16.f32 d, a", {0x7fc00000}, true},
        {"cvt.rz.f16.f32 d, a", {0x7fc00000}, false},
        {"cvt.rn.relu.f16.f32 d, a", {0x7fc00000}, false},
        {"cvt.f32.f16 d, a", {0xfe01}, true},
        {"cvt.f32.bf16 d, a", {0xffc1}, true},
        {"cvt.rn.f32.f64 d, a", {0x7ff8000000000000}, false},
        {"cvt.rn.f32.f64 d, a", {0x7fffffffe0000000}, false},
        {"cvt.rn.f32.f64 d, a", {0x3ff8000000000000}, true},
        {"cvt.ftz.f32.f32 d, a", {0x7fffffff}, false},
        {"cvt.rni.f32.f32 d, a", {0x7fc00000}, false},
        {"neg.f32 d, a", {0xffffffff}, false},
        {"neg.f32 d, a", {0xbf800000}, true},
        {"abs.ftz.f32 d, a", {0x7fffffff}, false},
        {"abs.f16 d, a", {0xfe00}, false},
        {"neg.f16x2 d, a", {0xffff3c00}, false},
        {"neg.f16x2 d, a", {0x3c003c00}, true},
        {"neg.f64 d, a", {0x7ff8000000000000}, false},
        {"cvt.rna.tf32.f32 d, a", {0x7fc00000}, false},
        {"cvt.rn.bf16.f32 d, a", {0x7fc00000}, false},
        {"setp.lt.f64 d, a, b", {0x7ff8000000000000, 0}, true},
        {"copysign.f32 d, a, b", {0x80000000, 0x7fc00001}, false},
        {"mov.b64 d, a", {0x7ff8000000000001}, true},
        {"selp.f64 d, a, b, c", {0x7ff8000000000001, 0, 1}, true},
        {"mul.rn.sat.f32 d, a, b", {0x80000000, 0x3f800000}, false},
        {"mul.rn.sat.f32 d, a, b", {0x3f000000, 0x3f800000}, true},
        {"fma.rn.relu.f16x2 d, a, b, c", {0x3c003c00, 0x3c003c00, 0x3c003c00}, true},
        {"fma.rn.relu.f16x2 d, a, b, c", {0x3c000000, 0x3c003c00, 0}, false},
        {"rcp.approx.f32 d, a", {0x40000000}, false},
        {"rcp.rn.f32 d, a", {0x40000000}, true},
        {"div.full.f32 d, a, b", {0x40000000, 0x40000000}, false},
        {"sqrt.approx.f32 d, a", {0x40800000}, false},
        {"sin.approx.f32 d, a", {0}, false},
        {"ex2.approx.f32 d, a", {0}, false},
    };
    Desk desk;
    Instruction i;
    open_desk(&desk);
    for (uint32_t k = 0; k < ARRAY_LEN(cases); k++) {
        Value in[EVAL_IN_MAX] = {{0, 0}}, out[EVAL_OUT_MAX];
        unit_context("%u: %s", k, cases[k].text);
        if (!CHECK(decode(&desk.tables, cases[k].text, &i)))
            continue;
        for (uint32_t n = 0; n < 3; n++)
            in[n].lo = cases[k].in[n];
        eval_run(&i.eval, in, out);
        CHECK_EQ(eval_foldable(&i.eval, in, out), cases[k].foldable);
    }
    close_desk(&desk);
}

TEST(shapes_of_their_own_stay_as_wide_as_they_are)
{
    static const char *const texts[] = {
        "add.f32 d, a, b",   "prmt.b32 d, a, b, c", "dp4a.s32.s32 d, a, b, c", "mul24.lo.s32 d, a, b",
        "add.u16x2 d, a, b", "cvt.u16.u32 d, a",    "mov.b32 {d, e}, a",       "vadd4.u32.u32.u32 d, a, b, c",
        "and.pred d, a, b",  "setp.lt.f32 d, a, b", "set.lt.u32.f32 d, a, b",  "slct.u32.f32 d, a, b, c",
    };
    Desk desk;
    Instruction i;
    open_desk(&desk);
    for (uint32_t k = 0; k < ARRAY_LEN(texts); k++) {
        unit_context("%s", texts[k]);
        if (CHECK(decode(&desk.tables, texts[k], &i)))
            CHECK(!eval_narrow(&i.eval, 8));
    }
    unit_context("mul.wide.u32");
    CHECK(decode(&desk.tables, "mul.wide.u32 d, a, b", &i) && !eval_narrow(&i.eval, 64) && !eval_narrow(&i.eval, 7));
    close_desk(&desk);
}

void test_eval(void)
{
    RUN(what_is_folded);
    RUN(shapes_of_their_own_stay_as_wide_as_they_are);
    RUN(integers_are_those_of_wide_arithmetic);
    RUN(memory_and_control_do_not_decode);
    RUN(tables);
}
