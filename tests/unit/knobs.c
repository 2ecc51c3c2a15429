// SPDX-License-Identifier: MIT
// Tests knobs: values of every type, precedence, conditions, budgets, and printed settings that are read back.
#define _POSIX_C_SOURCE 200809L  // strdup
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/knobs_test.h"

/* -- Fixture -------------------------------------------------------------------------------------------- */

static const KnobInfo test_rows[T_ROWS] = {
    [T_SWITCH] = {1, "Switch", KT_NONE, "", "", "test", "a switch"},
    [T_DEFAULT_ON] = {2, "DefaultOn", KT_NONE, "1", "", "test", "a switch that is on"},
    [T_NUM] = {3, "Num", KT_INT, "", "", "test", "a number"},
    [T_SMALL] = {4, "Small", KT_INT, "3", "-2..6", "test", "a number with a range"},
    [T_BUDGET] = {5, "Budget", KT_BDGT, "", "", "test", "a budget"},
    [T_FEW] = {6, "Few", KT_BDGT, "2", "..9", "test", "a budget with a default"},
    [T_SPAN] = {7, "Span", KT_IRNG, "", "", "test", "a range"},
    [T_ZONE] = {8, "Zone", KT_IRNG, "1..", "0..100", "test", "a range with a range"},
    [T_LIST] = {9, "List", KT_ILIST, "", "", "test", "a list"},
    [T_BITS] = {10, "Bits", KT_ILIST, "1,2", "0..31", "test", "a list with a range"},
    [T_FLOAT] = {11, "Float", KT_FLOAT, "", "", "test", "a float"},
    [T_DOUBLE] = {12, "Double", KT_DBL, "0.25", "", "test", "a double"},
    [T_RATIO] = {-1, "Ratio", KT_DBL, "", "0..1", "test", "a double with a range"},
    [T_TEXT] = {-1, "Text", KT_STR, "", "", "test", "a text"},
    [T_WEIGHTS] = {-1, "Weights", KT_OPCODE_STR_LIST, "", "0..50", "test", "\"weights\""},
    [T_WHEN] = {-1, "WHEN", KT_WHEN, "", "", "test", "conditions"},
};
const KnobTable test_table = {test_rows, T_ROWS};

int find_test_phase(const char *text, size_t len, char why[static 400])
{
    int row = 0;
    size_t k = len && (*text == 'P' || *text == 'p');
    bool digits = k < len;
    for (; k < len; k++) {
        digits &= text[k] >= '0' && text[k] <= '9' && row < 10;
        row = digits ? row * 10 + text[k] - '0' : 0;
    }
    if (digits)
        return row;
    snprintf(why, 400, "unknown phase '%.*s'; did you mean P1, P2 or P3?", (int)MIN(len, 60), text);
    return -1;
}

void knobs_open(KnobTest *t)
{
    memset(t, 0, sizeof *t);
    unit_heap(&t->heap);
    arena_init(&t->arena, &t->heap);
    t->store = knob_store_new(&t->arena, &test_table, find_test_phase);
}

void knobs_close(KnobTest *t)
{
    if (t->view.store)
        knobs_free(&t->view);
    sink_free(&t->sink);
    arena_free(&t->arena);
    CHECK_EQ(t->heap.used, 0);
    heap_release(&t->heap);
}

bool knobs_read(KnobTest *t, KnobSource from, const char *name, const char *text)
{
    t->sink.n = 0;
    t->source = (Source){.name = name, .text = text, .len = strlen(text)};
    t->diag = (Diag){.source = &t->source, .write = sink_append, .user = &t->sink};
    bool ok = knob_read(t->store, from, &t->diag);
    CHECK_EQ(ok, t->diag.errors == 0);
    return ok;
}

void knobs_set(KnobTest *t, KnobSource from, const char *text)
{
    static const char *const names[] = {"default", "ORI_KNOBS", "f.knobs", "--knob", "k.ptx"};
    if (!CHECK(knobs_read(t, from, names[from], text)))
        CHECK_SILENT(t);
}

void knobs_view(KnobTest *t)
{
    if (t->view.store)
        knobs_free(&t->view);
    knobs_init(&t->view, t->store, &t->heap);
}

void knobs_enter(KnobTest *t, const char *function, const char *pragma)
{
    KnobPragma p = {pragma, pragma ? strlen(pragma) : 0, 0};
    KnobFunction fn = {.name = function, .len = strlen(function), .pragmas = &p, .npragmas = pragma != NULL};
    t->sink.n = 0;
    t->source = (Source){.name = "k.ptx", .text = pragma ? pragma : "", .len = p.len};
    t->diag = (Diag){.source = &t->source, .write = sink_append, .user = &t->sink};
    if (!CHECK(knobs_enter_function(&t->view, &fn, &t->diag)))
        CHECK_SILENT(t);
}

// Returns a view of a store with this one text from the command line.
static Knobs *view_of(KnobTest *t, const char *text)
{
    unit_context("%s", text);
    if (t->store)
        knobs_close(t);
    knobs_open(t);
    knobs_set(t, KS_COMMAND_LINE, text);
    knobs_view(t);
    return &t->view;
}

/* -- The table ------------------------------------------------------------------------------------------ */

// Names and indices are unique, defaults and ranges are valid, and every text exists.
TEST(knob_table_rows)
{
    Heap heap;
    Arena arena;
    unit_heap(&heap);
    arena_init(&arena, &heap);
    knob_store_new(&arena, &knob_table, NULL);  // unwinds at a bad default
    for (int row = 0; row < knob_table.n; row++) {
        const KnobInfo *info = &knob_table.rows[row];
        unit_context("%s", info->name);
        CHECK_EQ(knob_find(&knob_table, info->name, strlen(info->name)), row);
        for (int other = 0; other < row; other++)
            CHECK(info->index < 0 || info->index != knob_table.rows[other].index);
        CHECK(info->index >= -1);
        CHECK(info->help[0] && info->reader[0]);
        CHECK(!info->range[0] || strstr(info->range, ".."));
        CHECK(strcspn(info->name, "=;~[]\" \t") == strlen(info->name));
    }
    arena_free(&arena);
    heap_release(&heap);
}

