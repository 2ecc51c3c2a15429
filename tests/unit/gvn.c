// SPDX-License-Identifier: MIT
// Tests parts of GvnCse: modes, classes of instructions, marks of blocks, register pressure, order of operands.
#include "phases/redundancy/gvn.h"

#include <stdio.h>

#include "tests/unit/kernel.h"

/* -- Modes ---------------------------------------------------------------------------------------------- */

TEST(gvn_modes)
{
    enum { NO = GVN_NONE, B = GVN_SIMPLE, S = GVN_STANDARD, F = GVN_FULL, X = GVN_FULL_EXTENDED };
    // By mode: without bit 6, with it; each without c and with it.
    static const uint8_t bodies[8][4] = {
        {NO, NO, NO, NO}, {B, B, B, B}, {S, S, S, S}, {S, S, S, F},
        {S, S, F, F},     {S, S, X, F}, {S, S, X, F}, {NO, NO, NO, NO},
    };
    for (int mode = 0; mode < 8; mode++)
        for (int k = 0; k < 4; k++) {
            unit_context("mode %d, bit 6 %d, c %d", mode, k >> 1, k & 1);
            CHECK_EQ(gvn_body(mode, k >> 1, k & 1), bodies[mode][k]);
        }
    unit_context("%s", "");
    CHECK_EQ(gvn_body(-1, true, true), GVN_NONE);
    CHECK_EQ(gvn_body(INT64_MAX, true, true), GVN_NONE);
    CHECK_EQ(gvn_body(1LL << 32 | 3, true, true), GVN_NONE);
}

TEST(gvn_default_modes)
{
    static const int64_t modes[SM_BACKEND_COUNT] = {2, 2, 2, 2, 2, 2, 3};
    for (int k = 0; k < SM_BACKEND_COUNT; k++) {
        const SmProfile *p = &sm_backends[k]->profile;
        unit_context("%s", p->name);
        CHECK_EQ(gvn_default_mode(p->caps), modes[k]);
        CHECK_EQ(sm_backends[k]->gvn_cse == phase_gvn_cse, p->number == 60 || p->number == 70 || p->number == 90);
    }
    unit_context("%s", "");
    CHECK_EQ(gvn_default_mode(SM_CAP_ENHANCED_CSE), 2);
    CHECK_EQ(gvn_default_mode(SM_CAP_FULL_SCOPE), 2);
}

/* -- Kernels -------------------------------------------------------------------------------------------- */

// Unknown values: R90 to R93, P90 and P91.
#define HEAD                       \
    "b0:\n"                        \
    "  R90:32 = mov.b32 %clock\n"  \
    "  R91:32 = mov.b32 %clock\n"  \
    "  R92:32 = mov.b32 %clock\n"  \
    "  R93:32 = mov.b32 %clock\n"  \
    "  P90 = setp.lt.s32 R90, 5\n" \
    "  P91 = setp.lt.s32 R91, 5\n"

// Returns the k-th instruction of the n-th block.
static InstrId nth(const Fn *fn, uint32_t n, uint32_t k)
{
    BlockId b = fn->first;
    while (n--)
        b = ir_block(fn, b)->next;
    InstrId id = ir_block(fn, b)->first;
    while (k--)
        id = ir_instr(fn, id)->next;
    return id;
}

static RegId result(const Fn *fn, InstrId id) { return op_index(*ir_def(fn, ir_instr(fn, id), 0)); }

/* -- Classes -------------------------------------------------------------------------------------------- */

