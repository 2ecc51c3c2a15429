// SPDX-License-Identifier: MIT
// Tests the runner of bundles and the costs of GeneralOptimizeMid.
#include <stdio.h>

#include "phases/bundles/bundle.h"
#include "tests/unit/kernel.h"

/* -- Rounds --------------------------------------------------------------------------------------------- */

enum { ROW_NOP = 158 };

static const uint8_t *rows;
static size_t nrows;

static bool run_rows(Phase *phase, Fn *fn) { return bundle_round(phase->ctx, fn, rows, nrows); }

// A phase that is no bundle. It repeats the first instruction.
static bool repeat_first(Phase *phase, Fn *fn)
{
    InstrId first = ir_block(fn, fn->first)->first;
    Operand ops[2] = {def(fn, reg_new(fn, RF_R, W32)), *ir_use(fn, ir_instr(fn, first), 0)};
    ir_insert_before(fn, first, ir_instr(fn, first)->desc, 0, ops, 2);
    return (void)phase, true;
}

// Runs a body; returns progress.
static bool run_body(Kernel *k, bool (*body)(Phase *, Fn *))
{
    static char why[500];
    static PhaseVtable vtable;
    uint32_t before = k->ctx.progress[ROW_NOP];
    vtable = *k->ctx.phases[ROW_NOP].vtable;
    vtable.execute = body;
    k->ctx.phases[ROW_NOP].vtable = &vtable;
    k->ctx.options =
        (PhaseOptions){.level = 3, .named = "NOP", .stay_in_ssa = true, .contracts = true, .verify = VM_EACH};
    CHECK(phase_plan(&k->ctx, k->module, why));
    phase_run(&k->ctx, &k->fn);
    return k->ctx.progress[ROW_NOP] > before;
}

// Runs a bundle of n sub-passes; returns progress.
static bool round_of(Kernel *k, const uint8_t *sub_passes, size_t n)
{
    rows = sub_passes;
    nrows = n;
    return run_body(k, run_rows);
}

static bool clean(Kernel *k)
{
    static const uint8_t cleanups[] = {PH_FOLD, PH_COPY_PROP, PH_SIMPLE_LIVE_DEAD};
    return round_of(k, cleanups, ARRAY_LEN(cleanups));
}

static bool fold_and_copy(Kernel *k)
{
    static const uint8_t two[] = {PH_FOLD, PH_COPY_PROP};
    return round_of(k, two, ARRAY_LEN(two));
}

// Checks how often the sub-passes have run.
static void check_runs(const Kernel *k, uint32_t fold, uint32_t copies, uint32_t dead, int line)
{
    const uint32_t *runs = k->ctx.runs;
    unit_check_eq(runs[PH_FOLD], fold, __FILE__, line, "runs of folding");
    unit_check_eq(runs[PH_COPY_PROP], copies, __FILE__, line, "runs of copy propagation");
    unit_check_eq(runs[PH_SIMPLE_LIVE_DEAD], dead, __FILE__, line, "runs of dead code removal");
}
#define RUNS(fold, copies, dead) check_runs(&k, fold, copies, dead, __LINE__)

TEST(bundle_settles)
{
    Kernel k;
    kernel_open(&k, "ssa",
                "b0:\n  R1:32 = mov.b32 %tid.x\n  R2:32 = mov.b32 R1\n  R3:32 = add.s32 R2, 0\n"
                "  st.global.b32 [16], R3\n  ret\n");
    // Folding makes a move, copy propagation forwards it, and dead code removal removes it.
    CHECK(clean(&k));
    RUNS(1, 1, 1);
    CHECK_Z(kernel_body(&k), "b0:\n  R1:32 = mov.b32 %tid.x\n  st.global.b32 [16], R1\n  ret\n}\n");
    CHECK(!clean(&k));
    RUNS(1, 1, 1);
    // A change by a phase outside of bundles unsettles all.
    CHECK(run_body(&k, repeat_first));
    CHECK(!clean(&k));  // NOP keeps PROP_NO_DEAD
    RUNS(2, 2, 2);
    kernel_close(&k);
}

