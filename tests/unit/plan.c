// SPDX-License-Identifier: MIT
// Tests plans and budgets: the effects of knobs, for the module and for one function, on a backend whose hooks record
// their calls.
#include <stdio.h>

#include "tests/unit/unit.h"

/* -- Hooks ---------------------------------------------------------------------------------------------- */

// Executed hooks, in order: row, slot, level.
static Run seen[16];
static uint32_t nseen;

static bool record_hook(Ctx *ctx, Fn *fn)
{
    (void)fn;
    if (nseen < ARRAY_LEN(seen))
        seen[nseen++] = ctx->run;
    return false;
}

static SmBackend noting(void)
{
    SmBackend own = sm_80;
    own.before_conv_unsup = record_hook;      // 4, always
    own.general_optimize_mid2 = record_hook;  // 46, 49, 50, 65: above -O1
    own.gvn_cse = record_hook;
    own.reassociate_and_common = record_hook;
    own.general_optimize_late2 = record_hook;
    own.scoreboards_and_opexes = record_hook;  // 115, from -O1 on
    return own;
}

/* -- A function, knobs, a plan -------------------------------------------------------------------------- */

typedef struct Planned {
    Fixture f;
    SmBackend backend;
    KnobStore *store;
    Sink messages;
} Planned;

// With `moves`, the function has a move of a register.
static void open_plan(Planned *p, bool moves)
{
    p->backend = noting();
    p->messages = (Sink){0};
    fixture_open(&p->f);
    Fn *fn = p->f.fn;
    BlockId b = add_block(fn, 0);
    RegId r = reg_new(fn, RF_R, W32);
    emit(fn, b, "mov.b32", "%,%", 0, OPS(def(fn, r), op_const(fn, 1, W32)));
    if (moves)
        emit(fn, b, "mov.b32", "%,%", 0, OPS(def(fn, r), use(fn, r)));
    emit_ret(fn, b);
    p->store = phase_knobs(&p->f.ctx.arena);
    p->f.ctx.settings = p->store;
    p->f.ctx.diag = (Diag){.write = sink_append, .user = &p->messages};
    p->f.ctx.options = (PhaseOptions){.level = 3, .contracts = true, .verify = VM_EACH};
    p->f.ctx.options.target = (SmTarget){&p->backend, p->backend.profile.encoded};
    nseen = 0;
}

static bool set(Planned *p, KnobSource from, const char *text)
{
    return knob_read_text(p->store, from, text, strlen(text), KNOB_NO_OFFSET, &p->f.ctx.diag);
}

static void pragma(Planned *p, const char *text) { fn_note_knob(p->f.fn, text, strlen(text), 0); }

static void make(Planned *p)
{
    char why[500] = "";
    module_freeze(p->f.module);
    if (!CHECK(phase_plan(&p->f.ctx, p->f.module, why)))
        CHECK_Z(why, "");
}

static void run(Planned *p)
{
    make(p);
    phase_run(&p->f.ctx, &p->f.module->fns.at[0]);
}

static void close_plan(Planned *p)
{
    sink_free(&p->messages);
    if (p->f.ctx.knobs.store)
        knobs_free(&p->f.ctx.knobs);
    fixture_close(&p->f);
}

// Returns the executed hooks as `row/level row/level`.
static const char *ran(void)
{
    static char text[200];
    size_t n = 0;
    text[0] = 0;
    for (uint32_t k = 0; k < nseen; k++)
        n += (size_t)snprintf(text + n, sizeof text - n, n ? " %d/%d" : "%d/%d", seen[k].row, seen[k].level);
    return text;
}

// Returns a plan as text, with slots that differ from rows.
static const char *rows(const Plan *plan)
{
    static char text[1000];
    size_t n = 0;
    text[0] = 0;
    for (uint32_t k = 0; k < plan->at.n; k++) {
        const PlanEntry *e = &plan->at.at[k];
        n += (size_t)snprintf(text + n, sizeof text - n, e->row == e->slot ? "%s%d%s" : "%s%d%s@%d", n ? " " : "",
                              e->row, e->inserted ? "i" : "", e->slot);
    }
    return text;
}

