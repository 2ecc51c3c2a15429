// SPDX-License-Identifier: MIT
// Tests the interpreter: functions in ssa form, and the last writer of a byte. Each test is a small kernel of Ori text
// (rig.h).
#include <stdio.h>

#include "tests/unit/rig.h"

static const MachineOptions plain = {0};

// Checks the k-th reported word of each thread.
static void check_reported(const Rig *r, uint32_t k, uint32_t (*expected)(uint32_t thread))
{
    for (uint32_t t = 0; t < 32; t++)
        if (!CHECK_EQ(rig_word(r, k, t), expected(t)))
            return;
}

/* -- Phis ----------------------------------------------------------------------------------------------- */

static uint32_t seven_or_thread(uint32_t t) { return t < 10 ? 7 : t; }

// Lanes reconverge before the phi; each takes the input of its predecessor.
TEST(phi_behind_divergent_arms)
{
    Rig r;
    rig_run(&r, plain,
            SSA "  P0 = setp.lt.u32 R6, 10\n"
                "  @P0 bra b1 else b2\n"
                "b1:\n"
                "  R10:32 = mov.b32 7\n"
                "  bra b3\n"
                "b2:\n"
                "  bra b3\n"
                "b3:\n"
                "  R11:32 = mov.phi b1: R10, b2: R6\n" SAY(0, "R11") END);
    check_reported(&r, 0, seven_or_thread);
    rig_close(&r);
}

// A critical edge.
TEST(phi_behind_a_critical_edge)
{
    Rig r;
    rig_run(&r, plain,
            SSA "  P0 = setp.lt.u32 R6, 10\n"
                "  @P0 bra b2 else b1\n"
                "b1:\n"
                "  bra b2\n"
                "b2:\n"
                "  R11:32 = mov.phi b0: 7, b1: R6\n" SAY(0, "R11") END);
    check_reported(&r, 0, seven_or_thread);
    rig_close(&r);
}

static uint32_t seven(uint32_t t) { return (void)t, 7; }

TEST(phi_behind_two_edges_from_one_block)
{
    Rig r;
    rig_run(&r, plain,
            SSA "  P0 = setp.lt.u32 R6, 10\n"
                "  @P0 bra b1 else b1\n"
                "b1:\n"
                "  R11:32 = mov.phi b0: 7\n" SAY(0, "R11") END);
    check_reported(&r, 0, seven);
    rig_close(&r);
}

static uint32_t trips(uint32_t t) { return MAX(t, 1); }
static uint32_t trips_before(uint32_t t) { return trips(t) - 1; }

// The phi's value is live after the definition of its next input.
TEST(phi_lost_copy)
{
    Rig r;
    rig_run(&r, plain,
            SSA "  bra b1\n"
                "b1:\n"
                "  R10:32 = mov.phi b0: 0, b1: R11\n"
                "  R11:32 = add.s32 R10, 1\n"
                "  P0 = setp.lt.s32 R11, R6\n"
                "  @P0 bra b1 else b2\n"
                "b2:\n" SAY(0, "R10") SAY(1, "R11") END);
    check_reported(&r, 0, trips_before);
    check_reported(&r, 1, trips);
    rig_close(&r);
}

static uint32_t first_swapped(uint32_t t) { return trips(t) % 2 ? 10 : 20; }
static uint32_t second_swapped(uint32_t t) { return trips(t) % 2 ? 20 : 10; }

// Two loop-carried values swap in each iteration, with different trip counts of lanes.
TEST(phi_swap)
{
    Rig r;
    rig_run(&r, plain,
            SSA "  bra b1\n"
                "b1:\n"
                "  R10:32 = mov.phi b0: 10, b1: R11\n"
                "  R11:32 = mov.phi b0: 20, b1: R10\n"
                "  R12:32 = mov.phi b0: 0, b1: R13\n"
                "  R13:32 = add.s32 R12, 1\n"
                "  P0 = setp.lt.s32 R13, R6\n"
                "  @P0 bra b1 else b2\n"
                "b2:\n" SAY(0, "R10") SAY(1, "R11") END);
    check_reported(&r, 0, first_swapped);
    check_reported(&r, 1, second_swapped);
    rig_close(&r);
}