TEST(gvn_classes)
{
    static const struct {
        const char *text;
        GvnClass without, with;  // bit 6
    } rows[] = {
        {"R1:32 = add.s32 R90, 1", GC_PLAIN, GC_PLAIN},
        {"R1:32 = mov.b32 R90", GC_PLAIN, GC_PLAIN},
        {"R1:32 = ld.global.b32 [0]", GC_PLAIN, GC_PLAIN},
        {"R1:32 = rcp.rn.f32 R90", GC_PLAIN, GC_PLAIN},
        {"R1:32 = rcp.approx.f32 R90", GC_NONE, GC_SPECIAL},
        {"R1:32 = ex2.approx.f32 R90", GC_NONE, GC_SPECIAL},
        {"R1:32 = div.full.f32 R90, R91", GC_NONE, GC_SPECIAL},
        {"R1:32 = shfl.sync.bfly.b32 R90, 1, 31, -1", GC_NONE, GC_CONVERGENT},
        {"@P90 R1:32 = shfl.sync.bfly.b32 R90, 1, 31, -1 else 0", GC_NONE, GC_NONE},
        {"R1:32 = shfl.sync.bfly.b32 R90, 1, 31, -1 {pinned}", GC_NONE, GC_NONE},
        {"R1:32 = redux.sync.add.s32 R90, -1", GC_NONE, GC_CONVERGENT},
        {"P1 = vote.sync.all.pred P90, R90", GC_CONVERGENT, GC_CONVERGENT},
        {"P1 = vote.sync.any.pred P90, -1", GC_CONVERGENT, GC_CONVERGENT},
        {"P1 = vote.sync.uni.pred P90, -1", GC_CONVERGENT, GC_CONVERGENT},
        {"P1 = vote.sync.uni.pred P90, R90", GC_NONE, GC_NONE},
        {"R1:32 = vote.sync.ballot.b32 P90, -1", GC_CONVERGENT, GC_CONVERGENT},
        {"R1:32 = vote.sync.ballot.b32 P90, R90", GC_NONE, GC_NONE},
        {"R1:32 = match.any.sync.b32 R90, R91", GC_CONVERGENT, GC_CONVERGENT},
        {"R1:32 = match.any.sync.b32 R90, 15", GC_CONVERGENT, GC_CONVERGENT},
        {"R1:32 = match.any.sync.b32 R90, -1", GC_NONE, GC_NONE},
        {"R1:32 = match.all.sync.b32 R90, R91", GC_NONE, GC_NONE},
        {"R1:32 = activemask.b32", GC_NONE, GC_NONE},
        {"R1:32 = atom.global.add.u32 [0], 1", GC_NONE, GC_NONE},
        {"red.global.add.u32 [0], 1", GC_NONE, GC_NONE},
        {"st.global.b32 [0], R90", GC_NONE, GC_NONE},
        {"bar.sync 0", GC_NONE, GC_NONE},
        {"R1:32 = bar.red.popc.u32 0, P90", GC_NONE, GC_NONE},
        {"R1:32 = vote.ballot.b32 P90", GC_NONE, GC_NONE},
    };
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        Kernel kernel;
        char text[1000];
        snprintf(text, sizeof text, "%s  %s\n  exit\n", HEAD, rows[k].text);
        unit_context("%s", rows[k].text);
        kernel_open(&kernel, "ssa", text);
        const Instr *i = ir_instr(kernel.fn, nth(kernel.fn, 0, 6));
        CHECK_EQ(gvn_class(kernel.fn, i, false), rows[k].without);
        CHECK_EQ(gvn_class(kernel.fn, i, true), rows[k].with);
        kernel_close(&kernel);
    }
    unit_context("%s", "");
}

/* -- Marks of blocks ------------------------------------------------------------------------------------ */

TEST(gvn_marks)
{
    static const struct {
        const char *text, *marks;
    } rows[] = {
        // A block that is no immediate dominator is unknown.
        {HEAD "  exit\n", "0"},
        {HEAD "  R1:32 = xor.b32 R90, R91\n  bra b1\nb1:\n  R2:32 = or.b32 R90, R91\n  exit\n", "10"},
        {HEAD "  R1:32 = xor.b32 R90, R91\n  bra b1\nb1:\n  R2:32 = xor.b32 R90, R92\n  exit\n", "20"},
        // The descriptor must be in another block, and equal under its spelling.
        {HEAD "  R1:32 = add.s32 R90, R91\n  R2:32 = add.s32 R90, R92\n  bra b1\nb1:\n  exit\n", "10"},
        {HEAD "  R1:32 = add.s32 R90, R91\n  bra b1\nb1:\n  R2:32 = add.u32 R90, R92\n  exit\n", "20"},
        // Atomics are no seeds, but an operand of a candidate is a candidate, even if it is none itself.
        {HEAD "  R1:32 = atom.global.add.u32 [0], 1\n  bra b1\nb1:\n  R2:32 = atom.global.add.u32 [0], 1\n  exit\n",
         "10"},
        {HEAD "  R1:32 = atom.global.add.u32 [0], 1\n  R3:32 = not.b32 R1\n  bra b1\nb1:\n"
              "  R2:32 = atom.global.add.u32 [0], 1\n  R4:32 = popc.b32 R2\n  exit\n",
         "20"},
        {HEAD "  bra b1\nb1:\n  R1:32 = xor.b32 R90, R91\n  bra b2\nb2:\n  R2:32 = popc.b32 R90\n  bra b3\nb3:\n"
              "  R3:32 = xor.b32 R90, R92\n  exit\n",
         "1210"},
    };
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        Kernel kernel;
        char text[20];
        uint32_t n = 0;
        unit_context("%s", rows[k].text);
        kernel_open(&kernel, "ssa", rows[k].text);
        Gvn gvn = {.ctx = &kernel.ctx, .fn = kernel.fn};
        arena_init(&gvn.scratch, &kernel.ctx.heap);
        gvn.a = analysis_need(kernel.fn, AN_RPO | AN_DOM | AN_DEF);
        const uint8_t *marks = gvn_mark_blocks(&gvn);
        FOR_BLOCKS(kernel.fn, b)
            text[n++] = (char)('0' + marks[b]);
        text[n] = 0;
        CHECK_Z(text, rows[k].marks);
        arena_free(&gvn.scratch);
        kernel_close(&kernel);
    }
    unit_context("%s", "");
}

