// SPDX-License-Identifier: MIT
// Tests that a context works after any failure: each failing allocation, each limit, each error of the caller. The next
// module must give the bytes of a new context.
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/unit.h"
#include "tools/lib/ori.h"

// A local array with two kinds of elements, a loop, a diamond, a call, a division by a constant, dumps by a pragma.
static const char small[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".func (.param .b32 r) twice(.param .b32 x)\n{\n\t.reg .b32 %r<3>;\n\tld.param.b32 %r1, [x];\n"
    "\tadd.s32 %r2, %r1, %r1;\n\tst.param.b32 [r], %r2;\n\tret;\n}\n"
    ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n\t.pragma \"knob DUMPIR=37\";\n"
    "\t.local .align 8 .b8 a[16];\n\t.reg .b64 %rd<9>;\n\t.reg .b32 %r<30>;\n\t.reg .pred %p<9>;\n"
    "\tld.param.u64 %rd1, [p];\n\tld.param.u32 %r1, [n];\n\tmov.u64 %rd2, a;\n\tcvta.local.u64 %rd3, %rd2;\n"
    "\tst.u32 [%rd3], %r1;\n\tst.u32 [%rd3+4], 3;\n\tmov.u32 %r2, 0;\n\tmov.u32 %r3, %tid.x;\n"
    "L:\n\tld.u32 %r4, [%rd3];\n\tmul.lo.s32 %r5, %r4, 8;\n\tadd.s32 %r6, %r5, %r2;\n\tmov.u32 %r7, %r6;\n"
    "\tsetp.gt.s32 %p1, %r3, 12;\n\t@%p1 bra A;\n\tadd.s32 %r8, %r7, 1;\n\tbra B;\n"
    "A:\n\tsub.s32 %r8, %r7, 1;\nB:\n\tst.u32 [%rd3], %r8;\n\tadd.s32 %r2, %r2, 1;\n\tsetp.lt.s32 %p2, %r2, %r1;\n"
    "\t@%p2 bra L;\n\tld.u64 %rd4, [%rd3];\n\tst.global.u64 [%rd1], %rd4;\n"
    "\t{\n\t.param .b32 x, r;\n\tst.param.b32 [x], %r8;\n\tcall (r), twice, (x);\n\tld.param.b32 %r9, [r];\n\t}\n"
    "\tshl.b32 %r10, %r9, 2;\n\tand.b32 %r11, %r10, -4;\n\tst.global.u32 [%rd1+8], %r11;\n\tret;\n}\n";

typedef struct Output {
    Sink printed, reported;
} Output;

static int print_to(void *user, const char *text, size_t n) { return sink_write(&((Output *)user)->printed, text, n); }

static void report_to(void *user, const char *text, size_t n) { sink_append(&((Output *)user)->reported, text, n); }

static void output_free(Output *o)
{
    sink_free(&o->printed);
    sink_free(&o->reported);
    *o = (Output){0};
}

static OriModule *read_text(OriContext *ori, const char *text)
{
    return ori_parse(ori, "k.ptx", text, strlen(text), ORI_ANY);
}

static OriStatus set_knobs(OriContext *ori) { return ori_set_knobs(ori, "CopyPropGlobalBudget=1000\nFoldBudget=9999"); }

// Reads, optimizes and prints the text, until a failure. The caller prints a module again if printing ran out of
// memory.
static OriStatus all_calls(OriContext *ori, const char *text, Output *out, OriModule **left)
{
    ori_on_report(ori, report_to, out);
    OriModule *m = read_text(ori, text);
    OriStatus status = m ? ori_optimize(ori, m) : ORI_LIMIT;
    bool optimized = status == ORI_OK;
    if (optimized)
        status = ori_print(ori, m, ORI_ANY, print_to, out);
    *left = optimized && status != ORI_OK ? m : NULL;
    if (!*left)
        ori_free(ori, m);
    return status;
}

static Output expected_of(const char *text)
{
    Output out = {0};
    OriModule *left;
    OriContext *ori = ori_open(NULL);
    CHECK_EQ(set_knobs(ori), ORI_OK);
    CHECK_EQ(all_calls(ori, text, &out, &left), ORI_OK);
    ori_close(ori);
    return out;
}

static bool same(const Sink *a, const Sink *b)
{
    return a->n == b->n && (!a->n || memcmp(a->text, b->text, a->n) == 0);
}

// Checks that a module that could not be printed prints now, and that the context repeats everything as a new one does.
static void check_continues(OriContext *ori, const char *text, OriModule *left, const Output *expected)
{
    Output out = {0};
    if (left) {
        CHECK_EQ(ori_print(ori, left, ORI_ANY, print_to, &out), ORI_OK);
        CHECK(same(&out.printed, &expected->printed));
        ori_free(ori, left);
        output_free(&out);
    }
    CHECK_EQ(all_calls(ori, text, &out, &left), ORI_OK);
    CHECK(same(&out.printed, &expected->printed));
    CHECK(same(&out.reported, &expected->reported));
    output_free(&out);
}

/* -- Allocations ---------------------------------------------------------------------------------------- */

typedef struct Failing {
    uint64_t calls, fail_from;  // allocations so far; from this one on they fail, 0 = never
    uint64_t held;
} Failing;

static void *failing_alloc(void *user, size_t bytes)
{
    Failing *f = user;
    if (++f->calls >= f->fail_from && f->fail_from)
        return NULL;
    f->held += bytes;
    return malloc(bytes);
}

static void failing_free(void *user, void *p, size_t bytes)
{
    ((Failing *)user)->held -= bytes;
    free(p);
}

static uint64_t count_allocations(const char *text)
{
    Failing f = {0};
    Output out = {0};
    OriModule *left;
    OriContext *ori = ori_open(&(OriAllocator){failing_alloc, failing_free, &f});
    CHECK_EQ(set_knobs(ori), ORI_OK);
    CHECK_EQ(all_calls(ori, text, &out, &left), ORI_OK);
    output_free(&out);
    ori_close(ori);
    return f.calls;
}

static void fail_allocation(const char *text, uint64_t k, const Output *expected)
{
    Failing f = {0};
    Output out = {0};
    OriModule *left = NULL;
    OriContext *ori = ori_open(&(OriAllocator){failing_alloc, failing_free, &f});
    unit_context("allocations from %llu on fail", (unsigned long long)k);
    f.fail_from = k;
    OriStatus status = set_knobs(ori);
    bool set = status == ORI_OK;
    if (set)
        status = all_calls(ori, text, &out, &left);
    CHECK_EQ(status, ORI_LIMIT);
    output_free(&out);
    f.fail_from = 0;
    if (!set)
        CHECK_EQ(set_knobs(ori), ORI_OK);
    check_continues(ori, text, left, expected);
    ori_close(ori);
    CHECK_EQ(f.held, 0);
}

// Fails allocations, at most `most`, one per run. Under AddressSanitizer each allocation of an arena calls the system,
// otherwise one in a few megabytes.
static void fail_allocations(const char *text, uint64_t most)
{
    Output expected = expected_of(text);
    uint64_t n = count_allocations(text), step = n / most + 1;
    for (uint64_t k = 2; k <= n; k += step)
        fail_allocation(text, k, &expected);
    output_free(&expected);
}

static char *read_sample(const char *path)
{
    Sink s = {0};
    char part[4096];
    FILE *file = fopen(path, "rb");
    if (!CHECK(file != NULL))
        return NULL;
    for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;)
        sink_append(&s, part, n);
    sink_append(&s, "", 1);
    fclose(file);
    return s.text;
}