static uint32_t rotated(uint32_t t) { return 10 + (trips(t) - 1) % 3; }
static uint32_t rotated_high(uint32_t t) { return 100 + rotated(t); }

// A rotation of three of the widest registers, beside a phi that takes the old value of one.
TEST(phi_rotation)
{
    Rig r;
    rig_run(&r, plain,
            SSA "  R20:64 = cvt.u64.u32 10\n"
                "  R21:64 = cvt.u64.u32 11\n"
                "  R22:64 = cvt.u64.u32 12\n"
                "  R26:64 = cvt.u64.u32 110\n"
                "  R27:64 = cvt.u64.u32 111\n"
                "  R28:64 = cvt.u64.u32 112\n"
                "  R23:128 = mov.b128 {R20, R26}\n"
                "  R24:128 = mov.b128 {R21, R27}\n"
                "  R25:128 = mov.b128 {R22, R28}\n"
                "  bra b1\n"
                "b1:\n"
                "  R30:128 = mov.phi b0: R23, b1: R31\n"
                "  R31:128 = mov.phi b0: R24, b1: R32\n"
                "  R32:128 = mov.phi b0: R25, b1: R30\n"
                "  R33:128 = mov.phi b0: R25, b1: R30\n"
                "  R12:32 = mov.phi b0: 0, b1: R13\n"
                "  R13:32 = add.s32 R12, 1\n"
                "  P0 = setp.lt.s32 R13, R6\n"
                "  @P0 bra b1 else b2\n"
                "b2:\n"
                "  {R40:64, R41:64} = mov.b128 R30\n"
                "  {R42:64, R43:64} = mov.b128 R32\n"
                "  {R46:64, R47:64} = mov.b128 R33\n"
                "  R44:64 = sub.s64 R42, R46\n"
                "  R45:64 = sub.s64 R43, R47\n"
                "  R48:32 = cvt.u32.u64 R40\n"
                "  R49:32 = cvt.u32.u64 R41\n"
                "  R50:32 = cvt.u32.u64 R44\n"
                "  R51:32 = cvt.u32.u64 R45\n" SAY(0, "R48") SAY(1, "R49") SAY(2, "R50") SAY(3, "R51") END);
    check_reported(&r, 0, rotated);
    check_reported(&r, 1, rotated_high);
    CHECK_EQ(rig_word(&r, 2, 5), 0);
    CHECK_EQ(rig_word(&r, 3, 5), 0);
    rig_close(&r);
}

static uint32_t sum_below(uint32_t t) { return trips(t) * (trips(t) - 1) / 2; }

// Each phi takes the old value of the previous one, in either order.
TEST(phi_chain)
{
    static const char *const orders[] = {"  R10:32 = mov.phi b0: 0, b1: R13\n  R11:32 = mov.phi b0: 0, b1: R10\n",
                                         "  R11:32 = mov.phi b0: 0, b1: R10\n  R10:32 = mov.phi b0: 0, b1: R13\n"};
    for (uint32_t k = 0; k < ARRAY_LEN(orders); k++) {
        char text[2000];
        Rig r;
        snprintf(text, sizeof text, "%s%s%s",
                 SSA "  bra b1\n"
                     "b1:\n",
                 orders[k],
                 "  R14:32 = mov.phi b0: 0, b1: R15\n"
                 "  R13:32 = add.s32 R10, 1\n"
                 "  R15:32 = add.s32 R14, R10\n"
                 "  P0 = setp.lt.s32 R13, R6\n"
                 "  @P0 bra b1 else b2\n"
                 "b2:\n"
                 "  R16:32 = sub.s32 R10, R11\n" SAY(0, "R15") SAY(1, "R16") END);
        rig_run(&r, plain, text);
        check_reported(&r, 0, sum_below);
        CHECK_EQ(rig_word(&r, 1, 1), 0);
        CHECK_EQ(rig_word(&r, 1, 9), 1);
        rig_close(&r);
    }
}