/* -- Register pressure ---------------------------------------------------------------------------------- */

typedef struct Measured {
    Kernel k;
    Fn *fn;
    Arena arena;
    Pressure p;
} Measured;

static void measured_open(Measured *m, const char *text)
{
    kernel_open(&m->k, "ssa", text);
    m->fn = m->k.fn;
    arena_init(&m->arena, &m->k.ctx.heap);
    analysis_need(m->fn, AN_RPO | AN_DOM | AN_DEF);
    pressure_init(&m->p, m->fn, &m->arena);
    m->p.free = 0;
}

static void measured_close(Measured *m)
{
    arena_free(&m->arena);
    kernel_close(&m->k);
}

// Registers that are live in the whole function, so that its pressure is above the number that is always free.
enum { BALLAST = 20 };
#define START                                                                                                          \
    "b0:\n"                                                                                                            \
    "  R200:32 = mov.b32 %clock\n  R201:32 = mov.b32 %clock\n  R202:32 = mov.b32 %clock\n  R203:32 = mov.b32 %clock\n" \
    "  R204:32 = mov.b32 %clock\n  R205:32 = mov.b32 %clock\n  R206:32 = mov.b32 %clock\n  R207:32 = mov.b32 %clock\n" \
    "  R208:32 = mov.b32 %clock\n  R209:32 = mov.b32 %clock\n  R210:32 = mov.b32 %clock\n  R211:32 = mov.b32 %clock\n" \
    "  R212:32 = mov.b32 %clock\n  R213:32 = mov.b32 %clock\n  R214:32 = mov.b32 %clock\n  R215:32 = mov.b32 %clock\n" \
    "  R216:32 = mov.b32 %clock\n  R217:32 = mov.b32 %clock\n  R218:32 = mov.b32 %clock\n  R219:32 = mov.b32 %clock\n"
#define END                                              \
    "  st.global.v4.b32 [0], {R200, R201, R202, R203}\n" \
    "  st.global.v4.b32 [0], {R204, R205, R206, R207}\n" \
    "  st.global.v4.b32 [0], {R208, R209, R210, R211}\n" \
    "  st.global.v4.b32 [0], {R212, R213, R214, R215}\n" \
    "  st.global.v4.b32 [0], {R216, R217, R218, R219}\n" \
    "  exit\n"

// Returns the k-th instruction of b0 behind START.
static InstrId early(const Measured *m, uint32_t k) { return nth(m->fn, 0, BALLAST + k); }

TEST(pressure_of_widths)
{
    Measured m;
    // Pairs and predicates: R2:64 counts two, P1 one.
    measured_open(&m, "b0:\n  R1:32 = mov.b32 %clock\n  R2:64 = mov.b64 %clock64\n  P1 = setp.lt.s32 R1, 5\n"
                      "  @P1 st.global.b64 [0], R2\n  st.global.b32 [0], R1\n  exit\n");
    pressure_permits(&m.p, result(m.fn, nth(m.fn, 0, 0)), nth(m.fn, 0, 4));
    CHECK_EQ(pressure_highest(&m.p), 4);
    measured_close(&m);
}

