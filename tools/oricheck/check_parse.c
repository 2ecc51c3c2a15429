// SPDX-License-Identifier: MIT
// Parses the directives of a test file.
//
// Directives are comments in the file's language; `test`, `set`, `idempotent` and `precise` also bare lines of
// Ori text. A comment that resembles a directive is an error, so that a misspelled directive is not ignored. This holds
// for a lower-case word with a colon at the start of a comment, and for the word of a directive in another spelling.
#define _DEFAULT_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "tools/options/options.h"
#include "tools/oricheck/check.h"

static const struct {
    const char *word;
    DirectiveForm form;
} directives[] = {
#define DIRECTIVE(id, word, form, arg, help) {word, FORM_##form},
#include "tools/oricheck/check.def"
};

static const struct {
    const char *word, *argument;
    bool checks;  // must contain a check
} kinds[] = {
    {NULL, NULL, false},
#define TEST(id, word, argument, checks, help) {word, argument, checks},
#include "tools/oricheck/check.def"
};

typedef enum {
#define SETTING(id, ...) SETTING_##id,
#include "tools/oricheck/check.def"
    SETTINGS
} Setting;

static const char *const settings[] = {
#define SETTING(id, word, ...) word,
#include "tools/oricheck/check.def"
};

enum {
    OPT_LEVEL,
    OPT_ENTRY,
    OPT_ENTRY_SHORT,
    OPT_STRIP_DEBUG,
    OPT_SELF_CHECK,
    OPT_REPORTS,
    OPT_DISABLE,
    OPT_ARCH,
    OPT_VERSION
};

// Options of `set opt`, a subset of the options of oriopt.
static const Option options[] = {
    {OPT_LEVEL, "O", ARG_JOINED, "0..4", ""},
    {OPT_ENTRY, "entry", ARG_VALUE, "NAME", ""},
    {OPT_ENTRY_SHORT, "e", ARG_VALUE, "NAME", ""},
    {OPT_STRIP_DEBUG, "strip-debug", ARG_NONE, "", ""},
    {OPT_SELF_CHECK, "self-check", ARG_VALUE, "LIST", ""},
    {OPT_REPORTS, "reports", ARG_NONE, "", ""},
    {OPT_DISABLE, "disable-phases", ARG_VALUE, "LIST", ""},
    {OPT_ARCH, "arch", ARG_VALUE, "sm_NN", ""},
    {OPT_VERSION, "ptx-version", ARG_VALUE, "N.M", ""},
};

typedef struct Parser {
    Test *test;
    Arena *arena;
    uint32_t line;
    uint32_t open;  // number of trailing `error:` comments that wait for a line
    bool matched;   // a label, check or next has been parsed
    bool wrong;     // reported already: the first directive is not `test`
} Parser;

const char *check_comment(Lang lang) { return lang == LANG_ORI ? ";" : "//"; }

static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    return p;
}