/* -- OptBudget ------------------------------------------------------------------------------------------ */

// Disables all gates above -O1 except five, so that the cases stay valid when another phase gets a body.
static void disable_other_gates(Planned *p)
{
    static char list[5 * PHASE_ROWS];
    size_t n = 0;
    for (int k = 0; k < PHASE_ROWS; k++)
        if ((phase_info[k].gate == PG_O2 || phase_info[k].gate == PG_O3) && k != 37 && k != 46 && k != 49 && k != 50 &&
            k != 65)
            n += (size_t)snprintf(list + n, sizeof list - n, n ? ",%d" : "%d", k);
    p->f.ctx.options.disabled = list;
}

// Gates above -O1 spend the budget; after its end, phases see -O1.
TEST(plan_opt_budget)
{
    static const struct {
        int level;
        const char *setting, *expected;
        uint32_t left;
    } cases[] = {
        {3, NULL, "4/3 46/3 49/3 50/3 65/3 115/3", 0},
        {3, "OptBudget=0", "4/1 115/1", 0},
        {3, "OptBudget=1", "4/3 115/1", 0},
        {3, "OptBudget=2", "4/3 46/1 115/1", 0},
        {3, "OptBudget=3", "4/3 46/3 49/1 115/1", 0},
        {3, "OptBudget=5", "4/3 46/3 49/3 50/3 65/1 115/1", 0},
        {3, "OptBudget=6", "4/3 46/3 49/3 50/3 65/3 115/3", 1},
        {3, "OptBudget=9223372036854775807", "4/3 46/3 49/3 50/3 65/3 115/3", 0},
        {2, NULL, "4/2 46/2 49/2 50/2 65/2 115/2", 0},
        {2, "OptBudget=1", "4/2 115/1", 0},
        {2, "OptBudget=2", "4/2 46/1 115/1", 0},
        {1, NULL, "4/1 115/1", 0},
        {1, "OptBudget=7", "4/1 115/1", 7},
        {1, "OptBudget=0", "4/1 115/1", 0},
        {0, NULL, "4/0", 0},
        {0, "OptBudget=0", "4/0", 0},
    };
    for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
        Planned p;
        unit_context("-O%d %s", cases[k].level, cases[k].setting ? cases[k].setting : "");
        open_plan(&p, true);
        p.f.ctx.options.level = cases[k].level;
        disable_other_gates(&p);
        if (cases[k].setting)
            CHECK(set(&p, KS_COMMAND_LINE, cases[k].setting));
        run(&p);
        CHECK_Z(ran(), cases[k].expected);
        if (cases[k].left)
            CHECK_EQ(knob_left(&p.f.ctx.knobs, KNOB_OPT_BUDGET), cases[k].left);
        close_plan(&p);
    }
}

