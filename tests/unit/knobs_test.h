// SPDX-License-Identifier: MIT
// Shared parts of the knob tests: a table with a knob of every type, a store on it, and a view.
#ifndef ORI_UNIT_KNOBS_TEST_H
#define ORI_UNIT_KNOBS_TEST_H

#include "knobs/knobs.h"
#include "tests/unit/unit.h"

enum {
    T_SWITCH,
    T_DEFAULT_ON,
    T_NUM,
    T_SMALL,
    T_BUDGET,
    T_FEW,
    T_SPAN,
    T_ZONE,
    T_LIST,
    T_BITS,
    T_FLOAT,
    T_DOUBLE,
    T_RATIO,
    T_TEXT,
    T_WEIGHTS,
    T_WHEN,
    T_ROWS
};
extern const KnobTable test_table;

typedef struct KnobTest {
    Heap heap;
    Arena arena;
    KnobStore *store;
    Source source;
    Diag diag;
    Sink sink;  // reported messages
    Knobs view;
} KnobTest;

// Checks that nothing was reported.
#define CHECK_SILENT(t) CHECK_TEXT((t)->sink.n ? (t)->sink.text : "", (t)->sink.n, "")

void knobs_open(KnobTest *t);
void knobs_close(KnobTest *t);
// Reads a text and returns true if it is valid; its messages replace earlier ones.
bool knobs_read(KnobTest *t, KnobSource from, const char *name, const char *text);
// Reads a text that must be valid.
void knobs_set(KnobTest *t, KnobSource from, const char *text);
// knobs_view makes the view; knobs_enter enters a function and checks that its pragmas are valid.
void knobs_view(KnobTest *t);
void knobs_enter(KnobTest *t, const char *function, const char *pragma);
// Phases of the tests: `P0` .. `P99` or a number; like phase_find().
int find_test_phase(const char *text, size_t len, char why[static 400]);

#endif
