// SPDX-License-Identifier: MIT
// Interned strings: open addressing, ids in order of first appearance.
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
    // The tail, by loads that may overlap what was read already, never by bytes beyond the end.
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
    *t = (StrTable){.parent = parent, .arena = arena, .first = parent ? parent->first + parent->strings.n : 0};
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

StrId str_intern(StrTable *t, const char *text, size_t len)
{
    uint32_t hash = hash_bytes(text, len);
    StrId id = find_hashed(t, text, len, hash);
    if (id != STR_NONE)
        return id;
    char *copy = arena_alloc(t->arena, len);
    if (len)
        memcpy(copy, text, len);
    Str s = {copy, (uint32_t)len, hash};
    idset_add(&t->index, t->arena, hash, t->strings.n);
    VEC_PUSH(t->arena, &t->strings, s);
    return t->first + t->strings.n - 1;
}

Str str_get(const StrTable *t, StrId id)
{
    while (id < t->first)
        t = t->parent;
    return t->strings.at[id - t->first];
}
