// SPDX-License-Identifier: MIT
// Prints current values and conditional records as a file that the lexer reads back. Values are printed as they were
// written, so nothing is lost and no number is formatted.
#include "knobs/knobs_internal.h"

enum { COMMENT_COLUMN = 40 };

void knob_print_origin(Out *out, const KnobSetting *s)
{
    if (!s->file) {
        out_z(out, "default");
        return;
    }
    for (const char *p = s->file; *p; p++)  // the name of a file may have control characters
        out_char(out, (unsigned char)*p < 32 || *p == 127 ? '?' : *p);
    if (s->line)
        out_fmt(out, ":%u:%u", s->line, s->col);
}

static uint64_t position(const Out *out) { return out->total + out->n; }

static void end_line(Out *out, uint64_t line_start, const KnobSetting *s, bool origins)
{
    if (origins) {
        for (uint64_t at = position(out); at < line_start + COMMENT_COLUMN; at++)
            out_char(out, ' ');
        out_z(out, " ; ");
        if (s)
            knob_print_origin(out, s);
        else
            out_z(out, "unset");
    }
    out_char(out, '\n');
}

static void print_setting(const Knobs *k, Out *out, const KnobSetting *s)
{
    out_z(out, k->table.rows[s->row].name);
    if (s->written) {
        out_char(out, '=');
        out_z(out, s->written);
    }
}

static void print_row(const Knobs *k, Out *out, int row, bool origins)
{
    const KnobSetting *s = k->now[row];
    uint64_t start = position(out);
    if (!s || s->from == KS_DEFAULT)
        out_char(out, ';');
    if (s)
        print_setting(k, out, s);
    else
        out_z(out, k->table.rows[row].name);
    end_line(out, start, s, origins);
}

static void print_record(const Knobs *k, Out *out, const KnobRecord *record, bool origins)
{
    static const char *const kinds[] = {[KC_FN] = "FN", [KC_FH] = "FH", [KC_PH] = "PH"};
    uint64_t start = position(out);
    for (uint32_t n = 0; n < record->conditions.n; n++) {
        const KnobCondition *c = &record->conditions.at[n];
        out_fmt(out, "%sWHEN=%s=%s", n ? ";" : "", kinds[c->kind], c->written);
    }
    for (uint32_t n = 0; n < record->settings.n; n++) {
        out_char(out, ';');
        print_setting(k, out, record->settings.at[n]);
    }
    end_line(out, start, record->settings.at[0], origins);
}

void knob_print(const Knobs *k, Out *out, bool origins)
{
    const KnobLayer *layers[] = {&k->store->layer, k->pragmas};
    out_z(out, "[knobs]\n");
    for (int row = 0; row < k->table.n; row++)
        if (k->table.rows[row].type != KT_WHEN)
            print_row(k, out, row, origins);
    for (size_t j = 0; j < ARRAY_LEN(layers); j++)
        for (uint32_t n = 0; layers[j] && n < layers[j]->records.n; n++)
            print_record(k, out, layers[j]->records.at[n], origins);
}