TEST(pressure_of_values)
{
    Measured m;
    // The highest pressure is in the block between, so R1 cannot be kept.
    measured_open(&m, START "  R90:32 = mov.b32 %clock\n  R91:32 = mov.b32 %clock\n  R1:32 = add.s32 R90, R91\n"
                            "  st.global.b32 [0], R1\n  bra b1\n"
                            "b1:\n  R2:32 = xor.b32 R90, 1\n  R3:32 = xor.b32 R90, 2\n  R4:32 = xor.b32 R90, 3\n"
                            "  st.global.v4.b32 [0], {R2, R3, R4, R91}\n  bra b2\n"
                            "b2:\n  R5:32 = add.s32 R90, R91\n  st.global.b32 [0], R5\n" END);
    CHECK(!pressure_permits(&m.p, result(m.fn, early(&m, 2)), nth(m.fn, 2, 0)));
    CHECK_EQ(pressure_highest(&m.p), BALLAST + 5);
    CHECK_EQ(m.p.most[m.fn->first] - 1 + m.p.kept[m.fn->first], BALLAST + 3);
    // But what the instruction itself reads is live there.
    CHECK(pressure_permits(&m.p, result(m.fn, early(&m, 0)), nth(m.fn, 2, 0)));
    measured_close(&m);

    // The highest pressure is elsewhere: there is room for one register, not for two.
    measured_open(&m, START "  R90:32 = mov.b32 %clock\n  R91:32 = mov.b32 %clock\n  R1:32 = add.s32 R90, R91\n"
                            "  R2:32 = sub.s32 R90, R91\n  R3:32 = xor.b32 R1, R2\n  bra b1\n"
                            "b1:\n  R5:32 = add.s32 R90, R91\n  R6:32 = sub.s32 R90, R91\n"
                            "  st.global.v2.b32 [0], {R5, R6}\n  st.global.b32 [0], R3\n  bra b2\n"
                            "b2:\n  R10:32 = mov.b32 %clock\n  R11:32 = mov.b32 %clock\n  R12:32 = mov.b32 %clock\n"
                            "  R13:32 = mov.b32 %clock\n  st.global.v4.b32 [0], {R10, R11, R12, R13}\n"
                            "  st.global.v2.b32 [0], {R10, R90}\n" END);
    RegId first = result(m.fn, early(&m, 2)), second = result(m.fn, early(&m, 3));
    CHECK(pressure_permits(&m.p, first, nth(m.fn, 1, 0)));
    CHECK_EQ(pressure_highest(&m.p), BALLAST + 5);
    CHECK_EQ(m.p.most[m.fn->first] - 1 + m.p.kept[m.fn->first], BALLAST + 5);
    CHECK(!pressure_permits(&m.p, second, nth(m.fn, 1, 1)));
    measured_close(&m);

    // The instruction is the last reader of the register, in front of the highest pressure.
    measured_open(&m, START "  R90:32 = mov.b32 %clock\n  bra b1\n"
                            "b1:\n  R1:32 = mov.b32 R90\n  R10:32 = mov.b32 %clock\n  R11:32 = mov.b32 %clock\n"
                            "  R12:32 = mov.b32 %clock\n  R13:32 = mov.b32 %clock\n"
                            "  st.global.v4.b32 [0], {R10, R11, R12, R13}\n  st.global.b32 [0], R1\n" END);
    CHECK(pressure_permits(&m.p, result(m.fn, early(&m, 0)), nth(m.fn, 1, 0)));
    CHECK_EQ(pressure_highest(&m.p), BALLAST + 5);
    measured_close(&m);

    // It is live at the end of the block, or read later in it.
    measured_open(&m, START "  R90:32 = mov.b32 %clock\n  R1:32 = add.s32 R90, 1\n  R2:32 = add.s32 R90, 2\n  bra b1\n"
                            "b1:\n  R3:32 = add.s32 R90, 1\n  R4:32 = add.s32 R90, 2\n"
                            "  st.global.v4.b32 [0], {R3, R4, R1, R90}\n  bra b2\n"
                            "b2:\n  st.global.b32 [0], R2\n" END);
    for (uint32_t k = 0; k < 2; k++)
        CHECK(pressure_permits(&m.p, result(m.fn, early(&m, 1 + k)), nth(m.fn, 1, k)));
    CHECK_EQ(m.p.searches, 0);
    measured_close(&m);
}

