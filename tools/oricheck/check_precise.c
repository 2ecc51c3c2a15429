// SPDX-License-Identifier: MIT
// Compares the whole result with the block of comments after `precise:` at the end of the file.
#include "tools/oricheck/check.h"

static void put(TextBuffer *to, const char *text, size_t n) { out_to_text(to, text, n); }

static void put_z(TextBuffer *to, const char *text) { put(to, text, strlen(text)); }

static size_t trimmed(const TextLine *line)
{
    size_t n = line->len;
    while (n && strchr(" \t\r", line->text[n - 1]))
        n--;
    return n;
}

// Returns the result without blanks at the ends of lines: editors remove them from a block.
static TextBuffer trim_lines(Arena *arena, const TextBuffer *text)
{
    TextBuffer out = {.arena = arena};
    TextLine *lines;
    uint32_t n = text_lines(text->n ? text->at : "", text->n, arena, &lines);
    for (uint32_t k = 0; k < n; k++) {
        put(&out, lines[k].text, trimmed(&lines[k]));
        put_z(&out, "\n");
    }
    return out;
}

// Returns the text of the block, without comment signs.
static TextBuffer block_text(const Test *t)
{
    TextBuffer out = {.arena = &t->ctx->arena};
    TextLine *lines;
    uint32_t n = text_lines(t->source.text + t->block, t->source.len - t->block, out.arena, &lines);
    const char *comment = check_comment(t->lang);
    for (uint32_t k = 0; k < n; k++) {
        const char *p = lines[k].text, *end = p + trimmed(&lines[k]);
        while (p < end && (*p == ' ' || *p == '\t'))
            p++;
        if (p == end)
            continue;  // not part of the block: an empty line of the result has a comment sign
        p += strlen(comment);
        p += p < end && *p == ' ';
        put(&out, p, (size_t)(end - p));
        put_z(&out, "\n");
    }
    return out;
}

// Returns the file with the result as its block.
static TextBuffer blessed_text(const Test *t, const TextBuffer *result)
{
    TextBuffer out = {.arena = &t->ctx->arena};
    TextLine *lines;
    const char *comment = check_comment(t->lang);
    put(&out, t->source.text, t->block_line ? t->block : t->source.len);
    if (out.n && out.at[out.n - 1] != '\n')
        put_z(&out, "\n");
    if (!t->block_line) {
        put_z(&out, "\n");
        put_z(&out, comment);
        put_z(&out, " precise:\n");
    }
    uint32_t n = text_lines(result->n ? result->at : "", result->n, out.arena, &lines);
    for (uint32_t k = 0; k < n; k++) {
        put_z(&out, comment);
        put_z(&out, lines[k].len ? " " : "");
        put(&out, lines[k].text, lines[k].len);
        put_z(&out, "\n");
    }
    return out;
}

static void bless(Test *t, const TextBuffer *result)
{
    OutFile file;
    char why[200];
    TextBuffer text = blessed_text(t, result);
    if (text.n == t->source.len && memcmp(text.at, t->source.text, text.n) == 0)
        return;
    if (outfile_open(&file, t->path, &t->ctx->arena, why)) {
        outfile_write(&file, text.at, text.n);
        t->blessed = outfile_commit(&file, why);
    }
    if (!t->blessed)
        check_fail(t, 0, "--bless: %s", why);
}

void check_precise(Test *t, const TextBuffer *text)
{
    TextBuffer result = trim_lines(&t->ctx->arena, text);
    if (t->bless) {
        bless(t, &result);
        return;
    }
    if (!t->block_line) {
        check_fail(t, 0, "there is no `precise:` block; oricheck --bless writes it");
        return;
    }
    TextBuffer block = block_text(t);
    if (block.n == result.n && (!block.n || memcmp(block.at, result.at, block.n) == 0))
        return;
    check_fail(t, t->block_line, "precise: the block (-) differs from the result (+)");
    check_diff(t, &block, &result);
}
