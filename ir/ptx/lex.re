// SPDX-License-Identifier: MIT
// Splits PTX into tokens. A NUL follows the text; tokens point into it.
#include <stdlib.h>

#include "ir/ptx/lex.h"

static uint64_t hex_value(const char *p, const char *end)
{
    uint64_t v = 0;
    for (; p < end; p++)
        v = v << 4 | (uint64_t)(*p <= '9' ? *p - '0' : (*p | 32) - 'a' + 10);
    return v;
}

static int integer(Lexer *lx, const char *digits, const char *end, unsigned base)
{
    lx->is_unsigned = end[-1] == 'U';
    end -= lx->is_unsigned;
    uint64_t v = 0;
    for (const char *p = digits; p < end; p++) {
        unsigned d = (unsigned)(*p <= '9' ? *p - '0' : (*p | 32) - 'a' + 10);
        if (d >= base)
            return T_BAD;
        if (v > (UINT64_MAX - d) / base)
            return T_BIGINT;
        v = v * base + d;
    }
    lx->ival = v;
    return T_INT;
}

static uint64_t double_bits(const char *text)
{
    double d = strtod(text, NULL);
    uint64_t bits;
    memcpy(&bits, &d, 8);
    return bits;
}

/*!re2c
    re2c:api:style = free-form;
    re2c:define:YYCTYPE = "unsigned char";
    re2c:define:YYCURSOR = cur;
    re2c:define:YYMARKER = marker;
    re2c:yyfill:enable = 0;

    blank    = [ \t\r\n\v\f]+;
    line     = "//" [^\n\x00]*;
    block    = "/*" ([^*\x00] | "*"+ [^*/\x00])* "*"+ "/";
    marker   = "#" [ \t]* [0-9] [^\n\x00]*;
    register = "%" [a-zA-Z_$]+ @digits [1-9] [0-9]{0,7};
    ident    = [a-zA-Z][a-zA-Z0-9_$]* | [_$%][a-zA-Z0-9_$]+;
    word     = [a-zA-Z0-9_]+ ("::" [a-zA-Z0-9_]+)*;
    dec      = [0-9]+ "." [0-9]* ([eE] [+-]? [0-9]+)? | "." [0-9]+ ([eE] [+-]? [0-9]+)? | [0-9]+ [eE] [+-]? [0-9]+;
*/

static inline __attribute__((always_inline)) int finish(Lexer *lx, const char *start, const char *cur, int token)
{
    lx->start = start;
    lx->cur = lx->end = cur;
    return token;
}

int lex_statement(Lexer *lx)
{
    const char *cur = lx->cur, *marker = cur, *start;
    for (;;) {
        while (*cur == ' ' || *cur == '\t' || *cur == '\n')
            cur++;
        start = cur;
        /*!re2c
            blank | line | block | marker { continue; }
            "/*"                          { return finish(lx, start, lx->limit, T_COMMENT); }
            ident ("." word)+             { return finish(lx, start, cur, T_MNEMONIC); }
            ""                            { lx->cur = start; return lex_token(lx); }
        */
    }
}

int lex_token(Lexer *lx)
{
    const char *cur = lx->cur, *marker = cur, *digits = NULL, *start;
    /*!stags:re2c format = "const char *@@ = NULL;\n"; */
    for (;;) {
        while (*cur == ' ' || *cur == '\t' || *cur == '\n')
            cur++;
        start = cur;
        /*!re2c
            blank | line | block | marker  { continue; }
            "/*"                           { return finish(lx, start, lx->limit, T_COMMENT); }
            register                       {
                uint32_t number = 0;
                for (const char *p = digits; p < cur; p++)
                    number = number * 10 + (uint32_t)(*p - '0');
                lx->number = number;
                lx->stem_end = digits;
                return finish(lx, start, cur, T_ID);
            }
            ident | "_"                    { lx->stem_end = NULL; return finish(lx, start, cur, T_ID); }
            "." [a-zA-Z_] [a-zA-Z0-9_]* ("::" [a-zA-Z0-9_]+)*  { return finish(lx, start, cur, T_DOT); }
            "." [0-9] [a-zA-Z] word?       { return finish(lx, start, cur, T_DOT); }
            "0" [fF] [0-9a-fA-F]{8}        { lx->ival = hex_value(start + 2, cur); return finish(lx, start, cur, T_F32); }
            "0" [dD] [0-9a-fA-F]{16}       { lx->ival = hex_value(start + 2, cur); return finish(lx, start, cur, T_F64); }
            dec                            { lx->ival = double_bits(start); return finish(lx, start, cur, T_DEC); }
            "0" [xX] [0-9a-fA-F]+ "U"?     { return finish(lx, start, cur, integer(lx, start + 2, cur, 16)); }
            "0" [bB] [01]+ "U"?            { return finish(lx, start, cur, integer(lx, start + 2, cur, 2)); }
            "0" [0-9]* "U"?                { return finish(lx, start, cur, integer(lx, start, cur, 8)); }
            [1-9] [0-9]* "U"?              { return finish(lx, start, cur, integer(lx, start, cur, 10)); }
            "\"" [^"\n\x00]* "\""          { return finish(lx, start, cur, T_STRING); }
            "<<"                           { return finish(lx, start, cur, T_SHL); }
            ">>"                           { return finish(lx, start, cur, T_SHR); }
            "=="                           { return finish(lx, start, cur, T_EQ); }
            "!="                           { return finish(lx, start, cur, T_NE); }
            "<="                           { return finish(lx, start, cur, T_LE); }
            ">="                           { return finish(lx, start, cur, T_GE); }
            "&&"                           { return finish(lx, start, cur, T_ANDAND); }
            "||"                           { return finish(lx, start, cur, T_OROR); }
            [-(){}[\],;:+*/%~!&|^<>=?@]    { return finish(lx, start, cur, (unsigned char)*start); }
            "\x00"                         {
                bool end = start == lx->limit;
                return finish(lx, start, end ? start : cur, end ? T_EOF : T_BAD);
            }
            *                              { return finish(lx, start, cur, T_BAD); }
        */
    }
}