static uint32_t by_case(uint32_t t) { return (uint32_t[]){100, 200, 100, t}[t & 3]; }
static uint32_t by_case_or_five(uint32_t t) { return t < 16 ? by_case(t) : 5; }

// A branch table with one target twice and another target over a critical edge, which is also the successor under a
// false guard.
TEST(phi_behind_a_switch)
{
    Rig r;
    rig_run(&r, plain,
            MODULE KERNEL("ssa") "  table @t b1, b2, b1, b4\n"
                                 "b0:\n" START "  R10:32 = and.b32 R6, 3\n"
                                 "  P0 = setp.lt.u32 R6, 16\n"
                                 "  @P0 brx.idx R10, @t else b3\n"
                                 "b1:\n"
                                 "  R11:32 = mov.phi b0: 100\n"
                                 "  bra b4\n"
                                 "b2:\n"
                                 "  bra b4\n"
                                 "b3:\n"
                                 "  R12:32 = mov.phi b0: 5\n"
                                 "  bra b4\n"
                                 "b4:\n"
                                 "  R13:32 = mov.phi b0: R6, b1: R11, b2: 200, b3: R12\n" SAY(0, "R13") END);
    check_reported(&r, 0, by_case_or_five);
    rig_close(&r);
}

static uint32_t zero_or_nine(uint32_t t) { return t < 10 ? 0 : 9; }

// The edge after a guarded exit, and after a guarded return, which is an exit in a kernel.
TEST(phi_behind_an_exit)
{
    static const char *const ends[] = {"exit", "ret"};
    for (uint32_t k = 0; k < ARRAY_LEN(ends); k++) {
        char text[2000];
        Rig r;
        snprintf(text, sizeof text, "%s  @P0 %s else b1\n%s", SSA "  P0 = setp.lt.u32 R6, 10\n", ends[k],
                 "b1:\n"
                 "  R10:32 = mov.phi b0: 9\n" SAY(0, "R10") END);
        rig_run(&r, plain, text);
        check_reported(&r, 0, zero_or_nine);
        rig_close(&r);
    }
}

// Returns the result of the kernel below.
static uint32_t nested(uint32_t t)
{
    uint32_t outer = 0, sum = 0;
    for (uint32_t k = 0; k <= (t & 3); k++, outer = sum) {
        bool first = true;
        sum = outer;
        for (uint32_t n = 0; n < k; n++, first = !first)
            sum += first ? 1 : 2;
    }
    return sum;
}

// The inner loop's phi starts with the outer one's value, and gives the outer one its value of the previous iteration.
// Also with predicates.
TEST(phi_of_nested_loops)
{
    Rig r;
    rig_run(&r, plain,
            SSA "  R7:32 = and.b32 R6, 3\n"
                "  P0 = setp.eq.u32 R6, R6\n"
                "  bra b1\n"
                "b1:\n"
                "  R10:32 = mov.phi b0: 0, b3: R15\n"
                "  R11:32 = mov.phi b0: 0, b3: R12\n"
                "  P1 = mov.phi b0: P0, b3: P4\n"
                "  bra b2\n"
                "b2:\n"
                "  R12:32 = mov.phi b1: R11, b2: R13\n"
                "  R14:32 = mov.phi b1: 0, b2: R16\n"
                "  P2 = mov.phi b1: P1, b2: P3\n"
                "  R17:32 = selp.b32 1, 2, P2\n"
                "  R13:32 = add.s32 R12, R17\n"
                "  P3 = not.pred P2\n"
                "  R16:32 = add.s32 R14, 1\n"
                "  P5 = setp.le.u32 R16, R10\n"
                "  @P5 bra b2 else b3\n"
                "b3:\n"
                "  P4 = mov.pred P0\n"
                "  R15:32 = add.s32 R10, 1\n"
                "  P6 = setp.le.u32 R15, R7\n"
                "  @P6 bra b1 else b4\n"
                "b4:\n" SAY(0, "R12") END);
    check_reported(&r, 0, nested);
    rig_close(&r);
}

