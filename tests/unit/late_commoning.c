// SPDX-License-Identifier: MIT
// Tests the classes and masks of LateOriCommoning, that it does not repeat what GvnCse and OriReassociateAndCommon have
// done, and what it tells later phases.
#include <stdio.h>

#include "phases/bundles/bundle.h"
#include "phases/redundancy/redundancy.h"
#include "tests/unit/kernel.h"

static SmBackend own;

static void open(Kernel *k, const char *body)
{
    own = sm_80;
    kernel_open(k, "ssa", body);
    k->ctx.options = (PhaseOptions){.level = 3, .stay_in_ssa = true, .contracts = true, .verify = VM_EACH};
    k->ctx.options.target = k->ctx.target = (SmTarget){&own, own.profile.encoded};
}

// Opens case `c` of a table, whose kernels have the same start.
static void open_case(Kernel *k, size_t c, const char *head, const char *body)
{
    char text[1000];
    unit_context("case %zu", c);
    snprintf(text, sizeof text, "%s%s", head, body);
    open(k, text);
}

// Runs phases by name; returns the progress of the last one, which has this row.
static bool run(Kernel *k, const char *phases, int row)
{
    char why[500];
    uint32_t before = k->ctx.progress[row];
    k->ctx.options.named = phases;
    if (!CHECK(phase_plan(&k->ctx, k->module, why)))
        CHECK_Z(why, "");
    phase_run(&k->ctx, &k->fn);
    return k->ctx.progress[row] > before;
}

static bool run_late(Kernel *k) { return run(k, "LateOriCommoning", 64); }

/* -- Classes -------------------------------------------------------------------------------------------- */

enum { PURE = 1 << 0, LOAD = 0x200001, UNIFORM = 1 << 25, PLAIN = 1 << 27, VARIES = 1 << 28, OFFSET = 1 << 29 };
enum { SHARED = 1 << 20, LOCAL = 2 << 20, OTHER = 3 << 20 };
#define GUARDED ((uint64_t)1 << 32)

// A query of the backend: bit 40 for additions.
static uint64_t add_bit_40(const Fn *fn, const Instr *i) { return (uint64_t)(ir_desc(fn, i)->op == OP_ADD) << 40; }

// Another one: bit 41 for all instructions with two operands.
static uint64_t add_bit_41(const Fn *fn, const Instr *i) { return (void)fn, (uint64_t)(i->nops == 2) << 41; }

static void check_classes(Kernel *k, const uint64_t *classes, size_t n)
{
    size_t at = 0;
    FOR_INSTRS(k->fn, k->fn->first, id) {
        unit_context("instruction %zu", at);
        if (at < n)
            CHECK_EQ(late_commoning_classes(&k->ctx, k->fn, ir_instr(k->fn, id)), classes[at]);
        at++;
    }
    CHECK_EQ(at, n);
}

TEST(late_commoning_classes_of_instructions)
{
    static const char body[] = "  shared @s size 16\n  local @l size 16\n"
                               "b0:\n  R1:64 = mov.b64 64\n  R2:32 = add.s32 1, 2\n"
                               "  R3:32 = ld.global.b32 [R1+4]\n  R4:32 = ld.global.b32 [R1]\n"
                               "  R5:32 = ld.shared.b32 [@s]\n  R6:32 = ld.shared.b32 [@s+4]\n"
                               "  R7:32 = ld.local.b32 [@l]\n  R8:32 = ld.const.b32 [R1]\n  R9:32 = ld.b32 [R1]\n"
                               "  R10:32 = ld.volatile.global.b32 [R1]\n  UR1:32 = mov.b32 %ctaid.x\n"
                               "  P0 = setp.eq.s32 R2, 3\n  @P0 R11:32 = add.s32 R2, R3 else R4\n"
                               "  @P0 R12:32 = ld.global.b32 [R1] else R4\n  st.global.b32 [R1+8], R2\n"
                               "  bar.sync 0\n  R13:32 = ldu.global.b32 [R1]\n  ret\n";
    static const uint64_t classes[] = {
        PURE,
        PURE,
        LOAD | PLAIN | VARIES | OFFSET,
        LOAD | PLAIN | VARIES,
        LOAD | SHARED | PLAIN,
        LOAD | SHARED | PLAIN | OFFSET,
        LOAD | LOCAL | PLAIN,
        LOAD | OTHER | PLAIN | VARIES,
        LOAD | OTHER | PLAIN | VARIES,
        LOAD | VARIES,
        PURE | UNIFORM,
        PURE,
        PURE | GUARDED,
        LOAD | PLAIN | VARIES | GUARDED,
        0,
        0,
        LOAD | PLAIN | VARIES,
        0,
    };
    Kernel k;
    open(&k, body);
    check_classes(&k, classes, ARRAY_LEN(classes));
    kernel_close(&k);
}