// Budgets are restored for each function, and those of a record or pragma are counted separately.
TEST(plan_budget_of_a_function)
{
    static const struct {
        const char *setting, *pragma, *expected;
    } cases[] = {
        {"OptBudget=2", NULL, "4/3 46/1 115/1"},
        {"OptBudget=2", "knob OptBudget=3", "4/3 46/3 49/1 115/1"},
        {"WHEN=FN=f;OptBudget=0", "knob OptBudget=3", "4/1 115/1"},
        {"WHEN=FN=g;OptBudget=0", "knob OptBudget=3", "4/3 46/3 49/1 115/1"},
        {"WHEN=PH=37;OptBudget=0", NULL, "4/3 46/3 49/3 50/3 65/3 115/3"},
        {"WHEN=PH=49;OptBudget=0", NULL, "4/3 46/3 50/3 65/3 115/3"},
        {"WHEN=PH=46..50;OptBudget=2", NULL, "4/3 46/3 49/1 65/3 115/3"},
        {"OptBudget=2~WHEN=PH=49;OptBudget=5", NULL, "4/3 46/1 49/3 115/1"},
        {"OptBudget=0~WHEN=PH=115;OptBudget=1", NULL, "4/1 115/3"},
    };
    for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
        Planned p;
        unit_context("%s, %s", cases[k].setting, cases[k].pragma ? cases[k].pragma : "no pragma");
        open_plan(&p, true);
        disable_other_gates(&p);
        CHECK(set(&p, KS_COMMAND_LINE, cases[k].setting));
        if (cases[k].pragma)
            pragma(&p, cases[k].pragma);
        make(&p);
        for (int time = 0; time < 2; time++) {
            nseen = 0;
            phase_run(&p.f.ctx, &p.f.module->fns.at[0]);
            CHECK_Z(ran(), cases[k].expected);
        }
        close_plan(&p);
    }
}

// An explicit plan spends the budget, too.
TEST(plan_budget_of_named_phases)
{
    Planned p;
    open_plan(&p, true);
    p.f.ctx.options.named = "49,50,49,115";
    CHECK(set(&p, KS_COMMAND_LINE, "OptBudget=2"));
    run(&p);
    CHECK_Z(ran(), "49/3 50/1 115/1");
    close_plan(&p);
}

/* -- Recipes -------------------------------------------------------------------------------------------- */

static uint32_t runs_of(const Planned *p, int row) { return p->f.ctx.runs[row]; }

TEST(plan_recipes)
{
    static const struct {
        const char *recipes, *disabled;
        bool moves;
        const char *named;
        uint32_t runs;  // runs of row 164
    } cases[] = {
        {NULL, NULL, true, NULL, 2},
        {NULL, NULL, false, NULL, 1},  // the one after 73 has no condition
        {"on", NULL, true, NULL, 2},
        {"off", NULL, true, NULL, 0},
        {"OriRemoveRedundantMov@9", NULL, true, NULL, 1},
        {"OriRemoveRedundantMov@9", NULL, false, NULL, 0},
        {"OriRemoveRedundantMov@73", NULL, false, NULL, 1},
        {"164", NULL, true, NULL, 2},
        {NULL, "1", true, NULL, 0},  // the conditions are not evaluated
        {NULL, "9", true, NULL, 2},  // a slot keeps its recipes
        {NULL, "73", true, NULL, 2},
        {NULL, "OriRemoveRedundantMov@9", true, NULL, 1},
        {NULL, "OriRemoveRedundantMov@9,OriRemoveRedundantMov@73", true, NULL, 0},
        {NULL, "8..9", true, NULL, 1},
        {NULL, "9..73", true, NULL, 0},
        {NULL, "10..72", true, NULL, 2},
        {NULL, "164", true, NULL, 0},
        {"off", NULL, false, "164", 1},
        {NULL, NULL, false, "OriRemoveRedundantMov@9", 1},  // no phase 1: unconditional
        {NULL, NULL, false, "1,OriRemoveRedundantMov@9", 0},
        {NULL, NULL, true, "1,OriRemoveRedundantMov@9", 1},
        {NULL, NULL, false, "1,164", 1},  // no recipe
    };
    for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
        Planned p;
        char text[100];
        unit_context("row %d", (int)k);
        open_plan(&p, cases[k].moves);
        p.f.ctx.options.named = cases[k].named;
        p.f.ctx.options.disabled = cases[k].disabled;
        snprintf(text, sizeof text, "NvOptRecipes=%s", cases[k].recipes);
        if (cases[k].recipes)
            CHECK(set(&p, KS_ENVIRONMENT, text));
        run(&p);
        CHECK_EQ(runs_of(&p, 164), cases[k].runs);
        close_plan(&p);
    }
}

// ctx->run has the slot that a sub-pass follows.
static struct {
    int row[8], slot[8];
    uint32_t n;
} watched;