// Below the number of free registers a bound decides, or the pressure of the blocks on the path.
TEST(pressure_of_bounds)
{
    static const char between[] =
        START "  R90:32 = mov.b32 %clock\n  R91:32 = mov.b32 %clock\n"
              "  R1:32 = add.s32 R90, R91\n  st.global.b32 [0], R1\n  bra b1\n"
              "b1:\n  R2:32 = xor.b32 R90, 1\n  R3:32 = xor.b32 R90, 2\n"
              "  R4:32 = xor.b32 R90, 3\n  st.global.v4.b32 [0], {R2, R3, R4, R91}\n  bra b2\n"
              "b2:\n  R5:32 = add.s32 R90, R91\n  st.global.b32 [0], R5\n" END;
    for (uint32_t free = BALLAST; free < BALLAST + 9; free++) {
        Measured m;
        unit_context("%u free registers", free);
        measured_open(&m, between);
        m.p.free = free;
        // The pressure of b1 is BALLAST + 5, the bound BALLAST + 5, too; b0 has one more at its end.
        CHECK_EQ(pressure_permits(&m.p, result(m.fn, early(&m, 2)), nth(m.fn, 2, 0)), free >= BALLAST + 6);
        CHECK_EQ(m.p.measured, free < BALLAST + 6);
        measured_close(&m);
    }
}

// Large live sets are not computed: nothing is permitted.
TEST(pressure_of_large_sets)
{
    enum { MANY = 80 };
    for (uint32_t blocks = 4; blocks <= MANY; blocks += MANY - 4) {
        static char text[MANY * 200];
        size_t n = 0;
        Measured m;
        unit_context("%u blocks", blocks);
        n += (size_t)sprintf(text + n, "b0:\n");
        for (uint32_t k = 1; k <= MANY; k++)
            n += (size_t)sprintf(text + n, "  R%u:32 = mov.b32 %%clock\n", k);
        n += (size_t)sprintf(text + n, "  R100:32 = xor.b32 R1, R2\n  st.global.b32 [0], R100\n  bra b1\n");
        for (uint32_t b = 1; b <= blocks; b++)
            n += (size_t)sprintf(text + n, "b%u:\n  bra b%u\n", b, b + 1);
        n += (size_t)sprintf(text + n, "b%u:\n  R101:32 = xor.b32 R1, R2\n  st.global.b32 [0], R101\n", blocks + 1);
        for (uint32_t k = 1; k <= MANY; k++)
            n += (size_t)sprintf(text + n, "  st.global.b32 [0], R%u\n", k);
        sprintf(text + n, "  exit\n");
        measured_open(&m, text);
        m.p.free = 2 * MANY;
        CHECK_EQ(pressure_permits(&m.p, result(m.fn, nth(m.fn, 0, MANY)), nth(m.fn, blocks + 1, 0)), blocks < MANY);
        CHECK_EQ(pressure_highest(&m.p), blocks < MANY ? MANY + 1 : 0);
        measured_close(&m);
    }
}

// In a loop, a register from outside is kept through the whole loop.
TEST(pressure_of_loops)
{
    Measured m;
    measured_open(&m, START "  R90:32 = mov.b32 %clock\n  R1:32 = add.s32 R90, 1\n  bra b1\n"
                            "b1:\n  R2:32 = add.s32 R90, 1\n  st.global.b32 [0], R2\n  bra b2\n"
                            "b2:\n  R10:32 = mov.b32 %clock\n  R11:32 = mov.b32 %clock\n  R12:32 = mov.b32 %clock\n"
                            "  R13:32 = mov.b32 %clock\n  st.global.v4.b32 [0], {R10, R11, R12, R13}\n  P1 = "
                            "setp.lt.s32 R12, 5\n  @P1 bra b1 else b3\n"
                            "b3:\n  st.global.b32 [0], R90\n" END);
    // The highest pressure is in b2, behind the instruction in the loop.
    CHECK(!pressure_permits(&m.p, result(m.fn, early(&m, 1)), nth(m.fn, 1, 0)));
    measured_close(&m);
}

/* -- Order of operands ---------------------------------------------------------------------------------- */

// Runs GvnCse for a backend with a knob of the function.
static void run_gvn(Kernel *k, const SmBackend *backend, const char *knob)
{
    char why[500];
    k->ctx.settings = phase_knobs(&k->ctx.arena);
    k->ctx.options =
        (PhaseOptions){.level = 3, .named = "GvnCse", .stay_in_ssa = true, .contracts = true, .verify = VM_EACH};
    k->ctx.options.target = (SmTarget){backend, backend->profile.encoded};
    fn_note_knob(k->fn, knob, strlen(knob), 0);
    if (!CHECK(phase_plan(&k->ctx, k->module, why)))
        CHECK_Z(why, "");
    phase_run(&k->ctx, &k->fn);
}