TEST(knob_rows_of_the_documents)
{
    CHECK_EQ(knob_table.n, KNOB_COUNT);
    CHECK_EQ(knob_table.rows[KNOB_NAMED_PHASES].index, 298);
    CHECK_EQ(knob_table.rows[KNOB_DISABLE_PHASES].index, 185);
    CHECK_EQ(knob_table.rows[KNOB_OPT_BUDGET].index, 499);
    CHECK_EQ(knob_table.rows[KNOB_OPT_BUDGET].type, KT_BDGT);
    CHECK_EQ(knob_table.rows[KNOB_WHEN].type, KT_WHEN);
    CHECK_Z(knob_table.rows[KNOB_NV_OPT_RECIPES].value, "on");
    CHECK_Z(knob_type_name(KT_OPCODE_STR_LIST), "OPCODE_STR_LIST");
}

TEST(knob_find_ignores_case)
{
    CHECK_EQ(knob_find(&test_table, "sWITCH", 6), T_SWITCH);
    CHECK_EQ(knob_find(&test_table, "SWITCH2", 6), T_SWITCH);
    CHECK_EQ(knob_find(&test_table, "Switc", 5), -1);
    CHECK_EQ(knob_find(&test_table, "Switchs", 7), -1);
    CHECK_EQ(knob_find(&test_table, "", 0), -1);
    for (int row = 0; row < knob_table.n; row++) {
        char number[12];
        int len = snprintf(number, sizeof number, "%d", knob_table.rows[row].index);
        if (knob_table.rows[row].index >= 0)
            CHECK_EQ(knob_find(&knob_table, number, (size_t)len), row);
    }
    CHECK_EQ(knob_find(&knob_table, "9999", 4), -1);
    CHECK_EQ(knob_find(&knob_table, "402x", 4), -1);
    CHECK_EQ(knob_find(&knob_table, "99999999999999999999", 20), -1);
}

static void bad_default(void *arena)
{
    static const KnobInfo row = {1, "X", KT_INT, "many", "", "", ""};
    knob_store_new(arena, &(KnobTable){&row, 1}, NULL);
}

TEST(knob_bad_default_is_internal)
{
    KnobTest t;
    knobs_open(&t);
    CHECK_FAILS(&t.heap, ST_INTERNAL, bad_default, &t.arena);
    CHECK_Z(t.heap.message, "knob X: 'many' is not a valid default");
    knobs_close(&t);
}

TEST(knob_lists)
{
    static const KnobInfo rows[] = {{0, "Seven", KT_BDGT, "", "0..9", "p", "a \"b\""},
                                    {-1, "Other", KT_STR, "x", "", "q", "h"}};
    Sink sink = {0};
    char buf[64];
    Out out = {.write = sink_write, .user = &sink, .buf = buf, .cap = sizeof buf};
    knob_list(&out, &(KnobTable){rows, 2}, true);
    out_flush(&out);
    CHECK_TEXT(sink.text, sink.n,
               "{\"schema\":1,\"knobs\":[\n{\"index\":0,\"name\":\"Seven\",\"type\":\"BDGT\",\"default\":\"unlimited\","
               "\"range\":\"0..9\",\"phase\":\"p\",\"help\":\"a \\\"b\\\"\"},\n{\"index\":null,\"name\":\"Other\","
               "\"type\":\"STR\",\"default\":\"x\",\"range\":\"\",\"phase\":\"q\",\"help\":\"h\"}\n]}\n");
    sink.n = 0;
    knob_list(&out, &(KnobTable){rows, 2}, false);
    out_flush(&out);
    CHECK_TEXT(sink.text, sink.n,
               "  0  Seven                                 BDGT unlimited  0..9   p\n"
               "        a \"b\"\n"
               "  -  Other                                 STR  x          -      q\n"
               "        h\n");
    sink_free(&sink);
}

// Help is broken at 100 columns, and only there.
TEST(knob_list_width)
{
    static const char fits[] =
        "01234567 01234567 01234567 01234567 01234567 01234567 01234567 01234567 01234567 01234567 ab";
    static const KnobInfo rows[] = {{0, "A", KT_STR, "", "", "p", fits},
                                    {1, "B", KT_STR, "", "", "p",
                                     "01234567 01234567 01234567 01234567 01234567 01234567 01234567 01234567 01234567 "
                                     "01234567 abc d"}};
    Sink sink = {0};
    char buf[64];
    Out out = {.write = sink_write, .user = &sink, .buf = buf, .cap = sizeof buf};
    knob_list(&out, &(KnobTable){rows, 2}, false);
    out_flush(&out);
    CHECK_TEXT(sink.text, sink.n,
               "  0  A                                     STR  -          -      p\n"
               "        01234567 01234567 01234567 01234567 01234567 01234567 01234567 01234567 01234567 01234567 ab\n"
               "  1  B                                     STR  -          -      p\n"
               "        01234567 01234567 01234567 01234567 01234567 01234567 01234567 01234567 01234567 01234567\n"
               "        abc d\n");
    sink_free(&sink);
}

/* -- Values --------------------------------------------------------------------------------------------- */

TEST(knob_unset)
{
    KnobTest t = {0};
    Knobs *k = view_of(&t, "");
    CHECK(!knob_is_set(k, T_SWITCH) && knob_is_set(k, T_DEFAULT_ON));
    CHECK(!knob_is_set(k, T_NUM) && knob_is_set(k, T_SMALL));
    CHECK_EQ(knob_int(k, T_NUM), 0);
    CHECK_EQ(knob_int(k, T_SMALL), 3);
    CHECK_EQ(knob_left(k, T_BUDGET), INT64_MAX);
    CHECK(knob_spend(k, T_BUDGET));
    CHECK_EQ(knob_left(k, T_FEW), 2);
    CHECK(knob_range(k, T_SPAN).lo == INT64_MIN && knob_range(k, T_SPAN).hi == INT64_MAX);
    CHECK(knob_range(k, T_ZONE).lo == 1 && knob_range(k, T_ZONE).hi == INT64_MAX);
    CHECK_EQ(knob_ints(k, T_LIST).n, 0);
    CHECK_EQ(knob_ints(k, T_BITS).at[1], 2);
    CHECK(knob_double(k, T_FLOAT) == 0 && knob_double(k, T_DOUBLE) == 0.25);
    CHECK(knob_str(k, T_TEXT) == NULL);
    CHECK_EQ(knob_pairs(k, T_WEIGHTS).n, 0);
    CHECK(knob_setting(k, T_NUM) == NULL);
    CHECK_EQ(knob_setting(k, T_SMALL)->from, KS_DEFAULT);
    knobs_close(&t);
}

