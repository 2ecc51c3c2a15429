// SPDX-License-Identifier: MIT
// Tests interned strings, the hash index, the hash, patterns.
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/unit.h"

static bool string_is(const StrTable *t, StrId id, const char *text)
{
    Str s = str_get(t, id);
    return s.len == strlen(text) && (s.len == 0 || memcmp(s.text, text, s.len) == 0);
}

TEST(str_interning)
{
    Heap heap;
    Arena arena;
    StrTable t;
    unit_heap(&heap);
    arena_init(&arena, &heap);
    str_init(&t, &arena, NULL);
    CHECK_EQ(str_intern_z(&t, ""), 0);
    char text[40] = "alpha";
    CHECK_EQ(str_intern_z(&t, text), 1);
    text[0] = 'X';  // the table has its own copy
    CHECK(string_is(&t, 1, "alpha"));
    CHECK_EQ(str_intern_z(&t, "alpha"), 1);
    CHECK_EQ(str_intern_z(&t, "alph"), 2);
    CHECK_EQ(str_intern(&t, "alphabet", 5), 1);
    CHECK_EQ(str_intern(&t, "a\0b", 3), 3);
    CHECK_EQ(str_intern(&t, "a\0c", 3), 4);
    CHECK_EQ(str_intern(&t, "a", 1), 5);
    CHECK_EQ(str_get(&t, 3).len, 3);
    CHECK_EQ(str_get(&t, 3).hash, hash_bytes("a\0b", 3));
    arena_free(&arena);
    heap_release(&heap);
}

TEST(str_many)
{
    enum { N = 100000 };
    Heap heap;
    Arena arena;
    StrTable t;
    unit_heap(&heap);
    arena_init(&arena, &heap);
    str_init(&t, &arena, NULL);
    char text[40];
    bool same = true;
    for (uint32_t k = 1; k <= N; k++) {
        snprintf(text, sizeof text, "$L__BB%u_%u", k % 7, k);
        same &= str_intern_z(&t, text) == k;
    }
    for (uint32_t k = N; k >= 1; k--) {
        snprintf(text, sizeof text, "$L__BB%u_%u", k % 7, k);
        same &= str_intern_z(&t, text) == k && string_is(&t, k, text);
    }
    CHECK(same);
    char *big = malloc(200000);
    memset(big, 'b', 200000);
    StrId id = str_intern(&t, big, 200000);
    CHECK_EQ(str_intern(&t, big, 200000), id);
    CHECK(str_intern(&t, big, 199999) != id);
    free(big);
    arena_free(&arena);
    heap_release(&heap);
}

TEST(str_overlay)
{
    Heap heap;
    Arena below, above;
    StrTable parent, child, other, grandchild;
    unit_heap(&heap);
    arena_init(&below, &heap);
    arena_init(&above, &heap);
    str_init(&parent, &below, NULL);
    StrId a = str_intern_z(&parent, "a"), b = str_intern_z(&parent, "b");
    str_init(&child, &above, &parent);
    str_init(&other, &above, &parent);
    CHECK_EQ(str_intern_z(&child, "b"), b);
    CHECK_EQ(str_intern_z(&child, ""), 0);
    StrId c = str_intern_z(&child, "c");
    CHECK_EQ(c, parent.first + parent.strings.n + STR_ROOM);
    CHECK_EQ(str_intern_z(&child, "c"), c);
    CHECK_EQ(str_intern_z(&other, "d"), c);  // ids of siblings mean different strings
    CHECK(string_is(&child, c, "c") && string_is(&other, c, "d"));
    CHECK(string_is(&child, a, "a") && string_is(&child, 0, ""));
    str_init(&grandchild, &above, &child);
    CHECK_EQ(str_intern_z(&grandchild, "a"), a);
    CHECK_EQ(str_intern_z(&grandchild, "c"), c);
    StrId e = str_intern_z(&grandchild, "e");
    CHECK_EQ(e, c + 1 + STR_ROOM);
    CHECK(string_is(&grandchild, e, "e") && string_is(&grandchild, c, "c") && string_is(&grandchild, b, "b"));
    CHECK_EQ(parent.strings.n, 3);
    StrId late = str_intern_z(&parent, "late");  // after its children
    CHECK_EQ(late, 3);
    CHECK(string_is(&grandchild, late, "late") && string_is(&child, c, "c"));
    CHECK_EQ(str_intern_z(&other, "late"), late);
    arena_free(&above);
    arena_free(&below);
    heap_release(&heap);
}

// A table whose arena is still empty.
TEST(str_fresh_arena)
{
    Heap heap;
    Arena arena;
    unit_heap(&heap);
    arena_init(&arena, &heap);
    StrTable t;
    str_init(&t, &arena, NULL);
    CHECK_EQ(str_get(&t, 0).len, 0);
    CHECK_EQ(str_intern_z(&t, ""), 0);
    arena_free(&arena);
    heap_release(&heap);
}

static uint32_t ids_of(const IdSet *set, uint32_t hash, uint32_t *sum)
{
    uint32_t n = 0;
    *sum = 0;
    IDSET_EACH(set, hash, id) {
        n++;
        *sum += id;
    }
    return n;
}

