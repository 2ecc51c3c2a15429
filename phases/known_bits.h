// SPDX-License-Identifier: MIT
// Which bits of a value are known, from what defines it.
#ifndef ORI_KNOWN_BITS_H
#define ORI_KNOWN_BITS_H

#include "ir/analysis/analysis.h"

// What finds the one unguarded definition of a register that dominates all that reads it; 0 = there is none.
typedef InstrId DefinitionOf(const void *user, RegId r);

// Which bits of an operand, a register or a constant of at most 64 bits, are known to be 0; none above its width.
uint64_t known_zeros(const Fn *fn, DefinitionOf *definition, const void *user, Operand o);

#endif
