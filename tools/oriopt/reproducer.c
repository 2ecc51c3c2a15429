// SPDX-License-Identifier: MIT
#include "tools/oriopt/reproducer.h"
#include "tools/options/options.h"

static const char magic[] = "oriopt " ORI_VERSION " --run-reproducer";

void reproducer_line(Out *out, const char *comment, const char *kind, const char *text)
{
    out_fmt(out, "%s %s: ", comment, kind);
    for (; *text; text++) {
        if (*text == '\n')
            out_z(out, "\\n");
        else if (*text == '\\')
            out_z(out, "\\\\");
        else
            out_char(out, *text);
    }
    out_char(out, '\n');
}

void reproducer_start(Out *out, const char *comment, const char *error)
{
    out_fmt(out, "%s %s\n", comment, magic);
    if (error)
        reproducer_line(out, comment, "error", error);
}

// Returns the text without its escapes, terminated.
static char *unescaped(const char *text, size_t n, Arena *arena)
{
    char *to = arena_alloc(arena, n + 1), *end = to;
    for (size_t k = 0; k < n; k++) {
        bool escape = text[k] == '\\' && k + 1 < n;
        k += escape;
        *end++ = escape && text[k] == 'n' ? '\n' : text[k];
    }
    *end = 0;
    return to;
}

// Returns the text after `start`; NULL: it begins in another way.
static const char *after(const char *text, size_t n, const char *start)
{
    size_t len = strlen(start);
    return n >= len && memcmp(text, start, len) == 0 ? text + len : NULL;
}

static void read_line(Reproducer *r, const char *line, size_t n, Arena *arena)
{
    const char *end = line + n, *option = after(line, n, "option: "), *run = after(line, n, "run: ");
    if (option)
        VEC_PUSH(arena, &r->options, unescaped(option, (size_t)(end - option), arena));
    if (!run)
        return;
    char *text = unescaped(run, (size_t)(end - run), arena);
    out_to_text(&r->run, text, strlen(text));
    out_to_text(&r->run, "\n", 1);
}

bool reproducer_read(Reproducer *r, const Source *source, Arena *arena)
{
    const char *p = source->text, *end = p + source->len;
    bool first = true;
    *r = (Reproducer){.run = {.arena = arena}};
    VEC_PUSH(arena, &r->options, (char *)"");
    for (const char *next; p < end; p = next, first = false) {
        const char *newline = memchr(p, '\n', (size_t)(end - p)), *stop = newline ? newline : end;
        next = newline ? newline + 1 : end;
        const char *line = after(p, (size_t)(stop - p), "; ");
        line = line ? line : after(p, (size_t)(stop - p), "// ");
        if (!line || (first && !after(line, (size_t)(stop - line), "oriopt ")))
            return !first;
        if (first && !after(line, (size_t)(stop - line), magic))
            return false;
        read_line(r, line, (size_t)(stop - line), arena);
    }
    return !first;
}