static const char *trim(const char *p, const char *end)
{
    while (end > p && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    return end;
}

/* -- Options -------------------------------------------------------------------------------------------- */

// Splits at blanks, but not after `-O`; argv[0] is for the program's name.
static int split_words(Arena *arena, const char *text, char ***argv)
{
    VEC(char *) words = {0};
    VEC_PUSH(arena, &words, NULL);
    while (*(text += strspn(text, " \t"))) {
        size_t n = strcspn(text, " \t");
        bool level = n == 2 && memcmp(text, "-O", 2) == 0;
        const char *next = text + n + (level ? strspn(text + n, " \t") : 0);
        size_t more = level ? strcspn(next, " \t") : 0;
        char *word = arena_alloc(arena, n + more + 1);
        memcpy(word, text, n);
        memcpy(word + n, next, more);
        word[n + more] = 0;
        VEC_PUSH(arena, &words, word);
        text = next + more;
    }
    *argv = words.at;
    return (int)words.n;
}

static void set_level(Parser *p, const char *value)
{
    if (value[0] < '0' || value[0] > '4' || value[1])
        check_fail(p->test, p->line, "-O: '%s' is not a level from 0 to 4", value);
    else
        p->test->ctx->options.level = value[0] - '0';
}

static void set_target(Parser *p, const char *what, const char *value)
{
    char why[300];
    if (!sm_find(value, &p->test->ctx->options.target, why))
        check_fail(p->test, p->line, "%s: %s", what, why);
}

static void parse_option(Parser *p, int id, const char *value)
{
    PhaseOptions *o = &p->test->ctx->options;
    switch (id) {
    case OPT_LEVEL: set_level(p, value); break;
    case OPT_ENTRY:
    case OPT_ENTRY_SHORT: VEC_PUSH(p->arena, &p->test->entries, ((Entry){value, p->line})); break;
    case OPT_STRIP_DEBUG: p->test->strip_debug = true; break;
    case OPT_REPORTS: o->reports = true; break;
    case OPT_DISABLE: o->disabled = value; break;
    case OPT_ARCH: set_target(p, "-arch", value); break;
    case OPT_VERSION:
        p->test->version = ptx_version(value, strlen(value));
        if (!p->test->version)
            check_fail(p->test, p->line, "--ptx-version: '%s' is not a version of PTX from 3.1 to 9.0", value);
        break;
    case OPT_SELF_CHECK:
        if (!phase_self_checks(o, value))
            check_fail(p->test, p->line, "--self-check: '%s' is not a list of clone, roundtrip and contracts", value);
        break;
    }
}

static void parse_options(Parser *p, const char *text, size_t table_len)
{
    OptionParser op = {.table = options, .n = table_len, .at = 1};
    op.argc = split_words(p->arena, text, &op.argv);
    for (int id; (id = option_next(&op)) != OPTION_END;) {
        if (id == OPTION_ERROR) {
            char *list = strchr(op.error, ';');
            check_fail(p->test, p->line, "%.*s", list ? (int)(list - op.error) : -1, op.error);
            return;
        }
        if (id == OPTION_OPERAND) {
            check_fail(p->test, p->line, "'%s' is not an option", op.value);
            return;
        }
        parse_option(p, id, op.value);
    }
}

/* -- test and set --------------------------------------------------------------------------------------- */

static TestKind find_kind(const char *word, size_t len)
{
    TestKind kind = ARRAY_LEN(kinds) - 1;
    while (kind && (strlen(kinds[kind].word) != len || memcmp(kinds[kind].word, word, len) != 0))
        kind--;
    return kind;
}

static void parse_test(Parser *p, const char *text)
{
    Test *t = p->test;
    size_t n = strcspn(text, " \t");
    TestKind kind = find_kind(text, n);
    if (t->kind_line) {
        // A plain comment may begin with this word.
        if (kind)
            check_fail(t, p->line, "a second `test` directive; the first is in line %u", t->kind_line);
        return;
    }
    t->kind_line = p->line;
    t->kind = kind;
    const char *argument = text + n + strspn(text + n, " \t");
    if (!kind)
        check_fail(t, p->line, "unknown kind of test `%.*s`", (int)n, text);
    else if (!*kinds[kind].argument && *argument)
        check_fail(t, p->line, "`test %s` takes no argument", kinds[kind].word);
    else if (kind != TEST_PIPELINE && *kinds[kind].argument && !*argument)
        check_fail(t, p->line, "`test %s` requires the name of a phase", kinds[kind].word);
    else if (kind == TEST_PIPELINE)
        parse_options(p, argument, 1);
    else
        t->phases = argument;
}

static void report_knob_error(void *user, const DiagMessage *message)
{
    Parser *p = user;
    check_fail(p->test, p->line, "set knob: %s", message->text);
}

static void parse_knob(Parser *p, const char *text)
{
    Ctx *ctx = p->test->ctx;
    Diag diag = {.report = report_knob_error, .user = p};
    if (!p->test->knobs)
        ctx->settings = p->test->knobs = phase_knobs(&ctx->arena);
    knob_read_text(p->test->knobs, KS_COMMAND_LINE, text, strlen(text), KNOB_NO_OFFSET, &diag);
}

static void parse_emit(Parser *p, const char *text)
{
    bool ori = strcmp(text, "ori") == 0;
    if (!ori && strcmp(text, "ptx") != 0)
        check_fail(p->test, p->line, "expected `set emit ptx` or `set emit ori`");
    p->test->emit = ori ? LANG_ORI : LANG_PTX;
}

static void parse_set(Parser *p, const char *text)
{
    size_t n = strcspn(text, " \t");
    const char *value = text + n + strspn(text + n, " \t");
    Setting k = 0;
    while (k < SETTINGS && (strlen(settings[k]) != n || memcmp(settings[k], text, n) != 0))
        k++;
    if (k == SETTINGS) {
        check_fail(p->test, p->line, "unknown `set %.*s`; expected opt, knob, arch or emit", (int)n, text);
        return;
    }
    switch (k) {
    case SETTING_OPT:
        if (!*value)
            check_fail(p->test, p->line, "`set opt` requires options");
        parse_options(p, value, ARRAY_LEN(options));
        break;
    case SETTING_KNOB: parse_knob(p, value); break;
    case SETTING_ARCH: set_target(p, "set arch", value); break;
    default: parse_emit(p, value); break;
    }
}

/* -- Checks --------------------------------------------------------------------------------------------- */

// Ends the scope of all names: registers belong to a function.
static void end_scope(Test *t)
{
    for (uint32_t k = 0; k < t->names.n; k++)
        t->names.at[k].now = false;
}

static void add_check(Parser *p, DirectiveKind kind, uint64_t count, const char *text)
{
    static const unsigned allowed[DIRECTIVE_COUNT] = {[DIR_LABEL] = PATTERN_BINDS,
                                                      [DIR_CHECK] = PATTERN_BINDS | PATTERN_USES,
                                                      [DIR_NEXT] = PATTERN_BINDS | PATTERN_USES,
                                                      [DIR_NOT] = PATTERN_USES,
                                                      [DIR_COUNT] = PATTERN_USES};
    Check c = {.kind = kind, .line = p->line, .count = count};
    if (kind == DIR_LABEL)
        end_scope(p->test);
    if (kind == DIR_NEXT && !p->matched)
        check_fail(p->test, p->line, "`next:` must follow a match");
    p->matched |= allowed[kind] & PATTERN_BINDS;
    if (pattern_parse(p->test, p->line, text, allowed[kind], &c.pattern))
        VEC_PUSH(p->arena, &p->test->checks, c);
}

static void add_error(Parser *p, const char *text, bool alone)
{
    ErrorCheck e = {.at = p->line, .line = p->line};
    text += strspn(text, " \t");
    size_t digits = strspn(text, "0123456789");
    if (digits && text[digits] == ':') {
        e.col = (uint32_t)MIN(strtoull(text, NULL, 10), UINT32_MAX);
        text += digits + 1;
    }
    if (!pattern_parse(p->test, p->line, text, 0, &e.pattern))
        return;
    VEC_PUSH(p->arena, &p->test->errors, e);
    p->open += alone;
}

static void add_remark(Parser *p, const char *text)
{
    RemarkCheck c = {.line = p->line};
    if (pattern_parse(p->test, p->line, text, 0, &c.pattern))
        VEC_PUSH(p->arena, &p->test->remarks, c);
}

// Assigns the current line, which has more than an `error:`, to the errors that wait for a line.
static void close_errors(Parser *p)
{
    for (; p->open; p->open--)
        p->test->errors.at[p->test->errors.n - p->open].line = p->line;
}

static void begin_block(Parser *p, const char *text, const char *line_end)
{
    Test *t = p->test;
    if (*text)
        check_fail(t, p->line, "nothing may follow `precise:` on its line; the result follows in the next lines");
    t->precise = true;
    t->block_line = p->line;
    t->block = (size_t)(line_end - t->source.text);
}

/* -- Lines ---------------------------------------------------------------------------------------------- */

static DirectiveKind find_directive(const char *word, size_t len, DirectiveForm form)
{
    DirectiveKind d = 0;
    while (d < DIRECTIVE_COUNT && (directives[d].form != form || strlen(directives[d].word) != len ||
                                   memcmp(directives[d].word, word, len) != 0))
        d++;
    return d;
}

// Reports a directive before `test`, once. Returns true if `test` came first.
static bool require_test(Parser *p)
{
    if (p->test->kind_line || p->wrong)
        return true;
    p->wrong = true;
    check_fail(p->test, p->line, "the first directive must be `test`");
    return false;
}

// Parses a directive without a colon; returns false if the line is none.
static bool parse_words(Parser *p, const char *text)
{
    size_t n = strcspn(text, " \t");
    const char *rest = text + n + strspn(text + n, " \t");
    DirectiveKind d = find_directive(text, n, FORM_LINE);
    if (d == DIRECTIVE_COUNT && !*rest)
        d = find_directive(text, n, FORM_WORD);
    if (d == DIRECTIVE_COUNT || (d != DIR_TEST && !require_test(p)))
        return d != DIRECTIVE_COUNT;
    switch (d) {
    case DIR_TEST: parse_test(p, rest); break;
    case DIR_SET: parse_set(p, rest); break;
    case DIR_IDEMPOTENT: p->test->idempotent = true; break;
    default: p->test->precise = true; break;
    }
    return true;
}

// True if a word before a colon is a directive in another spelling.
static bool looks_like_directive(const char *word, size_t len)
{
    for (size_t d = 0; d < ARRAY_LEN(directives); d++)
        if (strlen(directives[d].word) == len && strncasecmp(directives[d].word, word, len) == 0)
            return true;
    return len > 6 && (strncasecmp(word, "check-", 6) == 0 || strncasecmp(word, "check_", 6) == 0);
}

static void unknown_directive(Parser *p, const char *text, size_t len)
{
    char known[200] = "";
    for (size_t d = 0, n = 0; d < ARRAY_LEN(directives) && n < sizeof known; d++)
        if (directives[d].form == FORM_TEXT)
            n += (size_t)snprintf(known + n, sizeof known - n, d == DIR_COUNT ? " %s N:" : " %s:", directives[d].word);
    check_fail(p->test, p->line, "unknown directive `%.*s`; there are%s", (int)len, text, known);
}

// Parses a directive with a colon. Other lines are plain comments.
static void parse_colon(Parser *p, const char *text, const char *line_end)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz", *capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
    size_t n = 0;
    while (text[n] && (strchr(letters, text[n]) || strchr(capitals, text[n])))
        n++;
    size_t gap = strspn(text + n, " \t"), digits = strspn(text + n + gap, "0123456789");
    const char *colon = text + n + gap + digits;
    colon += strspn(colon, " \t");
    if (!n || *colon != ':')
        return;
    size_t shown = (size_t)(colon - text) + 1;
    DirectiveKind d = find_directive(text, n, FORM_TEXT);
    bool right = d == DIR_COUNT ? gap && digits && text + n + gap + digits == colon : text + n == colon;
    if (d == DIRECTIVE_COUNT || !right) {
        if (looks_like_directive(text, n) || strspn(text, letters) + 1 == shown)
            unknown_directive(p, text, shown);
        return;
    }
    const char *rest = colon + 1 + strspn(colon + 1, " \t");
    if (!require_test(p) || d == DIR_PTXAS)
        return;
    if (d == DIR_BLOCK) {
        begin_block(p, rest, line_end);
    } else if (d == DIR_LAUNCH) {
        check_add_launch(p->test, p->line, rest);
    } else if (d == DIR_REMARK) {
        add_remark(p, rest);
    } else {
        add_check(p, d, d == DIR_COUNT ? strtoull(text + n + gap, NULL, 10) : 0, rest);
    }
}

