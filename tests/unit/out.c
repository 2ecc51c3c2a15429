// SPDX-License-Identifier: MIT
// Tests buffered output.
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/unit.h"

typedef struct OutTest {
    Heap heap;
    Arena arena;
    Sink sink;
    Out out;
} OutTest;

static void open_out(OutTest *t)
{
    unit_heap(&t->heap);
    arena_init(&t->arena, &t->heap);
    t->sink = (Sink){0};
    out_init(&t->out, &t->arena, sink_write, &t->sink);
}

static void close_out(OutTest *t)
{
    sink_free(&t->sink);
    arena_free(&t->arena);
    heap_release(&t->heap);
}

static void expect(OutTest *t, const char *text)
{
    out_flush(&t->out);
    CHECK_TEXT(t->sink.text, t->sink.n, text);
    t->sink.n = 0;
}

TEST(out_empty)
{
    OutTest t;
    open_out(&t);
    out_flush(&t.out);
    out_bytes(&t.out, "", 0);
    out_flush(&t.out);
    CHECK_EQ(t.sink.calls, 0);
    CHECK_EQ(t.out.total, 0);
    CHECK(!t.out.failed);
    close_out(&t);
}

// Writes of all kinds across the end of the buffer, at each distance from it.
TEST(out_boundaries)
{
    OutTest t;
    open_out(&t);
    size_t cap = t.out.cap;
    char *fill = malloc(cap);
    for (size_t k = 0; k < cap; k++)
        fill[k] = (char)('a' + k % 26);
    for (size_t room = 0; room < 40; room++) {
        unit_context("%zu bytes left", room);
        uint64_t before = t.out.total;
        t.sink.n = 0;
        out_bytes(&t.out, fill, cap - room);
        out_char(&t.out, '<');
        out_z(&t.out, "text");
        out_u64(&t.out, 1234567890123u);
        out_fmt(&t.out, "[%d]", 77);
        out_hex(&t.out, 0xbeef, 6);
        out_json(&t.out, "q\"", 2);
        out_flush(&t.out);
        CHECK_EQ(t.sink.n, cap - room + strlen("<text1234567890123[77]00BEEF\"q\\\"\""));
        CHECK(memcmp(t.sink.text, fill, cap - room) == 0);
        CHECK_TEXT(t.sink.text + cap - room, t.sink.n - (cap - room), "<text1234567890123[77]00BEEF\"q\\\"\"");
        CHECK_EQ(t.out.total - before, t.sink.n);
    }
    free(fill);
    close_out(&t);
}

TEST(out_large)
{
    OutTest t;
    open_out(&t);
    size_t sizes[] = {t.out.cap - 1, t.out.cap, t.out.cap + 1, 2 * t.out.cap, 5 * t.out.cap + 3};
    for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
        unit_context("%zu bytes", sizes[k]);
        char *text = malloc(sizes[k] + 1);
        for (size_t j = 0; j < sizes[k]; j++)
            text[j] = (char)('0' + j % 10);
        text[sizes[k]] = 0;
        for (int how = 0; how < 2; how++) {
            t.sink.n = 0;
            out_char(&t.out, '!');
            if (how)
                out_fmt(&t.out, "%s", text);
            else
                out_bytes(&t.out, text, sizes[k]);
            out_flush(&t.out);
            CHECK_EQ(t.sink.n, sizes[k] + 1);
            CHECK(t.sink.text[0] == '!' && memcmp(t.sink.text + 1, text, sizes[k]) == 0);
        }
        free(text);
    }
    close_out(&t);
}

TEST(out_formatted)
{
    OutTest t;
    char text[600];
    open_out(&t);
    // Around the size of the internal small buffer.
    for (size_t n = 500; n < 530; n++) {
        memset(text, 'f', n);
        text[n] = 0;
        out_fmt(&t.out, "%s", text);
        expect(&t, text);
    }
    out_fmt(&t.out, "%s", "");
    CHECK_EQ(t.out.n, 0);
    close_out(&t);
}