TEST(knob_switches)
{
    static const struct {
        const char *text;
        bool on, default_on;
    } rows[] = {{"Switch", 1, 1},           {"Switch=1", 1, 1},         {"Switch=0", 0, 1},
                {"  switch = 1 ", 1, 1},    {"DefaultOn=0", 0, 0},      {"DefaultOn", 0, 1},
                {"Switch~Switch=0", 0, 1},  {"Switch=0\nSwitch", 1, 1}, {"Switch ; why", 1, 1},
                {"\tSWITCH\t=\t1\t;", 1, 1}};
    KnobTest t = {0};
    for (size_t n = 0; n < ARRAY_LEN(rows); n++) {
        Knobs *k = view_of(&t, rows[n].text);
        CHECK_EQ(knob_is_set(k, T_SWITCH), rows[n].on);
        CHECK_EQ(knob_is_set(k, T_DEFAULT_ON), rows[n].default_on);
    }
    knobs_close(&t);
}

TEST(knob_integers)
{
    static const struct {
        const char *text;
        int64_t value;
    } rows[] = {{"0", 0},
                {"7", 7},
                {"+7", 7},
                {"-7", -7},
                {"0x1F", 31},
                {"-0X1f", -31},
                {"017", 15},
                {"-017", -15},
                {"00", 0},
                {"9223372036854775807", INT64_MAX},
                {"-9223372036854775808", INT64_MIN},
                {"0x7fffffffffffffff", INT64_MAX},
                {"-0x8000000000000000", INT64_MIN},
                {"0777777777777777777777", INT64_MAX},
                {"-01000000000000000000000", INT64_MIN},
                {"0x00000000000000000000001", 1}};
    KnobTest t = {0};
    for (size_t n = 0; n < ARRAY_LEN(rows); n++) {
        char text[100];
        snprintf(text, sizeof text, "Num = %s ", rows[n].text);
        Knobs *k = view_of(&t, text);
        CHECK_EQ(knob_int(k, T_NUM), rows[n].value);
        CHECK(knob_is_set(k, T_NUM));
    }
    knobs_close(&t);
}

TEST(knob_ranges)
{
    static const struct {
        const char *text;
        int64_t lo, hi;
    } rows[] = {{"1..8", 1, 8},        {"5", 5, 5},           {"-3..-1", -3, -1},
                {"2..", 2, INT64_MAX}, {"..9", INT64_MIN, 9}, {" 1 .. 0x10 ", 1, 16},
                {"010..0x10", 8, 16},  {"4..4", 4, 4}};
    KnobTest t = {0};
    for (size_t n = 0; n < ARRAY_LEN(rows); n++) {
        char text[100];
        snprintf(text, sizeof text, "Span=%s", rows[n].text);
        KnobRange range = knob_range(view_of(&t, text), T_SPAN);
        CHECK_EQ(range.lo, rows[n].lo);
        CHECK_EQ(range.hi, rows[n].hi);
    }
    CHECK_EQ(knob_range(view_of(&t, "Zone=..7"), T_ZONE).hi, 7);
    CHECK_EQ(knob_range(view_of(&t, "Zone=100"), T_ZONE).lo, 100);
    CHECK_EQ(knob_int(view_of(&t, "Small=-2"), T_SMALL), -2);
    CHECK_EQ(knob_int(view_of(&t, "Small=6"), T_SMALL), 6);
    knobs_close(&t);
}

TEST(knob_lists_of_numbers)
{
    KnobTest t = {0};
    KnobInts list = knob_ints(view_of(&t, "List=1,2,-3"), T_LIST);
    CHECK_EQ(list.n, 3);
    CHECK(list.at[0] == 1 && list.at[1] == 2 && list.at[2] == -3);
    list = knob_ints(view_of(&t, "List= 0x10 ,\t010 ,+5"), T_LIST);
    CHECK_EQ(list.n, 3);
    CHECK(list.at[0] == 16 && list.at[1] == 8 && list.at[2] == 5);
    CHECK_EQ(knob_ints(view_of(&t, "List=7"), T_LIST).n, 1);
    CHECK_EQ(knob_ints(view_of(&t, "Bits=0,31"), T_BITS).at[1], 31);
    // A long list.
    char text[6000];
    size_t len = (size_t)snprintf(text, sizeof text, "List=0");
    for (int n = 1; n < 1000; n++)
        len += (size_t)snprintf(text + len, sizeof text - len, ",%d", n);
    list = knob_ints(view_of(&t, text), T_LIST);
    CHECK_EQ(list.n, 1000);
    CHECK_EQ(list.at[999], 999);
    knobs_close(&t);
}

TEST(knob_doubles)
{
    static const struct {
        const char *text;
        double value;
    } rows[] = {{"0.25", 0.25},
                {"-1e3", -1000},
                {"+.5", 0.5},
                {"3", 3},
                {"010", 10},
                {"089", 89},
                {"1E+2", 100},
                {"1.5e-3", 0x1.89374bc6a7efap-10},
                {"0.1", 0x1.999999999999ap-4},
                {"0.93", 0x1.dc28f5c28f5c3p-1},
                {"1.7976931348623157e308", 0x1.fffffffffffffp+1023},
                {"4.9406564584124654e-324", 0x1p-1074},
                {"2.4703282292062327e-324", 0},          // below half of the least number: rounds to zero
                {"2.4703282292062328e-324", 0x1p-1074},  // above half of the least number
                {"9007199254740993", 9007199254740992},  // a tie: rounds to even
                {"9007199254740993.00000000000000000001", 9007199254740994},
                {"9007199254740995", 9007199254740996},
                {"2.2250738585072011e-308", 0x0.fffffffffffffp-1022},
                {"1e-999", 0},
                {"-0.0", -0.0}};
    KnobTest t = {0};
    for (size_t n = 0; n < ARRAY_LEN(rows); n++) {
        char text[100];
        snprintf(text, sizeof text, "Double=%s ; comment", rows[n].text);
        double x = knob_double(view_of(&t, text), T_DOUBLE);
        CHECK(x == rows[n].value && signbit(x) == signbit(rows[n].value));
    }
    CHECK(knob_double(view_of(&t, "Ratio=0"), T_RATIO) == 0);
    CHECK(knob_double(view_of(&t, "Ratio=1.0"), T_RATIO) == 1);
    knobs_close(&t);
}

