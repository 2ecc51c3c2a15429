// SPDX-License-Identifier: MIT
// The interning tables of a module, and a function's own tables, whose ids continue the module's. The module's tables
// are read-only while phases run, so threads can share them.
#include "ir/core/ir.h"

void tables_init(Tables *t, Arena *arena, const Tables *parent)
{
    *t = (Tables){.parent = parent, .arena = arena};
    str_init(&t->strs, arena, parent ? &parent->strs : NULL);
    if (parent) {
        t->mnem_first = parent->mnem_first + parent->mnems.n;
        t->desc_first = parent->desc_first + parent->descs.n;
        t->const_first = parent->const_first + parent->consts.n;
    } else {
        VEC_PUSH(arena, &t->mnems, ((Mnem){.first = OP_OPAQUE}));
        VEC_PUSH(arena, &t->descs, ((Desc){.op = OP_OPAQUE}));
        VEC_PUSH(arena, &t->consts, ((Const){0, W_NONE}));  // CONST_UNDEF
    }
}

static uint32_t const_hash(Const c)
{
    uint64_t h = hash_mix(c.width, c.bits);
    return (uint32_t)(h ^ (h >> 32));
}

static ConstId add_const(Tables *t, Const c)
{
    idset_add(&t->const_index, t->arena, const_hash(c), t->consts.n);
    VEC_PUSH(t->arena, &t->consts, c);
    return t->const_first + t->consts.n - 1;
}

ConstId const_intern(Tables *t, uint64_t bits, Width width)
{
    if (width < W64)
        bits &= ((uint64_t)1 << width_bits(width)) - 1;
    uint32_t hash = const_hash((Const){bits, width});
    for (const Tables *p = t; p; p = p->parent) {
        IDSET_EACH(&p->const_index, hash, k) {
            if (p->consts.at[k].bits == bits && p->consts.at[k].width == width)
                return p->const_first + k;
        }
    }
    if (t->const_first + t->consts.n > INDEX_MAX)
        heap_fail(t->arena->heap, ST_LIMIT, "more than %d different constants", INDEX_MAX);
    return add_const(t, (Const){bits, width});
}

void tables_copy_new(Tables *t, const Tables *from)
{
    str_copy_new(&t->strs, &from->strs);
    for (uint32_t k = t->mnems.n; k < from->mnems.n; k++)
        mnem_add(t, from->mnems.at[k]);
    for (uint32_t k = t->descs.n; k < from->descs.n; k++)
        desc_add(t, from->descs.at[k]);
    for (uint32_t k = t->consts.n; k < from->consts.n; k++)
        add_const(t, from->consts.at[k]);
}

int64_t const_signed(Const c)
{
    if (c.width == W_NONE || c.width == W1 || c.width >= W64)
        return (int64_t)c.bits;
    unsigned unused = 64 - width_bits(c.width);
    return (int64_t)(c.bits << unused) >> unused;
}

// The number is the longest run of up to nine final digits without a leading zero (or a single `0`). Stem and number
// together are the identifier. With this split, a million registers share a few strings.
uint32_t name_number(const char *text, const char *end, const char **stem_end)
{
    const char *bound = end - text > 10 ? end - 9 : text + 1, *p = end;
    while (p > bound && (unsigned)(p[-1] - '0') < 10)
        p--;
    while (p < end - 1 && *p == '0')
        p++;
    *stem_end = p;
    if (p == end)
        return NO_NUMBER;
    uint32_t number = 0;
    for (; p < end; p++)
        number = number * 10 + (uint32_t)(*p - '0');
    return number;
}

void name_print(Out *out, const Tables *t, Name name)
{
    Str s = tab_str(t, name.stem);
    out_bytes(out, s.text, s.len);
    if (name.number != NO_NUMBER)
        out_u64(out, name.number);
}

void stem_print_ptx(Out *out, Str stem)
{
    const char *end = stem.text + stem.len;
    for (const char *p = stem.text, *dot; p < end; p = dot + 1) {
        dot = memchr(p, '.', (size_t)(end - p));
        if (!dot) {
            out_bytes(out, p, (size_t)(end - p));
            return;
        }
        out_bytes(out, p, (size_t)(dot - p));
        out_bytes(out, PTX_DOT, PTX_DOT_LEN);
    }
}

void name_print_ptx(Out *out, const Tables *t, Name name)
{
    stem_print_ptx(out, tab_str(t, name.stem));
    if (name.number != NO_NUMBER)
        out_u64(out, name.number);
}

const char *name_text(const Tables *t, Name name, char *buf, size_t cap)
{
    Str s = tab_str(t, name.stem);
    size_t n = MIN(s.len, cap - 12);
    memcpy(buf, s.text, n);
    Out out = {.buf = buf, .n = n, .cap = cap - 1};
    if (name.number != NO_NUMBER)
        out_u64(&out, name.number);
    buf[out.n] = 0;
    return buf;
}
