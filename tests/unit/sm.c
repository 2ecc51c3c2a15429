// SPDX-License-Identifier: MIT
// Tests SM backends: their figures against the documents, the meaning of targets, and the dispatch of hooks.
#include <stdio.h>
#include <stdlib.h>

#include "sm/sm_internal.h"
#include "tests/unit/unit.h"

/* -- Profiles ------------------------------------------------------------------------------------------- */

static const struct {
    const SmBackend *backend;
    const char *name;
    int number, encoded, class, r, ur, up;
    bool bit6, c;
    bool dual_issue, nvlink, grace, direct;
    bool up_to_20479, up_to_28671, up_to_32767;
    SmStatus gvn, back_prop;
} profiles[] = {
    {&sm_30, "sm_30", 30, 12288, 0, 63, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, SM_NO_OP, SM_IMPLEMENTED},
    {&sm_50, "sm_50", 50, 16385, 4, 255, 0, 0, 0, 0, 1, 0, 0, 1, 1, 1, 1, SM_NO_OP, SM_IMPLEMENTED},
    {&sm_60, "sm_60", 60, 24576, 0, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, SM_IMPLEMENTED, SM_IMPLEMENTED},
    {&sm_70, "sm_70", 70, 28672, 11, 255, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1, SM_IMPLEMENTED, SM_IMPLEMENTED},
    {&sm_80, "sm_80", 80, 28673, 11, 255, 63, 7, 0, 0, 0, 1, 0, 1, 0, 0, 1, SM_NO_OP, SM_IMPLEMENTED},
    {&sm_89, "sm_89", 89, 28674, 11, 255, 63, 7, 0, 0, 0, 1, 0, 1, 0, 0, 1, SM_NO_OP, SM_IMPLEMENTED},
    {&sm_90, "sm_90", 90, 32768, 11, 255, 63, 7, 1, 1, 0, 1, 0, 1, 0, 0, 0, SM_IMPLEMENTED, SM_IMPLEMENTED},
};

TEST(sm_profiles)
{
    CHECK_EQ(SM_BACKEND_COUNT, 7);
    CHECK_EQ(ARRAY_LEN(profiles), SM_BACKEND_COUNT);
    for (size_t k = 0; k < ARRAY_LEN(profiles); k++) {
        const SmProfile *p = &profiles[k].backend->profile;
        SmTarget target = {profiles[k].backend, p->encoded};
        unit_context("%s", profiles[k].name);
        CHECK(sm_backends[k] == profiles[k].backend);
        CHECK_Z(p->name, profiles[k].name);
        CHECK_EQ(p->number, profiles[k].number);
        CHECK_EQ(p->encoded, profiles[k].encoded);
        CHECK_EQ(p->class, profiles[k].class);
        CHECK_EQ(p->regs[RF_R], profiles[k].r);
        CHECK_EQ(p->regs[RF_UR], profiles[k].ur);
        CHECK_EQ(p->regs[RF_P], 7);
        CHECK_EQ(p->regs[RF_UP], profiles[k].up);
        CHECK_EQ(p->bank_bytes, 65536);
        CHECK_EQ(p->caps, profiles[k].bit6 * SM_CAP_ENHANCED_CSE + profiles[k].c * SM_CAP_FULL_SCOPE);
        CHECK_EQ(sm_is_dual_issue(p), profiles[k].dual_issue);
        CHECK_EQ(sm_is_nvlink(p), profiles[k].nvlink);
        CHECK_EQ(sm_is_grace(p), profiles[k].grace);
        CHECK_EQ(sm_marks_directly(p), profiles[k].direct);
        CHECK_EQ(sm_selects_fold_freely(target), profiles[k].up_to_20479);
        CHECK_EQ(sm_sorts_commutative(target), profiles[k].up_to_28671);
        CHECK_EQ(sm_always_marks_ebb(target), profiles[k].up_to_32767);
    }
}