TEST(late_commoning_classes_of_queries)
{
    static const uint64_t add = (uint64_t)1 << 40, two = (uint64_t)1 << 41;
    const uint64_t classes[] = {PURE | two, PURE | add, 0};
    Kernel k;
    open(&k, "b0:\n  R1:64 = mov.b64 64\n  R2:32 = add.s32 1, 2\n  ret\n");
    own.class_mask = add_bit_40;
    own.class_mask_more = add_bit_41;
    check_classes(&k, classes, ARRAY_LEN(classes));
    kernel_close(&k);
}

/* -- Masks ---------------------------------------------------------------------------------------------- */

static BlockId special;

// Bit 40 for the instructions of one block.
static uint64_t mark_block(const Fn *fn, const Instr *i) { return (void)fn, (uint64_t)(i->block == special) << 40; }

// Two divisions in b0 and b2, with b1 between. The second has a class of its own.
static const char three_blocks[] = "b0:\n  R1:32 = mov.b32 %tid.x\n  R2:32 = div.u32 R1, 7\n  bra b1\n"
                                   "b1:\n  st.global.b32 [16], R2\n  bra b2\n"
                                   "b2:\n  R3:32 = div.u32 R1, 7\n  st.global.b32 [20], R3\n  ret\n";

// Commons the three blocks; the instructions of the n-th block have bit 40. Returns progress.
static bool common_with_class_in(const char *body, uint32_t n)
{
    Kernel k;
    open(&k, body);
    special = n ? k.fn->first : 0;
    for (uint32_t at = 1; at < n; at++)
        special = ir_block(k.fn, special)->next;
    own.class_mask = mark_block;
    bool progress = run_late(&k);
    kernel_close(&k);
    return progress;
}

TEST(late_commoning_masks)
{
    CHECK(common_with_class_in(three_blocks, 0));
    CHECK(common_with_class_in(three_blocks, 1));
    CHECK(common_with_class_in(three_blocks, 2));
    CHECK(!common_with_class_in(three_blocks, 3));  // the blocks that dominate b2 lack the class
}

// The mask of b1, where the leader is, has the classes of b0, but not those of its sibling b2.
TEST(late_commoning_masks_of_dominators)
{
    static const char *const offsets[] = {"R9:32 = ld.global.b32 [R7]", "R9:32 = ld.global.b32 [R7+16]"};
    for (size_t at = 0; at < ARRAY_LEN(offsets); at++) {
        char text[800];
        snprintf(text, sizeof text,
                 "b0:\n  R1:32 = mov.b32 %%tid.x\n  P0 = setp.eq.s32 R1, 0\n  R7:64 = cvt.u64.u32 R1\n"
                 "  R8:64 = add.s64 R7, 4\n  %s\n  @P0 bra b1 else b2\n"
                 "b1:\n  R2:32 = ld.global.b32 [R8]\n  bra b3\n"
                 "b2:\n  R3:32 = ld.global.b32 [R7+32]\n  ret\n"
                 "b3:\n  R4:32 = ld.global.b32 [R7+4]\n  R5:32 = add.s32 R4, R2\n  st.global.b32 [16], R5\n  ret\n",
                 offsets[at]);
        CHECK_EQ(common_with_class_in(text, 0), at == 1);
    }
}

// A mask with all classes permits nothing that value numbers do not.
static uint64_t all_classes(const Fn *fn, const Instr *i) { return (void)fn, (void)i, UINT64_MAX; }

TEST(late_commoning_masks_only_reject)
{
    Kernel k;
    open(&k, "b0:\n  R1:32 = mov.b32 %tid.x\n  R2:32 = div.u32 R1, 7\n  bra b1\n"
             "b1:\n  R3:32 = div.u32 R1, 9\n  R4:32 = div.s32 R1, 7\n  R5:32 = add.s32 R2, R3\n"
             "  R6:32 = add.s32 R4, R5\n  st.global.b32 [20], R6\n  ret\n");
    own.class_mask = all_classes;
    CHECK(!run_late(&k));
    kernel_close(&k);
}