// A float is rounded once: 1 + 2^-24 + 2^-60 is above the tie, but rounding to a double first gives the tie.
TEST(knob_floats)
{
    KnobTest t = {0};
    CHECK(knob_double(view_of(&t, "Float=0.1"), T_FLOAT) == (double)0.1f);
    CHECK(knob_double(view_of(&t, "Float=1.00000005960464477626"), T_FLOAT) == 0x1.000002p0);
    CHECK(knob_double(view_of(&t, "Float=1.000000059604644775390625"), T_FLOAT) == 1);
    CHECK(knob_double(view_of(&t, "Float=3.4028235e38"), T_FLOAT) == 0x1.fffffep127);
    knobs_close(&t);
}

// The decimal point is a point in every locale.
TEST(knob_doubles_in_other_locales)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ps_AF.UTF-8"};
    KnobTest t = {0};
    for (size_t n = 0; n < ARRAY_LEN(names); n++) {
        if (!setlocale(LC_ALL, names[n]))
            continue;  // not installed
        CHECK(knob_double(view_of(&t, "Double=1.5"), T_DOUBLE) == 1.5);
        CHECK(strtod(localeconv()->decimal_point, NULL) == 0);  // the locale is restored
        setlocale(LC_ALL, "C");
    }
    CHECK(knob_double(view_of(&t, "Double=1.5"), T_DOUBLE) == 1.5);
    knobs_close(&t);
}

TEST(knob_texts)
{
    static const struct {
        const char *text, *value;
    } rows[] = {{"Text=abc", "abc"},
                {"Text = a b  c \t", "a b  c"},
                {"Text=a+b,c@3", "a+b,c@3"},
                {"Text=a;b", "a;b"},
                {"Text=a ;b", "a"},
                {"Text=;b", ";b"},
                {"Text=a=b", "a=b"},
                {"Text=a~Num=1", "a"},
                {"Text=a\r\nNum=1", "a"},
                {"Text=\"\"", ""},
                {"Text=\" a ;~b \"", " a ;~b "},
                {"Text=\"a\\\"b\\\\c\" ; why", "a\"b\\c"},
                {"Text=\"a\\n\"", "a\\n"},
                {"Text=a\"b", "a\"b"},
                {"Text=a\"~Num=1", "a\""},
                {"Text=a \"b\"", "a \"b\""},
                {"Text=[knobs]", "[knobs]"},
                {"Text=\xc3\xa9", "\xc3\xa9"},
                {"WHEN=FN=*;Text=a", "a"},
                {"WHEN=FN=*;Text=a;Num=1", "a"},
                {"WHEN=FN=*;Text=a b ;Num=x", "a b"},
                {"WHEN=FN=*;Text=\"a;b~c\";Num=1", "a;b~c"},
                {"WHEN=FN=*;Text=a~Num=1", "a"}};
    KnobTest t = {0};
    for (size_t n = 0; n < ARRAY_LEN(rows); n++) {
        Knobs *k = view_of(&t, rows[n].text);
        knobs_enter(&t, "f", NULL);
        const char *text = knob_str(k, T_TEXT);
        CHECK_Z(text ? text : "(unset)", rows[n].value);
    }
    knobs_close(&t);
}

TEST(knob_pairs_of_names_and_numbers)
{
    int64_t number = 0;
    KnobTest t = {0};
    Knobs *k = view_of(&t, "Weights=FADD,3, FMUL , 0x2,fadd,50");
    KnobPairs pairs = knob_pairs(k, T_WEIGHTS);
    CHECK_EQ(pairs.n, 3);
    CHECK_Z(pairs.at[1].name, "FMUL");
    CHECK_EQ(pairs.at[1].number, 2);
    CHECK(knob_pair(k, T_WEIGHTS, "FADD", &number));
    CHECK_EQ(number, 50);
    CHECK(!knob_pair(k, T_WEIGHTS, "FAD", &number));
    k = view_of(&t, "Weights=add.s32,1");
    CHECK(knob_pair(k, T_WEIGHTS, "ADD.S32", &number));
    CHECK_EQ(number, 1);
    knobs_close(&t);
}

/* -- Records and files ---------------------------------------------------------------------------------- */

TEST(knob_separators_and_comments)
{
    KnobTest t = {0};
    Knobs *k = view_of(&t, ";first\n\n ~~ ; second~Num=9\nNum=1~ Switch ~;Small=1\nText=x ; Num=2~Num=3\r\n\tSmall=5");
    CHECK_EQ(knob_int(k, T_NUM), 1);
    CHECK(knob_is_set(k, T_SWITCH));
    CHECK_EQ(knob_int(k, T_SMALL), 5);
    CHECK_Z(knob_str(k, T_TEXT), "x");
    CHECK_EQ(knob_setting(k, T_SMALL)->line, 6);
    CHECK_EQ(knob_setting(k, T_SMALL)->col, 2);
    knobs_close(&t);
}

TEST(knob_sections)
{
    static const struct {
        const char *text;
        int64_t num;
    } rows[] = {{"[knobs]\nNum=1", 1},
                {"Num=7\nrubbish \"\n[other]\n\001\n[knobs]\r\nNum=1\r\n", 1},
                {"\n; [knobs]\n[knobs]\nNum=1\n[other]\nNum=2\n", 1},
                {"[knobs]\nNum=1\n[other]\nNum=2\n[knobs]\nNum=3", 3},
                {"[knobs]\n[knobs]\nNum=1", 1},
                {"  [ KNOBS ] ; ours\nNum=1", 1},
                {"\xEF\xBB\xBF[knobs]\nNum=1", 1},
                {"[knobs]", 0},
                {"x[knobs]\n[knobs]\nNum=1\n[x", 1}};
    KnobTest t;
    for (size_t n = 0; n < ARRAY_LEN(rows) - 1; n++) {
        unit_context("%s", rows[n].text);
        knobs_open(&t);
        knobs_set(&t, KS_FILE, rows[n].text);
        knobs_view(&t);
        CHECK_EQ(knob_int(&t.view, T_NUM), rows[n].num);
        knobs_close(&t);
    }
}

/* -- Precedence ----------------------------------------------------------------------------------------- */

