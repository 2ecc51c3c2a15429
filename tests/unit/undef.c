// SPDX-License-Identifier: MIT
// Tests the rules of undefined values in the machine: one rule of ir/machine/undef.c each, in a kernel around a few
// instructions.
#include <stdio.h>

#include "tests/unit/rig.h"

static const MachineOptions following = {.follow_undef = true};

// Returns the state of a word of out: 1 = defined, 0 = undefined, -1 = partly defined.
static int state(const Rig *r, uint32_t k, uint32_t thread)
{
    const uint8_t *defined = machine_defined(r->machine, r->address[0]);
    int n = 0;
    for (uint32_t b = 0; b < 4; b++)
        n += !defined || defined[4 * (k * ROW + thread) + b];
    return n == 4 ? 1 : n == 0 ? 0 : -1;
}

/* -- Kernels of a few instructions ---------------------------------------------------------------------- */

// Registers and memory before the instructions:
//     R20, R27, P9  undefined                R22   16 undefined bytes of shared memory for the thread
//     R21, P10      defined in lanes below   R24   16 bytes of local memory; @x, @y, @wide, @wider: parameters
//                   10, which are where P0   R25   16 bytes of out for the thread, from row 8 on
// The tests check R30.
#define FUNCTIONS                                    \
    MODULE "global @g: 32 = 7\n"                     \
           "device @vprintf(64, 64) -> 32 extern\n"  \
           "device @malloc(64) -> 64 extern\n"       \
           "device @same(@n: 32) -> @r: 32 {\n"      \
           "b0:\n"                                   \
           "  R0:32 = ld.param.b32 [@n]\n"           \
           "  st.param.b32 [@r], R0\n"               \
           "  ret\n"                                 \
           "}\n"                                     \
           "device @nothing(@n: 32) -> @r: 32 {\n"   \
           "b0:\n"                                   \
           "  ret\n"                                 \
           "}\n"                                     \
           "device @once(@n: 32) -> @r: 32 {\n"      \
           "  local @v: 32\n"                        \
           "b0:\n"                                   \
           "  R0:32 = ld.param.b32 [@n]\n"           \
           "  R1:32 = ld.local.b32 [@v]\n"           \
           "  st.local.b32 [@v], R0\n"               \
           "  st.param.b32 [@r], R1\n"               \
           "  ret\n"                                 \
           "}\n"                                     \
           "device @sometimes(@n: 32) -> @r: 32 {\n" \
           "b0:\n"                                   \
           "  R0:32 = ld.param.b32 [@n]\n"           \
           "  P0 = setp.ne.s32 R0, 0\n"              \
           "  @P0 R1:32 = mov.b32 1\n"               \
           "  st.param.b32 [@r], R1\n"               \
           "  ret\n"                                 \
           "}\n"                                     \
           "device @seldom(@n: 32) -> @r: 32 {\n"    \
           "b0:\n"                                   \
           "  R0:32 = ld.param.b32 [@n]\n"           \
           "  P0 = setp.ne.s32 R0, 0\n"              \
           "  @P0 st.param.b32 [@r], 1\n"            \
           "  ret\n"                                 \
           "}\n"                                     \
           "device @big(@n: 32) -> @r: 32 {\n"       \
           "  local @v align 4 size 5000\n"          \
           "b0:\n"                                   \
           "  ret\n"                                 \
           "}\n"

#define FOUND                                   \
    "  shared @s align 16 size 1024\n"          \
    "  local @l align 16 size 16\n"             \
    "  param @x: 32\n"                          \
    "  param @y: 32\n"                          \
    "  param @wide: 64\n"                       \
    "  param @wider: 64\n"                      \
    "  reg R20:32\n"                            \
    "  reg R27:64\n"                            \
    "  reg P9\n"                                \
    "b0:\n" START "  P0 = setp.lt.u32 R6, 10\n" \
    "  @P0 R21:32 = mov.b32 5\n"                \
    "  @P0 P10 = setp.eq.u32 R6, R6\n"          \
    "  R22:32 = mov.b32 @s\n"                   \
    "  R22:32 = mad.lo.u32 R6, 16, R22\n"       \
    "  R24:32 = mov.b32 @l\n"                   \
    "  R25:64 = mad.wide.u32 R6, 16, R0\n"      \
    "  R25:64 = add.s64 R25, 2048\n"

static void run_found(Rig *r, const char *instructions)
{
    char text[5000];
    snprintf(text, sizeof text, "%s%s%s", FUNCTIONS KERNEL("multi") FOUND, instructions, SAY(0, "R30") END);
    unit_context("%.250s", instructions);
    rig_run(r, following, text);
}

// Instructions, and the state of R30 after them, as returned by state(): in lanes below 10, and in the others.
typedef struct Rule {
    const char *instructions;
    int low, high;
} Rule;

static void check_rules(const Rule *rules, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        Rig r;
        run_found(&r, rules[k].instructions);
        CHECK_EQ(state(&r, 0, 3), rules[k].low);
        CHECK_EQ(state(&r, 0, 20), rules[k].high);
        CHECK(machine_unspecified(r.machine) == NULL);
        rig_close(&r);
    }
    unit_context("%s", "");
}
#define CHECK_RULES(rules) check_rules(rules, ARRAY_LEN(rules))

/* -- Registers ------------------------------------------------------------------------------------------ */

TEST(undef_of_registers)
{
    static const Rule rules[] = {
        {"  R30:32 = add.s32 R6, 1\n", 1, 1},
        {"  R30:32 = add.s32 R6, R20\n", 0, 0},
        {"  R30:32 = add.s32 R21, R6\n", 1, 0},
        {"  R30:32 = mov.b32 R21\n", 1, 0},
        {"  R30:32 = mov.b32 %laneid\n", 1, 1},
        // A new value is defined again.
        {"  R30:32 = mov.b32 R20\n  R30:32 = mov.b32 5\n", 1, 1},
        {"  R30:32 = mov.b32 5\n  R30:32 = mov.b32 R20\n", 0, 0},
        // The same for results after the first, and for the carry.
        {"  P1|P2 = setp.lt.and.u32 R6, 9, P10\n  R30:32 = selp.b32 1, 2, P2\n", 1, 0},
        {"  R31:32, CC0 = add.cc.u32 R6, R21\n  R30:32 = addc.u32 0, 0, CC0\n", 1, 0},
        // Elements of a vector, and halves of a wide register, have separate states.
        {"  {R30:32, _} = mov.v2.u32 {R6, R21}\n", 1, 1},
        {"  {_, R30:32} = mov.v2.u32 {R6, R21}\n", 1, 0},
        {"  R40:64 = mov.b64 {R6, R21}\n  {R30:32, _} = mov.b64 R40\n", 1, 1},
        {"  R40:64 = mov.b64 {R6, R21}\n  {_, R30:32} = mov.b64 R40\n", 1, 0},
    };
    CHECK_RULES(rules);
}

