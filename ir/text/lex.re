// SPDX-License-Identifier: MIT
// Splits Ori text into tokens. A NUL follows the text; tokens point into it.
#include "ir/text/lex.h"

static uint64_t hex_value(const char *p, const char *end)
{
    uint64_t v = 0;
    for (; p < end; p++)
        v = v << 4 | (uint64_t)(*p <= '9' ? *p - '0' : (*p | 32) - 'a' + 10);
    return v;
}

static int hex(Lexer *lx, const char *digits, const char *end)
{
    while (digits < end - 1 && *digits == '0')
        digits++;
    lx->ival = hex_value(digits, end);
    return end - digits <= 16 ? T_INT : T_BIGINT;
}

static int decimal(Lexer *lx, const char *p, const char *end)
{
    uint64_t v = 0;
    for (; p < end; p++) {
        uint64_t d = (uint64_t)(*p - '0');
        if (v > (UINT64_MAX - d) / 10)
            return T_BIGINT;
        v = v * 10 + d;
    }
    lx->ival = v;
    return T_INT;
}

static inline __attribute__((always_inline)) int finish(Lexer *lx, const char *start, const char *cur, int token)
{
    lx->start = start;
    lx->cur = lx->end = cur;
    return token;
}

static int reg(Lexer *lx, const char *start, const char *digits, const char *cur, RegFile file)
{
    lx->file = file;
    int token = decimal(lx, digits, cur);
    return finish(lx, start, cur, token == T_INT ? T_REG : T_BAD);
}

/*!re2c
    re2c:api:style = free-form;
    re2c:define:YYCTYPE = "unsigned char";
    re2c:define:YYCURSOR = cur;
    re2c:define:YYMARKER = marker;
    re2c:yyfill:enable = 0;

    blank    = [ \t\r\v\f]+;
    comment  = ";" [^\n\x00]*;
    part     = [a-zA-Z0-9_]+ ("::" [a-zA-Z0-9_]+)*;
    word     = [a-zA-Z_$] [a-zA-Z0-9_$]* ("." part)*;
    name     = [a-zA-Z0-9_$%]+ ("." [a-zA-Z0-9_$%]+)*;
    number   = [0-9]+;
    selector = "." [a-zA-Z] [a-zA-Z0-9]*;
*/

int text_token(Lexer *lx)
{
    const char *cur = lx->cur, *marker = cur, *start;
    /*!stags:re2c format = "const char *@@ = NULL;\n"; */
    for (;;) {
        while (*cur == ' ')
            cur++;
        start = cur;
        /*!re2c
            blank | comment          { continue; }
            comment? "\n"            { return finish(lx, lx->cur, cur, T_NEWLINE); }
            "R" number / selector?   { return reg(lx, start, start + 1, cur, RF_R); }
            "UR" number / selector?  { return reg(lx, start, start + 2, cur, RF_UR); }
            "P" number / selector?   { return reg(lx, start, start + 1, cur, RF_P); }
            "UP" number / selector?  { return reg(lx, start, start + 2, cur, RF_UP); }
            "CC" number              { return reg(lx, start, start + 2, cur, RF_CC); }
            "b" number               { int t = decimal(lx, start + 1, cur); return finish(lx, start, cur, t == T_INT ? T_BLOCK : T_BAD); }
            word                     { return finish(lx, start, cur, T_WORD); }
            "@" name ("." name)*      { return finish(lx, start + 1, cur, T_SYMBOL); }
            "%" word                 { return finish(lx, start, cur, T_SREG); }
            "." [a-zA-Z] [a-zA-Z0-9_]*  { return finish(lx, start, cur, T_TYPE); }
            "\"" ([^"\\\n\x00] | "\\" [^\n\x00])* "\""  {
                finish(lx, start + 1, cur, T_STRING);
                lx->end = cur - 1;
                return T_STRING;
            }
            number                   { int t = decimal(lx, start, cur); return finish(lx, start, cur, t); }
            number "." number        { return finish(lx, start, cur, T_VERSION); }
            "0" [xX] [0-9a-fA-F]+    { int t = hex(lx, start + 2, cur); return finish(lx, start, cur, t); }
            "0" [fF] [0-9a-fA-F]{8}  { lx->ival = hex_value(start + 2, cur); return finish(lx, start, cur, T_F32); }
            "0" [dD] [0-9a-fA-F]{16} { lx->ival = hex_value(start + 2, cur); return finish(lx, start, cur, T_F64); }
            "->"                     { return finish(lx, start, cur, T_ARROW); }
            [-(){}[\],:+!|=#@]       { return finish(lx, start, cur, (unsigned char)*start); }
            "\x00"                   {
                bool end = start == lx->limit;
                return finish(lx, end ? lx->cur : start, end ? start : cur, end ? T_EOF : T_BAD);
            }
            *                        { return finish(lx, start, cur, T_BAD); }
        */
    }
}
