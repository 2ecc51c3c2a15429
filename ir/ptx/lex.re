// SPDX-License-Identifier: MIT
// The PTX lexer. The text is followed by a NUL; no byte is copied.
#include <stdlib.h>

#include "ir/ptx/lex.h"

static uint64_t hex_value(const char *p, const char *end)
{
    uint64_t v = 0;
    for (; p < end; p++)
        v = v << 4 | (uint64_t)(*p <= '9' ? *p - '0' : (*p | 32) - 'a' + 10);
    return v;
}

static int integer(Lexer *lx, const char *digits, unsigned base)
{
    const char *end = lx->cur;
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

static int decimal(Lexer *lx)
{
    double d = strtod(lx->start, NULL);
    memcpy(&lx->ival, &d, 8);
    return T_DEC;
}

/*!re2c
    re2c:api:style = free-form;
    re2c:define:YYCTYPE = "unsigned char";
    re2c:define:YYCURSOR = "lx->cur";
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

int lex_statement(Lexer *lx)
{
    const char *marker = lx->cur;
    for (;;) {
        lx->start = lx->cur;
        /*!re2c
            blank | line | block | marker { continue; }
            "/*"                          { lx->cur = lx->end = lx->limit; return T_COMMENT; }
            ident ("." word)+             { lx->end = lx->cur; return T_MNEMONIC; }
            ""                            { return lex_token(lx); }
        */
    }
}

int lex_token(Lexer *lx)
{
    const char *marker = lx->cur, *digits = NULL;
    /*!stags:re2c format = "const char *@@ = NULL;\n"; */
    int token;
    for (;;) {
        lx->start = lx->cur;
        /*!re2c
            blank | line | block | marker  { continue; }
            "/*"                           { lx->cur = lx->limit; token = T_COMMENT; break; }
            register                       {
                lx->stem_end = digits;
                lx->number = 0;
                for (const char *p = digits; p < lx->cur; p++)
                    lx->number = lx->number * 10 + (uint32_t)(*p - '0');
                token = T_ID;
                break;
            }
            ident                          { lx->stem_end = NULL; token = T_ID; break; }
            "_"                            { lx->stem_end = NULL; token = T_ID; break; }
            "." [a-zA-Z_] [a-zA-Z0-9_]* ("::" [a-zA-Z0-9_]+)*  { token = T_DOT; break; }
            "." [0-9] [a-zA-Z] word?       { token = T_DOT; break; }
            "0" [fF] [0-9a-fA-F]{8}        { lx->ival = hex_value(lx->start + 2, lx->cur); token = T_F32; break; }
            "0" [dD] [0-9a-fA-F]{16}       { lx->ival = hex_value(lx->start + 2, lx->cur); token = T_F64; break; }
            dec                            { token = decimal(lx); break; }
            "0" [xX] [0-9a-fA-F]+ "U"?     { token = integer(lx, lx->start + 2, 16); break; }
            "0" [bB] [01]+ "U"?            { token = integer(lx, lx->start + 2, 2); break; }
            "0" [0-9]* "U"?                { token = integer(lx, lx->start, 8); break; }
            [1-9] [0-9]* "U"?              { token = integer(lx, lx->start, 10); break; }
            "\"" [^"\n\x00]* "\""          { token = T_STRING; break; }
            "<<"                           { token = T_SHL; break; }
            ">>"                           { token = T_SHR; break; }
            "=="                           { token = T_EQ; break; }
            "!="                           { token = T_NE; break; }
            "<="                           { token = T_LE; break; }
            ">="                           { token = T_GE; break; }
            "&&"                           { token = T_ANDAND; break; }
            "||"                           { token = T_OROR; break; }
            [-(){}[\],;:+*/%~!&|^<>=?@]    { token = (unsigned char)*lx->start; break; }
            "\x00"                         {
                token = lx->start == lx->limit ? T_EOF : T_BAD;
                lx->cur -= token == T_EOF;
                break;
            }
            *                              { token = T_BAD; break; }
        */
    }
    lx->end = lx->cur;
    return token;
}
