// SPDX-License-Identifier: MIT
// Diagnostics for people: file:line:col, the message, the line, a caret.
#include <stdio.h>

#include "ir/base/base.h"

enum { LINE_WINDOW = 120 };  // bytes of the offending line that are shown

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

// Appends the part of the line that holds the offset, with control and non-ASCII bytes made visible, and the caret.
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

static bool to_diag(void *user, const char *text, size_t n)
{
    Diag *d = user;
    d->write(d->user, text, n);
    return true;
}

static void report(Diag *d, Severity severity, bool placed, size_t offset, const char *fmt, va_list args)
{
    char message[1024], buf[4096];
    Out out = {.write = to_diag, .user = d, .buf = buf, .cap = sizeof buf};
    vsnprintf(message, sizeof message, fmt, args);
    if (severity == DIAG_ERROR)
        d->errors++;
    uint32_t line = 0, col = 0;
    size_t start = 0;
    if (placed)
        diag_locate(d, offset, &line, &col, &start);
    if (d->json) {
        out_fmt(&out, "{\"schema\":1,\"severity\":\"%s\",\"file\":", severity_names[severity]);
        const char *name = d->source ? d->source->name : "";
        out_json(&out, name, strlen(name));
        if (placed)
            out_fmt(&out, ",\"line\":%u,\"column\":%u", line, col);
        out_z(&out, ",\"message\":");
        out_json(&out, message, strlen(message));
        out_z(&out, "}\n");
    } else {
        if (d->source)
            out_fmt(&out, "%s:", d->source->name);
        else
            out_z(&out, "oriopt:");
        if (placed)
            out_fmt(&out, "%u:%u:", line, col);
        out_fmt(&out, " %s: %s\n", severity_names[severity], message);
        if (placed)
            render_line(&out, d->source, start, offset);
    }
    out_flush(&out);
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
