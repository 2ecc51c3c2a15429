// SPDX-License-Identifier: MIT
// What the files of this folder share: tokens, records, the reader.
#ifndef ORI_KNOBS_INTERNAL_H
#define ORI_KNOBS_INTERNAL_H

#include "knobs/knobs.h"

/* lex.re ---------------------------------------------------------------------------------------------------- */

typedef enum {
    // Of settings.
    TK_END,
    TK_NEWLINE,
    TK_TILDE,
    TK_SEMICOLON,
    TK_EQUALS,
    TK_NAME,
    TK_SECTION,  // [name]
    TK_CONTROL,  // a byte that may stand nowhere
    TK_OTHER,    // nothing begins like this
    // Of values.
    TK_EMPTY,
    TK_TEXT,      // without the blanks around it
    TK_QUOTED,    // the quotes are part of it
    TK_UNCLOSED,  // a quote that nothing closes; the token begins there
    // Of what is in a value; TK_NAME, TK_END and TK_OTHER too.
    TK_INT,   // `negative`, `number`; `huge` where that does not fit 64 bits
    TK_REAL,  // and what is a number in decimal only: 089
    TK_COMMA,
    TK_DOTS,
} KnobToken;

typedef struct KnobLexer {
    const char *cur;
    const char *limit;        // behind the text; in a settings text there is a NUL
    const char *start, *end;  // the token
    bool fresh;               // at the beginning of a record: a `;` begins a comment here, too
    bool negative, huge;
    uint64_t number;
} KnobLexer;

// The next token of a setting but its value. Comments are blanks.
KnobToken knob_token(KnobLexer *lx);
// The value behind `=`, up to what ends it. In a guarded record that is a `;`, too.
KnobToken knob_value(KnobLexer *lx, bool guarded);
// The next token inside of a value, which ends at lx->limit.
KnobToken knob_item(KnobLexer *lx);
// Goes to the end of the record.
void knob_skip(KnobLexer *lx);

/* Records --------------------------------------------------------------------------------------------------- */

typedef enum { KC_FN, KC_FH, KC_PH } KnobConditionKind;

typedef struct KnobCondition {
    KnobConditionKind kind;
    const char *glob;     // FN
    uint64_t lo, hi;      // FH, PH: inclusive
    const char *written;  // as KnobSetting.written
} KnobCondition;

// Settings that hold where all conditions do.
typedef struct KnobRecord {
    KnobSource from;
    bool by_phase;  // one of the conditions is a phase
    VEC(KnobCondition) conditions;
    VEC(const KnobSetting *) settings;
} KnobRecord;

// What was read from texts.
typedef struct KnobLayer {
    Arena *arena;
    VEC(const KnobSetting *) settings;  // those without conditions, in the order in which they were read
    VEC(const KnobRecord *) records;    // those with conditions, the winning ones last
    VEC(int64_t) budgets;               // what each budget begins with
    uint32_t first_budget;              // number of the first
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
    KnobToken token;   // that is looked at
    const char *text;  // a copy in the layer's arena
    int64_t offset;    // of the text in diag->source
    const char *file;  // copy of diag->source->name
} KnobReader;

/* read.c */
// Reports an error at a place of the text; false, so that it can be returned.
bool knob_error(KnobReader *r, const char *at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
// Appends what a text says to a layer.
bool knob_read_layer(const KnobStore *store, KnobLayer *into, KnobSource from, const char *text, size_t len,
                     int64_t offset, Diag *diag);
// A terminated copy.
char *knob_copy(Arena *arena, const char *text, size_t len);

/* value.c */
// What a value has to look like, for messages.
const char *knob_expected(KnobType type);
// Reads a value of the row's type, which `token` says the shape of.
bool knob_parse_value(KnobReader *r, int row, KnobToken token, const char *start, const char *end, KnobValue *value);
// A terminated copy of a text, without quotes and the backslashes before quotes and backslashes.
const char *knob_unquote(KnobReader *r, KnobToken token, const char *start, const char *end);
// Reads `lo..hi` with unsigned numbers, either end open, or one number. False: it is none; nothing is reported.
bool knob_parse_hash(const char *start, const char *end, uint64_t *lo, uint64_t *hi);

#endif