// Capability bits at the documents' positions.
TEST(sm_capability_bits)
{
    static const struct {
        const char *name;
        int byte, bit;
    } caps[] = {
#define CAP(id, name, byte, bit, ...) {#name, byte, bit},
        SM_CAPS(CAP)
#undef CAP
    };
    CHECK_EQ(ARRAY_LEN(caps), 4);
    CHECK_Z(caps[SM_CAP_BIT_ENHANCED_CSE].name, "enhanced_cse");
    CHECK(caps[SM_CAP_BIT_ENHANCED_CSE].byte == 1106 && caps[SM_CAP_BIT_ENHANCED_CSE].bit == 6);
    CHECK(caps[SM_CAP_BIT_FULL_SCOPE].byte == 1416 && caps[SM_CAP_BIT_FULL_SCOPE].bit == 0);
    CHECK(caps[SM_CAP_BIT_GRACE].byte == 1417 && caps[SM_CAP_BIT_GRACE].bit == 7);
    CHECK(caps[SM_CAP_BIT_NVLINK].byte == 1418 && caps[SM_CAP_BIT_NVLINK].bit == 0);
}

// A family is a class or a bit, also for classes without a backend.
TEST(sm_families)
{
    for (unsigned id = 0; id < 16; id++)
        for (unsigned caps = 0; caps < 16; caps++) {
            SmProfile p = {.class = (uint8_t)id, .caps = (uint8_t)caps};
            unit_context("class %u, bits %x", id, caps);
            CHECK_EQ(sm_is_dual_issue(&p), id == 4);
            CHECK_EQ(sm_is_nvlink(&p), id == 11 || (caps & SM_CAP_NVLINK));
            CHECK_EQ(sm_is_grace(&p), id == 10 || (caps & SM_CAP_GRACE));
            CHECK_EQ(sm_marks_directly(&p), id == 4 || id == 10 || id == 11 || (caps & (SM_CAP_NVLINK | SM_CAP_GRACE)));
        }
}

TEST(sm_threshold_edges)
{
    static const struct {
        uint16_t encoded;
        bool fold, sort, ebb;
    } edges[] = {
        {0, 1, 1, 1},     {16385, 1, 1, 1}, {20479, 1, 1, 1}, {20480, 0, 1, 1}, {20481, 0, 1, 1}, {28671, 0, 1, 1},
        {28672, 0, 0, 1}, {32767, 0, 0, 1}, {32768, 0, 0, 0}, {36864, 0, 0, 0}, {65535, 0, 0, 0},
    };
    for (size_t k = 0; k < ARRAY_LEN(edges); k++) {
        SmTarget target = {&sm_90, edges[k].encoded};
        unit_context("%u", edges[k].encoded);
        CHECK_EQ(sm_selects_fold_freely(target), edges[k].fold);
        CHECK_EQ(sm_sorts_commutative(target), edges[k].sort);
        CHECK_EQ(sm_always_marks_ebb(target), edges[k].ebb);
    }
}

