// SPDX-License-Identifier: MIT
// A unit: the instructions of one pattern during its expansion. It is printed at its end, after the loads of its
// operands and before the stores of its results.
#ifndef ORIGEN_UNIT_H
#define ORIGEN_UNIT_H

#include "tools/origen/origen.h"

enum { UNIT_BYTES = 3000, UNIT_VALUES = 24, SCRATCHES = 10 };

typedef struct UnitText {
    char at[UNIT_BYTES];
    uint32_t n;
} UnitText;

typedef struct Def {
    Value *value;
    Value *reg;  // register of the result
    bool fresh;  // a new value for a pool
} Def;

typedef struct Unit {
    Gen *g;
    uint32_t traits;
    UnitText text, repeat;  // again: the pattern that repeats it
    Value *scratch[CLASS_COUNT][SCRATCHES];
    Value *uses[UNIT_VALUES];
    Def defs[UNIT_VALUES];
    uint32_t nuses, ndefs, nscratch, instrs;
    bool starts;      // at the start of an instruction
    uint32_t blanks;  // blanks before the operands of the instruction
    bool uniform;     // all operands are uniform
    bool braced;      // scratch registers have a nested scope
    va_list args;     // of the pattern
} Unit;

_Noreturn void unit_overflow(const Unit *u, const char *what);
void unit_char(Unit *u, char c);
void unit_text(Unit *u, const char *s);
void unit_number(Unit *u, int64_t n);
void unit_register(Unit *u, const Value *v);
// Writes a register that a repetition replaces by a new one; `mark` has 3 characters.
void unit_own_register(Unit *u, const Value *v, const char *mark);
void unit_start_instruction(Unit *u);
Value *unit_load(Gen *g, Value *v);  // returns a register that holds the value
void unit_finish(Unit *u);

#endif
