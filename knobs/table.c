// SPDX-License-Identifier: MIT
// Makes the knob table from knobs.def: rows, look-up by name, the printed list.
#include <strings.h>

#include "knobs/knobs.h"

static const KnobInfo rows[] = {
#define KNOB(id, index, name, type, value, range, reader, help) {index, name, KT_##type, value, range, reader, help},
#include "knobs/knobs.def"
};

const KnobTable knob_table = {rows, KNOB_COUNT};

const char *knob_type_name(KnobType type)
{
#define NAME(name) #name,
    static const char *const names[] = {KNOB_TYPES(NAME)};
#undef NAME
    return names[type];
}

// Returns the row of a documented number; -1 = none.
static int find_number(const KnobTable *table, const char *digits, size_t len)
{
    int number = 0, row = 0;
    for (size_t k = 0; k < len && number < 10000; k++)
        number = digits[k] >= '0' && digits[k] <= '9' ? 10 * number + digits[k] - '0' : 10000;
    while (row < table->n && table->rows[row].index != number)
        row++;
    return row < table->n ? row : -1;
}

int knob_find(const KnobTable *table, const char *name, size_t len)
{
    if (len && *name >= '0' && *name <= '9')
        return find_number(table, name, len);
    for (int row = 0; row < table->n; row++)
        if (strncasecmp(name, table->rows[row].name, len) == 0 && !table->rows[row].name[len])
            return row;
    return -1;
}

// Returns the default as the list shows it.
static const char *shown_default(const KnobInfo *info)
{
    return info->value[0] ? info->value : info->type == KT_BDGT ? "unlimited" : "";
}

// Writes a text in lines that end before the width of the list.
static void list_help(Out *out, const char *text)
{
    enum { INDENT = 8, WIDTH = 100 };
    size_t at = 0;
    for (size_t n; *text; text += n + (text[n] == ' ')) {
        n = strcspn(text, " ");
        if (at && at + 1 + n <= WIDTH) {
            out_char(out, ' ');
            at++;
        } else {
            out_fmt(out, "%s%*s", at ? "\n" : "", INDENT, "");
            at = INDENT;
        }
        out_bytes(out, text, n);
        at += n;
    }
    out_char(out, '\n');
}

static void list_text(Out *out, const KnobInfo *info)
{
    const char *value = shown_default(info);
    if (info->index < 0)
        out_z(out, "  -");
    else
        out_fmt(out, "%3d", info->index);
    out_fmt(out, "  %-37s %-4s %-10s %-6s %s\n", info->name, knob_type_name(info->type), value[0] ? value : "-",
            info->range[0] ? info->range : "-", info->reader);
    list_help(out, info->help);
}

static void json_text(Out *out, const char *key, const char *text)
{
    out_fmt(out, ",\"%s\":", key);
    out_json(out, text, strlen(text));
}

static void list_json(Out *out, const KnobInfo *info)
{
    if (info->index < 0)
        out_z(out, "\n{\"index\":null");
    else
        out_fmt(out, "\n{\"index\":%d", info->index);
    json_text(out, "name", info->name);
    json_text(out, "type", knob_type_name(info->type));
    json_text(out, "default", shown_default(info));
    json_text(out, "range", info->range);
    json_text(out, "phase", info->reader);
    json_text(out, "help", info->help);
    out_char(out, '}');
}

void knob_list(Out *out, const KnobTable *table, bool json)
{
    if (json)
        out_z(out, "{\"schema\":1,\"knobs\":[");
    for (int row = 0; row < table->n; row++) {
        if (json && row)
            out_char(out, ',');
        (json ? list_json : list_text)(out, &table->rows[row]);
    }
    if (json)
        out_z(out, "\n]}\n");
}
