// SPDX-License-Identifier: MIT
// Values that are one constant although several definitions may give them.
#ifndef ORI_CONSTANT_VALUES_H
#define ORI_CONSTANT_VALUES_H

#include "ir/analysis/analysis.h"

// Returns copy_source(), in ssa form. The chain also passes through guarded moves of a constant if it ends in the same
// constant: the value does not depend on their guards.
Operand constant_source(const Fn *fn, const Analyses *a, Operand o);

// Results of the quick test: the phi has inputs other than one constant and phis; it has no other inputs.
typedef enum { PHI_UNTESTED, PHI_VARIES, PHI_MAY_BE_CONSTANT } PhiTest;

// Constants of phis, in ssa form. Registers must keep their values.
typedef struct ConstantPhis {
    const Fn *fn;
    const Analyses *a;  // AN_DEF
    Arena *arena;
    uint8_t *tested;    // by RegId: PhiTest; NULL = no phi was tested
    const Operand *of;  // by RegId: the constant that a phi equals, K_NONE = none; NULL = no phi may equal one so far
} ConstantPhis;
// Returns the constant that the phi of a register equals, else K_NONE; the case that the quick test does not decide.
Operand constant_phi_search(ConstantPhis *p, RegId r);
static inline Operand constant_of_phi(ConstantPhis *p, RegId r)
{
    return !p->of && p->tested && p->tested[r] ? op_none() : constant_phi_search(p, r);
}

// Constants of joined registers, in multi form.
typedef struct JoinedConstants {
    Analyses own;
    const Analyses *a;  // AN_RDEFS of the registers with at least two moves of constants
    const Operand *of;  // by value - rdefs.first_def; K_NONE = no constant
} JoinedConstants;
// Finds the values of joined registers that are constants, with memory of the arena. `a` has AN_DEF. False: there are
// none, and `j` has no content.
bool joined_constants(JoinedConstants *j, Fn *fn, const Analyses *a, Arena *arena);
void joined_constants_free(JoinedConstants *j);

#endif