// Sources win by their order, not by the order in which they are read.
TEST(knob_sources)
{
    static const char *const texts[] = {NULL, "Small=0x1", "[knobs]\nSmall=2", "Small=4", "Small=5"};
    KnobTest t;
    for (int mask = 0; mask < 16; mask++)
        for (int backward = 0; backward < 2; backward++) {
            KnobSource best = KS_DEFAULT;
            unit_context("sources %d%s", mask, backward ? " backward" : "");
            knobs_open(&t);
            for (int n = 1; n <= 4; n++) {
                KnobSource from = (KnobSource)(backward ? 5 - n : n);
                if (!(mask >> (from - 1) & 1))
                    continue;
                knobs_set(&t, from, texts[from]);
                best = MAX(best, from);
            }
            knobs_view(&t);
            CHECK_EQ(knob_int(&t.view, T_SMALL), best == KS_DEFAULT ? 3 : texts[best][strlen(texts[best]) - 1] - '0');
            CHECK_EQ(knob_setting(&t.view, T_SMALL)->from, best);
            CHECK(knob_setting(&t.view, T_SMALL) == knob_store_setting(t.store, T_SMALL));
            knobs_close(&t);
        }
}

TEST(knob_later_wins_within_a_source)
{
    KnobTest t;
    knobs_open(&t);
    knobs_set(&t, KS_COMMAND_LINE, "Num=1~Num=2");
    knobs_set(&t, KS_COMMAND_LINE, "Small=1");
    knobs_set(&t, KS_COMMAND_LINE, "Small=2");
    knobs_view(&t);
    CHECK_EQ(knob_int(&t.view, T_NUM), 2);
    CHECK_EQ(knob_int(&t.view, T_SMALL), 2);
    knobs_close(&t);
}

// Conditional settings win over all others; among themselves they are ordered by source, then by position.
TEST(knob_when_wins)
{
    KnobTest t;
    knobs_open(&t);
    knobs_set(&t, KS_COMMAND_LINE, "WHEN=FN=f*;Num=5;Small=5");
    knobs_set(&t, KS_ENVIRONMENT, "WHEN=FN=f;Num=1;Switch;Text=e~WHEN=FN=*;Text=e2");
    knobs_set(&t, KS_FILE, "[knobs]\nWHEN=FN=?;Num=2;Text=f\nNum=9");
    knobs_set(&t, KS_COMMAND_LINE, "Num=8~Small=6");
    knobs_view(&t);
    CHECK_EQ(knob_int(&t.view, T_NUM), 8);  // outside of functions
    knobs_enter(&t, "f", "Num=7~Span=3");
    CHECK_EQ(knob_int(&t.view, T_NUM), 5);
    CHECK_EQ(knob_int(&t.view, T_SMALL), 5);
    CHECK_Z(knob_str(&t.view, T_TEXT), "f");
    CHECK(knob_is_set(&t.view, T_SWITCH) && knob_is_set(&t.view, T_SPAN));
    knobs_enter(&t, "g", "Small=-1");
    CHECK_EQ(knob_int(&t.view, T_NUM), 2);
    CHECK_EQ(knob_int(&t.view, T_SMALL), -1);
    knobs_enter(&t, "gg", NULL);
    CHECK_EQ(knob_int(&t.view, T_NUM), 8);
    CHECK_EQ(knob_int(&t.view, T_SMALL), 6);
    CHECK_Z(knob_str(&t.view, T_TEXT), "e2");
    CHECK(!knob_is_set(&t.view, T_SWITCH) && !knob_is_set(&t.view, T_SPAN));
    knobs_enter(&t, "f", "WHEN=FN=f;Num=4");
    CHECK_EQ(knob_int(&t.view, T_NUM), 4);
    knobs_close(&t);
}

TEST(knob_pragmas)
{
    static const char text[] = "aaaa\nbb Num=3\ncc Num=4~Switch";
    KnobPragma pragmas[] = {{text + 8, 5, 8}, {text + 17, 12, 17}, {"Small=1", 7, KNOB_NO_OFFSET}};
    KnobFunction fn = {.name = "kern", .len = 4, .pragmas = pragmas, .npragmas = 3};
    KnobTest t;
    knobs_open(&t);
    knobs_view(&t);
    t.source = (Source){.name = "k.ptx", .text = text, .len = sizeof text - 1};
    t.diag = (Diag){.source = &t.source, .write = sink_append, .user = &t.sink};
    CHECK(knobs_enter_function(&t.view, &fn, &t.diag));
    CHECK_EQ(knob_int(&t.view, T_NUM), 4);
    CHECK_EQ(knob_setting(&t.view, T_NUM)->line, 3);
    CHECK_EQ(knob_setting(&t.view, T_NUM)->col, 4);
    CHECK_EQ(knob_setting(&t.view, T_SMALL)->line, 0);
    CHECK(knob_is_set(&t.view, T_SWITCH));
    fn.npragmas = 0;
    CHECK(knobs_enter_function(&t.view, &fn, &t.diag));
    CHECK(!knob_is_set(&t.view, T_NUM) && !knob_is_set(&t.view, T_SWITCH));
    knobs_close(&t);
}

// A pragma with an error does not affect others, and the error has its position in the PTX.
TEST(knob_pragma_errors)
{
    static const char text[] = "aaaa\nbb Nun=3\ncc Num=4";
    KnobPragma pragmas[] = {{text + 8, 5, 8}, {text + 17, 5, 17}, {"Num=z", 5, KNOB_NO_OFFSET}};
    KnobFunction fn = {.name = "kern", .len = 4, .pragmas = pragmas, .npragmas = 3};
    KnobTest t;
    knobs_open(&t);
    knobs_view(&t);
    t.source = (Source){.name = "k.ptx", .text = text, .len = sizeof text - 1};
    t.diag = (Diag){.source = &t.source, .write = sink_append, .user = &t.sink};
    CHECK(!knobs_enter_function(&t.view, &fn, &t.diag));
    CHECK_EQ(knob_int(&t.view, T_NUM), 4);
    CHECK_TEXT(t.sink.text, t.sink.n,
               "k.ptx:2:4: error: unknown knob 'Nun'; did you mean Num, Few or Span?\nbb Nun=3\n   ^\n"
               "k.ptx: error: Num: bad number 'z'; expected a number such as 12, 0x1f, 017 or -3\n");
    knobs_close(&t);
}

/* -- Conditions ----------------------------------------------------------------------------------------- */