/* -- Old values ----------------------------------------------------------------------------------------- */

static uint32_t hundred_or_thread(uint32_t t) { return t < 10 ? 100 : t; }
static uint32_t hundred_or_three(uint32_t t) { return t < 10 ? 100 : 3; }
static uint32_t undef32(uint32_t t) { return (void)t, 0xa5a5a5a5; }
static uint32_t hundred_or_undef(uint32_t t) { return t < 10 ? 100 : undef32(t); }

TEST(tied_values)
{
    Rig r;
    rig_run(&r, plain,
            SSA "  P0 = setp.lt.u32 R6, 10\n"
                "  @P0 R10:32 = mov.b32 100 else R6\n"
                "  @P0 R11:32 = mov.b32 100 else 3\n"
                "  @P0 R12:32 = mov.b32 100 else undef\n"
                "  @!P0 R13:32 = mov.b32 R6 else 100\n" SAY(0, "R10") SAY(1, "R11") SAY(2, "R12") SAY(3, "R13") END);
    check_reported(&r, 0, hundred_or_thread);
    check_reported(&r, 1, hundred_or_three);
    check_reported(&r, 2, hundred_or_undef);
    check_reported(&r, 3, hundred_or_thread);
    rig_close(&r);
}

// One instruction with several definitions, one of them unused, and one that is equal in all lanes.
TEST(tied_values_of_vectors)
{
    Rig r;
    rig_run(&r, plain,
            SSA "  P0 = setp.lt.u32 R6, 10\n"
                "  P1 = setp.eq.u32 R6, R6\n"
                "  R9:64 = mul.wide.u32 R6, 16\n"
                "  R10:64 = add.s64 R1, R9\n"
                "  @P0 {R11:32, _, R12:32, R13:32} = ld.global.v4.b32 [R10] else R6, _, 3, undef\n"
                "  @P1 {R14:32, R15:32} = ld.global.v2.b32 [R10] else R6, R6\n" SAY(0, "R11") SAY(1, "R12")
                    SAY(2, "R13") SAY(3, "R15") END);
    for (uint32_t t = 0; t < 10; t++) {
        CHECK_EQ(rig_word(&r, 0, t), 4 * t);
        CHECK_EQ(rig_word(&r, 1, t), 4 * t + 2);
        CHECK_EQ(rig_word(&r, 2, t), 4 * t + 3);
        CHECK_EQ(rig_word(&r, 3, t), 4 * t + 1);
    }
    CHECK_EQ(rig_word(&r, 0, 20), 20);
    CHECK_EQ(rig_word(&r, 1, 20), 3);
    CHECK_EQ(rig_word(&r, 2, 20), 0xa5a5a5a5);
    rig_close(&r);
}

static uint32_t lane_nine_or_thread(uint32_t t) { return t < 10 ? 9 : t; }

// Some lanes execute a warp operation, while the others keep the tied values.
TEST(tied_value_of_a_shuffle)
{
    Rig r;
    rig_run(&r, plain,
            SSA "  P0 = setp.lt.u32 R6, 10\n"
                "  @P0 R10:32 = shfl.sync.idx.b32 R6, 9, 31, 1023 else R6\n" SAY(0, "R10") END);
    check_reported(&r, 0, lane_nine_or_thread);
    rig_close(&r);
}

static uint32_t doubled_or_thread(uint32_t t) { return t < 10 ? 2 * t : t; }

TEST(tied_value_of_a_call)
{
    Rig r;
    rig_run(&r, plain,
            MODULE "device @twice(@n: 32) -> @r: 32 form ssa {\n"
                   "b0:\n"
                   "  R0:32 = ld.param.b32 [@n]\n"
                   "  R1:32 = add.s32 R0, R0\n"
                   "  st.param.b32 [@r], R1\n"
                   "  ret\n"
                   "}\n" KERNEL("ssa") "b0:\n" START "  P0 = setp.lt.u32 R6, 10\n"
                                       "  @P0 (R10:32) = call @twice, (R6)  else R6  #1\n" SAY(0, "R10") END);
    check_reported(&r, 0, doubled_or_thread);
    rig_close(&r);
}