// Folding runs again after dead code removal if a pattern wants a single use.
TEST(bundle_after_dead_uses)
{
    static const char head[] = "b0:\n  R1:32 = mov.b32 %tid.x\n  R2:32 = mul.lo.s32 R1, R1\n",
                      tail[] = "  st.global.b32 [16], R3\n  ret\n";
    static const struct {
        const char *dead, *live;
        uint32_t runs;
    } cases[] = {
        {"  R4:32 = add.s32 R2, 5\n", "  R3:32 = add.s32 R2, R1\n", 2},                           // mad
        {"  R4:32 = add.s32 R2, 5\n", "  R3:32 = xor.b32 R2, R1\n", 1},                           // no pattern
        {"  R4:32 = add.s32 R2, 5\n  R5:32 = add.s32 R2, 7\n", "  R3:32 = add.s32 R2, R1\n", 2},  // two of three
        {"  R4:32 = add.s32 R2, 5\n",
         "  R5:32 = xor.b32 R2, 7\n  R6:32 = xor.b32 R2, R5\n"
         "  R3:32 = add.s32 R6, R1\n",
         1},  // two uses are left
    };
    for (size_t c = 0; c < ARRAY_LEN(cases); c++) {
        char text[500];
        Kernel k;
        unit_context("case %zu", c);
        snprintf(text, sizeof text, "%s%s%s%s", head, cases[c].dead, cases[c].live, tail);
        kernel_open(&k, "ssa", text);
        CHECK(clean(&k));
        clean(&k);
        CHECK_EQ(k.ctx.runs[PH_FOLD], cases[c].runs);
        kernel_close(&k);
    }
}

// OriSimplifyPredicates runs again if folding changed a comparison, a select, a predicate or a guard.
TEST(bundle_after_folded_conditions)
{
    static const char head[] = "b0:\n  R1:32 = mov.b32 %tid.x\n  P1 = setp.lt.s32 R1, 5\n";
    static const uint8_t fold[] = {PH_FOLD};
    static const struct {
        const char *body;
        bool runs;
    } cases[] = {
        {"  R2:32 = mul.lo.s32 R1, 8\n  @P1 st.global.b32 [16], R2\n  ret\n", false},
        {"  R2:64 = mov.b64 16\n  R3:64 = add.s64 R2, 4\n  @P1 st.global.b32 [R3], R1\n  ret\n", false},
        {"  P2 = setp.lt.s32 R1, R1\n  @P2 st.global.b32 [16], R1\n  @P1 st.global.b32 [20], R1\n  ret\n", true},
        {"  R2:32 = selp.b32 R1, R1, P1\n  st.global.b32 [16], R2\n  ret\n", true},
        {"  P2 = and.pred P1, P1\n  @P2 st.global.b32 [16], R1\n  ret\n", true},
        {"  P2 = mov.pred 0\n  @P2 st.global.b32 [16], R1\n  @P1 st.global.b32 [20], R1\n  ret\n", true},
    };
    for (size_t c = 0; c < ARRAY_LEN(cases); c++) {
        char text[500];
        Kernel k;
        unit_context("case %zu", c);
        snprintf(text, sizeof text, "%s%s", head, cases[c].body);
        kernel_open(&k, "ssa", text);
        k.fn->settled = UINT32_MAX;
        bundle_unsettle(k.fn, PH_FOLD);
        CHECK(round_of(&k, fold, 1));
        CHECK_EQ(!bundle_is_settled(k.fn, PH_SIMPLIFY_PREDICATES), cases[c].runs);
        kernel_close(&k);
    }
}

TEST(bundle_after_plain_moves)
{
    Kernel k;
    kernel_open(&k, "ssa", "b0:\n  R1:32 = mov.b32 %tid.x\n  R2:32 = mov.b32 R1\n  st.global.b32 [16], R2\n  ret\n");
    CHECK(fold_and_copy(&k));
    RUNS(1, 1, 0);
    // Folding looks through moves, so the source of a plain move is nothing new. Commoning does not.
    CHECK(!fold_and_copy(&k));
    RUNS(1, 1, 0);
    static const uint8_t common[] = {PH_COMMONING};
    CHECK(!round_of(&k, common, 1));
    CHECK_EQ(k.ctx.runs[PH_COMMONING], 1);
    kernel_close(&k);
}

TEST(bundle_after_other_copies)
{
    Kernel k;
    kernel_open(&k, "ssa",
                "b0:\n  R1:32 = mov.b32 %tid.x\n  R2:32 = mov.b32 %ctaid.x\n  R3:64 = mov.b64 {R1, R2}\n"
                "  {R4:32, R5:32} = mov.b64 R3\n  st.global.b32 [16], R5\n  ret\n");
    CHECK(fold_and_copy(&k));
    RUNS(1, 1, 0);
    CHECK(!fold_and_copy(&k));
    RUNS(2, 1, 0);  // taking a packed value apart is no move
    kernel_close(&k);
}

