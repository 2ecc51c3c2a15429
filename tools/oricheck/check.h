// SPDX-License-Identifier: MIT
// The inside of oricheck: what a test file says, running it, looking at the result.
//
// A test is one file; everything about it lives in the arena of its context, which dies with it.
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
    PIECE_TEXT,   // these bytes
    PIECE_REGEX,  // {{regex}}
    PIECE_BIND,   // [[NAME:regex]]
    PIECE_USE,    // [[NAME]], bound by a line before
    PIECE_AGAIN,  // [[NAME]], bound by an earlier piece of this pattern
} PieceKind;

typedef struct Piece {
    PieceKind kind;
    const char *text;  // bytes or regular expression, terminated
    uint32_t name;     // BIND, USE, AGAIN: index in the test's names
    uint32_t group;    // REGEX, BIND: of the expression for the whole pattern
} Piece;

// What a line is looked at for.
typedef struct Pattern {
    const char *text;  // as it was written, blanks folded
    Piece *at;
    uint32_t n;
    uint32_t groups;  // of the expression for the whole pattern
    bool uses;        // names that are bound elsewhere
    bool again;       // names that are bound in this pattern
} Pattern;

/* -- Tests -------------------------------------------------------------------------------------------------- */

// label, check, next, not, count.
typedef struct Check {
    DirectiveKind kind;
    uint32_t line;   // of the file
    uint64_t count;  // count N
    Pattern pattern;
} Check;

typedef struct ErrorCheck {
    uint32_t at;         // line of the directive
    uint32_t line, col;  // where the error must be; col 0 = anywhere
    Pattern pattern;
    bool seen;
} ErrorCheck;

typedef struct RemarkCheck {
    uint32_t line;  // of the file
    Pattern pattern;
    bool seen;
} RemarkCheck;

typedef struct Entry {
    const char *name;
    uint32_t line;
} Entry;

typedef struct Bound {
    const char *name;
    bool now;  // in this scope
} Bound;

typedef struct Test {
    const char *path;
    Source source;
    Lang lang;
    Ctx *ctx;
    KnobStore *knobs;     // that are set; NULL: none are
    Out *out;             // what people read
    uint32_t failures;    // printed so far
    const char *skip;     // why it cannot run; NULL = it can
    bool bless, blessed;  // the block may be rewritten; it was
    // What the file says.
    TestKind kind;
    uint32_t kind_line;
    const char *phases;
    Lang emit;
    bool idempotent, precise, strip_debug;
    TextBuffer launches;     // of `run:`, as a .run file; empty: there are none
    uint32_t launches_line;  // the first
    VEC(Entry) entries;
    VEC(Check) checks;
    VEC(ErrorCheck) errors;
    VEC(RemarkCheck) remarks;
    VEC(Bound) names;
    uint32_t block_line;  // of `precise:`, 0 = there is none
    size_t block;         // offset of the line behind it
} Test;

// What came out, by lines that are not blank.
typedef struct ResultLine {
    TextLine text;
    char *folded;     // runs of blanks are one blank; terminated
    uint32_t number;  // counted with the blank lines, from 1
} ResultLine;

typedef struct Result {
    ResultLine *lines;
    uint32_t n;
} Result;

/* check_parse.c */
// What starts a comment in a language.
const char *check_comment(Lang lang);
// Reads the directives of t->source; each mistake is a failure.
void check_parse(Test *t);

/* check_pattern.c */
enum { PATTERN_BINDS = 1, PATTERN_USES = 2 };  // what a directive's pattern may do with names
// A copy with each run of blanks folded to one and none at the ends.
char *check_fold(Arena *arena, const char *text, size_t len);
// Parses TEXT of a directive; a mistake is a failure and gives false.
bool pattern_parse(Test *t, uint32_t line, const char *text, unsigned allowed, Pattern *p);

// A pattern that is ready to be looked for, with the names as they are bound now.
typedef struct Finder Finder;
Finder *finder_new(Arena *arena, const Pattern *p, const TextLine *bound);
// Between these two nothing may unwind: what is compiled is not the arena's.
void finder_open(Finder *f);
void finder_close(Finder *f);
// Whether a folded line holds the pattern; if it does, binds the pattern's names in `bound`, by index. The line is
// written to meanwhile.
bool finder_match(Finder *f, char *line, TextLine *bound);

/* check_match.c */
Result result_lines(Arena *arena, const TextBuffer *text);
// Runs the checks on the result.
void check_result(Test *t, const Result *r);
// Whether a text holds a pattern, which has no names.
bool check_holds(Test *t, const Pattern *p, const char *text);

/* check_view.c */
// A failure: `file:line: ...`; line 0 = none.
void check_fail(Test *t, uint32_t line, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
// Lines of the result around r->lines[at], where something was looked for; `end` is where the search ended.
void check_view(Test *t, const Result *r, uint32_t at, uint32_t end);
// Prints the differences of two texts; false if there are none.
bool check_diff(Test *t, const TextBuffer *old, const TextBuffer *now);

/* check_run.c */
// Parses and runs one file, whose source is open. Failures are printed.
void check_run(Test *t);

/* check_launch.c */
// Takes the options of a `run:` line; a mistake is a failure.
void check_add_launch(Test *t, uint32_t line, const char *text);
// Runs the launches on the module as it is, and again behind each phase that changes something. False: it failed.
bool check_watch_launches(Test *t, RunEach *each, Module *m);
// `test run`: prints what the launches dump, and digests.
void check_print_launches(Test *t, const Module *m, Out *out);

/* check_precise.c */
// Compares the result with the block of comments at the end of the file, or rewrites that.
void check_precise(Test *t, const TextBuffer *result);

#endif