static const char sample[] = "samples/ptx/local_array.O0.ptx";

// Small enough to fail every allocation.
static const char tiny[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u32 n)\n{\n\t.reg .b32 %r<3>;\n"
    "\tld.param.u32 %r1, [n];\nL:\n\tadd.s32 %r1, %r1, 1;\n\tbra L;\n}\n";

TEST(recovery_allocations_tiny) { fail_allocations(tiny, ARENA_EXACT ? 400 : UINT64_MAX); }

TEST(recovery_allocations) { fail_allocations(small, 80); }

TEST(recovery_allocations_sample)
{
    char *text = read_sample(sample);
    if (text)
        fail_allocations(text, 30);
    free(text);
}

/* -- Limits --------------------------------------------------------------------------------------------- */

// Tries memory limits, which fail at each chunk of an arena. Each limit exceeds the last one by 1 / `growth`.
static void limit_memory(const char *text, size_t growth)
{
    Output expected = expected_of(text);
    OriStatus status = ORI_LIMIT;
    for (size_t limit = 4096; status == ORI_LIMIT; limit += 4096 + limit / growth) {
        Output out = {0};
        OriModule *left = NULL;
        OriContext *ori = ori_open(NULL);
        unit_context("a limit of %zu bytes", limit);
        CHECK_EQ(set_knobs(ori), ORI_OK);
        ori_set_limits(ori, limit, 0);
        status = all_calls(ori, text, &out, &left);
        CHECK(status == ORI_OK || status == ORI_LIMIT);
        output_free(&out);
        ori_set_limits(ori, 0, 0);
        check_continues(ori, text, left, &expected);
        ori_close(ori);
    }
    output_free(&expected);
}

TEST(recovery_memory_limits) { limit_memory(small, ARENA_EXACT ? 25 : SIZE_MAX); }

TEST(recovery_memory_limits_sample)
{
    char *text = read_sample(sample);
    if (text)
        limit_memory(text, ARENA_EXACT ? 12 : 100);
    free(text);
}

// All in one context.
TEST(recovery_other_limits)
{
    char *text = read_sample(sample);
    OriContext *ori = ori_open(NULL);
    Output out = {0};
    OriModule *left;
    if (!text)
        return;
    Output expected = expected_of(text);
    CHECK_EQ(set_knobs(ori), ORI_OK);
    for (double seconds = 1e-9; seconds < 0.02; seconds += ARENA_EXACT ? 2e-3 : 4e-4) {
        unit_context("a limit of %g seconds", seconds);
        ori_set_limits(ori, 0, seconds);
        OriStatus status = all_calls(ori, text, &out, &left);
        CHECK(status == ORI_LIMIT || (status == ORI_OK && seconds > 1e-9));
        output_free(&out);
        ori_set_limits(ori, 0, 0);
        check_continues(ori, text, left, &expected);
    }
    unit_context("a limit of 10 instructions");
    ori_set_max_instructions(ori, 10);
    CHECK(!read_text(ori, text));
    CHECK_EQ(all_calls(ori, ".version 8.0\n.target sm_80\n.entry k()\n{\n\tret;\n}\n", &out, &left), ORI_OK);
    ori_set_max_instructions(ori, 0);
    output_free(&out);
    check_continues(ori, text, NULL, &expected);
    ori_close(ori);
    output_free(&expected);
    free(text);
}

/* -- Errors of the caller ------------------------------------------------------------------------------- */

static void wrong_text(OriContext *ori)
{
    CHECK(!read_text(ori, ".version 8.0\n.target sm_80\n.entry k()\n{\n\tadd.s32 %r1, 2;\n"));
}

static void wrong_pragma(OriContext *ori)
{
    CHECK(
        !read_text(ori, ".version 8.0\n.target sm_80\n.entry k()\n{\n\t.pragma \"knob DUMPIR=Nowhere\";\n\tret;\n}\n"));
}

static void wrong_phase(OriContext *ori)
{
    OriModule *m = read_text(ori, small);
    CHECK_EQ(ori_run_phases(ori, m, "GvnCsee"), ORI_USAGE);
    ori_free(ori, m);
}

static void wrong_knob(OriContext *ori)
{
    CHECK_EQ(ori_set_knobs(ori, "FoldBudget=1\nFoldBudgett=1"), ORI_BAD_INPUT);
    CHECK_EQ(ori_set_knobs(ori, "FoldBudget=many"), ORI_BAD_INPUT);
}

static int refuse(void *user, const char *text, size_t n) { return (void)user, (void)text, (void)n, 0; }

static void wrong_writer(OriContext *ori)
{
    OriModule *m = read_text(ori, small);
    CHECK_EQ(ori_print(ori, m, ORI_ANY, refuse, NULL), ORI_IO);
    ori_free(ori, m);
}

static void wrong_form(OriContext *ori)
{
    OriModule *m = read_text(ori, small);
    CHECK_EQ(ori_run_phases(ori, m, "GenerateMovPhi"), ORI_OK);
    CHECK_EQ(ori_print(ori, m, ORI_PTX, refuse, NULL), ORI_BAD_INPUT);
    ori_free(ori, m);
}

static void wrong_settings(OriContext *ori)
{
    CHECK_EQ(ori_set_level(ori, 9), ORI_USAGE);
    CHECK_EQ(ori_set_target(ori, "sm_1"), ORI_USAGE);
    CHECK_EQ(ori_set_threads(ori, 0), ORI_USAGE);
}

TEST(recovery_errors)
{
    static void (*const errors[])(OriContext *) = {wrong_text,   wrong_pragma, wrong_phase,   wrong_knob,
                                                   wrong_writer, wrong_form,   wrong_settings};
    Output expected = expected_of(small);
    OriContext *ori = ori_open(NULL);
    CHECK_EQ(set_knobs(ori), ORI_OK);
    for (size_t k = 0; k < ARRAY_LEN(errors); k++) {
        unit_context("error %zu", k);
        errors[k](ori);
        check_continues(ori, small, NULL, &expected);
    }
    ori_close(ori);
    output_free(&expected);
}

/* -- Reports -------------------------------------------------------------------------------------------- */

// Reports by phases, by a knob, by a conditional knob and by a pragma, on one thread and on several; also without a
// callback.
TEST(recovery_reports)
{
    static const char *const knobs[] = {"DUMPIR=GenerateMovPhi", "WHEN=FN=k;DUMPIR=12", "WHEN=FN=k;NamedPhases=9,102"};
    static const char plain[] = ".version 8.0\n.target sm_80\n.entry k()\n{\n\tret;\n}\n.entry l()\n{\n\tret;\n}\n";
    for (size_t k = 0; k <= ARRAY_LEN(knobs); k++) {
        for (unsigned how = 0; how < 4; how++) {
            Output out = {0};
            OriContext *ori = ori_open(NULL);
            unit_context("knob %zu, threads and reports %u", k, how);
            if (k < ARRAY_LEN(knobs))
                CHECK_EQ(ori_set_knobs(ori, knobs[k]), ORI_OK);
            ori_set_threads(ori, how & 1 ? 3 : 1);
            ori_on_report(ori, how & 2 ? report_to : NULL, &out);
            OriModule *m = read_text(ori, plain);
            CHECK_EQ(ori_optimize(ori, m), ORI_OK);
            if (k == ARRAY_LEN(knobs))
                CHECK_EQ(ori_run_phases(ori, m, "9,96,102,126,129"), ORI_OK);
            CHECK_EQ(ori_print(ori, m, ORI_ANY, print_to, &out), ORI_OK);
            CHECK_EQ(out.reported.n > 0, how >> 1 & 1);
            sink_append(&out.reported, "", 1);
            CHECK(!(how & 2) || strstr(out.reported.text, "*** "));
            output_free(&out);
            ori_close(ori);
        }
    }
}

void test_recovery(void)
{
    RUN(recovery_allocations_tiny);
    RUN(recovery_allocations);
    RUN(recovery_allocations_sample);
    RUN(recovery_memory_limits);
    RUN(recovery_memory_limits_sample);
    RUN(recovery_other_limits);
    RUN(recovery_errors);
    RUN(recovery_reports);
}
