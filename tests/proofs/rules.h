// SPDX-License-Identifier: MIT
// Declarations that the proofs of folding share.
#ifndef ORI_TESTS_RULES_H
#define ORI_TESTS_RULES_H

#include "ir/base/base.h"

// Returns a random number (rules.c).
uint64_t draw(void);

// Each function runs the proofs of its file, and adds to the counts.
void prove_ranges(Heap *heap, bool quick, unsigned long *passed, unsigned long *failed);
void prove_floats(Heap *heap, bool quick, unsigned long *passed, unsigned long *failed);

#endif