/* -- Numbers of uses ------------------------------------------------------------------------------------ */

TEST(nuses_kept)
{
    Kernel k;
    char why[200];
    kernel_open(&k, "ssa", "b0:\n  R1:32 = mov.b32 %tid.x\n  R2:32 = mov.b32 R1\n  st.global.b32 [16], R2\n  ret\n");
    const Analyses *a = analysis_need(k.fn, AN_NUSES);
    CHECK_EQ(a->valid, AN_NUSES);
    InstrId mov = ir_instr(k.fn, ir_block(k.fn, k.fn->first)->first)->next;
    Operand *source = ir_use(k.fn, ir_instr(k.fn, mov), 0);
    RegId r1 = op_index(*source), r2 = op_index(*ir_def(k.fn, ir_instr(k.fn, mov), 0));
    CHECK(nuses_of(a, r1) == 1 && nuses_of(a, r2) == 1 && nuses_of(a, 1000) == 0);
    nuses_count(k.fn, *source, -1);
    CHECK(!analysis_check(k.fn, AN_NUSES, why));
    CHECK_Z(why, "NUSES was kept but is out of date: R1 has 1 use, not 0");
    *source = op_const(k.fn, 7, W32);
    CHECK(analysis_check(k.fn, AN_NUSES, why));
    nuses_count_instr(k.fn, ir_instr(k.fn, mov), 1);  // no register
    // Registers that are newer than the counts.
    RegId r3 = reg_new(k.fn, RF_R, W32), r4 = reg_new(k.fn, RF_R, W32);
    CHECK(nuses_of(a, r3) == 0 && analysis_check(k.fn, AN_NUSES, why));
    *ir_use(k.fn, ir_instr(k.fn, mov), 0) = use(k.fn, r4);
    nuses_count_instr(k.fn, ir_instr(k.fn, mov), 1);
    CHECK(nuses_of(a, r3) == 0 && nuses_of(a, r4) == 1 && analysis_check(k.fn, AN_NUSES, why));
    *ir_use(k.fn, ir_instr(k.fn, mov), 0) = use(k.fn, r1);
    analysis_drop(k.fn, 0);
    nuses_count(k.fn, use(k.fn, r1), 1);  // nothing is valid
    CHECK_EQ(nuses_of(analysis_need(k.fn, AN_NUSES), r1), 1);
    kernel_close(&k);
}

/* -- Costs of GeneralOptimizeMid ------------------------------------------------------------------------ */

#define HEAD "b0:\n  R1:32 = mov.b32 %tid.x\n  R2:32 = mov.b32 %ctaid.x\n"
#define TAIL "  ret\n"
#define USE(reg) "  st.global.b32 [16], " reg "\n"

// Costs of the first round in which the sub-passes make progress.
static const struct {
    const char *name, *body;
    double weighted, total, count;
} weights[] = {
    {"nothing to rewrite", HEAD USE("R1") USE("R2"), 0, 0, 0},
    {"a sum, and the store that then reads its source", HEAD "  R3:32 = add.s32 R1, 0\n" USE("R3"), 2, 2, 2},
    {"a dead sum", HEAD "  R3:32 = add.s32 R1, 0\n", 0, 0, 1},
    {"a sum of a dead sum", HEAD "  R3:32 = add.s32 R1, 0\n  R4:32 = sub.s32 R3, 0\n", 1, 1, 2},
    {"a dead exempt instruction", HEAD "  R3:32 = lop3.b32 R1, R1, R1, 240\n", 0, 0, 1},
    {"an exempt instruction, and the store", HEAD "  R3:32 = lop3.b32 R1, R1, R1, 240\n" USE("R3"), 1.25, 2, 2},
    {"an exempt one with four uses",
     HEAD "  R3:32 = lop3.b32 R1, R1, R1, 240\n" USE("R3") USE("R3") USE("R3") USE("R3"), 4.25, 5, 5},
    {"an exempt one with five uses",
     HEAD "  R3:32 = lop3.b32 R1, R1, R1, 240\n" USE("R3") USE("R3") USE("R3") USE("R3") USE("R3"), 6, 6, 6},
    {"a guarded exempt instruction keeps its old value alive",
     HEAD "  P1 = setp.eq.s32 R1, 3\n  @P1 R3:32 = lop3.b32 R1, R1, R1, 240 else R2\n" USE("R3"), .25, 1, 1},
    {"a store of a vector, which has no uses", HEAD "  R3:32 = mov.b32 R1\n  st.global.v2.b32 [16], {R3, R2}\n", .25, 1,
     1},
};