static void watch_before(void *user, Fn *fn, int row) { (void)user, (void)fn, (void)row; }

static void watch_after(void *user, Fn *fn, int row, bool progress)
{
    const Ctx *ctx = user;
    (void)fn, (void)progress;
    if (row == 164 && watched.n < ARRAY_LEN(watched.row)) {
        watched.row[watched.n] = ctx->run.row;
        watched.slot[watched.n++] = ctx->run.slot;
    }
}

TEST(plan_slot_of_a_run)
{
    static const struct {
        const char *named;
        uint32_t n;
        int slot[3];
    } cases[] = {
        {NULL, 2, {9, 73}},
        {"OriRemoveRedundantMov", 1, {164}},
        {"164", 1, {164}},
        {"OriRemoveRedundantMov@164", 1, {164}},
        {"OriRemoveRedundantMov@9,OriRemoveRedundantMov@50,OriRemoveRedundantMov@73", 3, {9, 50, 73}},
        {"10..12", 0, {0}},
    };
    for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
        Planned p;
        unit_context("%s", cases[k].named ? cases[k].named : "default");
        open_plan(&p, true);
        memset(&watched, 0, sizeof watched);
        p.f.ctx.options.named = cases[k].named;
        p.f.ctx.watch = (PhaseWatch){&p.f.ctx, watch_before, watch_after};
        run(&p);
        CHECK_EQ(watched.n, cases[k].n);
        for (uint32_t j = 0; j < watched.n; j++) {
            CHECK_EQ(watched.row[j], 164);
            CHECK_EQ(watched.slot[j], cases[k].slot[j]);
        }
        for (uint32_t j = 0; j < nseen; j++)
            CHECK_EQ(seen[j].slot, seen[j].row);
        close_plan(&p);
    }
}

TEST(plan_recipe_texts)
{
    static const struct {
        const char *text;
        uint32_t recipes;  // UINT32_MAX: all possible ones
        const char *why;   // NULL: valid
    } texts[] = {
        {NULL, UINT32_MAX, NULL},
        {"on", UINT32_MAX, NULL},
        {"off", 0, NULL},
        {"", 0, NULL},
        {" , +", 0, NULL},
        {"OriRemoveRedundantMov@9", 1, NULL},
        {"OriRemoveRedundantMov@73", 2, NULL},
        {"oriremoveredundantmov", 3, NULL},
        {"164,164", 3, NULL},
        {"off,164", 0, "NvOptRecipes: unknown phase 'off'"},
        {"9", 0,
         "NvOptRecipes: '9' is not a recipe; expected on, all, off, or recipes such as "
         "ConvertMemoryToRegisterOrUniform@3"},
        {"OriRemoveRedundantMov@9+OriCopyProp", 0, "NvOptRecipes: 'OriCopyProp' is not a recipe"},
        {"OriRemoveRedundantMov@", 0, "expected a phase number"},
    };
    for (size_t k = 0; k < ARRAY_LEN(texts); k++) {
        char why[500] = "";
        unit_context("%s", texts[k].text ? texts[k].text : "NULL");
        if (texts[k].text)
            CHECK_EQ(phase_check_knob(KNOB_NV_OPT_RECIPES, texts[k].text, why), !texts[k].why);
        if (texts[k].why && !strstr(why, texts[k].why))
            CHECK_Z(why, texts[k].why);
    }
}

/* -- Plans of functions --------------------------------------------------------------------------------- */

