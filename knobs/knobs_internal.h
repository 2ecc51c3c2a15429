// SPDX-License-Identifier: MIT
// Declarations for the files of this folder: tokens, records, the reader.
#ifndef ORI_KNOBS_INTERNAL_H
#define ORI_KNOBS_INTERNAL_H

#include "knobs/knobs.h"

/* lex.re ---------------------------------------------------------------------------------------------------- */

typedef enum {
    // Tokens of settings.
    TK_END,
    TK_NEWLINE,
    TK_TILDE,
    TK_SEMICOLON,
    TK_EQUALS,
    TK_NAME,
    TK_SECTION,  // [name]
    TK_CONTROL,  // a byte that is never allowed
    TK_OTHER,    // a byte that begins no token
    // Shapes of values.
    TK_EMPTY,
    TK_TEXT,      // without the blanks around it
    TK_QUOTED,    // with the quotes
    TK_UNCLOSED,  // begins at a quote that is not closed
    // Tokens in values; also TK_NAME, TK_END and TK_OTHER.
    TK_INT,   // sets `negative` and `number`, and `huge` if that does not fit 64 bits
    TK_REAL,  // also a number that is decimal only: 089
    TK_COMMA,
    TK_DOTS,
} KnobToken;

typedef struct KnobLexer {
    const char *cur;
    const char *limit;        // end of the text; a text of settings has a NUL there
    const char *start, *end;  // the token
    bool fresh;               // at the beginning of a record, where a `;` begins a comment, too
    bool negative, huge;
    uint64_t number;
} KnobLexer;

// Returns the next token of a setting, except its value. Comments are blanks.
KnobToken knob_token(KnobLexer *lx);
// Returns the value after `=`. In a guarded record a `;` also ends the value.
KnobToken knob_value(KnobLexer *lx, bool guarded);
// Returns the next token in a value, which ends at lx->limit.
KnobToken knob_item(KnobLexer *lx);
// Skips to the end of the record.
void knob_skip(KnobLexer *lx);

/* Records --------------------------------------------------------------------------------------------------- */

typedef enum { KC_FN, KC_FH, KC_PH } KnobConditionKind;

typedef struct KnobCondition {
    KnobConditionKind kind;
    const char *glob;     // FN
    uint64_t lo, hi;      // FH, PH: inclusive
    const char *written;  // as KnobSetting.written
} KnobCondition;

// Settings that apply if all conditions hold.
typedef struct KnobRecord {
    KnobSource from;
    bool by_phase;  // one of the conditions is a phase
    VEC(KnobCondition) conditions;
    VEC(const KnobSetting *) settings;
} KnobRecord;

// Settings that were read from texts.
typedef struct KnobLayer {
    Arena *arena;
    VEC(const KnobSetting *) settings;  // those without conditions, in the order in which they were read
    VEC(const KnobRecord *) records;    // those with conditions, in ascending precedence
    VEC(int64_t) budgets;               // initial values of budgets
    uint32_t first_budget;              // index of the first budget
} KnobLayer;

struct KnobStore {
    KnobTable table;
    KnobFindPhase *find;
    KnobCheckText *check;  // NULL: any text is a value
    KnobLayer layer;
    const KnobSetting **base;  // by row: without conditions
};

typedef struct KnobReader {
    KnobTable table;
    KnobFindPhase *find;
    KnobCheckText *check;
    KnobLayer *into;
    KnobSource from;
    Diag *diag;
    KnobLexer lx;
    KnobToken token;   // the current token
    const char *text;  // a copy in the layer's arena
    int64_t offset;    // of the text in diag->source
    const char *file;  // copy of diag->source->name
} KnobReader;

/* read.c */
// Reports an error at a position of the text. Always returns false, so that the caller can return the call.
bool knob_error(KnobReader *r, const char *at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
// Appends the settings of a text to a layer.
bool knob_read_layer(const KnobStore *store, KnobLayer *into, KnobSource from, const char *text, size_t len,
                     int64_t offset, Diag *diag);
// Returns a terminated copy.
char *knob_copy(Arena *arena, const char *text, size_t len);

/* value.c */
// Returns a description of the values of a type, for messages.
const char *knob_expected(KnobType type);
// Reads a value of the row's type. `token` is its shape.
bool knob_parse_value(KnobReader *r, int row, KnobToken token, const char *start, const char *end, KnobValue *value);
// Returns a terminated copy of a text, without quotes and the backslashes before quotes and backslashes.
const char *knob_unquote(KnobReader *r, KnobToken token, const char *start, const char *end);
// Reads `lo..hi` with unsigned numbers, either end open, or one number. False: it is no range; nothing is reported.
bool knob_parse_hash(const char *start, const char *end, uint64_t *lo, uint64_t *hi);

#endif
