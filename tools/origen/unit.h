// SPDX-License-Identifier: MIT
// A unit: the instructions of one pattern while they are put together. They are written when all is known, behind what
// their operands need and in front of what their results need.
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
    Value *reg;  // where the instruction leaves it
    bool fresh;  // it goes into a pool
} Def;

typedef struct Unit {
    Gen *g;
    uint32_t traits;
    UnitText text, again;  // again: the pattern of its repetition
    Value *scratch[CLASS_COUNT][SCRATCHES];
    Value *uses[UNIT_VALUES];
    Def defs[UNIT_VALUES];
    uint32_t nuses, ndefs, nscratch, instrs;
    bool starts;      // an instruction begins here
    uint32_t blanks;  // so many to the operands of the instruction
    bool uniform;     // no operand differs between threads
    bool braced;      // scratch registers have a scope of their own
    va_list args;     // of the pattern
} Unit;

_Noreturn void unit_too_much(const Unit *u, const char *what);
void unit_char(Unit *u, char c);
void unit_text(Unit *u, const char *s);
void unit_number(Unit *u, int64_t n);
void unit_register(Unit *u, const Value *v);
// A register of which a repetition has one of its own, as the mark (3 characters) says.
void unit_own_register(Unit *u, const Value *v, const char *mark);
void unit_start_instruction(Unit *u);
Value *unit_load(Gen *g, Value *v);  // the register in which a value can be read
void unit_finish(Unit *u);

#endif