/* -- Targets -------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    const SmBackend *backend;
    int encoded;
} targets[] = {
    {"sm_10", &sm_30, 0x3000},   {"sm_11", &sm_30, 0x3000},   {"sm_12", &sm_30, 0x3000},   {"sm_13", &sm_30, 0x3000},
    {"sm_20", &sm_30, 0x3000},   {"sm_21", &sm_30, 0x3000},   {"sm_30", &sm_30, 0x3000},   {"sm_32", &sm_30, 0x3000},
    {"sm_35", &sm_30, 0x3000},   {"sm_37", &sm_30, 0x3000},   {"sm_50", &sm_50, 0x4001},   {"sm_50a", &sm_50, 0x5001},
    {"sm_52", &sm_50, 0x4001},   {"sm_53", &sm_50, 0x4001},   {"sm_60", &sm_60, 0x6000},   {"sm_61", &sm_60, 0x6000},
    {"sm_62", &sm_60, 0x6000},   {"sm_70", &sm_70, 0x7000},   {"sm_72", &sm_70, 0x7000},   {"sm_75", &sm_70, 0x7000},
    {"sm_80", &sm_80, 0x7001},   {"sm_86", &sm_80, 0x7001},   {"sm_87", &sm_80, 0x7001},   {"sm_88", &sm_80, 0x7001},
    {"sm_89", &sm_89, 0x7002},   {"sm_90", &sm_90, 0x8000},   {"sm_90a", &sm_90, 0x8000},  {"sm_100", &sm_90, 0x9000},
    {"sm_100a", &sm_90, 0x9000}, {"sm_100f", &sm_90, 0x9000}, {"sm_101", &sm_90, 0x8000},  {"sm_101a", &sm_90, 0x8000},
    {"sm_101f", &sm_90, 0x8000}, {"sm_103", &sm_90, 0x8000},  {"sm_103a", &sm_90, 0x8000}, {"sm_103f", &sm_90, 0x8000},
    {"sm_110", &sm_90, 0x8000},  {"sm_110a", &sm_90, 0x8000}, {"sm_110f", &sm_90, 0x8000}, {"sm_120", &sm_90, 0x8000},
    {"sm_120a", &sm_90, 0x8000}, {"sm_120f", &sm_90, 0x8000}, {"sm_121", &sm_90, 0x8000},  {"sm_121a", &sm_90, 0x8000},
    {"sm_121f", &sm_90, 0x8000},
};

static SmTarget of_module(const char *name)
{
    Fixture f;
    fixture_open(&f);
    f.module->sm = str_intern_z(&f.module->tables.strs, name);
    SmTarget target = sm_of_module(f.module);
    fixture_close(&f);
    return target;
}

TEST(sm_targets)
{
    char why[300];
    for (size_t k = 0; k < ARRAY_LEN(targets); k++) {
        SmTarget target = {0};
        unit_context("%s", targets[k].name);
        CHECK(sm_find(targets[k].name, &target, why));
        CHECK(target.backend == targets[k].backend);
        CHECK_EQ(target.encoded, targets[k].encoded);
        target = of_module(targets[k].name);
        CHECK(target.backend == targets[k].backend);
        CHECK_EQ(target.encoded, targets[k].encoded);
    }
}

TEST(sm_target_errors)
{
    static const struct {
        const char *text, *words;
    } errors[] = {
        {"sm_85", "'sm_85' is not a target; did you mean sm_86?"},
        {"sm_31", "did you mean sm_30?"},
        {"sm_22", "did you mean sm_21?"},
        {"sm_130", "did you mean sm_121?"},
        {"sm_99999999999999999999", "did you mean sm_121?"},
        {"sm90", "did you mean sm_90?"},
        {"90", "did you mean sm_90?"},
        {"SM_90", "did you mean sm_90?"},
        {"compute_80", "did you mean sm_80?"},
        {"sm_090", "did you mean sm_90?"},
        {"sm_90A", "did you mean sm_90?"},
        {"sm_90b", "did you mean sm_90?"},
        {"sm_90af", "did you mean sm_90?"},
        {"sm_90 ", "did you mean sm_90?"},
        {"sm_", "'sm_' is not a target; the backends are sm_30 sm_50 sm_60 sm_70 sm_80 sm_89 sm_90"},
        {"", "'' is not a target; the backends are sm_30"},
        {"sm_a", "the backends are"},
        {"sm_0", "the backends are"},
    };
    for (size_t k = 0; k < ARRAY_LEN(errors); k++) {
        char why[300] = "";
        SmTarget target = {&sm_60, 1};
        unit_context("%s", errors[k].text);
        CHECK(!sm_find(errors[k].text, &target, why));
        if (!strstr(why, errors[k].words))
            CHECK_Z(why, errors[k].words);
        CHECK(target.backend == &sm_60 && target.encoded == 1);
    }
    char longest[500], why[300];
    memset(longest, '9', sizeof longest);
    longest[sizeof longest - 1] = 0;
    CHECK(!sm_find(longest, &(SmTarget){0}, why));
    CHECK(strlen(why) < 299);
}

// A module's target is never an error.
TEST(sm_target_of_any_module)
{
    static const struct {
        const char *name;
        const SmBackend *backend;
    } odd[] = {
        {"", &sm_90},       {"sm_", &sm_90},    {"sm_xy", &sm_90},    {"compute_50", &sm_90}, {"sm_1", &sm_30},
        {"sm_31", &sm_30},  {"sm_59", &sm_50},  {"sm_79x", &sm_70},   {"sm_88a", &sm_80},     {"sm_99", &sm_90},
        {"sm_130", &sm_90}, {"sm_999", &sm_90}, {"sm_99999", &sm_90}, {"sm_80abc", &sm_80},
    };
    for (size_t k = 0; k < ARRAY_LEN(odd); k++) {
        unit_context("%s", odd[k].name);
        SmTarget target = of_module(odd[k].name);
        CHECK(target.backend == odd[k].backend);
        CHECK_EQ(target.encoded, odd[k].backend->profile.encoded);
    }
    CHECK(sm_newest().backend == &sm_90);
    CHECK_EQ(sm_newest().encoded, 0x8000);
}

// The list has all names that sm_find() accepts, except suffixes without effect.
TEST(sm_target_list)
{
    size_t k = 0;
    SmTarget target, found;
    char name[12], why[300];
    for (; sm_nth_target(k, &target, name); k++) {
        unit_context("%s", name);
        CHECK(sm_find(name, &found, why));
        CHECK(found.backend == target.backend && found.encoded == target.encoded);
    }
    CHECK_EQ(k, 32);
    for (size_t b = 0; b < SM_BACKEND_COUNT; b++) {
        CHECK(sm_find(sm_backends[b]->profile.name, &found, why));
        CHECK(found.backend == sm_backends[b]);
        CHECK_EQ(found.encoded, sm_backends[b]->profile.encoded);
    }
}

/* -- Members -------------------------------------------------------------------------------------------- */