// R40 and R41 have a defined lower half, R42 a defined byte 1; the other bytes are those of R21. An addition, which
// requires all bytes, shows the state of the result.
#define PARTS                              \
    "  R40:32 = prmt.b32 R6, R21, 21520\n" \
    "  R41:64 = mov.b64 {R6, R21}\n"       \
    "  R42:32 = prmt.b32 R6, R21, 30228\n" \
    "  P1 = setp.ne.u32 R6, 50\n"
#define SEEN "  R30:32 = add.u32 R30, 1\n"
#define SEEN_WIDE "  R30:32 = cvt.u32.u64 R50\n" SEEN

TEST(undef_of_bytes_that_move)
{
    static const Rule rules[] = {
        {PARTS "  R30:32 = mov.b32 R40\n" SEEN, 1, 0},
        {PARTS "  R50:64 = mov.b64 R41\n" SEEN_WIDE, 1, 1},
        // Parts and wholes.
        {PARTS "  {R50:16, _} = mov.b32 R40\n  R30:32 = cvt.u32.u16 R50\n" SEEN, 1, 1},
        {PARTS "  {_, R50:16} = mov.b32 R40\n  R30:32 = cvt.u32.u16 R50\n" SEEN, 1, 0},
        {PARTS "  {_, R50:8, _, _} = mov.b32 R42\n  R30:32 = cvt.u32.u8 R50\n" SEEN, 1, 1},
        {PARTS "  {_, _, R50:8, _} = mov.b32 R42\n  R30:32 = cvt.u32.u8 R50\n" SEEN, 1, 0},
        {PARTS "  R51:128 = mov.b128 {R41, R5}\n  {_, R50:64} = mov.b128 R51\n" SEEN_WIDE, 1, 1},
        {PARTS "  R51:128 = mov.b128 {R5, R41}\n  {_, R50:64} = mov.b128 R51\n" SEEN_WIDE, 1, 1},
        {PARTS "  R51:128 = mov.b128 {R5, R41}\n  R51:128 = mov.b128 R51\n  {_, R50:64} = mov.b128 R51\n"
               "  {_, R30:32} = mov.b64 R50\n",
         1, 0},
        // Other widths: zero extension is defined, sign extension has the state of the sign.
        {PARTS "  R50:64 = cvt.u64.u32 R40\n  R50:64 = shr.u64 R50, 32\n" SEEN_WIDE, 1, 1},
        {PARTS "  R50:64 = cvt.s64.s32 R40\n  R50:64 = shr.u64 R50, 32\n" SEEN_WIDE, 1, 0},
        {PARTS "  R30:32 = cvt.u32.u16 R40\n" SEEN, 1, 1},
        {PARTS "  R30:32 = cvt.s32.s16 R40\n" SEEN, 1, 1},
        {PARTS "  R30:32 = cvt.s32.s8 R42\n" SEEN, 1, 0},
        {PARTS "  R30:32 = cvt.u32.u64 R41\n" SEEN, 1, 1},
        {PARTS "  R30:32 = cvt.sat.u16.u32 R40\n" SEEN, 1, 0},
        {PARTS "  R30:32 = cvt.rn.f32.u32 R40\n" SEEN, 1, 0},
        {PARTS "  R30:32 = szext.clamp.s32 R40, 16\n" SEEN, 1, 1},
        {PARTS "  R30:32 = szext.clamp.s32 R40, 17\n" SEEN, 1, 0},
        // Shifts.
        {PARTS "  R30:32 = shl.b32 R40, 16\n" SEEN, 1, 1},
        {PARTS "  R30:32 = shl.b32 R40, 15\n" SEEN, 1, 0},
        {PARTS "  R30:32 = shr.u32 R40, 16\n" SEEN, 1, 0},
        {PARTS "  R50:32 = shr.u32 R42, 8\n  R30:32 = cvt.u32.u8 R50\n" SEEN, 1, 1},
        {PARTS "  R50:32 = shr.u32 R42, 9\n  R30:32 = cvt.u32.u8 R50\n" SEEN, 1, 0},
        {PARTS "  R30:32 = shl.b32 R6, R40\n" SEEN, 1, 0},
        {PARTS "  R30:32 = shf.l.wrap.b32 R40, R6, 16\n  R30:32 = and.b32 R30, -65536\n" SEEN, 1, 1},
        {PARTS "  R30:32 = shf.l.wrap.b32 R40, R6, 16\n" SEEN, 1, 0},
        {PARTS "  R30:32 = shf.r.clamp.b32 R6, R40, 16\n" SEEN, 1, 1},
        {PARTS "  R30:32 = shf.r.clamp.b32 R6, R40, 24\n" SEEN, 1, 0},
        // prmt, also of signs.
        {PARTS "  R30:32 = prmt.b32 R40, R6, 5456\n" SEEN, 1, 1},
        {PARTS "  R30:32 = prmt.b32 R40, R6, 5440\n" SEEN, 1, 1},
        {PARTS "  R30:32 = prmt.b32 R40, R6, 5424\n" SEEN, 1, 0},
        {PARTS "  R30:32 = prmt.b32 R40, R6, 39321\n" SEEN, 1, 1},
        {PARTS "  R30:32 = prmt.b32 R40, R6, 43690\n" SEEN, 1, 0},
        {PARTS "  R30:32 = prmt.b32.rc16 R40, R6, 0\n" SEEN, 1, 1},
        {PARTS "  R30:32 = prmt.b32.rc16 R40, R6, 1\n" SEEN, 1, 0},
        {PARTS "  R30:32 = prmt.b32 R6, R6, R40\n" SEEN, 1, 0},
        // Bit fields.
        {PARTS "  R30:32 = bfe.u32 R42, 8, 8\n" SEEN, 1, 1},
        {PARTS "  R30:32 = bfe.s32 R42, 8, 8\n" SEEN, 1, 1},
        {PARTS "  R30:32 = bfe.u32 R42, 8, 9\n" SEEN, 1, 0},
        {PARTS "  R30:32 = bfe.s32 R42, 16, 8\n" SEEN, 1, 0},
        {PARTS "  R30:32 = bfe.u32 R6, R40, 8\n" SEEN, 1, 0},
        {PARTS "  R30:32 = bfi.b32 R6, R40, 16, 16\n" SEEN, 1, 1},
        {PARTS "  R30:32 = bfi.b32 R6, R40, 16, 15\n" SEEN, 1, 0},
        {PARTS "  R30:32 = bfi.b32 R40, R6, 8, 16\n" SEEN, 1, 1},
        {PARTS "  R30:32 = bfi.b32 R40, R6, 8, 17\n" SEEN, 1, 0},
        {PARTS "  R30:32 = brev.b32 R40\n  R30:32 = shr.u32 R30, 16\n" SEEN, 1, 1},
        {PARTS "  R30:32 = brev.b32 R40\n" SEEN, 1, 0},
    };
    CHECK_RULES(rules);
}

