// SPDX-License-Identifier: MIT
// Prints failures, parts of results, and differences.
#include <stdio.h>

#include "tools/oricheck/check.h"

enum { LINES_BEFORE = 3, LINES_AFTER = 6, DIFF_CONTEXT = 3 };

void check_fail(Test *t, uint32_t line, const char *fmt, ...)
{
    char message[2000];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    t->failures++;
    if (line)
        out_fmt(t->out, "%s:%u: ", t->path, line);
    else
        out_fmt(t->out, "%s: ", t->path);
    out_fmt(t->out, "%s\n", message);
}

void check_view(Test *t, const Result *r, uint32_t at, uint32_t end)
{
    uint32_t from = at > LINES_BEFORE ? at - LINES_BEFORE : 0, to = MIN(r->n, at + LINES_AFTER + 1);
    for (uint32_t k = from; k <= to; k++) {
        if (k == at && at >= end)
            out_z(t->out, "  >      | (the end)\n");
        if (k == to)
            break;
        out_fmt(t->out, "  %c %4u | ", k == at && at < end ? '>' : ' ', r->lines[k].number);
        out_bytes(t->out, r->lines[k].text.text, r->lines[k].text.len);
        out_char(t->out, '\n');
    }
}

bool check_diff(Test *t, const TextBuffer *old, const TextBuffer *now)
{
    DiffOptions options = {.context = DIFF_CONTEXT};
    return diff_lines(t->out, old->n ? old->at : "", old->n, now->n ? now->at : "", now->n, &options, &t->ctx->heap);
}