// Numbers of the documents: slots, byte offsets if given, and rows.
TEST(sm_slots)
{
    static const struct {
        int member, slot, byte, row;
    } slots[] = {
        {SM_AT_gvn_cse, 23, 0xB8, 49},
        {SM_AT_reassociate_and_common, 44, 0x160, 50},
        {SM_AT_general_optimize_mid2, 56, 0x1C0, 46},
        {SM_AT_general_optimize_late2, 49, 392, 65},
        {SM_AT_swap_operands, 79, 632, -1},
        {SM_AT_rewrite_chain, 82, 656, -1},
        {SM_AT_operand_bytes, 113, 904, -1},
        {SM_AT_fold_info, 117, 936, -1},
        {SM_AT_marks_predicates, 164, 1312, -1},
        {SM_AT_refuses_source, 165, 1320, -1},
        {SM_AT_class_mask, 182, 1456, -1},
        {SM_AT_class_mask_more, 227, 1816, -1},
        {SM_AT_common_over_barrier, 371, 2968, -1},
    };
    int with_slot = 0;
    for (size_t k = 0; k < ARRAY_LEN(slots); k++) {
        const SmMember *m = &sm_members[slots[k].member];
        unit_context("%s", m->name);
        CHECK_EQ(m->slot, slots[k].slot);
        CHECK_EQ(8 * m->slot, slots[k].byte);
        CHECK_EQ(m->row, slots[k].row);
    }
    for (int k = 0; k < SM_MEMBER_COUNT; k++) {
        with_slot += sm_members[k].slot >= 0;
        CHECK(sm_members[k].text[0] && sm_members[k].document[0]);
        CHECK_EQ(sm_members[k].row >= 0, k < SM_PASS_COUNT);
    }
    CHECK_EQ(with_slot, ARRAY_LEN(slots));
    CHECK_EQ(SM_PASS_COUNT, 23);
    CHECK_EQ(SM_MEMBER_COUNT, 32);
}

