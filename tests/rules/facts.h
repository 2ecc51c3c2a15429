// SPDX-License-Identifier: MIT
#ifndef ORI_TESTS_RULES_FACTS_H
#define ORI_TESTS_RULES_FACTS_H

#include "ir/base/base.h"

// Proves facts (facts.c), and adds to the counts.
void prove_facts(Heap *heap, bool quick, unsigned long *passed, unsigned long *failed);

#endif