static void run_mid(Kernel *k, const char *body)
{
    static char why[500];
    kernel_open(k, "ssa", body);
    k->ctx.options = (PhaseOptions){.level = 3,
                                    .named = "GeneralOptimizeMid",
                                    .stay_in_ssa = true,
                                    .stats = true,
                                    .contracts = true,
                                    .verify = VM_EACH};
    CHECK(phase_plan(&k->ctx, k->module, why));
    phase_run(&k->ctx, &k->fn);
}

TEST(costs_of_rewrites)
{
    for (size_t n = 0; n < ARRAY_LEN(weights); n++) {
        Kernel k;
        char body[1000];
        unit_context("%s", weights[n].name);
        snprintf(body, sizeof body, "%s%s", weights[n].body, TAIL);
        run_mid(&k, body);
        const MidCosts *costs = &k.ctx.stats.at[0].costs;
        CHECK_EQ(100 * costs->weighted, 100 * weights[n].weighted);
        CHECK_EQ(costs->total, weights[n].total);
        CHECK_EQ(costs->count, weights[n].count);
        CHECK_EQ(costs->rounds, weights[n].count != 0);
        kernel_close(&k);
    }
}

// Each variable is indexed by a value in the one before it.
TEST(costs_rounds)
{
    enum { ROUNDS_MAX = 16, FEW = 6, MANY = 60 };
    static const uint32_t numbers[] = {FEW, MANY};
    static char body[30000];
    for (size_t n = 0; n < ARRAY_LEN(numbers); n++) {
        size_t len = 0;
        uint32_t variables = numbers[n];
        unit_context("%u variables", variables);
#define ADD(...) len += (size_t)snprintf(body + len, sizeof body - len, __VA_ARGS__)
        len = 0;
        ADD("  local @i align 4 size 4\n");
        for (uint32_t v = 0; v < variables; v++)
            ADD("  local @a%u align 16 size 16\n", v);
        ADD("%s  st.local.b32 [@i], 1\n", HEAD);
        for (uint32_t v = 0; v < variables; v++)
            ADD("  st.local.b32 [@a%u], R1\n  st.local.b32 [@a%u+4], %u\n", v, v, 1 + v % 2);
        ADD("  R3:32 = ld.local.b32 [@i]\n");
        for (uint32_t v = 0, r = 4; v < variables; v++, r += 4)
            ADD("  R%u:64 = mov.b64 @a%u\n  R%u:64 = mad.wide.s32 R%u, 4, R%u\n  R%u:32 = ld.local.b32 [R%u]\n"
                "  R%u:32 = add.s32 R%u, %d\n",
                r, v, r + 1, r - 1, r, r + 2, r + 1, r + 3, r + 2, v % 2 ? -1 : 0);
        ADD(USE("R%u") TAIL, 4 * variables + 3);
#undef ADD
        Kernel k;
        run_mid(&k, body);
        bool all = k.ctx.stats.at[0].costs.rounds < ROUNDS_MAX;
        CHECK_EQ(all, variables == FEW);
        CHECK_EQ(k.ctx.stats.at[0].costs.rounds <= ROUNDS_MAX, true);
        CHECK_EQ(strstr(kernel_body(&k), "local") == NULL, all);
        kernel_close(&k);
    }
}

/* -- Exempt instructions -------------------------------------------------------------------------------- */

static const struct {
    const char *mnemonic, *shape;
    bool exempt;
} forms[] = {
    {"set.lt.f16x2.f16x2", "%,%,%", true},
    {"set.lt.u32.f32", "%,%,%", false},
    {"lop3.b32", "%,%,%,%,%", true},
    {"and.b32", "%,%,%", false},
    {"prmt.b32", "%,%,%,%", true},
    {"shf.l.wrap.b32", "%,%,%,%", true},
    {"shf.r.clamp.b32", "%,%,%,%", true},
    {"shl.b32", "%,%,%", false},
    {"ld.local.b32", "%,[&]", true},
    {"ld.global.b32", "%,[&]", false},
    {"ld.global.v2.b32", "{%,%},[&]", true},
    {"st.local.b32", "[&],%", false},
    {"st.global.v4.b32", "[&],{%,%,%,%}", true},
};

