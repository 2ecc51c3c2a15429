// SPDX-License-Identifier: MIT
// Tests line differences: exact texts, and random diffs that are applied to the old text.
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/unit.h"

typedef struct DiffTest {
    Heap heap;
    Arena arena;
    Sink sink;
    Out out;
} DiffTest;

static void open_diff(DiffTest *t)
{
    unit_heap(&t->heap);
    arena_init(&t->arena, &t->heap);
    t->sink = (Sink){0};
    out_init(&t->out, &t->arena, sink_write, &t->sink);
}

static void close_diff(DiffTest *t)
{
    sink_free(&t->sink);
    arena_free(&t->arena);
    CHECK_EQ(t->heap.used, 0);
    heap_release(&t->heap);
}

static bool diff(DiffTest *t, const char *old, size_t old_len, const char *now, size_t now_len,
                 const DiffOptions *options)
{
    t->sink.n = 0;
    bool differ = diff_lines(&t->out, old, old_len, now, now_len, options, &t->heap);
    out_flush(&t->out);
    return differ;
}

static void expect(DiffTest *t, const DiffOptions *options, const char *old, const char *now, const char *expected)
{
    bool differ = diff(t, old, strlen(old), now, strlen(now), options);
    CHECK_EQ(differ, *expected != 0);
    CHECK_TEXT(t->sink.n ? t->sink.text : "", t->sink.n, expected);
}

/* -- Lines ---------------------------------------------------------------------------------------------- */

static void expect_lines(DiffTest *t, const char *text, size_t len, const char *joined)
{
    TextLine *lines;
    char buf[100];
    size_t n = 0;
    uint32_t count = text_lines(text, len, &t->arena, &lines);
    for (uint32_t k = 0; k < count; k++)
        n += (size_t)snprintf(buf + n, sizeof buf - n, "<%.*s>", (int)lines[k].len, lines[k].text);
    CHECK_TEXT(buf, n, joined);
}

TEST(text_lines_ends)
{
    DiffTest t;
    open_diff(&t);
    expect_lines(&t, NULL, 0, "");
    expect_lines(&t, "", 0, "");
    expect_lines(&t, "\n", 1, "<>");
    expect_lines(&t, "a", 1, "<a>");
    expect_lines(&t, "a\n", 2, "<a>");
    expect_lines(&t, "a\nb", 3, "<a><b>");
    expect_lines(&t, "\n\na\n\n", 5, "<><><a><>");
    expect_lines(&t, "ab\ncd\n", 4, "<ab><c>");
    TextLine *lines;
    CHECK_EQ(text_lines("a\0b\nc", 5, &t.arena, &lines), 2);
    CHECK_EQ(lines[0].len, 3);
    close_diff(&t);
}

/* -- Exact texts ---------------------------------------------------------------------------------------- */

TEST(diff_equal)
{
    const DiffOptions three = {.context = 3};
    DiffTest t;
    open_diff(&t);
    expect(&t, &three, "", "", "");
    expect(&t, &three, "a\nb\n", "a\nb\n", "");
    expect(&t, &three, "a\nb", "a\nb\n", "");
    expect(&t, &three, "a\n", "a", "");
    CHECK(!diff(&t, NULL, 0, NULL, 0, &three));
    close_diff(&t);
}

TEST(diff_empty_side)
{
    const DiffOptions three = {.context = 3};
    DiffTest t;
    open_diff(&t);
    expect(&t, &three, "", "a\n", "@@ -0,0 +1 @@\n+a\n");
    expect(&t, &three, "", "a\nb", "@@ -0,0 +1,2 @@\n+a\n+b\n");
    expect(&t, &three, "a\nb\n", "", "@@ -1,2 +0,0 @@\n-a\n-b\n");
    expect(&t, &three, "", "\n", "@@ -0,0 +1 @@\n+\n");
    CHECK(diff(&t, NULL, 0, "a", 1, &three));
    close_diff(&t);
}