TEST(undef_of_bytes_that_meet)
{
    static const Rule rules[] = {
        {"  R30:32 = and.b32 R20, 0\n", 1, 1},
        {"  R30:32 = or.b32 R20, -1\n", 1, 1},
        {"  R30:32 = xor.b32 R20, 0\n", 0, 0},
        {PARTS "  R30:32 = and.b32 R40, 65535\n" SEEN, 1, 1},
        {PARTS "  R30:32 = and.b32 65535, R40\n" SEEN, 1, 1},
        {PARTS "  R30:32 = and.b32 R40, 131071\n" SEEN, 1, 0},
        {PARTS "  R30:32 = or.b32 R40, -65536\n" SEEN, 1, 1},
        {PARTS "  R30:32 = or.b32 R40, -131072\n" SEEN, 1, 0},
        {PARTS "  R30:32 = not.b32 R40\n  R30:32 = cvt.u32.u16 R30\n" SEEN, 1, 1},
        {PARTS "  R30:32 = xor.b32 R40, R42\n  R30:32 = bfe.u32 R30, 8, 8\n" SEEN, 1, 1},
        {PARTS "  R30:32 = xor.b32 R40, R42\n  R30:32 = and.b32 R30, 255\n" SEEN, 1, 0},
        // Both undefined and equal: the result 0 would be provable, but counts as undefined.
        {"  R30:32 = xor.b32 R21, R21\n", 1, 0},
        {"  R30:32 = and.b32 R21, R20\n", -1, 0},
        {PARTS "  R50:32 = and.b32 R40, 65535\n  R51:32 = and.b32 R20, -65536\n  R50:32 = or.b32 R50, R51\n"
               "  R30:32 = cvt.u32.u16 R50\n" SEEN,
         1, 1},
        {"  R30:32 = lop3.b32 R20, R6, R6, 0\n", 1, 1},
        {"  R30:32 = lop3.b32 R20, R6, R6, 192\n", -1, -1},
        {"  R30:32 = lop3.b32 R20, R6, 0, 136\n", 1, 1},
        {"  R30:32 = lop3.b32 R20, R20, R6, 150\n", 0, 0},
        {PARTS "  R30:32 = lop3.b32 R40, 65535, R6, 234\n" SEEN, 1, 1},
        // Predicates.
        {"  P1 = setp.ne.u32 R6, R6\n  P2 = and.pred P9, P1\n  R30:32 = selp.b32 1, 2, P2\n", 1, 1},
        {"  P1 = setp.eq.u32 R6, R6\n  P2 = and.pred P9, P1\n  R30:32 = selp.b32 1, 2, P2\n", 0, 0},
        {"  P1 = setp.eq.u32 R6, R6\n  P2 = or.pred P1, P9\n  R30:32 = selp.b32 1, 2, P2\n", 1, 1},
        {"  P1 = setp.eq.u32 R6, R6\n  P1 = not.pred P1\n  P2 = and.pred P10, P1\n  R30:32 = selp.b32 1, 2, P2\n", 1,
         1},
        {"  P1 = setp.eq.u32 R6, R6\n  P2 = or.pred !P1, P9\n  R30:32 = selp.b32 1, 2, P2\n", 0, 0},
        // Other operations require all bytes.
        {PARTS "  R30:32 = add.u32 R40, R6\n  R30:32 = cvt.u32.u8 R30\n", 1, -1},
        {PARTS "  R30:32 = mul.lo.u32 R40, 0\n", 1, 0},
        {PARTS "  R30:32|P2 = lop3.or.b32 R40, 65535, R6, 192, P0\n", 1, 0},
        {PARTS "  R30:32 = popc.b32 R40\n", 1, 0},
        {PARTS "  P2 = setp.eq.u32 R40, R6\n  R30:32 = selp.b32 1, 2, P2\n", 1, 0},
    };
    CHECK_RULES(rules);
}

TEST(undef_of_guards)
{
    static const Rule rules[] = {
        // A false guard keeps the old value.
        {"  R30:32 = mov.b32 R20\n  @P0 R30:32 = mov.b32 1\n", 1, 0},
        {"  R30:32 = mov.b32 1\n  @P0 R30:32 = mov.b32 R20\n", 0, 1},
        // An undefined guard may be false or true, whatever its value here.
        {"  R30:32 = mov.b32 1\n  @P9 R30:32 = mov.b32 2\n", 0, 0},
        {"  R30:32 = mov.b32 1\n  @!P9 R30:32 = mov.b32 2\n", 0, 0},
        {"  R30:32 = mov.b32 1\n  @P10 R30:32 = mov.b32 2\n", 1, 0},
        {"  R30:32 = mov.b32 1\n  @!P9 R30:32 = ld.global.b32 [R5]\n", 0, 0},
    };
    CHECK_RULES(rules);
}

TEST(undef_of_selections)
{
    static const Rule rules[] = {
        {"  R30:32 = selp.b32 R6, R20, P0\n", 1, 0},
        {"  R30:32 = selp.b32 R20, R6, P0\n", 0, 1},
        {"  R30:32 = selp.b32 R20, R20, P0\n", 0, 0},
        {"  R30:32 = selp.b32 1, 1, P10\n", 1, 0},
        {"  R30:32 = selp.b32 1, 1, P9\n", 0, 0},
        {PARTS "  R30:32 = selp.b32 R40, R42, P0\n  R30:32 = cvt.u32.u16 R30\n" SEEN, 1, 0},
        {PARTS "  R30:32 = selp.b32 R42, R40, P0\n  R30:32 = cvt.u32.u16 R30\n" SEEN, 1, 1},
        {PARTS "  R30:32 = slct.b32.s32 R40, R20, R6\n  R30:32 = cvt.u32.u16 R30\n" SEEN, 1, 1},
        {PARTS "  R30:32 = slct.b32.s32 R40, R20, -1\n  R30:32 = cvt.u32.u16 R30\n" SEEN, 0, 0},
        {PARTS "  R30:32 = slct.b32.f32 R20, R40, 0fBF800000\n  R30:32 = cvt.u32.u16 R30\n" SEEN, 1, 1},
        {PARTS "  R30:32 = slct.b32.s32 R6, R6, R40\n", 1, 0},
    };
    CHECK_RULES(rules);
}

