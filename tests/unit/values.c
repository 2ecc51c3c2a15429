// SPDX-License-Identifier: MIT
// Tests value numbering: expressions, guards, moves, phis, the fixed point.
#include "ir/analysis/values.h"

#include <stdio.h>

#include "tests/unit/kernel.h"

// Unknown values: R90 to R93, P90 and P91.
#define HEAD                       \
    "b0:\n"                        \
    "  R90:32 = mov.b32 %clock\n"  \
    "  R91:32 = mov.b32 %clock\n"  \
    "  R92:32 = mov.b32 %clock\n"  \
    "  R93:32 = mov.b32 %clock\n"  \
    "  P90 = setp.lt.s32 R90, 5\n" \
    "  P91 = setp.lt.s32 R91, 5\n"
enum { HEAD_RESULTS = 6, RESULTS_MAX = 60 };

typedef struct Numbered {
    Kernel k;
    Arena arena;
    Values v;
    char text[RESULTS_MAX + 1];
} Numbered;

static void number(void *user, InstrId id) { values_number(user, id); }

// Returns the letter of a number: equal numbers have equal letters, in the order of their first appearance. `#` is a
// constant, `.` no number.
static char letter_of(ValueNumber number, ValueNumber seen[static RESULTS_MAX], uint32_t *n)
{
    if (!number || op_kind((Operand){number, 0}) != K_REG)
        return number ? '#' : '.';
    uint32_t k = 0;
    while (k < *n && seen[k] != number)
        k++;
    seen[k] = number;
    *n = MAX(*n, k + 1);
    return (char)((k < 26 ? 'a' : 'A' - 26) + k);
}

// Numbers a kernel, and describes the numbers of its results behind HEAD in layout order.
static void numbered_open(Numbered *n, const char *text)
{
    ValueNumber seen[RESULTS_MAX];
    uint32_t nseen = 0, results = 0, length = 0;
    kernel_open(&n->k, "ssa", text);
    Fn *fn = n->k.fn;
    arena_init(&n->arena, &n->k.ctx.heap);
    const Analyses *a = analysis_need(fn, AN_RPO | AN_DOM | AN_DEF);
    values_init(&n->v, &n->arena, fn, a, sm_shared_swap_operands);
    values_solve(&n->v, number, &n->v);
    FOR_BLOCKS(fn, b)
        FOR_INSTRS(fn, b, id)
            for (uint32_t k = 0; k < ir_instr(fn, id)->ndef; k++) {
                Operand result = *ir_def(fn, ir_instr(fn, id), k);
                if (results++ >= HEAD_RESULTS && length < RESULTS_MAX)
                    n->text[length++] = letter_of(value_number(&n->v, result), seen, &nseen);
            }
    n->text[length] = 0;
}

static void numbered_close(Numbered *n)
{
    arena_free(&n->arena);
    kernel_close(&n->k);
}

typedef struct Case {
    const char *text, *numbers;
} Case;

static void check_cases(const Case *cases, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        Numbered numbered;
        TextBuffer text = {0};
        Heap heap;
        Arena arena;
        unit_heap(&heap);
        arena_init(&arena, &heap);
        text.arena = &arena;
        const char *end = strstr(cases[k].text, "exit") ? "" : "  exit\n";
        bool head = strstr(cases[k].text, "b0:\n") == NULL;
        out_to_text(&text, HEAD, head ? strlen(HEAD) : 0);
        out_to_text(&text, cases[k].text, strlen(cases[k].text));
        out_to_text(&text, end, strlen(end) + 1);
        unit_context("%s", cases[k].text);
        numbered_open(&numbered, text.at);
        CHECK_Z(numbered.text, cases[k].numbers);
        numbered_close(&numbered);
        arena_free(&arena);
        heap_release(&heap);
    }
    unit_context("%s", "");
}

