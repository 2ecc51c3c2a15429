// SPDX-License-Identifier: MIT
// Reads values by type: numbers, ranges, lists, texts.
#define _POSIX_C_SOURCE 200809L  // uselocale
#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "knobs/knobs_internal.h"

// A value that is being read.
typedef struct ValueText {
    KnobReader *r;
    const KnobInfo *info;
    const char *start, *end;
    KnobLexer lx;  // of its items
} ValueText;

const char *knob_expected(KnobType type)
{
    static const char *const texts[] = {
        [KT_NONE] = "no value, or 0 or 1",
        [KT_INT] = "a number such as 12, 0x1f, 017 or -3",
        [KT_BDGT] = "a count such as 12 or 0x1f",
        [KT_IRNG] = "a range such as 1..8, 1.., ..8, or a number",
        [KT_ILIST] = "numbers such as 1,2,-3",
        [KT_FLOAT] = "a decimal number such as 0.25 or -1e3",
        [KT_DBL] = "a decimal number such as 0.25 or -1e3",
        [KT_STR] = "a text (\"\" for an empty one)",
        [KT_WHEN] = "FN=glob, FH=hash or PH=phase",
        [KT_OPCODE_STR_LIST] = "pairs of a name and a number such as FADD,3,FMUL,2",
    };
    return texts[type];
}

/* -- Errors --------------------------------------------------------------------------------------------- */

static int shown(const char *start, const char *end) { return (int)MIN(end - start, 60); }

// Reports a text at `at` that does not fit the type.
static bool bad(const ValueText *v, const char *at, const char *what)
{
    return knob_error(v->r, at, "%s: bad %s '%.*s'; expected %s", v->info->name, what, shown(v->start, v->end),
                      v->start, knob_expected(v->info->type));
}

static bool out_of_range(const ValueText *v, const char *at, const char *end)
{
    const char *range = v->info->range[0] ? v->info->range : "..";
    const char *zero = v->info->type == KT_BDGT && range[0] == '.' ? "0" : "";
    return knob_error(v->r, at, "%s: %.*s is out of range %s%s", v->info->name, shown(at, end), at, zero, range);
}

/* -- Integers ------------------------------------------------------------------------------------------- */

// Converts the token of a number. False: it does not fit 64 bits.
static bool signed_number(const KnobLexer *lx, int64_t *number)
{
    if (lx->huge || lx->number > (uint64_t)INT64_MAX + lx->negative)
        return false;
    *number = (int64_t)(lx->negative ? 0 - lx->number : lx->number);
    return true;
}

// The tokens at the ends of a range.
typedef struct Ends {
    KnobLexer lo, hi;
    bool has_lo, has_hi;
} Ends;

// Reads `lo..hi`, `lo..`, `..hi` or one number. False: there is another token, at lx->start.
static bool read_ends(KnobLexer *lx, Ends *e)
{
    *e = (Ends){0};
    KnobToken t = knob_item(lx);
    if (t == TK_INT) {
        e->lo = *lx;
        e->has_lo = true;
        t = knob_item(lx);
    }
    if (e->has_lo && t == TK_END) {
        e->hi = e->lo;
        e->has_hi = true;
        return true;
    }
    if (t != TK_DOTS)
        return false;
    t = knob_item(lx);
    if (t == TK_INT) {
        e->hi = *lx;
        e->has_hi = true;
        t = knob_item(lx);
    }
    return t == TK_END && (e->has_lo || e->has_hi);
}

// Returns the range of numbers that the table permits.
static KnobRange allowed(const KnobInfo *info)
{
    KnobRange range = {info->type == KT_BDGT ? 0 : INT64_MIN, INT64_MAX};
    KnobLexer lx = {.cur = info->range, .limit = info->range + strlen(info->range)};
    Ends e;
    if (read_ends(&lx, &e)) {
        if (e.has_lo)
            signed_number(&e.lo, &range.lo);
        if (e.has_hi)
            signed_number(&e.hi, &range.hi);
    }
    return range;
}