// In ssa form phis and old values copy states, as moves do; `undef` is undefined.
TEST(undef_in_ssa_form)
{
    Rig r;
    rig_run(&r, following,
            SSA "  R10:32 = mov.undef\n"
                "  P9 = mov.undef\n"
                "  P0 = setp.lt.u32 R6, 10\n"
                "  @P0 R11:32 = mov.b32 1 else R10\n"
                "  @P0 R12:32 = mov.b32 1 else undef\n"
                "  @P0 R13:32 = mov.b32 undef else 1\n"
                "  @P9 R14:32 = mov.b32 1 else 1\n"
                "  @!P9 R15:32 = mov.b32 1 else 1\n"
                "  @P0 bra b1 else b2\n"
                "b1:\n"
                "  bra b3\n"
                "b2:\n"
                "  bra b3\n"
                "b3:\n"
                "  R16:32 = mov.phi b1: R6, b2: R10\n"
                "  R17:32 = mov.phi b1: undef, b2: 3\n"
                "  R18:32 = add.s32 R16, 1\n" SAY(0, "R11") SAY(1, "R12") SAY(2, "R13") SAY(3, "R14") SAY(4, "R15")
                    SAY(5, "R18") "  st.global.b32 [R4+1536], R17\n" END);
    for (uint32_t k = 0; k < 7; k++) {
        static const int low[] = {1, 1, 0, 0, 0, 1, 0}, high[] = {0, 0, 1, 0, 0, 0, 1};
        unit_context("%u", k);
        CHECK_EQ(state(&r, k, 3), low[k]);
        CHECK_EQ(state(&r, k, 20), high[k]);
    }
    CHECK(machine_unspecified(r.machine) == NULL);
    rig_close(&r);
}

// Values that swap in a loop, through a temporary row.
TEST(undef_of_a_swap)
{
    Rig r;
    rig_run(&r, following,
            SSA "  R9:32 = mov.undef\n"
                "  bra b1\n"
                "b1:\n"
                "  R10:32 = mov.phi b0: R9, b1: R11\n"
                "  R11:32 = mov.phi b0: 20, b1: R10\n"
                "  R12:32 = mov.phi b0: 0, b1: R13\n"
                "  R13:32 = add.s32 R12, 1\n"
                "  P0 = setp.lt.s32 R13, R6\n"
                "  @P0 bra b1 else b2\n"
                "b2:\n" SAY(0, "R10") SAY(1, "R11") END);
    for (uint32_t t = 1; t < 32; t++) {
        CHECK_EQ(state(&r, 0, t), t % 2 == 0);
        CHECK_EQ(state(&r, 1, t), t % 2 == 1);
    }
    rig_close(&r);
}

TEST(undef_of_module_registers)
{
    Rig r;
    rig_run(&r, following,
            MODULE KERNEL("multi") "  reg R20:32 \"%common\" .u32 named\n"
                                   "b0:\n" START SAY(0, "R20") "  P0 = setp.lt.u32 R6, 10\n"
                                                               "  @P0 R20:32 = mov.b32 1\n" SAY(1, "R20") END);
    CHECK_EQ(state(&r, 0, 3), 0);
    CHECK_EQ(state(&r, 1, 3), 1);
    CHECK_EQ(state(&r, 1, 20), 0);
    rig_close(&r);
}

/* -- Memory --------------------------------------------------------------------------------------------- */

TEST(undef_of_memory)
{
    static const Rule rules[] = {
        {"  R30:32 = ld.shared.b32 [R22]\n", 0, 0},
        {"  st.shared.b32 [R22], R6\n  R30:32 = ld.shared.b32 [R22]\n", 1, 1},
        {"  st.shared.b32 [R22], 1\n  st.shared.b32 [R22], R21\n  R30:32 = ld.shared.b32 [R22]\n", 1, 0},
        {"  R30:32 = ld.local.b32 [R24]\n", 0, 0},
        {"  st.local.b32 [R24], R6\n  R30:32 = ld.local.b32 [R24]\n", 1, 1},
        {"  st.local.b32 [R24], 1\n  st.local.b32 [R24], R21\n  R30:32 = ld.local.b32 [R24]\n", 1, 0},
        {"  R30:32 = ld.param.b32 [@x]\n", 0, 0},
        {"  st.param.b32 [@x], R6\n  R30:32 = ld.param.b32 [@x]\n", 1, 1},
        {"  st.param.b32 [@x], 1\n  st.param.b32 [@x], R21\n  R30:32 = ld.param.b32 [@x]\n", 1, 0},
        // Buffers and variables begin defined.
        {"  R30:32 = ld.global.b32 [R25]\n", 1, 1},
        {"  st.global.b32 [R25], R21\n  R30:32 = ld.global.b32 [R25]\n", 1, 0},
        {"  st.global.b32 [R25], R21\n  st.global.b32 [R25], 1\n  R30:32 = ld.global.b32 [R25]\n", 1, 1},
        {"  R30:32 = ld.global.b32 [@g]\n", 1, 1},
        {"  st.global.b32 [@g], R20\n  R30:32 = ld.global.b32 [@g]\n", 0, 0},
        // Also by a generic address.
        {"  R40:64 = cvt.u64.u32 R22\n  R40:64 = cvta.shared.u64 R40\n  st.b32 [R40], 1\n  R30:32 = ld.b32 [R40]\n", 1,
         1},
    };
    CHECK_RULES(rules);
}