/* -- Undefined values ----------------------------------------------------------------------------------- */

// An undefined value is the same for all uses, in any width, and not 0.
TEST(undef_is_fixed)
{
    Rig r;
    rig_run(&r, plain,
            SSA "  R10:32 = mov.undef\n"
                "  R11:64 = mov.undef\n"
                "  P0 = mov.undef\n"
                "  R12:32 = sub.s32 R10, R10\n"
                "  R13:32 = cvt.u32.u64 R11\n"
                "  R14:32 = selp.b32 1, 0, P0\n"
                "  R15:32 = sub.s32 R10, undef\n"
                "  R16:128 = mov.undef\n"
                "  {R17:64, _} = mov.b128 R16\n"
                "  R19:32 = cvt.u32.u64 R17\n" SAY(0, "R10") SAY(1, "R12") SAY(2, "R13") SAY(3, "R14") SAY(4, "R15")
                    SAY(5, "R19") END);
    check_reported(&r, 0, undef32);
    CHECK_EQ(rig_word(&r, 1, 3), 0);
    check_reported(&r, 2, undef32);
    CHECK_EQ(rig_word(&r, 3, 3), 1);
    CHECK_EQ(rig_word(&r, 4, 3), 0);
    check_reported(&r, 5, undef32);
    rig_close(&r);
}

#define UNDEF_PHI                                 \
    SSA "  P0 = setp.lt.u32 R6, 10\n"             \
        "  @P0 bra b1 else b2\n"                  \
        "b1:\n"                                   \
        "  bra b2\n"                              \
        "b2:\n"                                   \
        "  R10:32 = mov.phi b0: undef, b1: R6\n"  \
        "  @P0 R11:32 = mov.b32 R10 else undef\n" \
        "  R12:32 = selp.b32 R6, 3, P0\n"

// With check_uninit, copying an undefined value is no read.
TEST(undef_is_reported_when_read)
{
    Rig r;
    rig_open(&r, (MachineOptions){.check_uninit = true}, UNDEF_PHI SAY(0, "R12") END);
    CHECK(rig_launch(&r, (Dim){1, 1, 1}, (Dim){32, 1, 1}));
    rig_close(&r);
    rig_open(&r, (MachineOptions){.check_uninit = true}, UNDEF_PHI SAY(0, "R10") END);
    CHECK(!rig_launch(&r, (Dim){1, 1, 1}, (Dim){32, 1, 1}));
    CHECK_Z(machine_error(r.machine)->text, "a use of a value that was never written");
    CHECK_EQ(machine_error(r.machine)->thread.x, 10);
    rig_close(&r);
    rig_open(&r, (MachineOptions){.check_uninit = true}, UNDEF_PHI SAY(0, "R11") END);
    CHECK(!rig_launch(&r, (Dim){1, 1, 1}, (Dim){32, 1, 1}));
    rig_close(&r);
}

/* -- Functions and other registers ---------------------------------------------------------------------- */

static uint32_t one_or_nine(uint32_t t) { return t < 10 ? 1 : 9; }

TEST(phi_behind_a_return)
{
    Rig r;
    rig_run(&r, plain,
            MODULE "device @f(@n: 32) -> @r: 32 form ssa {\n"
                   "b0:\n"
                   "  R0:32 = ld.param.b32 [@n]\n"
                   "  P0 = setp.lt.u32 R0, 10\n"
                   "  st.param.b32 [@r], 1\n"
                   "  @P0 ret else b1\n"
                   "b1:\n"
                   "  R1:32 = mov.phi b0: 9\n"
                   "  st.param.b32 [@r], R1\n"
                   "  ret\n"
                   "}\n" KERNEL("ssa") "  param @x: 32\n"
                                       "  param @y: 32\n"
                                       "b0:\n" START "  st.param.b32 [@x], R6  #1\n"
                                       "  call (@y), @f, (@x)  #1\n"
                                       "  R10:32 = ld.param.b32 [@y]  #1\n" SAY(0, "R10") END);
    check_reported(&r, 0, one_or_nine);
    rig_close(&r);
}