/* -- After slot 50 -------------------------------------------------------------------------------------- */

static const char repeated[] = "b0:\n  R1:32 = mov.b32 %tid.x\n  R2:32 = xor.b32 R1, 5\n  R3:32 = xor.b32 R1, 5\n"
                               "  st.global.b32 [16], R2\n  st.global.b32 [20], R3\n  ret\n";

// Repeats the first instruction of the function.
static void repeat_first(Fn *fn)
{
    InstrId first = ir_block(fn, fn->first)->first;
    Operand ops[2] = {def(fn, reg_new(fn, RF_R, W32)), *ir_use(fn, ir_instr(fn, first), 0)};
    ir_insert_before(fn, first, ir_instr(fn, first)->desc, 0, ops, 2);
}

static bool run_repeat(Phase *phase, Fn *fn) { return (void)phase, repeat_first(fn), true; }

// Runs NOP with another body, as a phase that changes the function.
static bool change(Kernel *k)
{
    static PhaseVtable vtable;
    const PhaseVtable *nop = k->ctx.phases[158].vtable;
    vtable = *nop;
    vtable.execute = run_repeat;
    k->ctx.phases[158].vtable = &vtable;
    bool progress = run(k, "NOP", 158);
    k->ctx.phases[158].vtable = nop;
    return progress;
}

TEST(late_commoning_after_50)
{
    Kernel k;
    open(&k, repeated);
    CHECK(run(&k, "OriReassociateAndCommon", 50));
    CHECK(bundle_is_settled(k.fn, PH_LATE_COMMONING));
    // A change that no phase has made: it shows that the phase does not run.
    repeat_first(k.fn);
    analysis_drop(k.fn, 0);
    CHECK(!run_late(&k));
    CHECK(bundle_is_settled(k.fn, PH_LATE_COMMONING));
    CHECK(change(&k));
    CHECK(!bundle_is_settled(k.fn, PH_LATE_COMMONING));
    CHECK(run_late(&k));
    CHECK(bundle_is_settled(k.fn, PH_LATE_COMMONING));
    CHECK(!run_late(&k));
    kernel_close(&k);
}

// On backends with GvnCse, slot 50 commons in a window only.
TEST(late_commoning_after_50_with_gvn)
{
    Kernel k;
    open(&k, repeated);
    own = sm_70;
    CHECK(!run(&k, "OriReassociateAndCommon", 50));
    CHECK(!bundle_is_settled(k.fn, PH_LATE_COMMONING));
    CHECK(run_late(&k));
    kernel_close(&k);
}

/* -- After slot 49 -------------------------------------------------------------------------------------- */

