// SPDX-License-Identifier: MIT
// Tests the errors that the manager detects: phases with a false progress or a false `keeps`, broken functions, forms.
#include <stdio.h>

#include "tests/unit/unit.h"

enum { ROW_CHECK = 0, ROW_NOP = 158 };  // ROW_NOP keeps everything

// Builds a function of two blocks, in a context that checks contracts and runs NOP.
static void start(Fixture *f)
{
    static char why[500];
    fixture_open(f);
    Fn *fn = f->fn;
    RegId r = reg_new(fn, RF_R, W32);
    BlockId a = add_block(fn, 0), b = add_block(fn, 1);
    emit(fn, a, "mov.b32", "%,%", 0, OPS(def(fn, r), op_const(fn, 1, W32)));
    emit_bra(fn, a, b);
    emit_ret(fn, b);
    module_freeze(f->module);
    f->ctx.options = (PhaseOptions){.level = 3, .named = "NOP", .contracts = true, .verify = VM_EACH};
    CHECK(phase_plan(&f->ctx, NULL, why));
}

static void run(void *user)
{
    Fixture *f = user;
    phase_run(&f->ctx, &f->module->fns.at[0]);
}

static PhaseVtable vtable_with(const Fixture *f, bool (*execute)(Phase *, Fn *))
{
    PhaseVtable v = *f->ctx.phases[ROW_NOP].vtable;
    v.execute = execute;
    return v;
}

// Returns the message of the failure, after phase and function.
static const char *message(const Fixture *f)
{
    const char *colon = strstr(f->ctx.heap.message, ": ");
    return colon ? colon + 2 : f->ctx.heap.message;
}

static bool change_and_deny(Phase *phase, Fn *fn)
{
    (void)phase;
    ir_remove(fn, ir_block(fn, fn->first)->first);
    return false;
}

static bool boast(Phase *phase, Fn *fn) { return (void)phase, (void)fn, true; }

static bool change(Phase *phase, Fn *fn)
{
    (void)phase;
    ir_remove(fn, ir_block(fn, fn->first)->first);
    return true;
}

// Leaves the second block without a predecessor, although the row keeps the CFG.
static bool change_the_flow(Phase *phase, Fn *fn)
{
    (void)phase;
    *ir_use(fn, ir_instr(fn, ir_terminator(fn, fn->first)), 0) = op_block(fn->first);
    return true;
}

static bool need_and_change_the_flow(Phase *phase, Fn *fn)
{
    analysis_need(fn, AN_RPO);
    return change_the_flow(phase, fn);
}

static bool break_it(Phase *phase, Fn *fn)
{
    (void)phase;
    ir_remove(fn, ir_terminator(fn, fn->last));
    return true;
}

TEST(contract_kept)
{
    Fixture f;
    start(&f);
    PhaseVtable v = vtable_with(&f, change);
    f.ctx.phases[ROW_NOP].vtable = &v;
    run(&f);
    CHECK_EQ(f.ctx.progress[ROW_NOP], 1);
    fixture_close(&f);
}

static void lie(bool (*execute)(Phase *, Fn *), const char *expected)
{
    Fixture f;
    start(&f);
    PhaseVtable v = vtable_with(&f, execute);
    f.ctx.phases[ROW_NOP].vtable = &v;
    CHECK_FAILS(&f.ctx.heap, ST_INTERNAL, run, &f);
    CHECK(strncmp(f.ctx.heap.message, "NOP (phase 158), function f", 27) == 0);
    unit_context("%s", f.ctx.heap.message);
    CHECK(strstr(f.ctx.heap.message, expected) != NULL);
    heap_release(&f.ctx.heap);
}

TEST(contract_progress) { lie(change_and_deny, "changed the function and reports no progress"); }
TEST(contract_no_progress) { lie(boast, "reports progress and changed nothing"); }
TEST(contract_keeps) { lie(need_and_change_the_flow, "CFG was kept but is out of date"); }
TEST(contract_verifies) { lie(break_it, "function f: block 2 has no instructions"); }