static uint32_t factorial(uint32_t t)
{
    uint32_t f = 1;
    for (uint32_t k = 2; k <= (t & 7); k++)
        f *= k;
    return f;
}

// A loop in a function that lanes leave at different iterations; then the same by recursion, beside the first value.
TEST(calls_in_ssa_form)
{
    Rig r;
    rig_run(&r, plain,
            MODULE "device @loop(@n: 32) -> @r: 32 form ssa {\n"
                   "b0:\n"
                   "  R0:32 = ld.param.b32 [@n]\n"
                   "  bra b1\n"
                   "b1:\n"
                   "  R1:32 = mov.phi b0: R0, b2: R3\n"
                   "  R2:32 = mov.phi b0: 1, b2: R4\n"
                   "  P0 = setp.le.u32 R1, 1\n"
                   "  @P0 bra b3 else b2\n"
                   "b2:\n"
                   "  R3:32 = add.s32 R1, -1\n"
                   "  R4:32 = mul.lo.u32 R2, R1\n"
                   "  bra b1\n"
                   "b3:\n"
                   "  st.param.b32 [@r], R2\n"
                   "  ret\n"
                   "}\n"
                   "device @recursive(@n: 32) -> @r: 32 form ssa {\n"
                   "  param @a: 32\n"
                   "  param @b: 32\n"
                   "b0:\n"
                   "  R0:32 = ld.param.b32 [@n]\n"
                   "  P0 = setp.le.u32 R0, 1\n"
                   "  @P0 bra b2 else b1\n"
                   "b1:\n"
                   "  R1:32 = add.s32 R0, -1\n"
                   "  st.param.b32 [@a], R1  #1\n"
                   "  call (@b), @recursive, (@a)  #1\n"
                   "  R2:32 = ld.param.b32 [@b]  #1\n"
                   "  R3:32 = mul.lo.u32 R2, R0\n"
                   "  bra b2\n"
                   "b2:\n"
                   "  R4:32 = mov.phi b0: 1, b1: R3\n"
                   "  st.param.b32 [@r], R4\n"
                   "  ret\n"
                   "}\n" KERNEL("ssa") "  param @x: 32\n"
                                       "  param @y: 32\n"
                                       "b0:\n" START "  R10:32 = and.b32 R6, 7\n"
                                       "  st.param.b32 [@x], R10  #1\n"
                                       "  call (@y), @loop, (@x)  #1\n"
                                       "  R11:32 = ld.param.b32 [@y]  #1\n"
                                       "  st.param.b32 [@x], R10  #2\n"
                                       "  call (@y), @recursive, (@x)  #2\n"
                                       "  R12:32 = ld.param.b32 [@y]  #2\n" SAY(0, "R11") SAY(1, "R12") END);
    check_reported(&r, 0, factorial);
    check_reported(&r, 1, factorial);
    rig_close(&r);
}

static uint32_t five_or_six(uint32_t t) { return t < 10 ? 6 : 5; }

// A register outside ssa keeps its value under a false guard without a tied use, also if another result has one.
TEST(named_register_in_ssa_form)
{
    Rig r;
    rig_run(&r, plain,
            MODULE KERNEL(
                "ssa") "  reg R20:32 \"%common\" .u32 named\n"
                       "b0:\n" START "  R20:32 = mov.b32 5\n"
                       "  P0 = setp.lt.u32 R6, 10\n"
                       "  @P0 R20:32 = add.s32 R20, 1\n" SAY(
                           0, "R20") "  @!P0 {R20:32, R21:32} = ld.global.v2.b32 [R1+80] else _, R6\n" SAY(1, "R20")
                           SAY(2, "R21") END);
    check_reported(&r, 0, five_or_six);
    CHECK_EQ(rig_word(&r, 1, 3), 6);
    CHECK_EQ(rig_word(&r, 1, 13), 20);
    CHECK_EQ(rig_word(&r, 2, 3), 3);
    CHECK_EQ(rig_word(&r, 2, 13), 21);
    rig_close(&r);
}