// In mode 2 GvnCse settles slot 64 if nothing is left for it: no redundant load or phi, no instruction that only slot
// 64 takes.
TEST(late_commoning_after_49)
{
    static const char head[] = "b0:\n  R1:32 = mov.b32 %tid.x\n  R9:64 = cvt.u64.u32 R1\n";
    static const struct {
        const char *body;
        bool settled;
    } cases[] = {
        {"  R2:32 = xor.b32 R1, 5\n  R3:32 = xor.b32 R1, 5\n  st.global.b32 [16], R2\n  st.global.b32 [20], R3\n  "
         "ret\n",
         true},
        {"  R2:32 = ld.global.b32 [R9]\n  R3:32 = ld.global.b32 [R9+4]\n  st.global.b32 [16], R2\n"
         "  st.global.b32 [20], R3\n  ret\n",
         true},
        {"  R2:32 = ld.global.b32 [R9]\n  R3:32 = ld.global.b32 [R9]\n  st.global.b32 [16], R2\n"
         "  st.global.b32 [20], R3\n  ret\n",
         false},
        {"  st.global.b32 [R9], R1\n  R3:32 = ld.global.b8 [R9]\n"
         "  st.global.b32 [20], R3\n  ret\n",
         false},
        {"  P1 = setp.eq.s32 R1, 5\n  @P1 bra b1 else b2\nb1:\n  bra b3\nb2:\n  bra b3\n"
         "b3:\n  R2:32 = mov.phi b1: R1, b2: R1\n  st.global.b32 [16], R2\n  ret\n",
         false},
        {"  P1 = setp.eq.s32 R1, 5\n  @P1 bra b1 else b2\nb1:\n  R2:32 = ld.global.b32 [R9]\n"
         "  st.shared.b32 [16], R2\n  bra b3\nb2:\n  bra b3\n"
         "b3:\n  R3:32 = ld.global.b32 [R9]\n  st.global.b32 [16], R3\n  ret\n",
         false},
        // Stored on one way.
        {"  P1 = setp.eq.s32 R1, 5\n  @P1 bra b1 else b2\nb1:\n  st.global.b32 [R9], R1\n  bra b3\nb2:\n  bra b3\n"
         "b3:\n  R3:32 = ld.global.b32 [R9]\n  st.global.b32 [16], R3\n  ret\n",
         false},
        {"  P1 = setp.eq.s32 R1, 5\n  @P1 bra b1 else b2\nb1:\n  st.global.b32 [R9+4], R1\n  bra b3\nb2:\n"
         "  bra b3\nb3:\n  R3:32 = ld.global.b32 [R9]\n  st.global.b32 [16], R3\n  ret\n",
         true},
        {"  P1 = setp.eq.s32 R1, 5\n  @P1 bra b1 else b2\nb1:\n  R2:32 = ld.global.b32 [R9+4]\n"
         "  st.shared.b32 [16], R2\n  bra b3\nb2:\n  bra b3\n"
         "b3:\n  R3:32 = ld.global.b32 [R9]\n  st.global.b32 [16], R3\n  ret\n",
         true},
    };
    for (size_t c = 0; c < ARRAY_LEN(cases); c++) {
        Kernel k;
        open_case(&k, c, head, cases[c].body);
        own = sm_70;
        run(&k, "GvnCse", 49);
        CHECK_EQ(bundle_is_settled(k.fn, PH_LATE_COMMONING), cases[c].settled);
        if (cases[c].settled) {  // slot 64 finds nothing
            bundle_unsettle(k.fn, PH_LATE_COMMONING);
            CHECK(!run_late(&k));
        }
        kernel_close(&k);
    }
}

/* -- Dead code ------------------------------------------------------------------------------------------ */

// The phase keeps the property NO_DEAD only if the replaced instructions leave no dead code.
TEST(late_commoning_keeps_no_dead)
{
    static const char head[] = "  local @x size 4\nb0:\n  R1:32 = mov.b32 %tid.x\n  R2:32 = mov.b32 %ntid.x\n"
                               "  R9:64 = cvt.u64.u32 R1\n  R8:64 = mul.wide.u32 R2, 4\n";
    static const struct {
        const char *body;
        bool keeps, leaves;  // the property; dead code
    } cases[] = {
        // The operands have other uses.
        {"  R3:32 = add.s32 R1, R2\n  R4:32 = add.s32 R2, R1\n  st.global.v2.b32 [R9], {R3, R4}\n"
         "  st.global.b64 [16], R8\n  ret\n",
         true, false},
        // So have those of another block, which has another instruction.
        {"  R3:32 = div.u32 R1, R2\n  st.global.b32 [R9], R3\n  st.global.b64 [16], R8\n  P1 = setp.eq.s32 R1, 5\n"
         "  @P1 bra b1 else b2\nb1:\n  R4:32 = div.u32 R1, R2\n  st.global.b32 [32], R4\n  bra b2\nb2:\n  ret\n",
         true, false},
        // The guard.
        {"  R3:32 = add.s32 R1, R2\n  P0 = setp.eq.s32 R1, 5\n  @P0 R4:32 = add.s32 R1, R2 else undef\n"
         "  st.global.v2.b32 [R9], {R3, R4}\n  st.global.b64 [16], R8\n  ret\n",
         false, true},
        // A variable that is only stored to.
        {"  st.local.b32 [@x], R2\n  R3:32 = ld.local.b32 [@x]\n  st.global.b32 [R9], R3\n"
         "  st.global.b64 [16], R8\n  ret\n",
         false, true},
        // The branch that selects the input of a phi.
        {"  P1 = setp.eq.s32 R1, 5\n  @P1 bra b1 else b2\nb1:\n  bra b3\nb2:\n  bra b3\n"
         "b3:\n  R3:32 = mov.phi b1: R2, b2: R2\n  st.global.b32 [R9], R3\n  st.global.b64 [16], R8\n  ret\n",
         false, true},
    };
    for (size_t c = 0; c < ARRAY_LEN(cases); c++) {
        Kernel k;
        open_case(&k, c, head, cases[c].body);
        run(&k, "OriPerformLiveDeadSecond", 33);
        CHECK(k.fn->properties & PROP_NO_DEAD);
        CHECK(run_late(&k));
        CHECK_EQ(!!(k.fn->properties & PROP_NO_DEAD), cases[c].keeps);
        k.fn->properties &= ~(uint32_t)PROP_NO_DEAD;
        CHECK_EQ(run(&k, "OriPerformLiveDeadThird", 61), cases[c].leaves);
        kernel_close(&k);
    }
}

