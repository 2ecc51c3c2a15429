// SPDX-License-Identifier: MIT
// Reads settings: texts into records, records into a layer.
#include <stdio.h>
#include <strings.h>

#include "knobs/knobs_internal.h"

// The token of a value, kept while the reader checks the next token.
typedef struct Value {
    KnobToken token;
    const char *start, *end;
} Value;

/* -- Errors --------------------------------------------------------------------------------------------- */

bool knob_error(KnobReader *r, const char *at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (r->offset >= 0) {
        diag_vat(r->diag, DIAG_ERROR, (size_t)r->offset + (size_t)(at - r->text), fmt, args);
    } else {
        char message[1000];
        vsnprintf(message, sizeof message, fmt, args);
        diag_plain(r->diag, DIAG_ERROR, "%s", message);
    }
    va_end(args);
    return false;
}

static bool control_error(KnobReader *r)
{
    unsigned char c = (unsigned char)*r->lx.start;
    if (c == 0)
        return knob_error(r, r->lx.start, "a NUL byte");
    return knob_error(r, r->lx.start, "control character 0x%02x", c);
}

static bool separator_error(KnobReader *r, const char *at)
{
    return knob_error(r, at, "';' separates settings only after WHEN; elsewhere use a newline or '~'");
}

static bool unknown_knob(KnobReader *r, const char *name, size_t len)
{
    Nearest best = {0};
    char nearest[400];
    if (*name >= '0' && *name <= '9')
        return knob_error(r, name, "there is no knob with the number %.*s; --list-knobs shows them", (int)MIN(len, 60),
                          name);
    for (int row = 0; row < r->table.n; row++)
        nearest_offer(&best, name, len, r->table.rows[row].name);
    nearest_print(&best, nearest, sizeof nearest);
    return knob_error(r, name, "unknown knob '%.*s'%s", (int)MIN(len, 60), name, nearest);
}

static bool enough_errors(const KnobReader *r) { return r->diag->max_errors && r->diag->errors >= r->diag->max_errors; }

/* -- Tokens --------------------------------------------------------------------------------------------- */

static KnobToken next(KnobReader *r) { return r->token = knob_token(&r->lx); }

static bool ends_record(KnobToken t) { return t == TK_END || t == TK_NEWLINE || t == TK_TILDE; }

// True if the current token may follow a setting.
static bool at_end_of_setting(const KnobReader *r) { return ends_record(r->token) || r->token == TK_SEMICOLON; }

// Reads the value after `=`, and checks the token after it.
static bool take_value(KnobReader *r, bool guarded, Value *v)
{
    r->token = TK_OTHER;
    v->token = knob_value(&r->lx, guarded);
    v->start = r->lx.start;
    v->end = r->lx.end;
    if (v->token == TK_UNCLOSED)
        return knob_error(r, v->start, "this quote is not closed");
    if (v->token == TK_CONTROL)
        return control_error(r);
    next(r);
    if (r->token == TK_CONTROL)
        return control_error(r);
    if (!at_end_of_setting(r))
        return knob_error(r, r->lx.start, "unexpected text after the closing quote");
    return true;
}

// Returns the value as it was written.
static const char *written(KnobReader *r, const Value *v)
{
    return knob_copy(r->into->arena, v->start, (size_t)(v->end - v->start));
}

/* -- Conditions ----------------------------------------------------------------------------------------- */

static bool condition_kind(KnobReader *r, KnobConditionKind *kind)
{
    static const char *const names[] = {"FN", "FH", "PH"};
    const char *name = r->lx.start;
    size_t len = r->token == TK_NAME ? (size_t)(r->lx.end - name) : 0;
    Nearest best = {0};
    char nearest[400];
    if (r->token == TK_CONTROL)
        return control_error(r);
    for (size_t k = 0; k < ARRAY_LEN(names); k++) {
        if (len == 2 && strncasecmp(name, names[k], 2) == 0) {
            *kind = (KnobConditionKind)k;
            return next(r) == TK_EQUALS || knob_error(r, r->lx.start, "expected '=' after %s", names[k]);
        }
        nearest_offer(&best, name, len, names[k]);
    }
    if (!len)
        return knob_error(r, name, "WHEN has no condition; expected %s", knob_expected(KT_WHEN));
    nearest_print(&best, nearest, sizeof nearest);
    return knob_error(r, name, "unknown condition '%.*s'%s", (int)MIN(len, 60), name, nearest);
}

static bool find_phase(KnobReader *r, const char *at, const char *text, size_t len, uint64_t *row)
{
    char why[400] = "there are no phases";
    int found = r->find ? r->find(text, len, why) : -1;
    *row = (uint64_t)found;
    return found >= 0 || knob_error(r, at, "%s", why);
}