TEST(idset_collisions)
{
    Heap heap;
    Arena arena;
    IdSet set = {0};
    uint32_t sum;
    unit_heap(&heap);
    arena_init(&arena, &heap);
    CHECK_EQ(ids_of(&set, 0, &sum), 0);
    // One hash a thousand times, and hashes that begin at the same slot under every mask.
    for (uint32_t k = 0; k < 1000; k++) {
        idset_add(&set, &arena, 0xffffffff, k);
        idset_add(&set, &arena, k << 16, k + 5000);
    }
    CHECK_EQ(ids_of(&set, 0xffffffff, &sum), 1000);
    CHECK_EQ(sum, 999 * 1000 / 2);
    for (uint32_t k = 0; k < 1000; k++) {
        CHECK_EQ(ids_of(&set, k << 16, &sum), 1);
        CHECK_EQ(sum, k + 5000);
    }
    CHECK_EQ(ids_of(&set, 12345, &sum), 0);
    CHECK_EQ(set.n, 2000);
    arena_free(&arena);
    heap_release(&heap);
}

TEST(idset_random)
{
    enum { N = 50000, HASHES = 3001 };
    static uint32_t count[HASHES], sums[HASHES];
    Heap heap;
    Arena arena;
    IdSet set = {0};
    uint64_t seed = 9;
    unit_heap(&heap);
    arena_init(&arena, &heap);
    memset(count, 0, sizeof count);
    memset(sums, 0, sizeof sums);
    for (uint32_t k = 0; k < N; k++) {
        uint32_t h = unit_random(&seed, HASHES);
        idset_add(&set, &arena, h * 0x10001u, k);
        count[h]++;
        sums[h] += k;
    }
    bool same = true;
    for (uint32_t h = 0; h < HASHES; h++) {
        uint32_t sum;
        same &= ids_of(&set, h * 0x10001u, &sum) == count[h] && sum == sums[h];
    }
    CHECK(same);
    arena_free(&arena);
    heap_release(&heap);
}

// Buffers of exact length, so that the address sanitizer detects reads beyond the end. The hash depends on every byte
// and on the length, not on the address.
TEST(hash_lengths)
{
    for (size_t n = 0; n <= 300; n++) {
        unit_context("%zu bytes", n);
        unsigned char *p = malloc(n ? n : 1), *q = malloc(n + 16);
        for (size_t k = 0; k < n; k++)
            p[k] = (unsigned char)(k * 37 + n);
        uint32_t h = hash_bytes(n ? p : p + 1, n);
        for (size_t shift = 0; shift < 9; shift++) {
            memcpy(q + shift, p, n);
            CHECK_EQ(hash_bytes(q + shift, n), h);
        }
        for (size_t k = 0; k < n; k++)
            for (unsigned bit = 0; bit < 8; bit += 7) {
                p[k] ^= (unsigned char)(1 << bit);
                CHECK(hash_bytes(p, n) != h);
                p[k] ^= (unsigned char)(1 << bit);
            }
        free(p);
        free(q);
    }
    static const char zeros[300];
    for (size_t n = 1; n < 300; n++)
        CHECK(hash_bytes(zeros, n) != hash_bytes(zeros, n - 1));
}

// Puts 2^16 names into 2^16 buckets by the low bits, as IdSet does: a uniform hash uses some 63 % of them.
TEST(hash_spread)
{
    enum { N = 1 << 16 };
    static const char *const stems[] = {"%r", "%rd", "$L__BB0_", "_ZN4func"};
    static bool used[N];
    char text[40];
    for (size_t s = 0; s < ARRAY_LEN(stems); s++) {
        uint32_t count = 0;
        memset(used, 0, sizeof used);
        for (uint32_t k = 0; k < N; k++) {
            int n = snprintf(text, sizeof text, "%s%u", stems[s], k);
            uint32_t slot = hash_bytes(text, (size_t)n) & (N - 1);
            count += !used[slot];
            used[slot] = true;
        }
        unit_context("%s0 to %s%u use %u of %d", stems[s], stems[s], N - 1, count, N);
        CHECK(count > N / 2);
    }
}

static bool matches(const char *pattern, const char *text, bool fold_case)
{
    // Memory of exact length, so that the address sanitizer detects a read beyond it.
    size_t len = strlen(text);
    char *copy = malloc(len ? len : 1);
    memcpy(copy, text, len);
    bool found = glob_match(pattern, copy, len, fold_case);
    free(copy);
    return found;
}

typedef struct GlobRow {
    const char *pattern, *yes[5], *no[6];
} GlobRow;

