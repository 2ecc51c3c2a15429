// SPDX-License-Identifier: MIT
// Parses and matches patterns: literal text with {{regex}}, [[NAME:regex]] and [[NAME]].
//
// A pattern without regular expressions is searched as literal text. Any other is compiled to one POSIX extended
// regular expression: literal text quoted, regular expressions in groups of their own, names replaced by their
// bindings. The groups of a match are the new bindings. POSIX extended expressions have no back-references. If a
// pattern uses a name that it binds itself, the expression only selects candidate lines, and a search by pieces
// decides.
#include <ctype.h>
#include <regex.h>

#include "tools/oricheck/check.h"

enum { GROUPS_MAX = 64 };

char *check_fold(Arena *arena, const char *text, size_t len)
{
    char *folded = arena_alloc(arena, len + 1), *to = folded;
    for (size_t k = 0; k < len; k++) {
        bool blank = text[k] == ' ' || text[k] == '\t' || text[k] == '\r';
        if (!blank)
            *to++ = text[k];
        else if (to > folded && to[-1] != ' ')
            *to++ = ' ';
    }
    to -= to > folded && to[-1] == ' ';
    *to = 0;
    return folded;
}

/* -- Parsing -------------------------------------------------------------------------------------------- */

typedef struct Parser {
    Test *test;
    uint32_t line;
    unsigned allowed;  // PATTERN_*
    Pattern *pattern;
    VEC(Piece) pieces;
} Parser;

static void add_piece(Parser *p, PieceKind kind, const char *text, size_t len, uint32_t name)
{
    Piece piece = {.kind = kind, .text = arena_text(&p->test->ctx->arena, text, len), .name = name};
    VEC_PUSH(&p->test->ctx->arena, &p->pieces, piece);
}

// Returns the end of the bracket expression that opens at p; NULL if it does not end.
static const char *skip_brackets(const char *p)
{
    p += p[1] == '^' ? 2 : 1;
    p += *p == ']';
    for (; *p && *p != ']'; p++) {
        if (*p != '[' || !p[1] || !strchr(":.=", p[1]))
            continue;
        char close[3] = {p[1], ']', 0};
        const char *end = strstr(p + 2, close);
        if (!end)
            return NULL;
        p = end + 1;
    }
    return *p ? p + 1 : NULL;
}

// Returns the two characters `close` that end the regular expression at p; NULL if it does not end.
static const char *regex_end(const char *p, char close)
{
    while (p && *p) {
        // In `{{a{2}}}` the last two braces close the expression.
        if (p[0] == close && p[1] == close && (close == ']' || p[2] != close))
            return p;
        if (*p == '\\' && p[1])
            p += 2;
        else
            p = *p == '[' ? skip_brackets(p) : p + 1;
    }
    return NULL;
}

// Some systems support `\1` here, and number it by the groups of all pieces.
static bool has_back_reference(const char *text, size_t len)
{
    for (size_t k = 0; k + 1 < len; k++)
        if (text[k] == '\\' && isdigit((unsigned char)text[++k]))
            return true;
    return false;
}

// Checks a regular expression on its own and counts its groups.
static bool add_regex(Parser *p, PieceKind kind, const char *text, size_t len, uint32_t name)
{
    regex_t re;
    char why[200];
    if (len == 0 || has_back_reference(text, len)) {
        check_fail(p->test, p->line,
                   len ? "a regular expression cannot have a back-reference; bind a name"
                       : "this regular expression is empty");
        return false;
    }
    add_piece(p, kind, text, len, name);
    Piece *piece = &p->pieces.at[p->pieces.n - 1];
    int error = regcomp(&re, piece->text, REG_EXTENDED);
    if (error) {
        regerror(error, &re, why, sizeof why);
        check_fail(p->test, p->line, "bad regular expression `%s`: %s", piece->text, why);
        return false;
    }
    piece->group = p->pattern->groups;
    p->pattern->groups += 1 + (uint32_t)re.re_nsub;
    regfree(&re);
    if (p->pattern->groups > GROUPS_MAX)
        check_fail(p->test, p->line, "more than %d groups in one pattern", GROUPS_MAX);
    return p->pattern->groups <= GROUPS_MAX;
}

// Returns the index of a name, which is added if it is new.
static uint32_t find_name(Test *t, const char *text, size_t len)
{
    for (uint32_t k = 0; k < t->names.n; k++)
        if (strlen(t->names.at[k].name) == len && memcmp(t->names.at[k].name, text, len) == 0)
            return k;
    VEC_PUSH(&t->ctx->arena, &t->names, ((Bound){arena_text(&t->ctx->arena, text, len), false}));
    return t->names.n - 1;
}

