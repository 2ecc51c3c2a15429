// SPDX-License-Identifier: MIT
// Tests suggestions of similar names.
#include "tests/unit/unit.h"

// Adds the names, up to a NULL, and checks the suggestion for a text.
static void check_nearest(const char *text, const char *const *names, const char *expected)
{
    Nearest best = {0};
    char suggestion[200];
    unit_context("%s", text);
    for (; *names; names++)
        nearest_offer(&best, text, strlen(text), *names);
    nearest_print(&best, suggestion, sizeof suggestion);
    CHECK_Z(suggestion, expected);
}

#define NAMES(...) \
    (const char *const[]) { __VA_ARGS__, NULL }

TEST(nearest_counts_edits)
{
    check_nearest("abc", NAMES("abcdef", "abd", "ab", "xyz", "abc"), "; did you mean abc, abcdef or abd?");
    check_nearest("kitten", NAMES("sitting", "mittens", "kit"), "; did you mean mittens, sitting or kit?");
    check_nearest("bc", NAMES("zzzz", "abc", "cb", "c"), "; did you mean abc, c or cb?");
}

// A name that begins with the text is near, one that contains it less.
TEST(nearest_begins_with_the_text)
{
    check_nearest("Fol", NAMES("NOP", "OriFold", "FoldRulesOff", "FoldBudget"),
                  "; did you mean FoldBudget, FoldRulesOff or OriFold?");
    check_nearest("GVN", NAMES("DUMP", "EnableGvn", "GvnBits"), "; did you mean GvnBits, EnableGvn or DUMP?");
    check_nearest("ab", NAMES("abcdef", "cb"), "; did you mean cb or abcdef?");
}

TEST(nearest_ignores_case) { check_nearest("NOP", NAMES("xop", "nop"), "; did you mean nop or xop?"); }

// Equally similar names keep their order; duplicates count once.
TEST(nearest_keeps_order)
{
    check_nearest("a", NAMES("b", "c", "d", "e"), "; did you mean b, c or d?");
    check_nearest("a", NAMES("b", "b", "c", "b"), "; did you mean b or c?");
    check_nearest("a", NAMES("bb", "cc", "d", "bb", "e"), "; did you mean d, e or bb?");
}

TEST(nearest_of_few)
{
    check_nearest("a", (const char *const[]){NULL}, "");
    check_nearest("a", NAMES("far away"), "; did you mean far away?");
    check_nearest("", NAMES("ab", "c"), "; did you mean c or ab?");
}

// Only a prefix of a long text is compared; nothing is written beyond the end.
TEST(nearest_of_long_texts)
{
    static char name[300], text[300];
    char suggestion[20];
    Nearest best = {0};
    memset(name, 'n', sizeof name - 1);
    memset(text, 't', sizeof text);
    nearest_offer(&best, text, sizeof text, name);
    nearest_offer(&best, text, sizeof text, "t");
    CHECK_Z(best.name[0], "t");
    CHECK_EQ(best.distance[0], 59 * NEAREST_EDIT);
    CHECK_EQ(best.n, 2);
    nearest_print(&best, suggestion, sizeof suggestion);
    CHECK_Z(suggestion, "; did you mean t or");
}

void test_nearest(void)
{
    RUN(nearest_counts_edits);
    RUN(nearest_begins_with_the_text);
    RUN(nearest_ignores_case);
    RUN(nearest_keeps_order);
    RUN(nearest_of_few);
    RUN(nearest_of_long_texts);
}