static const GlobRow globs[] = {
    {"", {""}, {"a"}},
    {"abc", {"abc"}, {"", "ab", "abcd", "xabc", "ABC"}},
    {"*", {"", "a", "abc"}, {0}},
    {"**", {"", "abc"}, {0}},
    {"a*", {"a", "ab", "a*"}, {"", "ba"}},
    {"*a", {"a", "ba", "aba"}, {"", "ab"}},
    {"*ab*", {"ab", "aab", "xabx", "aaabb"}, {"", "a", "ba", "acb"}},
    {"a*b*c", {"abc", "abbbcc", "axbxcxbc"}, {"ab", "acb", "abcx"}},
    {"*aab", {"aab", "aaab", "aabaab"}, {"aaba", "ab"}},
    {"?", {"a", "*"}, {"", "ab"}},
    {"a?c*", {"abc", "a?cd"}, {"ac", "abd"}},
    {"*?", {"a", "ab"}, {""}},
    {"[abc]", {"a", "b", "c"}, {"", "d", "ab", "[", "]"}},
    {"R[0-9]*", {"R0", "R9x"}, {"R", "Rx", "R/", "R:"}},
    {"[a-cx-z]", {"b", "y"}, {"d", "w", "-"}},
    {"[!a-c]", {"d", "!", "]"}, {"a", "b", "", "dd"}},
    {"[a!]", {"a", "!"}, {"b"}},
    {"[]a]", {"]", "a"}, {"b", "[]a]"}},
    {"[!]a]", {"b", "["}, {"]", "a"}},
    {"[a-]", {"a", "-"}, {"b"}},
    {"[-a]", {"a", "-"}, {"b"}},
    {"[c-a]", {0}, {"a", "b", "c", "-"}},
    {"[\\]x]", {"]", "x"}, {"\\", "\\]x]"}},
    {"[a\\-c]", {"a", "-", "c"}, {"b", "\\"}},
    {"[*?]", {"*", "?"}, {"a", ""}},
    {"[\xe0-\xff]", {"\xe9"}, {"a", "\xc0"}},
    // Unclosed brackets.
    {"[", {"["}, {"", "a"}},
    {"a[b", {"a[b"}, {"ab", "a["}},
    {"[]", {"[]"}, {"]", ""}},
    {"[!]", {"[!]"}, {"a"}},
    {"[a\\]", {"[a]"}, {"a", "["}},
    {"*[x", {"[x", "a[x"}, {"x"}},
    {"]", {"]"}, {"["}},
    {"\\*", {"*"}, {"", "a", "\\", "\\*"}},
    {"\\?\\[a]\\\\", {"?[a]\\"}, {"x[a]\\", "?a\\"}},
    {"\\a", {"a"}, {"\\a"}},
    {"a\\", {"a\\"}, {"a"}},
};

TEST(glob_table)
{
    for (size_t k = 0; k < ARRAY_LEN(globs); k++) {
        const GlobRow *g = &globs[k];
        for (size_t j = 0; j < ARRAY_LEN(g->yes) && g->yes[j]; j++) {
            unit_context("%s and %s", g->pattern, g->yes[j]);
            CHECK(matches(g->pattern, g->yes[j], false));
            CHECK(matches(g->pattern, g->yes[j], true));
        }
        for (size_t j = 0; j < ARRAY_LEN(g->no) && g->no[j]; j++) {
            unit_context("%s and %s", g->pattern, g->no[j]);
            CHECK(!matches(g->pattern, g->no[j], false));
        }
    }
}

TEST(glob_fold_case)
{
    CHECK(matches("GvnCse", "gvncse", true));
    CHECK(matches("gvn*", "GVNCSE", true));
    CHECK(matches("[a-f]", "D", true) && matches("[A-F]", "d", true) && !matches("[A-F]", "d", false));
    CHECK(!matches("[!a-f]", "D", true) && matches("[!a-f]", "D", false));
    CHECK(matches("[B-b]", "_", true));
    CHECK(!matches("@", "`", true) && !matches("[", "{", true) && !matches("\xc4", "\xe4", true));
}

TEST(glob_bytes)
{
    CHECK(glob_match("a?b", "a\0b", 3, false));
    CHECK(!glob_match("a", "a\0", 2, false));
    CHECK(!glob_match("", "\0", 1, false));
    CHECK(glob_match("*", NULL, 0, false));
    CHECK(glob_match("[!a]", "\0", 1, false));
    CHECK(glob_match("abc", "abcd", 3, false));
}

// Backtracking over every star would not end here.
TEST(glob_many_stars)
{
    enum { N = 20000 };
    char *text = malloc(N);
    memset(text, 'a', N);
    CHECK(!glob_match("*a*a*a*a*a*a*a*a*a*a*a*a*b", text, N, false));
    CHECK(glob_match("*a*a*a*a*a*a*a*a*a*a*a*a*", text, N, false));
    text[N - 1] = 'b';
    CHECK(glob_match("*a*a*a*a*a*a*a*a*a*a*a*ab", text, N, false));
    free(text);
}

void test_strings(void)
{
    RUN(str_interning);
    RUN(str_many);
    RUN(str_overlay);
    RUN(str_fresh_arena);
    RUN(idset_collisions);
    RUN(idset_random);
    RUN(hash_lengths);
    RUN(hash_spread);
    RUN(glob_table);
    RUN(glob_fold_case);
    RUN(glob_bytes);
    RUN(glob_many_stars);
}