TEST(knob_function_names)
{
    static const struct {
        const char *glob, *name;
        bool holds;
    } rows[] = {{"f", "f", 1},           {"f", "F", 0},          {"F", "f", 0},         {"*", "", 1},
                {"gemm_*", "gemm_a", 1}, {"gemm_*", "gem_a", 0}, {"[ab]?", "ax", 1},    {"[!ab]?", "ax", 0},
                {"a\\*", "a*", 1},       {"\"a;b\"", "a;b", 1},  {"\"a\\*\"", "a*", 1}, {"\"x\\\\*\"", "x*", 1},
                {"  a", "a", 1},         {"a\"", "a\"", 1}};
    KnobTest t = {0};
    for (size_t n = 0; n < ARRAY_LEN(rows); n++) {
        char text[100];
        snprintf(text, sizeof text, "when = fn =%s;Switch", rows[n].glob);
        Knobs *k = view_of(&t, text);
        knobs_enter(&t, rows[n].name, NULL);
        CHECK_EQ(knob_is_set(k, T_SWITCH), rows[n].holds);
    }
    knobs_close(&t);
}

typedef struct HashCall {
    uint64_t hash;
    int calls;
} HashCall;

static uint64_t test_hash(void *user)
{
    HashCall *call = user;
    call->calls++;
    return call->hash;
}

static void enter_hashed(Knobs *k, const char *name, HashCall *call)
{
    call->calls = 0;
    CHECK(knobs_enter_function(k, &(KnobFunction){name, strlen(name), test_hash, call, NULL, 0}, NULL));
}

TEST(knob_function_hashes)
{
    static const struct {
        const char *text;
        uint64_t hash;
        bool holds;
    } rows[] = {{"0x1234", 0x1234, 1},
                {"0x1234", 0x1235, 0},
                {"0x10..0x20", 0x10, 1},
                {"0x10..0x20", 0x20, 1},
                {"0x10..0x20", 0x21, 0},
                {"0x10..0x20", 0xf, 0},
                {"..5", 0, 1},
                {"..5", 6, 0},
                {"5..", UINT64_MAX, 1},
                {"5..", 4, 0},
                {"0xffffffffffffffff", UINT64_MAX, 1},
                {"18446744073709551615", UINT64_MAX, 1},
                {"0x8000000000000000..", INT64_MAX, 0}};
    KnobTest t = {0};
    for (size_t n = 0; n < ARRAY_LEN(rows); n++) {
        char text[100];
        HashCall call = {rows[n].hash, 0};
        snprintf(text, sizeof text, "WHEN=FH=%s;Switch~WHEN=FH=1..;Num=1", rows[n].text);
        Knobs *k = view_of(&t, text);
        enter_hashed(k, "f", &call);
        CHECK_EQ(call.calls, 1);
        CHECK_EQ(knob_is_set(k, T_SWITCH), rows[n].holds);
    }
    knobs_close(&t);
}

// Hashes are computed only for conditions that use them.
TEST(knob_hashes_are_lazy)
{
    HashCall call = {7, 0};
    KnobTest t = {0};
    Knobs *k = view_of(&t, "WHEN=FN=f;WHEN=FH=7;Num=1~WHEN=PH=3;Small=1");
    enter_hashed(k, "g", &call);
    CHECK_EQ(call.calls, 0);
    enter_hashed(k, "f", &call);
    CHECK_EQ(call.calls, 1);
    CHECK_EQ(knob_int(k, T_NUM), 1);
    knobs_enter(&t, "f", NULL);  // without a hash the condition is false
    CHECK_EQ(knob_int(k, T_NUM), 0);
    enter_hashed(view_of(&t, "WHEN=FN=*;Num=1"), "f", &call);
    CHECK_EQ(call.calls, 0);
    knobs_close(&t);
}

TEST(knob_phases)
{
    KnobTest t = {0};
    Knobs *k = view_of(&t, "WHEN=PH=P5;Num=1~WHEN=PH=4 .. p6;Text=x~WHEN=FN=f*;WHEN=PH=6..8;Num=2~"
                           "WHEN=PH=\"7\";WHEN=PH=5..7;WHEN=FN=*g;Num=3~Num=9");
    knobs_enter_phase(k, 5);  // no function yet
    CHECK_EQ(knob_int(k, T_NUM), 9);
    static const struct {
        const char *name;
        int num[6];  // phases 4 .. 9
    } rows[] = {{"f", {9, 1, 2, 2, 2, 9}}, {"g", {9, 1, 9, 3, 9, 9}}, {"fg", {9, 1, 2, 3, 2, 9}}};
    for (size_t n = 0; n < ARRAY_LEN(rows); n++) {
        knobs_enter(&t, rows[n].name, NULL);
        CHECK_EQ(knob_int(k, T_NUM), 9);
        for (int phase = 4; phase < 10; phase++) {
            unit_context("%s in phase %d", rows[n].name, phase);
            knobs_enter_phase(k, phase);
            CHECK_EQ(knob_int(k, T_NUM), rows[n].num[phase - 4]);
            CHECK_EQ(knob_is_set(k, T_TEXT), phase <= 6);
        }
        knobs_enter_phase(k, -1);
        CHECK_EQ(knob_int(k, T_NUM), 9);
    }
    knobs_close(&t);
}

// Phase 0 is a phase; outside of phases no condition on phases holds.
TEST(knob_first_phase)
{
    KnobTest t = {0};
    Knobs *k = view_of(&t, "WHEN=PH=0;Num=1~WHEN=PH=0..3;Small=1");
    knobs_enter(&t, "f", NULL);
    CHECK(!knob_is_set(k, T_NUM));
    knobs_enter_phase(k, 0);
    CHECK_EQ(knob_int(k, T_NUM), 1);
    CHECK_EQ(knob_int(k, T_SMALL), 1);
    knobs_enter_phase(k, 1);
    CHECK(!knob_is_set(k, T_NUM));
    CHECK_EQ(knob_int(k, T_SMALL), 1);
    knobs_enter_phase(k, -1);
    CHECK_EQ(knob_int(k, T_SMALL), 3);
    knobs_close(&t);
}

// Without conditions a view uses the store's array itself.
TEST(knob_views_are_free_without_conditions)
{
    KnobTest t = {0};
    Knobs *k = view_of(&t, "Num=1~Budget=5");
    const KnobSetting *const *base = k->now;
    size_t used = t.heap.used;
    for (int n = 0; n < 10000; n++) {
        knobs_enter(&t, "f", NULL);
        knobs_enter_phase(k, n % 7);
        CHECK(k->now == base && !k->by_phase);
    }
    CHECK_EQ(t.heap.used, used);
    k = view_of(&t, "Num=1~WHEN=FN=g;WHEN=PH=3;Num=2");
    base = k->now;
    knobs_enter(&t, "f", NULL);
    CHECK(k->now == base && !k->by_phase);
    used = 0;
    for (int n = 0; n < 10000; n++) {  // memory does not grow with functions either
        knobs_enter(&t, "g", "Small=1");
        knobs_enter_phase(k, 3);
        CHECK_EQ(knob_int(k, T_NUM), 2);
        used = used ? used : t.heap.used;
    }
    CHECK_EQ(t.heap.used, used);
    knobs_close(&t);
}