// The plan of a function is the context's own unless a setting differs.
TEST(plan_of_a_function)
{
    static const struct {
        const char *setting, *pragma, *expected;
        bool own;
    } cases[] = {
        {"NamedPhases=49", NULL, "23i 49 73i", false},
        {"NamedPhases=12+94", "knob OptBudget=1", "12 94", false},
        {"NamedPhases=12+94", "knob NamedPhases=3", "3", true},
        {"NamedPhases=12+94", "knob DisablePhases=94", "12", true},
        {"NamedPhases=12+94~DisablePhases=12", "knob DisablePhases=94", "12", true},
        {"NamedPhases=12~WHEN=FN=f;NamedPhases=\"94, 158\"", NULL, "94 158", true},
        {"NamedPhases=12~WHEN=FN=g;NamedPhases=94", NULL, "12", false},
        {"NamedPhases=12~WHEN=FN=f;NamedPhases=94", "knob NamedPhases=3", "94", true},
        {"NamedPhases=12", "knob WHEN=FN=f;NamedPhases=\"\"", "", true},
        {"NamedPhases=12", "knob WHEN=FH=0..;NamedPhases=3", "3", true},
        {"NamedPhases=12", "knob WHEN=PH=12;NamedPhases=3", "12", false},
        {"NamedPhases=0..12", "knob NvOptRecipes=off", "0 1 3 4 6 9 10 12", true},
        {"NamedPhases=OriRemoveRedundantMov@9", NULL, "164@9", false},
    };
    for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
        Planned p;
        Arena arena;
        Plan own = {0};
        unit_context("%s, %s", cases[k].setting, cases[k].pragma ? cases[k].pragma : "no pragma");
        open_plan(&p, true);
        CHECK(set(&p, KS_FILE, "[knobs]"));
        CHECK(set(&p, KS_COMMAND_LINE, cases[k].setting));
        if (cases[k].pragma)
            pragma(&p, cases[k].pragma);
        make(&p);
        arena_init(&arena, &p.f.ctx.heap);
        const Plan *plan = phase_enter_function(&p.f.ctx, p.f.module->fns.at[0], &arena, &own);
        CHECK_EQ(plan == &own, cases[k].own);
        CHECK_Z(rows(plan), cases[k].expected);
        arena_free(&arena);
        close_plan(&p);
    }
}

// A module's pragma applies to later functions, with lower precedence than those of the function.
TEST(plan_of_a_module)
{
    Planned p;
    open_plan(&p, true);
    const char *text = "knob NamedPhases=12";
    Module *m = p.f.module;
    module_note_knob(m, text, strlen(text), 7);
    module_note_knob(m, "nounroll", 8, 0);
    module_note_knob(m, "knob", 4, 0);
    module_note_knob(m, "knobs x", 7, 0);
    CHECK_EQ(m->knobs.n, 1);
    CHECK_EQ(m->knobs.at[0].offset, 12);
    CHECK_EQ(p.f.fn->knobs.n, 0);
    Name name = {str_intern_z(&m->tables.strs, "later"), NO_NUMBER};
    Fn *later = fn_new(m, module_sym(m, name, SYM_FUNC));
    CHECK_EQ(later->knobs.n, 1);
    fn_note_knob(later, "knob\tDisablePhases=3", 20, 40);
    CHECK_EQ(later->knobs.n, 2);
    CHECK_EQ(later->knobs.at[1].offset, 45);
    CHECK_EQ(m->knobs.n, 1);
    fn_free(later);
    make(&p);
    CHECK(phase_check_pragmas(&p.f.ctx, m, 0));
    close_plan(&p);
}

/* -- Errors --------------------------------------------------------------------------------------------- */

