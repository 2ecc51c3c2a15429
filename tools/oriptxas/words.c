// SPDX-License-Identifier: MIT
// Words of options files and of ORI_PTXAS_FLAGS, by the rules of ptxas 13.0. A single quote is an ordinary character
// there, and a backslash before a quotation mark removes both.
#include "tools/oriptxas/oriptxas.h"

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }

// Copies the word at `at` without its quotes to `to`, with a NUL after it. Returns the offset of the first character
// after the word, 0 if a quotation mark is not closed.
static size_t take_word(const char *text, size_t n, size_t at, char **to)
{
    bool quoted = false;
    for (; at < n && (quoted || !is_blank(text[at])); at++) {
        bool escaped = text[at] == '\\' && at + 1 < n;
        at += escaped;
        if (text[at] != '"')
            *(*to)++ = text[at];
        else if (!escaped)
            quoted = !quoted;
    }
    *(*to)++ = 0;
    return quoted ? 0 : at;
}

bool words_split(Texts *words, Arena *arena, const char *text, size_t n)
{
    char *to = arena_alloc(arena, n + 1);  // a word and its NUL take no more than the word and the blank after it
    for (size_t at = 0; at < n;) {
        if (is_blank(text[at])) {
            at++;
            continue;
        }
        VEC_PUSH(arena, words, to);
        if ((at = take_word(text, n, at, &to)) == 0)
            return false;
    }
    return true;
}
