// SPDX-License-Identifier: MIT
// Runs all unit tests, or those that the command line names (a test, or a file without its `.c`).
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#define FILES(X)       \
    X(heap)            \
    X(pool)            \
    X(seg)             \
    X(scope_tree)      \
    X(strings)         \
    X(out)             \
    X(diff)            \
    X(diag)            \
    X(files)           \
    X(names)           \
    X(nearest)         \
    X(mnemonics)       \
    X(descriptors)     \
    X(verifier)        \
    X(builder)         \
    X(cfg)             \
    X(dom)             \
    X(loops)           \
    X(pdom)            \
    X(control_deps)    \
    X(convergence)     \
    X(induction)       \
    X(canonical)       \
    X(value_table)     \
    X(values)          \
    X(terms)           \
    X(gvn)             \
    X(scoped_table)    \
    X(defuse)          \
    X(live)            \
    X(def)             \
    X(rdefs)           \
    X(pointers)        \
    X(memory_versions) \
    X(call_graph)      \
    X(verify_form)     \
    X(clone)           \
    X(contracts)       \
    X(text)            \
    X(knobs)           \
    X(knob_errors)     \
    X(phase_table)     \
    X(sm)              \
    X(plan)            \
    X(place_blocks)    \
    X(remove_nop_code) \
    X(ssa)             \
    X(phis)            \
    X(bundles)         \
    X(late_commoning)  \
    X(parallel_copy)   \
    X(control)         \
    X(softfloat)       \
    X(approx)          \
    X(matrix)          \
    X(clock)           \
    X(machine)         \
    X(undef)           \
    X(eval)            \
    X(batch)           \
    X(read_ahead)      \
    X(remarks)         \
    X(logic)           \
    X(ori)             \
    X(ori_run)         \
    X(recovery)

#define DECLARE(name) void test_##name(void);
FILES(DECLARE)

enum { SHOWN = 12 };  // printed failures of one test

static struct {
    char **names;  // of the command line
    bool *used;
    int nnames;
    const char *file, *test;
    uint32_t passed, failed;
    uint32_t failures;  // of the running test
    char context[300];
    jmp_buf unwind;
    Heap *heap;
    char dir[200];
} unit;

/* -- Checks --------------------------------------------------------------------------------------------- */

void unit_context(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(unit.context, sizeof unit.context, fmt, args);
    va_end(args);
}

static bool failure(const char *file, int line, const char *fmt, ...)
{
    va_list args;
    if (unit.failures++ >= SHOWN)
        return false;
    printf("%s:%d: %s failed: ", file, line, unit.test);
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    printf(unit.context[0] ? " [%s]\n" : "\n", unit.context);
    return false;
}

bool unit_check(bool ok, const char *file, int line, const char *what) { return ok || failure(file, line, "%s", what); }

bool unit_check_eq(long long a, long long b, const char *file, int line, const char *what)
{
    return a == b || failure(file, line, "%s: %lld and %lld", what, a, b);
}

bool unit_check_text(const char *text, size_t len, const char *expected, const char *file, int line)
{
    if (len == SIZE_MAX)
        len = strlen(text);
    bool same = len == strlen(expected) && memcmp(text, expected, len) == 0;
    return same || failure(file, line, "text is '%.*s', expected '%s'", (int)MIN(len, 1000), text, expected);
}

bool unit_check_verifies(const Fn *fn, const char *file, int line)
{
    InstrId at;
    char why[200];
    return ir_verify(fn, VERIFY_TYPES, &at, why) || failure(file, line, "instruction %u: %s", at, why);
}

bool unit_check_fails(Heap *heap, Status status, void (*body)(void *), void *user, const char *file, int line)
{
    jmp_buf here;
    jmp_buf *const outer = heap->unwind;
    heap->status = ST_OK;
    heap->unwind = &here;
    if (setjmp(here) == 0)
        body(user);
    heap->unwind = outer;
    return heap->status == status || failure(file, line, "status is %d, expected %d", heap->status, status);
}

/* -- Running -------------------------------------------------------------------------------------------- */

void unit_heap(Heap *heap)
{
    *heap = (Heap){.unwind = &unit.unwind};
    unit.heap = heap;
}

const char *unit_path(const char *name)
{
    static char paths[8][400];
    static unsigned next;
    char *path = paths[next++ % 8];
    if (!unit.dir[0]) {
        const char *parent = getenv("TMPDIR");
        snprintf(unit.dir, sizeof unit.dir, "%.150s/ori-unit.XXXXXX", parent ? parent : "/tmp");
        if (!mkdtemp(unit.dir)) {
            perror(unit.dir);
            exit(2);
        }
    }
    snprintf(path, sizeof paths[0], "%s/%s", unit.dir, name);
    return path;
}

static bool selected(const char *name)
{
    bool found = unit.nnames == 0;
    for (int k = 0; k < unit.nnames; k++)
        if (strcmp(unit.names[k], name) == 0 || strcmp(unit.names[k], unit.file) == 0)
            unit.used[k] = found = true;
    return found;
}

void unit_run(const char *name, void (*test)(void))
{
    if (!selected(name))
        return;
    unit.test = name;
    unit.failures = 0;
    unit.context[0] = 0;
    if (setjmp(unit.unwind) == 0)
        test();
    else
        failure(unit.file, 0, "heap_fail(): %s", unit.heap->message);
    if (unit.failures > SHOWN)
        printf("%s: %u more checks failed\n", name, unit.failures - SHOWN);
    if (unit.failures)
        unit.failed++;
    else
        unit.passed++;
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static bool used[1000];
    unit.names = argv + 1;
    unit.nnames = MIN(argc - 1, (int)ARRAY_LEN(used));
    unit.used = used;
#define RUN_FILE(name) unit.file = #name, test_##name();
    FILES(RUN_FILE)
    if (unit.dir[0] && rmdir(unit.dir) != 0)
        perror(unit.dir);
    for (int k = 0; k < unit.nnames; k++)
        if (!used[k]) {
            printf("there is no test '%s'\n", unit.names[k]);
            unit.failed++;
        }
    printf("%u passed, %u failed\n", unit.passed, unit.failed);
    return unit.failed > 0;
}
