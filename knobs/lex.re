// SPDX-License-Identifier: MIT
// The lexer of knob settings. It has four scanners, since the meaning of a byte depends on its context: tokens of a
// setting, its value, tokens in a value, and the rest of a record with an error.
#include "knobs/knobs_internal.h"

static KnobToken finish(KnobLexer *lx, const char *start, const char *cur, KnobToken token)
{
    lx->start = start;
    lx->cur = lx->end = cur;
    return token;
}

static KnobToken integer(KnobLexer *lx, const char *start, const char *digits, const char *cur, unsigned radix)
{
    uint64_t v = 0;
    lx->huge = false;
    lx->negative = *start == '-';
    for (; digits < cur; digits++) {
        uint64_t d = (uint64_t)(*digits <= '9' ? *digits - '0' : (*digits | 32) - 'a' + 10);
        lx->huge |= v > (UINT64_MAX - d) / radix;
        v = v * radix + d;
    }
    lx->number = v;
    return finish(lx, start, cur, TK_INT);
}

/*!re2c
    re2c:api:style = free-form;
    re2c:define:YYCTYPE = "unsigned char";
    re2c:define:YYCURSOR = cur;
    re2c:define:YYMARKER = marker;
    re2c:yyfill:enable = 0;

    blank    = [ \t];
    control  = [\x00-\x08\x0b-\x1f\x7f];
    text     = [^\n] \ control;
    comment  = ";" text*;
    newline  = "\r"? "\n";
    name     = [a-zA-Z_] [a-zA-Z0-9_.\-]*;
    quoted   = "\"" ((text \ ["\\]) | "\\" text)*;
    digit    = [0-9];
    exponent = [eE] [-+]? digit+;
*/

KnobToken knob_token(KnobLexer *lx)
{
    const char *cur = lx->cur, *marker = cur, *start;
    for (;;) {
        start = cur;
        /*!re2c
            blank+ comment? { continue; }
            comment         { if (lx->fresh) continue; return finish(lx, start, start + 1, TK_SEMICOLON); }
            newline         { return finish(lx, start, cur, TK_NEWLINE); }
            "~"             { return finish(lx, start, cur, TK_TILDE); }
            "="             { return finish(lx, start, cur, TK_EQUALS); }
            name | digit+   { return finish(lx, start, cur, TK_NAME); }
            "[" (text \ "]")* "]"  { return finish(lx, start, cur, TK_SECTION); }
            control         {
                bool end = start == lx->limit;
                return finish(lx, start, end ? start : cur, end ? TK_END : TK_CONTROL);
            }
            *               { return finish(lx, start, cur, TK_OTHER); }
        */
    }
}

// Returns the token of an unclosed quote: TK_UNCLOSED if the line ends at `cur`, else TK_CONTROL for the byte there.
static KnobToken unclosed(KnobLexer *lx, const char *start, const char *cur)
{
    unsigned char c = (unsigned char)*cur;
    bool line_end = cur == lx->limit || c == '\\' || c == '\n' || (c == '\r' && cur[1] == '\n');
    return line_end ? finish(lx, start, cur, TK_UNCLOSED) : finish(lx, cur, cur + 1, TK_CONTROL);
}

// A quote counts only at the beginning of a value.
KnobToken knob_value(KnobLexer *lx, bool guarded)
{
    const char *cur = lx->cur, *marker = cur, *start, *first = NULL, *last = cur;
    for (;;) {
        start = cur;
        /*!re2c
            blank+              { if (*cur == ';') break; continue; }
            quoted "\""         { if (!first) return finish(lx, start, cur, TK_QUOTED); cur = start + 1; goto part; }
            quoted              { if (!first) return unclosed(lx, start, cur); cur = start + 1; goto part; }
            ";"                 { if (guarded) break; goto part; }
            newline | "~"       { break; }
            (text \ [ \t"~;])+  { goto part; }
            control             { if (start == lx->limit) break; return finish(lx, start, cur, TK_CONTROL); }
        */
    part:
        first = first ? first : start;
        last = cur;
    }
    lx->cur = start;
    lx->start = first ? first : last;
    lx->end = last;
    return first ? TK_TEXT : TK_EMPTY;
}

KnobToken knob_item(KnobLexer *lx)
{
    const char *cur = lx->cur, *marker = cur, *start;
    for (;;) {
        if (cur >= lx->limit)
            return finish(lx, lx->limit, lx->limit, TK_END);
        start = cur;
        /*!re2c
            blank+          { continue; }
            [-+]? ("0" | [1-9] digit*)   { return integer(lx, start, start + (*start < '0'), cur, 10); }
            [-+]? "0" [0-7]+             { return integer(lx, start, start + (*start < '0'), cur, 8); }
            [-+]? "0" [xX] [0-9a-fA-F]+  { return integer(lx, start, start + (*start < '0') + 2, cur, 16); }
            [-+]? digit+                 { return finish(lx, start, cur, TK_REAL); }
            [-+]? (digit+ "." digit+ | "." digit+ | digit+ exponent | digit* "." digit+ exponent)  {
                return finish(lx, start, cur, TK_REAL);
            }
            ".."            { return finish(lx, start, cur, TK_DOTS); }
            ","             { return finish(lx, start, cur, TK_COMMA); }
            name            { return finish(lx, start, cur, TK_NAME); }
            *               { return finish(lx, start, cur, TK_OTHER); }
        */
    }
}

void knob_skip(KnobLexer *lx)
{
    const char *cur = lx->cur, *marker = cur, *start;
    for (;;) {
        start = cur;
        /*!re2c
            blank+ (";" [^\n\x00]*)?   { continue; }
            quoted "\""                { continue; }
            "\n" | "~"                 { break; }
            "\x00"                     { if (start == lx->limit) break; continue; }
            *                          { continue; }
        */
    }
    lx->cur = start;
}
