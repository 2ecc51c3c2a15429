// SPDX-License-Identifier: MIT
// Prints diagnostics: file:line:col, the message, the source line, a caret.
#include <stdio.h>

#include "ir/base/base.h"

enum { LINE_WINDOW = 120 };  // bytes of the source line in the output

static const char *const severity_names[] = {"error", "warning", "note"};

void diag_locate(Diag *d, size_t offset, uint32_t *line, uint32_t *col, size_t *line_start)
{
    const char *text = d->source->text;
    if (d->line == 0 || offset < d->line_offset) {
        d->line = 1;
        d->line_offset = 0;
    }
    while (d->line_offset < offset) {
        const char *nl = memchr(text + d->line_offset, '\n', offset - d->line_offset);
        if (!nl)
            break;
        d->line_offset = (size_t)(nl - text) + 1;
        d->line++;
    }
    *line = d->line;
    *col = (uint32_t)MIN(offset - d->line_offset + 1, UINT32_MAX);
    *line_start = d->line_offset;
}

// Appends the part of the line around the offset and the caret; prints control and non-ASCII bytes as '?'.
static void render_line(Out *out, const Source *source, size_t start, size_t offset)
{
    const char *nl = memchr(source->text + start, '\n', source->len - start);
    size_t end = nl ? (size_t)(nl - source->text) : source->len;
    if (end > start && source->text[end - 1] == '\r' && end - 1 > offset)
        end--;
    size_t from = offset - start > LINE_WINDOW - 20 ? offset - (LINE_WINDOW - 20) : start;
    end = MIN(end, from + LINE_WINDOW);
    for (size_t k = from; k < end; k++) {
        unsigned char c = (unsigned char)source->text[k];
        out_char(out, c == '\t' || (c >= 32 && c < 127) ? (char)c : '?');
    }
    out_char(out, '\n');
    for (size_t k = from; k < offset; k++)
        out_char(out, source->text[k] == '\t' ? '\t' : ' ');
    out_z(out, "^\n");
}

static void put_json(const DiagMessage *m, Out *out)
{
    out_fmt(out, "{\"schema\":1,\"severity\":\"%s\",\"file\":", severity_names[m->severity]);
    out_json(out, m->file ? m->file : "", m->file ? strlen(m->file) : 0);
    if (m->line)
        out_fmt(out, ",\"line\":%u,\"column\":%u", m->line, m->col);
    out_z(out, ",\"message\":");
    out_json(out, m->text, strlen(m->text));
    out_z(out, "}\n");
}

static void put_text(const Diag *d, const DiagMessage *m, size_t line_start, size_t offset, Out *out)
{
    if (m->file)
        out_fmt(out, "%s:", m->file);
    else
        out_fmt(out, "%s:", d->program ? d->program : "oriopt");
    if (m->line)
        out_fmt(out, "%u:%u:", m->line, m->col);
    out_fmt(out, " %s: %s\n", severity_names[m->severity], m->text);
    if (m->line)
        render_line(out, d->source, line_start, offset);
}

static bool to_diag(void *user, const char *text, size_t n)
{
    Diag *d = user;
    d->write(d->user, text, n);
    return true;
}

// A terminated text of at most 4095 bytes; the rest is dropped.
typedef struct Kept {
    char text[4096];
    size_t n;
} Kept;

static bool to_kept(void *user, const char *text, size_t n)
{
    Kept *k = user;
    n = MIN(n, sizeof k->text - 1 - k->n);
    memcpy(k->text + k->n, text, n);
    k->n += n;
    k->text[k->n] = 0;
    return true;
}

static void report(Diag *d, Severity severity, bool placed, size_t offset, const char *fmt, va_list args)
{
    if (severity != DIAG_ERROR && d->errors_only)
        return;
    char text[1024], buf[4096];
    Kept kept = {.n = 0};
    size_t start = 0;
    DiagMessage m = {.severity = severity, .text = text, .rendered = kept.text};
    Out out = {
        .write = d->report ? to_kept : to_diag, .user = d->report ? (void *)&kept : d, .buf = buf, .cap = sizeof buf};
    m.file = d->source ? d->source->name : NULL;
    vsnprintf(text, sizeof text, fmt, args);
    if (severity == DIAG_ERROR)
        d->errors++;
    if (placed && source_restore(d->source))
        diag_locate(d, offset, &m.line, &m.col, &start);
    if (d->json)
        put_json(&m, &out);
    else
        put_text(d, &m, start, offset, &out);
    out_flush(&out);
    if (d->report)
        d->report(d->user, &m);
}

void diag_vat(Diag *d, Severity severity, size_t offset, const char *fmt, va_list args)
{
    report(d, severity, true, MIN(offset, d->source->len), fmt, args);
}

void diag_at(Diag *d, Severity severity, size_t offset, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    diag_vat(d, severity, offset, fmt, args);
    va_end(args);
}

void diag_plain(Diag *d, Severity severity, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    report(d, severity, false, 0, fmt, args);
    va_end(args);
}