TEST(values_of_expressions)
{
    static const Case cases[] = {
        {"  R1:32 = add.s32 R90, R91\n  R2:32 = add.u32 R90, R91\n", "aa"},
        {"  R1:32 = add.s32 R90, R91\n  R2:32 = add.s32 R91, R90\n", "aa"},
        {"  R1:32 = add.s32 R90, 5\n  R2:32 = add.s32 5, R90\n  R3:32 = add.s32 R90, 6\n", "aab"},
        {"  R1:32 = sub.s32 R90, R91\n  R2:32 = sub.s32 R91, R90\n", "ab"},
        {"  R1:32 = mad.lo.s32 R90, R91, R92\n  R2:32 = mad.lo.u32 R91, R90, R92\n"
         "  R3:32 = mad.lo.s32 R92, R91, R90\n",
         "aab"},
        {"  R1:32 = add.f32 R90, R91\n  R2:32 = add.rn.f32 R90, R91\n  R3:32 = add.f32 R91, R90\n", "aba"},
        {"  R1:32 = add.s32 R90, R91\n  R2:64 = mul.wide.s32 R90, R91\n  R3:32 = min.s32 R90, R91\n"
         "  R4:32 = min.u32 R90, R91\n",
         "abcd"},
        // Through results: a tree of equal expressions.
        {"  R1:32 = add.s32 R90, 1\n  R2:32 = add.s32 R90, 1\n  R3:32 = xor.b32 R1, R91\n  R4:32 = xor.b32 R91, R2\n",
         "aabb"},
        // Modifiers of predicates.
        {"  P1 = and.pred P90, P91\n  P2 = and.pred P91, P90\n  P3 = and.pred !P90, P91\n  P4 = and.pred P91, !P90\n"
         "  P5 = and.pred P90, !P91\n  P6 = and.pred P90, !P90\n  P7 = and.pred !P90, P90\n",
         "aabbcdd"},
        // Two results; other results of the same operands.
        {"  {R1:16, R2:16} = mov.b32 R90\n  {R3:16, R4:16} = mov.b32 R90\n  {R5:16, R6:16} = mov.b32 R91\n", "ababcd"},
        {"  P1|P2 = setp.lt.s32 R90, R91\n  P3 = setp.lt.s32 R90, R91\n", "abc"},
        // Widths of registers.
        {"  R1:32 = cvt.u16.u64 5\n  R2:16 = cvt.u16.u64 5\n  R3:32 = cvt.s16.u64 5\n", "abc"},
    };
    check_cases(cases, ARRAY_LEN(cases));
}

TEST(values_of_guarded_instructions)
{
    static const Case cases[] = {
        {"  @P90 R1:32 = add.s32 R90, R91 else R92\n  @P90 R2:32 = add.s32 R91, R90 else R92\n", "aa"},
        {"  @P90 R1:32 = add.s32 R90, R91 else R92\n  @P90 R2:32 = add.s32 R90, R91 else R93\n", "ab"},
        {"  @P90 R1:32 = add.s32 R90, R91 else 7\n  @P90 R2:32 = add.s32 R90, R91 else 9\n", "ab"},
        {"  @P90 R1:32 = add.s32 R90, R91 else R92\n  @!P90 R2:32 = add.s32 R90, R91 else R92\n", "ab"},
        {"  @P90 R1:32 = add.s32 R90, R91 else R92\n  @P91 R2:32 = add.s32 R90, R91 else R92\n", "ab"},
        {"  @P90 R1:32 = add.s32 R90, R91 else R92\n  R2:32 = add.s32 R90, R91\n", "ab"},
        {"  R1:32 = add.s32 R90, R91\n  @P90 R2:32 = add.s32 R90, R91 else R1\n", "ab"},
        // Readers of an undefined old value must all read one value.
        {"  @P90 R1:32 = add.s32 R90, R91 else undef\n  @P90 R2:32 = add.s32 R90, R91 else undef\n", "ab"},
        {"  R1:32 = add.s32 R90, R91\n  @P90 R2:32 = add.s32 R90, R91 else undef\n", "ab"},
        {"  @P90 R1:32 = mov.b32 R90 else R91\n  @P90 R2:32 = mov.b32 R90 else R91\n  R3:32 = mov.b32 R90\n"
         "  R4:32 = add.s32 R3, 1\n  R5:32 = add.s32 R90, 1\n",
         "aabcc"},
    };
    check_cases(cases, ARRAY_LEN(cases));
}