TEST(costs_exempt)
{
    Fixture f;
    fixture_open(&f);
    for (size_t k = 0; k < ARRAY_LEN(forms); k++) {
        unit_context("%s", forms[k].mnemonic);
        DescId d = desc_parse(f.fn->tables, forms[k].mnemonic, forms[k].shape);
        CHECK_EQ((tab_desc(f.fn->tables, d)->traits & TR_EXEMPT) != 0, forms[k].exempt);
    }
    fixture_close(&f);
}

/* -- Constraints of sources ----------------------------------------------------------------------------- */

static uint32_t refuse(const Fn *fn, const Instr *i) { return (void)fn, ir_desc(fn, i)->op == OP_LOP3; }

static uint32_t no_bytes(const Fn *fn, const Instr *i) { return (void)fn, (void)i, 0; }

// Folding asks the backend for further conditions (query 117) and for the size of operands (query 113), in a bundle
// too.
TEST(fold_by_queries)
{
    static const struct {
        const char *phase;
        SmFoldInfo *fold_info;
        SmBytes *operand_bytes;
        bool folds;
    } cases[] = {
        {"OriFold", sm_shared_fold_info, sm_shared_operand_bytes, true},
        {"OriFold", refuse, sm_shared_operand_bytes, false},
        {"OriFold", sm_shared_fold_info, no_bytes, false},
        {"GeneralOptimizeMid", sm_shared_fold_info, sm_shared_operand_bytes, true},
        {"GeneralOptimizeMid", refuse, sm_shared_operand_bytes, false},
        {"GeneralOptimizeMid", sm_shared_fold_info, no_bytes, false},
    };
    for (size_t n = 0; n < ARRAY_LEN(cases); n++) {
        Kernel k;
        SmBackend own = sm_90;
        static char why[500];
        unit_context("case %zu", n);
        kernel_open(&k, "ssa", HEAD "  R3:32 = lop3.b32 R1, R1, R1, 240\n" USE("R3") TAIL);
        own.fold_info = cases[n].fold_info;
        own.operand_bytes = cases[n].operand_bytes;
        k.ctx.options = (PhaseOptions){.level = 3, .named = cases[n].phase, .stay_in_ssa = true};
        k.ctx.options.target = (SmTarget){&own, own.profile.encoded};
        CHECK(phase_plan(&k.ctx, k.module, why));
        phase_run(&k.ctx, &k.fn);
        CHECK_EQ(k.ctx.progress[PH_FOLD] > 0, cases[n].folds);
        CHECK_EQ(strstr(kernel_body(&k), "lop3") == NULL, cases[n].folds);
        kernel_close(&k);
    }
}

static bool marks(const Fn *fn) { return (void)fn, true; }

// A backend that marks comparisons has them replaced where they are known under their own guard.
TEST(simplify_by_query)
{
    for (int by_guard = 0; by_guard < 2; by_guard++) {
        Kernel k;
        SmBackend own = sm_90;
        static char why[500];
        kernel_open(&k, "ssa",
                    "b0:\n  R1:32 = mov.b32 %ntid.x\n  R2:32 = mov.b32 %ctaid.x\n  P0 = setp.lt.s32 R1, R2\n"
                    "  P1 = setp.eq.s32 R1, 5\n  @P0 P2 = setp.ge.s32 R1, R2 else P1\n"
                    "  @P2 st.global.b32 [16], R1\n  ret\n");
        own.marks_predicates = by_guard ? marks : sm_shared_marks_predicates;
        k.ctx.options = (PhaseOptions){.level = 3, .named = "OriSimplifyPredicates", .stay_in_ssa = true};
        k.ctx.options.target = (SmTarget){&own, own.profile.encoded};
        CHECK(phase_plan(&k.ctx, k.module, why));
        phase_run(&k.ctx, &k.fn);
        CHECK_EQ(k.ctx.progress[PH_SIMPLIFY_PREDICATES], by_guard);
        CHECK_EQ(strstr(kernel_body(&k), "@P0 P2 = mov.pred 0 else P1") != NULL, by_guard);
        CHECK(!strchr(kernel_body(&k), '{'));  // no marks are left
        kernel_close(&k);
    }
}

void test_bundles(void)
{
    RUN(bundle_settles);
    RUN(bundle_after_dead_uses);
    RUN(bundle_after_folded_conditions);
    RUN(bundle_after_plain_moves);
    RUN(bundle_after_other_copies);
    RUN(nuses_kept);
    RUN(costs_of_rewrites);
    RUN(costs_rounds);
    RUN(costs_exempt);
    RUN(fold_by_queries);
    RUN(simplify_by_query);
}