TEST(diff_one_change)
{
    const DiffOptions none = {.context = 0}, one = {.context = 1}, three = {.context = 3},
                      all = {.context = UINT32_MAX};
    const char *eight = "1\n2\n3\n4\n5\n6\n7\n8\n";
    DiffTest t;
    open_diff(&t);
    expect(&t, &three, eight, "1\n2\n3\n4\nfive\n6\n7\n8\n", "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
    expect(&t, &one, eight, "1\n2\n3\n4\n6\n7\n8\n", "@@ -4,3 +4,2 @@\n 4\n-5\n 6\n");
    expect(&t, &none, eight, "1\n2\n3\n4\n6\n7\n8\n", "@@ -5 +4,0 @@\n-5\n");
    expect(&t, &none, eight, "1\n2\n3\n4\n5\n5a\n5b\n6\n7\n8\n", "@@ -5,0 +6,2 @@\n+5a\n+5b\n");
    expect(&t, &one, eight, "0\n1\n2\n3\n4\n5\n6\n7\n8\n", "@@ -1 +1,2 @@\n+0\n 1\n");
    expect(&t, &one, eight, "1\n2\n3\n4\n5\n6\n7\n8\n9", "@@ -8 +8,2 @@\n 8\n+9\n");
    expect(&t, &all, eight, "1\n2\n3\n4\n5\n6\n7\neight\n",
           "@@ -1,8 +1,8 @@\n 1\n 2\n 3\n 4\n 5\n 6\n 7\n-8\n+eight\n");
    expect(&t, &three, "a", "b", "@@ -1 +1 @@\n-a\n+b\n");
    // A missing final newline does not change the line.
    expect(&t, &one, "a\nb\nc", "a\nb\nc\nd\n", "@@ -3 +3,2 @@\n c\n+d\n");
    expect(&t, &one, "a\nb", "b\n", "@@ -1,2 +1 @@\n-a\n b\n");
    close_diff(&t);
}

// With three lines of context, six unchanged lines between two changes are in one hunk, seven are not.
TEST(diff_merged_hunks)
{
    const DiffOptions three = {.context = 3}, none = {.context = 0};
    DiffTest t;
    open_diff(&t);
    expect(&t, &three, "x\n1\n2\n3\n4\n5\n6\ny\n", "X\n1\n2\n3\n4\n5\n6\nY\n",
           "@@ -1,8 +1,8 @@\n-x\n+X\n 1\n 2\n 3\n 4\n 5\n 6\n-y\n+Y\n");
    expect(&t, &three, "x\n1\n2\n3\n4\n5\n6\n7\ny\n", "X\n1\n2\n3\n4\n5\n6\n7\n",
           "@@ -1,4 +1,4 @@\n-x\n+X\n 1\n 2\n 3\n@@ -6,4 +6,3 @@\n 5\n 6\n 7\n-y\n");
    expect(&t, &none, "x\n1\ny\n", "1\nY\n", "@@ -1 +0,0 @@\n-x\n@@ -3 +2 @@\n-y\n+Y\n");
    close_diff(&t);
}

// The search considers lines of both texts, also moved and repeated ones.
TEST(diff_common_lines)
{
    const DiffOptions three = {.context = 3};
    DiffTest t;
    open_diff(&t);
    expect(&t, &three, "a\nb\n", "b\na\n", "@@ -1,2 +1,2 @@\n-a\n b\n+a\n");
    expect(&t, &three, "a\na\na\n", "a\n", "@@ -1,3 +1 @@\n a\n-a\n-a\n");
    expect(&t, &three, "a\nb\nc\nd\n", "c\nd\na\nb\n", "@@ -1,4 +1,4 @@\n-a\n-b\n c\n d\n+a\n+b\n");
    expect(&t, &three, "a\nx\nb\ny\nc\n", "u\na\nb\nv\nc\na\n", "@@ -1,5 +1,6 @@\n+u\n a\n-x\n b\n-y\n+v\n c\n+a\n");
    close_diff(&t);
}

/* -- Headings ------------------------------------------------------------------------------------------- */

// The lines `fn`, `block`, `part` open regions of levels 1, 2, 3.
static int test_heading(TextLine *line)
{
    static const char *const words[] = {"fn ", "  block ", "    part "};
    for (size_t k = 0; k < ARRAY_LEN(words); k++)
        if (line->len >= strlen(words[k]) && memcmp(line->text, words[k], strlen(words[k])) == 0)
            return (int)k + 1;
    return 0;
}

TEST(diff_headings)
{
    const DiffOptions options = {.context = 0, .heading = test_heading};
    const char *old = "top\n"
                      "fn one {\n"
                      "  block 1 \t\n"
                      "    i1\n"
                      "    part a\n"
                      "    i2\n"
                      "  block 2\n"
                      "    i3\n"
                      "fn two\n"
                      "  i4\n";
    DiffTest t;
    open_diff(&t);
    expect(&t, &options, old,
           "TOP\n"
           "fn one {\n"
           "  block 1 \t\n"
           "    I1\n"
           "    part a\n"
           "    I2\n"
           "  block 2\n"
           "    I3\n"
           "fn two\n"
           "  I4\n",
           "@@ -1 +1 @@\n-top\n+TOP\n"
           "@@ -4 +4 @@ fn one { block 1\n-    i1\n+    I1\n"
           "@@ -6 +6 @@ fn one { block 1 part a\n-    i2\n+    I2\n"
           "@@ -8 +8 @@ fn one { block 2\n-    i3\n+    I3\n"
           "@@ -10 +10 @@ fn two\n-  i4\n+  I4\n");
    close_diff(&t);
}

// The heading of a removed line is from the old text, that of an added line from the new one; a heading is in its own
// region.
TEST(diff_headings_of_side)
{
    const DiffOptions options = {.context = 1, .heading = test_heading};
    DiffTest t;
    open_diff(&t);
    expect(&t, &options, "fn a\n  i\nfn b\n  j\n", "fn a\n  i\nfn c\n  k\n  l\nfn b\n  j\n",
           "@@ -2,2 +2,5 @@ fn c\n   i\n+fn c\n+  k\n+  l\n fn b\n");
    expect(&t, &options, "fn a\n  i\nfn c\n  k\n  l\nfn b\n  j\n", "fn a\n  i\nfn b\n  j\n",
           "@@ -2,5 +2,2 @@ fn c\n   i\n-fn c\n-  k\n-  l\n fn b\n");
    expect(&t, &options, "fn a\n  i\n", "fn b\n  i\n", "@@ -1,2 +1,2 @@ fn a\n-fn a\n+fn b\n   i\n");
    expect(&t, &options, "fn a\n  block 1\n", "fn a\n  block 1\n    x\n",
           "@@ -2 +2,2 @@ fn a block 1\n   block 1\n+    x\n");
    close_diff(&t);
}

static int strange_heading(TextLine *line) { return line->len ? line->text[0] - '0' : 0; }

// Eight levels are shown; lines of other levels open no region.
TEST(diff_heading_levels)
{
    const DiffOptions options = {.context = 0, .heading = strange_heading};
    DiffTest t;
    open_diff(&t);
    expect(&t, &options, "1\n8\n9\n!\nx\n", "1\n8\n9\n!\n0\n", "@@ -5 +5 @@ 1 8\n-x\n+0\n");
    expect(&t, &options, "8\n1\nx\n", "8\n1\n0\n", "@@ -3 +3 @@ 1\n-x\n+0\n");
    close_diff(&t);
}

/* -- Applying ------------------------------------------------------------------------------------------- */

typedef struct Patch {
    const TextLine *diff, *old;
    uint32_t ndiff, nold;
    uint32_t taken;  // used lines of the old text
    uint32_t given;  // lines of the result so far
    uint32_t edits;  // lines removed or added
    char *result;    // never longer than both texts
    size_t n;
} Patch;

static void put_line(Patch *p, const char *text, size_t len)
{
    if (len)
        memcpy(p->result + p->n, text, len);
    p->result[p->n + len] = '\n';
    p->n += len + 1;
    p->given++;
}

static bool copy_old(Patch *p, uint32_t to)
{
    if (to < p->taken || to > p->nold)
        return false;
    for (; p->taken < to; p->taken++)
        put_line(p, p->old[p->taken].text, p->old[p->taken].len);
    return true;
}

// Parses `-a,b` or `-a` with either sign; returns the text after it, or NULL.
static const char *read_range(const char *text, char sign, uint32_t *at, uint32_t *n)
{
    char *end;
    if (*text != sign)
        return NULL;
    *at = (uint32_t)strtoul(text + 1, &end, 10);
    *n = 1;
    if (*end == ',')
        *n = (uint32_t)strtoul(end + 1, &end, 10);
    // An empty range has the number of the line before it.
    *at -= *n > 0;
    return end;
}

static bool apply_line(Patch *p, const TextLine *line)
{
    char mark = line->len ? line->text[0] : 0;
    if (mark == '+') {
        put_line(p, line->text + 1, line->len - 1);
        p->edits++;
        return true;
    }
    const TextLine *old = &p->old[p->taken];
    if ((mark != ' ' && mark != '-') || p->taken == p->nold || old->len != line->len - 1 ||
        memcmp(old->text, line->text + 1, old->len) != 0)
        return false;
    if (mark == ' ')
        return copy_old(p, p->taken + 1);
    p->taken++;
    p->edits++;
    return true;
}

static bool apply_hunk(Patch *p, uint32_t *k)
{
    uint32_t old_at, old_n, now_at, now_n;
    const char *text = p->diff[*k].text;
    if (p->diff[*k].len < strlen("@@ -1 +1 @@") || memcmp(text, "@@ ", 3) != 0)
        return false;
    text = read_range(text + 3, '-', &old_at, &old_n);
    if (!text || !(text = read_range(text + 1, '+', &now_at, &now_n)) || memcmp(text, " @@", 3) != 0)
        return false;
    if (!copy_old(p, old_at) || p->given != now_at)
        return false;
    for (++*k; (p->taken < old_at + old_n || p->given < now_at + now_n) && *k < p->ndiff; ++*k)
        if (!apply_line(p, &p->diff[*k]))
            return false;
    return p->taken == old_at + old_n && p->given == now_at + now_n;
}

// True if the diff in the sink turns one text into the other; sets `edits` to the number of removed and added lines.
// Both texts end in a newline or are empty.
static bool turns(DiffTest *t, const char *old, size_t old_len, const char *now, size_t now_len, uint32_t *edits)
{
    Patch p = {0};
    Arena arena;
    TextLine *diff_at, *old_at;
    arena_init(&arena, &t->heap);
    p.ndiff = text_lines(t->sink.text, t->sink.n, &arena, &diff_at);
    p.nold = text_lines(old, old_len, &arena, &old_at);
    p.diff = diff_at;
    p.old = old_at;
    p.result = arena_alloc(&arena, old_len + t->sink.n + 1);
    bool ok = true;
    for (uint32_t k = 0; ok && k < p.ndiff;)
        ok = apply_hunk(&p, &k);
    ok = ok && copy_old(&p, p.nold) && p.n == now_len && (now_len == 0 || memcmp(p.result, now, now_len) == 0);
    *edits = p.edits;
    arena_free(&arena);
    return ok;
}

/* -- Random texts --------------------------------------------------------------------------------------- */

enum { SMALL_MAX = 60 };

// Makes lines of one letter each, for texts short enough for the quadratic algorithm.
static uint32_t random_letters(uint64_t *seed, char *letters, uint32_t kinds)
{
    uint32_t n = unit_random(seed, SMALL_MAX);
    for (uint32_t k = 0; k < n; k++)
        letters[k] = (char)('a' + unit_random(seed, kinds));
    return n;
}

// Returns the letters with some removed, replaced or added.
static uint32_t edit_letters(uint64_t *seed, const char *letters, uint32_t n, char *edited, uint32_t kinds)
{
    uint32_t m = 0, rate = 2 + unit_random(seed, 20);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t what = unit_random(seed, rate);
        if (what == 0 && m < SMALL_MAX)
            edited[m++] = (char)('a' + unit_random(seed, kinds));
        if (what != 1 && m < SMALL_MAX)
            edited[m++] = letters[k];
    }
    return m;
}