/* -- Kinds of change ------------------------------------------------------------------------------------ */

// The sub-passes of bundles that have work after equal computations were replaced.
TEST(late_commoning_tells_changes)
{
    static const char head[] = "b0:\n  R1:32 = mov.b32 %tid.x\n  R2:32 = mov.b32 %ntid.x\n";
    static const struct {
        const char *body;
        bool fold, predicates, phis;
    } cases[] = {
        {"  R3:32 = add.s32 R1, R2\n  R4:32 = add.s32 R1, R2\n  st.global.v2.b32 [16], {R3, R4}\n  ret\n", false, false,
         false},
        {"  R3:32 = add.s32 R1, R2\n  R4:32 = add.s32 R1, R2\n  R5:32 = xor.b32 R3, R4\n  st.global.b32 [16], R5\n"
         "  ret\n",
         true, false, false},
        {"  R3:32 = add.s32 R1, R2\n  R4:32 = add.s32 R1, R2\n  P1 = setp.lt.s32 R4, 7\n  @P1 st.global.b32 [16], R3\n"
         "  ret\n",
         false, true, false},
        {"  R3:32 = add.s32 R1, R2\n  R4:32 = add.s32 R1, R2\n  P1 = setp.lt.s32 R4, R1\n  @P1 st.global.b32 [16], R3\n"
         "  ret\n",
         true, true, false},
        {"  R3:32 = mul.lo.s32 R1, R2\n  R4:32 = add.s32 R3, R1\n  R5:32 = add.s32 R3, R1\n"
         "  st.global.v2.b32 [16], {R4, R5}\n  ret\n",
         true, false, false},
        {"  R3:32 = add.s32 R1, R2\n  R4:32 = add.s32 R1, R2\n  P1 = setp.lt.s32 R3, R1\n  @P1 bra b1 else b2\n"
         "b1:\n  bra b3\nb2:\n  bra b3\nb3:\n  R5:32 = mov.phi b1: R4, b2: R1\n  st.global.b32 [16], R5\n  ret\n",
         false, false, true},
        {"  st.global.b32 [16], 5\n  R3:32 = ld.global.b32 [16]\n  R4:32 = add.s32 R3, 7\n  st.global.b32 [32], R4\n"
         "  ret\n",
         true, false, false},
    };
    for (size_t c = 0; c < ARRAY_LEN(cases); c++) {
        Kernel k;
        open_case(&k, c, head, cases[c].body);
        k.fn->settled = UINT32_MAX;
        bundle_unsettle(k.fn, PH_LATE_COMMONING);
        CHECK(run_late(&k));
        CHECK_EQ(!bundle_is_settled(k.fn, PH_FOLD), cases[c].fold);
        CHECK_EQ(!bundle_is_settled(k.fn, PH_SIMPLIFY_PREDICATES), cases[c].predicates);
        CHECK_EQ(!bundle_is_settled(k.fn, PH_EQUAL_PHIS), cases[c].phis);
        kernel_close(&k);
    }
}

void test_late_commoning(void)
{
    RUN(late_commoning_classes_of_instructions);
    RUN(late_commoning_classes_of_queries);
    RUN(late_commoning_masks);
    RUN(late_commoning_masks_of_dominators);
    RUN(late_commoning_masks_only_reject);
    RUN(late_commoning_after_50);
    RUN(late_commoning_after_50_with_gvn);
    RUN(late_commoning_after_49);
    RUN(late_commoning_keeps_no_dead);
    RUN(late_commoning_tells_changes);
}