// Lists are checked when they are read, even if their condition never holds.
TEST(plan_list_errors)
{
    static const char *const errors[] = {
        "NamedPhases=Gvnn",
        "DisablePhases=12+255",
        "DUMPIR=\"9..3\"",
        "NvOptRecipes=maybe",
        "WHEN=FN=nobody;NamedPhases=Gvnn",
        "WHEN=FH=1;DisablePhases=GvnCse@50",
        "WHEN=PH=49;DUMPIR=CalcRegisterMap",
        "WHEN=FN=f;OptBudget=3;NvOptRecipes=9",
        "NamedPhases=GvnCse:1",
    };
    for (size_t k = 0; k < ARRAY_LEN(errors); k++)
        for (int from = KS_ENVIRONMENT; from <= KS_COMMAND_LINE; from++) {
            Planned p;
            char text[100];
            unit_context("%s from %d", errors[k], from);
            open_plan(&p, true);
            snprintf(text, sizeof text, "%s%s", from == KS_FILE ? "[knobs]\n" : "", errors[k]);
            CHECK(!set(&p, (KnobSource)from, text));
            CHECK_EQ(p.f.ctx.diag.errors, 1);
            make(&p);  // the record is dropped
            CHECK(p.f.ctx.plan.at.n > 10);
            close_plan(&p);
        }
    for (size_t k = 0; k < ARRAY_LEN(errors); k++) {
        Planned p;
        char text[100];
        Source source = {.name = "s", .text = "a\nb", .len = 3};
        unit_context("pragma %s", errors[k]);
        open_plan(&p, true);
        snprintf(text, sizeof text, "knob %s", errors[k]);
        pragma(&p, text);
        make(&p);
        p.f.ctx.diag.source = &source;
        CHECK(!phase_check_pragmas(&p.f.ctx, p.f.module, 0));
        CHECK_EQ(p.f.ctx.diag.errors, 1);
        CHECK(phase_check_pragmas(&p.f.ctx, p.f.module, 1));
        close_plan(&p);
    }
}

// Messages name options as options; an invalid pragma that was not checked is ignored.
TEST(plan_option_errors)
{
    Planned p;
    char why[500] = "", beyond[20], no_such[100];
    snprintf(beyond, sizeof beyond, "%d", PHASE_ROWS);
    snprintf(no_such, sizeof no_such, "--disable-phases: there is no phase %d; the last is %d", PHASE_ROWS,
             PHASE_ROWS - 1);
    open_plan(&p, true);
    p.f.ctx.options.named = "Gvnn";
    CHECK(!phase_plan(&p.f.ctx, p.f.module, why));
    CHECK(strncmp(why, "--named-phases: unknown phase 'Gvnn'", 36) == 0);
    close_plan(&p);
    open_plan(&p, true);
    p.f.ctx.options.disabled = beyond;
    CHECK(!phase_plan(&p.f.ctx, p.f.module, why));
    CHECK_Z(why, no_such);
    close_plan(&p);
    open_plan(&p, true);
    pragma(&p, "knob NamedPhases=Gvnn");
    pragma(&p, "knob OptBudget=0");
    run(&p);
    CHECK_Z(ran(), "4/1 115/1");
    CHECK_EQ(p.f.ctx.diag.errors, 0);
    close_plan(&p);
}

TEST(plan_knob_texts)
{
    char why[500];
    CHECK(phase_check_knob(KNOB_NAMED_PHASES, "", why));
    CHECK(phase_check_knob(KNOB_NAMED_PHASES, "0..158, GvnCse@49 + 12 ; rest\n13", why));
    CHECK(!phase_check_knob(KNOB_NAMED_PHASES, "0..158, GvnCse@49 + 12 ; rest\nx", why));
    CHECK(strncmp(why, "NamedPhases: unknown phase 'x'", 30) == 0);
    CHECK(!phase_check_knob(KNOB_DUMP_IR, "1..x", why));
    CHECK(strncmp(why, "DUMPIR: unknown phase 'x'", 25) == 0);
    CHECK(phase_check_knob(KNOB_OPT_BUDGET, "x", why));
}

void test_plan(void)
{
    RUN(plan_opt_budget);
    RUN(plan_budget_of_a_function);
    RUN(plan_budget_of_named_phases);
    RUN(plan_recipes);
    RUN(plan_slot_of_a_run);
    RUN(plan_recipe_texts);
    RUN(plan_of_a_function);
    RUN(plan_of_a_module);
    RUN(plan_list_errors);
    RUN(plan_option_errors);
    RUN(plan_knob_texts);
}