static size_t letters_text(const char *letters, uint32_t n, char *text)
{
    for (uint32_t k = 0; k < n; k++) {
        text[2 * k] = letters[k];
        text[2 * k + 1] = '\n';
    }
    return (size_t)2 * n;
}

// Returns the number of edits of a smallest diff: all lines except twice the longest common subsequence.
static uint32_t fewest_edits(const char *one, uint32_t n, const char *two, uint32_t m)
{
    uint32_t length[SMALL_MAX + 1][SMALL_MAX + 1] = {{0}};
    for (uint32_t x = 0; x < n; x++)
        for (uint32_t y = 0; y < m; y++)
            length[x + 1][y + 1] = one[x] == two[y] ? length[x][y] + 1 : MAX(length[x][y + 1], length[x + 1][y]);
    return n + m - 2 * length[n][m];
}

TEST(diff_random)
{
    DiffTest t;
    uint64_t seed = 5;
    open_diff(&t);
    for (uint32_t round = 0; round < 3000; round++) {
        char old[SMALL_MAX], now[SMALL_MAX], old_text[2 * SMALL_MAX], now_text[2 * SMALL_MAX];
        uint32_t kinds = 1 + unit_random(&seed, 26), edits;
        uint32_t n = random_letters(&seed, old, kinds);
        uint32_t m = round % 2 ? random_letters(&seed, now, kinds) : edit_letters(&seed, old, n, now, kinds);
        size_t old_len = letters_text(old, n, old_text), now_len = letters_text(now, m, now_text);
        const DiffOptions options = {.context = unit_random(&seed, 5)};
        unit_context("round %u", round);
        bool equal = old_len == now_len && memcmp(old_text, now_text, old_len) == 0;
        CHECK_EQ(diff(&t, old_text, old_len, now_text, now_len, &options), !equal);
        CHECK(turns(&t, old_text, old_len, now_text, now_len, &edits));
        CHECK_EQ(edits, fewest_edits(old, n, now, m));
    }
    close_diff(&t);
}