/* -- Budgets -------------------------------------------------------------------------------------------- */

static int spend_all(Knobs *k, int row)
{
    int n = 0;
    while (n < 100 && knob_spend(k, row))
        n++;
    return n;
}

TEST(knob_budgets)
{
    KnobTest t = {0};
    Knobs *k = view_of(&t, "Budget=5~Few=0");
    for (int n = 0; n < 3; n++) {  // full again in each function
        knobs_enter(&t, "f", NULL);
        CHECK_EQ(knob_left(k, T_BUDGET), 5);
        CHECK_EQ(spend_all(k, T_BUDGET), 5);
        CHECK_EQ(knob_left(k, T_BUDGET), 0);
        CHECK(!knob_spend(k, T_BUDGET) && knob_is_set(k, T_BUDGET));
        CHECK(!knob_spend(k, T_FEW));
    }
    CHECK_EQ(spend_all(view_of(&t, ""), T_FEW), 2);
    CHECK_EQ(spend_all(k, T_BUDGET), 100);
    CHECK_EQ(knob_left(k, T_BUDGET), INT64_MAX);
    CHECK_EQ(knob_left(view_of(&t, "Budget=0x7fffffffffffffff"), T_BUDGET), INT64_MAX);
    knobs_close(&t);
}

// A conditional budget has a count of its own, which outlives its phase but not its function.
TEST(knob_budgets_of_phases)
{
    KnobTest t = {0};
    Knobs *k = view_of(&t, "Budget=5~WHEN=PH=3;Budget=2~WHEN=PH=4;Budget=3");
    for (int n = 0; n < 2; n++) {
        knobs_enter(&t, "f", NULL);
        CHECK(knob_spend(k, T_BUDGET));
        knobs_enter_phase(k, 3);
        CHECK_EQ(knob_left(k, T_BUDGET), 2);
        CHECK(knob_spend(k, T_BUDGET));
        knobs_enter_phase(k, 4);
        CHECK_EQ(spend_all(k, T_BUDGET), 3);
        knobs_enter_phase(k, 5);
        CHECK_EQ(knob_left(k, T_BUDGET), 4);
        knobs_enter_phase(k, 3);
        CHECK_EQ(spend_all(k, T_BUDGET), 1);
        knobs_enter_phase(k, -1);
        CHECK_EQ(spend_all(k, T_BUDGET), 4);
        knobs_enter_phase(k, 4);
        CHECK(!knob_spend(k, T_BUDGET));
    }
    knobs_close(&t);
}

TEST(knob_budgets_of_pragmas)
{
    KnobTest t = {0};
    Knobs *k = view_of(&t, "Budget=5~WHEN=PH=3;Few=1");
    for (int n = 0; n < 2; n++) {
        knobs_enter(&t, "f", "Budget=1~WHEN=PH=4;Budget=2");
        CHECK_EQ(spend_all(k, T_BUDGET), 1);
        knobs_enter_phase(k, 4);
        CHECK_EQ(spend_all(k, T_BUDGET), 2);
        CHECK_EQ(spend_all(k, T_FEW), 2);
        knobs_enter_phase(k, 3);
        CHECK_EQ(spend_all(k, T_FEW), 1);
        CHECK(!knob_spend(k, T_BUDGET));
        knobs_enter(&t, "g", NULL);
        CHECK_EQ(spend_all(k, T_BUDGET), 5);
    }
    knobs_close(&t);
}

/* -- Reading -------------------------------------------------------------------------------------------- */

static void read_as_int(void *k) { knob_int(k, T_TEXT); }
static void read_as_str(void *k) { knob_str(k, T_NUM); }
static void read_as_range(void *k) { knob_range(k, T_NUM); }
static void read_as_ints(void *k) { knob_ints(k, T_SPAN); }
static void read_as_double(void *k) { knob_double(k, T_NUM); }
static void read_as_pairs(void *k) { knob_pairs(k, T_LIST); }
static void spend_int(void *k) { knob_spend(k, T_NUM); }
static void left_int(void *k) { knob_left(k, T_NUM); }
static void int_of_budget(void *k) { knob_int(k, T_BUDGET); }
static void read_when(void *k) { knob_is_set(k, T_WHEN); }
static void read_negative(void *k) { knob_is_set(k, -1); }
static void read_beyond(void *k) { knob_int(k, T_ROWS); }

TEST(knob_wrong_types_are_internal)
{
    static void (*const bodies[])(void *) = {read_as_int,    read_as_str,   read_as_range, read_as_ints,
                                             read_as_double, read_as_pairs, spend_int,     left_int,
                                             int_of_budget,  read_when,     read_negative, read_beyond};
    KnobTest t = {0};
    Knobs *k = view_of(&t, "Num=1");
    for (size_t n = 0; n < ARRAY_LEN(bodies); n++)
        CHECK_FAILS(&t.heap, ST_INTERNAL, bodies[n], k);
    CHECK_Z(t.heap.message, "there is no knob 16");
    CHECK_FAILS(&t.heap, ST_INTERNAL, read_as_int, k);
    CHECK_Z(t.heap.message, "knob Text is of type STR and was read as another type");
    knobs_close(&t);
}

TEST(knob_reads_are_noted)
{
    bool read[T_ROWS] = {0};
    KnobTest t = {0};
    Knobs *k = view_of(&t, "Num=1~Small=1~WHEN=FN=f;Text=a;Num=2~WHEN=FN=f;Span=1;Switch");
    Knobs other;
    knobs_init(&other, t.store, &t.heap);
    knob_int(k, T_NUM);
    knob_str(&other, T_TEXT);
    knobs_merge_reads(k, read);
    CHECK(knob_unread(t.store, read, T_NUM) == NULL);
    CHECK_EQ(knob_unread(t.store, read, T_TEXT)->col, 25);
    knobs_merge_reads(&other, read);
    CHECK(knob_unread(t.store, read, T_TEXT) == NULL);
    CHECK_EQ(knob_unread(t.store, read, T_SMALL)->col, 7);
    CHECK_EQ(knob_unread(t.store, read, T_SPAN)->col, 48);
    CHECK_EQ(knob_unread(t.store, read, T_SWITCH)->col, 55);
    CHECK(knob_unread(t.store, read, T_DOUBLE) == NULL);  // only a default
    for (int row = 0, n = 0; row < T_ROWS; row++) {
        n += read[row];
        if (row == T_ROWS - 1)
            CHECK_EQ(n, 2);
    }
    knobs_free(&other);
    knobs_close(&t);
}

