// SPDX-License-Identifier: MIT
// Tests diagnostics: positions, the line and its caret, JSON.
#include "tests/unit/unit.h"

typedef struct DiagTest {
    Source source;
    Sink sink;
    Diag diag;
} DiagTest;

static void open_diag(DiagTest *t, const char *text, size_t len)
{
    *t = (DiagTest){.source = {.name = "in.ptx", .text = text, .len = len}};
    t->diag = (Diag){.source = &t->source, .write = sink_append, .user = &t->sink};
}

static void expect(DiagTest *t, const char *text)
{
    CHECK_TEXT(t->sink.text, t->sink.n, text);
    t->sink.n = 0;
}

static void locate_slowly(const char *text, size_t offset, uint32_t *line, uint32_t *col, size_t *start)
{
    *line = 1;
    *start = 0;
    for (size_t k = 0; k < offset; k++)
        if (text[k] == '\n') {
            ++*line;
            *start = k + 1;
        }
    *col = (uint32_t)(offset - *start + 1);
}

// All offsets, in ascending, descending and random order, against counting from the start.
TEST(diag_positions)
{
    static const char text[] = "first\n\n\tthird\twith tabs\r\nfourth\r\n\n\nlast, without a newline";
    size_t len = sizeof text - 1;
    DiagTest t;
    open_diag(&t, text, len);
    uint64_t seed = 3;
    for (size_t k = 0; k < 6 * len; k++) {
        size_t offset = k <= len ? k : k <= 2 * len ? 2 * len - k : unit_random(&seed, (uint32_t)len + 1);
        uint32_t line, col, expected_line, expected_col;
        size_t start, expected_start;
        unit_context("offset %zu", offset);
        diag_locate(&t.diag, offset, &line, &col, &start);
        locate_slowly(text, offset, &expected_line, &expected_col, &expected_start);
        CHECK_EQ(line, expected_line);
        CHECK_EQ(col, expected_col);
        CHECK_EQ(start, expected_start);
    }
    sink_free(&t.sink);
}

TEST(diag_text)
{
    DiagTest t;
    open_diag(&t, "add.u32 %r1;\n  sub %r2;\n", 24);
    diag_at(&t.diag, DIAG_ERROR, 8, "bad %s", "operand");
    expect(&t, "in.ptx:1:9: error: bad operand\nadd.u32 %r1;\n        ^\n");
    diag_at(&t.diag, DIAG_WARNING, 15, "odd");
    expect(&t, "in.ptx:2:3: warning: odd\n  sub %r2;\n  ^\n");
    diag_at(&t.diag, DIAG_NOTE, 0, "100%%");
    expect(&t, "in.ptx:1:1: note: 100%\nadd.u32 %r1;\n^\n");
    CHECK_EQ(t.diag.errors, 1);
    diag_at(&t.diag, DIAG_ERROR, 12, "newline");
    expect(&t, "in.ptx:1:13: error: newline\nadd.u32 %r1;\n            ^\n");
    CHECK_EQ(t.diag.errors, 2);
    sink_free(&t.sink);
}

TEST(diag_tabs)
{
    DiagTest t;
    open_diag(&t, "\tmov\t%r1, x;", 12);
    diag_at(&t.diag, DIAG_ERROR, 10, "m");
    // The caret line repeats the tabs of the line, so that columns match.
    expect(&t, "in.ptx:1:11: error: m\n\tmov\t%r1, x;\n\t   \t     ^\n");
    sink_free(&t.sink);
}

TEST(diag_crlf)
{
    DiagTest t;
    open_diag(&t, "one\r\ntwo\r\n", 10);
    diag_at(&t.diag, DIAG_ERROR, 6, "m");
    expect(&t, "in.ptx:2:2: error: m\ntwo\n ^\n");
    diag_at(&t.diag, DIAG_ERROR, 0, "m");
    expect(&t, "in.ptx:1:1: error: m\none\n^\n");
    sink_free(&t.sink);
}

TEST(diag_unprintable)
{
    DiagTest t;
    open_diag(&t, "a\x01\xc3\xa9 b\0c\n", 9);
    diag_at(&t.diag, DIAG_ERROR, 5, "m");
    expect(&t, "in.ptx:1:6: error: m\na??? b?c\n     ^\n");
    sink_free(&t.sink);
}