TEST(out_numbers)
{
    static const struct {
        int64_t value;
        const char *text;
    } rows[] = {{0, "0"},
                {1, "1"},
                {-1, "-1"},
                {9, "9"},
                {10, "10"},
                {-10, "-10"},
                {INT32_MIN, "-2147483648"},
                {INT64_MAX, "9223372036854775807"},
                {INT64_MIN, "-9223372036854775808"},
                {INT64_MIN + 1, "-9223372036854775807"}};
    OutTest t;
    open_out(&t);
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        out_i64(&t.out, rows[k].value);
        expect(&t, rows[k].text);
    }
    out_u64(&t.out, UINT64_MAX);
    expect(&t, "18446744073709551615");
    out_u64(&t.out, 0);
    expect(&t, "0");
    out_hex(&t.out, 0, 1);
    out_char(&t.out, ' ');
    out_hex(&t.out, 0x3F800000, 8);
    out_char(&t.out, ' ');
    out_hex(&t.out, 0xABCDE, 4);
    out_char(&t.out, ' ');
    out_hex(&t.out, UINT64_MAX - 1, 16);
    out_hex(&t.out, 5, 0);
    expect(&t, "0 3F800000 BCDE FFFFFFFFFFFFFFFE");
    close_out(&t);
}

TEST(out_json_escapes)
{
    OutTest t;
    open_out(&t);
    out_json(&t.out, "", 0);
    expect(&t, "\"\"");
    out_json(&t.out, "a\"b\\c/d", 7);
    expect(&t, "\"a\\\"b\\\\c/d\"");
    out_json(&t.out, "\n\t\r\0\x1f x\x7f", 8);
    expect(&t, "\"\\u000a\\u0009\\u000d\\u0000\\u001f x\x7f\"");
    out_json(&t.out, "caf\xc3\xa9", 5);
    expect(&t, "\"caf\xc3\xa9\"");
    close_out(&t);
}

TEST(out_failing_writer)
{
    OutTest t;
    open_out(&t);
    t.sink.fail_at = 2;
    size_t cap = t.out.cap;
    char *text = malloc(cap);
    memset(text, 'z', cap);
    for (int k = 0; k < 6; k++)
        out_bytes(&t.out, text, cap);
    out_flush(&t.out);
    CHECK(t.out.failed);
    CHECK_EQ(t.sink.calls, 2);  // no write after the failure
    CHECK_EQ(t.sink.n, cap);
    CHECK_EQ(t.out.total, 6 * cap);
    free(text);
    close_out(&t);
}

static void check_json(const char *text, const char *expected)
{
    OutTest t;
    open_out(&t);
    out_json(&t.out, text, strlen(text));
    out_flush(&t.out);
    CHECK_TEXT(t.sink.text, t.sink.n, expected);
    close_out(&t);
}

// Valid UTF-8 characters stay; each invalid byte gives U+FFFD.
TEST(out_json_utf8)
{
    check_json("a\"b\\\n", "\"a\\\"b\\\\\\u000a\"");
    check_json("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xed\x9f\xbf",
               "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80 \xed\x9f\xbf\"");
    check_json("\x80\xff", "\"\\ufffd\\ufffd\"");
    check_json("\xc3", "\"\\ufffd\"");
    check_json("\xc3(", "\"\\ufffd(\"");
    check_json("\xe2\x82", "\"\\ufffd\\ufffd\"");
    check_json("\xc0\xaf", "\"\\ufffd\\ufffd\"");
    check_json("\xe0\x80\xaf", "\"\\ufffd\\ufffd\\ufffd\"");
    check_json("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"");
    check_json("\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
}

void test_out(void)
{
    RUN(out_empty);
    RUN(out_boundaries);
    RUN(out_large);
    RUN(out_formatted);
    RUN(out_numbers);
    RUN(out_json_escapes);
    RUN(out_failing_writer);
    RUN(out_json_utf8);
}