// Exactly the rows with `backend` have a member, and all hooks are among them.
TEST(sm_rows)
{
    static const char *const functions[] = {
#define PHASE(index, name, function, ...) #function,
#include "phases/phases.def"
    };
    static const int hooks[] = {4, 7, 47, 77, 82, 89, 92, 97, 101, 104, 106, 111, 115, 127, 134, 135, 152};
    size_t n = 0;
    for (int row = 0; row < PHASE_ROWS; row++) {
        unit_context("%d %s", row, phase_info[row].name);
        CHECK_EQ(strcmp(functions[row], "backend") == 0, sm_pass(&sm_90, row) != NULL);
        if (phase_info[row].kind != PK_HOOK)
            continue;
        CHECK_EQ(row, n < ARRAY_LEN(hooks) ? hooks[n] : -1);
        CHECK(strncmp(phase_info[row].name, "Advanced", 8) == 0);
        CHECK(sm_pass(&sm_90, row) != NULL);
        n++;
    }
    CHECK_EQ(n, 17);
    CHECK(sm_pass(&sm_90, -1) == NULL);
    CHECK(sm_pass(&sm_90, PHASE_ROWS) == NULL);
    for (int m = 0; m < SM_PASS_COUNT; m++)
        CHECK(sm_pass(&sm_90, sm_members[m].row) != NULL);
}

TEST(sm_sentinels)
{
    CHECK(sm_no_op_pass != sm_not_yet_pass);
    CHECK(!sm_is_sentinel(phase_nop));
    Fixture f;
    fixture_open(&f);
    CHECK(!sm_no_op_pass(&f.ctx, f.fn) && !sm_not_yet_pass(&f.ctx, f.fn));
    fixture_close(&f);
    for (size_t k = 0; k < ARRAY_LEN(profiles); k++)
        for (int m = 0; m < SM_PASS_COUNT; m++) {
            unit_context("%s %s", profiles[k].name, sm_members[m].name);
            bool old = profiles[k].backend == &sm_30 || profiles[k].backend == &sm_50;
            SmPass *body = m == SM_AT_form_lop3 && profiles[k].backend != &sm_30 ? phase_form_lop3
                           : m == SM_AT_general_optimize_mid2 && !old            ? phase_general_optimize_mid2
                           : m == SM_AT_general_optimize_late2                   ? phase_general_optimize_late2
                           : m == SM_AT_reassociate_and_common                   ? phase_reassociate
                           : m == SM_AT_gvn_cse && profiles[k].gvn != SM_NO_OP   ? phase_gvn_cse
                           : profiles[k].back_prop != SM_IMPLEMENTED             ? NULL
                           : m == SM_AT_back_prop_vreg                           ? phase_back_copy_prop
                           : m == SM_AT_back_prop_done                           ? phase_after_back_copy_prop
                                                                                 : NULL;
            SmStatus expected = body ? SM_IMPLEMENTED : SM_NO_OP;
            SmPass *pass = sm_pass(profiles[k].backend, sm_members[m].row);
            CHECK_EQ(sm_status(profiles[k].backend, m), expected);
            CHECK(pass == (body ? body : sm_no_op_pass));
            CHECK_EQ(sm_is_sentinel(pass), !body);
        }
    CHECK_Z(sm_status_name(SM_IMPLEMENTED), "implemented");
    CHECK_Z(sm_status_name(SM_NO_OP), "no-op");
    CHECK_Z(sm_status_name(SM_NOT_YET), "not-yet");
}

static bool always(const Fn *fn, const Instr *i) { return (void)fn, (void)i, true; }

TEST(sm_query_status)
{
    for (size_t k = 0; k < SM_BACKEND_COUNT; k++)
        for (int m = SM_PASS_COUNT; m < SM_MEMBER_COUNT; m++) {
            unit_context("%s %s", sm_backends[k]->profile.name, sm_members[m].name);
            bool chains = m == SM_AT_rewrite_chain && sm_backends[k]->profile.number >= 70;
            bool looks = m == SM_AT_swap_operands || m == SM_AT_operand_bytes || chains;
            CHECK_EQ(sm_status(sm_backends[k], m), looks ? SM_IMPLEMENTED : SM_NO_OP);
        }
    SmBackend own = sm_80;
    own.common_over_barrier = always;
    CHECK_EQ(sm_status(&own, SM_AT_common_over_barrier), SM_IMPLEMENTED);
    CHECK_EQ(sm_status(&own, SM_AT_refuses_source), SM_NO_OP);
}