/* -- Big texts ------------------------------------------------------------------------------------------ */

// A growing text of numbered lines.
typedef struct Text {
    char *at;
    size_t n, cap;
} Text;

static void add_line(Text *text, uint32_t number)
{
    if (text->cap - text->n < 40) {
        text->cap = text->cap * 2 + 1000;
        text->at = realloc(text->at, text->cap);
        if (!text->at)
            abort();
    }
    text->n += (size_t)snprintf(text->at + text->n, 40, "    add R%u, R%u, 1\n", number, number % 97);
}

// Checks the diff and frees both texts; returns its edits.
static uint32_t check_big(Text *old, Text *now)
{
    const DiffOptions options = {.context = 3};
    DiffTest t;
    uint32_t edits;
    open_diff(&t);
    CHECK(diff(&t, old->at, old->n, now->at, now->n, &options));
    CHECK(turns(&t, old->at, old->n, now->at, now->n, &edits));
    close_diff(&t);
    free(old->at);
    free(now->at);
    return edits;
}

// Compares texts with scattered changes: unique lines, or copies of other lines.
static uint32_t scattered(bool copies, uint32_t lines, uint32_t changes)
{
    Text old = {0}, now = {0};
    for (uint32_t k = 0; k < lines; k++) {
        uint32_t other = copies ? k * 7919u % lines : lines + k;
        add_line(&old, k);
        add_line(&now, k % (lines / changes) == 5 ? other : k);
    }
    return check_big(&old, &now);
}

