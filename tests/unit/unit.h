// SPDX-License-Identifier: MIT
// Framework of the unit tests. A test is a function TEST(name) that its file's test_xxx() runs with RUN(name). A failed
// check prints file:line and the test continues; an unexpected heap_fail() ends the test as a failure.
#ifndef ORI_UNIT_H
#define ORI_UNIT_H

#include "ir/analysis/analysis.h"
#include "phases/bodies.h"

#define TEST(name) static void name(void)
#define RUN(name) unit_run(#name, name)

// Each check returns true if it held.
#define CHECK(cond) unit_check((cond), __FILE__, __LINE__, #cond)
#define CHECK_EQ(a, b) unit_check_eq((long long)(a), (long long)(b), __FILE__, __LINE__, #a " == " #b)
#define CHECK_TEXT(text, len, expected) unit_check_text((text), (len), (expected), __FILE__, __LINE__)
// The same for a NUL-terminated text.
#define CHECK_Z(text, expected) unit_check_text((text), SIZE_MAX, (expected), __FILE__, __LINE__)
#define CHECK_VERIFIES(fn) unit_check_verifies((fn), __FILE__, __LINE__)
// Checks that the body ends in heap_fail(heap, status, ...).
#define CHECK_FAILS(heap, status, body, user) unit_check_fails((heap), (status), (body), (user), __FILE__, __LINE__)

/* main.c */
void unit_run(const char *name, void (*test)(void));
bool unit_check(bool ok, const char *file, int line, const char *what);
bool unit_check_eq(long long a, long long b, const char *file, int line, const char *what);
bool unit_check_text(const char *text, size_t len, const char *expected, const char *file, int line);
bool unit_check_verifies(const Fn *fn, const char *file, int line);
bool unit_check_fails(Heap *heap, Status status, void (*body)(void *), void *user, const char *file, int line);
// Sets the description of the current case (the row of a table), which is printed with failures.
void unit_context(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
// Makes a heap whose failures end the running test.
void unit_heap(Heap *heap);
// Returns a path in a directory of this run, in static memory that is reused after seven more calls.
const char *unit_path(const char *name);

/* support.c */
// Returns random numbers 0 .. n-1 of a fixed sequence.
uint32_t unit_random(uint64_t *state, uint32_t n);

// Collects all text written to it, for comparison. Free with sink_free().
typedef struct Sink {
    char *text;
    size_t n, cap;
    uint32_t calls;
    uint32_t fail_at;  // the call that fails; 0 = none
} Sink;
bool sink_write(void *sink, const char *text, size_t n);
void sink_append(void *sink, const char *text, size_t n);  // the same for Diag
void sink_free(Sink *sink);

// A module with one function, and a context whose heap holds them.
typedef struct Fixture {
    Ctx ctx;
    Module *module;
    Fn *fn;
} Fixture;
void fixture_open(Fixture *f);
void fixture_close(Fixture *f);

#define OPS(...) (Operand[]){__VA_ARGS__}, (uint32_t)ARRAY_LEN(((Operand[]){__VA_ARGS__}))
Operand use(const Fn *fn, RegId r);
Operand def(const Fn *fn, RegId r);
BlockId add_block(Fn *fn, uint32_t source);
InstrId emit(Fn *fn, BlockId b, const char *mnemonic, const char *shape, uint8_t flags, const Operand *ops, uint32_t n);
InstrId emit_ret(Fn *fn, BlockId b);
InstrId emit_bra(Fn *fn, BlockId b, BlockId to);
InstrId emit_branch(Fn *fn, BlockId b, RegId pred, BlockId to, BlockId otherwise);
InstrId emit_brx(Fn *fn, BlockId b, RegId index, const BlockId *to, uint32_t n);
// Returns the layout as text, "1 2 3".
const char *layout(const Fn *fn, char *text, size_t cap);

#endif
