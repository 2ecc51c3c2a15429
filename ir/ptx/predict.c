// SPDX-License-Identifier: MIT
// Reads operands by prediction: most instructions have the descriptor of the latest instruction with the same mnemonic.
// The text is compared with the shape of that descriptor, and each operand is fitted to its slot at once:
//
//     add.s32 %r1, %r2, 4;      shape `%,%,%`: registers or literals
//     ld.u32 %r3, [%SP+8];      shape `%,[&]`: `&` is a register with an optional offset
//
// The prediction fails at everything else, for instance at a symbol, a special register, a sink, a vector register, a
// negated predicate, an expression, a comment, or an operand that does not fit. The caller then reads the same text
// with rd_operands(), which also reports all errors. A failure leaves the function unchanged, except for registers that
// were named for the first time.
#include "ir/ptx/read.h"

static inline const char *skip_blanks(const char *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

enum { LETTER = 1, DIGIT = 2 };
// The characters of identifiers, by class.
static const uint8_t class_of[256] = {
    ['$'] = LETTER, ['_'] = LETTER, ['a'] = LETTER, ['b'] = LETTER, ['c'] = LETTER, ['d'] = LETTER, ['e'] = LETTER,
    ['f'] = LETTER, ['g'] = LETTER, ['h'] = LETTER, ['i'] = LETTER, ['j'] = LETTER, ['k'] = LETTER, ['l'] = LETTER,
    ['m'] = LETTER, ['n'] = LETTER, ['o'] = LETTER, ['p'] = LETTER, ['q'] = LETTER, ['r'] = LETTER, ['s'] = LETTER,
    ['t'] = LETTER, ['u'] = LETTER, ['v'] = LETTER, ['w'] = LETTER, ['x'] = LETTER, ['y'] = LETTER, ['z'] = LETTER,
    ['A'] = LETTER, ['B'] = LETTER, ['C'] = LETTER, ['D'] = LETTER, ['E'] = LETTER, ['F'] = LETTER, ['G'] = LETTER,
    ['H'] = LETTER, ['I'] = LETTER, ['J'] = LETTER, ['K'] = LETTER, ['L'] = LETTER, ['M'] = LETTER, ['N'] = LETTER,
    ['O'] = LETTER, ['P'] = LETTER, ['Q'] = LETTER, ['R'] = LETTER, ['S'] = LETTER, ['T'] = LETTER, ['U'] = LETTER,
    ['V'] = LETTER, ['W'] = LETTER, ['X'] = LETTER, ['Y'] = LETTER, ['Z'] = LETTER, ['0'] = DIGIT,  ['1'] = DIGIT,
    ['2'] = DIGIT,  ['3'] = DIGIT,  ['4'] = DIGIT,  ['5'] = DIGIT,  ['6'] = DIGIT,  ['7'] = DIGIT,  ['8'] = DIGIT,
    ['9'] = DIGIT,
};

static inline bool is_letter(char c) { return class_of[(unsigned char)c] == LETTER; }
static inline bool is_digit(char c) { return (unsigned)(c - '0') < 10; }

// Reads the name of a scalar register such as `%r12` or `%SP`, whose number has at most eight digits. Returns the
// register and advances *p; returns 0 for any other text.
static inline RegId predict_register(Reader *r, const char **p)
{
    const char *text = *p, *digits = text + 1, *end;
    Name name = {0, NO_NUMBER};
    while (is_letter(*digits))
        digits++;
    end = digits;
    if (is_digit(*end) && *end != '0') {
        name.number = 0;
        for (; is_digit(*end) && end - digits < 8; end++)
            name.number = name.number * 10 + (uint32_t)(*end - '0');
    }
    if (*text != '%' || digits == text + 1 || class_of[(unsigned char)*end])
        return 0;
    name.stem = rd_stem(r, text, (size_t)(digits - text));
    RegId reg = scope_scalar_reg(r, name);
    uint32_t vec = 0;
    if (!reg)
        reg = scope_find_reg(r, name, &vec);
    *p = end;
    return vec ? 0 : reg;
}

// Reads one literal, or an integer with a minus, and advances *p.
static bool predict_literal(const Reader *r, const char **p, Parsed *literal)
{
    Lexer lx = {.cur = *p, .limit = r->lx.limit};
    int tok = lex_token(&lx);
    bool minus = tok == '-';
    if (minus)
        tok = lex_token(&lx);
    *p = lx.cur;
    literal->value = minus ? 0 - lx.ival : lx.ival;
    literal->literal = tok == T_INT                   ? LIT_INT
                       : tok == T_F32                 ? LIT_F32
                       : tok == T_F64 || tok == T_DEC ? LIT_F64
                                                      : LIT_NONE;
    return literal->literal == LIT_INT || (literal->literal && !minus);
}

// Reads a register and fits it to a slot.
static inline bool fit_register(Reader *r, const char **p, const Slot *slot, Operand *op)
{
    char why[200];
    RegId id = predict_register(r, p);
    if (!id)
        return false;
    const Reg *reg = ir_reg(r->fn, id);
    *op = op_make(K_REG, (RegFile)reg->file, id);
    if (!slot_takes_reg(slot, reg) && slot_check(r->fn, slot, *op, why))
        return false;
    *op = rd_in_slot(slot, *op);
    return true;
}

// Reads a literal and fits it to a slot.
static bool fit_literal(Reader *r, const char **p, const Desc *d, const Slot *slot, Operand *op)
{
    char words[200];
    Parsed literal = {0};
    return predict_literal(r, p, &literal) && !rd_literal(r, &literal, d, slot, op, words);
}

// Reads `+ offset` after an address, and fits it. A missing offset is 0.
static bool fit_offset(Reader *r, const char **p, const Desc *d, const Slot *slot, Operand *op)
{
    char words[200];
    Parsed offset = {.literal = LIT_INT};
    *p = skip_blanks(*p);
    if (**p == '+') {
        (*p)++;
        if (!predict_literal(r, p, &offset) || offset.literal != LIT_INT)
            return false;
        offset.op.mods = rd_offset_mods(r);
    }
    return !rd_literal(r, &offset, d, slot, op, words);
}

bool rd_predict(Reader *r, const MnemCache *mnem, const Desc *d, Operand *ops)
{
    const char *p = r->lx.cur;
    const Slot *slot = d->slots;
    for (const char *s = mnem->shape, *end = s + mnem->shape_len; s < end; s++) {
        p = skip_blanks(p);
        if (*s != '%' && *s != '&') {
            if (*p++ != *s)
                return false;
            continue;
        }
        bool literal = *s == '%' && *p != '%';
        if (!(literal ? fit_literal(r, &p, d, slot, ops) : fit_register(r, &p, slot, ops)))
            return false;
        slot++;
        ops++;
        if (*s == '&' && !fit_offset(r, &p, d, slot++, ops++))
            return false;
    }
    p = skip_blanks(p);
    if (*p != ';')
        return false;
    r->tok = ';';
    r->lx.start = p;
    r->lx.cur = r->lx.end = p + 1;
    return true;
}