TEST(undef_of_bytes)
{
    static const Rule rules[] = {
        {"  st.shared.b8 [R22+1], R6\n  R30:32 = ld.shared.b32 [R22]\n", -1, -1},
        {"  st.shared.b8 [R22+1], R6\n  R30:32 = ld.shared.u8 [R22+1]\n", 1, 1},
        {"  st.shared.b8 [R22+1], R6\n  R30:32 = ld.shared.u8 [R22]\n", -1, -1},
        // Loads and stores copy states in any width; sign extension has the state of the sign.
        {"  st.shared.b8 [R22+1], R6\n  R31:32 = ld.shared.b32 [R22]\n  R30:32 = bfe.u32 R31, 8, 8\n", 1, 1},
        {"  st.shared.b8 [R22+1], R6\n  R31:32 = ld.shared.b32 [R22]\n  R30:32 = bfe.u32 R31, 16, 8\n", -1, -1},
        {"  st.shared.b32 [R22], R6\n  R40:64 = ld.shared.b64 [R22]\n  st.local.b64 [R24], R40\n"
         "  {R30:32, _} = ld.local.v2.b32 [R24]\n",
         1, 1},
        {"  st.shared.b32 [R22], R6\n  R40:64 = ld.shared.b64 [R22]\n  st.local.b64 [R24], R40\n"
         "  {_, R30:32} = ld.local.v2.b32 [R24]\n",
         0, 0},
        {"  st.shared.b32 [R22+8], R6\n  R40:128 = ld.shared.b128 [R22]\n  st.local.b128 [R24], R40\n"
         "  {_, _, R30:32, _} = ld.local.v4.b32 [R24]\n",
         1, 1},
        {"  st.shared.b32 [R22+8], R6\n  R40:128 = ld.shared.b128 [R22]\n  st.local.b128 [R24], R40\n"
         "  {_, _, _, R30:32} = ld.local.v4.b32 [R24]\n",
         0, 0},
        {"  R31:32 = ld.shared.u8 [R22]\n  R30:32 = shr.u32 R31, 8\n", 1, 1},
        {"  R31:32 = ld.shared.s8 [R22]\n  R30:32 = shr.u32 R31, 8\n", -1, -1},
        {"  st.shared.b8 [R22+1], R6\n  R31:32 = ld.shared.s16 [R22]\n  R30:32 = shr.u32 R31, 8\n", 1, 1},
        {"  R40:64 = mov.b64 {R6, R20}\n  st.shared.b32 [R22], R40\n  R30:32 = ld.shared.b32 [R22]\n", 1, 1},
        {"  R40:64 = mov.b64 {R6, R20}\n  st.param.b64 [@wide], R40\n  R41:64 = ld.param.b64 [@wide]\n"
         "  R30:32 = cvt.u32.u64 R41\n",
         1, 1},
        // An atomic operation requires all bytes; otherwise its whole result is undefined.
        {"  st.shared.b8 [R22+1], R6\n  red.shared.or.b32 [R22], 0\n  R30:32 = ld.shared.u8 [R22+1]\n", -1, -1},
        {"  st.shared.b32 [R22], 1\n  st.shared.b8 [R22+3], R21\n  R30:32 = ld.shared.b32 [R22]\n", 1, -1},
        {"  st.shared.b32 [R22], 1\n  st.shared.b8 [R22+3], R21\n  R30:32 = ld.shared.u16 [R22]\n", 1, 1},
        // Elements of a vector have separate states.
        {"  st.shared.v2.b32 [R22], {R6, R21}\n  {R30:32, _} = ld.shared.v2.b32 [R22]\n", 1, 1},
        {"  st.shared.v2.b32 [R22], {R6, R21}\n  {_, R30:32} = ld.shared.v2.b32 [R22]\n", 1, 0},
        {"  st.shared.v4.b32 [R22], {R20, 1, R21, 2}\n  {_, _, R30:32, _} = ld.shared.v4.b32 [R22]\n", 1, 0},
        {"  st.shared.b128 [R22], 0\n  {_, R30:32} = ld.shared.v2.b32 [R22+8]\n", 1, 1},
    };
    CHECK_RULES(rules);
}

// Some bytes of a word.
TEST(undef_of_a_part)
{
    Rig r;
    run_found(&r, "  R30:32 = mov.b32 1\n  st.global.b16 [R4+258], R21\n");
    CHECK_EQ(state(&r, 1, 3), 1);
    CHECK_EQ(state(&r, 1, 20), -1);
    rig_close(&r);
    // A word stored with a partial state.
    run_found(&r, PARTS "  R30:32 = mov.b32 R40\n");
    CHECK_EQ(state(&r, 0, 3), 1);
    for (uint32_t b = 0; b < 4; b++)
        CHECK_EQ(machine_defined(r.machine, r.address[0])[4 * 20 + b], b < 2);
    rig_close(&r);
}

TEST(undef_of_atomics)
{
    static const Rule rules[] = {
        {"  R30:32 = atom.shared.add.u32 [R22], 1\n", 0, 0},
        {"  st.shared.b32 [R22], 1\n  R30:32 = atom.shared.add.u32 [R22], 1\n", 1, 1},
        {"  st.shared.b32 [R22], 1\n  R30:32 = atom.shared.add.u32 [R22], R21\n", 1, 0},
        {"  st.shared.b32 [R22], 1\n  R30:32 = atom.shared.cas.b32 [R22], R21, 2\n", 1, 0},
        // The state of memory after it.
        {"  st.shared.b32 [R22], 1\n  red.shared.add.u32 [R22], R21\n  R30:32 = ld.shared.b32 [R22]\n", 1, 0},
        {"  red.shared.add.u32 [R22], 1\n  R30:32 = ld.shared.b32 [R22]\n", 0, 0},
        // Lanes take turns at one address: an undefined value stays undefined for later lanes.
        {"  red.global.add.u32 [R0+2048], R21\n  R30:32 = ld.global.b32 [R0+2048]\n", 0, 0},
        {"  R30:32 = atom.global.add.u32 [R0+2048], R21\n", 1, 0},
    };
    CHECK_RULES(rules);
}

// An asynchronous copy copies the state of each byte, and its zero fill is defined.
TEST(undef_of_copies)
{
    static const Rule rules[] = {
        {"  cp.async.ca.shared.global [R22], [R25], 4\n  cp.async.wait_all\n  R30:32 = ld.shared.b32 [R22]\n", 1, 1},
        {"  st.global.b32 [R25], R21\n  cp.async.ca.shared.global [R22], [R25], 4\n  cp.async.wait_all\n"
         "  R30:32 = ld.shared.b32 [R22]\n",
         1, 0},
        {"  st.global.b8 [R25+3], R20\n  cp.async.ca.shared.global [R22], [R25], 4\n  cp.async.wait_all\n"
         "  R30:32 = ld.shared.u8 [R22+2]\n",
         1, 1},
        {"  cp.async.ca.shared.global [R22], [R25], 8, 4\n  cp.async.wait_all\n  R30:32 = ld.shared.b32 [R22+4]\n", 1,
         1},
    };
    CHECK_RULES(rules);
}

/* -- Threads together ----------------------------------------------------------------------------------- */