// No member is missing, also in the template, which no target selects.
TEST(sm_template_is_whole)
{
    const SmBackend *all[] = {&sm_30, &sm_50, &sm_60, &sm_70, &sm_80, &sm_89, &sm_90, &sm_template};
    for (size_t k = 0; k < ARRAY_LEN(all); k++) {
        unit_context("%s", all[k]->profile.name);
#define PASS(member, ...) CHECK(all[k]->member != NULL);
        SM_PASSES(PASS)
#undef PASS
#define QUERY(member, ...) CHECK(all[k]->member != NULL);
        SM_QUERIES(QUERY)
#undef QUERY
        CHECK(k < SM_BACKEND_COUNT ? all[k] == sm_backends[k] : all[k] != sm_backends[SM_BACKEND_COUNT - 1]);
    }
}

/* -- Queries -------------------------------------------------------------------------------------------- */

TEST(sm_operand_bytes)
{
    static const struct {
        const char *mnemonic, *shape;
        uint32_t bytes;
    } cases[] = {
        {"add.s32", "%,%,%", 4},
        {"add.s16", "%,%,%", 2},
        {"add.f64", "%,%,%", 8},
        {"add.f16x2", "%,%,%", 4},
        {"and.pred", "%,%,%", 1},
        {"ld.global.u8", "%,[&]", 1},
        {"ld.b64", "%,[&]", 8},
        {"ld.v4.f32", "{%,%,%,%},[&]", 4},
        {"mul.wide.s32", "%,%,%", 4},
        {"cvt.f64.f32", "%,%", 8},
        {"ret", "", 0},
        {"bar.sync", "%", 0},
    };
    Fixture f;
    fixture_open(&f);
    for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
        unit_context("%s", cases[k].mnemonic);
        Instr i = {.desc = desc_parse(f.fn->tables, cases[k].mnemonic, cases[k].shape)};
        CHECK_EQ(sm_90.operand_bytes(f.fn, &i), cases[k].bytes);
    }
    fixture_close(&f);
}

TEST(sm_answers)
{
    Fixture f;
    fixture_open(&f);
    Instr add = {.desc = desc_parse(f.fn->tables, "add.s32", "%,%,%")};
    Instr sub = {.desc = desc_parse(f.fn->tables, "sub.s32", "%,%,%")};
    for (size_t k = 0; k < SM_BACKEND_COUNT; k++) {
        const SmBackend *b = sm_backends[k];
        const BlockId entry[3] = {1, 2, 3};
        unit_context("%s", b->profile.name);
        CHECK(b->swap_operands(f.fn, &add, 2, 1));
        CHECK(!b->swap_operands(f.fn, &add, 1, 2));
        CHECK(!b->swap_operands(f.fn, &add, 2, 2));
        CHECK(!b->swap_operands(f.fn, &sub, 2, 1));
        CHECK_EQ(b->rewrite_chain(f.fn, entry), b->profile.number >= 70);
        CHECK(!b->rewrite_chain(f.fn, (BlockId[]){1, 3, 3}));
        CHECK_EQ(b->fold_info(f.fn, &add), 0);
        CHECK(!b->marks_predicates(f.fn));
        CHECK(!b->refuses_source(f.fn, &add));
        CHECK_EQ(b->class_mask(f.fn, &add), 0);
        CHECK_EQ(b->class_mask_more(f.fn, &add), 0);
        CHECK(!b->common_over_barrier(f.fn, &add));
    }
    fixture_close(&f);
}

/* -- Dispatch ------------------------------------------------------------------------------------------- */