// Returns the text after `error:` in a comment of this line; NULL if there is none.
static const char *find_error(const char *p, const char *end, const char *comment)
{
    size_t n = strlen(comment);
    for (; (size_t)(end - p) > n; p++) {
        if (memcmp(p, comment, n) != 0)
            continue;
        const char *word = skip_blanks(p + n, end);
        if (end - word >= 6 && memcmp(word, "error:", 6) == 0)
            return word + 6;
    }
    return NULL;
}

static void parse_line(Parser *p, const char *text, const char *end, const char *line_end)
{
    const char *comment = check_comment(p->test->lang), *start = skip_blanks(text, end);
    size_t n = strlen(comment);
    bool alone = (size_t)(end - start) >= n && memcmp(start, comment, n) == 0;
    const char *error = find_error(text, end, comment);
    if (!error || !alone)
        close_errors(p);
    if (error) {
        if (require_test(p))
            add_error(p, arena_text(p->arena, error, (size_t)(end - error)), alone);
        return;
    }
    if (alone) {
        start = skip_blanks(start + n, end);
        const char *words = arena_text(p->arena, start, (size_t)(trim(start, end) - start));
        if (!parse_words(p, words))
            parse_colon(p, words, line_end);
    } else if (p->test->lang == LANG_ORI) {
        const char *remark = memchr(start, ';', (size_t)(end - start));
        const char *stop = trim(start, remark ? remark : end);
        parse_words(p, arena_text(p->arena, start, (size_t)(stop - start)));
    }
}

