// SPDX-License-Identifier: MIT
// Tests the interface of the library: contexts, messages, failing allocators, broken modules.
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/unit.h"
#include "tools/lib/ori.h"

static const char kernel[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n\n"
    ".visible .entry first(.param .u64 p)\n{\n\t.reg .b64 %rd<3>;\n\t.reg .b32 %r<3>;\n"
    "\tld.param.u64 %rd1, [p];\n\tmov.u32 %r2, 7;\n\tmov.u32 %r1, %tid.x;\n\tst.global.u32 [%rd1], %r1;\n\tret;\n}\n"
    ".func second()\n{\n\tret;\n}\n";

typedef struct Received {
    char text[1 << 14];
    size_t n, room;  // room: limit of the taken text
    unsigned messages;
    OriMessage last;
    char last_text[300], last_file[100];
} Received;

static int take(void *user, const char *text, size_t n)
{
    Received *t = user;
    if (t->n + n > t->room)
        return 0;
    memcpy(t->text + t->n, text, n);
    t->n += n;
    t->text[t->n] = 0;
    return 1;
}

static void record_message(void *user, const OriMessage *message)
{
    Received *t = user;
    t->messages++;
    t->last = *message;
    snprintf(t->last_text, sizeof t->last_text, "%s", message->text);
    snprintf(t->last_file, sizeof t->last_file, "%s", message->file ? message->file : "-");
    CHECK(strlen(message->rendered) > 0 && message->rendered[strlen(message->rendered) - 1] == '\n');
}

static OriContext *open_with(const OriAllocator *allocator, Received *t)
{
    OriContext *ori = ori_open(allocator);
    *t = (Received){.room = sizeof t->text - 1};
    if (ori)
        ori_on_message(ori, record_message, t);
    return ori;
}

static OriModule *parse(OriContext *ori, const char *text)
{
    return ori_parse(ori, "k.ptx", text, strlen(text), ORI_ANY);
}

TEST(ori_optimizes)
{
    Received t;
    OriContext *ori = open_with(NULL, &t);
    OriModule *m = parse(ori, kernel);
    CHECK(m != NULL);
    CHECK_EQ(ori_function_count(m), 2);
    CHECK_Z(ori_function_name(m, 0), "first");
    CHECK_Z(ori_function_name(m, 1), "second");
    CHECK(ori_function_name(m, 2) == NULL);
    CHECK_EQ(ori_optimize(ori, m), ORI_OK);
    CHECK_EQ(ori_print(ori, m, ORI_ANY, take, &t), ORI_OK);
    CHECK(strstr(t.text, ".entry first") && !strstr(t.text, ", 7;"));
    t.n = 0;
    CHECK_EQ(ori_print(ori, m, ORI_TEXT, take, &t), ORI_OK);
    CHECK(strncmp(t.text, "target sm_80", 12) == 0);
    CHECK_EQ(t.messages, 0);
    ori_free(ori, m);
    ori_close(ori);
}

// A level, threads and a second module in the same context.
TEST(ori_settings)
{
    Received t;
    OriContext *ori = open_with(NULL, &t);
    CHECK_EQ(ori_set_level(ori, 0), ORI_OK);
    CHECK_EQ(ori_set_threads(ori, 4), ORI_OK);
    CHECK_EQ(ori_set_verify(ori, ORI_VERIFY_EACH), ORI_OK);
    OriModule *m = parse(ori, kernel), *other = parse(ori, kernel);
    CHECK_EQ(ori_optimize(ori, m), ORI_OK);
    CHECK_EQ(ori_print(ori, m, ORI_PTX, take, &t), ORI_OK);
    CHECK(strstr(t.text, ", 7;") != NULL);
    CHECK_EQ(ori_set_level(ori, 3), ORI_OK);
    t.n = 0;
    CHECK_EQ(ori_optimize(ori, other), ORI_OK);
    CHECK_EQ(ori_print(ori, other, ORI_PTX, take, &t), ORI_OK);
    CHECK(strstr(t.text, ", 7;") == NULL);
    CHECK_EQ(t.messages, 0);
    CHECK_EQ(ori_set_level(ori, 5), ORI_USAGE);
    CHECK_EQ(ori_set_threads(ori, 0), ORI_USAGE);
    CHECK_EQ(ori_set_verify(ori, (OriVerify)7), ORI_USAGE);
    CHECK_EQ(t.messages, 3);
    ori_close(ori);
}

// A version of PTX applies to later calls of ori_parse().
TEST(ori_ptx_version)
{
    static const char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                               "\t.reg .b64 a;\n\tld.param.u64 a, [p];\n\tst.global.L1::no_allocate.u32 [a], 1;\n"
                               "\tret;\n}\n";
    Received t;
    OriContext *ori = open_with(NULL, &t);
    CHECK_EQ(ori_set_ptx_version(ori, "7.4"), ORI_OK);
    OriModule *m = parse(ori, text);
    CHECK_EQ(ori_optimize(ori, m), ORI_OK);
    CHECK_EQ(ori_print(ori, m, ORI_PTX, take, &t), ORI_OK);
    CHECK(strstr(t.text, ".version 7.4\n") != NULL);
    CHECK_EQ(ori_set_ptx_version(ori, NULL), ORI_OK);
    t.n = 0;
    CHECK_EQ(ori_print(ori, parse(ori, text), ORI_PTX, take, &t), ORI_OK);
    CHECK(strstr(t.text, ".version 8.0\n") != NULL);
    CHECK_EQ(t.messages, 0);
    CHECK_EQ(ori_set_ptx_version(ori, "7.3"), ORI_OK);
    CHECK(!ori_parse(ori, "k.ptx", text, strlen(text), ORI_ANY));
    CHECK_EQ(ori_parse_status(ori), ORI_BAD_INPUT);
    CHECK_EQ(t.messages, 1);
    CHECK_EQ(ori_set_ptx_version(ori, "7.9"), ORI_USAGE);
    CHECK_EQ(t.messages, 2);
    ori_close(ori);
}

// A list of symbols to keep is a knob. A later setting replaces the list.
TEST(ori_keeps_symbols)
{
    static const char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n.func dead()\n{\n\tret;\n}\n"
                               ".func called()\n{\n\tret;\n}\n.visible .entry k()\n{\n\tcall called;\n\tret;\n}\n";
    static const char *const knobs[] = {"KeepSymbols=\"\"", "KeepSymbols=x,de*", "KeepSymbols=x,called"};
    Received t;
    OriContext *ori = open_with(NULL, &t);
    for (int k = 0; k < 3; k++) {
        CHECK_EQ(ori_set_knobs(ori, knobs[k]), ORI_OK);
        OriModule *m = parse(ori, text);
        t.n = 0;
        CHECK_EQ(ori_optimize(ori, m), ORI_OK);
        CHECK_EQ(ori_print(ori, m, ORI_PTX, take, &t), ORI_OK);
        CHECK_EQ(strstr(t.text, "dead") != NULL, k == 1);
        CHECK_EQ(strstr(t.text, "called") != NULL, k == 2);
        ori_free(ori, m);
    }
    CHECK_EQ(t.messages, 0);
    ori_close(ori);
}

TEST(ori_named_plan)
{
    Received t;
    OriContext *ori = open_with(NULL, &t);
    OriModule *m = parse(ori, kernel);
    CHECK_EQ(ori_run_phases(ori, m, "NoSuchPhase"), ORI_USAGE);
    CHECK_EQ(t.messages, 1);
    CHECK(strstr(t.last_text, "unknown phase") != NULL);
    CHECK_EQ(ori_run_phases(ori, m, "NOP"), ORI_OK);
    CHECK_EQ(ori_print(ori, m, ORI_PTX, take, &t), ORI_OK);
    CHECK(strstr(t.text, ", 7;") != NULL);
    // The module stays in ssa form, which PTX cannot express.
    CHECK_EQ(ori_run_phases(ori, m, "GenerateMovPhi"), ORI_OK);
    CHECK_EQ(ori_print(ori, m, ORI_PTX, take, &t), ORI_BAD_INPUT);
    CHECK(strstr(t.last_text, "ssa form") != NULL);
    t.n = 0;
    CHECK_EQ(ori_print(ori, m, ORI_TEXT, take, &t), ORI_OK);
    CHECK_EQ(ori_run_phases(ori, m, "ConvertAllMovPhiToMov,EarlyOriSimpleLiveDead"), ORI_OK);
    t.n = 0;
    CHECK_EQ(ori_print(ori, m, ORI_PTX, take, &t), ORI_OK);
    CHECK(strstr(t.text, ", 7;") == NULL);
    ori_close(ori);
}

TEST(ori_messages)
{
    Received t;
    OriContext *ori = open_with(NULL, &t);
    CHECK(parse(ori, ".version 8.0\n.target sm_80\n.entry k() { mov.u32 %q, 1; }\n") == NULL);
    CHECK_EQ(t.messages, 1);
    CHECK_EQ(t.last.severity, ORI_ERROR);
    CHECK_EQ(t.last.line, 3);
    CHECK_EQ(t.last.column, 22);
    CHECK_Z(t.last_file, "k.ptx");
    CHECK(parse(ori, "") == NULL);
    CHECK_EQ(t.messages, 2);
    // No callback for messages.
    ori_on_message(ori, NULL, NULL);
    CHECK(parse(ori, "nonsense") == NULL);
    CHECK(ori_parse(ori, NULL, kernel, sizeof kernel - 1, ORI_PTX) != NULL);
    CHECK_Z(ori_status_text(ORI_LIMIT), "a limit was reached");
    CHECK_Z(ori_status_text((OriStatus)99), "no status");
    ori_close(ori);
    ori_close(NULL);
}

TEST(ori_parse_statuses)
{
    Received t;
    OriContext *ori = open_with(NULL, &t);
    CHECK_EQ(ori_parse_status(ori), ORI_OK);
    CHECK(parse(ori, "nonsense") == NULL);
    CHECK_EQ(ori_parse_status(ori), ORI_BAD_INPUT);
    CHECK(parse(ori, kernel) != NULL);
    CHECK_EQ(ori_parse_status(ori), ORI_OK);
    CHECK_EQ(ori_set_max_instructions(ori, 3), ORI_OK);
    CHECK(parse(ori, kernel) == NULL);
    CHECK_EQ(ori_parse_status(ori), ORI_LIMIT);
    ori_close(ori);
}

/* -- Parts of a module and of the pipeline -------------------------------------------------------------- */

static const char two_functions[] = ".version 8.0\n.target sm_80\n.address_size 64\n\n"
                                    ".visible .entry first()\n{\n\t.reg .b32 %r<3>;\n\tmov.u32 %r1, 7;\n\tret;\n}\n"
                                    ".visible .entry second()\n{\n\t.reg .b32 %r<3>;\n\tmov.u32 %r1, 8;\n\tret;\n}\n";

// True if the module's text has the two instructions that the phases remove, in this combination.
static bool has(OriContext *ori, OriModule *m, Received *t, bool seven, bool eight)
{
    t->n = 0;
    return CHECK_EQ(ori_print(ori, m, ORI_PTX, take, t), ORI_OK) && !strstr(t->text, ", 7;") == !seven &&
           !strstr(t->text, ", 8;") == !eight;
}

TEST(ori_entries)
{
    Received t;
    OriContext *ori = open_with(NULL, &t);
    char name[] = "second";
    const char *names[] = {name, name}, *missing[] = {"first", "third"};
    for (unsigned threads = 1; threads <= 2; threads++) {
        CHECK_EQ(ori_set_threads(ori, threads), ORI_OK);
        OriModule *m = parse(ori, two_functions);
        CHECK_EQ(ori_set_entries(ori, missing, 2), ORI_OK);
        CHECK_EQ(ori_optimize(ori, m), ORI_USAGE);
        CHECK(strstr(t.last_text, "no function 'third'") != NULL);
        CHECK(has(ori, m, &t, true, true));
        strcpy(name, "second");
        CHECK_EQ(ori_set_entries(ori, names, 2), ORI_OK);
        strcpy(name, "gone");  // the context has copies
        CHECK_EQ(ori_optimize(ori, m), ORI_OK);
        CHECK(has(ori, m, &t, true, false));
        CHECK_EQ(ori_set_entries(ori, NULL, 0), ORI_OK);
        CHECK_EQ(ori_run_phases(ori, m, "EarlyOriSimpleLiveDead"), ORI_OK);
        CHECK(has(ori, m, &t, false, false));
    }
    CHECK_EQ(t.messages, 2);
    ori_close(ori);
}

TEST(ori_range)
{
    Received t;
    OriContext *ori = open_with(NULL, &t);
    OriModule *m = parse(ori, two_functions);
    CHECK_EQ(ori_set_range(ori, "NoSuchPhase", NULL), ORI_USAGE);
    CHECK_EQ(ori_set_range(ori, NULL, "NoSuchPhase"), ORI_USAGE);
    CHECK_EQ(t.messages, 2);
    CHECK(strstr(t.last_text, "unknown phase") != NULL);
    CHECK_EQ(ori_set_range(ori, NULL, "AnalyzeControlFlow"), ORI_OK);
    CHECK_EQ(ori_print_table(ori, ORI_PIPELINE, take, &t), ORI_OK);
    CHECK(strstr(t.text, "AnalyzeControlFlow") && !strstr(t.text, "EarlyOriSimpleLiveDead"));
    CHECK_EQ(ori_optimize(ori, m), ORI_OK);
    CHECK(has(ori, m, &t, true, true));
    CHECK_EQ(ori_set_range(ori, "10", "EarlyOriSimpleLiveDead"), ORI_OK);
    t.n = 0;
    CHECK_EQ(ori_print_table(ori, ORI_PIPELINE, take, &t), ORI_OK);
    CHECK(strncmp(t.text, "EarlyOriSimpleLiveDead@10 ", 26) == 0 && strchr(t.text, '\n') == t.text + t.n - 1);
    CHECK_EQ(ori_optimize(ori, m), ORI_OK);
    CHECK(has(ori, m, &t, false, false));
    CHECK_EQ(ori_set_range(ori, NULL, NULL), ORI_OK);
    t.n = 0;
    CHECK_EQ(ori_print_table(ori, ORI_PIPELINE, take, &t), ORI_OK);
    CHECK(strstr(t.text, "OriCheckInitialProgram") != NULL);
    ori_close(ori);
}

/* -- Statistics and lists ------------------------------------------------------------------------------- */

typedef struct Figures {
    unsigned functions, phases, runs, changed, phases_run, phases_changed;
    int last_phase;
    OriFunctionStats first;
} Figures;

static void record_function(void *user, const OriFunctionStats *stats)
{
    Figures *f = user;
    CHECK_Z(stats->function, f->functions ? "second" : "first");
    CHECK(stats->seconds >= 0 && stats->arena_bytes > 0 && stats->hash && stats->text_hash);
    if (f->functions++ == 0)
        f->first = *stats;
    f->phases_run += stats->phases_run;
    f->phases_changed += stats->phases_changed;
}

static void record_phase(void *user, const OriPhaseStats *stats)
{
    Figures *f = user;
    CHECK(stats->index > f->last_phase && stats->runs >= stats->changed && stats->runs > 0 && stats->seconds >= 0);
    f->last_phase = stats->index;
    if (stats->index == 10)
        CHECK_Z(stats->phase, "EarlyOriSimpleLiveDead");
    f->phases++;
    f->runs += stats->runs;
    f->changed += stats->changed;
}

TEST(ori_statistics)
{
    Received t;
    for (unsigned threads = 1; threads <= 2; threads++) {
        OriContext *ori = open_with(NULL, &t);
        Figures f = {.last_phase = -1};
        ori_on_function_stats(ori, record_function, &f);
        ori_on_phase_stats(ori, record_phase, &f);
        CHECK_EQ(ori_set_threads(ori, threads), ORI_OK);
        OriModule *m = parse(ori, kernel);
        CHECK_EQ(ori_run_phases(ori, m, "EarlyOriSimpleLiveDead,NOP"), ORI_OK);
        CHECK_EQ(f.functions, 2);
        CHECK_EQ(f.first.instructions_in, 5);
        CHECK_EQ(f.first.instructions, 4);
        CHECK_EQ(f.first.blocks_in, 1);
        CHECK_EQ(f.first.reachable_blocks, 1);
        CHECK_EQ(f.phases, 2);
        CHECK_EQ(f.runs, f.phases_run);
        CHECK_EQ(f.runs, 4);
        CHECK_EQ(f.changed, 1);
        CHECK_EQ(f.phases_changed, 1);
        // A failing call reports no statistics, and does not affect later calls.
        CHECK_EQ(ori_run_phases(ori, m, "NoSuchPhase"), ORI_USAGE);
        ori_on_function_stats(ori, NULL, NULL);
        ori_on_phase_stats(ori, NULL, NULL);
        CHECK_EQ(ori_optimize(ori, m), ORI_OK);
        CHECK_EQ(f.functions, 2);
        CHECK_EQ(f.phases, 2);
        ori_close(ori);
    }
}

static void record_row(void *user, const OriPhase *phase)
{
    int *n = user;
    CHECK_EQ(phase->index, *n);
    CHECK(*phase->name && *phase->kind && *phase->status && *phase->form && *phase->summary);
    CHECK(phase->min_level >= 0 && phase->min_level <= phase->max_level && phase->max_level <= 4);
    if (*n == 10)
        CHECK(strcmp(phase->name, "EarlyOriSimpleLiveDead") == 0 && strcmp(phase->status, "implemented") == 0 &&
              strcmp(phase->kind, "transform") == 0 && phase->min_level == 1 && phase->max_level == 4);
    ++*n;
}

static void record_knob(void *user, const OriKnob *knob)
{
    int *n = user;
    CHECK(*knob->name && *knob->type && knob->value && knob->range && *knob->reader && *knob->help);
    if (strcmp(knob->name, "GeneralOptimizeEnable") == 0) {
        CHECK(knob->index == 487 && strcmp(knob->type, "INT") == 0 && strcmp(knob->range, "0..1") == 0);
        CHECK_Z(knob->value, "1");
        *n += 1000;
    }
    ++*n;
}

// Returns the number of rows of a table in JSON.
static int rows(const char *json)
{
    int n = 0;
    for (const char *at = json; (at = strstr(at, "\n{\"index\":")); at++)
        n++;
    return n;
}

static int grow(void *sink, const char *text, size_t n)
{
    sink_append(sink, text, n);
    return 1;
}

TEST(ori_lists)
{
    Received t;
    int phases = 0, knobs = 0;
    Sink json_phases = {0}, json_knobs = {0};
    OriContext *ori = open_with(NULL, &t);
    ori_list_phases(record_row, &phases);
    ori_list_knobs(record_knob, &knobs);
    CHECK_EQ(ori_print_table(ori, ORI_PHASES, grow, &json_phases), ORI_OK);
    CHECK_EQ(ori_print_table(ori, ORI_KNOBS, grow, &json_knobs), ORI_OK);
    sink_append(&json_phases, "", 1);
    sink_append(&json_knobs, "", 1);
    CHECK_EQ(phases, rows(json_phases.text));
    CHECK_EQ(knobs, 1000 + rows(json_knobs.text));
    sink_free(&json_phases);
    sink_free(&json_knobs);
    ori_close(ori);
}

TEST(ori_versions)
{
    char text[40];
    snprintf(text, sizeof text, "%d.%d.%d", ORI_VERSION_MAJOR, ORI_VERSION_MINOR, ORI_VERSION_PATCH);
    CHECK_Z(ori_version(), text);
}

TEST(ori_writer_fails)
{
    Received t;
    OriContext *ori = open_with(NULL, &t);
    OriModule *m = parse(ori, kernel);
    t.room = 5;
    CHECK_EQ(ori_print(ori, m, ORI_PTX, take, &t), ORI_IO);
    t.room = sizeof t.text - 1;
    CHECK_EQ(ori_print(ori, m, ORI_PTX, take, &t), ORI_OK);
    ori_close(ori);
}

/* -- Memory --------------------------------------------------------------------------------------------- */

typedef struct Counted {
    size_t held;
    unsigned calls, fail_at;  // fail_at 0: never
} Counted;

static void *count_alloc(void *user, size_t bytes)
{
    Counted *c = user;
    void *p = ++c->calls == c->fail_at ? NULL : malloc(bytes);
    c->held += p ? bytes : 0;
    return p;
}

static void count_free(void *user, void *p, size_t bytes)
{
    ((Counted *)user)->held -= bytes;
    free(p);
}

// Returns functions with loops, each of which calls the previous one; the caller frees the text.
static char *many_functions(unsigned n)
{
    Sink s = {0};
    char line[200];
    sink_append(&s, ".version 8.0\n.target sm_80\n.address_size 64\n", 44);
    for (unsigned k = 0; k < n; k++) {
        sink_append(
            &s, line,
            (size_t)snprintf(line, sizeof line,
                             ".func (.param .b32 r) f%u(.param .b32 p)\n{\n\t.reg .b32 %%r<9>;\n\t.reg .pred %%p;\n"
                             "\tld.param.u32 %%r1, [p];\n\tmov.u32 %%r2, %u;\nL:\n",
                             k, k));
        for (unsigned j = 0; j < 8 * (k % 5); j++)
            sink_append(&s, line, (size_t)snprintf(line, sizeof line, "\tmad.lo.s32 %%r1, %%r1, %%r2, %u;\n", j + 1));
        sink_append(&s, line,
                    (size_t)snprintf(line, sizeof line,
                                     "\tadd.s32 %%r2, %%r2, 1;\n\tsetp.lt.s32 %%p, %%r2, 99;\n\t@%%p bra L;\n"
                                     "\tst.param.b32 [r], %%r1;\n"));
        if (k)
            sink_append(&s, line,
                        (size_t)snprintf(line, sizeof line,
                                         "\t{\n\t.param .b32 a, b;\n\tst.param.b32 [a], %%r1;\n\tcall (b), f%u, (a);\n"
                                         "\tld.param.b32 %%r3, [b];\n\t}\n",
                                         k - 1));
        sink_append(&s, "\tret;\n}\n", 8);
    }
    sink_append(&s, "", 1);
    return s.text;
}

static int count_bytes(void *user, const char *text, size_t n)
{
    Received *t = user;
    (void)text;
    t->n += n;
    return 1;
}

// Reads, optimizes and prints; returns the status.
static OriStatus all_calls(OriContext *ori, const char *text, unsigned threads, Received *t)
{
    OriStatus status = ori_set_threads(ori, threads);
    if (status == ORI_OK)
        status = ori_set_knobs(ori, "NvOptRecipes=off~WHEN=FN=f1;DisablePhases=NOP");
    if (status == ORI_OK)
        status = ori_set_entries(ori, NULL, 0);
    OriModule *m = status == ORI_OK ? parse(ori, text) : NULL;
    if (status == ORI_OK)
        status = m ? ori_optimize(ori, m) : ORI_LIMIT;
    return status == ORI_OK ? ori_print(ori, m, ORI_PTX, count_bytes, t) : status;
}

// Fails each allocation in turn: calls report the failure and free all memory. Ends when none fails.
static void fail_each_allocation(const char *text, unsigned threads)
{
    Received t;
    size_t expected = 0;
    bool failed = true;
    for (unsigned fail_at = 0; failed; fail_at++) {
        Counted c = {.fail_at = fail_at};
        OriAllocator allocator = {count_alloc, count_free, &c};
        OriContext *ori = open_with(&allocator, &t);
        unit_context("allocation %u fails, %u threads", fail_at, threads);
        CHECK((ori == NULL) == (fail_at == 1));
        OriStatus status = ori ? all_calls(ori, text, threads, &t) : ORI_LIMIT;
        failed = fail_at == 0 || c.calls >= fail_at;
        CHECK_EQ(status, failed && fail_at ? ORI_LIMIT : ORI_OK);
        if (status != ORI_OK && ori)
            CHECK(strstr(t.last_text, "out of memory") != NULL);
        expected = fail_at ? expected : t.n;
        CHECK(status != ORI_OK || (t.n > 0 && t.n == expected));
        ori_close(ori);
        CHECK_EQ(c.held, 0);
    }
}

TEST(ori_allocator) { fail_each_allocation(kernel, 1); }

TEST(ori_allocator_threads)
{
    char *text = many_functions(2);
    fail_each_allocation(text, 3);
    free(text);
}

// The same with limits, which fail at each chunk, not only at calls of the system.
TEST(ori_memory_limits)
{
    char *text = many_functions(12);
    for (unsigned threads = 1; threads <= 4; threads += 3) {
        OriStatus status = ORI_LIMIT;
        for (size_t limit = 4096; status != ORI_OK; limit += 4096) {
            Received t;
            Counted c = {0};
            OriAllocator allocator = {count_alloc, count_free, &c};
            OriContext *ori = open_with(&allocator, &t);
            unit_context("%zu bytes, %u threads", limit, threads);
            CHECK_EQ(ori_set_limits(ori, limit, 0), ORI_OK);
            status = all_calls(ori, text, threads, &t);
            if (status != ORI_OK && CHECK_EQ(status, ORI_LIMIT))
                CHECK(strstr(t.last_text, "memory limit of ") != NULL);
            // The context still works.
            CHECK_EQ(ori_set_limits(ori, 0, 0), ORI_OK);
            t.n = 0;
            CHECK_EQ(all_calls(ori, text, threads, &t), ORI_OK);
            ori_close(ori);
            CHECK_EQ(c.held, 0);
            if (!CHECK(limit < 64 << 20))
                break;
        }
    }
    free(text);
}

TEST(ori_memory_limit)
{
    Received t;
    OriContext *ori = open_with(NULL, &t);
    CHECK_EQ(ori_set_limits(ori, 1000, 0), ORI_OK);
    CHECK(parse(ori, kernel) == NULL);
    CHECK(strstr(t.last_text, "memory limit of 1000 bytes") != NULL);
    CHECK_EQ(ori_set_limits(ori, 0, 0), ORI_OK);
    OriModule *m = parse(ori, kernel);
    CHECK(m != NULL);
    // A call that fails midway leaves a module that reports it.
    CHECK_EQ(ori_set_limits(ori, 1000, 0), ORI_OK);
    CHECK_EQ(ori_optimize(ori, m), ORI_LIMIT);
    CHECK_EQ(ori_set_limits(ori, 0, 0), ORI_OK);
    if (ori_optimize(ori, m) == ORI_USAGE)
        CHECK(strstr(t.last_text, "broken") != NULL);
    ori_free(ori, m);
    ori_free(ori, NULL);
    m = parse(ori, kernel);
    CHECK_EQ(ori_optimize(ori, m), ORI_OK);
    ori_close(ori);
}

TEST(ori_time_limit)
{
    Received t;
    OriContext *ori = open_with(NULL, &t);
    CHECK_EQ(ori_set_threads(ori, 2), ORI_OK);
    OriModule *m = parse(ori, kernel);
    CHECK_EQ(ori_set_limits(ori, 0, 1e-9), ORI_OK);
    CHECK_EQ(ori_optimize(ori, m), ORI_LIMIT);
    CHECK(strstr(t.last_text, "time limit") != NULL);
    CHECK_EQ(ori_set_limits(ori, 0, 0), ORI_OK);
    CHECK_EQ(ori_print(ori, m, ORI_PTX, take, &t), ORI_USAGE);
    CHECK(strstr(t.last_text, "broken") != NULL);
    ori_free(ori, m);
    ori_close(ori);
}

void test_ori(void)
{
    RUN(ori_optimizes);
    RUN(ori_settings);
    RUN(ori_keeps_symbols);
    RUN(ori_named_plan);
    RUN(ori_messages);
    RUN(ori_parse_statuses);
    RUN(ori_entries);
    RUN(ori_range);
    RUN(ori_ptx_version);
    RUN(ori_statistics);
    RUN(ori_lists);
    RUN(ori_versions);
    RUN(ori_writer_fails);
    RUN(ori_allocator);
    RUN(ori_allocator_threads);
    RUN(ori_memory_limits);
    RUN(ori_memory_limit);
    RUN(ori_time_limit);
}