static bool remove_first(Ctx *ctx, Fn *fn)
{
    CHECK_EQ(fn->form, phase_info[ctx->run.row].form == PF_SSA ? FORM_SSA : FORM_MULTI);
    if (ir_block(fn, fn->first)->first == ir_block(fn, fn->first)->last)
        return false;
    InstrId id = ir_block(fn, fn->first)->first;
    ir_remove(fn, id);
    return true;
}

// Builds a function `mov; mov; ret`, in a context for this backend.
// Plans a function, with all recipes.
static void start(Fixture *f, const SmBackend *backend, const char *named)
{
    static char why[500];
    static const char recipes[] = "NvOptRecipes=all";
    fixture_open(f);
    KnobStore *knobs = phase_knobs(&f->ctx.arena);
    CHECK(knob_read_text(knobs, KS_ENVIRONMENT, recipes, strlen(recipes), KNOB_NO_OFFSET, &f->ctx.diag));
    f->ctx.settings = knobs;
    Fn *fn = f->fn;
    BlockId a = add_block(fn, 0);
    for (int k = 0; k < 2; k++)
        emit(fn, a, "mov.b32", "%,%", 0, OPS(def(fn, reg_new(fn, RF_R, W32)), op_const(fn, 1, W32)));
    emit_ret(fn, a);
    module_freeze(f->module);
    f->ctx.options = (PhaseOptions){.level = 3, .named = named, .contracts = true, .verify = VM_EACH};
    if (backend)
        f->ctx.options.target = (SmTarget){backend, backend->profile.encoded};
    CHECK(phase_plan(&f->ctx, f->module, why));
}

static bool in_plan(const Fixture *f, int row)
{
    for (uint32_t k = 0; k < f->ctx.plan.at.n; k++)
        if (f->ctx.plan.at.at[k].row == row)
            return true;
    return false;
}

static void put(SmBackend *b, int row, SmPass *pass)
{
    switch (row) {
#define PASS(member, slot, row, ...) \
    case row: b->member = pass; break;
        SM_PASSES(PASS)
#undef PASS
    }
}

// Each row runs its own member, by name and in the default plan.
TEST(sm_dispatch)
{
    for (int m = 0; m < SM_PASS_COUNT; m++) {
        int row = sm_members[m].row;
        char named[8], all[16];
        Fixture f;
        SmBackend own = sm_30;
        own.back_prop_vreg = own.back_prop_done = sm_no_op_pass;
        unit_context("%s", sm_members[m].name);
        put(&own, row, remove_first);
        CHECK_EQ(sm_status(&own, m), SM_IMPLEMENTED);
        snprintf(named, sizeof named, "%d", row);
        start(&f, &own, named);
        f.fn->classes |= IC_LOGIC;  // so that no row is skipped
        uint32_t before = f.fn->ninstrs;
        CHECK(!f.ctx.phases[row].vtable->is_noop(&f.ctx.phases[row]));
        phase_run(&f.ctx, &f.module->fns.at[0]);
        CHECK_EQ(f.module->fns.at[0]->ninstrs, before - 1);
        CHECK_EQ(f.ctx.runs[row], 1);
        CHECK_EQ(f.ctx.progress[row], 1);
        fixture_close(&f);
        start(&f, &own, NULL);
        f.fn->classes |= IC_LOGIC;
        CHECK(in_plan(&f, row));
        for (int k = 0; k < SM_PASS_COUNT; k++)
            CHECK_EQ(in_plan(&f, sm_members[k].row),
                     k == m || k == SM_AT_general_optimize_late2 || k == SM_AT_reassociate_and_common);
        phase_run(&f.ctx, &f.module->fns.at[0]);
        CHECK_EQ(f.ctx.runs[row], 1);
        fixture_close(&f);
        // A range includes rows with an effect.
        snprintf(all, sizeof all, "0..%d", PHASE_ROWS - 1);
        start(&f, &own, all);
        CHECK(in_plan(&f, row));
        fixture_close(&f);
    }
}