// One undefined input of a lane suffices.
TEST(undef_of_lanes_together)
{
    static const Rule rules[] = {
        {"  R30:32 = shfl.sync.idx.b32 R6, 0, 31, -1\n", 1, 1},
        // A lane gets the state of the source lane, byte by byte.
        {"  R30:32 = shfl.sync.idx.b32 R21, 0, 31, -1\n", 1, 1},
        {"  R30:32 = shfl.sync.idx.b32 R21, 10, 31, -1\n", 0, 0},
        {"  R30:32 = shfl.sync.bfly.b32 R21, 16, 31, -1\n", 0, 1},
        {"  R30:32 = shfl.sync.idx.b32 R6, R21, 31, -1\n", 1, 0},
        {"  R30:32 = shfl.sync.idx.b32 R6, 0, R21, -1\n", 1, 0},
        {"  R31:32|P1 = shfl.sync.up.b32 R21, 1, 0, -1\n  R30:32 = selp.b32 1, 2, P1\n", 1, 1},
        {"  R31:32|P1 = shfl.sync.up.b32 R6, R21, 0, -1\n  R30:32 = selp.b32 1, 2, P1\n", 1, 0},
        {"  R30:32 = shfl.idx.b32 R21, 0, 31\n", 1, 1},
        {"  R30:32 = shfl.idx.b32 R21, 12, 31\n", 0, 0},
        {"  R31:32 = prmt.b32 R6, R21, 18192\n  R31:32 = shfl.sync.idx.b32 R31, 20, 31, -1\n"
         "  R30:32 = and.b32 R31, 255\n",
         1, 1},
        {"  R31:32 = prmt.b32 R6, R21, 18192\n  R31:32 = shfl.sync.idx.b32 R31, 20, 31, -1\n"
         "  R30:32 = shr.u32 R31, 24\n",
         -1, -1},
        {"  R30:32 = vote.sync.ballot.b32 P0, -1\n", 1, 1},
        {"  R30:32 = vote.sync.ballot.b32 P10, -1\n", 0, 0},
        {"  R30:32 = match.any.sync.b32 R6, -1\n", 1, 1},
        {"  R30:32 = match.any.sync.b32 R21, -1\n", 0, 0},
        {"  R30:32 = redux.sync.add.u32 R21, -1\n", 0, 0},
        // Lanes that execute the operation at different places.
        {"  @P0 bra b1 else b2\n"
         "b1:\n  R30:32 = shfl.sync.idx.b32 R6, 0, 31, -1\n  bra b3\n"
         "b2:\n  R30:32 = shfl.sync.idx.b32 R6, 0, 31, -1\n  bra b3\n"
         "b3:\n",
         1, 1},
        {"  @P0 bra b1 else b2\n"
         "b1:\n  R30:32 = shfl.sync.idx.b32 R6, 0, 31, -1\n  bra b3\n"
         "b2:\n  R30:32 = shfl.sync.idx.b32 R21, 12, 31, -1\n  bra b3\n"
         "b3:\n",
         1, 0},
        {"  R30:32 = activemask.b32\n", 1, 1},
        {"  R30:32 = movmatrix.sync.aligned.m8n8.trans.b16 R6\n", 1, 1},
        {"  R30:32 = movmatrix.sync.aligned.m8n8.trans.b16 R21\n", 0, 0},
        {"  R30:32 = bar.red.popc.u32 0, P0\n", 1, 1},
        {"  R30:32 = bar.red.popc.u32 0, P10\n", 0, 0},
        // Only lanes in the mask count: the others execute another instruction.
        {"  @P0 R30:32 = shfl.sync.idx.b32 R21, 0, 31, 1023\n", 1, 0},
    };
    CHECK_RULES(rules);
}

// Matrix loads use other lanes' addresses.
TEST(undef_of_matrices_in_memory)
{
    static const Rule rules[] = {
        {"  st.shared.v4.b32 [R22], {R6, R6, R6, R6}\n"
         "  R30:32 = ldmatrix.sync.aligned.m8n8.x1.shared.b16 [R22]\n",
         1, 1},
        {"  R30:32 = ldmatrix.sync.aligned.m8n8.x1.shared.b16 [R22]\n", 0, 0},
        {"  st.shared.v4.b32 [R22], {R6, R6, R6, R6}\n  P1 = setp.eq.u32 R6, 7\n  @P1 st.shared.b8 [R22], R20\n"
         "  R30:32 = ldmatrix.sync.aligned.m8n8.x1.shared.b16 [R22]\n",
         0, 0},
        {"  stmatrix.sync.aligned.m8n8.x1.shared.b16 [R22], {R6}\n  R30:32 = ld.shared.b32 [R22]\n", 1, 0},
        {"  stmatrix.sync.aligned.m8n8.x1.shared.b16 [R22], {R21}\n  R30:32 = ld.shared.b32 [R22]\n", 0, 0},
    };
    CHECK_RULES(rules);
}

// Threads of two warps: one gives an undefined value at a barrier, and all get it.
TEST(undef_of_two_warps)
{
    Rig r;
    rig_open(&r, following,
             MODULE KERNEL("multi") "  reg P9\n"
                                    "b0:\n" START "  P0 = setp.lt.u32 R6, 63\n"
                                    "  P1 = setp.lt.u32 R6, 64\n"
                                    "  @P0 P9 = setp.eq.u32 R6, R6\n"
                                    "  R10:32 = bar.red.popc.u32 0, P1\n"
                                    "  R11:32 = bar.red.popc.u32 0, P9\n" SAY(0, "R10") SAY(1, "R11") END);
    CHECK(rig_launch(&r, (Dim){1, 1, 1}, (Dim){64, 1, 1}));
    for (uint32_t t = 0; t < 64; t++) {
        CHECK_EQ(state(&r, 0, t), 1);
        CHECK_EQ(state(&r, 1, t), 0);
        CHECK_EQ(rig_word(&r, 0, t), 64);
    }
    rig_close(&r);
}

/* -- Calls ---------------------------------------------------------------------------------------------- */

#define CALL(callee, n) "  call (@y), @" callee ", (@x)  #" #n "\n"

TEST(undef_of_calls)
{
    static const Rule rules[] = {
        {"  st.param.b32 [@x], R6  #1\n" CALL("same", 1) "  R30:32 = ld.param.b32 [@y]  #1\n", 1, 1},
        {"  st.param.b32 [@x], R21  #1\n" CALL("same", 1) "  R30:32 = ld.param.b32 [@y]  #1\n", 1, 0},
        {CALL("same", 1) "  R30:32 = ld.param.b32 [@y]  #1\n", 0, 0},
        // No value is returned, although the parameter had one.
        {"  st.param.b32 [@x], R6  #1\n" CALL("same", 1) "  st.param.b32 [@x], R6  #2\n" CALL(
             "nothing", 2) "  R30:32 = ld.param.b32 [@y]  #2\n",
         0, 0},
        // A local variable is new in the second call.
        {"  st.param.b32 [@x], R6  #1\n" CALL("once", 1) "  st.param.b32 [@x], R6  #2\n" CALL(
             "once", 2) "  R30:32 = ld.param.b32 [@y]  #2\n",
         0, 0},
        // So are its registers, and a missing result.
        {"  st.param.b32 [@x], 1  #1\n" CALL("sometimes", 1) "  R30:32 = ld.param.b32 [@y]  #1\n", 1, 1},
        {"  st.param.b32 [@x], 1  #1\n" CALL("sometimes", 1) "  st.param.b32 [@x], 0  #2\n" CALL(
             "sometimes", 2) "  R30:32 = ld.param.b32 [@y]  #2\n",
         0, 0},
        {"  st.param.b32 [@x], 1  #1\n" CALL("seldom", 1) "  st.param.b32 [@x], 0  #2\n" CALL(
             "seldom", 2) "  R30:32 = ld.param.b32 [@y]  #2\n",
         0, 0},
        // Some bytes of a parameter, and of a result.
        {"  st.param.b16 [@x], R6  #1\n" CALL("same", 1) "  R30:32 = ld.param.u16 [@y]  #1\n", 1, 1},
        {"  st.param.b16 [@x], R6  #1\n" CALL("same", 1) "  R30:32 = ld.param.u16 [@y+2]  #1\n", -1, -1},
        {"  R40:32 = prmt.b32 R6, R21, 21520\n  (R41:32) = call @same, (R40)  #1\n  R30:32 = cvt.u32.u16 R41\n", 1, 1},
        {"  R40:32 = prmt.b32 R6, R21, 21520\n  (R41:32) = call @same, (R40)  #1\n  R30:32 = shr.u32 R41, 24\n", 1, -1},
        // Values passed as register operands.
        {"  (R30:32) = call @same, (R21)  #1\n", 1, 0},
        // Local memory grows.
        {"  st.local.b32 [R24], R21\n" CALL("big", 1) "  R30:32 = ld.local.b32 [R24]\n", 1, 0},
        // Memory of malloc is undefined, although it is zero here.
        {"  st.param.b64 [@wide], 16  #1\n  call (@wider), @malloc, (@wide)  #1\n  R40:64 = ld.param.b64 [@wider]  #1\n"
         "  R30:32 = ld.b32 [R40]\n",
         0, 0},
        {"  st.param.b64 [@wide], 16  #1\n  call (@wider), @malloc, (@wide)  #1\n  R40:64 = ld.param.b64 [@wider]  #1\n"
         "  st.b32 [R40], 1\n  R30:32 = ld.b32 [R40]\n",
         1, 1},
    };
    CHECK_RULES(rules);
}

