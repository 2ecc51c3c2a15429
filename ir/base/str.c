// SPDX-License-Identifier: MIT
// Implements interned strings with ids in order of first appearance, hashing, and patterns for names.
#include "ir/base/base.h"

static inline uint64_t load64(const char *p)
{
    uint64_t x;
    memcpy(&x, p, 8);
    return x;
}

static inline uint32_t load32(const char *p)
{
    uint32_t x;
    memcpy(&x, p, 4);
    return x;
}

uint32_t hash_bytes(const void *bytes, size_t n)
{
    const char *p = bytes, *end = p + n;
    uint64_t h = n * 0xC2B2AE3D27D4EB4Fu;
    for (; n > 8; p += 8, n -= 8)
        h = hash_mix(h, load64(p));
    // The loads of the tail may overlap bytes that were read already, but never read beyond the end.
    if (n == 8 || (n && end - (const char *)bytes > 8))
        h = hash_mix(h, load64(end - 8));
    else if (n >= 4)
        h = hash_mix(h, (uint64_t)load32(p) << 32 | load32(end - 4));
    else if (n)
        h = hash_mix(h, (uint64_t)(uint8_t)p[0] << 16 | (uint64_t)(uint8_t)p[n / 2] << 8 | (uint8_t)end[-1]);
    return (uint32_t)(((h ^ (h >> 32)) * 0x9E3779B97F4A7C15u) >> 32);
}

void str_init(StrTable *t, Arena *arena, const StrTable *parent)
{
    *t = (StrTable){
        .parent = parent, .arena = arena, .first = parent ? parent->first + parent->strings.n + STR_ROOM : 0};
    if (!parent)
        str_intern(t, "", 0);
}

static StrId find_hashed(const StrTable *t, const char *text, size_t len, uint32_t hash)
{
    for (; t; t = t->parent) {
        IDSET_EACH(&t->index, hash, k) {
            const Str *s = &t->strings.at[k];
            if (s->len == len && (len == 0 || memcmp(s->text, text, len) == 0))
                return t->first + k;
        }
    }
    return STR_NONE;
}

StrId str_find(const StrTable *t, const char *text, size_t len)
{
    return find_hashed(t, text, len, hash_bytes(text, len));
}

static StrId add(StrTable *t, Str s)
{
    idset_add(&t->index, t->arena, s.hash, t->strings.n);
    VEC_PUSH(t->arena, &t->strings, s);
    return t->first + t->strings.n - 1;
}

StrId str_intern(StrTable *t, const char *text, size_t len)
{
    uint32_t hash = hash_bytes(text, len);
    StrId id = find_hashed(t, text, len, hash);
    if (id != STR_NONE)
        return id;
    char *copy = arena_alloc(t->arena, len);
    if (len)
        memcpy(copy, text, len);
    return add(t, (Str){copy, (uint32_t)len, hash});
}

void str_copy_new(StrTable *t, const StrTable *from)
{
    for (uint32_t k = t->strings.n; k < from->strings.n; k++)
        add(t, from->strings.at[k]);
}

/* -- Patterns ------------------------------------------------------------------------------------------- */

static unsigned char lower(unsigned char c) { return c >= 'A' && c <= 'Z' ? (unsigned char)(c + ('a' - 'A')) : c; }
static unsigned char upper(unsigned char c) { return c >= 'a' && c <= 'z' ? (unsigned char)(c - ('a' - 'A')) : c; }

// Returns one character of a pattern, escaped or not, and advances past it. A backslash at the end matches itself.
static unsigned char pattern_char(const char **pattern)
{
    const char *p = *pattern;
    if (*p == '\\' && p[1])
        p++;
    *pattern = p + 1;
    return (unsigned char)*p;
}

// Returns the closing bracket of the class that opens at p; NULL if there is none.
static const char *class_end(const char *p)
{
    p += p[1] == '!' ? 2 : 1;
    do {
        if (!*p)
            return NULL;
        pattern_char(&p);
    } while (*p != ']');
    return p;
}

// True if the class between p and the closing bracket contains c.
static bool class_has(const char *p, const char *end, unsigned char c)
{
    bool found = false;
    while (p < end) {
        unsigned char first = pattern_char(&p), last = first;
        if (*p == '-' && p + 1 < end) {
            p++;
            last = pattern_char(&p);
        }
        found |= first <= c && c <= last;
    }
    return found;
}

// Matches a byte with the element at p, which is no `*`; returns the rest of the pattern, or NULL.
static const char *match_one(const char *p, unsigned char c, bool fold_case)
{
    const char *end = *p == '[' ? class_end(p) : NULL;
    if (end) {
        bool negated = p[1] == '!';
        p += negated ? 2 : 1;
        bool found =
            class_has(p, end, c) || (fold_case && (class_has(p, end, lower(c)) || class_has(p, end, upper(c))));
        return found != negated ? end + 1 : NULL;
    }
    if (*p == '?')
        return p + 1;
    if (!*p)
        return NULL;
    unsigned char want = pattern_char(&p);
    return want == c || (fold_case && lower(want) == lower(c)) ? p : NULL;
}

bool glob_match(const char *pattern, const char *text, size_t len, bool fold_case)
{
    const char *star = NULL;  // rest of the pattern after the last `*`: only this `*` ever has to match more bytes
    size_t k = 0, star_at = 0;
    for (;;) {
        if (*pattern == '*') {
            star = ++pattern;
            star_at = k;
            continue;
        }
        if (k == len)
            return !*pattern;
        const char *next = match_one(pattern, (unsigned char)text[k], fold_case);
        if (next) {
            pattern = next;
            k++;
        } else if (star) {
            pattern = star;
            k = ++star_at;
        } else {
            return false;
        }
    }
}