TEST(diff_big_scattered)
{
    CHECK_EQ(scattered(false, 200000, 1000), 2000);
    CHECK_EQ(scattered(true, 200000, 1000), 2000);
}

TEST(diff_big_different)
{
    enum { N = 50000 };
    Text old = {0}, now = {0};
    for (uint32_t k = 0; k < N; k++) {
        add_line(&old, k);
        add_line(&now, N + k);
    }
    CHECK_EQ(check_big(&old, &now), 2 * N);
}

// All lines of one text are in the other one, in another order, backward, or of few kinds: the search exceeds its
// limit.
TEST(diff_big_search)
{
    enum { N = 50000 };
    uint64_t seed = 8;
    for (int how = 0; how < 4; how++) {
        Text old = {0}, now = {0};
        for (uint32_t k = 0; k < N; k++) {
            static const uint32_t kinds[] = {0, 0, 2, 500};
            unit_context("way %d", how);
            add_line(&old, how < 2 ? k : unit_random(&seed, kinds[how]));
            add_line(&now, how == 0 ? k * 7919u % N : how == 1 ? N - 1 - k : unit_random(&seed, kinds[how]));
        }
        uint32_t edits = check_big(&old, &now);
        CHECK(edits > 0 && edits < 2 * N);
    }
}

static void diff_limited(void *user)
{
    const DiffOptions options = {.context = 3};
    static char old[100000], now[100000];
    memset(old, '\n', sizeof old);
    memset(now, 'a', sizeof now);
    DiffTest *t = user;
    diff(t, old, sizeof old, now, sizeof now, &options);
}

TEST(diff_memory_limit)
{
    DiffTest t;
    open_diff(&t);
    t.heap.limit = t.heap.used + 100000;
    CHECK_FAILS(&t.heap, ST_LIMIT, diff_limited, &t);
    sink_free(&t.sink);
    heap_release(&t.heap);
}

void test_diff(void)
{
    RUN(text_lines_ends);
    RUN(diff_equal);
    RUN(diff_empty_side);
    RUN(diff_one_change);
    RUN(diff_merged_hunks);
    RUN(diff_common_lines);
    RUN(diff_headings);
    RUN(diff_headings_of_side);
    RUN(diff_heading_levels);
    RUN(diff_random);
    RUN(diff_big_scattered);
    RUN(diff_big_different);
    RUN(diff_big_search);
    RUN(diff_memory_limit);
}