// Registers as formals and as results, of PTX 1.x.
TEST(undef_of_registers_that_are_passed)
{
    Rig r;
    rig_run(&r, following,
            MODULE "device @add(reg @%a: .u32) -> reg @%sum: .u32 form multi {\n"
                   "  reg R2:32 \"%sum\" .u32 named\n"
                   "  reg R3:32 \"%a\" .u32 named\n"
                   "b0:\n"
                   "  R2:32 = add.u32 R3, 1\n"
                   "  ret\n"
                   "}\n" KERNEL("multi") "  reg R20:32\n"
                                         "b0:\n" START "  (R10:32) = call @add, (R6)  #1\n"
                                         "  (R11:32) = call @add, (R20)  #2\n" SAY(0, "R10") SAY(1, "R11") END);
    CHECK_EQ(state(&r, 0, 3), 1);
    CHECK_EQ(rig_word(&r, 0, 3), 4);
    CHECK_EQ(state(&r, 1, 3), 0);
    rig_close(&r);
}

/* -- Unspecified launches ------------------------------------------------------------------------------- */

// Instructions that make the launch unspecified, and the first of them.
static const struct {
    const char *instructions, *first;
} decisions[] = {
    {"  @P9 bra b1 else b1\nb1:\n", "bra"},
    {"  @P10 bra b1 else b1\nb1:\n", "bra"},
    {"  @P9 exit else b1\nb1:\n", "exit"},
    {"  brx.idx R20, @t\nb1:\n", "brx.idx"},
    {"  R40:64 = mul.lo.u64 R27, 0\n  R40:64 = add.s64 R40, R5\n  R31:32 = ld.global.b32 [R40]\n", "ld.global.b32"},
    {"  R40:32 = mul.lo.u32 R20, 0\n  R40:32 = add.s32 R40, R22\n  st.shared.b32 [R40], 1\n", "st.shared.b32"},
    {"  R40:32 = mul.lo.u32 R20, 0\n  R40:32 = add.s32 R40, R22\n  red.shared.add.u32 [R40], 1\n",
     "red.shared.add.u32"},
    {"  @P9 st.shared.b32 [R22], 1\n", "st.shared.b32"},
    {"  @!P9 st.shared.b32 [R22], 1\n", "st.shared.b32"},
    {"  @P9 red.shared.add.u32 [R22], 1\n", "red.shared.add.u32"},
    {"  @!P9 bar.sync 0\n", "bar.sync"},
    {"  @P9 bar.sync 0\n", "bar.sync"},
    {"  @P9 call (@y), @same, (@x)  #1\n", "call"},
    {"  bar.sync R20\n", "bar.sync"},
    {"  R40:32 = mul.lo.u32 R20, 0\n  R31:32 = bar.red.popc.u32 R40, P0\n", "bar.red.popc.u32"},
    {"  R40:32 = mul.lo.u32 R20, 0\n  R40:32 = not.b32 R40\n  bar.warp.sync R40\n", "bar.warp.sync"},
    {"  R40:32 = mul.lo.u32 R20, 0\n  R40:32 = not.b32 R40\n  R31:32 = shfl.sync.idx.b32 R6, 0, 31, R40\n",
     "shfl.sync.idx.b32"},
    {"  R40:32 = mul.lo.u32 R20, 0\n  R40:32 = not.b32 R40\n  R31:32 = vote.sync.ballot.b32 P0, R40\n",
     "vote.sync.ballot.b32"},
    {"  R40:32 = mul.lo.u32 R20, 0\n  R40:32 = not.b32 R40\n  R31:32 = match.any.sync.b32 R6, R40\n",
     "match.any.sync.b32"},
    {"  R40:32 = mul.lo.u32 R20, 0\n  R40:32 = not.b32 R40\n  R31:32 = redux.sync.add.u32 R6, R40\n",
     "redux.sync.add.u32"},
    {"  R40:64 = mul.lo.u64 R27, 0\n  R41:64 = mov.b64 @same\n  R40:64 = add.s64 R40, R41\n"
     "  call (@y), R40, (@x), @p  #1\n",
     "call"},
    {"  R40:32 = mul.lo.u32 R20, 0\n  R40:32 = add.s32 R40, R22\n"
     "  R31:32 = ldmatrix.sync.aligned.m8n8.x1.shared.b16 [R40]\n",
     "ldmatrix.sync.aligned.m8n8.x1.shared.b16"},
    {"  R40:32 = mul.lo.u32 R20, 0\n  R40:32 = add.s32 R40, R22\n  cp.async.ca.shared.global [R40], [R25], 4\n",
     "cp.async.ca.shared.global"},
    {"  R40:32 = mul.lo.u32 R20, 0\n  R40:32 = add.s32 R40, R22\n"
     "  R31:64 = wmma.load.a.sync.aligned.row.m8n8k4.shared.f64 [R40]\n",
     "wmma.load.a.sync.aligned.row.m8n8k4.shared.f64"},
    {"  R40:32 = mul.lo.u32 R20, 0\n  R40:32 = add.s32 R40, R22\n"
     "  wmma.store.d.sync.aligned.row.m8n8k4.shared.f64 [R40], {R5, R5}\n",
     "wmma.store.d.sync.aligned.row.m8n8k4.shared.f64"},
    {"  R40:32 = mul.lo.u32 R20, 0\n  R40:32 = add.s32 R40, R22\n  R31:32 = atom.shared.add.u32 [R40], 1\n",
     "atom.shared.add.u32"},
    {"  R40:32 = mul.lo.u32 R20, 0\n  R40:32 = not.b32 R40\n  R31:32|P1 = elect.sync R40\n", "elect.sync"},
    {"  @!P9 R31:32 = vote.ballot.b32 P0\n", "vote.ballot.b32"},
    {"  R31:64 = mbarrier.arrive.shared.b64 [R22]\n", "mbarrier.arrive.shared.b64"},
    {"  call (@wider), @malloc, (@wide)  #1\n", "call"},
    // Only the first one counts.
    {"  @P9 st.shared.b32 [R22], 1\n  bar.sync R20\n", "st.shared.b32"},
};