// Without contracts and verification there is no check.
TEST(contract_off)
{
    Fixture f;
    start(&f);
    f.ctx.options.contracts = false;
    f.ctx.options.verify = VM_NONE;
    PhaseVtable v = vtable_with(&f, change_and_deny);
    f.ctx.phases[ROW_NOP].vtable = &v;
    run(&f);
    CHECK_EQ(f.ctx.progress[ROW_NOP], 0);
    fixture_close(&f);
}

static bool break_a_type(Phase *phase, Fn *fn)
{
    (void)phase;
    ir_reg(fn, 1)->width = W64;
    return false;
}

// Builds the function, with a plan whose first row breaks a type.
static void start_broken(Fixture *f, const char *named, VerifyMode verify)
{
    static char why[500];
    static PhaseVtable v;
    start(f);
    f->ctx.options = (PhaseOptions){.level = 0, .named = named, .verify = verify};
    CHECK(phase_plan(&f->ctx, NULL, why));
    v = *f->ctx.phases[ROW_CHECK].vtable;
    v.execute = break_a_type;
    f->ctx.phases[ROW_CHECK].vtable = &v;
}

// The rows that verify do so if they are named, or if every phase is verified.
TEST(verify_rows)
{
    Fixture f;
    start_broken(&f, NULL, VM_NONE);
    run(&f);
    fixture_close(&f);
    start_broken(&f, "OriCheckInitialProgram,OriSanitize", VM_NONE);
    CHECK_FAILS(&f.ctx.heap, ST_INTERNAL, run, &f);
    CHECK(strstr(f.ctx.heap.message, "OriSanitize (phase 12)") != NULL);
    heap_release(&f.ctx.heap);
    start_broken(&f, NULL, VM_FINAL);
    CHECK_FAILS(&f.ctx.heap, ST_INTERNAL, run, &f);
    unit_context("%s", f.ctx.heap.message);
    CHECK(strstr(f.ctx.heap.message, "OriSanitize") == NULL);
    heap_release(&f.ctx.heap);
}

// An invalid analysis is not checked: the flow changes, but no analysis was valid.
TEST(contract_keeps_nothing)
{
    Fixture f;
    start(&f);
    PhaseVtable v = vtable_with(&f, change_the_flow);
    f.ctx.phases[ROW_NOP].vtable = &v;
    run(&f);
    CHECK_EQ(f.ctx.progress[ROW_NOP], 1);
    fixture_close(&f);
}

TEST(self_checks_replace)
{
    Fixture f;
    start(&f);
    f.ctx.options.self_clone = f.ctx.options.self_roundtrip = true;
    uint32_t instrs = f.fn->ninstrs;
    f.module->syms.at[f.fn->sym].fn = f.fn;
    Fn *before = f.fn;
    run(&f);
    CHECK(f.module->fns.at[0] != before);
    CHECK(f.module->syms.at[f.module->fns.at[0]->sym].fn == f.module->fns.at[0]);
    CHECK_EQ(f.module->fns.at[0]->ninstrs, instrs);
    CHECK_VERIFIES(f.module->fns.at[0]);
    fixture_close(&f);
}

// A function in ssa form gets a phase of multi form, and the conversion is not implemented.
TEST(form_mismatch)
{
    Fixture f;
    char why[500];
    start(&f);
    f.ctx.options.named = "OriRemoveNopCode";
    f.ctx.plan.at.n = 0;
    CHECK(phase_plan(&f.ctx, NULL, why));
    f.fn->form = FORM_SSA;
    if (!phase_info[PH_CONVERT_MOV_PHI].body) {
        CHECK_FAILS(&f.ctx.heap, ST_BAD_INPUT, run, &f);
        CHECK(strstr(message(&f), "ssa form") || strstr(f.ctx.heap.message, "ssa form"));
        heap_release(&f.ctx.heap);
        return;
    }
    run(&f);
    CHECK_EQ(f.module->fns.at[0]->form, FORM_MULTI);
    fixture_close(&f);
}

void test_contracts(void)
{
    RUN(contract_kept);
    RUN(contract_progress);
    RUN(contract_no_progress);
    RUN(contract_keeps);
    RUN(contract_verifies);
    RUN(contract_off);
    RUN(verify_rows);
    RUN(contract_keeps_nothing);
    RUN(self_checks_replace);
    RUN(form_mismatch);
}