static bool is_bound_by_pattern(const Parser *p, uint32_t name)
{
    for (uint32_t k = 0; k < p->pieces.n; k++)
        if (p->pieces.at[k].kind == PIECE_BIND && p->pieces.at[k].name == name)
            return true;
    return false;
}

static bool add_use(Parser *p, uint32_t name)
{
    const Bound *b = &p->test->names.at[name];
    bool back_reference = is_bound_by_pattern(p, name);
    if (!back_reference && !(p->allowed & PATTERN_USES)) {
        check_fail(p->test, p->line, "[[%s]] cannot be used in this directive", b->name);
        return false;
    }
    if (!back_reference && !b->now) {
        check_fail(p->test, p->line, "[[%s]] is not bound here; names end at each label", b->name);
        return false;
    }
    add_piece(p, back_reference ? PIECE_BACK_REFERENCE : PIECE_USE, "", 0, name);
    p->pattern->back_reference |= back_reference;
    p->pattern->uses |= !back_reference;
    return true;
}

// Parses [[NAME]] or [[NAME:regex]], whose name begins at `text`. Returns the text after it; NULL on a mistake.
static const char *parse_name(Parser *p, const char *text)
{
    const char *end = text;
    while (isalnum((unsigned char)*end) || *end == '_')
        end++;
    bool use = end[0] == ']' && end[1] == ']';
    if (end == text || isdigit((unsigned char)*text) || (!use && *end != ':')) {
        check_fail(p->test, p->line, "expected [[NAME]] or [[NAME:regex]]; the text itself is {{[[][[]}}");
        return NULL;
    }
    uint32_t name = find_name(p->test, text, (size_t)(end - text));
    if (use)
        return add_use(p, name) ? end + 2 : NULL;
    const char *close = regex_end(end + 1, ']');
    const char *wrong = !close                          ? "is not closed"
                        : !(p->allowed & PATTERN_BINDS) ? "cannot be bound in this directive"
                        : is_bound_by_pattern(p, name)  ? "is bound twice in one pattern"
                                                        : NULL;
    if (wrong) {
        check_fail(p->test, p->line, "[[%s: %s", p->test->names.at[name].name, wrong);
        return NULL;
    }
    return add_regex(p, PIECE_BIND, end + 1, (size_t)(close - end - 1), name) ? close + 2 : NULL;
}

static const char *parse_regex(Parser *p, const char *text)
{
    const char *close = regex_end(text, '}');
    if (!close) {
        check_fail(p->test, p->line, "{{ is not closed; the text itself is {{[{][{]}}");
        return NULL;
    }
    return add_regex(p, PIECE_REGEX, text, (size_t)(close - text), 0) ? close + 2 : NULL;
}

// Returns the end of literal text: in `[[[X]]]` the last two brackets open a name.
static const char *text_end(const char *p)
{
    while (*p && !(p[0] == '{' && p[1] == '{') && !(p[0] == '[' && p[1] == '[' && p[2] != '['))
        p++;
    return p;
}

bool pattern_parse(Test *t, uint32_t line, const char *text, unsigned allowed, Pattern *pattern)
{
    *pattern = (Pattern){.text = check_fold(&t->ctx->arena, text, strlen(text)), .groups = 1};
    Parser p = {.test = t, .line = line, .allowed = allowed, .pattern = pattern};
    if (!*pattern->text) {
        check_fail(t, line, "this directive has no text");
        return false;
    }
    for (const char *at = pattern->text; at && *at;) {
        const char *end = text_end(at);
        if (end > at) {
            add_piece(&p, PIECE_TEXT, at, (size_t)(end - at), 0);
            at = end;
        } else {
            at = *at == '{' ? parse_regex(&p, at + 2) : parse_name(&p, at + 2);
        }
        if (!at)
            return false;
    }
    for (uint32_t k = 0; k < p.pieces.n; k++)
        if (p.pieces.at[k].kind == PIECE_BIND)
            t->names.at[p.pieces.at[k].name].now = true;
    pattern->at = p.pieces.at;
    pattern->n = p.pieces.n;
    return true;
}

/* -- Matching ------------------------------------------------------------------------------------------- */

struct Finder {
    const Pattern *pattern;
    bool literal;
    bool open;             // the expressions are compiled
    const char *source;    // the literal text, or the expression
    regex_t whole, *each;  // each: by piece, if pattern->again
    TextLine *text;        // text of TEXT and USE, by piece
};

static void put_quoted(Out *out, TextLine text)
{
    for (uint32_t k = 0; k < text.len; k++) {
        char c = text.text[k];
        if (c == '\\' || c == '^')
            out_char(out, '\\');
        bool bracket = strchr("$.[]|()*+?{}", c);
        out_z(out, bracket ? "[" : "");
        out_char(out, c);
        out_z(out, bracket ? "]" : "");
    }
}

static const Piece *binder(const Pattern *p, uint32_t name)
{
    const Piece *piece = p->at;
    while (piece->kind != PIECE_BIND || piece->name != name)
        piece++;
    return piece;
}