// Reports a line after `precise:` that is no comment.
static void check_block_line(Parser *p, const char *text, const char *end)
{
    const char *comment = check_comment(p->test->lang), *start = skip_blanks(text, end);
    size_t n = strlen(comment);
    if (start < end && ((size_t)(end - start) < n || memcmp(start, comment, n) != 0))
        check_fail(p->test, p->line, "only comments may follow `precise:`");
}

static void check_whole(Parser *p)
{
    Test *t = p->test;
    if (!t->kind_line && !p->wrong)
        check_fail(t, 0, "there is no `test` directive");
    bool checks = t->checks.n || t->errors.n || t->remarks.n || t->idempotent || t->precise || t->launches.n;
    if (kinds[t->kind].checks && !checks && !t->failures)
        check_fail(t, t->kind_line, "this test checks nothing");
    if (t->errors.n && (t->checks.n || t->precise))
        check_fail(t, t->checks.n ? t->checks.at[0].line : t->block_line, "a file with errors has no result to check");
}

void check_parse(Test *t)
{
    Parser p = {.test = t, .arena = &t->ctx->arena};
    const char *at = t->source.text, *limit = at + t->source.len;
    if (t->source.len >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0)
        at += 3;
    while (at < limit) {
        const char *newline = memchr(at, '\n', (size_t)(limit - at));
        const char *next = newline ? newline + 1 : limit, *end = newline ? newline : limit;
        p.line++;
        end -= end > at && end[-1] == '\r';
        if (t->block_line)
            check_block_line(&p, at, end);
        else
            parse_line(&p, at, end, next);
        at = next;
    }
    p.line++;
    close_errors(&p);
    check_whole(&p);
}