// Ends a kernel that run_gvn() has changed.
static void close_gvn(Kernel *k)
{
    if (k->ctx.knobs.store)
        knobs_free(&k->ctx.knobs);
    kernel_close(k);
}

// Runs GvnCse for a version and capabilities.
static void check_sorted(uint16_t encoded, uint8_t caps, bool sorted)
{
    Kernel k;
    SmBackend backend = sm_60;
    unit_context("version %x, capabilities %x", encoded, caps);
    // R3 makes the block one with a replacement.
    kernel_open(&k, "ssa",
                "b0:\n  R1:32 = mov.b32 %clock\n  R2:32 = mov.b32 %clock\n  R3:32 = xor.b32 R1, R2\n"
                "  R4:32 = xor.b32 R1, R2\n  R5:32 = add.s32 R2, R1\n  R6:32 = sub.s32 R2, R1\n"
                "  P1 = setp.lt.s32 R3, R4\n  R7:32 = mul.lo.s32 R5, 3\n  @P1 st.global.v2.b32 [0], {R6, R7}\n"
                "  exit\n");
    backend.profile.caps = caps;
    backend.profile.encoded = encoded;
    run_gvn(&k, &backend, "knob EnableGvnCse=1");
    const char *text = kernel_body(&k);
    CHECK_EQ(strstr(text, "= add.s32 R1, R2") != NULL, sorted);
    CHECK_EQ(strstr(text, "= add.s32 R2, R1") != NULL, !sorted);
    CHECK(strstr(text, "= sub.s32 R2, R1"));
    CHECK(strstr(text, "= mul.lo.s32 R5, 3"));
    CHECK(strstr(text, "= setp.lt.s32 R3, R3"));
    CHECK_EQ(k.ctx.gvn.drained, caps ? 1 : 0);
    close_gvn(&k);
    unit_context("%s", "");
}

TEST(gvn_sorts_operands)
{
    const uint8_t full = SM_CAP_ENHANCED_CSE | SM_CAP_FULL_SCOPE;
    check_sorted(28671, full, true);
    check_sorted(28672, full, false);
    check_sorted(0x6000, full, true);
    check_sorted(0x7000, full, false);
    check_sorted(0x6000, 0, false);  // mode 2 has no drain
}

// The extended scope, of a backend with bit 6 and without c: approximate instructions of dominating blocks, but no
// convergent ones.
TEST(gvn_extended)
{
    static const struct {
        const char *knob;
        uint32_t approximate;
    } rows[] = {{"knob EnableGvnCseMode=4", 2}, {"knob EnableGvnCseMode=5", 1}, {"knob EnableGvnCseMode=6", 1}};
    SmBackend backend = sm_60;
    backend.profile.caps = SM_CAP_ENHANCED_CSE;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        Kernel kernel;
        unit_context("%s", rows[k].knob);
        kernel_open(&kernel, "ssa",
                    HEAD "  R1:32 = ex2.approx.f32 R90\n  R2:32 = shfl.sync.bfly.b32 R91, 1, 31, -1\n"
                         "  st.global.v2.b32 [0], {R1, R2}\n  bra b1\n"
                         "b1:\n  R3:32 = shfl.sync.bfly.b32 R91, 1, 31, -1\n  R4:32 = ex2.approx.f32 R90\n"
                         "  st.global.v2.b32 [0], {R3, R4}\n  exit\n");
        run_gvn(&kernel, &backend, rows[k].knob);
        const char *text = kernel_body(&kernel), *first = strstr(text, "ex2"), *exchange = strstr(text, "shfl");
        CHECK_EQ(first && strstr(first + 1, "ex2"), rows[k].approximate == 2);
        CHECK(exchange && strstr(exchange + 1, "shfl"));
        close_gvn(&kernel);
    }
    unit_context("%s", "");
}

void test_gvn(void)
{
    RUN(gvn_modes);
    RUN(gvn_default_modes);
    RUN(gvn_classes);
    RUN(gvn_marks);
    RUN(pressure_of_widths);
    RUN(pressure_of_values);
    RUN(pressure_of_bounds);
    RUN(pressure_of_large_sets);
    RUN(pressure_of_loops);
    RUN(gvn_sorts_operands);
    RUN(gvn_extended);
}