/* -- Printing ------------------------------------------------------------------------------------------- */

static const char *printed(KnobTest *t, bool origins)
{
    TextBuffer text = {.arena = &t->arena};
    Out out;
    out_init(&out, &t->arena, out_to_text, &text);
    knob_print(&t->view, &out, origins);
    out_flush(&out);
    out_to_text(&text, "", 1);
    return text.at;
}

TEST(knob_prints_values_and_records)
{
    KnobTest t;
    knobs_open(&t);
    knobs_set(&t, KS_COMMAND_LINE, "Double=.5~Text=\"a;b\"~when=fn=a*;when=ph= P4;list=1,2;switch=0~DefaultOn=0");
    knobs_set(&t, KS_ENVIRONMENT, "switch ~ num = 0x10 ~ Span=1~WHEN=FN=e;Few=1");
    CHECK(knobs_read(&t, KS_FILE, "a\nb c.knobs", "[knobs]\nWHEN=FH=0x10..;Num=1\nSpan=2..3"));
    knobs_view(&t);
    CHECK_Z(printed(&t, true), "[knobs]\n"
                               "Switch                                   ; ORI_KNOBS:1:1\n"
                               "DefaultOn=0                              ; --knob:1:63\n"
                               "Num=0x10                                 ; ORI_KNOBS:1:10\n"
                               ";Small=3                                 ; default\n"
                               ";Budget                                  ; unset\n"
                               ";Few=2                                   ; default\n"
                               "Span=2..3                                ; a?b c.knobs:3:1\n"
                               ";Zone=1..                                ; default\n"
                               ";List                                    ; unset\n"
                               ";Bits=1,2                                ; default\n"
                               ";Float                                   ; unset\n"
                               "Double=.5                                ; --knob:1:1\n"
                               ";Ratio                                   ; unset\n"
                               "Text=\"a;b\"                               ; --knob:1:11\n"
                               ";Weights                                 ; unset\n"
                               "WHEN=FN=e;Few=1                          ; ORI_KNOBS:1:40\n"
                               "WHEN=FH=0x10..;Num=1                     ; a?b c.knobs:2:16\n"
                               "WHEN=FN=a*;WHEN=PH=P4;List=1,2;Switch=0  ; --knob:1:45\n");
    knobs_enter(&t, "z", "Num=1~WHEN=FN=*;Small=1");
    CHECK(strstr(printed(&t, true), "\nNum=1                                    ; k.ptx:1:1\n") != NULL);
    CHECK(strstr(printed(&t, true), "\nWHEN=FN=*;Small=1                        ; k.ptx:1:17\n") != NULL);
    knobs_close(&t);
}

// Reads the printed settings as a file into a new store, and checks that printing again gives the same text.
static void check_fixed_point(KnobTest *t, bool origins)
{
    char *before = strdup(printed(t, false)), *text = strdup(printed(t, origins));
    CHECK(before && text);
    knobs_close(t);
    knobs_open(t);
    CHECK(knobs_read(t, KS_FILE, "p.knobs", text));
    CHECK_SILENT(t);
    knobs_view(t);
    CHECK_Z(printed(t, false), before);
    free(before);
    free(text);
}

TEST(knob_print_is_a_fixed_point)
{
    static const char *const texts[] = {
        "",
        "Switch~Num=-0x10~Text=a;b~List= 1 , 2",
        "Switch=0~Text=\" a ~;\\\"\\\\ \"~Weights=FADD,3,FMUL,2~Float=1e-3",
        "Text=a\"b~WHEN=FN=a;Text=\"c;d~e\";Num=1~WHEN=FN=\"x;y\";WHEN=FH=..7;WHEN=PH=3 .. P5;Switch;Budget=0x3",
        "Text=\"\"~when = fn = [a-c]*;num = 1 ; c\nWHEN=FN=b;;;Num=1;",
        "WHEN=PH=\"1..2\";Num=1~WHEN=FN=\xc3\xa9*;Text=\xc3\xa9",
        "Text=[x]~Span=..5",
    };
    KnobTest t = {0};
    for (size_t n = 0; n < ARRAY_LEN(texts) * 4; n++) {
        view_of(&t, texts[n / 4]);
        if (n & 2) {
            knobs_enter(&t, "a", "Num=7~WHEN=PH=3;Small=2");
            knobs_enter_phase(&t.view, 3);
        }
        check_fixed_point(&t, n & 1);
    }
    knobs_close(&t);
}

void test_knobs(void)
{
    RUN(knob_table_rows);
    RUN(knob_rows_of_the_documents);
    RUN(knob_find_ignores_case);
    RUN(knob_bad_default_is_internal);
    RUN(knob_lists);
    RUN(knob_list_width);
    RUN(knob_unset);
    RUN(knob_switches);
    RUN(knob_integers);
    RUN(knob_ranges);
    RUN(knob_lists_of_numbers);
    RUN(knob_doubles);
    RUN(knob_floats);
    RUN(knob_doubles_in_other_locales);
    RUN(knob_texts);
    RUN(knob_pairs_of_names_and_numbers);
    RUN(knob_separators_and_comments);
    RUN(knob_sections);
    RUN(knob_sources);
    RUN(knob_later_wins_within_a_source);
    RUN(knob_when_wins);
    RUN(knob_pragmas);
    RUN(knob_pragma_errors);
    RUN(knob_function_names);
    RUN(knob_function_hashes);
    RUN(knob_hashes_are_lazy);
    RUN(knob_phases);
    RUN(knob_first_phase);
    RUN(knob_views_are_free_without_conditions);
    RUN(knob_budgets);
    RUN(knob_budgets_of_phases);
    RUN(knob_budgets_of_pragmas);
    RUN(knob_wrong_types_are_internal);
    RUN(knob_reads_are_noted);
    RUN(knob_prints_values_and_records);
    RUN(knob_print_is_a_fixed_point);
}
