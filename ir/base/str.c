// SPDX-License-Identifier: MIT
// Interned strings: open addressing, ids in order of first appearance.
#include "ir/base/base.h"

static inline uint64_t load64(const char *p)
{
    uint64_t x;
    memcpy(&x, p, 8);
    return x;
}

uint32_t hash_bytes(const void *bytes, size_t n)
{
    const char *p = bytes;
    uint64_t h = n * 0xC2B2AE3D27D4EB4Fu, x = 0;
    for (; n >= 8; p += 8, n -= 8)
        h = hash_mix(h, load64(p));
    memcpy(&x, p, n);
    h = hash_mix(h, x);
    return (uint32_t)(h ^ (h >> 32));
}

void str_init(StrTable *t, Arena *arena, const StrTable *parent)
{
    *t = (StrTable){.parent = parent, .arena = arena, .first = parent ? parent->first + parent->strings.n : 0};
    if (!parent)
        str_intern(t, "", 0);
}

static StrId intern_slow(StrTable *t, const char *text, size_t len)
{
    uint32_t hash = hash_bytes(text, len);
    for (const StrTable *p = t; p; p = p->parent) {
        IDSET_EACH(&p->index, hash, k)
        {
            const Str *s = &p->strings.at[k];
            if (s->len == len && memcmp(s->text, text, len) == 0)
                return p->first + k;
        }
    }
    char *copy = arena_alloc(t->arena, len);
    memcpy(copy, text, len);
    Str s = {copy, (uint32_t)len, hash};
    idset_add(&t->index, t->arena, hash, t->strings.n);
    VEC_PUSH(t->arena, &t->strings, s);
    return t->first + t->strings.n - 1;
}

StrId str_intern(StrTable *t, const char *text, size_t len)
{
    if (len == 0 || len > 8)
        return intern_slow(t, text, len);
    // Register prefixes, all short, come by the million: a direct-mapped cache keyed by the bytes themselves.
    uint64_t key = 0;
    memcpy(&key, text, len);
    uint32_t h = (uint32_t)((key * 0x9E3779B97F4A7C15u) >> 56);
    if (t->recent[h].key != key || t->recent[h].len != len) {
        t->recent[h].id = intern_slow(t, text, len);
        t->recent[h].key = key;
        t->recent[h].len = (uint32_t)len;
    }
    return t->recent[h].id;
}

Str str_get(const StrTable *t, StrId id)
{
    while (id < t->first)
        t = t->parent;
    return t->strings.at[id - t->first];
}
