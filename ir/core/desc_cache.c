// SPDX-License-Identifier: MIT
// Caches the look-ups of readers for each instruction: the mnemonic of a spelling, and the descriptor of its latest
// shape.
#include "ir/core/ir.h"

enum { SHAPE_CACHED = sizeof((MnemCache *)0)->shape };

// The texts here are readable up to the next multiple of eight bytes.
static inline uint64_t load64(const char *p)
{
    uint64_t x;
    memcpy(&x, p, 8);
    return x;
}

// True if two texts are equal.
static inline bool same_padded(const char *a, const char *b, size_t n)
{
    for (; n > 8; a += 8, b += 8, n -= 8)
        if (load64(a) != load64(b))
            return false;
    return !n || (load64(a) ^ load64(b)) << (64 - 8 * n) == 0;
}

static inline uint32_t hash_padded(const char *text, size_t n)
{
    uint64_t h = n;
    for (; n > 8; text += 8, n -= 8)
        h = hash_mix(h, load64(text));
    h = n ? hash_mix(h, load64(text) << (64 - 8 * n)) : h;
    return (uint32_t)(h ^ (h >> 32));
}

static MnemCache *find_hashed(const DescCache *c, const char *text, size_t len, uint32_t hash)
{
    IDSET_EACH(&c->index, hash, k) {
        if (c->mnems.at[k].len == len && same_padded(c->mnems.at[k].text, text, len))
            return &c->mnems.at[k];
    }
    return NULL;
}

MnemCache *desc_cache_known(const DescCache *c, const char *text, size_t len)
{
    return find_hashed(c, text, len, hash_padded(text, len));
}

MnemCache *desc_cache_mnem(DescCache *c, const char *text, size_t len)
{
    uint32_t hash = hash_padded(text, len);
    MnemCache *known = find_hashed(c, text, len, hash);
    if (known)
        return known;
    MnemId id = mnem_intern(c->tables, text, len);
    char *copy = arena_alloc(c->arena, len);
    memcpy(copy, text, len);
    idset_add(&c->index, c->arena, hash, c->mnems.n);
    MnemCache m = {.text = copy, .len = (uint32_t)len, .mnem = id, .first = tab_mnem(c->tables, id)->first};
    VEC_PUSH(c->arena, &c->mnems, m);
    return &c->mnems.at[c->mnems.n - 1];
}

// True if the shape consists of `%`, of `&` in brackets, and of punctuation other than parentheses, for a descriptor
// without implied operands.
static bool is_regular(const Desc *d, const char *shape, uint32_t n)
{
    bool regular = d->plain && d->op != OP_CALL;
    for (uint32_t k = 0; k < n; k++) {
        bool base = k && shape[k - 1] == '[';
        regular &= shape[k] == '&' ? base : shape[k] == '%' ? !base : memchr(",|[]{}", shape[k], 6) != NULL;
    }
    return regular;
}

DescId desc_cache_find(DescCache *c, MnemCache *mnem, const char *shape, uint32_t n, const char **why)
{
    if (mnem->desc && mnem->shape_len == n && same_padded(mnem->shape, shape, n))
        return mnem->desc;
    DescId desc = desc_intern(c->tables, mnem->mnem, n ? shape : "", n, why);
    if (desc && n <= SHAPE_CACHED) {
        if (n)
            memcpy(mnem->shape, shape, n);
        mnem->shape_len = n;
        mnem->desc = desc;
        mnem->regular = is_regular(tab_desc(c->tables, desc), mnem->shape, n);
    }
    return desc;
}

void desc_cache_warn(MnemCache *mnem, const Module *m, DescId desc, Diag *diag, size_t offset)
{
    Isa needs = tab_desc(&m->tables, desc)->needs;
    if (mnem->warned || module_takes(m, needs))
        return;
    mnem->warned = true;
    if (!needs.sm)
        diag_at(diag, DIAG_WARNING, offset, "'%.*s' requires .version %u.%u, or a later one", (int)MIN(mnem->len, 80),
                mnem->text, needs.version / 10, needs.version % 10);
    else
        diag_at(diag, DIAG_WARNING, offset, "'%.*s' requires .version %u.%u and .target sm_%u, or later ones",
                (int)MIN(mnem->len, 80), mnem->text, needs.version / 10, needs.version % 10, needs.sm);
}