TEST(diag_end_of_file)
{
    DiagTest t;
    open_diag(&t, "abc", 3);
    diag_at(&t.diag, DIAG_ERROR, 3, "m");
    expect(&t, "in.ptx:1:4: error: m\nabc\n   ^\n");
    diag_at(&t.diag, DIAG_ERROR, 1000, "m");  // an offset beyond the end is the end
    expect(&t, "in.ptx:1:4: error: m\nabc\n   ^\n");
    sink_free(&t.sink);
    open_diag(&t, "abc\n", 4);
    diag_at(&t.diag, DIAG_ERROR, 4, "m");
    expect(&t, "in.ptx:2:1: error: m\n\n^\n");
    sink_free(&t.sink);
    open_diag(&t, "", 0);
    diag_at(&t.diag, DIAG_ERROR, 0, "m");
    expect(&t, "in.ptx:1:1: error: m\n\n^\n");
    sink_free(&t.sink);
}

// A long line is cut to a window, with the caret below the right byte.
TEST(diag_long_line)
{
    static char text[5001];
    for (size_t k = 0; k < 5000; k++)
        text[k] = (char)('!' + k % 90);
    DiagTest t;
    open_diag(&t, text, 5000);
    for (size_t offset = 0; offset < 5000; offset += 33) {
        unit_context("offset %zu", offset);
        t.sink.n = 0;
        diag_at(&t.diag, DIAG_ERROR, offset, "m");
        const char *line = memchr(t.sink.text, '\n', t.sink.n);
        if (!CHECK(line != NULL))
            break;
        line++;
        const char *end = t.sink.text + t.sink.n, *stop = memchr(line, '\n', (size_t)(end - line));
        if (!CHECK(stop != NULL))
            break;
        const char *caret = memchr(stop, '^', (size_t)(end - stop));
        if (!CHECK(caret != NULL))
            break;
        CHECK(stop - line <= 120);
        CHECK(caret - (stop + 1) < stop - line);
        CHECK_EQ(line[caret - (stop + 1)], text[offset]);
    }
    sink_free(&t.sink);
}

TEST(diag_json)
{
    DiagTest t;
    open_diag(&t, "one\ntwo\n", 8);
    t.source.name = "a \"b\".ptx";
    t.diag.json = true;
    diag_at(&t.diag, DIAG_ERROR, 5, "a 'b' \\ \"c\"");
    expect(&t, "{\"schema\":1,\"severity\":\"error\",\"file\":\"a \\\"b\\\".ptx\",\"line\":2,\"column\":2,"
               "\"message\":\"a 'b' \\\\ \\\"c\\\"\"}\n");
    diag_plain(&t.diag, DIAG_NOTE, "n");
    expect(&t, "{\"schema\":1,\"severity\":\"note\",\"file\":\"a \\\"b\\\".ptx\",\"message\":\"n\"}\n");
    CHECK_EQ(t.diag.errors, 1);
    sink_free(&t.sink);
}

TEST(diag_without_position)
{
    DiagTest t;
    open_diag(&t, "", 0);
    diag_plain(&t.diag, DIAG_ERROR, "no %s", "input");
    expect(&t, "in.ptx: error: no input\n");
    t.diag.source = NULL;
    diag_plain(&t.diag, DIAG_WARNING, "w");
    expect(&t, "oriopt: warning: w\n");
    CHECK_EQ(t.diag.errors, 1);
    sink_free(&t.sink);
}

// A message and a name longer than the buffers.
TEST(diag_long_message)
{
    static char name[6000], message[3000];
    memset(name, 'n', sizeof name - 1);
    memset(message, 'm', sizeof message - 1);
    DiagTest t;
    open_diag(&t, "x", 1);
    t.source.name = name;
    diag_at(&t.diag, DIAG_ERROR, 0, "%s", message);
    CHECK(t.sink.n > 6000 + 1000);
    CHECK(memcmp(t.sink.text, name, 5999) == 0);
    CHECK(memcmp(t.sink.text + 5999, ":1:1: error: mmm", 16) == 0);
    CHECK(memcmp(t.sink.text + t.sink.n - 5, "\nx\n^\n", 5) == 0);
    sink_free(&t.sink);
}

void test_diag(void)
{
    RUN(diag_positions);
    RUN(diag_text);
    RUN(diag_tabs);
    RUN(diag_crlf);
    RUN(diag_unprintable);
    RUN(diag_end_of_file);
    RUN(diag_long_line);
    RUN(diag_json);
    RUN(diag_without_position);
    RUN(diag_long_message);
}
