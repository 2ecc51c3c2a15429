// SPDX-License-Identifier: MIT
// What the tests of knobs share: a table with a knob of every type, a store on it, and a view.
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
    Sink sink;  // what was reported
    Knobs view;
} KnobTest;

// Nothing was reported.
#define CHECK_SILENT(t) CHECK_TEXT((t)->sink.n ? (t)->sink.text : "", (t)->sink.n, "")

void knobs_open(KnobTest *t);
void knobs_close(KnobTest *t);
// Reads a text and returns whether it was in order; what is reported replaces what was.
bool knobs_read(KnobTest *t, KnobSource from, const char *name, const char *text);
// The same, and it is in order.
void knobs_set(KnobTest *t, KnobSource from, const char *text);
// Makes the view; enters a function and checks that its pragmas are in order.
void knobs_view(KnobTest *t);
void knobs_enter(KnobTest *t, const char *function, const char *pragma);
// Phases of the tests: `P0` .. `P99` or a number; like phase_find().
int find_test_phase(const char *text, size_t len, char why[static 400]);

#endif