/* -- Writers -------------------------------------------------------------------------------------------- */

static const MachineOptions noting = {.record_writers = true};

// The writer of a byte of out.
typedef struct Writer {
    Dim block, thread;
    const Fn *fn;
    InstrId instr;
} Writer;

static bool writer(Rig *r, uint64_t offset, Writer *w)
{
    uint64_t address = r->address[0] + offset;
    w->instr = machine_store(r->machine, address, &w->fn);
    return machine_writer(r->machine, address, &w->block, &w->thread);
}

static void wrote(Rig *r, uint64_t offset, Dim block, Dim thread, const char *mnemonic)
{
    Writer w;
    unit_context("offset %llu", (unsigned long long)offset);
    if (!CHECK(writer(r, offset, &w)))
        return;
    CHECK(w.block.x == block.x && w.block.y == block.y && w.block.z == block.z);
    CHECK(w.thread.x == thread.x && w.thread.y == thread.y && w.thread.z == thread.z);
    Str text = tab_str(w.fn->tables, tab_mnem(w.fn->tables, ir_desc(w.fn, ir_instr(w.fn, w.instr))->mnem)->text);
    CHECK_TEXT(text.text, text.len, mnemonic);
    unit_context("%s", "");
}

static const Dim pointer = {0, 0, 0};

// The last writer counts, for each byte separately.
TEST(writers_of_bytes)
{
    Rig r;
    rig_run(&r, noting,
            SSA SAY(0, "R6") "  P0 = setp.eq.u32 R6, 6\n"
                             "  @P0 st.global.b8 [R0+1], R6\n"
                             "  P1 = setp.eq.u32 R6, 7\n"
                             "  @P1 st.global.v2.b32 [R0+16], {R6, R6}\n"
                             "  P2 = setp.lt.u32 R6, 9\n"
                             "  @P2 red.global.add.u32 [R0+8], 1\n" END);
    wrote(&r, 0, pointer, pointer, "st.global.b32");
    wrote(&r, 1, pointer, (Dim){6, 0, 0}, "st.global.b8");
    wrote(&r, 2, pointer, pointer, "st.global.b32");
    wrote(&r, 8, pointer, (Dim){8, 0, 0}, "red.global.add.u32");
    wrote(&r, 16, pointer, (Dim){7, 0, 0}, "st.global.v2.b32");
    wrote(&r, 23, pointer, (Dim){7, 0, 0}, "st.global.v2.b32");
    wrote(&r, 24, pointer, (Dim){6, 0, 0}, "st.global.b32");
    Writer w;
    CHECK(!machine_writer(r.machine, r.address[1], &w.block, &w.thread));
    CHECK(!writer(&r, 4 * ROW, &w));
    CHECK_EQ(w.instr, 0);
    CHECK(w.fn == NULL);
    rig_close(&r);
}

// Positions in grid and block, for every order of CTAs.
TEST(writers_in_a_grid)
{
    for (uint64_t seed = 0; seed < 2; seed++) {
        Rig r;
        rig_open(&r, (MachineOptions){.record_writers = true, .seed = seed},
                 SSA "  R10:32 = mov.b32 %ctaid.x\n"
                     "  R11:32 = mov.b32 %ctaid.y\n"
                     "  R12:32 = mov.b32 %tid.y\n"
                     "  R13:32 = mad.lo.u32 R11, 2, R10\n"
                     "  R14:32 = mad.lo.u32 R13, 3, R12\n"
                     "  R15:32 = mad.lo.u32 R14, 4, R2\n"
                     "  R16:64 = mul.wide.u32 R15, 4\n"
                     "  R17:64 = add.s64 R0, R16\n"
                     "  st.global.b32 [R17], R15\n" END);
        CHECK(rig_launch(&r, (Dim){2, 2, 1}, (Dim){4, 3, 1}));
        for (uint32_t k = 0; k < 48; k++)
            wrote(&r, 4 * k, (Dim){k / 12 % 2, k / 24, 0}, (Dim){k % 4, k / 4 % 3, 0}, "st.global.b32");
        rig_close(&r);
    }
}

