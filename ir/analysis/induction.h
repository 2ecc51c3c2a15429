// SPDX-License-Identifier: MIT
// Induction variables: phis of loop headers that a constant is added to in each iteration, and the tests that end the
// loop. Computed on request; not stored with the function.
#ifndef ORI_INDUCTION_H
#define ORI_INDUCTION_H

#include "ir/analysis/analysis.h"
#include "ir/eval/range.h"

// A counter of ssa form. Its value in an iteration of the loop is start + n * step modulo 2^bits, n = 0, 1, ...
typedef struct Induction {
    RegId phi, next;  // `next` is phi + step, the value of the back edge, perhaps behind moves
    BlockId header, latch;
    int64_t step;  // sign-extended, not 0
    uint32_t bits;
} Induction;

// A condition that holds on the back edge: `phi cmp bound`, or `next cmp bound`. The bound is a constant, or a register
// that is defined before the loop.
typedef struct InductionTest {
    InstrId branch;
    Operand bound;
    RangeCompare cmp;
    bool is_signed, of_next;
} InductionTest;

// Require AN_CFG, AN_RPO, AN_DOM and AN_DEF.
// Finds the counter of a phi. False if the phi is none: the header does not dominate all sources of its back edges, has
// several back edges, or the value of the back edge is not the phi plus a constant.
bool induction_of(const Fn *fn, const Analyses *a, InstrId phi, Induction *c);
// Finds test n of a counter, from 0 on, from the latch to the header. False: there are no more.
bool induction_test(const Fn *fn, const Analyses *a, const Induction *c, uint32_t n, InductionTest *t);
// Finds the numeric comparison of a modifier. Sets *is_unsigned for the unsigned ones; `eq`, `lt` and their like have
// the signedness of the type. False for comparisons of floats with NaN.
bool range_compare_of(Mod cmp, RangeCompare *c, bool *is_unsigned);

#endif