// Converts the token of a number. Reports an error if the knob does not take the number.
static bool take_number(const ValueText *v, const KnobLexer *token, int64_t *number)
{
    KnobRange range = allowed(v->info);
    if (!signed_number(token, number))
        return knob_error(v->r, token->start, "%s: %.*s does not fit 64 bits", v->info->name,
                          shown(token->start, token->end), token->start);
    if (*number < range.lo || *number > range.hi)
        return out_of_range(v, token->start, token->end);
    return true;
}

static bool parse_int(ValueText *v, KnobValue *value)
{
    if (knob_item(&v->lx) != TK_INT)
        return bad(v, v->lx.start, "number");
    KnobLexer token = v->lx;
    if (knob_item(&v->lx) != TK_END)
        return bad(v, v->lx.start, "number");
    return take_number(v, &token, &value->number);
}

static bool parse_range(ValueText *v, KnobValue *value)
{
    KnobRange range = {INT64_MIN, INT64_MAX};
    Ends e;
    if (!read_ends(&v->lx, &e))
        return bad(v, v->lx.start, "range");
    if ((e.has_lo && !take_number(v, &e.lo, &range.lo)) || (e.has_hi && !take_number(v, &e.hi, &range.hi)))
        return false;
    if (range.lo > range.hi)
        return knob_error(v->r, v->start, "%s: the range %.*s is reversed: the lower end comes first", v->info->name,
                          shown(v->start, v->end), v->start);
    value->range = range;
    return true;
}

static bool parse_ints(ValueText *v, KnobValue *value)
{
    Arena *arena = v->r->into->arena;
    VEC(int64_t) list = {0};
    KnobToken t;
    do {
        int64_t number;
        if (knob_item(&v->lx) != TK_INT)
            return bad(v, v->lx.start, "list");
        if (!take_number(v, &v->lx, &number))
            return false;
        VEC_PUSH(arena, &list, number);
        t = knob_item(&v->lx);
    } while (t == TK_COMMA);
    if (t != TK_END)
        return bad(v, v->lx.start, "list");
    value->ints = (KnobInts){list.at, list.n};
    return true;
}

static bool parse_pairs(ValueText *v, KnobValue *value)
{
    Arena *arena = v->r->into->arena;
    VEC(KnobPair) list = {0};
    KnobToken t;
    do {
        KnobPair pair;
        if (knob_item(&v->lx) != TK_NAME)
            return bad(v, v->lx.start, "list");
        const char *name = v->lx.start, *end = v->lx.end;
        t = knob_item(&v->lx);
        bool comma = t == TK_COMMA;
        if (comma)
            t = knob_item(&v->lx);
        if (t == TK_END)
            return knob_error(v->r, name, "%s: '%.*s' has no number; expected %s", v->info->name, shown(name, end),
                              name, knob_expected(v->info->type));
        if (!comma || t != TK_INT)
            return bad(v, v->lx.start, "list");
        if (!take_number(v, &v->lx, &pair.number))
            return false;
        pair.name = knob_copy(arena, name, (size_t)(end - name));
        VEC_PUSH(arena, &list, pair);
        t = knob_item(&v->lx);
    } while (t == TK_COMMA);
    if (t != TK_END)
        return bad(v, v->lx.start, "list");
    value->pairs = (KnobPairs){list.at, list.n};
    return true;
}

bool knob_parse_hash(const char *start, const char *end, uint64_t *lo, uint64_t *hi)
{
    KnobLexer lx = {.cur = start, .limit = end};
    Ends e;
    if (!read_ends(&lx, &e) || e.lo.negative || e.lo.huge || e.hi.negative || e.hi.huge)
        return false;
    *lo = e.has_lo ? e.lo.number : 0;
    *hi = e.has_hi ? e.hi.number : UINT64_MAX;
    return *lo <= *hi;
}

/* -- Floating point ------------------------------------------------------------------------------------- */

// Returns the float or double nearest to a decimal number. The C library rounds correctly, but takes the decimal point
// from the locale. So the thread temporarily uses locale "C", which affects no other thread. (A copy of the text with
// localeconv()'s decimal point would race with a setlocale() in another thread.) No text after the value continues the
// number.
static double decimal(Heap *heap, const char *text, bool single)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c == (locale_t)0)
        heap_fail(heap, ST_INTERNAL, "there is no locale \"C\"");
    locale_t old = uselocale(c);
    double value = single ? (double)strtof(text, NULL) : strtod(text, NULL);
    uselocale(old);
    freelocale(c);
    return value;
}