// Buffers and their writers outlive launches.
TEST(writers_of_several_launches)
{
    Rig r;
    rig_open(&r, noting,
             SSA "  R10:32 = mov.b32 %ntid.x\n"
                 "  R11:64 = mul.wide.u32 R10, 4\n"
                 "  R12:64 = add.s64 R0, R11\n"
                 "  st.global.b32 [R12], R10\n" END);
    CHECK(rig_launch(&r, (Dim){1, 1, 1}, (Dim){5, 1, 1}));
    CHECK(rig_launch(&r, (Dim){2, 1, 1}, (Dim){1, 2, 3}));
    wrote(&r, 20, pointer, (Dim){4, 0, 0}, "st.global.b32");
    wrote(&r, 4, (Dim){1, 0, 0}, (Dim){0, 1, 2}, "st.global.b32");
    rig_close(&r);
}

// A called function writes a variable; the variable is made new.
TEST(writers_of_variables)
{
    Rig r;
    const Fn *fn;
    Dim block, thread;
    rig_run(&r, noting,
            MODULE "global @g: 32 = 7\n"
                   "device @put(@n: 32) form ssa {\n"
                   "b0:\n"
                   "  R0:32 = ld.param.b32 [@n]\n"
                   "  st.global.b32 [@g], R0\n"
                   "  ret\n"
                   "}\n" KERNEL("ssa") "  param @x: 32\n"
                                       "b0:\n" START "  st.param.b32 [@x], R6  #1\n"
                                       "  call @put, (@x)  #1\n" END);
    uint64_t address =
        machine_symbol(r.machine, module_find(r.module, (Name){str_intern_z(&r.module->tables.strs, "g"), NO_NUMBER}));
    CHECK(machine_writer(r.machine, address + 3, &block, &thread));
    CHECK_EQ(thread.x, 31);
    CHECK(machine_store(r.machine, address, &fn));
    CHECK(fn == r.module->fns.at[0]);
    machine_reset(r.machine);
    CHECK(!machine_writer(r.machine, address, &block, &thread));
    rig_close(&r);
}

TEST(writers_are_noted_on_request)
{
    Rig r;
    Dim block, thread;
    rig_run(&r, plain, SSA SAY(0, "R6") END);
    CHECK(!machine_writer(r.machine, r.address[0], &block, &thread));
    CHECK(!machine_writer(r.machine, 0, &block, &thread));
    CHECK_EQ(machine_steps(r.machine), 9);
    rig_close(&r);
}

void test_machine(void)
{
    RUN(phi_behind_divergent_arms);
    RUN(phi_behind_a_critical_edge);
    RUN(phi_behind_two_edges_from_one_block);
    RUN(phi_lost_copy);
    RUN(phi_swap);
    RUN(phi_rotation);
    RUN(phi_chain);
    RUN(phi_behind_a_switch);
    RUN(phi_behind_an_exit);
    RUN(phi_of_nested_loops);
    RUN(tied_values);
    RUN(tied_values_of_vectors);
    RUN(tied_value_of_a_shuffle);
    RUN(tied_value_of_a_call);
    RUN(undef_is_fixed);
    RUN(undef_is_reported_when_read);
    RUN(phi_behind_a_return);
    RUN(calls_in_ssa_form);
    RUN(named_register_in_ssa_form);
    RUN(writers_of_bytes);
    RUN(writers_in_a_grid);
    RUN(writers_of_several_launches);
    RUN(writers_of_variables);
    RUN(writers_are_noted_on_request);
}