static void put_pieces(const Finder *f, Out *out)
{
    for (uint32_t k = 0; k < f->pattern->n; k++) {
        const Piece *piece = &f->pattern->at[k];
        bool plain = piece->kind == PIECE_TEXT || piece->kind == PIECE_USE;
        if (plain && f->literal)
            out_bytes(out, f->text[k].text, f->text[k].len);
        else if (plain)
            put_quoted(out, f->text[k]);
        else
            out_fmt(out, "(%s)",
                    piece->kind == PIECE_BACK_REFERENCE ? binder(f->pattern, piece->name)->text : piece->text);
    }
}

Finder *finder_new(Arena *arena, const Pattern *p, const TextLine *bound)
{
    Finder *f = NEW(arena, Finder);
    f->pattern = p;
    f->literal = p->groups == 1;
    f->text = NEW_ARRAY(arena, TextLine, p->n);
    f->each = NEW_ARRAY(arena, regex_t, p->n);
    for (uint32_t k = 0; k < p->n; k++) {
        const Piece *piece = &p->at[k];
        if (piece->kind == PIECE_USE)
            f->text[k] = bound[piece->name];
        else
            f->text[k] = (TextLine){piece->text, (uint32_t)strlen(piece->text)};
    }
    char buf[256];
    TextBuffer source = {.arena = arena};
    Out out = {.write = out_to_text, .user = &source, .buf = buf, .cap = sizeof buf};
    put_pieces(f, &out);
    out_char(&out, 0);
    out_flush(&out);
    f->source = source.at;
    return f;
}

static bool has_regex(const Piece *p) { return p->kind == PIECE_REGEX || p->kind == PIECE_BIND; }

void finder_open(Finder *f)
{
    // The pieces compiled in add_regex(), so an error here is lack of memory; then nothing matches.
    f->open = !f->literal && regcomp(&f->whole, f->source, REG_EXTENDED) == 0;
    for (uint32_t k = 0; k < f->pattern->n && f->open && f->pattern->back_reference; k++)
        if (has_regex(&f->pattern->at[k]))
            regcomp(&f->each[k], f->pattern->at[k].text, REG_EXTENDED);
}

void finder_close(Finder *f)
{
    if (!f->open)
        return;
    f->open = false;
    regfree(&f->whole);
    for (uint32_t k = 0; k < f->pattern->n && f->pattern->back_reference; k++)
        if (has_regex(&f->pattern->at[k]))
            regfree(&f->each[k]);
}

// True if the expression matches all of line[from..to). A match is the leftmost and longest one, so a match of the
// whole range is found. The line is terminated at `to` meanwhile.
static bool takes(const regex_t *re, char *line, size_t from, size_t to)
{
    regmatch_t m;
    char next = line[to];
    line[to] = 0;
    bool found = regexec(re, line + from, 1, &m, (from ? REG_NOTBOL : 0) | (next ? REG_NOTEOL : 0)) == 0;
    line[to] = next;
    return found && m.rm_so == 0 && (size_t)m.rm_eo == to - from;
}

static bool match_pieces(Finder *f, uint32_t k, char *line, size_t at, TextLine *bound)
{
    const Piece *piece = &f->pattern->at[k];
    if (k == f->pattern->n)
        return true;
    if (!has_regex(piece)) {
        TextLine want = piece->kind == PIECE_BACK_REFERENCE ? bound[piece->name] : f->text[k];
        return strncmp(line + at, want.text, want.len) == 0 && match_pieces(f, k + 1, line, at + want.len, bound);
    }
    for (size_t end = strlen(line) + 1; end-- > at;) {
        if (!takes(&f->each[k], line, at, end))
            continue;
        if (piece->kind == PIECE_BIND)
            bound[piece->name] = (TextLine){line + at, (uint32_t)(end - at)};
        if (match_pieces(f, k + 1, line, end, bound))
            return true;
    }
    return false;
}

bool finder_match(Finder *f, char *line, TextLine *bound)
{
    regmatch_t m[GROUPS_MAX];
    const Pattern *p = f->pattern;
    if (f->literal)
        return strstr(line, f->source);
    if (!f->open || regexec(&f->whole, line, p->groups, m, 0) != 0)
        return false;
    for (size_t at = 0; p->back_reference; at++) {
        if (match_pieces(f, 0, line, at, bound))
            return true;
        if (!line[at])
            return false;
    }
    for (uint32_t k = 0; k < p->n; k++) {
        const regmatch_t *g = &m[p->at[k].group];
        if (p->at[k].kind == PIECE_BIND)
            bound[p->at[k].name] = (TextLine){line + g->rm_so, (uint32_t)(g->rm_eo - g->rm_so)};
    }
    return true;
}