// A row whose member is a sentinel has no effect.
TEST(sm_no_dispatch)
{
    uint32_t implemented = 0;
    for (size_t k = 0; k < SM_BACKEND_COUNT; k++)
        for (int m = 0; m < SM_PASS_COUNT; m++) {
            int row = sm_members[m].row;
            if (sm_status(sm_backends[k], m) == SM_IMPLEMENTED) {
                implemented++;
                continue;
            }
            char named[8];
            Fixture f;
            unit_context("%s %s", sm_backends[k]->profile.name, sm_members[m].name);
            snprintf(named, sizeof named, "%d", row);
            start(&f, sm_backends[k], named);
            uint32_t before = f.fn->ninstrs;
            CHECK(f.ctx.phases[row].vtable->is_noop(&f.ctx.phases[row]));
            phase_run(&f.ctx, &f.module->fns.at[0]);
            CHECK_EQ(f.module->fns.at[0]->ninstrs, before);
            CHECK_EQ(f.ctx.runs[row], 0);
            fixture_close(&f);
            start(&f, sm_backends[k], NULL);
            CHECK(!in_plan(&f, row));
            fixture_close(&f);
        }
    CHECK_EQ(implemented, (SM_BACKEND_COUNT - 1) + (SM_BACKEND_COUNT - 2) + 4 * SM_BACKEND_COUNT + 3);
}

// The target is the options', else the module's, else the newest.
TEST(sm_target_of_plan)
{
    Fixture f;
    char why[500];
    fixture_open(&f);
    CHECK(f.ctx.target.backend == &sm_90);
    CHECK_EQ(f.ctx.target.encoded, 0x8000);
    f.ctx.options = phase_default_options();
    CHECK(phase_plan(&f.ctx, NULL, why) && f.ctx.target.backend == &sm_90);
    uint32_t n = f.ctx.plan.at.n;
    f.module->sm = str_intern_z(&f.module->tables.strs, "sm_100a");
    CHECK(phase_plan(&f.ctx, f.module, why) && f.ctx.target.backend == &sm_90);
    CHECK_EQ(f.ctx.target.encoded, 0x9000);
    CHECK_EQ(f.ctx.plan.at.n, n);
    f.module->sm = str_intern_z(&f.module->tables.strs, "sm_86");
    CHECK(phase_plan(&f.ctx, f.module, why) && f.ctx.target.backend == &sm_80);
    CHECK(sm_find("sm_52", &f.ctx.options.target, why));
    CHECK(phase_plan(&f.ctx, f.module, why) && f.ctx.target.backend == &sm_50);
    CHECK(phase_plan(&f.ctx, NULL, why) && f.ctx.target.backend == &sm_50);
    CHECK_EQ(f.ctx.plan.at.n, n - 2);  // 46, 49
    fixture_close(&f);
}

// A context keeps its target.
TEST(sm_target_of_factory)
{
    Ctx *ctx = calloc(1, sizeof *ctx);
    ctx->target = (SmTarget){&sm_30, 0x3000};
    phase_factory(ctx);
    CHECK(ctx->target.backend == &sm_30);
    CHECK(ctx->phases[46].vtable->is_noop(&ctx->phases[46]));
    CHECK(ctx->phases[168].vtable->is_noop(&ctx->phases[168]));
    *ctx = (Ctx){0};
    phase_factory(ctx);
    CHECK(ctx->target.backend == &sm_90);
    CHECK(!ctx->phases[46].vtable->is_noop(&ctx->phases[46]));
    free(ctx);
}

void test_sm(void)
{
    RUN(sm_profiles);
    RUN(sm_capability_bits);
    RUN(sm_families);
    RUN(sm_threshold_edges);
    RUN(sm_targets);
    RUN(sm_target_errors);
    RUN(sm_target_of_any_module);
    RUN(sm_target_list);
    RUN(sm_slots);
    RUN(sm_rows);
    RUN(sm_sentinels);
    RUN(sm_query_status);
    RUN(sm_template_is_whole);
    RUN(sm_operand_bytes);
    RUN(sm_answers);
    RUN(sm_dispatch);
    RUN(sm_no_dispatch);
    RUN(sm_target_of_plan);
    RUN(sm_target_of_factory);
}