TEST(undef_that_decides)
{
    for (uint32_t k = 0; k < ARRAY_LEN(decisions); k++) {
        char text[5000];
        Rig r;
        snprintf(text, sizeof text, "%s%s%s", FUNCTIONS KERNEL("multi") "  table @t b1\n  proto @p(32) -> 32\n" FOUND,
                 decisions[k].instructions, strstr(decisions[k].instructions, "b1:") ? END : "  bra b1\nb1:\n" END);
        unit_context("%.250s", decisions[k].instructions);
        rig_open(&r, following, text);
        rig_launch(&r, (Dim){1, 1, 1}, (Dim){32, 1, 1});
        const RunError *e = machine_unspecified(r.machine);
        if (CHECK(e)) {
            Str text =
                tab_str(e->fn->tables, tab_mnem(e->fn->tables, ir_desc(e->fn, ir_instr(e->fn, e->instr))->mnem)->text);
            CHECK_TEXT(text.text, text.len, decisions[k].first);
        }
        rig_close(&r);
    }
}

// The state of a launch does not affect other launches, but memory keeps its state. A variable is made new.
TEST(undef_and_launches)
{
    Rig r;
    rig_open(&r, following,
             FUNCTIONS KERNEL("multi") FOUND "  R10:32 = ld.global.b32 [R5]\n"
                                             "  P1 = setp.eq.s32 R10, 100\n"
                                             "  P2 = setp.eq.s32 R10, 200\n"
                                             "  @P1 P2 = mov.pred P9\n"
                                             "  @P2 bra b1 else b1\n"
                                             "b1:\n"
                                             "  @P1 st.global.b32 [@g], R20\n"
                                             "  @P1 st.global.b32 [R4], R20\n" END);
    rig_set(&r, 5, 100);
    CHECK(rig_launch(&r, (Dim){1, 1, 1}, (Dim){32, 1, 1}));
    const RunError *e = machine_unspecified(r.machine);
    if (CHECK(e)) {
        CHECK_EQ(e->thread.x, 5);
        CHECK_Z(e->text, "the effect of this instruction depends on a value that was never written");
    }
    CHECK_EQ(state(&r, 0, 5), 0);
    rig_set(&r, 5, 0);
    CHECK(rig_launch(&r, (Dim){1, 1, 1}, (Dim){32, 1, 1}));
    CHECK(machine_unspecified(r.machine) == NULL);
    CHECK_EQ(state(&r, 0, 5), 0);
    uint64_t g =
        machine_symbol(r.machine, module_find(r.module, (Name){str_intern_z(&r.module->tables.strs, "g"), NO_NUMBER}));
    CHECK_EQ(machine_defined(r.machine, g)[0], 0);
    machine_reset(r.machine);
    CHECK_EQ(machine_defined(r.machine, g)[0], 1);
    rig_close(&r);
}

// Printed values are visible, so they must be defined.
TEST(undef_that_is_printed)
{
    static const char *const formats[] = {"  st.local.b32 [R24], R6\n", "  st.local.b32 [R24], R20\n"};
    for (uint32_t k = 0; k < ARRAY_LEN(formats); k++) {
        char text[5000];
        Rig r;
        snprintf(text, sizeof text, "%s%s%s",
                 MODULE
                 "global @format: .b8[3] = {37, 100, 0}\n"
                 "device @vprintf(@f: 64, @a: 64) -> @r: 32 extern\n" KERNEL("multi") "  param @p: 64\n  param @q: 64\n"
                                                                                      "  param @n: 32\n" FOUND,
                 formats[k],
                 "  R40:64 = mov.b64 @format\n"
                 "  R41:64 = cvt.u64.u32 R24\n"
                 "  R41:64 = cvta.local.u64 R41\n"
                 "  st.param.b64 [@p], R40  #1\n"
                 "  st.param.b64 [@q], R41  #1\n"
                 "  call (@n), @vprintf, (@p, @q)  #1\n"
                 "  R30:32 = ld.param.b32 [@n]  #1\n" SAY(0, "R30") END);
        unit_context("%s", formats[k]);
        rig_run(&r, following, text);
        CHECK_EQ(state(&r, 0, 3), 1);
        CHECK_EQ(machine_unspecified(r.machine) != NULL, k);
        rig_close(&r);
    }
}

// Without the option there are no states; with it no undefined read is reported, even with check_uninit.
TEST(undef_is_followed_on_request)
{
    static const char text[] = MODULE KERNEL("multi") "  reg R20:32\n"
                                                      "b0:\n" START "  R10:32 = add.s32 R20, 1\n" SAY(0, "R10") END;
    Rig r;
    rig_run(&r, (MachineOptions){0}, text);
    CHECK(machine_defined(r.machine, r.address[0]) == NULL);
    CHECK(machine_unspecified(r.machine) == NULL);
    rig_close(&r);
    rig_open(&r, (MachineOptions){.check_uninit = true}, text);
    CHECK(!rig_launch(&r, (Dim){1, 1, 1}, (Dim){32, 1, 1}));
    rig_close(&r);
    rig_run(&r, (MachineOptions){.check_uninit = true, .follow_undef = true}, text);
    CHECK_EQ(state(&r, 0, 3), 0);
    rig_close(&r);
}

void test_undef(void)
{
    RUN(undef_of_registers);
    RUN(undef_of_bytes_that_move);
    RUN(undef_of_bytes_that_meet);
    RUN(undef_of_guards);
    RUN(undef_of_selections);
    RUN(undef_in_ssa_form);
    RUN(undef_of_a_swap);
    RUN(undef_of_module_registers);
    RUN(undef_of_memory);
    RUN(undef_of_bytes);
    RUN(undef_of_a_part);
    RUN(undef_of_atomics);
    RUN(undef_of_copies);
    RUN(undef_of_lanes_together);
    RUN(undef_of_matrices_in_memory);
    RUN(undef_of_two_warps);
    RUN(undef_of_calls);
    RUN(undef_of_registers_that_are_passed);
    RUN(undef_that_decides);
    RUN(undef_and_launches);
    RUN(undef_that_is_printed);
    RUN(undef_is_followed_on_request);
}