static bool parse_real(ValueText *v, KnobValue *value)
{
    Heap *heap = v->r->into->arena->heap;
    bool single = v->info->type == KT_FLOAT;
    KnobToken t = knob_item(&v->lx);
    const char *start = v->lx.start, *end = v->lx.end, *range = v->info->range;
    if ((t != TK_REAL && t != TK_INT) || memchr(start, 'x', (size_t)(end - start)) ||
        memchr(start, 'X', (size_t)(end - start)))
        return bad(v, start, "number");
    if (knob_item(&v->lx) != TK_END)
        return bad(v, v->lx.start, "number");
    double x = decimal(heap, start, single);
    if (isinf(x))
        return knob_error(v->r, start, "%s: %.*s does not fit %s", v->info->name, shown(start, end), start,
                          single ? "a float" : "a double");
    const char *dots = strstr(range, "..");
    if (dots &&
        ((dots > range && x < decimal(heap, range, single)) || (dots[2] && x > decimal(heap, dots + 2, single))))
        return out_of_range(v, start, end);
    value->real = x;
    return true;
}

/* -- Texts ---------------------------------------------------------------------------------------------- */

char *knob_copy(Arena *arena, const char *text, size_t len)
{
    char *copy = arena_alloc(arena, len + 1);
    if (len)
        memcpy(copy, text, len);
    copy[len] = 0;
    return copy;
}

const char *knob_unquote(KnobReader *r, KnobToken token, const char *start, const char *end)
{
    if (token != TK_QUOTED)
        return knob_copy(r->into->arena, start, (size_t)(end - start));
    char *text = arena_alloc(r->into->arena, (size_t)(end - start)), *to = text;
    for (start++, end--; start < end; start++) {
        if (*start == '\\' && (start[1] == '"' || start[1] == '\\'))
            start++;
        *to++ = *start;
    }
    *to = 0;
    return text;
}

static bool parse_text(const ValueText *v, KnobToken token, KnobValue *value)
{
    KnobReader *r = v->r;
    char why[500];
    value->text = knob_unquote(r, token, v->start, v->end);
    return !r->check || r->check((int)(v->info - r->table.rows), value->text, why) ||
           knob_error(r, v->start, "%s", why);
}

/* -- All types ------------------------------------------------------------------------------------------ */

static bool parse_switch(const ValueText *v, KnobValue *value)
{
    if (v->end - v->start != 1 || (*v->start != '0' && *v->start != '1'))
        return knob_error(v->r, v->start, "%s: '%.*s' is not a value for a switch; expected %s", v->info->name,
                          shown(v->start, v->end), v->start, knob_expected(KT_NONE));
    value->number = *v->start - '0';
    return true;
}

static bool missing(const ValueText *v)
{
    bool list = v->info->type == KT_ILIST || v->info->type == KT_OPCODE_STR_LIST;
    return knob_error(v->r, v->start, list ? "%s: the list is empty; expected %s" : "%s has no value; expected %s",
                      v->info->name, knob_expected(v->info->type));
}

bool knob_parse_value(KnobReader *r, int row, KnobToken token, const char *start, const char *end, KnobValue *value)
{
    ValueText v = {r, &r->table.rows[row], start, end, {.cur = start, .limit = end}};
    *value = (KnobValue){0};
    if (token == TK_EMPTY && v.info->type != KT_NONE)
        return missing(&v);
    switch (v.info->type) {
    case KT_NONE: return parse_switch(&v, value);
    case KT_INT:
    case KT_BDGT: return parse_int(&v, value);
    case KT_IRNG: return parse_range(&v, value);
    case KT_ILIST: return parse_ints(&v, value);
    case KT_FLOAT:
    case KT_DBL: return parse_real(&v, value);
    case KT_STR: return parse_text(&v, token, value);
    case KT_OPCODE_STR_LIST: return parse_pairs(&v, value);
    case KT_WHEN: break;
    }
    return false;
}