static size_t trim(const char **start, const char *end)
{
    while (*start < end && (**start == ' ' || **start == '\t'))
        ++*start;
    while (*start < end && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    return (size_t)(end - *start);
}

// Reads one phase, or `A..B`.
static bool read_phases(KnobReader *r, const Value *v, KnobCondition *c)
{
    const char *from = knob_unquote(r, v->token, v->start, v->end), *dots = strstr(from, "..");
    const char *to = dots ? dots + 2 : "";
    size_t nfrom = trim(&from, dots ? dots : from + strlen(from)), nto = trim(&to, to + strlen(to));
    if (!nfrom || (dots && !nto))
        return knob_error(r, v->start, "bad phase '%.*s'; expected a phase, or a range such as 13..29",
                          (int)MIN(v->end - v->start, 60), v->start);
    // In a quoted value the positions of the ends differ from those in the text, so errors are at its beginning.
    const char *second = v->token == TK_QUOTED ? v->start : v->end - nto;
    if (!find_phase(r, v->start, from, nfrom, &c->lo))
        return false;
    c->hi = c->lo;
    if (dots && !find_phase(r, second, to, nto, &c->hi))
        return false;
    return c->lo <= c->hi || knob_error(r, v->start, "the range %.*s is reversed: the lower phase comes first",
                                        (int)MIN(v->end - v->start, 60), v->start);
}

// Reads the condition after `WHEN=`.
static bool read_condition(KnobReader *r, KnobRecord *record)
{
    KnobCondition c = {0};
    Value v;
    next(r);
    if (!condition_kind(r, &c.kind) || !take_value(r, true, &v))
        return false;
    switch (c.kind) {
    case KC_FN:
        c.glob = knob_unquote(r, v.token, v.start, v.end);
        if (!c.glob[0])
            return knob_error(r, v.start, "FN has an empty pattern; * is every function");
        break;
    case KC_FH:
        if (!knob_parse_hash(v.start, v.end, &c.lo, &c.hi))
            return knob_error(r, v.start,
                              "bad hash '%.*s'; expected a number such as 0x1f, or a range such as 0x10..0x20",
                              (int)MIN(v.end - v.start, 60), v.start);
        break;
    case KC_PH:
        if (!read_phases(r, &v, &c))
            return false;
        record->by_phase = true;
        break;
    }
    c.written = written(r, &v);
    VEC_PUSH(r->into->arena, &record->conditions, c);
    return true;
}

/* -- Settings ------------------------------------------------------------------------------------------- */

static void locate(const KnobReader *r, const char *at, KnobSetting *s)
{
    size_t start, offset = (size_t)r->offset + (size_t)(at - r->text);
    s->file = r->file;
    if (r->offset >= 0)
        diag_locate(r->diag, MIN(offset, r->diag->source->len), &s->line, &s->col, &start);
}

// Reads the value of a knob, if `=` follows its name, which is the current token.
static bool read_value(KnobReader *r, bool guarded, KnobSetting *s)
{
    const KnobInfo *info = &r->table.rows[s->row];
    const char *name = r->lx.start;
    next(r);
    if (r->token == TK_EQUALS) {
        Value v;
        if (!take_value(r, guarded, &v))
            return false;
        const char *semicolon = guarded ? NULL : memchr(v.start, ';', (size_t)(v.end - v.start));
        if (semicolon && info->type != KT_STR && v.token == TK_TEXT)
            return separator_error(r, semicolon);
        s->written = written(r, &v);
        return knob_parse_value(r, s->row, v.token, v.start, v.end, &s->value);
    }
    if (r->token == TK_CONTROL)
        return control_error(r);
    if (!at_end_of_setting(r))
        return knob_error(r, r->lx.start, "expected '=' or the end of the setting after %s", info->name);
    s->value.number = 1;
    return info->type == KT_NONE ||
           knob_error(r, name, "%s has no value; expected %s", info->name, knob_expected(info->type));
}

static bool read_setting(KnobReader *r, KnobRecord *record, int row)
{
    Arena *arena = r->into->arena;
    KnobSetting *s = NEW(arena, KnobSetting);
    s->row = row;
    s->from = r->from;
    locate(r, r->lx.start, s);
    if (!read_value(r, record->conditions.n > 0, s))
        return false;
    VEC_PUSH(arena, &record->settings, s);
    return true;
}

// Reads a condition or a setting. The current token is its name.
static bool read_part(KnobReader *r, KnobRecord *record)
{
    const char *name = r->lx.start;
    size_t len = (size_t)(r->lx.end - name);
    if (r->token == TK_CONTROL)
        return control_error(r);
    if (r->token != TK_NAME)
        return knob_error(r, name, "expected the name of a knob");
    int row = knob_find(&r->table, name, len);
    if (row < 0)
        return unknown_knob(r, name, len);
    if (r->table.rows[row].type != KT_WHEN)
        return read_setting(r, record, row);
    if (record->settings.n)
        return knob_error(r, name, "WHEN follows a setting; conditions must come first in a record");
    if (next(r) != TK_EQUALS)
        return knob_error(r, name, "WHEN has no condition; expected %s", knob_expected(KT_WHEN));
    return read_condition(r, record);
}

/* -- Records -------------------------------------------------------------------------------------------- */

// Inserts a conditional record in order of precedence.
static void add_record(KnobLayer *into, const KnobRecord *record)
{
    KnobRecord *copy = NEW(into->arena, KnobRecord);
    *copy = *record;
    VEC_PUSH(into->arena, &into->records, copy);
    uint32_t k = into->records.n - 1;
    for (; k && into->records.at[k - 1]->from > record->from; k--)
        into->records.at[k] = into->records.at[k - 1];
    into->records.at[k] = copy;
}

// Adds a record to the layer. Its budgets get indices.
static void accept(KnobReader *r, const KnobRecord *record)
{
    KnobLayer *into = r->into;
    for (uint32_t k = 0; k < record->settings.n; k++) {
        KnobSetting *s = (KnobSetting *)record->settings.at[k];
        if (r->table.rows[s->row].type == KT_BDGT) {
            s->budget = into->first_budget + into->budgets.n;
            VEC_PUSH(into->arena, &into->budgets, s->value.number);
        }
        if (!record->conditions.n)
            VEC_PUSH(into->arena, &into->settings, s);
    }
    if (record->conditions.n)
        add_record(into, record);
}

// Reads a record, from its first token, which is the current token, to the token that ends it.
static bool read_record(KnobReader *r)
{
    KnobRecord record = {.from = r->from};
    const char *start = r->lx.start;
    while (!ends_record(r->token)) {
        if (r->token != TK_SEMICOLON && !read_part(r, &record))
            return false;
        if (r->token == TK_SEMICOLON) {
            if (!record.conditions.n)
                return separator_error(r, r->lx.start);
            next(r);
        }
    }
    if (!record.settings.n)
        return knob_error(r, start, "WHEN without settings: write them after a ';' with no blank before it");
    accept(r, &record);
    return true;
}

/* -- Texts ---------------------------------------------------------------------------------------------- */

static bool is_knobs_section(const KnobReader *r)
{
    const char *name = r->lx.start + 1;
    return trim(&name, r->lx.end - 1) == 5 && strncasecmp(name, "knobs", 5) == 0;
}

// Skips to the first `[knobs]` header at or below `line`, which becomes the current token. False: there is none.
static bool find_section(KnobReader *r, const char *line)
{
    const char *limit = r->lx.limit;
    while (line) {
        r->lx.cur = line;
        if (next(r) == TK_SECTION && is_knobs_section(r))
            return true;
        line = memchr(line, '\n', (size_t)(limit - line));
        line = line ? line + 1 : NULL;
    }
    return false;
}

// Reads the end of the line of a header; other text there is an error.
static void end_header(KnobReader *r)
{
    r->lx.fresh = false;
    if (next(r) != TK_NEWLINE && r->token != TK_END)
        knob_error(r, r->lx.start, "unexpected text after the section's name");
    while (r->token != TK_NEWLINE && r->token != TK_END) {
        knob_skip(&r->lx);
        next(r);
    }
}

// Reads records to the end of the text. Of a file, skips sections with other names.
static void read_records(KnobReader *r)
{
    bool line_start = r->token == TK_NEWLINE;
    while (!enough_errors(r)) {
        r->lx.fresh = true;
        if (next(r) == TK_END)
            return;
        if (r->token == TK_SECTION && line_start && r->from == KS_FILE) {
            if (!is_knobs_section(r) && !find_section(r, r->lx.start))
                return;
            end_header(r);
        } else {
            r->lx.fresh = false;
            if (!ends_record(r->token) && !read_record(r) && !ends_record(r->token)) {
                knob_skip(&r->lx);
                next(r);
            }
        }
        line_start = r->token == TK_NEWLINE;
    }
}

static void read_all(KnobReader *r)
{
    static const char byte_order_mark[] = "\xEF\xBB\xBF";
    r->token = TK_NEWLINE;
    if (r->from == KS_FILE) {
        r->lx.fresh = true;
        if (!find_section(r, r->text + (strncmp(r->text, byte_order_mark, 3) == 0 ? 3 : 0))) {
            knob_error(r, r->text, "there is no line '[knobs]'; only lines after it are read");
            return;
        }
        end_header(r);
    }
    read_records(r);
}

bool knob_read_layer(const KnobStore *store, KnobLayer *into, KnobSource from, const char *text, size_t len,
                     int64_t offset, Diag *diag)
{
    const char *file = diag->source ? diag->source->name : "";
    uint32_t errors = diag->errors;
    KnobReader r = {.table = store->table, .find = store->find, .check = store->check};
    r.into = into;
    r.from = from;
    r.diag = diag;
    r.text = knob_copy(into->arena, text, len);
    r.lx = (KnobLexer){.cur = r.text, .limit = r.text + len};
    r.offset = offset;
    r.file = knob_copy(into->arena, file, strlen(file));
    read_all(&r);
    return diag->errors == errors;
}
