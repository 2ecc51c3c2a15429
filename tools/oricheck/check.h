// SPDX-License-Identifier: MIT
// Interfaces between the parts of oricheck: parser of test files, runner, matcher of results.
//
// A test is one file. The arena of its context owns all its data.
#ifndef ORI_CHECK_H
#define ORI_CHECK_H

#include "tools/orirun/run_each.h"

typedef enum {
    TEST_NONE,
#define TEST(id, ...) TEST_##id,
#include "tools/oricheck/check.def"
} TestKind;

typedef enum {
#define DIRECTIVE(id, ...) DIR_##id,
#include "tools/oricheck/check.def"
    DIRECTIVE_COUNT
} DirectiveKind;

typedef enum { FORM_LINE, FORM_WORD, FORM_TEXT } DirectiveForm;  // `word ...`, `word` alone, `word: ...`

/* -- Patterns ----------------------------------------------------------------------------------------------- */

typedef enum {
    PIECE_TEXT,            // literal text
    PIECE_REGEX,           // {{regex}}
    PIECE_BIND,            // [[NAME:regex]]
    PIECE_USE,             // [[NAME]], bound by an earlier line
    PIECE_BACK_REFERENCE,  // [[NAME]], bound by an earlier piece of this pattern
} PieceKind;

typedef struct Piece {
    PieceKind kind;
    const char *text;  // bytes or regular expression, terminated
    uint32_t name;     // BIND, USE, AGAIN: index in the test's names
    uint32_t group;    // REGEX, BIND: group in the regular expression of the whole pattern
} Piece;

// A pattern that lines are matched against.
typedef struct Pattern {
    const char *text;  // source text, blanks folded
    Piece *at;
    uint32_t n;
    uint32_t groups;      // groups in the regular expression of the whole pattern
    bool uses;            // it uses names that are bound in earlier lines
    bool back_reference;  // it uses names that it binds itself
} Pattern;

/* -- Tests -------------------------------------------------------------------------------------------------- */

// A directive label, check, next, not or count.
typedef struct Check {
    DirectiveKind kind;
    uint32_t line;   // line of the directive
    uint64_t count;  // count N
    Pattern pattern;
} Check;

typedef struct ErrorCheck {
    uint32_t at;         // line of the directive
    uint32_t line, col;  // expected position; col 0 = any column
    Pattern pattern;
    bool seen;
} ErrorCheck;

typedef struct RemarkCheck {
    uint32_t line;  // line of the directive
    Pattern pattern;
    bool seen;
} RemarkCheck;

typedef struct Entry {
    const char *name;
    uint32_t line;
} Entry;

typedef struct Bound {
    const char *name;
    bool now;  // bound in the current scope
} Bound;

typedef struct Test {
    const char *path;
    Source source;
    Lang lang;
    Ctx *ctx;
    KnobStore *knobs;     // knobs that `set knob` sets; NULL: none
    Out *out;             // messages
    uint32_t failures;    // failures printed so far
    const char *skip;     // reason to skip the test; NULL = none
    bool bless, blessed;  // the block may be rewritten; it was rewritten
    // Contents of the file.
    TestKind kind;
    uint32_t kind_line;
    const char *phases;
    Lang emit;
    bool idempotent, precise, strip_debug;
    uint16_t version;        // of --ptx-version; 0 = that of the text
    TextBuffer launches;     // launches of `run:` as a .run file; empty: none
    uint32_t launches_line;  // line of the first
    VEC(Entry) entries;
    VEC(Check) checks;
    VEC(ErrorCheck) errors;
    VEC(RemarkCheck) remarks;
    VEC(Bound) names;
    uint32_t block_line;  // line of `precise:`, 0 = none
    size_t block;         // offset of the line after it
} Test;

// Lines of the result, without blank lines.
typedef struct ResultLine {
    TextLine text;
    char *folded;     // the line with each run of blanks folded to one; terminated
    uint32_t number;  // number with blank lines, from 1
} ResultLine;

typedef struct Result {
    ResultLine *lines;
    uint32_t n;
} Result;

/* check_parse.c */
// Returns the text that starts a comment in a language.
const char *check_comment(Lang lang);
// Parses the directives of t->source; each mistake is a failure.
void check_parse(Test *t);

/* check_pattern.c */
enum { PATTERN_BINDS = 1, PATTERN_USES = 2 };  // permissions of a pattern
// Returns a copy with each run of blanks folded to one and none at the ends.
char *check_fold(Arena *arena, const char *text, size_t len);
// Parses the TEXT of a directive. A mistake is a failure and returns false.
bool pattern_parse(Test *t, uint32_t line, const char *text, unsigned allowed, Pattern *p);

// A pattern prepared for a search, with the current bindings of its names.
typedef struct Finder Finder;
Finder *finder_new(Arena *arena, const Pattern *p, const TextLine *bound);
// Nothing may unwind between open and close: the arena does not own compiled regular expressions.
void finder_open(Finder *f);
void finder_close(Finder *f);
// Returns true if a folded line contains the pattern, and binds the pattern's names in `bound`, by index. Modifies the
// line temporarily.
bool finder_match(Finder *f, char *line, TextLine *bound);

/* check_match.c */
Result result_lines(Arena *arena, const TextBuffer *text);
// Runs the checks on the result.
void check_result(Test *t, const Result *r);
// Returns true if a text contains a pattern without names.
bool check_holds(Test *t, const Pattern *p, const char *text);

/* check_view.c */
// Prints a failure `file:line: ...`; line 0 = no line.
void check_fail(Test *t, uint32_t line, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
// Prints the lines around r->lines[at]; `end` is the end of the searched lines.
void check_view(Test *t, const Result *r, uint32_t at, uint32_t end);
// Prints the differences of two texts; returns false if there are none.
bool check_diff(Test *t, const TextBuffer *old, const TextBuffer *now);

/* check_run.c */
// Parses and runs one file, whose source is open, and prints failures.
void check_run(Test *t);

/* check_launch.c */
// Adds the launch of a `run:` line; a mistake is a failure.
void check_add_launch(Test *t, uint32_t line, const char *text);
// Runs the launches on the module, and again after each phase that makes progress. Returns false on a failure.
bool check_watch_launches(Test *t, RunEach *each, Module *m);
// Prints the dumps and digests of the launches, for `test run`.
void check_print_launches(Test *t, const Module *m, Out *out);

/* check_precise.c */
// Compares the result with the block of comments at the end of the file, or rewrites the block.
void check_precise(Test *t, const TextBuffer *result);

#endif