TEST(values_of_moves)
{
    static const Case cases[] = {
        {"  R1:32 = mov.b32 R90\n  R2:32 = mov.f32 R1\n  R3:32 = add.s32 R2, 1\n  R4:32 = add.s32 R90, 1\n", "aabb"},
        {"  R1:32 = mov.b32 5\n  R2:32 = mov.b32 R1\n  R3:32 = add.s32 R90, R2\n  R4:32 = add.s32 R90, 5\n", "##aa"},
        {"  P1 = mov.pred !P90\n  P2 = mov.pred !P90\n  P3 = mov.pred P90\n", "aab"},
        {"  R1:32 = mov.undef\n  R2:32 = mov.undef\n  R3:32 = add.s32 R1, 1\n  R4:32 = add.s32 R2, 1\n"
         "  R5:32 = add.s32 R1, 1\n",
         "abcdc"},
        {"  R1:32 = add.s32 R90, undef\n  R2:32 = add.s32 R90, undef\n", "ab"},
        // Special registers that change, and others.
        {"  R1:32 = mov.b32 %tid.x\n  R2:32 = mov.u32 %tid.x\n  R3:32 = mov.b32 %tid.y\n", "aab"},
        {"  R1:32 = mov.b32 %clock\n  R2:32 = mov.b32 %clock\n", "ab"},
        {"  R1:32 = mov.b32 %smid\n  R2:32 = mov.b32 %smid\n  R3:32 = mov.b32 %laneid\n  R4:32 = mov.b32 %laneid\n",
         "abcc"},
        // Loads, atomics and carries are no expressions; pinned instructions, and those that write named registers.
        {"  R1:32 = ld.shared.b32 [0]\n  R2:32 = ld.shared.b32 [0]\n", "ab"},
        {"  R1:32 = activemask.b32\n  R2:32 = activemask.b32\n", "ab"},
        {"  R1:32, CC0 = add.cc.u32 R90, 1\n  R2:32 = addc.u32 R91, 1, CC0\n  R3:32, CC0 = add.cc.u32 R90, 1\n"
         "  R4:32 = addc.u32 R91, 1, CC0\n",
         "a.bc.d"},
        {"  R1:32 = add.s32 R90, 1\n  R2:32 = add.s32 R90, 1 {pinned}\n  R3:32 = add.s32 R90, 1\n", "aba"},
        {"  reg R1:32 \"%x\" .b32 named\n" HEAD "  R1:32 = add.s32 R90, 1\n  R2:32 = add.s32 R90, 1\n"
         "  R3:32 = add.s32 R1, 1\n  R4:32 = add.s32 R1, 1\n",
         ".abc"},
        {"  reg R1:32 pinned\n" HEAD "  R1:32 = mov.b32 R90\n  R2:32 = mov.b32 R1\n  R3:32 = mov.b32 R1\n", ".ab"},
    };
    check_cases(cases, ARRAY_LEN(cases));
}

#define FORK "  @P90 bra b1 else b2\nb1:\n  bra b3\nb2:\n  bra b3\nb3:\n"
#define LOOP "  bra b1\nb1:\n"
#define AGAIN "  P1 = setp.lt.s32 R91, R90\n  @P1 bra b1 else b2\nb2:\n"

TEST(values_of_phis)
{
    static const Case cases[] = {
        {FORK "  R1:32 = mov.phi b1: R90, b2: R91\n  R2:32 = mov.phi b1: R90, b2: R91\n"
              "  R3:32 = mov.phi b1: R91, b2: R90\n",
         "aab"},
        {FORK "  R1:32 = mov.phi b1: R90, b2: R90\n  R2:32 = add.s32 R1, 1\n  R3:32 = add.s32 R90, 1\n", "abb"},
        {FORK "  R1:32 = mov.phi b1: 5, b2: 5\n  R2:32 = mov.phi b1: 5, b2: 6\n", "#a"},
        {FORK "  R1:32 = mov.phi b1: R90, b2: undef\n  R2:32 = mov.phi b1: R90, b2: undef\n  R3:32 = mov.b32 R90\n",
         "abc"},
        // Counters with equal starts and steps.
        {LOOP "  R1:32 = mov.phi b0: 0, b1: R3\n  R2:32 = mov.phi b0: 0, b1: R4\n  R3:32 = add.s32 R1, 1\n"
              "  R4:32 = add.s32 R2, 1\n" AGAIN,
         "aabbc"},
        {LOOP "  R1:32 = mov.phi b0: 0, b1: R3\n  R2:32 = mov.phi b0: 0, b1: R4\n  R3:32 = add.s32 R1, 1\n"
              "  R4:32 = add.s32 R2, 2\n" AGAIN,
         "abcde"},
        {LOOP "  R1:32 = mov.phi b0: 0, b1: R3\n  R2:32 = mov.phi b0: 1, b1: R4\n  R3:32 = add.s32 R1, 1\n"
              "  R4:32 = add.s32 R2, 1\n" AGAIN,
         "abcde"},
        // Two that exchange their values: the second one reads the first, which has a number, so they do not agree.
        {LOOP "  R1:32 = mov.phi b0: R90, b1: R2\n  R2:32 = mov.phi b0: R90, b1: R1\n" AGAIN, "abc"},
        {LOOP "  R1:32 = mov.phi b0: R90, b1: R2\n  R2:32 = mov.phi b0: R91, b1: R1\n" AGAIN, "abc"},
        // Equal until the third value.
        {LOOP
         "  R1:32 = mov.phi b0: 0, b1: R2\n  R2:32 = mov.phi b0: 0, b1: R3\n  R3:32 = mov.phi b0: 0, b1: R90\n"
         "  R4:32 = mov.phi b0: 0, b1: R5\n  R5:32 = mov.phi b0: 0, b1: R6\n  R6:32 = mov.phi b0: 0, b1: R91\n" AGAIN,
         "abcdefg"},
    };
    check_cases(cases, ARRAY_LEN(cases));
}

// A ring of n phis, and another one, whose last inputs differ. Each pass finds the difference of one pair.
static void make_ring(char *text, size_t cap, int n)
{
    size_t at = (size_t)snprintf(text, cap, "%s%s", HEAD, LOOP);
    for (int ring = 0; ring < 2; ring++)
        for (int k = 1; k <= n; k++)
            at += (size_t)snprintf(text + at, cap - at, "  R%d:32 = mov.phi b0: 0, b1: R%d\n", 100 * (ring + 1) + k,
                                   k < n ? 100 * (ring + 1) + k + 1 : 90 + ring);
    snprintf(text + at, cap - at,
             "  R1:32 = mov.phi b0: 0, b1: R3\n  R2:32 = mov.phi b0: 0, b1: R4\n  R3:32 = add.s32 R1, 1\n"
             "  R4:32 = add.s32 R2, 1\n" AGAIN "  exit\n");
}

TEST(values_fixed_point)
{
    char text[4000];
    Numbered n;
    make_ring(text, sizeof text, 5);
    numbered_open(&n, text);
    CHECK(n.v.optimistic);
    CHECK_EQ(n.v.passes, 7);  // a pessimistic one, one for each phi of a ring, and one that changes nothing
    CHECK_Z(n.text, "abcdefghijkkllm");
    numbered_close(&n);
    // With too many passes, the numbers are those of a pessimistic pass.
    make_ring(text, sizeof text, 20);
    numbered_open(&n, text);
    CHECK(!n.v.optimistic);
    CHECK_EQ(n.v.passes, 13);
    for (const char *c = n.text; c[0] && c[1]; c++)
        CHECK(c[0] != c[1]);
    numbered_close(&n);
    // Without phis that agree there is one pass.
    numbered_open(&n, HEAD LOOP "  R1:32 = mov.phi b0: 0, b1: R2\n  R2:32 = add.s32 R1, 1\n" AGAIN "  exit\n");
    CHECK_EQ(n.v.passes, 1);
    numbered_close(&n);
}

// Instructions that may be replaced, although their results have numbers of their own.
TEST(values_like)
{
    Numbered n;
    numbered_open(&n, HEAD "  R1:32 = add.s32 R90, R91\n  @P90 R2:32 = add.s32 R91, R90 else undef\n"
                           "  @P90 R3:32 = mul.lo.s32 R90, R91 else undef\n"
                           "  @P90 R4:32 = mul.lo.s32 R90, R91 else undef\n"
                           "  @!P90 R5:32 = mul.lo.s32 R90, R91 else undef\n"
                           "  @P90 R6:32 = add.s32 R91, R90 else R92\n  exit\n");
    InstrId ids[20];
    uint32_t count = 0;
    FOR_INSTRS(n.k.fn, n.k.fn->first, id)
        ids[count++] = id;
    const int like[] = {-1, 0, -1, 2, -1, -1};
    value_table_clear(&n.v.table);
    for (uint32_t k = 0; k < HEAD_RESULTS + 6; k++) {
        values_number(&n.v, ids[k]);
        if (k >= HEAD_RESULTS)
            CHECK_EQ(n.v.like, like[k - HEAD_RESULTS] < 0 ? 0 : ids[HEAD_RESULTS + like[k - HEAD_RESULTS]]);
    }
    // In a context: equal within it alone.
    CHECK(!values_number_in(&n.v, ids[HEAD_RESULTS], 7));
    CHECK(values_number_in(&n.v, ids[HEAD_RESULTS], 7) == false);
    CHECK_EQ(values_find(&n.v, ids[HEAD_RESULTS]), ids[HEAD_RESULTS]);
    CHECK_EQ(values_find(&n.v, ids[HEAD_RESULTS + 1]), 0);
    CHECK(!values_number_in(&n.v, ids[HEAD_RESULTS + 1], 7));
    CHECK(!values_number_in(&n.v, ids[HEAD_RESULTS + 3], 7));
    CHECK(!values_number_in(&n.v, ids[HEAD_RESULTS + 3], 8));
    numbered_close(&n);
}

void test_values(void)
{
    RUN(values_of_expressions);
    RUN(values_of_guarded_instructions);
    RUN(values_of_moves);
    RUN(values_of_phis);
    RUN(values_fixed_point);
    RUN(values_like);
}
